//! DECIMAL in images: groups of nine digits, big-endian, sorted as bytes.
//!
//! Must not round: a number that does not fit its column is the caller's error.

use ethnum::I256;
use selkie_types::Decimal;

use crate::bytes::{Reader, put_be};
use crate::error::{DecodeError, DecodeResult};

/// Digits of a whole group.
const GROUP: u8 = 9;
/// Bytes of a group by its digits.
const BYTES: [usize; 10] = [0, 1, 1, 2, 2, 3, 3, 4, 4, 4];

/// Digits of each group, from the highest on: the incomplete ones are the first of the integer
/// part and the last of the fraction.
fn groups(precision: u8, scale: u8) -> impl Iterator<Item = u8> {
    let whole = precision.saturating_sub(scale);
    let of = |digits: u8| std::iter::repeat_n(GROUP, usize::from(digits / GROUP));
    let (first, last) = (whole % GROUP, scale % GROUP);
    std::iter::once(first).chain(of(whole)).chain(of(scale)).chain(std::iter::once(last))
}

fn bytes_of(digits: u8) -> usize {
    BYTES.get(usize::from(digits)).copied().unwrap_or_default()
}

/// Bytes of a value.
pub fn decimal_bytes(precision: u8, scale: u8) -> usize {
    groups(precision, scale).map(bytes_of).sum()
}

/// The number that `bytes` are, as many as [`decimal_bytes`] says.
pub fn read_decimal(bytes: &[u8], precision: u8, scale: u8) -> DecodeResult<Decimal> {
    let invalid = DecodeError::Invalid("digits of a decimal");
    let first = *bytes.first().ok_or(DecodeError::Truncated("decimal"))?;
    // A negative number has all its bits inverted, and the first of all is inverted once more.
    let is_negative = first & 0x80 == 0;
    let mask = if is_negative { 0xff } else { 0 };
    let mut plain = [0u8; 32];
    let plain = plain.get_mut(..bytes.len()).ok_or(invalid)?;
    plain.iter_mut().zip(bytes).for_each(|(to, from)| *to = from ^ mask);
    plain.iter_mut().take(1).for_each(|byte| *byte ^= 0x80);
    let mut reader = Reader::new(plain);
    let mut unscaled = I256::ZERO;
    for digits in groups(precision, scale) {
        let group = reader.be(bytes_of(digits), "decimal")?;
        let limit = 10u64.pow(u32::from(digits));
        if group >= limit {
            return Err(invalid);
        }
        unscaled = unscaled * I256::from(limit) + I256::from(group);
    }
    Ok(Decimal::new(if is_negative { -unscaled } else { unscaled }, scale))
}

/// Appends a number of at most `precision` digits, `scale` of them behind the point. Nothing is
/// appended if it has more.
pub fn put_decimal(value: Decimal, precision: u8, scale: u8, out: &mut Vec<u8>) -> bool {
    let Some(value) = value.at_scale(scale).filter(|value| value.fits(precision, scale)) else {
        return false;
    };
    let mut rest = value.unscaled().abs();
    let mut parts: Vec<(u8, u64)> = groups(precision, scale).map(|digits| (digits, 0)).collect();
    for (digits, group) in parts.iter_mut().rev() {
        let limit = I256::from(10u64.pow(u32::from(*digits)));
        *group = (rest % limit).as_u64();
        rest /= limit;
    }
    let begin = out.len();
    parts.iter().for_each(|(digits, group)| put_be(out, *group, bytes_of(*digits)));
    let mask = if value.is_negative() { 0xff } else { 0 };
    let own = out.iter_mut().skip(begin);
    own.enumerate().for_each(|(at, byte)| *byte ^= mask ^ if at == 0 { 0x80 } else { 0 });
    true
}
