//! The well-known text form.
//! The rest of a text behind a geometry is not read.

use selkie_types::GeometryKind;

use crate::{Point, Shape};

/// Reads a text from its start.
struct Reader<'t> {
    rest: &'t [u8],
}

impl Reader<'_> {
    fn skip_spaces(&mut self) {
        self.rest = self.rest.trim_ascii_start();
    }

    fn eat(&mut self, byte: u8) -> bool {
        self.skip_spaces();
        let found = self.rest.first() == Some(&byte);
        self.rest = &self.rest[usize::from(found)..];
        found
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        self.eat(byte).then_some(())
    }

    /// The next word, in upper case.
    fn word(&mut self) -> Option<Vec<u8>> {
        self.skip_spaces();
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let length = self.rest.iter().take_while(|byte| is_part(byte)).count();
        let (word, rest) = self.rest.split_at(length);
        // No known word is longer.
        if word.is_empty() || word.len() > 32 || word[0].is_ascii_digit() {
            return None;
        }
        self.rest = rest;
        Some(word.to_ascii_uppercase())
    }

    /// Compat: a number begins with a digit or a sign, and a point or a letter `e` without digits
    /// after it is not always a part of it.
    fn number(&mut self) -> Option<f64> {
        self.skip_spaces();
        let digits = |from: usize| {
            self.rest.get(from..).map_or(0, |r| r.iter().take_while(|b| b.is_ascii_digit()).count())
        };
        let at = |place: usize| self.rest.get(place).copied();
        let sign = usize::from(matches!(at(0), Some(b'+' | b'-')));
        let whole = digits(sign);
        let mut end = sign + whole;
        let mut fraction = 0;
        if at(end) == Some(b'.') {
            fraction = digits(end + 1);
            // A sign may stand before a point.
            end += usize::from(whole + fraction > 0) * (1 + fraction);
        }
        if whole + fraction == 0 || (sign == 0 && whole == 0) {
            return None;
        }
        if matches!(at(end), Some(b'e' | b'E')) {
            let signed = usize::from(matches!(at(end + 1), Some(b'+' | b'-')));
            let exponent = digits(end + 1 + signed);
            if exponent > 0 {
                end += 1 + signed + exponent;
            }
        }
        let text = std::str::from_utf8(&self.rest[..end]).ok()?;
        let number: f64 = text.parse().ok()?;
        self.rest = &self.rest[end..];
        number.is_finite().then_some(number)
    }

    fn point(&mut self) -> Option<Point> {
        Some(Point { x: self.number()?, y: self.number()? })
    }

    /// Parts between parentheses, separated by commas: one at least.
    fn list<R>(&mut self, mut one: impl FnMut(&mut Self) -> Option<R>) -> Option<Vec<R>> {
        self.expect(b'(')?;
        let mut out = vec![one(self)?];
        while self.eat(b',') {
            out.push(one(self)?);
        }
        self.expect(b')')?;
        Some(out)
    }

    fn points(&mut self) -> Option<Vec<Point>> {
        self.list(Self::point)
    }

    fn ring(&mut self) -> Option<Vec<Point>> {
        self.points().filter(|points| points.first() == points.last())
    }

    fn rings(&mut self) -> Option<Vec<Vec<Point>>> {
        self.list(Self::ring)
    }

    fn kind(&mut self) -> Option<GeometryKind> {
        let word = self.word()?;
        let known = |kind: &&GeometryKind| kind.upper_name().as_bytes() == word;
        GeometryKind::ALL.iter().skip(1).find(known).copied()
    }

    fn shape(&mut self) -> Option<Shape> {
        match self.kind()? {
            GeometryKind::GeometryCollection => self.collection(),
            kind => self.simple(kind),
        }
    }

    fn simple(&mut self, kind: GeometryKind) -> Option<Shape> {
        Some(match kind {
            GeometryKind::Point => {
                self.expect(b'(')?;
                let point = self.point()?;
                self.expect(b')')?;
                Shape::Point(point)
            }
            GeometryKind::LineString => Shape::Line(self.points()?),
            GeometryKind::Polygon => Shape::Polygon(self.rings()?),
            GeometryKind::MultiPoint => Shape::Points(self.points()?),
            GeometryKind::MultiLineString => Shape::Lines(self.list(Self::points)?),
            GeometryKind::MultiPolygon => Shape::Polygons(self.list(Self::rings)?),
            // Compat: a collection within a collection cannot be written as a text.
            GeometryKind::Geometry | GeometryKind::GeometryCollection => return None,
        })
    }

    fn collection(&mut self) -> Option<Shape> {
        self.skip_spaces();
        if self.rest.first() != Some(&b'(') {
            return (self.word()? == b"EMPTY").then_some(Shape::Collection(Vec::new()));
        }
        if let [b'(', rest @ ..] = self.rest
            && let [b')', rest @ ..] = rest.trim_ascii_start()
        {
            self.rest = rest;
            return Some(Shape::Collection(Vec::new()));
        }
        let parts = self.list(|reader| {
            let kind = reader.kind()?;
            reader.simple(kind)
        })?;
        Some(Shape::Collection(parts))
    }
}

/// The geometry of a text; what follows it does not count.
pub fn from_text(text: &[u8]) -> Option<Shape> {
    Reader { rest: text }.shape()
}

/// Appends a coordinate. Compat: what is no number, or infinite, is 0, and zero has no sign.
pub fn write_number(number: f64, out: &mut Vec<u8>) {
    match number.is_finite() && number != 0.0 {
        true => selkie_types::number::write_f64(out, number),
        false => out.push(b'0'),
    }
}

fn put_point(out: &mut Vec<u8>, point: &Point) {
    write_number(point.x, out);
    out.push(b' ');
    write_number(point.y, out);
}

/// Parts between parentheses. Compat: without parts there is only the last parenthesis.
fn put_list<T>(out: &mut Vec<u8>, parts: &[T], mut one: impl FnMut(&mut Vec<u8>, &T)) {
    if !parts.is_empty() {
        out.push(b'(');
    }
    for (at, part) in parts.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        one(out, part);
    }
    out.push(b')');
}

fn put_points(out: &mut Vec<u8>, points: &[Point]) {
    put_list(out, points, put_point);
}

fn put_rings(out: &mut Vec<u8>, rings: &[Vec<Point>]) {
    put_list(out, rings, |out, ring| put_points(out, ring));
}

/// Appends the text.
pub fn write_text(shape: &Shape, out: &mut Vec<u8>) {
    out.extend_from_slice(shape.kind().upper_name().as_bytes());
    match shape {
        Shape::Point(point) => {
            out.push(b'(');
            put_point(out, point);
            out.push(b')');
        }
        Shape::Line(points) | Shape::Points(points) => put_points(out, points),
        Shape::Polygon(lines) | Shape::Lines(lines) => put_rings(out, lines),
        Shape::Polygons(all) => put_list(out, all, |out, rings| put_rings(out, rings)),
        Shape::Collection(parts) if parts.is_empty() => out.extend_from_slice(b" EMPTY"),
        Shape::Collection(parts) => put_list(out, parts, |out, part| write_text(part, out)),
    }
}
