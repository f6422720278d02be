//! The transaction of a session: its parts in the engines, its savepoints, its locks on
//! definitions.
//!
//! # Invariants
//! - TRX-1 A statement that changes rows runs between [`Transaction::mark`] and
//!   [`Transaction::undo`]: if it fails, its changes are gone and the transaction lives on.
//! - TRX-2 A client is answered after its commit is durable: [`Transaction::commit`] waits for
//!   that, or leaves it to whoever holds back the answer and takes [`Transaction::take_unsettled`].
//! - TRX-3 Definitions used stay locked until the transaction ends.

use std::sync::Arc;

use selkie_engine::{Engine, EngineTrx, Isolation, Lsn, Personality, WaitKind, blocking};
use selkie_types::error::catalogue::{
    ER_COMMIT_NOT_ALLOWED_IN_SF_OR_TRG, ER_SP_DOES_NOT_EXIST, ER_WARNING_NOT_COMPLETE_ROLLBACK,
};
use selkie_types::{Condition, SqlError, SqlResult};

use crate::state::branches::{Branch, BranchState};
use crate::state::error::from_engine_commit;
use crate::state::metadata::LockTicket;
use crate::state::session::{Session, Settings, bump};

/// A part is shared with the sub-statements of functions and triggers, which never end it.
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

    /// The transaction, to be ended.
    fn into_trx(self) -> SqlResult<Box<dyn EngineTrx>> {
        let trx = Arc::into_inner(self.trx).map(|shared| shared.0);
        trx.ok_or_else(|| SqlError::internal("a transaction ends while a sub-statement uses it"))
    }
}

struct Savepoint {
    name: Box<str>,
    /// One per part, in order; none for one that joined later.
    marks: Vec<Option<u64>>,
}

/// A transaction, or the lack of one.
#[derive(Default)]
pub struct Transaction {
    /// The session's number, for reports of engines.
    session: u64,
    /// `BEGIN` was said; commits of statements wait for its end.
    explicit: bool,
    /// Opened by a statement while `autocommit` was off.
    implicit: bool,
    /// Isolation of the open transaction.
    isolation: Isolation,
    /// `READ ONLY`.
    read_only: bool,
    /// `innodb_snapshot_isolation`.
    snapshot_isolation: bool,
    /// `SET TRANSACTION` for the next one.
    next_isolation: Option<Isolation>,
    next_read_only: Option<bool>,
    parts: Vec<Part>,
    /// The part of a transaction that only read, for the next one: nothing is counted or allocated
    /// for it that other sessions count or allocate too.
    rested: Option<Part>,
    savepoints: Vec<Savepoint>,
    locks: Vec<LockTicket>,
    /// An engine without rollback was changed.
    unsafe_changes: bool,
    /// The statement names a table of an engine with rollback.
    can_roll_back: bool,
    /// Something that others can see was changed.
    shared_changes: bool,
    /// Somebody holds answers back until commits are durable.
    answers_wait: bool,
    unsettled: Option<Unsettled>,
    /// The branch of a distributed transaction that this is.
    branch: Option<Branch>,
    /// Of a function or trigger: part of the transaction of the statement around it.
    nested: bool,
}

/// A commit that may not be durable yet.
pub struct Unsettled {
    engine: Arc<dyn Engine>,
    lsn: Lsn,
}

impl Unsettled {
    /// Whether it is durable, as far as the server's setting asks.
    pub fn is_settled(&self) -> bool {
        self.engine.is_durable(self.lsn)
    }

    /// Waits until it is.
    pub fn settle(&self) -> SqlResult<()> {
        let wait = || self.engine.wait_durable(self.lsn);
        blocking(WaitKind::LogFlush, wait).map_err(from_engine_commit)
    }
}

/// Where a statement began in each engine.
pub struct Mark(Vec<u64>);

impl Transaction {
    /// No transaction yet, of this session.
    pub fn of_session(session: u64) -> Self {
        Self { session, ..Self::default() }
    }

