//! Variables, transactions, prepared statements and other statements about the session itself.
//! Names of variables are not looked up here: the parser accepts names that do not exist.

use super::{Expr, Ident, StringLiteral, TableName};

/// Scope of a system variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VarScope {
    /// `GLOBAL`.
    Global,
    /// `SESSION`, `LOCAL`.
    Session,
}

/// One assignment of a SET statement; assignments are executed in order.
#[derive(Clone, Debug, PartialEq)]
pub enum SetItem {
    /// `@name = expr`.
    UserVar {
        /// Name of the variable.
        name: Box<str>,
        /// Its value.
        value: Expr,
    },
    /// `[GLOBAL|SESSION|LOCAL|@@...] name = expr`.
    SystemVar {
        /// The scope; `None` if none is given: the session's.
        scope: Option<VarScope>,
        /// Instance of a structured variable.
        instance: Option<Ident>,
        /// Name of the variable.
        name: Ident,
        /// The value; `None` is `DEFAULT`. A bare word is a column without qualifier whose name is
        /// the value (`SET sql_mode = ansi`); `ON`, `ALL`, `BINARY`, `ROW`, `SYSTEM` are strings.
        value: Option<Expr>,
    },
    /// A variable of the enclosing program, or a column of the trigger's row.
    Local {
        /// The variable.
        target: super::Local,
        /// Its value; `None` is `DEFAULT`.
        value: Option<Expr>,
    },
    /// `NAMES charset [COLLATE collation]`.
    Names {
        /// `None` is `DEFAULT`.
        charset: Option<Box<str>>,
        /// The collation, if given.
        collation: Option<Box<str>>,
    },
    /// `CHARACTER SET charset`; `None` is `DEFAULT`.
    CharacterSet(Option<Box<str>>),
    /// `[GLOBAL|SESSION] TRANSACTION ...`; without a scope it applies to the next transaction only.
    Transaction {
        /// The scope, if given.
        scope: Option<VarScope>,
        /// `ISOLATION LEVEL`.
        isolation: Option<IsolationLevel>,
        /// `READ ONLY` is true, `READ WRITE` false.
        read_only: Option<bool>,
    },
    /// `PASSWORD [FOR account] = ...`.
    Password {
        /// The account; the current user's if absent.
        account: Option<super::AccountName>,
        /// The new password.
        password: PasswordValue,
    },
    /// `ROLE name | NONE`.
    Role(Option<Box<str>>),
    /// `DEFAULT ROLE name | NONE [FOR account]`.
    DefaultRole {
        /// The role.
        role: Option<super::AccountName>,
        /// The account; the current user's if absent.
        account: Option<super::AccountName>,
    },
}

/// New password of SET PASSWORD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PasswordValue {
    /// `PASSWORD('text')`.
    Plain(StringLiteral),
    /// `OLD_PASSWORD('text')`.
    Old(StringLiteral),
    /// `'hash'`.
    Hash(StringLiteral),
}

