//! PARTITIONS. Tables have no partitions here, so each base table has one row, as MariaDB lists a
//! table without partitions.

use selkie_types::Value;

use super::{InformationRow, InformationSource, text, time};
use crate::{TableInfo, TableKind};

pub(super) fn partitions(source: &InformationSource<'_>) -> Vec<InformationRow> {
    let is_base = |table: &&std::sync::Arc<TableInfo>| table.kind == TableKind::Base;
    source.tables().filter(is_base).map(|table| row(source, table)).collect()
}

fn row(source: &InformationSource<'_>, table: &TableInfo) -> InformationRow {
    let statistics = (source.statistics)(table);
    let (data, index, average) = super::tables::sizes(table, &statistics);
    let mut row = vec![text("def"), text(table.schema()), text(table.name())];
    row.resize(12, Value::Null);
    row.extend([
        Value::UInt(statistics.rows),
        Value::UInt(average),
        Value::UInt(data),
        Value::Null,
        Value::UInt(index),
        Value::UInt(0),
        time(source, table.created),
        (source.changed)(table).map_or(Value::Null, |at| time(source, at)),
        Value::Null,
        Value::Null,
        text(""),
        text(""),
        Value::Null,
    ]);
    row
}
