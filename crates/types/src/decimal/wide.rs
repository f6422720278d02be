//! Products that only fit 256 bits after digits behind the point are dropped.
//! The slow path of [`Decimal::checked_mul`](crate::Decimal::checked_mul).

use ethnum::I256;

/// `a * b / 10^drop`, rounded half away from zero; `None` if even that does not fit.
pub(super) fn mul_drop(a: I256, b: I256, drop: u32) -> Option<I256> {
    let negative = (a < I256::ZERO) != (b < I256::ZERO);
    let mut product = mul(limbs(a), limbs(b));
    let mut last = 0;
    for _ in 0..drop {
        last = div_small(&mut product, 10);
    }
    if last >= 5 {
        add_one(&mut product);
    }
    if product[4..].iter().any(|&l| l != 0) || product[3] >> 63 != 0 {
        return None;
    }
    let low = u128::from(product[0]) | u128::from(product[1]) << 64;
    let high = u128::from(product[2]) | u128::from(product[3]) << 64;
    let value = I256::from_words(high as i128, low as i128);
    Some(if negative { -value } else { value })
}

fn limbs(v: I256) -> [u64; 4] {
    let (high, low) = v.wrapping_abs().into_words();
    [low as u64, (low as u128 >> 64) as u64, high as u64, (high as u128 >> 64) as u64]
}

fn mul(a: [u64; 4], b: [u64; 4]) -> [u64; 8] {
    let mut out = [0u64; 8];
    for (i, &x) in a.iter().enumerate() {
        let mut carry = 0u128;
        for (j, &y) in b.iter().enumerate() {
            let sum = u128::from(x) * u128::from(y) + u128::from(out[i + j]) + carry;
            out[i + j] = sum as u64;
            carry = sum >> 64;
        }
        out[i + 4] = carry as u64;
    }
    out
}

fn div_small(v: &mut [u64; 8], by: u64) -> u64 {
    let mut rest = 0u128;
    for limb in v.iter_mut().rev() {
        let part = rest << 64 | u128::from(*limb);
        *limb = (part / u128::from(by)) as u64;
        rest = part % u128::from(by);
    }
    rest as u64
}

fn add_one(v: &mut [u64; 8]) {
    for limb in v {
        let (sum, carry) = limb.overflowing_add(1);
        *limb = sum;
        if !carry {
            return;
        }
    }
}
