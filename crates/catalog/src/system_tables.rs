//! Definitions of the computed tables of `information_schema`, `performance_schema`, `sys` and
//! `mysql`, as in MariaDB 10.11.
//!
//! Only columns are defined here; the server's other parts compute the rows. Each line of a data
//! file is one column: table, column, type, nullability, the collation if it is not the schema's,
//! and the default if there is one.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use selkie_engine::{Personality, RowFormats, Shown, TableId};
use selkie_types::{CollationId, NOT_FIXED_DECIMALS, SqlType, TypeKind, Value};

use crate::{ColumnInfo, DefaultValue, TableInfo, TableKind, TableOptions};

/// The engine shown for tables of `performance_schema`.
pub static PERFORMANCE_ENGINE: Personality =
    Personality { name: "PERFORMANCE_SCHEMA", comment: "Performance Schema", ..Personality::NONE };

/// The engine shown for tables whose values are short.
static SHORT_VALUES: Personality = Personality {
    name: "MEMORY",
    shown: Shown { row_formats: RowFormats::Fixed, ..Shown::NONE },
    ..Personality::NONE
};

/// The engine shown for tables with long values, and for tables of the schema `mysql`.
static LONG_VALUES: Personality = Personality {
    name: "Aria",
    shown: Shown { row_formats: RowFormats::Pages, page_checksum: true, ..Shown::NONE },
    ..Personality::NONE
};

/// A schema with computed tables.
pub(crate) struct SystemSchema {
    /// Its name.
    pub(crate) name: &'static str,
    /// Its tables, by name.
    pub(crate) tables: Vec<Arc<TableInfo>>,
}

/// All schemas in which every table is computed.
pub(crate) fn system_schemas() -> &'static [SystemSchema] {
    static SCHEMAS: OnceLock<Vec<SystemSchema>> = OnceLock::new();
    SCHEMAS.get_or_init(|| {
        vec![
            read("information_schema", include_str!("../data/information_schema.tsv")),
            read("performance_schema", include_str!("../data/performance_schema.tsv")),
            read("sys", include_str!("../data/sys.tsv")),
        ]
    })
}

/// The computed tables of the schema `mysql`.
pub(crate) fn mysql_tables() -> &'static [Arc<TableInfo>] {
    static TABLES: OnceLock<Vec<Arc<TableInfo>>> = OnceLock::new();
    TABLES.get_or_init(|| read("mysql", include_str!("../data/mysql.tsv")).tables)
}

/// All tables of `information_schema`, by name.
pub fn information_schema() -> &'static [Arc<TableInfo>] {
    &system_schemas()[0].tables
}

fn read(schema: &'static str, definitions: &str) -> SystemSchema {
    let mut tables: BTreeMap<&str, Vec<ColumnInfo>> = BTreeMap::new();
    for line in definitions.lines() {
        let mut fields = line.split('\t');
        let mut next = || fields.next().expect("four fields a line");
        let (table, name, ty, nullable) = (next(), next(), next(), next() == "YES");
        let mut column = column(name, ty, nullable);
        if fields.next() == Some("bin") {
            column.ty.collation = CollationId::UTF8MB3_BIN;
        }
        if let Some(default) = fields.next() {
            column.default = default_value(&column.ty, default);
        }
        tables.entry(table).or_default().push(column);
    }
    let tables = tables.into_iter().map(|(name, columns)| Arc::new(table(schema, name, columns)));
    SystemSchema { name: schema, tables: tables.collect() }
}

fn column(name: &str, ty: &str, nullable: bool) -> ColumnInfo {
    ColumnInfo { nullable, ..ColumnInfo::not_null(name, parse_type(ty)) }
}

/// The default that a text names: a string, or a member of an enumeration.
fn default_value(ty: &SqlType, text: &str) -> DefaultValue {
    let member = ty.members.iter().flat_map(|members| members.iter()).position(|m| &**m == text);
    DefaultValue::Literal(match member {
        Some(at) => Value::UInt(at as u64 + 1),
        None => Value::bytes(text),
    })
}

/// Compat: MariaDB keeps rows with long values in a temporary table of another engine.
fn information_engine(columns: &[ColumnInfo]) -> &'static Personality {
    if columns.iter().any(|c| c.ty.is_text_or_blob()) { &LONG_VALUES } else { &SHORT_VALUES }
}

