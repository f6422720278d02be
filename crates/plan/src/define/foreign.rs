//! Definitions of FOREIGN KEY and REFERENCES, and MariaDB's rules for them. Reads definitions only:
//! rows are checked when ALTER TABLE is executed.

use std::fmt::Display;
use std::sync::Arc;

use selkie_catalog::{ColumnInfo, ForeignKey, ForeignKeyAction, TableInfo, TableKind};
use selkie_sql::ast::{self, Ident, ReferenceAction, References};
use selkie_types::charset::identifier_eq;
use selkie_types::error::catalogue::{
    ER_CANT_CREATE_TABLE, ER_DUP_CONSTRAINT_NAME, ER_FK_NO_INDEX_PARENT, ER_WRONG_FK_DEF,
};
use selkie_types::{Condition, Level, SqlError, SqlResult, SqlType, TypeKind};

use super::DefineContext;

/// `errno` of an invalid foreign key.
const CANNOT_ADD: u16 = 150;
/// `errno` of a constraint name that is already used.
const DUPLICATE: u16 = 121;

/// One FOREIGN KEY or REFERENCES clause.
pub(super) struct ForeignSpec<'a> {
    pub(super) name: Option<&'a str>,
    pub(super) columns: Vec<Ident>,
    references: &'a References,
}

impl<'a> ForeignSpec<'a> {
    /// From a `FOREIGN KEY` element of a table.
    pub(super) fn of(def: &'a ast::ForeignKeyDef) -> SqlResult<Self> {
        let name = def.constraint.as_ref().or(def.name.as_ref()).map(|n| &*n.value);
        let to = &def.references.columns;
        if !to.is_empty() && to.len() != def.columns.len() {
            let shown = name.unwrap_or("foreign key without name");
            let why = "Key reference and table reference don't match";
            return Err(SqlError::new(&ER_WRONG_FK_DEF, &[&shown, &why]));
        }
        Ok(Self { name, columns: def.columns.clone(), references: &def.references })
    }

    /// From a `REFERENCES` clause of a column.
    pub(super) fn of_column(column: &'a ast::ColumnDef) -> Option<Self> {
        let references = column.references.as_deref()?;
        let name = references.constraint.as_ref().map(|n| &*n.value);
        Some(Self { name, columns: vec![column.name.clone()], references })
    }

    /// Names of the referenced columns; without a list they are the key's own columns.
    fn referenced(&self) -> Vec<&str> {
        let list = match self.references.columns.is_empty() {
            true => &self.columns,
            false => &self.references.columns,
        };
        list.iter().map(|c| &*c.value).collect()
    }
}

/// A table being defined, as foreign keys need it.
pub(super) struct Defined<'a> {
    pub(super) schema: &'a str,
    pub(super) table: &'a TableInfo,
    /// The table to which its own references refer. Compat: in ALTER TABLE it is the old
    /// definition.
    pub(super) itself: &'a TableInfo,
    /// `Create ` or `Alter `, as in warnings.
    pub(super) verb: &'static str,
    /// The statement has `ALGORITHM=COPY`, or creates the table.
    pub(super) copied: bool,
    /// Highest number in a generated constraint name so far.
    pub(super) highest: u32,
}

/// Adds the keys of `specs` to `keys`, which stay sorted by name.
pub(super) fn add(
    context: &DefineContext<'_>,
    defined: &Defined<'_>,
    keys: &mut Vec<ForeignKey>,
    specs: &[ForeignSpec<'_>],
) -> SqlResult<()> {
    let table = defined.table;
    for spec in specs {
        refuse_generated(&defined.columns(spec)?, spec)?;
    }
    if specs.is_empty() || !table.engine.statements.foreign_keys {
        return Ok(());
    }
    if table.kind == TableKind::Temporary {
        let why = "Temporary tables can't have foreign key constraints.";
        defined.warn(context, "with foreign key constraint", why);
        return Err(defined.error(CANNOT_ADD));
    }
    let kept = keys.len();
    let names = names(defined, specs);
    if names.iter().enumerate().any(|(at, name)| names[..at].contains(name)) {
        return Err(defined.error(CANNOT_ADD));
    }
    for (spec, name) in specs.iter().zip(names) {
        let key = define(context, defined, spec, name)?;
        if keys[..kept].iter().any(|k| k.name == key.name) || is_taken(context, defined, &key.name)
        {
            return Err(defined.duplicate(context, &key));
        }
        keys.push(key);
    }
    keys.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(())
}

/// Names of the new constraints; those without a name get a generated one.
fn names(defined: &Defined<'_>, specs: &[ForeignSpec<'_>]) -> Vec<String> {
    let mut number = defined.highest;
    let name = |spec: &ForeignSpec<'_>| match spec.name {
        Some(name) => name.to_owned(),
        None => {
            number += 1;
            format!("{}_ibfk_{number}", defined.table.name())
        }
    };
    specs.iter().map(name).collect()
}

