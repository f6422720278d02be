//! Clients that wait for something outside of the pool, without a thread.
//!
//! Must not be queued twice: whoever is woken first queues the connection (POOL-1).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Wake, Waker};

use super::connection::Connection;
use super::group::Group;
use super::pool::Shared;

struct Parked {
    shared: Weak<Shared>,
    group: Arc<Group>,
    connection: Arc<Connection>,
    is_woken: AtomicBool,
}

impl Wake for Parked {
    fn wake(self: Arc<Self>) {
        if self.is_woken.swap(true, Ordering::AcqRel) {
            return;
        }
        if let Some(shared) = self.shared.upgrade() {
            self.group.enqueue(&shared, Arc::clone(&self.connection));
        }
    }
}

/// A waker that makes the group serve the connection again.
pub(super) fn waker(
    shared: &Arc<Shared>,
    group: &Arc<Group>,
    connection: Arc<Connection>,
) -> Waker {
    let (shared, group) = (Arc::downgrade(shared), Arc::clone(group));
    Waker::from(Arc::new(Parked { shared, group, connection, is_woken: AtomicBool::new(false) }))
}
