//! FLUSH TABLES: read locks on everything or on some tables. What engines keep they flush themselves.

use std::time::Duration;

use selkie_catalog::TableKind;
use selkie_sql::ast::{self, FlushTarget, Statement, TableName};
use selkie_types::error::catalogue::{
    ER_BACKUP_LOCK_IS_ACTIVE, ER_ILLEGAL_HA, ER_LOCK_OR_ACTIVE_TRANSACTION, ER_TABLE_NOT_LOCKED,
    ER_WRONG_OBJECT,
};
use selkie_types::{SqlError, SqlResult};

use super::lock_tables;
use crate::control::Control;
use crate::gate::Work;
use crate::session::{Access, Privilege};
use crate::{Instance, Outcome, Session};

/// Runs FLUSH TABLES; `None` if the statement is another.
pub(super) fn run(
    instance: &Instance,
    session: &mut Session,
    statement: &Statement,
) -> SqlResult<Option<Outcome>> {
    let Statement::Flush(flush) = statement else { return Ok(None) };
    let [FlushTarget::Tables { tables, read_lock, export, .. }] = &flush.targets[..] else {
        return Ok(None);
    };
    let reload = Access { privilege: Privilege::Reload, schema: "", table: "", columns: &[] };
    session.hooks.check_access(session, &reload)?;
    // Compat: numbers that sequences keep in memory are gone.
    instance.sequences.forget_all();
    match (&tables[..], *read_lock || *export) {
        ([], true) => lock_all(session)?,
        (_, true) => lock_some(instance, session, tables, *export)?,
        (_, false) => flush_some(session, tables)?,
    }
    Ok(Some(Outcome::ok()))
}

/// FLUSH TABLES WITH READ LOCK.
fn lock_all(session: &mut Session) -> SqlResult<()> {
    if session.locked_tables.is_some() {
        return Err(SqlError::new(&ER_LOCK_OR_ACTIVE_TRANSACTION, &[]));
    }
    if session.backup.stage.is_some() {
        return Err(SqlError::new(&ER_BACKUP_LOCK_IS_ACTIVE, &[]));
    }
    session.commit()?;
    if !session.read_lock.is_empty() {
        return Ok(());
    }
    let control = Control::new(session);
    let limit = Duration::from_secs(session.settings.lock_wait_timeout);
    let kinds = [Work::Definition, Work::Rows, Work::Commit];
    session.read_lock = session.gate.close(&control, session.id, &kinds, limit)?;
    Ok(())
}

/// FLUSH TABLES names WITH READ LOCK or FOR EXPORT: as LOCK TABLES ... READ.
fn lock_some(
    instance: &Instance,
    session: &mut Session,
    tables: &[TableName],
    export: bool,
) -> SqlResult<()> {
    if session.locked_tables.is_some() {
        return Err(SqlError::new(&ER_LOCK_OR_ACTIVE_TRANSACTION, &[]));
    }
    session.commit()?;
    let locks = tables.iter().map(|table| ast::LockTable {
        table: table.clone(),
        alias: None,
        mode: ast::LockMode::Read,
    });
    let statement = ast::LockTables { tables: locks.collect(), wait: None };
    let snapshot = instance.catalog.snapshot();
    for table in tables.iter().filter(|_| export) {
        let schema = table.schema.as_ref().map(|s| &*s.value).or(session.schema.as_deref());
        let Some(found) = schema.and_then(|s| snapshot.table(s, &table.name.value)) else {
            continue;
        };
        let (schema, name) = (found.schema(), found.name());
        if matches!(found.kind, TableKind::View(_)) {
            return Err(SqlError::new(&ER_WRONG_OBJECT, &[&schema, &name, &"BASE TABLE"]));
        }
        if !instance.engine(&found.engine)?.capabilities().durable {
            return Err(SqlError::new(&ER_ILLEGAL_HA, &[&found.engine, &schema, &name]));
        }
    }
    lock_tables::lock(instance, session, &statement).map(drop)
}

/// FLUSH TABLES without a lock: under LOCK TABLES, of tables that are locked for writing.
fn flush_some(session: &mut Session, tables: &[TableName]) -> SqlResult<()> {
    if session.locked_tables.is_none() {
        return session.commit();
    }
    for table in tables {
        let schema = table.schema.as_ref().map(|s| &*s.value).or(session.schema.as_deref());
        let name = &*table.name.value;
        match session.lock_of(schema.unwrap_or_default(), name) {
            Some(lock) if lock.write => {}
            Some(_) => return Err(SqlError::read_locked(name)),
            None => return Err(SqlError::new(&ER_TABLE_NOT_LOCKED, &[&name])),
        }
    }
    Ok(())
}
