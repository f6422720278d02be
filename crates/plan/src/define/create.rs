//! CREATE TABLE: from a list of columns, like another table, or from a query's columns. The new
//! definition has id 0: the executor gives it an id and creates the storage.

use std::sync::Arc;

use selkie_catalog::{
    CheckInfo, ColumnInfo, ForeignKey, IndexInfo, TableInfo, TableKind, TableOptions, TextIndex,
    sequence_columns,
};
use selkie_engine::{Personality, TableId};
use selkie_meter::interruptible;
use selkie_sql::ast::{CreateSource, CreateTable, TableElement, TableOption};
use selkie_types::charset::{first_duplicate, identifier_eq};
use selkie_types::error::catalogue::{
    ER_DUP_FIELDNAME, ER_TABLE_MUST_HAVE_COLUMNS, ER_TOO_MANY_FIELDS, ER_VERS_NOT_SUPPORTED,
    ER_WRONG_TABLE_NAME,
};
use selkie_types::{CollationId, SqlError, SqlResult, TypeKind};

use super::foreign::{self, Defined, ForeignSpec};
use super::indexes::{self, Key, KeySpec};
use super::options::{self, Options};
use super::system_time::{self, Clauses};
use super::{DefineContext, columns, engine, expressions, fulltext, partition, period, types};

pub(super) const COLUMNS_MAX: usize = 4096;

/// A new table, and the start of its AUTO_INCREMENT counter.
pub type NewTable = (TableInfo, Option<u64>);

/// The table `schema`.`name` that `statement` defines by its elements. It has no id yet.
pub fn define_table(
    context: &DefineContext<'_>,
    statement: &CreateTable,
    schema: &str,
) -> SqlResult<NewTable> {
    interruptible(|| table_of(context, statement, schema))?
}

fn table_of(
    context: &DefineContext<'_>,
    statement: &CreateTable,
    schema: &str,
) -> SqlResult<NewTable> {
    let CreateSource::Elements(elements) = &statement.source else {
        return Err(SqlError::internal("CREATE TABLE LIKE is defined by another table"));
    };
    let options = Options::read(&statement.options, context.schema_collation(schema))?;
    let collation = options.collation.unwrap_or_else(|| context.schema_collation(schema));
    for element in elements {
        if let TableElement::Column(def) = element {
            columns::check_qualifier(def, schema, &statement.name.name.value)?;
        }
    }
    let mut columns = define_columns(context, elements, collation)?;
    if statement.select.is_none() {
        match columns.is_empty() {
            true => return Err(SqlError::new(&ER_TABLE_MUST_HAVE_COLUMNS, &[])),
            false => check_columns(&columns)?,
        }
    }
    let name = table_name(&statement.name.name.value)?;
    let versioning = Clauses::of_create(elements, &statement.options);
    if statement.temporary && versioning.versioned {
        return Err(SqlError::new(&ER_VERS_NOT_SUPPORTED, &[&"CREATE TEMPORARY TABLE"]));
    }
    let by = statement.partition_by.as_deref();
    let named = partition::engine_name(options.engine.as_deref(), by)?;
    let engine = engine::named(context, named, name)?;
    if by.is_some() {
        partition::check_engine(engine)?;
        if has_foreign_key(elements) {
            return Err(partition::not_with("FOREIGN KEY"));
        }
    }
    if statement.select.is_none() {
        let of = (schema, name, engine);
        system_time::complete(context, &versioning, elements, &mut columns, of)?;
        check_columns(&columns)?;
    }
    let kind = if statement.temporary { TableKind::Temporary } else { TableKind::Base };
    let mut keys = Vec::new();
    let mut period = None;
    // Periods and keys over columns of the query are added when these columns are known.
    if statement.select.is_none() {
        period = period::of_elements(elements, &kind, &mut columns)?;
        engine::check_columns(engine, &columns)?;
        let specs = key_specs(elements)?;
        indexes::add_keys(context, engine, &mut columns, &mut keys, specs, period.as_ref())
            .inspect_err(|error| indexes::note_refused(context, engine, error))?;
        indexes::number(&mut keys, 0);
        engine::check_nulls(engine, &columns)?;
    }
    options::check_table(context, engine, &statement.options)?;
    let mut shown = TableOptions {
        comment: options::table_comment(context, options.comment.as_deref(), name)?,
        ..TableOptions::default()
    };
    options.merge_shown(&mut shown.shown);
    let mut table = assemble(context, schema, name, columns, keys, kind, engine, collation, shown);
    fulltext::check_kind(&table.kind, engine, &table.fulltext)?;
    table.period = period;
    if statement.select.is_none() {
        add_constraints(context, elements, &mut table)?;
        table = with_partitions(context, statement, table)?;
    }
    Ok((table, options.auto_increment))
}

