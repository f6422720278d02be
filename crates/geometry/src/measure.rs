//! Sizes of geometries and shapes made of them: area, length, centroid, boundary, hull.
//! Compat: which types have an answer is MariaDB's choice.

use crate::{Point, Shape};

/// Twice the area between a line and the first axis, with a sign.
fn twice_area(ring: &[Point]) -> f64 {
    ring.windows(2).map(|pair| (pair[0].x + pair[1].x) * (pair[0].y - pair[1].y)).sum()
}

fn ring_area(ring: &[Point]) -> f64 {
    twice_area(ring).abs() / 2.0
}

fn polygon_area(rings: &[Vec<Point>]) -> f64 {
    let mut areas = rings.iter().map(|ring| ring_area(ring));
    let outer = areas.next().unwrap_or(0.0);
    areas.fold(outer, |area, hole| area - hole).abs()
}

fn line_length(points: &[Point]) -> f64 {
    let part = |pair: &[Point]| {
        let (x, y) = (pair[1].x - pair[0].x, pair[1].y - pair[0].y);
        (x * x + y * y).sqrt()
    };
    points.windows(2).map(part).sum()
}

/// Compat: the mean of a ring's points, not that of its surface; every hole is taken from the area
/// of the outer ring alone.
fn polygon_centroid(rings: &[Vec<Point>]) -> Point {
    let mut whole = (0.0, Point::default());
    for (at, ring) in rings.iter().enumerate() {
        let area = ring_area(ring);
        let behind = ring.get(1..).unwrap_or_default();
        let count = behind.len() as f64;
        let x = behind.iter().map(|p| p.x).sum::<f64>() / count;
        let y = behind.iter().map(|p| p.y).sum::<f64>() / count;
        if at == 0 {
            whole = (area, Point { x, y });
            continue;
        }
        let (outer, center) = whole;
        let rest = (outer - area).abs();
        let less = |of: f64, hole: f64| (outer * of - area * hole) / rest;
        whole.1 = Point { x: less(center.x, x), y: less(center.y, y) };
    }
    whole.1
}

impl Shape {
    /// The area; `None` for several points or lines.
    pub fn area(&self) -> Option<f64> {
        match self {
            Self::Point(_) | Self::Line(_) => Some(0.0),
            Self::Points(_) | Self::Lines(_) => None,
            Self::Polygon(rings) => Some(polygon_area(rings)),
            Self::Polygons(polygons) => {
                Some(polygons.iter().map(|rings| polygon_area(rings)).sum())
            }
            Self::Collection(parts) => parts.iter().map(Self::area).sum(),
        }
    }

    /// The length; `None` for surfaces and for several points.
    pub fn length(&self) -> Option<f64> {
        match self {
            Self::Point(_) => Some(0.0),
            Self::Line(points) => Some(line_length(points)),
            Self::Lines(lines) => Some(lines.iter().map(|line| line_length(line)).sum()),
            Self::Points(_) | Self::Polygon(_) | Self::Polygons(_) => None,
            Self::Collection(parts) => parts.iter().map(Self::length).sum(),
        }
    }

    /// The centroid of a surface; `None` for others.
    pub fn centroid(&self) -> Option<Point> {
        match self {
            Self::Polygon(rings) => Some(polygon_centroid(rings)),
            Self::Polygons(polygons) => {
                let (mut area, mut x, mut y) = (0.0, 0.0, 0.0);
                for rings in polygons {
                    let (own, center) = (polygon_area(rings), polygon_centroid(rings));
                    area += own;
                    x += own * center.x;
                    y += own * center.y;
                }
                Some(Point { x: x / area, y: y / area })
            }
            _ => None,
        }
    }

    /// Whether all lines end where they begin; `None` without lines.
    pub fn is_closed(&self) -> Option<bool> {
        let closed = |line: &Vec<Point>| line.first() == line.last();
        match self {
            Self::Line(line) => Some(closed(line)),
            Self::Lines(lines) => Some(lines.iter().all(closed)),
            _ => None,
        }
    }

