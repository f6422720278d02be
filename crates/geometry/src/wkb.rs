//! The well-known binary form, and the stored form, which has the number of a reference system
//! before it.
//!
//! Every byte comes from a client. A count is accepted only if as many parts can follow, so that
//! what is reserved is bounded by the bytes that are there.

use selkie_types::GeometryKind;

use crate::{Point, Shape};

/// Most collections within each other.
pub const MOST_DEPTH: u32 = 100;

/// Bytes of the number of a reference system.
const SRID: usize = 4;
/// Bytes before the data of a geometry: byte order and type.
const HEADER: usize = 5;
/// Bytes of a point's data.
const POINT: usize = 16;

/// A stored geometry.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// The reference system.
    pub srid: u32,
    /// The geometry.
    pub shape: Shape,
}

/// Origin of the bytes of a geometry.
#[derive(Clone, Copy, PartialEq)]
enum Source {
    /// A column. Compat: it is little-endian whatever the byte says, and may have lines and
    /// surfaces without points.
    Stored,
    /// A client.
    Given,
}

struct Reader<'b> {
    rest: &'b [u8],
    source: Source,
    big: bool,
}

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.rest.split_first_chunk::<N>()?;
        self.rest = rest;
        Some(*head)
    }

    fn u32(&mut self) -> Option<u32> {
        let bytes = self.take()?;
        Some(if self.big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    fn f64(&mut self) -> Option<f64> {
        let bytes = self.take()?;
        Some(if self.big { f64::from_be_bytes(bytes) } else { f64::from_le_bytes(bytes) })
    }

    fn point(&mut self) -> Option<Point> {
        Some(Point { x: self.f64()?, y: self.f64()? })
    }

    /// The number of parts, each of which has at least `least` bytes.
    fn count(&mut self, least: usize) -> Option<usize> {
        let count = self.u32()? as usize;
        (count <= self.rest.len() / least).then_some(count)
    }

    fn header(&mut self) -> Option<GeometryKind> {
        let [order] = self.take()?;
        self.big = match (self.source, order) {
            (Source::Stored, _) | (_, 1) => false,
            (_, 0) => true,
            _ => return None,
        };
        GeometryKind::of_number(self.u32()?)
    }

    /// The header of a part, which must have the type `kind`.
    fn part(&mut self, kind: GeometryKind) -> Option<()> {
        (self.header()? == kind).then_some(())
    }

    fn points(&mut self) -> Option<Vec<Point>> {
        let count = self.count(POINT)?;
        if count == 0 && self.source == Source::Given {
            return None;
        }
        (0..count).map(|_| self.point()).collect()
    }

    fn rings(&mut self) -> Option<Vec<Vec<Point>>> {
        let count = self.count(4)?;
        if count == 0 && self.source == Source::Given {
            return None;
        }
        let rings: Vec<_> = (0..count).map(|_| self.points()).collect::<Option<_>>()?;
        let is_closed = |ring: &Vec<Point>| ring.first() == ring.last();
        (self.source == Source::Stored || rings.iter().all(is_closed)).then_some(rings)
    }

    fn shape(&mut self, depth: u32) -> Option<Shape> {
        if depth > MOST_DEPTH {
            return None;
        }
        let kind = self.header()?;
        Some(match kind {
            GeometryKind::Point => Shape::Point(self.point()?),
            GeometryKind::LineString => Shape::Line(self.points()?),
            GeometryKind::Polygon => Shape::Polygon(self.rings()?),
            GeometryKind::MultiPoint => {
                let count = self.count(HEADER + POINT)?;
                let one = |_| self.part(GeometryKind::Point).and_then(|()| self.point());
                Shape::Points((0..count).map(one).collect::<Option<_>>()?)
            }
            GeometryKind::MultiLineString => {
                let count = self.some_parts(HEADER + 4)?;
                let one = |_| self.part(GeometryKind::LineString).and_then(|()| self.points());
                Shape::Lines((0..count).map(one).collect::<Option<_>>()?)
            }
            GeometryKind::MultiPolygon => {
                let count = self.some_parts(HEADER + 4)?;
                let one = |_| self.part(GeometryKind::Polygon).and_then(|()| self.rings());
                Shape::Polygons((0..count).map(one).collect::<Option<_>>()?)
            }
            GeometryKind::GeometryCollection => {
                let count = self.count(HEADER + 4)?;
                let parts = (0..count).map(|_| self.shape(depth + 1)).collect::<Option<_>>()?;
                Shape::Collection(parts)
            }
            GeometryKind::Geometry => return None,
        })
    }

    /// Like [`Self::count`]; clients must give one part at least.
    fn some_parts(&mut self, least: usize) -> Option<usize> {
        self.count(least).filter(|count| *count > 0 || self.source == Source::Stored)
    }
}

/// The geometry that a client gives in its binary form; bytes behind it do not count.
pub fn from_wkb(bytes: &[u8]) -> Option<Shape> {
    Reader { rest: bytes, source: Source::Given, big: false }.shape(0)
}

/// The geometry of the stored form; bytes behind it do not count.
pub fn stored(bytes: &[u8]) -> Option<Stored> {
    let (srid, rest) = bytes.split_first_chunk::<SRID>()?;
    let shape = Reader { rest, source: Source::Stored, big: false }.shape(0)?;
    Some(Stored { srid: u32::from_le_bytes(*srid), shape })
}

/// The reference system and the type of the stored form, whatever follows them.
pub fn stored_kind(bytes: &[u8]) -> Option<(u32, GeometryKind)> {
    let (srid, rest) = bytes.split_first_chunk::<SRID>()?;
    let kind = Reader { rest, source: Source::Stored, big: false }.header()?;
    Some((u32::from_le_bytes(*srid), kind))
}

fn put_u32(out: &mut Vec<u8>, number: usize) {
    out.extend_from_slice(&u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
}

fn put_point(out: &mut Vec<u8>, point: &Point) {
    out.extend_from_slice(&point.x.to_le_bytes());
    out.extend_from_slice(&point.y.to_le_bytes());
}

fn put_points(out: &mut Vec<u8>, points: &[Point]) {
    put_u32(out, points.len());
    points.iter().for_each(|point| put_point(out, point));
}

fn put_rings(out: &mut Vec<u8>, rings: &[Vec<Point>]) {
    put_u32(out, rings.len());
    rings.iter().for_each(|ring| put_points(out, ring));
}

fn put_header(out: &mut Vec<u8>, kind: GeometryKind) {
    out.push(1);
    out.extend_from_slice(&kind.number().to_le_bytes());
}

/// Appends parts of one type, each with its header.
fn put_parts<T>(
    out: &mut Vec<u8>,
    kind: GeometryKind,
    parts: &[T],
    put: impl Fn(&mut Vec<u8>, &T),
) {
    put_u32(out, parts.len());
    for part in parts {
        put_header(out, kind);
        put(out, part);
    }
}

/// Appends the binary form.
pub fn write_wkb(shape: &Shape, out: &mut Vec<u8>) {
    put_header(out, shape.kind());
    match shape {
        Shape::Point(point) => put_point(out, point),
        Shape::Line(points) => put_points(out, points),
        Shape::Polygon(rings) => put_rings(out, rings),
        Shape::Points(points) => put_parts(out, GeometryKind::Point, points, put_point),
        Shape::Lines(lines) => {
            put_parts(out, GeometryKind::LineString, lines, |out, line| put_points(out, line));
        }
        Shape::Polygons(polygons) => {
            put_parts(out, GeometryKind::Polygon, polygons, |out, rings| put_rings(out, rings));
        }
        Shape::Collection(parts) => {
            put_u32(out, parts.len());
            parts.iter().for_each(|part| write_wkb(part, out));
        }
    }
}

/// Appends the stored form.
pub fn write_stored(srid: u32, shape: &Shape, out: &mut Vec<u8>) {
    out.extend_from_slice(&srid.to_le_bytes());
    write_wkb(shape, out);
}

/// Appends the stored form of a point.
pub fn point_stored(srid: u32, point: Point, out: &mut Vec<u8>) {
    write_stored(srid, &Shape::Point(point), out);
}
