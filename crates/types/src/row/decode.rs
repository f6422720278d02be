//! Reads rows: one value, or one column of many rows at a time.
//! Rows come from disk: every access is bounds-checked. A row must be of the current version; the
//! caller upgrades earlier ones first.

use ethnum::I256;

use crate::{
    Bitmap, ByteRows, Column, ColumnData, Date, DateTime, Decimal, Physical, Time, TypeKind, Value,
};

use super::layout::{HEADER_BYTES, Place, RowColumn};
use super::{FLAG_WIDE, RowCorrupt, RowLayout};

type Decoded<T> = Result<T, RowCorrupt>;

impl RowLayout {
    /// Whether column `column` of `row` is NULL.
    pub fn is_null(&self, row: &[u8], column: usize) -> Decoded<bool> {
        null_bit(&self.columns()[column], row)
    }

    /// The value of column `column` of `row`.
    pub fn value(&self, row: &[u8], column: usize) -> Decoded<Value> {
        let place = &self.columns()[column];
        if null_bit(place, row)? {
            return Ok(Value::Null);
        }
        match place.place {
            Place::Variable { rank } => Ok(Value::bytes(self.variable(row, rank)?)),
            Place::Fixed { offset, width } => {
                let at = row.get(offset as usize..offset as usize + usize::from(width));
                fixed_value(place, at.ok_or(RowCorrupt)?)
            }
        }
    }

    /// Bytes of the string column `column` of `row`; empty if NULL.
    pub fn string<'r>(&self, row: &'r [u8], column: usize) -> Decoded<&'r [u8]> {
        match self.columns()[column].place {
            Place::Variable { rank } => self.variable(row, rank),
            Place::Fixed { .. } => Err(RowCorrupt),
        }
    }

    /// Bytes of column `column` of `row` as they are stored; zeros or empty if NULL.
    #[inline]
    pub fn stored<'r>(&self, row: &'r [u8], column: usize) -> Decoded<&'r [u8]> {
        match self.columns()[column].place {
            Place::Variable { rank } => self.variable(row, rank),
            Place::Fixed { offset, width } => {
                row.get(offset as usize..offset as usize + usize::from(width)).ok_or(RowCorrupt)
            }
        }
    }

    /// Decodes column `column` of all of `rows`.
    pub fn decode(&self, rows: &ByteRows, column: usize) -> Decoded<Column> {
        self.decode_iter(rows.iter(), column)
    }

    /// Decodes column `column` of the rows with the numbers `selected`.
    pub fn decode_selected(
        &self,
        rows: &ByteRows,
        column: usize,
        selected: &[u32],
    ) -> Decoded<Column> {
        self.decode_iter(selected.iter().map(|&row| rows.get(row as usize)), column)
    }

    fn decode_iter<'r>(
        &self,
        rows: impl ExactSizeIterator<Item = &'r [u8]> + Clone,
        column: usize,
    ) -> Decoded<Column> {
        let place = &self.columns()[column];
        let validity = validity_of(place, rows.clone())?;
        let data = match place.place {
            Place::Fixed { offset, .. } => decode_fixed(place, offset as usize, rows)?,
            Place::Variable { rank } => {
                let mut out = crate::BytesColumn::with_capacity(rows.len());
                let count = rows.len();
                for (at, row) in rows.enumerate() {
                    out.push(self.variable(row, rank)?);
                    if at == 0 {
                        out.expect(count - 1);
                    }
                }
                ColumnData::Bytes(out)
            }
        };
        debug_assert_eq!(data.physical(), self.physical(column));
        Ok(Column::from_data(data, validity))
    }

    #[inline]
    fn variable<'r>(&self, row: &'r [u8], rank: u32) -> Decoded<&'r [u8]> {
        let flags = *row.get(1).ok_or(RowCorrupt)?;
        let rank = rank as usize;
        let (width, ends) =
            if flags & FLAG_WIDE == 0 { (2, u16_at as EndAt) } else { (4, u32_at as EndAt) };
        let end_of = |rank: usize| ends(row, self.fixed_end + rank * width);
        let data = self.fixed_end + self.variable * width;
        let from = if rank == 0 { 0 } else { end_of(rank - 1)? };
        row.get(data + from..data + end_of(rank)?).ok_or(RowCorrupt)
    }
}

