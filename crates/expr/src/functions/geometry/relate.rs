//! Relations between two geometries.
//! Must end with an error rather than compute for long what nothing can stop.

use selkie_geometry::{Mbr, Relation, Shape, Unknown, distance};
use selkie_types::{Column, SqlError, SqlResult, SqlType};

use super::{double, geometry, int, read};
use crate::expr::Expr;
use crate::function::{Binding, Function, Kernel};
use crate::kernel::{Frame, NativeOut};
use crate::refuse::refuse_any;

/// Functions called by name.
pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("MBRCONTAINS", 2, 2, |b| relation(b, |f| of_rectangles(f, Mbr::contains))),
    Function::new("MBRDISJOINT", 2, 2, |b| relation(b, |f| of_rectangles(f, Mbr::disjoint))),
    Function::new("MBREQUALS", 2, 2, |b| relation(b, |f| of_rectangles(f, Mbr::equals))),
    Function::new("MBRINTERSECTS", 2, 2, |b| relation(b, |f| of_rectangles(f, Mbr::intersects))),
    Function::new("MBROVERLAPS", 2, 2, |b| relation(b, |f| of_rectangles(f, Mbr::overlaps))),
    Function::new("MBRWITHIN", 2, 2, |b| relation(b, |f| of_rectangles(f, Mbr::within))),
    Function::new("ST_CONTAINS", 2, 2, |b| relation(b, |f| related(f, |r| Some(r.contains())))),
    Function::new("ST_CROSSES", 2, 2, |b| relation(b, |f| related(f, Relation::crosses))),
    Function::new("ST_DISJOINT", 2, 2, |b| relation(b, |f| related(f, |r| Some(!r.intersects())))),
    Function::new("ST_EQUALS", 2, 2, |b| relation(b, |f| related(f, |r| Some(r.equals())))),
    Function::new("ST_INTERSECTS", 2, 2, |b| relation(b, |f| related(f, |r| Some(r.intersects())))),
    Function::new("ST_OVERLAPS", 2, 2, |b| relation(b, |f| related(f, |r| Some(r.overlaps())))),
    Function::new("ST_TOUCHES", 2, 2, |b| relation(b, |f| related(f, |r| Some(r.touches())))),
    Function::new("ST_WITHIN", 2, 2, |b| relation(b, |f| related(f, |r| Some(r.within())))),
    Function::new("ST_RELATE", 3, 3, |mut b| {
        refuse_any("st_relate", [&b.args[2]])?;
        b.ascii_text(2);
        relation(b, by_pattern)
    }),
    Function::new("ST_DISTANCE", 2, 2, |b| two(b, double(), distances)),
];

fn two(mut b: Binding<'_>, ty: SqlType, kernel: Kernel) -> SqlResult<Expr> {
    geometry(&mut b, 0)?;
    geometry(&mut b, 1)?;
    b.maybe(ty, kernel)
}

fn relation(b: Binding<'_>, kernel: Kernel) -> SqlResult<Expr> {
    two(b, int(1), kernel)
}

/// The answers of `f` about two geometries.
fn of_two<R: crate::kernel::Native>(
    frame: &Frame<'_>,
    f: impl Fn(usize, &Shape, &Shape) -> SqlResult<Option<R>>,
) -> SqlResult<Column> {
    let (left, right) = (frame.bytes(0), frame.bytes(1));
    let mut out = NativeOut::new(frame.rows);
    for row in 0..frame.rows {
        let of = |bytes: Option<&[u8]>| bytes.and_then(read).map(|stored| stored.shape);
        out.push(match (of(left.get(row)), of(right.get(row))) {
            (Some(a), Some(b)) => f(row, &a, &b)?,
            _ => None,
        });
    }
    Ok(out.finish())
}

fn of_rectangles(frame: &Frame<'_>, f: fn(&Mbr, &Mbr) -> bool) -> SqlResult<Column> {
    of_two(frame, |_, a, b| Ok(a.mbr().zip(b.mbr()).map(|(a, b)| i64::from(f(&a, &b)))))
}

/// NULL, or an error for what would take too long.
fn told<R>(answer: Result<R, Unknown>) -> SqlResult<Option<R>> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(Unknown::Null) => Ok(None),
        Err(Unknown::TooMany) => {
            Err(SqlError::not_supported("relations of geometries with so many segments"))
        }
    }
}

fn related(frame: &Frame<'_>, f: fn(&Relation) -> Option<bool>) -> SqlResult<Column> {
    of_two(frame, |_, a, b| Ok(told(Relation::of(a, b))?.and_then(|r| f(&r)).map(i64::from)))
}

fn by_pattern(frame: &Frame<'_>) -> SqlResult<Column> {
    let patterns = frame.bytes(2);
    of_two(frame, |row, a, b| {
        let Some(pattern) = patterns.get(row) else { return Ok(None) };
        Ok(told(Relation::of(a, b))?.and_then(|r| r.matches(pattern)).map(i64::from))
    })
}

fn distances(frame: &Frame<'_>) -> SqlResult<Column> {
    of_two(frame, |_, a, b| told(distance(a, b)))
}
