//! System versioning in definitions: the columns of the period, their place in unique keys, and
//! the changes of a versioned table that ALTER refuses.
//!
//! Must not know of application-time periods.

use std::sync::Arc;

use selkie_catalog::{ColumnInfo, Generated, SystemRole, SystemTime, TableInfo, TableKind};
use selkie_engine::{IndexDef, IndexPart, Personality};
use selkie_sql::ast::{self, AlterAction, Ident, TableElement, TableOption};
use selkie_types::charset::identifier_eq;
use selkie_types::error::catalogue::*;
use selkie_types::{Condition, SqlError, SqlResult, SqlType, TypeKind};

use super::DefineContext;
use super::indexes::Key;

/// Name of the period of system versioning.
const PERIOD: &str = "SYSTEM_TIME";
/// The columns that a period without declared ones has.
const HIDDEN: [&str; 2] = ["row_start", "row_end"];

/// Clauses of a statement that are about system versioning.
#[derive(Default)]
pub(super) struct Clauses<'a> {
    /// `WITH SYSTEM VERSIONING` of the table, or `ADD SYSTEM VERSIONING`.
    pub(super) versioned: bool,
    /// `DROP SYSTEM VERSIONING`.
    pub(super) dropped: bool,
    /// `DROP PERIOD FOR SYSTEM_TIME`.
    pub(super) drops_period: bool,
    /// Some column is `WITH SYSTEM VERSIONING`.
    pub(super) versions_column: bool,
    /// `PERIOD FOR SYSTEM_TIME (start, end)`.
    pub(super) period: Option<(&'a Ident, &'a Ident)>,
    /// Bounds that an ALTER adds, which it may also redefine.
    added: [Option<&'a Ident>; 2],
}

/// Whether a period is that of system versioning.
pub(super) fn is_period(name: &Ident) -> bool {
    identifier_eq(&name.value, PERIOD)
}

impl<'a> Clauses<'a> {
    /// Those of CREATE TABLE.
    pub(super) fn of_create(elements: &'a [TableElement], options: &[TableOption]) -> Self {
        let is_versioning = |option: &TableOption| matches!(option, TableOption::SystemVersioning);
        let mut out = Self { versioned: options.iter().any(is_versioning), ..Self::default() };
        for element in elements {
            match element {
                TableElement::Column(def) => {
                    out.versions_column |= def.system_versioning == Some(true);
                }
                TableElement::Period { name, start, end } if is_period(name) => {
                    out.period = Some((start, end));
                }
                _ => {}
            }
        }
        out
    }

    /// Those of ALTER TABLE.
    pub(super) fn of_alter(actions: &'a [AlterAction]) -> Self {
        let mut out = Self::default();
        for action in actions {
            match action {
                AlterAction::AddSystemVersioning => out.versioned = true,
                AlterAction::DropSystemVersioning => out.dropped = true,
                AlterAction::DropPeriod { name, .. } if is_period(name) => out.drops_period = true,
                AlterAction::AddPeriod { name, start, end, .. } if is_period(name) => {
                    out.period = Some((start, end));
                }
                AlterAction::AddColumn { column, .. } if role(column).is_bound() => {
                    out.added[usize::from(role(column).is_end())] = Some(&column.name);
                }
                _ => {}
            }
        }
        out
    }

    fn says_nothing(&self, columns: &[ColumnInfo]) -> bool {
        !self.versioned
            && !self.versions_column
            && self.period.is_none()
            && columns.iter().all(|column| column.system.is_plain())
    }
}

/// The part in system versioning that a column definition gives.
pub(super) fn role(def: &ast::ColumnDef) -> SystemRole {
    match (def.generated.as_deref(), def.system_versioning) {
        (Some(ast::Generated::RowStart), _) => SystemRole::Start,
        (Some(ast::Generated::RowEnd), _) => SystemRole::End,
        (_, Some(false)) => SystemRole::Unversioned,
        _ => SystemRole::Plain,
    }
}

/// A bound of a period is shown as a stored generated column.
pub(super) fn generated(role: SystemRole) -> Generated {
    let bound = if role.is_start() { "ROW START" } else { "ROW END" };
    Generated { expression: bound.to_owned(), stored: true }
}

