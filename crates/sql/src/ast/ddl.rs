//! Definitions of schemas, tables, indexes, views and sequences, except ALTER TABLE's actions.
//! `None` and an empty list are clauses that are not given: defaults are the executor's business.

use super::{
    CharsetName, DataType, Expr, Ident, LockWait, PartitionBy, Query, StringLiteral, TableName,
};

/// `CREATE TABLE`.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateTable {
    /// `OR REPLACE`.
    pub or_replace: bool,
    /// `TEMPORARY`.
    pub temporary: bool,
    /// `IF NOT EXISTS`.
    pub if_not_exists: bool,
    /// The table.
    pub name: TableName,
    /// Elements, or the table to copy.
    pub source: CreateSource,
    /// Options, in order: the last one of a kind wins.
    pub options: Vec<TableOption>,
    /// `PARTITION BY`.
    pub partition_by: Option<Box<PartitionBy>>,
    /// `[IGNORE|REPLACE] [AS] query`.
    pub select: Option<Box<CreateSelect>>,
}

/// Source of a table's definition.
#[derive(Clone, Debug, PartialEq)]
pub enum CreateSource {
    /// Columns, keys and constraints; empty if only a query defines the table.
    Elements(Vec<TableElement>),
    /// `LIKE table`.
    Like(TableName),
}

/// The query of CREATE TABLE ... SELECT.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateSelect {
    /// Handling of rows with a duplicate key.
    pub duplicates: super::OnDuplicate,
    /// The query.
    pub query: Query,
}

/// One element of a table definition.
#[derive(Clone, Debug, PartialEq)]
pub enum TableElement {
    /// A column.
    Column(Box<ColumnDef>),
    /// A key.
    Index(Box<IndexDef>),
    /// A foreign key.
    ForeignKey(Box<ForeignKeyDef>),
    /// `[CONSTRAINT name] CHECK (expr)`.
    Check(Box<CheckDef>),
    /// `PERIOD FOR name (start, end)`; `SYSTEM_TIME` is the period of system versioning.
    Period {
        /// Name of the period.
        name: Ident,
        /// Column of the start.
        start: Ident,
        /// Column of the end.
        end: Ident,
    },
}

/// A column definition.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnDef {
    /// Its name.
    pub name: Ident,
    /// Qualifiers before the name, which must name the table itself.
    pub qualifier: Vec<Ident>,
    /// Its type; columns `AS ROW START` have one too.
    pub data_type: DataType,
    /// `NULL` is true, `NOT NULL` false.
    pub nullable: Option<bool>,
    /// `DEFAULT`.
    pub default: Option<Expr>,
    /// `ON UPDATE CURRENT_TIMESTAMP[(fsp)]`.
    pub on_update: Option<Expr>,
    /// `AUTO_INCREMENT`.
    pub auto_increment: bool,
    /// `[PRIMARY] KEY` or `UNIQUE [KEY]`.
    pub key: Option<ColumnKey>,
    /// `COMMENT`.
    pub comment: Option<Box<str>>,
    /// `[GENERATED ALWAYS] AS (expr)`.
    pub generated: Option<Box<Generated>>,
    /// `[CONSTRAINT name] CHECK (expr)`.
    pub check: Option<Box<CheckDef>>,
    /// `REFERENCES ...`, which defines a foreign key.
    pub references: Option<Box<References>>,
    /// `INVISIBLE`.
    pub invisible: bool,
    /// `COMPRESSED`, with the method if given.
    pub compressed: Option<Option<Box<str>>>,
    /// `WITH | WITHOUT SYSTEM VERSIONING`.
    pub system_versioning: Option<bool>,
    /// `REF_SYSTEM_ID`.
    pub srid: Option<u64>,
    /// Options of the engine: `name = value`.
    pub options: Vec<EngineOption>,
}

/// A key in a column definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ColumnKey {
    /// `PRIMARY KEY` or `KEY`.
    Primary,
    /// `UNIQUE`.
    Unique,
}