/// Whether another table of the schema has a constraint with this name.
fn is_taken(context: &DefineContext<'_>, defined: &Defined<'_>, name: &str) -> bool {
    let mut all = context.names.snapshot.foreign_keys(defined.schema);
    all.any(|(table, key)| key.name == name && table.name() != defined.table.name())
}

fn define(
    context: &DefineContext<'_>,
    defined: &Defined<'_>,
    spec: &ForeignSpec<'_>,
    name: String,
) -> SqlResult<ForeignKey> {
    let own: Vec<&ColumnInfo> = defined.columns(spec)?;
    let to = &spec.references.table;
    let schema = to.schema.as_ref().map_or(defined.schema, |s| &*s.value);
    let mut key = ForeignKey {
        name,
        columns: own.iter().map(|c| c.name.to_string()).collect(),
        referenced_schema: schema.to_owned(),
        referenced_table: to.name.value.to_string(),
        referenced_columns: spec.referenced().iter().map(|c| (*c).to_owned()).collect(),
        on_delete: action(spec.references.on_delete),
        on_update: action(spec.references.on_update),
    };
    if let Some(parent) = find_parent(context, defined, &key, spec)? {
        let parent = parent.as_ref().map_or(defined.itself, |p| &**p);
        let others = referenced_columns(context, defined, parent, spec)?;
        if let Some(why) = misfit(parent, &others, &own) {
            if defined.in_place(context) {
                let arguments: [&dyn Display; 2] = [&key.name, &parent.name()];
                return Err(SqlError::new(&ER_FK_NO_INDEX_PARENT, &arguments));
            }
            return Err(defined.refuse(context, spec, &why));
        }
        let brings_null =
            own.iter().zip(&others).any(|(own, other)| other.nullable && !own.nullable);
        if brings_null && refuses_nulls(context, &key) {
            return Err(defined.error(CANNOT_ADD));
        }
        key.referenced_columns = others.iter().map(|c| c.name.to_string()).collect();
    }
    let nulls = [key.on_delete, key.on_update].contains(&ForeignKeyAction::SetNull);
    if let Some(column) = own.iter().find(|c| nulls && !c.nullable) {
        let why = format!(
            "You have defined a SET NULL condition but column '{}' is defined as NOT NULL.",
            column.name
        );
        return Err(defined.refuse(context, spec, &why));
    }
    Ok(key)
}

/// Whether the key must not bring NULLs of the referenced columns into others that have none.
/// Compat: InnoDB looks only in strict mode, and only at keys that do nothing else than cascade
/// updates.
pub(super) fn refuses_nulls(context: &DefineContext<'_>, key: &ForeignKey) -> bool {
    context.eval.types.sql_mode.is_strict()
        && key.on_update == ForeignKeyAction::Cascade
        && key.on_delete == ForeignKeyAction::Restrict
}

/// SET DEFAULT is accepted without effect.
fn action(action: Option<ReferenceAction>) -> ForeignKeyAction {
    match action {
        Some(ReferenceAction::Cascade) => ForeignKeyAction::Cascade,
        Some(ReferenceAction::SetNull) => ForeignKeyAction::SetNull,
        Some(ReferenceAction::NoAction) => ForeignKeyAction::NoAction,
        Some(ReferenceAction::Restrict | ReferenceAction::SetDefault) | None => {
            ForeignKeyAction::Restrict
        }
    }
}

