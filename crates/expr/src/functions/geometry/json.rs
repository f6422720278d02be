//! Geometries as GeoJSON, and back.
//! A document is parsed as every other JSON text: its depth is limited there.

use selkie_geometry::{Bounds, Point, Shape, write_json};
use selkie_types::error::catalogue::{
    ER_GEOJSON_EMPTY_COORDINATES, ER_GEOJSON_INCORRECT, ER_GEOJSON_NOT_CLOSED,
    ER_GEOJSON_TOO_FEW_POINTS, ER_GIS_INVALID_DATA, ER_WRONG_VALUE_FOR_TYPE,
};
use selkie_types::number::parse_f64;
use selkie_types::{
    Charset, Column, ErrorDef, GeometryKind, SqlError, SqlResult, SqlType, TypeKind,
};

use super::{geometry, number, push, read, refuse_type};
use crate::expr::Expr;
use crate::function::{Binding, Function};
use crate::functions::json::read_first;
use crate::json::Json;
use crate::kernel::{BytesOut, Frame};

/// Functions called by name.
pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("ST_ASGEOJSON", 1, 3, |mut b| {
        geometry(&mut b, 0)?;
        (1..b.len()).try_for_each(|at| number(&mut b, at))?;
        b.connection_collation();
        let ty = SqlType::new(TypeKind::LongText, 67_108_864, 0);
        let ty = SqlType { collation: b.collation, ..ty };
        b.maybe(ty, as_json)
    }),
    Function::new("ST_GEOMFROMGEOJSON", 1, 3, from_json),
];

fn as_json(frame: &Frame<'_>) -> SqlResult<Column> {
    let view = frame.bytes(0);
    let given = |at: usize, row: usize| {
        let numbers = frame.args.get(at).map(|_| frame.view::<i64>(at))?;
        numbers.get(row)
    };
    let charset = frame.ty.collation.charset();
    let mut out = BytesOut::new(frame.rows);
    for row in 0..frame.rows {
        let Some(shape) = view.get(row).and_then(read) else {
            out.push(None);
            continue;
        };
        let decimals = given(1, row).and_then(|n| u64::try_from(n).ok()).unwrap_or(u64::MAX);
        let bounds = match given(2, row).unwrap_or(0) & 1 {
            0 => Bounds::Left,
            _ => Bounds::Shown,
        };
        let mut text = Vec::new();
        write_json(&shape.shape, decimals, bounds, &mut text);
        let text = Charset::Utf8mb4.convert(&text, charset).0;
        out.push(Some(&text[..]).filter(|text| !frame.too_long(text.len())));
    }
    Ok(out.finish())
}

fn from_json(mut b: Binding<'_>) -> SqlResult<Expr> {
    let ty = &b.args[0].ty;
    if ty.geometry.is_some() || !(ty.is_string() || ty.kind == TypeKind::Null) {
        return Err(refuse_type(&b, 0));
    }
    b.utf8_text(0);
    (1..b.len()).try_for_each(|at| number(&mut b, at))?;
    b.maybe(SqlType::of_geometry(GeometryKind::Geometry), of_documents)
}

/// Name in errors.
const NAME: &str = "ST_GeomFromGeoJSON";

/// Treatment of a third coordinate.
#[derive(Clone, Copy, PartialEq)]
enum Extra {
    Refused,
    Ignored,
}

fn of_documents(frame: &Frame<'_>) -> SqlResult<Column> {
    let view = frame.bytes(0);
    let given = |at: usize, row: usize| {
        let numbers = frame.args.get(at).map(|_| frame.view::<i64>(at))?;
        numbers.get(row)
    };
    let mut out = BytesOut::new(frame.rows);
    for row in 0..frame.rows {
        let extra = match given(1, row) {
            None | Some(2..=4) => Extra::Ignored,
            Some(1) => Extra::Refused,
            Some(other) => {
                let args: [&dyn std::fmt::Display; 3] = [&"option", &other, &NAME];
                return Err(SqlError::new(&ER_WRONG_VALUE_FOR_TYPE, &args));
            }
        };
        let text = view.get(row).filter(|text| !text.is_empty());
        let made = match text.and_then(|_| read_first(frame, 0, row)) {
            Some(json) => match shape(&json, extra) {
                Ok(shape) => Some((given(2, row).unwrap_or(0) as u32, shape)),
                Err(Fault::Told(def)) => {
                    frame.ctx.warn(def, &[]);
                    None
                }
                Err(Fault::Refused) => {
                    return Err(SqlError::new(&ER_GIS_INVALID_DATA, &[&NAME]));
                }
            },
            None => None,
        };
        push(frame, made, &mut out);
    }
    Ok(out.finish())
}