/// Isolation levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the names are the SQL words
pub enum IsolationLevel {
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

/// Statements that control transactions.
#[derive(Clone, Debug, PartialEq)]
pub enum Transaction {
    /// `BEGIN [WORK]`, `START TRANSACTION ...`.
    Begin {
        /// `WITH CONSISTENT SNAPSHOT`.
        consistent_snapshot: bool,
        /// `READ ONLY` is true, `READ WRITE` false.
        read_only: Option<bool>,
    },
    /// `COMMIT [WORK] [AND [NO] CHAIN] [[NO] RELEASE]`.
    Commit {
        /// `AND CHAIN`, `AND NO CHAIN`.
        chain: Option<bool>,
        /// `RELEASE`, `NO RELEASE`.
        release: Option<bool>,
    },
    /// `ROLLBACK [WORK] [AND [NO] CHAIN] [[NO] RELEASE]`.
    Rollback {
        /// `AND CHAIN`, `AND NO CHAIN`.
        chain: Option<bool>,
        /// `RELEASE`, `NO RELEASE`.
        release: Option<bool>,
    },
    /// `SAVEPOINT name`.
    Savepoint(Ident),
    /// `ROLLBACK [WORK] TO [SAVEPOINT] name`.
    RollbackTo(Ident),
    /// `RELEASE SAVEPOINT name`.
    Release(Ident),
}

/// `XA` statements.
#[derive(Clone, Debug, PartialEq)]
pub enum Xa {
    /// `XA START | BEGIN xid [JOIN | RESUME]`.
    Start {
        /// The transaction.
        xid: Xid,
        /// `JOIN`.
        join: bool,
        /// `RESUME`.
        resume: bool,
    },
    /// `XA END xid [SUSPEND [FOR MIGRATE]]`.
    End {
        /// The transaction.
        xid: Xid,
        /// `SUSPEND`.
        suspend: bool,
        /// `FOR MIGRATE`.
        migrate: bool,
    },
    /// `XA PREPARE xid`.
    Prepare(Xid),
    /// `XA COMMIT xid [ONE PHASE]`.
    Commit {
        /// The transaction.
        xid: Xid,
        /// `ONE PHASE`.
        one_phase: bool,
    },
    /// `XA ROLLBACK xid`.
    Rollback(Xid),
    /// `XA RECOVER [FORMAT='RAW'|'SQL']`.
    Recover {
        /// `FORMAT='SQL'`.
        sql_format: bool,
    },
}

/// Identifier of a distributed transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Xid {
    /// The global part.
    pub gtrid: Box<[u8]>,
    /// The branch.
    pub bqual: Box<[u8]>,
    /// The format, 1 unless given.
    pub format: u64,
}

/// `PREPARE name FROM ...`.
#[derive(Clone, Debug, PartialEq)]
pub struct Prepare {
    /// Name of the statement.
    pub name: Ident,
    /// Its text: a string, or an expression whose value is the text.
    pub source: Expr,
}

/// `EXECUTE name [USING ..]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Execute {
    /// Name of the statement.
    pub name: Ident,
    /// The parameters.
    pub using: Vec<Expr>,
}

/// `EXECUTE IMMEDIATE source [USING ..]`.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecuteImmediate {
    /// The text.
    pub source: Expr,
    /// The parameters.
    pub using: Vec<Expr>,
}

/// `KILL`.
#[derive(Clone, Debug, PartialEq)]
pub struct Kill {
    /// `SOFT` is true, `HARD` false.
    pub soft: bool,
    /// Connection or query.
    pub what: KillWhat,
    /// Connections to which it applies.
    pub target: KillTarget,
}

/// Object that KILL ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KillWhat {
    /// `CONNECTION`.
    Connection,
    /// `QUERY`.
    Query,
}

/// Connections that KILL applies to.
#[derive(Clone, Debug, PartialEq)]
pub enum KillTarget {
    /// A connection's number.
    Connection(Expr),
    /// `QUERY ID n`.
    QueryId(Expr),
    /// `USER account`.
    User(super::AccountName),
}

/// `LOCK TABLES`.
#[derive(Clone, Debug, PartialEq)]
pub struct LockTables {
    /// The tables, in order.
    pub tables: Vec<LockTable>,
    /// `WAIT n`, `NOWAIT`.
    pub wait: Option<super::LockWait>,
}

/// One table of LOCK TABLES.
#[derive(Clone, Debug, PartialEq)]
pub struct LockTable {
    /// The table.
    pub table: TableName,
    /// Its alias.
    pub alias: Option<Ident>,
    /// The lock's mode.
    pub mode: LockMode,
}

/// Mode of a table lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LockMode {
    /// `READ`.
    Read,
    /// `READ LOCAL`.
    ReadLocal,
    /// `WRITE`.
    Write,
    /// `WRITE CONCURRENT`.
    WriteConcurrent,
}

/// The events of BINLOG, as base64.
#[derive(Clone, Debug, PartialEq)]
pub enum BinlogText {
    /// `'text'`.
    Text(Box<str>),
    /// `@first, @second`: the names of the variables with its parts.
    Variables(Box<str>, Box<str>),
}
