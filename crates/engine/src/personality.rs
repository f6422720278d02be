//! An engine as statements see it: its limits, abilities and texts, as plain data.
//!
//! Compat: MariaDB's engines differ in all of this, whichever engine stores the rows here.
//! Statements ask these fields and never compare names. Must not name an engine.

/// Properties of an engine that statements depend on.
#[derive(Debug)]
pub struct Personality {
    /// Name in `ENGINE=`, as shown.
    pub name: &'static str,
    /// Other names that `ENGINE=` accepts.
    pub aliases: &'static [&'static str],
    /// Comment in `information_schema.ENGINES`.
    pub comment: &'static str,
    /// Changes of rows can be rolled back. Without it a failed statement keeps its changes.
    pub transactional: bool,
    /// Takes part in transactions although a rollback leaves its changes; statements warn of that.
    pub outlasts_rollback: bool,
    /// Columns that tables may have.
    pub columns: ColumnLimits,
    /// Keys that tables may have.
    pub keys: KeyLimits,
    /// Statements that tables support.
    pub statements: StatementLimits,
    /// Behaviour of row storage.
    pub rows: RowHabits,
    /// Support of `CHECK`, `ANALYZE`, `OPTIMIZE`, `REPAIR` and `CHECKSUM TABLE`.
    pub maintenance: Maintenance,
    /// Presentation of tables in `SHOW` and `information_schema`.
    pub shown: Shown,
}

/// Columns that tables of an engine may have.
#[derive(Debug)]
pub struct ColumnLimits {
    /// Generated columns.
    pub generated: bool,
    /// Columns of BLOB and TEXT types.
    pub blobs: bool,
    /// AUTO_INCREMENT columns.
    pub auto_increment: bool,
    /// Columns that may be NULL.
    pub nulls: bool,
}

/// Keys that tables of an engine may have.
#[derive(Debug)]
pub struct KeyLimits {
    /// Largest number of keys in a table.
    pub count: usize,
    /// Largest size of a key, in bytes.
    pub bytes: u64,
    /// A unique key may be longer; it is then an index of hashes.
    pub hashed: bool,
    /// A name that no key may have.
    pub reserved: Option<&'static str>,
    /// Rows are kept in the order of the primary key.
    pub clustered: bool,
    /// An AUTO_INCREMENT column may be a later part of a key; it then counts per value of the parts
    /// before it.
    pub counts_in_groups: bool,
    /// Keys have no order unless `BTREE` is asked for.
    pub unordered: bool,
    /// `DISABLE KEYS` is accepted.
    pub can_be_disabled: bool,
    /// `KEY_BLOCK_SIZE` of a key is shown.
    pub shows_block_size: bool,
    /// FULLTEXT indexes.
    pub fulltext: FullText,
}

/// FULLTEXT indexes of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FullText {
    /// None.
    Never,
    /// Queries have a grammar; only committed rows are found; temporary tables have none.
    Strict,
    /// Queries are never wrong; boolean queries need no index.
    Lenient,
}

/// Statements that tables of an engine support.
#[derive(Debug)]
pub struct StatementLimits {
    /// `HANDLER`.
    pub handler: bool,
    /// `INSERT DELAYED`.
    pub delayed: bool,
    /// `FOREIGN KEY`, at either end.
    pub foreign_keys: bool,
    /// `ALTER TABLE` without a copy of the rows.
    pub in_place: bool,
    /// `PARTITION BY`.
    pub partitions: bool,
}

/// Behaviour of an engine's row storage.
#[derive(Debug)]
pub struct RowHabits {
    /// The number of rows is known exactly.
    pub counted: bool,
    /// Rows come in insertion order, unless an order is asked for.
    pub insertion_order: bool,
    /// A query sees rows as they were at one time, whatever others change meanwhile.
    pub snapshots: bool,
    /// `REPLACE` does not count a row that it replaces by an equal one.
    pub spares_equal: bool,
    /// `TRUNCATE` of a table in partitions leaves its AUTO_INCREMENT counter as it is.
    pub keeps_counter: bool,
    /// Knowledge of the number of different keys.
    pub distinct: DistinctKeys,
}

/// An engine's knowledge of the number of different keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DistinctKeys {
    /// ANALYZE estimates it; before that, one per row.
    Estimated,
    /// It follows from the integral number of rows per key that ANALYZE keeps; before that,
    /// unknown.
    PerKey,
    /// A guess: two rows per key of a hash table.
    Guessed,
}

/// Tables of the schema `mysql` in which an engine keeps statistics of its tables.
#[derive(Debug)]
pub struct KeptStatistics {
    /// Name of the one with a row for each table.
    pub tables: &'static str,
    /// Name of the one with rows for each index.
    pub indexes: &'static str,
    /// Name of the clustered index of a table without primary key.
    pub row_index: &'static str,
    /// Name of the column of that index.
    pub row_number: &'static str,
    /// Bytes of a page.
    pub page_bytes: u64,
}

