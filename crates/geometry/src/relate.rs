//! Relations between two geometries, by the matrix of their interiors, borders and exteriors.
//!
//! The crate `geo` computes the matrix. It is given finite coordinates and lines and rings of
//! different points only, and no more segments than it can compare in a short time.

use geo::coordinate_position::CoordPos;
use geo::dimensions::Dimensions;
use geo::relate::IntersectionMatrix;
use geo::{Distance, Euclidean, Relate};
use geo_types::{Coord, Geometry, GeometryCollection, LineString, Polygon};
use selkie_types::GeometryKind;

use crate::lines::pairs_within;
use crate::{Point, Shape};

/// Most pairs of segments beside each other. The matrix cannot be left half done, so the statement
/// must not wait for it for long.
const MOST_PAIRS: usize = 2_000_000;

/// Reason why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// A geometry is empty, or a coordinate is not finite.
    Null,
    /// Too many segments are beside each other.
    TooMany,
}

/// The relation of two geometries.
pub struct Relation {
    matrix: IntersectionMatrix,
    kinds: (GeometryKind, GeometryKind),
    dimensions: (u32, u32),
}

fn coord(p: &Point) -> Coord<f64> {
    Coord { x: p.x, y: p.y }
}

/// The line of these points without equal neighbours; a point if there is no other.
fn line(points: &[Point]) -> Option<Geometry<f64>> {
    let mut points = points.to_vec();
    points.dedup();
    match points[..] {
        [] => None,
        [p] => Some(Geometry::Point(coord(&p).into())),
        _ => Some(Geometry::LineString(ring(&points))),
    }
}

fn ring(points: &[Point]) -> LineString<f64> {
    points.iter().map(coord).collect()
}

/// The surface of these rings; a ring without a surface is a line or a point, and no hole.
fn polygon(rings: &[Vec<Point>]) -> Option<Geometry<f64>> {
    let without_twins = |ring: &Vec<Point>| {
        let mut ring = ring.clone();
        ring.dedup();
        ring
    };
    let mut rings = rings.iter().map(without_twins);
    let outer = rings.next()?;
    if outer.len() < 4 {
        return line(&outer);
    }
    let holes = rings.filter(|hole| hole.len() > 3).map(|hole| ring(&hole)).collect();
    Some(Geometry::Polygon(Polygon::new(ring(&outer), holes)))
}

fn add(shape: &Shape, out: &mut Vec<Geometry<f64>>) {
    match shape {
        Shape::Point(p) => out.push(Geometry::Point(coord(p).into())),
        Shape::Points(points) => {
            out.extend(points.iter().map(|p| Geometry::Point(coord(p).into())));
        }
        Shape::Line(points) => out.extend(line(points)),
        Shape::Lines(lines) => out.extend(lines.iter().filter_map(|points| line(points))),
        Shape::Polygon(rings) => out.extend(polygon(rings)),
        Shape::Polygons(all) => out.extend(all.iter().filter_map(|rings| polygon(rings))),
        Shape::Collection(parts) => parts.iter().for_each(|part| add(part, out)),
    }
}

/// Joins parts of one type, for which the matrix is exact.
fn joined(mut parts: Vec<Geometry<f64>>) -> Geometry<f64> {
    if parts.len() == 1 {
        return parts.swap_remove(0);
    }
    let all = |is: fn(&Geometry<f64>) -> bool| parts.iter().all(is);
    let collection = GeometryCollection::new_from;
    if all(|part| matches!(part, Geometry::Point(_))) {
        let points = parts.into_iter().filter_map(|part| part.try_into().ok()).collect();
        return Geometry::MultiPoint(geo_types::MultiPoint::new(points));
    }
    if all(|part| matches!(part, Geometry::LineString(_))) {
        let lines = parts.into_iter().filter_map(|part| part.try_into().ok()).collect();
        return Geometry::MultiLineString(geo_types::MultiLineString::new(lines));
    }
    if all(|part| matches!(part, Geometry::Polygon(_))) {
        let polygons = parts.into_iter().filter_map(|part| part.try_into().ok()).collect();
        return Geometry::MultiPolygon(geo_types::MultiPolygon::new(polygons));
    }
    Geometry::GeometryCollection(collection(parts))
}

