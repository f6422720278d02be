//! A growable bit vector: validity of rows, results of predicates.
//! Invariant: bits of the last word past the length are clear.

/// Bits in 64-bit words: bit `i` of the vector is bit `i % 64` of word `i / 64`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bitmap {
    words: Vec<u64>,
    len: usize,
}

impl Bitmap {
    /// No bits.
    pub fn new() -> Self {
        Self::default()
    }

    /// `len` set bits.
    pub fn ones(len: usize) -> Self {
        let mut words = vec![u64::MAX; len.div_ceil(64)];
        if let (Some(last), 1..) = (words.last_mut(), len % 64) {
            *last = (1 << (len % 64)) - 1;
        }
        Self { words, len }
    }

    /// `len` clear bits.
    pub fn zeros(len: usize) -> Self {
        Self { words: vec![0; len.div_ceil(64)], len }
    }

    /// `len` bits from words; bits past `len` must be clear.
    pub fn from_words(words: Vec<u64>, len: usize) -> Self {
        debug_assert_eq!(words.len(), len.div_ceil(64));
        Self { words, len }
    }

    /// Number of bits.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no bits.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The words; bits past `len` are clear.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Bit `i`.
    #[inline]
    pub fn get(&self, i: usize) -> bool {
        debug_assert!(i < self.len);
        self.words[i / 64] >> (i % 64) & 1 != 0
    }

    /// Sets bit `i` to `bit`.
    #[inline]
    pub fn set(&mut self, i: usize, bit: bool) {
        debug_assert!(i < self.len);
        let mask = 1u64 << (i % 64);
        if bit {
            self.words[i / 64] |= mask;
        } else {
            self.words[i / 64] &= !mask;
        }
    }

    /// Appends `bit`.
    #[inline]
    pub fn push(&mut self, bit: bool) {
        if self.len.is_multiple_of(64) {
            self.words.push(0);
        }
        self.len += 1;
        if bit {
            self.set(self.len - 1, true);
        }
    }

    /// Keeps the first `len` bits.
    pub fn truncate(&mut self, len: usize) {
        if len >= self.len {
            return;
        }
        self.len = len;
        self.words.truncate(len.div_ceil(64));
        if let (Some(last), 1..) = (self.words.last_mut(), len % 64) {
            *last &= (1 << (len % 64)) - 1;
        }
    }

    /// Number of set bits.
    pub fn count_ones(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// Positions of the set bits, ascending.
    pub fn iter_ones(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(at, &word)| {
            let mut word = word;
            std::iter::from_fn(move || {
                (word != 0).then(|| {
                    let bit = word.trailing_zeros() as usize;
                    word &= word - 1;
                    at * 64 + bit
                })
            })
        })
    }

    /// Bitwise and of two vectors of equal length.
    pub fn and(&self, other: &Self) -> Self {
        debug_assert_eq!(self.len, other.len);
        let words = self.words.iter().zip(&other.words).map(|(a, b)| a & b).collect();
        Self { words, len: self.len }
    }
}

impl FromIterator<bool> for Bitmap {
    fn from_iter<I: IntoIterator<Item = bool>>(bits: I) -> Self {
        let mut map = Self::new();
        bits.into_iter().for_each(|bit| map.push(bit));
        map
    }
}

#[cfg(test)]
mod tests {
    use super::Bitmap;

    #[test]
    fn bits_survive_word_borders() {
        let map: Bitmap = (0..200).map(|i| i % 3 == 0).collect();
        assert_eq!(map.count_ones(), 67);
        assert_eq!(map.iter_ones().collect::<Vec<_>>(), (0..200).step_by(3).collect::<Vec<_>>());
        let mut cut = map.clone();
        cut.truncate(65);
        assert_eq!(cut.count_ones(), 22);
        assert_eq!(Bitmap::ones(65).count_ones(), 65);
    }
}
