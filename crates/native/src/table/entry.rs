//! One change of one entry under its leaf's latch: permission, old value, undo.
//!
//! Must not wait under the latch: a blocked change reports the blocking transactions and is tried
//! again.

use super::value::{self, DELETED};
use crate::btree::{Decision, Hint, MAX_KEY, Tree};
use crate::columns::Columns;
use crate::ids::FileId;
use crate::lock::{Behind, Wanted};
use crate::page::get_u64;
use crate::trx::{Kind, LockKind, NativeTrx, RowRecord, TrxState};
use selkie_engine::{EngineError, EngineResult, LockMode, LockWait, StatementContext};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A change of an entry. `body` is the tag and the bytes after it.
#[derive(Clone, Copy)]
pub(super) enum Action<'a> {
    /// Insert a new entry; it may replace a delete mark without owner or lock.
    Insert { body: &'a [u8], auto: Option<u64> },
    /// Replace a live entry. `auto`: a value that the counter has to pass.
    Update { body: &'a [u8], auto: Option<u64> },
    /// Mark a live entry as deleted.
    Delete,
    /// As `Update`, in a growing index. If the entry is not filled in yet, it was `old`.
    UpdateGrown { old: &'a [u8], body: &'a [u8] },
    /// As `Delete`, in a growing index. If the entry is not filled in yet, it was `old`.
    DeleteGrown { old: &'a [u8] },
}

/// Result of a change.
pub(super) enum Outcome {
    /// Done; the old value, empty if there was no entry.
    Done(Vec<u8>),
    /// There is no live entry to change.
    Missing,
    /// There is a live entry already.
    Duplicate,
    /// These transactions have locked the gap that the entry belongs into. They may release it
    /// before they end.
    Gap(Vec<Arc<TrxState>>),
    /// These transactions hold the entry's lock, which they may release before they end, or wrote
    /// its newest version, which they may undo.
    Locked(Vec<Arc<TrxState>>),
}

impl<'a> Action<'a> {
    /// Lock mode of its place in a queue.
    pub(super) fn mode(self) -> LockMode {
        match self {
            Action::Insert { .. } => LockMode::Shared,
            _ => LockMode::Exclusive,
        }
    }

    /// The new body, and a value that the counter has to pass.
    fn put(self) -> (&'a [u8], Option<u64>) {
        match self {
            Action::Insert { body, auto } | Action::Update { body, auto } => (body, auto),
            Action::UpdateGrown { body, .. } => (body, None),
            Action::Delete | Action::DeleteGrown { .. } => (&[], None),
        }
    }

    /// The body that the entry has if it is not in the tree yet.
    fn unfilled(self) -> Option<&'a [u8]> {
        match self {
            Action::UpdateGrown { old, .. } | Action::DeleteGrown { old } => Some(old),
            _ => None,
        }
    }

    fn deletes(self) -> bool {
        matches!(self, Action::Delete | Action::DeleteGrown { .. })
    }
}

/// Place of a change in the queue for others' locks, and the start of its wait.
#[derive(Default)]
pub(super) struct Queue<'a> {
    pub(super) behind: Behind<'a>,
    begun: Option<Instant>,
}

impl Queue<'_> {
    /// Time left to wait. A wake-up that finds other waiters ahead does not restart the limit.
    fn time_left(&mut self, context: &dyn StatementContext) -> Duration {
        let begun = *self.begun.get_or_insert_with(Instant::now);
        context.lock_wait_timeout().saturating_sub(begun.elapsed())
    }
}