    /// The same transaction as a function or trigger sees it, that runs within a statement.
    pub(crate) fn for_sub_statement(&self) -> Self {
        let part = |p: &Part| Part { engine: p.engine.clone(), trx: p.trx.clone() };
        Self {
            session: self.session,
            explicit: self.explicit,
            implicit: self.implicit,
            isolation: self.isolation,
            read_only: self.read_only,
            snapshot_isolation: self.snapshot_isolation,
            parts: self.parts.iter().map(part).collect(),
            nested: true,
            ..Self::default()
        }
    }

    /// Whether this is the view of a function or trigger.
    pub(crate) fn is_nested(&self) -> bool {
        self.nested
    }

    /// Takes back what a sub-statement locked and whether it changed what cannot be undone.
    pub(crate) fn absorb(&mut self, nested: Self) {
        self.unsafe_changes |= nested.unsafe_changes;
        self.can_roll_back |= nested.can_roll_back;
        self.shared_changes |= nested.shared_changes;
        self.locks.extend(nested.locks);
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

    /// Whether rows are locked that others are made from.
    pub(crate) fn locks_sources(&self, settings: &Settings) -> bool {
        let isolation = self.effective_isolation(settings);
        matches!(isolation, Isolation::RepeatableRead | Isolation::Serializable)
    }

    /// Whether it may not change anything.
    pub fn is_read_only(&self, settings: &Settings) -> bool {
        if self.is_open() {
            return self.read_only;
        }
        self.next_read_only.unwrap_or(settings.transactions.tx_read_only)
    }

    /// Whether rows that a statement does not want are unlocked again.
    pub fn unlocks_rows(&self) -> bool {
        matches!(self.isolation, Isolation::ReadCommitted | Isolation::ReadUncommitted)
    }

    fn effective_isolation(&self, settings: &Settings) -> Isolation {
        if self.is_open() || !self.parts.is_empty() {
            return self.isolation;
        }
        self.next_isolation.unwrap_or(settings.transactions.isolation)
    }

    /// `SET TRANSACTION` without a scope: about the next transaction only.
    pub fn set_next(&mut self, isolation: Option<Isolation>, read_only: Option<bool>) {
        self.next_isolation = isolation.or(self.next_isolation);
        self.next_read_only = read_only.or(self.next_read_only);
    }

    fn start(&mut self, settings: &Settings, read_only: Option<bool>) {
        self.isolation = self.next_isolation.take().unwrap_or(settings.transactions.isolation);
        let next = self.next_read_only.take().unwrap_or(settings.transactions.tx_read_only);
        self.read_only = read_only.unwrap_or(next);
    }

    /// `BEGIN`. The transaction before it has been committed.
    pub fn begin(&mut self, settings: &Settings, read_only: Option<bool>) {
        self.start(settings, read_only);
        self.explicit = true;
    }

    /// `AND CHAIN`: another transaction like the one that has just ended.
    pub fn begin_next(&mut self) {
        self.explicit = true;
    }

    /// A statement that uses tables begins: opens the implicit transaction of `autocommit=0`.
    pub fn begin_statement(&mut self, settings: &Settings) -> SqlResult<()> {
        if self.nested {
            return Ok(());
        }
        if !self.is_open() && self.parts.is_empty() {
            self.start(settings, None);
            self.implicit = !settings.transactions.autocommit;
        }
        self.snapshot_isolation = settings.transactions.snapshot_isolation;
        self.can_roll_back = false;
        self.parts.iter().try_for_each(|part| self.begin_statement_in(part.trx()))
    }

    fn begin_statement_in(&self, trx: &dyn EngineTrx) -> SqlResult<()> {
        let begun = trx.statement_begin(self.isolation, self.snapshot_isolation);
        begun.map_err(from_engine_commit)
    }

    /// Makes sure `engine`, of a table that the statement names, takes part.
    pub(crate) fn join_named(&mut self, engine: &Arc<dyn Engine>) -> SqlResult<()> {
        self.can_roll_back |= engine.personality().transactional;
        self.join(engine)
    }

    /// Makes sure `engine` takes part.
    pub fn join(&mut self, engine: &Arc<dyn Engine>) -> SqlResult<()> {
        if self.part(engine).is_some() {
            return Ok(());
        }
        let part = self.new_part(engine)?;
        self.begin_statement_in(part.trx())?;
        self.savepoints.iter_mut().for_each(|s| s.marks.push(None));
        self.parts.push(part);
        Ok(())
    }

    /// Tells by address and length which memory the next transaction that only reads uses.
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
        let trx = engine.begin(self.isolation, self.read_only).map_err(from_engine_commit)?;
        trx.set_session(self.session);
        Ok(Part::new(engine.clone(), trx))
    }

