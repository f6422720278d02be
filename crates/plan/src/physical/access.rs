//! Access to the rows of a table: scans, index ranges, lookups. Data only. Bounds and keys are
//! expressions: the executor evaluates and encodes them when an operator opens.

use std::sync::Arc;

use selkie_catalog::TableInfo;
use selkie_engine::{LockMode, LockWait};
use selkie_expr::{Expr, SearchId};

/// Lock on the rows that a table's access reads.
#[derive(Clone, Copy, Debug)]
pub struct RowLock {
    /// Its kind.
    pub mode: LockMode,
    /// Behaviour when a row is locked.
    pub wait: LockWait,
}

/// Reads one table. Output: `columns[output[0]], columns[output[1]], ...`, then, if `row_keys`, the
/// clustered key as a byte-string column.
#[derive(Clone, Debug)]
pub struct TableScan {
    /// The table.
    pub table: Arc<TableInfo>,
    /// Alias shown by EXPLAIN and used in messages.
    pub alias: Box<str>,
    /// Positions in the table of the columns read. With a covering access every one of them is in
    /// the index.
    pub columns: Vec<usize>,
    /// Positions in `columns` of the output columns; the others serve `filter` only.
    pub output: Vec<usize>,
    /// Access path.
    pub access: Access,
    /// Columns that are computed from others, not read: position in `columns` and expression, in
    /// order of computation.
    pub computed: Vec<(usize, Expr)>,
    /// Conditions over `columns`, cheapest and most selective first.
    pub filter: Vec<Expr>,
    /// For each of `columns`, whether `filter` reads it. These are decoded first, the others only
    /// for rows that pass.
    pub filter_columns: Vec<bool>,
    /// Filters of joins above, which drop rows that would find no match. The scan may ignore them.
    pub filters: Vec<ScanFilter>,
    /// Lock on the rows read.
    pub lock: RowLock,
    /// The leaves that are read, if the table has any.
    pub parts: Option<Box<PartsRead>>,
    /// Whether the clustered key follows the columns.
    pub row_keys: bool,
    /// The operators above.
    pub reader: Reader,
    /// Rows expected to be read, including those that `filter` drops; for EXPLAIN.
    pub examined: f64,
    /// More for EXPLAIN.
    pub shown: Shown,
}

/// Facts about the operators above a scan.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reader {
    /// It may stop before the last row: there is a LIMIT above, and no operator in between reads
    /// all its input.
    pub stops: bool,
    /// It is an UPDATE of these rows.
    pub updates: bool,
}

/// A filter that a join fills ([`super::KeyFill`]).
#[derive(Clone, Copy, Debug)]
pub struct ScanFilter {
    /// Its number in the plan.
    pub slot: u32,
    /// Position of the filtered column among those that the scan reads.
    pub column: usize,
}

/// The leaves of a partitioned table that a scan must read. Values are known only at open: the
/// executor evaluates them and asks the router.
#[derive(Clone, Debug, Default)]
pub struct PartsRead {
    /// Leaves that a `PARTITION` clause allows, rising; all if `None`.
    pub listed: Option<Arc<[u16]>>,
    /// Ranges of the columns on which the partition depends, in the order of its method; empty if
    /// they are not restricted.
    pub ranges: Vec<KeyRange>,
    /// The same for the subpartition.
    pub sub_ranges: Vec<KeyRange>,
}

/// Facts about the access to a table, most of all for EXPLAIN.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// Names of the indexes that could be used.
    pub possible_keys: Vec<Box<str>>,
    /// Percentage of the rows that the conditions are expected to leave; 100 unless the plan is for
    /// EXPLAIN.
    pub share: f64,
    /// All columns that are read are in the clustered key. Compat: that is a read of the key alone,
    /// though the rows are stored with it.
    pub key_only: bool,
    /// All columns that are read are in the index or in the clustered key behind it. Compat: that
    /// is a read of the index alone, though a string cannot be read from a key.
    pub entry_only: bool,
    /// Its conditions, apart from those that a key answers.
    pub tested: Tested,
    /// Rows per key that a lookup is said to find, or a scan whose key comes from an outer block.
    pub rows_per_key: f64,
    /// Whether it answers IN in a change of one table. Compat: its rows are not examined ones.
    pub answers: bool,
    /// The unit that the table belongs to.
    pub unit: usize,
}

