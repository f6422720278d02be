//! Fits a value to the type of a key part: its position among the values that the part can hold.
//! Index ranges are built from it, so it must agree with the comparison of values.

use std::cmp::Ordering;

use selkie_expr::TimeZone;
use selkie_expr::timezone::{Instants, timestamp};
use selkie_types::temporal::{MICROS_PER_SECOND, days_in_month};
use selkie_types::{Date, DateTime, Decimal, Physical, SqlType, Time, TypeKind, Value};

/// Position of a value among the values a column can hold.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fit {
    /// The value is one of them.
    Exact(Value),
    /// The value lies between two neighbours.
    Between(Value, Value),
    /// The value equals each of these, in ascending order: integers that round to the same DOUBLE.
    OneOf(Vec<Value>),
    /// The value equals both: a local time that occurred twice. The values between them have
    /// another order, so rows found by a bound here must be checked again.
    Twice(Value, Value),
    /// The value is less than all.
    Less,
    /// The value is greater than all.
    Greater,
    /// The value is NULL.
    Null,
}

/// Fits `value`, of type `from`, to a column of type `to`.
pub(crate) fn fit(value: Value, from: &SqlType, to: &SqlType, zone: &TimeZone) -> Fit {
    if value.is_null() {
        return Fit::Null;
    }
    match to.physical() {
        Physical::Int => fit_integer(&value, signed_range(to), |v| Value::Int(v as i64)),
        Physical::UInt => fit_integer(&value, unsigned_range(to), |v| Value::UInt(v as u64)),
        Physical::Double => fit_double(&value),
        Physical::Decimal => fit_decimal(&value, to),
        Physical::Date => fit_date(&value),
        Physical::Time => fit_time(&value, to.decimals),
        Physical::DateTime => fit_datetime(&value, from, to, zone),
        Physical::Bytes => Fit::Exact(value),
    }
}

