//! From a statement to a plan whose tables are locked and current.

use std::sync::Arc;

use selkie_catalog::{Namespace, Snapshot, TableInfo, TableKind, View};
use selkie_engine::{Bound, RangeEstimate};
use selkie_expr::{Expr, VariableScope};
use selkie_plan::explain::Known;
use selkie_plan::physical::Plan;
use selkie_plan::{
    Environment, HandlerRead, HandlerSyntax, Permissions, PlanContext, StatisticsSource,
    StoredFunction,
};
use selkie_sql::ast::{self, Statement};
use selkie_sql::{ClientText, ParseOptions, Parsed};
use selkie_types::{Condition, SqlResult, SqlType};

use crate::query::running::Running;
use crate::state::control::Control;
use crate::{Instance, Session, query};

/// Parses one statement in the session's mode; `origin` is the text as a client sent it.
pub(crate) fn parse(
    session: &Session,
    text: &[u8],
    origin: Option<&ClientText>,
) -> SqlResult<Parsed> {
    let options = ParseOptions { sql_mode: session.frame.settings.expressions.sql_mode };
    let parsed = selkie_sql::parse_from(text, &options, origin)?;
    if parsed.end < text.len() {
        return Err(selkie_sql::syntax_error_at(text, parsed.end, &options));
    }
    Ok(parsed)
}

/// Numbers from the engines.
struct EngineStatistics<'a>(&'a Instance);

impl StatisticsSource for EngineStatistics<'_> {
    fn table_rows(&self, table: &TableInfo) -> Option<f64> {
        if !table.has_storage() {
            return None;
        }
        let handle = self.0.look_into(table)?;
        Some(handle.table.statistics().rows as f64)
    }

    fn range_rows(
        &self,
        table: &TableInfo,
        index: usize,
        lower: &Bound,
        upper: &Bound,
    ) -> Option<RangeEstimate> {
        let handle = self.0.look_into(table)?;
        handle.table.estimate(Some(index), lower, upper).ok()
    }
}

/// What a session's statements refer to besides tables.
struct PlanEnvironment<'a> {
    session: &'a Session,
    snapshot: &'a Snapshot,
}

impl Environment for PlanEnvironment<'_> {
    fn user_variable(&self, name: &str) -> Option<SqlType> {
        Environment::user_variable(self.session, name)
    }

    fn system_variable(&self, scope: VariableScope, name: &str) -> SqlResult<SqlType> {
        Environment::system_variable(self.session, scope, name)
    }

    fn check_locked(&self, table: &TableInfo, name: &str, written: bool) -> SqlResult<()> {
        self.session.check_lock_named(table, name, written)
    }

    fn permissions(&self) -> &dyn Permissions {
        self.session
    }

    fn stored_function(&self, schema: &str, name: &str) -> Option<StoredFunction> {
        let routine = self.snapshot.routine(schema, true, name)?;
        Some(StoredFunction {
            parameters: routine.parameters.len(),
            returns: routine.returns.clone()?,
            deterministic: routine.deterministic,
        })
    }
}

/// Plans a statement with parameters of these types.
pub(crate) fn plan(
    instance: &Instance,
    session: &Session,
    statement: &Statement,
    text: &[u8],
    (types, parameters): (&[SqlType], usize),
) -> SqlResult<Plan> {
    let snapshot = instance.catalog.snapshot();
    with_context(instance, session, &snapshot, text, (types, parameters), |context| {
        selkie_plan::plan(statement, context)
    })
}

/// The text of a query as the planner understands it with what is `known`, and what it found out on
/// the way.
pub(crate) fn query_text(
    instance: &Instance,
    session: &Session,
    query: &ast::Query,
    known: &Known,
    text: &[u8],
) -> (String, Vec<Condition>) {
    let snapshot = instance.catalog.snapshot();
    let now = crate::query::now_micros(session);
    with_context(instance, session, &snapshot, text, (&[], 0), |context| {
        selkie_plan::explain::query_text(query, known, context, now)
    })
}

fn with_context<R>(
    instance: &Instance,
    session: &Session,
    snapshot: &Snapshot,
    text: &[u8],
    (types, parameters): (&[SqlType], usize),
    run: impl FnOnce(&PlanContext<'_>) -> R,
) -> R {
    let settings = session.plan_settings(types);
    let type_context = session.type_context();
    run(&PlanContext {
        text,
        tables: Namespace { snapshot, temporary: &session.frame.temporary },
        environment: &PlanEnvironment { session, snapshot },
        statistics: &EngineStatistics(instance),
        settings: &settings,
        types: &type_context,
        parameters,
    })
}

/// An expression by itself: of SET, of EXECUTE ... USING.
pub(crate) fn bind(
    instance: &Instance,
    session: &Session,
    expr: &ast::Expr,
    running: Running<'_>,
) -> SqlResult<Expr> {
    let snapshot = instance.catalog.snapshot();
    let types: Vec<SqlType> = running.values.iter().map(|(_, ty)| ty.clone()).collect();
    let parameters = (&types[..], types.len());
    with_context(instance, session, &snapshot, running.text, parameters, |context| {
        selkie_plan::bind_constant(expr, context)
    })
}

/// What HANDLER reads of a table.
pub(crate) fn handler_read(
    instance: &Instance,
    session: &Session,
    table: &Arc<TableInfo>,
    syntax: HandlerSyntax<'_>,
    text: &[u8],
    types: (&[SqlType], usize),
) -> SqlResult<HandlerRead> {
    let snapshot = instance.catalog.snapshot();
    with_context(instance, session, &snapshot, text, types, |context| {
        selkie_plan::handler_read(table, syntax, context)
    })
}

/// Fails as the view's query fails, if what it reads is no longer there.
pub(crate) fn check_view(instance: &Instance, session: &Session, view: &View) -> SqlResult<()> {
    let text = view.select.as_bytes();
    let parsed = selkie_sql::parse(text, &ParseOptions::default())?;
    let snapshot = instance.catalog.snapshot();
    with_context(instance, session, &snapshot, text, (&[], 0), |context| {
        let context = PlanContext { tables: context.tables.shared(), ..*context };
        selkie_plan::plan(&parsed.statement, &context).map(drop)
    })
}

/// Whether every table of a plan is still what the plan was made for.
pub(crate) fn is_current(instance: &Instance, plan: &Plan) -> bool {
    let snapshot = instance.catalog.snapshot();
    let foreign = plan.foreign.touched().map(|(table, _)| table);
    plan.tables.iter().chain(foreign).all(|table| {
        let now = snapshot.table(table.schema(), table.name());
        let same = now.is_some_and(|now| now.version == table.version);
        same || matches!(table.kind, TableKind::System | TableKind::Temporary)
    })
}

/// A plan made by `make` whose tables are locked and did not change before they were.
pub(crate) fn locked(
    instance: &Instance,
    session: &mut Session,
    control: &Control,
    mut make: impl FnMut(&Session) -> SqlResult<Arc<Plan>>,
) -> SqlResult<Arc<Plan>> {
    loop {
        let version = instance.catalog.version();
        let plan = make(session)?;
        query::lock_tables(instance, session, control, &plan)?;
        if instance.catalog.version() == version || is_current(instance, &plan) {
            return Ok(plan);
        }
        control.check()?;
        if !session.in_transaction() {
            session.transaction.release_locks();
        }
    }
}
