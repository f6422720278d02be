//! Maintenance, plugins, EXPLAIN and other statements of an administrator.
//! Table options that are single words stay words: only the executor knows which of them matter.

use super::{Expr, Ident, LockWait, Statement, StringLiteral, TableName};

/// `ANALYZE | CHECK | OPTIMIZE | REPAIR | CHECKSUM TABLE`.
#[derive(Clone, Debug, PartialEq)]
pub struct TableMaintenance {
    /// The verb of the statement.
    pub action: MaintenanceAction,
    /// `NO_WRITE_TO_BINLOG`, `LOCAL`.
    pub local: bool,
    /// `VIEW`, not `TABLE` (CHECK, REPAIR).
    pub view: bool,
    /// The tables.
    pub tables: Vec<TableName>,
    /// Words after the tables: `QUICK`, `EXTENDED`, ..., upper case.
    pub options: Vec<&'static str>,
    /// `PERSISTENT FOR ...` of ANALYZE.
    pub persistent: Option<PersistentFor>,
    /// `WAIT n`, `NOWAIT` of OPTIMIZE.
    pub wait: Option<LockWait>,
}

/// Verb of a maintenance statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the names are the SQL words
pub enum MaintenanceAction {
    Analyze,
    Check,
    Optimize,
    Repair,
    Checksum,
}

/// `CACHE INDEX`, `LOAD INDEX INTO CACHE`.
#[derive(Clone, Debug, PartialEq)]
pub struct CacheIndexes {
    /// The key cache that the tables are assigned to; `None` for LOAD INDEX, which reads indexes.
    pub cache: Option<Ident>,
    /// The tables.
    pub tables: Vec<CachedTable>,
}

/// A table of `CACHE INDEX` or `LOAD INDEX INTO CACHE`.
#[derive(Clone, Debug, PartialEq)]
pub struct CachedTable {
    /// The table.
    pub name: TableName,
    /// `PARTITION (names)`, without names for `ALL`.
    pub partitions: Option<Vec<Ident>>,
    /// `INDEX (names)`.
    pub indexes: Vec<Ident>,
}

/// `PERSISTENT FOR ALL` or `PERSISTENT FOR COLUMNS .. INDEXES ..`; `None` is `ALL`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersistentFor {
    /// The columns.
    pub columns: Option<Vec<Ident>>,
    /// The indexes.
    pub indexes: Option<Vec<Ident>>,
}

/// `FLUSH`.
#[derive(Clone, Debug, PartialEq)]
pub struct Flush {
    /// `NO_WRITE_TO_BINLOG`, `LOCAL`.
    pub local: bool,
    /// Targets, in order.
    pub targets: Vec<FlushTarget>,
}

/// Target of FLUSH.
#[derive(Clone, Debug, PartialEq)]
pub enum FlushTarget {
    /// `TABLES [names] [WITH READ LOCK | FOR EXPORT]`.
    Tables {
        /// The tables, all if empty.
        tables: Vec<TableName>,
        /// `WITH READ LOCK`.
        read_lock: bool,
        /// `AND DISABLE CHECKPOINT`.
        disable_checkpoint: bool,
        /// `FOR EXPORT`.
        export: bool,
    },
    /// `[kind] LOGS`; the kind (`BINARY`, `ERROR`, `ENGINE`, `GENERAL`, `SLOW`) or `None` for all.
    Logs(Option<LogKind>),
    /// `RELAY LOGS ['name']`.
    RelayLogs(Option<StringLiteral>),
    /// `SLAVE ['name']`, which is RESET SLAVE.
    Slave(Option<StringLiteral>),
    /// `BINARY LOGS DELETE_DOMAIN_ID = (..)`.
    DeleteDomainIds(Vec<u64>),
    /// `PRIVILEGES`.
    Privileges,
    /// `HOSTS`.
    Hosts,
    /// `[GLOBAL|SESSION] STATUS`.
    Status(Option<super::VarScope>),
    /// `DES_KEY_FILE`.
    DesKeyFile,
    /// `QUERY CACHE`.
    QueryCache,
    /// `USER_RESOURCES`.
    UserResources,
    /// `SSL`.
    Ssl,
    /// `CLIENT_STATISTICS`, `USER_VARIABLES`, and any other table of `information_schema` that can
    /// be reset.
    Other(Ident),
}

/// Kinds of logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the names are the SQL words
pub enum LogKind {
    Binary,
    Error,
    Engine,
    General,
    Slow,
    Relay,
}

/// `RESET`.
#[derive(Clone, Debug, PartialEq)]
pub enum ResetTarget {
    /// `MASTER [TO n]`.
    Master(Option<u64>),
    /// `SLAVE ['name'] [ALL]`.
    Slave {
        /// Name of the connection.
        name: Option<StringLiteral>,
        /// `ALL`.
        all: bool,
    },
    /// `QUERY CACHE`.
    QueryCache,
}

/// `EXPLAIN`, `DESCRIBE` of a statement, and `ANALYZE` of a statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Explain {
    /// `ANALYZE`: the statement is executed.
    pub analyze: bool,
    /// `EXTENDED`.
    pub extended: bool,
    /// `PARTITIONS`.
    pub partitions: bool,
    /// `FORMAT=JSON`.
    pub json: bool,
    /// The statement.
    pub statement: Box<Statement>,
}

/// `DESCRIBE table [column]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Describe {
    /// The table.
    pub table: TableName,
    /// A column or a pattern.
    pub pattern: Option<Box<[u8]>>,
}

/// `INSTALL PLUGIN`, `INSTALL SONAME`, `UNINSTALL ...`.
#[derive(Clone, Debug, PartialEq)]
pub enum Plugin {
    /// `INSTALL PLUGIN [IF NOT EXISTS] name SONAME 'library'`.
    Install {
        /// `IF NOT EXISTS`.
        if_not_exists: bool,
        /// The plugin; `None` for all of the library.
        name: Option<Ident>,
        /// The library.
        library: StringLiteral,
    },
    /// `UNINSTALL PLUGIN [IF EXISTS] name`.
    Uninstall {
        /// `IF EXISTS`.
        if_exists: bool,
        /// The plugin.
        name: Ident,
    },
    /// `UNINSTALL SONAME [IF EXISTS] 'library'`.
    UninstallLibrary {
        /// `IF EXISTS`.
        if_exists: bool,
        /// The library.
        library: StringLiteral,
    },
}

/// `PURGE BINARY LOGS`.
#[derive(Clone, Debug, PartialEq)]
pub enum PurgeLogs {
    /// `TO 'file'`.
    To(StringLiteral),
    /// `BEFORE expr`.
    Before(Expr),
}

/// `BACKUP STAGE`, `BACKUP LOCK`, `BACKUP UNLOCK`.
#[derive(Clone, Debug, PartialEq)]
pub enum Backup {
    /// `STAGE name`.
    Stage(Ident),
    /// `LOCK table`.
    Lock(TableName),
    /// `UNLOCK`.
    Unlock,
}

/// `DO expr, ...`.
#[derive(Clone, Debug, PartialEq)]
pub struct Do {
    /// The expressions.
    pub exprs: Vec<Expr>,
}