/// An error if a cascade would set a generated column.
fn refuse_generated(own: &[&ColumnInfo], spec: &ForeignSpec<'_>) -> SqlResult<()> {
    use selkie_types::error::catalogue::ER_WRONG_FK_OPTION_FOR_GENERATED_COLUMN as ER;
    if own.iter().all(|c| c.generated.is_none()) {
        return Ok(());
    }
    let clause = match (spec.references.on_update, spec.references.on_delete) {
        (Some(ReferenceAction::Cascade), _) => "ON UPDATE CASCADE",
        (Some(ReferenceAction::SetNull), _) => "ON UPDATE SET NULL",
        (_, Some(ReferenceAction::SetNull)) => "ON DELETE SET NULL",
        _ => return Ok(()),
    };
    Err(SqlError::new(&ER, &[&clause]))
}

/// The referenced table; `Some(None)` for the table itself, `None` if it is missing and allowed to
/// be.
#[expect(clippy::option_option, reason = "missing, the table itself, or another")]
fn find_parent(
    context: &DefineContext<'_>,
    defined: &Defined<'_>,
    key: &ForeignKey,
    spec: &ForeignSpec<'_>,
) -> SqlResult<Option<Option<Arc<TableInfo>>>> {
    if key.refers_to(defined.schema, defined.table.name()) {
        return Ok(Some(None));
    }
    let found = context.names.snapshot.table(&key.referenced_schema, &key.referenced_table);
    let usable = |t: &&Arc<TableInfo>| {
        let able = t.engine.statements.foreign_keys && t.partitions.is_none();
        t.kind == TableKind::Base && able
    };
    match found.filter(usable) {
        Some(parent) => Ok(Some(Some(parent.clone()))),
        None if !context.foreign_key_checks => Ok(None),
        None => {
            let why = format!(
                "Referenced table `{}`.`{}` not found in the data dictionary.",
                key.referenced_schema, key.referenced_table
            );
            Err(defined.refuse(context, spec, &why))
        }
    }
}

fn referenced_columns<'p>(
    context: &DefineContext<'_>,
    defined: &Defined<'_>,
    parent: &'p TableInfo,
    spec: &ForeignSpec<'_>,
) -> SqlResult<Vec<&'p ColumnInfo>> {
    let mut out = Vec::new();
    for name in spec.referenced() {
        let Some(at) = parent.column_position(name) else {
            let prefix = format!("foreign key {} constraint", spec.shown());
            defined.warn(context, &prefix, &format!("Column {name} was not found."));
            return Err(defined.error(CANNOT_ADD));
        };
        out.push(&parent.columns[at]);
    }
    Ok(out)
}

/// The reason why `own` columns cannot refer to `others` of `parent`, if there is one.
fn misfit(parent: &TableInfo, others: &[&ColumnInfo], own: &[&ColumnInfo]) -> Option<String> {
    let positions: Option<Vec<usize>> =
        others.iter().map(|c| parent.column_position(&c.name)).collect();
    let positions = positions.unwrap_or_default();
    if own.iter().any(|c| c.ty.is_text_or_blob()) {
        return Some(
            "There is only prefix index in the referenced table where the referenced columns \
             appear as the first columns."
                .into(),
        );
    }
    if parent.index_over(&positions).is_none() {
        return Some(
            "There is no index in the referenced table where the referenced columns appear as \
             the first columns."
                .into(),
        );
    }
    let (child, parent) = own.iter().zip(others).find(|(a, b)| !comparable(&a.ty, &b.ty))?;
    Some(format!(
        "Field type or character set for column '{}' does not match referenced column '{}'.",
        child.name, parent.name
    ))
}

/// Whether a column of one type may refer to a column of the other type.
pub(super) fn comparable(a: &SqlType, b: &SqlType) -> bool {
    use TypeKind as K;
    if a.is_string() && b.is_string() {
        return a.collation == b.collation;
    }
    if a.is_integer() && b.is_integer() {
        return a.kind == b.kind && a.unsigned == b.unsigned;
    }
    let class = |kind: K| match kind {
        K::Timestamp => K::DateTime,
        K::Set => K::Enum,
        other => other,
    };
    let bytes = |ty: &SqlType| ty.members.as_ref().map_or(0, |m| m.len().div_ceil(255).min(2));
    class(a.kind) == class(b.kind) && (a.kind != b.kind || bytes(a) == bytes(b))
}

/// Whether a column used by foreign keys may change from one type to the other.
pub(super) fn unchanged(a: &SqlType, b: &SqlType) -> bool {
    if a.is_integer() && b.is_integer() {
        return comparable(a, b);
    }
    let shape = |ty: &SqlType| (ty.kind, ty.length, ty.decimals, ty.unsigned, ty.collation);
    shape(a) == shape(b) && a.members == b.members
}