type EndAt = fn(&[u8], usize) -> Decoded<usize>;

#[inline]
fn array<const N: usize>(row: &[u8], at: usize) -> Decoded<[u8; N]> {
    row.get(at..).and_then(|bytes| bytes.first_chunk()).copied().ok_or(RowCorrupt)
}

fn u16_at(row: &[u8], at: usize) -> Decoded<usize> {
    array(row, at).map(|b| usize::from(u16::from_le_bytes(b)))
}

fn u32_at(row: &[u8], at: usize) -> Decoded<usize> {
    array(row, at).map(|b| u32::from_le_bytes(b) as usize)
}

#[inline]
fn null_bit(place: &RowColumn, row: &[u8]) -> Decoded<bool> {
    let Some(bit) = place.null_bit else { return Ok(false) };
    let byte = row.get(HEADER_BYTES + bit as usize / 8).ok_or(RowCorrupt)?;
    Ok(byte >> (bit % 8) & 1 != 0)
}

fn validity_of<'r>(
    place: &RowColumn,
    rows: impl ExactSizeIterator<Item = &'r [u8]>,
) -> Decoded<Option<Bitmap>> {
    if place.null_bit.is_none() {
        return Ok(None);
    }
    let mut validity = Bitmap::ones(rows.len());
    let mut any = false;
    for (at, row) in rows.enumerate() {
        if null_bit(place, row)? {
            validity.set(at, false);
            any = true;
        }
    }
    Ok(any.then_some(validity))
}

fn int24(b: [u8; 3]) -> i32 {
    i32::from_le_bytes([0, b[0], b[1], b[2]]) >> 8
}

fn uint24(b: [u8; 3]) -> u32 {
    u32::from_le_bytes([b[0], b[1], b[2], 0])
}

/// Decodes with a function of a fixed-size array, so that the loop does not branch on the type.
fn collect<'r, const N: usize, T>(
    rows: impl ExactSizeIterator<Item = &'r [u8]>,
    at: usize,
    read: impl Fn([u8; N]) -> T,
) -> Decoded<Vec<T>> {
    let mut out = Vec::with_capacity(rows.len());
    for row in rows {
        out.push(read(array(row, at)?));
    }
    Ok(out)
}

fn decode_fixed<'r>(
    place: &RowColumn,
    at: usize,
    rows: impl ExactSizeIterator<Item = &'r [u8]>,
) -> Decoded<ColumnData> {
    use TypeKind::{Enum, Float, Int, MediumInt, SmallInt, TinyInt, Year};
    Ok(match (place.ty.physical(), place.ty.kind) {
        (Physical::Int, TinyInt) => {
            ColumnData::Int(collect(rows, at, |b: [u8; 1]| i8::from_le_bytes(b).into())?)
        }
        (Physical::Int, SmallInt) => {
            ColumnData::Int(collect(rows, at, |b| i16::from_le_bytes(b).into())?)
        }
        (Physical::Int, MediumInt) => ColumnData::Int(collect(rows, at, |b| int24(b).into())?),
        (Physical::Int, Int) => {
            ColumnData::Int(collect(rows, at, |b| i32::from_le_bytes(b).into())?)
        }
        (Physical::Int, _) => ColumnData::Int(collect(rows, at, i64::from_le_bytes)?),
        (Physical::UInt, TinyInt) => ColumnData::UInt(collect(rows, at, |b: [u8; 1]| b[0].into())?),
        (Physical::UInt, SmallInt | Year | Enum) => {
            ColumnData::UInt(collect(rows, at, |b| u16::from_le_bytes(b).into())?)
        }
        (Physical::UInt, MediumInt) => ColumnData::UInt(collect(rows, at, |b| uint24(b).into())?),
        (Physical::UInt, Int) => {
            ColumnData::UInt(collect(rows, at, |b| u32::from_le_bytes(b).into())?)
        }
        (Physical::UInt, _) => ColumnData::UInt(collect(rows, at, u64::from_le_bytes)?),
        (Physical::Double, Float) => {
            ColumnData::Double(collect(rows, at, |b| f32::from_le_bytes(b).into())?)
        }
        (Physical::Double, _) => ColumnData::Double(collect(rows, at, f64::from_le_bytes)?),
        (Physical::Decimal, _) => ColumnData::Decimal(decode_decimals(place, at, rows)?),
        (Physical::Date, _) => {
            ColumnData::Date(collect(rows, at, |b| Date(u32::from_le_bytes(b)))?)
        }
        (Physical::Time, _) => {
            ColumnData::Time(collect(rows, at, |b| Time(i64::from_le_bytes(b)))?)
        }
        (Physical::DateTime, _) => {
            ColumnData::DateTime(collect(rows, at, |b| DateTime(i64::from_le_bytes(b)))?)
        }
        (Physical::Bytes, _) => return Err(RowCorrupt),
    })
}