/// Value of a generated column.
#[derive(Clone, Debug, PartialEq)]
pub enum Generated {
    /// `AS (expr)`.
    Expr {
        /// The expression.
        expr: Expr,
        /// `STORED`, `PERSISTENT`; otherwise virtual.
        stored: bool,
    },
    /// `GENERATED ALWAYS AS ROW START`.
    RowStart,
    /// `GENERATED ALWAYS AS ROW END`.
    RowEnd,
}

/// A check constraint.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckDef {
    /// Its name, if given.
    pub name: Option<Ident>,
    /// `IF NOT EXISTS` (ALTER TABLE).
    pub if_not_exists: bool,
    /// The condition.
    pub expr: Expr,
}

/// Kinds of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IndexKind {
    /// `PRIMARY KEY`.
    Primary,
    /// `UNIQUE`.
    Unique,
    /// `KEY`, `INDEX`.
    Plain,
    /// `FULLTEXT`.
    Fulltext,
    /// `SPATIAL`.
    Spatial,
}

/// A key.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexDef {
    /// Kind of the key.
    pub kind: IndexKind,
    /// Its name: the name of the key, else that of `CONSTRAINT`.
    pub name: Option<Ident>,
    /// `IF NOT EXISTS`.
    pub if_not_exists: bool,
    /// Its parts.
    pub parts: Vec<IndexPart>,
    /// `period WITHOUT OVERLAPS` at the end of the parts.
    pub without_overlaps: Option<Ident>,
    /// Its options.
    pub options: IndexOptions,
}

/// A part of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexPart {
    /// The column.
    pub column: Ident,
    /// Length of the prefix.
    pub length: Option<u64>,
    /// `DESC`.
    pub descending: bool,
}

/// Options of a key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IndexOptions {
    /// `USING`.
    pub algorithm: Option<IndexAlgorithm>,
    /// `KEY_BLOCK_SIZE`.
    pub key_block_size: Option<u64>,
    /// `COMMENT`.
    pub comment: Option<Box<str>>,
    /// `WITH PARSER`.
    pub parser: Option<Ident>,
    /// `IGNORED` is true, `NOT IGNORED` false.
    pub ignored: Option<bool>,
    /// `CLUSTERING`.
    pub clustering: Option<bool>,
    /// Options of the engine.
    pub engine: Vec<EngineOption>,
}

/// Index structures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IndexAlgorithm {
    /// `BTREE`.
    Btree,
    /// `HASH`.
    Hash,
    /// `RTREE`.
    Rtree,
}

/// `name = value`, meant for the engine.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineOption {
    /// The option.
    pub name: Ident,
    /// Its value as text, `None` for `DEFAULT`.
    pub value: Option<Box<str>>,
}

/// A foreign key.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeignKeyDef {
    /// Name after CONSTRAINT.
    pub constraint: Option<Ident>,
    /// Name after FOREIGN KEY.
    pub name: Option<Ident>,
    /// `IF NOT EXISTS`.
    pub if_not_exists: bool,
    /// Its columns.
    pub columns: Vec<Ident>,
    /// Table and columns they refer to.
    pub references: References,
}

/// `REFERENCES table (columns) ...`.
#[derive(Clone, Debug, PartialEq)]
pub struct References {
    /// Name after CONSTRAINT, if the reference is part of a column's definition.
    pub constraint: Option<Ident>,
    /// The parent table.
    pub table: TableName,
    /// Its columns, if given.
    pub columns: Vec<Ident>,
    /// `ON DELETE`.
    pub on_delete: Option<ReferenceAction>,
    /// `ON UPDATE`.
    pub on_update: Option<ReferenceAction>,
    /// `MATCH`.
    pub match_kind: Option<MatchKind>,
}

/// Action on the child rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReferenceAction {
    /// `RESTRICT`.
    Restrict,
    /// `CASCADE`.
    Cascade,
    /// `SET NULL`.
    SetNull,
    /// `NO ACTION`.
    NoAction,
    /// `SET DEFAULT`.
    SetDefault,
}

/// `MATCH` of a foreign key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MatchKind {
    /// `FULL`.
    Full,
    /// `PARTIAL`.
    Partial,
    /// `SIMPLE`.
    Simple,
}

