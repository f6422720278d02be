//! The plan of a prepared statement for the values of an execution. Plans are kept by the types of
//! the values. One that would read a whole table although an index has ranges of the values is made
//! with these, and kept for values with about as many rows. A placeholder in ORDER BY or GROUP BY
//! that gives a column number needs a plan of its own.

use std::sync::Arc;

use selkie_plan::physical::Plan;
use selkie_plan::safety::Uses;
use selkie_plan::{Assumption, shown_parameters};
use selkie_sql::ast::{Expr, ExprKind, Literal, OrderItem, QueryBody, SelectItem, Statement};
use selkie_types::error::catalogue::{
    ER_NAME_BECOMES_EMPTY, ER_REMOVED_SPACES, ER_WARN_DEPRECATED_SYNTAX,
};
use selkie_types::{Level, SqlError, SqlResult, SqlType, Value};

use crate::Instance;
use crate::query::execution::Scope;
use crate::query::planning::Parameters;
use crate::query::robust::{MOST_ASSUMPTIONS, may_want_values};
use crate::query::{bulk, planning};
use crate::state::plan_key::PlanKey;
use crate::state::prepared::{CachedPlan, Prepared, roomy};
use crate::state::session::bump;

/// Drops these warnings from a plan. Compat: PREPARE raises warnings about deprecated syntax and
/// about written names, EXECUTE does not.
pub(crate) fn forget_text(plan: &mut Plan) {
    let of_text = [&ER_WARN_DEPRECATED_SYNTAX, &ER_REMOVED_SPACES, &ER_NAME_BECOMES_EMPTY];
    let of_text = of_text.map(|def| def.code);
    plan.warnings.conditions.retain(|c| !of_text.contains(&c.code) || c.level == Level::Note);
}

/// The ORDER BY and GROUP BY keys of the outermost query that are placeholders.
pub(crate) fn keys(statement: &mut Statement) -> Vec<&mut Expr> {
    let Statement::Query(query) = statement else { return Vec::new() };
    let mut items: Vec<&mut OrderItem> = query.order_by.iter_mut().collect();
    if let QueryBody::Select(select) = &mut query.body {
        items.extend(select.group_by.iter_mut());
    }
    let exprs = items.into_iter().map(|item| &mut item.expr);
    exprs.filter(|e| matches!(e.kind, ExprKind::Param(_))).collect()
}

/// The statement with column numbers in place of these placeholders.
fn with_numbers(statement: &Statement, values: &[(Value, SqlType)]) -> Statement {
    let mut statement = statement.clone();
    for key in keys(&mut statement) {
        let ExprKind::Param(at) = key.kind else { continue };
        let number = match values.get(at as usize) {
            Some((Value::Int(v), _)) => u64::try_from(*v).ok(),
            Some((Value::UInt(v), _)) => Some(*v),
            _ => None,
        };
        if let Some(number) = number {
            key.kind = ExprKind::Literal(Literal::Int(number));
        }
    }
    statement
}

impl Prepared {
    /// Whether a kept plan's tables have changed.
    fn is_stale(&self, instance: &Instance) -> bool {
        let kept = self.plans.lock();
        kept.iter().any(|kept| !planning::is_current(instance, &kept.plan))
    }

    /// Compat: a variable of a program is announced like a column of a table without a name.
    fn announce_variables(&self, plan: &mut Plan) {
        if self.variables.is_empty() {
            return;
        }
        let items = match &self.statement {
            Statement::Query(query) => match &query.body {
                QueryBody::Select(select) => &select.items[..],
                _ => &[],
            },
            _ => &[],
        };
        if items.len() != plan.output.len() {
            return;
        }
        let shown = shown_parameters(plan.output.len(), &plan.root);
        let mut output = plan.output.to_vec();
        for ((column, parameter), item) in output.iter_mut().zip(shown).zip(items) {
            let SelectItem::Expr { expr: Expr { kind: ExprKind::Param(_), .. }, .. } = item else {
                continue;
            };
            if let Some(name) = parameter.and_then(|at| self.variables.get(at)) {
                column.kept = true;
                column.org_name = (&**name).into();
            }
        }
        plan.output = output.into();
        plan.result.few = None;
    }

    /// Returns the plan for parameters of these types; makes a new one if definitions or settings
    /// changed.
    pub(crate) fn plan(
        &self,
        scope: Scope<'_>,
        values: &[(Value, SqlType)],
    ) -> SqlResult<Arc<Plan>> {
        let Scope { instance, session } = scope;
        let any = &self.of_any_length;
        let is_good = |kept: &CachedPlan| {
            kept.assumptions.is_empty()
                || kept.fits_sizes(instance) && scope.holds(&kept.assumptions, values)
        };
        let is_fit =
            |kept: &&CachedPlan| kept.is_for(instance, session, (values, any)) && is_good(kept);
        if let Some(kept) = self.plans.lock().iter().find(is_fit) {
            return Ok(kept.plan.clone());
        }
        let key = PlanKey::new(instance, session);
        let planned = |(at, (_, ty)): (usize, &(Value, SqlType))| match self.is_of_any_length(at) {
            true => roomy(ty),
            false => ty.clone(),
        };
        let types: Vec<SqlType> = values.iter().enumerate().map(planned).collect();
        let count = self.parameters.max(types.len());
        let parameters = Parameters { types: &types, values, count };
        let finish = |mut plan: Plan| {
            forget_text(&mut plan);
            self.announce_variables(&mut plan);
            self.shape.iter().try_for_each(|shape| bulk::fill(&mut plan, shape))?;
            Ok::<_, SqlError>(Arc::new(plan))
        };
        let make = |statement| scope.plan(statement, &self.text, parameters);
        if self.numbers_columns {
            // Such a plan is valid for these values only.
            return finish(make(&with_numbers(&self.statement, values))?);
        }
        let was_stale = self.is_stale(instance);
        let general = make(&self.statement)?;
        if general.uses.has(Uses::VALUE_AT_PLANNING) {
            return finish(general);
        }
        let (plan, assumptions) = match self.shape.is_none() && may_want_values(&general) {
            true => self.plan_for(scope, (general, &types), values)?,
            false => (general, Vec::new()),
        };
        let plan = finish(plan)?;
        if was_stale {
            bump(&session.core.counters.com_stmt_reprepare, 1);
        }
        let kept = CachedPlan::new(instance, plan.clone(), key, types);
        self.keep(kept.resting_on(assumptions));
        Ok(plan)
    }

    /// A plan for these values and those for which its estimates are alike, in place of one that
    /// was made without values; that one, if the values do not tell more.
    fn plan_for(
        &self,
        scope: Scope<'_>,
        (general, types): (Plan, &[SqlType]),
        values: &[(Value, SqlType)],
    ) -> SqlResult<(Plan, Vec<Assumption>)> {
        let given = values.iter().map(|(value, _)| value.clone()).zip(types.iter().cloned());
        let given: Vec<_> = given.collect();
        let (plan, assumptions) = scope.plan_for_others(&self.statement, &self.text, &given)?;
        let is_worth = !assumptions.is_empty() && assumptions.len() <= MOST_ASSUMPTIONS;
        Ok(if is_worth { (plan, assumptions) } else { (general, Vec::new()) })
    }
}
