//! Further levels of weights after the first: accents and cases.
//!
//! `data/uca_levels.bin` (observed by `generate/tailorings.py`) holds two sections per table: the
//! sequences of weights, and runs of their numbers over all code points. A table is unpacked when a
//! collation with that level is first used.

use hashbrown::HashMap;
use std::sync::LazyLock;

use super::tables::{Paged, Uca};

const DATA: &[u8] = include_bytes!("../../data/uca_levels.bin");

/// Code points per page.
const PAGE: usize = 256;
const PAGES: usize = 0x11_0000 / PAGE;

/// The second or third level of Unicode 14; `level` counts from zero.
pub(super) fn of_1400(level: usize) -> &'static Uca {
    static ACCENTS: LazyLock<Uca> = LazyLock::new(|| unpack(0));
    static CASES: LazyLock<Uca> = LazyLock::new(|| unpack(1));
    if level == 1 { &ACCENTS } else { &CASES }
}

/// The second level of Unicode 5.2.
pub(super) fn accents_520() -> &'static Uca {
    static ACCENTS: LazyLock<Uca> = LazyLock::new(|| unpack(2));
    &ACCENTS
}

/// The next section of the data.
fn section(data: &mut &'static [u8]) -> &'static [u8] {
    let Some((len, rest)) = data.split_first_chunk::<4>() else { return &[] };
    let (section, rest) = rest.split_at((u32::from_le_bytes(*len) as usize).min(rest.len()));
    *data = rest;
    section
}

fn unpack(table: usize) -> Uca {
    let mut data = DATA;
    for _ in 0..table * 2 {
        section(&mut data);
    }
    let (offsets, pool) = sequences(section(&mut data));
    Uca::unpacked(pages(section(&mut data)), offsets, pool)
}

/// Offset of each sequence in the pool of weights, and the pool.
fn sequences(data: &[u8]) -> (Vec<u16>, Vec<u16>) {
    let (mut offsets, mut pool) = (vec![0], Vec::new());
    let mut rest = data.get(2..).unwrap_or_default();
    while let Some((&count, tail)) = rest.split_first() {
        let (weights, tail) = tail.split_at((2 * usize::from(count)).min(tail.len()));
        pool.extend(weights.as_chunks::<2>().0.iter().map(|&w| u16::from_le_bytes(w)));
        offsets.push(pool.len() as u16);
        rest = tail;
    }
    (offsets, pool)
}

/// The runs as pages; equal pages are stored once.
fn pages(data: &[u8]) -> Paged {
    let mut numbers: Vec<u16> = Vec::with_capacity(PAGE * PAGES);
    let mut rest = data;
    while let (Some(count), Some(number)) = (varint(&mut rest), varint(&mut rest)) {
        numbers.extend(std::iter::repeat_n(number as u16, count));
    }
    let mut known: HashMap<&[u16], u16> = HashMap::new();
    let (mut index, mut cells) = (Vec::with_capacity(PAGES), Vec::new());
    for page in numbers.chunks(PAGE) {
        let next = known.len() as u16;
        index.push(*known.entry(page).or_insert_with(|| {
            cells.extend_from_slice(page);
            next
        }));
    }
    let pages = index.len();
    index.extend(cells);
    Paged::unpacked(index, pages)
}

fn varint(data: &mut &[u8]) -> Option<usize> {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let (&byte, rest) = data.split_first()?;
        *data = rest;
        value |= usize::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            break;
        }
    }
    Some(value)
}
