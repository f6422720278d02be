//! How long a waiting statement sleeps until it looks whether it was killed.
//!
//! Slices grow with the wait as far as a kill may take to be met. Each costs a waiting thread some microseconds, which
//! thousands of them feel; longer ones were tried, and a client that kills sees the half second.

use std::time::{Duration, Instant};

const SHORTEST: Duration = Duration::from_millis(20);
const LONGEST: Duration = Duration::from_millis(50);
/// A slice is this part of the time waited.
const PART: u32 = 4;

/// The slices of one wait.
#[derive(Copy, Clone, Debug)]
pub struct Slices {
    begun: Instant,
    limit: Option<Duration>,
    /// When the statement is to be looked at for being out of time.
    deadline: Option<Instant>,
}

impl Slices {
    /// Of a wait that begins now and is over after `limit`, in a statement that has time until `deadline`.
    pub fn new(limit: Option<Duration>, deadline: Option<Instant>) -> Self {
        Self { begun: Instant::now(), limit, deadline }
    }

    /// How long to sleep now; `None` when the wait is over.
    pub fn next(&self) -> Option<Duration> {
        let waited = self.begun.elapsed();
        let left = self.limit.map_or(LONGEST, |limit| limit.saturating_sub(waited));
        let slice = left.min((waited / PART).clamp(SHORTEST, LONGEST));
        let deadline = self.deadline.map(|at| at.saturating_duration_since(Instant::now()));
        (!left.is_zero()).then(|| deadline.map_or(slice, |time| slice.min(time)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waited(time: Duration, limit: Option<Duration>) -> Option<Duration> {
        Slices { begun: Instant::now() - time, limit, deadline: None }.next()
    }

    #[test]
    fn slices_grow_and_end_with_the_wait() {
        let minute = Duration::from_secs(60);
        assert_eq!(waited(Duration::ZERO, None), Some(SHORTEST));
        assert_eq!(waited(minute, None), Some(LONGEST));
        assert_eq!(waited(minute, Some(minute)), None);
        let last = waited(minute, Some(minute + SHORTEST)).expect("not over");
        assert!(last <= SHORTEST);
        let slices = Slices::new(None, Some(Instant::now()));
        assert_eq!(slices.next(), Some(Duration::ZERO));
    }
}
