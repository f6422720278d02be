//! Distances on a sphere.
//! Only points have one.

use selkie_geometry::{Point, Shape};
use selkie_types::error::catalogue::{
    ER_GIS_INVALID_DATA, ER_GIS_UNSUPPORTED_ARGUMENT, ER_STD_OUT_OF_RANGE_ERROR,
};
use selkie_types::{Column, SqlError, SqlResult};

use super::{double, read};
use crate::function::{Function, MANY};
use crate::kernel::{Frame, NativeOut};

/// Compat: arguments behind the third are allowed, and not used.
pub(super) static FUNCTIONS: &[Function] =
    &[Function::new("ST_DISTANCE_SPHERE", 2, MANY, |mut b| {
        for at in 0..2 {
            b.text(at);
        }
        for at in 2..b.len() {
            b.double(at);
        }
        b.maybe(double(), distances)
    })];

/// Name in errors.
const NAME: &str = "ST_Distance_Sphere";
/// The Earth's mean radius in metres.
const RADIUS: f64 = 6_370_986.0;

fn unsupported() -> SqlError {
    SqlError::new(&ER_GIS_UNSUPPORTED_ARGUMENT, &[&"st_distance_sphere"])
}

/// The points of a POINT or MULTIPOINT.
fn points(bytes: &[u8]) -> SqlResult<Vec<Point>> {
    match read(bytes).map(|stored| stored.shape) {
        Some(Shape::Point(point)) => Ok(vec![point]),
        Some(Shape::Points(points)) => Ok(points),
        Some(_) => Err(unsupported()),
        None => Err(SqlError::new(&ER_GIS_INVALID_DATA, &[&NAME])),
    }
}

fn check(point: Point) -> SqlResult<()> {
    let out_of = |what: &str| SqlError::new(&ER_STD_OUT_OF_RANGE_ERROR, &[&what, &NAME]);
    if !(-180.0..=180.0).contains(&point.x) {
        return Err(out_of("Longitude should be [-180,180]"));
    }
    if !(-90.0..=90.0).contains(&point.y) {
        return Err(out_of("Latitude should be [-90,90]"));
    }
    Ok(())
}

/// The distance by the haversine of the angle.
fn distance(a: Point, b: Point, radius: f64) -> f64 {
    let half = |angle: f64| (angle / 2.0).sin().powi(2);
    let (one, other) = (a.y.to_radians(), b.y.to_radians());
    let across = half(other - one) + one.cos() * other.cos() * half((b.x - a.x).to_radians());
    2.0 * radius * across.sqrt().min(1.0).asin()
}

fn distances(frame: &Frame<'_>) -> SqlResult<Column> {
    let (left, right) = (frame.bytes(0), frame.bytes(1));
    let radii = (frame.args.len() > 2).then(|| frame.view::<f64>(2));
    let mut out = NativeOut::new(frame.rows);
    for row in 0..frame.rows {
        let radius = match &radii {
            Some(radii) => radii.get(row),
            None => Some(RADIUS),
        };
        let (Some(a), Some(b), Some(radius)) = (left.get(row), right.get(row), radius) else {
            out.push(None);
            continue;
        };
        if radius <= 0.0 {
            return Err(unsupported());
        }
        out.push(Some(least(&points(a)?, &points(b)?, radius)?));
    }
    Ok(out.finish())
}

/// The least distance between points of both.
fn least(left: &[Point], right: &[Point], radius: f64) -> SqlResult<f64> {
    let mut least = f64::MAX;
    left.iter().chain(right).try_for_each(|point| check(*point))?;
    for a in left {
        selkie_meter::tick(right.len());
        for b in right {
            least = least.min(distance(*a, *b, radius));
        }
    }
    Ok(least)
}
