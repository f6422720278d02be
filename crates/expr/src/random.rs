//! The generator of `RAND()`: MariaDB's, so that `RAND(seed)` gives the same sequences.
//! Not for secrets: its results can be predicted.

/// Both words of the state stay below this.
const MAX: u32 = 0x3fff_ffff;

/// State of the generator.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    seed1: u32,
    seed2: u32,
}

impl Random {
    /// The state that `SET rand_seed1 = .., rand_seed2 = ..` makes.
    pub(crate) fn from_seeds(seed1: u32, seed2: u32) -> Self {
        Self { seed1: seed1 % MAX, seed2: seed2 % MAX }
    }

    /// Both words of the state.
    pub(crate) fn seeds(&self) -> (u32, u32) {
        (self.seed1, self.seed2)
    }

    /// The state of `RAND(seed)`.
    pub(crate) fn from_seed(seed: i64) -> Self {
        let seed = seed as u32;
        let first = seed.wrapping_mul(0x10001).wrapping_add(55_555_555);
        Self::from_seeds(first, seed.wrapping_mul(0x1000_0001))
    }

    /// A state that cannot be guessed.
    pub(crate) fn from_entropy() -> Self {
        use std::hash::{BuildHasher, RandomState};
        let bits = RandomState::new().hash_one(0u8);
        Self::from_seeds(bits as u32, (bits >> 32) as u32)
    }

    /// The next number, from 0 to below 1.
    pub(crate) fn next(&mut self) -> f64 {
        self.seed1 = ((u64::from(self.seed1) * 3 + u64::from(self.seed2)) % u64::from(MAX)) as u32;
        self.seed2 = ((u64::from(self.seed1) + u64::from(self.seed2) + 33) % u64::from(MAX)) as u32;
        f64::from(self.seed1) / f64::from(MAX)
    }
}
