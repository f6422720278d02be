//! The names of functions of geometries: most of them have several.
//! Must be in lower case; calls and printed texts both read this list.

/// Other names of functions, with the names that MariaDB prints.
const PLAIN: &[(&str, &str)] = &[
    ("area", "st_area"),
    ("asbinary", "st_aswkb"),
    ("astext", "st_astext"),
    ("aswkb", "st_aswkb"),
    ("aswkt", "st_astext"),
    ("boundary", "st_boundary"),
    ("buffer", "st_buffer"),
    ("centroid", "st_centroid"),
    ("contains", "st_contains"),
    ("convexhull", "st_convexhull"),
    ("crosses", "st_crosses"),
    ("dimension", "st_dimension"),
    ("disjoint", "mbrdisjoint"),
    ("endpoint", "st_endpoint"),
    ("envelope", "st_envelope"),
    ("equals", "st_equals"),
    ("exteriorring", "st_exteriorring"),
    ("geometryn", "st_geometryn"),
    ("geometrytype", "st_geometrytype"),
    ("glength", "st_length"),
    ("interiorringn", "st_interiorringn"),
    ("intersects", "mbrintersects"),
    ("isclosed", "st_isclosed"),
    ("isempty", "st_isempty"),
    ("isring", "st_isring"),
    ("issimple", "st_issimple"),
    ("mbrequal", "mbrequals"),
    ("mbrtouches", "st_touches"),
    ("numgeometries", "st_numgeometries"),
    ("numinteriorrings", "st_numinteriorrings"),
    ("numpoints", "st_numpoints"),
    ("overlaps", "mbroverlaps"),
    ("pointn", "st_pointn"),
    ("pointonsurface", "st_pointonsurface"),
    ("st_asbinary", "st_aswkb"),
    ("st_aswkt", "st_astext"),
    ("st_srid", "srid"),
    ("startpoint", "st_startpoint"),
    ("touches", "st_touches"),
    ("within", "st_within"),
    ("x", "st_x"),
    ("y", "st_y"),
];

/// Words before `from` in the names of functions that read texts and bytes.
const SHAPES: &[&str] = &[
    "geom",
    "geomcoll",
    "geometry",
    "geometrycollection",
    "line",
    "linestring",
    "mline",
    "mpoint",
    "mpoly",
    "multilinestring",
    "multipoint",
    "multipolygon",
    "point",
    "poly",
    "polygon",
];

/// The name that MariaDB prints for a function of geometries that was written with one of its other
/// names, in lower case. Calls are bound by it, too.
pub fn printed_name(name: &str) -> Option<&'static str> {
    if let Some((_, printed)) = PLAIN.iter().find(|(written, _)| *written == name) {
        return Some(printed);
    }
    let (shape, form) = name.strip_prefix("st_").unwrap_or(name).split_once("from")?;
    match form {
        "text" if SHAPES.contains(&shape) => Some("st_geometryfromtext"),
        "wkb" if SHAPES.contains(&shape) => Some("st_geometryfromwkb"),
        _ => None,
    }
}
