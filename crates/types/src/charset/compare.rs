//! Comparing text under a collation.
//! Must agree with the keys (`key/text.rs`) and with the hash: all three use the same weights.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::collation::Rule;
use super::weights::{Stream, Weigher, match_weigher, with_weigher};
use super::{Charset, Collation, CollationId, Pad, whole};
use crate::pace::tick;

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
        tick(common / 4);
        if self.rule == Rule::Code && self.charset.min_len() == 1 {
            return compare_bytes(&a[common..], &b[common..], self.pad);
        }
        if common == a.len() && common == b.len() {
            return Ordering::Equal;
        }
        let common = self.char_start(a, common);
        let (a, b) = (&self.prepared(&a[common..])[..], &self.prepared(&b[common..])[..]);
        let pad = self.weights_pad();
        let first = with_weigher!(self, w => compare_weights(&w, a, b, pad));
        self.levels.iter().fold(first, |order, &level| {
            order.then_with(
                || match_weigher!(self.weigher_at(level), w => compare_weights(&w, a, b, pad)),
            )
        })
    }

    /// Input of the weigher: the text, or the weights of an order that depends on whole texts.
    #[inline]
    pub(crate) fn prepared<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        match self.rule {
            Rule::Whole(order) => whole::weights(order, bytes),
            _ => Cow::Borrowed(bytes),
        }
    }

    /// Padding of the weights.
    #[inline]
    pub(crate) fn weights_pad(&self) -> Pad {
        match self.rule {
            Rule::Whole(whole::CZECH_LATIN2 | whole::CZECH_1250) => Pad::NoPad,
            _ => self.pad,
        }
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

    /// The start of the character that contains byte `at`.
    fn char_start(&self, bytes: &[u8], mut at: usize) -> usize {
        match self.charset {
            // Characters before it may belong to it.
            _ if matches!(self.rule, Rule::Tailored(_) | Rule::Whole(_)) => 0,
            Charset::Utf8mb3 | Charset::Utf8mb4 => {
                // Goes back over continuation bytes; up to here both texts have the same bytes.
                while at > 0 && bytes.get(at).is_none_or(|b| b & 0xC0 == 0x80) {
                    at -= 1;
                }
                // One text may end here while its last character continues in the other.
                at
            }
            Charset::Utf16 | Charset::Utf16le => 0,
            charset if charset.min_len() != charset.max_len() => 0,
            charset => at - at % charset.min_len(),
        }
    }
}

/// Size of the pieces in which [`tick`] is told about the work.
const PIECE: usize = 1 << 16;

/// Number of equal leading bytes.
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
    let simple = w.ascii().map(|t| compare_ascii::<W>(t, a, b));
    let (order, skip) = simple.unwrap_or((Ordering::Equal, 0));
    if order != Ordering::Equal {
        return order;
    }
    let (a, b) = (&a[skip..], &b[skip..]);
    let (mut a, mut b) = (Stream::new(w, a), Stream::new(w, b));
    let mut compared = 0;
    loop {
        compared += 1;
        if compared == PIECE {
            tick(PIECE * 8);
            compared = 0;
        }
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

/// Compares while both texts are simple ASCII; returns the order, or the length of the equal part.
#[inline]
fn compare_ascii<W: Weigher>(weights: &[u16; 128], a: &[u8], b: &[u8]) -> (Ordering, usize) {
    let weight = |byte: u8| weights.get(usize::from(byte)).copied().unwrap_or(0);
    let mut at = 0;
    'equal: for (of_a, of_b) in a.chunks(PIECE).zip(b.chunks(PIECE)) {
        tick(of_a.len().min(of_b.len()));
        for (&x, &y) in of_a.iter().zip(of_b) {
            let (x, y) = (weight(x), weight(y));
            if x == 0 || y == 0 {
                break 'equal;
            }
            if x != y {
                let goes_on = |text: &[u8]| text.get(at + 1).is_some_and(|b| *b >= 0x80);
                if W::CONTRACTS && (goes_on(a) || goes_on(b)) {
                    break 'equal;
                }
                return (x.cmp(&y), at);
            }
            at += 1;
        }
    }
    // The last character may form a contraction with the text after it.
    (Ordering::Equal, if W::CONTRACTS { at.saturating_sub(1) } else { at })
}

fn rest_against_spaces<W: Weigher>(w: &W, first: u32, rest: Stream<'_, W>) -> Ordering {
    let space = w.space();
    let mut weights = std::iter::once(first).chain(rest);
    weights.find(|&x| x != space).map_or(Ordering::Equal, |x| x.cmp(&space))
}
