//! SCHEMATA, TABLES and VIEWS. Row formats, and sizes of rows of fixed length, follow the engine
//! that the table is shown with, not the storage.

use selkie_engine::{RowFormats, TableStatistics};
use selkie_types::{Column, Physical, TypeKind, Value};

use super::{InformationRow, InformationSource, optional, text, time, unsigned};
use crate::{DefaultValue, TableInfo, TableKind};

pub(super) fn schemata(source: &InformationSource<'_>) -> Vec<InformationRow> {
    let row = |schema: &std::sync::Arc<crate::Schema>| {
        let collation = schema.collation.info();
        vec![
            text("def"),
            text(&schema.name),
            text(collation.charset.name()),
            text(collation.name),
            Value::Null,
            text(&schema.comment),
        ]
    };
    source.schemas().filter(|s| (source.visible)(&s.name, "")).map(row).collect()
}

pub(super) fn tables(source: &InformationSource<'_>) -> Vec<InformationRow> {
    let all: Vec<_> = source.tables().collect();
    let mut names = Column::new(Physical::Bytes, 0, all.len());
    all.iter().for_each(|table| names.push(&text(table.name())));
    let wanted = (source.asked.wanted)(names);
    let is_wanted = |at: usize| wanted.as_ref().is_none_or(|wanted| wanted.get(at));
    let row = |table: &TableInfo| match &table.kind {
        TableKind::View(view) => {
            let mut row = view_row(table);
            if source.asked.opens_views
                && let Some(fault) = (source.view_fault)(table, view)
            {
                row[COLUMNS - 3] = text(fault.message());
            }
            row
        }
        TableKind::System => system_row(source, table),
        _ if source.asked.only_names => name_row(table),
        _ => base_row(source, table, &(source.statistics)(table)),
    };
    all.iter().enumerate().filter(|(at, _)| is_wanted(*at)).map(|(_, table)| row(table)).collect()
}

/// Bytes of all rows, of all indexes and of one row, as shown for the table's engine.
pub(super) fn sizes(table: &TableInfo, statistics: &TableStatistics) -> (u64, u64, u64) {
    let (rows, indexes) = (statistics.rows, table.def.indexes.len() as u64);
    let shown = &table.engine.shown;
    if shown.row_formats == RowFormats::ByColumnsOrAsked && row_format(table) == "Fixed" {
        let length = fixed_length(table);
        let tree = if rows == 0 { 0 } else { indexes };
        let average = if rows == 0 { 0 } else { length };
        return (rows * length, KEY_BLOCK * (1 + tree), average);
    }
    let secondary = indexes.saturating_sub(u64::from(table.def.primary().is_some()));
    let data = statistics.data_bytes.saturating_sub(shown.tree_overhead);
    let index = statistics.index_bytes.saturating_sub(secondary * shown.tree_overhead);
    (data, index, data.checked_div(rows).unwrap_or(0))
}

/// Block size of an index over rows of fixed length, in bytes.
const KEY_BLOCK: u64 = 1024;

/// Length of a fixed-length row: it has one bit per nullable column and one for deleted rows.
fn fixed_length(table: &TableInfo) -> u64 {
    let width = |c: &crate::ColumnInfo| match c.ty.kind {
        TypeKind::Char => u64::from(c.ty.length) * c.ty.collation.charset().max_len() as u64,
        TypeKind::VarChar => {
            let bytes = u64::from(c.ty.length) * c.ty.collation.charset().max_len() as u64;
            bytes + if bytes > 255 { 2 } else { 1 }
        }
        TypeKind::MediumInt | TypeKind::Date => 3,
        TypeKind::Decimal => decimal_bytes(c.ty.length, c.ty.decimals),
        TypeKind::Time => 3 + u64::from(c.ty.decimals.div_ceil(2)),
        TypeKind::DateTime => 5 + u64::from(c.ty.decimals.div_ceil(2)),
        TypeKind::Timestamp => 4 + u64::from(c.ty.decimals.div_ceil(2)),
        TypeKind::Year => 1,
        TypeKind::Float => 4,
        _ => match c.ty.fixed_binary() {
            Some(kind) => kind.width() as u64,
            None => c.ty.fixed_width().unwrap_or(8) as u64,
        },
    };
    let nullable = table.columns.iter().filter(|c| c.nullable).count() as u64;
    let bytes = table.columns.iter().map(width).sum::<u64>() + (nullable + 1).div_ceil(8);
    // Compat: a deleted row has room for a pointer to the next deleted row.
    bytes.max(7)
}

