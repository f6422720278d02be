//! SHOW statements that build their own rows: warnings, errors, and SHOW CREATE. Each checks its
//! own privileges.

use std::sync::Arc;

use selkie_catalog::{
    ShowStyle, TableInfo, TableKind, View, show_create_database, show_create_table,
};
use selkie_sql::ast::{Expr, ExprKind, Ident, Limit, Literal, Show, ShowWhat, TableName};
use selkie_types::error::catalogue::{
    ER_BAD_FIELD_ERROR, ER_NO_SUCH_TABLE, ER_SP_DOES_NOT_EXIST, ER_VIEW_INVALID, ER_WRONG_OBJECT,
};
use selkie_types::{
    CollationId, Condition, Level, Privileges, SqlError, SqlResult, SqlType, TypeKind, Value,
};

use super::program;
use super::query::table_of;
use super::quoting::requoted;
use crate::Session;
use crate::query::execution::Scope;
use crate::state::control::Control;
use crate::state::session::{Access, Privilege};

/// A small result set.
pub(crate) struct ShownRows {
    /// Names and types of its columns.
    pub(crate) columns: Vec<(&'static str, SqlType)>,
    /// Its rows.
    pub(crate) rows: Vec<Vec<Value>>,
}

pub(super) fn text_type(characters: u32) -> SqlType {
    SqlType::varchar(characters, CollationId::UTF8MB4_GENERAL_CI)
}

/// Type of definition columns; `with_lengths` sets its length.
pub(super) fn definition_type() -> SqlType {
    text_type(0)
}

impl ShownRows {
    /// Sets the lengths of definition columns. Compat: the length is that of the definition, at
    /// least 1,024.
    fn with_lengths(mut self) -> Self {
        for (at, (_, ty)) in self.columns.iter_mut().enumerate() {
            if ty.length == 0 {
                let characters = |row: &Vec<Value>| match &row[at] {
                    Value::Bytes(text) => String::from_utf8_lossy(text).chars().count(),
                    _ => 0,
                };
                let longest = self.rows.iter().map(characters).max().unwrap_or(0);
                ty.length = longest.max(1_024) as u32;
            }
        }
        self
    }
}

/// Rows of `show`; `None` if it does not build its own.
pub(crate) fn show_rows(
    scope: Scope<'_>,
    control: &Control,
    show: &Show,
) -> SqlResult<Option<ShownRows>> {
    let session = scope.session;
    let shown = match &show.what {
        ShowWhat::Warnings(limit) => conditions(session, limit.as_deref(), false),
        ShowWhat::Errors(limit) => conditions(session, limit.as_deref(), true),
        ShowWhat::CountWarnings => {
            count("@@session.warning_count", session.diagnostics.warning_count())
        }
        ShowWhat::CountErrors => count("@@session.error_count", session.diagnostics.error_count()),
        ShowWhat::CreateTable(name) => create_table(scope, name)?,
        ShowWhat::CreateSequence(name) => super::sequence::create(scope, control, name)?,
        ShowWhat::CreateView(name) => {
            create_view(scope, name, &[Privileges::SELECT, Privileges::SHOW_VIEW])?
        }
        ShowWhat::CreateDatabase { if_not_exists, name } => {
            create_database(scope, name, *if_not_exists)?
        }
        ShowWhat::CreateRoutine(kind, name) => program::create_routine(scope, *kind, name)?,
        ShowWhat::CreateTrigger(name) => program::create_trigger(scope, name)?,
        ShowWhat::CreateEvent(name) => program::create_event(scope, control, name)?,
        ShowWhat::RoutineCode(..) => return Err(program::code()),
        _ => return Ok(None),
    };
    Ok(Some(shown.with_lengths()))
}

fn count(name: &'static str, value: u64) -> ShownRows {
    ShownRows {
        columns: vec![(name, SqlType::bigint_unsigned())],
        rows: vec![vec![Value::UInt(value)]],
    }
}

fn number(expr: Option<&Expr>) -> Option<usize> {
    match expr?.kind {
        ExprKind::Literal(Literal::Int(n)) => usize::try_from(n).ok(),
        _ => None,
    }
}

fn conditions(session: &Session, limit: Option<&Limit>, errors_only: bool) -> ShownRows {
    let offset = limit.and_then(|l| number(l.offset.as_ref())).unwrap_or(0);
    let count = limit.and_then(|l| number(l.count.as_ref())).unwrap_or(usize::MAX);
    let list = session.diagnostics.list();
    let wanted = list.iter().filter(|c| !errors_only || c.level == Level::Error);
    let row = |c: &Condition| {
        vec![Value::bytes(c.level.name()), Value::UInt(c.code.into()), Value::bytes(&c.message)]
    };
    let mut code = SqlType::new(TypeKind::Int, 4, 0);
    code.unsigned = true;
    ShownRows {
        columns: vec![("Level", text_type(7)), ("Code", code), ("Message", text_type(512))],
        rows: wanted.skip(offset).take(count).map(row).collect(),
    }
}

/// The table that SHOW CREATE names. Under LOCK TABLES it must be locked.
pub(super) fn locked_table(scope: Scope<'_>, name: &TableName) -> SqlResult<Arc<TableInfo>> {
    let used = &*name.name.value;
    let table = table_of(scope, name).map_err(|error| scope.session.not_found(error, used))?;
    scope.session.check_lock_named(&table, used, false)?;
    Ok(table)
}

fn create_table(scope: Scope<'_>, name: &TableName) -> SqlResult<ShownRows> {
    let Scope { instance, session } = scope;
    if let Ok(schema) = session.schema_of(name) {
        let table = &*name.name.value;
        let is_view = instance
            .catalog
            .snapshot()
            .table(schema, table)
            .is_some_and(|t| matches!(t.kind, TableKind::View(_)));
        if is_view && session.frame.temporary.get(schema, table).is_none() {
            check_shown(session, schema, table)?;
            return create_view(scope, name, &[Privileges::SHOW_VIEW]);
        }
        check_shown(session, schema, table)?;
    }
    let table = locked_table(scope, name)?;
    let next = match table.kind {
        TableKind::System => None,
        _ => instance.look_into(&table).and_then(|t| t.table.statistics().auto_increment),
    };
    let style = ShowStyle::of(session.frame.settings.expressions.sql_mode);
    let statement = requoted(
        session,
        show_create_table(&table, next, style, &session.frame.settings.expressions.time_zone),
    );
    Ok(ShownRows {
        columns: vec![("Table", text_type(64)), ("Create Table", definition_type())],
        rows: vec![vec![Value::bytes(table.name()), Value::bytes(statement)]],
    })
}

/// Compat: SHOW CREATE TABLE needs any privilege on the whole table.
fn check_shown(session: &Session, schema: &str, table: &str) -> SqlResult<()> {
    let permissions: &dyn selkie_plan::Permissions = session;
    let free = schema.eq_ignore_ascii_case("information_schema")
        || session.frame.temporary.get(schema, table).is_some();
    match free || permissions.granted(None, schema, table).has_any(Privileges::TABLE) {
        true => Ok(()),
        false => Err(session.frame.hooks.table_denied(session, None, (schema, table), "SHOW")),
    }
}

/// Error 1356 if the view reads something that is gone.
pub(crate) fn view_fault(scope: Scope<'_>, table: &TableInfo, view: &View) -> Option<SqlError> {
    let gone = [&ER_NO_SUCH_TABLE, &ER_BAD_FIELD_ERROR, &ER_VIEW_INVALID, &ER_SP_DOES_NOT_EXIST];
    let cause = scope.check_view(view).err()?;
    let is_gone = gone.iter().any(|def| cause.is(def));
    is_gone.then(|| SqlError::new(&ER_VIEW_INVALID, &[&table.schema(), &table.name()]))
}

/// Warns (1356) if the view reads something that is gone.
fn warn_if_invalid(scope: Scope<'_>, table: &TableInfo, view: &View) {
    if let Some(fault) = view_fault(scope, table, view) {
        let max = scope.session.frame.settings.notes.max_error_count;
        scope.session.diagnostics.push(Condition::from_error(Level::Warning, &fault), max);
    }
}

/// Row of SHOW CREATE VIEW, if the account has each of the `wanted` privileges.
fn create_view(scope: Scope<'_>, name: &TableName, wanted: &[Privileges]) -> SqlResult<ShownRows> {
    let (session, table) = (scope.session, locked_table(scope, name)?);
    let (schema, full) = (table.schema(), table.name());
    let is_view = matches!(table.kind, TableKind::View(_));
    let wanted = if is_view { wanted } else { &wanted[..wanted.len().min(1)] };
    wanted.iter().try_for_each(|w| session.frame.hooks.check_needs(session, schema, full, *w))?;
    match &table.kind {
        TableKind::View(view) => {
            // A view never reads a temporary table.
            let snapshot = scope.instance.catalog.snapshot();
            let exists = |schema: &str, table: &str, column: &str| {
                let found = snapshot.table(schema, table);
                found.is_some_and(|table| table.column_position(column).is_some())
            };
            let current = session.frame.schema.as_deref();
            let mode = session.frame.settings.expressions.sql_mode;
            let shown = super::view::create_view(&table, view, (current, mode), &exists)?;
            warn_if_invalid(scope, &table, view);
            Ok(shown)
        }
        _ => {
            let (schema, name) = (table.schema(), table.name());
            Err(SqlError::new(&ER_WRONG_OBJECT, &[&schema, &name, &"VIEW"]))
        }
    }
}

fn create_database(
    Scope { instance, session }: Scope<'_>,
    name: &Ident,
    if_not_exists: bool,
) -> SqlResult<ShownRows> {
    crate::ddl::schema::check_name(&name.value)?;
    let access = Access { privilege: Privilege::Any, schema: &name.value, table: "", columns: &[] };
    session.frame.hooks.check_access(session, &access)?;
    let snapshot = instance.catalog.snapshot();
    let schema =
        snapshot.schema(&name.value).ok_or_else(|| SqlError::unknown_database(&name.value))?;
    let statement = requoted(session, show_create_database(schema, if_not_exists));
    Ok(ShownRows {
        columns: vec![("Database", text_type(64)), ("Create Database", text_type(1024))],
        rows: vec![vec![Value::bytes(&*schema.name), Value::bytes(statement)]],
    })
}
