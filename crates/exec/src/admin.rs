//! ANALYZE, CHECK, OPTIMIZE and REPAIR TABLE. Each statement but CHECKSUM commits the open
//! transaction first, and commits after each table. Answers depend on `maintenance` of the table's
//! engine, as in MariaDB.

mod analyze;
mod cache;
mod checksum;
mod column_list;
pub(crate) mod columns;
mod partitions;
mod persistent;

use std::sync::Arc;

use selkie_catalog::{TableInfo, TableKind, View};
use selkie_engine::Optimizes;
use selkie_expr::VariableScope;
use selkie_plan::physical::OutputColumn;
use selkie_sql::ast::{MaintenanceAction, PersistentFor, TableMaintenance};
use selkie_types::error::catalogue::ER_VIEW_INVALID;
use selkie_types::{Privileges, SqlError, SqlResult, TypeKind, Value};

use crate::query::execution::Execution;
use crate::run::open_table;
use crate::run::rows_out::{send, text};
use crate::state::error::from_engine;
use crate::state::metadata::LockMode;
use crate::state::session::{Access, Privilege};
use crate::{Outcome, Session};

pub(crate) use cache::cache_indexes;
pub(crate) use checksum::maintained as maintained_checksum;
pub(crate) use partitions::run_on_partitions;

/// Message type and text of one line of the result.
type Message = (&'static str, String);

/// Runs a maintenance statement over its tables.
pub(crate) fn run(
    execution: &mut Execution<'_>,
    statement: &TableMaintenance,
) -> SqlResult<Outcome> {
    execution.session.refuse_twice(&statement.tables)?;
    if statement.action == MaintenanceAction::Checksum {
        return checksum::run(execution, statement);
    }
    execution.session.commit()?;
    // Privileges of all tables are checked before any table is touched.
    let session = &*execution.session;
    for name in &statement.tables {
        check_access(session, statement.action, session.schema_of(name)?, &name.name.value)?;
    }
    let mut rows = Vec::new();
    let op = op_name(statement.action);
    for name in &statement.tables {
        let schema = execution.session.schema_of(name)?.to_owned();
        let shown = format!("{schema}.{}", name.name);
        let messages = match maintain(execution, statement, (&schema, &name.name.value)) {
            Ok(messages) => messages,
            Err(error) => {
                execution.session.rollback_for(&error)?;
                let failed = ("status", "Operation failed".to_owned());
                vec![("Error", error.message().to_owned()), failed]
            }
        };
        for (kind, message) in messages {
            rows.push([shown.as_str(), op, kind, &message].map(Value::bytes).to_vec());
        }
        execution.session.commit()?;
    }
    send_messages(execution, &rows)
}

fn send_messages(execution: &mut Execution<'_>, rows: &[Vec<Value>]) -> SqlResult<Outcome> {
    send(execution.sink, &message_columns(), rows)
}

pub(crate) fn message_columns() -> [OutputColumn; 4] {
    let columns = [("Table", 128), ("Op", 10), ("Msg_type", 10), ("Msg_text", 131_072)];
    let mut columns = columns.map(|(name, length)| OutputColumn::computed(name, text(length)));
    columns[3].ty.kind = TypeKind::MediumText;
    columns
}

/// Columns of the result.
pub(crate) fn columns(statement: &TableMaintenance) -> Vec<OutputColumn> {
    match statement.action {
        MaintenanceAction::Checksum => checksum::columns().into(),
        _ => message_columns().into(),
    }
}

/// Compat: CHECK TABLE needs any privilege on the table or a column, the others need SELECT and
/// INSERT.
fn check_access(
    session: &Session,
    action: MaintenanceAction,
    schema: &str,
    table: &str,
) -> SqlResult<()> {
    let is_free = schema.eq_ignore_ascii_case("information_schema")
        || session.frame.temporary.get(schema, table).is_some();
    if is_free {
        return Ok(());
    }
    let permissions: &dyn selkie_plan::Permissions = session;
    let wanted = Privileges::SELECT | Privileges::INSERT;
    if action != MaintenanceAction::Check {
        return permissions.check_table(None, schema, table, wanted);
    }
    let access = Access { privilege: Privilege::Any, schema, table, columns: &[] };
    let denied =
        |_| session.frame.hooks.table_denied(session, None, (schema, table), "CHECK TABLE");
    session.frame.hooks.check_access(session, &access).map_err(denied)
}

fn op_name(action: MaintenanceAction) -> &'static str {
    match action {
        MaintenanceAction::Analyze => "analyze",
        MaintenanceAction::Check => "check",
        MaintenanceAction::Optimize => "optimize",
        MaintenanceAction::Repair => "repair",
        MaintenanceAction::Checksum => "checksum",
    }
}