/// Completes the columns of a new table: none is left with a part in system versioning that the
/// table does not have.
pub(super) fn complete(
    context: &DefineContext<'_>,
    clauses: &Clauses<'_>,
    elements: &[TableElement],
    columns: &mut Vec<ColumnInfo>,
    (schema, table, engine): (&str, &str, &Personality),
) -> SqlResult<()> {
    if clauses.says_nothing(columns) {
        return Ok(());
    }
    let bounds = columns.iter().any(|column| column.system.is_bound());
    if !clauses.versioned && !clauses.versions_column {
        if !bounds && clauses.period.is_none() {
            columns.iter_mut().for_each(|column| column.system = SystemRole::Plain);
            return Ok(());
        }
        return Err(SqlError::new(&ER_MISSING, &[&table, &"WITH SYSTEM VERSIONING"]));
    }
    if !clauses.versioned {
        only_given(elements, columns);
    }
    check_twice(columns)?;
    if !bounds && clauses.period.is_none() {
        columns.extend(hidden_columns());
    }
    check(context, clauses, columns, (schema, table, engine))
}

/// Without the table's clause the columns that do not say so are not versioned.
fn only_given(elements: &[TableElement], columns: &mut [ColumnInfo]) {
    for element in elements {
        let TableElement::Column(def) = element else { continue };
        let named = |c: &&mut ColumnInfo| identifier_eq(&c.name, &def.name.value);
        let column = columns.iter_mut().find(named).filter(|column| column.system.is_plain());
        if let (Some(column), None) = (column, def.system_versioning) {
            column.system = SystemRole::Unversioned;
        }
    }
}

fn check_twice(columns: &[ColumnInfo]) -> SqlResult<()> {
    for (is_bound, word) in
        [(SystemRole::is_start as fn(SystemRole) -> bool, "START"), (SystemRole::is_end, "END")]
    {
        if let Some(second) = columns.iter().filter(|c| is_bound(c.system)).nth(1) {
            return Err(SqlError::new(&ER_VERS_DUPLICATE_ROW_START_END, &[&word, &second.name]));
        }
    }
    Ok(())
}

/// The columns of a period by time that the statement does not declare.
pub(super) fn hidden_columns() -> impl Iterator<Item = ColumnInfo> {
    hidden_columns_of(SqlType { kind: TypeKind::Timestamp, ..SqlType::datetime(6) })
}

/// The columns of a period that nothing declares, of a type.
pub(super) fn hidden_columns_of(ty: SqlType) -> impl Iterator<Item = ColumnInfo> {
    let roles = [SystemRole::HiddenStart, SystemRole::HiddenEnd];
    HIDDEN.into_iter().zip(roles).map(move |(name, role)| ColumnInfo {
        invisible: true,
        generated: Some(generated(role)),
        system: role,
        ..ColumnInfo::not_null(name, ty.clone())
    })
}

/// The checks of a versioned table whose columns are complete.
pub(super) fn check(
    _context: &DefineContext<'_>,
    clauses: &Clauses<'_>,
    columns: &[ColumnInfo],
    (schema, table, engine): (&str, &str, &Personality),
) -> SqlResult<()> {
    // Compat: the columns of the period count as two, as many as there must be more than.
    let versioned = columns.iter().filter(|c| c.system != SystemRole::Unversioned).count();
    if versioned == 2 {
        return Err(SqlError::new(&ER_VERS_TABLE_MUST_HAVE_COLUMNS, &[&table]));
    }
    let of = |is: fn(SystemRole) -> bool| columns.iter().find(|column| is(column.system));
    let (start, end) = match (of(SystemRole::is_start), of(SystemRole::is_end)) {
        (Some(start), Some(end)) => (start, end),
        _ if let [Some(start), Some(end)] = clauses.added => {
            return Err(SqlError::new(&ER_VERS_PERIOD_COLUMNS, &[start, end]));
        }
        (Some(_), None) => return Err(SqlError::new(&ER_MISSING, &[&table, &"AS ROW END"])),
        (None, _) => return Err(SqlError::new(&ER_MISSING, &[&table, &"AS ROW START"])),
    };
    if !start.is_hidden() {
        let Some((from, to)) = clauses.period else {
            return Err(SqlError::new(&ER_MISSING, &[&table, &"PERIOD FOR SYSTEM_TIME"]));
        };
        if !identifier_eq(&from.value, &start.name) || !identifier_eq(&to.value, &end.name) {
            return Err(SqlError::new(&ER_VERS_PERIOD_COLUMNS, &[&start.name, &end.name]));
        }
    }
    if schema == "mysql" {
        return Err(SqlError::new(&ER_VERS_DB_NOT_SUPPORTED, &[&schema]));
    }
    check_types(start, end, table, engine)
}

