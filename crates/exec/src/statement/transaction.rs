//! BEGIN, COMMIT, ROLLBACK and savepoints. COMMIT and ROLLBACK are refused inside an XA branch and
//! inside functions and triggers.

use selkie_sql::ast::Transaction as Ast;
use selkie_types::SqlResult;

use crate::query::execution::Execution;
use crate::state::session::{Completion, bump};
use crate::{Outcome, Session};

/// Runs a statement that controls the transaction.
pub(super) fn run(execution: &mut Execution<'_>, what: &Ast) -> SqlResult<Outcome> {
    let session = &mut *execution.session;
    match what {
        Ast::Begin { consistent_snapshot, read_only } => {
            begin(execution, *consistent_snapshot, *read_only)?;
        }
        Ast::Commit { chain, release } => {
            let was_open = session.in_transaction();
            session.commit()?;
            return Ok(ended(session, was_open, *chain, *release));
        }
        Ast::Rollback { chain, release } => {
            session.transaction.check_no_branch()?;
            let was_open = session.in_transaction();
            session.rollback()?;
            return Ok(ended(session, was_open, *chain, *release));
        }
        Ast::Savepoint(name) => {
            bump(&session.core.counters.handler_savepoint, 1);
            // Outside a transaction, the statement is a transaction of its own, and its savepoint
            // ends with it.
            if session.in_transaction() || !session.frame.settings.transactions.autocommit {
                session.transaction.begin_statement(&session.frame.settings)?;
                let head = session.headline();
                session.transaction.savepoint(&name.value, head.as_ref())?;
            }
        }
        Ast::RollbackTo(name) => {
            bump(&session.core.counters.handler_savepoint_rollback, 1);
            let head = session.headline();
            if session.transaction.rollback_to(&name.value, head.as_ref())? {
                session.warn_incomplete_rollback();
            }
        }
        Ast::Release(name) => session.transaction.release_savepoint(&name.value)?,
    }
    Ok(Outcome::ok())
}

fn begin(
    execution: &mut Execution<'_>,
    consistent_snapshot: bool,
    read_only: Option<bool>,
) -> SqlResult<()> {
    let session = &mut *execution.session;
    // Compat: BEGIN ends LOCK TABLES and commits the open transaction.
    session.transaction.check_no_branch()?;
    super::lock_tables::release(session);
    session.commit()?;
    if read_only == Some(false) {
        session.check_writable()?;
    }
    session.transaction.begin(&session.frame.settings, read_only);
    session.transaction.note_begin(session.values.statement_start.get());
    if consistent_snapshot {
        for engine in execution.instance.engines.iter().filter(|e| e.personality().transactional) {
            session.transaction.join(engine)?;
        }
        session.transaction.take_snapshots()?;
    }
    Ok(())
}

/// Outcome of COMMIT or ROLLBACK: opens a transaction for CHAIN, ends the connection for RELEASE.
fn ended(
    session: &mut Session,
    was_open: bool,
    chain: Option<bool>,
    release: Option<bool>,
) -> Outcome {
    let usual = session.frame.settings.transactions.completion;
    if chain.unwrap_or(usual == Completion::Chain) {
        match was_open {
            true => session.transaction.begin_next(),
            false => session.transaction.begin(&session.frame.settings, None),
        }
    }
    Outcome { release: release.unwrap_or(usual == Completion::Release), ..Outcome::ok() }
}