fn maintain(
    execution: &mut Execution<'_>,
    statement: &TableMaintenance,
    (schema, name): (&str, &str),
) -> SqlResult<Vec<Message>> {
    let table = find_locked(execution, (schema, name), statement.action)?;
    if let (TableKind::View(view), MaintenanceAction::Check) = (&table.kind, statement.action) {
        return Ok(check_view(execution, &table, view));
    }
    if table.kind != TableKind::Base && table.kind != TableKind::Temporary {
        let note = format!("'{}.{}' is not of type 'BASE TABLE'", schema, table.name());
        return Ok(vec![("Error", note), ("status", "Operation failed".to_owned())]);
    }
    // Compat: CHECK ... FOR UPGRADE answers for tables of every engine.
    let upgrade = statement.options.contains(&"FOR UPGRADE");
    let checks = table.engine.maintenance.checks;
    let unchecked = table.is_sequence() || !checks;
    if upgrade && unchecked && statement.action == MaintenanceAction::Check {
        return Ok(vec![ok()]);
    }
    if table.is_sequence() {
        return Ok(vec![of_sequence(statement.action)]);
    }
    execution.begin_on(&table)?;
    let maintained = &execution.instance.upkeep.maintained;
    match statement.action {
        MaintenanceAction::Check if !checks => Ok(vec![unsupported("check")]),
        MaintenanceAction::Check if maintained.is_checked(&table, &statement.options) => {
            Ok(vec![up_to_date()])
        }
        MaintenanceAction::Check => {
            let found = check(execution, &table)?;
            if !upgrade && found.len() == 1 {
                maintained.done(&table, MaintenanceAction::Check);
            }
            Ok(found)
        }
        MaintenanceAction::Analyze => analyze_table(execution, &table, statement),
        MaintenanceAction::Optimize
            if table.partitions.is_none()
                && maintained.is_done(execution.instance, &table, statement.action) =>
        {
            Ok(vec![up_to_date()])
        }
        MaintenanceAction::Optimize => optimize(execution, &table),
        MaintenanceAction::Repair => {
            maintained.changed(&table);
            maintained.done(&table, statement.action);
            // Compat: MariaDB's layer of partitions answers for any engine.
            let repairs = table.engine.maintenance.repairs || table.partitions.is_some();
            Ok(vec![if repairs { ok() } else { unsupported("repair") }])
        }
        MaintenanceAction::Checksum => Ok(Vec::new()),
    }
}

fn analyze_table(
    execution: &mut Execution<'_>,
    table: &TableInfo,
    statement: &TableMaintenance,
) -> SqlResult<Vec<Message>> {
    let is_asked = statement.persistent.is_some();
    if is_asked && is_own(table) {
        return Ok(vec![invalid_argument()]);
    }
    let maintained = &execution.instance.upkeep.maintained;
    let known = maintained.is_done(execution.instance, table, statement.action);
    analyze::analyze(execution, table)?;
    if !known {
        maintained.done(table, statement.action);
    }
    if !is_asked && (!always_collects(execution.session) || is_own(table)) {
        return Ok(vec![analyzed(table, known)]);
    }
    if table.kind == TableKind::Temporary {
        return Ok(vec![invalid_argument()]);
    }
    // The statistics above ended the transaction.
    execution.begin_on(table)?;
    let only = statement.persistent.as_ref();
    let whole = persistent::collect(execution, table, only)?;
    let last = if whole { analyzed(table, known) } else { invalid_argument() };
    Ok([collected()].into_iter().chain(uncollected(table, only)).chain([last]).collect())
}

/// Whether no statistics of a table are kept because the server reads it itself. Compat: these are
/// MariaDB's names, of which the beginnings and ends count.
fn is_own(table: &TableInfo) -> bool {
    let name = table.name();
    let is_statistics = name.ends_with("stats") && !name.starts_with("inno");
    let begins = ["help", "time"].iter().any(|begin| name.starts_with(begin));
    let named = ["proc", "event", "general_log", "slow_log", "transaction_registry"];
    table.schema() == "mysql" && (begins || is_statistics || named.contains(&name))
}

/// The last message of ANALYZE.
fn analyzed(table: &TableInfo, known: bool) -> Message {
    match table.engine.maintenance.analyzes {
        false => unsupported("analyze"),
        // Compat: MariaDB's layer of partitions does not know.
        true if known && table.partitions.is_none() => up_to_date(),
        true => ok(),
    }
}

fn collected() -> Message {
    ("status", "Engine-independent statistics collected".to_owned())
}

fn invalid_argument() -> Message {
    ("error", "Invalid argument".to_owned())
}

fn ok() -> Message {
    ("status", "OK".to_owned())
}

