//! LOCK TABLES and UNLOCK TABLES.

use std::time::Duration;

use selkie_catalog::Namespace;
use selkie_sql::ast;
use selkie_types::error::catalogue::{
    ER_BACKUP_LOCK_IS_ACTIVE, ER_LOCK_OR_ACTIVE_TRANSACTION, ER_NO_DB_ERROR,
};
use selkie_types::{SqlError, SqlResult};

use crate::control::Control;
use crate::gate::Work;
use crate::metadata::LockMode;
use crate::session::{Access, LockedTable, Privilege};
use crate::{Instance, Outcome, Session};

/// Commits, gives up earlier locks and takes new ones, in the order of names so that two sessions
/// do not wait for each other.
pub(super) fn lock(
    instance: &Instance,
    session: &mut Session,
    statement: &ast::LockTables,
) -> SqlResult<Outcome> {
    session.transaction.check_no_branch()?;
    if session.backup.stage.is_some() {
        return Err(SqlError::new(&ER_BACKUP_LOCK_IS_ACTIVE, &[]));
    }
    if session.backup.table.is_some() {
        return Err(SqlError::new(&ER_LOCK_OR_ACTIVE_TRANSACTION, &[]));
    }
    release(session);
    session.commit()?;
    let limit = match statement.wait {
        Some(ast::LockWait::NoWait) => Duration::ZERO,
        Some(ast::LockWait::Wait(seconds)) => Duration::from_secs(seconds),
        _ => Duration::from_secs(session.settings.lock_wait_timeout),
    };
    let mut list = Vec::new();
    for table in &statement.tables {
        list.push(find(instance, session, table)?);
    }
    list.sort_by(|a, b| (&a.schema, &a.table).cmp(&(&b.schema, &b.table)));
    let control = Control::new(session);
    let inside = match list.iter().any(|table| table.write) {
        true => Some(session.gate.enter(&control, session.id, Work::Rows, limit)?),
        false => None,
    };
    let mut tickets = Vec::new();
    for table in &list {
        let mode = if table.write { LockMode::Exclusive } else { LockMode::NoWrite };
        let name = (&*table.schema, &*table.table);
        tickets.push(instance.locks.lock(&control, session.id, name, mode, limit)?);
    }
    session.locked_tables = Some(tickets);
    session.locked_inside = inside;
    session.lock_list = list;
    Ok(Outcome::ok())
}

fn find(instance: &Instance, session: &Session, lock: &ast::LockTable) -> SqlResult<LockedTable> {
    let schema = match (&lock.table.schema, &session.schema) {
        (Some(schema), _) => &*schema.value,
        (None, Some(schema)) => schema,
        (None, None) => return Err(SqlError::new(&ER_NO_DB_ERROR, &[])),
    };
    let name = &*lock.table.name.value;
    let snapshot = instance.catalog.snapshot();
    let names = Namespace { snapshot: &snapshot, temporary: &session.temporary };
    let table = names.table(schema, name).ok_or_else(|| SqlError::no_such_table(schema, name))?;
    for privilege in [Privilege::LockTables, Privilege::Select] {
        let access = Access { privilege, schema, table: name, columns: &[] };
        session.hooks.check_access(session, &access)?;
    }
    let write = matches!(lock.mode, ast::LockMode::Write | ast::LockMode::WriteConcurrent);
    Ok(LockedTable { schema: table.schema().into(), table: table.name().into(), write })
}

/// Gives up the locks of LOCK TABLES.
pub(super) fn release(session: &mut Session) {
    session.end_lock_tables();
}

/// Compat: commits if there were locks.
pub(super) fn unlock(session: &mut Session) -> SqlResult<Outcome> {
    if session.locked_tables.is_some() {
        session.commit()?;
    }
    release(session);
    session.read_lock.clear();
    Ok(Outcome::ok())
}