/// Bytes of a packed decimal: four for each nine digits, fewer for the rest.
fn decimal_bytes(precision: u32, scale: u8) -> u64 {
    const REST: [u64; 9] = [0, 1, 1, 2, 2, 3, 3, 4, 4];
    let part = |digits: u32| u64::from(digits / 9) * 4 + REST[(digits % 9) as usize];
    part(precision.saturating_sub(scale.into())) + part(scale.into())
}

fn base_row(
    source: &InformationSource<'_>,
    table: &TableInfo,
    statistics: &TableStatistics,
) -> InformationRow {
    let (data, index, average) = sizes(table, statistics);
    let mut row = names(table, kind_of(table)).to_vec();
    row.extend([
        text(table.engine.name),
        Value::UInt(version(table)),
        text(row_format(table)),
        Value::UInt(statistics.rows),
        Value::UInt(average),
        Value::UInt(data),
        Value::UInt(0),
        Value::UInt(index),
        Value::UInt(0),
        unsigned(statistics.auto_increment),
        time(source, table.created),
        updated(source, table).map_or(Value::Null, |at| time(source, at)),
        Value::Null,
        text(table.collation.name()),
        (source.checksum)(table).map_or(Value::Null, |sum| Value::UInt(sum.into())),
        text(create_options(table)),
        text(&table.options.comment),
        Value::UInt(0),
        text(if table.kind == TableKind::Temporary { "Y" } else { "N" }),
    ]);
    row
}

/// First columns of TABLES, up to the kind of table.
pub const NAME_COLUMNS: usize = 4;
/// All columns of TABLES.
const COLUMNS: usize = 23;

fn names(table: &TableInfo, kind: &str) -> [Value; NAME_COLUMNS] {
    [text("def"), text(table.schema()), text(table.name()), text(kind)]
}

fn kind_of(table: &TableInfo) -> &'static str {
    match table.is_sequence() {
        true => "SEQUENCE",
        false if table.system_time().is_some() => "SYSTEM VERSIONED",
        false => "BASE TABLE",
    }
}

/// A row of which only the names are wanted.
fn name_row(table: &TableInfo) -> InformationRow {
    let mut row = names(table, kind_of(table)).to_vec();
    row.resize(COLUMNS, Value::Null);
    row
}

/// Time of the last change. Compat: where MariaDB has a file of the rows, it is that of the file,
/// which is made with the table; otherwise only transactional engines tell it.
fn updated(source: &InformationSource<'_>, table: &TableInfo) -> Option<u64> {
    let changed = || (source.changed)(table);
    match (table.engine.transactional, table.engine.maintenance.keeps_checksum) {
        (true, _) => changed(),
        (false, true) => changed().or(Some(table.created)),
        (false, false) => None,
    }
}

/// Version of the definition's form in MariaDB: 11 if it has expressions, also those that MariaDB
/// makes for defaults of long texts, periods and unique keys over them.
fn version(table: &TableInfo) -> u64 {
    let has_expression = |column: &crate::ColumnInfo| {
        let of_default = match &column.default {
            DefaultValue::Expression(_) | DefaultValue::Written { .. } => true,
            DefaultValue::Literal(_) => column.ty.is_text_or_blob(),
            _ => false,
        };
        let is_computed = column.generated.is_some() && !column.system.is_bound();
        of_default || is_computed || column.check.is_some()
    };
    let expressions = table.columns.iter().any(has_expression)
        || !table.checks.is_empty()
        || table.period.is_some()
        || table.def.indexes.iter().any(|index| index.hashed);
    if expressions { 11 } else { 10 }
}

