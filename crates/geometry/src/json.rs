//! Geometries as GeoJSON (RFC 7946), with a space after every comma and colon.
//! Reading is left to those who parse JSON.

use selkie_types::GeometryKind;
use selkie_types::number::round_f64_to;

use crate::text::write_number;
use crate::{Mbr, Point, Shape};

/// Digits after the point from which a number is not rounded.
const ALL_DIGITS: u64 = 31;

/// Whether the rectangle around a geometry is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bounds {
    /// It is.
    Shown,
    /// It is not.
    Left,
}

struct Writer<'o> {
    out: &'o mut Vec<u8>,
    decimals: u64,
}

/// The name of a type.
fn name(kind: GeometryKind) -> &'static str {
    match kind {
        GeometryKind::Geometry => "Geometry",
        GeometryKind::Point => "Point",
        GeometryKind::LineString => "LineString",
        GeometryKind::Polygon => "Polygon",
        GeometryKind::MultiPoint => "MultiPoint",
        GeometryKind::MultiLineString => "MultiLineString",
        GeometryKind::MultiPolygon => "MultiPolygon",
        GeometryKind::GeometryCollection => "GeometryCollection",
    }
}

impl Writer<'_> {
    fn text(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn number(&mut self, number: f64) {
        let shown = match self.decimals < ALL_DIGITS {
            true => round_f64_to(number, self.decimals as i32),
            false => number,
        };
        write_number(shown, self.out);
    }

    fn list<T>(&mut self, parts: &[T], mut one: impl FnMut(&mut Self, &T)) {
        self.text("[");
        for (at, part) in parts.iter().enumerate() {
            if at > 0 {
                self.text(", ");
            }
            one(self, part);
        }
        self.text("]");
    }

    fn point(&mut self, point: &Point) {
        self.list(&[point.x, point.y], |writer, number| writer.number(*number));
    }

    fn points(&mut self, points: &[Point]) {
        self.list(points, Self::point);
    }

    fn lines(&mut self, lines: &[Vec<Point>]) {
        self.list(lines, |writer, line| writer.points(line));
    }

    /// The members of the object, without its braces.
    fn members(&mut self, shape: &Shape) {
        self.text("\"type\": \"");
        self.text(name(shape.kind()));
        let is_collection = matches!(shape, Shape::Collection(_));
        self.text(if is_collection { "\", \"geometries\": " } else { "\", \"coordinates\": " });
        match shape {
            Shape::Point(point) => self.point(point),
            Shape::Line(points) | Shape::Points(points) => self.points(points),
            Shape::Polygon(lines) | Shape::Lines(lines) => self.lines(lines),
            Shape::Polygons(all) => self.list(all, |writer, rings| writer.lines(rings)),
            Shape::Collection(parts) => self.list(parts, |writer, part| {
                writer.text("{");
                writer.members(part);
                writer.text("}");
            }),
        }
    }

    /// Compat: the rectangle is not rounded, and inside out if there is no point.
    fn rectangle(&mut self, mbr: Option<Mbr>) {
        let nothing = Mbr { left: f64::MAX, bottom: f64::MAX, right: f64::MIN, top: f64::MIN };
        let Mbr { left, bottom, right, top } = mbr.unwrap_or(nothing);
        self.text("\"bbox\": ");
        self.list(&[left, bottom, right, top], |writer, number| write_number(*number, writer.out));
        self.text(", ");
    }
}

/// Appends the text, with at most `decimals` digits after the point, and the rectangle around the
/// geometry if `bounds` says so.
pub fn write_json(shape: &Shape, decimals: u64, bounds: Bounds, out: &mut Vec<u8>) {
    let mut writer = Writer { out, decimals };
    writer.text("{");
    if bounds == Bounds::Shown {
        writer.rectangle(shape.mbr());
    }
    writer.members(shape);
    writer.text("}");
}
