//! Calls of functions that are names or keywords with an ordinary argument list.

use selkie_types::error::catalogue::ER_WRONG_PARAMETERS_TO_NATIVE_FCT;

use super::{PResult, Parser};
use crate::ast::{Expr, ExprKind, FunctionCall, Ident, TemporalFormat};
use crate::lexer::{Kw, T};

/// Fewest and most arguments of functions that are keywords; the grammar itself counts them.
fn arity(kw: Kw) -> Option<(usize, usize)> {
    Some(match kw {
        Kw::DATABASE | Kw::SCHEMA | Kw::ROW_COUNT | Kw::USER => (0, 0),
        Kw::ASCII | Kw::CHARSET | Kw::COLLATION | Kw::MICROSECOND | Kw::OLD_PASSWORD => (1, 1),
        Kw::PASSWORD | Kw::QUARTER | Kw::REVERSE | Kw::DATE | Kw::DAY | Kw::HOUR => (1, 1),
        Kw::MINUTE | Kw::MONTH | Kw::SECOND | Kw::TIME | Kw::YEAR => (1, 1),
        Kw::MOD | Kw::REPEAT | Kw::TRUNCATE | Kw::LEFT | Kw::RIGHT => (2, 2),
        Kw::FORMAT => (2, 3),
        Kw::WEEK | Kw::TIMESTAMP => (1, 2),
        Kw::IF | Kw::REPLACE => (3, 3),
        Kw::INSERT => (4, 4),
        Kw::COALESCE => (1, usize::MAX),
        _ => return None,
    })
}

