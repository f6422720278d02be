//! Branches of distributed (XA) transactions: their names, their owners, and the branches that wait
//! without an owner.
//!
//! # Invariants
//! - XA-1 A name (both parts, without the format: Compat) is used once at a time in the server.
//! - XA-2 Only a statement ends a prepared branch: not the end of its session or of the server.
//! - XA-3 A branch without an owner stays in the list until the statement that ends it has taken
//!   it out.

use std::time::Duration;

use hashbrown::HashMap;
use parking_lot::Mutex;
use selkie_engine::Xid;
use selkie_types::error::catalogue::{
    ER_LOCK_DEADLOCK, ER_LOCK_WAIT_TIMEOUT, ER_XA_RBDEADLOCK, ER_XA_RBROLLBACK, ER_XA_RBTIMEOUT,
    ER_XAER_RMFAIL,
};
use selkie_types::{SqlError, SqlResult};

use crate::state::control::Control;
use crate::state::error::from_engine_commit;
use crate::state::metadata::LockMode;
use crate::{Instance, Session, Transaction};

/// First owner number for metadata locks of recovered branches; no connection gets such a number.
const RECOVERED: u64 = 1 << 63;

/// Reason why a branch can only be rolled back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    Deadlock,
    Timeout,
    Error,
}

/// State of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BranchState {
    /// Between `XA START` and `XA END`.
    Active,
    /// After `XA END`.
    Idle,
    /// After `XA PREPARE`.
    Prepared,
    /// An error rolled its work back.
    RollbackOnly(Reason),
}

impl BranchState {
    /// Reason code of an error that rolled a branch back.
    pub(crate) fn reason(error: &SqlError) -> Reason {
        match error.code() {
            code if code == ER_LOCK_DEADLOCK.code => Reason::Deadlock,
            code if code == ER_LOCK_WAIT_TIMEOUT.code => Reason::Timeout,
            _ => Reason::Error,
        }
    }

    /// Error 1399 for a statement that this state does not allow.
    pub(crate) fn refusal(self) -> SqlError {
        let name = match self {
            BranchState::Active => "ACTIVE",
            BranchState::Idle => "IDLE",
            BranchState::Prepared => "PREPARED",
            BranchState::RollbackOnly(_) => "ROLLBACK ONLY",
        };
        refusal_in(name)
    }
}

/// Error 1399 for a named state. Compat: MariaDB's text has two spaces before the name.
pub(crate) fn refusal_in(state: &str) -> SqlError {
    SqlError::new(&ER_XAER_RMFAIL, &[&state])
}

/// Error of a commit of a branch that can only be rolled back.
pub(crate) fn rolled_back(reason: Reason) -> SqlError {
    let error = match reason {
        Reason::Deadlock => &ER_XA_RBDEADLOCK,
        Reason::Timeout => &ER_XA_RBTIMEOUT,
        Reason::Error => &ER_XA_RBROLLBACK,
    };
    SqlError::new(error, &[])
}

/// The branch of a session.
#[derive(Clone, Debug)]
pub(crate) struct Branch {
    pub(crate) xid: Xid,
    pub(crate) state: BranchState,
}

struct Known {
    xid: Xid,
    prepared: bool,
    /// The transaction, if no session owns the branch.
    waiting: Option<Transaction>,
}

/// Both parts of a name.
type Name = (Box<[u8]>, Box<[u8]>);

fn name(xid: &Xid) -> Name {
    (xid.gtrid.clone(), xid.bqual.clone())
}

/// All branches of a server.
#[derive(Default)]
pub struct Branches {
    known: Mutex<HashMap<Name, Known>>,
}

impl Branches {
    /// Reserves a name; false if it is in use (XA-1).
    pub(crate) fn start(&self, xid: &Xid) -> bool {
        let mut known = self.known.lock();
        if known.contains_key(&name(xid)) {
            return false;
        }
        known.insert(name(xid), Known { xid: xid.clone(), prepared: false, waiting: None });
        true
    }

    pub(crate) fn prepared(&self, xid: &Xid) {
        if let Some(known) = self.known.lock().get_mut(&name(xid)) {
            known.prepared = true;
        }
    }

    /// Releases a name.
    pub(crate) fn end(&self, xid: &Xid) {
        self.known.lock().remove(&name(xid));
    }

    /// Stores a prepared branch that has no owner any more.
    fn detach(&self, xid: &Xid, mut transaction: Transaction) {
        transaction.wait_for_commits();
        let known = Known { xid: xid.clone(), prepared: true, waiting: Some(transaction) };
        self.known.lock().insert(name(xid), known);
    }

    /// Takes a branch without an owner. Its name stays reserved until [`Self::end`].
    pub(crate) fn take(&self, xid: &Xid) -> Option<Transaction> {
        let mut known = self.known.lock();
        known.get_mut(&name(xid)).filter(|known| known.xid == *xid)?.waiting.take()
    }

    /// Names of prepared branches.
    pub(crate) fn list(&self) -> Vec<Xid> {
        let known = self.known.lock();
        known.values().filter(|known| known.prepared).map(|known| known.xid.clone()).collect()
    }
}

/// Registers the transactions that engines found prepared at start, and locks their tables against
/// DDL.
pub fn recover_branches(instance: &Instance) -> SqlResult<()> {
    let control = Control::unattended();
    let mut owner = RECOVERED;
    for engine in instance.engines.iter() {
        for found in engine.take_prepared().map_err(from_engine_commit)? {
            let mut locks = Vec::new();
            let snapshot = instance.catalog.snapshot();
            for schema in snapshot.schemas() {
                let changed = |table: &&std::sync::Arc<_>| is_one_of(table, &found.tables);
                for table in schema.tables.values().filter(changed) {
                    let names = (table.schema(), table.name());
                    let lock = instance.locks.lock(
                        &control,
                        owner,
                        names,
                        LockMode::Write,
                        Duration::ZERO,
                    );
                    locks.push(lock?);
                }
            }
            owner += 1;
            tracing::info!("found a prepared transaction, waiting for XA COMMIT or XA ROLLBACK");
            let transaction =
                Transaction::recovered(engine.clone(), (found.xid.clone(), found.trx), locks);
            instance.branches.detach(&found.xid, transaction);
        }
    }
    Ok(())
}

fn is_one_of(table: &selkie_catalog::TableInfo, ids: &[selkie_engine::TableId]) -> bool {
    table.storage_ids().iter().any(|id| ids.contains(id))
}

impl Session {
    /// Ends the session's transaction when the connection ends: an open one is rolled back, a
    /// prepared branch waits for other sessions (XA-2).
    pub fn end_transaction(&mut self, instance: &Instance) -> SqlResult<()> {
        let Some(branch) = self.transaction.branch().cloned() else { return self.rollback() };
        if branch.state == BranchState::Prepared {
            let next = self.transaction.next();
            let transaction = std::mem::replace(&mut self.transaction, next);
            instance.branches.detach(&branch.xid, transaction);
            return Ok(());
        }
        let result = self.rollback();
        instance.branches.end(&branch.xid);
        result
    }
}
