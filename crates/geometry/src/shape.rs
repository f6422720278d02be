//! A geometry as a tree of points.
//! Coordinates may be infinite or no numbers: readers of bytes pass on what they find.

use selkie_types::GeometryKind;

use crate::Mbr;

/// A point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// Along the first axis.
    pub x: f64,
    /// Along the second axis.
    pub y: f64,
}

/// A geometry.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// POINT.
    Point(Point),
    /// LINESTRING.
    Line(Vec<Point>),
    /// POLYGON: the outer ring, then the holes.
    Polygon(Vec<Vec<Point>>),
    /// MULTIPOINT.
    Points(Vec<Point>),
    /// MULTILINESTRING.
    Lines(Vec<Vec<Point>>),
    /// MULTIPOLYGON.
    Polygons(Vec<Vec<Vec<Point>>>),
    /// GEOMETRYCOLLECTION.
    Collection(Vec<Shape>),
}

impl Shape {
    /// Its type.
    pub fn kind(&self) -> GeometryKind {
        match self {
            Self::Point(_) => GeometryKind::Point,
            Self::Line(_) => GeometryKind::LineString,
            Self::Polygon(_) => GeometryKind::Polygon,
            Self::Points(_) => GeometryKind::MultiPoint,
            Self::Lines(_) => GeometryKind::MultiLineString,
            Self::Polygons(_) => GeometryKind::MultiPolygon,
            Self::Collection(_) => GeometryKind::GeometryCollection,
        }
    }

    /// Calls `f` for each point.
    pub fn each_point(&self, f: &mut impl FnMut(Point)) {
        match self {
            Self::Point(p) => f(*p),
            Self::Line(points) | Self::Points(points) => points.iter().for_each(|p| f(*p)),
            Self::Polygon(lines) | Self::Lines(lines) => {
                lines.iter().flatten().for_each(|p| f(*p));
            }
            Self::Polygons(all) => all.iter().flatten().flatten().for_each(|p| f(*p)),
            Self::Collection(parts) => parts.iter().for_each(|part| part.each_point(f)),
        }
    }

    /// Whether it has no point.
    pub fn has_no_point(&self) -> bool {
        let mut none = true;
        self.each_point(&mut |_| none = false);
        none
    }

    /// The least rectangle around it; `None` without points.
    pub fn mbr(&self) -> Option<Mbr> {
        let mut out: Option<Mbr> = None;
        self.each_point(&mut |p| match &mut out {
            Some(mbr) => mbr.add(p),
            None => out = Some(Mbr::of_point(p)),
        });
        out
    }

    /// 0 for points, 1 for lines, 2 for surfaces; the greatest of a collection.
    ///
    /// Compat: 0 for an empty collection.
    pub fn dimension(&self) -> u32 {
        match self {
            Self::Point(_) | Self::Points(_) => 0,
            Self::Line(_) | Self::Lines(_) => 1,
            Self::Polygon(_) | Self::Polygons(_) => 2,
            Self::Collection(parts) => parts.iter().map(Self::dimension).max().unwrap_or(0),
        }
    }

    /// Parts of a geometry that has several; `None` for others.
    pub fn part_count(&self) -> Option<usize> {
        Some(match self {
            Self::Points(points) => points.len(),
            Self::Lines(lines) => lines.len(),
            Self::Polygons(polygons) => polygons.len(),
            Self::Collection(parts) => parts.len(),
            _ => return None,
        })
    }

    /// A part, from 0 on.
    pub fn part(&self, at: usize) -> Option<Self> {
        Some(match self {
            Self::Points(points) => Self::Point(*points.get(at)?),
            Self::Lines(lines) => Self::Line(lines.get(at)?.clone()),
            Self::Polygons(polygons) => Self::Polygon(polygons.get(at)?.clone()),
            Self::Collection(parts) => parts.get(at)?.clone(),
            _ => return None,
        })
    }
}
