//! A bell that wakes a reader who waits for more of the log, or for its client.
//!
//! A reader says that it sleeps before it looks at the log once more; who adds to the log rings
//! after that: one of them sees the other. Must not be used by two threads that wait.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Wake;
use std::time::Duration;

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};

/// The bell of one reader.
#[derive(Debug)]
pub(crate) struct Bell {
    event: OwnedFd,
    is_asleep: AtomicBool,
}

/// Reason why a wait is over.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Woken {
    /// Somebody rang, or the time is over.
    Rung,
    /// The client has sent something, or is gone.
    Client,
}

impl Bell {
    /// A bell that nobody waits for.
    pub(crate) fn new() -> io::Result<Self> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { event, is_asleep: AtomicBool::new(false) })
    }

    /// Says that the reader is about to wait. It must look once more before it does.
    pub(crate) fn doze(&self) {
        self.is_asleep.store(true, Ordering::SeqCst);
    }

    /// Wakes the reader if it waits.
    pub(crate) fn ring_if_asleep(&self) {
        if self.is_asleep.swap(false, Ordering::SeqCst) {
            self.ring();
        }
    }

    /// Ends the present wait, or else the next one.
    pub(crate) fn ring(&self) {
        // If the counter is full, the bell rings anyway.
        let _ = rustix::io::write(&self.event, &1u64.to_ne_bytes());
    }

    /// Waits until somebody rings, or `socket` has something to read.
    pub(crate) fn wait(&self, socket: BorrowedFd<'_>, at_most: Duration) -> Woken {
        let flags = PollFlags::IN | PollFlags::RDHUP;
        let mut fds =
            [PollFd::new(&self.event, PollFlags::IN), PollFd::from_borrowed_fd(socket, flags)];
        wait_for(&mut fds, at_most);
        self.is_asleep.store(false, Ordering::SeqCst);
        let [bell, client] = fds.map(|fd| !fd.revents().is_empty());
        if bell {
            // If the read fails, the next wait ends at once.
            let _ = rustix::io::read(&self.event, &mut [0; 8]);
        }
        if client { Woken::Client } else { Woken::Rung }
    }

    /// Waits until `socket` takes more bytes, somebody rings, or the client is gone.
    pub(crate) fn wait_to_write(&self, socket: BorrowedFd<'_>, at_most: Duration) {
        let flags = PollFlags::OUT | PollFlags::RDHUP;
        let mut fds =
            [PollFd::new(&self.event, PollFlags::IN), PollFd::from_borrowed_fd(socket, flags)];
        wait_for(&mut fds, at_most);
    }
}

/// A wait interrupted by a signal has no events.
fn wait_for(fds: &mut [PollFd<'_>], at_most: Duration) {
    let timeout = Timespec::try_from(at_most).ok();
    let _ = poll(fds, timeout.as_ref());
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.ring();
    }
}
