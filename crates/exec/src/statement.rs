//! Runs one statement: the executor's front door.

mod backup;
mod flush_tables;
mod lock_tables;
mod names_tables;
mod prepare;
pub(crate) mod prepared;
mod read_only;
pub(crate) mod set;
mod transaction;
mod xa;

use std::sync::Arc;

use selkie_catalog::Namespace;
use selkie_sql::ast::{self, Statement};
use selkie_types::error::catalogue::ER_UNKNOWN_STMT_HANDLER;
use selkie_types::{SqlError, SqlResult, SqlType, Value, stack};

use self::names_tables::names_tables;
pub(crate) use self::prepare::refuse_nested;
use crate::extension::extension;
use crate::query::planning;
use crate::query::running::Running;
use crate::state::control::Control;
use crate::state::gate::Work;
use crate::state::guard::{self, guarded};
use crate::state::session::{Access, FilePlaces, Privilege, bump};
use crate::{
    Instance, NullSink, Outcome, ResultSink, Session, admin, explain, handler, help, load, program,
    query,
};

/// Runs a parsed statement; `text` is what it was parsed from.
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
    session.core.files.get_or_init(|| FilePlaces::of(instance));
    session.values.statement_start.set(query::now_micros(session));
    session.start_clock();
    session.explicit_insert_id.set(None);
    match statement {
        // GET DIAGNOSTICS adds its own error behind the conditions it reads.
        Statement::GetDiagnostics(_) => session.diagnostics.go_on(),
        _ if names_tables(statement) => session.diagnostics.clear(),
        _ => session.diagnostics.keep(),
    }
    let begun = session.diagnostics.mark();
    let result =
        guard::whole(session, |session| dispatch(instance, session, statement, running, sink));
    if matches!(statement, Statement::Query(_)) && session.frame.settings.queries.buffer_result {
        // Compat: rows are sent as they come, but the table they would wait in counts.
        bump(&session.core.counters.created_tmp_tables, 1);
    }
    match &result {
        Ok(outcome) => {
            let count = if outcome.result_set { -1 } else { outcome.affected as i64 };
            session.values.row_count.set(count);
        }
        Err(error) => {
            // A program's statement has said so already, with what came of it.
            if !session.diagnostics.has_error_since(begun, error) {
                session.diagnostics.push_error(error, session.frame.settings.notes.max_error_count);
            }
            session.values.row_count.set(-1);
        }
    }
    result
}

fn dispatch(
    instance: &Instance,
    session: &mut Session,
    statement: &Statement,
    running: Running<'_>,
    sink: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    if xa::is_refused(statement) {
        session.transaction.check_no_branch()?;
    }
    read_only::check(session, statement)?;
    if !session.handlers.is_empty() {
        handler::before(instance, session, statement);
    }
    if selkie_plan::is_planned(statement) {
        return planned(instance, session, statement, running, sink);
    }
    match statement {
        Statement::Transaction(what) => transaction::run(instance, session, what),
        Statement::Xa(what) => xa::run(instance, session, what, sink),
        Statement::Set(items) => set::run(instance, session, items, running),
        Statement::SetStatement { items, statement } => {
            set::for_statement(instance, session, items, statement, running, sink)
        }
        Statement::Use(schema) => use_schema(instance, session, schema),
        Statement::Prepare(prepare) => prepare::prepare(instance, session, prepare, running),
        Statement::Execute(execute) => prepare::execute(instance, session, execute, running, sink),
        Statement::ExecuteImmediate(execute) => {
            prepare::immediate(instance, session, execute, running, sink)
        }
        Statement::Deallocate(name) => deallocate(session, name),
        Statement::LockTables(lock) => lock_tables::lock(instance, session, lock),
        Statement::UnlockTables => lock_tables::unlock(session),
        Statement::Handler(what) => handler::run(instance, session, what, running, sink),
        Statement::LoadData(load) => {
            let result = load::run(instance, session, load, running.text, sink);
            query::end_statement(session, result)
        }
        Statement::Call(call) => program::call_statement(instance, session, call, running, sink),
        Statement::Compound(body) => program::compound(instance, session, body, running, sink),
        Statement::Signal(signal) => program::signal(instance, session, signal, running),
        Statement::GetDiagnostics(get) => program::get_diagnostics(instance, session, get, running),
        Statement::Explain(what) => explain::run(instance, session, what, running, sink),
        _ => other(instance, session, statement, running, sink),
    }
}

