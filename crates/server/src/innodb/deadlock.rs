//! Receives deadlocks from the engine, keeps the latest as text, and logs it if
//! `innodb_print_all_deadlocks` is on.
//!
//! Must not call the engine in a report of a deadlock: the engine waits meanwhile. Waits of
//! sessions are handed on to the replica.

use std::fmt::Write;
use std::sync::Weak;

use selkie_engine::{Deadlock, DeadlockParty, EngineObserver};
use selkie_exec::Instance;

use super::look::Names;
use super::sections;
use crate::executor::Registered;
use crate::server::Server;
use crate::time::local_datetime;
use crate::variables::ids;

/// Observer of the engine's deadlocks.
pub(crate) struct DeadlockWatcher {
    instance: Weak<Instance>,
    sessions: Registered,
}

impl DeadlockWatcher {
    pub(crate) fn new(instance: Weak<Instance>, sessions: Registered) -> Self {
        Self { instance, sessions }
    }

    /// The server, found through one of the sessions in the deadlock.
    fn server(&self, deadlock: &Deadlock) -> Option<std::sync::Arc<Server>> {
        let sessions = self.sessions.read();
        let mut own = deadlock.parties.iter().filter_map(|party| party.transaction.session);
        own.find_map(|id| Some(sessions.get(&id)?.upgrade()?.server.clone()))
    }
}

impl EngineObserver for DeadlockWatcher {
    fn row_wait(&self, session: u64) {
        let shared = self.sessions.read().get(&session).and_then(std::sync::Weak::upgrade);
        if let Some(shared) = shared {
            let server = &shared.server;
            server.replica.workers.resolve(&|show| server.applied().row_waits(show));
        }
    }

    fn deadlock(&self, deadlock: &Deadlock) {
        let Some(instance) = self.instance.upgrade() else { return };
        let Some(server) = self.server(deadlock) else { return };
        let text = describe(deadlock, &Names::new(&instance), &server);
        if server.globals.get(ids().innodb_print_all_deadlocks).as_bool() {
            tracing::info!("InnoDB: Transactions deadlock detected, dumping detailed information.");
            text.lines().for_each(|line| tracing::info!("InnoDB: {line}"));
        }
        server.innodb.set_deadlock(text);
    }
}

fn describe(deadlock: &Deadlock, names: &Names, server: &Server) -> String {
    let mut out = format!("{} 0x0\n", local_datetime(deadlock.at));
    for (number, party) in deadlock.parties.iter().enumerate() {
        if number > 0 {
            out.push('\n');
        }
        let _ = writeln!(out, "*** ({}) TRANSACTION:", number + 1);
        describe_party(&mut out, party, names, server);
        // The next party holds the lock this one waits for.
        let next = &deadlock.parties[(number + 1) % deadlock.parties.len()];
        out.push_str("*** CONFLICTING WITH:\n");
        next.held.iter().for_each(|lock| sections::lock(&mut out, names, lock));
    }
    let _ = writeln!(out, "\n*** WE ROLL BACK TRANSACTION ({})", deadlock.victim + 1);
    out
}

fn describe_party(out: &mut String, party: &DeadlockParty, names: &Names, server: &Server) {
    let session = party.transaction.session.and_then(|id| server.sessions.find(id));
    sections::transaction(out, "", &party.transaction, session.as_deref());
    out.push_str("*** WAITING FOR THIS LOCK TO BE GRANTED:\n");
    sections::lock(out, names, &party.requested);
}