/// Maintenance statements an engine supports.
#[derive(Debug)]
pub struct Maintenance {
    /// `CHECK TABLE`.
    pub checks: bool,
    /// `ANALYZE TABLE`.
    pub analyzes: bool,
    /// `REPAIR TABLE`.
    pub repairs: bool,
    /// `OPTIMIZE TABLE`.
    pub optimizes: Optimizes,
    /// Maintenance is not repeated while no row has changed since.
    pub remembers: bool,
    /// The option `CHECKSUM` makes the engine keep a checksum.
    pub keeps_checksum: bool,
    /// `CACHE INDEX`.
    pub assigns_keys: bool,
    /// `LOAD INDEX INTO CACHE`.
    pub preloads_keys: bool,
    /// Tables in which ANALYZE keeps what it finds.
    pub kept: Option<&'static KeptStatistics>,
}

/// Support of `OPTIMIZE TABLE` by an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Optimizes {
    /// The engine does it.
    Itself,
    /// The table is copied and analyzed instead.
    ByCopy,
    /// It is refused.
    Never,
}

/// Presentation of an engine's tables.
#[derive(Debug)]
pub struct Shown {
    /// `ROW_FORMAT` in `information_schema.TABLES`.
    pub row_formats: RowFormats,
    /// Bytes of a tree beside its pages, which are not shown.
    pub tree_overhead: u64,
    /// `PAGE_CHECKSUM` is shown if none was given.
    pub page_checksum: bool,
    /// The option `TRANSACTIONAL` is known.
    pub transactional: bool,
    /// Options of tables that only this engine has.
    pub options: &'static [OwnOption],
}

/// The row formats an engine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowFormats {
    /// Fixed or dynamic, by the types of columns.
    ByColumns,
    /// As `ByColumns`, unless another is asked for. The data length of a table of fixed rows is
    /// that of its rows.
    ByColumnsOrAsked,
    /// Fixed.
    Fixed,
    /// Pages unless fixed or dynamic rows are asked for.
    Pages,
    /// Dynamic unless another is asked for.
    Dynamic,
}

/// An option of tables that only one engine has.
#[derive(Debug)]
pub struct OwnOption {
    /// Its name in capitals.
    pub name: &'static str,
    /// Its possible values.
    pub values: OptionValues,
}

/// Possible values of an option.
#[derive(Debug)]
pub enum OptionValues {
    /// Yes or no.
    Boolean,
    /// A number from the first to the last.
    Number(u64, u64),
    /// One of these words.
    Word(&'static [&'static str]),
}

impl Personality {
    /// No engine, as for views. Engines state only their differences from this.
    pub const NONE: Self = Self {
        name: "",
        aliases: &[],
        comment: "",
        transactional: false,
        outlasts_rollback: false,
        columns: ColumnLimits::NONE,
        keys: KeyLimits::NONE,
        statements: StatementLimits::NONE,
        rows: RowHabits::NONE,
        maintenance: Maintenance::NONE,
        shown: Shown::NONE,
    };

    /// The engine of a table whose engine does not exist any more. The table cannot be opened. Its
    /// definition is read once, at the start, so its name may stay in memory.
    pub fn missing(name: &str) -> &'static Self {
        let name = Box::leak(name.to_owned().into_boxed_str());
        Box::leak(Box::new(Self { name, ..Self::NONE }))
    }

    /// Whether `ENGINE=name` means this engine.
    pub fn is_called(&self, name: &str) -> bool {
        let mut names = std::iter::once(&self.name).chain(self.aliases);
        names.any(|known| known.eq_ignore_ascii_case(name))
    }
}

impl ColumnLimits {
    /// Any column.
    pub const NONE: Self = Self { generated: true, blobs: true, auto_increment: true, nulls: true };
}

impl KeyLimits {
    /// The limits of the statements themselves.
    pub const NONE: Self = Self {
        count: 64,
        bytes: 3072,
        hashed: true,
        reserved: None,
        clustered: false,
        counts_in_groups: false,
        unordered: false,
        can_be_disabled: false,
        shows_block_size: true,
        fulltext: FullText::Never,
    };
}

impl StatementLimits {
    /// None of these statements.
    pub const NONE: Self = Self {
        handler: false,
        delayed: false,
        foreign_keys: false,
        in_place: false,
        partitions: false,
    };
}

impl RowHabits {
    /// The least knowledge of rows.
    pub const NONE: Self = Self {
        counted: false,
        insertion_order: false,
        snapshots: true,
        spares_equal: false,
        keeps_counter: false,
        distinct: DistinctKeys::Estimated,
    };
}

impl Maintenance {
    /// `CHECK` and `ANALYZE` work, nothing else does.
    pub const NONE: Self = Self {
        checks: true,
        analyzes: true,
        repairs: false,
        optimizes: Optimizes::Never,
        remembers: false,
        keeps_checksum: false,
        assigns_keys: false,
        preloads_keys: false,
        kept: None,
    };
}

impl Shown {
    /// No peculiarities.
    pub const NONE: Self = Self {
        row_formats: RowFormats::ByColumns,
        tree_overhead: 0,
        page_checksum: false,
        transactional: false,
        options: &[],
    };
}
