//! Tables that are worth column groups: those of which much is read again and again.
//!
//! A scan reports the rows that it had to read as rows, a join by an index those that it found, and
//! whoever builds groups reports that. Must not build anything itself: a thread of the server takes
//! the tables from here ([`crate::build_wanted_columns`]). Nobody waits for it.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use hashbrown::{HashMap, HashSet};
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
    /// The file that lists the tables with groups.
    list: OnceLock<PathBuf>,
}

/// The next work of the building thread.
pub(crate) enum Work {
    Build(Arc<TableInfo>),
    /// Statements have built groups: the list of tables with groups is to be written.
    List,
}

#[derive(Default)]
struct State {
    heat: HashMap<TableId, Heat>,
    wanted: VecDeque<Arc<TableInfo>>,
    /// Tables of which groups were built.
    built: HashSet<TableId>,
    /// Whether some of them were not listed yet.
    is_unlisted: bool,
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

    /// Lists the tables with groups in a file, from which the next start takes them.
    pub fn list_in(&self, file: PathBuf) {
        let _ = self.list.set(file);
    }

    /// The file with the list; `None` if there is to be none.
    pub(crate) fn list(&self) -> Option<&Path> {
        self.list.get().map(PathBuf::as_path)
    }

    /// Notes that groups of a table were built, if there is a list: without one nobody would take
    /// the note, and [`Self::next`] would have work for ever.
    pub(crate) fn note_built(&self, table: TableId) {
        if self.list().is_none() {
            return;
        }
        let mut state = self.state.lock();
        if state.built.insert(table) {
            state.is_unlisted = true;
            self.changed.notify_one();
        }
    }

    /// The tables of which groups were built; they count as listed from now on.
    pub(crate) fn take_built(&self) -> HashSet<TableId> {
        let mut state = self.state.lock();
        state.is_unlisted = false;
        state.built.clone()
    }

    /// The next work; `None` when the server stops.
    pub(crate) fn next(&self) -> Option<Work> {
        let mut state = self.state.lock();
        loop {
            if state.stops {
                return None;
            }
            if let Some(table) = state.wanted.pop_front() {
                return Some(Work::Build(table));
            }
            if state.is_unlisted {
                return Some(Work::List);
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
    fn built_groups_are_work_only_for_a_list() {
        let keeper = ColumnKeeper::default();
        keeper.note_built(TableId(7));
        assert!(!keeper.state.lock().is_unlisted);
        keeper.list_in(PathBuf::from("list"));
        keeper.note_built(TableId(7));
        assert!(matches!(keeper.next(), Some(Work::List)));
        assert!(keeper.take_built().contains(&TableId(7)));
        assert!(!keeper.state.lock().is_unlisted);
    }

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
