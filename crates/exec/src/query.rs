//! Runs plans: locks the definitions they use, opens the transaction, sends rows, and undoes a
//! failed statement. A planned statement must end through [`end_statement`], which commits or rolls
//! back under autocommit (EXEC-1). Planning is in [`planning`].

pub(crate) mod bulk;
pub(crate) mod constant;
mod evaluate;
pub(crate) mod execution;
pub(crate) mod file_format;
pub(crate) mod into;
pub(crate) mod log_form;
pub(crate) mod log_text;
pub(crate) mod numbered;
pub(crate) mod plan_cache;
pub(crate) mod planning;
pub(crate) mod prepared;
pub(crate) mod results;
pub(crate) mod robust;
pub(crate) mod running;
pub(crate) mod text_plans;
mod whole_tables;

use std::sync::Arc;

use selkie_catalog::{TableInfo, TableKind};
use selkie_engine::Personality;
use selkie_expr::EvalContext;
use selkie_plan::physical::{Operator, OutputColumn, Plan, TableScan};
use selkie_plan::reads_of;
use selkie_types::error::catalogue::{
    ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, ER_CANT_LOCK_LOG_TABLE,
    ER_CANT_UPDATE_USED_TABLE_IN_SF_OR_TRG, ER_DATA_WAS_COMMITED_UNDER_ROLLBACK,
};
use selkie_types::{Batch, Condition, Level, Severity, SqlError, SqlResult};

use crate::query::execution::Execution;
use crate::query::running::Running;
use crate::run::local_times::to_client;
use crate::run::row_filter;
use crate::run::{Env, Runtime};
use crate::state::gate::{Closing, Work};
use crate::state::guard::guarded;
use crate::state::live::Live;
use crate::state::metadata::{LockMode, LockTicket};
use crate::state::registry::is_transaction_registry;
use crate::state::session::bump;
use crate::state::sink::PlanSink;
use crate::state::tally::Tally;
use crate::{Instance, Outcome, Session, dml, op};

/// Current time in microseconds since 1970, or the value of `SET timestamp`.
pub(crate) fn now_micros(session: &Session) -> i64 {
    // A function or trigger uses the time of the calling statement.
    if session.transaction.is_nested() {
        return session.values.statement_start.get();
    }
    session.clock()
}

