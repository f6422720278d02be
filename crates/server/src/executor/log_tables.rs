//! `mysql.general_log` and `mysql.slow_log`: the query logs as tables.
//!
//! Must not decide what is logged. An internal session writes the rows. It must not wait: a row
//! that cannot be written soon is lost.

use std::sync::Arc;
use std::time::SystemTime;

use parking_lot::Mutex;
use selkie_exec::session::{Account, Session};
use selkie_exec::{Instance, NullSink, execute_text};
use selkie_types::error::catalogue::{
    ER_BAD_LOG_STATEMENT, ER_CANT_LOCK_LOG_TABLE, ER_WRONG_USAGE,
};
use selkie_types::{SqlError, SqlMode, SqlResult};

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

    /// Runs an INSERT into the log table `name`. Compat: none goes into a table in partitions, as a
    /// table renamed to this name may be.
    fn put(&self, name: &str, text: &str) {
        let snapshot = self.instance.catalog.snapshot();
        if snapshot.table("mysql", name).is_some_and(|table| table.partitions.is_some()) {
            tracing::warn!("Failed to write to mysql.{name}, which has partitions");
            return;
        }
        if let Err(error) = self.run(text) {
            tracing::warn!("Failed to write to a log table: {error}");
        }
    }

    /// Adds a row to the general log.
    pub(super) fn general(&self, entry: &GeneralEntry) {
        let text = format!(
            "INSERT INTO mysql.general_log VALUES (FROM_UNIXTIME({}), {}, {}, {}, {}, {})",
            seconds(entry.at),
            quote(&entry.user_host),
            entry.thread_id,
            entry.server_id,
            quote(entry.command),
            quote(&entry.argument),
        );
        self.put("general_log", &text);
    }

    /// Adds a row to the slow log.
    pub(super) fn slow(&self, entry: &SlowEntry) {
        let time =
            |micros: u64| format!("SEC_TO_TIME({}.{:06})", micros / 1_000_000, micros % 1_000_000);
        let text = format!(
            "INSERT INTO mysql.slow_log VALUES (FROM_UNIXTIME({}), {}, {}, {}, {}, {}, {}, {}, {}, \
             {}, {}, {}, {})",
            seconds(entry.at),
            quote(&entry.user_host),
            time(entry.query_micros),
            time(entry.lock_micros),
            entry.rows_sent,
            entry.rows_examined,
            quote(&entry.schema),
            entry.last_insert_id,
            entry.insert_id,
            entry.server_id,
            quote(&entry.text),
            entry.thread_id,
            entry.rows_affected,
        );
        self.put("slow_log", &text);
    }
}

fn seconds(at: SystemTime) -> String {
    let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    format!("{}.{:06}", since.as_secs(), since.subsec_micros())
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
