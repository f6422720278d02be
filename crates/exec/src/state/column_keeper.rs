//! Tables that are worth column groups: those of which much is read again and again.
//!
//! A scan reports the rows that it had to read as rows, a join by an index those that it found.
//! Must not build anything itself: a thread of the server takes the tables from here
//! ([`crate::build_wanted_columns`]). Nobody waits for it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hashbrown::HashMap;
use parking_lot::{Condvar, Mutex};
use selkie_catalog::TableInfo;
use selkie_engine::TableId;

/// Rows of a table from which on it gets column groups. Smaller ones are read as fast by rows.
pub(crate) const COLUMNS_FROM: u64 = 50_000;

/// Least time between two builds of a table; it doubles with each one that follows soon.
const LEAST_PAUSE: Duration = Duration::from_secs(10);
/// Longest time between two builds of a table that is read all the time.
const LONGEST_PAUSE: Duration = Duration::from_secs(600);
/// Most tables that are remembered.
const MOST_TABLES: usize = 4096;

/// Tables and what statements had to read of them as rows.
#[derive(Default)]
pub struct ColumnKeeper {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    heat: HashMap<TableId, Heat>,
    wanted: VecDeque<Arc<TableInfo>>,
    stops: bool,
}

/// Use of one table.
#[derive(Default)]
struct Heat {
    /// Rows read as rows since the last build.
    rows: u64,
    built: Option<(Instant, Duration)>,
}

impl Heat {
    /// Adds a scan that read `rows` rows as rows; true if groups of them are worth their build:
    /// once half of what the first scan read was read again.
    fn add(&mut self, rows: u64, now: Instant) -> bool {
        self.rows = self.rows.saturating_add(rows);
        if self.rows < rows + rows / 2 {
            return false;
        }
        let pause = match self.built {
            None => LEAST_PAUSE,
            Some((at, pause)) if now < at + pause => return false,
            Some((at, pause)) if now < at + pause * 4 => (pause * 2).min(LONGEST_PAUSE),
            Some(_) => LEAST_PAUSE,
        };
        self.rows = 0;
        self.built = Some((now, pause));
        true
    }
}

impl ColumnKeeper {
    /// Notes that a statement read so many rows of a table as rows. `is_copy`: by the kind of scan
    /// that dumps a table, which says little about reports.
    pub(crate) fn note(&self, table: &Arc<TableInfo>, rows: u64, is_copy: bool) {
        let rows = if is_copy { rows / 4 } else { rows };
        if rows < COLUMNS_FROM / 4 {
            return;
        }
        let mut state = self.state.lock();
        if state.heat.len() >= MOST_TABLES {
            state.heat.clear();
        }
        let heat = state.heat.entry(table.def.id).or_default();
        if heat.add(rows, Instant::now()) {
            state.wanted.push_back(Arc::clone(table));
            self.changed.notify_one();
        }
    }

    /// The next table to build groups of; `None` when the server stops.
    pub(crate) fn next(&self) -> Option<Arc<TableInfo>> {
        let mut state = self.state.lock();
        loop {
            if state.stops {
                return None;
            }
            if let Some(table) = state.wanted.pop_front() {
                return Some(table);
            }
            self.changed.wait(&mut state);
        }
    }

    /// Ends the builds.
    pub fn stop(&self) {
        self.state.lock().stops = true;
        self.changed.notify_all();
    }

    pub(crate) fn stops(&self) -> bool {
        self.state.lock().stops
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_scan_of_the_same_rows_is_enough() {
        let (mut heat, now) = (Heat::default(), Instant::now());
        assert!(!heat.add(100_000, now));
        assert!(heat.add(100_000, now));
    }

    #[test]
    fn builds_that_do_not_last_become_rare() {
        let (mut heat, mut now) = (Heat::default(), Instant::now());
        let mut builds = 0;
        for _ in 0..3600 {
            builds += u32::from(heat.add(100_000, now));
            now += Duration::from_secs(1);
        }
        assert!((5..20).contains(&builds), "{builds}");
        now += LONGEST_PAUSE * 8;
        assert!(heat.add(100_000, now) | heat.add(100_000, now));
        assert_eq!(heat.built.map(|(_, pause)| pause), Some(LEAST_PAUSE));
    }
}
