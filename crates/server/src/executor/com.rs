//! Maps a statement to its `Com_` counter and to its State in the process list.
//!
//! Must not run statements.

use selkie_sql::ast::{
    Backup, DeleteTarget, DropTables, Grant, Granted, HandlerAction, Insert, InsertSource,
    MaintenanceAction, RoutineKind, ServerAction, ShowWhat, Slaves, StartStopSlave, Statement,
    StoredKind, TableKind, TableRef, Transaction, Xa,
};

use crate::status::{Counters, StatusId, com_counter, counter as counters};

/// The counter of a statement.
pub(super) fn counter(statement: &Statement) -> StatusId {
    match statement {
        // Most statements are SELECT, and a look-up of the name would be a measurable cost.
        Statement::Query(_) => counters().com_select,
        Statement::Explain(explain) => counter(&explain.statement),
        Statement::SetStatement { statement, .. } => counter(statement),
        _ => com_counter(word(statement)).unwrap_or(counters().com_admin_commands),
    }
}

/// Counts a statement by its kind. Compat: statements of SQL about prepared ones also count as the
/// commands of the protocol.
pub(super) fn count(counted: &Counters, statement: &Statement) {
    let ids = counters();
    counted.bump(counter(statement));
    match statement {
        Statement::Prepare(_) => counted.bump(ids.com_stmt_prepare),
        Statement::Execute(_) => counted.bump(ids.com_stmt_execute),
        Statement::Deallocate(_) => counted.bump(ids.com_stmt_close),
        Statement::ExecuteImmediate(_) => {
            [ids.com_stmt_prepare, ids.com_stmt_execute, ids.com_stmt_close]
                .into_iter()
                .for_each(|id| counted.bump(id));
        }
        _ => {}
    }
}

/// Counter names of statements about stored programs, and of those that occur mostly inside them.
fn program_word(statement: &Statement) -> &'static str {
    match statement {
        Statement::DropStored(drop) => match drop.kind {
            StoredKind::Procedure => "drop_procedure",
            StoredKind::Function => "drop_function",
            StoredKind::Trigger => "drop_trigger",
            StoredKind::Package => "drop_package",
            StoredKind::PackageBody => "drop_package_body",
            StoredKind::Event => "drop_event",
            StoredKind::Server => "drop_server",
        },
        Statement::CreateRoutine(create) => match create.kind {
            RoutineKind::Function => "create_function",
            _ => "create_procedure",
        },
        Statement::CreatePackage(create) => match create.kind {
            RoutineKind::PackageBody => "create_package_body",
            _ => "create_package",
        },
        Statement::AlterRoutine(alter) => match alter.kind {
            RoutineKind::Function => "alter_function",
            _ => "alter_procedure",
        },
        Statement::CreateTrigger(_) => "create_trigger",
        Statement::CreateEvent(_) => "create_event",
        Statement::AlterEvent(_) => "alter_event",
        Statement::Signal(signal) if signal.again => "resignal",
        Statement::Signal(_) => "signal",
        Statement::GetDiagnostics(_) => "get_diagnostics",
        _ => "compound_sql",
    }
}

fn handler_word(action: &HandlerAction) -> &'static str {
    match action {
        HandlerAction::Open { .. } => "ha_open",
        HandlerAction::Close => "ha_close",
        HandlerAction::Read { .. } => "ha_read",
    }
}

fn database_word(statement: &Statement) -> &'static str {
    match statement {
        Statement::CreateDatabase(_) => "create_db",
        _ => "alter_db",
    }
}

