//! Constants that columns are known to equal, in the form in which MariaDB shows them. A constant
//! is evaluated without a session; warnings of the evaluation are kept for the statement.

use selkie_expr::{EvalContext, Expr as Bound, NoSession};
use selkie_sql::ast::{ColumnRef, Expr, ExprKind, Literal, StringLiteral, TemporalKind, UnaryOp};
use selkie_types::{Charset, Condition, DateTime, SqlType, Time, TypeKind, Value};

use crate::planner::{PlanContext, bind_constant};

/// A column with the constant it equals.
pub(super) struct Known {
    /// The column.
    pub column: ColumnRef,
    /// Its type.
    pub ty: SqlType,
    /// The constant as shown in comparisons.
    pub compared: Expr,
    /// The constant that may replace the column anywhere, if there is one that is equal in every
    /// respect.
    pub identical: Option<Expr>,
}

/// Evaluates constants of a statement that is being explained.
pub(super) struct Constants<'a> {
    pub context: &'a PlanContext<'a>,
    /// Start of the statement in microseconds.
    pub now_micros: i64,
    /// Warnings raised by the evaluation.
    pub conditions: Vec<Condition>,
}

impl Constants<'_> {
    /// The bound form of an expression without columns.
    pub(super) fn bind(&self, e: &Expr) -> Option<Bound> {
        bind_constant(e, self.context).ok().filter(|bound| bound.is_constant())
    }

    /// The value of a constant. Warnings of its evaluation are kept.
    fn value(&mut self, bound: &Bound) -> Option<Value> {
        if !bound.is_foldable() && !bound.ty.is_temporal() {
            return None;
        }
        let context = EvalContext::new(self.context.types.clone(), &NoSession, self.now_micros);
        let value = bound.eval_value(&context).ok()?;
        let raised = context.conditions.borrow_mut().take();
        self.conditions.extend(raised.list().iter().cloned());
        Some(value)
    }

    /// Whether a condition on constants is true.
    pub(super) fn is_true(&mut self, e: &Expr) -> bool {
        let Some(mut bound) = self.bind(e).filter(Bound::is_foldable) else { return false };
        selkie_expr::cast::to_condition(&mut bound);
        let before = self.conditions.len();
        let is_true = matches!(self.value(&bound), Some(Value::Int(1) | Value::UInt(1)));
        if !is_true {
            self.conditions.truncate(before);
        }
        is_true
    }

    /// The constant that `column = constant` gives, if it can be shown.
    pub(super) fn known(
        &mut self,
        column: &ColumnRef,
        ty: &SqlType,
        constant: &Expr,
    ) -> Option<Known> {
        let bound = self.bind(constant)?;
        let (compared, identical) = match ty.kind {
            TypeKind::Year => (year(ty, &bound)?, None),
            TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp => {
                self.dated(ty, constant, bound)?
            }
            TypeKind::Time => self.time(ty, constant, bound)?,
            _ if ty.is_integer() && bound.ty.is_integer() && bound.as_literal().is_some() => {
                (constant.clone(), (!ty.zerofill).then(|| constant.clone()))
            }
            _ => return None,
        };
        Some(Known { column: column.clone(), ty: ty.clone(), compared, identical })
    }

    /// A constant compared with a column that has a date. Compat: a number is not converted and
    /// gives nothing.
    fn dated(
        &mut self,
        ty: &SqlType,
        constant: &Expr,
        mut bound: Bound,
    ) -> Option<(Expr, Option<Expr>)> {
        let has_date =
            matches!(bound.ty.kind, TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp);
        let same = has_date && (ty.kind != TypeKind::Date || bound.ty.kind == TypeKind::Date);
        if !has_date && bound.ty.kind != TypeKind::Time && !is_text(&bound) {
            return None;
        }
        selkie_expr::cast::to_compared_datetime(&mut bound);
        let Value::DateTime(value) = self.value(&bound)? else { return None };
        let midnight = value.micros_of_day() == 0;
        if ty.kind == TypeKind::Date {
            let date = midnight.then(|| temporal(TemporalKind::Date, &value, 0));
            return Some(match date {
                _ if has_date && !same => (constant.clone(), None),
                Some(date) if has_date => (constant.clone(), Some(date)),
                Some(date) => (date.clone(), Some(date)),
                None => (timestamp(value), None),
            });
        }
        let fits = value.truncate_to(ty.decimals) == value;
        let identical = fits.then(|| temporal(TemporalKind::Timestamp, &value, ty.decimals));
        Some((if has_date { constant.clone() } else { timestamp(value) }, identical))
    }

    /// A constant compared with a TIME column.
    fn time(
        &mut self,
        ty: &SqlType,
        constant: &Expr,
        mut bound: Bound,
    ) -> Option<(Expr, Option<Expr>)> {
        let is_time = bound.ty.kind == TypeKind::Time;
        if !is_time && !is_text(&bound) {
            return None;
        }
        selkie_expr::cast::to_compared_time(&mut bound);
        let Value::Time(value) = self.value(&bound)? else { return None };
        let literal = |fsp| {
            let mut text = Vec::new();
            value.write_to(&mut text, fsp);
            literal(TemporalKind::Time, text)
        };
        let fits = value.truncate_to(ty.decimals) == value;
        let shown = if is_time { constant.clone() } else { literal(digits(value)) };
        Some((shown, fits.then(|| literal(ty.decimals))))
    }

    /// A constant text as a literal, below a sign that is not shown: the equality keeps its place
    /// and its sides, which those with literals of the statement do not.
    pub(super) fn as_text(&mut self, e: &Expr) -> Option<Expr> {
        let bound = self.bind(e).filter(is_text)?;
        let Value::Bytes(text) = self.value(&bound)? else { return None };
        let (utf8, _) = bound.ty.collation.charset().convert(&text, Charset::Utf8mb4);
        let literal = StringLiteral::utf8(utf8.into_owned());
        let expr = Box::new(made(ExprKind::Literal(Literal::String(literal))));
        Some(made(ExprKind::Unary { op: UnaryOp::Plus, expr }))
    }

    /// An integer compared with a YEAR, as the year it means.
    pub(super) fn as_year(&self, ty: &SqlType, constant: &Expr) -> Option<Expr> {
        year(ty, &self.bind(constant)?)
    }
}

