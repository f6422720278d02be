//! The statement: one variant per statement family.
//! Also says which statements commit implicitly.

use super::*;

/// A parsed statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// `SELECT`, `VALUES`, `TABLE`-less query expressions, `WITH`.
    Query(Box<Query>),
    /// `INSERT`, `REPLACE`.
    Insert(Box<Insert>),
    /// `UPDATE`.
    Update(Box<Update>),
    /// `DELETE`.
    Delete(Box<Delete>),
    /// `LOAD DATA`, `LOAD XML`.
    LoadData(Box<LoadData>),
    /// `TRUNCATE [TABLE]`.
    Truncate {
        /// The table.
        table: TableName,
        /// `WAIT n`, `NOWAIT`.
        wait: Option<LockWait>,
    },
    /// `DO`.
    Do(Do),
    /// `CALL`.
    Call(Box<Call>),
    /// `HANDLER`.
    Handler(Box<Handler>),

    /// `CREATE TABLE`.
    CreateTable(Box<CreateTable>),
    /// `ALTER TABLE`.
    AlterTable(Box<AlterTable>),
    /// `CREATE INDEX`.
    CreateIndex(Box<CreateIndex>),
    /// `DROP INDEX`.
    DropIndex(Box<DropIndex>),
    /// `DROP TABLE`, `DROP VIEW`, `DROP SEQUENCE`.
    DropTables(Box<DropTables>),
    /// `RENAME TABLE`.
    RenameTables(Box<RenameTables>),
    /// `CREATE VIEW`, `ALTER VIEW`.
    CreateView(Box<CreateView>),
    /// `CREATE SEQUENCE`.
    CreateSequence(Box<CreateSequence>),
    /// `ALTER SEQUENCE`.
    AlterSequence(Box<AlterSequence>),
    /// `CREATE DATABASE`.
    CreateDatabase(Box<CreateDatabase>),
    /// `ALTER DATABASE`.
    AlterDatabase(Box<AlterDatabase>),
    /// `DROP DATABASE`.
    DropDatabase {
        /// `IF EXISTS`.
        if_exists: bool,
        /// The schema.
        name: Ident,
    },

    /// `SHOW`.
    Show(Box<Show>),
    /// `DESCRIBE table`.
    Describe(Box<Describe>),
    /// `EXPLAIN statement`, `ANALYZE statement`.
    Explain(Box<Explain>),
    /// `USE`.
    Use(Ident),
    /// `HELP`.
    Help(Box<str>),
    /// `BINLOG`.
    Binlog(BinlogText),

    /// Transaction control.
    Transaction(Transaction),
    /// `XA`.
    Xa(Box<Xa>),
    /// `SET`, in order.
    Set(Vec<SetItem>),
    /// `SET STATEMENT assignments FOR statement`.
    SetStatement {
        /// Variables set for the duration of the statement.
        items: Vec<SetItem>,
        /// The statement.
        statement: Box<Statement>,
    },
    /// `PREPARE`.
    Prepare(Box<Prepare>),
    /// `EXECUTE name`.
    Execute(Box<Execute>),
    /// `EXECUTE IMMEDIATE`.
    ExecuteImmediate(Box<ExecuteImmediate>),
    /// `DEALLOCATE PREPARE`, `DROP PREPARE`.
    Deallocate(Ident),
    /// `LOCK TABLES`.
    LockTables(Box<LockTables>),
    /// `UNLOCK TABLES`.
    UnlockTables,
    /// `KILL`.
    Kill(Box<Kill>),

    /// `CREATE USER`, `ALTER USER`.
    CreateUser(Box<CreateUser>),
    /// `CREATE ROLE`.
    CreateRole(Box<CreateRole>),
    /// `DROP USER`, `DROP ROLE`.
    DropAccounts(Box<DropAccounts>),
    /// `RENAME USER`: old and new names.
    RenameUsers(Vec<(AccountName, AccountName)>),
    /// `GRANT`, `REVOKE`.
    Grant(Box<Grant>),

    /// `ANALYZE | CHECK | OPTIMIZE | REPAIR | CHECKSUM TABLE`.
    TableMaintenance(Box<TableMaintenance>),
    /// `CACHE INDEX`, `LOAD INDEX INTO CACHE`.
    CacheIndexes(Box<CacheIndexes>),
    /// `FLUSH`.
    Flush(Box<Flush>),
    /// `BACKUP`.
    Backup(Box<Backup>),
    /// `RESET`.
    Reset(Vec<ResetTarget>),
    /// `CHANGE MASTER`.
    ChangeMaster(Box<ChangeMaster>),
    /// `START SLAVE`, `STOP SLAVE`, `START ALL SLAVES`, `STOP ALL SLAVES`.
    StartStopSlave(Box<StartStopSlave>),
    /// `PURGE BINARY LOGS`.
    PurgeLogs(Box<PurgeLogs>),
    /// `INSTALL`, `UNINSTALL`.
    Plugin(Box<Plugin>),
    /// `SHUTDOWN [WAIT FOR ALL SLAVES]`.
    Shutdown {
        /// `WAIT FOR ALL SLAVES`.
        wait_for_slaves: bool,
    },

    /// `CREATE PROCEDURE`, `CREATE FUNCTION`.
    CreateRoutine(Box<CreateRoutine>),
    /// `CREATE PACKAGE`, `CREATE PACKAGE BODY`.
    CreatePackage(Box<CreatePackage>),
    /// `ALTER PROCEDURE`, `ALTER FUNCTION`.
    AlterRoutine(Box<AlterRoutine>),
    /// `CREATE TRIGGER`.
    CreateTrigger(Box<CreateTrigger>),
    /// `CREATE EVENT`.
    CreateEvent(Box<CreateEvent>),
    /// `ALTER EVENT`.
    AlterEvent(Box<AlterEvent>),
    /// `BEGIN NOT ATOMIC`, or IF, CASE and loops outside of a routine.
    Compound(Box<Program>),
    /// `SIGNAL`, `RESIGNAL`.
    Signal(Box<Signal>),
    /// `GET DIAGNOSTICS`.
    GetDiagnostics(Box<GetDiagnostics>),
    /// `DROP PROCEDURE` and the like.
    DropStored(Box<DropStored>),
    /// `CREATE SERVER`, `ALTER SERVER`.
    DefineServer(Box<DefineServer>),
    /// A statement of MariaDB that Selkie does not have; answered with error 1235.
    Unsupported {
        /// Name of the statement for the error's text: `CREATE PROCEDURE`.
        what: &'static str,
    },
}

