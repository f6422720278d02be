//! Geometries from texts, bytes, numbers and other geometries.
//! Must give NULL for what is no geometry.

use selkie_geometry::{Point, Shape, from_text, from_wkb, stored_kind, write_stored};
use selkie_meter::tick;
use selkie_types::error::catalogue::ER_ILLEGAL_VALUE_FOR_TYPE;
use selkie_types::{Column, GeometryKind, SqlError, SqlResult, SqlType, TypeKind};

use super::{geometry, number, push, read, refuse_type};
use crate::expr::{Expr, ExprKind};
use crate::function::{Binding, Function, Kernel, MANY};
use crate::kernel::{BytesOut, Frame};
use crate::refuse::refuse_any;

/// Functions called by name.
pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("ST_GEOMETRYFROMTEXT", 1, 2, |mut b| {
        let ty = &b.args[0].ty;
        if ty.geometry.is_some() || !(ty.is_string() || ty.kind == TypeKind::Null) {
            return Err(refuse_type(&b, 0));
        }
        b.ascii_text(0);
        with_srid(b, |f| given(f, from_text))
    }),
    Function::new("ST_GEOMETRYFROMWKB", 1, 2, |mut b| {
        let is_geometry = b.args[0].ty.geometry.is_some();
        geometry(&mut b, 0)?;
        with_srid(b, if is_geometry { passed } else { |f| given(f, from_wkb) })
    }),
    Function::new("POINT", 2, 2, |mut b| {
        for at in 0..2 {
            refuse_any("point", [&b.args[at]])?;
            b.double(at);
        }
        b.maybe(SqlType::of_geometry(GeometryKind::Point), point)
    }),
    Function::new("LINESTRING", 1, MANY, |b| {
        joined(b, GeometryKind::LineString, |f| join(f, line_of))
    }),
    Function::new("POLYGON", 1, MANY, |b| {
        joined(b, GeometryKind::Polygon, |f| join(f, polygon_of))
    }),
    Function::new("MULTIPOINT", 1, MANY, |b| {
        joined(b, GeometryKind::MultiPoint, |f| join(f, points_of))
    }),
    Function::new("MULTILINESTRING", 1, MANY, |b| {
        joined(b, GeometryKind::MultiLineString, |f| join(f, lines_of))
    }),
    Function::new("MULTIPOLYGON", 1, MANY, |b| {
        joined(b, GeometryKind::MultiPolygon, |f| join(f, polygons_of))
    }),
    Function::new("GEOMETRYCOLLECTION", 1, MANY, |b| {
        joined(b, GeometryKind::GeometryCollection, |f| {
            join(f, |parts| Some(Shape::Collection(parts)))
        })
    }),
];

/// A call with a reference system as its second argument.
fn with_srid(mut b: Binding<'_>, kernel: Kernel) -> SqlResult<Expr> {
    if b.len() == 2 {
        number(&mut b, 1)?;
    }
    b.maybe(SqlType::of_geometry(GeometryKind::Geometry), kernel)
}

/// The reference system that the call names for a row. Compat: NULL counts as 0.
fn srid(frame: &Frame<'_>, row: usize) -> Option<u32> {
    let view = frame.args.get(1).map(|_| frame.view::<i64>(1))?;
    Some(view.get(row).unwrap_or(0) as u32)
}

fn given(frame: &Frame<'_>, read: fn(&[u8]) -> Option<Shape>) -> SqlResult<Column> {
    let view = frame.bytes(0);
    let mut out = BytesOut::new(frame.rows);
    for row in 0..frame.rows {
        let shape = view.get(row).and_then(|bytes| {
            tick(bytes.len());
            read(bytes)
        });
        let made = shape.map(|shape| (srid(frame, row).unwrap_or(0), shape));
        push(frame, made, &mut out);
    }
    Ok(out.finish())
}

