//! BETWEEN, IN, LIKE, REGEXP, each with an optional NOT.
//! Their right operands bind tighter than the predicate itself (see `expr::prec`).

use super::expr::prec;
use super::{PResult, Parser};
use crate::ast::{Expr, ExprKind};
use crate::lexer::{Kw, T};

impl Parser<'_> {
    /// The rest of a predicate after its left operand. The next token is the operator, or NOT
    /// before it.
    pub(super) fn predicate_tail(&mut self, left: Expr) -> PResult<ExprKind> {
        let negated = self.eat(Kw::NOT);
        let expr = Box::new(left);
        match self.next().kind {
            T::Word(Kw::BETWEEN) => {
                let low = self.nested(|p| p.binary(prec::BETWEEN))?.into();
                self.expect(Kw::AND)?;
                let high = self.nested(|p| p.binary(prec::BETWEEN))?.into();
                Ok(ExprKind::Between { expr, negated, low, high })
            }
            T::Word(Kw::LIKE) => {
                let pattern = self.binary(prec::BIT_OR)?.into();
                let escape = self.eat(Kw::ESCAPE).then(|| self.binary(prec::BIT_OR)).transpose()?;
                Ok(ExprKind::Like { expr, negated, pattern, escape: escape.map(Box::new) })
            }
            T::Word(Kw::IN) => self.in_tail(expr, negated),
            _ => {
                let pattern = self.binary(prec::BIT_OR)?.into();
                Ok(ExprKind::Regexp { expr, negated, pattern })
            }
        }
    }

    fn in_tail(&mut self, expr: Box<Expr>, negated: bool) -> PResult<ExprKind> {
        self.expect(T::LParen)?;
        if self.at_query_start() {
            let query = self.query()?.into();
            self.expect(T::RParen)?;
            return Ok(ExprKind::InSubquery { expr, negated, query });
        }
        let first = self.expr_or_set_operation()?;
        let first = match first.kind {
            ExprKind::Subquery(query) if self.eat(T::RParen) => {
                return Ok(ExprKind::InSubquery { expr, negated, query });
            }
            kind => Expr { kind, span: first.span },
        };
        let mut list = vec![first];
        while self.eat(T::Comma) {
            list.push(self.expr()?);
        }
        self.expect(T::RParen)?;
        Ok(ExprKind::InList { expr, negated, list })
    }
}
