//! What a pool serves.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use selkie_exec::Unsettled;

/// What a client waits for after it was served.
pub(crate) enum Progress {
    /// Its next bytes, at most so long.
    Idle(Duration),
    /// A thread: there is more to do.
    Ready,
    /// To be told: its answer is made, [`Client::answer`] sends it.
    Answered,
    /// A commit: its answer must not leave before.
    Unsettled(Unsettled),
    /// Nothing; the connection is over.
    Ended,
}

/// In which order queued clients are served.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Priority {
    /// Before all others: it has a transaction open, whose locks others may wait for.
    High,
    /// In order of arrival.
    Low,
}

/// One client of a pool.
pub(crate) trait Client: Send {
    /// Does one command's work with what has arrived. Does not wait for the client to begin one.
    /// `timed_out`: nothing arrived for as long as it said.
    fn serve(&mut self, timed_out: bool) -> Progress;

    /// Sends the answer that was made or held back, as far as that goes without waiting.
    fn answer(&mut self) -> Progress;

    /// Where it is queued next.
    fn priority(&self) -> Priority;

    /// Tells by address and length which memory serving it uses.
    fn memory(&self, _note: &mut dyn FnMut(usize, usize)) {}

    /// The socket, unless it is closed.
    fn socket(&self) -> Option<BorrowedFd<'_>>;
}
