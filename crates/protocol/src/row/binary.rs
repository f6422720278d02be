//! Rows of the binary protocol: a null bitmap, then values in their wire form.
//!
//! Must not convert between types: the caller calls the function for the column's wire type.

use crate::writer::{put_u16, put_u32, put_u64};

/// Bits of the null bitmap that are not columns.
const NULL_BIT_OFFSET: usize = 2;

/// A row that is being written, with the position of its null bitmap.
#[derive(Debug)]
pub struct BinaryRow {
    bitmap: usize,
}

impl BinaryRow {
    /// Begins a row of `columns` columns.
    pub fn begin(out: &mut Vec<u8>, columns: usize) -> Self {
        out.push(0);
        let bitmap = out.len();
        out.resize(bitmap + (columns + NULL_BIT_OFFSET).div_ceil(8), 0);
        Self { bitmap }
    }

    /// Marks `column` as NULL; then it has no value.
    #[inline]
    pub fn set_null(&self, out: &mut [u8], column: usize) {
        let bit = column + NULL_BIT_OFFSET;
        out[self.bitmap + bit / 8] |= 1 << (bit % 8);
    }
}

/// A point in time, split into parts.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct DateTimeParts {
    /// Year.
    pub year: u16,
    /// Month, 0 for a zero date.
    pub month: u8,
    /// Day, 0 for a zero date.
    pub day: u8,
    /// Hour.
    pub hour: u8,
    /// Minute.
    pub minute: u8,
    /// Second.
    pub second: u8,
    /// Microsecond.
    pub micros: u32,
}

/// A duration, split into parts.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct TimeParts {
    /// Sign.
    pub negative: bool,
    /// Hours, including days.
    pub hours: u32,
    /// Minute.
    pub minute: u8,
    /// Second.
    pub second: u8,
    /// Microsecond.
    pub micros: u32,
}

/// Appends a DATE.
pub fn put_date(out: &mut Vec<u8>, year: u16, month: u8, day: u8) {
    if (year, month, day) == (0, 0, 0) {
        return out.push(0);
    }
    out.push(4);
    put_u16(out, year);
    out.extend_from_slice(&[month, day]);
}

/// Appends a DATETIME or TIMESTAMP in the shortest form.
pub fn put_datetime(out: &mut Vec<u8>, t: &DateTimeParts) {
    if *t == DateTimeParts::default() {
        return out.push(0);
    }
    let len = match (t.micros, t.hour, t.minute, t.second) {
        (0, 0, 0, 0) => 4,
        (0, ..) => 7,
        _ => 11,
    };
    out.push(len);
    put_u16(out, t.year);
    out.extend_from_slice(&[t.month, t.day]);
    if len >= 7 {
        out.extend_from_slice(&[t.hour, t.minute, t.second]);
    }
    if len == 11 {
        put_u32(out, t.micros);
    }
}

/// Appends a TIME in the shortest form.
pub fn put_time(out: &mut Vec<u8>, t: &TimeParts) {
    if (t.hours, t.minute, t.second, t.micros) == (0, 0, 0, 0) {
        return out.push(0);
    }
    out.push(if t.micros == 0 { 8 } else { 12 });
    out.push(u8::from(t.negative));
    put_u32(out, t.hours / 24);
    out.extend_from_slice(&[(t.hours % 24) as u8, t.minute, t.second]);
    if t.micros != 0 {
        put_u32(out, t.micros);
    }
}

/// Appends an integer of `width` bytes (1, 2, 4 or 8).
#[inline]
pub fn put_int(out: &mut Vec<u8>, v: i64, width: usize) {
    out.extend_from_slice(&v.to_le_bytes()[..width.min(8)]);
}

/// Appends a FLOAT. A zero is sent without a sign.
pub fn put_f32(out: &mut Vec<u8>, v: f32) {
    put_u32(out, (v + 0.0).to_bits());
}

/// Appends a DOUBLE. A zero is sent without a sign.
pub fn put_f64(out: &mut Vec<u8>, v: f64) {
    put_u64(out, (v + 0.0).to_bits());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_have_no_sign() {
        let mut out = Vec::new();
        put_f32(&mut out, -0.0);
        put_f64(&mut out, -0.0);
        assert_eq!(out, [0; 12]);
    }
}
