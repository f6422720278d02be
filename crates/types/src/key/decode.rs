//! Reads back the parts of keys whose encoding can be inverted.
//! Keys come from disk: every read is bounds-checked and gives `None` at the end.

use ethnum::I256;

use super::{NULL, decimal_width, text_len};
use crate::charset::CollationId;
use crate::decimal::Decimal;
use crate::temporal::{Date, DateTime, Time};

/// Reads a key part by part. Every method is `None` if the bytes end early.
#[derive(Copy, Clone, Debug)]
pub struct KeyReader<'a> {
    key: &'a [u8],
}

impl<'a> KeyReader<'a> {
    /// A reader at the first part.
    pub fn new(key: &'a [u8]) -> Self {
        Self { key }
    }

    /// The bytes that have not been read.
    pub fn rest(&self) -> &'a [u8] {
        self.key
    }

    fn skip(&mut self, n: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.key.split_at_checked(n)?;
        self.key = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self, descending: bool) -> Option<[u8; N]> {
        let mut bytes: [u8; N] = self.skip(N)?.try_into().ok()?;
        if descending {
            super::invert(&mut bytes);
        }
        Some(bytes)
    }

    /// Reads the first byte of a nullable part; whether the part is NULL.
    pub fn is_null(&mut self, descending: bool) -> Option<bool> {
        self.array::<1>(descending).map(|[b]| b == NULL)
    }

    /// An unsigned integer of `width` bytes.
    pub fn uint(&mut self, width: usize, descending: bool) -> Option<u64> {
        let mut bytes = [0; 8];
        let part = &mut bytes[8usize.checked_sub(width)?..];
        part.copy_from_slice(self.skip(width)?);
        if descending {
            super::invert(part);
        }
        Some(u64::from_be_bytes(bytes))
    }

    /// A signed integer of `width` bytes.
    pub fn int(&mut self, width: usize, descending: bool) -> Option<i64> {
        let unused = 64 - 8 * width as u32;
        let flipped = self.uint(width, descending)? << unused;
        Some((flipped as i64 ^ i64::MIN) >> unused)
    }

    /// A double.
    pub fn f64(&mut self, descending: bool) -> Option<f64> {
        let bits = u64::from_be_bytes(self.array(descending)?);
        Some(f64::from_bits(if bits >> 63 == 1 { bits & !(1 << 63) } else { !bits }))
    }

    /// A float.
    pub fn f32(&mut self, descending: bool) -> Option<f32> {
        let bits = u32::from_be_bytes(self.array(descending)?);
        Some(f32::from_bits(if bits >> 31 == 1 { bits & !(1 << 31) } else { !bits }))
    }

    /// A decimal of a declared precision and scale.
    pub fn decimal(&mut self, precision: u8, scale: u8, descending: bool) -> Option<Decimal> {
        let unscaled = match decimal_width(precision) {
            8 => I256::from(self.int(8, descending)?),
            16 => I256::new(i128::from_be_bytes(self.array(descending)?) ^ i128::MIN),
            _ => I256::from_be_bytes(self.array(descending)?) ^ I256::MIN,
        };
        Some(Decimal::new(unscaled, scale))
    }

    /// A date.
    pub fn date(&mut self, descending: bool) -> Option<Date> {
        self.array(descending).map(|b| Date(u32::from_be_bytes(b)))
    }

    /// An instant.
    pub fn datetime(&mut self, descending: bool) -> Option<DateTime> {
        self.int(8, descending).map(DateTime)
    }

    /// A time.
    pub fn time(&mut self, descending: bool) -> Option<Time> {
        self.int(8, descending).map(Time)
    }

    /// The bytes of a text under `binary` or another collation of bytes without padding.
    pub fn binary(&mut self, descending: bool) -> Option<Vec<u8>> {
        let len = text_len(self.key, CollationId::BINARY, descending)?;
        let part = self.skip(len)?;
        let mask = if descending { 0xFF } else { 0 };
        let mut out = Vec::with_capacity(len);
        let mut bytes = part[..len - 2].iter().map(|b| b ^ mask);
        while let Some(b) = bytes.next() {
            out.push(b);
            if b == 0 {
                bytes.next();
            }
        }
        Some(out)
    }

    /// Skips `n` bytes.
    pub fn skip_bytes(&mut self, n: usize) -> Option<()> {
        self.skip(n).map(|_| ())
    }

    /// Skips a text of any collation.
    pub fn skip_text(&mut self, collation: CollationId, descending: bool) -> Option<()> {
        let len = text_len(self.key, collation, descending)?;
        self.skip(len).map(|_| ())
    }
}
