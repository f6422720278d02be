//! From a statement to a plan whose tables are locked and current. A plan must be locked before it
//! runs, and checked again after the locks were granted ([`Execution::locked_plan`]): DDL may have
//! changed a definition in between.

use std::cell::RefCell;
use std::sync::Arc;

use selkie_catalog::{Namespace, RoutineForm, Snapshot, TableInfo, TableKind, View};
use selkie_engine::{Bound, RangeEstimate};
use selkie_expr::{EvalContext, Expr, ExprKind, VariableScope};
use selkie_plan::explain::{Known, QueryTexts};
use selkie_plan::physical::Plan;
use selkie_plan::safety::Uses;
use selkie_plan::{
    Assumption, BoundConstant, Environment, Given, HandlerRead, HandlerSyntax, Permissions,
    PlanContext, RowsChange, RowsPlan, StatTables, StatisticsSource, StoredFunction,
};
use selkie_sql::ast::{self, Statement};
use selkie_sql::{ClientText, ParseOptions, Parsed};
use selkie_types::{Condition, SqlResult, SqlType, Value};

use crate::query::execution::{Execution, Scope};
use crate::query::running::Running;
use crate::state::column_keeper::COLUMNS_FROM;
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
    /// Values to estimate with, for a plan that other values may use.
    given: Given<'a>,
    /// Estimates that follow from them.
    assumptions: RefCell<Vec<Assumption>>,
}

impl<'a> EngineStatistics<'a> {
    fn new(Scope { instance, session }: Scope<'a>, given: Given<'a>) -> Self {
        let planning = &session.frame.settings.planning;
        Self {
            instance,
            old: session.transaction.old_snapshot().map(|_| &session.transaction),
            stat_tables: planning.use_stat_tables,
            shown_level: planning.explains.then_some(planning.condition_selectivity),
            uses_columns: session.frame.settings.queries.columns == UseColumns::On,
            given,
            assumptions: RefCell::default(),
        }
    }
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

    fn uncached_share(&self, table: &TableInfo) -> f64 {
        // A small table is in memory soon, whatever the size of the cache.
        let is_large = self.table_rows(table) >= Some(COLUMNS_FROM as f64);
        if !is_large || !table.has_storage() {
            return 0.0;
        }
        self.instance.look_into(table).map_or(0.0, |handle| handle.table.uncached_share())
    }

    fn grouped_share(&self, table: &TableInfo, columns: &[usize]) -> f64 {
        if !self.uses_columns || !table.has_storage() {
            return 0.0;
        }
        let Some(handle) = self.instance.look_into(table) else { return 0.0 };
        let Some(source) = handle.table.columns() else { return 0.0 };
        let state = source.state();
        if columns.iter().any(|column| state.lacks(*column)) {
            return 0.0;
        }
        state.rows as f64 / handle.table.rows().max(1) as f64
    }

    fn given(&self) -> Given<'_> {
        self.given
    }

    fn assume(&self, assumption: Assumption) {
        let mut known = self.assumptions.borrow_mut();
        if !known.iter().any(|other| other.is_same(&assumption)) {
            known.push(assumption);
        }
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
    /// Values of the parameters; none before an execution.
    pub values: &'a [(Value, SqlType)],
}

impl Environment for PlanEnvironment<'_> {
    fn user_variable(&self, name: &str) -> Option<SqlType> {
        Environment::user_variable(self.session, name)
    }

    fn value_at_planning(&self, constant: &Expr) -> Option<Value> {
        let missing =
            |e: &Expr| matches!(e.kind, ExprKind::Parameter(at) if at >= self.values.len());
        if constant.any(&mut |e| missing(e)) {
            return None;
        }
        let now = self.session.values.statement_start.get();
        let eval = EvalContext::new(self.session.type_context(), self.session, now);
        eval.set_parameters(self.values.iter().map(|(value, _)| value.clone()));
        constant.eval_value(&eval).ok()
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

/// Parameters of a statement.
#[derive(Clone, Copy)]
pub(crate) struct Parameters<'a> {
    /// Their types, as far as they are known.
    pub(crate) types: &'a [SqlType],
    /// Their values; none before an execution.
    pub(crate) values: &'a [(Value, SqlType)],
    /// Their number.
    pub(crate) count: usize,
}

impl<'a> Parameters<'a> {
    /// No parameters.
    pub(crate) fn none() -> Self {
        Self::typed(&[], 0)
    }

    /// `count` parameters without values, of which the first have types.
    pub(crate) fn typed(types: &'a [SqlType], count: usize) -> Self {
        Self { types, values: &[], count: count.max(types.len()) }
    }
}