fn signed_range(ty: &SqlType) -> (i128, i128) {
    let bits = ty.fixed_width().unwrap_or(8) as u32 * 8;
    (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
}

fn unsigned_range(ty: &SqlType) -> (i128, i128) {
    let bits = match ty.kind {
        TypeKind::Bit => ty.length.clamp(1, 64),
        _ => ty.fixed_width().unwrap_or(8) as u32 * 8,
    };
    (0, (1i128 << bits) - 1)
}

fn fit_integer(value: &Value, (min, max): (i128, i128), make: impl Fn(i128) -> Value) -> Fit {
    let (floor, exact) = match value {
        Value::Int(v) => (i128::from(*v), true),
        Value::UInt(v) => (i128::from(*v), true),
        Value::Double(v) if v.is_nan() => return Fit::Null,
        Value::Double(v) if v.abs() >= FIRST_ROUNDED => return fit_rounded(*v, (min, max), make),
        // The cast saturates; both ends lie outside every integer type.
        Value::Double(v) => (v.floor() as i128, v.fract() == 0.0),
        Value::Decimal(v) => match v.floor().to_i128() {
            Some(floor) => (floor, v.floor().cmp(v) == Ordering::Equal),
            None if v.is_negative() => return Fit::Less,
            None => return Fit::Greater,
        },
        other => return Fit::Exact(other.clone()),
    };
    match (floor < min, floor > max, exact) {
        (true, _, _) => Fit::Less,
        (_, true, _) => Fit::Greater,
        (_, _, true) => Fit::Exact(make(floor)),
        (_, _, false) if floor == max => Fit::Greater,
        _ => Fit::Between(make(floor), make(floor + 1)),
    }
}

/// From here on (2^53), several integers round to the same DOUBLE.
const FIRST_ROUNDED: f64 = 9_007_199_254_740_992.0;

/// The integers that round to the DOUBLE `v`: at most 2,049.
fn fit_rounded(v: f64, (min, max): (i128, i128), make: impl Fn(i128) -> Value) -> Fit {
    // A value halfway between two DOUBLEs rounds to the even one.
    let (below, above) = (middle(v.next_down(), v), middle(v, v.next_up()));
    let first = if below as f64 == v { below } else { below.saturating_add(1) };
    let last = if above as f64 == v { above } else { above.saturating_sub(1) };
    match (first.max(min), last.min(max)) {
        (first, _) if first > max => Fit::Greater,
        (_, last) if last < min => Fit::Less,
        (first, last) => Fit::OneOf((first..=last).map(make).collect()),
    }
}

/// The integer halfway between two neighbouring DOUBLEs; one of them may lie beyond all integers.
fn middle(low: f64, high: f64) -> i128 {
    // The casts saturate, far outside every integer type.
    let (low, high) = (low as i128, high as i128);
    low + (high - low) / 2
}

fn fit_double(value: &Value) -> Fit {
    Fit::Exact(Value::Double(match value {
        Value::Int(v) => *v as f64,
        Value::UInt(v) => *v as f64,
        Value::Double(v) => *v,
        Value::Decimal(v) => v.to_f64(),
        other => return Fit::Exact(other.clone()),
    }))
}

fn fit_decimal(value: &Value, to: &SqlType) -> Fit {
    let (precision, scale) = (to.length as u8, to.decimals);
    let value = match value {
        Value::Int(v) => Decimal::from_i128((*v).into(), 0),
        Value::UInt(v) => Decimal::from_i128((*v).into(), 0),
        Value::Decimal(v) => *v,
        Value::Double(v) => match Decimal::from_f64(*v) {
            Some(v) => v,
            None if *v < 0.0 => return Fit::Less,
            None => return Fit::Greater,
        },
        other => return Fit::Exact(other.clone()),
    };
    let max = Decimal::max_value(precision, scale);
    if value.cmp(&max) == Ordering::Greater {
        return Fit::Greater;
    }
    let least = Decimal::new(-max.unscaled(), scale);
    if value.cmp(&least) == Ordering::Less {
        return Fit::Less;
    }
    let cut = value.truncate(scale.into());
    let cut = if cut.scale() == scale { cut } else { cut.round(scale.into()) };
    let step = Decimal::from_i128(1, scale);
    match cut.cmp(&value) {
        Ordering::Equal => Fit::Exact(Value::Decimal(cut)),
        Ordering::Less => between(cut, cut.checked_add(step)),
        Ordering::Greater => match cut.checked_sub(step) {
            Some(below) => Fit::Between(Value::Decimal(below), Value::Decimal(cut)),
            None => Fit::Less,
        },
    }
}

fn between(below: Decimal, above: Option<Decimal>) -> Fit {
    match above {
        Some(above) => Fit::Between(Value::Decimal(below), Value::Decimal(above)),
        None => Fit::Greater,
    }
}

fn fit_date(value: &Value) -> Fit {
    let Value::DateTime(v) = value else { return Fit::Exact(value.clone()) };
    let date = v.date();
    if v.micros_of_day() == 0 {
        return Fit::Exact(Value::Date(date));
    }
    // Packed dates have calendar order; no date lies between a packed number and the next.
    let next = Date(date.0 + 1);
    Fit::Between(Value::Date(date), Value::Date(next))
}

/// Microseconds per step of a value with `fsp` fractional digits.
fn step(fsp: u8) -> i64 {
    MICROS_PER_SECOND / 10i64.pow(fsp.min(6).into())
}

fn fit_time(value: &Value, fsp: u8) -> Fit {
    let Value::Time(v) = value else { return Fit::Exact(value.clone()) };
    let step = step(fsp);
    let below = v.0.div_euclid(step) * step;
    if below == v.0 {
        return Fit::Exact(Value::Time(*v));
    }
    Fit::Between(Value::Time(Time(below)), Value::Time(Time(below + step)))
}

fn fit_datetime(value: &Value, from: &SqlType, to: &SqlType, zone: &TimeZone) -> Fit {
    let v = match value {
        Value::Date(v) => v.midnight(),
        Value::DateTime(v) => *v,
        other => return Fit::Exact(other.clone()),
    };
    if to.kind == TypeKind::Timestamp && !is_day(v.date()) {
        // A day that does not exist in its month lies before the first day of the next month.
        let next = Date::from_parts(v.year(), v.date().month() + 1, 1).midnight();
        return match fit_datetime(&Value::DateTime(next), from, to, zone) {
            Fit::Exact(Value::DateTime(first)) => {
                Fit::Between(Value::DateTime(DateTime(first.0 - 1)), Value::DateTime(first))
            }
            other => other,
        };
    }
    if to.kind == TypeKind::Timestamp && from.kind != TypeKind::Timestamp && v != DateTime::ZERO {
        return fit_local(v, to, zone);
    }
    fit_digits(v, v, to)
}

/// Fits a time to the column's fractional digits; `first` and `last` are its instants, equal unless
/// it occurred twice.
fn fit_digits(first: DateTime, last: DateTime, to: &SqlType) -> Fit {
    let below = last.truncate_to(to.decimals);
    match below == last {
        true if first == last => Fit::Exact(Value::DateTime(last)),
        true => Fit::Twice(Value::DateTime(first), Value::DateTime(last)),
        false => Fit::Between(Value::DateTime(below), Value::DateTime(DateTime(first.0 + 1))),
    }
}

/// Fits a local time to the instants that a TIMESTAMP stores.
fn fit_local(local: DateTime, to: &SqlType, zone: &TimeZone) -> Fit {
    let (first, last, is_skipped) = match zone.instants(local) {
        Instants::One(at) => (at, at, false),
        Instants::Two(first, last) => (first, last, false),
        Instants::None(at) => (at, at, true),
    };
    match (timestamp(first), timestamp(last)) {
        (Some(at), _) if is_skipped => {
            Fit::Between(Value::DateTime(DateTime(at.0 - 1)), Value::DateTime(at))
        }
        (Some(first), Some(last)) => fit_digits(first, last, to),
        // Before the first instant, a TIMESTAMP has only the zero date.
        _ if local.year() < 2000 => {
            Fit::Between(Value::DateTime(DateTime::ZERO), Value::DateTime(DateTime(1)))
        }
        _ => Fit::Greater,
    }
}

/// Whether the day exists in the month; true if the month is 0.
fn is_day(date: Date) -> bool {
    date.month() == 0 || date.day() <= days_in_month(date.year(), date.month())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(value: Value, to: SqlType) -> Fit {
        fit(value, &SqlType::bigint(), &to, &TimeZone::utc())
    }

    #[test]
    fn integers() {
        let tiny = SqlType::new(TypeKind::TinyInt, 4, 0);
        assert_eq!(at(Value::Int(5), tiny.clone()), Fit::Exact(Value::Int(5)));
        assert_eq!(at(Value::Int(500), tiny.clone()), Fit::Greater);
        assert_eq!(at(Value::Int(-129), tiny.clone()), Fit::Less);
        let half = Value::Decimal(Decimal::from_i128(-15, 1));
        assert_eq!(at(half, tiny), Fit::Between(Value::Int(-2), Value::Int(-1)));
    }

    #[test]
    fn integers_that_are_one_double() {
        let two_53 = 1 << 53;
        let many = |first, last| Fit::OneOf((first..=last).map(Value::Int).collect());
        let fit = |v| at(Value::Double(v), SqlType::bigint());
        assert_eq!(fit(two_53 as f64 - 1.0), Fit::Exact(Value::Int(two_53 - 1)));
        assert_eq!(fit(two_53 as f64), many(two_53, two_53 + 1));
        assert_eq!(fit(two_53 as f64 + 2.0), many(two_53 + 2, two_53 + 2));
        assert_eq!(fit(-(two_53 as f64)), many(-two_53 - 1, -two_53));
        assert_eq!(fit(i64::MAX as f64), many(i64::MAX - 511, i64::MAX));
        assert_eq!(fit(1e300), Fit::Greater);
        assert_eq!(fit(f64::INFINITY), Fit::Greater);
        assert_eq!(fit(f64::NEG_INFINITY), Fit::Less);
        assert_eq!(fit(-1e38), Fit::Less);
        for v in [two_53 as f64 * 3.0, 1e18, 9.2e18] {
            let Fit::OneOf(run) = fit(v) else { panic!("{v}") };
            let ends = [&run[0], &run[run.len() - 1]].map(|v| match v {
                Value::Int(v) => *v,
                other => panic!("{other:?}"),
            });
            assert!(ends.iter().all(|end| *end as f64 == v));
            assert!((ends[0] - 1) as f64 != v && (ends[1] + 1) as f64 != v);
        }
    }

    #[test]
    fn decimals() {
        let ty = SqlType::decimal(4, 1);
        let value = |v, s| Value::Decimal(Decimal::from_i128(v, s));
        assert_eq!(at(value(150, 2), ty.clone()), Fit::Exact(value(15, 1)));
        assert_eq!(at(value(-155, 2), ty.clone()), Fit::Between(value(-16, 1), value(-15, 1)));
        assert_eq!(at(Value::Int(1000), ty), Fit::Greater);
    }
}