impl Parser<'_> {
    /// A call without anything but arguments.
    pub(super) fn plain_call(&self, name: Ident, args: Vec<Expr>) -> ExprKind {
        ExprKind::Call(Box::new(FunctionCall {
            schema: None,
            name,
            args,
            distinct: false,
            star: false,
            stored_only: false,
            order_by: Vec::new(),
            limit: None,
            over: None,
        }))
    }

    /// `[schema.]name(args)`, the name consumed.
    pub(super) fn generic_call(&mut self, schema: Option<Ident>, name: Ident) -> PResult<ExprKind> {
        let stored_only =
            schema.is_none() && !name.quoted && Kw::lookup(name.value.as_bytes()).is_function();
        self.expect(T::LParen)?;
        let args = if self.at(T::RParen) { Vec::new() } else { self.list(|p| p.argument(&name))? };
        self.expect(T::RParen)?;
        let ExprKind::Call(mut call) = self.plain_call(name, args) else {
            return Err(self.error());
        };
        call.schema = schema;
        call.stored_only = stored_only;
        Ok(ExprKind::Call(call))
    }

    /// Compat: only loadable functions take arguments with aliases.
    fn argument(&mut self, function: &Ident) -> PResult<Expr> {
        let expr = self.expr()?;
        if self.at(Kw::AS) || self.at_ident() || self.at(T::Str) {
            self.eat(Kw::AS);
            self.alias()?;
            return self.fail(&ER_WRONG_PARAMETERS_TO_NATIVE_FCT, &[function]);
        }
        Ok(expr)
    }

    /// What a word that is a keyword means as an operand.
    pub(super) fn keyword_call(&mut self, kw: Kw) -> PResult<ExprKind> {
        match kw {
            Kw::CURRENT_USER | Kw::CURRENT_ROLE | Kw::UTC_DATE => self.optional_parens(kw.text()),
            Kw::CURRENT_DATE => self.optional_parens("curdate"),
            Kw::CURRENT_TIME => self.optional_precision("curtime"),
            Kw::CURRENT_TIMESTAMP | Kw::LOCALTIME | Kw::LOCALTIMESTAMP => {
                self.optional_precision("now")
            }
            Kw::UTC_TIME | Kw::UTC_TIMESTAMP => self.optional_precision(kw.text()),
            _ if self.peek() == T::LParen => self.keyword_with_parens(kw),
            _ if kw.is_reserved() => Err(self.error()),
            _ => self.column_or_call(),
        }
    }

    fn keyword_with_parens(&mut self, kw: Kw) -> PResult<ExprKind> {
        if let Some((least, most)) = arity(kw) {
            let name = self.keyword_name(kw.text());
            let args = self.arguments(least, most)?;
            return Ok(self.plain_call(name, args));
        }
        match kw {
            Kw::CHAR => self.char_function(),
            Kw::CONVERT => self.convert(),
            Kw::ROW => self.row(),
            Kw::VALUE => self.values_function(),
            Kw::SYSDATE => self.optional_precision("sysdate"),
            Kw::GET_FORMAT => self.get_format(),
            Kw::TIMESTAMPADD | Kw::TIMESTAMPDIFF => self.timestamp_arithmetic(kw),
            Kw::WEIGHT_STRING => self.weight_string(),
            Kw::LAST_VALUE => self.last_value(),
            Kw::ROW_NUMBER => self.window_function("row_number", 0, 0),
            Kw::AVG => self.aggregate("avg", true),
            Kw::NEXTVAL => self.sequence_argument(|t| ExprKind::NextValue(t.into())),
            Kw::LASTVAL => self.sequence_argument(|t| ExprKind::PreviousValue(t.into())),
            Kw::SETVAL => self.setval(),
            Kw::COLUMN_CREATE
            | Kw::COLUMN_ADD
            | Kw::COLUMN_GET
            | Kw::COLUMN_DELETE
            | Kw::COLUMN_CHECK => Err(selkie_types::SqlError::not_supported(kw.text())),
            _ if kw.is_reserved() => Err(self.error()),
            _ => self.column_or_call(),
        }
    }

    /// Consumes a keyword and makes it a name.
    pub(super) fn keyword_name(&mut self, name: &str) -> Ident {
        let token = self.next();
        let span = crate::ast::Span::new(token.start, token.end);
        Ident { value: name.to_ascii_lowercase().into(), quoted: false, span }
    }

    /// Arguments in parentheses, from `least` to `most` of them.
    pub(super) fn arguments(&mut self, least: usize, most: usize) -> PResult<Vec<Expr>> {
        self.expect(T::LParen)?;
        let mut args = Vec::new();
        while args.len() < most && !(args.is_empty() && least == 0 && self.at(T::RParen)) {
            args.push(self.expr()?);
            if args.len() >= least && self.at(T::RParen) || args.len() == most {
                break;
            }
            if !self.eat(T::Comma) {
                return Err(self.error());
            }
        }
        // Compat: with one argument too many, the error is near that argument.
        if args.len() == most && self.at(T::Comma) {
            self.next();
        }
        self.expect(T::RParen)?;
        Ok(args)
    }

    /// `CURRENT_USER` or `CURRENT_USER()`.
    pub(super) fn optional_parens(&mut self, name: &str) -> PResult<ExprKind> {
        let name = self.keyword_name(name);
        if self.eat(T::LParen) {
            self.expect(T::RParen)?;
        }
        Ok(self.plain_call(name, Vec::new()))
    }

    /// `CURRENT_TIME`, `CURRENT_TIME()` or `CURRENT_TIME(6)`.
    pub(super) fn optional_precision(&mut self, name: &str) -> PResult<ExprKind> {
        let name = self.keyword_name(name);
        let mut args = Vec::new();
        if self.eat(T::LParen) {
            if self.at(T::Int) {
                let start = self.tok.start;
                let kind = ExprKind::Literal(self.number()?);
                args.push(Expr { kind, span: self.span_from(start) });
            }
            self.expect(T::RParen)?;
        }
        Ok(self.plain_call(name, args))
    }

    fn row(&mut self) -> PResult<ExprKind> {
        self.next();
        Ok(ExprKind::Row(self.arguments(2, usize::MAX)?))
    }

    fn char_function(&mut self) -> PResult<ExprKind> {
        self.next();
        self.parens(|p| {
            let codes = p.list(Self::expr)?;
            let charset = p.eat(Kw::USING).then(|| p.charset_name()).transpose()?;
            Ok(ExprKind::Char { codes, charset })
        })
    }

    fn convert(&mut self) -> PResult<ExprKind> {
        self.next();
        self.parens(|p| {
            let expr = p.boxed_expr()?;
            if p.eat(Kw::USING) {
                return Ok(ExprKind::ConvertUsing { expr, charset: p.charset_or_default()? });
            }
            p.expect(T::Comma)?;
            Ok(ExprKind::Cast { expr, target: p.cast_type()?.into() })
        })
    }

    fn get_format(&mut self) -> PResult<ExprKind> {
        self.next();
        self.parens(|p| {
            let kind = match p.expect_any(&[Kw::DATE, Kw::TIME, Kw::DATETIME, Kw::TIMESTAMP])? {
                Kw::DATE => TemporalFormat::Date,
                Kw::TIME => TemporalFormat::Time,
                _ => TemporalFormat::DateTime,
            };
            p.expect(T::Comma)?;
            Ok(ExprKind::GetFormat { kind, name: p.boxed_expr()? })
        })
    }

    fn timestamp_arithmetic(&mut self, kw: Kw) -> PResult<ExprKind> {
        self.next();
        self.parens(|p| {
            let unit = p.unit()?;
            p.expect(T::Comma)?;
            let first = p.boxed_expr()?;
            p.expect(T::Comma)?;
            let second = p.boxed_expr()?;
            Ok(match kw {
                Kw::TIMESTAMPADD => ExprKind::TimestampAdd { unit, amount: first, expr: second },
                _ => ExprKind::TimestampDiff { unit, from: first, to: second },
            })
        })
    }

    fn weight_string(&mut self) -> PResult<ExprKind> {
        self.next();
        self.parens(|p| {
            let expr = p.boxed_expr()?;
            let (mut length, mut binary) = (None, false);
            if p.eat(Kw::AS) {
                binary = p.expect_any(&[Kw::CHAR, Kw::BINARY])? == Kw::BINARY;
                length = Some(p.parens(Self::u64)?);
            }
            let (mut levels, mut descending, mut reversed) = (0, 0, 0);
            if p.eat(Kw::LEVEL) {
                p.list(|p| {
                    let mask = p.weight_levels()?;
                    levels |= mask;
                    while let Some(flag) = p.eat_any(&[Kw::ASC, Kw::DESC, Kw::REVERSE]) {
                        match flag {
                            Kw::DESC => descending |= mask,
                            Kw::REVERSE => reversed |= mask,
                            _ => {}
                        }
                    }
                    Ok(())
                })?;
            }
            Ok(ExprKind::WeightString { expr, length, binary, levels, descending, reversed })
        })
    }

    /// A level or a range of levels as bits; Compat: beyond 1 to 6 the nearest is meant.
    fn weight_levels(&mut self) -> PResult<u8> {
        let bit = |level: u64| level.clamp(1, 6) as u8 - 1;
        let first = bit(self.u64()?);
        let last = if self.eat(T::Minus) { bit(self.u64()?) } else { first };
        Ok((first..=last).fold(0, |mask, level| mask | 1 << level))
    }

    fn sequence_argument(
        &mut self,
        make: impl FnOnce(crate::ast::TableName) -> ExprKind,
    ) -> PResult<ExprKind> {
        self.next();
        self.parens(Self::table_name).map(make)
    }

    /// A number or a truth value.
    fn flag(&mut self) -> PResult<bool> {
        match self.eat_any(&[Kw::TRUE, Kw::FALSE]) {
            Some(word) => Ok(word == Kw::TRUE),
            None => Ok(self.u64()? != 0),
        }
    }

    fn setval(&mut self) -> PResult<ExprKind> {
        self.next();
        self.parens(|p| {
            let sequence = p.table_name()?.into();
            p.expect(T::Comma)?;
            let value = p.i64()?;
            let is_used = !p.eat(T::Comma) || p.flag()?;
            let round = if p.eat(T::Comma) { p.u64()? } else { 0 };
            Ok(ExprKind::SetValue { sequence, value, is_used, round })
        })
    }
}
