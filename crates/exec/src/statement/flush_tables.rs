//! FLUSH TABLES: read locks on everything or on some tables. Nothing is written here: engines flush
//! their data themselves.

use selkie_sql::ast::{self, FlushTarget, Statement, TableName};
use selkie_types::error::catalogue::{
    ER_BACKUP_LOCK_IS_ACTIVE, ER_ILLEGAL_HA, ER_LOCK_OR_ACTIVE_TRANSACTION, ER_TABLE_NOT_LOCKED,
};
use selkie_types::{SqlError, SqlResult};

use super::lock_tables::{self, Purpose};
use crate::query::execution::{Execution, Scope};
use crate::state::gate::Work;
use crate::state::metadata::LockMode;
use crate::state::persistent;
use crate::state::session::{Access, LockedTable, Privilege};
use crate::{Outcome, Session};

/// Runs FLUSH TABLES; `None` for any other statement.
pub(super) fn run(
    execution: &mut Execution<'_>,
    statement: &Statement,
) -> SqlResult<Option<Outcome>> {
    let Statement::Flush(flush) = statement else { return Ok(None) };
    let [FlushTarget::Tables { tables, read_lock, export, .. }] = &flush.targets[..] else {
        return Ok(None);
    };
    let reload = Access { privilege: Privilege::Reload, schema: "", table: "", columns: &[] };
    execution.session.frame.hooks.check_access(execution.session, &reload)?;
    execution.session.refuse_twice(tables)?;
    // Compat: cached numbers of sequences are lost.
    execution.instance.sequences.forget_all();
    execution.instance.results.clear();
    match (&tables[..], *read_lock || *export) {
        ([], true) => lock_all(execution)?,
        (_, true) => lock_some(execution, tables, *export)?,
        (_, false) => flush_some(execution, tables)?,
    }
    Ok(Some(Outcome::ok()))
}

/// Runs FLUSH TABLES WITH READ LOCK.
fn lock_all(execution: &mut Execution<'_>) -> SqlResult<()> {
    begin(execution.session)?;
    if execution.session.read_lock.is_empty() {
        let kinds = [Work::Definition, Work::Rows, Work::Commit];
        execution.session.read_lock = execution.close_gate(&kinds)?;
    }
    Ok(())
}

/// Commits; fails under LOCK TABLES or during a backup.
fn begin(session: &mut Session) -> SqlResult<()> {
    if session.locked_tables.is_some() {
        return Err(SqlError::new(&ER_LOCK_OR_ACTIVE_TRANSACTION, &[]));
    }
    if session.backup.stage.is_some() {
        return Err(SqlError::new(&ER_BACKUP_LOCK_IS_ACTIVE, &[]));
    }
    session.commit()
}

/// Runs FLUSH TABLES names WITH READ LOCK or FOR EXPORT, like LOCK TABLES ... READ.
fn lock_some(execution: &mut Execution<'_>, tables: &[TableName], export: bool) -> SqlResult<()> {
    begin(execution.session)?;
    let locks = tables.iter().map(|table| ast::LockTable {
        table: table.clone(),
        alias: None,
        mode: ast::LockMode::Read,
    });
    let statement = ast::LockTables { tables: locks.collect(), wait: None };
    lock_tables::take(execution, &statement, Purpose::Flush)?;
    if export && let Err(error) = check_exported(execution.scope()) {
        execution.session.end_lock_tables();
        return Err(error);
    }
    Ok(())
}

/// Fails unless the locked tables have files to copy.
fn check_exported(Scope { instance, session }: Scope<'_>) -> SqlResult<()> {
    let snapshot = instance.catalog.snapshot();
    for lock in session.locked().iter().filter(|lock| !lock.is_view) {
        let Some(table) = snapshot.table(&lock.schema, &lock.table) else { continue };
        if !instance.engine_of(table)?.capabilities().durable {
            let arguments: [&dyn std::fmt::Display; 3] =
                [&table.engine.name, &lock.schema, &lock.table];
            return Err(SqlError::new(&ER_ILLEGAL_HA, &arguments));
        }
    }
    Ok(())
}

/// FLUSH TABLES without a lock. Under LOCK TABLES, all its tables must be locked for writing.
fn flush_some(execution: &mut Execution<'_>, tables: &[TableName]) -> SqlResult<()> {
    let session = &mut *execution.session;
    if session.locked_tables.is_none() {
        session.commit()?;
        session.handlers.give_way(execution.instance);
        tables.iter().try_for_each(|table| wait_for_users(execution, table))?;
        return read_statistics(execution, tables);
    }
    if tables.is_empty() {
        let read =
            |lock: &&LockedTable| !lock.is_view && !lock.is_implied && !is_written(session, lock);
        return match session.locked().iter().find(read) {
            Some(lock) => Err(SqlError::read_locked(&lock.table)),
            None => Ok(()),
        };
    }
    for table in tables {
        let schema = table.schema.as_ref().map(|s| &*s.value).or(session.frame.schema.as_deref());
        let name = &*table.name.value;
        match session.lock_of(schema.unwrap_or_default(), name) {
            Some(lock) if lock.write && !lock.is_implied => {}
            Some(_) => return Err(SqlError::read_locked(name)),
            None => return Err(SqlError::new(&ER_TABLE_NOT_LOCKED, &[&name])),
        }
    }
    Ok(())
}

/// Compat: statistics that users wrote into the tables of `mysql` are seen from here on.
fn read_statistics(execution: &Execution<'_>, tables: &[TableName]) -> SqlResult<()> {
    let (instance, control) = (execution.instance, execution.control);
    if tables.is_empty() {
        return persistent::reload(instance, control, None);
    }
    for table in tables {
        let schema = execution.session.schema_of(table)?;
        persistent::reload(instance, control, Some((schema, &table.name.value)))?;
    }
    Ok(())
}

fn is_written(session: &Session, lock: &LockedTable) -> bool {
    session.lock_of(&lock.schema, &lock.table).is_some_and(|strongest| strongest.write)
}

/// Compat: FLUSH TABLES with names waits until no statement uses the tables.
fn wait_for_users(execution: &Execution<'_>, table: &TableName) -> SqlResult<()> {
    let session = &*execution.session;
    let schema = table.schema.as_ref().map(|s| &*s.value).or(session.frame.schema.as_deref());
    let (schema, name) = (schema.unwrap_or_default(), &*table.name.value);
    if session.frame.temporary.get(schema, name).is_some() {
        return Ok(());
    }
    execution.lock_name((schema, name), LockMode::Exclusive).map(drop)
}
