//! Rows stored under an earlier schema version, converted to the current one when they are read.
//!
//! The first byte of a row is the version of the columns it was written with. A change of columns
//! that does not rewrite rows adds a [`RowVersion`]: the old columns, and the source of each
//! current column. For a row of the current version the cost is one comparison of that byte.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::layout::{HEADER_BYTES, Place};
use super::{RowCorrupt, RowLayout};
use crate::{SqlType, Value};

/// Source of a column's value in rows of an earlier version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum RowSource {
    /// The column at this position of that version.
    Stored(usize),
    /// No stored column: the column was added later, and every earlier row has this value.
    Constant(Value),
}

/// An earlier version of a table's columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RowVersion {
    /// Type and nullability of its columns.
    columns: Vec<(SqlType, bool)>,
    /// One source per current column.
    sources: Vec<RowSource>,
}

/// An earlier version, prepared for reading.
#[derive(Debug, PartialEq)]
pub(super) struct Upgrade {
    stored: RowVersion,
    layout: RowLayout,
    /// A current row that has the constants; the other columns are empty.
    template: Vec<u8>,
}

impl Upgrade {
    fn new(stored: RowVersion, current: &RowLayout) -> Self {
        let constant = |source: &RowSource| match source {
            RowSource::Constant(value) => value.clone(),
            RowSource::Stored(_) => Value::Null,
        };
        let constants: Vec<Value> = stored.sources.iter().map(constant).collect();
        let mut template = Vec::new();
        current.encode_values(&constants, &mut template);
        for (column, source) in current.columns().iter().zip(&stored.sources) {
            if let (RowSource::Stored(_), Some(bit)) = (source, column.null_bit) {
                template[HEADER_BYTES + bit as usize / 8] &= !(1 << (bit % 8));
            }
        }
        let layout = RowLayout::new(stored.columns.iter().map(|(ty, nullable)| (ty, *nullable)));
        Self { stored, layout, template }
    }
}

impl RowLayout {
    /// This layout as the successor of `earlier`, under which rows may still be stored.
    pub fn with_earlier(mut self, earlier: Vec<RowVersion>) -> Self {
        let usable = |v: &RowVersion| v.sources.len() == self.columns().len();
        if earlier.is_empty() || earlier.len() > usize::from(u8::MAX) || !earlier.iter().all(usable)
        {
            return self;
        }
        self.version = earlier.len() as u8;
        let upgrades: Vec<Upgrade> =
            earlier.into_iter().map(|version| Upgrade::new(version, &self)).collect();
        self.earlier = Some(upgrades.into());
        self
    }

    /// The earlier versions under which rows may be stored, oldest first.
    pub fn earlier(&self) -> Vec<RowVersion> {
        self.earlier.iter().flat_map(|e| e.iter()).map(|e| e.stored.clone()).collect()
    }

    /// The layout `new` as the successor of this one, with no row rewritten. `sources` are the
    /// sources of its columns. `None` if there is no version number left.
    pub fn followed_by(&self, new: RowLayout, sources: &[RowSource]) -> Option<Self> {
        if self.version == u8::MAX {
            return None;
        }
        let through = |before: &RowVersion| RowVersion {
            columns: before.columns.clone(),
            sources: sources
                .iter()
                .map(|source| match source {
                    RowSource::Stored(at) => before.sources[*at].clone(),
                    constant => constant.clone(),
                })
                .collect(),
        };
        let mut earlier: Vec<RowVersion> = self.earlier().iter().map(through).collect();
        let columns = self.columns().iter().map(|c| (c.ty.clone(), c.null_bit.is_some()));
        earlier.push(RowVersion { columns: columns.collect(), sources: sources.to_vec() });
        Some(new.with_earlier(earlier))
    }

    /// First byte of rows of this layout.
    pub fn version(&self) -> u8 {
        self.version
    }

    /// Whether `row`, or the start of one, was stored under an earlier version.
    #[inline]
    pub fn is_earlier(&self, row: &[u8]) -> bool {
        row.first() != Some(&self.version)
    }