fn is_text(bound: &Bound) -> bool {
    bound.ty.is_string() && !bound.is_hex()
}

/// Compat: a fraction is shown with six digits or not at all.
fn timestamp(value: DateTime) -> Expr {
    let fsp = if value.micros_of_day() % 1_000_000 == 0 { 0 } else { 6 };
    temporal(TemporalKind::Timestamp, &value, fsp)
}

/// Number of fraction digits shown for a time, by the same rule.
fn digits(value: Time) -> u8 {
    if value.0 % 1_000_000 == 0 { 0 } else { 6 }
}

fn temporal(kind: TemporalKind, value: &DateTime, fsp: u8) -> Expr {
    let mut text = Vec::new();
    match kind {
        TemporalKind::Date => value.date().write_to(&mut text),
        _ => value.write_to(&mut text, fsp),
    }
    literal(kind, text)
}

fn literal(kind: TemporalKind, text: Vec<u8>) -> Expr {
    made(ExprKind::Literal(Literal::Temporal { kind, text: text.into() }))
}

fn year(ty: &SqlType, bound: &Bound) -> Option<Expr> {
    let value = match bound.as_literal()? {
        Value::Int(v) => u64::try_from(*v).ok()?,
        Value::UInt(v) => *v,
        Value::Bytes(text) if is_text(bound) => std::str::from_utf8(text).ok()?.parse().ok()?,
        _ => return None,
    };
    let full = match value {
        1..70 => value + 2000,
        70..100 => value + 1900,
        0 | 1901..=2155 => value,
        _ => return None,
    };
    let shown = if ty.length == 2 { full % 100 } else { full };
    Some(made(ExprKind::Literal(Literal::Int(shown))))
}

/// An expression without a place in the statement's text.
pub(super) fn made(kind: ExprKind) -> Expr {
    Expr { kind, span: Default::default() }
}