fn word(statement: &Statement) -> &'static str {
    match statement {
        Statement::Query(_) | Statement::Explain(_) | Statement::SetStatement { .. } => "select",
        Statement::Insert(s) => insert_word(s),
        Statement::Update(s) if is_joined(&s.tables) => "update_multi",
        Statement::Update(_) => "update",
        Statement::Delete(s) if matches!(s.target, DeleteTarget::Multi { .. }) => "delete_multi",
        Statement::Delete(_) => "delete",
        Statement::LoadData(_) => "load",
        Statement::Truncate { .. } => "truncate",
        Statement::Do(_) => "do",
        Statement::Call(_) => "call_procedure",
        Statement::Handler(handler) => handler_word(&handler.action),
        Statement::CreateTable(s) if s.temporary => "create_temporary_table",
        Statement::CreateTable(_) => "create_table",
        Statement::AlterTable(_) => "alter_table",
        Statement::CreateIndex(_) => "create_index",
        Statement::DropIndex(_) => "drop_index",
        Statement::DropTables(s) => drop_word(s),
        Statement::DropStored(_)
        | Statement::CreateRoutine(_)
        | Statement::CreatePackage(_)
        | Statement::AlterRoutine(_)
        | Statement::CreateTrigger(_)
        | Statement::CreateEvent(_)
        | Statement::AlterEvent(_)
        | Statement::Compound(_)
        | Statement::Signal(_)
        | Statement::GetDiagnostics(_) => program_word(statement),
        Statement::RenameTables(_) => "rename_table",
        Statement::CreateView(_) => "create_view",
        Statement::CreateSequence(_) => "create_sequence",
        Statement::AlterSequence(_) => "alter_sequence",
        Statement::CreateDatabase(_) | Statement::AlterDatabase(_) => database_word(statement),
        Statement::DropDatabase { .. } => "drop_db",
        Statement::Show(s) => show_word(&s.what),
        Statement::Describe(_) => "show_fields",
        Statement::Use(_) => "change_db",
        Statement::Help(_) => "help",
        Statement::Binlog(_) => "binlog",
        Statement::Transaction(t) => transaction_word(t),
        Statement::Set(_) => "set_option",
        Statement::Prepare(_) => "prepare_sql",
        Statement::Execute(_) => "execute_sql",
        Statement::ExecuteImmediate(_) => "execute_immediate",
        Statement::Deallocate(_) => "dealloc_sql",
        Statement::LockTables(_) => "lock_tables",
        Statement::UnlockTables => "unlock_tables",
        Statement::Kill(_) => "kill",
        Statement::CreateUser(s) if s.alter => "alter_user",
        Statement::CreateUser(_) => "create_user",
        Statement::CreateRole(_) => "create_role",
        Statement::DefineServer(s) => server_word(&s.action),
        Statement::DropAccounts(s) if s.roles => "drop_role",
        Statement::DropAccounts(_) => "drop_user",
        Statement::RenameUsers(_) => "rename_user",
        Statement::Grant(s) => grant_word(s),
        Statement::TableMaintenance(_) | Statement::CacheIndexes(_) => upkeep_word(statement),
        Statement::Backup(backup) => backup_word(backup),
        Statement::Flush(_) => "flush",
        Statement::Reset(_) => "reset",
        Statement::PurgeLogs(_) => "purge",
        Statement::ChangeMaster(_) => "change_master",
        Statement::StartStopSlave(s) => replica_word(s),
        Statement::Plugin(_) => "install_plugin",
        Statement::Shutdown { .. } => "shutdown",
        Statement::Xa(xa) => xa_word(xa),
        Statement::Unsupported { .. } => "admin_commands",
    }
}

fn server_word(action: &ServerAction) -> &'static str {
    match action {
        ServerAction::Create { .. } => "create_server",
        ServerAction::Alter => "alter_server",
    }
}

fn is_joined(tables: &[TableRef]) -> bool {
    !matches!(tables, [TableRef::Table(_)])
}

fn drop_word(drop: &DropTables) -> &'static str {
    match drop.kind {
        TableKind::View => "drop_view",
        TableKind::Sequence => "drop_sequence",
        TableKind::Table if drop.temporary => "drop_temporary_table",
        TableKind::Table => "drop_table",
    }
}

fn xa_word(xa: &Xa) -> &'static str {
    match xa {
        Xa::Start { .. } => "xa_start",
        Xa::End { .. } => "xa_end",
        Xa::Prepare(_) => "xa_prepare",
        Xa::Commit { .. } => "xa_commit",
        Xa::Rollback(_) => "xa_rollback",
        Xa::Recover { .. } => "xa_recover",
    }
}

fn grant_word(grant: &Grant) -> &'static str {
    match (&grant.what, grant.revoke) {
        (Granted::Roles(_), false) => "grant_role",
        (Granted::Roles(_), true) => "revoke_role",
        (Granted::Everything, _) => "revoke_all",
        (_, false) => "grant",
        (_, true) => "revoke",
    }
}

fn replica_word(statement: &StartStopSlave) -> &'static str {
    match (statement.start, matches!(statement.which, Slaves::All)) {
        (true, false) => "start_slave",
        (true, true) => "start_all_slaves",
        (false, false) => "stop_slave",
        (false, true) => "stop_all_slaves",
    }
}