impl Execution<'_> {
    /// Locks the definitions that a plan uses. The caller must check afterwards that they are still
    /// current.
    pub(crate) fn lock_tables(&mut self, plan: &Plan) -> SqlResult<()> {
        let session = &mut *self.session;
        if !session.handlers.is_empty() && !plan.tables.is_empty() {
            session.handlers.give_way(self.instance);
        }
        let takes_numbers = |table: &Arc<TableInfo>| {
            plan.takes_numbers.iter().any(|sequence| Arc::ptr_eq(sequence, table))
        };
        let locks_rows = |table: &Arc<TableInfo>| {
            plan.locks_rows.iter().any(|locked| Arc::ptr_eq(locked, table))
        };
        let changes_shared = dml::targets(plan).any(|t| t.kind != TableKind::Temporary);
        // Compat: numbers of sequences and rows locked for a change count as changes.
        let takes_shared = || plan.takes_numbers.iter().any(|t| t.kind != TableKind::Temporary);
        let locks_shared = || plan.locks_rows.iter().any(|t| t.kind == TableKind::Base);
        if changes_shared || dml::changes_computed(plan) || takes_shared() || locks_shared() {
            session.check_writable()?;
        }
        for table in &plan.tables {
            let written = dml::targets(plan).any(|t| Arc::ptr_eq(t, table)) || takes_numbers(table);
            if written && session.programs.is_in_use(table) {
                let name = table.name();
                return Err(SqlError::new(&ER_CANT_UPDATE_USED_TABLE_IN_SF_OR_TRG, &[&name]));
            }
            let changes = written || locks_rows(table);
            if changes && is_transaction_registry(table.schema(), table.name()) {
                return Err(SqlError::new(&ER_CANT_LOCK_LOG_TABLE, &[]));
            }
            session.check_lock_list(table, changes)?;
        }
        let reaches_changes = self.find_reached(plan)?;
        let session = &mut *self.session;
        if reaches_changes && !changes_shared {
            session.enter_early(self.control)?;
        }
        if changes_shared {
            session.enter(self.control, Work::Rows)?;
            session.transaction.note_shared_change();
        }
        for table in &plan.tables {
            // Locked rows will be changed: no DDL may come in between, so the stronger lock is
            // taken now.
            let written = dml::targets(plan).any(|t| Arc::ptr_eq(t, table));
            let mode = match written || takes_numbers(table) || locks_rows(table) {
                true => LockMode::Write,
                false => LockMode::Read,
            };
            self.lock_table(table, mode)?;
        }
        for (table, written) in plan.foreign.touched() {
            let mode = if written { LockMode::Write } else { LockMode::Read };
            self.lock_table(table, mode)?;
        }
        self.lock_reached()
    }

    /// Locks one definition for the rest of the transaction.
    pub(crate) fn lock_table(&mut self, table: &TableInfo, mode: LockMode) -> SqlResult<()> {
        let (schema, name) = (table.schema(), table.name());
        let session = &mut *self.session;
        if table.kind != TableKind::System {
            session.transaction.check_branch_active()?;
        }
        let is_shared = !matches!(table.kind, TableKind::Temporary | TableKind::System);
        if !is_shared || session.transaction.holds(schema, name, mode) {
            return Ok(());
        }
        let lock = self.lock_name((schema, name), mode)?;
        self.session.transaction.hold(lock);
        Ok(())
    }

    /// Locks a name; dropping the result unlocks it.
    pub(crate) fn lock_name(&self, name: (&str, &str), mode: LockMode) -> SqlResult<LockTicket> {
        let limit = self.session.lock_wait();
        self.instance.locks.lock(self.control, self.session.core.id, name, mode, limit)
    }

    /// Closes the gate for some kinds of work; dropping the result opens it.
    pub(crate) fn close_gate(&self, kinds: &[Work]) -> SqlResult<Vec<Closing>> {
        let session = &*self.session;
        session.gate.close(self.control, session.core.id, kinds, session.lock_wait())
    }
}

/// Lets the engines of a plan's tables join the transaction.
pub(crate) fn join_engines(
    instance: &Instance,
    session: &mut Session,
    plan: &Plan,
) -> SqlResult<()> {
    let related = || plan.foreign.touched().map(|(table, _)| table);
    let calls = plan.calls_functions() || !plan.changes.triggers.is_empty();
    let stored = calls || plan.tables.iter().chain(related()).any(|table| table.has_storage());
    if !stored && !session.in_transaction() {
        // A statement without stored tables begins no transaction: SET TRANSACTION applies to a
        // later one.
        return Ok(());
    }
    session.transaction.begin_statement(&session.frame.settings)?;
    session.transaction.note_begin(session.values.statement_start.get());
    if calls {
        // The tables of functions and triggers are not known yet, so every engine joins.
        for engine in instance.engines.iter() {
            session.transaction.join(engine)?;
        }
    }
    for table in plan.tables.iter().chain(related()) {
        if table.has_storage() {
            let engine = instance.engine_of(table)?;
            session.transaction.join_named(engine)?;
        }
    }
    Ok(())
}

/// Fails if the plan changes rows of shared tables in a READ ONLY transaction.
pub(crate) fn check_read_only(session: &Session, plan: &Plan) -> SqlResult<()> {
    let shared = |t: &&Arc<TableInfo>| t.kind != TableKind::Temporary;
    let writes = dml::targets(plan).chain(&plan.takes_numbers).any(|t| shared(&t));
    if (writes || dml::changes_computed(plan))
        && session.transaction.is_read_only(&session.frame.settings)
    {
        return Err(SqlError::new(&ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, &[]));
    }
    Ok(())
}