fn up_to_date() -> Message {
    ("status", "Table is already up to date".to_owned())
}

fn unsupported(what: &str) -> Message {
    ("note", format!("The storage engine for the table doesn't support {what}"))
}

fn optimize(execution: &mut Execution<'_>, table: &TableInfo) -> SqlResult<Vec<Message>> {
    let open = open_table(execution.instance, execution.session, table)?;
    let reclaimed = open.handle.table.reclaim(execution.control);
    reclaimed.map_err(|e| from_engine(e, &table.def))?;
    let optimizes = table.engine.maintenance.optimizes;
    if optimizes != Optimizes::Never {
        analyze::analyze(execution, table)?;
    }
    execution.instance.upkeep.maintained.done(table, MaintenanceAction::Optimize);
    let recreated = "Table does not support optimize, doing recreate + analyze instead";
    Ok(match optimizes {
        Optimizes::Itself => vec![ok()],
        Optimizes::ByCopy => vec![("note", recreated.to_owned()), ok()],
        Optimizes::Never => vec![unsupported("optimize")],
    })
}

/// Warnings for text and BLOB columns that are asked for. Compat: MariaDB collects no statistics
/// for them and says so.
fn uncollected(table: &TableInfo, only: Option<&PersistentFor>) -> impl Iterator<Item = Message> {
    let only = only.and_then(|only| only.columns.as_deref());
    let is_asked = move |name: &str| {
        only.is_none_or(|list| list.iter().any(|asked| asked.value.eq_ignore_ascii_case(name)))
    };
    let long = table
        .columns
        .iter()
        .filter(move |column| column.ty.is_text_or_blob() && is_asked(&column.name));
    let say =
        |name: &str| format!("Engine-independent statistics are not collected for column '{name}'");
    long.map(move |column| ("Warning", say(&column.name)))
}

/// The message for a sequence. Compat: MariaDB's sequence engine supports only REPAIR.
fn of_sequence(action: MaintenanceAction) -> Message {
    match action {
        MaintenanceAction::Repair => ok(),
        action => unsupported(op_name(action)),
    }
}

/// Whether `use_stat_tables` makes every ANALYZE collect statistics.
fn always_collects(session: &Session) -> bool {
    let value = session.frame.hooks.variable(session, VariableScope::Session, "use_stat_tables");
    matches!(value, Ok(Value::Bytes(name)) if matches!(&*name, b"PREFERABLY" | b"COMPLEMENTARY"))
}

/// Resolves a name to its object and locks it if it is a shared table.
fn find_locked(
    execution: &mut Execution<'_>,
    (schema, name): (&str, &str),
    action: MaintenanceAction,
) -> SqlResult<Arc<TableInfo>> {
    let found = execution.scope().table(schema, name);
    let found = found.map_err(|error| execution.session.not_found(error, name))?;
    let writes = matches!(action, MaintenanceAction::Optimize | MaintenanceAction::Repair);
    execution.session.check_lock_named(&found, name, writes)?;
    if found.kind != TableKind::Base {
        return Ok(found);
    }
    let mode = match action {
        MaintenanceAction::Optimize => LockMode::NoWrite,
        _ => LockMode::Read,
    };
    execution.lock_table(&found, mode)?;
    // The definition may have changed while the lock was waited for; now it is stable.
    execution.scope().table(schema, name)
}

/// Checks that a view's query is still valid for its definer, or for its invoker under SQL SECURITY
/// INVOKER.
fn check_view(execution: &mut Execution<'_>, table: &TableInfo, view: &View) -> Vec<Message> {
    let acting = execution.session.frame.acting_as.clone();
    if !view.security_invoker {
        execution.session.frame.acting_as = Some(view.definer.as_str().into());
    }
    let checked = execution.scope().check_view(view);
    execution.session.frame.acting_as = acting;
    let Err(cause) = checked else {
        return vec![ok()];
    };
    let invalid = SqlError::new(&ER_VIEW_INVALID, &[&table.schema(), &table.name()]);
    vec![
        ("Error", cause.message().to_owned()),
        ("Error", invalid.message().to_owned()),
        ("error", "Corrupt".to_owned()),
    ]
}

fn check(execution: &Execution<'_>, table: &TableInfo) -> SqlResult<Vec<Message>> {
    let open = open_table(execution.instance, execution.session, table)?;
    let found = open.handle.table.check(open.trx, execution.control);
    let found = found.map_err(|e| from_engine(e, &table.def))?;
    if found.is_empty() {
        return Ok(vec![ok()]);
    }
    let mut messages: Vec<Message> = found.into_iter().map(|text| ("error", text)).collect();
    messages.push(("error", "Corrupt".to_owned()));
    Ok(messages)
}