/// An error if other tables already refer to the new table in a way that it cannot serve.
pub(super) fn check_children(
    context: &DefineContext<'_>,
    schema: &str,
    table: &TableInfo,
) -> SqlResult<()> {
    if !context.foreign_key_checks || table.kind != TableKind::Base {
        return Ok(());
    }
    let defined = Defined::new(table);
    for child in context.names.snapshot.children(schema, table.name()) {
        for key in child.foreign_keys.iter().filter(|k| k.refers_to(schema, table.name())) {
            let fits = || {
                let own = child.column_positions(&key.columns)?;
                let others = table.column_positions(&key.referenced_columns)?;
                let pairs = || own.iter().zip(&others);
                let same =
                    pairs().all(|(a, b)| comparable(&child.columns[*a].ty, &table.columns[*b].ty));
                (same && table.index_over(&others).is_some()).then_some(())
            };
            if child.name() != table.name() && fits().is_none() {
                return Err(defined.error(CANNOT_ADD));
            }
        }
    }
    Ok(())
}

/// The highest N of constraints named `table_ibfk_N`.
pub(super) fn highest_number(table: &str, keys: &[ForeignKey]) -> u32 {
    let number = |key: &ForeignKey| {
        key.name.strip_prefix(table)?.strip_prefix("_ibfk_")?.parse::<u32>().ok()
    };
    keys.iter().filter_map(number).max().unwrap_or(0)
}

impl ForeignSpec<'_> {
    /// The key as shown in warnings.
    fn shown(&self) -> String {
        match self.name {
            Some(name) => format!("`{name}`"),
            None => {
                let names: Vec<&str> = self.columns.iter().map(|c| &*c.value).collect();
                format!("({})", names.join(", "))
            }
        }
    }
}

impl<'a> Defined<'a> {
    /// For a new table.
    pub(super) fn new(table: &'a TableInfo) -> Self {
        Self {
            schema: table.schema(),
            table,
            itself: table,
            verb: "Create ",
            copied: true,
            highest: 0,
        }
    }

    fn columns(&self, spec: &ForeignSpec<'_>) -> SqlResult<Vec<&'a ColumnInfo>> {
        use selkie_types::error::catalogue::ER_KEY_COLUMN_DOES_NOT_EXIST;
        let column = |name: &Ident| {
            let found = self.table.columns.iter().find(|c| identifier_eq(&c.name, &name.value));
            found.ok_or_else(|| SqlError::new(&ER_KEY_COLUMN_DOES_NOT_EXIST, &[name]))
        };
        spec.columns.iter().map(column).collect()
    }

    /// Compat: without `foreign_key_checks` InnoDB adds keys to existing tables in place, with
    /// other errors.
    fn in_place(&self, context: &DefineContext<'_>) -> bool {
        !self.copied && !context.foreign_key_checks
    }

    fn error(&self, number: u16) -> SqlError {
        let arguments: [&dyn Display; 3] = [&self.schema, &self.table.name(), &number];
        SqlError::new(&ER_CANT_CREATE_TABLE, &arguments)
    }

    fn warn(&self, context: &DefineContext<'_>, what: &str, why: &str) {
        let message = format!(
            "{} table `{}`.`{}` {what} failed. {why}",
            self.verb,
            self.schema,
            self.table.name()
        );
        context.eval.push(Condition::raw(Level::Warning, CANNOT_ADD, message));
    }

    fn refuse(&self, context: &DefineContext<'_>, spec: &ForeignSpec<'_>, why: &str) -> SqlError {
        self.warn(context, &format!("with foreign key {} constraint", spec.shown()), why);
        self.error(CANNOT_ADD)
    }

    fn duplicate(&self, context: &DefineContext<'_>, key: &ForeignKey) -> SqlError {
        if self.in_place(context) {
            let name = format!("{}/{}", self.schema, key.name);
            return SqlError::new(&ER_DUP_CONSTRAINT_NAME, &[&"FOREIGN KEY", &name]);
        }
        let message = format!(
            "CREATE or ALTER TABLE `{}`.`{}` failed: duplicate name, {}",
            self.schema,
            self.table.name(),
            key.clause(self.schema)
        );
        context.eval.push(Condition::raw(Level::Warning, DUPLICATE, message));
        self.error(DUPLICATE)
    }
}
