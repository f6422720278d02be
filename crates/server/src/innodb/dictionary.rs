//! INNODB_SYS_*: definitions as the engine knows them. A table is its own tablespace here, and its
//! number the tablespace's.
//!
//! Must not show views, tables of other engines, or tables of single sessions.

use std::sync::Arc;

use selkie_catalog::{TableInfo, TableKind};
use selkie_types::{Physical, SqlType, TypeKind, Value};

use super::look::{index_number, is_clustered};
use super::{Asked, ENGINE};
use crate::tables::{Row, text};

const PAGE_SIZE: u64 = 16 * 1024;

fn each(asked: &Asked<'_>, show: &mut dyn FnMut(&Arc<TableInfo>)) {
    let snapshot = asked.instance.catalog.snapshot();
    let tables = snapshot.schemas().flat_map(|schema| schema.tables.values());
    let own = |t: &&Arc<TableInfo>| t.kind == TableKind::Base && &*t.engine == ENGINE;
    tables.filter(own).for_each(show);
}

fn path(table: &TableInfo) -> Value {
    text(format!("{}/{}", table.schema(), table.name()))
}

pub(super) fn tables(asked: &Asked<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    each(asked, &mut |table| {
        let id = table.def.id.0;
        rows.push(vec![
            ("TABLE_ID", Value::UInt(id)),
            ("NAME", path(table)),
            ("FLAG", Value::Int(33)),
            // Compat: counts InnoDB's three hidden columns.
            ("N_COLS", Value::UInt(table.columns.len() as u64 + 3)),
            ("SPACE", Value::UInt(id)),
            ("ROW_FORMAT", text("Dynamic")),
            ("ZIP_PAGE_SIZE", Value::UInt(0)),
            ("SPACE_TYPE", text("Single")),
        ]);
    });
    rows
}

pub(super) fn table_stats(asked: &Asked<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    each(asked, &mut |table| {
        let open = asked.instance.is_open(table.def.id);
        let statistics = asked.instance.open_table(table).map(|handle| handle.table.statistics());
        let statistics = statistics.unwrap_or_default();
        rows.push(vec![
            ("TABLE_ID", Value::UInt(table.def.id.0)),
            ("NAME", path(table)),
            ("STATS_INITIALIZED", Value::Int(1)),
            ("NUM_ROWS", Value::UInt(statistics.rows)),
            ("CLUST_INDEX_SIZE", Value::UInt(statistics.data_bytes / PAGE_SIZE)),
            ("OTHER_INDEX_SIZE", Value::UInt(statistics.index_bytes / PAGE_SIZE)),
            ("MODIFIED_COUNTER", Value::UInt(0)),
            ("AUTOINC", Value::UInt(statistics.auto_increment.unwrap_or(0))),
            ("REF_COUNT", Value::Int(open.into())),
        ]);
    });
    rows
}

pub(super) fn tablespaces(asked: &Asked<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    each(asked, &mut |table| {
        let statistics = asked.instance.open_table(table).map(|handle| handle.table.statistics());
        let size = statistics.map_or(0, |s| s.data_bytes + s.index_bytes);
        rows.push(vec![
            ("SPACE", Value::UInt(table.def.id.0)),
            ("NAME", path(table)),
            ("FLAG", Value::UInt(21)),
            ("ROW_FORMAT", Value::Null),
            ("PAGE_SIZE", Value::UInt(PAGE_SIZE)),
            ("FILENAME", text(format!("./{}/{}.ibd", table.schema(), table.name()))),
            ("FS_BLOCK_SIZE", Value::UInt(4096)),
            ("FILE_SIZE", Value::UInt(size)),
            ("ALLOCATED_SIZE", Value::UInt(size)),
        ]);
    });
    rows
}

pub(super) fn indexes(asked: &Asked<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    each(asked, &mut |table| {
        let id = table.def.id;
        let mut push = |number: u64, name: &str, kind: i64, fields: usize| {
            rows.push(vec![
                ("INDEX_ID", Value::UInt(number)),
                ("NAME", text(name)),
                ("TABLE_ID", Value::UInt(id.0)),
                ("TYPE", Value::Int(kind)),
                ("N_FIELDS", Value::Int(fields as i64)),
                ("PAGE_NO", Value::Null),
                ("SPACE", Value::UInt(id.0)),
                ("MERGE_THRESHOLD", Value::Int(50)),
            ]);
        };
        if table.def.primary().is_none() {
            push(index_number(id, 0xff), "GEN_CLUST_INDEX", 1, 0);
        }
        for index in &table.def.indexes {
            let kind = i64::from(is_clustered(index.kind)) | i64::from(index.is_unique()) << 1;
            push(index_number(id, index.id.0), &index.name, kind, index.parts.len());
        }
    });
    rows
}

pub(super) fn fields(asked: &Asked<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    each(asked, &mut |table| {
        for index in &table.def.indexes {
            for (at, part) in index.parts.iter().enumerate() {
                rows.push(vec![
                    ("INDEX_ID", Value::UInt(index_number(table.def.id, index.id.0))),
                    ("NAME", text(&*table.def.columns[part.column].name)),
                    ("POS", Value::UInt(at as u64)),
                ]);
            }
        }
    });
    rows
}

pub(super) fn columns(asked: &Asked<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    each(asked, &mut |table| {
        for (at, column) in table.columns.iter().enumerate() {
            rows.push(vec![
                ("TABLE_ID", Value::UInt(table.def.id.0)),
                ("NAME", text(&*column.name)),
                ("POS", Value::UInt(at as u64)),
                ("MTYPE", Value::Int(main_type(&column.ty))),
                ("PRTYPE", Value::Int(precise_type(&column.ty, column.nullable))),
                ("LEN", Value::Int(stored_length(&column.ty))),
            ]);
        }
    });
    rows
}

pub(super) fn virtual_columns(asked: &Asked<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    each(asked, &mut |table| {
        for (at, column) in table.columns.iter().enumerate() {
            if column.generated.as_ref().is_some_and(|g| !g.stored) {
                rows.push(vec![
                    ("TABLE_ID", Value::UInt(table.def.id.0)),
                    ("POS", Value::UInt(at as u64)),
                    ("BASE_POS", Value::UInt(0)),
                ]);
            }
        }
    });
    rows
}

/// InnoDB's number for a type of column.
fn main_type(ty: &SqlType) -> i64 {
    match ty.kind {
        TypeKind::Float => 9,
        TypeKind::Double => 10,
        TypeKind::Decimal => 3,
        _ => match ty.physical() {
            Physical::Int | Physical::UInt => 6,
            Physical::Bytes if ty.collation == selkie_types::CollationId::BINARY => 4,
            Physical::Bytes => 12,
            _ => 3,
        },
    }
}

/// InnoDB's bits: NOT NULL, unsigned, the collation's number.
fn precise_type(ty: &SqlType, nullable: bool) -> i64 {
    let collation = match ty.physical() {
        Physical::Bytes => i64::from(ty.collation.0) << 16,
        _ => 0,
    };
    collation | i64::from(!nullable) << 8 | i64::from(ty.unsigned) << 9
}

fn stored_length(ty: &SqlType) -> i64 {
    match ty.kind {
        TypeKind::TinyInt => 1,
        TypeKind::SmallInt => 2,
        TypeKind::MediumInt => 3,
        TypeKind::Int | TypeKind::Float | TypeKind::Timestamp => 4,
        TypeKind::BigInt | TypeKind::Double => 8,
        TypeKind::DateTime => 5,
        TypeKind::Date => 3,
        _ => i64::from(ty.length),
    }
}
