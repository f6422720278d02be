//! Sums over events: their number, their times, and the counts of what they did.
//!
//! Must not know any table.

use selkie_types::Value;

use super::names::statements;
use crate::tables::Row;

/// Number of counts of an event.
pub(super) const COUNTS: usize = 19;

/// Counts of one event, in the order of [`COLUMNS`].
pub(super) type Counts = [u64; COUNTS];

/// Columns of the counts in tables of events.
pub(super) const COLUMNS: [&str; COUNTS] = [
    "LOCK_TIME",
    "ERRORS",
    "WARNINGS",
    "ROWS_AFFECTED",
    "ROWS_SENT",
    "ROWS_EXAMINED",
    "CREATED_TMP_DISK_TABLES",
    "CREATED_TMP_TABLES",
    "SELECT_FULL_JOIN",
    "SELECT_FULL_RANGE_JOIN",
    "SELECT_RANGE",
    "SELECT_RANGE_CHECK",
    "SELECT_SCAN",
    "SORT_MERGE_PASSES",
    "SORT_RANGE",
    "SORT_ROWS",
    "SORT_SCAN",
    "NO_INDEX_USED",
    "NO_GOOD_INDEX_USED",
];

/// Columns of the sums of the counts.
const SUMS: [&str; COUNTS] = [
    "SUM_LOCK_TIME",
    "SUM_ERRORS",
    "SUM_WARNINGS",
    "SUM_ROWS_AFFECTED",
    "SUM_ROWS_SENT",
    "SUM_ROWS_EXAMINED",
    "SUM_CREATED_TMP_DISK_TABLES",
    "SUM_CREATED_TMP_TABLES",
    "SUM_SELECT_FULL_JOIN",
    "SUM_SELECT_FULL_RANGE_JOIN",
    "SUM_SELECT_RANGE",
    "SUM_SELECT_RANGE_CHECK",
    "SUM_SELECT_SCAN",
    "SUM_SORT_MERGE_PASSES",
    "SUM_SORT_RANGE",
    "SUM_SORT_ROWS",
    "SUM_SORT_SCAN",
    "SUM_NO_INDEX_USED",
    "SUM_NO_GOOD_INDEX_USED",
];

/// Picoseconds in a nanosecond.
pub(super) const PICOS: u64 = 1000;

/// Times of events in nanoseconds.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Times {
    pub(super) count: u64,
    /// Events among them whose time was taken.
    timed: u64,
    sum: u64,
    min: u64,
    max: u64,
}

impl Times {
    /// Adds an event; without a time it only counts.
    pub(super) fn add(&mut self, wait: Option<u64>) {
        self.count += 1;
        if let Some(wait) = wait {
            self.merge(&Self { count: 0, timed: 1, sum: wait, min: wait, max: wait });
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.count += other.count;
        if other.timed > 0 {
            self.min = if self.timed == 0 { other.min } else { self.min.min(other.min) };
            self.max = self.max.max(other.max);
            self.sum = self.sum.saturating_add(other.sum);
            self.timed += other.timed;
        }
    }

    /// Count, sum, minimum, average and maximum, in picoseconds.
    pub(super) fn columns(&self) -> [Value; 5] {
        let average = self.sum.checked_div(self.timed).unwrap_or(0);
        let picos = |nanos: u64| Value::UInt(nanos.saturating_mul(PICOS));
        [Value::UInt(self.count), picos(self.sum), picos(self.min), picos(average), picos(self.max)]
    }
}

/// Sums over events of one kind.
#[derive(Clone, Debug, Default)]
pub(super) struct Sums {
    pub(super) times: Times,
    counts: Counts,
}

impl Sums {
    /// Adds an event.
    pub(super) fn add(&mut self, wait: Option<u64>, counts: &Counts) {
        self.times.add(wait);
        self.counts.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.times.merge(&other.times);
        self.counts.iter_mut().zip(&other.counts).for_each(|(sum, count)| *sum += count);
    }

    /// The columns that all summaries of statements have.
    pub(super) fn columns(&self, row: &mut Row) {
        let names =
            ["COUNT_STAR", "SUM_TIMER_WAIT", "MIN_TIMER_WAIT", "AVG_TIMER_WAIT", "MAX_TIMER_WAIT"];
        row.extend(names.into_iter().zip(self.times.columns()));
        row.extend(SUMS.into_iter().zip(self.counts.map(Value::UInt)));
    }
}

/// Sums by the names of statements. Most sessions run few kinds of them.
#[derive(Clone, Debug, Default)]
pub(super) struct ByName(Vec<Option<Box<Sums>>>);

impl ByName {
    /// The sums for the name of this number.
    pub(super) fn of(&mut self, name: u16) -> &mut Sums {
        let at = usize::from(name);
        if self.0.len() <= at {
            self.0.resize(statements().len().max(at + 1), None);
        }
        self.0[at].get_or_insert_default()
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (name, sums) in other.0.iter().enumerate() {
            if let Some(sums) = sums {
                self.of(name as u16).merge(sums);
            }
        }
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// The rows of a summary: one for each name, with `owner` before its columns.
    pub(super) fn rows(&self, owner: &[(&'static str, Value)], rows: &mut Vec<Row>) {
        let none = Sums::default();
        for (at, name) in statements().iter().enumerate() {
            let sums = self.0.get(at).and_then(Option::as_deref).unwrap_or(&none);
            let mut row = owner.to_vec();
            row.push(("EVENT_NAME", Value::bytes(name)));
            sums.columns(&mut row);
            rows.push(row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        let mut times = Times::default();
        times.add(None);
        assert_eq!(times.columns(), [1, 0, 0, 0, 0].map(Value::UInt));
        times.add(Some(4));
        times.add(Some(2));
        let mut other = Times::default();
        other.merge(&times);
        other.add(Some(9));
        assert_eq!(other.columns(), [4, 15_000, 2000, 5000, 9000].map(Value::UInt));
    }
}
