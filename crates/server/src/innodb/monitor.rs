//! State kept between two reports: the latest deadlock, the latest foreign key error, old counters.
//!
//! Only reports may read it.

use hashbrown::HashMap;
use std::time::Instant;

use parking_lot::Mutex;

use crate::status::Gauges;

/// State kept between reports.
#[derive(Default)]
pub(crate) struct Monitor {
    deadlock: Mutex<Option<String>>,
    foreign_key_error: Mutex<Option<String>>,
    last: Mutex<Option<(Instant, Sample)>>,
}

impl std::fmt::Debug for Monitor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Monitor")
    }
}

impl Monitor {
    /// The text of the latest deadlock.
    pub(super) fn deadlock(&self) -> Option<String> {
        self.deadlock.lock().clone()
    }

    pub(super) fn set_deadlock(&self, text: String) {
        *self.deadlock.lock() = Some(text);
    }

    /// The text of the latest foreign key error.
    pub(super) fn foreign_key_error(&self) -> Option<String> {
        self.foreign_key_error.lock().clone()
    }

    /// Keeps the text of the latest foreign key error.
    pub(crate) fn set_foreign_key_error(&self, text: String) {
        *self.foreign_key_error.lock() = Some(text);
    }

    /// The present counters and their growth since the last report.
    pub(super) fn sample(&self, now: Sample) -> Rates {
        let mut last = self.last.lock();
        let at = Instant::now();
        let before = last.replace((at, now.clone()));
        let seconds = before.as_ref().map_or(0.0, |(then, _)| (at - *then).as_secs_f64());
        Rates { now, before: before.map(|(_, sample)| sample), seconds }
    }
}

/// Counters by their name in lower case.
#[derive(Clone, Debug, Default)]
pub(super) struct Sample(HashMap<String, u64>);

impl Sample {
    /// The engine's counters among `gauges`.
    pub(super) fn of(gauges: &Gauges) -> Sample {
        let own = gauges.iter().filter(|(name, _)| name.starts_with("innodb_"));
        Sample(own.filter_map(|(n, v)| Some((n.clone(), v.parse().ok()?))).collect())
    }

    /// A counter by its name without `innodb_`.
    pub(super) fn get(&self, name: &str) -> u64 {
        self.0.get(&format!("innodb_{name}")).copied().unwrap_or(0)
    }
}

/// Counters with their growth.
pub(super) struct Rates {
    now: Sample,
    before: Option<Sample>,
    pub(super) seconds: f64,
}

impl Rates {
    pub(super) fn get(&self, name: &str) -> u64 {
        self.now.get(name)
    }

    /// Growth since the last report.
    pub(super) fn grown(&self, name: &str) -> u64 {
        let before = self.before.as_ref().map_or(0, |before| before.get(name));
        self.get(name).saturating_sub(before)
    }

    /// Growth per second.
    pub(super) fn rate(&self, name: &str) -> f64 {
        if self.before.is_none() || self.seconds <= 0.0 {
            return 0.0;
        }
        self.grown(name) as f64 / self.seconds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_growth() {
        let gauges = |n: u64| Gauges::from([("innodb_rows_read".to_owned(), n.to_string())]);
        let monitor = Monitor::default();
        let first = monitor.sample(Sample::of(&gauges(10)));
        assert_eq!((first.get("rows_read"), first.rate("rows_read")), (10, 0.0));
        let second = monitor.sample(Sample::of(&gauges(30)));
        assert_eq!(second.grown("rows_read"), 20);
        assert!(second.rate("rows_read") > 0.0);
    }
}
