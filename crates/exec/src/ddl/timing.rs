//! The times of an event from the expressions of ON SCHEDULE.
//!
//! Compat: times are whole seconds that fit into a TIMESTAMP of 32 bits. An expression may contain
//! subqueries, but none that reads a table.

use selkie_catalog::{Timing, smallest_unit};
use selkie_expr::{EvalContext, Expr, ExprKind, TimeZone};
use selkie_sql::ast::{self, Mention, Schedule};
use selkie_types::error::catalogue::{
    ER_BAD_FIELD_ERROR, ER_EVENT_ENDS_BEFORE_STARTS, ER_EVENT_INTERVAL_NOT_POSITIVE_OR_TOO_BIG,
    ER_SUBQUERIES_NOT_SUPPORTED, ER_WRONG_VALUE,
};
use selkie_types::temporal::{Interval, IntervalUnit, MICROS_PER_SECOND};
use selkie_types::{SqlError, SqlResult, SqlType, Value};

use super::Ddl;
use crate::query::execution::Execution;
use crate::{NullSink, query};

/// The most smallest units of an interval.
const MOST: i128 = 1_000_000_000;

/// The last second of a time.
const LAST: i64 = i32::MAX as i64;

/// A value with its type.
type Evaluated = (Value, SqlType);

impl Ddl<'_> {
    /// The times of a schedule in the session's time zone. An interval without a first time begins
    /// now.
    pub(super) fn timing(&mut self, schedule: &Schedule) -> SqlResult<Timing> {
        let (amount, unit, starts, ends) = match schedule {
            Schedule::At(at) => return self.time("AT", at).map(Timing::Once),
            Schedule::Every { amount, unit, starts, ends } => (amount, *unit, starts, ends),
        };
        let count = self.count(amount, unit)?;
        let starts = match starts {
            Some(starts) => self.time("STARTS", starts)?,
            None => self.session.values.statement_start.get().div_euclid(MICROS_PER_SECOND),
        };
        let ends = match ends {
            Some(ends) => Some(self.ends(ends, starts)?),
            None => None,
        };
        Ok(Timing::Every { count, unit, starts, ends })
    }

    fn time(&mut self, clause: &str, expr: &ast::Expr) -> SqlResult<i64> {
        let value = self.value(expr)?;
        let shown = match value.0.is_null() {
            true => "NULL".to_owned(),
            false => selkie_expr::text::display(&value.0, &value.1),
        };
        let time = self.seconds(value)?;
        time.ok_or_else(|| SqlError::new(&ER_WRONG_VALUE, &[&clause, &shown]))
    }

    fn ends(&mut self, expr: &ast::Expr, starts: i64) -> SqlResult<i64> {
        let value = self.value(expr)?;
        let ends = self.seconds(value)?.filter(|ends| *ends > starts);
        ends.ok_or_else(|| SqlError::new(&ER_EVENT_ENDS_BEFORE_STARTS, &[]))
    }

    /// The value of an expression as seconds since 1970; `None` if it is not such a time.
    fn seconds(&self, value: Evaluated) -> SqlResult<Option<i64>> {
        let converted = self.converted(value, selkie_expr::cast::to_datetime)?;
        let Value::DateTime(local) = converted else { return Ok(None) };
        if local.date().has_zero_part() {
            return Ok(None);
        }
        let zone: &TimeZone = &self.session.frame.settings.expressions.time_zone;
        let seconds = zone.micros_from_local(local).div_euclid(MICROS_PER_SECOND);
        Ok(Some(seconds).filter(|seconds| (1..=LAST).contains(seconds)))
    }

    /// An amount of `unit` as a number of smallest units.
    fn count(&mut self, amount: &ast::Expr, unit: IntervalUnit) -> SqlResult<u32> {
        let value = self.value(amount)?;
        if value.0.is_null() {
            return Err(SqlError::new(&ER_WRONG_VALUE, &[&"INTERVAL", &"NULL"]));
        }
        let wrong = || SqlError::new(&ER_EVENT_INTERVAL_NOT_POSITIVE_OR_TOO_BIG, &[]);
        if unit.has_micros() {
            return Err(SqlError::not_supported("MICROSECOND"));
        }
        let (part, scale) = smallest_unit(unit);
        let count = match unit {
            _ if unit.is_compound() => {
                let text = selkie_expr::text::display(&value.0, &value.1);
                let interval = Interval::parse(unit, text.as_bytes()).ok_or_else(wrong)?;
                in_parts(interval, part)
            }
            IntervalUnit::Second => match self.converted(value, selkie_expr::cast::to_decimal)? {
                Value::Decimal(seconds) => {
                    i128::from(seconds.truncate(0).to_i64().unwrap_or(i64::MAX))
                }
                _ => 0,
            },
            _ => match self.converted(value, selkie_expr::cast::to_int)? {
                Value::Int(count) => i128::from(count) * i128::from(scale),
                Value::UInt(count) => i128::from(count) * i128::from(scale),
                _ => 0,
            },
        };
        match u32::try_from(count) {
            Ok(count) if count > 0 && i128::from(count) <= MOST => Ok(count),
            _ => Err(wrong()),
        }
    }

    fn value(&mut self, expr: &ast::Expr) -> SqlResult<Evaluated> {
        let mut reads = false;
        expr.clone().for_each_mention(&mut |mention| reads |= matches!(mention, Mention::Table(_)));
        if reads || calls_stored(expr) {
            return Err(SqlError::new(&ER_SUBQUERIES_NOT_SUPPORTED, &[&"CREATE/ALTER EVENT"]));
        }
        let (instance, control, running) = (self.instance, self.control, self.running);
        let (session, sink) = (&mut *self.session, &mut NullSink);
        Execution { instance, session, control, running, sink }.evaluate(expr).map_err(of_query)
    }

    /// A value after a conversion, whose warnings are kept.
    fn converted(&self, (value, ty): Evaluated, to: impl Fn(&mut Expr)) -> SqlResult<Value> {
        let mut expr = Expr::new(ExprKind::Literal(value), ty, true);
        to(&mut expr);
        let now = self.session.values.statement_start.get();
        let eval = EvalContext::new(self.session.type_context(), &*self.session, now);
        let converted = expr.eval_value(&eval);
        query::keep_conditions(self.session, &eval);
        converted
    }
}

/// Compat: an unknown column is one of a query.
fn of_query(error: SqlError) -> SqlError {
    match error.message().strip_suffix("'SET'") {
        Some(text) if error.is(&ER_BAD_FIELD_ERROR) => {
            SqlError::with_message(&ER_BAD_FIELD_ERROR, format!("{text}'SELECT'"))
        }
        _ => error,
    }
}

/// A number of smallest units.
fn in_parts(interval: Interval, part: IntervalUnit) -> i128 {
    let one = Interval::new(part, 1);
    match one.months {
        0 => interval.micros / one.micros.max(1),
        months => i128::from(interval.months / months),
    }
}

/// Whether an expression calls a function that is stored.
fn calls_stored(expr: &ast::Expr) -> bool {
    match &expr.kind {
        ast::ExprKind::Call(call) if selkie_expr::function_named(&call.name.value).is_none() => {
            true
        }
        _ => expr.operands().into_iter().any(calls_stored),
    }
}