impl Execution<'_> {
    /// Runs a plan whose tables are locked. [`end_statement`] then ends the statement: commit under
    /// autocommit, rollback after an error.
    pub(crate) fn run_plan(&mut self, plan: &Plan) -> SqlResult<Outcome> {
        let changes_stored = plan.changes_rows() && !dml::changes_computed(plan);
        if changes_stored || plan.calls_functions() {
            return self.run_logged(plan);
        }
        if !plan.takes_numbers.is_empty() {
            self.check_numbers_logged()?;
            // Sequences of the session have other numbers than on replicas then.
            self.session.frame.temporary.diverge();
            // The row of a sequence is logged at once.
            self.session.begin_logging(self.running.own_text());
        }
        check_read_only(self.session, plan)?;
        self.lock_rows(plan)?;
        join_engines(self.instance, self.session, plan)?;
        self.run_operators(plan)
    }

    /// As [`Self::run_plan`], while other sessions may see the plan and its counts.
    pub(crate) fn run_live(&mut self, plan: &Arc<Plan>) -> SqlResult<Outcome> {
        let tally = Tally::of(plan).map(Arc::new);
        self.run_counted(plan, tally)
    }

    /// As [`Self::run_live`], with these counts.
    pub(crate) fn run_counted(
        &mut self,
        plan: &Arc<Plan>,
        tally: Option<Arc<Tally>>,
    ) -> SqlResult<Outcome> {
        let running = self.running;
        // A short statement of the client is not copied: its session has the text.
        let own = tally.is_some() || running.terms.is_some();
        let text = own.then(|| Arc::from(running.own_text()));
        let live = Live { plan: Arc::clone(plan), tally: tally.clone(), text };
        self.session.frame.live.publish(live);
        let running = Running { tally: tally.as_deref(), ..running };
        let result = guarded(|| self.with_running(running).run_plan(plan));
        self.session.frame.live.withdraw();
        result
    }

    /// Runs a plan whose changes may be logged as the statement's text.
    fn run_logged(&mut self, plan: &Plan) -> SqlResult<Outcome> {
        let mut text = None;
        let result = self.run_changes(plan, &mut |execution| {
            text = execution.begin_log_form(plan)?;
            let outcome = execution.run_operators(plan)?;
            if let Some(text) = &text {
                execution.end_log_form(text, None)?;
            }
            Ok(outcome)
        });
        if let (Some(text), Err(error)) = (&text, &result) {
            // The text of what stands comes after the undone rest was cut off.
            self.end_log_form(text, Some(error))?;
        }
        result
    }

    /// Begins a statement that uses one table and has no plan.
    pub(crate) fn begin_on(&mut self, table: &TableInfo) -> SqlResult<()> {
        let transaction = &mut self.session.transaction;
        transaction.begin_statement(&self.session.frame.settings)?;
        transaction.join(self.instance.engine_of(table)?)
    }

    /// Runs `change` as a statement that changes rows of the plan's targets: in the transaction,
    /// and undone if it fails.
    pub(crate) fn run_changes(
        &mut self,
        plan: &Plan,
        change: &mut dyn FnMut(&mut Self) -> SqlResult<Outcome>,
    ) -> SqlResult<Outcome> {
        check_read_only(self.session, plan)?;
        self.lock_rows(plan)?;
        join_engines(self.instance, self.session, plan)?;
        self.number_transaction(plan)?;
        self.note_changed(plan);
        let outer = self.session.begin_logging(self.running.own_text());
        self.expect_changes(plan)?;
        let mark = self.session.transaction.mark()?;
        let result = guarded(|| change(self));
        self.session.end_logging(outer);
        if result.is_err() {
            self.session.transaction.undo(&mark)?;
        }
        result
    }

    /// Notes that work on the tables which the plan changes must be done again.
    fn note_changed(&self, plan: &Plan) {
        let maintained = &self.instance.upkeep.maintained;
        match dml::fills(plan) {
            true => dml::targets(plan).for_each(|table| maintained.filled(self.instance, table)),
            false => dml::targets(plan).for_each(|table| maintained.changed(table)),
        }
    }

    /// Tells the binary log which tables the plan changes, if it may be more than one.
    fn expect_changes(&self, plan: &Plan) -> SqlResult<()> {
        let related = || plan.foreign.touched().filter(|(_, changed)| *changed);
        let is_many = || {
            plan.calls_functions()
                || !plan.changes.triggers.is_empty()
                || dml::targets(plan).nth(1).is_some()
                || related().next().is_some()
        };
        if self.session.log().is_none() || !is_many() {
            return Ok(());
        }
        let mut tables = dml::targets(plan).chain(related().map(|(table, _)| table));
        tables.try_for_each(|table| self.session.expect_changes(self.instance, table))
    }

    fn run_operators(&mut self, plan: &Plan) -> SqlResult<Outcome> {
        let Self { instance, control, running, sink, .. } = self;
        let session = &*self.session;
        let runtime = Runtime::new(instance, session, control, plan)?;
        let reading = dml::reading(instance, session, plan);
        let runtime = runtime.with_reading(reading).with_bulk(running.bulk);
        let runtime = runtime.with_tally(running.tally);
        let mut eval =
            EvalContext::new(session.type_context(), session, session.values.statement_start.get());
        eval.subqueries = &runtime;
        eval.set_parameters(running.values.iter().map(|(v, _)| v.clone()));
        let warnings = &plan.warnings;
        warnings.conditions.iter().for_each(|condition| eval.push(condition.clone()));
        if !warnings.converted.is_empty() {
            row_filter::convert_constants(&eval, &warnings.converted);
        }
        constant::check(session, plan, running.values)?;
        session.begin_random(&eval);
        bump(&session.core.counters.feature_window_functions, plan.sizes.windowed_blocks);
        // A plan that is not counted reads no table whole, or one row.
        if plan.sizes.counted > 0 {
            count_reads(instance, session, plan);
        }
        let env = Env { rt: &runtime, eval: &eval, cell: None, wanted: None };
        let sink = PlanSink { sink: *sink, is_kept: running.prepared.is_some() };
        let result = match (plan.changes_rows(), &plan.result.into) {
            (true, _) => dml::run(env, plan, sink),
            (false, Some(target)) => into::run(env, plan, target),
            (false, None) if plan.result.is_dropped => evaluate::run(env, plan),
            (false, None) => select(env, plan, sink),
        };
        session.end_random(&eval);
        let result = result.and_then(|outcome| op::tell_incomplete(env).map(|()| outcome));
        keep_conditions(session, &eval);
        result
    }
}

