//! Heads of sort keys: for a long string only its first characters, which nearly always decide the
//! order. Only rows with equal heads get whole keys. The order must be the same as that of whole
//! keys.

use selkie_plan::physical::SortKey;
use selkie_types::{Batch, ByteRows, ColumnData, SqlResult, key};

use super::sort_key::{put_key, sorted};

/// Characters of a long string that go into a head.
const CHARACTERS: usize = 16;
/// Longest string in bytes that is put whole.
const SHORT: usize = 40;
/// Fewest bytes of a head, because the first word of a key is compared on its own.
const LEAST: usize = 8;

/// The heads of the sort keys of rows.
#[derive(Debug, Default)]
pub(super) struct Heads {
    keys: ByteRows,
    /// Whether each row's key is longer than its head.
    cut: Vec<bool>,
}

/// Treatment of rows with equal keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Equals {
    /// All rows stay, in input order.
    Kept,
    /// Only the first row stays.
    Dropped,
}

impl Equals {
    /// The rows that stay, from `order`, which is sorted by `keys`.
    pub(super) fn left(self, mut order: Vec<u32>, keys: &ByteRows) -> Vec<u32> {
        if self == Self::Dropped {
            order.dedup_by(|row, before| keys.get(*row as usize) == keys.get(*before as usize));
        }
        order
    }

    /// Number of rows that stay of `rows` equal rows.
    fn most(self, rows: usize) -> usize {
        match self {
            Self::Kept => rows,
            Self::Dropped => rows.min(1),
        }
    }
}

/// Whether keys can be computed again from the rows, and are long enough to be cut. `most`: number
/// of bytes of a string key that count.
pub(super) fn are_useful(keys: &[SortKey], most: usize) -> bool {
    let is_column = |key: &SortKey| key.expr.as_column().is_some();
    let is_long = |key: &SortKey| key.expr.ty.is_string() && key.expr.ty.length as usize > SHORT;
    most >= SHORT * 2 && keys.iter().all(is_column) && keys.iter().any(is_long)
}

impl Heads {
    /// Appends the heads of the rows of `batch`; the keys are columns of it.
    pub(super) fn put(&mut self, keys: &[SortKey], batch: &Batch) {
        self.cut.reserve(batch.rows());
        for row in 0..batch.rows() {
            let cut = keys.iter().any(|key| put_part(key, batch, row, self.keys.buffer()));
            self.keys.end_row();
            self.cut.push(cut);
            if row == 0 {
                self.keys.expect(batch.rows() - 1);
            }
        }
    }

    /// Size in memory, in bytes.
    pub(super) fn memory(&self) -> usize {
        self.keys.memory() + self.cut.len()
    }

    /// Sorted row numbers; `whole` makes the whole keys of given rows.
    pub(super) fn order(
        &self,
        equals: Equals,
        mut whole: impl FnMut(&[u32]) -> SqlResult<ByteRows>,
    ) -> SqlResult<Vec<u32>> {
        let mut sorted_rows = sorted(&self.keys)?;
        let mut order = Vec::with_capacity(sorted_rows.len());
        let mut rest = &mut sorted_rows[..];
        while let Some(&first) = rest.first() {
            let (rows, behind) = rest.split_at_mut(self.alike(rest));
            if rows.len() == 1 {
                order.push(first);
            } else if self.cut[first as usize] {
                // Rows with equal keys keep the input order.
                rows.sort_unstable();
                let keys = whole(rows)?;
                let places = equals.left(sorted(&keys)?, &keys);
                order.extend(places.iter().map(|&place| rows[place as usize]));
            } else {
                order.extend_from_slice(&rows[..equals.most(rows.len())]);
            }
            rest = behind;
        }
        Ok(order)
    }

    /// Number of rows at the start of `rows` whose keys begin with the head of the first. No whole
    /// key is a prefix of another.
    fn alike(&self, rows: &[u32]) -> usize {
        let head = self.keys.get(rows[0] as usize);
        rows.iter().take_while(|&&row| self.keys.get(row as usize).starts_with(head)).count()
    }
}

/// Appends one part of a head; true if it was cut, so that no part can follow.
fn put_part(sort: &SortKey, batch: &Batch, row: usize, out: &mut Vec<u8>) -> bool {
    let Some(at) = sort.expr.as_column() else { return false };
    let (column, ty) = (batch.column(at), &sort.expr.ty);
    if let ColumnData::Bytes(values) = column.data()
        && !column.is_null(row)
    {
        let text = values.get(column.physical_row(row));
        let start = out.len();
        if text.len() > SHORT && !ty.is_binary_string() {
            out.push(key::NOT_NULL);
            let first = ty.collation.charset().prefix(text, CHARACTERS);
            key::put_text_prefix(out, ty.collation, first);
            if out.len() >= LEAST {
                if sort.descending {
                    key::invert(&mut out[start..]);
                }
                return true;
            }
            out.truncate(start);
        }
    }
    put_key(ty, sort.descending, column, row, out);
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use selkie_expr::Expr;
    use selkie_types::{CollationId, Column, Physical, SqlType, Value};
    use std::sync::Arc;

    fn whole(keys: &[SortKey], batch: &Batch, rows: &[u32]) -> ByteRows {
        let mut out = ByteRows::default();
        for &row in rows {
            for key in keys {
                let column = batch.column(key.expr.as_column().unwrap());
                put_key(&key.expr.ty, key.descending, column, row as usize, out.buffer());
            }
            out.end_row();
        }
        out
    }

    fn key_of(column: usize, ty: SqlType, descending: bool) -> SortKey {
        SortKey { expr: Expr::column(column, ty, true), descending }
    }

    fn text() -> impl Strategy<Value = String> {
        let start = "(aaaa bbbb cccc |AAAA bbbb cccc |aaaa bbbb cccć|x)";
        (start, "[a-cA-C é]{0,40}", " {0,30}").prop_map(|(a, b, c)| format!("{a}{b}{c}"))
    }

    proptest! {
        #[test]
        fn heads_order_as_whole_keys(
            rows in prop::collection::vec((prop::option::of(text()), 0i64..3), 0..60),
            descending: (bool, bool),
            text_first: bool,
        ) {
            let collations = [
                CollationId::UTF8MB4_GENERAL_CI,
                CollationId::from_name("utf8mb4_unicode_ci").unwrap(),
                CollationId::from_name("utf8mb4_nopad_bin").unwrap(),
                CollationId::from_name("utf8mb4_bin").unwrap(),
            ];
            for collation in collations {
                let mut texts = Column::new(Physical::Bytes, 0, rows.len());
                let mut numbers = Column::new(Physical::Int, 0, rows.len());
                for (text, number) in &rows {
                    texts.push(&text.as_ref().map_or(Value::Null, Value::bytes));
                    numbers.push(&Value::Int(*number));
                }
                let batch = Batch::new(vec![Arc::new(texts), Arc::new(numbers)], rows.len());
                let mut keys = vec![
                    key_of(0, SqlType::varchar(200, collation), descending.0),
                    key_of(1, SqlType::bigint(), descending.1),
                ];
                if !text_first {
                    keys.reverse();
                }
                let mut heads = Heads::default();
                heads.put(&keys, &batch);
                let all: Vec<u32> = (0..rows.len() as u32).collect();
                let wholes = whole(&keys, &batch, &all);
                for equals in [Equals::Kept, Equals::Dropped] {
                    let order = heads.order(equals, |rows| Ok(whole(&keys, &batch, rows))).unwrap();
                    prop_assert_eq!(order, equals.left(sorted(&wholes).unwrap(), &wholes));
                }
            }
        }
    }
}
