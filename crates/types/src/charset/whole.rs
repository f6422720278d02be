//! Orders that must see a whole text before they know a weight: Thai, and two old Czech ones.
//!
//! Each gives the bytes of `WEIGHT_STRING`, which compare as they are. Must not pad: the Czech
//! orders drop or skip spaces themselves, the Thai order leaves them.

use std::borrow::Cow;

use super::eight_bit::{czech_1250, czech_latin2};

/// Positions of the weights of `ch` in its three cases, after those of the bytes.
const CH: [(&[u8; 2], usize); 3] = [(b"ch", 256), (b"Ch", 257), (b"CH", 258)];

/// `latin2_czech_cs`.
pub(super) const CZECH_LATIN2: u8 = 0;
/// `cp1250_czech_cs`.
pub(super) const CZECH_1250: u8 = 1;
/// `tis620_thai_ci`.
pub(super) const THAI: u8 = 2;

/// The weights of a text in one of these orders.
pub(super) fn weights(order: u8, bytes: &[u8]) -> Cow<'_, [u8]> {
    match order {
        CZECH_LATIN2 => czech_words(bytes).into(),
        CZECH_1250 => czech_passes(bytes).into(),
        THAI => thai(bytes).into(),
        _ => bytes.into(),
    }
}

/// The letters of a Czech text: bytes, and `ch`.
fn letters(mut bytes: &[u8]) -> Vec<usize> {
    let mut out = Vec::with_capacity(bytes.len());
    while let Some((&first, rest)) = bytes.split_first() {
        match CH.iter().find(|(text, _)| bytes.starts_with(&text[..])) {
            Some(&(_, letter)) => {
                out.push(letter);
                bytes = &bytes[2..];
            }
            None => {
                out.push(usize::from(first));
                bytes = rest;
            }
        }
    }
    out
}

fn is_space(letter: &usize) -> bool {
    *letter == 0x20 || *letter == 0x09
}

/// First the letters and then the accents of each word; then the cases and then the signs of the
/// whole text. 2 is a space; 1 and 0 end a level.
fn czech_words(bytes: &[u8]) -> Vec<u8> {
    let mut letters = letters(bytes);
    letters.truncate(letters.iter().rposition(|l| !is_space(l)).map_or(0, |at| at + 1));
    let level = |n: usize, l: &usize| Some(czech_latin2(n)[*l]).filter(|w| *w != 0);
    let mut out = Vec::new();
    let mut words = letters.chunk_by(|a, b| !is_space(a) || is_space(b)).peekable();
    if letters.is_empty() {
        out.extend([1, 1]);
    }
    while let Some(word) = words.next() {
        let end = if words.peek().is_some() { 2 } else { 1 };
        for n in 0..2 {
            out.extend(word.iter().filter_map(|l| level(n, l)));
            out.push(end);
        }
    }
    let mut spaced = false;
    for letter in &letters {
        let space = is_space(letter);
        if space && !spaced {
            out.push(2);
        }
        out.extend(level(2, letter));
        spaced = space;
    }
    out.push(1);
    out.extend(letters.iter().filter_map(|l| if is_space(l) { Some(2) } else { level(3, l) }));
    out.push(0);
    out
}

/// All letters, then all accents and cases.
fn czech_passes(bytes: &[u8]) -> Vec<u8> {
    let letters = letters(super::Charset::Cp1250.trim_spaces_end(bytes));
    (0..2).flat_map(|n| letters.iter().map(move |l| czech_1250(n)[*l])).collect()
}

/// A vowel written before its consonant comes after it; ASCII is in lower case. Tone marks become
/// weights at the end; a weight is smaller the more consonants stand before the mark.
fn thai(bytes: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    let last = out.len().saturating_sub(1);
    let (mut at, mut left) = (0, out.len());
    let mut bias = 0xF8u8;
    while left > 0 {
        let c = out[at];
        match c {
            0..=0x7F => {
                bias = bias.wrapping_sub(8);
                out[at] = c.to_ascii_lowercase();
            }
            0xA1..=0xCE => bias = bias.wrapping_sub(8),
            0xE0..=0xE4 if left > 1 && matches!(out[at + 1], 0xA1..=0xCE) => {
                out.swap(at, at + 1);
                at += 1;
                left -= 1;
            }
            0xE7..=0xEC => {
                // Compat: only the unread part moves up, so the last of several marks replaces the
                // one before.
                out.copy_within(at + 1..at + left, at);
                let mark = if c == 0xEC { 1 } else { c - 0xE7 + 2 };
                out[last] = bias.wrapping_add(mark);
                left -= 1;
                continue;
            }
            _ => {}
        }
        at += 1;
        left -= 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thai_marks_and_vowels() {
        assert_eq!(thai(b"\xE0\xA1\xE8"), b"\xA1\xE0\xFB");
        assert_eq!(thai(b"\xA1\xE8\xA1\xE9"), b"\xA1\xA1\xE9\xEC");
        assert_eq!(thai(b"\xE8\xE8"), b"\xE8\xFB");
        assert_eq!(thai(b"\xE0\xE0\xA1\xE8"), b"\xE0\xA1\xE0\xFB");
    }

    #[test]
    fn czech_levels() {
        let spaces =
            b"\x03\x02\x03\x02\x02\x02\x04\x01\x09\x01\x03\x02\x02\x0F\x01\x03\x02\xB2\x02\x0F\x00";
        assert_eq!(czech_words(b"a - b"), spaces);
        assert_eq!(czech_words(b" a"), b"\x02\x02\x03\x01\x03\x01\x02\x03\x01\x02\x03\x00");
        assert_eq!(czech_words(b" "), b"\x01\x01\x01\x00");
        assert_eq!(czech_passes(b"ch x"), b"\xAD\x82\xC0\x03\x01\x02");
    }
}
