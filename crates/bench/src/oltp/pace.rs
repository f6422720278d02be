//! When transactions begin: as soon as the one before has ended, or by the clock.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The arrivals of one worker.
pub(super) enum Pace {
    /// Each connection begins the next transaction at once.
    Closed,
    /// Transactions are due at even distances, whether a connection is free or not; a late one is
    /// measured from when it was due.
    Open { every: Duration, next: Instant, waiting: VecDeque<Instant> },
}

impl Pace {
    /// `rate` transactions a second from `start` on; closed without a rate.
    pub(super) fn new(rate: Option<f64>, start: Instant) -> Self {
        match rate {
            None => Self::Closed,
            Some(rate) => Self::Open {
                every: Duration::from_secs_f64(1.0 / rate),
                next: start,
                waiting: VecDeque::new(),
            },
        }
    }

    /// When the transaction was due that a free connection begins now, if there is one.
    pub(super) fn due(&mut self, now: Instant) -> Option<Instant> {
        match self {
            Self::Closed => Some(now),
            Self::Open { every, next, waiting } => {
                while *next <= now {
                    waiting.push_back(*next);
                    *next += *every;
                }
                waiting.pop_front()
            }
        }
    }

    /// How long nothing becomes due.
    pub(super) fn quiet(&self, now: Instant) -> Option<Duration> {
        match self {
            Self::Closed => None,
            Self::Open { next, .. } => Some(next.saturating_duration_since(now)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_transactions_keep_their_time() {
        let start = Instant::now();
        let mut pace = Pace::new(Some(10.0), start);
        let now = start + Duration::from_millis(250);
        let due: Vec<_> =
            std::iter::from_fn(|| pace.due(now)).map(|at| (at - start).as_millis()).collect();
        assert_eq!(due, [0, 100, 200]);
        assert_eq!(pace.quiet(now), Some(Duration::from_millis(50)));
    }
}