/// An option of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum TableOption {
    /// `ENGINE`.
    Engine(Ident),
    /// `AUTO_INCREMENT`.
    AutoIncrement(u64),
    /// `AVG_ROW_LENGTH`.
    AvgRowLength(u64),
    /// `[DEFAULT] CHARACTER SET`.
    Charset(CharsetName),
    /// `[DEFAULT] COLLATE`.
    Collate(Box<str>),
    /// `CHECKSUM`.
    Checksum(bool),
    /// `PAGE_CHECKSUM`.
    PageChecksum(bool),
    /// `COMMENT`.
    Comment(Box<str>),
    /// `CONNECTION`.
    Connection(StringLiteral),
    /// `DATA DIRECTORY`.
    DataDirectory(Box<str>),
    /// `INDEX DIRECTORY`.
    IndexDirectory(Box<str>),
    /// `DELAY_KEY_WRITE`.
    DelayKeyWrite(bool),
    /// `INSERT_METHOD`: `NO`, `FIRST` or `LAST`.
    InsertMethod(Ident),
    /// `KEY_BLOCK_SIZE`.
    KeyBlockSize(u64),
    /// `MAX_ROWS`.
    MaxRows(u64),
    /// `MIN_ROWS`.
    MinRows(u64),
    /// `PACK_KEYS`, `None` for `DEFAULT`.
    PackKeys(Option<bool>),
    /// `PASSWORD`.
    Password(StringLiteral),
    /// `ROW_FORMAT`.
    RowFormat(RowFormat),
    /// `STATS_AUTO_RECALC`, `None` for `DEFAULT`.
    StatsAutoRecalc(Option<bool>),
    /// `STATS_PERSISTENT`, `None` for `DEFAULT`.
    StatsPersistent(Option<bool>),
    /// `STATS_SAMPLE_PAGES`, `None` for `DEFAULT`.
    StatsSamplePages(Option<u64>),
    /// `TRANSACTIONAL`, `None` for `DEFAULT`.
    Transactional(Option<bool>),
    /// `UNION (tables)`.
    Union(Vec<TableName>),
    /// `TABLESPACE name`.
    Tablespace(Ident),
    /// `STORAGE DISK | MEMORY`.
    Storage(Ident),
    /// `SEQUENCE = n`.
    Sequence(bool),
    /// `WITH SYSTEM VERSIONING`.
    SystemVersioning,
    /// Any other option; it is meant for the engine.
    Other(EngineOption),
}

/// `ROW_FORMAT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the names are the SQL words
pub enum RowFormat {
    Default,
    Dynamic,
    Fixed,
    Compressed,
    Redundant,
    Compact,
    Page,
}

/// `CREATE INDEX`.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateIndex {
    /// `OR REPLACE`.
    pub or_replace: bool,
    /// The key, its name always present.
    pub index: IndexDef,
    /// The table.
    pub table: TableName,
    /// `WAIT n`, `NOWAIT`.
    pub wait: Option<LockWait>,
    /// `ALGORITHM`.
    pub algorithm: Option<super::AlterAlgorithm>,
    /// `LOCK`.
    pub lock: Option<super::AlterLock>,
}

/// `DROP INDEX`.
#[derive(Clone, Debug, PartialEq)]
pub struct DropIndex {
    /// `IF EXISTS`.
    pub if_exists: bool,
    /// The key; `PRIMARY` is the primary key.
    pub name: Ident,
    /// The table.
    pub table: TableName,
    /// `WAIT n`, `NOWAIT`.
    pub wait: Option<LockWait>,
    /// `ALGORITHM`.
    pub algorithm: Option<super::AlterAlgorithm>,
    /// `LOCK`.
    pub lock: Option<super::AlterLock>,
}

/// An option of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SchemaOption {
    /// `CHARACTER SET`.
    Charset(CharsetName),
    /// `COLLATE`.
    Collate(Box<str>),
    /// `COMMENT`.
    Comment(Box<str>),
}

/// `CREATE DATABASE`.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateDatabase {
    /// `OR REPLACE`.
    pub or_replace: bool,
    /// `IF NOT EXISTS`.
    pub if_not_exists: bool,
    /// Its name.
    pub name: Ident,
    /// Its options.
    pub options: Vec<SchemaOption>,
}

