//! Tailorings of the Unicode collation algorithm: changes to a table of weights, for a language, or
//! for the root of Unicode 14 (its contractions).
//!
//! `data/tailorings.bin` (observed by `generate/tailorings.py`) holds for each tailoring its base
//! version and a list of characters and sequences with their weights on each level. A tailoring is
//! unpacked when it is first used. It slows down only texts that contain its characters.

use std::sync::LazyLock;

use super::Charset;
use super::levels;
use super::tables::{Sequence, UCA_400, UCA_520, UCA_1400, Uca};
use super::weights::{Weigher, Weights, bad};

const DATA: &[u8] = include_bytes!("../../data/tailorings.bin");

/// Most levels of weights: letters, accents, cases.
pub(super) const LEVELS: usize = 3;

/// Number of the tailoring that holds the contractions of the root of Unicode 14.
pub(super) const ROOT: u8 = 0;
/// Names of the tailorings of 4.0 and 5.2, from number 1.
pub(super) const OLD: [&str; 25] = [
    "icelandic",
    "latvian",
    "romanian",
    "slovenian",
    "polish",
    "estonian",
    "spanish",
    "swedish",
    "turkish",
    "czech",
    "danish",
    "lithuanian",
    "slovak",
    "spanish2",
    "roman",
    "persian",
    "esperanto",
    "hungarian",
    "sinhala",
    "german2",
    "croatian_mysql561",
    "vietnamese",
    "croatian",
    "myanmar",
    "thai_520_w2",
];
/// Names of the tailorings of 14.0, which follow [`OLD`] by number; two numbers are not used.
pub(super) const NEW: [&str; 24] = [
    "icelandic",
    "latvian",
    "romanian",
    "slovenian",
    "polish",
    "estonian",
    "spanish",
    "swedish",
    "turkish",
    "czech",
    "danish",
    "lithuanian",
    "slovak",
    "spanish2",
    "roman",
    "persian",
    "esperanto",
    "hungarian",
    "sinhala",
    "german2",
    "",
    "",
    "vietnamese",
    "croatian",
];

/// The number of the tailoring at position `at` of [`NEW`].
pub(super) const fn number_of_new(at: usize) -> u8 {
    let unused = if at > 21 { 2 } else { 0 };
    (1 + OLD.len() + at - unused) as u8
}

/// Whether the letter cases are those of Unicode 3.
pub(super) const fn has_old_cases(number: u8) -> bool {
    matches!(number, 1..=23)
}

/// Whether the upper case of `i` has a dot.
pub(super) fn is_turkish(number: u8) -> bool {
    let name = |list: &[&str], at: usize| list.get(at) == Some(&"turkish");
    let number = usize::from(number);
    number > 0
        && (name(&OLD, number - 1) || number > OLD.len() && name(&NEW, number - 1 - OLD.len()))
}

const COUNT: usize = 1 + OLD.len() + NEW.len() - 2;

static TAILORINGS: [LazyLock<Tailoring>; COUNT] = {
    macro_rules! all {
        ($($n:literal)*) => { [$(LazyLock::new(|| Tailoring::load($n))),*] };
    }
    all!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33
        34 35 36 37 38 39 40 41 42 43 44 45 46 47)
};

/// Weights on each level, as ranges of the pool.
type Places = [(u32, u32); LEVELS];

/// Changes of a tailoring for one character.
struct Entry {
    /// Its own weights; `None` if they are those of the base.
    own: Option<Places>,
    /// The characters that can follow it in a contraction, longest first, with the weights.
    contractions: Vec<(Box<[u32]>, Places)>,
}

/// The changes of one tailoring.
pub(super) struct Tailoring {
    /// Version it is based on: 400, 520 or 1400.
    version: u16,
    /// For each 256 code points, the number of their cells plus one; 0 if nothing is changed.
    pages: Vec<u8>,
    /// For each code point, the number of its entry plus one.
    cells: Vec<[u16; 256]>,
    entries: Vec<Entry>,
    pool: Vec<u16>,
    ascii: [[u16; 128]; LEVELS],
}

