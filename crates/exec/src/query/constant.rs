//! Conditions over constants alone. Compat: they are computed before any row is read, so one that
//! fails does so even if there are no rows.

use selkie_expr::EvalContext;
use selkie_plan::physical::Plan;
use selkie_types::{SqlResult, SqlType, Value};

use crate::state::session::Session;

/// Fails if a condition of the plan fails. Warnings come with the rows.
pub(crate) fn check(session: &Session, plan: &Plan, values: &[(Value, SqlType)]) -> SqlResult<()> {
    if plan.warnings.constant.is_empty() {
        return Ok(());
    }
    let now = session.values.statement_start.get();
    let eval = EvalContext::new(session.type_context(), session, now);
    eval.set_parameters(values.iter().map(|(value, _)| value.clone()));
    plan.warnings.constant.iter().try_for_each(|condition| condition.eval_value(&eval).map(drop))
}
