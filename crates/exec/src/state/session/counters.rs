//! Status counters of a session, incremented by the executor.
//!
//! A session and the functions and triggers of its statements count one at a time, so a counter
//! needs no locked instruction. The server adds the values to the global counters when a statement
//! ends.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! counters {
    ($($(#[$doc:meta])* $field:ident = $name:literal,)*) => {
        /// Counters by MariaDB's names.
        #[derive(Debug, Default)]
        pub struct Counters {
            $($(#[$doc])* pub $field: Counter,)*
        }

        impl Counters {
            /// Names in order.
            pub const NAMES: &'static [&'static str] = &[$($name,)*];

            pub(crate) fn values(&self) -> Reported {
                [$(self.$field.get(),)*]
            }

            /// Sets all counters to earlier values.
            pub(crate) fn put_back(&self, values: &Reported) {
                let mut values = values.iter();
                $(self.$field.set(values.next().copied().unwrap_or(0));)*
            }

            /// Sets all counters to zero (`FLUSH STATUS`).
            pub fn reset(&self) {
                $(self.$field.set(0);)*
            }
        }
    };
}

counters! {
    /// Implicit and explicit commits.
    handler_commit = "Handler_commit",
    /// Prepared statements planned again because a table had changed.
    com_stmt_reprepare = "Com_stmt_reprepare",
    /// Rows deleted.
    handler_delete = "Handler_delete",
    /// Invisible columns of tables whose definitions are made, and read for the first time.
    feature_invisible_columns = "Feature_invisible_columns",
    /// Subqueries in expressions.
    feature_subquery = "Feature_subquery",
    /// Definitions of system-versioned tables made, and read for the first time.
    feature_system_versioning = "Feature_system_versioning",
    /// Query blocks with window functions.
    feature_window_functions = "Feature_window_functions",
    /// Reads of the first key of an index.
    handler_read_first = "Handler_read_first",
    /// Lookups of a key.
    handler_read_key = "Handler_read_key",
    /// Reads of the last key of an index.
    handler_read_last = "Handler_read_last",
    /// Rows read in key order.
    handler_read_next = "Handler_read_next",
    /// Rows read in reverse key order.
    handler_read_prev = "Handler_read_prev",
    /// Rows read by position, after a sort.
    handler_read_rnd = "Handler_read_rnd",
    /// Rows read by table scans.
    handler_read_rnd_next = "Handler_read_rnd_next",
    /// Rollbacks.
    handler_rollback = "Handler_rollback",
    /// Savepoints set.
    handler_savepoint = "Handler_savepoint",
    /// Rollbacks to savepoints.
    handler_savepoint_rollback = "Handler_savepoint_rollback",
    /// Rows written to internal tables.
    handler_tmp_write = "Handler_tmp_write",
    /// Rows updated.
    handler_update = "Handler_update",
    /// Rows inserted.
    handler_write = "Handler_write",
    /// Joins that scan the inner table.
    select_full_join = "Select_full_join",
    /// Joins that use ranges of the inner table.
    select_full_range_join = "Select_full_range_join",
    /// Statements whose first table is read by ranges.
    select_range = "Select_range",
    /// Statements whose first table is scanned.
    select_scan = "Select_scan",
    /// Sorts of ranges.
    sort_range = "Sort_range",
    /// Rows sorted.
    sort_rows = "Sort_rows",
    /// Sorts of scans.
    sort_scan = "Sort_scan",
    /// Sorts that kept only the first rows.
    sort_priority_queue_sorts = "Sort_priority_queue_sorts",
    /// UPDATEs that read all rows of their table.
    update_scan = "Update_scan",
    /// DELETEs that read all rows of their table.
    delete_scan = "Delete_scan",
    /// Internal tables created.
    created_tmp_tables = "Created_tmp_tables",
    /// Internal tables of which a part is in a file.
    created_tmp_disk_tables = "Created_tmp_disk_tables",
    /// Temporary files created.
    created_tmp_files = "Created_tmp_files",
    /// Merges of sorted runs.
    sort_merge_passes = "Sort_merge_passes",
    /// Rows read from tables.
    rows_read = "Rows_read",
    /// Rows read from tables that answer IN in a change of one table. Compat: they do not count as
    /// examined.
    rows_answering = "Rows_answering",
    /// Rows of results in between that were kept as a whole: groups, distinct rows, common tables.
    rows_tmp_read = "Rows_tmp_read",
    /// Rows sent to the client.
    rows_sent = "Rows_sent",
    /// Queries without rows, also those of programs.
    empty_queries = "Empty_queries",
    /// Texts for which a plan was kept.
    plan_hits = "Selkie_plan_hits",
    /// Texts that were looked up and for which there was none.
    plan_misses = "Selkie_plan_misses",
}

/// A counter that only one thread at a time changes.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Its value.
    #[inline]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }
}

/// The values of [`Counters`] that were reported last.
pub type Reported = [u64; Counters::NAMES.len()];

impl Counters {
    /// Calls `report` with the position and value of each counter that differs from `reported`,
    /// then updates `reported`.
    pub fn report_changes(&self, reported: &Cell<Reported>, mut report: impl FnMut(usize, u64)) {
        // Few counters change in a statement, so several are compared at once.
        const TOGETHER: usize = 8;
        let now = self.values();
        let before = reported.replace(now);
        let mut tell = |first: usize, now: &[u64], before: &[u64]| {
            for (at, (value, before)) in now.iter().zip(before).enumerate() {
                if value != before {
                    report(first + at, *value);
                }
            }
        };
        let (groups, rest) = now.as_chunks::<TOGETHER>();
        let (groups_before, rest_before) = before.as_chunks::<TOGETHER>();
        for (group, (now, before)) in groups.iter().zip(groups_before).enumerate() {
            if now != before {
                tell(group * TOGETHER, now, before);
            }
        }
        tell(now.len() - rest.len(), rest, rest_before);
    }
}

/// Adds `n` to a counter.
#[inline]
pub fn bump(counter: &Counter, n: u64) {
    counter.set(counter.get() + n);
}
