//! GREATEST, LEAST and INTERVAL(n, ...).
//! The type that compares is not always the type of the result: both follow MariaDB.

use selkie_meter::spend;
use selkie_types::{
    CollationId, Column, ColumnData, GeometryKind, NOT_FIXED_DECIMALS, SqlResult, SqlType, TypeKind,
};

use crate::build::{CompareTypes, compare_types};
use crate::cast;
use crate::expr::{CallOption, CompareBy, CompareOp, Expr};
use crate::function::{Binding, Function, MANY};
use crate::kernel::{Frame, NativeOut, first_rows};
use crate::result_type::double_type;
use crate::union_type::unify_args;

/// Functions called by name.
pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("GREATEST", 2, MANY, |b| bind(b, "greatest")),
    Function::new("LEAST", 2, MANY, |b| bind(b, "least")),
    Function::new("INTERVAL", 2, MANY, bind_interval),
];

/// Compat: one temporal argument makes the others temporal. Otherwise a number beside a string
/// makes all of them doubles.
fn bind(mut b: Binding<'_>, name: &str) -> SqlResult<Expr> {
    b.args.iter_mut().for_each(cast::to_widest_variable);
    crate::refuse::refuse_beside(name, &b.args.iter().collect::<Vec<_>>())?;
    let family = b.args.iter().skip(1).fold(compare_types(&b.args[0], &b.args[0]), |f, e| {
        let next = compare_types(&b.args[0], e);
        if next == f { f } else { wider(f, next) }
    });
    let number = matches!(family, CompareTypes::Integer | CompareTypes::Decimal);
    let mixed = number && b.args.iter().any(is_named);
    let family = if mixed { CompareTypes::Double } else { family };
    let by = match family {
        CompareTypes::Date => {
            (0..b.len()).for_each(|at| b.date(at));
            CompareBy::Date
        }
        CompareTypes::DateTime => {
            let dates = dates_only(&b);
            b.args.iter_mut().for_each(cast::to_compared_datetime);
            if dates {
                (0..b.len()).for_each(|at| b.date(at));
            }
            if dates { CompareBy::Date } else { CompareBy::DateTime }
        }
        CompareTypes::Time => {
            (0..b.len()).for_each(|at| b.time(at));
            CompareBy::Time
        }
        CompareTypes::Double => return doubles(b),
        _ => return by_common_type(b, name),
    };
    finish(b, by)
}

/// Whether this is a text, a member of ENUM or SET, or a hexadecimal literal.
fn is_named(e: &Expr) -> bool {
    e.ty.is_string() || e.ty.members.is_some()
}

fn doubles(mut b: Binding<'_>) -> SqlResult<Expr> {
    let decimals = |e: &Expr| match e.ty.kind {
        _ if e.is_hex() || e.ty.members.is_some() => 0,
        _ if e.ty.is_string() => NOT_FIXED_DECIMALS,
        _ => e.ty.decimals,
    };
    let decimals = b.args.iter().map(decimals).max().unwrap_or(0);
    (0..b.len()).for_each(|at| b.double(at));
    let nullable = b.nullable();
    b.option = CallOption::compared_by(CompareBy::Double);
    Ok(b.call(double_type(decimals), nullable, extreme))
}

fn wider(a: CompareTypes, b: CompareTypes) -> CompareTypes {
    use CompareTypes::*;
    match (a, b) {
        (FixedBinary(kind), _) | (_, FixedBinary(kind)) => FixedBinary(kind),
        (DateTime, _) | (_, DateTime) => DateTime,
        (Date, _) | (_, Date) => DateTime,
        (Time, _) | (_, Time) => Time,
        (Double, _) | (_, Double) => Double,
        (String, String) => String,
        (String, _) | (_, String) => Double,
        (Decimal, _) | (_, Decimal) => Decimal,
        _ => Integer,
    }
}

/// Whether there is a date among the arguments and none has a time of day.
fn dates_only(b: &Binding<'_>) -> bool {
    b.args.iter().any(|e| e.ty.kind == TypeKind::Date)
        && b.args.iter().all(|e| e.ty.kind == TypeKind::Date || !e.ty.is_temporal())
}

fn by_common_type(mut b: Binding<'_>, name: &str) -> SqlResult<Expr> {
    let ty = unify_args(&mut b, name)?;
    let by = match ty.physical() {
        selkie_types::Physical::Int => CompareBy::Int,
        selkie_types::Physical::UInt => CompareBy::UInt,
        selkie_types::Physical::Double => CompareBy::Double,
        selkie_types::Physical::Decimal => CompareBy::Decimal,
        _ if ty.is_opaque() => CompareBy::Bytes(CollationId::BINARY),
        _ => {
            let count = b.len();
            b.unify(0..count, true)?;
            CompareBy::Bytes(b.collation)
        }
    };
    finish(b, by)
}

