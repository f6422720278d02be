//! Operators by precedence climbing. Operands are in `primary.rs`, BETWEEN and its kin in
//! `predicate.rs`.

use selkie_types::SqlMode;

use super::{PResult, Parser};
use crate::ast::{BinaryOp, Expr, ExprKind, IsTest, Span, UnaryOp};
use crate::lexer::{Kw, T};

/// Binding powers, low to high.
pub(super) mod prec {
    pub(in crate::parser) const LOWEST: u8 = 0;
    pub(in crate::parser) const OR: u8 = 1;
    pub(in crate::parser) const XOR: u8 = 2;
    pub(in crate::parser) const AND: u8 = 3;
    pub(in crate::parser) const NOT: u8 = 4;
    pub(in crate::parser) const COMPARISON: u8 = 5;
    pub(in crate::parser) const BETWEEN: u8 = 6;
    pub(in crate::parser) const LIKE: u8 = 7;
    pub(in crate::parser) const BIT_OR: u8 = 8;
    pub(in crate::parser) const BIT_AND: u8 = 9;
    pub(in crate::parser) const SHIFT: u8 = 10;
    pub(in crate::parser) const ADD: u8 = 11;
    pub(in crate::parser) const MUL: u8 = 12;
    pub(in crate::parser) const BIT_XOR: u8 = 13;
    pub(in crate::parser) const CONCAT: u8 = 14;
}

/// An infix operator.
#[derive(Clone, Copy)]
enum Infix {
    Binary(BinaryOp),
    And,
    Or,
    Is,
    /// BETWEEN, IN, LIKE or REGEXP, with an optional NOT before it.
    Predicate,
}

/// Operands of AND or OR, and the height of the tallest.
struct Chain {
    is_and: bool,
    operands: Vec<Expr>,
    tallest: u32,
}

impl Chain {
    fn push(&mut self, operand: Expr, height: u32) {
        match operand.kind {
            ExprKind::And(inner) if self.is_and => self.extend(inner, height),
            ExprKind::Or(inner) if !self.is_and => self.extend(inner, height),
            kind => {
                self.tallest = self.tallest.max(height);
                self.operands.push(Expr { kind, span: operand.span });
            }
        }
    }

    fn extend(&mut self, inner: Vec<Expr>, height: u32) {
        self.tallest = self.tallest.max(height.saturating_sub(1));
        match self.operands.is_empty() {
            true => self.operands = inner,
            false => self.operands.extend(inner),
        }
    }
}