/// Compat: a geometry is passed on, with the reference system that is named.
fn passed(frame: &Frame<'_>) -> SqlResult<Column> {
    let view = frame.bytes(0);
    let mut out = BytesOut::new(frame.rows);
    for row in 0..frame.rows {
        let bytes = view.get(row).filter(|bytes| stored_kind(bytes).is_some());
        out.write(|buffer| {
            let Some((own, rest)) = bytes.and_then(|bytes| bytes.split_at_checked(4)) else {
                return false;
            };
            match srid(frame, row) {
                Some(srid) => buffer.extend_from_slice(&srid.to_le_bytes()),
                None => buffer.extend_from_slice(own),
            }
            buffer.extend_from_slice(rest);
            true
        });
    }
    Ok(out.finish())
}

fn point(frame: &Frame<'_>) -> SqlResult<Column> {
    let (xs, ys) = (frame.view::<f64>(0), frame.view::<f64>(1));
    let mut out = BytesOut::new(frame.rows);
    for row in 0..frame.rows {
        out.write(|buffer| match (xs.get(row), ys.get(row)) {
            (Some(x), Some(y)) => {
                write_stored(0, &Shape::Point(Point { x, y }), buffer);
                true
            }
            _ => false,
        });
    }
    Ok(out.finish())
}

/// A geometry of geometries. Compat: a constant must not stand for one, not even NULL.
fn joined(mut b: Binding<'_>, kind: GeometryKind, kernel: Kernel) -> SqlResult<Expr> {
    for at in 0..b.len() {
        geometry(&mut b, at)?;
    }
    let is_constant = |e: &&Expr| {
        let is_written = matches!(e.kind, ExprKind::Literal(_));
        e.ty.geometry.is_none() && is_written
    };
    if let Some(e) = b.args.iter().find(is_constant) {
        let shown = if e.is_hex() { e.to_string().to_lowercase() } else { e.to_string() };
        return Err(SqlError::new(&ER_ILLEGAL_VALUE_FOR_TYPE, &[&"non geometric", &shown]));
    }
    b.maybe(SqlType::of_geometry(kind), kernel)
}

/// The geometries that `make` makes of those of each row.
fn join(frame: &Frame<'_>, make: fn(Vec<Shape>) -> Option<Shape>) -> SqlResult<Column> {
    let views: Vec<_> = (0..frame.args.len()).map(|at| frame.bytes(at)).collect();
    let mut out = BytesOut::new(frame.rows);
    for row in 0..frame.rows {
        let one = |bytes: Option<&[u8]>| bytes.and_then(read).map(|stored| stored.shape);
        let parts = views.iter().map(|view| one(view.get(row))).collect::<Option<Vec<_>>>();
        push(frame, parts.and_then(make).map(|shape| (0, shape)), &mut out);
    }
    Ok(out.finish())
}

fn points(parts: Vec<Shape>) -> Option<Vec<Point>> {
    let point = |shape| if let Shape::Point(point) = shape { Some(point) } else { None };
    parts.into_iter().map(point).collect()
}

fn lines(parts: Vec<Shape>) -> Option<Vec<Vec<Point>>> {
    let line = |shape| if let Shape::Line(line) = shape { Some(line) } else { None };
    parts.into_iter().map(line).collect()
}

fn line_of(parts: Vec<Shape>) -> Option<Shape> {
    points(parts).map(Shape::Line)
}

fn points_of(parts: Vec<Shape>) -> Option<Shape> {
    points(parts).map(Shape::Points)
}

fn lines_of(parts: Vec<Shape>) -> Option<Shape> {
    lines(parts).map(Shape::Lines)
}

/// Compat: a ring has two points or more, the first of which is the last.
fn polygon_of(parts: Vec<Shape>) -> Option<Shape> {
    let rings = lines(parts)?;
    let is_ring = |ring: &Vec<Point>| ring.len() > 1 && ring.first() == ring.last();
    rings.iter().all(is_ring).then_some(Shape::Polygon(rings))
}

fn polygons_of(parts: Vec<Shape>) -> Option<Shape> {
    let polygon = |shape| if let Shape::Polygon(rings) = shape { Some(rings) } else { None };
    parts.into_iter().map(polygon).collect::<Option<_>>().map(Shape::Polygons)
}
