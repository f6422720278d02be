//! Text to decimal, with MariaDB's tolerance for spaces, exponents and text after the number.
//! Reports what was lost; warnings and errors are the caller's.

use ethnum::I256;

use super::pow10::{digits, pow10};
use super::{Decimal, MAX_DIGITS, MAX_SCALE};
use crate::number::Rest;

/// A decimal that was read from the start of a text.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ParsedDecimal {
    /// The number: zero if there was none, the largest of its sign after an overflow.
    pub value: Decimal,
    /// Rest of the text after the number.
    pub rest: Rest,
    /// Offset of the end of the number.
    pub consumed: usize,
    /// The number is too large.
    pub overflow: bool,
    /// Digits after the point were dropped.
    pub truncated: bool,
}

/// Digits collected so far; further digits only change the exponent.
#[derive(Default)]
struct Collected {
    small: u128,
    large: I256,
    count: u32,
    /// Power of ten of the last collected digit.
    exponent: i64,
    any: bool,
    lost: bool,
}

impl Collected {
    fn push(&mut self, digit: u8, after_point: bool) {
        self.any = true;
        if self.count == 0 && digit == 0 {
            self.exponent -= i64::from(after_point);
            return;
        }
        if self.count >= MAX_DIGITS {
            self.lost |= digit != 0;
            self.exponent += i64::from(!after_point);
            return;
        }
        self.exponent -= i64::from(after_point);
        self.count += 1;
        if self.count <= 38 {
            self.small = self.small * 10 + u128::from(digit);
            return;
        }
        if self.count == 39 {
            self.large = I256::new(self.small as i128);
        }
        self.large = self.large * I256::new(10) + I256::new(i128::from(digit));
    }

    fn value(&self) -> I256 {
        if self.count <= 38 { I256::new(self.small as i128) } else { self.large }
    }
}

impl Decimal {
    /// Reads a number from the start of `text`, after leading spaces.
    pub fn parse(text: &[u8]) -> ParsedDecimal {
        let mut at = crate::number::skip_spaces(text, 0);
        let negative = text.get(at) == Some(&b'-');
        if matches!(text.get(at), Some(b'-' | b'+')) {
            at += 1;
        }
        let mut collected = Collected::default();
        at = digits_from(text, at, &mut collected, false);
        if text.get(at) == Some(&b'.') {
            at = digits_from(text, at + 1, &mut collected, true);
        }
        if !collected.any {
            let value = Self::ZERO;
            let rest = Rest::Garbage;
            return ParsedDecimal { value, rest, consumed: 0, overflow: false, truncated: false };
        }
        let mantissa_end = at;
        let (exponent, at) = exponent_from(text, at);
        let mut parsed = assemble(&collected, collected.exponent.saturating_add(exponent));
        // Compat: such an exponent makes the number zero without a word.
        parsed.truncated &= exponent > LEAST_EXPONENT || !is_below_all(text, mantissa_end);
        if negative {
            parsed.value = -parsed.value;
        }
        parsed.consumed = at;
        parsed.rest = Rest::of(text, at);
        parsed
    }
}

fn digits_from(text: &[u8], mut at: usize, to: &mut Collected, after_point: bool) -> usize {
    while let Some(b) = text.get(at).filter(|b| b.is_ascii_digit()) {
        to.push(b - b'0', after_point);
        at += 1;
    }
    at
}

/// The least exponent that is told from others; those below it have the same effect.
const LEAST_EXPONENT: i64 = -1_000_000_000;

/// Value and end of an exponent with digits; `1e` and `1e+` have none and end before the `e`.
fn exponent_from(text: &[u8], at: usize) -> (i64, usize) {
    if !matches!(text.get(at), Some(b'e' | b'E')) {
        return (0, at);
    }
    // Compat: spaces may stand between the letter and the number.
    let sign = crate::number::skip_spaces(text, at + 1);
    let negative = text.get(sign) == Some(&b'-');
    let first = sign + usize::from(matches!(text.get(sign), Some(b'-' | b'+')));
    let mut end = first;
    let mut value = 0i64;
    while let Some(b) = text.get(end).filter(|b| b.is_ascii_digit()) {
        value = (value * 10 + i64::from(b - b'0')).min(-LEAST_EXPONENT);
        end += 1;
    }
    if end == first { (0, at) } else { (if negative { -value } else { value }, end) }
}

/// Whether the exponent that begins at `at` is below all of 64 bits.
fn is_below_all(text: &[u8], at: usize) -> bool {
    let Some((b'e' | b'E', exponent)) = text.get(at..).and_then(|rest| rest.split_first()) else {
        return false;
    };
    let exponent = &exponent[crate::number::skip_spaces(exponent, 0)..];
    let Some((b'-', digits)) = exponent.split_first() else { return false };
    let digits = digits.iter().take_while(|b| b.is_ascii_digit());
    let value =
        digits.fold(0u128, |all, b| all.saturating_mul(10).saturating_add(u128::from(b - b'0')));
    value > 1 << 63
}

fn assemble(collected: &Collected, exponent: i64) -> ParsedDecimal {
    let mut parsed = ParsedDecimal {
        value: Decimal::ZERO,
        rest: Rest::None,
        consumed: 0,
        overflow: false,
        truncated: collected.lost,
    };
    let value = collected.value();
    if exponent >= 0 {
        if value == I256::ZERO {
            return parsed;
        }
        if i64::from(collected.count) + exponent > i64::from(MAX_DIGITS) {
            parsed.overflow = true;
            parsed.value = Decimal::new(pow10(MAX_DIGITS) - I256::ONE, 0);
        } else {
            parsed.value = Decimal::new(value * pow10(exponent as u32), 0);
        }
        return parsed;
    }
    let drop = -exponent - i64::from(MAX_SCALE);
    if drop <= 0 {
        parsed.value = Decimal::new(value, -exponent as u8);
    } else if drop > i64::from(digits(value)) {
        parsed.value = Decimal::new(I256::ZERO, MAX_SCALE);
        parsed.truncated = value != I256::ZERO;
    } else {
        let power = pow10(drop as u32);
        let half = I256::from(u8::from(value % power >= power / I256::new(2)));
        parsed.truncated |= value % power != I256::ZERO;
        parsed.value = Decimal::new(value / power + half, MAX_SCALE);
    }
    parsed
}

impl std::str::FromStr for Decimal {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        let parsed = Self::parse(text.as_bytes());
        if parsed.rest == Rest::None && !parsed.overflow { Ok(parsed.value) } else { Err(()) }
    }
}
