//! Connects the executor's session with `admin`: SET and the server's own statements.
//!
//! Must not implement them.

use std::sync::Arc;

use selkie_catalog::{RoutineForm, TableInfo};
use selkie_exec::session::{BinlogFormat, NewValue, Session};
use selkie_exec::{Instance, Killed, Outcome, ResultSink, execute_statement, show_live};
use selkie_plan::physical::OutputColumn;
use selkie_sql::ast::{
    EngineReport, Expr, Grant, Granted, Ident, PrivilegeKind, PrivilegeLevel, Query, QueryBody,
    RoutineKind, Select, SelectItem, SelectOptions, SetItem, ShowWhat, Span, Statement,
};
use selkie_types::error::catalogue::*;
use selkie_types::{
    Batch, Charset, Column, Condition, Privileges, SqlError, SqlResult, SqlType, Value,
};

use crate::admin::{self, Answer, Checked, Notes, Target};
use crate::binlog;
use crate::innodb;
use crate::replica;
use crate::session::Shared;
use crate::variables::{SetValue, VarId, VarValue, ids, lookup};

/// A checked assignment of SET.
pub(super) struct Ready {
    checked: Checked,
    is_default: bool,
}

/// Checks one assignment of SET.
pub(super) fn check_set(
    shared: &Shared,
    session: &mut Session,
    item: &SetItem,
    value: Option<NewValue>,
) -> SqlResult<Ready> {
    let value = value.map(|v| match v {
        NewValue::Default => SetValue::Default,
        NewValue::Value(value, ty) => SetValue::Value(plain(value, &ty)),
    });
    let is_default = !matches!(value, Some(SetValue::Value(_)));
    if !session.frame.settings.transactions.autocommit && turns_autocommit_on(item, value.as_ref())
    {
        session.transaction.check_no_branch()?;
    }
    let mut notes = Notes::new();
    let check = match session.transaction.is_nested() {
        true => admin::check_item_inside_function,
        false => admin::check_item,
    };
    let checked = check(shared, item, value, &mut notes);
    keep(session, notes);
    let checked = checked?;
    if checked.format_of_session().is_some_and(|format| format == STATEMENT) {
        check_may_log_texts(shared, session)?;
    }
    Ok(Ready { checked, is_default })
}

/// Number of STATEMENT among the formats of the binary log.
const STATEMENT: u64 = 1;

/// Fails (1559) if temporary tables are open that replicas have not, as rows are logged.
fn check_may_log_texts(shared: &Shared, session: &Session) -> SqlResult<()> {
    let settings = &session.frame.settings.binlog;
    let temporary = &session.frame.temporary;
    let is_by_rows = settings.format == BinlogFormat::Row || temporary.has_diverged();
    if shared.server.binlog().is_some() && is_by_rows && !temporary.is_empty() {
        return Err(SqlError::new(&ER_TEMP_TABLE_PREVENTS_SWITCH_OUT_OF_RBR, &[]));
    }
    Ok(())
}

/// Makes a checked assignment.
pub(super) fn set(
    shared: &Shared,
    session: &mut Session,
    item: &SetItem,
    ready: Ready,
) -> SqlResult<()> {
    if let SetItem::Password { .. } | SetItem::DefaultRole { .. } = item {
        let hooks = session.frame.hooks.clone();
        hooks.check_writable(session.frame.acting_as.as_deref())?;
        session.commit()?;
    }
    let was_autocommit = session.frame.settings.transactions.autocommit;
    let Ready { checked, is_default } = ready;
    let mut notes = Notes::new();
    let target = admin::set_item(shared, item, checked, &mut notes)?;
    keep(session, notes);
    // The role of a definer ends with the program that acts as it, so the session keeps its own
    // role.
    if session.frame.acting_as.is_none() {
        follow_role(shared, session);
    }
    if let Target::Session(name, value) = target {
        follow(session, name, &value, is_default);
        if name == "max_join_size" {
            // Compat: a limit switches SQL_BIG_SELECTS off, and none switches it on.
            let is_unlimited = VarValue::Bool(value.as_u64() == u64::MAX);
            shared.vars.lock().set(ids().sql_big_selects, is_unlimited);
        }
    }
    if session.frame.settings.binlog.format == BinlogFormat::Row {
        // Compat: rows are logged until the temporary tables are gone, in every later format.
        session.frame.temporary.diverge();
    }
    super::settings::refresh(shared, session);
    if !was_autocommit && session.frame.settings.transactions.autocommit {
        // Compat: switching autocommit on ends the open transaction.
        session.commit()?;
    }
    Ok(())
}

/// Values of a session from before SET STATEMENT.
pub(super) struct Saved {
    values: Vec<(VarId, VarValue)>,
    pseudo: Vec<Pseudo>,
}

