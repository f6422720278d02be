//! Keys of texts whose characters are single bytes with one weight each. It handles a word at a
//! time, because sorts and groups of ordinary text spend most of their time here. For other texts,
//! `text` is slower and gives the same bytes.

use super::text::put_spaces;
use crate::charset::weights::Weigher;

/// Appends the weights of a text padded with spaces, without the trailing spaces. False if the text
/// is not that simple; then nothing is appended.
pub(super) fn put_simple<W: Weigher>(out: &mut Vec<u8>, w: &W, bytes: &[u8]) -> bool {
    if W::BYTEWISE && W::WIDTH == 1 {
        let space = w.space() as u8;
        return put_words(out, w, bytes, |word, out| put_bytes(w, space, word, out));
    }
    if W::WIDTH != 2 || W::CONTRACTS || !bytes.is_ascii() {
        return false;
    }
    if w.is_upper_ascii() {
        return put_words(out, w, bytes, put_upper);
    }
    let Some(table) = w.ascii().filter(|table| u32::from(table[0x20]) == w.space()) else {
        return false;
    };
    // A dense key is handled above, so this table is not dense.
    debug_assert!(!W::DENSE);
    put_words(out, w, bytes, |word, out| put_table(table, word, out))
}

/// Appends the weights of each word by `put`, and the spaces between words. `put` returns false for
/// a word it cannot handle.
fn put_words<W: Weigher>(
    out: &mut Vec<u8>,
    w: &W,
    bytes: &[u8],
    put: impl Fn(&[u8], &mut [u8]) -> bool,
) -> bool {
    let begin = out.len();
    let (mut rest, mut spaces, several) = (bytes, 0, bytes.contains(&b' '));
    while !rest.is_empty() {
        let next = if several { rest.iter().position(|b| *b == b' ') } else { None };
        let (word, behind) = rest.split_at(next.unwrap_or(rest.len()));
        rest = behind.get(1..).unwrap_or(&[]);
        if !word.is_empty() {
            put_spaces(out, w, spaces, first_weight(w, word));
            spaces = 0;
            let start = out.len();
            let width = if W::DENSE { 1 } else { W::WIDTH };
            out.resize(start + width * word.len(), 0);
            if !put(word, &mut out[start..]) {
                out.truncate(begin);
                return false;
            }
        }
        spaces += 1;
    }
    true
}

fn first_weight<W: Weigher>(w: &W, word: &[u8]) -> u32 {
    match w.next(word).0 {
        weights if weights.len() > 0 => weights.get(0),
        _ => 0,
    }
}

/// Weights of one byte per byte of text.
fn put_bytes<W: Weigher>(w: &W, space: u8, word: &[u8], out: &mut [u8]) -> bool {
    let mut special = false;
    for (slot, b) in out.iter_mut().zip(word) {
        *slot = w.next(std::slice::from_ref(b)).0.get(0) as u8;
        special |= *slot == space;
    }
    !special
}

/// A dense key in which a letter has the weight of its capital, and other characters their code.
fn put_upper(word: &[u8], out: &mut [u8]) -> bool {
    let mut special = false;
    for (slot, b) in out.iter_mut().zip(word) {
        special |= *b == 0;
        *slot = b.to_ascii_uppercase();
    }
    !special
}

fn put_table(table: &[u16; 128], word: &[u8], out: &mut [u8]) -> bool {
    let mut special = false;
    for (slot, b) in out.as_chunks_mut::<2>().0.iter_mut().zip(word) {
        let weight = table[usize::from(b & 0x7F)];
        // The character has no weight, several weights, or the weight of a space.
        special |= weight == 0 || weight == table[0x20];
        *slot = weight.to_be_bytes();
    }
    !special
}
