//! Which sockets have something to read: epoll, each arrival reported once.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{EventfdFlags, Timespec, eventfd};

/// Key of the bell.
const BELL: u64 = 0;
/// Most connections reported at once.
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

    /// Watches a socket under `key`, which is not 0. What it holds already is reported too.
    pub(super) fn add(&self, socket: BorrowedFd<'_>, key: u64) -> io::Result<()> {
        let flags = EventFlags::IN | EventFlags::RDHUP | EventFlags::ET;
        Ok(epoll::add(&self.epoll, socket, EventData::new_u64(key), flags)?)
    }

    /// No longer watches a socket. Closing it would not do: it has a duplicate.
    pub(super) fn remove(&self, socket: BorrowedFd<'_>) {
        // A socket that is not watched has nothing to remove.
        let _ = epoll::delete(&self.epoll, socket);
    }

    /// Appends the keys of sockets where something has arrived, after waiting for that or the bell,
    /// for `at_most` if that is given.
    pub(super) fn wait(&self, keys: &mut Vec<u64>, at_most: Option<Duration>) {
        let timeout = at_most.and_then(|time| Timespec::try_from(time).ok());
        let mut events = [MaybeUninit::uninit(); AT_ONCE];
        // Interrupted by a signal, there are simply no events.
        let Ok((events, _)) = epoll::wait(&self.epoll, &mut events[..], timeout.as_ref()) else {
            return;
        };
        keys.extend(events.iter().map(|e| e.data.u64()));
        if keys.contains(&BELL) {
            keys.retain(|key| *key != BELL);
            // Read or not, the next wait says.
            let _ = rustix::io::read(&self.bell, &mut [0; 8]);
        }
    }

    /// Ends the wait that runs, or else the next one.
    pub(super) fn ring(&self) {
        // A full counter rings as well.
        let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
    }
}
