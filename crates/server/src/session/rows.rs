//! Writes rows of batches as packets of the text and the binary protocol.
//!
//! Must not convert types; strings are only converted to the client's character set.

use std::borrow::Cow;

use selkie_plan::physical::{OutputColumn, TextOf};
use selkie_protocol::Output;
use selkie_protocol::row::binary::{self, BinaryRow, DateTimeParts, TimeParts};
use selkie_protocol::row::text;
use selkie_types::write_value;
use selkie_types::{
    Batch, Charset, Column, ColumnData, Date, DateTime, NOT_FIXED_DECIMALS, SqlType, Time, TypeKind,
};

use super::metadata::AS_NEEDED;

/// Writes the values of one column.
#[derive(Clone, Debug)]
pub(super) struct Encoder {
    ty: SqlType,
    form: Form,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Form {
    /// Bytes of the column, unchanged.
    Raw,
    /// Bytes converted from the column's character set to the client's.
    Convert(Charset, Charset),
    /// Names of members, converted from UTF-8 to the client's character set.
    Members(Charset),
    /// Plain digits.
    Integer,
    /// Text made by the type: fractions, padding, names of members, addresses.
    Formatted,
}

impl Encoder {
    /// An encoder for values of a result's column.
    pub(super) fn of(column: &OutputColumn, results: Option<Charset>) -> Self {
        let mut encoder = Self::new(&column.ty, results);
        if column.text == TextOf::AsNeeded {
            encoder.ty.decimals = AS_NEEDED;
        }
        encoder
    }

    /// An encoder for values of `ty` and a client that reads `results`.
    pub(super) fn new(ty: &SqlType, results: Option<Charset>) -> Self {
        let from = ty.collation.charset();
        let form = if ty.is_string() {
            match results {
                Some(to) if from != to && from != Charset::Binary && to != Charset::Binary => {
                    Form::Convert(from, to)
                }
                _ => Form::Raw,
            }
        } else if ty.is_integer() && !ty.zerofill {
            Form::Integer
        } else if matches!(ty.kind, TypeKind::Enum | TypeKind::Set) {
            match results {
                Some(to) if !matches!(to, Charset::Binary | Charset::Utf8mb4) => Form::Members(to),
                _ => Form::Formatted,
            }
        } else {
            Form::Formatted
        };
        Self { ty: ty.clone(), form }
    }

    fn text(&self, column: &Column, row: usize, out: &mut Vec<u8>) {
        let at = column.physical_row(row);
        match (column.data(), self.form) {
            _ if column.is_null(row) => text::put_null(out),
            (ColumnData::Bytes(v), Form::Convert(from, to)) => {
                text::put_bytes(out, &from.convert(v.get(at), to).0);
            }
            (ColumnData::Bytes(v), Form::Raw) => text::put_bytes(out, v.get(at)),
            (ColumnData::Int(v), Form::Integer) => text::put_i64(out, v[at]),
            (ColumnData::UInt(v), Form::Integer) => text::put_u64(out, v[at]),
            (_, Form::Members(to)) => self.members(to, column, row, out),
            _ => text::put_short(out, |b| write_value(&self.ty, &column.value(row), b)),
        }
    }

    fn members(&self, to: Charset, column: &Column, row: usize, out: &mut Vec<u8>) {
        let mut names = Vec::new();
        write_value(&self.ty, &column.value(row), &mut names);
        text::put_bytes(out, &Charset::Utf8mb4.convert(&names, to).0);
    }

