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

    /// `len` bits, which `bit` gives by their positions.
    #[inline]
    pub fn from_fn(len: usize, bit: impl Fn(usize) -> bool) -> Self {
        let mut words = Vec::with_capacity(len.div_ceil(64));
        let whole = len / 64 * 64;
        // Bytes first: their loop can be vectorised.
        let mut bytes = [0u8; 64];
        for at in (0..whole).step_by(64) {
            bytes.iter_mut().enumerate().for_each(|(i, byte)| *byte = bit(at + i).into());
            words.push(word_of(&bytes));
        }
        if whole < len {
            bytes.fill(0);
            let rest = bytes.iter_mut().zip(whole..len);
            rest.for_each(|(byte, at)| *byte = bit(at).into());
            words.push(word_of(&bytes));
        }
        Self { words, len }
    }

    /// A bit for each value, which `test` gives.
    #[inline]
    pub fn of_values<T: Copy>(values: &[T], test: impl Fn(T) -> bool) -> Self {
        let shifted = |values: &[T]| {
            let bits = values.iter().rev();
            bits.fold(0, |word, value| word << 1 | u64::from(test(*value)))
        };
        let (whole, rest) = values.as_chunks::<64>();
        let mut words = Vec::with_capacity(values.len().div_ceil(64));
        match size_of::<T>() < size_of::<u64>() {
            // Bytes first: their loop is vectorised. That of longer values would not be faster.
            true => words.extend(whole.iter().map(|v| word_of(&v.map(|v| test(v).into())))),
            false => words.extend(whole.iter().map(|v| shifted(v))),
        }
        words.extend((!rest.is_empty()).then(|| shifted(rest)));
        Self { words, len: values.len() }
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

    /// Positions of the set bits, ascending, as numbers of rows.
    pub fn positions(&self) -> Vec<u32> {
        let count = self.count_ones();
        if count < self.len / SPARSE {
            let mut positions = Vec::with_capacity(count);
            positions.extend(self.iter_ones().map(|at| at as u32));
            return positions;
        }
        // Eight are written at once; those that are not set are written over.
        let mut positions = vec![0u32; count + 7];
        let mut end = 0;
        for (at, &word) in self.words.iter().enumerate() {
            let (mut rest, mut first) = (word, (at * 64) as u32);
            while rest != 0 {
                let byte = (rest & 0xff) as usize;
                if let Some(eight) = positions[end..].first_chunk_mut::<8>() {
                    let bits = eight.iter_mut().zip(&SET_BITS[byte]);
                    bits.for_each(|(position, bit)| *position = first + u32::from(*bit));
                }
                end += usize::from(SET_COUNTS[byte]);
                (rest, first) = (rest >> 8, first + 8);
            }
        }
        positions.truncate(count);
        positions
    }

    /// Bitwise and of two vectors of equal length.
    pub fn and(&self, other: &Self) -> Self {
        debug_assert_eq!(self.len, other.len);
        let words = self.words.iter().zip(&other.words).map(|(a, b)| a & b).collect();
        Self { words, len: self.len }
    }
}

/// Bits for each set one from which on finding these one by one is faster.
const SPARSE: usize = 12;

/// The positions of the set bits of each byte, then zeros.
const SET_BITS: [[u16; 8]; 256] = {
    let mut all = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut count) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 != 0 {
                all[byte][count] = bit;
                count += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    all
};

/// The number of set bits of each byte: counting them would take longer.
const SET_COUNTS: [u8; 256] = {
    let mut all = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        all[byte] = (byte as u8).count_ones() as u8;
        byte += 1;
    }
    all
};

/// The bits of 64 bytes that are 0 or 1.
#[inline]
fn word_of(bytes: &[u8; 64]) -> u64 {
    // The product moves the bit of byte `i` to bit `56 + i`.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let (groups, _) = bytes.as_chunks::<8>();
    let eight = |group: &[u8; 8]| u64::from_le_bytes(*group).wrapping_mul(GATHER) >> 56;
    groups.iter().rev().fold(0, |word, group| word << 8 | eight(group))
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
        for len in [0, 1, 63, 64, 65, 200, 2000] {
            let bit = |i: usize| i.is_multiple_of(3) || i % 64 > 60;
            let (one_by_one, map) = ((0..len).map(bit).collect(), Bitmap::from_fn(len, bit));
            assert_eq!(map, one_by_one);
            let values: Vec<usize> = (0..len).collect();
            assert_eq!(Bitmap::of_values(&values, bit), one_by_one);
            let values: Vec<u32> = (0..len as u32).collect();
            assert_eq!(Bitmap::of_values(&values, |i| bit(i as usize)), one_by_one);
            assert!(map.positions().iter().map(|at| *at as usize).eq(map.iter_ones()));
        }
        for most in 0..=256 {
            let map = Bitmap::from_fn(1000, |i| i * i * 31 % 256 < most);
            assert!(map.positions().iter().map(|at| *at as usize).eq(map.iter_ones()));
        }
    }
}
