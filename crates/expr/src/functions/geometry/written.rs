//! Geometries as texts and bytes.
//! Must give NULL for bytes that are no geometry.

use selkie_geometry::{stored_kind, write_text, write_wkb};
use selkie_types::{Column, SqlResult, SqlType, TypeKind};

use super::{geometry, read};
use crate::expr::Expr;
use crate::function::{Binding, Function, Kernel};
use crate::kernel::{Frame, bytes_to_bytes};

/// Functions called by name.
pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("ST_ASTEXT", 1, 1, |b| {
        text(b, SqlType::new(TypeKind::LongText, u32::MAX, 0), as_text)
    }),
    Function::new("ST_GEOMETRYTYPE", 1, 1, |b| {
        text(b, SqlType::new(TypeKind::VarChar, 20, 0), kind)
    }),
    Function::new("ST_ASWKB", 1, 1, |mut b| {
        geometry(&mut b, 0)?;
        b.maybe(SqlType::new(TypeKind::LongText, u32::MAX, 0), as_wkb)
    }),
];

/// A text in the connection's collation.
fn text(mut b: Binding<'_>, ty: SqlType, kernel: Kernel) -> SqlResult<Expr> {
    geometry(&mut b, 0)?;
    b.connection_collation();
    let ty = SqlType { collation: b.collation, ..ty };
    b.maybe(ty, kernel)
}

fn as_text(frame: &Frame<'_>) -> SqlResult<Column> {
    let charset = frame.ty.collation.charset();
    let is_plain = charset.is_ascii_superset();
    bytes_to_bytes(frame, |bytes, out| {
        let Some(geometry) = read(bytes) else { return false };
        if is_plain {
            write_text(&geometry.shape, out);
            return true;
        }
        let mut plain = Vec::new();
        write_text(&geometry.shape, &mut plain);
        out.extend_from_slice(&selkie_types::Charset::Utf8mb4.convert(&plain, charset).0);
        true
    })
}

fn kind(frame: &Frame<'_>) -> SqlResult<Column> {
    let charset = frame.ty.collation.charset();
    bytes_to_bytes(frame, |bytes, out| {
        let Some((_, kind)) = stored_kind(bytes) else { return false };
        let name = kind.upper_name().as_bytes();
        out.extend_from_slice(&selkie_types::Charset::Utf8mb4.convert(name, charset).0);
        true
    })
}

fn as_wkb(frame: &Frame<'_>) -> SqlResult<Column> {
    bytes_to_bytes(frame, |bytes, out| {
        let Some(geometry) = read(bytes) else { return false };
        write_wkb(&geometry.shape, out);
        true
    })
}
