//! The mixes: the statements of a transaction.
//!
//! Sources: sysbench 1.0's oltp scripts with their defaults. The million-query run and the white
//! paper's 90:10 mix are its read-only and read-write scripts with other counts. The 32 small
//! benchmarks are those with which the field looks for regressions, in its four groups.

use super::statement::{Index, Kind};

/// Consecutive statements of one kind, on the same table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) kind: Kind,
    pub(crate) count: u32,
}

/// A mix.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mix {
    /// Name on the command line and in reports.
    pub(crate) name: &'static str,
    /// Description of a transaction.
    pub(crate) about: &'static str,
    groups: &'static [(Kind, u32)],
}

/// Default number of rows in a range.
const ROWS: u32 = 100;

const fn reads(points: u32, ranges: u32, rows: u32) -> [(Kind, u32); 5] {
    [
        (Kind::PointSelect, points),
        (Kind::SimpleRange(rows), ranges),
        (Kind::SumRange(rows), ranges),
        (Kind::OrderRange(rows), ranges),
        (Kind::DistinctRange(rows), ranges),
    ]
}

const BEGIN: (Kind, u32) = (Kind::Begin, 1);
const COMMIT: (Kind, u32) = (Kind::Commit, 1);
const WRITES: [(Kind, u32); 3] =
    [(Kind::IndexUpdate, 1), (Kind::NonIndexUpdate, 1), (Kind::DeleteInsert, 1)];

const fn read_only(reads: [(Kind, u32); 5]) -> [(Kind, u32); 7] {
    let [a, b, c, d, e] = reads;
    [BEGIN, a, b, c, d, e, COMMIT]
}

const fn read_write(reads: [(Kind, u32); 5]) -> [(Kind, u32); 10] {
    let [a, b, c, d, e] = reads;
    let [x, y, z] = WRITES;
    [BEGIN, a, b, c, d, e, x, y, z, COMMIT]
}

const fn one(kind: Kind) -> [(Kind, u32); 1] {
    [(kind, 1)]
}

const fn points(index: Index, covered: bool, count: u32) -> [(Kind, u32); 1] {
    one(Kind::Points { index, covered, count })
}

const fn range(index: Index, covered: bool) -> [(Kind, u32); 1] {
    one(Kind::Range { index, covered, count: ROWS })
}

const WRITE_ONLY: [(Kind, u32); 5] = [BEGIN, WRITES[0], WRITES[1], WRITES[2], COMMIT];

const fn mix(name: &'static str, about: &'static str, groups: &'static [(Kind, u32)]) -> Mix {
    Mix { name, about, groups }
}

/// sysbench's scripts and similar mixes.
pub(crate) const MIXES: &[Mix] = &[
    mix("point-select", "one row by primary key", &one(Kind::PointSelect)),
    mix("read-only", "10 points and 4 ranges in a transaction", &read_only(reads(10, 1, ROWS))),
    mix("read-write", "read-only and 4 writes in a transaction", &read_write(reads(10, 1, ROWS))),
    mix("write-only", "4 writes in a transaction", &WRITE_ONLY),
    mix("insert", "one row at the end", &one(Kind::Insert)),
    mix("update-index", "one indexed column", &one(Kind::IndexUpdate)),
    mix("update-non-index", "one column without index", &one(Kind::NonIndexUpdate)),
    mix("delete", "one row by primary key", &one(Kind::Delete)),
    mix("random-points", "10 values of a secondary index", &points(Index::Secondary, false, 10)),
    mix("random-ranges", "10 short ranges of a secondary index", &one(Kind::RandomRanges)),
    mix(
        "million",
        "1,000 points in a transaction, as in the run of a million queries a second",
        &[BEGIN, (Kind::PointSelect, 1000), COMMIT],
    ),
    mix(
        "ninety-ten",
        "36 reads and 4 writes in a transaction, as in the white paper",
        &read_write(reads(28, 2, ROWS)),
    ),
];

