//! Memory of the status counters.
//!
//! There are two kinds. [`Counters`] belong to a session: only its thread writes them, and
//! everybody reads them, so that counting locks no cache line. [`SharedCounters`] may be written by
//! all threads, for rare events.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::list::{StatusDef, StatusId, StatusScope, status_list};

/// The counters of one session: one for each status variable.
#[derive(Debug)]
pub struct Counters {
    values: Box<[AtomicU64]>,
}

impl Default for Counters {
    fn default() -> Self {
        Self { values: status_list().iter().map(|_| AtomicU64::new(0)).collect() }
    }
}

impl Counters {
    /// Adds `n`.
    #[inline]
    pub fn add(&self, id: StatusId, n: u64) {
        self.set(id, self.get(id).wrapping_add(n));
    }

    /// Adds one.
    #[inline]
    pub fn bump(&self, id: StatusId) {
        self.add(id, 1);
    }

    /// Sets the counter to `n`.
    #[inline]
    pub fn set(&self, id: StatusId, n: u64) {
        if let Some(counter) = self.values.get(usize::from(id.0)) {
            counter.store(n, Relaxed);
        }
    }

    /// The value of a counter.
    #[inline]
    pub fn get(&self, id: StatusId) -> u64 {
        self.values.get(usize::from(id.0)).map_or(0, |c| c.load(Relaxed))
    }

    /// Reports address and length of the counters that most statements change.
    pub fn memory(&self, note: &mut dyn FnMut(usize, usize)) {
        let ids = super::counter();
        for id in [ids.bytes_sent, ids.com_select, ids.com_stmt_execute, ids.queries, ids.rows_sent]
        {
            if let Some(value) = self.values.get(usize::from(id.0)) {
                note(std::ptr::from_ref(value).addr(), size_of::<AtomicU64>());
            }
        }
    }

    /// Resets the counters that are counted for each session (FLUSH STATUS).
    pub fn reset_session(&self) {
        by_session().for_each(|def| self.set(def.id, 0));
    }
}

fn by_session() -> impl Iterator<Item = &'static StatusDef> {
    status_list().iter().filter(|def| def.scope == StatusScope::Session)
}

/// The server's own counters: one for each status variable.
#[derive(Debug, Default)]
pub struct SharedCounters(Counters);

impl SharedCounters {
    /// Adds one.
    pub fn bump(&self, id: StatusId) {
        self.add(id, 1);
    }

    fn add(&self, id: StatusId, n: u64) {
        if let Some(counter) = self.0.values.get(usize::from(id.0)) {
            counter.fetch_add(n, Relaxed);
        }
    }

    /// Raises the counter to at least `n`.
    pub fn raise(&self, id: StatusId, n: u64) {
        if let Some(counter) = self.0.values.get(usize::from(id.0)) {
            counter.fetch_max(n, Relaxed);
        }
    }

    /// Sets a counter anew.
    pub fn reset(&self, id: StatusId, n: u64) {
        self.0.set(id, n);
    }

    /// The value of a counter.
    pub fn get(&self, id: StatusId) -> u64 {
        self.0.get(id)
    }

    /// All counters.
    pub fn all(&self) -> &Counters {
        &self.0
    }

    /// Adds the counters of an ended session.
    pub fn absorb(&self, session: &Counters) {
        for (sum, counter) in self.0.values.iter().zip(&session.values) {
            // After a short session most are 0: a test costs less than an atomic addition.
            match counter.load(Relaxed) {
                0 => {}
                n => _ = sum.fetch_add(n, Relaxed),
            }
        }
    }

    /// Adds the counters that are counted for each session, before the session resets them.
    pub fn absorb_session(&self, session: &Counters) {
        by_session().for_each(|def| self.add(def.id, session.get(def.id)));
    }
}

/// Sums of several sets of counters.
#[derive(Debug)]
pub struct Totals {
    values: Vec<u64>,
}

impl Totals {
    /// The sums over `parts`.
    pub fn of<'a>(parts: impl Iterator<Item = &'a Counters>) -> Self {
        let mut values = vec![0u64; status_list().len()];
        for part in parts {
            for (sum, counter) in values.iter_mut().zip(&part.values) {
                *sum = sum.wrapping_add(counter.load(Relaxed));
            }
        }
        Self { values }
    }

    /// The sum of a counter.
    pub fn get(&self, id: StatusId) -> u64 {
        self.values.get(usize::from(id.0)).copied().unwrap_or(0)
    }
}