/// Conditions on a table that is read by an index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tested {
    /// Some need nothing but the index's entries.
    pub entries: bool,
    /// Some need the rows.
    pub rows: bool,
}

impl Tested {
    /// Whether there is any condition.
    pub fn any(self) -> bool {
        self.entries || self.rows
    }

    /// The same conditions, tested on rows.
    pub fn with_rows_only(self) -> Self {
        Self { entries: false, rows: self.any() }
    }
}

/// Access path of a scan.
#[derive(Clone, Debug)]
pub enum Access {
    /// The clustered index from end to end.
    Full {
        /// Whether it reads from the last row to the first.
        reverse: bool,
    },
    /// Ranges of an index, or all of it.
    Index(IndexRange),
    /// Ranges of several indexes: each row once, in the order of the clustered key.
    Union(Vec<IndexRange>),
    /// The hits of a full-text search, in its order.
    Text(SearchId),
}

/// Ranges of one index.
#[derive(Clone, Debug)]
pub struct IndexRange {
    /// Position of the index in the table's definition.
    pub index: usize,
    /// Ranges to read, the alternatives of an OR or IN. They may overlap and are not sorted, since
    /// bounds are known only at open: the executor encodes, sorts and merges them. An empty list
    /// means the whole index.
    pub ranges: Vec<KeyRange>,
    /// Read from the greatest key to the least.
    pub reverse: bool,
    /// Index entries hold all the columns, so rows are not fetched.
    pub covering: bool,
    /// All the columns are in the index or the clustered key, so a shared lock on the entry is
    /// enough.
    pub entry_locks: bool,
    /// The rows must come in index order over all ranges, because the plan has no sort.
    pub ordered: bool,
    /// One range over all parts of a unique key: at most one row.
    pub unique: bool,
    /// Reads only the ends of each group of entries.
    pub groups: Option<GroupEnds>,
}

impl IndexRange {
    /// The ends of groups that are read, if not all entries are.
    pub fn ends(&self) -> Option<&GroupEnds> {
        self.groups.as_ref().filter(|groups| !groups.passed)
    }
}

/// Of the entries that agree in the first parts of an index, only some are read, at least one. This
/// is valid when the ranges, the filter and the readers above use nothing else of those entries
/// than the least and the greatest value of a part behind, of all entries or of those within ranges
/// of the parts behind.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupEnds {
    /// Number of leading parts that define a group.
    pub parts: usize,
    /// Ranges of the parts behind these, the alternatives of an OR or IN; other entries do not
    /// count. The ends of each are read. Empty: all entries count.
    pub within: Vec<KeyRange>,
    /// Number of parts between these and the one whose ends are read.
    pub gap: usize,
    /// Read the first entry, and the first entry in which that part is not NULL.
    pub first: bool,
    /// Read the last entry.
    pub last: bool,
    /// Read all entries within the ranges of the index instead, because groups have few of them.
    pub passed: bool,
}

impl GroupEnds {
    /// Whether one entry is read of each group, if any counts.
    pub fn is_one(&self) -> bool {
        !self.first && !self.last
    }

    /// Whether only the last entry of each group is read.
    pub fn is_last_only(&self) -> bool {
        self.last && !self.first
    }

    /// Number of entries read of each group, at most.
    pub fn most_entries(&self) -> usize {
        match self.is_one() {
            true => 1,
            false => self.within.len().max(1) * (1 + usize::from(self.first && self.last)),
        }
    }
}

/// A range of an index: equal values of the first parts, then bounds on at most one part.
///
/// Bound expressions read no columns (only constants, parameters, slots, variables, uncorrelated
/// subqueries). The executor evaluates them at open and encodes them as keys. They compare with the
/// column without a change of its representation, but may have another type of the same family
/// (decimal scale, integer width, date against datetime). A value that the column cannot hold
/// exactly equals nothing; as a bound it is moved to the next value inside the range and included.
/// NULL in `equal` or in a bound makes the range empty, except where `null_safe`. A string is cut
/// to the length of a prefix part, and bounds on such a part include their end, since the filter
/// decides.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeyRange {
    /// Values of the first key parts.
    pub equal: Vec<Expr>,
    /// For each of `equal`, whether NULL matches NULL (`<=>`, `IS NULL`).
    pub null_safe: Vec<bool>,
    /// Lower bound of the next part. A literal NULL as excluded bound removes only the NULLs.
    pub lower: RangeBound,
    /// Upper bound of the next part. If only `upper` is bounded, NULLs of the part are outside the
    /// range.
    pub upper: RangeBound,
    /// In place of bounds: a LIKE pattern with whose constant prefix the next part begins, and the
    /// code of its escape character (0: none). The condition itself stays in the filter.
    pub like: Option<(Expr, u32)>,
}

