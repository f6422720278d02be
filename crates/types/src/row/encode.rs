//! Writes rows.
//! Always writes the current version of the layout; the format is in `row.rs`.

use crate::{Column, ColumnData, TypeKind, Value};

use super::layout::{HEADER_BYTES, Place};
use super::{FLAG_WIDE, RowLayout};

impl RowLayout {
    /// Appends row `row` of `columns` to `out`. There must be one column per column of the layout,
    /// of its physical kind; decimals have the declared scale.
    pub fn encode(&self, columns: &[&Column], row: usize, out: &mut Vec<u8>) {
        debug_assert_eq!(columns.len(), self.columns().len());
        let start = out.len();
        let total = self.strings(columns, row).map(<[u8]>::len).sum();
        out.reserve(self.fixed_end + self.variable * 4 + total);
        out.resize(start + self.fixed_end, 0);
        out[start] = self.version;
        self.encode_fixed(columns, row, &mut out[start..]);
        self.put_strings(|| self.strings(columns, row), total, start, out);
    }

    /// Appends a row of single values, each NULL or of its column's physical kind.
    pub fn encode_values(&self, values: &[Value], out: &mut Vec<u8>) {
        let columns: Vec<Column> = values
            .iter()
            .zip(self.columns())
            .map(|(v, c)| Column::constant(v, c.ty.physical(), c.ty.decimals, 1))
            .collect();
        self.encode(&columns.iter().collect::<Vec<_>>(), 0, out);
    }

    fn encode_fixed(&self, columns: &[&Column], row: usize, head: &mut [u8]) {
        for (place, column) in self.columns().iter().zip(columns) {
            let null = column.is_null(row);
            if let (true, Some(bit)) = (null, place.null_bit) {
                head[HEADER_BYTES + bit as usize / 8] |= 1 << (bit % 8);
            }
            if let (Place::Fixed { offset, width }, false) = (place.place, null) {
                let to = &mut head[offset as usize..offset as usize + usize::from(width)];
                write_fixed(place.ty.kind, column, column.physical_row(row), to);
            }
        }
    }

    /// The strings of a row, in order.
    fn strings<'s>(&self, columns: &[&'s Column], row: usize) -> impl Iterator<Item = &'s [u8]> {
        let places = self.columns().iter().zip(columns);
        places
            .filter(|(p, _)| matches!(p.place, Place::Variable { .. }))
            .map(move |(_, column)| if column.is_null(row) { &b""[..] } else { column.bytes(row) })
    }

    /// Appends the strings of the row that begins at `start`: first their ends, then their bytes,
    /// which are `total` in all.
    pub(super) fn put_strings<'s, I: Iterator<Item = &'s [u8]>>(
        &self,
        strings: impl Fn() -> I,
        total: usize,
        start: usize,
        out: &mut Vec<u8>,
    ) {
        if self.variable == 0 {
            return;
        }
        let wide = total > usize::from(u16::MAX);
        if wide {
            out[start + 1] |= FLAG_WIDE;
        }
        out.reserve(total + self.variable * 4);
        let mut end = 0;
        for bytes in strings() {
            end += bytes.len();
            match wide {
                false => out.extend_from_slice(&(end as u16).to_le_bytes()),
                true => out.extend_from_slice(&(end as u32).to_le_bytes()),
            }
        }
        strings().for_each(|bytes| out.extend_from_slice(bytes));
    }
}

/// Writes the value at physical row `row` to `to`, whose length is the value's width.
fn write_fixed(kind: TypeKind, column: &Column, row: usize, to: &mut [u8]) {
    let width = to.len();
    match column.data() {
        ColumnData::Int(v) => to.copy_from_slice(&v[row].to_le_bytes()[..width]),
        ColumnData::UInt(v) => to.copy_from_slice(&v[row].to_le_bytes()[..width]),
        ColumnData::Double(v) if kind == TypeKind::Float => {
            to.copy_from_slice(&(v[row] as f32).to_le_bytes());
        }
        ColumnData::Double(v) => to.copy_from_slice(&v[row].to_le_bytes()),
        ColumnData::Decimal(v) => to.copy_from_slice(&v.unscaled(row).to_le_bytes()[..width]),
        ColumnData::Date(v) => to.copy_from_slice(&v[row].0.to_le_bytes()),
        ColumnData::Time(v) => to.copy_from_slice(&v[row].0.to_le_bytes()),
        ColumnData::DateTime(v) => to.copy_from_slice(&v[row].0.to_le_bytes()),
        ColumnData::Bytes(_) => unreachable!("strings are not fixed"),
    }
}
