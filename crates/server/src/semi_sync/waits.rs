//! Waiting with a thread: for sessions with threads of their own, and between the statements of one
//! command.

use std::sync::Arc;
use std::task::{Wake, Waker};
use std::thread::Thread;
use std::time::Duration;

use selkie_engine::{WaitKind, blocking};
use selkie_exec::KillFlag;

use super::{Debt, SemiSync};

/// Time between two looks at the clock.
const LOOK: Duration = Duration::from_millis(20);

/// A thread that waits.
struct Sleeper(Thread);

impl Wake for Sleeper {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

impl SemiSync {
    /// Waits until the answer need not wait any more.
    pub(crate) fn wait(&self, debt: Debt, kill: &KillFlag) {
        let waker = Waker::from(Arc::new(Sleeper(std::thread::current())));
        let _wakes = kill.wakes(waker.clone());
        let Some(key) = self.enqueue(debt, kill.clone(), waker) else { return };
        blocking(WaitKind::Network, || {
            while self.state.lock().has(key) {
                std::thread::park_timeout(LOOK);
                self.look();
            }
        });
    }
}
