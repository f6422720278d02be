//! INNODB_SYS_*: table definitions as the engine knows them. Every table is its own tablespace
//! here, with the same number.
//!
//! Must not show views, tables of other engines, or tables of single sessions.

use std::sync::Arc;

use selkie_catalog::{ColumnInfo, TableInfo, TableKind};
use selkie_types::{SqlType, TypeKind, Value};

use super::look::{index_number, is_clustered};
use super::{Asked, ENGINE};
use crate::tables::{Row, text};

const PAGE_SIZE: u64 = 16 * 1024;

fn each(asked: &Asked<'_>, show: &mut dyn FnMut(&Arc<TableInfo>)) {
    let snapshot = asked.instance.catalog.snapshot();
    let tables = snapshot.schemas().flat_map(|schema| schema.tables.values());
    let own = |t: &&Arc<TableInfo>| t.kind == TableKind::Base && t.engine.name == ENGINE;
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
            // Compat: the number includes InnoDB's three hidden columns.
            (
                "N_COLS",
                Value::UInt(table.columns.iter().filter(|c| !is_virtual(c)).count() as u64 + 3),
            ),
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
        let (virtuals, others): (Vec<_>, Vec<_>) =
            table.columns.iter().enumerate().partition(|(_, column)| is_virtual(column));
        let own = others.into_iter().enumerate().map(|(at, (_, column))| (at as u64, column));
        let number = |(at, (position, column)): (usize, (usize, _))| {
            ((at as u64 + 1) << 16 | position as u64, column)
        };
        for (at, column) in own.chain(virtuals.into_iter().enumerate().map(number)) {
            rows.push(vec![
                ("TABLE_ID", Value::UInt(table.def.id.0)),
                ("NAME", text(&*column.name)),
                ("POS", Value::UInt(at)),
                ("MTYPE", Value::Int(main_type(&column.ty))),
                ("PRTYPE", Value::Int(precise_type(column))),
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
            if is_virtual(column) {
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

fn is_virtual(column: &ColumnInfo) -> bool {
    column.generated.as_ref().is_some_and(|g| !g.stored)
}

/// InnoDB's main type number of a column.
fn main_type(ty: &SqlType) -> i64 {
    use TypeKind::*;
    let binary = ty.collation.is_binary();
    // Compat: the types of texts that InnoDB had before it knew other collations than this one.
    let latin1 = ty.collation.name() == "latin1_swedish_ci";
    match ty.kind {
        Float => 9,
        Double => 10,
        Decimal | Time | DateTime | Timestamp | Bit => 3,
        VarChar if latin1 => 1,
        VarChar if binary => 4,
        VarChar => 12,
        Char if latin1 => 2,
        Char if binary => 3,
        Char => 13,
        _ if ty.is_text_or_blob() => 5,
        _ => 6,
    }
}

/// The type number of a column in a result set.
fn type_code(kind: TypeKind) -> i64 {
    use TypeKind::*;
    match kind {
        TinyInt => 1,
        SmallInt => 2,
        Float => 4,
        Double => 5,
        Timestamp => 7,
        BigInt => 8,
        MediumInt => 9,
        Date => 10,
        Time => 11,
        DateTime => 12,
        Year => 13,
        VarChar => 15,
        Bit => 16,
        Decimal => 246,
        TinyText | Text | MediumText | LongText => 252,
        Char | Enum | Set => 254,
        _ => 3,
    }
}

/// InnoDB's precise type: the type number and bits for NOT NULL, unsigned, binary, virtual, and the
/// collation's number.
fn precise_type(column: &ColumnInfo) -> i64 {
    use TypeKind::*;
    const NUMBERS: i64 = 8;
    let ty = &column.ty;
    let member = matches!(ty.kind, Enum | Set);
    let text = member || (ty.is_string() && !ty.collation.is_binary());
    let unsigned = ty.unsigned || member || matches!(ty.kind, Timestamp | Bit | Year);
    let collation = match ty.kind {
        Decimal | Time | DateTime | Timestamp => NUMBERS,
        Bit => i64::from(selkie_types::CollationId::BINARY.0),
        _ if ty.is_string() => i64::from(ty.collation.0),
        _ => 0,
    };
    type_code(ty.kind)
        | i64::from(!column.nullable) << 8
        | i64::from(unsigned) << 9
        | i64::from(!text) << 10
        | i64::from(is_virtual(column)) << 13
        | collation << 16
}

/// Bytes of a stored value in InnoDB's format.
fn stored_length(ty: &SqlType) -> i64 {
    use TypeKind::*;
    match ty.kind {
        TinyText => 9,
        Text => 10,
        MediumText => 11,
        LongText => 12,
        _ => ty.record_bytes() as i64,
    }
}