fn check_types(
    start: &ColumnInfo,
    end: &ColumnInfo,
    table: &str,
    engine: &Personality,
) -> SqlResult<()> {
    let wrong = |column: &ColumnInfo, ty: &str| {
        Err(SqlError::new(&ER_VERS_FIELD_WRONG_TYPE, &[&column.name, &ty, &table]))
    };
    let is_time = |c: &ColumnInfo| c.ty.kind == TypeKind::Timestamp && c.ty.decimals == 6;
    let is_number =
        |c: &ColumnInfo| c.ty.kind == TypeKind::BigInt && c.ty.unsigned && c.ty.length == 20;
    let numbers = start.ty.is_integer();
    let (fits, ty): (&dyn Fn(&ColumnInfo) -> bool, &str) = match numbers {
        true => (&is_number, "BIGINT(20) UNSIGNED"),
        false => (&is_time, "TIMESTAMP(6)"),
    };
    match [start, end].into_iter().find(|column| !fits(column)) {
        Some(column) => wrong(column, ty),
        None if numbers && !engine.keys.clustered => wrong(start, "TIMESTAMP(6)"),
        None => Ok(()),
    }
}

/// The error of a table that must be versioned by time and is versioned by transaction.
pub(super) fn not_by_time(table: &TableInfo) -> SqlError {
    let start = table.columns.iter().find(|column| column.system.is_start());
    let name = start.map_or("", |column| &column.name);
    SqlError::new(&ER_VERS_FIELD_WRONG_TYPE, &[&name, &"TIMESTAMP(6)", &table.name()])
}

/// The checks of a versioned table that stays so.
pub(super) fn check_kept(
    old: &TableInfo,
    engine: &Personality,
    columns: &[ColumnInfo],
) -> SqlResult<()> {
    if !std::ptr::eq(old.engine, engine) && old.engine.keys.clustered != engine.keys.clustered {
        let arguments: [&dyn std::fmt::Display; 2] = [&old.schema(), &old.name()];
        return Err(SqlError::new(&ER_VERS_ALTER_ENGINE_PROHIBITED, &arguments));
    }
    let versioned = columns.iter().filter(|c| c.system != SystemRole::Unversioned).count();
    match versioned <= 2 {
        true => Err(SqlError::new(&ER_VERS_TABLE_MUST_HAVE_COLUMNS, &[&old.name()])),
        false => Ok(()),
    }
}

/// Makes the end of the period the last part of a unique key, before those of a period without
/// overlaps: rows of history have the same key.
pub(super) fn complete_key(columns: &[ColumnInfo], (index, _): &mut Key) {
    let Some(period) = SystemTime::of(columns).filter(|_| index.is_unique()) else { return };
    if !index.holds(period.end) {
        let part = IndexPart { column: period.end, prefix: None, descending: false };
        index.parts.insert(index.own_parts().len(), part);
    }
}