    /// The part in an engine.
    pub fn part(&self, engine: &Arc<dyn Engine>) -> Option<&dyn EngineTrx> {
        self.parts.iter().find(|part| part.is_of(engine)).map(Part::trx)
    }

    /// Takes the snapshots now.
    pub fn take_snapshots(&self) -> SqlResult<()> {
        self.parts.iter().try_for_each(|p| p.trx().take_snapshot()).map_err(from_engine_commit)
    }

    /// Where a statement that changes rows begins.
    pub fn mark(&self) -> SqlResult<Mark> {
        let marks = self.parts.iter().map(|p| p.trx().savepoint());
        marks.collect::<Result<_, _>>().map(Mark).map_err(from_engine_commit)
    }

    /// Undoes the statement that began at `mark` (TRX-1).
    pub fn undo(&self, mark: &Mark) -> SqlResult<()> {
        for (part, at) in self.parts.iter().zip(&mark.0) {
            if part.engine.personality().transactional {
                part.trx().rollback_to(*at).map_err(from_engine_commit)?;
            }
        }
        Ok(())
    }

    /// The branch of a distributed transaction that this is.
    pub(crate) fn branch(&self) -> Option<&Branch> {
        self.branch.as_ref()
    }

    /// Fails with the branch's state if this is one: statements that end transactions may not.
    pub fn check_no_branch(&self) -> SqlResult<()> {
        self.branch.as_ref().map_or(Ok(()), |branch| Err(branch.state.refusal()))
    }

    /// Fails if this is a branch whose work has ended.
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

    /// Moves the branch to another state.
    pub(crate) fn set_branch_state(&mut self, state: BranchState) {
        if let Some(branch) = &mut self.branch {
            branch.state = state;
        }
    }

    /// A prepared transaction of the last life of the server.
    pub(crate) fn recovered(
        engine: Arc<dyn Engine>,
        trx: Box<dyn EngineTrx>,
        locks: Vec<LockTicket>,
    ) -> Self {
        Self { parts: vec![Part::new(engine, trx)], locks, ..Self::default() }
    }

    /// Lets the engines promise that a commit will succeed, durably.
    pub(crate) fn prepare(&mut self, xid: &selkie_engine::Xid) -> SqlResult<()> {
        let mut waits = Vec::new();
        for part in &self.parts {
            if let Some(lsn) = part.trx().prepare(xid).map_err(from_engine_commit)? {
                waits.push((&part.engine, lsn));
            }
        }
        self.savepoints.clear();
        let wait = |(engine, lsn): (&Arc<dyn Engine>, _)| engine.wait_durable(lsn);
        waits.into_iter().try_for_each(wait).map_err(from_engine_commit)
    }

    /// Keeps a definition locked until the end.
    pub fn hold(&mut self, lock: LockTicket) {
        self.locks.push(lock);
    }

    /// Whether a lock of at least `mode` is held on a table.
    pub fn holds(&self, schema: &str, table: &str, mode: crate::state::metadata::LockMode) -> bool {
        self.locks.iter().any(|l| l.covers(schema, table, mode))
    }