/// The State column of the process list while a statement runs.
pub(super) fn state(statement: &Statement) -> &'static str {
    match statement {
        Statement::Insert(s) if !matches!(s.source, InsertSource::Query(_)) => "Update",
        Statement::Query(_) | Statement::Insert(_) => "Sending data",
        Statement::Update(_) | Statement::Delete(_) => "Updating",
        Statement::LoadData(_) => "Reading file",
        Statement::AlterTable(_) | Statement::CreateIndex(_) | Statement::DropIndex(_) => {
            "altering table"
        }
        Statement::CreateTable(_) => "creating table",
        Statement::DropTables(_) => "checking permissions",
        Statement::Show(_) => "starting",
        Statement::TableMaintenance(_) => "Checking table",
        Statement::Transaction(Transaction::Commit { .. }) => "Commit",
        Statement::Transaction(Transaction::Rollback { .. }) => "Rollback",
        Statement::Kill(_) | Statement::Set(_) => "starting",
        _ => "init",
    }
}

fn backup_word(backup: &Backup) -> &'static str {
    match backup {
        Backup::Stage(_) => "backup",
        Backup::Lock(_) | Backup::Unlock => "backup_lock",
    }
}

fn upkeep_word(statement: &Statement) -> &'static str {
    match statement {
        Statement::TableMaintenance(what) => maintenance_word(what.action),
        Statement::CacheIndexes(what) if what.cache.is_some() => "assign_to_keycache",
        _ => "preload_keys",
    }
}

fn maintenance_word(action: MaintenanceAction) -> &'static str {
    match action {
        MaintenanceAction::Analyze => "analyze",
        MaintenanceAction::Check => "check",
        MaintenanceAction::Optimize => "optimize",
        MaintenanceAction::Repair => "repair",
        MaintenanceAction::Checksum => "checksum",
    }
}

fn insert_word(insert: &Insert) -> &'static str {
    let from_query = matches!(insert.source, InsertSource::Query(_));
    match (insert.replace, from_query) {
        (false, false) => "insert",
        (false, true) => "insert_select",
        (true, false) => "replace",
        (true, true) => "replace_select",
    }
}

fn transaction_word(transaction: &Transaction) -> &'static str {
    match transaction {
        Transaction::Begin { .. } => "begin",
        Transaction::Commit { .. } => "commit",
        Transaction::Rollback { .. } => "rollback",
        Transaction::Savepoint(_) => "savepoint",
        Transaction::RollbackTo(_) => "rollback_to_savepoint",
        Transaction::Release(_) => "release_savepoint",
    }
}

fn show_word(what: &ShowWhat) -> &'static str {
    match what {
        ShowWhat::Databases => "show_databases",
        ShowWhat::Tables { .. } => "show_tables",
        ShowWhat::TableStatus { .. } => "show_table_status",
        ShowWhat::Columns { .. } => "show_fields",
        ShowWhat::Index { .. } => "show_keys",
        ShowWhat::CreateTable(_) | ShowWhat::CreateView(_) => "show_create_table",
        ShowWhat::CreateDatabase { .. } => "show_create_db",
        ShowWhat::CreateUser(_) => "show_create_user",
        ShowWhat::Variables(_) => "show_variables",
        ShowWhat::Status(_) => "show_status",
        ShowWhat::Warnings(_) | ShowWhat::CountWarnings => "show_warnings",
        ShowWhat::Errors(_) | ShowWhat::CountErrors => "show_errors",
        ShowWhat::Processlist { .. } => "show_processlist",
        ShowWhat::Engines => "show_storage_engines",
        ShowWhat::Engine { .. } => "show_engine_status",
        ShowWhat::Collation => "show_collations",
        ShowWhat::CharacterSet => "show_charsets",
        ShowWhat::Plugins | ShowWhat::PluginsSoname(_) => "show_plugins",
        ShowWhat::Privileges => "show_privileges",
        ShowWhat::Grants(_) => "show_grants",
        ShowWhat::OpenTables { .. } => "show_open_tables",
        ShowWhat::SlaveStatus(_) | ShowWhat::AllSlavesStatus => "show_slave_status",
        ShowWhat::SlaveHosts => "show_slave_hosts",
        ShowWhat::MasterStatus => "show_binlog_status",
        ShowWhat::BinaryLogs => "show_binlogs",
        ShowWhat::BinlogEvents { .. } => "show_binlog_events",
        ShowWhat::RelaylogEvents { .. } => "show_relaylog_events",
        ShowWhat::Triggers { .. } => "show_triggers",
        ShowWhat::Events { .. } => "show_events",
        _ => "show_generic",
    }
}
