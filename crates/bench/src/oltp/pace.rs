//! Start times of transactions: right after the last one (closed loop), or by the clock (open
//! loop).
//!
//! In an open loop a late transaction keeps its due time, so that waiting counts as response time.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Start times of one worker's transactions.
pub(super) enum Pace {
    /// Each connection starts its next transaction at once.
    Closed,
    /// Transactions are due at equal intervals, whether or not a connection is free. A late one is
    /// measured from its due time.
    Open { every: Duration, next: Instant, waiting: VecDeque<Instant> },
}

impl Pace {
    /// `rate` transactions per second from `start` on; a closed loop without a rate.
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

    /// Due time of the transaction that a free connection may start now; `None` if none is due.
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

    /// Time until the next transaction is due; `None` in a closed loop.
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
