//! Memory that is counted in.
//!
//! Must not be shared between sessions: one session writes, anybody reads.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::list::{StatusId, StatusScope, status_list};

/// One counter for each status variable.
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
        if let Some(counter) = self.values.get(usize::from(id.0)) {
            counter.fetch_add(n, Relaxed);
        }
    }

    /// Adds one.
    #[inline]
    pub fn bump(&self, id: StatusId) {
        self.add(id, 1);
    }

    /// Makes the count `n`.
    pub fn set(&self, id: StatusId, n: u64) {
        if let Some(counter) = self.values.get(usize::from(id.0)) {
            counter.store(n, Relaxed);
        }
    }

    /// Takes `n` away.
    pub fn subtract(&self, id: StatusId, n: u64) {
        if let Some(counter) = self.values.get(usize::from(id.0)) {
            counter.fetch_sub(n, Relaxed);
        }
    }

    /// Raises the counter to at least `n`.
    pub fn raise(&self, id: StatusId, n: u64) {
        if let Some(counter) = self.values.get(usize::from(id.0)) {
            counter.fetch_max(n, Relaxed);
        }
    }

    /// The count.
    pub fn get(&self, id: StatusId) -> u64 {
        self.values.get(usize::from(id.0)).map_or(0, |c| c.load(Relaxed))
    }

    /// Adds what `other` counted by session.
    pub fn absorb(&self, other: &Self) {
        for def in status_list().iter().filter(|d| d.scope == StatusScope::Session) {
            self.add(def.id, other.get(def.id));
        }
    }

    /// Sets what is counted by session back to zero (FLUSH STATUS).
    pub fn reset_session(&self) {
        for def in status_list().iter().filter(|d| d.scope == StatusScope::Session) {
            if let Some(counter) = self.values.get(usize::from(def.id.0)) {
                counter.store(0, Relaxed);
            }
        }
    }
}

/// The sum of several sets of counters.
#[derive(Debug)]
pub struct Totals {
    values: Vec<u64>,
}

impl Totals {
    /// The sum of `parts`.
    pub fn of<'a>(parts: impl Iterator<Item = &'a Counters>) -> Self {
        let mut values = vec![0u64; status_list().len()];
        for part in parts {
            for (sum, counter) in values.iter_mut().zip(&part.values) {
                *sum = sum.wrapping_add(counter.load(Relaxed));
            }
        }
        Self { values }
    }

    /// A sum.
    pub fn get(&self, id: StatusId) -> u64 {
        self.values.get(usize::from(id.0)).copied().unwrap_or(0)
    }
}
