//! The plans that a session runs now, for other sessions to show. A statement publishes its plan
//! before it runs and withdraws it afterwards, also after an error or a panic.
//!
//! Must not hold anything of the session itself: readers keep what they found while it goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use selkie_plan::physical::Plan;

use crate::state::tally::Tally;

/// A statement that runs.
#[derive(Clone, Debug)]
pub(crate) struct Live {
    /// Its plan.
    pub(crate) plan: Arc<Plan>,
    /// Its counts, if it is counted.
    pub(crate) tally: Option<Arc<Tally>>,
    /// Its text, if it is not the text of the client's command.
    pub(crate) text: Option<Arc<[u8]>>,
}

/// The running statements of a session: that of a program above the one that called it.
#[derive(Clone, Debug, Default)]
pub struct LivePlans(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    running: Mutex<Vec<Live>>,
    /// Whether the statement that ends last is kept, for a log.
    keeps: AtomicBool,
    kept: Mutex<Option<Live>>,
}

impl LivePlans {
    /// Adds a statement; the caller must withdraw it.
    pub(crate) fn publish(&self, live: Live) {
        self.0.running.lock().push(live);
    }

    /// Removes the statement that was added last.
    pub(crate) fn withdraw(&self) {
        // Dropped after the lock is released.
        let over = self.0.running.lock().pop();
        if self.0.keeps.load(Ordering::Relaxed) {
            *self.0.kept.lock() = over;
        }
    }

    /// The statement that runs, the innermost one.
    pub(crate) fn top(&self) -> Option<Live> {
        self.0.running.lock().last().cloned()
    }

    /// Begins to keep the statement that ends last.
    pub fn keep(&self) {
        self.0.keeps.store(true, Ordering::Relaxed);
        *self.0.kept.lock() = None;
    }

    /// The kept statement; none is kept any more.
    pub(crate) fn take_kept(&self) -> Option<Live> {
        self.0.keeps.store(false, Ordering::Relaxed);
        self.0.kept.lock().take()
    }
}