/// The small benchmarks, ordered by group; see [`GROUPS`].
pub(crate) const MICRO: &[Mix] = &[
    mix("hot-points", "100 rows, always the same", &one(Kind::HotPoints(100))),
    mix("point-query", "one row by primary key", &one(Kind::PointSelect)),
    mix("points-covered-pk", "100 primary keys, only these", &points(Index::Primary, true, 100)),
    mix(
        "points-covered-si",
        "100 indexed values, only these",
        &points(Index::Secondary, true, 100),
    ),
    mix("points-notcovered-pk", "rows of 100 primary keys", &points(Index::Primary, false, 100)),
    mix(
        "points-notcovered-si",
        "rows of 100 indexed values",
        &points(Index::Secondary, false, 100),
    ),
    mix("random-points-10", "rows of 10 primary keys", &points(Index::Primary, false, 10)),
    mix("random-points-50", "rows of 50 primary keys", &points(Index::Primary, false, 50)),
    mix("random-points-1000", "rows of 1,000 primary keys", &points(Index::Primary, false, 1000)),
    mix("range-covered-pk", "a range of primary keys", &range(Index::Primary, true)),
    mix("range-covered-si", "a range of indexed values", &range(Index::Secondary, true)),
    mix("range-notcovered-pk", "rows of a range of primary keys", &range(Index::Primary, false)),
    mix(
        "range-notcovered-si",
        "rows of a range of indexed values",
        &range(Index::Secondary, false),
    ),
    mix("scan", "the whole table", &one(Kind::Scan)),
    mix("read-only-count", "count in a range", &one(Kind::CountRange(1000))),
    mix("read-only-distinct", "distinct values in a range", &one(Kind::DistinctRange(1000))),
    mix("read-only-order", "a range in another order", &one(Kind::OrderRange(1000))),
    mix("read-only-simple", "a range", &one(Kind::SimpleRange(1000))),
    mix("read-only-sum", "sum over a range", &one(Kind::SumRange(1000))),
    mix("read-only-10", "sysbench's, ranges of 10", &read_only(reads(10, 1, 10))),
    mix("read-only-100", "sysbench's, ranges of 100", &read_only(reads(10, 1, 100))),
    mix("read-only-10000", "sysbench's, ranges of 10,000", &read_only(reads(10, 1, 10_000))),
    mix("delete", "one row by primary key", &one(Kind::Delete)),
    mix("insert", "one row at the end", &one(Kind::Insert)),
    mix("read-write-10", "sysbench's, ranges of 10", &read_write(reads(10, 1, 10))),
    mix("read-write-100", "sysbench's, ranges of 100", &read_write(reads(10, 1, 100))),
    mix("update-index", "one indexed column", &one(Kind::IndexUpdate)),
    mix("update-inlist", "100 rows by primary key", &one(Kind::UpdateList(100))),
    mix("update-nonindex", "one column without index", &one(Kind::NonIndexUpdate)),
    mix("update-one", "always the same row", &one(Kind::UpdateOne)),
    mix("update-zipf", "some rows much more often", &one(Kind::UpdateZipf)),
    mix("write-only", "4 writes in a transaction", &WRITE_ONLY),
];

/// Names of the groups of small benchmarks, with the number of benchmarks in each.
pub(crate) const GROUPS: [(&str, usize); 4] =
    [("points", 9), ("ranges", 5), ("ranges with work on them", 8), ("writes", 10)];

impl Mix {
    /// The mix of this name.
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        MIXES.iter().find(|mix| mix.name == name)
    }

    /// Its statements in order. A deletion and its insertion are two statements.
    pub(crate) fn groups(&self) -> impl Iterator<Item = Group> {
        self.groups.iter().map(|&(kind, count)| Group { kind, count })
    }

    /// Whether it changes the size of its tables: then each run needs new tables.
    pub(crate) fn resizes(&self) -> bool {
        self.groups().any(|group| matches!(group.kind, Kind::Delete | Kind::Insert))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_32_small_benchmarks_in_four_groups() {
        assert_eq!(MICRO.len(), 32);
        assert_eq!(GROUPS.iter().map(|(_, n)| n).sum::<usize>(), 32);
        let names: std::collections::BTreeSet<_> = MICRO.iter().map(|mix| mix.name).collect();
        assert_eq!(names.len(), 32);
    }
}
