//! Transaction of a session: its parts in the engines, its savepoints, its metadata locks.
//!
//! # Invariants
//! - TRX-1 A statement that changes rows runs between [`Transaction::mark`] and
//!   [`Transaction::undo`]: if it fails, its changes are undone and the transaction goes on.
//! - TRX-2 A client gets its answer after its commit is durable: [`Transaction::commit`] waits, or
//!   the caller delays the answer until [`Transaction::take_unsettled`] is settled.
//! - TRX-3 Metadata locks are held until the transaction ends.

mod held_locks;
mod registered;
mod replica;
mod settling;
mod snapshots;

use std::sync::Arc;

use selkie_engine::{Engine, EngineTrx, Isolation, Lsn, Personality, Xid};
use selkie_types::charset::identifier_eq;
use selkie_types::error::catalogue::{
    ER_COMMIT_NOT_ALLOWED_IN_SF_OR_TRG, ER_SP_DOES_NOT_EXIST, ER_WARNING_NOT_COMPLETE_ROLLBACK,
};
use selkie_types::{Condition, SqlError, SqlResult};

use crate::state::binlog::{Binlog, GroupHeadline, LogMark, Noted, SessionLog, commit_with_note};
use crate::state::branches::{Branch, BranchState};
use crate::state::error::from_engine_commit;
use crate::state::metadata::{LockTicket, changes};
use crate::state::registry::Registration;
use crate::state::session::{Session, Settings, bump};
use held_locks::HeldLocks;
pub use settling::Unsettled;

/// Engine transaction, shared with the sub-statements of functions and triggers, which never end
/// it.
struct SharedTrx(Box<dyn EngineTrx>);

struct Part {
    engine: Arc<dyn Engine>,
    trx: Arc<SharedTrx>,
}

impl Part {
    fn new(engine: Arc<dyn Engine>, trx: Box<dyn EngineTrx>) -> Self {
        Self { engine, trx: Arc::new(SharedTrx(trx)) }
    }

    fn trx(&self) -> &dyn EngineTrx {
        &*self.trx.0
    }

    fn is_of(&self, engine: &Arc<dyn Engine>) -> bool {
        std::ptr::addr_eq(Arc::as_ptr(&self.engine), Arc::as_ptr(engine))
    }

    /// Takes the engine transaction, to end it.
    fn into_trx(self) -> SqlResult<Box<dyn EngineTrx>> {
        let trx = Arc::into_inner(self.trx).map(|shared| shared.0);
        trx.ok_or_else(|| SqlError::internal("a transaction ends while a sub-statement uses it"))
    }
}

struct Savepoint {
    name: Box<str>,
    /// One mark per part, in order; `None` for a part that joined later.
    marks: Vec<Option<u64>>,
    log: Option<LogMark>,
    /// Whether rows had the transaction's number.
    registered: bool,
}

/// A transaction, or none.
#[derive(Default)]
pub struct Transaction {
    /// Session number, for reports of engines.
    session: u64,
    /// Whether it was opened by `BEGIN`: it lasts beyond statements.
    explicit: bool,
    /// Whether a statement opened it while `autocommit` was off.
    implicit: bool,
    view: View,
    /// `READ ONLY`.
    read_only: bool,
    next: Next,
    parts: Vec<Part>,
    /// Part of a finished read-only transaction, reused by the next one: no counter or allocator
    /// shared with other sessions is touched.
    rested: Option<Part>,
    savepoints: Vec<Savepoint>,
    locks: HeldLocks,
    /// Whether an engine without rollback was changed.
    unsafe_changes: bool,
    /// Whether the statement names a table of an engine with rollback.
    can_roll_back: bool,
    /// Whether something visible to others was changed.
    shared_changes: bool,
    /// Whether the caller delays answers until commits are durable.
    answers_wait: bool,
    unsettled: Option<Unsettled>,
    /// The XA branch that this transaction is, if it is one.
    branch: Option<Branch>,
    /// Its number, once a statement may give it to rows.
    registration: Option<Arc<Registration>>,
    /// Whether this is the view of a function or trigger in its caller's transaction.
    nested: bool,
    logged: Logged,
}

