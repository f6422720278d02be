//! Slows writers down, evenly and early, as the log budget is used up: nothing up to 80 %, then a
//! delay that grows per mini-transaction, and only at 98 % a stop. The delay is taken before any
//! latch.

use std::time::Duration;

/// Computes the delay of writers.
pub(crate) struct Throttle;

/// Delay of a writer before its mini-transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Brake {
    /// None.
    Free,
    /// Sleep this long.
    Delay(Duration),
    /// Wait for a checkpoint.
    Stop,
}

impl Throttle {
    /// The delay if `used` of `budget` log bytes would have to be read after a crash.
    pub(crate) fn brake(used: u64, budget: u64) -> Brake {
        let percent = used.saturating_mul(100) / budget.max(1);
        match percent {
            0..80 => Brake::Free,
            80..98 => {
                let over = percent - 79;
                Brake::Delay(Duration::from_micros(over * over * 5))
            }
            _ => Brake::Stop,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_brake_tightens_steadily() {
        assert_eq!(Throttle::brake(79, 100), Brake::Free);
        assert_eq!(Throttle::brake(80, 100), Brake::Delay(Duration::from_micros(5)));
        assert_eq!(Throttle::brake(97, 100), Brake::Delay(Duration::from_micros(1620)));
        assert_eq!(Throttle::brake(98, 100), Brake::Stop);
    }
}
