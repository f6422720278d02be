//! HANDLER: tables that a session keeps open and reads row by row, in key order or in stored order.
//!
//! Each READ is a statement of its own: it sees what a query would see, and begins where the
//! previous READ stopped. Between READs a handler keeps that position, as a key, and a metadata
//! lock. The session's own DDL closes handlers of its tables. If another session wants to change a
//! table, the session's next statement on tables gives the handler's lock up, and the next READ
//! opens the table again. Must not be used by a stored program.

mod place;
mod read;

use selkie_catalog::{TableInfo, TableKind};
use selkie_plan::Permissions;
use selkie_plan::physical::OutputColumn;
use selkie_sql::ast::{self, FlushTarget, HandlerAction, Statement, StoredKind, TableName};
use selkie_types::error::catalogue::{
    ER_ILLEGAL_HA, ER_LOCK_OR_ACTIVE_TRANSACTION, ER_NONUNIQ_TABLE, ER_UNKNOWN_TABLE,
    ER_WRONG_OBJECT, ER_WRONG_USAGE,
};
use selkie_types::{Privileges, SqlError, SqlResult};

use crate::query::execution::{Execution, Scope};
use crate::query::running::Running;
use crate::state::control::Control;
use crate::state::handlers::{Handler, Open};
use crate::state::metadata::LockMode;
use crate::{Instance, NullSink, Outcome, Session, query};

/// Runs HANDLER.
pub(crate) fn run(execution: &mut Execution<'_>, handler: &ast::Handler) -> SqlResult<Outcome> {
    if execution.session.locked_tables.is_some() {
        return Err(SqlError::new(&ER_LOCK_OR_ACTIVE_TRANSACTION, &[]));
    }
    let name = &*handler.table.name.value;
    match &handler.action {
        HandlerAction::Open { alias } => {
            let name = alias.as_ref().map_or(name, |alias| &alias.value);
            let result = open(execution, &handler.table, name);
            query::end_statement(execution.session, result)
        }
        HandlerAction::Close => {
            let at = position(execution.session, name)?;
            execution.session.handlers.0.remove(at);
            Ok(Outcome::ok())
        }
        HandlerAction::Read { .. } => {
            let result = read::run(execution, handler);
            query::end_statement(execution.session, result)
        }
    }
}

/// Result columns of a READ that is being prepared.
pub(crate) fn prepare(
    instance: &Instance,
    session: &mut Session,
    statement: &Statement,
    text: &[u8],
    parameters: usize,
) -> SqlResult<Vec<OutputColumn>> {
    match statement {
        Statement::Handler(handler) if matches!(handler.action, HandlerAction::Read { .. }) => {
            let at = position(session, &handler.table.name.value)?;
            let (control, running) = (&Control::new(session), Running::new(text, &[]));
            let sink = &mut NullSink;
            reopen(&mut Execution { instance, session, control, running, sink }, at)?;
            let Some(open) = &session.handlers.0[at].open else { return Ok(Vec::new()) };
            let (scope, types) = (Scope { instance, session }, (&[][..], parameters));
            read::bind(scope, &open.table, handler, (text, types)).map(|read| read.output)
        }
        _ => Ok(Vec::new()),
    }
}

fn position(session: &Session, name: &str) -> SqlResult<usize> {
    let found = session.handlers.position(name);
    found.ok_or_else(|| SqlError::new(&ER_UNKNOWN_TABLE, &[&name, &"HANDLER"]))
}

fn open(execution: &mut Execution<'_>, table: &TableName, name: &str) -> SqlResult<Outcome> {
    if execution.session.handlers.position(name).is_some() {
        return Err(SqlError::new(&ER_NONUNIQ_TABLE, &[&name]));
    }
    let (schema, table) = resolve(execution.session, table)?;
    let open = Some(open_table(execution, &schema, &table)?);
    execution.session.handlers.0.push(Handler { name: name.into(), schema, table, open });
    Ok(Outcome::ok())
}

fn resolve(session: &Session, table: &TableName) -> SqlResult<(Box<str>, Box<str>)> {
    let folded = |name: &str| match session.frame.settings.planning.lower_case_names {
        true => name.to_lowercase().into(),
        false => name.into(),
    };
    Ok((folded(session.schema_of(table)?), folded(&table.name.value)))
}

/// Opens a given-up table again; the position was lost.
fn reopen(execution: &mut Execution<'_>, at: usize) -> SqlResult<()> {
    let handler = &execution.session.handlers.0[at];
    if handler.open.is_some() {
        return Ok(());
    }
    let (schema, table) = (handler.schema.clone(), handler.table.clone());
    let open = open_table(execution, &schema, &table)?;
    execution.session.handlers.0[at].open = Some(open);
    Ok(())
}

/// Finds and locks a table that HANDLER can read.
fn open_table(execution: &mut Execution<'_>, schema: &str, table: &str) -> SqlResult<Open> {
    execution.session.handlers.give_way(execution.instance);
    if schema.eq_ignore_ascii_case("information_schema") {
        return Err(SqlError::new(&ER_WRONG_USAGE, &[&"HANDLER OPEN", &"information_schema"]));
    }
    let mut lock = None;
    if execution.session.frame.temporary.get(schema, table).is_none() {
        Permissions::check_table(execution.session, None, schema, table, Privileges::SELECT)?;
        lock = Some(execution.lock_name((schema, table), LockMode::Read)?);
    }
    let table = execution.scope().table(schema, table)?;
    check_readable(&table)?;
    Ok(Open { table, lock, place: None })
}