/// Values that are kept in the executor's session and not in the variables.
enum Pseudo {
    LastInsertId(u64),
    InsertId(Option<u64>),
    Timestamp(Option<i64>),
}

/// Saves the values that SET STATEMENT is about to change.
pub(super) fn save(shared: &Shared, session: &Session, names: &[&str]) -> SqlResult<Saved> {
    let mut saved = Saved { values: Vec::new(), pseudo: Vec::new() };
    for name in names {
        let def = lookup(name)?;
        if def.alone {
            return Err(SqlError::new(&ER_SET_STATEMENT_NOT_SUPPORTED, &[&def.name]));
        }
        let with_links = admin::linked_to(def).into_iter().chain([def.id]);
        saved.values.extend(with_links.map(|id| (id, shared.var(id))));
        saved.pseudo.extend(match def.name {
            "last_insert_id" | "identity" => {
                Some(Pseudo::LastInsertId(session.values.last_insert_id.get()))
            }
            "insert_id" => Some(Pseudo::InsertId(*session.core.next_insert_id.lock())),
            "timestamp" => Some(Pseudo::Timestamp(session.frame.settings.timestamp_micros)),
            _ => None,
        });
    }
    Ok(saved)
}

/// Restores the values that SET STATEMENT has changed.
pub(super) fn restore(shared: &Shared, session: &mut Session, saved: Saved) {
    for (id, value) in saved.values {
        shared.set_var(id, value);
    }
    for pseudo in saved.pseudo {
        match pseudo {
            Pseudo::LastInsertId(id) => session.values.last_insert_id.set(id),
            Pseudo::InsertId(id) => *session.core.next_insert_id.lock() = id,
            Pseudo::Timestamp(micros) => session.frame.settings.timestamp_micros = micros,
        }
    }
    super::settings::refresh(shared, session);
}

/// Copies the active role and its global privileges to the executor's session.
fn follow_role(shared: &Shared, session: &mut Session) {
    let access = shared.access.lock();
    let (role, global) = (&access.identity().role, access.global());
    if session.frame.account.role != *role || session.frame.account.global != global {
        session.frame.account.role.clone_from(role);
        session.frame.account.global = global;
        session.frame.account.version += 1;
    }
}

/// Whether an assignment switches autocommit on, and so commits the open transaction.
fn turns_autocommit_on(item: &SetItem, value: Option<&SetValue>) -> bool {
    let SetItem::SystemVar { name, scope, .. } = item else { return false };
    let is_off = match value {
        Some(SetValue::Value(Value::Int(0) | Value::UInt(0))) => true,
        Some(SetValue::Value(Value::Bytes(word))) => word.eq_ignore_ascii_case(b"off"),
        _ => false,
    };
    let is_global = matches!(scope, Some(selkie_sql::ast::VarScope::Global));
    name.value.eq_ignore_ascii_case("autocommit") && !is_global && !is_off
}

/// A string converted to UTF-8, the character set of variables.
fn in_utf8(value: Value, charset: Charset) -> Value {
    match value {
        Value::Bytes(text) if charset != Charset::Binary && !text.is_ascii() => {
            Value::bytes(charset.convert(&text, Charset::Utf8mb4).0)
        }
        other => other,
    }
}

/// A value in the form that variables take. Enumerations, sets and points in time become strings.
fn plain(value: Value, ty: &SqlType) -> Value {
    use selkie_types::TypeKind::{Date, DateTime, Enum, Set, Time, Timestamp};
    match ty.kind {
        Enum | Set | Date | DateTime | Time | Timestamp if !value.is_null() => {
            let mut text = Vec::new();
            selkie_types::write_value(ty, &value, &mut text);
            Value::bytes(text)
        }
        _ => in_utf8(value, ty.collation.charset()),
    }
}

/// Copies variables whose value is kept in the executor's session.
fn follow(session: &mut Session, name: &str, value: &VarValue, is_default: bool) {
    match name {
        "last_insert_id" | "identity" => session.values.last_insert_id.set(value.as_u64()),
        "insert_id" => {
            *session.core.next_insert_id.lock() = Some(value.as_u64()).filter(|_| !is_default);
        }
        "rand_seed1" | "rand_seed2" => {
            let (first, second) = session.core.random_seeds.get().unwrap_or_default();
            let seed = value.as_u64() as u32;
            let seeds = if name == "rand_seed1" { (seed, second) } else { (first, seed) };
            session.core.random_seeds.set(seeds);
        }
        "timestamp" => {
            let micros = (value.as_f64() * 1e6) as i64;
            // Compat: zero, like DEFAULT, returns to the clock.
            session.frame.settings.timestamp_micros =
                Some(micros).filter(|m| *m != 0 && !is_default);
        }
        _ => {}
    }
}