impl Statement {
    /// Whether the statement implicitly commits the open transaction.
    pub fn commits_implicitly(&self) -> bool {
        match self {
            Self::CreateTable(create) => !create.temporary,
            Self::DropTables(drop) => !drop.temporary,
            Self::TableMaintenance(what) => what.action != MaintenanceAction::Checksum,
            Self::Truncate { .. }
            | Self::AlterTable(_)
            | Self::CreateIndex(_)
            | Self::DropIndex(_)
            | Self::RenameTables(_)
            | Self::CreateView(_)
            | Self::CreateSequence(_)
            | Self::AlterSequence(_)
            | Self::CreateDatabase(_)
            | Self::AlterDatabase(_)
            | Self::DropDatabase { .. }
            | Self::CreateUser(_)
            | Self::CreateRole(_)
            | Self::DropAccounts(_)
            | Self::RenameUsers(_)
            | Self::Grant(_)
            | Self::Plugin(_)
            | Self::CreateRoutine(_)
            | Self::CreatePackage(_)
            | Self::AlterRoutine(_)
            | Self::CreateTrigger(_)
            | Self::CreateEvent(_)
            | Self::AlterEvent(_)
            | Self::DropStored(_)
            | Self::DefineServer(_) => true,
            _ => false,
        }
    }
}

/// `DROP PROCEDURE | FUNCTION | TRIGGER | EVENT | SERVER`.
#[derive(Clone, Debug, PartialEq)]
pub struct DropStored {
    /// Its kind.
    pub kind: StoredKind,
    /// `IF EXISTS`.
    pub if_exists: bool,
    /// Its name.
    pub name: TableName,
}

/// Kinds of stored objects other than tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredKind {
    /// `PROCEDURE`.
    Procedure,
    /// `FUNCTION`.
    Function,
    /// `TRIGGER`.
    Trigger,
    /// `PACKAGE`.
    Package,
    /// `PACKAGE BODY`.
    PackageBody,
    /// `EVENT`.
    Event,
    /// `SERVER`.
    Server,
}
