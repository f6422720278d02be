//! STATISTICS: one row for each part of each index. Cardinality is NULL where MariaDB's engine of
//! the same name reports none.

use selkie_engine::{DistinctKeys, IndexDef, IndexKind, IndexPart};
use selkie_types::{Privileges, Value};

use super::{InformationRow, InformationSource, text, yes_no};
use crate::TableInfo;

pub(super) fn statistics(source: &InformationSource<'_>) -> Vec<InformationRow> {
    let mut rows = Vec::new();
    for table in source.tables() {
        let table_rows = (source.statistics)(table).rows;
        for (at, (index, _)) in table.all_indexes().enumerate() {
            // Compat: a part that is not listed counts.
            let shown = |part: &(usize, &IndexPart)| !table.columns[part.1.column].is_hidden();
            for (seq, part) in index.parts.iter().enumerate().filter(shown) {
                let column = &table.columns[part.column].name;
                if ((source.on_column)(table, column) & Privileges::TABLE).is_empty() {
                    continue;
                }
                rows.push(part_row(table, at, index, seq, part, table_rows));
            }
        }
    }
    rows
}

fn part_row(
    table: &TableInfo,
    at: usize,
    index: &IndexDef,
    seq: usize,
    part: &IndexPart,
    table_rows: u64,
) -> InformationRow {
    let column = &table.columns[part.column];
    let info = table.all_indexes().nth(at).and_then(|(_, info)| info);
    vec![
        text("def"),
        text(table.schema()),
        text(table.name()),
        Value::Int(i64::from(!index.is_unique())),
        text(table.schema()),
        text(&index.name),
        Value::UInt(seq as u64 + 1),
        text(&column.name),
        if index.kind == IndexKind::Fulltext { Value::Null } else { direction(table, at, part) },
        cardinality(table, at, index, seq, table_rows).map_or(Value::Null, Value::Int),
        crate::table::shown_prefix(&column.ty, index, part)
            .map_or(Value::Null, |prefix| Value::Int(prefix.into())),
        Value::Null,
        text(if column.nullable { "YES" } else { "" }),
        text(if index.kind == IndexKind::Fulltext { "FULLTEXT" } else { algorithm(table, at) }),
        text(if table.options.keys_disabled && !index.is_unique() { "disabled" } else { "" }),
        text(info.map_or("", |i| &i.comment)),
        yes_no(info.is_some_and(|i| i.ignored)),
    ]
}

/// The algorithm of an index: the one in its definition, else the engine's default.
fn algorithm(table: &TableInfo, at: usize) -> &str {
    let default = if table.engine.keys.unordered { "HASH" } else { "BTREE" };
    table.indexes.get(at).and_then(|info| info.algorithm.as_deref()).unwrap_or(default)
}

/// Whether an index is unordered.
fn is_unordered(table: &TableInfo, at: usize) -> bool {
    table.engine.keys.unordered && algorithm(table, at) == "HASH"
}

fn direction(table: &TableInfo, at: usize, part: &IndexPart) -> Value {
    match is_unordered(table, at) {
        true => Value::Null,
        false => text(if part.descending { "D" } else { "A" }),
    }
}

/// Distinct keys of the first `seq + 1` parts, if the engine reports a number.
fn cardinality(
    table: &TableInfo,
    at: usize,
    index: &IndexDef,
    seq: usize,
    rows: u64,
) -> Option<i64> {
    if index.hashed || index.kind == IndexKind::Fulltext {
        return None;
    }
    let whole = seq + 1 == index.parts.len();
    let null = index.parts.iter().any(|part| table.columns[part.column].nullable);
    let analyzed = table.statistics.as_ref().and_then(|s| s.indexes.get(at));
    let distinct = analyzed.and_then(|i| i.prefix_distinct.get(seq)).copied();
    let guess = match table.engine.rows.distinct {
        DistinctKeys::Guessed if !is_unordered(table, at) || !whole => return None,
        DistinctKeys::Guessed if index.is_unique() => rows,
        DistinctKeys::Guessed => rows / 2,
        DistinctKeys::PerKey => match distinct {
            Some(distinct) => per_key(rows, distinct),
            None if whole && index.is_unique() && !null => rows,
            None => return None,
        },
        DistinctKeys::Estimated => match distinct {
            Some(distinct) => distinct as u64,
            None => rows,
        },
    };
    Some(i64::try_from(guess).unwrap_or(i64::MAX))
}

/// Compat: the number of rows per key is rounded to a whole number, and the number of keys is
/// computed from it.
fn per_key(rows: u64, distinct: f64) -> u64 {
    let distinct = (distinct as u64).max(1);
    rows / ((rows + distinct / 2) / distinct).max(1)
}