fn keep(session: &Session, notes: Vec<Condition>) {
    for note in notes {
        session.diagnostics.push(note, session.frame.settings.notes.max_error_count);
    }
}

/// Runs a statement if it is one of the server's own; otherwise `None`.
pub(super) fn statement(
    shared: &Shared,
    instance: &Instance,
    session: &mut Session,
    (statement, values): (&Statement, &[(Value, SqlType)]),
    sink: &mut dyn ResultSink,
) -> SqlResult<Option<Outcome>> {
    if let Statement::Grant(grant) = statement {
        admin::check_may_grant(shared, grant)?;
        check_target(instance, session, grant)?;
        admin::check_may_grant_columns(shared, grant)?;
    }
    if changes_accounts(statement) {
        // Compat: these statements commit the open transaction, and never wait for their own
        // session.
        session.commit()?;
    }
    // The applier may wait for what this session has locked. Compat: a backup's locks do not count;
    // the statement waits until it is killed.
    if let Statement::StartStopSlave(wanted) = statement
        && !wanted.start
        && session.has_locked_tables()
    {
        return Err(SqlError::new(&ER_LOCK_OR_ACTIVE_TRANSACTION, &[]));
    }
    let mut notes = Notes::new();
    let mut number = |expr: &Expr| evaluate(instance, session, (expr, values));
    if let Statement::Show(show) = statement
        && let ShowWhat::Engine { engine, what } = &show.what
    {
        let answer = engine_report(shared, instance, engine.as_ref(), what)?;
        let Answer::Rows { columns, rows } = answer else { return Ok(Some(Outcome::ok())) };
        return send_rows(&columns, &rows, sink).map(Some);
    }
    if let Some((plans, asked)) = admin::explained(shared, statement, &mut number)? {
        return show_live(instance, session, &plans, &asked, sink).map(Some);
    }
    if let Statement::Show(show) = statement
        && let ShowWhat::BinlogEvents { file, position, limit }
        | ShowWhat::RelaylogEvents { file, position, limit, .. } = &show.what
    {
        admin::check_log_events(shared, &show.what)?;
        let mut bound = |expr: Option<&Expr>| expr.map(&mut number).transpose();
        let limit = limit.as_deref();
        let asked = binlog::Asked {
            file: file.as_ref().map(|name| String::from_utf8_lossy(&name.bytes).into_owned()),
            position: *position,
            skip: bound(limit.and_then(|limit| limit.offset.as_ref()))?.unwrap_or(0),
            count: bound(limit.and_then(|limit| limit.count.as_ref()))?,
        };
        let check = || match session.frame.kill.get() {
            Killed::No => Ok(()),
            _ => Err(SqlError::interrupted()),
        };
        let shown = match &show.what {
            ShowWhat::RelaylogEvents { name, .. } => {
                replica::show_relay_events(shared, name.as_ref(), &asked, &check, sink)
            }
            _ => binlog::show_events(shared.server.binlog(), &asked, &check, sink),
        };
        return shown.map(Some);
    }
    let answer = admin::run(shared, statement, &mut number, &mut notes);
    keep(session, notes);
    match answer? {
        None => Ok(None),
        Some(Answer::Done) => Ok(Some(Outcome::ok())),
        Some(Answer::Rows { columns, rows }) => send_rows(&columns, &rows, sink).map(Some),
    }
}

/// SHOW ENGINE.
fn engine_report(
    shared: &Shared,
    instance: &Instance,
    engine: Option<&Ident>,
    what: &EngineReport,
) -> SqlResult<Answer> {
    let name = engine.map_or("InnoDB", |e| &e.value);
    let is_native = name.eq_ignore_ascii_case("innodb");
    if !name.eq_ignore_ascii_case("performance_schema") {
        instance.engine(name)?;
    }
    {
        // Compat: a missing FILE privilege is reported like a failed login.
        let access = shared.access.lock();
        match what {
            EngineReport::Logs => {
                access.check_global(Privileges::FILE).map_err(|_| access.denied_login())?;
            }
            EngineReport::Status | EngineReport::Mutex => {
                access.check_global(Privileges::PROCESS)?;
            }
        }
    }
    let report = match what {
        EngineReport::Status if is_native => {
            Some(innodb::status_report(&innodb::Asked { shared, instance })?)
        }
        _ => None,
    };
    Ok(admin::engine_rows(report))
}