fn check_readable(table: &TableInfo) -> SqlResult<()> {
    let (schema, name) = (table.schema(), table.name());
    if matches!(table.kind, TableKind::View(_)) {
        return Err(SqlError::new(&ER_WRONG_OBJECT, &[&schema, &name, &"BASE TABLE"]));
    }
    let read = table.engine.statements.handler && table.has_storage() && !table.is_sequence();
    if read { Ok(()) } else { Err(refused(table)) }
}

/// Error 1031: the engine does not support HANDLER here.
fn refused(table: &TableInfo) -> SqlError {
    SqlError::new(&ER_ILLEGAL_HA, &[&table.engine.name, &table.schema(), &table.name()])
}

/// Closes the handlers of tables that the session's statement redefines, whether it succeeds or
/// not. FLUSH only resets their positions.
pub(crate) fn before(execution: &mut Execution<'_>, statement: &Statement) {
    let redefined = redefined(execution.scope(), statement);
    let session = &mut *execution.session;
    if let Statement::DropDatabase { name, .. } = statement {
        session.handlers.0.retain(|h| *h.schema != *name.value);
        return;
    }
    if session.read_lock.is_empty() && closes_gate(statement) {
        session.handlers.give_up(None);
    }
    let flush = matches!(statement, Statement::Flush(_));
    for table in redefined {
        let Ok((schema, table)) = resolve(session, &table) else { continue };
        match flush {
            true => session.handlers.give_up(Some((&schema, &table))),
            false => session.handlers.forget_table(&schema, &table),
        }
    }
}

/// Compat: FLUSH TABLES WITH READ LOCK resets all positions, FLUSH TABLES none.
fn closes_gate(statement: &Statement) -> bool {
    let Statement::Flush(flush) = statement else { return false };
    let all = |target: &FlushTarget| matches!(target, FlushTarget::Tables { tables, read_lock: true, .. } if tables.is_empty());
    flush.targets.iter().any(all)
}

/// Tables that CREATE TABLE names, including the tables it reads.
fn created(create: &ast::CreateTable) -> Vec<TableName> {
    let mut names = vec![create.name.clone()];
    if let ast::CreateSource::Like(source) = &create.source {
        names.push(source.clone());
    }
    if let Some(select) = &create.select {
        let visit = &mut |mention: ast::Mention<'_>| {
            if let ast::Mention::Table(factor) = mention {
                names.push(factor.name.clone());
            }
        };
        select.query.clone().for_each_mention(visit);
    }
    names
}

/// The altered table, and the one that changes places with a partition.
fn altered(alter: &ast::AlterTable) -> Vec<TableName> {
    let others = alter.actions.iter().filter_map(|action| match action {
        ast::AlterAction::ExchangePartition { table, .. }
        | ast::AlterAction::ConvertTableToPartition { table, .. } => Some(table.clone()),
        _ => None,
    });
    std::iter::once(alter.table.clone()).chain(others).collect()
}

/// Tables whose handlers a statement closes.
fn redefined(scope: Scope<'_>, statement: &Statement) -> Vec<TableName> {
    match statement {
        Statement::CreateTable(create) => created(create),
        Statement::CreateSequence(create) => vec![create.name.clone()],
        Statement::AlterSequence(alter) => vec![alter.name.clone()],
        Statement::AlterTable(alter) => altered(alter),
        Statement::CreateIndex(create) => vec![create.table.clone()],
        Statement::DropIndex(drop) => vec![drop.table.clone()],
        Statement::DropTables(drop) => drop.names.clone(),
        Statement::RenameTables(rename) => rename.pairs.iter().map(|p| p.0.clone()).collect(),
        Statement::Truncate { table, .. } => vec![table.clone()],
        Statement::TableMaintenance(what) => match what.action {
            ast::MaintenanceAction::Checksum => Vec::new(),
            _ => what.tables.clone(),
        },
        Statement::CreateTrigger(create) => vec![create.table.clone()],
        Statement::DropStored(drop) if drop.kind == StoredKind::Trigger => {
            trigger_table(scope, &drop.name).into_iter().collect()
        }
        Statement::Flush(flush) => flush.targets.iter().flat_map(flushed).collect(),
        _ => Vec::new(),
    }
}

fn flushed(target: &FlushTarget) -> Vec<TableName> {
    match target {
        FlushTarget::Tables { tables, .. } => tables.clone(),
        _ => Vec::new(),
    }
}

fn trigger_table(scope: Scope<'_>, name: &TableName) -> Option<TableName> {
    let (schema, trigger) = resolve(scope.session, name).ok()?;
    let snapshot = scope.instance.catalog.snapshot();
    let found = snapshot.trigger(&schema, &trigger)?;
    let ident =
        |value: &str| ast::Ident { value: value.into(), span: name.name.span, quoted: true };
    Some(TableName { schema: Some(ident(&schema)), name: ident(&found.table) })
}