/// Adds the ways in which a plan's tables are read to the session's counters.
fn count_reads(instance: &Instance, session: &Session, plan: &Plan) {
    let rows = |scan: &TableScan| Some(instance.look_into(&scan.table)?.table.statistics().rows);
    let now = plan.sizes.reads.may_be_constant.then(|| reads_of(plan, &rows));
    let (counters, reads) = (&session.core.counters, now.as_ref().unwrap_or(&plan.sizes.reads));
    bump(&counters.feature_subquery, plan.subplans.len() as u64);
    bump(&counters.select_scan, reads.scan.into());
    bump(&counters.select_range, reads.range.into());
    bump(&counters.select_full_join, reads.full_join.into());
    bump(&counters.select_full_range_join, reads.full_range_join.into());
    bump(&counters.created_tmp_tables, reads.tables.into());
    match &plan.root.operator {
        Operator::Update(_) => bump(&counters.update_scan, reads.changed_whole.into()),
        Operator::Delete(_) => bump(&counters.delete_scan, reads.changed_whole.into()),
        _ => {}
    }
}

/// Moves the raised conditions to the session.
pub(crate) fn keep_conditions(session: &Session, eval: &EvalContext<'_>) {
    let conditions = eval.conditions.borrow_mut().take();
    let max = session.frame.settings.notes.max_error_count;
    let hidden = conditions.count() - conditions.list().len() as u64;
    for condition in conditions.list() {
        if condition.level != Level::Note || session.frame.settings.notes.sql_notes {
            session.diagnostics.push(condition.clone(), max);
        }
    }
    session.diagnostics.count_more(hidden);
}

