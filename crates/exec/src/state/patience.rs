//! Time limit of one wait. Only computes; the caller sleeps and checks for a kill. A limit that is
//! reached is an error of the caller's kind of wait.

use std::time::{Duration, Instant};

/// Longest sleep of a wait that a client asked for, before it is looked whether the client is still
/// there.
pub const CLIENT_CHECK: Duration = Duration::from_secs(5);

/// The time of one wait: its own limit, and the statement's.
#[derive(Copy, Clone, Debug)]
pub struct Patience {
    begun: Instant,
    limit: Option<Duration>,
    /// Time at which the statement is out of time.
    deadline: Option<Instant>,
}

impl Patience {
    /// A wait that begins now and ends after `limit`, in a statement that may run until `deadline`.
    pub fn new(limit: Option<Duration>, deadline: Option<Instant>) -> Self {
        Self { begun: Instant::now(), limit, deadline }
    }

    /// Time waited so far.
    pub fn waited(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Longest sleep before the wait ends or the statement's deadline must be checked; `None` when
    /// the wait is over.
    pub fn left(&self) -> Option<Duration> {
        let left = self.limit.map_or(Duration::MAX, |limit| limit.saturating_sub(self.waited()));
        let deadline = self.deadline.map(|at| at.saturating_duration_since(Instant::now()));
        (!left.is_zero()).then(|| deadline.map_or(left, |time| left.min(time)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_or_the_statement_ends_it() {
        let (second, minute) = (Duration::from_secs(1), Duration::from_secs(60));
        let begun = Instant::now() - minute;
        let of = |limit, deadline| Patience { begun, limit, deadline };
        assert_eq!(of(None, None).left(), Some(Duration::MAX));
        assert_eq!(of(Some(minute), None).left(), None);
        assert!(of(Some(minute + second), None).left().expect("not over") <= second);
        assert_eq!(of(None, Some(Instant::now())).left(), Some(Duration::ZERO));
        let soon = of(Some(minute * 3), Some(Instant::now() + second)).left();
        assert!(soon.expect("not over") <= second);
    }
}
