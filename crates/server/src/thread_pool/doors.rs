//! Listening sockets that the pool's threads watch beside their clients' sockets.
//!
//! The thread that accepts a client mostly serves it too: a thread of its own for accepting costs
//! two more switches of threads per connection, and memory that one thread allocates and another
//! one frees (connect and disconnect, us of CPU: 70 with such a thread, 50 without).
//!
//! A door must not wait: neither for a client to connect nor for what it sends.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use parking_lot::RwLock;

/// A listening socket.
pub(crate) trait Door: Send + Sync {
    /// The socket.
    fn socket(&self) -> BorrowedFd<'_>;

    /// Accepts the clients that have connected and adds them to the pool, to the group `near`
    /// unless others have fewer connections. An error stops the watch of the door for a moment.
    fn accept(&self, near: usize) -> io::Result<()>;

    /// Whether no client is accepted any more.
    fn is_closed(&self) -> bool;
}

/// All doors of a pool; a door is known by its place.
#[derive(Default)]
pub(super) struct Doors(RwLock<Vec<Arc<dyn Door>>>);

impl Doors {
    pub(super) fn push(&self, door: Arc<dyn Door>) {
        self.0.write().push(door);
    }

    pub(super) fn get(&self, at: usize) -> Option<Arc<dyn Door>> {
        self.0.read().get(at).cloned()
    }

    pub(super) fn list(&self) -> Vec<Arc<dyn Door>> {
        self.0.read().clone()
    }
}
