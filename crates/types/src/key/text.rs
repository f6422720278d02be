//! Text in keys.
//!
//! NO PAD: the bytes of the weights, zero bytes as `00 FF`, then `00 00`.
//!
//! PAD SPACE: weights without the trailing spaces. A space in the middle is followed by a byte that
//! compares the rest of the text with endless spaces (1 less, 3 greater). The end is a space and a
//! 2. So a text sorts exactly where its padding with endless spaces would.
//!
//! Weights have a fixed width, except for `general_ci`, where half the bytes of plain text would be
//! zero: a weight below 0x80 has one byte; a weight below 0x7F80 has two, the first from 0x80 to
//! 0xFE; others are 0xFF and two bytes. The Unicode collations keep the fixed width: their computed
//! pairs would grow to six bytes, for which keys of the longest columns have no room.

use super::simple::put_simple;
use crate::charset::weights::{Stream, Weigher, match_weigher, with_weigher};
use crate::charset::{CollationId, Pad, Rule};

const LESS: u8 = 1;
const END: u8 = 2;
const GREATER: u8 = 3;

/// Appends a text.
pub fn put_text(out: &mut Vec<u8>, collation: CollationId, bytes: &[u8]) {
    let collation = collation.info();
    let bytes = &collation.prepared(bytes)[..];
    let pad = collation.weights_pad();
    with_weigher!(collation, w => put_level(out, &w, pad, bytes));
    for &level in collation.levels {
        match_weigher!(collation.weigher_at(level), w => put_level(out, &w, pad, bytes));
    }
}

fn put_level<W: Weigher>(out: &mut Vec<u8>, w: &W, pad: Pad, bytes: &[u8]) {
    match pad {
        Pad::NoPad => {
            put_escaped(out, w, bytes);
            out.extend_from_slice(&[0, 0]);
        }
        Pad::PadSpace => {
            put_padded(out, w, bytes);
            put_weight(out, w, w.space());
            out.push(END);
        }
    }
}

/// Appends the common start of the keys of all texts that start with `bytes` (for `LIKE 'abc%'`).
pub fn put_text_prefix(out: &mut Vec<u8>, collation: CollationId, bytes: &[u8]) {
    let collation = collation.info();
    if matches!(collation.rule, Rule::Whole(_)) {
        // The text after the prefix may change every weight.
        return;
    }
    let bytes = collation.settled(bytes);
    with_weigher!(collation, w => match collation.pad {
        Pad::NoPad => put_escaped(out, &w, bytes),
        Pad::PadSpace => put_padded(out, &w, bytes),
    });
}

/// Size in bytes of the text part at the start of `key`; `None` if it has no end.
pub fn text_len(key: &[u8], collation: CollationId, descending: bool) -> Option<usize> {
    let collation = collation.info();
    let mask = if descending { 0xFF } else { 0 };
    let pad = collation.weights_pad();
    let mut len = with_weigher!(collation, w => level_len(&w, pad, key, mask))?;
    for &level in collation.levels {
        let rest = key.get(len..)?;
        len += match_weigher!(collation.weigher_at(level), w => level_len(&w, pad, rest, mask))?;
    }
    Some(len)
}

fn level_len<W: Weigher>(w: &W, pad: Pad, key: &[u8], mask: u8) -> Option<usize> {
    match pad {
        Pad::NoPad => escaped_len(key, mask),
        Pad::PadSpace => padded_len(w, key, mask),
    }
}

/// First weight that takes three bytes in a dense key.
const RARE: u32 = 0x80 + 127 * 256;

/// The bytes of a weight, and their number.
#[inline]
fn unit<W: Weigher>(weight: u32) -> ([u8; 4], usize) {
    if !W::DENSE {
        return ((weight << (32 - 8 * W::WIDTH)).to_be_bytes(), W::WIDTH);
    }
    match weight {
        0..0x80 => ([weight as u8, 0, 0, 0], 1),
        0x80..RARE => (((0x8000 + weight - 0x80) << 16).to_be_bytes(), 2),
        _ => ((0xFF00_0000 | (weight << 8)).to_be_bytes(), 3),
    }
}

/// Size in bytes of the weight whose first byte is `first`.
#[inline]
fn unit_len<W: Weigher>(first: u8) -> usize {
    match first {
        _ if !W::DENSE => W::WIDTH,
        0..0x80 => 1,
        0x80..0xFF => 2,
        0xFF => 3,
    }
}

#[inline]
fn put_weight<W: Weigher>(out: &mut Vec<u8>, _: &W, weight: u32) {
    let (bytes, len) = unit::<W>(weight);
    out.extend_from_slice(&bytes[..len]);
}

fn put_escaped<W: Weigher>(out: &mut Vec<u8>, w: &W, bytes: &[u8]) {
    for weight in Stream::new(w, bytes) {
        let (bytes, len) = unit::<W>(weight);
        for &b in &bytes[..len] {
            out.push(b);
            if b == 0 {
                out.push(0xFF);
            }
        }
    }
}

/// Weights without trailing spaces; each space has its indicator.
fn put_padded<W: Weigher>(out: &mut Vec<u8>, w: &W, bytes: &[u8]) {
    out.reserve(bytes.len() * W::WIDTH + 4);
    if put_simple(out, w, bytes) {
        return;
    }
    let mut spaces = 0;
    for weight in Stream::new(w, bytes) {
        if weight == w.space() {
            spaces += 1;
            continue;
        }
        put_spaces(out, w, spaces, weight);
        spaces = 0;
        put_weight(out, w, weight);
    }
}

/// Appends spaces in the middle of a text; `next` is the weight after them.
pub(super) fn put_spaces<W: Weigher>(out: &mut Vec<u8>, w: &W, count: usize, next: u32) {
    for _ in 0..count {
        put_weight(out, w, w.space());
        out.push(if next < w.space() { LESS } else { GREATER });
    }
}

fn escaped_len(key: &[u8], mask: u8) -> Option<usize> {
    let mut at = 0;
    loop {
        let zero = key.get(at..)?.iter().position(|&b| b == mask)?;
        at += zero + 2;
        if *key.get(at - 1)? == mask {
            return Some(at);
        }
    }
}

fn padded_len<W: Weigher>(w: &W, key: &[u8], mask: u8) -> Option<usize> {
    let (space, len) = unit::<W>(w.space());
    let space = &space[..len];
    let mut at = 0;
    loop {
        let unit = key.get(at..at + unit_len::<W>(key.get(at)? ^ mask))?;
        at += unit.len();
        if unit.len() == space.len() && unit.iter().zip(space).all(|(b, s)| b ^ mask == *s) {
            at += 1;
            if key.get(at - 1)? ^ mask == END {
                return Some(at);
            }
        }
    }
}