    /// Appends `row`, a complete row of an earlier version, to `out` in the current version.
    pub fn upgrade(&self, row: &[u8], out: &mut Vec<u8>) -> Result<(), RowCorrupt> {
        let version = usize::from(*row.first().ok_or(RowCorrupt)?);
        let from = self.earlier.as_ref().and_then(|e| e.get(version)).ok_or(RowCorrupt)?;
        let start = out.len();
        out.extend_from_slice(from.template.get(..self.fixed_end).ok_or(RowCorrupt)?);
        out[start + 1] = 0;
        let mut strings: Vec<&[u8]> = Vec::with_capacity(self.variable);
        for (at, column) in self.columns().iter().enumerate() {
            let stored = match from.stored.sources.get(at) {
                Some(RowSource::Stored(stored)) if *stored < from.stored.columns.len() => *stored,
                _ => {
                    if let Place::Variable { .. } = column.place {
                        strings.push(self.string(&from.template, at)?);
                    }
                    continue;
                }
            };
            if from.layout.is_null(row, stored)?
                && let Some(bit) = column.null_bit
            {
                out[start + HEADER_BYTES + bit as usize / 8] |= 1 << (bit % 8);
            }
            match (column.place, from.layout.columns()[stored].place) {
                (Place::Variable { .. }, Place::Variable { .. }) => {
                    strings.push(from.layout.string(row, stored)?);
                }
                (Place::Fixed { offset, width }, Place::Fixed { offset: old, width: same })
                    if width == same =>
                {
                    let (to, old) = (start + offset as usize, old as usize);
                    let bytes = row.get(old..old + usize::from(width)).ok_or(RowCorrupt)?;
                    out[to..to + usize::from(width)].copy_from_slice(bytes);
                }
                _ => return Err(RowCorrupt),
            }
        }
        let total = strings.iter().map(|s| s.len()).sum();
        self.put_strings(|| strings.iter().copied(), total, start, out);
        Ok(())
    }
}

/// Upgrades, shared by all copies of a layout.
pub(super) type Earlier = Arc<[Upgrade]>;

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(columns: &[(SqlType, bool)]) -> RowLayout {
        RowLayout::new(columns.iter().map(|(ty, nullable)| (ty, *nullable)))
    }

    fn text() -> SqlType {
        SqlType::new(crate::TypeKind::VarChar, 20, 0)
    }

    fn values(layout: &RowLayout, row: &[u8]) -> Vec<Value> {
        (0..layout.columns().len()).map(|at| layout.value(row, at).unwrap()).collect()
    }

    #[test]
    fn rows_follow_their_columns() {
        let number = SqlType::bigint_unsigned();
        let first = layout(&[(number.clone(), false), (text(), true)]);
        let mut row = Vec::new();
        first.encode_values(&[Value::UInt(7), Value::bytes("seven")], &mut row);
        // One column is added before all others, one after; the string becomes the second of three
        // columns.
        let second = layout(&[(text(), true), (text(), true), (number.clone(), false)]);
        let sources =
            [RowSource::Constant(Value::bytes("new")), RowSource::Stored(1), RowSource::Stored(0)];
        let second = first.followed_by(second, &sources).unwrap();
        assert!(second.is_earlier(&row));
        let mut now = Vec::new();
        second.upgrade(&row, &mut now).unwrap();
        assert!(!second.is_earlier(&now));
        let expected = vec![Value::bytes("new"), Value::bytes("seven"), Value::UInt(7)];
        assert_eq!(values(&second, &now), expected);
        // The string is dropped and a nullable column added: rows of both versions are read.
        let third = layout(&[(number.clone(), true), (text(), true)]);
        let sources = [RowSource::Constant(Value::Null), RowSource::Stored(0)];
        let third = second.followed_by(third, &sources).unwrap();
        for stored in [&row, &now] {
            let mut last = Vec::new();
            third.upgrade(stored, &mut last).unwrap();
            assert_eq!(values(&third, &last), vec![Value::Null, Value::bytes("new")]);
        }
    }

    #[test]
    fn long_strings_and_nulls_survive() {
        let first = layout(&[(text(), true), (text(), true)]);
        let long = vec![b'x'; 70_000];
        let (mut row, mut now) = (Vec::new(), Vec::new());
        first.encode_values(&[Value::bytes(&long), Value::Null], &mut row);
        let second = layout(&[(text(), true), (text(), true), (text(), false)]);
        let sources =
            [RowSource::Stored(1), RowSource::Stored(0), RowSource::Constant(Value::bytes("d"))];
        let second = first.followed_by(second, &sources).unwrap();
        second.upgrade(&row, &mut now).unwrap();
        let expected = vec![Value::Null, Value::bytes(&long), Value::bytes("d")];
        assert_eq!(values(&second, &now), expected);
    }

    #[test]
    fn bytes_from_disk_are_not_trusted() {
        let first = layout(&[(text(), true)]);
        let sources = [RowSource::Stored(0)];
        let second = first.followed_by(layout(&[(text(), true)]), &sources).unwrap();
        let mut out = Vec::new();
        for row in [&[][..], &[0], &[9, 0, 0, 0, 0], &[0, 0, 0, 255, 255]] {
            assert_eq!(second.upgrade(row, &mut out), Err(RowCorrupt));
        }
    }
}