/// `ALTER DATABASE`.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterDatabase {
    /// Its name, the current one if absent.
    pub name: Option<Ident>,
    /// `UPGRADE DATA DIRECTORY NAME`.
    pub upgrade_data_directory: bool,
    /// The options.
    pub options: Vec<SchemaOption>,
}

/// `DROP TABLE`, `DROP VIEW`, `DROP SEQUENCE`.
#[derive(Clone, Debug, PartialEq)]
pub struct DropTables {
    /// Kind of the objects.
    pub kind: TableKind,
    /// `TEMPORARY`.
    pub temporary: bool,
    /// `IF EXISTS`.
    pub if_exists: bool,
    /// The objects.
    pub names: Vec<TableName>,
    /// `WAIT n`, `NOWAIT`.
    pub wait: Option<LockWait>,
}

/// Kinds of objects that share the name space of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TableKind {
    /// `TABLE`.
    Table,
    /// `VIEW`.
    View,
    /// `SEQUENCE`.
    Sequence,
}

/// `RENAME TABLE`.
#[derive(Clone, Debug, PartialEq)]
pub struct RenameTables {
    /// `IF EXISTS`.
    pub if_exists: bool,
    /// Old and new names, in order.
    pub pairs: Vec<(TableName, TableName)>,
    /// `WAIT n`, `NOWAIT`.
    pub wait: Option<LockWait>,
}

/// `CREATE VIEW` or `ALTER VIEW`.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateView {
    /// `ALTER VIEW`.
    pub alter: bool,
    /// `OR REPLACE`.
    pub or_replace: bool,
    /// `IF NOT EXISTS`.
    pub if_not_exists: bool,
    /// `ALGORITHM`.
    pub algorithm: ViewAlgorithm,
    /// `DEFINER`.
    pub definer: Option<super::AccountName>,
    /// `SQL SECURITY`; `None` if it is not given.
    pub security: Option<SqlSecurity>,
    /// The view.
    pub name: TableName,
    /// Names of its columns, if given.
    pub columns: Vec<Ident>,
    /// The query.
    pub query: Query,
    /// `WITH CHECK OPTION`.
    pub check_option: Option<CheckOption>,
}

/// Algorithm for executing a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ViewAlgorithm {
    /// `UNDEFINED`.
    Undefined,
    /// `MERGE`.
    Merge,
    /// `TEMPTABLE`.
    TempTable,
}

/// User whose privileges count: the definer or the invoker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SqlSecurity {
    /// `DEFINER`.
    Definer,
    /// `INVOKER`.
    Invoker,
}

/// Check of rows that are written through a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CheckOption {
    /// `CASCADED`, also if neither word is given.
    Cascaded,
    /// `LOCAL`.
    Local,
}

/// `CREATE SEQUENCE`.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateSequence {
    /// `OR REPLACE`.
    pub or_replace: bool,
    /// `TEMPORARY`.
    pub temporary: bool,
    /// `IF NOT EXISTS`.
    pub if_not_exists: bool,
    /// Its name.
    pub name: TableName,
    /// Its options.
    pub options: SequenceOptions,
    /// Options of the table that stores it.
    pub table_options: Vec<TableOption>,
}

/// `ALTER SEQUENCE`.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterSequence {
    /// `IF EXISTS`.
    pub if_exists: bool,
    /// Its name.
    pub name: TableName,
    /// Its options.
    pub options: SequenceOptions,
}

/// Options of a sequence; `None` is an option that is not given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SequenceOptions {
    /// `START WITH`.
    pub start: Option<i64>,
    /// `INCREMENT BY`.
    pub increment: Option<i64>,
    /// `MINVALUE n`; `Some(None)` is `NO MINVALUE`.
    pub min_value: Option<Option<i64>>,
    /// `MAXVALUE n`; `Some(None)` is `NO MAXVALUE`.
    pub max_value: Option<Option<i64>>,
    /// `CACHE n`, `NOCACHE` is 0.
    pub cache: Option<i64>,
    /// `CYCLE` or `NOCYCLE`.
    pub cycle: Option<bool>,
    /// `RESTART [WITH n]`; `Some(None)` restarts at the start.
    pub restart: Option<Option<i64>>,
}