    /// Something that others can see is about to be changed.
    pub(crate) fn note_shared_change(&mut self) {
        self.shared_changes = true;
    }

    /// Whether others may see something of this transaction once it commits.
    pub(crate) fn has_shared_changes(&self) -> bool {
        self.shared_changes
    }

    /// Undoes everything, but the branch stays until its owner ends it.
    pub(crate) fn fail_branch(&mut self, error: &SqlError) -> SqlResult<bool> {
        let branch = self.branch.take();
        let incomplete = self.rollback();
        if let Some(branch) = branch {
            let state = BranchState::RollbackOnly(BranchState::reason(error));
            self.branch = Some(Branch { state, ..branch });
            self.explicit = true;
        }
        incomplete
    }

    /// Publishes everything and waits until it is durable (TRX-2).
    pub fn commit(&mut self) -> SqlResult<()> {
        if self.end_reading() {
            return Ok(());
        }
        self.finish();
        let parts = std::mem::take(&mut self.parts);
        let mut waits = Vec::new();
        let mut result = Ok(());
        for part in parts {
            let engine = part.engine.clone();
            match part.into_trx()?.commit() {
                Ok(Some(lsn)) => waits.push((engine, lsn)),
                Ok(None) => {}
                Err(error) => result = Err(from_engine_commit(error)),
            }
        }
        for (engine, lsn) in waits {
            self.settle(Unsettled { engine, lsn })?;
        }
        result
    }

    /// Ends a transaction that only read, in one engine; false if this is none.
    fn end_reading(&mut self) -> bool {
        let [part] = &mut self.parts[..] else { return false };
        // A sub-statement that still uses it is an error to be told of.
        if Arc::get_mut(&mut part.trx).is_none() || !part.trx().end_reading() {
            return false;
        }
        self.rested = self.parts.pop();
        self.finish();
        true
    }

    fn settle(&mut self, commit: Unsettled) -> SqlResult<()> {
        if commit.is_settled() {
            return Ok(());
        }
        // Of one engine's commits the last is durable last.
        let same = self.unsettled.as_ref().is_none_or(|u| Arc::ptr_eq(&u.engine, &commit.engine));
        if !self.answers_wait || !same {
            return commit.settle();
        }
        self.unsettled = Some(commit);
        Ok(())
    }

    /// From now on commits do not wait; the caller answers only when what it takes from
    /// [`Self::take_unsettled`] is settled.
    pub fn hold_answers(&mut self) {
        self.answers_wait = true;
    }

    /// Nobody holds an answer back any more.
    pub(crate) fn wait_for_commits(&mut self) {
        self.answers_wait = false;
    }

    /// The last commit that was not waited for.
    pub fn take_unsettled(&mut self) -> Option<Unsettled> {
        self.unsettled.take()
    }

    /// Publishes the changes in engines without transactions: a statement has ended, and they stay
    /// whatever becomes of the transaction. Its answer says so, and waits like that of a commit.
    pub(crate) fn end_immediate(&mut self) -> SqlResult<()> {
        if self.nested {
            return Ok(());
        }
        while let Some(at) = self.parts.iter().position(|p| !p.engine.personality().transactional) {
            let part = self.parts.remove(at);
            for savepoint in &mut self.savepoints {
                savepoint.marks.remove(at);
            }
            let engine = part.engine.clone();
            self.unsafe_changes |= part.trx().has_changes();
            if let Some(lsn) = part.into_trx()?.commit().map_err(from_engine_commit)? {
                self.settle(Unsettled { engine, lsn })?;
            }
        }
        Ok(())
    }

