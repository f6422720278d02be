//! `ALTER TABLE` and its actions.
//! Actions stay in the order of the statement; whether they fit together is not checked here.

use super::{
    CharsetName, CheckDef, ColumnDef, Expr, ForeignKeyDef, Ident, IndexDef, LockWait, OrderItem,
    PartitionBy, PartitionDef, TableName, TableOption,
};

/// `ALTER TABLE`.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterTable {
    /// `ONLINE`.
    pub online: bool,
    /// `IGNORE`.
    pub ignore: bool,
    /// `IF EXISTS`.
    pub if_exists: bool,
    /// The table.
    pub table: TableName,
    /// `WAIT n`, `NOWAIT`.
    pub wait: Option<LockWait>,
    /// The actions, in order.
    pub actions: Vec<AlterAction>,
}

/// Position of a new or changed column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnPosition {
    /// `FIRST`.
    First,
    /// `AFTER column`.
    After(Ident),
}

/// One action of ALTER TABLE.
#[derive(Clone, Debug, PartialEq)]
pub enum AlterAction {
    /// `ADD [COLUMN] definition [position]`; `ADD (..)` is one action per element.
    AddColumn {
        /// `IF NOT EXISTS`.
        if_not_exists: bool,
        /// The definition.
        column: Box<ColumnDef>,
        /// Its position; at the end if absent.
        position: Option<ColumnPosition>,
    },
    /// `ADD key`.
    AddIndex(Box<IndexDef>),
    /// `ADD FOREIGN KEY`.
    AddForeignKey(Box<ForeignKeyDef>),
    /// `ADD CHECK`.
    AddCheck(Box<CheckDef>),
    /// `ADD PERIOD FOR name (start, end)`.
    AddPeriod {
        /// `IF NOT EXISTS`.
        if_not_exists: bool,
        /// Name of the period.
        name: Ident,
        /// Column of the start.
        start: Ident,
        /// Column of the end.
        end: Ident,
    },
    /// `DROP PERIOD FOR name`.
    DropPeriod {
        /// `IF EXISTS`.
        if_exists: bool,
        /// Name of the period.
        name: Ident,
    },
    /// `ADD SYSTEM VERSIONING`.
    AddSystemVersioning,
    /// `DROP SYSTEM VERSIONING`.
    DropSystemVersioning,
    /// `DROP [COLUMN] name`.
    DropColumn {
        /// `IF EXISTS`.
        if_exists: bool,
        /// The column.
        name: Ident,
    },
    /// `DROP PRIMARY KEY`.
    DropPrimaryKey {
        /// `IF EXISTS`.
        if_exists: bool,
    },
    /// `DROP KEY`, `DROP INDEX`.
    DropIndex {
        /// `IF EXISTS`.
        if_exists: bool,
        /// The key.
        name: Ident,
    },
    /// `DROP FOREIGN KEY`.
    DropForeignKey {
        /// `IF EXISTS`.
        if_exists: bool,
        /// The constraint.
        name: Ident,
    },
    /// `DROP CONSTRAINT`: a check, a foreign key or a unique key.
    DropConstraint {
        /// `IF EXISTS`.
        if_exists: bool,
        /// The constraint.
        name: Ident,
    },
    /// `MODIFY [COLUMN] definition [position]`.
    ModifyColumn {
        /// `IF EXISTS`.
        if_exists: bool,
        /// The definition.
        column: Box<ColumnDef>,
        /// Its position; unchanged if absent.
        position: Option<ColumnPosition>,
    },
    /// `CHANGE [COLUMN] old definition [position]`.
    ChangeColumn {
        /// `IF EXISTS`.
        if_exists: bool,
        /// The column's present name.
        old_name: Ident,
        /// The definition.
        column: Box<ColumnDef>,
        /// Its position; unchanged if absent.
        position: Option<ColumnPosition>,
    },
    /// `ALTER [COLUMN] name SET DEFAULT expr`.
    SetDefault {
        /// `IF EXISTS`.
        if_exists: bool,
        /// The column.
        column: Ident,
        /// The default.
        default: Box<Expr>,
    },
    /// `ALTER [COLUMN] name DROP DEFAULT`.
    DropDefault {
        /// `IF EXISTS`.
        if_exists: bool,
        /// The column.
        column: Ident,
    },
    /// `ALTER KEY name [NOT] IGNORED`.
    SetIndexIgnored {
        /// `IF EXISTS`.
        if_exists: bool,
        /// The key.
        name: Ident,
        /// `IGNORED`.
        ignored: bool,
    },
    /// `RENAME COLUMN`.
    RenameColumn {
        /// `IF EXISTS`.
        if_exists: bool,
        /// Present name.
        from: Ident,
        /// New name.
        to: Ident,
    },
    /// `RENAME KEY`, `RENAME INDEX`.
    RenameIndex {
        /// `IF EXISTS`.
        if_exists: bool,
        /// Present name.
        from: Ident,
        /// New name.
        to: Ident,
    },
    /// `RENAME [TO] table`.
    RenameTable(TableName),
    /// `CONVERT TO CHARACTER SET charset [COLLATE collation]`.
    ConvertTo {
        /// The character set.
        charset: CharsetName,
        /// The collation.
        collation: Option<Box<str>>,
    },
    /// `ORDER BY`.
    OrderBy(Vec<OrderItem>),
    /// `ENABLE KEYS`.
    EnableKeys,
    /// `DISABLE KEYS`.
    DisableKeys,
    /// A table option.
    Option(TableOption),
    /// `ALGORITHM`.
    Algorithm(AlterAlgorithm),
    /// `LOCK`.
    Lock(AlterLock),
    /// `FORCE`.
    Force,
    /// `DISCARD TABLESPACE`.
    DiscardTablespace,
    /// `IMPORT TABLESPACE`.
    ImportTablespace,
    /// `PARTITION BY ...`.
    PartitionBy(Box<PartitionBy>),
    /// `REMOVE PARTITIONING`.
    RemovePartitioning,
    /// `ADD PARTITION (definitions)`.
    AddPartition {
        /// `IF NOT EXISTS`.
        if_not_exists: bool,
        /// The new partitions.
        partitions: Vec<PartitionDef>,
        /// Number of new partitions (`PARTITIONS n`), given instead of definitions.
        count: Option<u64>,
    },
    /// `DROP PARTITION names`.
    DropPartition {
        /// `IF EXISTS`.
        if_exists: bool,
        /// The partitions.
        names: Vec<Ident>,
    },
    /// `COALESCE PARTITION n`.
    CoalescePartition(u64),
    /// `REORGANIZE PARTITION [names INTO (definitions)]`.
    ReorganizePartition {
        /// The old partitions; empty with no INTO.
        names: Vec<Ident>,
        /// The new partitions.
        into: Vec<PartitionDef>,
    },
    /// `EXCHANGE PARTITION name WITH TABLE table`.
    ExchangePartition {
        /// The partition.
        name: Ident,
        /// The table.
        table: TableName,
    },
    /// `CONVERT TABLE table TO PARTITION definition`.
    ConvertTableToPartition {
        /// The table.
        table: TableName,
        /// The partition.
        partition: Box<PartitionDef>,
    },
    /// `CONVERT PARTITION name TO TABLE table`.
    ConvertPartitionToTable {
        /// The partition.
        name: Ident,
        /// The table.
        table: TableName,
    },
    /// `ANALYZE | CHECK | OPTIMIZE | REBUILD | REPAIR | TRUNCATE PARTITION names`.
    MaintainPartitions {
        /// The verb of the action.
        action: PartitionMaintenance,
        /// The partitions, all if empty.
        names: Vec<Ident>,
    },
}

/// Maintenance of partitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the names are the SQL words
pub enum PartitionMaintenance {
    Analyze,
    Check,
    Optimize,
    Rebuild,
    Repair,
    Truncate,
}

/// `ALGORITHM`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the names are the SQL words
pub enum AlterAlgorithm {
    Default,
    Inplace,
    Copy,
    Nocopy,
    Instant,
}

/// `LOCK`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the names are the SQL words
pub enum AlterLock {
    Default,
    None,
    Shared,
    Exclusive,
}