    /// Whether it is closed and simple; `None` without lines.
    pub fn is_ring(&self) -> Option<bool> {
        Some(self.is_closed()? && self.is_simple())
    }

    /// The ends of lines and the borders of surfaces.
    pub fn boundary(&self) -> Self {
        let (mut points, mut lines) = (Vec::new(), Vec::new());
        self.add_boundary(&mut points, &mut lines);
        match (points.len(), lines.len()) {
            (0, 0) => Self::Collection(Vec::new()),
            (1, 0) => Self::Point(points[0]),
            (_, 0) => Self::Points(points),
            (0, 1) => Self::Line(lines.swap_remove(0)),
            (0, _) => Self::Lines(lines),
            _ => {
                let points = points.into_iter().map(Self::Point);
                Self::Collection(points.chain(lines.into_iter().map(Self::Line)).collect())
            }
        }
    }

    fn add_boundary(&self, points: &mut Vec<Point>, lines: &mut Vec<Vec<Point>>) {
        match self {
            Self::Point(_) | Self::Points(_) => {}
            Self::Line(line) => add_ends(line, points),
            Self::Lines(all) => all.iter().for_each(|line| add_ends(line, points)),
            Self::Polygon(rings) => rings.iter().for_each(|ring| add_ring(ring, points, lines)),
            Self::Polygons(all) => {
                all.iter().flatten().for_each(|ring| add_ring(ring, points, lines));
            }
            Self::Collection(parts) => {
                parts.iter().for_each(|part| part.add_boundary(points, lines));
            }
        }
    }

    /// The least convex shape around it; `None` if a coordinate is not finite.
    ///
    /// Compat: a surface begins at its lowest point, of several at the left one, and goes around
    /// clockwise.
    pub fn convex_hull(&self) -> Option<Self> {
        let mut points = Vec::new();
        let mut finite = true;
        self.each_point(&mut |p| {
            finite &= p.x.is_finite() && p.y.is_finite();
            // Zeros of both signs are one point.
            points.push(Point { x: p.x + 0.0, y: p.y + 0.0 });
        });
        if !finite {
            return None;
        }
        points.sort_by(|a, b| a.y.total_cmp(&b.y).then(a.x.total_cmp(&b.x)));
        points.dedup();
        let (Some(first), Some(last)) = (points.first().copied(), points.last().copied()) else {
            return Some(Self::Collection(Vec::new()));
        };
        if points.len() == 1 {
            return Some(Self::Point(first));
        }
        let mut ring = chain(points.iter().copied());
        let right = chain(points.iter().rev().copied());
        if ring.len() == 2 && right.len() == 2 {
            return Some(Self::Line(vec![first, last]));
        }
        ring.extend(right.into_iter().skip(1));
        Some(Self::Polygon(vec![ring]))
    }
}

/// The part of a hull along sorted points that only turns to the right.
fn chain(points: impl Iterator<Item = Point>) -> Vec<Point> {
    let mut out: Vec<Point> = Vec::new();
    for p in points {
        while let [.., a, b] = out[..]
            && crate::lines::turn(a, b, p) >= 0.0
        {
            out.pop();
        }
        out.push(p);
    }
    out
}

/// Compat: a line whose points are all equal is a point.
fn add_ends(line: &[Point], points: &mut Vec<Point>) {
    let (Some(first), Some(last)) = (line.first(), line.last()) else { return };
    points.push(*first);
    if line.iter().any(|p| p != first) {
        points.push(*last);
    }
}

fn add_ring(ring: &[Point], points: &mut Vec<Point>, lines: &mut Vec<Vec<Point>>) {
    let Some(first) = ring.first() else { return };
    match ring.iter().any(|p| p != first) {
        true => lines.push(ring.to_vec()),
        false => points.push(*first),
    }
}