fn finite(shape: &Shape) -> Result<Geometry<f64>, Unknown> {
    let mut are_finite = true;
    shape.each_point(&mut |p| are_finite &= p.x.is_finite() && p.y.is_finite());
    let mut parts = Vec::new();
    add(shape, &mut parts);
    match are_finite && !parts.is_empty() {
        true => Ok(joined(parts)),
        false => Err(Unknown::Null),
    }
}

fn both(a: &Shape, b: &Shape) -> Result<(Geometry<f64>, Geometry<f64>), Unknown> {
    let two = (finite(a)?, finite(b)?);
    match pairs_within([a, b], MOST_PAIRS) {
        true => Ok(two),
        false => Err(Unknown::TooMany),
    }
}

impl Relation {
    /// The relation of `a` to `b`.
    pub fn of(a: &Shape, b: &Shape) -> Result<Self, Unknown> {
        let (one, other) = both(a, b)?;
        Ok(Self {
            matrix: one.relate(&other),
            kinds: (a.kind(), b.kind()),
            dimensions: (a.dimension(), b.dimension()),
        })
    }

    /// Both have the same points.
    pub fn equals(&self) -> bool {
        self.matrix.is_equal_topo()
    }

    /// They have a point in common.
    pub fn intersects(&self) -> bool {
        self.matrix.is_intersects()
    }

    /// They have points in common, none of which is within both.
    pub fn touches(&self) -> bool {
        self.matrix.is_touches()
    }

    /// The first has no point outside the second. Compat: it may lie on its border.
    pub fn within(&self) -> bool {
        self.matrix.is_coveredby()
    }

    /// The second has no point outside the first. Compat: it may lie on its border.
    pub fn contains(&self) -> bool {
        self.matrix.is_covers()
    }

    /// Both are of one dimension, and each has a part outside the other. Compat: it is enough that
    /// they have a border in common.
    pub fn overlaps(&self) -> bool {
        let (a, b) = self.dimensions;
        a == b && self.intersects() && !self.within() && !self.contains()
    }

    /// Whether they have only parts in common that are of a lower dimension than one of both.
    fn meets_below(&self) -> bool {
        let parts = [CoordPos::Inside, CoordPos::OnBoundary];
        let places = parts.iter().flat_map(|a| parts.iter().map(move |b| (*a, *b)));
        let common = places.map(|(a, b)| match self.matrix.get(a, b) {
            Dimensions::Empty | Dimensions::ZeroDimensional => 0,
            Dimensions::OneDimensional => 1,
            Dimensions::TwoDimensional => 2,
        });
        common.max().unwrap_or(0) < self.dimensions.0.max(self.dimensions.1)
    }

    /// A part of the first is within the second, another outside. Compat: the part within may be a
    /// part of the border. `None` if the first is a surface or the second a point.
    pub fn crosses(&self) -> Option<bool> {
        use GeometryKind::{MultiPoint, MultiPolygon, Point, Polygon};
        let (a, b) = self.kinds;
        let has_answer = !matches!(a, Polygon | MultiPolygon) && !matches!(b, Point | MultiPoint);
        has_answer.then(|| self.intersects() && !self.within() && self.meets_below())
    }

    /// Whether the matrix is as `pattern` says: nine characters of `T`, `F`, `*`, `0`, `1`, `2`.
    /// `None` for other patterns.
    pub fn matches(&self, pattern: &[u8]) -> Option<bool> {
        let parts = [CoordPos::Inside, CoordPos::OnBoundary, CoordPos::Outside];
        if pattern.len() != 9 {
            return None;
        }
        let mut all = true;
        for (at, wanted) in pattern.iter().enumerate() {
            let dimension = match self.matrix.get(parts[at / 3], parts[at % 3]) {
                Dimensions::Empty => None,
                Dimensions::ZeroDimensional => Some(b'0'),
                Dimensions::OneDimensional => Some(b'1'),
                Dimensions::TwoDimensional => Some(b'2'),
            };
            all &= match wanted {
                b'*' => true,
                b'T' | b't' => dimension.is_some(),
                b'F' | b'f' => dimension.is_none(),
                b'0'..=b'2' => dimension == Some(*wanted),
                _ => return None,
            };
        }
        Some(all)
    }
}

/// The distance between the nearest points of both.
pub fn distance(a: &Shape, b: &Shape) -> Result<f64, Unknown> {
    let (one, other) = both(a, b)?;
    Ok(Euclidean.distance(&one, &other))
}
