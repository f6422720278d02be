//! Random numbers with sysbench's distributions.
//!
//! The same seed gives the same numbers, so that all servers get the same rows and statements. Must
//! be cheap: a number is drawn for every value of a statement.

/// A generator. Source: SplitMix64 of Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", 2014.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

/// sysbench's defaults for its distribution `special`: three quarters of the numbers are in the
/// middle hundredth of the range, the others are nearly normally distributed.
const SHARE: u64 = 100;
const OTHERS: u64 = 4;
const SUMMED: u64 = 12;

const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

fn mixed(state: u64) -> u64 {
    let mut z = state;
    z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}

impl Random {
    /// A generator with a mixed seed. Without mixing, neighbouring seeds would be neighbours in the
    /// generator's one sequence: their connections would use the same rows shortly after each
    /// other.
    pub(crate) fn new(seed: u64) -> Self {
        Self(mixed(seed.wrapping_add(STEP)))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mixed(self.0)
    }

    /// A number below `bound`, uniformly distributed.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound.max(1))) >> 64) as u64
    }

    /// A number from 1 to `rows`, with the distribution `special`.
    pub(crate) fn special(&mut self, rows: u64) -> u64 {
        let drawn = self.below(rows * OTHERS);
        if drawn < rows {
            let sum: u64 = (0..SUMMED).map(|_| self.below(rows)).sum();
            return 1 + sum / SUMMED;
        }
        let width = (rows / SHARE).max(1);
        1 + rows / 2 - width / 2 + drawn % width
    }

    /// A number from 1 to `rows` by Zipf's law with exponent 1: a value's probability falls with
    /// its rank. Computed with the inverse of the integral that approximates the sum of the law.
    pub(super) fn zipf(&mut self, rows: u64) -> u64 {
        let share = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        ((rows as f64).powf(share) as u64).clamp(1, rows)
    }

    /// Number of bytes that [`Random::put_digits`] appends.
    pub(super) const fn digits_length(groups: usize) -> usize {
        groups * 12 - 1
    }

    /// Appends groups of eleven digits, separated by dashes.
    pub(super) fn put_digits(&mut self, out: &mut Vec<u8>, groups: usize) {
        for group in 0..groups {
            if group > 0 {
                out.push(b'-');
            }
            let mut number = self.below(100_000_000_000);
            let start = out.len();
            out.resize(start + 11, b'0');
            for digit in out[start..].iter_mut().rev() {
                *digit += (number % 10) as u8;
                number /= 10;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_stays_in_range_and_prefers_the_middle() {
        let mut random = Random::new(7);
        let drawn: Vec<u64> = (0..10_000).map(|_| random.special(1000)).collect();
        assert!(drawn.iter().all(|row| (1..=1000).contains(row)));
        let middle = drawn.iter().filter(|row| (496..=505).contains(*row)).count();
        assert!((7000..8500).contains(&middle), "{middle}");
        assert!((1..100).all(|_| random.special(1) == 1));
    }

    #[test]
    fn neighbours_draw_different_numbers() {
        let drawn = |seed| {
            let mut random = Random::new(seed);
            (0..1000).map(|_| random.next()).collect::<Vec<_>>()
        };
        let (one, two) = (drawn(1), drawn(2));
        assert!(one.iter().all(|number| !two.contains(number)));
    }

    #[test]
    fn digits_have_the_length_said() {
        let mut out = Vec::new();
        Random::new(3).put_digits(&mut out, 10);
        assert_eq!(out.len(), Random::digits_length(10));
        assert!(out.iter().all(|byte| byte.is_ascii_digit() || *byte == b'-'));
    }
}