/// A transaction that changes entries.
pub(super) struct Writer<'a> {
    pub(super) trx: &'a NativeTrx,
    pub(super) context: &'a dyn StatementContext,
    state: Arc<TrxState>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(trx: &'a NativeTrx, context: &'a dyn StatementContext) -> Writer<'a> {
        Writer { trx, context, state: trx.state() }
    }

    /// Waits for the transactions whose gap locks block an entry at `place`.
    pub(super) fn wait_for_gap(
        &self,
        queue: &mut Queue<'a>,
        place: (FileId, &[u8]),
        holders: &[Arc<TrxState>],
    ) -> EngineResult<()> {
        let limit = LockWait::Upto(queue.time_left(self.context));
        self.state.notes.will_wait_for(place.0, place.1, LockMode::Exclusive);
        self.trx.wait_for_gap(holders, place, self.context, limit)
    }

    /// Waits for the transactions that have locked or written the entry at a place.
    pub(super) fn wait_behind(
        &self,
        queue: &mut Queue<'a>,
        (file, key): (FileId, &[u8]),
        mode: LockMode,
        holders: &[Arc<TrxState>],
    ) -> EngineResult<()> {
        let wanted = Wanted { file, key, mode, wait: LockWait::Default };
        let locks = &self.trx.shared.locks;
        let limit = LockWait::Upto(queue.time_left(self.context));
        queue.behind.wait(locks, &self.state, &wanted, holders, |holders, waiter| {
            self.trx.wait_in_place(holders, waiter, self.context, limit)
        })
    }

    /// Makes a change, after waits for the transactions that block it.
    pub(super) fn change(
        &self,
        tree: &Tree,
        hint: &mut Hint,
        key: &[u8],
        action: Action<'_>,
        rows: Option<&Columns>,
    ) -> EngineResult<Outcome> {
        let mut queue = Queue::default();
        let place = (tree.file, key);
        loop {
            queue.behind.look_again();
            match self.try_change(tree, hint, key, action, rows)? {
                Outcome::Locked(holders) => {
                    self.wait_behind(&mut queue, place, action.mode(), &holders)?;
                }
                Outcome::Gap(holders) => self.wait_for_gap(&mut queue, place, &holders)?,
                done => return Ok(done),
            }
        }
    }

    /// Makes a change unless a transaction blocks it. `rows`: the columns of the table whose
    /// clustered tree this is; `None` for another index.
    pub(super) fn try_change(
        &self,
        tree: &Tree,
        hint: &mut Hint,
        key: &[u8],
        action: Action<'_>,
        rows: Option<&Columns>,
    ) -> EngineResult<Outcome> {
        if key.len() > MAX_KEY {
            return Err(EngineError::RowTooBig(MAX_KEY));
        }
        let (body, auto) = action.put();
        // As the fill would have put it: visible to all readers.
        let unfilled = action.unfilled().map(|old| [&[0; 8], old].concat());
        let longest = body.len().max(action.unfilled().map_or(0, <[u8]>::len));
        let len = if longest == 0 { 0 } else { 8 + longest };
        let mut outcome = Outcome::Missing;
        let dead = |value: &[u8]| self.trx.shared.is_dead(value);
        tree.write(key, len, false, hint, &dead, |found, change| {
            outcome = self.judge(tree, key, found, action);
            if !matches!(outcome, Outcome::Done(_)) {
                return Decision::Leave;
            }
            let before = found.or(unfilled.as_deref()).unwrap_or(&[]);
            let kind = match action {
                _ if action.deletes() => Kind::Delete,
                _ if before.is_empty() => Kind::Insert,
                _ => Kind::Update,
            };
            let record = RowRecord {
                ver: 0,
                kind,
                file: tree.file,
                auto,
                key,
                before,
                undone: false,
                pruned: false,
            };
            let work = value::chain_of(before).is_some();
            // Before the change is in the leaf, so that nobody sees it with an untouched key.
            rows.into_iter().for_each(|columns| columns.touch(key));
            let ver = self.trx.push_undo(record, rows.is_some(), work, &mut change.row);
            change.value.extend_from_slice(&ver.to_le_bytes());
            match action.deletes() {
                true => {
                    change.value.push(value::tag(before) | DELETED);
                    change.value.extend_from_slice(before.get(value::ROW_AT..).unwrap_or(&[]));
                }
                false => change.value.extend_from_slice(body),
            }
            outcome = Outcome::Done(before.to_vec());
            Decision::Put
        })?;
        Ok(outcome)
    }

    /// Whether this transaction has written the version of a value.
    pub(super) fn owns(&self, value: &[u8]) -> bool {
        let owner = self.trx.shared.undo.active_owner(get_u64(value, 0));
        owner.is_some_and(|owner| owner.id == self.state.id)
    }

    /// Whether other transactions have locked the gap that a new key belongs into.
    pub(super) fn is_kept_out(&self, file: FileId, key: &[u8]) -> bool {
        !self.trx.shared.locks.gaps.blocking(self.state.id, file, key).is_empty()
    }

    /// Checks whether a new key may enter the gap it belongs into (I29).
    fn enter_gap(&self, tree: &Tree, key: &[u8]) -> Outcome {
        let holders = self.trx.shared.locks.gaps.blocking(self.state.id, tree.file, key);
        match holders.is_empty() {
            true => Outcome::Done(Vec::new()),
            false => Outcome::Gap(holders.into_vec()),
        }
    }

    fn judge(&self, tree: &Tree, key: &[u8], found: Option<&[u8]>, action: Action<'_>) -> Outcome {
        let inserting = matches!(action, Action::Insert { .. });
        let Some(found) = found else {
            return match action.unfilled() {
                Some(_) => Outcome::Done(Vec::new()),
                None if inserting => self.enter_gap(tree, key),
                None => Outcome::Missing,
            };
        };
        let deleted = value::is_deleted(found);
        let owner = self.trx.shared.undo.active_owner(get_u64(found, 0));
        let mine = owner.as_ref().is_some_and(|owner| owner.id == self.state.id);
        if let Some(owner) = owner.filter(|_| !mine) {
            owner.weight.lock(LockKind::Entries(tree.file, LockMode::Exclusive));
            return Outcome::Locked(vec![owner]);
        }
        if !mine {
            // An insert that meets a row only checks that it exists, so a shared lock is enough.
            let mode = if inserting && !deleted { LockMode::Shared } else { LockMode::Exclusive };
            let shared = &self.trx.shared;
            let holders = shared.locks.blocking(self.state.id, tree.file, key, mode);
            if !holders.is_empty() {
                return Outcome::Locked(holders.into_vec());
            }
        }
        match (inserting, deleted) {
            (true, false) => Outcome::Duplicate,
            (true, true) if !mine => self.enter_gap(tree, key),
            (false, true) => Outcome::Missing,
            _ => Outcome::Done(Vec::new()),
        }
    }
}