/// The state of the data that an open transaction reads.
#[derive(Clone, Copy, Default)]
struct View {
    isolation: Isolation,
    /// `innodb_snapshot_isolation`.
    snapshot_isolation: bool,
    /// Time, in changes of tables, before which no snapshot was taken.
    after: u64,
    /// When the transaction began, in microseconds since 1970; 0 if its first statement says.
    began: i64,
}

/// `SET TRANSACTION` for the next transaction.
#[derive(Default)]
struct Next {
    isolation: Option<Isolation>,
    read_only: Option<bool>,
}

/// The transaction in the binary log.
#[derive(Default)]
struct Logged {
    /// The session's part of the log, if the server has one.
    log: Option<Arc<SessionLog>>,
    /// Name of the branch, if the log has the group that prepared it.
    prepared: Option<Xid>,
    /// The note of a replica that has applied this transaction, to ride with its commit.
    note: Option<Arc<Noted>>,
    /// Whether changes in engines without rollback wait for the transaction's end.
    is_deferred: bool,
}

/// Start of a statement in each engine and in the binary log, to undo it.
pub struct Mark {
    engines: Vec<u64>,
    log: Option<LogMark>,
    registered: bool,
}

impl Transaction {
    /// A session without a transaction.
    pub fn of_session(session: u64) -> Self {
        Self { session, ..Self::default() }
    }

    /// View of the transaction for a function or trigger that runs within a statement.
    pub(crate) fn for_sub_statement(&self) -> Self {
        let part = |p: &Part| Part { engine: p.engine.clone(), trx: p.trx.clone() };
        Self {
            session: self.session,
            explicit: self.explicit,
            implicit: self.implicit,
            view: self.view,
            read_only: self.read_only,
            parts: self.parts.iter().map(part).collect(),
            registration: self.registration.clone(),
            nested: true,
            logged: Logged { log: self.logged.log.clone(), ..Logged::default() },
            ..Self::default()
        }
    }

    /// Whether this is the view of a function or trigger.
    pub fn is_nested(&self) -> bool {
        self.nested
    }

    /// Takes over the locks and change flags of a sub-statement.
    pub(crate) fn absorb(&mut self, nested: Self) {
        self.unsafe_changes |= nested.unsafe_changes;
        self.can_roll_back |= nested.can_roll_back;
        self.shared_changes |= nested.shared_changes;
        self.registration = self.registration.take().or(nested.registration);
        self.locks.absorb(nested.locks);
    }

    /// Whether a transaction is open beyond the statement.
    pub fn is_open(&self) -> bool {
        self.explicit || self.implicit
    }

    /// Whether plain reads lock rows.
    pub fn locks_reads(&self, settings: &Settings) -> bool {
        self.effective_isolation(settings) == Isolation::Serializable
            && (self.is_open() || !settings.transactions.autocommit)
    }

    /// Whether reads that feed INSERT and the like lock rows.
    pub(crate) fn locks_sources(&self, settings: &Settings) -> bool {
        let isolation = self.effective_isolation(settings);
        matches!(isolation, Isolation::RepeatableRead | Isolation::Serializable)
    }

    /// Whether the transaction must not change anything.
    pub fn is_read_only(&self, settings: &Settings) -> bool {
        if self.is_open() {
            return self.read_only;
        }
        self.next.read_only.unwrap_or(settings.transactions.tx_read_only)
    }

    /// Whether rows that a statement does not want are unlocked again.
    pub fn unlocks_rows(&self) -> bool {
        matches!(self.view.isolation, Isolation::ReadCommitted | Isolation::ReadUncommitted)
    }

    /// Whether reads see uncommitted changes of others.
    pub(crate) fn reads_uncommitted(&self) -> bool {
        self.view.isolation == Isolation::ReadUncommitted
    }

    fn effective_isolation(&self, settings: &Settings) -> Isolation {
        if self.is_open() || !self.parts.is_empty() {
            return self.view.isolation;
        }
        self.next.isolation.unwrap_or(settings.transactions.isolation)
    }

    /// `SET TRANSACTION` without a scope: for the next transaction only.
    pub fn set_next(&mut self, isolation: Option<Isolation>, read_only: Option<bool>) {
        self.next.isolation = isolation.or(self.next.isolation);
        self.next.read_only = read_only.or(self.next.read_only);
    }

