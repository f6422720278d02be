//! Minimum bounding rectangles, and their relations.
//! Compat: which of them count the border is MariaDB's choice.

use crate::{Point, Shape};

/// A rectangle whose sides are parallel to the axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mbr {
    /// Least x.
    pub left: f64,
    /// Least y.
    pub bottom: f64,
    /// Greatest x.
    pub right: f64,
    /// Greatest y.
    pub top: f64,
}

impl Mbr {
    /// The rectangle of one point.
    pub fn of_point(p: Point) -> Self {
        Self { left: p.x, bottom: p.y, right: p.x, top: p.y }
    }

    /// Makes the rectangle wide enough for a point.
    pub fn add(&mut self, p: Point) {
        self.left = self.left.min(p.x);
        self.bottom = self.bottom.min(p.y);
        self.right = self.right.max(p.x);
        self.top = self.top.max(p.y);
    }

    /// The rectangle as a polygon.
    pub fn shape(&self) -> Shape {
        let Self { left, bottom, right, top } = *self;
        let at = |x, y| Point { x, y };
        let ring = vec![
            at(left, bottom),
            at(right, bottom),
            at(right, top),
            at(left, top),
            at(left, bottom),
        ];
        Shape::Polygon(vec![ring])
    }

    /// 0 for a point, 1 for a line, 2 for a rectangle.
    fn dimension(&self) -> u32 {
        u32::from(self.left < self.right) + u32::from(self.bottom < self.top)
    }

    /// Whether both are the same.
    pub fn equals(&self, other: &Self) -> bool {
        self == other
    }

    /// Whether they have a point in common.
    pub fn intersects(&self, other: &Self) -> bool {
        other.bottom <= self.top
            && other.top >= self.bottom
            && other.right >= self.left
            && other.left <= self.right
    }

    /// Whether they have no point in common.
    pub fn disjoint(&self, other: &Self) -> bool {
        !self.intersects(other)
    }

    /// Whether this lies within `other`, borders included.
    fn inside(&self, other: &Self) -> bool {
        other.bottom <= self.bottom
            && other.left <= self.left
            && other.top >= self.top
            && other.right >= self.right
    }

    /// Whether this is a part of `other`. Compat: a point or line must not lie on the border.
    pub fn within(&self, other: &Self) -> bool {
        let along = |(from, to): (f64, f64), (least, most): (f64, f64)| match from == to {
            true if least == most => from == least,
            true => least < from && from < most,
            false => least <= from && to <= most,
        };
        along((self.left, self.right), (other.left, other.right))
            && along((self.bottom, self.top), (other.bottom, other.top))
    }

    /// Whether `other` is a part of this. Compat: it may lie on the border.
    pub fn contains(&self, other: &Self) -> bool {
        other.inside(self)
    }

    /// Whether they have a part in common that has the dimension of both and is neither of them.
    pub fn overlaps(&self, other: &Self) -> bool {
        let dimension = self.dimension();
        let common = Self {
            left: self.left.max(other.left),
            bottom: self.bottom.max(other.bottom),
            right: self.right.min(other.right),
            top: self.top.min(other.top),
        };
        dimension == other.dimension()
            && dimension > 0
            && self.intersects(other)
            && dimension == common.dimension()
            && !self.inside(other)
            && !other.inside(self)
    }
}
