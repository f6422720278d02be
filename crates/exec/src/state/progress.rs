//! The progress of a long statement, for other sessions to see.
//!
//! Its parts are one number, so that a reader never sees the stage of one moment with the progress
//! of another.

use std::sync::atomic::{AtomicU64, Ordering};

/// Thousandths of a percent in a whole.
const WHOLE: u64 = 100_000;

/// Progress of a session's statement; 0 if it reports none.
#[derive(Debug, Default)]
pub struct Progress(AtomicU64);

/// Progress at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// Number of the stage, from 1.
    pub stage: u8,
    /// Number of stages.
    pub stages: u8,
    /// Thousandths of a percent of the stage.
    pub thousandths: u32,
}

impl Progress {
    /// Reports that `done` of `all` steps of a stage are done.
    pub fn report(&self, stage: u8, stages: u8, (done, all): (u64, u64)) {
        let part = u128::from(done) * u128::from(WHOLE) / u128::from(all.max(1));
        let part = u64::try_from(part).unwrap_or(WHOLE).min(WHOLE);
        let packed = u64::from(stage) << 40 | u64::from(stages) << 32 | part;
        self.0.store(packed, Ordering::Relaxed);
    }

    /// Ends the report.
    pub fn end(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// The progress now.
    pub fn now(&self) -> Reached {
        let packed = self.0.load(Ordering::Relaxed);
        let byte = |at: u32| (packed >> at) as u8;
        Reached { stage: byte(40), stages: byte(32), thousandths: packed as u32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_stages() {
        let progress = Progress::default();
        assert_eq!(progress.now(), Reached::default());
        progress.report(2, 3, (1, 3));
        assert_eq!(progress.now(), Reached { stage: 2, stages: 3, thousandths: 33_333 });
        progress.report(3, 3, (9, 4));
        assert_eq!(progress.now().thousandths, 100_000);
        progress.end();
        assert_eq!(progress.now(), Reached::default());
    }
}
