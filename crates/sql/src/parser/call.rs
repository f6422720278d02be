//! Calls of functions that are names or keywords with an ordinary argument list.
//! Only keywords have their arguments counted here, as in MariaDB's grammar; names are checked when
//! bound.

use selkie_types::error::catalogue::ER_WRONG_PARAMETERS_TO_NATIVE_FCT;

use super::{PResult, Parser};
use crate::ast::{Expr, ExprKind, FunctionCall, Ident, IntervalUnit, Literal, TemporalFormat};
use crate::lexer::{Kw, T};

/// Fewest and most arguments of functions that are keywords; the grammar counts them.
fn arity(kw: Kw) -> Option<(usize, usize)> {
    Some(match kw {
        Kw::DATABASE | Kw::SCHEMA | Kw::ROWNUM | Kw::ROW_COUNT | Kw::USER => (0, 0),
        Kw::COLUMN_CHECK => (1, 1),
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
    /// A call with arguments and nothing else.
    pub(super) fn plain_call(&self, name: Ident, args: Vec<Expr>) -> ExprKind {
        ExprKind::Call(Box::new(FunctionCall::plain(name, args)))
    }

    /// `[schema.]name(args)`; the name is consumed.
    pub(super) fn generic_call(&mut self, schema: Option<Ident>, name: Ident) -> PResult<ExprKind> {
        let dialect = schema.as_ref().and_then(|schema| self.of_dialect(schema, &name));
        let (schema, name) = match dialect {
            Some(name) => {
                if let Some(call) = self.dialect_call(&name)? {
                    return Ok(call);
                }
                (None, name)
            }
            None if schema.is_none() && !name.quoted => {
                if name.is("trim_oracle")
                    && let Some(call) = self.dialect_call(&name)?
                {
                    return Ok(call);
                }
                (None, self.meant(name))
            }
            None => (schema, name),
        };
        let stored_only =
            schema.is_none() && !name.quoted && Kw::lookup(name.value.as_bytes()).is_function();
        self.expect(T::LParen)?;
        let mut args =
            if self.at(T::RParen) { Vec::new() } else { self.list(|p| p.argument(&name))? };
        self.expect(T::RParen)?;
        if schema.is_none() && name.is("add_months") {
            match add_months(args) {
                Ok(sum) => return Ok(sum),
                Err(other) => args = other,
            }
        }
        let mut call = Box::new(FunctionCall::plain(name, args));
        call.schema = schema;
        call.stored_only = stored_only;
        if self.program.is_some() && (call.name.is("extractvalue") || call.name.is("updatexml")) {
            call.named = self.named_in_path(call.args.get(1));
        }
        Ok(ExprKind::Call(call))
    }

    /// The program variables named in an XPath expression, if that is a literal.
    fn named_in_path(&mut self, path: Option<&Expr>) -> Vec<(Ident, Expr)> {
        let Some(Expr { kind: ExprKind::Literal(Literal::String(text)), span }) = path else {
            return Vec::new();
        };
        let text = String::from_utf8_lossy(&text.bytes).into_owned();
        let mut named = Vec::new();
        for part in text.split('$').skip(1) {
            let ends = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
            let name = part.split(ends).next().unwrap_or_default();
            if let Some(kind) = self.variable_named(name) {
                let ident = Ident { value: name.into(), quoted: false, span: *span };
                named.push((ident, Expr { kind, span: *span }));
            }
        }
        named
    }

    /// An argument. Compat: only loadable functions take arguments with aliases.
    fn argument(&mut self, function: &Ident) -> PResult<Expr> {
        let expr = self.expr()?;
        if self.at(Kw::AS) || self.at_ident() || self.at(T::Str) {
            self.eat(Kw::AS);
            self.alias()?;
            return self.fail(&ER_WRONG_PARAMETERS_TO_NATIVE_FCT, &[function]);
        }
        Ok(expr)
    }

    /// An operand that begins with a keyword.
    pub(super) fn keyword_call(&mut self, kw: Kw) -> PResult<ExprKind> {
        match kw {
            Kw::CURRENT_USER | Kw::CURRENT_ROLE | Kw::UTC_DATE => self.optional_parens(kw.text()),
            Kw::CURRENT_DATE => self.optional_parens("curdate"),
            Kw::CURRENT_TIME => self.optional_precision("curtime"),
            Kw::CURRENT_TIMESTAMP | Kw::LOCALTIME | Kw::LOCALTIMESTAMP => {
                self.optional_precision("now")
            }
            Kw::UTC_TIME | Kw::UTC_TIMESTAMP => self.optional_precision(kw.text()),
            Kw::SYSDATE if self.is_oracle() => self.optional_precision("sysdate"),
            Kw::ROWNUM if self.is_oracle() => self.optional_parens("rownum"),
            _ if self.peek() == T::LParen => self.keyword_with_parens(kw),
            _ if kw.is_reserved() => Err(self.error()),
            _ => self.column_or_call(),
        }
    }

    fn keyword_with_parens(&mut self, kw: Kw) -> PResult<ExprKind> {
        if let Some((least, most)) = arity(kw) {
            let name = self.keyword_name(kw.text());
            let args = self.arguments(least, most)?;
            let name = self.meant(name);
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
            Kw::COLUMN_CREATE | Kw::COLUMN_ADD | Kw::COLUMN_DELETE => self.column_add(kw),
            Kw::COLUMN_GET => self.column_get(),
            _ if kw.is_reserved() => Err(self.error()),
            _ => self.column_or_call(),
        }
    }

    /// Consumes a keyword and returns it as a name.
    pub(super) fn keyword_name(&mut self, name: &str) -> Ident {
        let token = self.next();
        let span = crate::ast::Span::new(token.start, token.end);
        Ident { value: name.to_ascii_lowercase().into(), quoted: false, span }
    }

    /// Between `least` and `most` arguments in parentheses.
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
        // Compat: if there is one argument too many, the error quotes the text from that argument
        // on.
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
            if p.eat(T::Comma) {
                return p.weights_by_number(expr);
            }
            if p.eat(Kw::AS) {
                binary = p.expect_any(&[Kw::CHAR, Kw::BINARY])? == Kw::BINARY;
                length = Some(p.parens(Self::positive)?);
            }
            let (mut levels, mut descending, mut reversed) = (0, 0, 0);
            if p.eat(Kw::LEVEL) {
                p.list(|p| {
                    let (mask, is_range) = p.weight_levels()?;
                    levels |= mask;
                    while let Some(flag) = p.weight_flag(is_range) {
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

    /// `WEIGHT_STRING(expr, bytes, characters, flags)`: the text is cut to `characters`, its
    /// weights to `bytes`. The flags give the levels, and whether to pad to the characters or to
    /// the bytes.
    fn weights_by_number(&mut self, expr: Box<Expr>) -> PResult<ExprKind> {
        const TO_CHARACTERS: u64 = 0x40;
        const TO_BYTES: u64 = 0x80;
        let start = expr.span.start;
        let bytes = self.u64()?;
        self.expect(T::Comma)?;
        let characters = self.u64()?;
        self.expect(T::Comma)?;
        let flags = self.u64()?;
        let to_characters = characters == 0 || flags & TO_CHARACTERS != 0;
        if bytes == 0 && flags & TO_BYTES == 0 && to_characters {
            let length = Some(characters).filter(|n| *n > 0);
            let bits = |shift: u32| (flags >> shift) as u8 & 0x3F;
            let (levels, descending, reversed) = (bits(0), bits(8), bits(16));
            let binary = false;
            return Ok(ExprKind::WeightString {
                expr,
                length,
                binary,
                levels,
                descending,
                reversed,
            });
        }
        let length = match characters {
            _ if flags & TO_BYTES != 0 => Some(bytes.max(characters)),
            0 => None,
            _ => Some(characters).filter(|_| flags & TO_CHARACTERS != 0),
        };
        let expr = if characters > 0 {
            Box::new(Expr { kind: self.left(*expr, characters), span: self.span_from(start) })
        } else {
            expr
        };
        let (levels, binary) = (flags as u8 & 0x3F, false);
        let weights =
            ExprKind::WeightString { expr, length, binary, levels, descending: 0, reversed: 0 };
        if bytes == 0 {
            return Ok(weights);
        }
        Ok(self.left(Expr { kind: weights, span: self.span_from(start) }, bytes))
    }

    /// `LEFT(expr, count)`.
    fn left(&self, expr: Expr, count: u64) -> ExprKind {
        let span = expr.span;
        let name = Ident { value: "left".into(), quoted: false, span };
        let count = Expr { kind: ExprKind::Literal(crate::ast::Literal::Int(count)), span };
        self.plain_call(name, vec![expr, count])
    }

    /// A level or a range of levels, as bits. Compat: a number outside 1 to 6 means the nearest
    /// level.
    fn weight_levels(&mut self) -> PResult<(u8, bool)> {
        let bit = |level: u64| level.clamp(1, 6) as u8 - 1;
        let first = bit(self.u64()?);
        let is_range = self.eat(T::Minus);
        let last = if is_range { bit(self.u64()?) } else { first };
        Ok(((first..=last).fold(0, |mask, level| mask | 1 << level), is_range))
    }

    /// The direction after a level; ranges have none.
    fn weight_flag(&mut self, is_range: bool) -> Option<Kw> {
        if is_range { None } else { self.eat_any(&[Kw::ASC, Kw::DESC, Kw::REVERSE]) }
    }

    /// A number that is not 0.
    fn positive(&mut self) -> PResult<u64> {
        let token = self.tok;
        match self.u64()? {
            0 => Err(self.error_at(token)),
            number => Ok(number),
        }
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

/// `ADD_MONTHS(date, amount)`. Compat: views and plans show it as date arithmetic. Returns the
/// arguments if there are not two.
fn add_months(args: Vec<Expr>) -> Result<ExprKind, Vec<Expr>> {
    let [expr, amount] = <[Expr; 2]>::try_from(args)?;
    let (expr, amount) = (expr.into(), amount.into());
    Ok(ExprKind::AddInterval { expr, negated: false, amount, unit: IntervalUnit::Month })
}
