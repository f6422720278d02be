//! SCHEMATA, TABLES and VIEWS.

use selkie_engine::TableStatistics;
use selkie_types::Value;

use super::{InformationRow, InformationSource, optional, text, time, unsigned};
use crate::{TableInfo, TableKind};

pub(super) fn schemata(source: &InformationSource<'_>) -> Vec<InformationRow> {
    let row = |schema: &std::sync::Arc<crate::Schema>| {
        let collation = schema.collation.info();
        vec![
            text("def"),
            text(&schema.name),
            text(collation.charset.name()),
            text(collation.name),
            Value::Null,
            text(&schema.comment),
        ]
    };
    source.schemas().filter(|s| (source.visible)(&s.name, "")).map(row).collect()
}

pub(super) fn tables(source: &InformationSource<'_>) -> Vec<InformationRow> {
    source
        .tables()
        .map(|table| match table.kind {
            TableKind::View(_) => view_row(table),
            TableKind::System => system_row(table),
            _ => base_row(table, &(source.statistics)(table)),
        })
        .collect()
}

fn base_row(table: &TableInfo, statistics: &TableStatistics) -> InformationRow {
    let average = statistics.data_bytes.checked_div(statistics.rows).unwrap_or(0);
    let shown = table.options.shown.iter().map(|(n, v)| format!("{}={v}", n.to_lowercase()));
    vec![
        text("def"),
        text(table.schema()),
        text(table.name()),
        text("BASE TABLE"),
        text(&table.engine),
        Value::UInt(if table.kind == TableKind::System { 11 } else { 10 }),
        text(if &*table.engine == "MEMORY" { "Fixed" } else { "Dynamic" }),
        Value::UInt(statistics.rows),
        Value::UInt(average),
        Value::UInt(statistics.data_bytes),
        Value::UInt(0),
        Value::UInt(statistics.index_bytes),
        Value::UInt(0),
        unsigned(statistics.auto_increment),
        time(table.created),
        Value::Null,
        Value::Null,
        text(table.collation.name()),
        Value::Null,
        text(shown.collect::<Vec<_>>().join(" ")),
        text(&table.options.comment),
        Value::UInt(0),
        text(if table.kind == TableKind::Temporary { "Y" } else { "N" }),
    ]
}

fn view_row(table: &TableInfo) -> InformationRow {
    let mut row = vec![text("def"), text(table.schema()), text(table.name()), text("VIEW")];
    row.resize(20, Value::Null);
    row.extend([text("VIEW"), Value::Null, Value::Null]);
    row
}

fn system_row(table: &TableInfo) -> InformationRow {
    let mut row = base_row(table, &TableStatistics::default());
    row[3] = text("SYSTEM VIEW");
    row[6] = text("Fixed");
    row[7] = Value::Null;
    row[22] = text("Y");
    row
}

pub(super) fn views(source: &InformationSource<'_>) -> Vec<InformationRow> {
    let row = |table: &std::sync::Arc<TableInfo>| match &table.kind {
        TableKind::View(view) => Some(vec![
            text("def"),
            text(table.schema()),
            text(table.name()),
            text(&view.select),
            text(&view.check_option),
            text("NO"),
            text(&view.definer),
            text(if view.security_invoker { "INVOKER" } else { "DEFINER" }),
            text(&view.client_charset),
            optional(Some(&view.connection_collation)),
            text(&view.algorithm),
        ]),
        _ => None,
    };
    source.tables().filter_map(row).collect()
}
