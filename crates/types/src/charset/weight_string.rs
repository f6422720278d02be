//! Result of `WEIGHT_STRING()`: the weights of a text, level after level, most significant byte
//! first. Must not be used to compare: MariaDB shows other weights than it compares with in some
//! collations.

use super::collation::Rule;
use super::weights::{Stream, Weigher, match_weigher};
use super::{Charset, Collation, Pad};
use crate::pace::tick;

/// Clauses of `WEIGHT_STRING()` after the text.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct WeightOptions {
    /// Number of characters the text is cut or padded to.
    pub characters: Option<usize>,
    /// The levels, one bit each from the first level; no bit for all levels.
    pub levels: u8,
    /// Levels whose bits are inverted, one bit each.
    pub descending: u8,
    /// Levels whose bytes are reversed, one bit each.
    pub reversed: u8,
}

impl Collation {
    /// Appends the weights of a text.
    pub fn weight_string(&self, text: &[u8], options: WeightOptions, out: &mut Vec<u8>) {
        let text = match options.characters {
            Some(n) => self.charset.prefix(text, n),
            None => text,
        };
        let count = || self.charset.char_count(text);
        let missing = options.characters.map_or(0, |n| n.saturating_sub(count()));
        if let Rule::Whole(_) = self.rule {
            let padded = [text, &self.charset.space().repeat(missing)].concat();
            return out.extend_from_slice(&self.prepared(&padded));
        }
        for level in self.shown_levels(options.levels) {
            let start = out.len();
            self.put_level(level, text, missing, out);
            // Compat: the Unicode algorithm ignores the flags.
            if !matches!(self.rule, Rule::Tailored(_) | Rule::Unicode400 | Rule::Unicode520) {
                if options.descending & 1 != 0 {
                    out[start..].iter_mut().for_each(|b| *b = !*b);
                }
                if options.reversed & 1 != 0 {
                    out[start..].reverse();
                }
            }
        }
    }

    /// The levels to show, from zero. The last level stands for those the collation does not have.
    fn shown_levels(&self, asked: u8) -> Vec<u8> {
        let own: Vec<u8> = std::iter::once(0).chain(self.levels.iter().copied()).collect();
        if asked == 0 {
            return own;
        }
        let last = own.last().copied().unwrap_or(0);
        let asked = (0..8).filter(|level| asked & 1 << level != 0);
        let mut shown: Vec<u8> =
            asked.map(|level| if own.contains(&level) { level } else { last }).collect();
        shown.dedup();
        shown
    }

    fn put_level(&self, level: u8, text: &[u8], missing: usize, out: &mut Vec<u8>) {
        if let Some(set) = self.east_asian() {
            set.put_weights(text, out);
            return pad_with(self.pad, b" ", b"\0", missing, out);
        }
        if self.rule == Rule::Code {
            return self.put_codes(text, missing, out);
        }
        let weigher = if level == 0 { self.weigher() } else { self.weigher_at(level) };
        match_weigher!(weigher, w => put_weights(&w, text, missing, self.least(level), out));
    }

    /// The weight used for padding; `None` if spaces are.
    fn least(&self, level: u8) -> Option<u32> {
        let unicode = matches!(self.rule, Rule::Tailored(_) | Rule::Unicode400 | Rule::Unicode520);
        match self.pad {
            Pad::PadSpace => None,
            Pad::NoPad if unicode => Some([0x0200, 0x0020, 0x0002][usize::from(level).min(2)]),
            Pad::NoPad => Some(0),
        }
    }

    /// Appends the weights of a collation that compares codes.
    fn put_codes(&self, text: &[u8], missing: usize, out: &mut Vec<u8>) {
        let width = match self.charset {
            Charset::Utf8mb4 | Charset::Utf16 | Charset::Utf16le | Charset::Utf32 => 3,
            Charset::Utf8mb3 | Charset::Ucs2 => 2,
            _ => {
                out.extend_from_slice(text);
                return pad_with(self.pad, b" ", b"\0", missing, out);
            }
        };
        let mut rest = text;
        while !rest.is_empty() {
            let (code, len) = self.charset.decode(rest).unwrap_or((0xFF_FFFF, 0));
            out.extend_from_slice(&code.to_be_bytes()[4 - width..]);
            let len = if len == 0 { self.charset.char_len(rest).max(1) } else { len };
            rest = &rest[len.min(rest.len())..];
        }
        pad_with(self.pad, &b"\0\0 "[3 - width..], &b"\0\0\0"[..width], missing, out);
    }
}

fn pad_with(pad: Pad, space: &[u8], zero: &[u8], missing: usize, out: &mut Vec<u8>) {
    let weight = if pad == Pad::PadSpace { space } else { zero };
    (0..missing).for_each(|_| out.extend_from_slice(weight));
}

fn put_weights<W: Weigher>(
    w: &W,
    text: &[u8],
    missing: usize,
    least: Option<u32>,
    out: &mut Vec<u8>,
) {
    let padding = std::iter::repeat_n(least.unwrap_or_else(|| w.space()), missing);
    for weight in Stream::new(w, text).chain(padding) {
        tick(4);
        out.extend_from_slice(&weight.to_be_bytes()[4 - W::WIDTH..]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::CollationId;
    use super::*;

    fn weights(collation: &str, text: &[u8], options: WeightOptions) -> Vec<u8> {
        let mut out = Vec::new();
        let id = CollationId::from_name(collation).unwrap();
        id.info().weight_string(text, options, &mut out);
        out
    }

    #[test]
    fn padding_and_levels() {
        let padded = WeightOptions { characters: Some(3), ..WeightOptions::default() };
        assert_eq!(weights("latin1_swedish_ci", b"a", padded), b"A  ");
        assert_eq!(weights("latin1_swedish_nopad_ci", b"a", padded), b"A\0\0");
        assert_eq!(weights("utf8mb4_bin", b"a", padded), b"\0\0a\0\0 \0\0 ");
        let last = WeightOptions { levels: 4, ..WeightOptions::default() };
        assert_eq!(weights("utf8mb4_uca1400_as_cs", b"aB", last), b"\0\x02\0\x08");
        let reversed = WeightOptions { levels: 1, reversed: 1, ..padded };
        assert_eq!(weights("utf8mb4_general_ci", b"ab", reversed), b" \0B\0A\0");
    }
}
