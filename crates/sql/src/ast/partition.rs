//! `PARTITION BY` of table definitions.
//! Also used by ALTER TABLE. Kept as written: whether values overlap is not checked here.

use super::{EngineOption, Expr, Ident};

/// Partitioning of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct PartitionBy {
    /// The method.
    pub method: PartitionMethod,
    /// `PARTITIONS n`.
    pub count: Option<u64>,
    /// `SUBPARTITION BY`.
    pub subpartition: Option<SubpartitionBy>,
    /// The partitions, if given.
    pub partitions: Vec<PartitionDef>,
}

/// Method that assigns rows to partitions.
#[derive(Clone, Debug, PartialEq)]
pub enum PartitionMethod {
    /// `[LINEAR] HASH (expr)`.
    Hash {
        /// Whether `LINEAR` was written.
        linear: bool,
        /// The expression.
        expr: Expr,
    },
    /// `[LINEAR] KEY [ALGORITHM = n] (columns)`.
    Key {
        /// Whether `LINEAR` was written.
        linear: bool,
        /// The hash function: 1 or 2.
        algorithm: Option<u64>,
        /// The columns; empty for the primary key.
        columns: Vec<Ident>,
    },
    /// `RANGE (expr)`.
    Range(Expr),
    /// `RANGE COLUMNS (columns)`.
    RangeColumns(Vec<Ident>),
    /// `LIST (expr)`.
    List(Expr),
    /// `LIST COLUMNS (columns)`.
    ListColumns(Vec<Ident>),
    /// `SYSTEM_TIME ...` of a versioned table.
    SystemTime {
        /// `INTERVAL amount unit`.
        interval: Option<(Box<Expr>, super::IntervalUnit)>,
        /// `STARTS expr`.
        starts: Option<Box<Expr>>,
        /// `LIMIT n`.
        limit: Option<u64>,
        /// `AUTO`.
        auto: bool,
    },
}

/// `SUBPARTITION BY`.
#[derive(Clone, Debug, PartialEq)]
pub struct SubpartitionBy {
    /// HASH or KEY.
    pub method: PartitionMethod,
    /// `SUBPARTITIONS n`.
    pub count: Option<u64>,
}

/// One partition.
#[derive(Clone, Debug, PartialEq)]
pub struct PartitionDef {
    /// Its name.
    pub name: Ident,
    /// The rows it holds.
    pub values: PartitionValues,
    /// Its options.
    pub options: Vec<PartitionOption>,
    /// Its subpartitions, if given.
    pub subpartitions: Vec<SubpartitionDef>,
}

/// The rows a partition holds.
#[derive(Clone, Debug, PartialEq)]
pub enum PartitionValues {
    /// No values given (HASH, KEY).
    None,
    /// `VALUES LESS THAN (..)`; `None` is MAXVALUE.
    LessThan(Vec<Option<Expr>>),
    /// `VALUES IN (..)`: tuples with one value per column.
    In(Vec<Vec<Expr>>),
    /// `DEFAULT`.
    Default,
    /// `HISTORY` of a versioned table.
    History,
    /// `CURRENT` of a versioned table.
    Current,
}

/// One subpartition.
#[derive(Clone, Debug, PartialEq)]
pub struct SubpartitionDef {
    /// Its name.
    pub name: Ident,
    /// Its options.
    pub options: Vec<PartitionOption>,
}

/// An option of a partition.
#[derive(Clone, Debug, PartialEq)]
pub enum PartitionOption {
    /// `ENGINE`.
    Engine(Ident),
    /// `COMMENT`.
    Comment(Box<str>),
    /// `DATA DIRECTORY`.
    DataDirectory(Box<str>),
    /// `INDEX DIRECTORY`.
    IndexDirectory(Box<str>),
    /// `MAX_ROWS`.
    MaxRows(u64),
    /// `MIN_ROWS`.
    MinRows(u64),
    /// `TABLESPACE`.
    Tablespace(Ident),
    /// `NODEGROUP`.
    NodeGroup(u64),
    /// Any other option; it is meant for the engine.
    Other(EngineOption),
}
