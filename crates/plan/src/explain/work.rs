//! Numbers of an execution beside those of its plan: what each operator did, and what ANALYZE shows
//! of that for each table.
//!
//! Pure arithmetic; the executor counts.

/// Work that an operator did up to now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Times it was opened.
    pub loops: u64,
    /// Rows that it looked up in a table.
    pub lookups: u64,
    /// Rows it read, before conditions.
    pub read: u64,
    /// Rows it gave to the operator above.
    pub given: u64,
    /// Time spent, inputs included; 0 if times are not measured.
    pub nanos: u64,
    /// Most bytes of rows it kept for sorting.
    pub memory: u64,
    /// Merges of sorted runs.
    pub merges: u64,
}

/// Numbers of one table of an execution.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Run {
    /// Times that its rows were read.
    pub loops: u64,
    /// Rows per time; `None` if they were never read.
    pub rows: Option<f64>,
    /// Rows per time that were read back from a sort of this table, if there is one.
    pub sorted: Option<f64>,
    /// Percentage of the rows that passed its conditions.
    pub filtered: Option<f64>,
    /// Time to read rows.
    pub table_nanos: u64,
    /// Time for the conditions.
    pub other_nanos: u64,
}

impl Run {
    /// Numbers of an operator that read rows, of which `passed` were left.
    pub(super) fn of(work: Work, passed: u64) -> Self {
        if work.loops == 0 {
            return Self::default();
        }
        let share = match work.read {
            0 => 100.0,
            read => (passed as f64 * 100.0 / read as f64).min(100.0),
        };
        Self {
            loops: work.loops,
            rows: Some(work.read as f64 / work.loops as f64),
            sorted: None,
            filtered: Some(share),
            table_nanos: work.nanos,
            other_nanos: 0,
        }
    }
}

/// A sort above a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SortShown {
    /// Its keys.
    pub key: String,
    /// Its work, in an execution.
    pub work: Option<Work>,
    /// Number of rows wanted, if it keeps no others.
    pub limit: Option<u64>,
    /// Whether it keeps the best rows only.
    pub queue: bool,
    /// Whether its input is one table.
    pub direct: bool,
    /// Names of the columns in its keys.
    pub columns: Vec<String>,
}

/// The join of a table whose partners are kept in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JoinRun {
    /// Rows to which the table was joined.
    pub loops: u64,
    /// Percentage of the pairs that were left.
    pub filtered: f64,
    /// Rows of the table that were joined.
    pub rows: f64,
}

impl JoinRun {
    /// Numbers of a join of `first` rows with `second` rows, which gave `given` pairs.
    pub(super) fn of(first: u64, second: u64, given: u64) -> Self {
        let pairs = first as f64 * second as f64;
        let share = if pairs == 0.0 { 100.0 } else { (given as f64 * 100.0 / pairs).min(100.0) };
        Self { loops: first, filtered: share, rows: second as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(loops: u64, read: u64) -> Work {
        Work { loops, read, ..Work::default() }
    }

    #[test]
    fn numbers_are_per_loop() {
        let run = Run::of(work(4, 10), 5);
        assert_eq!((run.rows, run.filtered), (Some(2.5), Some(50.0)));
    }

    #[test]
    fn a_table_that_was_never_read_has_no_numbers() {
        assert_eq!(Run::of(work(0, 0), 0), Run::default());
    }

    #[test]
    fn no_rows_pass_wholly() {
        assert_eq!(Run::of(work(1, 0), 0).filtered, Some(100.0));
        assert_eq!(JoinRun::of(3, 0, 0).filtered, 100.0);
        assert_eq!(JoinRun::of(2, 4, 2).filtered, 25.0);
    }
}