/// A versioned table without versioning, for a temporary one that is like it. Compat: it has no
/// keys.
pub(super) fn stripped(
    context: &DefineContext<'_>,
    source: &TableInfo,
    schema: &str,
    name: &str,
) -> SqlResult<TableInfo> {
    let listed = source.columns.iter().filter(|column| !column.system.is_bound());
    let plain = |column: &ColumnInfo| ColumnInfo { system: SystemRole::Plain, ..column.clone() };
    let columns: Vec<ColumnInfo> = listed.map(plain).collect();
    let message = format!("System versioning is stripped from temporary `{schema}.{name}`");
    let warning = Condition::warning(&ER_UNKNOWN_ERROR, &[]);
    context.eval.push(Condition { message, ..warning });
    let (schema, name) = (source.schema(), source.name());
    let def = TableInfo::make_def(source.def.id, schema, name, &columns, Vec::new());
    let table = TableInfo { def: Arc::new(def), columns, fulltext: Vec::new(), ..source.clone() };
    match table.columns.iter().any(|column| column.auto_increment) {
        true => Err(SqlError::new(&ER_WRONG_AUTO_KEY, &[])),
        false => Ok(table),
    }
}

/// Whether the end of the period is a part of a key only because it is unique.
pub(super) fn is_added_part(old: &TableInfo, index: &IndexDef, part: &IndexPart) -> bool {
    index.is_unique() && old.columns[part.column].system.is_end()
}

/// Errors of an ALTER that a versioned table refuses before anything else is looked at.
pub(super) fn check_alter(
    context: &DefineContext<'_>,
    old: &TableInfo,
    actions: &[AlterAction],
) -> SqlResult<()> {
    use AlterAction as A;
    let versioned = old.system_time().is_some();
    if versioned && !context.keeps_history && actions.iter().any(changes_history) {
        let arguments: [&dyn std::fmt::Display; 2] = [&old.schema(), &old.name()];
        return Err(SqlError::new(&ER_VERS_ALTER_NOT_ALLOWED, &arguments));
    }
    let adds = actions.iter().any(|a| matches!(a, A::AddSystemVersioning));
    let drops = actions.iter().any(|a| matches!(a, A::DropSystemVersioning));
    let bounds = || actions.iter().any(|action| made_bound(action).is_some());
    if old.kind == TableKind::Temporary && (adds || drops || bounds()) {
        return Err(SqlError::new(&ER_VERS_NOT_SUPPORTED, &[&"CREATE TEMPORARY TABLE"]));
    }
    if adds && versioned {
        return Err(SqlError::new(&ER_VERS_ALREADY_VERSIONED, &[&old.name()]));
    }
    if drops && !versioned {
        return Err(SqlError::new(&ER_VERS_NOT_VERSIONED, &[&old.name()]));
    }
    let declared = old.system_time().is_some_and(|period| !old.columns[period.end].is_hidden());
    let period = |a: &A| matches!(a, A::DropPeriod { name, if_exists: false } if is_period(name));
    if !versioned && actions.iter().any(period) {
        return Err(SqlError::new(&ER_VERS_NOT_VERSIONED, &[&old.name()]));
    }
    if !declared && actions.iter().any(period) {
        let message =
            format!("Can't DROP PERIOD FOR SYSTEM_TIME on `{}`; check that it exists", old.name());
        return Err(SqlError::with_message(&ER_CANT_DROP_FIELD_OR_KEY, &message));
    }
    check_dropped_period(old, actions)?;
    if drops && old.rotation().is_some() {
        return Err(SqlError::new(&ER_DROP_VERSIONING_SYSTEM_TIME_PARTITION, &[&old.name()]));
    }
    let end = actions.iter().position(|a| matches!(a, A::DropSystemVersioning));
    let versions_after = end.is_some_and(|end| actions[end..].iter().any(versions_some_column));
    if versions_after || !versioned && actions.iter().any(versions_column) {
        return Err(SqlError::new(&ER_VERS_NOT_VERSIONED, &[&old.name()]));
    }
    if !versioned || drops {
        return Ok(());
    }
    let numbers = |a: &A| match a {
        A::AddColumn { column, if_not_exists, .. } => {
            let is_there = || old.column_position(&column.name.value).is_some();
            column.auto_increment
                && column.nullable != Some(true)
                && !(*if_not_exists && is_there())
        }
        _ => false,
    };
    // Compat: the copy of another engine's rows fails at the first row of history.
    if old.engine.keys.clustered && actions.iter().any(numbers) {
        let table = format!("{}/{}", old.schema(), old.name());
        return Err(SqlError::new(&ER_UNSUPPORTED_EXTENSION, &[&table]));
    }
    actions.iter().try_for_each(|action| check_action(old, action))
}

