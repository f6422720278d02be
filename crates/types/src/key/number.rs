//! Numbers and temporal values in keys: fixed width, big-endian, sign bit flipped.
//! The format is on disk and must never change.

use ethnum::I256;

use crate::decimal::Decimal;
use crate::temporal::{Date, DateTime, Time};

/// Appends a signed integer in `width` bytes (1 to 8), which must hold it.
pub fn put_int(out: &mut Vec<u8>, v: i64, width: usize) {
    let flipped = v ^ 1i64 << (width * 8 - 1);
    out.extend_from_slice(&flipped.to_be_bytes()[8 - width..]);
}

/// Appends an unsigned integer in `width` bytes (1 to 8), which must hold it.
pub fn put_uint(out: &mut Vec<u8>, v: u64, width: usize) {
    out.extend_from_slice(&v.to_be_bytes()[8 - width..]);
}

/// Appends a signed integer in 8 bytes.
#[inline]
pub fn put_i64(out: &mut Vec<u8>, v: i64) {
    out.extend_from_slice(&(v ^ i64::MIN).to_be_bytes());
}

/// Appends an unsigned integer in 8 bytes.
#[inline]
pub fn put_u64(out: &mut Vec<u8>, v: u64) {
    out.extend_from_slice(&v.to_be_bytes());
}

/// Appends a double in 8 bytes; negative zero becomes zero.
pub fn put_f64(out: &mut Vec<u8>, v: f64) {
    let bits = (v + 0.0).to_bits();
    let ordered = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
    out.extend_from_slice(&ordered.to_be_bytes());
}

/// Appends a float in 4 bytes; negative zero becomes zero.
pub fn put_f32(out: &mut Vec<u8>, v: f32) {
    let bits = (v + 0.0).to_bits();
    let ordered = if bits >> 31 == 1 { !bits } else { bits | 1 << 31 };
    out.extend_from_slice(&ordered.to_be_bytes());
}

/// Size in bytes of a decimal of this precision.
pub const fn decimal_width(precision: u8) -> usize {
    match precision {
        0..=18 => 8,
        19..=38 => 16,
        _ => 32,
    }
}

/// Appends a decimal as a column of this precision and scale stores it, in [`decimal_width`] bytes.
pub fn put_decimal(out: &mut Vec<u8>, v: Decimal, precision: u8, scale: u8) {
    let unscaled = v.fit(precision, scale).0.unscaled();
    match decimal_width(precision) {
        8 => put_i64(out, unscaled.as_i64()),
        16 => out.extend_from_slice(&(unscaled.as_i128() ^ i128::MIN).to_be_bytes()),
        _ => out.extend_from_slice(&(unscaled ^ I256::MIN).to_be_bytes()),
    }
}

/// Appends a date in 4 bytes.
pub fn put_date(out: &mut Vec<u8>, v: Date) {
    out.extend_from_slice(&v.0.to_be_bytes());
}

/// Appends an instant in 8 bytes.
pub fn put_datetime(out: &mut Vec<u8>, v: DateTime) {
    put_i64(out, v.0);
}

/// Appends a time in 8 bytes.
pub fn put_time(out: &mut Vec<u8>, v: Time) {
    put_i64(out, v.0);
}
