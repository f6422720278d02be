//! The spatial types: GEOMETRY and its seven subtypes.
//!
//! A geometry is a LONGBLOB for storage, keys and comparisons, and its type is that of a LONGBLOB
//! with a [`Geometry`]. The bytes are the number of a reference system and the well-known binary
//! form, as MariaDB stores them.
//! Nothing here reads the bytes of a value.

mod functions;

pub use functions::printed_name;
use serde::{Deserialize, Serialize};

use crate::{SqlType, TypeKind};

/// A spatial type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum GeometryKind {
    /// Any geometry.
    Geometry = 0,
    /// A point.
    Point = 1,
    /// A line of two or more points.
    LineString = 2,
    /// A surface with an outer ring and holes.
    Polygon = 3,
    /// Points.
    MultiPoint = 4,
    /// Lines.
    MultiLineString = 5,
    /// Surfaces.
    MultiPolygon = 6,
    /// Any geometries.
    GeometryCollection = 7,
}

impl GeometryKind {
    /// All types, each at the place of its number.
    pub const ALL: [Self; 8] = [
        Self::Geometry,
        Self::Point,
        Self::LineString,
        Self::Polygon,
        Self::MultiPoint,
        Self::MultiLineString,
        Self::MultiPolygon,
        Self::GeometryCollection,
    ];

    /// The number of the type in the well-known binary form; 0 for any.
    pub const fn number(self) -> u32 {
        self as u32
    }

    /// The type of the geometries with this number; `None` for 0 and unknown ones.
    pub fn of_number(number: u32) -> Option<Self> {
        let at = usize::try_from(number).ok().filter(|at| *at > 0)?;
        Self::ALL.get(at).copied()
    }

    /// Its name, as `SHOW COLUMNS` writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Geometry => "geometry",
            Self::Point => "point",
            Self::LineString => "linestring",
            Self::Polygon => "polygon",
            Self::MultiPoint => "multipoint",
            Self::MultiLineString => "multilinestring",
            Self::MultiPolygon => "multipolygon",
            Self::GeometryCollection => "geometrycollection",
        }
    }

    /// Its name in the well-known text form.
    pub const fn upper_name(self) -> &'static str {
        match self {
            Self::Geometry => "GEOMETRY",
            Self::Point => "POINT",
            Self::LineString => "LINESTRING",
            Self::Polygon => "POLYGON",
            Self::MultiPoint => "MULTIPOINT",
            Self::MultiLineString => "MULTILINESTRING",
            Self::MultiPolygon => "MULTIPOLYGON",
            Self::GeometryCollection => "GEOMETRYCOLLECTION",
        }
    }

    /// Whether a column of this type takes a geometry of type `value`. Compat: a column of
    /// collections takes any.
    pub fn takes(self, value: Self) -> bool {
        matches!(self, Self::Geometry | Self::GeometryCollection) || self == value
    }

    /// The common type of two.
    pub fn joined(self, other: Self) -> Self {
        if self == other { self } else { Self::Geometry }
    }
}

/// The part of a geometry's type that a LONGBLOB has not.
#[derive(Clone, Copy, Debug, Eq, Serialize, Deserialize)]
pub struct Geometry {
    /// The geometries that it holds.
    pub kind: GeometryKind,
    /// `REF_SYSTEM_ID` of a column. Nothing but `information_schema` shows it.
    #[serde(default)]
    pub srid: u32,
}

impl PartialEq for Geometry {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

impl std::hash::Hash for Geometry {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.kind.hash(state);
    }
}

/// Bytes of a stored point: reference system, byte order, type, two coordinates.
pub const POINT_BYTES: u32 = 25;

impl SqlType {
    /// The spatial type `kind`.
    pub const fn of_geometry(kind: GeometryKind) -> Self {
        let mut ty = Self::new(TypeKind::LongText, u32::MAX, 0);
        ty.geometry = Some(Geometry { kind, srid: 0 });
        ty
    }

    /// The geometries that this type holds, if it is a spatial one.
    pub fn geometry_kind(&self) -> Option<GeometryKind> {
        self.geometry.map(|geometry| geometry.kind)
    }

    /// Whether values neither become numbers or dates nor mix with them: geometries, INET4, INET6
    /// and UUID.
    pub fn is_opaque(&self) -> bool {
        self.geometry.is_some() || self.fixed_binary().is_some()
    }
}