/// Whoever drops a declared period has to drop its columns.
fn check_dropped_period(old: &TableInfo, actions: &[AlterAction]) -> SqlResult<()> {
    use AlterAction as A;
    let Some(period) = old.system_time() else { return Ok(()) };
    if !actions.iter().any(|a| matches!(a, A::DropPeriod { name, .. } if is_period(name))) {
        return Ok(());
    }
    let is_left = |column: &&ColumnInfo| {
        let drops = |a: &A| matches!(a, A::DropColumn { name, .. } if name.is(&column.name));
        !column.is_hidden() && !actions.iter().any(drops)
    };
    let bounds = [&old.columns[period.start], &old.columns[period.end]];
    let left = bounds.into_iter().filter(is_left);
    let missing: Vec<String> = left.map(|c| format!("DROP COLUMN `{}`", c.name)).collect();
    match missing.is_empty() {
        true => Ok(()),
        false => Err(SqlError::new(&ER_MISSING, &[&old.name(), &missing.join(", ")])),
    }
}

/// Whether an action says of a column whether it is versioned.
fn versions_some_column(action: &AlterAction) -> bool {
    match action {
        AlterAction::AddColumn { column, .. } => column.system_versioning.is_some(),
        _ => versions_column(action),
    }
}

/// Whether an action says of an existing column whether it is versioned.
fn versions_column(action: &AlterAction) -> bool {
    use AlterAction as A;
    match action {
        A::ModifyColumn { column, .. } | A::ChangeColumn { column, .. } => {
            column.system_versioning.is_some()
        }
        _ => false,
    }
}

/// Whether an action would change rows of history.
fn changes_history(action: &AlterAction) -> bool {
    use AlterAction as A;
    match action {
        A::AddColumn { .. } | A::DropColumn { .. } => true,
        A::ModifyColumn { .. } | A::ChangeColumn { .. } => true,
        A::AddIndex(index) => {
            matches!(index.kind, ast::IndexKind::Primary | ast::IndexKind::Unique)
        }
        _ => false,
    }
}

/// The column that an action makes a bound of the period.
fn made_bound(action: &AlterAction) -> Option<&ast::ColumnDef> {
    use AlterAction as A;
    match action {
        A::AddColumn { column, .. }
        | A::ModifyColumn { column, .. }
        | A::ChangeColumn { column, .. } => {
            Some(&**column).filter(|column| role(column).is_bound())
        }
        _ => None,
    }
}

fn check_action(old: &TableInfo, action: &AlterAction) -> SqlResult<()> {
    use AlterAction as A;
    let is_bound = |name: &Ident| {
        old.column_position(&name.value).is_some_and(|at| old.columns[at].system.is_bound())
    };
    let named = match action {
        A::ModifyColumn { column, .. } => Some(&column.name),
        A::ChangeColumn { old_name, .. } => Some(old_name),
        A::RenameColumn { from, .. } => {
            let at = old.column_position(&from.value).filter(|at| old.columns[*at].is_hidden());
            return match at {
                Some(_) => Err(SqlError::unknown_column(from, old.name())),
                None => Ok(()),
            };
        }
        A::SetDefault { column, .. } | A::DropDefault { column, .. } => Some(column),
        _ => None,
    };
    if let Some(column) = made_bound(action) {
        let word = if role(column).is_start() { "START" } else { "END" };
        return Err(SqlError::new(&ER_VERS_DUPLICATE_ROW_START_END, &[&word, &column.name]));
    }
    if let Some(name) = named.filter(|name| is_bound(name)) {
        return Err(SqlError::new(&ER_VERS_ALTER_SYSTEM_FIELD, &[name]));
    }
    match action {
        A::AddPeriod { name, .. } if is_period(name) => {
            Err(SqlError::new(&ER_VERS_ALREADY_VERSIONED, &[&old.name()]))
        }
        _ => Ok(()),
    }
}