/// Reason why a document is no geometry.
enum Fault {
    /// NULL with a warning.
    Told(&'static ErrorDef),
    /// An error: a coordinate too many.
    Refused,
}

const INCORRECT: Fault = Fault::Told(&ER_GEOJSON_INCORRECT);

fn items<'j>(json: Option<&'j Json<'j>>) -> Result<&'j [Json<'j>], Fault> {
    match json {
        Some(Json::Array(items, _)) => Ok(items),
        _ => Err(INCORRECT),
    }
}

fn some_items<'j>(
    json: Option<&'j Json<'j>>,
    none: &'static ErrorDef,
) -> Result<&'j [Json<'j>], Fault> {
    match items(json)? {
        [] => Err(Fault::Told(none)),
        items => Ok(items),
    }
}

fn coordinate(json: Option<&Json<'_>>) -> Result<f64, Fault> {
    let Some(Json::Number(digits)) = json else { return Err(INCORRECT) };
    let parsed = parse_f64(digits);
    if parsed.overflow { Err(INCORRECT) } else { Ok(parsed.value) }
}

fn point(json: &Json<'_>, extra: Extra) -> Result<Point, Fault> {
    let items = items(Some(json))?;
    let point = Point { x: coordinate(items.first())?, y: coordinate(items.get(1))? };
    match items.len() > 2 && extra == Extra::Refused {
        true => Err(Fault::Refused),
        false => Ok(point),
    }
}

fn points(json: &Json<'_>, extra: Extra, none: &'static ErrorDef) -> Result<Vec<Point>, Fault> {
    some_items(Some(json), none)?.iter().map(|item| point(item, extra)).collect()
}

fn line(json: &Json<'_>, extra: Extra) -> Result<Vec<Point>, Fault> {
    points(json, extra, &ER_GEOJSON_TOO_FEW_POINTS)
}

fn ring(json: &Json<'_>, extra: Extra) -> Result<Vec<Point>, Fault> {
    let ring = line(json, extra)?;
    if ring.first() == ring.last() { Ok(ring) } else { Err(Fault::Told(&ER_GEOJSON_NOT_CLOSED)) }
}

fn rings(json: &Json<'_>, extra: Extra) -> Result<Vec<Vec<Point>>, Fault> {
    let rings = some_items(Some(json), &ER_GEOJSON_EMPTY_COORDINATES)?;
    rings.iter().map(|item| ring(item, extra)).collect()
}

/// The geometry of an object: a geometry, a feature, or several features.
fn shape(json: &Json<'_>, extra: Extra) -> Result<Shape, Fault> {
    let Some(Json::String(kind)) = json.member(b"type") else { return Err(INCORRECT) };
    let several = |json| {
        let shapes = items(json)?.iter().map(|item| shape(item, extra));
        shapes.collect::<Result<_, _>>().map(Shape::Collection)
    };
    let kind = kind.to_ascii_lowercase();
    match &kind[..] {
        b"geometrycollection" => return several(json.member(b"geometries")),
        b"featurecollection" => return several(json.member(b"features")),
        b"feature" => return shape(json.member(b"geometry").ok_or(INCORRECT)?, extra),
        _ => {}
    }
    let given = json.member(b"coordinates").ok_or(INCORRECT)?;
    let each = || some_items(Some(given), &ER_GEOJSON_EMPTY_COORDINATES);
    Ok(match &kind[..] {
        b"point" => Shape::Point(point(given, extra)?),
        b"linestring" => Shape::Line(line(given, extra)?),
        b"polygon" => Shape::Polygon(rings(given, extra)?),
        b"multipoint" => Shape::Points(points(given, extra, &ER_GEOJSON_EMPTY_COORDINATES)?),
        b"multilinestring" => {
            Shape::Lines(each()?.iter().map(|item| line(item, extra)).collect::<Result<_, _>>()?)
        }
        b"multipolygon" => Shape::Polygons(
            each()?.iter().map(|item| rings(item, extra)).collect::<Result<_, _>>()?,
        ),
        _ => return Err(INCORRECT),
    })
}
