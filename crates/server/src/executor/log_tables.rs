//! `mysql.general_log` and `mysql.slow_log`: the query logs as tables.
//!
//! Must not decide what is logged. An internal session writes the rows. It must not wait: a row
//! that cannot be written soon is lost.

use std::sync::Arc;
use std::time::SystemTime;

use parking_lot::Mutex;
use selkie_catalog::{ColumnInfo, TableInfo};
use selkie_exec::session::{Account, Session};
use selkie_exec::{Instance, NullSink, execute_text};
use selkie_types::error::catalogue::{
    ER_BAD_LOG_STATEMENT, ER_CANT_LOCK_LOG_TABLE, ER_WRONG_USAGE,
};
use selkie_types::{SqlError, SqlMode, SqlResult, TypeKind};

use super::account_tables::Unattended;
use crate::query_log::{GeneralEntry, SlowEntry};
use crate::session::Shared;
use crate::variables::ids;
use selkie_sql::ast::{AlterAction, Statement, TableName};

/// The log tables, and the internal session that writes them.
pub(super) struct LogTables {
    instance: Arc<Instance>,
    session: Mutex<Session>,
}

impl LogTables {
    /// Prepares the session. The tables exist already: they are part of the schema `mysql`.
    pub(super) fn open(instance: &Arc<Instance>) -> SqlResult<Self> {
        let hooks = Unattended::new();
        let mut session = Session::new(0, Account::default(), Arc::new(hooks));
        // No strict mode: a statement is logged even if the table's character set lacks some
        // characters.
        session.frame.settings.expressions.sql_mode = SqlMode::from_bits(0)?;
        session.frame.settings.locks.lock_wait_timeout = 1;
        session.frame.settings.locks.row_lock_wait_timeout = 1;
        let this = Self { instance: Arc::clone(instance), session: Mutex::new(session) };
        this.session.lock().transaction.hold_answers();
        Ok(this)
    }

    fn run(&self, text: &str) -> SqlResult<()> {
        let mut session = self.session.lock();
        let result =
            execute_text(&self.instance, &mut session, text.as_bytes(), &mut NullSink).map(|_| ());
        // Nothing waits until a log row is durable: the row need not survive a crash.
        drop(session.transaction.take_unsettled());
        result
    }

    /// Inserts a row into the log table `name`. Columns that were added to the table get their
    /// defaults.
    fn put(&self, name: &str, values: &[String]) {
        let snapshot = self.instance.catalog.snapshot();
        let table = snapshot.table("mysql", name);
        if let Some(why) = table.and_then(|table| why_unfit(table, values.len())) {
            return tracing::error!("Failed to write to mysql.{name}: {why}");
        }
        let columns = table.iter().flat_map(|table| table.columns.iter().take(values.len()));
        let columns: Vec<String> = columns.map(|column| quote_name(&column.name)).collect();
        let text = format!(
            "INSERT INTO mysql.{name} ({}) VALUES ({})",
            columns.join(", "),
            values.join(", ")
        );
        if let Err(error) = self.run(&text) {
            tracing::error!("Failed to write to mysql.{name}: {}", error.message());
        }
    }

    /// Adds a row to the general log.
    pub(super) fn general(&self, entry: &GeneralEntry) {
        let values = [
            from_unix(entry.at),
            quote(&entry.user_host),
            entry.thread_id.to_string(),
            entry.server_id.to_string(),
            quote(entry.command),
            quote(&entry.argument),
        ];
        self.put("general_log", &values);
    }

    /// Adds a row to the slow log.
    pub(super) fn slow(&self, entry: &SlowEntry) {
        let time =
            |micros: u64| format!("SEC_TO_TIME({}.{:06})", micros / 1_000_000, micros % 1_000_000);
        let values = [
            from_unix(entry.at),
            quote(&entry.user_host),
            time(entry.query_micros),
            time(entry.lock_micros),
            entry.rows_sent.to_string(),
            entry.rows_examined.to_string(),
            quote(&entry.schema),
            entry.last_insert_id.to_string(),
            entry.insert_id.to_string(),
            entry.server_id.to_string(),
            quote(&entry.text),
            entry.thread_id.to_string(),
            entry.rows_affected.to_string(),
        ];
        self.put("slow_log", &values);
    }
}

/// Reason that a row of `values` values is not written to a log table, if there is one.
///
/// Compat: none goes into a table in partitions, as a table renamed to this name may be.
fn why_unfit(table: &TableInfo, values: usize) -> Option<&'static str> {
    let is_list = |column: &ColumnInfo| matches!(column.ty.kind, TypeKind::Enum | TypeKind::Set);
    if table.partitions.is_some() {
        Some("it has partitions")
    } else if table.columns.len() < values {
        Some("incorrect number of fields in the log table")
    } else if table.columns.iter().take(values).any(is_list) {
        Some("Can't write data (possible incorrect log table structure)")
    } else {
        None
    }
}

fn from_unix(at: SystemTime) -> String {
    let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    format!("FROM_UNIXTIME({}.{:06})", since.as_secs(), since.subsec_micros())
}

fn quote_name(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

/// Whether `schema`.`table` is a log table.
pub(super) fn is_log(schema: &str, table: &str) -> bool {
    schema.eq_ignore_ascii_case("mysql")
        && (table.eq_ignore_ascii_case("general_log") || table.eq_ignore_ascii_case("slow_log"))
}

/// Refuses statements that are not allowed on log tables: changing rows, locking, and changing or
/// dropping a table while it is in use.
pub(super) fn check(shared: &Shared, statement: &Statement) -> SqlResult<()> {
    let schema = shared.handle.schema();
    let log = |name: &TableName| {
        let schema = name.schema.as_ref().map(|s| &*s.value).or(schema.as_deref());
        is_log(schema.unwrap_or_default(), &name.name.value)
    };
    let in_use = |name: &TableName| {
        let id = match name.name.value.eq_ignore_ascii_case("general_log") {
            true => ids().general_log,
            false => ids().slow_query_log,
        };
        log(name) && shared.server.globals.get(id).as_bool()
    };
    let is_registry = |name: &TableName| {
        let schema = name.schema.as_ref().map(|s| &*s.value).or(schema.as_deref());
        selkie_exec::is_transaction_registry(schema.unwrap_or_default(), &name.name.value)
    };
    let used = |what: &'static str| Err(SqlError::new(&ER_BAD_LOG_STATEMENT, &[&what]));
    let exchanged = |action: &AlterAction| matches!(action, AlterAction::ExchangePartition { table, .. } if log(table));
    match statement {
        Statement::DropTables(drop) if drop.names.iter().any(in_use) => used("DROP"),
        Statement::AlterTable(alter) if log(&alter.table) && is_split(&alter.actions) => {
            Err(SqlError::new(&ER_WRONG_USAGE, &[&"PARTITION", &"log table"]))
        }
        Statement::AlterTable(alter) if alter.actions.iter().any(exchanged) => {
            used("ALTER PARTITION")
        }
        Statement::AlterTable(alter) if in_use(&alter.table) => used("ALTER"),
        Statement::LockTables(lock)
            if lock.tables.iter().any(|l| log(&l.table) || is_registry(&l.table)) =>
        {
            Err(SqlError::new(&ER_CANT_LOCK_LOG_TABLE, &[]))
        }
        _ => Ok(()),
    }
}

/// Whether actions divide a table into partitions.
fn is_split(actions: &[AlterAction]) -> bool {
    actions.iter().any(|action| matches!(action, AlterAction::PartitionBy(_)))
}