    fn start(&mut self, settings: &Settings, read_only: Option<bool>) {
        self.view.isolation = self.next.isolation.take().unwrap_or(settings.transactions.isolation);
        let next = self.next.read_only.take().unwrap_or(settings.transactions.tx_read_only);
        self.read_only = read_only.unwrap_or(next);
        self.view.began = 0;
    }

    /// `BEGIN`. The previous transaction must have been committed.
    pub fn begin(&mut self, settings: &Settings, read_only: Option<bool>) {
        self.start(settings, read_only);
        self.explicit = true;
    }

    /// `AND CHAIN`: opens a transaction like the one that just ended.
    pub fn begin_next(&mut self) {
        self.explicit = true;
    }

    /// Begins a statement that uses tables; opens the implicit transaction of `autocommit=0`.
    pub fn begin_statement(&mut self, settings: &Settings) -> SqlResult<()> {
        if self.nested {
            return Ok(());
        }
        if !self.is_open() && self.parts.is_empty() {
            self.start(settings, None);
            self.implicit = !settings.transactions.autocommit;
        }
        self.view.snapshot_isolation = settings.transactions.snapshot_isolation;
        self.can_roll_back = false;
        self.parts.iter().try_for_each(|part| self.begin_statement_in(part.trx()))
    }

    fn begin_statement_in(&self, trx: &dyn EngineTrx) -> SqlResult<()> {
        let begun = trx.statement_begin(self.view.isolation, self.view.snapshot_isolation);
        begun.map_err(from_engine_commit)
    }

    /// Makes `engine`, of a table that the statement names, join the transaction.
    pub(crate) fn join_named(&mut self, engine: &Arc<dyn Engine>) -> SqlResult<()> {
        self.can_roll_back |= engine.personality().transactional;
        self.join(engine)
    }

    /// Makes `engine` join the transaction.
    pub fn join(&mut self, engine: &Arc<dyn Engine>) -> SqlResult<()> {
        if self.part(engine).is_some() {
            return Ok(());
        }
        if self.parts.is_empty() {
            self.view.after = changes::now();
        }
        let part = self.new_part(engine)?;
        self.begin_statement_in(part.trx())?;
        self.savepoints.iter_mut().for_each(|s| s.marks.push(None));
        self.parts.push(part);
        Ok(())
    }

    /// Reports by address and length the memory that the next read-only transaction uses.
    pub fn memory(&self, note: &mut dyn FnMut(usize, usize)) {
        let Some(part) = &self.rested else { return };
        note(Arc::as_ptr(&part.trx).addr(), size_of::<SharedTrx>());
        part.trx().memory(note);
    }

    fn new_part(&mut self, engine: &Arc<dyn Engine>) -> SqlResult<Part> {
        if let Some(part) = self.rested.take_if(|part| part.is_of(engine)) {
            part.trx().restart(self.read_only);
            return Ok(part);
        }
        let trx = engine.begin(self.view.isolation, self.read_only).map_err(from_engine_commit)?;
        trx.set_session(self.session);
        Ok(Part::new(engine.clone(), trx))
    }

    /// The part in an engine.
    pub fn part(&self, engine: &Arc<dyn Engine>) -> Option<&dyn EngineTrx> {
        self.parts.iter().find(|part| part.is_of(engine)).map(Part::trx)
    }

    /// Marks the start of a statement that changes rows.
    pub fn mark(&self) -> SqlResult<Mark> {
        let marks = self.parts.iter().map(|p| p.trx().savepoint());
        let engines = marks.collect::<Result<_, _>>().map_err(from_engine_commit)?;
        let log = self.logged.log.as_ref().map(|log| log.mark());
        Ok(Mark { engines, log, registered: self.is_registered() })
    }

    /// Undoes the statement that began at `mark` (TRX-1).
    pub fn undo(&self, mark: &Mark) -> SqlResult<()> {
        if let (Some(log), Some(mark)) = (&self.logged.log, &mark.log) {
            log.cut(mark)?;
        }
        for (part, at) in self.parts.iter().zip(&mark.engines) {
            if part.engine.personality().transactional {
                part.trx().rollback_to(*at).map_err(from_engine_commit)?;
            }
        }
        if !mark.registered {
            self.forget_number();
        }
        Ok(())
    }

