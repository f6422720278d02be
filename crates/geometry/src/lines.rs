//! Meetings of lines: whether a geometry is simple.
//!
//! Segments are compared with those beside them along the first axis only. Every comparison counts
//! as work, because their number can be the square of that of the points.

use robust::{Coord, orient2d};
use selkie_meter::tick;

use crate::{Point, Shape};

/// Positive if the way from `a` over `b` to `c` turns left, negative if it turns right.
pub(crate) fn turn(a: Point, b: Point, c: Point) -> f64 {
    let of = |p: Point| Coord { x: p.x, y: p.y };
    orient2d(of(a), of(b), of(c))
}

/// Ends of a line.
#[derive(Clone, Copy, PartialEq)]
enum Ends {
    /// Other lines may meet it there.
    Open,
    /// It has none: a ring or a point.
    None,
}

/// A part of a line between two points, or a single point.
#[derive(Clone, Copy)]
struct Segment {
    from: Point,
    to: Point,
    line: usize,
    /// Its place in the line.
    at: usize,
    /// The number of segments of the line.
    of: usize,
    closed: bool,
    ends: Ends,
}

impl Segment {
    fn left(&self) -> f64 {
        self.from.x.min(self.to.x)
    }

    fn right(&self) -> f64 {
        self.from.x.max(self.to.x)
    }

    fn has(&self, p: Point) -> bool {
        let within = |a: f64, b: f64, v: f64| a.min(b) <= v && v <= a.max(b);
        within(self.from.x, self.to.x, p.x)
            && within(self.from.y, self.to.y, p.y)
            && turn(self.from, self.to, p) == 0.0
    }

    fn meets(&self, other: &Self) -> bool {
        if self.has(other.from) || self.has(other.to) || other.has(self.from) || other.has(self.to)
        {
            return true;
        }
        let apart = |a: f64, b: f64| (a > 0.0 && b < 0.0) || (a < 0.0 && b > 0.0);
        apart(turn(self.from, self.to, other.from), turn(self.from, self.to, other.to))
            && apart(turn(other.from, other.to, self.from), turn(other.from, other.to, self.to))
    }

    /// Whether `next` is the segment behind this one.
    fn is_before(&self, next: &Self) -> bool {
        self.line == next.line
            && (self.at + 1 == next.at || self.closed && next.at == 0 && self.at + 1 == self.of)
    }

    /// Whether a point is an end of the line.
    fn ends_at(&self, p: Point) -> bool {
        self.ends == Ends::Open
            && (self.at == 0 && self.from == p || self.at + 1 == self.of && self.to == p)
    }

    /// Whether both meet in another way than simple lines do.
    fn spoils(&self, other: &Self) -> bool {
        match (self.is_before(other), other.is_before(self)) {
            // Compat: a line there and back is simple.
            (true, true) => false,
            (true, false) => self.has(other.to) || other.has(self.from),
            (false, true) => other.has(self.to) || self.has(other.from),
            (false, false) => {
                let ends = [other.from, other.to].into_iter();
                let meets_at_end = ends.clone().any(|p| self.ends_at(p) && other.ends_at(p));
                let inside = ends.filter(|p| self.has(*p)).count()
                    + [self.from, self.to].into_iter().filter(|p| other.has(*p)).count();
                self.meets(other) && !(meets_at_end && inside == 2)
            }
        }
    }
}

fn add(line: &[Point], ends: Ends, count: &mut usize, out: &mut Vec<Segment>) {
    let mut points = line.to_vec();
    points.dedup();
    let (number, of) = (*count, points.len().saturating_sub(1));
    *count += 1;
    let closed = points.len() > 1 && points.first() == points.last();
    let segment = |(at, pair): (usize, &[Point])| {
        let (from, to) = (pair[0], pair[1]);
        Segment { from, to, line: number, at, of, closed, ends }
    };
    match points[..] {
        [from] => {
            let (closed, ends) = (false, Ends::None);
            out.push(Segment { from, to: from, line: number, at: 0, of: 1, closed, ends });
        }
        _ => out.extend(points.windows(2).enumerate().map(segment)),
    }
}

impl Shape {
    fn add_segments(&self, count: &mut usize, out: &mut Vec<Segment>) {
        match self {
            Self::Point(p) => add(&[*p], Ends::None, count, out),
            Self::Points(points) => points.iter().for_each(|p| add(&[*p], Ends::None, count, out)),
            Self::Line(line) => add(line, Ends::Open, count, out),
            Self::Lines(lines) => lines.iter().for_each(|line| add(line, Ends::Open, count, out)),
            Self::Polygon(rings) => rings.iter().for_each(|ring| add(ring, Ends::None, count, out)),
            Self::Polygons(all) => {
                all.iter().flatten().for_each(|ring| add(ring, Ends::None, count, out));
            }
            Self::Collection(parts) => parts.iter().for_each(|part| part.add_segments(count, out)),
        }
    }

    /// Whether it has no point twice, apart from ends of lines.
    pub fn is_simple(&self) -> bool {
        let (mut segments, mut count) = (Vec::new(), 0);
        self.add_segments(&mut count, &mut segments);
        segments.sort_by(|a, b| a.left().total_cmp(&b.left()));
        let mut open: Vec<Segment> = Vec::new();
        for segment in segments {
            tick(open.len() + 1);
            open.retain(|other| other.right() >= segment.left());
            if open.iter().any(|other| other.spoils(&segment)) {
                return false;
            }
            open.push(segment);
        }
        true
    }
}

/// Whether at most `most` pairs of segments are beside each other along the first axis.
pub(crate) fn pairs_within(shapes: [&Shape; 2], most: usize) -> bool {
    let (mut segments, mut count) = (Vec::new(), 0);
    shapes.iter().for_each(|shape| shape.add_segments(&mut count, &mut segments));
    tick(segments.len());
    // Each segment is open between its two sides.
    let mut sides: Vec<(f64, bool)> = Vec::with_capacity(2 * segments.len());
    for segment in &segments {
        sides.push((segment.left(), false));
        sides.push((segment.right(), true));
    }
    sides.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let (mut open, mut pairs) = (0usize, 0usize);
    for (_, ends) in sides {
        match ends {
            true => open -= 1,
            false => {
                pairs += open;
                open += 1;
            }
        }
        if pairs > most {
            return false;
        }
    }
    true
}
