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

/// A group's watch of the doors.
#[derive(Default)]
pub(super) struct Watch {
    /// Whether they are watched; false again after an error.
    pub(super) is_on: bool,
    /// Doors with clients that wait to be accepted.
    pub(super) called: Vec<usize>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::thread_pool::{Limits, ThreadPool};
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::{Duration, Instant};

    /// A door at which the first clients are refused with an error, like without descriptors.
    struct Stuck {
        socket: TcpListener,
        errors: AtomicUsize,
        calls: AtomicUsize,
        let_in: AtomicUsize,
    }

    impl Door for Stuck {
        fn socket(&self) -> BorrowedFd<'_> {
            self.socket.as_fd()
        }

        fn accept(&self, _: usize) -> io::Result<()> {
            self.calls.fetch_add(1, Ordering::Relaxed);
            let left = self.errors.load(Ordering::Relaxed);
            if left > 0 {
                self.errors.store(left - 1, Ordering::Relaxed);
                return Err(io::ErrorKind::Other.into());
            }
            self.socket.accept()?;
            self.let_in.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }

        fn is_closed(&self) -> bool {
            false
        }
    }

    fn pool() -> ThreadPool {
        let limits = Limits {
            size: 2,
            oversubscribe: 3,
            max_threads: 8,
            idle_timeout: Duration::from_secs(60),
            stall_limit: Duration::from_millis(500),
            kickup: Duration::from_secs(1),
        };
        ThreadPool::new(limits, Box::new(move || Some(limits))).unwrap()
    }

    fn until(what: impl Fn() -> bool) {
        let begun = Instant::now();
        while !what() {
            assert!(begun.elapsed() < Duration::from_secs(20), "it did not happen");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn a_door_that_fails_is_tried_again_after_a_pause() {
        let (socket, pool) = (TcpListener::bind("127.0.0.1:0").unwrap(), pool());
        let address = socket.local_addr().unwrap();
        let (errors, calls) = (AtomicUsize::new(usize::MAX), AtomicUsize::default());
        let door = Arc::new(Stuck { socket, errors, calls, let_in: AtomicUsize::default() });
        pool.watch(Arc::clone(&door) as _);
        let _client = TcpStream::connect(address).unwrap();
        until(|| door.calls.load(Ordering::Relaxed) >= 3);
        // The timer looks every 20 ms; without a pause there would be thousands of calls.
        let before = door.calls.load(Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(200));
        assert!(door.calls.load(Ordering::Relaxed) - before <= 20);
        door.errors.store(0, Ordering::Relaxed);
        until(|| door.let_in.load(Ordering::Relaxed) == 1);
        pool.stop();
    }

    #[test]
    fn every_client_is_let_in_once() {
        let (socket, pool) = (TcpListener::bind("127.0.0.1:0").unwrap(), pool());
        let address = socket.local_addr().unwrap();
        socket.set_nonblocking(true).unwrap();
        let (errors, calls) = (AtomicUsize::default(), AtomicUsize::default());
        let door = Arc::new(Stuck { socket, errors, calls, let_in: AtomicUsize::default() });
        pool.watch(Arc::clone(&door) as _);
        let clients: Vec<_> = (0..100).map(|_| TcpStream::connect(address).unwrap()).collect();
        until(|| door.let_in.load(Ordering::Relaxed) >= clients.len());
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(door.let_in.load(Ordering::Relaxed), clients.len());
        pool.stop();
    }
}
