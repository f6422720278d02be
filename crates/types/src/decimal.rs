//! Exact decimal numbers as MariaDB's DECIMAL: up to 65 digits, up to 38 of them after the point.
//!
//! A value is an integer and the number of its digits after the point. Intermediate results may
//! have more than 65 digits (at most 76); columns and casts limit them. Must not know about
//! columns, warnings or sql modes.

mod arith;
mod convert;
mod format;
mod parse;
mod pow10;
mod round;
mod wide;

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use ethnum::I256;

pub use parse::ParsedDecimal;
pub(crate) use pow10::{digits, pow10};
pub use round::Fit;

/// Most digits a DECIMAL column can have.
pub const MAX_PRECISION: u8 = 65;
/// Most digits after the point.
pub const MAX_SCALE: u8 = 38;
/// Most digits of an intermediate result.
const MAX_DIGITS: u32 = 76;

/// An exact decimal number.
#[derive(Copy, Clone)]
pub struct Decimal {
    unscaled: I256,
    scale: u8,
}

impl Decimal {
    /// Most digits of an intermediate result, before and after the point together.
    pub const MOST_DIGITS: u32 = MAX_DIGITS;
    /// Zero without digits after the point.
    pub const ZERO: Self = Self { unscaled: I256::ZERO, scale: 0 };

    /// The number `unscaled / 10^scale`; `scale` is at most [`MAX_SCALE`].
    pub const fn new(unscaled: I256, scale: u8) -> Self {
        debug_assert!(scale <= MAX_SCALE);
        Self { unscaled, scale }
    }

    /// The number `unscaled / 10^scale` of a small integer.
    pub const fn from_i128(unscaled: i128, scale: u8) -> Self {
        Self::new(I256::new(unscaled), scale)
    }

    /// The integer without the point.
    pub const fn unscaled(self) -> I256 {
        self.unscaled
    }

    /// The integer without the point, if it fits.
    pub fn small_unscaled(self) -> Option<i128> {
        let (high, low) = self.unscaled.into_words();
        (high == low >> 127).then_some(low)
    }

    /// Number of digits after the point.
    pub const fn scale(self) -> u8 {
        self.scale
    }

    /// Number of digits before the point, not counting leading zeros.
    pub fn int_digits(self) -> u32 {
        digits(self.unscaled).saturating_sub(u32::from(self.scale))
    }

    /// Number of digits, at least the scale and at least one.
    pub fn precision(self) -> u32 {
        (self.int_digits() + u32::from(self.scale)).max(1)
    }

    /// Whether the number is zero.
    pub fn is_zero(self) -> bool {
        self.unscaled == I256::ZERO
    }

    /// Whether the number is below zero.
    pub fn is_negative(self) -> bool {
        self.unscaled < I256::ZERO
    }

    /// -1, 0 or 1.
    pub fn signum(self) -> i32 {
        self.unscaled.signum().as_i32()
    }

    /// The same number without trailing zeros after the point.
    pub fn normalised(self) -> Self {
        if let Some(mut v) = self.small_unscaled() {
            let mut scale = self.scale;
            while scale > 0 && v % 10 == 0 {
                v /= 10;
                scale -= 1;
            }
            return Self::from_i128(v, scale);
        }
        let mut n = self;
        let ten = I256::new(10);
        while n.scale > 0 && n.unscaled % ten == I256::ZERO {
            n.unscaled /= ten;
            n.scale -= 1;
        }
        n
    }
}

impl Default for Decimal {
    fn default() -> Self {
        Self::ZERO
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.scale == other.scale {
            return self.unscaled.cmp(&other.unscaled);
        }
        if self.scale > other.scale {
            return other.cmp(self).reverse();
        }
        let power = pow10(u32::from(other.scale - self.scale));
        match self.unscaled.checked_mul(power) {
            Some(scaled) => scaled.cmp(&other.unscaled),
            // The number that is too long to be aligned has the larger absolute value.
            None => self.unscaled.cmp(&I256::ZERO),
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Decimal {}

impl Hash for Decimal {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let n = self.normalised();
        match n.small_unscaled() {
            Some(small) => small.hash(state),
            None => n.unscaled.hash(state),
        }
        n.scale.hash(state);
    }
}

#[cfg(test)]
mod tests;
