//! Parts of geometries, and numbers that describe them.
//! Compat: which types have an answer is MariaDB's choice; others give NULL, or -1 in a test.

use selkie_geometry::{Point, Shape, Stored, stored_kind};
use selkie_types::{Column, GeometryKind, SqlResult, SqlType};

use super::{
    double, geometry, int, number, of_each, push, read, shape_of_shape, to_each, value_of_shape,
};
use crate::expr::Expr;
use crate::function::{Binding, Function, Kernel};
use crate::kernel::{BytesOut, Frame, NativeOut, from_bytes};

/// Functions called by name.
pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("SRID", 1, 1, |b| {
        value_of_shape(b, int(10), |f| {
            from_bytes(f, |bytes| Ok(stored_kind(bytes).map(|(srid, _)| i64::from(srid))))
        })
    }),
    Function::new("ST_AREA", 1, 1, |b| {
        value_of_shape(b, double(), |f| of_each(f, |g| g.shape.area().map(finite)))
    }),
    Function::new("ST_LENGTH", 1, 1, |b| {
        value_of_shape(b, double(), |f| of_each(f, |g| g.shape.length().map(finite)))
    }),
    Function::new("ST_X", 1, 1, |b| {
        value_of_shape(b, double(), |f| of_each(f, |g| point(g).map(|p| finite(p.x))))
    }),
    Function::new("ST_Y", 1, 1, |b| {
        value_of_shape(b, double(), |f| of_each(f, |g| point(g).map(|p| finite(p.y))))
    }),
    Function::new("ST_DIMENSION", 1, 1, |b| {
        value_of_shape(b, int(10), |f| of_each(f, |g| Some(i64::from(g.shape.dimension()))))
    }),
    Function::new("ST_NUMGEOMETRIES", 1, 1, |b| {
        value_of_shape(b, int(10), |f| of_each(f, |g| g.shape.part_count().map(|n| n as i64)))
    }),
    Function::new("ST_NUMINTERIORRINGS", 1, 1, |b| {
        value_of_shape(b, int(10), |f| of_each(f, holes))
    }),
    Function::new("ST_NUMPOINTS", 1, 1, |b| {
        value_of_shape(b, int(10), |f| of_each(f, |g| line(g).map(|points| points.len() as i64)))
    }),
    Function::new("ST_ISEMPTY", 1, 1, |b| {
        // Compat: no geometry is empty.
        value_of_shape(b, int(21), |f| from_bytes(f, |bytes| Ok(stored_kind(bytes).map(|_| 0i64))))
    }),
    Function::new("ST_ISCLOSED", 1, 1, |b| test(b, |f| tested(f, |shape| shape.is_closed()))),
    Function::new("ST_ISSIMPLE", 1, 1, |b| test(b, |f| tested(f, |shape| Some(shape.is_simple())))),
    Function::new("ST_ISRING", 1, 1, |b| test(b, |f| tested(f, Shape::is_ring))),
    Function::new("ST_ENVELOPE", 1, 1, |b| {
        shape_of_shape(b, GeometryKind::Polygon, |f| to_each(f, |g| Some((g.srid, envelope(g)))))
    }),
    Function::new("ST_BOUNDARY", 1, 1, |b| {
        shape_of_shape(b, GeometryKind::Geometry, |f| to_each(f, |g| Some((0, g.shape.boundary()))))
    }),
    Function::new("ST_CENTROID", 1, 1, |b| {
        shape_of_shape(b, GeometryKind::Point, |f| {
            to_each(f, |g| g.shape.centroid().map(|p| (g.srid, Shape::Point(p))))
        })
    }),
    Function::new("ST_CONVEXHULL", 1, 1, |b| {
        shape_of_shape(b, GeometryKind::Geometry, |f| {
            to_each(f, |g| g.shape.convex_hull().map(|shape| (0, shape)))
        })
    }),
    Function::new("ST_STARTPOINT", 1, 1, |b| {
        shape_of_shape(b, GeometryKind::Geometry, |f| to_each(f, |g| end(g, <[Point]>::first)))
    }),
    Function::new("ST_ENDPOINT", 1, 1, |b| {
        shape_of_shape(b, GeometryKind::Geometry, |f| to_each(f, |g| end(g, <[Point]>::last)))
    }),
    Function::new("ST_EXTERIORRING", 1, 1, |b| {
        shape_of_shape(b, GeometryKind::Geometry, |f| to_each(f, |g| ring(g, 0)))
    }),
    Function::new("ST_GEOMETRYN", 2, 2, |b| {
        nth(b, |f| numbered(f, |g, at| Some((g.srid, g.shape.part(at)?))))
    }),
    Function::new("ST_POINTN", 2, 2, |b| {
        nth(b, |f| numbered(f, |g, at| Some((g.srid, Shape::Point(*line(g)?.get(at)?)))))
    }),
    Function::new("ST_INTERIORRINGN", 2, 2, |b| {
        nth(b, |f| numbered(f, |g, at| ring(g, at.checked_add(1)?)))
    }),
];

