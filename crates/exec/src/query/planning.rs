//! From a statement to a plan whose tables are locked and current. A plan must be locked before it
//! runs, and checked again after the locks were granted ([`Execution::locked_plan`]): DDL may have
//! changed a definition in between.

use std::sync::Arc;

use selkie_catalog::{Namespace, RoutineForm, Snapshot, TableInfo, TableKind, View};
use selkie_engine::{Bound, RangeEstimate};
use selkie_expr::{Expr, VariableScope};
use selkie_plan::explain::Known;
use selkie_plan::physical::Plan;
use selkie_plan::safety::Uses;
use selkie_plan::{
    Environment, HandlerRead, HandlerSyntax, Permissions, PlanContext, RowsChange, RowsPlan,
    StatTables, StatisticsSource, StoredFunction,
};
use selkie_sql::ast::{self, Statement};
use selkie_sql::{ClientText, ParseOptions, Parsed};
use selkie_types::{Condition, SqlResult, SqlType};

use crate::query::execution::{Execution, Scope};
use crate::query::running::Running;
use crate::state::packages;
use crate::state::session::UseColumns;
use crate::state::transaction::Transaction;
use crate::{Instance, Session, query};

/// Parses one statement in the session's SQL mode; `origin` is the text as the client sent it.
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

/// Row counts and estimates from the engines.
struct EngineStatistics<'a> {
    instance: &'a Instance,
    /// The transaction, if its snapshot is older than an index.
    old: Option<&'a Transaction>,
    stat_tables: StatTables,
    shown_level: Option<u8>,
    /// Whether scans may read column groups. With FORCE plans are those of OFF.
    uses_columns: bool,
}

impl StatisticsSource for EngineStatistics<'_> {
    fn table_rows(&self, table: &TableInfo) -> Option<f64> {
        if !table.has_storage() {
            return None;
        }
        let handle = self.instance.look_into(table)?;
        Some(handle.table.rows() as f64)
    }

    fn stat_tables(&self) -> StatTables {
        self.stat_tables
    }

    fn shown_level(&self) -> Option<u8> {
        self.shown_level
    }

    fn is_too_young(&self, table: &TableInfo, index: usize) -> bool {
        let Some(old) = self.old.filter(|_| table.has_storage()) else { return false };
        let Some(handle) = self.instance.look_into(table) else { return false };
        old.part(&handle.engine).is_some_and(|trx| handle.table.is_too_young(trx, index))
    }

    fn grouped_share(&self, table: &TableInfo) -> f64 {
        if !self.uses_columns || !table.has_storage() {
            return 0.0;
        }
        let Some(handle) = self.instance.look_into(table) else { return 0.0 };
        let Some(columns) = handle.table.columns() else { return 0.0 };
        columns.state().rows as f64 / handle.table.rows().max(1) as f64
    }

    fn range_rows(
        &self,
        table: &TableInfo,
        index: usize,
        lower: &Bound,
        upper: &Bound,
    ) -> Option<RangeEstimate> {
        let handle = self.instance.look_into(table)?;
        handle.table.estimate(Some(index), lower, upper).ok()
    }
}

/// Variables, privileges and functions that the session's statements may refer to.
pub(crate) struct PlanEnvironment<'a> {
    pub session: &'a Session,
    pub snapshot: &'a Snapshot,
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

    fn package_function(
        &self,
        schema: Option<&str>,
        name: &str,
    ) -> SqlResult<Option<(Box<str>, Box<str>)>> {
        packages::resolve(self.session, self.snapshot, RoutineForm::Function, (schema, name))
    }

    fn stored_function(&self, schema: &str, name: &str) -> Option<StoredFunction> {
        if let Some(body) = packages::body_of(self.snapshot, schema, name)
            && let Some(member) = body.member(RoutineForm::Function, packages::member_of(name)?.1)
        {
            return Some(StoredFunction {
                parameters: member.parameters,
                returns: member.returns.clone()?,
                deterministic: member.deterministic,
                aggregate: false,
            });
        }
        let routine = self.snapshot.routine(schema, true, name)?;
        Some(StoredFunction {
            parameters: routine.parameters.len(),
            returns: routine.returns.ty.clone()?,
            deterministic: routine.deterministic,
            aggregate: routine.returns.aggregate,
        })
    }
}

