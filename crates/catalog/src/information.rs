//! Rows of those `information_schema` tables that follow from definitions alone.
//!
//! The executor calls [`information_rows`] and answers for tables that depend on the running server
//! (processes, variables, status) itself. A table that neither side knows is empty.

mod charsets;
mod columns;
mod constraints;
mod partitions;
mod programs;
mod spatial;
mod statistics;
mod tables;
mod words;

pub use tables::NAME_COLUMNS;

use std::sync::Arc;

use selkie_engine::TableStatistics;
use selkie_expr::TimeZone;
use selkie_types::{Bitmap, Column, Privileges, SqlError, SqlMode, Value};

use crate::{Namespace, Routine, Schema, TableInfo, View};

pub(crate) use tables::row_format;

/// A row: one value for each column of the requested table, of the column's physical kind.
pub type InformationRow = Vec<Value>;

/// Sources of the rows.
pub struct InformationSource<'a> {
    /// The definitions the session sees.
    pub names: Namespace<'a>,
    /// Statistics that an engine keeps of a table.
    pub statistics: &'a dyn Fn(&TableInfo) -> TableStatistics,
    /// The same for each leaf of a partitioned table.
    pub leaf_statistics: &'a dyn Fn(&TableInfo) -> Vec<TableStatistics>,
    /// Time of the last change to a table's rows, in seconds since 1970, if known.
    pub changed: &'a dyn Fn(&TableInfo) -> Option<u64>,
    /// The maintained checksum of a table's rows, if there is one and it is asked for.
    pub checksum: &'a dyn Fn(&TableInfo) -> Option<u32>,
    /// Whether the session may see anything of a table.
    pub visible: &'a dyn Fn(&str, &str) -> bool,
    /// The session's privileges on a whole table, given by schema and name.
    pub on_table: &'a dyn Fn(&str, &str) -> Privileges,
    /// Whether the session may see anything of a routine.
    pub routine_visible: &'a dyn Fn(&Routine) -> bool,
    /// Whether the session may see the body of a routine.
    pub routine_body_visible: &'a dyn Fn(&Routine) -> bool,
    /// Whether the session may see a view's query.
    pub view_body_visible: &'a dyn Fn(&TableInfo, &View) -> bool,
    /// The error of a view that reads what is gone. Opens the view.
    pub view_fault: &'a dyn Fn(&TableInfo, &View) -> Option<SqlError>,
    /// The session's privileges on a column of a table.
    pub on_column: &'a dyn Fn(&TableInfo, &str) -> Privileges,
    /// The session's `sql_mode`.
    pub sql_mode: SqlMode,
    /// The session's time zone.
    pub zone: &'a TimeZone,
    /// The part that is asked for; rows of other parts may be there too.
    pub asked: Asked<'a>,
}

/// The part of the definitions that a query asks for.
pub struct Asked<'a> {
    /// The only schema requested, if there is one.
    pub schema: Option<&'a str>,
    /// The only table requested, if there is one.
    pub table: Option<&'a str>,
    /// Whether the first columns of TABLES are enough, up to the kind of table: the engine need not
    /// be asked.
    pub only_names: bool,
    /// Whether views must be opened for TABLES.
    pub opens_views: bool,
    /// Tells which of some names of tables are wanted in TABLES; `None` for all.
    pub wanted: &'a dyn Fn(Column) -> Option<Bitmap>,
}

impl<'a> InformationSource<'a> {
    fn schemas(&self) -> impl Iterator<Item = &'a Arc<Schema>> {
        let wanted =
            self.asked.schema.map(|name| self.names.schema(name).map_or(name, |s| &*s.name));
        self.names.snapshot.schemas().filter(move |s| wanted.is_none_or(|w| w == &*s.name))
    }

    /// The requested tables. Compat: a temporary table is listed only where it alone is requested.
    pub fn tables(&self) -> impl Iterator<Item = &'a Arc<TableInfo>> {
        let temporary = match (self.asked.schema, self.asked.table) {
            (Some(schema), Some(table)) => self.names.temporary.get(schema, table),
            _ => None,
        };
        let computed = |schema: &Schema| match &*schema.name {
            "mysql" => crate::system_tables::mysql_tables(),
            _ => &[],
        };
        let all = self.schemas().flat_map(move |s| s.tables.values().chain(computed(s)));
        let shared = all.filter(move |t| {
            temporary.is_none()
                && self.asked.table.is_none_or(|name| self.is_named(t, name))
                && (self.visible)(t.schema(), t.name())
        });
        temporary.into_iter().chain(shared)
    }

    /// Compat: table names are case-sensitive, except in `information_schema`.
    fn is_named(&self, table: &TableInfo, name: &str) -> bool {
        match table.schema() == "information_schema" {
            true => table.name().eq_ignore_ascii_case(name),
            false => table.name() == name,
        }
    }
}

/// Rows of `table`; `None` if definitions do not determine them.
pub fn information_rows(
    source: &InformationSource<'_>,
    table: &str,
) -> Option<Vec<InformationRow>> {
    Some(match table {
        "SCHEMATA" => tables::schemata(source),
        "TABLES" => tables::tables(source),
        "VIEWS" => tables::views(source),
        "COLUMNS" => columns::columns(source),
        "GEOMETRY_COLUMNS" => spatial::geometry_columns(source),
        "SPATIAL_REF_SYS" => spatial::reference_systems(),
        "STATISTICS" => statistics::statistics(source),
        "KEY_COLUMN_USAGE" => constraints::key_column_usage(source),
        "TABLE_CONSTRAINTS" => constraints::table_constraints(source),
        "REFERENTIAL_CONSTRAINTS" => constraints::referential_constraints(source),
        "CHECK_CONSTRAINTS" => constraints::check_constraints(source),
        "INNODB_SYS_FOREIGN" => constraints::sys_foreign(source),
        "INNODB_SYS_FOREIGN_COLS" => constraints::sys_foreign_cols(source),
        "proc" => programs::proc(source),
        "ROUTINES" => programs::routines(source),
        "PARAMETERS" => programs::parameters(source),
        "TRIGGERS" => programs::triggers(source),
        "PARTITIONS" => partitions::partitions(source),
        "KEYWORDS" => words::keywords(),
        "SQL_FUNCTIONS" => words::sql_functions(),
        "CHARACTER_SETS" => charsets::character_sets(),
        "COLLATIONS" => charsets::collations(),
        "COLLATION_CHARACTER_SET_APPLICABILITY" => charsets::applicability(),
        _ => return None,
    })
}

fn text(text: impl AsRef<str>) -> Value {
    Value::bytes(text.as_ref())
}

fn optional(text: Option<impl AsRef<str>>) -> Value {
    text.map_or(Value::Null, |t| Value::bytes(t.as_ref()))
}

fn yes_no(yes: bool) -> Value {
    text(if yes { "YES" } else { "NO" })
}

fn unsigned(number: Option<u64>) -> Value {
    number.map_or(Value::Null, Value::UInt)
}

/// Seconds since 1970 as a time in the session's time zone.
fn time(source: &InformationSource<'_>, seconds: u64) -> Value {
    let micros = i64::try_from(seconds).ok().and_then(|s| s.checked_mul(1_000_000));
    micros.and_then(|at| source.zone.local_from_micros(at)).map_or(Value::Null, Value::DateTime)
}
