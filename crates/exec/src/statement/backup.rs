//! BACKUP STAGE, BACKUP LOCK and BACKUP UNLOCK: what a backup made by other means asks of the server.
//!
//! Stages come in an order; each keeps out what the ones before it did, and more.

use std::time::Duration;

use selkie_sql::ast::{self, TableName};
use selkie_types::error::catalogue::{
    ER_BACKUP_NOT_RUNNING, ER_BACKUP_UNKNOWN_STAGE, ER_BACKUP_WRONG_STAGE,
    ER_CANT_UPDATE_WITH_READLOCK, ER_LOCK_OR_ACTIVE_TRANSACTION, ER_NO_DB_ERROR,
};
use selkie_types::{SqlError, SqlResult};

use crate::state::control::Control;
use crate::state::gate::Work;
use crate::state::metadata::LockMode;
use crate::state::session::{Access, Backup, Privilege};
use crate::{Instance, Outcome, Session};

/// The stages and what each begins to keep out.
const STAGES: [(&str, &[Work]); 5] = [
    ("START", &[]),
    ("FLUSH", &[]),
    ("BLOCK_DDL", &[Work::Definition]),
    ("BLOCK_COMMIT", &[Work::Commit]),
    ("END", &[]),
];

/// Stands for the right to take a backup: no table has an empty name.
const TURN: (&str, &str) = ("", "backup");

/// Runs a statement about backups.
pub(super) fn run(
    instance: &Instance,
    session: &mut Session,
    statement: &ast::Backup,
) -> SqlResult<Outcome> {
    let reload = Access { privilege: Privilege::Reload, schema: "", table: "", columns: &[] };
    let lock_tables = Access { privilege: Privilege::LockBackup, ..reload.clone() };
    match statement {
        ast::Backup::Stage(name) => {
            session.frame.hooks.check_access(session, &reload)?;
            stage(instance, session, &name.value)?;
        }
        ast::Backup::Lock(table) => {
            session.frame.hooks.check_access(session, &lock_tables)?;
            lock(instance, session, table)?;
        }
        ast::Backup::Unlock => {
            session.frame.hooks.check_access(session, &lock_tables)?;
            session.backup.table = None;
        }
    }
    Ok(Outcome::ok())
}

fn stage(instance: &Instance, session: &mut Session, name: &str) -> SqlResult<()> {
    let at = STAGES.iter().position(|(stage, _)| stage.eq_ignore_ascii_case(name));
    let at = at.ok_or_else(|| SqlError::new(&ER_BACKUP_UNKNOWN_STAGE, &[&name]))?;
    match session.backup.stage {
        None if at > 0 => return Err(SqlError::new(&ER_BACKUP_NOT_RUNNING, &[])),
        Some(reached) if at <= reached => {
            let (stage, before) = (STAGES[at].0, STAGES[reached].0);
            return Err(SqlError::new(&ER_BACKUP_WRONG_STAGE, &[&stage, &before]));
        }
        _ => {}
    }
    let first = session.backup.stage.map_or(0, |reached| reached + 1);
    for stage in first..=at {
        enter(instance, session, stage)?;
    }
    if at + 1 == STAGES.len() {
        session.backup = Backup { table: session.backup.table.take(), ..Backup::default() };
    }
    Ok(())
}

fn enter(instance: &Instance, session: &mut Session, stage: usize) -> SqlResult<()> {
    let control = Control::new(session);
    let limit = Duration::from_secs(session.frame.settings.locks.lock_wait_timeout);
    if stage == 0 {
        if session.locked_tables.is_some() {
            return Err(SqlError::new(&ER_LOCK_OR_ACTIVE_TRANSACTION, &[]));
        }
        if !session.read_lock.is_empty() || session.backup.table.is_some() {
            return Err(SqlError::new(&ER_CANT_UPDATE_WITH_READLOCK, &[]));
        }
        session.commit()?;
        let locks = &instance.locks;
        let turn = locks.lock(&control, session.core.id, TURN, LockMode::Exclusive, limit)?;
        session.backup.turn = Some(turn);
    }
    let closed = session.gate.close(&control, session.core.id, STAGES[stage].1, limit)?;
    session.backup.holds.extend(closed);
    session.backup.stage = Some(stage);
    Ok(())
}

/// Keeps the definition of one table, which need not exist, from changing; rows may change.
fn lock(instance: &Instance, session: &mut Session, table: &TableName) -> SqlResult<()> {
    let schema = match (&table.schema, &session.frame.schema) {
        (Some(schema), _) => &*schema.value,
        (None, Some(schema)) => &**schema,
        (None, None) => return Err(SqlError::new(&ER_NO_DB_ERROR, &[])),
    };
    session.backup.table = None;
    let control = Control::new(session);
    let limit = Duration::from_secs(session.frame.settings.locks.lock_wait_timeout);
    let name = (schema, &*table.name.value);
    let ticket = instance.locks.lock(&control, session.core.id, name, LockMode::Read, limit)?;
    session.backup.table = Some(ticket);
    Ok(())
}
