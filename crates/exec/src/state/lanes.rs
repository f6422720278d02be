//! Lanes: threads that do parts of statements' work beside the threads of their sessions.
//!
//! A piece of work is queued here and taken by the first lane that is free. Its statement never
//! depends on a lane: what no lane has begun, the statement does itself. Must not know the kinds of
//! work.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};

use crate::Instance;
use crate::state::guard::guarded;

/// Most pieces of work that wait. Some were done by their statement, and keep memory until a lane
/// looks at them.
const MOST_WAITING: usize = 256;

/// A piece of work that any thread may do.
pub(crate) trait Work: Send + Sync {
    /// Does it, unless somebody has begun it.
    fn run(self: Arc<Self>);
}

/// The work that waits for a lane.
#[derive(Default)]
pub struct Lanes {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Arc<dyn Work>>,
    /// Number of threads that serve the queue.
    threads: usize,
    stops: bool,
}

/// Serves as a lane until [`Lanes::stop`].
pub fn serve_lane(instance: &Instance) {
    let lanes = &instance.upkeep.lanes;
    lanes.state.lock().threads += 1;
    while let Some(work) = lanes.next() {
        let done = guarded(|| {
            work.run();
            Ok(())
        });
        if let Err(error) = done {
            tracing::error!("a lane: {error}");
        }
    }
}

impl Lanes {
    /// Number of threads that serve as lanes.
    pub(crate) fn threads(&self) -> usize {
        self.state.lock().threads
    }

    /// Queues a piece of work, unless much waits already.
    pub(crate) fn offer(&self, work: Arc<dyn Work>) {
        let mut state = self.state.lock();
        if state.queue.len() < MOST_WAITING {
            state.queue.push_back(work);
            drop(state);
            self.changed.notify_one();
        }
    }

    fn next(&self) -> Option<Arc<dyn Work>> {
        let mut state = self.state.lock();
        loop {
            if state.stops {
                state.threads -= 1;
                return None;
            }
            if let Some(work) = state.queue.pop_front() {
                return Some(work);
            }
            self.changed.wait(&mut state);
        }
    }

    /// Ends the lanes. Statements go on without them.
    pub fn stop(&self) {
        let mut state = self.state.lock();
        state.stops = true;
        state.queue.clear();
        drop(state);
        self.changed.notify_all();
    }
}
