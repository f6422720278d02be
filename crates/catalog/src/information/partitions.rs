//! PARTITIONS: a row for each leaf of a partitioned table, and one for each other base table.
//! Texts of values come from the definition; no row is read here.

use selkie_engine::TableStatistics;
use selkie_types::Value;

use super::{InformationRow, InformationSource, text, time};
use crate::show_partitions::{description, method_name};
use crate::{Leaf, Partitioning, TableInfo, TableKind};

pub(super) fn partitions(source: &InformationSource<'_>) -> Vec<InformationRow> {
    let is_base = |table: &&std::sync::Arc<TableInfo>| table.kind == TableKind::Base;
    let mut out = Vec::new();
    for table in source.tables().filter(is_base) {
        let Some(partitions) = &table.partitions else {
            out.push(row(source, table, &(source.statistics)(table), None));
            continue;
        };
        let statistics = (source.leaf_statistics)(table);
        for (at, leaf) in partitions.leaves().enumerate() {
            let own = statistics.get(at).cloned().unwrap_or_default();
            out.push(row(source, table, &own, Some((partitions, leaf, at))));
        }
    }
    out
}

fn row(
    source: &InformationSource<'_>,
    table: &TableInfo,
    statistics: &TableStatistics,
    leaf: Option<(&Partitioning, Leaf<'_>, usize)>,
) -> InformationRow {
    let (data, index, average) = super::tables::sizes(table, statistics);
    let mut row = vec![text("def"), text(table.schema()), text(table.name())];
    match leaf {
        Some(leaf) => row.extend(place(source, leaf)),
        None => row.resize(12, Value::Null),
    }
    let options = leaf.as_ref().map(|(_, leaf, _)| leaf.options());
    // Compat: the column has room for so many characters.
    let comment = options.iter().flat_map(|options| options.comment.chars().take(80));
    let comment: String = comment.collect();
    let group = options.map_or("", |options| {
        let given = options.before.iter().find(|(name, _)| name == "NODEGROUP");
        given.map_or("default", |(_, value)| value)
    });
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
        text(comment),
        text(group),
        Value::Null,
    ]);
    row
}

/// The names, methods and values of a leaf.
fn place(
    source: &InformationSource<'_>,
    (partitions, leaf, at): (&Partitioning, Leaf<'_>, usize),
) -> [Value; 9] {
    let shown = description(&partitions.method, &leaf.part.limit, source.zone);
    let each = partitions.leaves_each();
    let or_null = |value: Option<Value>| value.unwrap_or(Value::Null);
    let sub = partitions.sub.as_ref();
    [
        text(&leaf.part.name),
        or_null(leaf.sub.map(|sub| text(&sub.name))),
        Value::UInt((at / each + 1) as u64),
        or_null(leaf.sub.map(|_| Value::UInt((at % each + 1) as u64))),
        text(method_name(&partitions.method)),
        or_null(sub.map(|sub| text(method_name(sub)))),
        text(partitions.method.shown_expression()),
        or_null(sub.map(|sub| text(sub.shown_expression()))),
        or_null(shown.map(|shown| text(&shown))),
    ]
}
