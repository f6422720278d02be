//! Statistics that an engine keeps in tables of `mysql`: rows and pages of a table and of its
//! indexes, and the number of different keys. ANALYZE writes them, people read them.
//!
//! Compat: the planner has statistics of its own, so nobody's changes of these rows are read. The
//! engine's personality names the tables. Must not fail a statement because of them.

use selkie_catalog::{Statistics, TableInfo, TableKind};
use selkie_engine::{EngineTrx, IndexDef, KeptStatistics, TableStatistics};
use selkie_types::{DateTime, SqlResult, TypeKind, Value};

use super::control::Control;
use super::own_table::{OwnShape, OwnTable};
use super::own_transaction::{begin_in, commit_now};
use crate::Instance;

const TABLE_COLUMNS: &[&str] = &[
    "database_name",
    "table_name",
    "last_update",
    "n_rows",
    "clustered_index_size",
    "sum_of_other_index_sizes",
];

const TABLE_KINDS: &[TypeKind] = &[
    TypeKind::VarChar,
    TypeKind::VarChar,
    TypeKind::Timestamp,
    TypeKind::BigInt,
    TypeKind::BigInt,
    TypeKind::BigInt,
];

const INDEX_COLUMNS: &[&str] = &[
    "database_name",
    "table_name",
    "index_name",
    "last_update",
    "stat_name",
    "stat_value",
    "sample_size",
    "stat_description",
];

const INDEX_KINDS: &[TypeKind] = &[
    TypeKind::VarChar,
    TypeKind::VarChar,
    TypeKind::VarChar,
    TypeKind::Timestamp,
    TypeKind::VarChar,
    TypeKind::BigInt,
    TypeKind::BigInt,
    TypeKind::VarChar,
];

/// Most pages of an index that a sample has.
const SAMPLE_PAGES: u64 = 20;

/// A row about an index behind the name of its table.
struct IndexRow {
    index: String,
    name: String,
    value: u64,
    sample: Option<u64>,
    description: String,
}

/// The two tables of an engine; missing ones take nothing.
struct KeptTables<'a> {
    tables: Option<OwnTable<'a>>,
    indexes: Option<OwnTable<'a>>,
}

impl<'a> KeptTables<'a> {
    fn open(
        instance: &Instance,
        control: &'a Control,
        kept: &KeptStatistics,
    ) -> SqlResult<Option<Self>> {
        let (columns, kinds) = (TABLE_COLUMNS, TABLE_KINDS);
        let of_tables = OwnShape { name: kept.tables, columns, kinds, key: &[0, 1] };
        let (columns, kinds) = (INDEX_COLUMNS, INDEX_KINDS);
        let of_indexes = OwnShape { name: kept.indexes, columns, kinds, key: &[0, 1, 2, 4] };
        let tables = OwnTable::open(instance, control, &of_tables)?;
        let indexes = OwnTable::open(instance, control, &of_indexes)?;
        let any = tables.is_some() || indexes.is_some();
        Ok(any.then_some(Self { tables, indexes }))
    }

    /// Runs `work` in a transaction of its own and commits it.
    fn change(
        &self,
        instance: &Instance,
        work: impl FnOnce(&dyn EngineTrx) -> SqlResult<()>,
    ) -> SqlResult<()> {
        let Some(any) = self.tables.as_ref().or(self.indexes.as_ref()) else { return Ok(()) };
        let (engine, trx) = begin_in(instance, &any.info)?;
        work(&*trx)?;
        commit_now(&*engine, trx)
    }

    /// Removes the rows of a table.
    fn remove(&self, trx: &dyn EngineTrx, table: &TableInfo) -> SqlResult<()> {
        let key = [Value::bytes(table.schema()), Value::bytes(table.name())];
        for stored in [&self.tables, &self.indexes].into_iter().flatten() {
            stored.remove(trx, &key)?;
        }
        Ok(())
    }
}

/// The tables that keep the statistics of a table, if its engine has some.
fn kept_of(table: &TableInfo) -> Option<&'static KeptStatistics> {
    let is_own = table.schema() == "mysql" || table.partitions.is_some();
    let kept = table.engine.maintenance.kept?;
    (table.kind == TableKind::Base && !is_own).then_some(kept)
}

/// Stores the statistics of a table that was analyzed; `now` in microseconds since 1970.
pub(crate) fn store(
    instance: &Instance,
    control: &Control,
    table: &TableInfo,
    (statistics, size): (&Statistics, &TableStatistics),
    now: i64,
) {
    let Some(kept) = kept_of(table) else { return };
    let work = || -> SqlResult<()> {
        let Some(tables) = KeptTables::open(instance, control, kept)? else { return Ok(()) };
        let at = DateTime::from_unix_micros(now - now.rem_euclid(1_000_000));
        let at = at.map_or(Value::Null, Value::DateTime);
        tables.change(instance, |trx| {
            tables.remove(trx, table)?;
            let name = || [Value::bytes(table.schema()), Value::bytes(table.name())];
            let (own, others) = pages(table, size, kept);
            if let Some(stored) = &tables.tables {
                let sum = others * (indexes_of(table).count() as u64 - 1);
                let numbers = [statistics.rows, own, sum].map(Value::UInt);
                let row: Vec<Value> =
                    name().into_iter().chain([at.clone()]).chain(numbers).collect();
                stored.add(trx, &row)?;
            }
            let Some(stored) = &tables.indexes else { return Ok(()) };
            for one in index_rows(table, statistics, (own, others), kept) {
                let mut row = Vec::from(name());
                row.extend([
                    Value::bytes(&one.index),
                    at.clone(),
                    Value::bytes(&one.name),
                    Value::UInt(one.value),
                    one.sample.map_or(Value::Null, Value::UInt),
                    Value::bytes(&one.description),
                ]);
                stored.add(trx, &row)?;
            }
            Ok(())
        })
    };
    tell(table, work());
}

