//! Keys of several columns packed into two words each, a column at a time.
//!
//! Must pack what [`hash_table`](super::hash_table) packs row by row, since one finds the keys of
//! the other.

use std::sync::Arc;

use selkie_types::{Column, ColumnData, DecimalValues};

use super::hash_table::{KeyKind, SHORT, TAG_NULL};

/// Packs the keys of all rows; false if one of them is longer than [`SHORT`] bytes or has a value
/// that is not packed here.
pub(super) fn pack_rows(
    kinds: &[KeyKind],
    columns: &[Arc<Column>],
    rows: usize,
    out: &mut Vec<u128>,
) -> bool {
    out.clear();
    out.resize(rows, 0);
    let mut ends = vec![0u8; rows];
    let packed = |(kind, column): (&KeyKind, &Arc<Column>)| {
        pack_column(*kind, column, &mut Packing { keys: out, ends: &mut ends })
    };
    if !kinds.iter().zip(columns).all(packed) {
        return false;
    }
    for (key, end) in out.iter_mut().zip(ends) {
        *key |= u128::from(end + 1) << 120;
    }
    true
}

struct Packing<'p> {
    keys: &'p mut [u128],
    /// Bytes of each key so far.
    ends: &'p mut [u8],
}

impl Packing<'_> {
    /// Appends `count` bytes to the key of a row; false if it becomes too long.
    #[inline]
    fn put(&mut self, row: usize, bytes: u128, count: usize) -> bool {
        let end = usize::from(self.ends[row]);
        if end + count > SHORT {
            return false;
        }
        self.keys[row] |= bytes << (8 * end);
        self.ends[row] = (end + count) as u8;
        true
    }

    #[inline]
    fn word(&mut self, row: usize, v: u64, tag: u8) -> bool {
        let len = 8 - v.leading_zeros() as usize / 8;
        self.put(row, u128::from(v) << 8 | u128::from(len as u8 | tag), len + 1)
    }

    #[inline]
    fn signed(&mut self, row: usize, v: i64) -> bool {
        if v >= 0 { self.word(row, v as u64, 0) } else { self.word(row, !v as u64, 16) }
    }

    #[inline]
    fn bytes(&mut self, row: usize, bytes: &[u8]) -> bool {
        pack_bytes(bytes).is_some_and(|(bytes, count)| self.put(row, bytes, count))
    }

    /// Packs a value of every row.
    fn all(
        &mut self,
        column: &Column,
        mut put: impl FnMut(&mut Self, usize, usize) -> bool,
    ) -> bool {
        let rows = self.keys.len();
        if column.validity().is_none() && !column.is_constant() {
            return (0..rows).all(|row| put(self, row, row));
        }
        (0..rows).all(|row| match column.is_null(row) {
            true => self.put(row, TAG_NULL.into(), 1),
            false => put(self, row, column.physical_row(row)),
        })
    }
}

/// A string behind its length, and the number of these bytes.
#[inline]
fn pack_bytes(bytes: &[u8]) -> Option<(u128, usize)> {
    if bytes.len() >= SHORT {
        return None;
    }
    let mut padded = [0; 16];
    padded[1..=bytes.len()].copy_from_slice(bytes);
    padded[0] = bytes.len() as u8;
    Some((u128::from_le_bytes(padded), bytes.len() + 1))
}

fn pack_column(kind: KeyKind, column: &Column, out: &mut Packing<'_>) -> bool {
    match column.data() {
        ColumnData::Int(v) => out.all(column, |out, row, at| out.signed(row, v[at])),
        ColumnData::UInt(v) => out.all(column, |out, row, at| out.word(row, v[at], 0)),
        ColumnData::Date(v) => out.all(column, |out, row, at| out.word(row, v[at].0.into(), 0)),
        ColumnData::Time(v) => out.all(column, |out, row, at| out.signed(row, v[at].0)),
        ColumnData::DateTime(v) => out.all(column, |out, row, at| out.signed(row, v[at].0)),
        ColumnData::Decimal(v) => match (kind, v.values()) {
            (KeyKind::Decimal, DecimalValues::I64(v)) => {
                out.all(column, |out, row, at| out.signed(row, v[at]))
            }
            _ => false,
        },
        ColumnData::Bytes(v) => match v.codes() {
            Some((codes, entries)) if entries.len() <= column.len() => {
                let packed: Vec<Option<(u128, usize)>> = entries.iter().map(pack_bytes).collect();
                out.all(column, |out, row, at| {
                    packed[codes[at] as usize]
                        .is_some_and(|(bytes, count)| out.put(row, bytes, count))
                })
            }
            _ => out.all(column, |out, row, at| out.bytes(row, v.get(at))),
        },
        ColumnData::Double(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::hash_table::{pack, put_row};
    use selkie_types::{CollationId, Physical, Value};

    fn column(physical: Physical, values: Vec<Value>) -> Arc<Column> {
        let mut column = Column::new(physical, 2, values.len());
        values.iter().for_each(|value| column.push(value));
        Arc::new(column)
    }

    #[test]
    fn keys_are_packed_as_row_by_row() {
        let ints = [0, 1, -1, 255, 256, i64::MAX, i64::MIN, -70_000].map(Value::Int).to_vec();
        let texts = ["", "a", "ab ", "sevenyx", "ten bytes!", "", "x", ""].map(Value::bytes);
        let mut nulls = ints.clone();
        nulls[2] = Value::Null;
        let text = KeyKind::Text(CollationId::UTF8MB4_GENERAL_CI);
        let sets = [
            (vec![KeyKind::Word], vec![column(Physical::Int, ints.clone())]),
            (
                vec![KeyKind::Word, KeyKind::Binary],
                vec![column(Physical::Int, nulls), column(Physical::Bytes, texts.to_vec())],
            ),
            (
                vec![text, KeyKind::Word],
                vec![
                    column(Physical::Bytes, texts.to_vec()),
                    Arc::new(Column::constant(&Value::UInt(9), Physical::UInt, 0, 8)),
                ],
            ),
        ];
        for (kinds, columns) in sets {
            let rows = columns[0].len();
            let by_row = |row: usize| {
                let mut key = Vec::new();
                put_row(&kinds, &columns, row, &mut key);
                pack(&key)
            };
            let wanted: Option<Vec<u128>> = (0..rows).map(by_row).collect();
            let mut packed = Vec::new();
            let is_short = pack_rows(&kinds, &columns, rows, &mut packed);
            assert_eq!(is_short.then_some(packed), wanted);
        }
    }
}