/// Checks that the object of a GRANT exists. CREATE may be granted on a table that does not exist
/// yet.
fn check_target(instance: &Instance, session: &Session, grant: &Grant) -> SqlResult<()> {
    let Granted::Privileges { privileges, on } = &grant.what else { return Ok(()) };
    match on {
        _ if grant.revoke => Ok(()),
        PrivilegeLevel::Table(name) => {
            let creates = privileges.iter().any(|p| p.kind == PrivilegeKind::Create);
            let schema =
                name.schema.as_ref().map(|s| &*s.value).or(session.frame.schema.as_deref());
            let schema = schema.ok_or_else(|| SqlError::new(&ER_NO_DB_ERROR, &[]))?;
            let snapshot = instance.catalog.snapshot();
            let columns = privileges.iter().flat_map(|p| &p.columns);
            match snapshot.table(schema, &name.name.value) {
                Some(table) => columns.into_iter().try_for_each(|c| check_column(table, c)),
                None if creates => Ok(()),
                None => Err(SqlError::no_such_table(schema, &name.name.value)),
            }
        }
        PrivilegeLevel::Routine(kind, name) => {
            let schema =
                name.schema.as_ref().map(|s| &*s.value).or(session.frame.schema.as_deref());
            let schema = schema.ok_or_else(|| SqlError::new(&ER_NO_DB_ERROR, &[]))?;
            let form = match kind {
                RoutineKind::Function => RoutineForm::Function,
                RoutineKind::Procedure => RoutineForm::Procedure,
                RoutineKind::Package => RoutineForm::Package,
                RoutineKind::PackageBody => RoutineForm::PackageBody,
            };
            if instance.catalog.snapshot().routine_of(schema, form, &name.name.value).is_some() {
                return Ok(());
            }
            let what = "FUNCTION or PROCEDURE";
            Err(SqlError::new(&ER_SP_DOES_NOT_EXIST, &[&what, &name.name.value]))
        }
        _ => Ok(()),
    }
}

fn check_column(table: &TableInfo, name: &Ident) -> SqlResult<()> {
    match table.column_position(&name.value) {
        Some(_) => Ok(()),
        None => Err(SqlError::new(&ER_BAD_FIELD_ERROR, &[&name.value, &table.name()])),
    }
}

fn changes_accounts(statement: &Statement) -> bool {
    matches!(
        statement,
        Statement::CreateUser(_)
            | Statement::CreateRole(_)
            | Statement::DropAccounts(_)
            | Statement::RenameUsers(_)
            | Statement::Grant(_)
    )
}

/// The value of an expression, whose placeholders have these values, as a number.
fn evaluate(
    instance: &Instance,
    session: &mut Session,
    (expr, values): (&Expr, &[(Value, SqlType)]),
) -> SqlResult<u64> {
    let item = SelectItem::Expr { expr: expr.clone(), alias: None, span: Span::default() };
    let select = Select {
        options: SelectOptions::default(),
        items: vec![item],
        from: Vec::new(),
        where_clause: None,
        group_by: Vec::new(),
        rollup: false,
        having: None,
        windows: Vec::new(),
        span: Span::default(),
    };
    let query = Query::of(QueryBody::Select(Box::new(select)), Span::default());
    let statement = Statement::Query(Box::new(query));
    let mut sink = OneNumber(0);
    execute_statement(instance, session, &statement, b"", values, &mut sink)?;
    Ok(sink.0)
}

/// A sink that keeps the number in the first column of the first row.
struct OneNumber(u64);

impl ResultSink for OneNumber {
    fn columns(&mut self, _: &[OutputColumn]) -> SqlResult<()> {
        Ok(())
    }

    fn batch(&mut self, batch: &Batch) -> SqlResult<()> {
        self.0 = match batch.value(0, 0) {
            Value::Int(v) => v.max(0) as u64,
            Value::UInt(v) => v,
            Value::Double(v) => v as u64,
            Value::Decimal(v) => v.to_u64().unwrap_or(0),
            Value::Bytes(text) => String::from_utf8_lossy(&text).trim().parse().unwrap_or_default(),
            _ => 0,
        };
        Ok(())
    }
}

/// A column of an answer about the server, none of which has NULLs.
fn never_null(name: &str, ty: &SqlType) -> OutputColumn {
    OutputColumn { nullable: false, ..OutputColumn::computed(name, ty.clone()) }
}

fn send_rows(
    columns: &[(String, SqlType)],
    rows: &[Vec<Value>],
    sink: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    let definitions: Vec<OutputColumn> =
        columns.iter().map(|(name, ty)| never_null(name, ty)).collect();
    sink.columns(&definitions)?;
    let column = |at: usize| {
        let ty = &columns[at].1;
        let mut column = Column::new(ty.physical(), ty.decimals, rows.len());
        rows.iter().for_each(|row| column.push(&row[at]));
        Arc::new(column)
    };
    if !rows.is_empty() {
        sink.batch(&Batch::new((0..columns.len()).map(column).collect(), rows.len()))?;
    }
    Ok(Outcome::rows())
}