impl Scope<'_> {
    /// Plans a statement with such parameters.
    pub(crate) fn plan(
        self,
        statement: &Statement,
        text: &[u8],
        parameters: Parameters<'_>,
    ) -> SqlResult<Plan> {
        self.with_context(text, parameters, |context| selkie_plan::plan(statement, context))
    }

    /// Plans a statement for these values and for others for which the assumptions hold.
    pub(crate) fn plan_for_others(
        self,
        statement: &Statement,
        text: &[u8],
        values: Given<'_>,
    ) -> SqlResult<(Plan, Vec<Assumption>)> {
        let types: Vec<SqlType> = values.iter().map(|(_, ty)| ty.clone()).collect();
        let statistics = EngineStatistics::new(self, values);
        let parameters = Parameters::typed(&types, types.len());
        let plan = self.with_statistics(text, parameters, &statistics, |context| {
            selkie_plan::plan(statement, context)
        })?;
        Ok((plan, statistics.assumptions.into_inner()))
    }

    /// Whether estimates are about the same for other values.
    pub(crate) fn holds(self, assumptions: &[Assumption], values: Given<'_>) -> bool {
        let statistics = EngineStatistics::new(self, &[]);
        assumptions.iter().all(|assumption| assumption.holds(values, &statistics))
    }

    /// Plans a statement for the values of the running statement.
    pub(crate) fn plan_running(
        self,
        statement: &Statement,
        running: Running<'_>,
    ) -> SqlResult<Plan> {
        let types = running.types();
        self.plan(statement, running.text, parameters(&types, running))
    }

    /// Text of a query after the planner's rewrites with the facts in `known`, and the conditions
    /// raised meanwhile.
    pub(crate) fn query_text(
        self,
        query: &ast::Query,
        known: &[Known],
        running: Running<'_>,
    ) -> (String, Vec<Condition>) {
        let now = query::now_micros(self.session);
        self.with_context(running.text, Parameters::none(), |context| {
            let shown = (now, running.names);
            selkie_plan::explain::query_text(query, known, context, shown)
        })
    }

    /// The facts about the SELECTs of a query, tested on the rows that were read.
    pub(crate) fn tested(
        self,
        query: &ast::Query,
        known: Vec<Known>,
        running: Running<'_>,
    ) -> Vec<Known> {
        self.with_context(running.text, Parameters::none(), |context| {
            selkie_plan::explain::tested(query, known, context)
        })
    }

    /// The texts of a query for the trace of the optimizer.
    pub(crate) fn query_texts(self, query: &ast::Query, running: Running<'_>) -> QueryTexts {
        self.with_context(running.text, Parameters::none(), |context| {
            selkie_plan::explain::query_texts(query, context, running.names)
        })
    }

    /// Binds a single expression, such as one of SET or EXECUTE ... USING. Also gives the
    /// conditions that its text raises.
    pub(crate) fn bind(self, expr: &ast::Expr, running: Running<'_>) -> SqlResult<BoundConstant> {
        let types = running.types();
        self.with_context(running.text, parameters(&types, running), |context| {
            selkie_plan::bind_noted(expr, context)
        })
    }

    /// Binds a READ of HANDLER.
    pub(crate) fn handler_read(
        self,
        table: &Arc<TableInfo>,
        syntax: HandlerSyntax<'_>,
        text: &[u8],
        parameters: Parameters<'_>,
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
        self.with_context(&[], Parameters::none(), |context| {
            selkie_plan::rows_plan(table, change, context)
        })
    }

    /// Plans the view's query and fails with its error.
    pub(crate) fn check_view(self, view: &View) -> SqlResult<()> {
        let text = view.select.as_bytes();
        let parsed = selkie_sql::parse(text, &ParseOptions::default())?;
        self.with_context(text, Parameters::none(), |context| {
            let context = PlanContext { tables: context.tables.shared(), ..*context };
            selkie_plan::plan(&parsed.statement, &context).map(drop)
        })
    }

    fn with_context<R>(
        self,
        text: &[u8],
        parameters: Parameters<'_>,
        run: impl FnOnce(&PlanContext<'_>) -> R,
    ) -> R {
        self.with_statistics(text, parameters, &EngineStatistics::new(self, &[]), run)
    }

    fn with_statistics<R>(
        self,
        text: &[u8],
        parameters: Parameters<'_>,
        statistics: &EngineStatistics<'_>,
        run: impl FnOnce(&PlanContext<'_>) -> R,
    ) -> R {
        let Self { instance, session } = self;
        let Parameters { types, values, count } = parameters;
        let snapshot = &instance.catalog.snapshot();
        let settings = session.plan_settings(types);
        let type_context = session.type_context();
        run(&PlanContext {
            text,
            tables: Namespace { snapshot, temporary: &session.frame.temporary },
            environment: &PlanEnvironment { session, snapshot, values },
            statistics,
            settings: &settings,
            types: &type_context,
            parameters: count,
        })
    }
}

/// Parameters of a running statement.
fn parameters<'a>(types: &'a [SqlType], running: Running<'a>) -> Parameters<'a> {
    Parameters { types, values: running.values, count: types.len() }
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