/// Statements of the server and of other parts of the executor.
fn other(
    instance: &Instance,
    session: &mut Session,
    statement: &Statement,
    running: Running<'_>,
    sink: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    let entered =
        read_only::changes_shared(session, statement) && session.enter(Work::Definition)?;
    let result = definition(instance, session, statement, running, sink);
    if entered {
        session.leave();
    }
    result
}

fn definition(
    instance: &Instance,
    session: &mut Session,
    statement: &Statement,
    running: Running<'_>,
    sink: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    if let Some(outcome) = flush_tables::run(instance, session, statement)? {
        return Ok(outcome);
    }
    let hooks = session.frame.hooks.clone();
    if let Some(outcome) = hooks.statement(instance, session, statement, sink)? {
        return Ok(outcome);
    }
    if let Some(outcome) = crate::stored::run(session, statement)? {
        return Ok(outcome);
    }
    if let Some(outcome) = extension(instance, session, statement, running, sink)? {
        return Ok(outcome);
    }
    match statement {
        Statement::TableMaintenance(what) => admin::run(instance, session, what, sink),
        Statement::Help(mask) => help::run(instance, session, mask, sink),
        Statement::Backup(what) => backup::run(instance, session, what),
        Statement::Unsupported { what } => Err(SqlError::not_supported(what)),
        other => Err(SqlError::not_supported(name_of(other))),
    }
}

/// The word for a statement in error 1235.
fn name_of(statement: &Statement) -> String {
    let debug = format!("{statement:?}");
    let word = debug.split(['(', ' ', '{']).next().unwrap_or_default();
    let mut name = String::new();
    for letter in word.chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push(' ');
        }
        name.push(letter.to_ascii_uppercase());
    }
    name
}

fn planned(
    instance: &Instance,
    session: &mut Session,
    statement: &Statement,
    running: Running<'_>,
    sink: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    let control = Control::new(session);
    let result = guarded(|| run_planned(instance, session, &control, statement, running, sink));
    query::end_statement(session, result)
}

fn run_planned(
    instance: &Instance,
    session: &mut Session,
    control: &Control,
    statement: &Statement,
    running: Running<'_>,
    sink: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    let plan = planning::locked(instance, session, control, |session| match running.prepared {
        Some(prepared) => prepared.plan(instance, session, running.values),
        None => {
            let types: Vec<SqlType> = running.values.iter().map(|(_, ty)| ty.clone()).collect();
            let parameters = (&types[..], types.len());
            planning::plan(instance, session, statement, running.text, parameters).map(Arc::new)
        }
    })?;
    read_only::check_locking(session, statement, &plan)?;
    if let Statement::Do(_) = statement {
        query::run_plan(instance, session, control, &plan, running, &mut NullSink)?;
        return Ok(Outcome::ok());
    }
    query::run_plan(instance, session, control, &plan, running, sink)
}

fn use_schema(instance: &Instance, session: &mut Session, name: &ast::Ident) -> SqlResult<Outcome> {
    crate::ddl::schema::check_name(&name.value)?;
    let snapshot = instance.catalog.snapshot();
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
    match session.prepared.remove(&*name.value.to_lowercase()) {
        Some(_) => Ok(Outcome::ok()),
        None => Err(SqlError::new(&ER_UNKNOWN_STMT_HANDLER, &[&name.value, &"DEALLOCATE PREPARE"])),
    }
}