    /// The XA branch that this transaction is, if it is one.
    pub(crate) fn branch(&self) -> Option<&Branch> {
        self.branch.as_ref()
    }

    /// Fails with the branch's state if this is a branch: statements that end transactions are not
    /// allowed.
    pub fn check_no_branch(&self) -> SqlResult<()> {
        self.branch.as_ref().map_or(Ok(()), |branch| Err(branch.state.refusal()))
    }

    /// Fails if this is a branch that is not active any more.
    pub(crate) fn check_branch_active(&self) -> SqlResult<()> {
        match &self.branch {
            Some(branch) if branch.state != BranchState::Active => Err(branch.state.refusal()),
            _ => Ok(()),
        }
    }

    /// `XA START`.
    pub(crate) fn begin_branch(&mut self, settings: &Settings, branch: Branch) {
        self.begin(settings, None);
        self.branch = Some(branch);
    }

    /// Makes the open transaction a branch.
    pub(crate) fn become_branch(&mut self, branch: Branch) {
        self.explicit = true;
        self.branch = Some(branch);
    }

    /// Moves the branch to another state.
    pub(crate) fn set_branch_state(&mut self, state: BranchState) {
        if let Some(branch) = &mut self.branch {
            branch.state = state;
        }
    }

    /// A transaction that was prepared before the server's restart.
    pub(crate) fn recovered(
        engine: Arc<dyn Engine>,
        prepared: (Xid, Box<dyn EngineTrx>),
        locks: Vec<LockTicket>,
    ) -> Self {
        let (xid, trx) = prepared;
        let parts = vec![Part::new(engine, trx)];
        let logged = Logged { prepared: Some(xid), ..Logged::default() };
        Self { parts, locks: HeldLocks::of_names(locks), logged, ..Self::default() }
    }

    /// Makes the engines guarantee, durably, that a commit will succeed.
    pub(crate) fn prepare(&mut self, xid: &Xid, head: Option<&GroupHeadline>) -> SqlResult<()> {
        let mut waits = Vec::new();
        let mut is_logged = false;
        let head = head.map(|head| GroupHeadline { note: self.note(), ..head.clone() });
        for part in &self.parts {
            let prepared = match (&self.logged.log, &head) {
                (Some(log), Some(head)) if part.engine.personality().transactional => {
                    log.prepare(&*part.engine, part.trx(), (xid, head), &mut is_logged)
                }
                _ => match self.note().filter(|_| part.engine.carries_riders()) {
                    Some(noted) => noted.ride(None, |rider| part.trx().prepare(xid, Some(rider))),
                    None => part.trx().prepare(xid, None),
                },
            };
            if let Some(lsn) = prepared.map_err(from_engine_commit)? {
                waits.push((&part.engine, lsn));
            }
        }
        self.logged.prepared = is_logged.then(|| xid.clone());
        self.savepoints.clear();
        let wait = |(engine, lsn): (&Arc<dyn Engine>, _)| engine.wait_durable(lsn);
        waits.into_iter().try_for_each(wait).map_err(from_engine_commit)
    }

    /// Records that something visible to others is about to be changed.
    pub(crate) fn note_shared_change(&mut self) {
        self.shared_changes = true;
    }

    /// Whether a commit may make changes visible to others.
    pub(crate) fn has_shared_changes(&self) -> bool {
        self.shared_changes
    }

    /// Rolls back, but keeps the branch until its owner ends it.
    pub(crate) fn fail_branch(
        &mut self,
        error: &SqlError,
        head: Option<&GroupHeadline>,
    ) -> SqlResult<bool> {
        let branch = self.branch.take();
        let incomplete = self.rollback(head);
        if let Some(branch) = branch {
            let state = BranchState::RollbackOnly(BranchState::reason(error));
            self.branch = Some(Branch { state, ..branch });
            self.explicit = true;
        }
        incomplete
    }

    /// Makes changes of the transaction go to the binary log too.
    pub(crate) fn join_binlog(&mut self, binlog: &Arc<Binlog>) {
        if self.logged.log.is_none() {
            self.logged.log = Some(Arc::new(SessionLog::new(Arc::clone(binlog))));
        }
    }

