//! Hashing text so that equal texts under a collation have equal hashes.
//! Hashes live in memory only: they may change between versions.

use super::collation::Rule;
use super::weights::{Stream, Weigher, with_weigher};
use super::{Collation, CollationId, Pad};

const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

impl CollationId {
    /// A hash; see [`Collation::hash`].
    pub fn hash(self, bytes: &[u8], seed: u64) -> u64 {
        self.info().hash(bytes, seed)
    }
}

impl Collation {
    /// A hash of the text, the same for texts that are equal under this collation.
    pub fn hash(&self, bytes: &[u8], seed: u64) -> u64 {
        if self.rule == Rule::Code && self.charset.min_len() == 1 {
            let bytes = if self.pad == Pad::PadSpace { trim(bytes) } else { bytes };
            return hash_bytes(bytes, seed);
        }
        // Equal texts have equal weights on the first level, so it is enough.
        let bytes = &self.prepared(bytes)[..];
        with_weigher!(self, w => hash_weights(&w, bytes, self.weights_pad(), seed))
    }
}

fn trim(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|&b| b != b' ').map_or(0, |at| at + 1);
    &bytes[..end]
}

#[inline]
fn mix(hash: u64, word: u64) -> u64 {
    let product = u128::from(hash ^ word) * u128::from(MULTIPLIER);
    (product as u64) ^ (product >> 64) as u64
}

fn hash_bytes(bytes: &[u8], seed: u64) -> u64 {
    let (chunks, rest) = bytes.as_chunks::<8>();
    let mut hash = seed ^ MULTIPLIER;
    for chunk in chunks {
        hash = mix(hash, u64::from_le_bytes(*chunk));
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    mix(mix(hash, u64::from_le_bytes(last)), bytes.len() as u64)
}

fn hash_weights<W: Weigher>(w: &W, bytes: &[u8], pad: Pad, seed: u64) -> u64 {
    let mut state = State { hash: seed ^ MULTIPLIER, word: 0, count: 0 };
    let space = w.space();
    let mut spaces = 0u64;
    let mut rest = bytes;
    if let Some(weights) = w.ascii() {
        // Like the loop below, for the part of the text that is simple ASCII.
        let simple = |b: &u8| weights.get(usize::from(*b)).copied().filter(|&w| w != 0);
        let simple_bytes = match W::CONTRACTS {
            // The last character may form a contraction with the text after it.
            true => &bytes[..bytes.iter().map_while(simple).count().saturating_sub(1)],
            false => bytes,
        };
        for weight in simple_bytes.iter().map_while(simple) {
            rest = &rest[1..];
            if u32::from(weight) == space && pad == Pad::PadSpace {
                spaces += 1;
                continue;
            }
            while spaces > 0 {
                state.push(space);
                spaces -= 1;
            }
            state.push(u32::from(weight));
        }
    }
    for weight in Stream::new(w, rest) {
        if weight == space && pad == Pad::PadSpace {
            spaces += 1;
            continue;
        }
        while spaces > 0 {
            state.push(space);
            spaces -= 1;
        }
        state.push(weight);
    }
    mix(mix(state.hash, state.word), state.count)
}

/// Weights, collected four to a word.
struct State {
    hash: u64,
    word: u64,
    count: u64,
}

impl State {
    #[inline]
    fn push(&mut self, weight: u32) {
        // Weights wider than 16 bits overlap, which only makes collisions more likely.
        self.word = self.word.rotate_left(16) ^ u64::from(weight);
        self.count += 1;
        if self.count.is_multiple_of(4) {
            self.hash = mix(self.hash, self.word);
            self.word = 0;
        }
    }
}
