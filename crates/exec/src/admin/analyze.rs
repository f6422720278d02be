//! ANALYZE TABLE: statistics from a sample. Reads rows through [`selkie_engine::Table::sample`],
//! stores the statistics in the dictionary and publishes a new version of the table's definition.

use std::sync::Arc;

use selkie_catalog::{
    ColumnInfo, ColumnStatistics, IndexStatistics, Statistics, TableInfo, TableKind, new_version,
};
use selkie_engine::{GroupShape, IndexKind, RowSet};
use selkie_types::{Column, ColumnData, SqlError, SqlResult, Value};

use crate::op::{distinct_keys, sorted_rows};
use crate::query::execution::Execution;
use crate::query::now_micros;
use crate::run::open_table;
use crate::state::column_keeper::COLUMNS_FROM;
use crate::state::error::{corrupt, from_engine};
use crate::state::kept_statistics;
use crate::state::session::UseColumns;

/// Rows in the sample; a smaller table is read whole.
const SAMPLE: usize = 30_000;

/// Buckets of a histogram.
const BUCKETS: usize = 64;

/// Computes and stores the statistics of a locked table.
pub(super) fn analyze(execution: &mut Execution<'_>, table: &TableInfo) -> SqlResult<()> {
    let statistics = Arc::new(compute(execution, table)?);
    build_columns(execution, table, statistics.rows)?;
    let Execution { instance, session, control, .. } = execution;
    let mut info = table.clone();
    info.version = new_version();
    info.statistics = Some(statistics.clone());
    if table.kind == TableKind::Temporary {
        session.frame.temporary.put(Arc::new(info));
        return Ok(());
    }
    let internal = |e: selkie_catalog::DictionaryError| SqlError::internal(format_args!("{e:?}"));
    session.transaction.join(instance.dictionary.engine())?;
    let trx = session.transaction.part(instance.dictionary.engine());
    if let Some(trx) = trx {
        instance.dictionary.put_statistics(trx, table.def.id, &statistics).map_err(internal)?;
    }
    session.transaction.commit(None)?;
    instance.catalog.publish(|snapshot| {
        // An index may have been added meanwhile: then this would take it back.
        let now = snapshot.table(table.schema(), table.name());
        if now.is_some_and(|now| Arc::ptr_eq(&now.def, &table.def)) {
            snapshot.put_table(Arc::new(info));
        }
    });
    if let Some(handle) = instance.look_into(table) {
        let found = (&*statistics, &handle.table.statistics());
        kept_statistics::store(instance, control, table, found, now_micros(session));
    }
    Ok(())
}

/// Builds column groups of a table that is large enough, if the session uses columns.
fn build_columns(execution: &Execution<'_>, table: &TableInfo, rows: u64) -> SqlResult<()> {
    let Execution { instance, session, control, .. } = execution;
    if session.frame.settings.queries.columns == UseColumns::Off || rows < COLUMNS_FROM {
        return Ok(());
    }
    let open = open_table(instance, session, table)?;
    let Some(source) = open.handle.table.columns() else { return Ok(()) };
    let built = source.build_columns(None, *control, GroupShape::USUAL);
    if built.map_err(|e| from_engine(e, &table.def))? > 0 && table.kind != TableKind::Temporary {
        instance.upkeep.columns.note_built(table.def.id);
    }
    Ok(())
}