    /// The session's part of the binary log.
    pub(crate) fn log(&self) -> Option<&Arc<SessionLog>> {
        self.logged.log.as_ref()
    }

    /// Commits one part, with its group of the binary log if it has one.
    fn commit_part(
        &mut self,
        part: Part,
        head: Option<&GroupHeadline>,
        note: Option<Arc<Noted>>,
    ) -> SqlResult<Option<Lsn>> {
        let engine = part.engine.clone();
        let is_immediate = !engine.personality().transactional;
        let has_changes = self.logged.prepared.is_some() && part.trx().has_changes();
        let prepared = self.logged.prepared.take_if(|_| has_changes && !is_immediate);
        let trx = part.into_trx()?;
        let committed = match (&self.logged.log, head) {
            (Some(log), Some(head)) => {
                let head = &GroupHeadline { note, ..head.clone() };
                match prepared {
                    Some(xid) => log.commit_prepared(&*engine, trx, (&xid, head)),
                    None => log.commit(&*engine, trx, (head, self.logged.is_deferred)),
                }
            }
            _ => commit_with_note(trx, note.as_deref()),
        };
        committed.map_err(from_engine_commit)
    }

    /// Logs the end of a branch, which may be another session's, as `other` logs.
    pub(crate) fn use_log_of(&mut self, other: &Self) {
        self.logged.log.clone_from(&other.logged.log);
        self.logged.note.clone_from(&other.logged.note);
    }

    /// Commits and waits until the commit is durable (TRX-2). `head` is for the group in the binary
    /// log.
    pub fn commit(&mut self, head: Option<&GroupHeadline>) -> SqlResult<()> {
        let holds_text = self.logged.log.as_ref().is_some_and(|log| log.holds_text());
        self.tell_changes();
        if !self.logged.is_deferred && !holds_text && self.end_reading() {
            return Ok(());
        }
        self.finish();
        let parts = std::mem::take(&mut self.parts);
        let mut waits = Vec::new();
        let mut result = Ok(());
        // The last commit takes the note: when it is durable, so are the others.
        let note = self.note();
        let taker = parts.iter().rposition(|part| part.engine.carries_riders());
        for (at, part) in parts.into_iter().enumerate() {
            let engine = part.engine.clone();
            let is_taker = Some(at) == taker;
            let note = note.clone().filter(|_| is_taker);
            // The group of a replica is logged once, with the commit that takes its note.
            let head = head.filter(|_| is_taker || !self.logged.is_deferred);
            match self.commit_part(part, head, note) {
                Ok(Some(lsn)) => waits.push((engine, lsn)),
                Ok(None) => {}
                Err(error) => result = Err(error),
            }
        }
        for (engine, lsn) in waits {
            self.settle(Unsettled { engine, lsn })?;
        }
        result.and_then(|()| self.append_rest(head))
    }

    /// Ends a read-only transaction in one engine; false if this is not one.
    fn end_reading(&mut self) -> bool {
        let [part] = &mut self.parts[..] else { return false };
        // If a sub-statement still uses it, the slow path reports the error.
        if Arc::get_mut(&mut part.trx).is_none() || !part.trx().end_reading() {
            return false;
        }
        self.rested = self.parts.pop();
        self.finish();
        true
    }

    /// Commits the changes in engines without transactions at the end of a statement: they stay
    /// whatever happens to the transaction. The answer waits as after a commit.
    pub(crate) fn end_immediate(&mut self, head: Option<&GroupHeadline>) -> SqlResult<()> {
        if self.nested || self.logged.is_deferred {
            return Ok(());
        }
        self.commit_immediate(head, None)
    }

    fn commit_immediate(
        &mut self,
        head: Option<&GroupHeadline>,
        note: Option<Arc<Noted>>,
    ) -> SqlResult<()> {
        let mut result = Ok(());
        while let Some(at) = self.parts.iter().position(|p| !p.engine.personality().transactional) {
            let part = self.parts.remove(at);
            for savepoint in &mut self.savepoints {
                savepoint.marks.remove(at);
            }
            let engine = part.engine.clone();
            self.unsafe_changes |= part.trx().has_changes();
            let note = note.clone().filter(|note| !note.is_taken() && engine.carries_riders());
            let settled = match self.commit_part(part, head, note) {
                Ok(Some(lsn)) => self.settle(Unsettled { engine, lsn }),
                other => other.map(drop),
            };
            result = result.and(settled);
        }
        result
    }

