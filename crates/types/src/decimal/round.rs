//! Rounding, and fitting values into a declared precision and scale.
//! Half is rounded away from zero, as in MariaDB's DECIMAL.

use ethnum::I256;

use super::pow10::{digits, pow10, pow10_small};
use super::{Decimal, MAX_SCALE};

/// Outcome of fitting a value into a declared type.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Fit {
    /// The value is unchanged.
    Exact,
    /// Digits after the point were rounded away.
    Rounded,
    /// The value was out of range and became the nearest that fits.
    Clamped,
}

#[derive(Copy, Clone, PartialEq)]
enum Direction {
    HalfUp,
    Cut,
    Ceil,
    Floor,
}

impl Decimal {
    /// Rounded half away from zero to `places` digits after the point; if negative, before it.
    ///
    /// The scale becomes `places` (at most 38); zeros are added where needed.
    pub fn round(self, places: i32) -> Self {
        self.rescaled(places, Direction::HalfUp)
    }

    /// Rounded to `scale` digits after the point; `None` if they do not fit.
    pub fn at_scale(self, scale: u8) -> Option<Self> {
        let value = if self.scale == scale { self } else { self.round(scale.into()) };
        (value.scale == scale).then_some(value)
    }

    /// The greatest value of this scale, or the least if `negative`.
    pub(crate) fn greatest(scale: u8, negative: bool) -> Self {
        let max = Self::max_value(super::MAX_DIGITS as u8, scale);
        if negative { -max } else { max }
    }

    /// Cut off after `places` digits after the point; if negative, before it.
    pub fn truncate(self, places: i32) -> Self {
        self.rescaled(places, Direction::Cut)
    }

    /// The smallest integer that is not less.
    pub fn ceil(self) -> Self {
        self.rescaled(0, Direction::Ceil)
    }

    /// The largest integer that is not greater.
    pub fn floor(self) -> Self {
        self.rescaled(0, Direction::Floor)
    }

    /// Whether the value has this precision and scale without loss.
    pub fn fits(self, precision: u8, scale: u8) -> bool {
        let n = if self.scale > scale { self.normalised() } else { self };
        n.scale <= scale && n.int_digits() <= u32::from(precision - scale)
    }

    /// The largest value of a declared precision and scale.
    pub fn max_value(precision: u8, scale: u8) -> Self {
        Self::new(pow10(u32::from(precision)) - I256::ONE, scale)
    }

    /// The value as a column of this precision and scale stores it.
    pub fn fit(self, precision: u8, scale: u8) -> (Self, Fit) {
        if self.scale == scale && digits(self.unscaled) <= u32::from(precision) {
            return (self, Fit::Exact);
        }
        if self.int_digits() > u32::from(precision - scale) {
            return (Self::clamped(self, precision, scale), Fit::Clamped);
        }
        let rounded = self.round(i32::from(scale));
        if digits(rounded.unscaled) > u32::from(precision) {
            return (Self::clamped(self, precision, scale), Fit::Clamped);
        }
        let exact = scale >= self.scale || rounded == self;
        (rounded, if exact { Fit::Exact } else { Fit::Rounded })
    }

    fn clamped(self, precision: u8, scale: u8) -> Self {
        let max = Self::max_value(precision, scale);
        if self.is_negative() { -max } else { max }
    }

    fn rescaled(self, places: i32, direction: Direction) -> Self {
        let wanted = places.clamp(0, i32::from(MAX_SCALE)) as u8;
        let drop = i32::from(self.scale) - places.min(i32::from(MAX_SCALE));
        if drop <= 0 {
            return self.extended(wanted);
        }
        let drop = drop as u32;
        if drop > digits(self.unscaled) && !matches!(direction, Direction::Ceil | Direction::Floor)
        {
            return Self::new(I256::ZERO, wanted);
        }
        let quotient = match self.small_unscaled() {
            Some(v) if drop < 38 => I256::new(divide_small(v, drop, direction)),
            _ => divide(self.unscaled, drop, direction),
        };
        // Digits dropped before the point are replaced by zeros.
        let zeros = (-places).max(0) as u32;
        let value = if zeros > 0 && quotient != I256::ZERO {
            quotient.checked_mul(pow10(zeros)).unwrap_or(quotient)
        } else {
            quotient
        };
        Self::new(value, wanted)
    }

    /// The value with zeros added after the point, as many as fit.
    fn extended(self, scale: u8) -> Self {
        let more = u32::from(scale - self.scale);
        match self.unscaled.checked_mul(pow10(more)) {
            Some(v) if digits(v) <= super::MAX_DIGITS => Self::new(v, scale),
            _ => self,
        }
    }
}

fn divide_small(v: i128, drop: u32, direction: Direction) -> i128 {
    let power = pow10_small(drop);
    let (q, r) = (v / power, v % power);
    q + match direction {
        Direction::HalfUp if r.unsigned_abs() >= (power / 2) as u128 => v.signum(),
        Direction::Ceil if r > 0 => 1,
        Direction::Floor if r < 0 => -1,
        _ => 0,
    }
}

fn divide(v: I256, drop: u32, direction: Direction) -> I256 {
    if drop > super::MAX_DIGITS {
        return I256::ZERO;
    }
    let power = pow10(drop);
    let (q, r) = (v / power, v % power);
    q + match direction {
        Direction::HalfUp if r.wrapping_abs() >= power / I256::new(2) => v.signum(),
        Direction::Ceil if r > I256::ZERO => I256::ONE,
        Direction::Floor if r < I256::ZERO => -I256::ONE,
        _ => I256::ZERO,
    }
}