/// A table that is otherwise complete, with the statement's partitions.
fn with_partitions(
    context: &DefineContext<'_>,
    statement: &CreateTable,
    table: TableInfo,
) -> SqlResult<TableInfo> {
    match &statement.partition_by {
        Some(by) => partition::partitioned(context, table, by),
        None => Ok(table),
    }
}

/// Adds the checks and foreign keys in `elements` to a new table that is otherwise complete.
fn add_constraints(
    context: &DefineContext<'_>,
    elements: &[TableElement],
    table: &mut TableInfo,
) -> SqlResult<()> {
    for element in elements {
        if let TableElement::Check(check) = element {
            expressions::add_check(context, &mut table.checks, check)?;
        }
    }
    let tried = table.period.as_ref().map_or(1, |period| period.check_name(&table.checks).1);
    expressions::name_checks(&mut table.checks, tried);
    table.foreign_keys = foreign_keys(context, elements, table)?;
    expressions::check(context, table)?;
    foreign::check_children(context, table.schema(), table)
}

fn has_foreign_key(elements: &[TableElement]) -> bool {
    elements.iter().any(|element| match element {
        TableElement::Column(column) => ForeignSpec::of_column(column).is_some(),
        element => matches!(element, TableElement::ForeignKey(_)),
    })
}

/// The foreign keys in `elements` of a new table that is otherwise complete.
fn foreign_keys(
    context: &DefineContext<'_>,
    elements: &[TableElement],
    table: &TableInfo,
) -> SqlResult<Vec<ForeignKey>> {
    let mut specs = Vec::new();
    for element in elements {
        match element {
            TableElement::Column(column) => specs.extend(ForeignSpec::of_column(column)),
            TableElement::ForeignKey(key) => specs.push(ForeignSpec::of(key)?),
            _ => {}
        }
    }
    let mut keys = Vec::new();
    let defined = Defined::new(table);
    foreign::add(context, &defined, &mut keys, &specs)?;
    Ok(keys)
}

/// `table` with the columns of a query and the statement's keys.
pub fn define_selected(
    context: &DefineContext<'_>,
    statement: &CreateTable,
    table: &TableInfo,
    selected: Vec<ColumnInfo>,
) -> SqlResult<TableInfo> {
    interruptible(|| selected_table(context, statement, table, selected))?
}