fn decode_decimals<'r>(
    place: &RowColumn,
    at: usize,
    rows: impl ExactSizeIterator<Item = &'r [u8]>,
) -> Decoded<crate::DecimalColumn> {
    use crate::{DecimalColumn, DecimalValues};
    let values = match place.ty.fixed_width() {
        Some(8) => DecimalValues::I64(collect(rows, at, i64::from_le_bytes)?),
        Some(16) => DecimalValues::I128(collect(rows, at, i128::from_le_bytes)?),
        _ => DecimalValues::I256(collect(rows, at, I256::from_le_bytes)?),
    };
    Ok(DecimalColumn::from_values(place.ty.decimals, values))
}

fn fixed_value(place: &RowColumn, bytes: &[u8]) -> Decoded<Value> {
    let data = decode_fixed(place, 0, std::iter::once(bytes))?;
    Ok(match data {
        ColumnData::Decimal(v) => Value::Decimal(Decimal::new(v.unscaled(0), v.scale())),
        other => Column::from_data(other, None).value(0),
    })
}

#[cfg(test)]
mod tests {
    use crate::{RowLayout, SqlType, TypeKind, Value};

    fn types() -> Vec<(SqlType, bool)> {
        let collation = crate::CollationId::UTF8MB4_GENERAL_CI;
        vec![
            (SqlType::int(), false),
            (SqlType::varchar(10, collation), true),
            (SqlType::new(TypeKind::MediumInt, 9, 0), true),
            (SqlType::decimal(10, 2), false),
            (SqlType::new(TypeKind::LongText, 0, 0), true),
            (SqlType::date(), true),
        ]
    }

    fn encode(layout: &RowLayout, values: &[Value]) -> Vec<u8> {
        let mut out = Vec::new();
        layout.encode_values(values, &mut out);
        out
    }

    fn round_trip(text_bytes: usize) {
        let types = types();
        let layout = RowLayout::new(types.iter().map(|(t, n)| (t, *n)));
        let values = [
            Value::Int(-5),
            Value::bytes("abc"),
            Value::Int(-8_388_608),
            Value::Decimal(crate::Decimal::new((-12345i64).into(), 2)),
            Value::Bytes(vec![b'x'; text_bytes].into()),
            Value::Null,
        ];
        let row = encode(&layout, &values);
        let got: Vec<Value> = (0..6).map(|c| layout.value(&row, c).unwrap()).collect();
        assert_eq!(got, values);
        for cut in 0..row.len() {
            let read = |column| layout.value(&row[..cut], column);
            assert!((0..6).any(|column| read(column).is_err()), "{cut} of {} bytes", row.len());
        }
    }

    #[test]
    fn rows_round_trip_and_short_rows_are_errors() {
        round_trip(20);
    }

    #[test]
    fn wide_rows_round_trip() {
        let types = types();
        let layout = RowLayout::new(types.iter().map(|(t, n)| (t, *n)));
        let text = vec![b'y'; 70_000];
        let mut values = vec![Value::Null; 6];
        values[0] = Value::Int(1);
        values[3] = Value::Decimal(crate::Decimal::new(0i64.into(), 2));
        values[4] = Value::Bytes(text.clone().into());
        let row = encode(&layout, &values);
        assert_eq!(layout.string(&row, 4).unwrap(), &text[..]);
        assert!(layout.is_null(&row, 1).unwrap());
    }
}