impl Scope<'_> {
    /// Plans a statement with parameters of these types.
    pub(crate) fn plan(
        self,
        statement: &Statement,
        text: &[u8],
        parameters: (&[SqlType], usize),
    ) -> SqlResult<Plan> {
        self.with_context(text, parameters, |context| selkie_plan::plan(statement, context))
    }

    /// Plans a statement for the values of the running statement.
    pub(crate) fn plan_running(
        self,
        statement: &Statement,
        running: Running<'_>,
    ) -> SqlResult<Plan> {
        let types = running.types();
        self.plan(statement, running.text, (&types, types.len()))
    }

    /// Text of a query after the planner's rewrites with the facts in `known`, and the conditions
    /// raised meanwhile.
    pub(crate) fn query_text(
        self,
        query: &ast::Query,
        known: &Known,
        running: Running<'_>,
    ) -> (String, Vec<Condition>) {
        let now = query::now_micros(self.session);
        self.with_context(running.text, (&[], 0), |context| {
            let shown = (now, running.names);
            selkie_plan::explain::query_text(query, known, context, shown)
        })
    }

    /// Binds a single expression, such as one of SET or EXECUTE ... USING. Also gives the
    /// conditions that its text raises.
    pub(crate) fn bind(
        self,
        expr: &ast::Expr,
        running: Running<'_>,
    ) -> SqlResult<(Expr, Vec<Condition>)> {
        let types = running.types();
        self.with_context(running.text, (&types, types.len()), |context| {
            selkie_plan::bind_noted(expr, context)
        })
    }

    /// Binds a READ of HANDLER.
    pub(crate) fn handler_read(
        self,
        table: &Arc<TableInfo>,
        syntax: HandlerSyntax<'_>,
        text: &[u8],
        parameters: (&[SqlType], usize),
    ) -> SqlResult<HandlerRead> {
        self.with_context(text, parameters, |context| {
            selkie_plan::handler_read(table, syntax, context)
        })
    }

    /// Plans a change of whole rows of a table.
    pub(crate) fn rows_plan(
        self,
        table: &Arc<TableInfo>,
        change: RowsChange,
    ) -> SqlResult<RowsPlan> {
        self.with_context(&[], (&[], 0), |context| selkie_plan::rows_plan(table, change, context))
    }

    /// Plans the view's query and fails with its error.
    pub(crate) fn check_view(self, view: &View) -> SqlResult<()> {
        let text = view.select.as_bytes();
        let parsed = selkie_sql::parse(text, &ParseOptions::default())?;
        self.with_context(text, (&[], 0), |context| {
            let context = PlanContext { tables: context.tables.shared(), ..*context };
            selkie_plan::plan(&parsed.statement, &context).map(drop)
        })
    }

    fn with_context<R>(
        self,
        text: &[u8],
        (types, parameters): (&[SqlType], usize),
        run: impl FnOnce(&PlanContext<'_>) -> R,
    ) -> R {
        let Self { instance, session } = self;
        let snapshot = &instance.catalog.snapshot();
        let settings = session.plan_settings(types);
        let type_context = session.type_context();
        let planning = &session.frame.settings.planning;
        run(&PlanContext {
            text,
            tables: Namespace { snapshot, temporary: &session.frame.temporary },
            environment: &PlanEnvironment { session, snapshot },
            statistics: &EngineStatistics {
                instance,
                old: session.transaction.old_snapshot().map(|_| &session.transaction),
                stat_tables: planning.use_stat_tables,
                shown_level: planning.explains.then_some(planning.condition_selectivity),
                uses_columns: session.frame.settings.queries.columns == UseColumns::On,
            },
            settings: &settings,
            types: &type_context,
            parameters: parameters.max(types.len()),
        })
    }
}

/// Whether every table of a plan still has the version that was planned.
pub(crate) fn is_current(instance: &Instance, plan: &Plan) -> bool {
    let snapshot = instance.catalog.snapshot();
    let foreign = plan.foreign.touched().map(|(table, _)| table);
    plan.tables.iter().chain(foreign).all(|table| {
        let now = snapshot.table(table.schema(), table.name());
        let same = now.is_some_and(|now| now.version == table.version);
        same || matches!(table.kind, TableKind::System | TableKind::Temporary)
    })
}

impl Execution<'_> {
    /// Returns a plan made by `make` whose tables are locked and current. Plans again if a
    /// definition changed before it was locked.
    pub(crate) fn locked_plan(
        &mut self,
        mut make: impl FnMut(Scope<'_>) -> SqlResult<Arc<Plan>>,
    ) -> SqlResult<Arc<Plan>> {
        loop {
            let version = self.instance.catalog.version();
            let plan = make(self.scope())?;
            self.lock_tables(&plan)?;
            if self.instance.catalog.version() == version || is_current(self.instance, &plan) {
                if plan.uses.has(Uses::AUTO_IS_NULL) {
                    let values = &self.session.values;
                    values.auto_is_null.take(values.last_insert_id.get());
                }
                return Ok(plan);
            }
            self.control.check()?;
            if !self.session.in_transaction() {
                self.session.transaction.release_locks();
            }
        }
    }
}
