//! The sockets of a group that have something to read: epoll, which reports each arrival once.
//!
//! An arrival is not reported again: a reader must read until nothing is left (POOL-2).

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{EventfdFlags, Timespec, eventfd};

/// Key of the bell, an eventfd that ends a wait.
const BELL: u64 = 0;
/// Maximum number of connections reported at once.
pub(super) const AT_ONCE: usize = 64;

/// The sockets of one group.
pub(super) struct Poller {
    epoll: OwnedFd,
    bell: OwnedFd,
}

impl Poller {
    pub(super) fn new() -> io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        epoll::add(&epoll, &bell, EventData::new_u64(BELL), EventFlags::IN)?;
        Ok(Self { epoll, bell })
    }

    /// Watches a socket under `key`, which is not 0. Data that is already there is reported too.
    pub(super) fn add(&self, socket: BorrowedFd<'_>, key: u64) -> io::Result<()> {
        let flags = EventFlags::IN | EventFlags::RDHUP | EventFlags::ET;
        Ok(epoll::add(&self.epoll, socket, EventData::new_u64(key), flags)?)
    }

    /// Stops watching a socket. Dropping it is not enough: whoever may end the session shares it.
    pub(super) fn remove(&self, socket: BorrowedFd<'_>) {
        // If the socket is not watched, there is nothing to do.
        let _ = epoll::delete(&self.epoll, socket);
    }

    /// Waits for arrivals or for the bell, at most for `at_most` if given. Appends the keys of
    /// sockets with arrivals.
    pub(super) fn wait(&self, keys: &mut Vec<u64>, at_most: Option<Duration>) {
        let timeout = at_most.and_then(|time| Timespec::try_from(time).ok());
        let mut events = [MaybeUninit::uninit(); AT_ONCE];
        // A wait interrupted by a signal has no events.
        let Ok((events, _)) = epoll::wait(&self.epoll, &mut events[..], timeout.as_ref()) else {
            return;
        };
        keys.extend(events.iter().map(|e| e.data.u64()));
        if keys.contains(&BELL) {
            keys.retain(|key| *key != BELL);
            // If the read fails, the next wait reports the bell again.
            let _ = rustix::io::read(&self.bell, &mut [0; 8]);
        }
    }

    /// Ends the present wait, or else the next one.
    pub(super) fn ring(&self) {
        // If the counter is full, the bell rings anyway.
        let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
    }
}
