//! Building columns from rows of other columns: selection, outer-join padding, concatenation.
//! The hot loops of joins and filters: each physical kind is copied by its own loop.

use super::{Bitmap, BytesColumn, Column, ColumnData};

/// The row number that means a row of NULLs in [`Column::gather`].
pub const NULL_ROW: u32 = u32::MAX;

/// Rows that are looked at together.
const RUN: usize = 8;

/// `values[row]` for each of `rows`; the default for [`NULL_ROW`].
pub(super) fn pick<T: Copy + Default>(values: &[T], rows: &[u32]) -> Vec<T> {
    let one = |row: &u32| values.get(*row as usize).copied().unwrap_or_default();
    let mut out = Vec::with_capacity(rows.len());
    let (runs, rest) = rows.as_chunks::<RUN>();
    for rows in runs {
        // A condition that drops few rows leaves long runs of neighbours.
        match neighbours(values, rows) {
            Some(run) => out.extend_from_slice(run),
            None => out.extend(rows.iter().map(one)),
        }
    }
    out.extend(rest.iter().map(one));
    out
}

/// The values of rows that follow each other.
#[inline]
fn neighbours<'v, T>(values: &'v [T], rows: &[u32; RUN]) -> Option<&'v [T; RUN]> {
    let first = rows[0];
    let differ = rows.iter().zip(0..).fold(0, |d, (row, at)| d | (row ^ first.wrapping_add(at)));
    if differ != 0 {
        return None;
    }
    values.get(first as usize..)?.first_chunk()
}

fn pick_bytes(values: &BytesColumn, rows: &[u32]) -> BytesColumn {
    // NULL gets the first entry, whatever it is.
    if let Some((codes, entries)) = values.codes()
        && !entries.is_empty()
    {
        return BytesColumn::of_codes(pick(codes, rows), entries.clone());
    }
    let mut out = BytesColumn::with_capacity(rows.len());
    let lens = rows.iter().filter(|row| **row != NULL_ROW);
    out.buffer().reserve(lens.map(|&row| values.get(row as usize).len()).sum());
    for &row in rows {
        out.push(if row == NULL_ROW { b"" } else { values.get(row as usize) });
    }
    out
}

impl ColumnData {
    fn gather(&self, rows: &[u32]) -> Self {
        match self {
            Self::Int(v) => Self::Int(pick(v, rows)),
            Self::UInt(v) => Self::UInt(pick(v, rows)),
            Self::Double(v) => Self::Double(pick(v, rows)),
            Self::Decimal(v) => Self::Decimal(v.gather(rows)),
            Self::Date(v) => Self::Date(pick(v, rows)),
            Self::Time(v) => Self::Time(pick(v, rows)),
            Self::DateTime(v) => Self::DateTime(pick(v, rows)),
            Self::Bytes(v) => Self::Bytes(pick_bytes(v, rows)),
        }
    }

    fn append(&mut self, other: &Self) {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => a.extend_from_slice(b),
            (Self::UInt(a), Self::UInt(b)) => a.extend_from_slice(b),
            (Self::Double(a), Self::Double(b)) => a.extend_from_slice(b),
            (Self::Decimal(a), Self::Decimal(b)) => a.append(b),
            (Self::Date(a), Self::Date(b)) => a.extend_from_slice(b),
            (Self::Time(a), Self::Time(b)) => a.extend_from_slice(b),
            (Self::DateTime(a), Self::DateTime(b)) => a.extend_from_slice(b),
            (Self::Bytes(a), Self::Bytes(b)) => a.append(b),
            (a, b) => panic!("{:?} appended to a {:?} column", b.physical(), a.physical()),
        }
    }
}

impl Column {
    /// The rows with the numbers `rows`, in that order; [`NULL_ROW`] gives NULL.
    pub fn gather(&self, rows: &[u32]) -> Self {
        if self.is_constant() && !rows.contains(&NULL_ROW) {
            let mut out = self.clone();
            out.len = rows.len();
            return out;
        }
        let whole = self.expand_cow();
        let padded = rows.contains(&NULL_ROW);
        let validity = match whole.validity() {
            None if !padded => None,
            v => Some(
                rows.iter()
                    .map(|&r| r != NULL_ROW && v.is_none_or(|v| v.get(r as usize)))
                    .collect::<Bitmap>(),
            ),
        };
        Self::from_data(whole.data.gather(rows), validity)
    }

