//! The plans that a session runs now, for other sessions to show. A statement publishes its plan
//! before it runs and withdraws it afterwards, also after an error or a panic.
//!
//! Must not hold anything of the session itself: readers keep what they found while it goes on.

use std::sync::Arc;

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
pub struct LivePlans(Arc<Mutex<Vec<Live>>>);

impl LivePlans {
    /// Adds a statement; the caller must withdraw it.
    pub(crate) fn publish(&self, live: Live) {
        self.0.lock().push(live);
    }

    /// Removes the statement that was added last.
    pub(crate) fn withdraw(&self) {
        // Dropped after the lock is released.
        let _over = self.0.lock().pop();
    }

    /// The statement that runs, the innermost one.
    pub(crate) fn top(&self) -> Option<Live> {
        self.0.lock().last().cloned()
    }
}
