//! Moments for waiting times and ages: a reading of the monotonic clock that may be had cheaply.

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

    /// The kernel's last tick, at most 10 ms ago: for what is done with every statement and is not
    /// looked at closely. Costs a tenth of [`Self::now`], which must ask the processor.
    pub fn recent() -> Self {
        Self::read(ClockId::MonotonicCoarse)
    }

    fn read(clock: ClockId) -> Self {
        let time = clock_gettime(clock);
        Self(Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
    }

    /// Time since the machine started.
    pub fn since_start(self) -> Duration {
        self.0
    }

    /// Time from here to now.
    pub fn elapsed(self) -> Duration {
        Self::now().0.saturating_sub(self.0)
    }

    /// Time from here to a moment that is not closer to now than the last tick.
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