    /// The engine that joins transactions but cannot roll back, if the statement has changed its
    /// tables.
    pub(crate) fn outlasting(&self) -> Option<&'static Personality> {
        let changed =
            |part: &&Part| part.engine.personality().outlasts_rollback && part.trx().has_changes();
        self.parts.iter().find(changed).map(|part| part.engine.personality())
    }

    /// Whether the statement has changed something in an engine without rollback.
    pub(crate) fn has_immediate_changes(&self) -> bool {
        let changed =
            |part: &Part| !part.engine.personality().transactional && part.trx().has_changes();
        self.parts.iter().any(changed)
    }

    /// Rolls back; true if some changes could not be undone beside others that could.
    pub fn rollback(&mut self, head: Option<&GroupHeadline>) -> SqlResult<bool> {
        let together = self.is_open() || self.can_roll_back || self.outlasting().is_some();
        // The binary log may refuse changes that stand. The others are undone all the same, or
        // their locks would outlast the transaction.
        let ended = self.end_immediate(head);
        let logged = match (&self.logged.log, head) {
            (Some(log), Some(head)) => log.append_standing(head).map_err(from_engine_commit),
            _ => Ok(()),
        };
        self.logged.log.iter().for_each(|log| log.clear());
        let incomplete = self.unsafe_changes && together;
        let mut result = ended.and(logged).map(|()| incomplete);
        self.finish();
        for part in std::mem::take(&mut self.parts) {
            if let Err(error) = part.into_trx()?.rollback() {
                result = Err(from_engine_commit(error));
            }
        }
        if let (Some(xid), Some(log), Some(head)) =
            (self.logged.prepared.take(), &self.logged.log, head)
        {
            let head = GroupHeadline { note: self.note(), ..head.clone() };
            log.rolled_back(&xid, &head).map_err(from_engine_commit)?;
        }
        result
    }

    /// Resets the state; the caller ends the engines' parts and then releases the locks.
    fn finish(&mut self) {
        self.explicit = false;
        self.implicit = false;
        self.unsafe_changes = false;
        self.can_roll_back = false;
        self.shared_changes = false;
        self.logged.log.iter().for_each(|log| log.forget_snapshot());
        self.branch = None;
        self.registration = None;
        self.savepoints.clear();
    }

    /// `SAVEPOINT name`: replaces a savepoint of the same name.
    pub fn savepoint(&mut self, name: &str, head: Option<&GroupHeadline>) -> SqlResult<()> {
        self.check_branch_active()?;
        // The log keeps the savepoint's own event when the transaction goes back to it.
        if let (Some(log), Some(head)) = (&self.logged.log, head) {
            log.savepoint(name, head)?;
        }
        let Mark { engines, log, registered } = self.mark()?;
        self.savepoints.retain(|s| !identifier_eq(&s.name, name));
        let marks = engines.into_iter().map(Some).collect();
        self.savepoints.push(Savepoint { name: name.into(), marks, log, registered });
        Ok(())
    }

    fn find_savepoint(&self, name: &str) -> SqlResult<usize> {
        let at = self.savepoints.iter().position(|s| identifier_eq(&s.name, name));
        at.ok_or_else(|| SqlError::new(&ER_SP_DOES_NOT_EXIST, &[&"SAVEPOINT", &name]))
    }

    /// `ROLLBACK TO name`: drops later savepoints, and removes engines that joined later, with
    /// their locks and snapshots. True if some changes could not be undone.
    pub fn rollback_to(&mut self, name: &str, head: Option<&GroupHeadline>) -> SqlResult<bool> {
        let at = self.find_savepoint(name)?;
        self.check_branch_active()?;
        self.savepoints.truncate(at + 1);
        let joined = self.savepoints[at].marks.iter().take_while(|mark| mark.is_some()).count();
        self.savepoints.iter_mut().for_each(|s| s.marks.truncate(joined));
        let stands = |part: &Part| !part.engine.personality().transactional;
        let logged = (&self.logged.log, &self.savepoints[at].log, head);
        if let (Some(log), Some(mark), Some(head)) = logged {
            log.rollback_to(mark, name, (head, self.logged.is_deferred))?;
        }
        for part in self.parts.split_off(joined) {
            if stands(&part) {
                // It waits for the transaction's end, and is not undone.
                self.parts.push(part);
                self.savepoints.iter_mut().for_each(|s| s.marks.push(None));
                continue;
            }
            part.into_trx()?.rollback().map_err(from_engine_commit)?;
        }
        for (part, mark) in self.parts.iter().zip(self.savepoints[at].marks.iter().flatten()) {
            if !stands(part) {
                part.trx().rollback_to(*mark).map_err(from_engine_commit)?;
            }
        }
        if !self.savepoints[at].registered {
            self.forget_number();
        }
        Ok(self.unsafe_changes)
    }

    /// `RELEASE SAVEPOINT name`: drops it and later ones.
    pub fn release_savepoint(&mut self, name: &str) -> SqlResult<()> {
        let at = self.find_savepoint(name)?;
        self.savepoints.truncate(at);
        Ok(())
    }
}

