//! Tests of decimals: results observed on a MariaDB server, and algebraic properties.
//! Expected values must come from MariaDB, never from this code.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use proptest::prelude::*;

use super::*;
use crate::number::Rest;

fn d(text: &str) -> Decimal {
    text.parse().unwrap_or_else(|()| panic!("not a decimal: {text}"))
}

#[test]
fn text_round_trip() {
    for t in ["0", "1", "-1", "0.5", "-0.05", "123456789012345678901234567890.12345678"] {
        assert_eq!(d(t).to_string(), t);
    }
    let nines = "9".repeat(65);
    assert_eq!(d(&nines).to_string(), nines);
    assert_eq!(d("-.5e1").to_string(), "-5");
    assert_eq!(d("1.50e1").to_string(), "15.0");
    assert_eq!(d("-0.0").to_string(), "0.0");
}

#[test]
fn text_with_a_rest() {
    let p = Decimal::parse(b"  12.3456 ");
    assert_eq!((p.value.to_string().as_str(), p.rest), ("12.3456", Rest::Spaces));
    let p = Decimal::parse(b"1e5x");
    assert_eq!((p.value.to_string().as_str(), p.rest), ("100000", Rest::Garbage));
    let p = Decimal::parse(b"1e+");
    assert_eq!((p.value.to_string().as_str(), p.rest, p.consumed), ("1", Rest::Garbage, 1));
    assert!(Decimal::parse(b"1e100").overflow);
    assert!(Decimal::parse(b"1e-100").truncated);
    assert_eq!(Decimal::parse(b".").rest, Rest::Garbage);
}

#[test]
fn arithmetic() {
    let nines = d(&"9".repeat(65));
    assert_eq!(nines.checked_add(d("1")).unwrap().to_string(), format!("1{}", "0".repeat(65)));
    assert!(nines.checked_mul(nines).is_none());
    assert_eq!(d("1.55").checked_rem(d("0.3")).unwrap().to_string(), "0.05");
    assert_eq!(d("-7.5").checked_rem(d("2")).unwrap().to_string(), "-1.5");
    assert_eq!(d("1.5").checked_mul(d("-0.20")).unwrap().to_string(), "-0.300");
    assert!(d("1").checked_div(Decimal::ZERO, 4).is_none());
}

#[test]
fn quotients_have_whole_words_of_digits() {
    let third = d("1").checked_div(d("3"), 4).unwrap();
    assert_eq!(third.to_string(), "0.333333333");
    assert_eq!(third.checked_mul(d("3")).unwrap().round(4).to_string(), "1.0000");
    let q = d(&"9".repeat(65)).checked_div(d("7"), 4).unwrap().round(4);
    assert_eq!(
        q.to_string(),
        "14285714285714285714285714285714285714285714285714285714285714285.5714"
    );
}

#[test]
fn rounding() {
    assert_eq!(d("-1.5").round(0).to_string(), "-2");
    assert_eq!(d("2.5").round(0).to_string(), "3");
    assert_eq!(d("1234.567").round(-2).to_string(), "1200");
    assert_eq!(d("50").round(-2).to_string(), "100");
    assert_eq!(d("49").round(-2).to_string(), "0");
    assert_eq!(d("-0.4").round(0).to_string(), "0");
    assert_eq!(d("-1.999").truncate(2).to_string(), "-1.99");
    assert_eq!(d("1999").truncate(-2).to_string(), "1900");
    assert_eq!(d("-1.5").ceil().to_string(), "-1");
    assert_eq!(d("-1.5").floor().to_string(), "-2");
    assert_eq!(d("0.1").ceil().to_string(), "1");
    assert_eq!(d("-0.01").floor().to_string(), "-1");
    assert_eq!(d("1").round(3).to_string(), "1.000");
}

#[test]
fn fitting() {
    assert_eq!(d("12.345").fit(5, 2), (d("12.35"), Fit::Rounded));
    assert_eq!(d("12.340").fit(4, 2), (d("12.34"), Fit::Exact));
    assert_eq!(d("99.995").fit(4, 2), (d("99.99"), Fit::Clamped));
    assert_eq!(d("-1000").fit(4, 2), (d("-99.99"), Fit::Clamped));
    assert!(d("1.10").fits(2, 1) && !d("1.11").fits(2, 1));
}

#[test]
fn doubles() {
    assert_eq!(Decimal::from_f64(0.1).unwrap().to_string(), "0.1");
    assert_eq!(Decimal::from_f64(1e20).unwrap().to_string(), "100000000000000000000");
    assert_eq!(Decimal::from_f64(1.005).unwrap().round(2).to_string(), "1.01");
    assert!(Decimal::from_f64(1.797e308).is_none());
    assert_eq!(d("0.1").to_f64(), 0.1);
    assert_eq!(d("12345678901234567890.123").to_f64(), 12345678901234567890.123);
}

fn hash(v: Decimal) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(v)
}

fn any_decimal() -> impl Strategy<Value = Decimal> {
    (any::<i64>(), any::<u64>(), 0u8..39, 0u32..3).prop_map(|(a, b, scale, size)| match size {
        0 => Decimal::from_i128(i128::from(a % 1000), scale),
        1 => Decimal::from_i128(i128::from(a), scale),
        _ => Decimal::from_i128(i128::from(a) * i128::from(b), scale),
    })
}

proptest! {
    #[test]
    fn printed_text_is_read_back(v in any_decimal()) {
        let back: Decimal = v.to_string().parse().unwrap();
        prop_assert_eq!(back.unscaled(), v.unscaled());
        prop_assert_eq!(back.scale(), v.scale());
    }

    #[test]
    fn equal_values_hash_alike(v in any_decimal(), more in 0i32..10) {
        let wider = v.round((i32::from(v.scale()) + more).min(38));
        prop_assert_eq!(wider, v);
        prop_assert_eq!(hash(wider), hash(v));
    }

    #[test]
    fn subtraction_undoes_addition(a in any_decimal(), b in any_decimal()) {
        let sum = a.checked_add(b).unwrap();
        prop_assert_eq!(sum.checked_sub(b).unwrap(), a);
        prop_assert_eq!(a.cmp(&b), a.checked_sub(b).unwrap().signum().cmp(&0));
    }

    #[test]
    fn division_and_remainder_agree(a in any_decimal(), b in any_decimal()) {
        prop_assume!(!b.is_zero());
        if let Some(q) = a.checked_int_div(b) && let Some(product) = q.checked_mul(b) {
            let rest = a.checked_rem(b).unwrap();
            prop_assert_eq!(product.checked_add(rest).unwrap(), a);
        }
    }

    #[test]
    fn rounding_is_within_half_a_unit(v in any_decimal(), places in -5i32..38) {
        let difference = v.round(places).checked_sub(v).unwrap().abs();
        let unit = if places >= 0 {
            Decimal::from_i128(5, (places + 1).min(38) as u8)
        } else {
            Decimal::from_i128(5 * 10i128.pow((-places - 1) as u32), 0)
        };
        prop_assert!(difference <= unit);
    }
}