fn selected_table(
    context: &DefineContext<'_>,
    statement: &CreateTable,
    table: &TableInfo,
    selected: Vec<ColumnInfo>,
) -> SqlResult<TableInfo> {
    let CreateSource::Elements(elements) = &statement.source else {
        return Err(SqlError::internal("CREATE TABLE LIKE takes no query"));
    };
    selected.iter().try_for_each(|column| columns::check_name(&column.name))?;
    check_columns(&selected)?;
    columns::refuse_defaults(context, &selected)?;
    // Compat: columns of the query come last, in the query's order, even if the statement defines
    // them.
    let given =
        |column: &&ColumnInfo| selected.iter().any(|s| identifier_eq(&s.name, &column.name));
    let mut columns: Vec<_> = table.columns.iter().filter(|c| !given(c)).cloned().collect();
    columns.extend(selected.iter().map(|new| match table.column_position(&new.name) {
        Some(at) => table.columns[at].clone(),
        None => {
            types::deprecate(context.eval, &new.ty);
            new.clone()
        }
    }));
    let versioning = Clauses::of_create(elements, &statement.options);
    let of = (table.schema(), table.name(), table.engine);
    system_time::complete(context, &versioning, elements, &mut columns, of)?;
    check_columns(&columns)?;
    let period = period::of_elements(elements, &table.kind, &mut columns)?;
    let (mut keys, specs) = (Vec::new(), key_specs(elements)?);
    engine::check_columns(table.engine, &columns)?;
    indexes::add_keys(context, table.engine, &mut columns, &mut keys, specs, period.as_ref())
        .inspect_err(|error| indexes::note_refused(context, table.engine, error))?;
    indexes::number(&mut keys, 0);
    engine::check_nulls(table.engine, &columns)?;
    let (defs, indexes, fulltext) = fulltext::split(context, table.engine, keys, &[]);
    fulltext::check_kind(&table.kind, table.engine, &fulltext)?;
    let mut def = TableInfo::make_def(TableId(0), table.schema(), table.name(), &columns, defs);
    def.texts = TextIndex::kept(&fulltext);
    let def = Arc::new(def);
    let mut table = TableInfo { def, columns, indexes, fulltext, period, ..table.clone() };
    add_constraints(context, elements, &mut table)?;
    with_partitions(context, statement, table)
}

/// A table `schema`.`name` like `source`.
pub fn define_like(
    context: &DefineContext<'_>,
    source: &TableInfo,
    schema: &str,
    name: &str,
    temporary: bool,
) -> SqlResult<TableInfo> {
    let name = table_name(name)?;
    columns::refuse_defaults(context, &source.columns)?;
    let stripped;
    let source = match temporary && source.system_time().is_some() {
        true => {
            stripped = system_time::stripped(context, source, schema, name)?;
            expressions::check(context, &stripped)?;
            &stripped
        }
        false => source,
    };
    if temporary && source.partitions.is_some() {
        return Err(partition::not_temporary());
    }
    let indexes = source.def.indexes.clone();
    let mut def = TableInfo::make_def(TableId(0), schema, name, &source.columns, indexes);
    // Compat: the rules are those of the source, not of the session.
    let mut fulltext = source.fulltext.clone();
    fulltext::keep_all(context, source.engine, &mut fulltext);
    def.texts = TextIndex::kept(&fulltext);
    let kind = if temporary { TableKind::Temporary } else { TableKind::Base };
    fulltext::check_kind(&kind, source.engine, &source.fulltext)?;
    Ok(TableInfo {
        def: Arc::new(def),
        kind,
        // The engine of a computed table is only a name to show.
        engine: context.engine(source.engine.name).unwrap_or(source.engine),
        foreign_keys: Vec::new(),
        indexes: source
            .indexes
            .iter()
            .map(|i| IndexInfo { generated: false, ..i.clone() })
            .collect(),
        fulltext,
        created: context.now_seconds,
        version: 0,
        next_index: 0,
        statistics: None,
        persistent: None,
        ..source.clone()
    })
}

/// The table that stores a sequence.
pub fn define_sequence(
    context: &DefineContext<'_>,
    schema: &str,
    name: &str,
    temporary: bool,
    options: &[TableOption],
) -> SqlResult<TableInfo> {
    let name = table_name(name)?;
    let read = Options::read(options, context.schema_collation(schema))?;
    let engine = engine::named(context, read.engine.as_deref(), name)?;
    options::check_table(context, engine, options)?;
    let mut shown = TableOptions {
        comment: options::table_comment(context, read.comment.as_deref(), name)?,
        ..TableOptions::default()
    };
    shown.shown.push(("SEQUENCE".to_owned(), "1".to_owned()));
    read.merge_shown(&mut shown.shown);
    let kind = if temporary { TableKind::Temporary } else { TableKind::Base };
    let collation = context.schema_collation(schema);
    let (columns, keys) = (sequence_columns(), Vec::new());
    Ok(assemble(context, schema, name, columns, keys, kind, engine, collation, shown))
}

