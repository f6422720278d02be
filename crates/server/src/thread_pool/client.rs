//! Interface between the pool and the clients it serves.
//!
//! A client must not wait for the start of its next command: it returns [`Progress`], and the pool
//! waits.

use std::os::fd::BorrowedFd;
use std::task::Waker;
use std::time::Duration;

use selkie_exec::Unsettled;

/// Result of a service: the thing a client waits for next.
pub(crate) enum Progress {
    /// Its next bytes, at most for this time.
    Idle(Duration),
    /// A thread: there is more work.
    Ready,
    /// [`Client::answer`]: the answer is ready to be sent.
    Answered,
    /// A commit: the answer must not be sent before it is durable.
    Unsettled(Unsettled),
    /// Something outside of the pool: the waker makes the pool serve it again.
    Parked(Box<dyn FnOnce(Waker) + Send>),
    /// Nothing: it goes on by itself, in a thread of its own ([`Client::leave`]).
    Leaving,
    /// Nothing; the connection has ended.
    Ended,
}

/// Order in which queued clients are served.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Priority {
    /// Before all others: it has an open transaction, whose locks others may wait for.
    High,
    /// In order of arrival.
    Low,
}

/// One client of a pool.
pub(crate) trait Client: Send {
    /// Does the work of one command with the data that has arrived. Does not wait for the client to
    /// start a command. `timed_out`: nothing arrived for the time it had set.
    fn serve(&mut self, timed_out: bool) -> Progress;

    /// Sends the answer that is ready or was held back, as far as possible without waiting.
    fn answer(&mut self) -> Progress;

    /// Goes on without the pool, after [`Progress::Leaving`]: the socket is not watched any more.
    fn leave(&mut self) {}

    /// Priority when it is queued next.
    fn priority(&self) -> Priority;

    /// Reports, by address and length, the memory that serving it uses.
    fn memory(&self, _note: &mut dyn FnMut(usize, usize)) {}

    /// The socket, unless it is closed.
    fn socket(&self) -> Option<BorrowedFd<'_>>;
}
