//! Puts a row together from stored values, beginning with another row's.
//!
//! Must not convert: values are given in the stored form of their columns.

use super::layout::{HEADER_BYTES, Place};
use super::{RowCorrupt, RowLayout};

/// A row in the making. It keeps its buffers for the next row.
#[derive(Debug, Default)]
pub struct RowDraft<'a> {
    /// Header, null bits and fixed part.
    head: Vec<u8>,
    strings: Vec<Piece<'a>>,
    /// Bytes of strings that were made here.
    made: Vec<u8>,
}

/// Value of a variable column.
#[derive(Clone, Copy, Debug)]
enum Piece<'a> {
    Given(&'a [u8]),
    /// Begin and end in the bytes made here.
    Made(usize, usize),
}

impl<'a> RowDraft<'a> {
    /// Begins a row that is like `row`, a complete row of the layout's current version.
    pub fn begin(&mut self, layout: &RowLayout, row: &'a [u8]) -> Result<(), RowCorrupt> {
        self.head.clear();
        self.head.extend_from_slice(row.get(..layout.fixed_end).ok_or(RowCorrupt)?);
        // The width of end offsets follows from the strings.
        self.head.iter_mut().skip(1).take(1).for_each(|flags| *flags = 0);
        self.strings.clear();
        self.made.clear();
        for (at, column) in layout.columns().iter().enumerate() {
            if let Place::Variable { .. } = column.place {
                self.strings.push(Piece::Given(layout.string(row, at)?));
            }
        }
        Ok(())
    }

    /// Makes a column NULL; false if it cannot be.
    pub fn set_null(&mut self, layout: &RowLayout, column: usize) -> bool {
        let Some(place) = layout.columns().get(column) else { return false };
        if place.null_bit.is_none() {
            return false;
        }
        match place.place {
            Place::Variable { rank } => {
                self.strings.iter_mut().skip(rank as usize).take(1).for_each(|s| {
                    *s = Piece::Given(&[]);
                });
            }
            Place::Fixed { offset, width } => {
                let bytes = self.head.iter_mut().skip(offset as usize);
                bytes.take(usize::from(width)).for_each(|byte| *byte = 0);
            }
        }
        self.null_bit(place.null_bit).into_iter().for_each(|(byte, mask)| *byte |= mask);
        true
    }

    /// Gives a column its stored bytes; false if they cannot be those of such a column.
    #[inline]
    pub fn set(&mut self, layout: &RowLayout, column: usize, stored: &'a [u8]) -> bool {
        let Some(place) = layout.columns().get(column) else { return false };
        let is_set = match place.place {
            Place::Variable { rank } => {
                self.strings.get_mut(rank as usize).map(|piece| *piece = Piece::Given(stored))
            }
            Place::Fixed { .. } => return self.set_fixed(layout, column, stored),
        };
        self.mark_value(place.null_bit);
        is_set.is_some()
    }

    /// Gives a column of fixed size its stored bytes; false if there are not as many.
    #[inline]
    pub fn set_fixed(&mut self, layout: &RowLayout, column: usize, stored: &[u8]) -> bool {
        let Some(place) = layout.columns().get(column) else { return false };
        let Place::Fixed { offset, width } = place.place else { return false };
        let (from, width) = (offset as usize, usize::from(width));
        match self.head.get_mut(from..from + width) {
            Some(to) if stored.len() == width => to.copy_from_slice(stored),
            _ => return false,
        }
        self.mark_value(place.null_bit);
        true
    }

    /// Gives a column of variable size the bytes that `make` appends; false if it has a fixed one.
    pub fn set_made(
        &mut self,
        layout: &RowLayout,
        column: usize,
        make: impl FnOnce(&mut Vec<u8>),
    ) -> bool {
        let Some(place) = layout.columns().get(column) else { return false };
        let Place::Variable { rank } = place.place else { return false };
        let begin = self.made.len();
        make(&mut self.made);
        let piece = Piece::Made(begin, self.made.len());
        let is_set = self.strings.get_mut(rank as usize).map(|to| *to = piece);
        self.mark_value(place.null_bit);
        is_set.is_some()
    }

    /// The byte with a null bit, and the bit.
    fn null_bit(&mut self, bit: Option<u32>) -> Option<(&mut u8, u8)> {
        let bit = bit?;
        let byte = self.head.get_mut(HEADER_BYTES + bit as usize / 8)?;
        Some((byte, 1 << (bit % 8)))
    }

    /// Marks a column as one that is not NULL.
    fn mark_value(&mut self, bit: Option<u32>) {
        self.null_bit(bit).into_iter().for_each(|(byte, mask)| *byte &= !mask);
    }

    /// Appends the row.
    pub fn finish(&self, layout: &RowLayout, out: &mut Vec<u8>) {
        let bytes = |piece: &Piece<'a>| -> &[u8] {
            match piece {
                Piece::Given(bytes) => bytes,
                Piece::Made(begin, end) => self.made.get(*begin..*end).unwrap_or_default(),
            }
        };
        let start = out.len();
        let total = self.strings.iter().map(|piece| bytes(piece).len()).sum();
        out.extend_from_slice(&self.head);
        layout.put_strings(|| self.strings.iter().map(bytes), total, start, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SqlType, TypeKind, Value};

    fn layout() -> RowLayout {
        let text = SqlType::new(TypeKind::LongText, 0, 0);
        let types = [(SqlType::int(), true), (text.clone(), true), (text, false)];
        RowLayout::new(types.iter().map(|(ty, nullable)| (ty, *nullable)))
    }

    fn row(layout: &RowLayout, values: &[Value]) -> Vec<u8> {
        let mut out = Vec::new();
        layout.encode_values(values, &mut out);
        out
    }

    #[test]
    fn a_draft_is_a_row_with_other_values() {
        let layout = layout();
        let begun = row(&layout, &[Value::Null, Value::bytes("a"), Value::bytes("b")]);
        let mut draft = RowDraft::default();
        draft.begin(&layout, &begun).unwrap();
        assert!(draft.set_fixed(&layout, 0, &7i32.to_le_bytes()));
        assert!(draft.set_null(&layout, 1));
        assert!(draft.set_made(&layout, 2, |out| out.extend_from_slice(b"made")));
        let mut out = Vec::new();
        draft.finish(&layout, &mut out);
        assert_eq!(out, row(&layout, &[Value::Int(7), Value::Null, Value::bytes("made")]));
    }

    #[test]
    fn long_strings_widen_the_ends() {
        let layout = layout();
        let long = vec![b'x'; 70_000];
        let wide =
            row(&layout, &[Value::Null, Value::Bytes(long.clone().into()), Value::bytes("")]);
        let narrow = row(&layout, &[Value::Null, Value::bytes("a"), Value::bytes("")]);
        for (from, to, text) in [(&narrow, &wide, &long[..]), (&wide, &narrow, b"a")] {
            let mut draft = RowDraft::default();
            draft.begin(&layout, from).unwrap();
            assert!(draft.set(&layout, 1, text));
            let mut out = Vec::new();
            draft.finish(&layout, &mut out);
            assert_eq!(&out, to);
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let layout = layout();
        let begun = row(&layout, &[Value::Null, Value::Null, Value::bytes("")]);
        let mut draft = RowDraft::default();
        draft.begin(&layout, &begun).unwrap();
        assert!(!draft.set(&layout, 0, b"abc"));
        assert!(!draft.set(&layout, 3, b"abc"));
        assert!(!draft.set_null(&layout, 2));
        assert!(draft.begin(&layout, &begun[..3]).is_err());
    }
}