fn compute(execution: &Execution<'_>, table: &TableInfo) -> SqlResult<Statistics> {
    let Execution { instance, session, control, .. } = execution;
    let open = open_table(instance, session, table)?;
    let mut set = RowSet::default();
    let sampled = open.handle.table.sample(open.trx, *control, SAMPLE, &mut set);
    sampled.map_err(|e| from_engine(e, &table.def))?;
    // A sample may be somewhat smaller than requested, even of a large table.
    let (sampled, known) = (set.rows.len() as u64, open.handle.table.statistics().rows);
    let rows = if known <= SAMPLE as u64 { sampled } else { known.max(sampled) };
    let layout = &table.def.layout;
    let decode = |at| layout.decode(&set.rows, at).map(Arc::new).map_err(corrupt);
    let columns: SqlResult<Vec<Arc<Column>>> = (0..table.columns.len()).map(decode).collect();
    let columns = columns?;
    // Columns that are not stored have no statistics.
    let stored = |(at, (column, info)): (usize, (&Arc<Column>, &ColumnInfo))| {
        (!table.is_computed(at)).then(|| of_column(column, &info.ty, rows)).transpose()
    };
    let all = columns.iter().zip(&table.columns).enumerate();
    let indexes = table.def.indexes.iter().map(|i| of_index(i, &columns, table, rows));
    let mut statistics = Statistics {
        rows,
        columns: all.map(stored).collect::<SqlResult<_>>()?,
        indexes: indexes.collect::<SqlResult<_>>()?,
    };
    correct_clustered(table, &columns, &mut statistics)?;
    Ok(statistics)
}

/// Corrects the distinct counts of the first columns of the primary key. A sample consists of whole
/// leaves, whose rows are neighbours by the primary key, so values repeat more often in the sample
/// than in the table. If they change within leaves, the share of rows that have other values than
/// the row before is the better estimate.
fn correct_clustered(
    table: &TableInfo,
    columns: &[Arc<Column>],
    statistics: &mut Statistics,
) -> SqlResult<()> {
    let Some(at) = table.def.indexes.iter().position(|i| i.kind == IndexKind::Primary) else {
        return Ok(());
    };
    let parts = &table.def.indexes[at].parts;
    let sampled = columns.first().map_or(0, |column| column.len());
    if sampled as u64 >= statistics.rows {
        return Ok(());
    }
    for count in 1..parts.len() {
        let keys: Vec<_> = parts[..count].iter().map(|p| columns[p.column].clone()).collect();
        let types: Vec<_> = parts[..count].iter().map(|p| &table.columns[p.column].ty).collect();
        let (ids, distinct) = distinct_keys(&keys, &types)?;
        let Some(distinct) = of_neighbours(&ids, distinct, statistics.rows) else { continue };
        statistics.indexes[at].prefix_distinct[count - 1] = distinct;
        if count == 1 {
            correct_first(table, parts[0].column, distinct, statistics);
        }
    }
    Ok(())
}

/// The distinct values of a table of `rows` rows from samples of neighbours; `None` if values go
/// beyond leaves.
fn of_neighbours(ids: &[u32], distinct: usize, rows: u64) -> Option<f64> {
    const LEAF_ROWS: f64 = 30.0;
    if distinct as f64 <= ids.len() as f64 / LEAF_ROWS {
        return None;
    }
    let changes = ids.windows(2).filter(|pair| pair[0] != pair[1]).count() + 1;
    let share = changes as f64 / ids.len() as f64;
    Some((rows as f64 * share).clamp(distinct as f64, rows as f64))
}

/// Takes over the distinct count of the primary key's first column.
fn correct_first(table: &TableInfo, first: usize, distinct: f64, statistics: &mut Statistics) {
    if let Some(Some(column)) = statistics.columns.get_mut(first) {
        column.distinct = distinct;
    }
    for (index, found) in table.def.indexes.iter().zip(&mut statistics.indexes) {
        let is_own = index.is_unique() && index.parts.len() == 1;
        if index.kind != IndexKind::Primary && index.parts[0].column == first && !is_own {
            found.prefix_distinct[0] = distinct;
            found.prefix_distinct.iter_mut().for_each(|d| *d = d.max(distinct));
        }
    }
}

