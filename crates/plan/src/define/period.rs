//! Application-time periods in CREATE and ALTER TABLE: which columns they may have, and the parts
//! that they give to keys without overlaps.
//!
//! The period of system time is not one of them.

use selkie_catalog::{ColumnInfo, DefaultValue, ForeignKeyAction, Period, TableInfo, TableKind};
use selkie_engine::{IndexDef, IndexPart};
use selkie_sql::ast::{AlterAction, Ident, TableElement};
use selkie_types::charset::identifier_eq;
use selkie_types::error::catalogue::{
    ER_BAD_FIELD_ERROR, ER_CANT_DROP_FIELD_OR_KEY, ER_DUP_FIELDNAME,
    ER_KEY_CANT_HAVE_WITHOUT_OVERLAPS, ER_KEY_CONTAINS_PERIOD_FIELDS, ER_MORE_THAN_ONE_PERIOD,
    ER_PERIOD_CONSTRAINT_DROP, ER_PERIOD_FIELD_WRONG_ATTRIBUTES, ER_PERIOD_NOT_FOUND,
    ER_PERIOD_TEMPORARY_NOT_ALLOWED, ER_PERIOD_TYPES_MISMATCH, ER_WRONG_FIELD_SPEC,
};
use selkie_types::{SqlError, SqlResult, TypeKind, Value};

use super::{DefineContext, system_time};

/// A period by the names of its columns.
#[derive(Clone)]
pub(super) struct Named {
    pub(super) name: Box<str>,
    start: Box<str>,
    end: Box<str>,
}

impl Named {
    fn new(name: &Ident, start: &Ident, end: &Ident) -> Self {
        let [name, start, end] = [name, start, end].map(|ident| ident.value.clone());
        Self { name, start, end }
    }

    /// The period of a table with these columns.
    fn of(period: &Period, columns: &[ColumnInfo]) -> Self {
        let column = |at: usize| columns[at].name.clone();
        let (start, end) = (column(period.start), column(period.end));
        Self { name: period.name.clone(), start, end }
    }

    /// Finds its columns, which become NOT NULL.
    fn resolve(&self, columns: &mut [ColumnInfo]) -> SqlResult<Period> {
        let find = |name: &str| columns.iter().position(|c| identifier_eq(&c.name, name));
        let (start, end) = (find(&self.start), find(&self.end));
        if let Some(at) = find(&self.name) {
            return Err(SqlError::new(&ER_DUP_FIELDNAME, &[&columns[at].name]));
        }
        let start = self.checked(columns, start, &self.start)?;
        let end = self.checked(columns, end, &self.end)?;
        let types = [start, end].map(|at| (columns[at].ty.kind, columns[at].ty.decimals));
        if types[0] != types[1] {
            return Err(SqlError::new(&ER_PERIOD_TYPES_MISMATCH, &[&self.name]));
        }
        for at in [start, end] {
            columns[at].nullable = false;
            if columns[at].default == DefaultValue::Literal(Value::Null) {
                columns[at].default = DefaultValue::Implicit;
            }
        }
        Ok(Period { name: self.name.clone(), start, end })
    }

    fn checked(&self, columns: &[ColumnInfo], at: Option<usize>, name: &str) -> SqlResult<usize> {
        let missing = || SqlError::new(&ER_BAD_FIELD_ERROR, &[&name, &self.name]);
        let at = at.ok_or_else(missing)?;
        let column = &columns[at];
        let is_time =
            matches!(column.ty.kind, TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp);
        match column.generated {
            _ if !is_time => Err(SqlError::new(&ER_WRONG_FIELD_SPEC, &[&column.name])),
            Some(_) => Err(SqlError::new(
                &ER_PERIOD_FIELD_WRONG_ATTRIBUTES,
                &[&column.name, &"GENERATED ALWAYS AS"],
            )),
            None => Ok(at),
        }
    }
}