/// Options as listed in `CREATE_OPTIONS`: lower-case names; comment and connection have their own
/// columns.
fn create_options(table: &TableInfo) -> String {
    let shown = table.options.shown.iter().filter(|(name, _)| name != "CONNECTION");
    let shown = shown.map(|(name, value)| format!("{}={value}", name.to_lowercase()));
    let partitioned = table.partitions.is_some().then(|| "partitioned".to_owned());
    shown.chain(partitioned).collect::<Vec<_>>().join(" ")
}

/// The row format shown for the table's engine.
/// The format of a table's rows, in the words of its engine.
pub(crate) fn row_format(table: &TableInfo) -> &'static str {
    let asked = table.options.get("ROW_FORMAT");
    let asked = asked.or(table.options.default_format.as_deref());
    let varying = |column: &crate::ColumnInfo| {
        column.ty.kind == TypeKind::VarChar || column.ty.is_text_or_blob()
    };
    let is_fixed = !table.columns.iter().any(varying);
    match (table.engine.shown.row_formats, asked.unwrap_or_default()) {
        (RowFormats::Fixed, _) => "Fixed",
        (RowFormats::Pages, "FIXED") => "Fixed",
        (RowFormats::Pages, "DYNAMIC") => "Dynamic",
        (RowFormats::Pages, _) => "Page",
        (RowFormats::Dynamic, "COMPACT") => "Compact",
        (RowFormats::Dynamic, "REDUNDANT") => "Redundant",
        (RowFormats::Dynamic, "COMPRESSED") => "Compressed",
        (RowFormats::Dynamic, "") if table.options.get("KEY_BLOCK_SIZE").is_some() => "Compressed",
        (RowFormats::Dynamic, _) => "Dynamic",
        (RowFormats::ByColumnsOrAsked, "DYNAMIC") => "Dynamic",
        (RowFormats::ByColumnsOrAsked, "FIXED")
            if !table.columns.iter().any(|c| c.ty.is_text_or_blob()) =>
        {
            "Fixed"
        }
        _ if is_fixed => "Fixed",
        _ => "Dynamic",
    }
}

fn view_row(table: &TableInfo) -> InformationRow {
    let mut row = names(table, "VIEW").to_vec();
    row.resize(COLUMNS - 3, Value::Null);
    row.extend([text("VIEW"), Value::Null, Value::Null]);
    row
}

fn system_row(source: &InformationSource<'_>, table: &TableInfo) -> InformationRow {
    if table.engine.name.is_empty() {
        return view_row(table);
    }
    let mut row = base_row(source, table, &TableStatistics::default());
    // Compat: tables of the schema `mysql` that are computed here are stored tables in MariaDB.
    if matches!(table.schema(), "performance_schema" | "mysql") {
        return row;
    }
    row[3] = text("SYSTEM VIEW");
    row[5] = Value::UInt(11);
    row[7] = Value::Null;
    row[22] = text("Y");
    row
}

pub(super) fn views(source: &InformationSource<'_>) -> Vec<InformationRow> {
    let row = |table: &std::sync::Arc<TableInfo>| match &table.kind {
        TableKind::View(view) => Some(vec![
            text("def"),
            text(table.schema()),
            text(table.name()),
            text(if (source.view_body_visible)(table, view) { &*view.select } else { "" }),
            text(&view.check_option),
            text(if view.updatable { "YES" } else { "NO" }),
            text(&view.definer),
            text(if view.security_invoker { "INVOKER" } else { "DEFINER" }),
            text(&view.client_charset),
            optional(Some(&view.connection_collation)),
            text(&view.algorithm),
        ]),
        _ => None,
    };
    source.tables().filter_map(row).collect()
}