/// Takes bytes off the front of the data, which is known to be complete.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        taken
    }

    fn number(&mut self, bytes: usize) -> u32 {
        self.take(bytes).iter().rev().fold(0, |n, &b| n << 8 | u32::from(b))
    }
}

impl Tailoring {
    /// The tailoring with a number.
    #[inline]
    pub(super) fn get(number: u8) -> &'static Self {
        &TAILORINGS[usize::from(number)]
    }

    fn load(number: usize) -> Self {
        let mut all = Reader(DATA);
        for _ in 0..number {
            let len = all.number(4) as usize;
            all.take(len);
        }
        let len = all.number(4) as usize;
        let mut data = Reader(all.take(len));
        let version = data.number(2) as u16;
        let mut new = Self {
            version,
            pages: vec![0; 0x1100],
            cells: Vec::new(),
            entries: Vec::new(),
            pool: Vec::new(),
            ascii: [[0; 128]; LEVELS],
        };
        if version == 1400 && number != usize::from(ROOT) {
            let root_len = Reader(DATA).number(4) as usize;
            let mut root = Reader(&DATA[4 + 2..4 + root_len]);
            new.add_all(&mut root);
        }
        new.add_all(&mut data);
        for entry in &mut new.entries {
            // Of equal tails the last added comes first: it is the language's own.
            entry.contractions.reverse();
            entry.contractions.sort_by_key(|(tail, _)| std::cmp::Reverse(tail.len()));
        }
        for level in 0..if version == 1400 { LEVELS } else { 1 } {
            new.ascii[level] = std::array::from_fn(|code| new.simple(code as u32, level));
        }
        new
    }

    fn add_all(&mut self, data: &mut Reader<'_>) {
        let levels = data.number(1) as usize;
        for _ in 0..data.number(2) {
            let len = data.number(1);
            let sequence: Vec<u32> = (0..len).map(|_| data.number(3)).collect();
            let mut places = Places::default();
            for place in places.iter_mut().take(levels) {
                let from = self.pool.len() as u32;
                let count = data.number(1);
                self.pool.extend((0..count).map(|_| data.number(2) as u16));
                *place = (from, from + count);
            }
            if let Some((&first, tail)) = sequence.split_first() {
                self.add(first, tail, places);
            }
        }
    }

    fn add(&mut self, first: u32, tail: &[u32], places: Places) {
        let page = &mut self.pages[(first >> 8) as usize];
        if *page == 0 {
            self.cells.push([0; 256]);
            *page = self.cells.len() as u8;
        }
        let cell = &mut self.cells[usize::from(*page) - 1][(first & 0xFF) as usize];
        if *cell == 0 {
            self.entries.push(Entry { own: None, contractions: Vec::new() });
            *cell = self.entries.len() as u16;
        }
        let entry = &mut self.entries[usize::from(*cell) - 1];
        match tail {
            [] => entry.own = Some(places),
            tail => entry.contractions.push((tail.into(), places)),
        }
    }

    /// The table of a level that this tailoring is based on.
    fn base(&self, level: usize) -> &'static Uca {
        match (self.version, level) {
            (400, _) => &UCA_400,
            (520, 1) => levels::accents_520(),
            (520, _) => &UCA_520,
            (_, 0) => &UCA_1400,
            (_, level) => levels::of_1400(level),
        }
    }

    #[inline]
    fn entry(&self, code: u32) -> Option<&Entry> {
        let page = *self.pages.get((code >> 8) as usize)?;
        let cells = self.cells.get(usize::from(page).checked_sub(1)?)?;
        self.entries.get(usize::from(cells[(code & 0xFF) as usize]).checked_sub(1)?)
    }

    fn weights(&self, places: &Places, level: usize) -> &[u16] {
        let (from, to) = places[level];
        &self.pool[from as usize..to as usize]
    }

    /// The weight of an ASCII character if it has exactly one and no contraction with ASCII; else
    /// zero.
    fn simple(&self, code: u32, level: usize) -> u16 {
        let entry = self.entry(code);
        let contracted = |e: &Entry| {
            e.contractions.iter().any(|(tail, _)| tail.first().is_some_and(|c| *c < 128))
        };
        if entry.is_some_and(contracted) {
            return 0;
        }
        let own = entry.and_then(|e| e.own.as_ref()).map(|own| self.weights(own, level));
        match (own, self.base(level).sequence(code)) {
            (Some(&[w]), _) | (None, Sequence::Listed(&[w])) => w,
            _ => 0,
        }
    }

    /// The weigher for text of a character set on a level.
    pub(super) fn weigher(&'static self, charset: Charset, level: usize) -> Tailored {
        let ascii = if charset.is_ascii_compatible() { &self.ascii[level] } else { &[0; 128] };
        Tailored { tailoring: self, base: self.base(level), charset, level, ascii }
    }
}

