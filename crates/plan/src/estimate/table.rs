//! Row and distinct counts of tables and their columns. Where no statistics exist, the constants
//! here are the guess.

use selkie_catalog::{ColumnStatistics, TableInfo};
use selkie_types::TypeKind;

use crate::settings::StatisticsSource;

/// Rows assumed for a table without statistics.
const UNKNOWN_ROWS: f64 = 1_000.0;
/// Distinct values assumed for a column, as a share of the rows.
const UNKNOWN_DISTINCT: f64 = 0.1;

/// Rows of a table, at least one.
pub(crate) fn table_rows(table: &TableInfo, source: &dyn StatisticsSource) -> f64 {
    let analysed = || table.statistics.as_ref().map(|s| s.rows as f64);
    source.table_rows(table).or_else(analysed).unwrap_or(UNKNOWN_ROWS).max(1.0)
}

/// ANALYZE's statistics of a column, if it ran.
pub(super) fn column_statistics(table: &TableInfo, column: usize) -> Option<&ColumnStatistics> {
    table.statistics.as_ref()?.columns.get(column)?.as_ref()
}

/// Distinct values of a column in a table of `rows` rows.
pub(crate) fn column_distinct(table: &TableInfo, column: usize, rows: f64) -> f64 {
    if let Some(statistics) = column_statistics(table, column) {
        return statistics.distinct.clamp(1.0, rows.max(1.0));
    }
    for (at, index) in table.def.indexes.iter().enumerate() {
        if index.parts[0].column == column {
            return prefix_distinct(table, at, 1, rows);
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
pub(crate) fn prefix_distinct(table: &TableInfo, index: usize, parts: usize, rows: f64) -> f64 {
    let def = &table.def.indexes[index];
    // The clustered key follows the parts.
    let identified = parts > def.parts.len();
    if identified || def.is_unique() && parts == def.parts.len() {
        return rows.max(1.0);
    }
    let known = table.statistics.as_ref().and_then(|s| s.indexes.get(index));
    if let Some(distinct) = known.and_then(|i| i.prefix_distinct.get(parts - 1)) {
        return distinct.clamp(1.0, rows.max(1.0));
    }
    let columns = def.parts[..parts].iter();
    let product: f64 = columns
        .map(|part| match column_statistics(table, part.column) {
            Some(statistics) => statistics.distinct.max(1.0),
            None => (rows * UNKNOWN_DISTINCT).max(1.0),
        })
        .product();
    product.clamp(1.0, rows.max(1.0))
}
