//! Counts that status variables show.
//!
//! Must not decide anything: nothing reads them but the status.

use std::time::Duration;

/// Counts of answers that waited, or should have.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// Acknowledgements that came.
    pub(super) answers: u64,
    /// Events with which readers were asked.
    pub(super) asked: u64,
    /// Times it was switched off.
    pub(super) offs: u64,
    /// Answers sent without an acknowledgement.
    pub(super) unacked: u64,
    /// Answers that had to wait for one.
    pub(super) requests: u64,
    /// Answers sent after one.
    pub(super) acked: u64,
    /// Waits, but for those that lasted too long.
    pub(super) waits: u64,
    /// Sum of their times.
    pub(super) waited: Duration,
    /// Waits for a place before the first one that others waited for.
    pub(super) backward: u64,
}

impl Counts {
    /// FLUSH STATUS.
    pub(super) fn flush(&mut self) {
        (self.offs, self.unacked, self.acked) = (0, 0, 0);
    }

    /// RESET MASTER. Compat: acknowledgements and requests go on.
    pub(super) fn begin_anew(&mut self) {
        let Self { answers, requests, .. } = *self;
        *self = Self { answers, requests, ..Self::default() };
    }

    /// Notes the end of a wait that lasted `time`.
    pub(super) fn waited(&mut self, time: Duration) {
        self.waits += 1;
        self.waited += time;
    }
}