/// Weigher of a tailoring, on one level.
#[derive(Copy, Clone)]
pub(crate) struct Tailored {
    tailoring: &'static Tailoring,
    base: &'static Uca,
    charset: Charset,
    level: usize,
    ascii: &'static [u16; 128],
}

impl Tailored {
    /// Weights of the contraction that the start of `rest` completes, with its length in `rest`.
    fn contraction(&self, entry: &'static Entry, rest: &[u8]) -> Option<(&'static [u16], usize)> {
        entry.contractions.iter().find_map(|(tail, places)| {
            let mut at = 0;
            for &wanted in tail {
                let (code, len) = self.charset.decode(rest.get(at..)?)?;
                if code != wanted {
                    return None;
                }
                at += len;
            }
            Some((self.tailoring.weights(places, self.level), at))
        })
    }
}

impl Tailored {
    /// The longest start of a text whose weights do not depend on what follows the text.
    pub(crate) fn settled<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        let mut at = 0;
        while let Some((code, len)) = self.charset.decode(&bytes[at..]) {
            let rest = &bytes[at + len..];
            let entry = self.tailoring.entry(code).filter(|e| !e.contractions.is_empty());
            let Some(entry) = entry else {
                at += len;
                continue;
            };
            // The longest contractions come first.
            let longest = entry.contractions[0].0.len();
            if self.charset.char_count(rest) < longest {
                break;
            }
            at += len + self.contraction(entry, rest).map_or(0, |(_, tail)| tail);
        }
        &bytes[..at]
    }
}

impl Weigher for Tailored {
    const WIDTH: usize = 2;
    const BYTEWISE: bool = false;
    const CONTRACTS: bool = true;

    #[inline]
    fn next(&self, bytes: &[u8]) -> (Weights<'_>, usize) {
        if let Some(&b) = bytes.first()
            && let Some(&w) = self.ascii.get(usize::from(b))
            && w != 0
            && bytes.get(1).is_none_or(|b| *b < 0x80)
        {
            return (Weights::One(u32::from(w)), 1);
        }
        let Some((code, len)) = self.charset.decode(bytes) else {
            return bad(bytes, self.charset);
        };
        if let Some(entry) = self.tailoring.entry(code) {
            if let Some((weights, tail)) = self.contraction(entry, &bytes[len..]) {
                return (Weights::of(weights), len + tail);
            }
            if let Some(own) = &entry.own {
                return (Weights::of(self.tailoring.weights(own, self.level)), len);
            }
        }
        match self.base.sequence(code) {
            Sequence::Listed(list) => (Weights::of(list), len),
            Sequence::Computed(pair) => (Weights::Two(pair), len),
        }
    }

    fn space(&self) -> u32 {
        match self.base.sequence(0x20) {
            Sequence::Listed(&[w]) => u32::from(w),
            _ => 0,
        }
    }

    #[inline]
    fn ascii(&self) -> Option<&'static [u16; 128]> {
        Some(self.ascii)
    }
}
