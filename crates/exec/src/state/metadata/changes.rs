//! Times at which rows of tables may have changed, for results that are kept.
//!
//! A table is known by a number made of its name; tables with equal numbers merely count as changed
//! together. Must not decide what a snapshot sees: it only tells whether anybody may have changed a
//! table since a time.
//!
//! # Invariants
//! - CHANGE-1 A lock under which rows or a definition may change is counted before it is granted,
//!   and its change is timed before others can see it and once more before the lock ends. So a
//!   table without writers whose last change has a time `t` is the one that every snapshot
//!   taken after `t` sees.
//!   A lock from before changes were noted is not counted; its changes are timed all the same.
//! - CHANGE-2 Times only grow, and no two changes have the same one.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use selkie_engine::OwnLines;

use super::{Key, LockMode};

const SLOTS: usize = 1024;

/// Changes of the tables of one number.
#[derive(Default)]
struct Slot {
    writers: AtomicU32,
    /// Number of LOCK TABLES .. WRITE. Statements under one are writers of their own.
    reserved: AtomicU32,
    changed: AtomicU64,
}

struct Changes {
    slots: Box<[OwnLines<Slot>]>,
}

static CHANGES: std::sync::LazyLock<Changes> = std::sync::LazyLock::new(|| Changes {
    slots: (0..SLOTS).map(|_| OwnLines::default()).collect(),
});
static CLOCK: AtomicU64 = AtomicU64::new(1);
static IS_WATCHED: AtomicBool = AtomicBool::new(false);

fn slot(key: Key) -> &'static Slot {
    &CHANGES.slots[key.0 as usize % SLOTS]
}

/// Whether changes are noted: while results are kept.
#[inline]
pub(crate) fn is_watched() -> bool {
    IS_WATCHED.load(Ordering::Relaxed)
}

/// Begins the noting of changes. Whoever keeps results must have dropped those from before.
pub(crate) fn watch() {
    IS_WATCHED.store(true, Ordering::SeqCst);
}

/// Ends the noting of changes.
pub(crate) fn ignore() {
    IS_WATCHED.store(false, Ordering::SeqCst);
}

/// The present time, in changes.
pub(crate) fn now() -> u64 {
    CLOCK.load(Ordering::SeqCst)
}

/// A table whose changes can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Watched(Key);

impl Watched {
    /// The table or view of a name.
    pub(crate) fn of(schema: &str, table: &str) -> Self {
        Self(Key::of(schema, table))
    }

    /// Time of the last change; `None` while somebody may be changing the table.
    pub(crate) fn settled(self) -> Option<u64> {
        // Writers come first: a change that ends in between is seen by its time.
        (!self.has_writers()).then(|| self.changed())
    }

    /// Time of the last change.
    pub(crate) fn changed(self) -> u64 {
        slot(self.0).changed.load(Ordering::SeqCst)
    }

    /// Whether LOCK TABLES .. WRITE keeps the table for somebody.
    pub(crate) fn is_reserved(self) -> bool {
        slot(self.0).reserved.load(Ordering::SeqCst) > 0
    }

    /// Whether somebody may be changing the table.
    pub(crate) fn has_writers(self) -> bool {
        slot(self.0).writers.load(Ordering::SeqCst) > 0
    }
}

/// A lock's part in the changes of its table.
#[derive(Debug)]
pub(super) struct Watch {
    /// Whether it is one of the table's writers.
    is_counted: bool,
    /// Whether rows were changed under it.
    has_changed: bool,
}

impl Watch {
    /// Begins to count a lock that is about to be asked for.
    pub(super) fn begin(key: Key, mode: LockMode) -> Self {
        let is_counted = is_watched() && !matches!(mode, LockMode::Read | LockMode::NoWrite);
        if is_counted {
            count_of(key, mode).fetch_add(1, Ordering::SeqCst);
        }
        Self { is_counted, has_changed: false }
    }

    /// Times a change of rows under the lock.
    pub(super) fn note(&mut self, key: Key) {
        self.has_changed = true;
        time_change(key);
    }

    /// Ends the count of a lock, before the lock ends.
    pub(super) fn end(&mut self, key: Key, mode: LockMode) {
        // A lock on a definition is taken to change it. LOCK TABLES .. WRITE alone changes nothing.
        let redefines =
            matches!(mode, LockMode::Online | LockMode::Upgradable | LockMode::Exclusive);
        if is_watched() && (self.has_changed || redefines) {
            time_change(key);
        }
        if std::mem::take(&mut self.is_counted) {
            count_of(key, mode).fetch_sub(1, Ordering::SeqCst);
        }
    }
}

fn count_of(key: Key, mode: LockMode) -> &'static AtomicU32 {
    let slot = slot(key);
    if mode == LockMode::Alone { &slot.reserved } else { &slot.writers }
}

fn time_change(key: Key) {
    let time = CLOCK.fetch_add(1, Ordering::SeqCst) + 1;
    slot(key).changed.fetch_max(time, Ordering::SeqCst);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_settled_at_the_time_of_its_last_change() {
        watch();
        let (table, key) = (Watched::of("changes", "t"), Key::of("changes", "t"));
        let begin = |mode| Watch::begin(key, mode);
        let mut read = begin(LockMode::Read);
        let first = table.settled().expect("readers change nothing");
        read.end(key, LockMode::Read);
        let (mut one, mut other) = (begin(LockMode::Write), begin(LockMode::Write));
        assert_eq!(table.settled(), None);
        other.end(key, LockMode::Write);
        assert_eq!((table.settled(), table.changed()), (None, first), "it has changed no row");
        one.note(key);
        let seen = table.changed();
        assert!(seen > first, "others may see the change soon");
        one.end(key, LockMode::Write);
        let second = table.settled().expect("no writer is left");
        assert!(second > seen && second <= now(), "a result from before its end does not count");
        let mut redefined = begin(LockMode::Exclusive);
        assert!(table.has_writers());
        redefined.end(key, LockMode::Exclusive);
        assert!(table.settled().is_some_and(|time| time > second));
        let mut reserved = begin(LockMode::Alone);
        assert!(table.is_reserved() && !table.has_writers());
        reserved.end(key, LockMode::Alone);
        assert!(!table.is_reserved());
    }
}