/// The common type of geometries; `None` if there is something else.
fn common_geometry(args: &[Expr]) -> Option<GeometryKind> {
    let kinds = args.iter().filter(|e| e.ty.kind != TypeKind::Null).map(|e| e.ty.geometry_kind());
    let kinds = kinds.collect::<Option<Vec<_>>>()?;
    kinds.into_iter().reduce(GeometryKind::joined)
}

fn finish(mut b: Binding<'_>, by: CompareBy) -> SqlResult<Expr> {
    let mut ty = b.args[0].ty.clone();
    let decimals = b.args.iter().map(|a| a.ty.decimals).max().unwrap_or(0);
    let length = b.args.iter().map(|a| a.ty.length).max().unwrap_or(0);
    match by {
        CompareBy::Time | CompareBy::DateTime => ty.decimals = decimals,
        CompareBy::Bytes(_) if ty.fixed_binary().is_some() => {}
        CompareBy::Bytes(_) if let Some(kind) = common_geometry(&b.args) => {
            ty = SqlType::of_geometry(kind);
        }
        CompareBy::Bytes(collation) => {
            ty = crate::function::string_type(length.into(), collation, b.types);
            ty.unsigned = b.args.iter().all(Expr::is_hex);
        }
        _ => {}
    }
    b.option = CallOption::compared_by(by);
    let nullable =
        b.nullable() || matches!(by, CompareBy::Date | CompareBy::Time | CompareBy::DateTime);
    Ok(b.call(ty, nullable, extreme))
}

fn extreme(frame: &Frame<'_>) -> SqlResult<Column> {
    let by = frame.call.compares_by();
    let greatest = frame.call.function.name() == "GREATEST";
    let op = if greatest { CompareOp::Gt } else { CompareOp::Lt };
    let mut best = first_rows(&frame.args[0], frame.rows);
    for arg in &frame.args[1..] {
        spend(64 * (4 + frame.rows))?;
        let arg = first_rows(arg, frame.rows);
        let wins = crate::eval::compare_columns(op, by, &arg, &best, frame.rows);
        let places: Vec<u32> = (0..frame.rows)
            .map(|row| if wins.yes.get(row) { (frame.rows + row) as u32 } else { row as u32 })
            .collect();
        let nulls: Vec<bool> = (0..frame.rows).map(|r| arg.is_null(r) || best.is_null(r)).collect();
        best.append(&arg);
        let places: Vec<u32> = places
            .iter()
            .zip(nulls)
            .map(|(&place, null)| if null { selkie_types::NULL_ROW } else { place })
            .collect();
        best = best.gather(&places);
    }
    Ok(if matches!(by, CompareBy::Date | CompareBy::DateTime) {
        of_days(frame, best)
    } else {
        best
    })
}

/// Compat: a day that its month does not have is compared, but as a result it is NULL.
fn of_days(frame: &Frame<'_>, best: Column) -> Column {
    let options = selkie_types::temporal::DateOptions::from(frame.ctx.types.sql_mode);
    let is_day = |row: usize| match best.data() {
        ColumnData::Date(v) => v[best.physical_row(row)].is_valid(options),
        ColumnData::DateTime(v) => v[best.physical_row(row)].date().is_valid(options),
        _ => true,
    };
    if (0..frame.rows).all(is_day) {
        return best;
    }
    let mut places: Vec<u32> = (0..frame.rows as u32).collect();
    for row in (0..frame.rows).filter(|&row| !best.is_null(row) && !is_day(row)) {
        let text = crate::text::display(&best.value(row), frame.ty);
        cast::incorrect(frame.ctx, "datetime", &text);
        places[row] = selkie_types::NULL_ROW;
    }
    best.gather(&places)
}

/// The number of bounds that are not greater than the first argument; -1 for NULL.
fn bind_interval(mut b: Binding<'_>) -> SqlResult<Expr> {
    let integers = b.args.iter().all(|e| e.ty.is_integer());
    (0..b.len()).for_each(|at| if integers { b.int(at) } else { b.double(at) });
    let ty = SqlType::new(TypeKind::Int, 2, 0);
    if integers { b.never_null(ty, interval::<i64>) } else { b.never_null(ty, interval::<f64>) }
}

fn interval<T: crate::kernel::Native + PartialOrd>(frame: &Frame<'_>) -> SqlResult<Column> {
    let value = frame.view::<T>(0);
    let bounds: Vec<_> = (1..frame.args.len()).map(|at| frame.view::<T>(at)).collect();
    let mut out = NativeOut::new(frame.rows);
    for row in 0..frame.rows {
        out.push(Some(value.get(row).map_or(-1, |v| {
            let passed = |b: &&crate::kernel::View<'_, T>| b.get(row).is_none_or(|b| b <= v);
            bounds.iter().take_while(passed).count() as i64
        })));
    }
    Ok(out.finish())
}