/// Estimates the distinct values of the table from a sample: many values seen once imply many
/// unseen values.
fn extrapolate(ids: &[u32], distinct: usize, rows: u64) -> f64 {
    let sample = ids.len();
    if sample == 0 || sample as u64 >= rows {
        return distinct as f64;
    }
    let mut counts = vec![0u32; distinct];
    ids.iter().for_each(|&id| counts[id as usize] += 1);
    let once = counts.iter().filter(|&&c| c == 1).count() as f64;
    let (n, d) = (sample as f64, distinct as f64);
    let estimate = n * d / (n - once + once * n / rows as f64);
    estimate.clamp(d, rows as f64)
}

fn of_column(
    column: &Arc<Column>,
    ty: &selkie_types::SqlType,
    rows: u64,
) -> SqlResult<ColumnStatistics> {
    let sample = column.len();
    let present: Vec<u32> = (0..sample as u32).filter(|&r| !column.is_null(r as usize)).collect();
    let values = Arc::new(column.gather(&present));
    let null_fraction = 1.0 - present.len() as f64 / sample.max(1) as f64;
    let (ids, distinct) = distinct_keys(std::slice::from_ref(&values), &[ty])?;
    let filled = (rows as f64 * (1.0 - null_fraction)) as u64;
    let order = sorted_rows(&values, ty)?;
    let at = |row: Option<&u32>| row.map_or(Value::Null, |&r| values.value(r as usize));
    Ok(ColumnStatistics {
        distinct: extrapolate(&ids, distinct, filled),
        null_fraction,
        average_bytes: average_bytes(column, ty),
        min: at(order.first()),
        max: at(order.last()),
        histogram: histogram(&values, &order),
    })
}

fn average_bytes(column: &Column, ty: &selkie_types::SqlType) -> f64 {
    match (ty.fixed_width(), column.data()) {
        (Some(width), _) => width as f64,
        (None, ColumnData::Bytes(v)) => v.text_size() as f64 / column.len().max(1) as f64,
        _ => 8.0,
    }
}

/// Upper bounds of buckets with equally many rows each.
fn histogram(values: &Column, order: &[u32]) -> Vec<Value> {
    if order.len() < BUCKETS {
        return Vec::new();
    }
    let end = |bucket: usize| order[(bucket * order.len()).div_ceil(BUCKETS) - 1];
    (1..=BUCKETS).map(|bucket| values.value(end(bucket) as usize)).collect()
}

fn of_index(
    index: &selkie_engine::IndexDef,
    columns: &[Arc<Column>],
    table: &TableInfo,
    rows: u64,
) -> SqlResult<IndexStatistics> {
    let count = index.parts.len();
    let prefix = |parts: usize| {
        if parts == count && index.is_unique() {
            return Ok(rows as f64);
        }
        let keys: Vec<_> = index.parts[..parts].iter().map(|p| columns[p.column].clone()).collect();
        let types: Vec<_> =
            index.parts[..parts].iter().map(|p| &table.columns[p.column].ty).collect();
        let (ids, distinct) = distinct_keys(&keys, &types)?;
        Ok(extrapolate(&ids, distinct, rows))
    };
    let prefixes: SqlResult<Vec<f64>> = (1..=count).map(prefix).collect();
    Ok(IndexStatistics { prefix_distinct: prefixes? })
}

#[cfg(test)]
mod tests {
    use super::of_neighbours;

    #[test]
    fn neighbours_tell_the_distinct_values_of_a_table() {
        // Leaves of 100 rows, four of each value; each leaf is from another place.
        let leaves = (0..20u32).flat_map(|leaf| (0..100).map(move |row| (leaf * 100 + row) / 4));
        let ids: Vec<u32> = leaves.collect();
        assert_eq!(of_neighbours(&ids, 500, 1_000_000), Some(250_000.0));
        // Values that fill leaves say nothing.
        let ids: Vec<u32> = (0..2000).map(|row| row / 100).collect();
        assert_eq!(of_neighbours(&ids, 20, 1_000_000), None);
        let ids: Vec<u32> = (0..2000).collect();
        assert_eq!(of_neighbours(&ids, 2000, 1_000_000), Some(1_000_000.0));
    }
}
