//! Tests that the order of keys is the order of values, for each type and collation.
//! Also pins the bytes of some keys, since the format is on disk.

use proptest::prelude::*;

use super::*;
use crate::charset::{Charset, CollationId};
use crate::decimal::Decimal;
use crate::temporal::{Date, DateTime, Time};

fn key(put: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out);
    out
}

fn descending(mut key: Vec<u8>) -> Vec<u8> {
    invert(&mut key);
    key
}

fn any_text() -> impl Strategy<Value = String> {
    "[ abA\t\u{0}\u{1}éßsÿ€漢\u{7F}\u{80}\u{7F7F}\u{7F80}\u{FF20}😀]{0,7}"
}

proptest! {
    #[test]
    fn integers(a: i64, b: i64, width in 1usize..9) {
        let shift = 64 - 8 * width;
        let (a, b) = (a >> shift, b >> shift);
        let (ka, kb) = (key(|o| put_int(o, a, width)), key(|o| put_int(o, b, width)));
        prop_assert_eq!(ka.cmp(&kb), a.cmp(&b));
        prop_assert_eq!(KeyReader::new(&ka).int(width, false), Some(a));
        prop_assert_eq!(KeyReader::new(&descending(ka)).int(width, true), Some(a));
        let (a, b) = (a as u64 >> shift, b as u64 >> shift);
        let (ka, kb) = (key(|o| put_uint(o, a, width)), key(|o| put_uint(o, b, width)));
        prop_assert_eq!(ka.cmp(&kb), a.cmp(&b));
        prop_assert_eq!(KeyReader::new(&ka).uint(width, false), Some(a));
    }

    #[test]
    fn doubles(a: f64, b: f64) {
        let (ka, kb) = (key(|o| put_f64(o, a)), key(|o| put_f64(o, b)));
        prop_assert_eq!(Some(ka.cmp(&kb)), a.partial_cmp(&b));
        prop_assert_eq!(KeyReader::new(&descending(ka)).f64(true), Some(a));
        let (a, b) = (a as f32, b as f32);
        let (ka, kb) = (key(|o| put_f32(o, a)), key(|o| put_f32(o, b)));
        prop_assert_eq!(Some(ka.cmp(&kb)), a.partial_cmp(&b));
        prop_assert_eq!(KeyReader::new(&ka).f32(false), Some(a));
    }

    #[test]
    fn decimals(a: i64, b: i64, size in 0usize..3) {
        let (precision, scale) = [(18, 4), (38, 10), (65, 30)][size];
        let value = |v: i64| Decimal::from_i128(i128::from(v / 100), scale);
        let (a, b) = (value(a), value(b));
        let ka = key(|o| put_decimal(o, a, precision, scale));
        let kb = key(|o| put_decimal(o, b, precision, scale));
        prop_assert_eq!(ka.cmp(&kb), a.cmp(&b));
        prop_assert_eq!(ka.len(), decimal_width(precision));
        prop_assert_eq!(KeyReader::new(&ka).decimal(precision, scale, false), Some(a));
        prop_assert_eq!(KeyReader::new(&descending(ka)).decimal(precision, scale, true), Some(a));
    }

    #[test]
    fn temporal(a in 0u32..5_000_000, t in Time::MIN.0..Time::MAX.0) {
        let ka = key(|o| put_date(o, Date(a)));
        prop_assert_eq!(KeyReader::new(&ka).date(false), Some(Date(a)));
        let ka = key(|o| put_datetime(o, DateTime(t.abs())));
        prop_assert_eq!(KeyReader::new(&ka).datetime(false), Some(DateTime(t.abs())));
        let (ka, kb) = (key(|o| put_time(o, Time(t))), key(|o| put_time(o, Time(t / 2))));
        prop_assert_eq!(ka.cmp(&kb), t.cmp(&(t / 2)));
        prop_assert_eq!(KeyReader::new(&ka).time(false), Some(Time(t)));
    }

    #[test]
    fn text(a in any_text(), b in any_text()) {
        for collation in CollationId::all() {
            let convert = |s: &str| Charset::Utf8mb4.convert(s.as_bytes(), collation.charset).0.into_owned();
            let (a, b) = (convert(&a), convert(&b));
            let ka = key(|o| put_text(o, collation.id, &a));
            let kb = key(|o| put_text(o, collation.id, &b));
            prop_assert_eq!(ka.cmp(&kb), collation.compare(&a, &b), "{}", collation.name);
            if ka != kb {
                prop_assert!(!kb.starts_with(&ka) && !ka.starts_with(&kb), "{}", collation.name);
            }
            let joined = [&ka[..], &[0, 1, 2, 255]].concat();
            prop_assert_eq!(text_len(&joined, collation.id, false), Some(ka.len()));
            prop_assert_eq!(text_len(&descending(joined), collation.id, true), Some(ka.len()));
        }
    }

    #[test]
    fn prefixes(a in any_text(), b in any_text()) {
        for collation in CollationId::all().filter(|c| c.charset == Charset::Utf8mb4) {
            let whole = format!("{a}{b}");
            let low = key(|o| put_text_prefix(o, collation.id, a.as_bytes()));
            let inside = key(|o| put_text(o, collation.id, whole.as_bytes()));
            prop_assert!(inside.starts_with(&low), "{} {a:?} {b:?}", collation.name);
        }
    }

    #[test]
    fn bytes(a: Vec<u8>, b: Vec<u8>) {
        let ka = key(|o| put_text(o, CollationId::BINARY, &a));
        let kb = key(|o| put_text(o, CollationId::BINARY, &b));
        prop_assert_eq!(ka.cmp(&kb), a.cmp(&b));
        prop_assert_eq!(KeyReader::new(&ka).binary(false), Some(a.clone()));
        prop_assert_eq!(KeyReader::new(&descending(ka)).binary(true), Some(a));
    }
}

#[test]
fn plain_text_takes_a_byte_a_character() {
    let general =
        |text: &str| key(|o| put_text(o, CollationId::UTF8MB4_GENERAL_CI, text.as_bytes()));
    assert_eq!(general("Ab-c"), b"AB-C \x02");
    assert_eq!(general("a b "), b"A \x03B \x02");
    // The least and the greatest weights of each length.
    assert_eq!(general("\u{7F}\u{80}"), b"\x7F\x80\x00 \x02");
    assert_eq!(general("\u{7F7F}\u{7F80}"), b"\xFE\xFF\xFF\x7F\x80 \x02");
}

#[test]
fn successors() {
    let mut k = vec![1, 255, 255];
    assert!(successor(&mut k));
    assert_eq!(k, [2]);
    assert!(!successor(&mut vec![255]));
}

#[test]
fn truncated_keys_are_none() {
    assert_eq!(KeyReader::new(&[1, 2]).int(4, false), None);
    assert_eq!(text_len(b"abc", CollationId::BINARY, false), None);
    assert_eq!(text_len(b"abc", CollationId::UTF8MB4_GENERAL_CI, false), None);
    assert_eq!(KeyReader::new(b"a\0").binary(false), None);
}
