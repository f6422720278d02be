//! Comparing text under a collation.

use std::cmp::Ordering;

use super::collation::Rule;
use super::weights::{Stream, Weigher, with_weigher};
use super::{Charset, Collation, CollationId, Pad};

impl CollationId {
    /// The order of two texts; see [`Collation::compare`].
    pub fn compare(self, a: &[u8], b: &[u8]) -> Ordering {
        self.info().compare(a, b)
    }

    /// Whether two texts are equal; see [`Collation::equal`].
    pub fn equal(self, a: &[u8], b: &[u8]) -> bool {
        self.info().equal(a, b)
    }
}

impl Collation {
    /// The order of two texts.
    pub fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        let common = common_prefix(a, b);
        if self.rule == Rule::Code && self.charset.min_len() == 1 {
            return compare_bytes(&a[common..], &b[common..], self.pad);
        }
        if common == a.len() && common == b.len() {
            return Ordering::Equal;
        }
        let common = self.char_start(a, common);
        let common = if self.rule == Rule::Unicode1400 { 0 } else { common };
        let (a, b) = (&a[common..], &b[common..]);
        with_weigher!(self, w => compare_weights(&w, a, b, self.pad))
    }

    /// Whether two texts are equal.
    pub fn equal(&self, a: &[u8], b: &[u8]) -> bool {
        if a.len() == b.len() && a == b {
            return true;
        }
        match (self.rule, self.pad) {
            (Rule::Code, Pad::NoPad) => false,
            _ => self.compare(a, b) == Ordering::Equal,
        }
    }

    /// The start of the character that byte `at` is in.
    fn char_start(&self, bytes: &[u8], mut at: usize) -> usize {
        match self.charset {
            Charset::Utf8mb3 | Charset::Utf8mb4 => {
                // Back over the tails: both texts share the bytes before.
                while at > 0 && bytes.get(at).is_none_or(|b| b & 0xC0 == 0x80) {
                    at -= 1;
                }
                // At the common end of one text the character before may go on in the other.
                at
            }
            Charset::Utf16 | Charset::Utf16le => 0,
            charset => at - at % charset.min_len(),
        }
    }
}

/// Number of leading bytes that are the same.
#[inline]
fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let len = a.len().min(b.len());
    let (a, b) = (&a[..len], &b[..len]);
    let mut at = 0;
    for (x, y) in a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0) {
        let difference = u64::from_le_bytes(*x) ^ u64::from_le_bytes(*y);
        if difference != 0 {
            return at + (difference.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while at < len && a[at] == b[at] {
        at += 1;
    }
    at
}

fn compare_bytes(a: &[u8], b: &[u8], pad: Pad) -> Ordering {
    match (a.first(), b.first()) {
        (None, None) => Ordering::Equal,
        (Some(x), Some(y)) => x.cmp(y),
        _ if pad == Pad::NoPad => a.len().cmp(&b.len()),
        (Some(_), None) => against_spaces(a),
        (None, Some(_)) => against_spaces(b).reverse(),
    }
}

fn against_spaces(rest: &[u8]) -> Ordering {
    rest.iter().find(|&&b| b != b' ').map_or(Ordering::Equal, |b| b.cmp(&b' '))
}

fn compare_weights<W: Weigher>(w: &W, a: &[u8], b: &[u8], pad: Pad) -> Ordering {
    let (order, skip) = w.ascii().map_or((Ordering::Equal, 0), |t| compare_ascii(t, a, b));
    if order != Ordering::Equal {
        return order;
    }
    let (a, b) = (&a[skip..], &b[skip..]);
    let (mut a, mut b) = (Stream::new(w, a), Stream::new(w, b));
    loop {
        match (a.next(), b.next()) {
            (Some(x), Some(y)) if x == y => {}
            (Some(x), Some(y)) => return x.cmp(&y),
            (None, None) => return Ordering::Equal,
            (Some(_), None) if pad == Pad::NoPad => return Ordering::Greater,
            (None, Some(_)) if pad == Pad::NoPad => return Ordering::Less,
            (Some(x), None) => return rest_against_spaces(w, x, a),
            (None, Some(y)) => return rest_against_spaces(w, y, b).reverse(),
        }
    }
}

/// Compares while both texts are simple ASCII: the order, or how far they are equal.
#[inline]
fn compare_ascii(weights: &[u16; 128], a: &[u8], b: &[u8]) -> (Ordering, usize) {
    let weight = |byte: u8| weights.get(usize::from(byte)).copied().unwrap_or(0);
    let mut at = 0;
    for (&x, &y) in a.iter().zip(b) {
        let (x, y) = (weight(x), weight(y));
        if x == 0 || y == 0 {
            break;
        }
        if x != y {
            return (x.cmp(&y), at);
        }
        at += 1;
    }
    (Ordering::Equal, at)
}

fn rest_against_spaces<W: Weigher>(w: &W, first: u32, rest: Stream<'_, W>) -> Ordering {
    let space = w.space();
    let mut weights = std::iter::once(first).chain(rest);
    weights.find(|&x| x != space).map_or(Ordering::Equal, |x| x.cmp(&space))
}
