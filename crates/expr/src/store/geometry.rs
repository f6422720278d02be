//! Storing into columns of spatial types. What is no geometry, or another one than the column
//! takes, is an error in every mode.

use std::sync::Arc;

use selkie_geometry::{stored, write_text};
use selkie_types::error::catalogue::{
    ER_CANT_CREATE_GEOMETRY_OBJECT, ER_TRUNCATED_WRONG_VALUE_FOR_FIELD,
};
use selkie_types::{Column, GeometryKind, Physical, SqlError, SqlResult};

use super::Source;
use crate::kernel::BytesOut;

/// The geometries of bytes, which are stored as they are.
pub(super) fn convert(source: &Source<'_>, kind: GeometryKind) -> SqlResult<Arc<Column>> {
    let mut out = BytesOut::new(source.rows());
    for row in 0..source.rows() {
        if source.column.is_null(row) {
            out.push(None);
            continue;
        }
        if source.column.physical() != Physical::Bytes {
            return Err(SqlError::new(&ER_CANT_CREATE_GEOMETRY_OBJECT, &[]));
        }
        let bytes = source.column.bytes(row);
        check(source, row, kind, bytes)?;
        out.push(Some(bytes));
    }
    Ok(Arc::new(out.finish()))
}

/// Error 1416 for bytes that are no geometry, 1366 for a geometry of another type.
fn check(source: &Source<'_>, row: usize, kind: GeometryKind, bytes: &[u8]) -> SqlResult<()> {
    let Some(geometry) = stored(bytes) else {
        return Err(SqlError::new(&ER_CANT_CREATE_GEOMETRY_OBJECT, &[]));
    };
    if kind.takes(geometry.shape.kind()) {
        return Ok(());
    }
    let mut text = Vec::new();
    write_text(&geometry.shape, &mut text);
    let text = String::from_utf8_lossy(&text);
    let target = source.report.target;
    let place = source.report.first_row + row as u64;
    let args: [&dyn std::fmt::Display; 6] =
        [&kind.upper_name(), &text, &target.schema, &target.table, &target.column, &place];
    Err(SqlError::new(&ER_TRUNCATED_WRONG_VALUE_FOR_FIELD, &args))
}
