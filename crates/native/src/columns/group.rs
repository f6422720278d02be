//! A group: the columns of a key range at one position of the log, and the keys touched since.
//!
//! Nothing is taken under the mutex of the touched keys (C12).

use super::Keys;
use super::memory::{Held, Memory};
use super::segments::Segments;
use super::touched::Touched;
use crate::sync::Mutex;
use crate::sync::atomic::Ordering;
use selkie_engine::TouchedKeys;
use std::sync::{Arc, OnceLock};

/// Content of a group, read at one snapshot.
pub(crate) struct Built {
    /// The snapshot: commits up to here are in the group or touched.
    pub(crate) at: u64,
    pub(crate) keys: Keys,
    pub(crate) segments: Segments,
}

/// A column group.
pub(crate) struct Group {
    /// Version of the row layout whose columns it has.
    pub(crate) version: u8,
    touched: Mutex<Touched>,
    built: OnceLock<(Built, Held)>,
    memory: Arc<Memory>,
}

impl Drop for Group {
    fn drop(&mut self) {
        // No statement gets room for its own rows by being a group's last user.
        let _server = selkie_meter::detached();
        drop(self.built.take());
    }
}

impl Group {
    /// An empty group, which is full when `limit` keys were touched.
    pub(crate) fn new(version: u8, limit: usize, memory: Arc<Memory>) -> Group {
        let touched = Mutex::new(Touched::new(limit));
        Group { version, touched, built: OnceLock::new(), memory }
    }

    /// Notes a key.
    pub(crate) fn touch(&self, key: &[u8]) {
        if self.touched.lock().insert(key) {
            self.memory.filled.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.touched.lock().is_full
    }

    /// Number of touched keys.
    pub(crate) fn touched(&self) -> usize {
        self.touched.lock().len()
    }

    pub(crate) fn built(&self) -> Option<&Built> {
        self.built.get().map(|(built, _)| built)
    }

    /// Sets the content; once.
    pub(crate) fn fill(&self, built: Built) {
        let bytes = built.keys.memory() as u64 + built.segments.memory();
        let held = Held::new(self.memory.clone(), bytes);
        let _ = self.built.set((built, held));
    }

    /// Leaves out the columns for which this is true. Returns the bytes that they took.
    pub(crate) fn shed(&self, is_shed: impl Fn(usize, (usize, usize)) -> bool) -> u64 {
        let Some((built, held)) = self.built.get() else { return 0 };
        let freed = built.segments.shed(is_shed);
        held.less(freed);
        freed
    }

    /// The keys touched up to now with their positions (C5); `None` if the group is full and must
    /// not be read.
    pub(crate) fn take_touched(&self, keys: &Keys) -> Option<Arc<TouchedKeys>> {
        let tail = {
            let touched = self.touched.lock();
            if touched.is_full {
                return None;
            }
            match touched.take() {
                Ok(resolved) => return Some(resolved),
                Err(tail) => tail,
            }
        };
        let (resolved, upto) = tail.resolve(keys);
        self.touched.lock().keep(&resolved, upto);
        Some(resolved)
    }
}
