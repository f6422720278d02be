//! Runs one statement: the executor's front door. Every statement goes through [`execute`]: it
//! starts the clock and the warnings list, turns panics into errors, and stores the row count. Must
//! not know packets.

mod backup;
mod computed;
mod flush_tables;
mod hidden;
mod lock_tables;
mod logged;
mod names_tables;
mod prepare;
pub(crate) mod prepared;
pub(crate) mod read_only;
pub(crate) mod set;
mod transaction;
mod xa;

use std::sync::Arc;

use selkie_catalog::Namespace;
use selkie_plan::physical::Plan;
use selkie_sql::ast::{self, ShowWhat, Statement};
use selkie_types::error::catalogue::ER_UNKNOWN_STMT_HANDLER;
use selkie_types::{SqlError, SqlResult, SqlType, Value, stack};

use self::names_tables::names_tables;
pub(crate) use self::prepare::refuse_nested;
pub use self::xa::prepare_transaction_as;
use crate::extension::extension;
use crate::query::execution::Execution;
use crate::query::planning;
use crate::query::results::Wish;
use crate::query::running::Running;
use crate::state::control::Control;
use crate::state::gate::Work;
use crate::state::guard::{self, guarded};
use crate::state::session::{Access, Privilege, bump};
use crate::{
    Instance, NullSink, Outcome, ResultSink, Session, admin, apply, explain, handler, help, load,
    program, query,
};

/// Runs a parsed statement; `text` is its source.
pub fn execute_statement(
    instance: &Instance,
    session: &mut Session,
    statement: &Statement,
    text: &[u8],
    values: &[(Value, SqlType)],
    sink: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    execute(instance, session, statement, Running::new(text, values), sink)
}

/// Parses and runs one statement.
pub fn execute_text(
    instance: &Instance,
    session: &mut Session,
    text: &[u8],
    sink: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    match guarded(|| planning::parse(session, text, None)) {
        Ok(parsed) => execute_statement(instance, session, &parsed.statement, text, &[], sink),
        Err(error) => {
            session.diagnostics.clear();
            session.diagnostics.push_error(&error, session.frame.settings.notes.max_error_count);
            Err(error)
        }
    }
}

/// Runs a statement that may have placeholders.
pub(crate) fn execute(
    instance: &Instance,
    session: &mut Session,
    statement: &Statement,
    running: Running<'_>,
    sink: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    stack::check()?;
    session.core.files.get_or_init(|| instance.places.clone());
    session.join_binlog(instance);
    session.values.statement_start.set(query::now_micros(session));
    session.frame.settings.expressions.time_zone.begin_statement();
    session.start_clock();
    session.explicit_insert_id.set(None);
    match statement {
        // GET DIAGNOSTICS adds its own error after the conditions it reads.
        Statement::GetDiagnostics(_) => session.diagnostics.go_on(),
        _ if names_tables(statement) => session.diagnostics.clear(),
        _ => session.diagnostics.keep(),
    }
    let begun = session.diagnostics.mark();
    let control = &Control::new(session);
    let counters = is_show_status(statement).then(|| session.core.counters.values());
    let result = guard::whole(session, |session| {
        Execution { instance, session, control, running, sink }.dispatch(statement)
    });
    if !session.transaction.is_nested() {
        session.transaction.release_rows();
    }
    if let Some(counters) = counters {
        session.core.counters.put_back(&counters);
    }
    if matches!(statement, Statement::Query(_)) && session.frame.settings.queries.buffer_result {
        // Compat: rows are sent as they come, but the temporary table that MariaDB would use is
        // counted.
        bump(&session.core.counters.created_tmp_tables, 1);
    }
    let result = hidden::values(session, statement, begun, result);
    match &result {
        Ok(outcome) => {
            let count = if outcome.result_set { -1 } else { outcome.affected as i64 };
            session.values.row_count.set(count);
        }
        Err(error) => {
            // A statement of a program has already added the error, with the conditions that follow
            // it.
            if !session.diagnostics.has_error_since(begun, error) {
                session.diagnostics.push_error(error, session.frame.settings.notes.max_error_count);
            }
            session.values.row_count.set(-1);
        }
    }
    result
}

