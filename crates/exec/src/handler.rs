//! HANDLER: tables a session keeps open and reads row by row, by a key or as they are stored.
//!
//! A READ is a statement of its own: it sees what a query would see, and begins where the READ before
//! it stopped. What is kept in between is that place, as a key, and a lock on the definition. The
//! session's own DDL closes what it touches; a table that somebody else wants to change is given up
//! by the session's next statement on tables, and opened again by the next READ of it. Must not be
//! used by a stored program.

mod place;
mod read;

use std::time::Duration;

use selkie_catalog::{Namespace, TableInfo, TableKind};
use selkie_plan::Permissions;
use selkie_plan::physical::OutputColumn;
use selkie_sql::ast::{self, FlushTarget, HandlerAction, Statement, StoredKind, TableName};
use selkie_types::error::catalogue::{
    ER_ILLEGAL_HA, ER_LOCK_OR_ACTIVE_TRANSACTION, ER_NO_DB_ERROR, ER_NONUNIQ_TABLE,
    ER_UNKNOWN_TABLE, ER_WRONG_OBJECT, ER_WRONG_USAGE,
};
use selkie_types::{Privileges, SqlError, SqlResult};

use crate::query::running::Running;
use crate::state::control::Control;
use crate::state::handlers::{Handler, Open};
use crate::state::metadata::LockMode;
use crate::{Instance, Outcome, ResultSink, Session, query};

/// Runs HANDLER.
pub(crate) fn run(
    instance: &Instance,
    session: &mut Session,
    handler: &ast::Handler,
    running: Running<'_>,
    sink: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    if session.locked_tables.is_some() {
        return Err(SqlError::new(&ER_LOCK_OR_ACTIVE_TRANSACTION, &[]));
    }
    let name = &*handler.table.name.value;
    match &handler.action {
        HandlerAction::Open { alias } => {
            let name = alias.as_ref().map_or(name, |alias| &alias.value);
            let result = open(instance, session, &handler.table, name);
            query::end_statement(session, result)
        }
        HandlerAction::Close => {
            let at = position(session, name)?;
            session.handlers.0.remove(at);
            Ok(Outcome::ok())
        }
        HandlerAction::Read { .. } => {
            let result = read::run(instance, session, handler, running, sink);
            query::end_statement(session, result)
        }
    }
}

/// The columns of a READ that is being prepared.
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
            reopen(instance, session, at)?;
            let Some(open) = &session.handlers.0[at].open else { return Ok(Vec::new()) };
            let types = (&[][..], parameters);
            read::bind(instance, session, &open.table, handler, text, types).map(|read| read.output)
        }
        _ => Ok(Vec::new()),
    }
}

fn position(session: &Session, name: &str) -> SqlResult<usize> {
    let found = session.handlers.position(name);
    found.ok_or_else(|| SqlError::new(&ER_UNKNOWN_TABLE, &[&name, &"HANDLER"]))
}

fn open(
    instance: &Instance,
    session: &mut Session,
    table: &TableName,
    name: &str,
) -> SqlResult<Outcome> {
    if session.handlers.position(name).is_some() {
        return Err(SqlError::new(&ER_NONUNIQ_TABLE, &[&name]));
    }
    let (schema, table) = resolve(session, table)?;
    let open = Some(open_table(instance, session, &schema, &table)?);
    session.handlers.0.push(Handler { name: name.into(), schema, table, open });
    Ok(Outcome::ok())
}

fn resolve(session: &Session, table: &TableName) -> SqlResult<(Box<str>, Box<str>)> {
    let schema = match (&table.schema, &session.frame.schema) {
        (Some(schema), _) => &*schema.value,
        (None, Some(schema)) => &**schema,
        (None, None) => return Err(SqlError::new(&ER_NO_DB_ERROR, &[])),
    };
    let folded = |name: &str| match session.frame.settings.planning.lower_case_names {
        true => name.to_lowercase().into(),
        false => name.into(),
    };
    Ok((folded(schema), folded(&table.name.value)))
}

