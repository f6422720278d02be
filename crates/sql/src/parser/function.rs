//! Functions that are keywords only with a parenthesis directly after them.
//! The lexer decides that (`T::Func`); here only their argument lists differ.

use super::expr::prec;
use super::{PResult, Parser};
use crate::ast::{Expr, ExprKind, TrimSide};
use crate::lexer::{Kw, T};

impl Parser<'_> {
    /// A call whose name is a [`T::Func`] token.
    pub(super) fn function_keyword(&mut self, kw: Kw) -> PResult<ExprKind> {
        match kw {
            Kw::ADDDATE => self.add_date(false, true),
            Kw::SUBDATE => self.add_date(true, true),
            Kw::DATE_ADD => self.add_date(false, false),
            Kw::DATE_SUB => self.add_date(true, false),
            Kw::CAST => self.cast(),
            Kw::CURDATE => self.optional_parens("curdate"),
            Kw::CURTIME => self.optional_precision("curtime"),
            Kw::NOW => self.optional_precision("now"),
            Kw::SESSION_USER | Kw::SYSTEM_USER => {
                self.next();
                let name = crate::ast::Ident::new("user");
                let args = self.arguments(0, 0)?;
                Ok(self.plain_call(name, args))
            }
            Kw::EXTRACT => self.extract(),
            Kw::POSITION => self.position(),
            Kw::SUBSTR | Kw::SUBSTRING | Kw::MID => self.substring(),
            Kw::TRIM => self.trim(),
            _ => self.aggregate_or_window(kw),
        }
    }

    fn add_date(&mut self, negated: bool, days: bool) -> PResult<ExprKind> {
        self.next();
        self.parens(|p| {
            let expr = p.boxed_expr()?;
            p.expect(T::Comma)?;
            let (amount, unit) = if p.at(Kw::INTERVAL) || !days {
                p.interval_argument()?
            } else {
                (p.expr()?, crate::ast::IntervalUnit::Day)
            };
            Ok(ExprKind::AddInterval { expr, negated, amount: amount.into(), unit })
        })
    }

    fn cast(&mut self) -> PResult<ExprKind> {
        self.next();
        self.parens(|p| {
            let expr = p.boxed_expr()?;
            p.expect(Kw::AS)?;
            Ok(ExprKind::Cast { expr, target: p.cast_type()?.into() })
        })
    }

    fn extract(&mut self) -> PResult<ExprKind> {
        self.next();
        self.parens(|p| {
            let unit = p.unit()?;
            p.expect(Kw::FROM)?;
            Ok(ExprKind::Extract { unit, expr: p.boxed_expr()? })
        })
    }

    fn position(&mut self) -> PResult<ExprKind> {
        self.next();
        self.parens(|p| {
            let needle = p.binary(prec::BIT_OR)?.into();
            p.expect(Kw::IN)?;
            Ok(ExprKind::Position { needle, haystack: p.boxed_expr()? })
        })
    }

    /// `SUBSTRING(s, p [, n])` or `SUBSTRING(s FROM p [FOR n])`; both give the same call.
    fn substring(&mut self) -> PResult<ExprKind> {
        let name = self.keyword_name("substring");
        let args = self.substring_arguments()?;
        let name = self.meant(name);
        Ok(self.plain_call(name, args))
    }

    pub(super) fn substring_arguments(&mut self) -> PResult<Vec<Expr>> {
        self.expect(T::LParen)?;
        let mut args = vec![self.expr()?];
        let (second, third) = match self.at(Kw::FROM) {
            true => (T::Word(Kw::FROM), T::Word(Kw::FOR)),
            false => (T::Comma, T::Comma),
        };
        self.expect(second)?;
        args.push(self.expr()?);
        if self.eat(third) {
            args.push(self.expr()?);
        }
        self.expect(T::RParen)?;
        Ok(args)
    }

    fn trim(&mut self) -> PResult<ExprKind> {
        self.next();
        let (side, what, expr) = self.trim_arguments()?;
        Ok(match self.is_oracle() {
            true => self.own_trim((side, what, expr)),
            false => ExprKind::Trim { side, what, expr },
        })
    }

    /// `([side] [what FROM] expr)`.
    pub(super) fn trim_arguments(&mut self) -> PResult<(TrimSide, Option<Box<Expr>>, Box<Expr>)> {
        self.parens(|p| {
            let side = match p.eat_any(&[Kw::BOTH, Kw::LEADING, Kw::TRAILING]) {
                Some(Kw::LEADING) => TrimSide::Leading,
                Some(Kw::TRAILING) => TrimSide::Trailing,
                Some(_) => TrimSide::Both,
                None => {
                    let expr = p.boxed_expr()?;
                    if !p.eat(Kw::FROM) {
                        return Ok((TrimSide::Both, None, expr));
                    }
                    return Ok((TrimSide::Both, Some(expr), p.boxed_expr()?));
                }
            };
            let what = if p.at(Kw::FROM) { None } else { Some(p.boxed_expr()?) };
            p.expect(Kw::FROM)?;
            Ok((side, what, p.boxed_expr()?))
        })
    }
}
