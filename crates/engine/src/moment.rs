//! Readings of the monotonic clock for waiting times and ages, one of them cheap and coarse.
//!
//! Not wall-clock time: a moment means nothing after a restart of the machine.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// A reading of the monotonic clock.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Moment(Duration);

impl Moment {
    /// Now.
    pub fn now() -> Self {
        Self::read(ClockId::Monotonic)
    }

    /// Time of the kernel's last tick, at most 10 ms ago: for measurements made with every
    /// statement that need no precision. Costs a tenth of [`Self::now`], which must ask the
    /// processor.
    pub fn recent() -> Self {
        Self::read(ClockId::MonotonicCoarse)
    }

    fn read(clock: ClockId) -> Self {
        let time = clock_gettime(clock);
        Self(Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
    }

    /// Time since the start of the clock, which is the machine's.
    pub fn since_start(self) -> Duration {
        self.0
    }

    /// Time from this moment to now.
    pub fn elapsed(self) -> Duration {
        Self::now().0.saturating_sub(self.0)
    }

    /// Time from this moment to the kernel's last tick.
    pub fn elapsed_recently(self) -> Duration {
        Self::recent().0.saturating_sub(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recent_moment_is_not_long_ago() {
        let recent = Moment::recent();
        assert!(recent <= Moment::now());
        assert!(
            recent.elapsed() < Duration::from_secs(1),
            "ticks are closer than this on any machine"
        );
        let now = Moment::now();
        assert!(now.elapsed_recently() <= now.elapsed());
    }
}