    /// The engine that takes part in transactions and cannot roll back, if the statement has
    /// changed tables of one.
    pub(crate) fn outlasting(&self) -> Option<&'static Personality> {
        let changed =
            |part: &&Part| part.engine.personality().outlasts_rollback && part.trx().has_changes();
        self.parts.iter().find(changed).map(|part| part.engine.personality())
    }

    /// Undoes everything; whether something could not be undone that was changed beside what could.
    pub fn rollback(&mut self) -> SqlResult<bool> {
        let together = self.is_open() || self.can_roll_back || self.outlasting().is_some();
        self.end_immediate()?;
        let incomplete = self.unsafe_changes && together;
        let mut result = Ok(incomplete);
        self.finish();
        for part in std::mem::take(&mut self.parts) {
            if let Err(error) = part.into_trx()?.rollback() {
                result = Err(from_engine_commit(error));
            }
        }
        result
    }

    /// Ends the state; the engines' parts are the caller's to end, and locks go after them.
    fn finish(&mut self) {
        self.explicit = false;
        self.implicit = false;
        self.unsafe_changes = false;
        self.can_roll_back = false;
        self.shared_changes = false;
        self.branch = None;
        self.savepoints.clear();
    }

    /// Gives up locks on definitions, after [`Self::commit`] or [`Self::rollback`].
    pub fn release_locks(&mut self) {
        self.locks.clear();
    }

    /// `SAVEPOINT name`: replaces one of the same name.
    pub fn savepoint(&mut self, name: &str) -> SqlResult<()> {
        self.check_branch_active()?;
        let Mark(marks) = self.mark()?;
        self.savepoints.retain(|s| !s.name.eq_ignore_ascii_case(name));
        let marks = marks.into_iter().map(Some).collect();
        self.savepoints.push(Savepoint { name: name.into(), marks });
        Ok(())
    }

    fn find_savepoint(&self, name: &str) -> SqlResult<usize> {
        let at = self.savepoints.iter().position(|s| s.name.eq_ignore_ascii_case(name));
        at.ok_or_else(|| SqlError::new(&ER_SP_DOES_NOT_EXIST, &[&"SAVEPOINT", &name]))
    }

    /// `ROLLBACK TO name`: later savepoints are forgotten, and engines that joined later take no
    /// part any more: their locks and snapshots go too. Whether something could not be undone.
    pub fn rollback_to(&mut self, name: &str) -> SqlResult<bool> {
        let at = self.find_savepoint(name)?;
        self.check_branch_active()?;
        self.savepoints.truncate(at + 1);
        let joined = self.savepoints[at].marks.iter().take_while(|mark| mark.is_some()).count();
        self.savepoints.iter_mut().for_each(|s| s.marks.truncate(joined));
        for part in self.parts.drain(joined..) {
            part.into_trx()?.rollback().map_err(from_engine_commit)?;
        }
        for (part, mark) in self.parts.iter().zip(self.savepoints[at].marks.iter().flatten()) {
            part.trx().rollback_to(*mark).map_err(from_engine_commit)?;
        }
        Ok(self.unsafe_changes)
    }

    /// `RELEASE SAVEPOINT name`: it and later ones are forgotten.
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

    /// As [`Self::commit`], of a branch of a distributed transaction too.
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
        let result = self.transaction.commit();
        self.transaction.release_locks();
        result
    }

    /// An error takes the whole transaction down; of a branch, the name stays.
    pub(crate) fn rollback_for(&mut self, error: &SqlError) -> SqlResult<()> {
        let incomplete = match self.transaction.branch {
            None => self.undo_transaction()?,
            Some(_) => {
                let incomplete = self.transaction.fail_branch(error);
                self.transaction.release_locks();
                incomplete?
            }
        };
        if incomplete {
            self.diagnostics.after_error(incomplete_rollback());
        }
        Ok(())
    }

    /// Rolls the open transaction back, warning of what cannot be undone.
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
        let result = self.transaction.rollback();
        self.transaction.release_locks();
        result
    }

    pub(crate) fn warn_incomplete_rollback(&self) {
        self.diagnostics.push(incomplete_rollback(), self.frame.settings.notes.max_error_count);
    }
}

fn incomplete_rollback() -> Condition {
    Condition::warning(&ER_WARNING_NOT_COMPLETE_ROLLBACK, &[])
}
