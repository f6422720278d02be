//! State that a session shares with the functions and triggers of its statements.
//!
//! The calling statement shares its session while they run, so the values they change are behind
//! locks and atomics, for which no other thread ever contends. Must not hold state that a function
//! or trigger has of its own.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hashbrown::HashMap;
use parking_lot::Mutex;
use selkie_engine::TableId;
use selkie_types::{SqlType, Value};

use super::counters::Counters;
use crate::state::files::FilePlaces;
use crate::state::programs::CompiledPrograms;

/// Values of `@name` variables, by lower-case name.
pub type UserVariables = HashMap<Box<str>, (Value, SqlType)>;

/// State that a session shares with the functions and triggers of its statements.
pub struct SessionCore {
    /// Connection number.
    pub id: u64,
    /// Number that statements see, such as `CONNECTION_ID()`: its own, or that of the primary's
    /// connection whose statement it applies.
    pub shown_id: AtomicU64,
    /// Status counters.
    pub counters: Counters,
    /// `@name` variables.
    pub variables: Mutex<UserVariables>,
    /// `SET insert_id`: the next generated value. Compat: the first INSERT uses it, even one in a
    /// trigger.
    pub next_insert_id: Mutex<Option<u64>>,
    /// State of `RAND()`, if `rand_seed1` or `rand_seed2` was set.
    pub random_seeds: RandomSeeds,
    /// Last number used of each sequence: `LASTVAL`.
    pub(crate) sequence_values: Mutex<HashMap<TableId, i64>>,
    /// Directories that `LOAD_FILE()` may read; set by the first statement.
    pub(crate) files: OnceLock<FilePlaces>,
    /// Programs the session has parsed.
    pub(crate) programs: Mutex<CompiledPrograms>,
}

impl SessionCore {
    /// The core of a new session.
    pub(super) fn new(id: u64) -> Self {
        Self {
            id,
            shown_id: AtomicU64::new(id),
            counters: Counters::default(),
            variables: Mutex::default(),
            next_insert_id: Mutex::default(),
            random_seeds: RandomSeeds::default(),
            sequence_values: Mutex::default(),
            files: OnceLock::new(),
            programs: Mutex::default(),
        }
    }
}

/// Both seeds of `RAND()`, if the session has set them.
#[derive(Debug, Default)]
pub struct RandomSeeds {
    known: AtomicBool,
    /// The upper half is the first seed.
    both: AtomicU64,
}

impl RandomSeeds {
    /// The seeds, if there are any.
    #[inline]
    pub fn get(&self) -> Option<(u32, u32)> {
        if !self.known.load(Ordering::Relaxed) {
            return None;
        }
        let both = self.both.load(Ordering::Relaxed);
        Some(((both >> 32) as u32, both as u32))
    }

    /// Forgets both: the next sequence begins anywhere.
    pub fn forget(&self) {
        self.known.store(false, Ordering::Relaxed);
    }

    /// Sets both.
    pub fn set(&self, (first, second): (u32, u32)) {
        self.both.store(u64::from(first) << 32 | u64::from(second), Ordering::Relaxed);
        self.known.store(true, Ordering::Relaxed);
    }
}