/// Compat: a number that is infinite or no number is shown as 0.
fn finite(number: f64) -> f64 {
    if number.is_finite() { number } else { 0.0 }
}

fn point(g: &Stored) -> Option<Point> {
    if let Shape::Point(point) = &g.shape { Some(*point) } else { None }
}

fn line(g: &Stored) -> Option<&Vec<Point>> {
    if let Shape::Line(points) = &g.shape { Some(points) } else { None }
}

fn holes(g: &Stored) -> Option<i64> {
    if let Shape::Polygon(rings) = &g.shape { Some(rings.len() as i64 - 1) } else { None }
}

fn end(g: &Stored, of: fn(&[Point]) -> Option<&Point>) -> Option<(u32, Shape)> {
    Some((g.srid, Shape::Point(*of(line(g)?)?)))
}

fn ring(g: &Stored, at: usize) -> Option<(u32, Shape)> {
    let Shape::Polygon(rings) = &g.shape else { return None };
    Some((g.srid, Shape::Line(rings.get(at)?.clone())))
}

/// Compat: what has no point is an empty collection.
fn envelope(g: &Stored) -> Shape {
    g.shape.mbr().map_or(Shape::Collection(Vec::new()), |mbr| mbr.shape())
}

/// A function of a geometry and a number from 1 on.
fn nth(mut b: Binding<'_>, kernel: Kernel) -> SqlResult<Expr> {
    geometry(&mut b, 0)?;
    number(&mut b, 1)?;
    b.maybe(SqlType::of_geometry(GeometryKind::Geometry), kernel)
}

fn numbered(frame: &Frame<'_>, f: fn(&Stored, usize) -> Option<(u32, Shape)>) -> SqlResult<Column> {
    let (shapes, numbers) = (frame.bytes(0), frame.view::<i64>(1));
    let mut out = BytesOut::new(frame.rows);
    for row in 0..frame.rows {
        let at = numbers.get(row).and_then(|n| usize::try_from(n).ok()?.checked_sub(1));
        let made = at.and_then(|at| shapes.get(row).and_then(read).and_then(|g| f(&g, at)));
        push(frame, made, &mut out);
    }
    Ok(out.finish())
}

/// A test that is never NULL.
fn test(mut b: Binding<'_>, kernel: Kernel) -> SqlResult<Expr> {
    geometry(&mut b, 0)?;
    b.never_null(int(2), kernel)
}

/// Compat: a test without an answer, and of NULL, is -1.
fn tested(frame: &Frame<'_>, f: fn(&Shape) -> Option<bool>) -> SqlResult<Column> {
    let view = frame.bytes(0);
    let mut out = NativeOut::new(frame.rows);
    for row in 0..frame.rows {
        let answer = view.get(row).and_then(read).and_then(|g| f(&g.shape));
        out.push(Some(answer.map_or(-1i64, i64::from)));
    }
    Ok(out.finish())
}