impl Session {
    /// Commits the open transaction, if any: `COMMIT`, DDL, a statement under autocommit.
    pub fn commit(&mut self) -> SqlResult<()> {
        self.transaction.check_no_branch()?;
        self.commit_branch()
    }

    /// As [`Self::commit`], also for a branch of a distributed transaction.
    pub(crate) fn commit_branch(&mut self) -> SqlResult<()> {
        if self.transaction.is_nested() {
            return Err(SqlError::new(&ER_COMMIT_NOT_ALLOWED_IN_SF_OR_TRG, &[]));
        }
        let _inside = match self.enter_commit() {
            Ok(passage) => passage,
            Err(error) => {
                self.rollback()?;
                return Err(error);
            }
        };
        if !self.transaction.parts.is_empty() {
            bump(&self.core.counters.handler_commit, 1);
        }
        if let Err(error) = self.register_transaction() {
            self.rollback()?;
            return Err(error);
        }
        let head = self.headline();
        let result = self.transaction.commit(head.as_ref());
        self.forget_seq_no(head.as_ref());
        self.transaction.release_locks();
        result
    }

    /// Rolls the whole transaction back because of an error; a branch keeps its name.
    pub(crate) fn rollback_for(&mut self, error: &SqlError) -> SqlResult<()> {
        let incomplete = match self.transaction.branch {
            None => self.undo_transaction()?,
            Some(_) => {
                let head = self.headline();
                let incomplete = self.transaction.fail_branch(error, head.as_ref());
                self.transaction.release_locks();
                incomplete?
            }
        };
        if incomplete {
            self.diagnostics.after_error(incomplete_rollback());
        }
        Ok(())
    }

    /// Rolls the open transaction back; warns if some changes cannot be undone.
    pub fn rollback(&mut self) -> SqlResult<()> {
        if self.undo_transaction()? {
            self.warn_incomplete_rollback();
        }
        Ok(())
    }

    fn undo_transaction(&mut self) -> SqlResult<bool> {
        if self.transaction.is_nested() {
            return Err(SqlError::new(&ER_COMMIT_NOT_ALLOWED_IN_SF_OR_TRG, &[]));
        }
        if !self.transaction.parts.is_empty() {
            bump(&self.core.counters.handler_rollback, 1);
        }
        let head = self.headline();
        let result = self.transaction.rollback(head.as_ref());
        self.transaction.release_locks();
        result
    }

    /// Ends the changes of a statement that no rollback can undo.
    pub(crate) fn end_immediate(&mut self) -> SqlResult<()> {
        let head = self.headline();
        let result = self.transaction.end_immediate(head.as_ref());
        self.forget_seq_no(head.as_ref());
        result
    }

    pub(crate) fn warn_incomplete_rollback(&self) {
        self.diagnostics.push(incomplete_rollback(), self.frame.settings.notes.max_error_count);
    }
}

fn incomplete_rollback() -> Condition {
    Condition::warning(&ER_WARNING_NOT_COMPLETE_ROLLBACK, &[])
}
