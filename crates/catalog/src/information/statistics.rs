//! STATISTICS: the parts of every index.

use selkie_engine::{IndexDef, IndexPart};
use selkie_types::Value;

use super::{InformationRow, InformationSource, text, yes_no};
use crate::TableInfo;

pub(super) fn statistics(source: &InformationSource<'_>) -> Vec<InformationRow> {
    let mut rows = Vec::new();
    for table in source.tables() {
        let table_rows = (source.statistics)(table).rows;
        for (at, index) in table.def.indexes.iter().enumerate() {
            for (seq, part) in index.parts.iter().enumerate() {
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
    let info = table.indexes.get(at);
    vec![
        text("def"),
        text(table.schema()),
        text(table.name()),
        Value::Int(i64::from(!index.is_unique())),
        text(table.schema()),
        text(&index.name),
        Value::UInt(seq as u64 + 1),
        text(&column.name),
        text(if part.descending { "D" } else { "A" }),
        Value::Int(cardinality(table, at, index, seq, table_rows)),
        part.prefix.map_or(Value::Null, |prefix| Value::Int(prefix.into())),
        Value::Null,
        text(if column.nullable { "YES" } else { "" }),
        text(info.and_then(|i| i.algorithm.as_deref()).unwrap_or("BTREE")),
        text(""),
        text(info.map_or("", |i| &i.comment)),
        yes_no(info.is_some_and(|i| i.ignored)),
    ]
}

/// Distinct keys of the first `seq + 1` parts: as analyzed, else all rows for a whole unique key.
fn cardinality(table: &TableInfo, at: usize, index: &IndexDef, seq: usize, rows: u64) -> i64 {
    let analyzed = table.statistics.as_ref().and_then(|s| s.indexes.get(at));
    if let Some(distinct) = analyzed.and_then(|i| i.prefix_distinct.get(seq)) {
        return *distinct as i64;
    }
    let whole = index.is_unique() && seq + 1 == index.parts.len();
    let guess = if whole { rows } else { rows / 10 };
    i64::try_from(guess).unwrap_or(i64::MAX)
}
