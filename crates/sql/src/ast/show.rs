//! `SHOW` statements.
//! One variant per result set; the columns of each are the executor's business.

use super::{AccountName, Expr, Ident, Limit, StringLiteral, TableName, VarScope};

/// `LIKE 'pattern'` or `WHERE expr`.
#[derive(Clone, Debug, PartialEq)]
pub enum ShowFilter {
    /// `LIKE`.
    Like(StringLiteral),
    /// `WHERE`.
    Where(Expr),
}

/// A SHOW statement with its filter.
#[derive(Clone, Debug, PartialEq)]
pub struct Show {
    /// Subject of the statement.
    pub what: ShowWhat,
    /// Filter of the rows.
    pub filter: Option<Box<ShowFilter>>,
}

/// Subject of SHOW.
#[derive(Clone, Debug, PartialEq)]
pub enum ShowWhat {
    /// `DATABASES`, `SCHEMAS`.
    Databases,
    /// `[FULL] TABLES [FROM schema]`.
    Tables {
        /// `FULL`.
        full: bool,
        /// The schema; the current one if absent.
        schema: Option<Ident>,
    },
    /// `TABLE STATUS [FROM schema]`.
    TableStatus {
        /// The schema; the current one if absent.
        schema: Option<Ident>,
    },
    /// `OPEN TABLES [FROM schema]`.
    OpenTables {
        /// The schema; all schemas if absent.
        schema: Option<Ident>,
    },
    /// `TRIGGERS [FROM schema]`.
    Triggers {
        /// `FULL`.
        full: bool,
        /// The schema; the current one if absent.
        schema: Option<Ident>,
    },
    /// `EVENTS [FROM schema]`.
    Events {
        /// The schema; the current one if absent.
        schema: Option<Ident>,
    },
    /// `[FULL] COLUMNS | FIELDS FROM table`.
    Columns {
        /// `FULL`.
        full: bool,
        /// The table; `FROM schema` is merged into it.
        table: TableName,
    },
    /// `INDEX | INDEXES | KEYS FROM table`.
    Index {
        /// The table; `FROM schema` is merged into it.
        table: TableName,
    },
    /// `CREATE DATABASE [IF NOT EXISTS] name`.
    CreateDatabase {
        /// `IF NOT EXISTS`.
        if_not_exists: bool,
        /// The schema.
        name: Ident,
    },
    /// `CREATE TABLE name`.
    CreateTable(TableName),
    /// `CREATE VIEW name`.
    CreateView(TableName),
    /// `CREATE SEQUENCE name`.
    CreateSequence(TableName),
    /// `CREATE PROCEDURE name` and the like.
    CreateRoutine(RoutineKind, TableName),
    /// `CREATE TRIGGER name`.
    CreateTrigger(TableName),
    /// `CREATE EVENT name`.
    CreateEvent(TableName),
    /// `CREATE USER [account]`.
    CreateUser(Option<AccountName>),
    /// `PROCEDURE STATUS`, `FUNCTION STATUS`, `PACKAGE [BODY] STATUS`.
    RoutineStatus(RoutineKind),
    /// `PROCEDURE CODE`, `FUNCTION CODE`.
    RoutineCode(RoutineKind, TableName),
    /// `[GLOBAL|SESSION] VARIABLES`.
    Variables(Option<VarScope>),
    /// `[GLOBAL|SESSION] STATUS`.
    Status(Option<VarScope>),
    /// `WARNINGS [LIMIT ..]`.
    Warnings(Option<Box<Limit>>),
    /// `ERRORS [LIMIT ..]`.
    Errors(Option<Box<Limit>>),
    /// `COUNT(*) WARNINGS`.
    CountWarnings,
    /// `COUNT(*) ERRORS`.
    CountErrors,
    /// `[FULL] PROCESSLIST`.
    Processlist {
        /// `FULL`.
        full: bool,
    },
    /// `[STORAGE] ENGINES`.
    Engines,
    /// `ENGINE name STATUS | MUTEX | LOGS`; the engine is `None` for `ALL`.
    Engine {
        /// The engine.
        engine: Option<Ident>,
        /// The report.
        what: EngineReport,
    },
    /// `COLLATION`.
    Collation,
    /// `CHARACTER SET`.
    CharacterSet,
    /// `PLUGINS`.
    Plugins,
    /// `PLUGINS SONAME 'library'`; `None` with a filter lists all libraries.
    PluginsSoname(Option<StringLiteral>),
    /// `PRIVILEGES`.
    Privileges,
    /// `GRANTS [FOR account]`.
    Grants(Option<AccountName>),
    /// `AUTHORS`.
    Authors,
    /// `CONTRIBUTORS`.
    Contributors,
    /// `BINARY LOGS`, `MASTER LOGS`.
    BinaryLogs,
    /// `BINLOG EVENTS [IN 'file'] [FROM pos] [LIMIT ..]`.
    BinlogEvents {
        /// The file.
        file: Option<StringLiteral>,
        /// The position.
        position: Option<u64>,
        /// Limit of the number of rows.
        limit: Option<Box<Limit>>,
    },
    /// `RELAYLOG ['name'] EVENTS [IN 'file'] [FROM pos] [LIMIT ..]`.
    RelaylogEvents {
        /// Name of the connection.
        name: Option<StringLiteral>,
        /// The file.
        file: Option<StringLiteral>,
        /// The position.
        position: Option<u64>,
        /// Limit of the number of rows.
        limit: Option<Box<Limit>>,
    },
    /// `MASTER STATUS`, `BINLOG STATUS`.
    MasterStatus,
    /// `SLAVE ['name'] STATUS`, `REPLICA STATUS`.
    SlaveStatus(Option<StringLiteral>),
    /// `ALL SLAVES STATUS`.
    AllSlavesStatus,
    /// `SLAVE HOSTS`.
    SlaveHosts,
    /// `PROFILES`.
    Profiles,
    /// `PROFILE [types] [FOR QUERY n] [LIMIT ..]`.
    Profile {
        /// The types, upper case.
        types: Vec<&'static str>,
        /// The query.
        query: Option<u64>,
        /// Limit of the number of rows.
        limit: Option<Box<Limit>>,
    },
    /// `EXPLAIN [FORMAT=JSON] FOR connection`, `ANALYZE FOR`.
    Explain {
        /// `FORMAT=JSON`.
        json: bool,
        /// `ANALYZE`.
        analyze: bool,
        /// The connection.
        connection: Expr,
    },
    /// `USER_STATISTICS`, `INDEX_STATISTICS` and other tables of `information_schema`.
    Other(Ident),
}

/// Report of SHOW ENGINE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EngineReport {
    /// `STATUS`.
    Status,
    /// `MUTEX`.
    Mutex,
    /// `LOGS`.
    Logs,
}

/// Kinds of stored routines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RoutineKind {
    /// `PROCEDURE`.
    Procedure,
    /// `FUNCTION`.
    Function,
    /// `PACKAGE`.
    Package,
    /// `PACKAGE BODY`.
    PackageBody,
}