impl Parser<'_> {
    /// Any expression.
    pub(super) fn expr(&mut self) -> PResult<Expr> {
        self.nested(|p| p.binary(prec::LOWEST))
    }

    /// An expression without comparisons and logical operators.
    pub(super) fn operand(&mut self) -> PResult<Expr> {
        self.nested(|p| p.binary(prec::BIT_OR))
    }

    pub(super) fn boxed_expr(&mut self) -> PResult<Box<Expr>> {
        self.expr().map(Box::new)
    }

    /// An expression whose operators have at least the binding power `min`.
    pub(super) fn binary(&mut self, min: u8) -> PResult<Expr> {
        let start = self.tok.start;
        let (left, height) = self.measured(|p| p.unary(min))?;
        self.binary_after(left, height, start, min)
    }

    /// Continues after an operand that is already read.
    pub(super) fn binary_after(
        &mut self,
        mut left: Expr,
        mut height: u32,
        start: u32,
        min: u8,
    ) -> PResult<Expr> {
        while let Some((op, level)) = self.infix() {
            if level < min {
                break;
            }
            if let Infix::And | Infix::Or = op {
                (left, height) = self.operands(left, height, start, level)?;
                continue;
            }
            let (kind, right) = self.measured(|p| p.infix_tail(op, level, left))?;
            height = self.grow(height, right)?;
            left = Expr { kind, span: self.span_from(start) };
        }
        Ok(left)
    }

    /// The operator at the next token, with its binding power.
    fn infix(&mut self) -> Option<(Infix, u8)> {
        use BinaryOp as B;
        use Infix::*;
        Some(match self.tok.kind {
            T::Word(kw) => return self.infix_word(kw),
            T::Eq => (Binary(B::Eq), prec::COMPARISON),
            T::NullSafeEq => (Binary(B::NullSafeEq), prec::COMPARISON),
            T::Ne => (Binary(B::Ne), prec::COMPARISON),
            T::Lt => (Binary(B::Lt), prec::COMPARISON),
            T::Le => (Binary(B::Le), prec::COMPARISON),
            T::Gt => (Binary(B::Gt), prec::COMPARISON),
            T::Ge => (Binary(B::Ge), prec::COMPARISON),
            T::AndAnd => (And, prec::AND),
            T::PipePipe if self.mode.contains(SqlMode::PIPES_AS_CONCAT) => {
                // Compat: in the mode of Oracle it binds as `+` does.
                let level = if self.is_oracle() { prec::ADD } else { prec::CONCAT };
                (Binary(B::Concat), level)
            }
            T::PipePipe => (Or, prec::OR),
            T::Pipe => (Binary(B::BitOr), prec::BIT_OR),
            T::Amp => (Binary(B::BitAnd), prec::BIT_AND),
            T::ShiftLeft => (Binary(B::ShiftLeft), prec::SHIFT),
            T::ShiftRight => (Binary(B::ShiftRight), prec::SHIFT),
            T::Plus => (Binary(B::Add), prec::ADD),
            T::Minus => (Binary(B::Sub), prec::ADD),
            T::Star => (Binary(B::Mul), prec::MUL),
            T::Slash => (Binary(B::Div), prec::MUL),
            T::Percent => (Binary(B::Mod), prec::MUL),
            T::Caret => (Binary(B::BitXor), prec::BIT_XOR),
            _ => return None,
        })
    }

    fn infix_word(&mut self, kw: Kw) -> Option<(Infix, u8)> {
        Some(match kw {
            Kw::AND => (Infix::And, prec::AND),
            Kw::OR => (Infix::Or, prec::OR),
            Kw::XOR => (Infix::Binary(BinaryOp::Xor), prec::XOR),
            Kw::IS => (Infix::Is, prec::COMPARISON),
            Kw::DIV => (Infix::Binary(BinaryOp::IntDiv), prec::MUL),
            Kw::MOD => (Infix::Binary(BinaryOp::Mod), prec::MUL),
            Kw::BETWEEN => (Infix::Predicate, prec::BETWEEN),
            Kw::LIKE | Kw::IN | Kw::REGEXP | Kw::RLIKE => (Infix::Predicate, prec::LIKE),
            Kw::SOUNDS if self.peek() == T::Word(Kw::LIKE) => {
                (Infix::Binary(BinaryOp::SoundsLike), prec::LIKE)
            }
            Kw::NOT => match self.peek() {
                T::Word(Kw::BETWEEN) => (Infix::Predicate, prec::BETWEEN),
                T::Word(Kw::LIKE | Kw::IN | Kw::REGEXP | Kw::RLIKE) => {
                    (Infix::Predicate, prec::LIKE)
                }
                _ => return None,
            },
            _ => return None,
        })
    }

    /// Reads the operator and what follows it; `left` is its left operand.
    fn infix_tail(&mut self, op: Infix, level: u8, left: Expr) -> PResult<ExprKind> {
        match op {
            // [`Parser::operands`] has read these.
            Infix::And | Infix::Or => Err(self.error()),
            Infix::Is => self.is_tail(left),
            Infix::Predicate => self.nested(|p| p.predicate_tail(left)),
            Infix::Binary(op) => {
                self.next();
                if op == BinaryOp::SoundsLike {
                    self.expect(Kw::LIKE)?;
                }
                self.binary_tail(op, level, left)
            }
        }
    }

    /// Reads `left AND b AND c` from the first operator on; returns the expression with its height.
    ///
    /// Operands in parentheses that are chains of the same operator become part of this chain.
    fn operands(&mut self, left: Expr, height: u32, start: u32, level: u8) -> PResult<(Expr, u32)> {
        let is_and = level == prec::AND;
        let mut chain = Chain { is_and, operands: Vec::new(), tallest: 0 };
        chain.push(left, height);
        while matches!(self.infix(), Some((Infix::And | Infix::Or, l)) if l == level) {
            self.next();
            let (operand, height) = self.weighed(|p| p.binary(level + 1))?;
            chain.push(operand, height);
        }
        let height = self.grow(chain.tallest, 0)?;
        let kind = match is_and {
            true => ExprKind::And(chain.operands),
            false => ExprKind::Or(chain.operands),
        };
        Ok((Expr { kind, span: self.span_from(start) }, height))
    }

    fn binary_tail(&mut self, op: BinaryOp, level: u8, left: Expr) -> PResult<ExprKind> {
        if level == prec::COMPARISON
            && op != BinaryOp::NullSafeEq
            && self.at_any(&[Kw::ANY, Kw::SOME, Kw::ALL])
            && self.peek() == T::LParen
        {
            let all = self.next().kind == T::Word(Kw::ALL);
            let query = Box::new(self.subquery()?);
            return Ok(ExprKind::Quantified { left: left.into(), op, all, query });
        }
        if level == prec::ADD && self.at(Kw::INTERVAL) {
            return self.interval_operand(op, left);
        }
        let right = self.binary(level + 1)?;
        if op == BinaryOp::Concat && self.is_oracle() {
            return Ok(self.own_concat(left, right));
        }
        let right = right.into();
        Ok(ExprKind::Binary { op, left: left.into(), right })
    }

    fn is_tail(&mut self, left: Expr) -> PResult<ExprKind> {
        self.next();
        let negated = self.eat(Kw::NOT);
        let test = match self.tok.kind {
            T::Word(Kw::NULL) | T::NullSign => IsTest::Null,
            T::Word(Kw::TRUE) => IsTest::True,
            T::Word(Kw::FALSE) => IsTest::False,
            T::Word(Kw::UNKNOWN) => IsTest::Unknown,
            _ => return Err(self.error()),
        };
        self.next();
        Ok(ExprKind::Is { expr: left.into(), test, negated })
    }

    /// An operand with its prefix and postfix operators.
    fn unary(&mut self, min: u8) -> PResult<Expr> {
        let start = self.tok.start;
        let op = match self.tok.kind {
            T::Minus => UnaryOp::Neg,
            T::Plus => UnaryOp::Plus,
            T::Tilde => UnaryOp::BitNot,
            T::Bang => UnaryOp::Not,
            T::Word(Kw::BINARY) => UnaryOp::Binary,
            T::Word(Kw::NOT) => return self.not(min),
            _ => return self.collated(),
        };
        self.next();
        let kind = match op {
            UnaryOp::Neg if self.at(Kw::INTERVAL) => self.negative_interval()?,
            // Compat: the text of a view has no sign then.
            UnaryOp::Plus if self.at(Kw::INTERVAL) => self.nested(Self::interval_primary)?,
            _ => {
                let expr = Box::new(self.nested(|p| p.tight_operand())?);
                ExprKind::Unary { op, expr }
            }
        };
        Ok(Expr { kind, span: self.span_from(start) })
    }

    /// Operand of a prefix operator such as unary minus.
    fn tight_operand(&mut self) -> PResult<Expr> {
        if self.at(Kw::NOT) && !self.high_not() {
            return Err(self.error());
        }
        self.measured(|p| p.unary(prec::CONCAT)).map(|(expr, _)| expr)
    }

    fn high_not(&self) -> bool {
        self.mode.contains(SqlMode::HIGH_NOT_PRECEDENCE)
    }

    fn not(&mut self, min: u8) -> PResult<Expr> {
        let high = self.high_not();
        if !high && min > prec::NOT {
            return Err(self.error());
        }
        let start = self.next().start;
        let operand = |p: &mut Self| if high { p.tight_operand() } else { p.binary(prec::NOT) };
        let expr = Box::new(self.nested(operand)?);
        Ok(Expr { kind: ExprKind::Unary { op: UnaryOp::Not, expr }, span: self.span_from(start) })
    }

    /// An operand with its COLLATE clauses.
    fn collated(&mut self) -> PResult<Expr> {
        let start = self.tok.start;
        let mut expr = self.primary()?;
        let mut height = 1;
        while self.eat(Kw::COLLATE) {
            let collation = self.collation_name()?;
            height = self.grow(height, 0)?;
            expr = Expr {
                kind: ExprKind::Collate { expr: expr.into(), collation },
                span: Span::new(start, self.prev_end),
            };
        }
        Ok(expr)
    }
}
