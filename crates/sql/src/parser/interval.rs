//! INTERVAL: the operand of date arithmetic, or the function of that name.
//! Only the list after the parenthesis tells them apart, so both are read by one function.

use super::expr::prec;
use super::{PResult, Parser};
use crate::ast::{BinaryOp, Expr, ExprKind, Ident, IntervalUnit, Span, UnaryOp};
use crate::lexer::{Kw, T};

/// Meaning of an INTERVAL that was read.
pub(super) enum Interval {
    /// `INTERVAL amount unit`.
    Amount(Expr, IntervalUnit),
    /// `INTERVAL(a, b, ...)`.
    Function(Expr),
}

impl Parser<'_> {
    /// Reads from INTERVAL to its unit, or the whole call.
    pub(super) fn interval(&mut self) -> PResult<Interval> {
        let token = self.next();
        if !self.at(T::LParen) {
            let amount = self.expr()?;
            return Ok(Interval::Amount(amount, self.unit()?));
        }
        let start = self.tok.start;
        let (first, height) = self.measured(|p| p.parenthesized_or_row())?;
        match first.kind {
            ExprKind::Row(args) => {
                let name =
                    Ident { span: Span::new(token.start, token.end), ..Ident::new("interval") };
                let kind = self.plain_call(name, args);
                Ok(Interval::Function(Expr { kind, span: self.span_from(token.start) }))
            }
            _ => {
                let amount = self.nested(|p| p.binary_after(first, height, start, prec::LOWEST))?;
                Ok(Interval::Amount(amount, self.unit()?))
            }
        }
    }

    /// `left + INTERVAL ...`; the operator is consumed.
    pub(super) fn interval_operand(&mut self, op: BinaryOp, left: Expr) -> PResult<ExprKind> {
        let start = self.tok.start;
        let (interval, height) = self.measured(|p| p.nested(Self::interval))?;
        match interval {
            Interval::Amount(amount, unit) => Ok(ExprKind::AddInterval {
                expr: left.into(),
                negated: op == BinaryOp::Sub,
                amount: amount.into(),
                unit,
            }),
            Interval::Function(call) => {
                let right = self.binary_after(call, height, start, prec::MUL)?.into();
                Ok(ExprKind::Binary { op, left: left.into(), right })
            }
        }
    }

    /// `INTERVAL amount unit + date`, or the call, as an operand.
    pub(super) fn interval_primary(&mut self) -> PResult<ExprKind> {
        match self.nested(Self::interval)? {
            Interval::Function(call) => Ok(call.kind),
            Interval::Amount(amount, unit) => self.date_of_interval(amount, unit),
        }
    }

    /// `- INTERVAL amount unit + date`, which is `date - INTERVAL amount unit`, or the negated
    /// call; the minus is consumed.
    pub(super) fn negative_interval(&mut self) -> PResult<ExprKind> {
        match self.nested(Self::interval)? {
            Interval::Function(call) => Ok(ExprKind::Unary { op: UnaryOp::Neg, expr: call.into() }),
            Interval::Amount(amount, unit) => {
                let mut kind = self.date_of_interval(amount, unit)?;
                if let ExprKind::AddInterval { negated, .. } = &mut kind {
                    *negated = true;
                }
                Ok(kind)
            }
        }
    }

    fn date_of_interval(&mut self, amount: Expr, unit: IntervalUnit) -> PResult<ExprKind> {
        self.expect(T::Plus)?;
        let expr = self.nested(|p| p.binary(prec::MUL))?.into();
        Ok(ExprKind::AddInterval { expr, negated: false, amount: amount.into(), unit })
    }

    /// `INTERVAL amount unit` as an argument.
    pub(super) fn interval_argument(&mut self) -> PResult<(Expr, IntervalUnit)> {
        self.expect(Kw::INTERVAL)?;
        let amount = self.expr()?;
        Ok((amount, self.unit()?))
    }

    /// A unit of time.
    pub(super) fn unit(&mut self) -> PResult<IntervalUnit> {
        use IntervalUnit as U;
        let T::Word(kw) = self.tok.kind else { return Err(self.error()) };
        let unit = match kw {
            Kw::YEAR | Kw::SQL_TSI_YEAR => U::Year,
            Kw::QUARTER | Kw::SQL_TSI_QUARTER => U::Quarter,
            Kw::MONTH | Kw::SQL_TSI_MONTH => U::Month,
            Kw::WEEK | Kw::SQL_TSI_WEEK => U::Week,
            Kw::DAY | Kw::SQL_TSI_DAY => U::Day,
            Kw::HOUR | Kw::SQL_TSI_HOUR => U::Hour,
            Kw::MINUTE | Kw::SQL_TSI_MINUTE => U::Minute,
            Kw::SECOND | Kw::SQL_TSI_SECOND => U::Second,
            Kw::MICROSECOND => U::Microsecond,
            Kw::YEAR_MONTH => U::YearMonth,
            Kw::DAY_HOUR => U::DayHour,
            Kw::DAY_MINUTE => U::DayMinute,
            Kw::DAY_SECOND => U::DaySecond,
            Kw::HOUR_MINUTE => U::HourMinute,
            Kw::HOUR_SECOND => U::HourSecond,
            Kw::MINUTE_SECOND => U::MinuteSecond,
            Kw::DAY_MICROSECOND => U::DayMicrosecond,
            Kw::HOUR_MICROSECOND => U::HourMicrosecond,
            Kw::MINUTE_MICROSECOND => U::MinuteMicrosecond,
            Kw::SECOND_MICROSECOND => U::SecondMicrosecond,
            _ => return Err(self.error()),
        };
        self.next();
        Ok(unit)
    }
}
