//! LIMIT, OFFSET .. FETCH, ORDER BY.
//! Values of LIMIT are literals, parameters or program variables, never expressions, as in MariaDB.

use selkie_types::error::catalogue::{ER_SP_UNDECLARED_VAR, ER_WRONG_SPVAR_TYPE_IN_LIMIT};

use super::{PResult, Parser};
use crate::ast::{Expr, ExprKind, Limit, OrderItem};
use crate::lexer::{Kw, T};

impl Parser<'_> {
    /// `ORDER BY ...`, if present.
    pub(super) fn order_by_opt(&mut self) -> PResult<Vec<OrderItem>> {
        if !self.at(Kw::ORDER) {
            return Ok(Vec::new());
        }
        self.next();
        self.expect(Kw::BY)?;
        self.order_items()
    }

    /// `expr [ASC|DESC], ...`.
    pub(super) fn order_items(&mut self) -> PResult<Vec<OrderItem>> {
        self.list(Self::order_item)
    }

    pub(super) fn order_item(&mut self) -> PResult<OrderItem> {
        let expr = self.expr()?;
        let descending = self.eat_any(&[Kw::ASC, Kw::DESC]) == Some(Kw::DESC);
        Ok(OrderItem { expr, descending })
    }

    /// `LIMIT ...` or `OFFSET .. FETCH ..`, if present.
    pub(super) fn limit_opt(&mut self) -> PResult<Option<Box<Limit>>> {
        if self.at(Kw::LIMIT) {
            return self.limit().map(|l| Some(l.into()));
        }
        if !self.at_any(&[Kw::OFFSET, Kw::FETCH]) {
            return Ok(None);
        }
        self.fetch().map(|l| Some(l.into()))
    }

    /// The LIMIT of an UPDATE or DELETE: only a number of rows is allowed.
    pub(super) fn limit_of_change(&mut self) -> PResult<Option<Box<Limit>>> {
        if !self.eat(Kw::LIMIT) {
            return Ok(None);
        }
        let count = if self.at(Kw::ROWS) { None } else { Some(self.limit_value()?) };
        if self.eat(Kw::ROWS) {
            return Err(self.error());
        }
        let limit = Limit { count, offset: None, with_ties: false, rows_examined: None };
        Ok(Some(limit.into()))
    }

    fn limit(&mut self) -> PResult<Limit> {
        self.next();
        let mut limit = Limit { count: None, offset: None, with_ties: false, rows_examined: None };
        if !self.at(Kw::ROWS) {
            let first = self.limit_value()?;
            if self.eat(T::Comma) {
                limit.offset = Some(first);
                limit.count = Some(self.limit_value()?);
            } else {
                limit.count = Some(first);
                limit.offset = self.eat(Kw::OFFSET).then(|| self.limit_value()).transpose()?;
            }
        }
        if self.eat(Kw::ROWS) {
            self.expect(Kw::EXAMINED)?;
            limit.rows_examined = Some(self.limit_value()?);
        }
        Ok(limit)
    }

    fn fetch(&mut self) -> PResult<Limit> {
        let mut limit = Limit { count: None, offset: None, with_ties: false, rows_examined: None };
        if self.eat(Kw::OFFSET) {
            limit.offset = Some(self.limit_value()?);
            self.expect_any(&[Kw::ROW, Kw::ROWS])?;
            if !self.at(Kw::FETCH) {
                return Ok(limit);
            }
        }
        self.expect(Kw::FETCH)?;
        self.expect_any(&[Kw::FIRST, Kw::NEXT])?;
        limit.count = Some(match self.at_any(&[Kw::ROW, Kw::ROWS]) {
            true => Expr {
                kind: ExprKind::Literal(crate::ast::Literal::Int(1)),
                span: self.span_from(self.prev_end),
            },
            false => self.limit_value()?,
        });
        self.expect_any(&[Kw::ROW, Kw::ROWS])?;
        if self.expect_any(&[Kw::ONLY, Kw::WITH])? == Kw::WITH {
            self.expect(Kw::TIES)?;
            limit.with_ties = true;
        }
        Ok(limit)
    }

    /// A number, a parameter or a program variable.
    pub(super) fn limit_value(&mut self) -> PResult<Expr> {
        match self.tok.kind {
            T::Int | T::Param => self.primary(),
            _ if self.at_ident() => {
                let start = self.tok.start;
                if self.program.is_none() {
                    let name = self.ident()?;
                    return self.fail(&ER_SP_UNDECLARED_VAR, &[&name]);
                }
                let (_, local) = self.target_local()?;
                if !self.is_integer(&local) {
                    return self.fail(&ER_WRONG_SPVAR_TYPE_IN_LIMIT, &[]);
                }
                let kind = self.placeholder(local);
                Ok(Expr { kind, span: self.span_from(start) })
            }
            _ => Err(self.error()),
        }
    }
}
