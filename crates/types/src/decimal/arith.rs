//! Arithmetic. `None` means out of range (for division and remainder also a divisor of zero).
//! Scales of results are MariaDB's; which error or NULL the caller gives is not decided here.

use ethnum::I256;

use super::pow10::{digits, pow10, pow10_small};
use super::wide::mul_drop;
use super::{Decimal, MAX_DIGITS, MAX_SCALE};

/// Digits in a word of MariaDB's decimals; this affects the length of quotients.
const WORD: u32 = 9;

impl Decimal {
    /// Sum; the scale is the larger of the two.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        if self.scale == other.scale {
            return Self::bounded(self.unscaled.checked_add(other.unscaled)?, self.scale);
        }
        let (a, b, scale) = self.aligned(other);
        Self::bounded(a.checked_add(b)?, scale)
    }

    /// Difference; the scale is the larger of the two.
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.checked_add(-other)
    }

    /// Product; its scale is the sum of both, limited to 38 and to what fits.
    pub fn checked_mul(self, other: Self) -> Option<Self> {
        let scale = self.scale + other.scale;
        if scale <= MAX_SCALE {
            if let (Some(a), Some(b)) = (self.small_unscaled(), other.small_unscaled())
                && let Some(product) = a.checked_mul(b)
            {
                return Some(Self::from_i128(product, scale));
            }
            let product = self.unscaled.checked_mul(other.unscaled);
            if let Some(product) = product.and_then(|p| Self::bounded(p, scale)) {
                return Some(product);
            }
        }
        // Digits before the point have priority over digits after it.
        let room = digits(self.unscaled) + digits(other.unscaled);
        let drop = room.saturating_sub(MAX_DIGITS).max(u32::from(scale.saturating_sub(MAX_SCALE)));
        let scale = u32::from(scale).checked_sub(drop)? as u8;
        Self::bounded(mul_drop(self.unscaled, other.unscaled, drop)?, scale)
    }

    /// Quotient with the digits that MariaDB computes; further digits are cut off.
    ///
    /// Compat: at least `self.scale() + increment` digits after the point, rounded up to whole
    /// words of nine. The declared scale of the expression applies when the value is shown or
    /// stored, so `1/3*3` is 1.0000 although `1/3` shows as 0.3333.
    pub fn checked_div(self, other: Self, increment: u32) -> Option<Self> {
        let words = |scale: u8| u32::from(scale).div_ceil(WORD) * WORD;
        let (left, right) = (words(self.scale), words(other.scale));
        let slack = left - u32::from(self.scale) + right - u32::from(other.scale);
        let digits = (left + right + increment.saturating_sub(slack)).div_ceil(WORD) * WORD;
        let mut scale = digits.min(u32::from(MAX_SCALE)) as u8;
        // Digits before the point have priority over digits after it.
        loop {
            match self.div_to_scale(other, scale) {
                None if scale > 0 && !other.is_zero() => scale = scale.saturating_sub(WORD as u8),
                result => return result,
            }
        }
    }

    /// Quotient with exactly `scale` digits after the point; further digits are cut off.
    pub fn div_to_scale(self, other: Self, scale: u8) -> Option<Self> {
        if other.is_zero() {
            return None;
        }
        let shift = i32::from(scale) + i32::from(other.scale) - i32::from(self.scale);
        let up = shift.max(0) as u32;
        if let (Some(a), Some(b)) = (self.small_unscaled(), other.small_unscaled())
            && shift >= 0
            && up <= 38
            && let Some(a) = a.checked_mul(pow10_small(up))
            && let Some(q) = a.checked_div(b)
        {
            return Some(Self::from_i128(q, scale));
        }
        if shift < 0 {
            let divisor = other.unscaled.checked_mul(pow10(-shift as u32));
            return Some(Self::new(divisor.map_or(I256::ZERO, |d| self.unscaled / d), scale));
        }
        long_division(self.unscaled, other.unscaled, up).and_then(|q| Self::bounded(q, scale))
    }

    /// Remainder with the sign of `self`; the scale is the larger of the two.
    pub fn checked_rem(self, other: Self) -> Option<Self> {
        if other.is_zero() {
            return None;
        }
        let (a, b, scale) = self.aligned(other);
        Some(Self::new(a % b, scale))
    }

    /// Integer quotient (`DIV`), cut towards zero.
    pub fn checked_int_div(self, other: Self) -> Option<Self> {
        self.div_to_scale(other, 0)
    }

    /// Absolute value.
    pub fn abs(self) -> Self {
        Self::new(self.unscaled.wrapping_abs(), self.scale)
    }

    /// Both integers at a common scale: the larger scale, or the largest that fits.
    fn aligned(self, other: Self) -> (I256, I256, u8) {
        let scale = self.scale.max(other.scale);
        let room = |d: Self| {
            let free = MAX_DIGITS.saturating_sub(digits(d.unscaled));
            (u32::from(d.scale) + free).min(u32::from(MAX_SCALE)) as u8
        };
        let scale = scale.min(room(self)).min(room(other));
        let at_scale = |d: Self| -> I256 {
            if d.scale <= scale {
                d.unscaled * pow10(u32::from(scale - d.scale))
            } else {
                d.unscaled / pow10(u32::from(d.scale - scale))
            }
        };
        (at_scale(self), at_scale(other), scale)
    }

    fn bounded(unscaled: I256, scale: u8) -> Option<Self> {
        (digits(unscaled) <= MAX_DIGITS).then_some(Self { unscaled, scale })
    }
}

/// `a * 10^up / b`, digit by digit where an intermediate value would overflow.
fn long_division(a: I256, b: I256, mut up: u32) -> Option<I256> {
    let free = MAX_DIGITS.saturating_sub(digits(a)).min(up);
    let scaled = a * pow10(free);
    let (mut quotient, mut rest) = (scaled / b, scaled % b);
    up -= free;
    while up > 0 {
        let step = MAX_DIGITS.saturating_sub(digits(rest)).min(up).max(1);
        let power = pow10(step);
        let scaled = rest.checked_mul(power)?;
        quotient = quotient.checked_mul(power)?.checked_add(scaled / b)?;
        rest = scaled % b;
        up -= step;
    }
    Some(quotient)
}

impl std::ops::Neg for Decimal {
    type Output = Self;
    fn neg(self) -> Self {
        Self::new(-self.unscaled, self.scale)
    }
}