/// Opens a table again that was given up; where it was is forgotten.
fn reopen(instance: &Instance, session: &mut Session, at: usize) -> SqlResult<()> {
    let handler = &session.handlers.0[at];
    if handler.open.is_some() {
        return Ok(());
    }
    let (schema, table) = (handler.schema.clone(), handler.table.clone());
    let open = open_table(instance, session, &schema, &table)?;
    session.handlers.0[at].open = Some(open);
    Ok(())
}

/// Finds and locks a table that HANDLER can read.
fn open_table(
    instance: &Instance,
    session: &mut Session,
    schema: &str,
    table: &str,
) -> SqlResult<Open> {
    session.handlers.give_way(instance);
    if schema.eq_ignore_ascii_case("information_schema") {
        return Err(SqlError::new(&ER_WRONG_USAGE, &[&"HANDLER OPEN", &"information_schema"]));
    }
    let temporary = session.frame.temporary.get(schema, table).is_some();
    let mut lock = None;
    if !temporary {
        Permissions::check_table(session, None, schema, table, Privileges::SELECT)?;
        let limit = Duration::from_secs(session.frame.settings.locks.lock_wait_timeout);
        let (control, mode) = (Control::new(session), LockMode::Read);
        lock =
            Some(instance.locks.lock(&control, session.core.id, (schema, table), mode, limit)?);
    }
    let snapshot = instance.catalog.snapshot();
    let names = Namespace { snapshot: &snapshot, temporary: &session.frame.temporary };
    let found = names.table(schema, table).cloned();
    let table = found.ok_or_else(|| SqlError::no_such_table(schema, table))?;
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

/// 1031: the engine cannot do this.
fn refused(table: &TableInfo) -> SqlError {
    SqlError::new(&ER_ILLEGAL_HA, &[&table.engine.name, &table.schema(), &table.name()])
}

/// Closes what a statement of the session redefines, whether it will succeed or not; FLUSH only
/// makes forget where it was.
pub(crate) fn before(instance: &Instance, session: &mut Session, statement: &Statement) {
    if let Statement::DropDatabase { name, .. } = statement {
        session.handlers.0.retain(|h| *h.schema != *name.value);
        return;
    }
    if session.read_lock.is_empty() && closes_gate(statement) {
        session.handlers.give_up(None);
    }
    let flush = matches!(statement, Statement::Flush(_));
    for table in redefined(instance, session, statement) {
        let Ok((schema, table)) = resolve(session, &table) else { continue };
        match flush {
            true => session.handlers.give_up(Some((&schema, &table))),
            false => session.handlers.forget_table(&schema, &table),
        }
    }
}

/// Compat: FLUSH TABLES WITH READ LOCK makes forget all places, FLUSH TABLES none.
fn closes_gate(statement: &Statement) -> bool {
    let Statement::Flush(flush) = statement else { return false };
    let all = |target: &FlushTarget| matches!(target, FlushTarget::Tables { tables, read_lock: true, .. } if tables.is_empty());
    flush.targets.iter().any(all)
}

/// The tables that CREATE TABLE names, those it takes rows from included.
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

/// The tables a statement closes the handlers of.
fn redefined(instance: &Instance, session: &Session, statement: &Statement) -> Vec<TableName> {
    match statement {
        Statement::CreateTable(create) => created(create),
        Statement::CreateSequence(create) => vec![create.name.clone()],
        Statement::AlterSequence(alter) => vec![alter.name.clone()],
        Statement::AlterTable(alter) => vec![alter.table.clone()],
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
            trigger_table(instance, session, &drop.name).into_iter().collect()
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

fn trigger_table(instance: &Instance, session: &Session, name: &TableName) -> Option<TableName> {
    let (schema, trigger) = resolve(session, name).ok()?;
    let snapshot = instance.catalog.snapshot();
    let found = snapshot.trigger(&schema, &trigger)?;
    let ident =
        |value: &str| ast::Ident { value: value.into(), span: name.name.span, quoted: true };
    Some(TableName { schema: Some(ident(&schema)), name: ident(&found.table) })
}