    /// The column with its strings as a dictionary of which each row is an entry, so that rows
    /// picked from it are codes; other columns as they are.
    pub fn into_entries(mut self) -> Self {
        if let (false, ColumnData::Bytes(values)) = (self.is_constant(), &mut self.data) {
            *values = std::mem::take(values).into_entries();
        }
        self
    }

    /// The rows whose bit in `keep` is set.
    pub fn filter(&self, keep: &Bitmap) -> Self {
        self.gather(&keep.positions())
    }

    /// Appends all rows of `other`, which must be of the same kind.
    pub fn append(&mut self, other: &Self) {
        let other = other.expand_cow();
        if self.is_constant() {
            *self = self.expand();
        }
        let rows = self.len;
        self.data.append(&other.data);
        self.len += other.len;
        if self.validity.is_some() || other.validity.is_some() {
            let validity = self.validity.get_or_insert_with(|| Bitmap::ones(rows));
            (0..other.len).for_each(|row| validity.push(!other.is_null(row)));
        }
    }

    /// A copy with one physical row per logical row.
    pub fn expand(&self) -> Self {
        if !self.is_constant() {
            return self.clone();
        }
        let rows = vec![0; self.len];
        let validity = self.validity.as_ref().map(|v| rows.iter().map(|_| v.get(0)).collect());
        Self::from_data(self.data.gather(&rows), validity)
    }

    fn expand_cow(&self) -> std::borrow::Cow<'_, Self> {
        if self.is_constant() {
            std::borrow::Cow::Owned(self.expand())
        } else {
            std::borrow::Cow::Borrowed(self)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Column, ColumnData, NULL_ROW};
    use crate::{Physical, Value};

    #[test]
    fn gather_pads_with_nulls() {
        let mut column = Column::new(Physical::Int, 0, 2);
        column.push(&Value::Int(7));
        column.push_null();
        let out = column.gather(&[0, NULL_ROW, 1, 0]);
        let values: Vec<_> = (0..4).map(|row| out.value(row)).collect();
        assert_eq!(values, [Value::Int(7), Value::Null, Value::Null, Value::Int(7)]);
    }

    #[test]
    fn picked_codes_stay_codes_with_nulls() {
        let mut column = Column::new(Physical::Bytes, 0, 2);
        ["x", "yy"].iter().for_each(|text| column.push(&Value::bytes(text)));
        let column = column.into_entries();
        let out = column.gather(&[1, NULL_ROW, 0, 1]);
        let values: Vec<_> = (0..4).map(|row| out.value(row)).collect();
        assert_eq!(
            values,
            [Value::bytes("yy"), Value::Null, Value::bytes("x"), Value::bytes("yy")]
        );
        let ColumnData::Bytes(bytes) = out.data() else { panic!("strings") };
        assert!(bytes.codes().is_some());
        let none = Column::new(Physical::Bytes, 0, 0).into_entries();
        assert_eq!(none.gather(&[NULL_ROW]).value(0), Value::Null);
    }

    #[test]
    fn runs_and_single_rows_are_picked_alike() {
        let values: Vec<u64> = (0..100).map(|n| n * 7).collect();
        let rows: Vec<u32> = (3..50)
            .chain(70..78)
            .chain([NULL_ROW, 1, 9, 8])
            .chain(60..100)
            .chain(95..103)
            .collect();
        let one = |row: &u32| values.get(*row as usize).copied().unwrap_or(0);
        assert_eq!(super::pick(&values, &rows), rows.iter().map(one).collect::<Vec<_>>());
    }

    #[test]
    fn append_expands_constants() {
        let mut a = Column::constant(&Value::bytes("x"), Physical::Bytes, 0, 2);
        a.append(&Column::nulls(Physical::Bytes, 0, 1));
        let values: Vec<_> = (0..3).map(|row| a.value(row)).collect();
        assert_eq!(values, [Value::bytes("x"), Value::bytes("x"), Value::Null]);
    }
}