/// Moves the rows of a table that gets another name; `new` is its definition of that name.
pub(crate) fn follow(
    instance: &Instance,
    control: &Control,
    (old, new): (&TableInfo, &TableInfo),
    now: i64,
) {
    forget(instance, control, old);
    if let (Some(statistics), Some(handle)) = (&old.statistics, instance.look_into(old)) {
        let found = (&**statistics, &handle.table.statistics());
        store(instance, control, new, found, now);
    }
}

/// Removes the rows of a table that is dropped.
pub(crate) fn forget(instance: &Instance, control: &Control, table: &TableInfo) {
    let Some(kept) = kept_of(table).filter(|_| table.statistics.is_some()) else { return };
    let work = || -> SqlResult<()> {
        let Some(tables) = KeptTables::open(instance, control, kept)? else { return Ok(()) };
        tables.change(instance, |trx| tables.remove(trx, table))
    };
    tell(table, work());
}

fn tell(table: &TableInfo, result: SqlResult<()>) {
    if let Err(error) = result {
        let (schema, name) = (table.schema(), table.name());
        tracing::warn!("statistics of {schema}.{name} are not kept: {error}");
    }
}

/// The clustered index, which a table without primary key has too, and the other ones.
fn indexes_of(table: &TableInfo) -> impl Iterator<Item = Option<usize>> {
    let clustered = table.def.primary().map(|_| 0);
    let others = usize::from(clustered.is_some())..table.def.indexes.len();
    [clustered].into_iter().chain(others.map(Some))
}

/// Pages of the clustered index, and of each other one.
fn pages(table: &TableInfo, size: &TableStatistics, kept: &KeptStatistics) -> (u64, u64) {
    let others = indexes_of(table).count() as u64 - 1;
    let besides = table.engine.shown.tree_overhead;
    let of = |bytes: u64| (bytes.saturating_sub(besides) / kept.page_bytes).max(1);
    (of(size.data_bytes), of(size.index_bytes / others.max(1)))
}

fn index_rows(
    table: &TableInfo,
    statistics: &Statistics,
    (own, others): (u64, u64),
    kept: &KeptStatistics,
) -> Vec<IndexRow> {
    let mut rows = Vec::new();
    for (number, at) in indexes_of(table).enumerate() {
        let pages = if number == 0 { own } else { others };
        let leaves = (pages - u64::from(pages > 1)).max(1);
        let sample = leaves.min(SAMPLE_PAGES);
        let index = at.map_or(kept.row_index, |at| &table.def.indexes[at].name).to_owned();
        let mut put = |name: String, value, sample, description: String| {
            rows.push(IndexRow { index: index.clone(), name, value, sample, description });
        };
        match at {
            None => {
                put("n_diff_pfx01".into(), statistics.rows, Some(sample), kept.row_number.into())
            }
            Some(at) => {
                let columns = columns_of(table, &table.def.indexes[at], kept);
                for parts in 1..=columns.len() {
                    let value = distinct(table, statistics, at, parts);
                    let name = format!("n_diff_pfx{parts:02}");
                    put(name, value, Some(sample), columns[..parts].join(","));
                }
            }
        }
        put("n_leaf_pages".into(), leaves, None, "Number of leaf pages in the index".into());
        put("size".into(), pages, None, "Number of pages in the index".into());
    }
    rows
}

/// Names of the columns that tell entries of an index apart.
fn columns_of(table: &TableInfo, index: &IndexDef, kept: &KeptStatistics) -> Vec<String> {
    let behind = if index.is_unique() { 0 } else { usize::MAX };
    let parts = index.parts.iter().chain(table.def.parts_behind(index).take(behind));
    let names = parts.map(|part| table.columns[part.column].name.to_string());
    let by_number = table.def.primary().is_none() && !index.is_unique();
    names.chain(by_number.then(|| kept.row_number.to_owned())).collect()
}

/// Different values of the first `parts` columns of an index.
fn distinct(table: &TableInfo, statistics: &Statistics, at: usize, parts: usize) -> u64 {
    let index = &table.def.indexes[at];
    let known = statistics.indexes.get(at).and_then(|found| found.prefix_distinct.get(parts - 1));
    let identified = parts > index.parts.len();
    match known {
        Some(distinct) if !identified => distinct.round() as u64,
        _ => statistics.rows,
    }
}