fn table(schema: &str, name: &str, columns: Vec<ColumnInfo>) -> TableInfo {
    let def = TableInfo::make_def(TableId(0), schema, name, &columns, Vec::new());
    let engine = match schema {
        "information_schema" => information_engine(&columns),
        "performance_schema" => &PERFORMANCE_ENGINE,
        "mysql" => &LONG_VALUES,
        // Compat: tables of `sys` are views in MariaDB, so no engine is shown.
        _ => &Personality::NONE,
    };
    TableInfo {
        def: Arc::new(def),
        kind: TableKind::System,
        engine,
        columns,
        indexes: Vec::new(),
        checks: Vec::new(),
        period: None,
        foreign_keys: Vec::new(),
        partitions: None,
        collation: CollationId::UTF8MB3_GENERAL_CI,
        options: TableOptions::default(),
        created: 0,
        version: 0,
        fulltext: Vec::new(),
        next_index: 0,
        statistics: None,
        persistent: None,
    }
}

/// Parses a type written as `name(length[,decimals]) [unsigned]`.
fn parse_type(text: &str) -> SqlType {
    let text = text.split(" /*").next().unwrap_or(text);
    let (head, unsigned) = match text.strip_suffix(" unsigned") {
        Some(head) => (head, true),
        None => (text, false),
    };
    let (name, arguments) = head.split_once('(').unwrap_or((head, ""));
    let arguments = arguments.trim_end_matches(')');
    if name == "enum" || name == "set" {
        return members_type(name, arguments);
    }
    let mut numbers = arguments.split(',').filter_map(|n| n.parse::<u32>().ok());
    let (length, decimals) = (numbers.next(), numbers.next());
    let (kind, default_length, default_decimals) = type_named(name);
    let decimals = decimals.map_or(default_decimals, |d| d as u8);
    let mut ty = SqlType::new(kind, length.unwrap_or(default_length), decimals);
    if ty.is_temporal() {
        ty = SqlType::new(kind, default_length, length.unwrap_or(0) as u8);
    }
    ty.unsigned = unsigned;
    if ty.is_string() && !name.ends_with("blob") {
        ty.collation = CollationId::UTF8MB3_GENERAL_CI;
    }
    ty
}

fn members_type(name: &str, list: &str) -> SqlType {
    let kind = if name == "enum" { TypeKind::Enum } else { TypeKind::Set };
    let members: Vec<Box<str>> = list.trim_matches('\'').split("','").map(Into::into).collect();
    let longest = members.iter().map(|m| m.len()).max().unwrap_or(0) as u32;
    let mut ty = SqlType::new(kind, longest, 0);
    ty.collation = CollationId::UTF8MB3_GENERAL_CI;
    ty.members = Some(members.into());
    ty
}

fn type_named(name: &str) -> (TypeKind, u32, u8) {
    match name {
        "tinyint" => (TypeKind::TinyInt, 4, 0),
        "smallint" => (TypeKind::SmallInt, 6, 0),
        "mediumint" => (TypeKind::MediumInt, 9, 0),
        "int" => (TypeKind::Int, 11, 0),
        "bigint" => (TypeKind::BigInt, 20, 0),
        "float" => (TypeKind::Float, 12, NOT_FIXED_DECIMALS),
        "double" => (TypeKind::Double, 21, NOT_FIXED_DECIMALS),
        "decimal" => (TypeKind::Decimal, 10, 0),
        "datetime" => (TypeKind::DateTime, 19, 0),
        "timestamp" => (TypeKind::Timestamp, 19, 0),
        "date" => (TypeKind::Date, 10, 0),
        "time" => (TypeKind::Time, 10, 0),
        "char" => (TypeKind::Char, 1, 0),
        "varchar" => (TypeKind::VarChar, 255, 0),
        "text" => (TypeKind::Text, 65_535, 0),
        "mediumtext" => (TypeKind::MediumText, 16_777_215, 0),
        "longtext" => (TypeKind::LongText, u32::MAX, 0),
        "blob" => (TypeKind::Text, 65_535, 0),
        "longblob" => (TypeKind::LongText, u32::MAX, 0),
        other => panic!("the definitions use type {other}, which is not known here"),
    }
}

#[cfg(test)]
mod tests {
    use super::{information_schema, system_schemas};

    #[test]
    fn all_definitions_parse() {
        let counts: Vec<usize> = system_schemas().iter().map(|s| s.tables.len()).collect();
        assert_eq!(counts, [79, 81, 101]);
        let tables = information_schema();
        let columns = tables.iter().find(|t| t.name() == "COLUMNS").unwrap();
        assert_eq!(columns.columns.len(), 22);
        assert_eq!(columns.column_position("column_name"), Some(3));
    }
}