impl Execution<'_> {
    /// Runs a nested statement like one of its own, with its own limits.
    pub(crate) fn execute(&mut self, statement: &Statement) -> SqlResult<Outcome> {
        execute(self.instance, self.session, statement, self.running, self.sink)
    }

    fn dispatch(&mut self, statement: &Statement) -> SqlResult<Outcome> {
        if xa::is_refused(statement) {
            self.session.transaction.check_no_branch()?;
        }
        read_only::check(self.session, statement)?;
        if !self.session.handlers.is_empty() {
            handler::before(self, statement);
        }
        if let Some(table) = computed::emptied(self.session, statement) {
            return computed::truncate(self, table);
        }
        if selkie_plan::is_planned(statement) {
            return self.planned(statement);
        }
        match statement {
            Statement::Transaction(what) => transaction::run(self, what),
            Statement::Xa(what) => xa::run(self, what),
            Statement::Set(items) => {
                let outcome = set::run(self, items)?;
                logged::after(self, statement).map(|()| outcome)
            }
            Statement::SetStatement { items, statement } => {
                set::for_statement(self, items, statement)
            }
            Statement::Use(schema) => use_schema(self, schema),
            Statement::Prepare(what) => prepare::prepare(self, what),
            Statement::Execute(what) => prepare::execute(self, what),
            Statement::ExecuteImmediate(what) => prepare::immediate(self, what),
            Statement::Deallocate(name) => deallocate(self.session, name),
            Statement::LockTables(lock) => lock_tables::lock(self, lock),
            Statement::UnlockTables => lock_tables::unlock(self.session),
            Statement::Handler(what) => handler::run(self, what),
            Statement::Binlog(text) => {
                let result = apply::statement::run(self, text);
                query::end_statement(self.session, result)
            }
            Statement::LoadData(load) => {
                let result = load::run(self, load);
                query::end_statement(self.session, result)
            }
            Statement::Call(call) => program::call_statement(self, call),
            Statement::Compound(body) => program::compound(self, body),
            Statement::Signal(signal) => program::signal(self, signal),
            Statement::GetDiagnostics(get) => program::get_diagnostics(self, get),
            Statement::Explain(what) => explain::run(self, what),
            _ => self.other(statement),
        }
    }

    /// Statements of the server and of other parts of the executor.
    fn other(&mut self, statement: &Statement) -> SqlResult<Outcome> {
        let entered = read_only::changes_shared(self.session, statement)
            && self.session.enter(self.control, Work::Definition)?;
        let result = self.definition(statement);
        let result = match result {
            Ok(outcome) => logged::after(self, statement).map(|()| outcome),
            Err(error) => {
                logged::after_failure(self, statement, &error)?;
                Err(error)
            }
        };
        if entered {
            self.session.leave();
        }
        result
    }

    fn definition(&mut self, statement: &Statement) -> SqlResult<Outcome> {
        if let Some(outcome) = flush_tables::run(self, statement)? {
            return Ok(outcome);
        }
        let hooks = self.session.frame.hooks.clone();
        let given = (statement, self.running.values);
        if let Some(outcome) = hooks.statement(self.instance, self.session, given, self.sink)? {
            return Ok(outcome);
        }
        if let Some(outcome) = extension(self, statement)? {
            return Ok(outcome);
        }
        match statement {
            Statement::TableMaintenance(what) => admin::run(self, what),
            Statement::CacheIndexes(what) => admin::cache_indexes(self, what),
            Statement::Help(mask) => help::run(self, mask),
            Statement::Backup(what) => backup::run(self, what),
            Statement::Unsupported { what } => Err(SqlError::not_supported(what)),
            Statement::Show(_) => Err(SqlError::not_supported("SHOW")),
            _ => Err(SqlError::not_supported("this statement")),
        }
    }

    fn planned(&mut self, statement: &Statement) -> SqlResult<Outcome> {
        let wish = self.wish_for_result(statement);
        if let Some(granted) = wish.as_ref().and_then(|wish| self.grant(wish)) {
            return granted;
        }
        let begun = self.session.diagnostics.mark();
        let result = guarded(|| self.run_planned(statement, wish.as_ref()));
        match query::end_statement(self.session, result) {
            Err(error) if self.is_passed(statement, begun, &error) => Ok(Outcome::ok()),
            result => result,
        }
    }

    /// Whether the error only undid a DO: that of a value, which is told since `begun`.
    fn is_passed(&self, statement: &Statement, begun: u64, error: &SqlError) -> bool {
        let diagnostics = &self.session.diagnostics;
        let passes =
            matches!(statement, Statement::Do(_)) && diagnostics.has_error_since(begun, error);
        if passes {
            diagnostics.push_after(self.session.frame.settings.notes.max_error_count);
        }
        passes
    }

    fn plan_of(&mut self, statement: &Statement) -> SqlResult<Arc<Plan>> {
        let running = self.running;
        let plan = self.locked_change(|scope| match running.prepared {
            Some(prepared) => prepared.plan(scope, running.values),
            None => scope.plan_running(statement, running).map(Arc::new),
        })?;
        read_only::check_locking(self.session, statement, &plan)?;
        self.trace(statement, &plan);
        Ok(plan)
    }

    fn run_planned(&mut self, statement: &Statement, wish: Option<&Wish>) -> SqlResult<Outcome> {
        let plan = self.plan_of(statement)?;
        if let Statement::Do(_) = statement {
            let took_outs = self.session.programs.takes_outs.replace(true);
            let result = guarded(|| self.with_sink(&mut NullSink).run_plan(&plan));
            self.session.programs.takes_outs.set(took_outs);
            return result.map(|_| Outcome::ok());
        }
        match wish {
            Some(wish) => self.run_and_keep(&plan, wish),
            None => self.run_live(&plan),
        }
    }
}

fn use_schema(execution: &mut Execution<'_>, name: &ast::Ident) -> SqlResult<Outcome> {
    crate::ddl::schema::check_name(&name.value)?;
    let session = &mut *execution.session;
    let snapshot = execution.instance.catalog.snapshot();
    let names = Namespace { snapshot: &snapshot, temporary: &session.frame.temporary };
    let found = names.schema(&name.value).map(|s| s.name.clone());
    // Only accounts that could use the database learn that it does not exist.
    let schema = found.as_deref().unwrap_or(&name.value);
    let access = Access { privilege: Privilege::Any, schema, table: "", columns: &[] };
    session.frame.hooks.check_access(session, &access)?;
    let schema = found.ok_or_else(|| SqlError::unknown_database(&name.value))?;
    session.frame.schema = Some(schema.into());
    session.frame.settings.version += 1;
    Ok(Outcome::ok())
}

fn deallocate(session: &mut Session, name: &ast::Ident) -> SqlResult<Outcome> {
    prepare::check_not_executing(session, &name.value.to_lowercase())?;
    match session.prepared.remove(&*name.value.to_lowercase()) {
        Some(_) => Ok(Outcome::ok()),
        None => Err(SqlError::new(&ER_UNKNOWN_STMT_HANDLER, &[&name.value, &"DEALLOCATE PREPARE"])),
    }
}

/// Whether a statement shows the counters, which must not change by it.
fn is_show_status(statement: &Statement) -> bool {
    let Statement::Show(show) = statement else { return false };
    matches!(show.what, ShowWhat::Status(_))
}