impl KeyRange {
    /// The values of the first parts and of the bounds, without a pattern.
    pub fn values(&self) -> impl Iterator<Item = &Expr> {
        let ends = [&self.lower, &self.upper].into_iter().filter_map(|end| match end {
            RangeBound::Unbounded => None,
            RangeBound::Included(e) | RangeBound::Excluded(e) => Some(e),
        });
        self.equal.iter().chain(ends)
    }

    /// Whether a part after the equal ones is restricted.
    pub fn is_bounded(&self) -> bool {
        let ends = (&self.lower, &self.upper);
        self.like.is_some() || !matches!(ends, (RangeBound::Unbounded, RangeBound::Unbounded))
    }
}

/// One end of a range.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum RangeBound {
    /// Unbounded.
    #[default]
    Unbounded,
    /// The value is inside the range.
    Included(Expr),
    /// The value is outside the range.
    Excluded(Expr),
}

/// The inner side of an index join: rows of `table` whose index key begins with given values.
#[derive(Clone, Debug)]
pub struct IndexLookup {
    /// The table.
    pub table: Arc<TableInfo>,
    /// Alias shown by EXPLAIN.
    pub alias: Box<str>,
    /// Positions in the table of the columns read.
    pub columns: Vec<usize>,
    /// Position of the index in the table's definition.
    pub index: usize,
    /// Values of the first key parts, over the outer row, converted as in [`KeyRange`]. NULL finds
    /// nothing.
    pub keys: Vec<Expr>,
    /// For each of `keys`, whether NULL matches NULL (`<=>`).
    pub null_safe: Vec<bool>,
    /// Whether there is at most one row per key.
    pub unique: bool,
    /// Rows expected per key.
    pub matches: f64,
    /// Index entries hold all the columns, so rows are not fetched.
    pub covering: bool,
    /// All the columns are in the index or the clustered key, so a shared lock on the entry is
    /// enough.
    pub entry_locks: bool,
    /// Columns that are computed from others, not read: position in `columns` and expression, in
    /// order of computation.
    pub computed: Vec<(usize, Expr)>,
    /// Conditions over `columns` alone, tested before the row is joined.
    pub filter: Vec<Expr>,
    /// The leaves that are read, if the table has any.
    pub parts: Option<Box<PartsRead>>,
    /// Lock on the rows read.
    pub lock: RowLock,
    /// Whether the clustered key follows the columns, in the joined row too.
    pub row_keys: bool,
    /// More for EXPLAIN.
    pub shown: Shown,
}

/// Reads a computed table. Output: `columns` in this order, then the row's number in the table if
/// `numbered`.
#[derive(Clone, Debug)]
pub struct SystemTableScan {
    /// The table's definition.
    pub table: Arc<TableInfo>,
    /// Alias shown by EXPLAIN.
    pub alias: Box<str>,
    /// Positions in the table of the output columns.
    pub columns: Vec<usize>,
    /// Whether the rows are changed, so that they need their numbers: 8 bytes, from 1.
    pub numbered: bool,
    /// Conditions over the output columns.
    pub filter: Vec<Expr>,
    /// Constants that reduce the rows to compute. Their conditions are in `filter` too.
    pub hints: SystemHints,
}

/// Constants that are compared for equality with the columns of schema and table names.
#[derive(Clone, Debug, Default)]
pub struct SystemHints {
    /// For `TABLE_SCHEMA`, `SCHEMA_NAME` and the like.
    pub schema: Option<Expr>,
    /// For `TABLE_NAME` and the like.
    pub table: Option<Expr>,
    /// A condition on the names that the table lists, as an expression over a batch of names. It
    /// raises no warning and no error, so that it may be evaluated once more than for the rows.
    pub listed: Option<Expr>,
}