/// The period among the elements of a new table; its columns become NOT NULL.
pub(super) fn of_elements(
    elements: &[TableElement],
    kind: &TableKind,
    columns: &mut [ColumnInfo],
) -> SqlResult<Option<Period>> {
    let mut found: Option<Named> = None;
    for element in elements {
        let TableElement::Period { name, start, end } = element else { continue };
        if system_time::is_period(name) {
            continue;
        }
        if found.is_some() {
            return Err(SqlError::new(&ER_MORE_THAN_ONE_PERIOD, &[]));
        }
        found = Some(Named::new(name, start, end));
    }
    let Some(named) = found else { return Ok(None) };
    if *kind == TableKind::Temporary {
        return Err(SqlError::new(&ER_PERIOD_TEMPORARY_NOT_ALLOWED, &[]));
    }
    named.resolve(columns).map(Some)
}

/// Adds the parts of `name WITHOUT OVERLAPS` to those of key `key`, which must not be hashed.
pub(super) fn add_parts(
    columns: &[ColumnInfo],
    period: Option<&Period>,
    (name, key): (&str, &IndexDef),
) -> SqlResult<Vec<IndexPart>> {
    if key.hashed {
        return Err(SqlError::new(&ER_KEY_CANT_HAVE_WITHOUT_OVERLAPS, &[&key.name]));
    }
    let added = key_parts(columns, period, name, &key.name, &key.parts)?;
    Ok(key.parts.iter().cloned().chain(added).collect())
}

/// The parts that `name WITHOUT OVERLAPS` adds to key `key` behind `parts`.
pub(super) fn key_parts(
    columns: &[ColumnInfo],
    period: Option<&Period>,
    name: &str,
    key: &str,
    parts: &[IndexPart],
) -> SqlResult<[IndexPart; 2]> {
    let Some(period) = period.filter(|period| identifier_eq(&period.name, name)) else {
        return Err(SqlError::new(&ER_PERIOD_NOT_FOUND, &[&name]));
    };
    let own = [period.start, period.end];
    if let Some(part) = parts.iter().find(|part| own.contains(&part.column)) {
        let column = &columns[part.column].name;
        return Err(SqlError::new(&ER_KEY_CONTAINS_PERIOD_FIELDS, &[&key, column]));
    }
    let part = |column: usize| IndexPart { column, prefix: None, descending: false };
    Ok([part(period.end), part(period.start)])
}

/// An error if a foreign key gives new values to a key without overlaps.
pub(super) fn check_cascades(table: &TableInfo) -> SqlResult<()> {
    for index in table.def.indexes.iter().filter(|index| index.without_overlaps) {
        let mut parts = index.parts.iter().map(|part| &*table.columns[part.column].name);
        let is_set = |name: &str| {
            let cascades =
                table.foreign_keys.iter().filter(|key| key.on_update == ForeignKeyAction::Cascade);
            cascades.flat_map(|key| &key.columns).any(|column| identifier_eq(column, name))
        };
        if parts.any(is_set) {
            return Err(SqlError::new(&ER_KEY_CANT_HAVE_WITHOUT_OVERLAPS, &[&index.name]));
        }
    }
    Ok(())
}

/// The period of a table that ALTER TABLE changes.
pub(super) struct Altered {
    /// The period before.
    old: Option<Named>,
    /// Whether `old` is dropped.
    drops: bool,
    added: Option<Named>,
    /// Old and new names of columns.
    renamed: Vec<(Box<str>, Box<str>)>,
}

impl Altered {
    pub(super) fn new(period: Option<&Period>, columns: &[ColumnInfo]) -> Self {
        let old = period.map(|period| Named::of(period, columns));
        Self { old, drops: false, added: None, renamed: Vec::new() }
    }