#[expect(clippy::too_many_arguments, reason = "the parts of a definition, each of its own type")]
fn assemble(
    context: &DefineContext<'_>,
    schema: &str,
    name: &str,
    columns: Vec<ColumnInfo>,
    keys: Vec<Key>,
    kind: TableKind,
    engine: &'static Personality,
    collation: CollationId,
    options: TableOptions,
) -> TableInfo {
    let (defs, infos, fulltext) = fulltext::split(context, engine, keys, &[]);
    let mut def = TableInfo::make_def(TableId(0), schema, name, &columns, defs);
    def.texts = TextIndex::kept(&fulltext);
    TableInfo {
        def: Arc::new(def),
        kind,
        engine,
        columns,
        indexes: infos,
        fulltext,
        checks: Vec::<CheckInfo>::new(),
        period: None,
        foreign_keys: Vec::new(),
        partitions: None,
        collation,
        options,
        created: context.now_seconds,
        version: 0,
        next_index: 0,
        statistics: None,
        persistent: None,
    }
}

pub(super) fn table_name(name: &str) -> SqlResult<&str> {
    let bad = name.is_empty() || name.ends_with(' ') || name.chars().count() > 64;
    if bad { Err(SqlError::new(&ER_WRONG_TABLE_NAME, &[&name])) } else { Ok(name) }
}

fn define_columns(
    context: &DefineContext<'_>,
    elements: &[TableElement],
    collation: CollationId,
) -> SqlResult<Vec<ColumnInfo>> {
    let mut out = Vec::new();
    for element in elements {
        match element {
            TableElement::Column(def) => out.push(columns::column(context, def, collation)?),
            TableElement::Index(_) => {}
            TableElement::ForeignKey(_) | TableElement::Check(_) => {}
            TableElement::Period { .. } => {}
        }
    }
    let defs = elements.iter().filter_map(|element| match element {
        TableElement::Column(def) => Some(&**def),
        _ => None,
    });
    columns::promote_first_timestamp(context, defs, &mut out);
    check_names(&out)?;
    Ok(out)
}

pub(super) fn check_columns(columns: &[ColumnInfo]) -> SqlResult<()> {
    if !columns.is_empty() && columns.iter().all(|c| c.invisible) {
        return Err(SqlError::new(&ER_TABLE_MUST_HAVE_COLUMNS, &[]));
    }
    check_names(columns)
}

/// The checks of columns that others may come to.
fn check_names(columns: &[ColumnInfo]) -> SqlResult<()> {
    if columns.len() > COLUMNS_MAX {
        return Err(SqlError::new(&ER_TOO_MANY_FIELDS, &[]));
    }
    if let Some(at) = first_duplicate(columns.iter().map(|c| &*c.name)) {
        return Err(SqlError::new(&ER_DUP_FIELDNAME, &[&columns[at].name]));
    }
    engine::check_size(columns)
}

fn key_specs(elements: &[TableElement]) -> SqlResult<Vec<KeySpec<'_>>> {
    let mut out = Vec::new();
    for element in elements {
        match element {
            TableElement::Column(column) => {
                out.extend(KeySpec::of_column(column));
                out.extend(ForeignSpec::of_column(column).as_ref().map(KeySpec::of_foreign));
            }
            TableElement::ForeignKey(key) => out.push(KeySpec::of_foreign(&ForeignSpec::of(key)?)),
            TableElement::Index(index) => out.push(KeySpec::of(index)),
            _ => {}
        }
    }
    Ok(out)
}

/// A column that CREATE TABLE ... SELECT makes from a column of a query's result: name, type,
/// nullability. It has no DEFAULT clause.
pub fn selected_column(name: &str, mut ty: selkie_types::SqlType, nullable: bool) -> ColumnInfo {
    ty.json = selkie_types::JsonRole::Plain;
    ty.non_negative = false;
    ty.zerofill |= ty.kind == TypeKind::Year;
    ColumnInfo { nullable, ..ColumnInfo::not_null(name, ty) }
}
