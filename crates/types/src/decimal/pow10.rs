//! Powers of ten and digit counts of 256-bit integers.
//! From a table: divisions of 256-bit integers are slow.

use ethnum::I256;

use super::MAX_DIGITS;

const TABLE: [I256; MAX_DIGITS as usize + 1] = table();

const fn table() -> [I256; MAX_DIGITS as usize + 1] {
    let mut table = [I256::ONE; MAX_DIGITS as usize + 1];
    let (mut high, mut low) = (0u128, 1u128);
    let mut i = 1;
    while i < table.len() {
        let low_half = (low & u64::MAX as u128) * 10;
        let high_half = (low >> 64) * 10 + (low_half >> 64);
        low = (high_half << 64) | (low_half & u64::MAX as u128);
        high = high * 10 + (high_half >> 64);
        table[i] = I256::from_words(high as i128, low as i128);
        i += 1;
    }
    table
}

/// `10^n`, for `n` up to 76.
pub(crate) fn pow10(n: u32) -> I256 {
    TABLE[n as usize]
}

/// `10^n` in 128 bits, for `n` up to 38.
pub(super) fn pow10_small(n: u32) -> i128 {
    10i128.pow(n)
}

/// Number of decimal digits of the absolute value; zero has 0.
pub(crate) fn digits(v: I256) -> u32 {
    let (high, low) = v.into_words();
    if high == low >> 127 {
        return low.unsigned_abs().checked_ilog10().map_or(0, |n| n + 1);
    }
    let v = v.wrapping_abs();
    TABLE.partition_point(|p| *p <= v) as u32
}
