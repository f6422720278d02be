//! KEY_COLUMN_USAGE, TABLE_CONSTRAINTS, REFERENTIAL_CONSTRAINTS, CHECK_CONSTRAINTS, and foreign
//! keys as InnoDB's tables list them. A table that is not visible to the session has no rows in any
//! of them; KEY_COLUMN_USAGE must not name a column on which the session has no privilege.

use std::borrow::Cow;

use selkie_engine::IndexKind;
use selkie_types::{Privileges, Value};

use super::{InformationRow, InformationSource, text};
use crate::{CheckInfo, ColumnInfo, ForeignKey, ForeignKeyAction, TableInfo};

pub(super) fn key_column_usage(source: &InformationSource<'_>) -> Vec<InformationRow> {
    let mut rows = Vec::new();
    for table in source.tables() {
        let shown =
            |column: &str| !((source.on_column)(table, column) & Privileges::TABLE).is_empty();
        for index in table.def.indexes.iter().filter(|index| index.is_unique()) {
            for (at, part) in index.parts.iter().enumerate() {
                let column = &table.columns[part.column].name;
                if shown(column) {
                    rows.push(usage(table, &index.name, column, at, None));
                }
            }
        }
        for key in &table.foreign_keys {
            for (at, column) in key.columns.iter().enumerate().filter(|(_, column)| shown(column)) {
                let referenced = key.referenced_columns.get(at).map_or("", String::as_str);
                let target = [key.referenced_schema.as_str(), &key.referenced_table, referenced];
                rows.push(usage(table, &key.name, column, at, Some(target)));
            }
        }
    }
    rows
}

fn usage(
    table: &TableInfo,
    name: &str,
    column: &str,
    at: usize,
    referenced: Option<[&str; 3]>,
) -> InformationRow {
    let position = Value::Int(at as i64 + 1);
    let mut row = vec![
        text("def"),
        text(table.schema()),
        text(name),
        text("def"),
        text(table.schema()),
        text(table.name()),
        text(column),
        position.clone(),
        referenced.map_or(Value::Null, |_| position),
    ];
    match referenced {
        Some(target) => row.extend(target.map(text)),
        None => row.resize(12, Value::Null),
    }
    row
}

pub(super) fn table_constraints(source: &InformationSource<'_>) -> Vec<InformationRow> {
    let mut rows = Vec::new();
    for table in source.tables() {
        let mut add = |name: &str, kind: &str| {
            rows.push(vec![
                text("def"),
                text(table.schema()),
                text(name),
                text(table.schema()),
                text(table.name()),
                text(kind),
            ]);
        };
        for index in &table.def.indexes {
            match index.kind {
                IndexKind::Primary | IndexKind::HeapPrimary => add(&index.name, "PRIMARY KEY"),
                IndexKind::Unique => add(&index.name, "UNIQUE"),
                IndexKind::Plain | IndexKind::Fulltext => {}
            }
        }
        checks(table).for_each(|(check, _)| add(&check.name, "CHECK"));
        table.foreign_keys.iter().for_each(|key| add(&key.name, "FOREIGN KEY"));
    }
    rows
}

/// All CHECK constraints of a table with their levels.
fn checks(table: &TableInfo) -> impl Iterator<Item = (Cow<'_, CheckInfo>, &'static str)> {
    let of_column = |column: &ColumnInfo| {
        let (name, expression) = (column.check_name().to_owned(), column.check.clone()?);
        Some((Cow::Owned(CheckInfo { name, expression }), "Column"))
    };
    let of_columns = table.columns.iter().filter_map(of_column);
    of_columns.chain(table.all_checks().map(|check| (check, "Table")))
}

pub(super) fn check_constraints(source: &InformationSource<'_>) -> Vec<InformationRow> {
    let mut rows = Vec::new();
    for table in source.tables() {
        for (check, level) in checks(table) {
            rows.push(vec![
                text("def"),
                text(table.schema()),
                text(table.name()),
                text(&*check.name),
                text(level),
                text(&*check.expression),
            ]);
        }
    }
    rows
}

fn rule(action: ForeignKeyAction) -> &'static str {
    crate::action_text(action).unwrap_or("RESTRICT")
}

pub(super) fn referential_constraints(source: &InformationSource<'_>) -> Vec<InformationRow> {
    let mut rows = Vec::new();
    for table in source.tables() {
        for key in &table.foreign_keys {
            let target = source.names.table(&key.referenced_schema, &key.referenced_table);
            let unique = target.and_then(|t| referenced_index(t, &key.referenced_columns));
            rows.push(vec![
                text("def"),
                text(table.schema()),
                text(&key.name),
                text("def"),
                text(&key.referenced_schema),
                unique.map_or(Value::Null, text),
                text("NONE"),
                text(rule(key.on_update)),
                text(rule(key.on_delete)),
                text(table.name()),
                text(&key.referenced_table),
            ]);
        }
    }
    rows
}

/// Name of the referenced table's index that begins with the referenced columns.
fn referenced_index<'t>(table: &'t TableInfo, columns: &[String]) -> Option<&'t str> {
    let begins = |index: &&selkie_engine::IndexDef| {
        index.parts.len() >= columns.len()
            && index.parts.iter().zip(columns).all(|(part, name)| {
                selkie_types::charset::identifier_eq(&table.columns[part.column].name, name)
            })
    };
    table.def.indexes.iter().find(begins).map(|index| &*index.name)
}

/// INNODB_SYS_FOREIGN: one row per foreign key, with its actions as bits.
pub(super) fn sys_foreign(source: &InformationSource<'_>) -> Vec<InformationRow> {
    let mut rows = Vec::new();
    for table in source.tables() {
        for key in &table.foreign_keys {
            rows.push(vec![
                text(sys_id(table, key)),
                text(format!("{}/{}", table.schema(), table.name())),
                text(format!("{}/{}", key.referenced_schema, key.referenced_table)),
                Value::UInt(key.columns.len() as u64),
                Value::UInt(action_bits(key)),
            ]);
        }
    }
    rows
}

fn sys_id(table: &TableInfo, key: &ForeignKey) -> String {
    format!("{}/{}", table.schema(), key.name)
}

fn action_bits(key: &ForeignKey) -> u64 {
    let bits = |action, [cascade, null, none]: [u64; 3]| match action {
        ForeignKeyAction::Cascade => cascade,
        ForeignKeyAction::SetNull => null,
        ForeignKeyAction::NoAction => none,
        ForeignKeyAction::Restrict | ForeignKeyAction::SetDefault => 0,
    };
    bits(key.on_delete, [1, 2, 16]) | bits(key.on_update, [4, 8, 32])
}

/// INNODB_SYS_FOREIGN_COLS: one row per column of a foreign key.
pub(super) fn sys_foreign_cols(source: &InformationSource<'_>) -> Vec<InformationRow> {
    let mut rows = Vec::new();
    for table in source.tables() {
        for key in &table.foreign_keys {
            for (at, (own, other)) in key.columns.iter().zip(&key.referenced_columns).enumerate() {
                let position = Value::UInt(at as u64);
                rows.push(vec![text(sys_id(table, key)), text(own), text(other), position]);
            }
        }
    }
    rows
}