    fn binary(&self, column: &Column, row: usize, out: &mut Vec<u8>) {
        let at = column.physical_row(row);
        match column.data() {
            ColumnData::Bytes(v) => match self.form {
                Form::Convert(from, to) => text::put_bytes(out, &from.convert(v.get(at), to).0),
                Form::Raw => text::put_bytes(out, v.get(at)),
                _ => text::put_short(out, |b| write_value(&self.ty, &column.value(row), b)),
            },
            ColumnData::Int(v) => self.binary_integer(v[at], out),
            ColumnData::UInt(v) => match self.ty.kind {
                TypeKind::Enum | TypeKind::Set if let Form::Members(to) = self.form => {
                    self.members(to, column, row, out);
                }
                TypeKind::Bit | TypeKind::Enum | TypeKind::Set => {
                    text::put_short(out, |b| write_value(&self.ty, &column.value(row), b));
                }
                _ => self.binary_integer(v[at] as i64, out),
            },
            ColumnData::Double(v) if self.ty.kind == TypeKind::Float => {
                binary::put_f32(out, v[at] as f32);
            }
            ColumnData::Double(v) => binary::put_f64(out, self.rounded(v[at])),
            ColumnData::Decimal(_) => {
                text::put_short(out, |b| write_value(&self.ty, &column.value(row), b));
            }
            ColumnData::Date(v) => put_date(out, v[at]),
            ColumnData::Time(v) => put_time(out, v[at]),
            ColumnData::DateTime(v) => put_datetime(out, v[at]),
        }
    }

    /// A double rounded to its fixed scale, so that it has the same digits as in the text protocol.
    fn rounded(&self, v: f64) -> f64 {
        match self.ty.decimals {
            NOT_FIXED_DECIMALS.. => v,
            digits => selkie_types::number::round_f64_to(v, i32::from(digits)),
        }
    }

    fn binary_integer(&self, v: i64, out: &mut Vec<u8>) {
        let width = match self.ty.kind {
            TypeKind::TinyInt => 1,
            TypeKind::SmallInt | TypeKind::Year => 2,
            TypeKind::MediumInt | TypeKind::Int => 4,
            _ => 8,
        };
        binary::put_int(out, v, width);
    }
}

fn put_date(out: &mut Vec<u8>, d: Date) {
    binary::put_date(out, d.year() as u16, d.month() as u8, d.day() as u8);
}

fn put_datetime(out: &mut Vec<u8>, t: DateTime) {
    let parts = DateTimeParts {
        year: t.year() as u16,
        month: t.month() as u8,
        day: t.day() as u8,
        hour: t.hour() as u8,
        minute: t.minute() as u8,
        second: t.second() as u8,
        micros: t.micros(),
    };
    binary::put_datetime(out, &parts);
}

fn put_time(out: &mut Vec<u8>, t: Time) {
    let parts = TimeParts {
        negative: t.is_negative(),
        hours: t.hour(),
        minute: t.minute() as u8,
        second: t.second() as u8,
        micros: (t.0.unsigned_abs() % 1_000_000) as u32,
    };
    binary::put_time(out, &parts);
}

/// Writes row `row` of `batch` as a packet of the text protocol.
pub(super) fn put_text_row(out: &mut Output, encoders: &[Encoder], batch: &Batch, row: usize) {
    let open = out.begin();
    for (encoder, column) in encoders.iter().zip(batch.columns()) {
        encoder.text(column, row, out.payload());
    }
    out.end(open);
}

/// Writes row `row` of `batch` as a packet of the binary protocol.
pub(super) fn put_binary_row(out: &mut Output, encoders: &[Encoder], batch: &Batch, row: usize) {
    let open = out.begin();
    let payload = out.payload();
    let head = BinaryRow::begin(payload, encoders.len());
    for (at, (encoder, column)) in encoders.iter().zip(batch.columns()).enumerate() {
        if column.is_null(row) {
            head.set_null(payload, at);
        } else {
            encoder.binary(column, row, payload);
        }
    }
    out.end(open);
}

/// A text of the client converted to UTF-8, the character set inside the server.
pub(super) fn to_utf8(bytes: &[u8], from: Charset) -> Cow<'_, [u8]> {
    match from {
        Charset::Utf8mb4 | Charset::Binary => Cow::Borrowed(bytes),
        _ => from.convert(bytes, Charset::Utf8mb4).0,
    }
}
