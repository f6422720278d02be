//! How rows of a table are reached: scans, index ranges, lookups. Data only.

use std::sync::Arc;

use selkie_catalog::TableInfo;
use selkie_engine::{LockMode, LockWait};
use selkie_expr::Expr;

/// Reads one table. Output: `columns[output[0]], columns[output[1]], ...`, then, if `row_keys`, the
/// clustered key as a byte-string column.
#[derive(Clone, Debug)]
pub struct TableScan {
    /// The table.
    pub table: Arc<TableInfo>,
    /// Alias shown by EXPLAIN and used in messages.
    pub alias: Box<str>,
    /// Positions in the table of the columns read. With a covering access they are all parts of the
    /// index.
    pub columns: Vec<usize>,
    /// Positions in `columns` of the columns given out; the others serve `filter` only.
    pub output: Vec<usize>,
    /// How rows are found.
    pub access: Access,
    /// Positions in `columns` of those that are computed from the others, not read, in this order.
    pub computed: Vec<(usize, Expr)>,
    /// Conditions over `columns`, cheapest and most selective first.
    pub filter: Vec<Expr>,
    /// For each of `columns`, whether `filter` reads it: decode those first, the others only for
    /// rows that pass.
    pub filter_columns: Vec<bool>,
    /// Lock on rows that are read.
    pub lock: LockMode,
    /// What to do when a row is locked.
    pub wait: LockWait,
    /// Whether the clustered key follows the columns.
    pub row_keys: bool,
    /// What reads the rows may stop before the last one: a LIMIT, and nothing between that reads
    /// all.
    pub row_goal: bool,
    /// The rows are those that an UPDATE changes.
    pub feeds_update: bool,
    /// Names of indexes that could have been used, for EXPLAIN.
    pub possible_keys: Vec<Box<str>>,
    /// Rows expected to be read, those among them that `filter` drops; for EXPLAIN.
    pub examined: f64,
}

/// How a scan finds rows.
#[derive(Clone, Debug)]
pub enum Access {
    /// The clustered index from end to end.
    Full {
        /// From the last row to the first.
        reverse: bool,
    },
    /// Ranges of an index, or all of it.
    Index(IndexRange),
    /// Ranges of several indexes: each row once, in the order of the clustered key.
    Union(Vec<IndexRange>),
}

/// Ranges of one index.
#[derive(Clone, Debug)]
pub struct IndexRange {
    /// Position of the index in the table's definition.
    pub index: usize,
    /// Ranges to read, alternatives of an OR or IN. Not disjoint or sorted: bounds are known only
    /// at open. The executor encodes, sorts and merges them. None at all means the whole index.
    pub ranges: Vec<KeyRange>,
    /// Read from the greatest key to the least.
    pub reverse: bool,
    /// Index entries hold all the columns; rows are not fetched.
    pub covering: bool,
    /// All the columns are in the index or the clustered key: a shared lock is on the entry alone.
    pub entry_locks: bool,
    /// The rows must come in index order (over all ranges), because the plan has no sort.
    pub ordered: bool,
    /// One range over all parts of a unique key: at most one row.
    pub unique: bool,
    /// Only the ends of groups are read.
    pub groups: Option<GroupEnds>,
}

/// Of all entries that agree in the first parts of an index only some are given, at least one.
/// Neither ranges nor filter tell those entries apart, nor does what reads them, but for the least
/// and the greatest value of the next part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupEnds {
    /// The parts that make a group.
    pub parts: usize,
    /// Give the first entry, and the first whose next part is not NULL.
    pub first: bool,
    /// Give the last entry.
    pub last: bool,
}

impl GroupEnds {
    /// Whether of each group the last entry is given and no other.
    pub fn is_last_only(self) -> bool {
        self.last && !self.first
    }
}

/// A range of an index: equal values of the first parts, then at most one part with bounds.
///
/// Bound expressions read no columns (constants, parameters, slots, variables, uncorrelated
/// subqueries); the executor evaluates them at open and encodes them as keys. They compare with
/// the column without changing its representation, but may be of another type of the same family
/// (decimal scale, integer width, date against datetime): a value the column cannot hold exactly
/// equals nothing, and as a bound is moved to the next value inside the range and included. NULL in
/// `equal` or in a bound makes the range empty, except where `null_safe`. A string is cut to the
/// length of a prefix part, and bounds on such a part include their end: the filter decides.
#[derive(Clone, Debug, Default)]
pub struct KeyRange {
    /// Values of the first key parts.
    pub equal: Vec<Expr>,
    /// For each of `equal`: NULL matches NULL (`<=>`, `IS NULL`).
    pub null_safe: Vec<bool>,
    /// Lower bound of the next part. Excluding a literal NULL leaves out the NULLs and nothing
    /// else.
    pub lower: RangeBound,
    /// Upper bound of the next part. NULLs of the part are left out when `lower` is unbounded and
    /// `upper` is not.
    pub upper: RangeBound,
    /// The next part begins with the constant prefix of this LIKE pattern, whose escape character
    /// has the given code (0: none), in place of bounds. The condition itself stays in the filter.
    pub like: Option<(Expr, u32)>,
}

impl KeyRange {
    /// Whether a part behind the equal ones is restricted.
    pub fn is_bounded(&self) -> bool {
        let ends = (&self.lower, &self.upper);
        self.like.is_some() || !matches!(ends, (RangeBound::Unbounded, RangeBound::Unbounded))
    }
}

/// One end of a range.
#[derive(Clone, Debug, Default)]
pub enum RangeBound {
    /// No end.
    #[default]
    Unbounded,
    /// Up to the value, itself included.
    Included(Expr),
    /// Up to the value, itself excluded.
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
    /// For each of `keys`: NULL matches NULL (`<=>`).
    pub null_safe: Vec<bool>,
    /// At most one row per key.
    pub unique: bool,
    /// Rows expected per key.
    pub matches: f64,
    /// Index entries hold all the columns; rows are not fetched.
    pub covering: bool,
    /// All the columns are in the index or the clustered key: a shared lock is on the entry alone.
    pub entry_locks: bool,
    /// Positions in `columns` of those that are computed from the others, not read, in this order.
    pub computed: Vec<(usize, Expr)>,
    /// Conditions over `columns` alone, tested before the row is joined.
    pub filter: Vec<Expr>,
    /// Lock on rows that are read.
    pub lock: LockMode,
    /// What to do when a row is locked.
    pub wait: LockWait,
    /// Whether the clustered key follows the columns (in the joined row too).
    pub row_keys: bool,
    /// Names of indexes that could have been used, for EXPLAIN.
    pub possible_keys: Vec<Box<str>>,
}

/// Reads a computed table. Output: `columns` in this order.
#[derive(Clone, Debug)]
pub struct SystemTableScan {
    /// The table's definition.
    pub table: Arc<TableInfo>,
    /// Alias shown by EXPLAIN.
    pub alias: Box<str>,
    /// Positions in the table of the output columns.
    pub columns: Vec<usize>,
    /// Conditions over the output columns.
    pub filter: Vec<Expr>,
    /// Constants that allow computing fewer rows. They are in `filter` too.
    pub hints: SystemHints,
}

/// Constants compared for equality with the columns that name a schema and a table.
#[derive(Clone, Debug, Default)]
pub struct SystemHints {
    /// For `TABLE_SCHEMA`, `SCHEMA_NAME` and the like.
    pub schema: Option<Expr>,
    /// For `TABLE_NAME` and the like.
    pub table: Option<Expr>,
}