fn select(env: Env<'_>, plan: &Plan, mut to: PlanSink<'_>) -> SqlResult<Outcome> {
    let mut op = op::open_limited(env, &plan.root)?;
    // Computed before the header is sent: a statement that fails at once sends only its error.
    let mut next = op.next()?;
    to.begin(announced(env, plan, &next)?)?;
    let mut sent = 0;
    while let Some(batch) = next {
        sent += batch.rows() as u64;
        // A row is encoded whole before any of it is sent.
        selkie_meter::ask(batch.memory() / batch.rows().max(1))?;
        to.sink.batch(&to_client(env.eval, &plan.output, batch))?;
        next = op.next()?;
    }
    let session = env.rt.session;
    bump(&session.core.counters.rows_sent, sent);
    let is_empty = sent == 0 && to.sink.counts_empty();
    bump(&session.core.counters.empty_queries, is_empty.into());
    let found = match plan.result.calc_found_rows {
        true => env.rt.found.get(),
        // Compat: rows skipped by OFFSET count as found.
        false if sent > 0 => sent.saturating_add(op::offset(env, &plan.root)?),
        false => 0,
    };
    session.values.found_rows.set(found.max(sent));
    Ok(Outcome { affected: sent, ..Outcome::rows() })
}

/// The columns that the client is told of a result with these first rows.
fn announced<'p>(
    env: Env<'_>,
    plan: &'p Plan,
    first: &Option<Batch>,
) -> SqlResult<&'p Arc<[OutputColumn]>> {
    let Some(few) = &plan.result.few else { return Ok(&plan.output) };
    let is_empty = first.is_none();
    if is_empty && op::limit(env, &plan.root)? == Some(0) {
        return Ok(&few.nothing);
    }
    let handle = few.counted.as_ref().and_then(|table| env.rt.instance.look_into(table));
    Ok(match handle.map(|handle| handle.table.statistics().rows) {
        Some(0 | 1) if is_empty => &few.nothing,
        Some(1) => &few.row,
        _ => &plan.output,
    })
}

/// Ends a statement: commits or rolls back under autocommit, and rolls the transaction back if the
/// error ends it.
pub(crate) fn end_statement(
    session: &mut Session,
    result: SqlResult<Outcome>,
) -> SqlResult<Outcome> {
    session.absorb_nested();
    if session.transaction.is_nested() {
        return result;
    }
    if let Some(log) = session.transaction.log() {
        log.end_statement();
    }
    let result = end_in_transaction(session, result);
    session.transaction.release_rows();
    if session.inside.as_ref().is_some_and(|inside| inside.work() == Work::Rows) {
        session.leave();
    }
    result
}

fn end_in_transaction(session: &mut Session, result: SqlResult<Outcome>) -> SqlResult<Outcome> {
    session.transaction.tell_changes();
    match result {
        Ok(outcome) => {
            match session.in_transaction() {
                true => session.end_immediate()?,
                false => session.commit()?,
            }
            Ok(outcome)
        }
        Err(error) => {
            if let Some(engine) = session.transaction.outlasting() {
                session.diagnostics.after_error(committed_by(engine));
            }
            let whole = error.severity() != Severity::Statement || !session.in_transaction();
            match whole {
                true => session.rollback_for(&error)?,
                false => session.end_immediate()?,
            }
            Err(error)
        }
    }
}

/// Note that changes in `engine` stay. Compat: the engine joins transactions but cannot roll back.
fn committed_by(engine: &Personality) -> Condition {
    Condition::note(&ER_DATA_WAS_COMMITED_UNDER_ROLLBACK, &[&engine.name])
}
