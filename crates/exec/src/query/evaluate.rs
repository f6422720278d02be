//! DO: values that are computed for their effects. Must not end the statement for an error of a
//! value.
//!
//! Compat: such an error undoes what the statement did and is only told among its conditions. The
//! values behind it are still computed, but no stored function or subquery runs any more. What a DO
//! inside a function or trigger did stays.

use selkie_expr::{Expr, ExprKind, Session as _};
use selkie_plan::physical::{Operator, Plan};
use selkie_types::{Batch, Severity, SqlError, SqlResult};

use super::keep_conditions;
use crate::run::Env;
use crate::state::sink::PlanSink;
use crate::{NullSink, Outcome, Session};

/// Computes the values of the plan, which has no receiver of rows. The error that undoes a
/// statement is already among the conditions.
pub(super) fn run(env: Env<'_>, plan: &Plan) -> SqlResult<Outcome> {
    let mut failed = None;
    match &plan.root.operator {
        Operator::Values(rows) => {
            for value in rows.iter().flatten() {
                if failed.is_some() && runs_more(value) {
                    continue;
                }
                if let Err(error) = value.eval(env.eval, &Batch::one_row()) {
                    failed.get_or_insert(told(env, error)?);
                }
            }
        }
        _ => {
            let sink = PlanSink { sink: &mut NullSink, is_kept: false };
            if let Err(error) = super::select(env, plan, sink) {
                failed = Some(told(env, error)?);
            }
        }
    }
    if !plan.subplans.is_empty() {
        // Compat: those of the last subquery, which is to give one.
        env.rt.session.values.found_rows.set(1);
    }
    match failed {
        Some(error) if !env.rt.session.transaction.is_nested() => Err(error),
        _ => Ok(Outcome::ok()),
    }
}

/// Whether DO goes on after the error of a value. A killed statement stays killed, and an error
/// that took the transaction ends a function with it.
fn is_passed(session: &Session, error: &SqlError) -> bool {
    session.check_interrupted().is_ok()
        && (!session.transaction.is_nested() || error.severity() == Severity::Statement)
}

/// Adds an error that DO passes behind the conditions that were raised before it.
fn told(env: Env<'_>, error: SqlError) -> SqlResult<SqlError> {
    let session = env.rt.session;
    if !is_passed(session, &error) {
        return Err(error);
    }
    keep_conditions(session, env.eval);
    session.diagnostics.push_error(&error, session.frame.settings.notes.max_error_count);
    Ok(error)
}

fn runs_more(value: &Expr) -> bool {
    use ExprKind::{Sequence, Stored, Subquery};
    value.any(&mut |e| matches!(e.kind, Stored(_) | Subquery(_) | Sequence(_)))
}
