//! Functions of geometries. The geometries themselves are in the crate `selkie-geometry`; here are
//! the bindings and the errors.
//!
//! Bytes that are no geometry make a result NULL. Nothing here trusts a length that they name.

mod json;
mod make;
mod parts;
mod relate;
mod sphere;
mod written;

use selkie_geometry::{Shape, Stored, stored};
use selkie_meter::tick;
use selkie_types::error::catalogue::ER_ILLEGAL_PARAMETER_DATA_TYPE_FOR_OPERATION;
use selkie_types::{Column, GeometryKind, SqlError, SqlResult, SqlType, TypeKind};

use crate::expr::Expr;
use crate::function::{Binding, Function};
use crate::kernel::{BytesOut, Frame, Native, from_bytes};
use crate::refuse::{parameter_name, refuse_any};

/// Functions called by name.
pub(super) static FAMILIES: &[&[Function]] = &[
    json::FUNCTIONS,
    make::FUNCTIONS,
    parts::FUNCTIONS,
    relate::FUNCTIONS,
    sphere::FUNCTIONS,
    written::FUNCTIONS,
];

/// Error 4079 for an argument of a type that the function does not take.
fn refuse_type(b: &Binding<'_>, at: usize) -> SqlError {
    let name = b.function.name().to_ascii_lowercase();
    let def = &ER_ILLEGAL_PARAMETER_DATA_TYPE_FOR_OPERATION;
    SqlError::new(def, &[&parameter_name(&b.args[at].ty), &name])
}

/// Makes sure that an argument has bytes: a geometry, or a string of bytes that may be one.
fn geometry(b: &mut Binding<'_>, at: usize) -> SqlResult<()> {
    let ty = &b.args[at].ty;
    match ty.kind == TypeKind::Null || ty.is_binary_string() {
        true => {
            b.text(at);
            Ok(())
        }
        false => Err(refuse_type(b, at)),
    }
}

/// Converts an argument to an integer; error 4079 for a geometry.
fn number(b: &mut Binding<'_>, at: usize) -> SqlResult<()> {
    refuse_any(&b.function.name().to_ascii_lowercase(), [&b.args[at]])?;
    b.int(at);
    Ok(())
}

/// The geometry of bytes. Long ones count as work.
fn read(bytes: &[u8]) -> Option<Stored> {
    tick(bytes.len());
    stored(bytes)
}

/// The type of a computed number of coordinates.
fn double() -> SqlType {
    SqlType { length: 23, ..SqlType::double() }
}

fn int(length: u32) -> SqlType {
    SqlType::new(TypeKind::Int, length, 0)
}

/// The value that `f` computes of each geometry.
fn of_each<R: Native>(frame: &Frame<'_>, f: impl Fn(&Stored) -> Option<R>) -> SqlResult<Column> {
    from_bytes(frame, |bytes| Ok(read(bytes).as_ref().and_then(&f)))
}

/// The geometry that `f` makes of each, with its reference system.
fn to_each(frame: &Frame<'_>, f: impl Fn(&Stored) -> Option<(u32, Shape)>) -> SqlResult<Column> {
    let view = frame.bytes(0);
    let mut out = BytesOut::new(frame.rows);
    for row in 0..frame.rows {
        let made = view.get(row).and_then(read).as_ref().and_then(&f);
        push(frame, made, &mut out);
    }
    Ok(out.finish())
}

/// Appends a geometry, or NULL.
fn push(frame: &Frame<'_>, made: Option<(u32, Shape)>, out: &mut BytesOut) {
    out.write(|buffer| match made {
        Some((srid, shape)) => {
            let before = buffer.len();
            selkie_geometry::write_stored(srid, &shape, buffer);
            !frame.too_long(buffer.len() - before)
        }
        None => false,
    });
}

/// A function of one geometry that makes another.
fn shape_of_shape(
    b: Binding<'_>,
    kind: GeometryKind,
    kernel: crate::function::Kernel,
) -> SqlResult<Expr> {
    value_of_shape(b, SqlType::of_geometry(kind), kernel)
}

/// A function of one geometry that gives a value of type `ty`.
fn value_of_shape(
    mut b: Binding<'_>,
    ty: SqlType,
    kernel: crate::function::Kernel,
) -> SqlResult<Expr> {
    geometry(&mut b, 0)?;
    b.maybe(ty, kernel)
}