    /// `ADD PERIOD` or `DROP PERIOD`.
    pub(super) fn apply(
        &mut self,
        context: &DefineContext<'_>,
        action: &AlterAction,
    ) -> SqlResult<()> {
        match action {
            AlterAction::AddPeriod { if_not_exists, name, start, end } => {
                match *if_not_exists && self.has(context, name) {
                    true => Ok(()),
                    false => self.add(Named::new(name, start, end)),
                }
            }
            AlterAction::DropPeriod { if_exists, name } => match self.drop(name) {
                Err(_) if *if_exists => {
                    context.eval.note(&ER_CANT_DROP_FIELD_OR_KEY, &[&"PERIOD", name]);
                    Ok(())
                }
                dropped => dropped,
            },
            _ => Ok(()),
        }
    }

    /// Whether there is a period of that name, which raises a note.
    ///
    /// Compat: one of the same statement is not told of.
    fn has(&self, context: &DefineContext<'_>, name: &Ident) -> bool {
        let is_it = |named: &Option<Named>| named.as_ref().is_some_and(|n| name.is(&n.name));
        let is_new = is_it(&self.added);
        if !is_new && is_it(&self.old) {
            context.eval.note(&ER_DUP_FIELDNAME, &[name]);
        }
        is_new || is_it(&self.old)
    }

    fn add(&mut self, named: Named) -> SqlResult<()> {
        if self.added.is_some() {
            return Err(SqlError::new(&ER_MORE_THAN_ONE_PERIOD, &[]));
        }
        self.added = Some(named);
        Ok(())
    }

    fn drop(&mut self, name: &Ident) -> SqlResult<()> {
        if !self.old.as_ref().is_some_and(|old| name.is(&old.name)) {
            return Err(SqlError::new(&ER_CANT_DROP_FIELD_OR_KEY, &[&"PERIOD", name]));
        }
        self.drops = true;
        Ok(())
    }

    /// `RENAME COLUMN`.
    pub(super) fn rename(&mut self, from: &str, to: &str) {
        self.renamed.push((from.into(), to.into()));
    }

    /// The period that stays, with the new names of its columns.
    fn kept(&self) -> Option<Named> {
        let old = self.old.as_ref().filter(|_| !self.drops)?;
        let now = |column: &str| {
            let new = self.renamed.iter().find(|(from, _)| identifier_eq(from, column));
            new.map_or(column, |(_, to)| to).into()
        };
        Some(Named { name: old.name.clone(), start: now(&old.start), end: now(&old.end) })
    }

    /// An error if a constraint's name is that of the implied CHECK.
    pub(super) fn refuse_constraint(&self, name: &str) -> SqlResult<()> {
        match &self.old {
            Some(old) if identifier_eq(&old.name, name) => {
                Err(SqlError::new(&ER_PERIOD_CONSTRAINT_DROP, &[&old.name, &old.name]))
            }
            _ => Ok(()),
        }
    }

    /// An error if one of the dropped columns is a column of the period that stays.
    pub(super) fn refuse_dropped(&self, dropped: &[String]) -> SqlResult<()> {
        let Some(old) = self.old.as_ref().filter(|_| !self.drops) else { return Ok(()) };
        let is_own = |name: &&String| [&old.start, &old.end].iter().any(|c| identifier_eq(c, name));
        match dropped.iter().find(is_own) {
            Some(name) => Err(SqlError::new(&ER_BAD_FIELD_ERROR, &[name, &"CHECK"])),
            None => Ok(()),
        }
    }

    /// Whether the table gets a period.
    pub(super) fn is_new(&self) -> bool {
        self.added.is_some()
    }

    /// Name of the period before.
    pub(super) fn old_name(&self) -> &str {
        self.old.as_ref().map_or("", |old| &old.name)
    }

    /// The period of the new table; its columns become NOT NULL.
    pub(super) fn resolve(&self, columns: &mut [ColumnInfo]) -> SqlResult<Option<Period>> {
        let kept = self.kept();
        match (&kept, &self.added) {
            (Some(_), Some(_)) => Err(SqlError::new(&ER_MORE_THAN_ONE_PERIOD, &[])),
            (Some(named), None) | (None, Some(named)) => named.resolve(columns).map(Some),
            (None, None) => Ok(None),
        }
    }
}
