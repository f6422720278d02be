//! BACKUP STAGE, BACKUP LOCK and BACKUP UNLOCK: they support backups made by other tools.
//!
//! Stages have an order; each keeps out the work of the earlier ones, and more.

use selkie_sql::ast::{self, TableName};
use selkie_types::error::catalogue::{
    ER_BACKUP_NOT_RUNNING, ER_BACKUP_UNKNOWN_STAGE, ER_BACKUP_WRONG_STAGE,
    ER_CANT_UPDATE_WITH_READLOCK, ER_LOCK_OR_ACTIVE_TRANSACTION,
};
use selkie_types::{SqlError, SqlResult};

use crate::Outcome;
use crate::query::execution::Execution;
use crate::state::gate::Work;
use crate::state::metadata::LockMode;
use crate::state::session::{Access, Backup, Privilege};

/// Stages, and the work that each begins to keep out.
const STAGES: [(&str, &[Work]); 5] = [
    ("START", &[]),
    ("FLUSH", &[]),
    ("BLOCK_DDL", &[Work::Definition]),
    ("BLOCK_COMMIT", &[Work::Commit]),
    ("END", &[]),
];

/// Name whose lock is the right to run a backup: no schema has an empty name.
const TURN: (&str, &str) = ("", "backup");

/// Runs a statement about backups.
pub(super) fn run(execution: &mut Execution<'_>, statement: &ast::Backup) -> SqlResult<Outcome> {
    let session = &mut *execution.session;
    let reload = Access { privilege: Privilege::Reload, schema: "", table: "", columns: &[] };
    let lock_tables = Access { privilege: Privilege::LockBackup, ..reload.clone() };
    match statement {
        ast::Backup::Stage(name) => {
            session.frame.hooks.check_access(session, &reload)?;
            stage(execution, &name.value)?;
        }
        ast::Backup::Lock(table) => {
            session.frame.hooks.check_access(session, &lock_tables)?;
            lock(execution, table)?;
        }
        ast::Backup::Unlock => {
            session.frame.hooks.check_access(session, &lock_tables)?;
            session.backup.table = None;
        }
    }
    Ok(Outcome::ok())
}

fn stage(execution: &mut Execution<'_>, name: &str) -> SqlResult<()> {
    let at = STAGES.iter().position(|(stage, _)| stage.eq_ignore_ascii_case(name));
    let at = at.ok_or_else(|| SqlError::new(&ER_BACKUP_UNKNOWN_STAGE, &[&name]))?;
    let reached = execution.session.backup.stage;
    match reached {
        None if at > 0 => return Err(SqlError::new(&ER_BACKUP_NOT_RUNNING, &[])),
        Some(reached) if at <= reached => {
            let (stage, before) = (STAGES[at].0, STAGES[reached].0);
            return Err(SqlError::new(&ER_BACKUP_WRONG_STAGE, &[&stage, &before]));
        }
        _ => {}
    }
    let first = reached.map_or(0, |reached| reached + 1);
    for stage in first..=at {
        enter(execution, stage)?;
    }
    if at + 1 == STAGES.len() {
        let backup = &mut execution.session.backup;
        *backup = Backup { table: backup.table.take(), ..Backup::default() };
    }
    Ok(())
}

fn enter(execution: &mut Execution<'_>, stage: usize) -> SqlResult<()> {
    let session = &mut *execution.session;
    if stage == 0 {
        if session.locked_tables.is_some() {
            return Err(SqlError::new(&ER_LOCK_OR_ACTIVE_TRANSACTION, &[]));
        }
        if !session.read_lock.is_empty() || session.backup.table.is_some() {
            return Err(SqlError::new(&ER_CANT_UPDATE_WITH_READLOCK, &[]));
        }
        session.commit()?;
        execution.session.backup.turn = Some(execution.lock_name(TURN, LockMode::Exclusive)?);
    }
    let closed = execution.close_gate(STAGES[stage].1)?;
    let session = &mut *execution.session;
    session.backup.holds.extend(closed);
    session.backup.stage = Some(stage);
    Ok(())
}

/// Locks the definition of one table, which need not exist; its rows may change.
fn lock(execution: &mut Execution<'_>, table: &TableName) -> SqlResult<()> {
    let schema = execution.session.schema_of(table)?.to_owned();
    execution.session.backup.table = None;
    let ticket = execution.lock_name((&schema, &table.name.value), LockMode::Read)?;
    execution.session.backup.table = Some(ticket);
    Ok(())
}
