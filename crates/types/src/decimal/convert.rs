//! Conversions between decimals and machine numbers, with MariaDB's rounding.
//! Half is rounded away from zero for integers; a double becomes the decimal it prints as.

use ethnum::I256;

use super::Decimal;

/// Powers of ten that are exact in a double.
const EXACT_POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

impl Decimal {
    /// Rounded half away from zero to an integer; `None` if out of range.
    pub fn to_i64(self) -> Option<i64> {
        i64::try_from(self.to_i128()?).ok()
    }

    /// Rounded half away from zero to an unsigned integer; `None` if out of range.
    pub fn to_u64(self) -> Option<u64> {
        u64::try_from(self.to_i128()?).ok()
    }

    /// Rounded half away from zero to an integer; `None` if out of range.
    pub fn to_i128(self) -> Option<i128> {
        self.round(0).small_unscaled()
    }

    /// Rounded to an integer; out of range, the nearest end with `true`.
    pub fn to_i64_clamped(self) -> (i64, bool) {
        match self.to_i64() {
            Some(v) => (v, false),
            None if self.is_negative() => (i64::MIN, true),
            None => (i64::MAX, true),
        }
    }

    /// Rounded to an unsigned integer; out of range, the nearest end with `true`.
    pub fn to_u64_clamped(self) -> (u64, bool) {
        match self.to_u64() {
            Some(v) => (v, false),
            None if self.is_negative() => (0, true),
            None => (u64::MAX, true),
        }
    }

    /// The nearest double.
    pub fn to_f64(self) -> f64 {
        if let Some(v) = self.small_unscaled()
            && v.unsigned_abs() < 1 << 53
            && let Some(power) = EXACT_POWERS.get(usize::from(self.scale))
        {
            return v as f64 / power;
        }
        self.to_string().parse().unwrap_or(0.0)
    }

    /// The decimal that a double prints as; `None` if it is not finite or too large.
    pub fn from_f64(v: f64) -> Option<Self> {
        if !v.is_finite() {
            return None;
        }
        let parsed = Self::parse(ryu::Buffer::new().format_finite(v).as_bytes());
        // The shortest text of a whole number ends in ".0", which is dropped here.
        let value = if v.fract() == 0.0 { parsed.value.round(0) } else { parsed.value };
        (!parsed.overflow).then_some(value)
    }
}

impl From<i64> for Decimal {
    fn from(v: i64) -> Self {
        Self::from_i128(i128::from(v), 0)
    }
}

impl From<u64> for Decimal {
    fn from(v: u64) -> Self {
        Self::from_i128(i128::from(v), 0)
    }
}

impl From<i128> for Decimal {
    fn from(v: i128) -> Self {
        Self::new(I256::new(v), 0)
    }
}
