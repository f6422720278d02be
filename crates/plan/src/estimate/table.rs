//! Row and distinct counts of tables and their columns. Where no statistics exist, the constants
//! here are the guess.

use selkie_catalog::{ColumnStatistics, Statistics, TableInfo};
use selkie_types::TypeKind;

use crate::settings::{StatTables, StatisticsSource};

/// Rows assumed for a table without statistics.
const UNKNOWN_ROWS: f64 = 1_000.0;
/// Distinct values assumed for a column, as a share of the rows.
const UNKNOWN_DISTINCT: f64 = 0.1;

/// Rows of a table that estimates count with, at least one. Compat: of a table with partitions the
/// engine's number counts, since only the engine knows how many rows the partitions have that are
/// read. A table that was empty when it was analysed does not count as empty, unlike in MariaDB.
pub(crate) fn table_rows(table: &TableInfo, source: &dyn StatisticsSource) -> f64 {
    let told = table.persistent.as_deref().map(|found| found.rows).filter(|rows| *rows > 0);
    let first = source.stat_tables() == StatTables::First && table.partitions.is_none();
    match told.filter(|_| first) {
        Some(rows) => (rows as f64).max(1.0),
        None => engine_rows(table, source),
    }
}

/// Rows of a table as its engine knows them, at least one.
pub(crate) fn engine_rows(table: &TableInfo, source: &dyn StatisticsSource) -> f64 {
    let analysed = || table.statistics.as_ref().map(|s| s.rows as f64);
    source.table_rows(table).or_else(analysed).unwrap_or(UNKNOWN_ROWS).max(1.0)
}

/// Statistics of a table: those of users' tables, if they are used, before those of ANALYZE.
fn statistics<'t>(
    table: &'t TableInfo,
    source: &dyn StatisticsSource,
) -> impl Iterator<Item = &'t Statistics> + use<'t> {
    let used = source.stat_tables() != StatTables::Unused;
    let persistent = table.persistent.as_deref().filter(|_| used);
    persistent.into_iter().chain(table.statistics.as_deref())
}

/// Statistics of a column, if there are any.
pub(super) fn column_statistics<'t>(
    table: &'t TableInfo,
    column: usize,
    source: &dyn StatisticsSource,
) -> Option<&'t ColumnStatistics> {
    statistics(table, source).find_map(|found| found.columns.get(column)?.as_ref())
}

/// Whether users' statistics tables know a column, and are used.
pub(crate) fn has_persistent(
    table: &TableInfo,
    column: usize,
    source: &dyn StatisticsSource,
) -> bool {
    let known = |found: &Statistics| found.columns.get(column).is_some_and(Option::is_some);
    source.stat_tables() != StatTables::Unused && table.persistent.as_deref().is_some_and(known)
}

/// Distinct values of a column in a table of `rows` rows.
pub(crate) fn column_distinct(
    table: &TableInfo,
    column: usize,
    rows: f64,
    source: &dyn StatisticsSource,
) -> f64 {
    if let Some(statistics) = column_statistics(table, column, source) {
        return statistics.distinct.clamp(1.0, rows.max(1.0));
    }
    for (at, index) in table.def.indexes.iter().enumerate() {
        if index.parts[0].column == column {
            return prefix_distinct(table, (at, 1), rows, source);
        }
    }
    let guess = rows * UNKNOWN_DISTINCT;
    let most = match table.columns[column].ty.kind {
        TypeKind::Enum | TypeKind::Set => {
            table.columns[column].ty.members.as_ref().map_or(10.0, |m| m.len() as f64)
        }
        TypeKind::TinyInt => 100.0,
        TypeKind::Year => 50.0,
        _ => f64::INFINITY,
    };
    guess.min(most).max(1.0)
}

/// Distinct keys of the first `parts` parts of an index.
pub(crate) fn prefix_distinct(
    table: &TableInfo,
    (index, parts): (usize, usize),
    rows: f64,
    source: &dyn StatisticsSource,
) -> f64 {
    let def = &table.def.indexes[index];
    // The clustered key follows the parts.
    let identified = parts > def.parts.len();
    if identified || def.is_unique() && parts == def.parts.len() {
        return rows.max(1.0);
    }
    let of_index =
        |found: &Statistics| found.indexes.get(index)?.prefix_distinct.get(parts - 1).copied();
    if let Some(distinct) = statistics(table, source).find_map(of_index) {
        return distinct.clamp(1.0, rows.max(1.0));
    }
    let columns = def.parts[..parts].iter();
    let product: f64 = columns
        .map(|part| match column_statistics(table, part.column, source) {
            Some(statistics) => statistics.distinct.max(1.0),
            None => (rows * UNKNOWN_DISTINCT).max(1.0),
        })
        .product();
    product.clamp(1.0, rows.max(1.0))
}
