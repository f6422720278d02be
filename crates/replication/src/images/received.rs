//! Images on their way into stored rows: a step for each present column that was chosen once for
//! the table. It is the way back of [`super::StoredRows`].
//!
//! Must not store what the column cannot hold: images come from the network.

use ethnum::I256;
use selkie_types::temporal::{Date, DateOptions, DateTime, Time};
use selkie_types::{Charset, CollationId, FixedBinary, RowDraft, RowLayout, SqlType, TypeKind};

use crate::bytes::Reader;
use crate::error::{DecodeError, DecodeResult};
use crate::images::column::ColumnKind;
use crate::images::decimal::{decimal_bytes, read_decimal};
use crate::images::row::{Images, Shape};
use crate::images::stored::kind_of;
use crate::images::temporal::{DateTimeValue, DateValue, TimeValue, TimestampValue};
use crate::images::value::{Value, string_length_bytes};

/// Fate of a column of images.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// It is passed over.
    Nowhere,
    /// The column of this position gets it; the types are the same.
    Column(usize),
    /// Its value is the caller's to convert.
    Converted,
}

/// Images of one shape, as they become rows.
#[derive(Clone, Debug)]
pub struct ReceivedRows {
    parts: Vec<Part>,
}

#[derive(Copy, Clone, Debug)]
struct Part {
    kind: ColumnKind,
    to: Target,
}

#[derive(Copy, Clone, Debug)]
enum Target {
    Nowhere,
    Value,
    Column(usize, Step),
}

/// Step that reads a column's value into its stored form.
#[derive(Copy, Clone, Debug)]
enum Step {
    /// So many bytes.
    Copy(u8),
    /// A finite number of four bytes.
    Float,
    /// A finite number of eight bytes.
    Double,
    /// Text behind a length of so many bytes.
    Text(u8, TextRules),
    /// Bytes behind a length of so many bytes, at most as many as the second number.
    Bytes(u8, u32),
    /// Bytes behind a length of so many bytes, to be filled up with zeros.
    Filled(u8, u32),
    /// A UUID in the order of its text.
    Uuid,
    /// A number of so many bits.
    Bits(u8),
    Year,
    /// A number of so many digits, so many of them behind the point, in so many stored bytes.
    Decimal(u8, u8, u8),
    Date,
    Time(u8),
    DateTime(u8),
    Timestamp(u8),
    /// In so many bytes the number of one of so many members.
    Enum(u8, u16),
    /// In so many bytes the bits of so many members.
    Set(u8, u8),
}

#[derive(Copy, Clone, Debug)]
struct TextRules {
    charset: Charset,
    /// The most characters.
    most: u32,
    /// Spaces at the end are not stored.
    trims: bool,
}

/// A read value in its stored form.
enum Stored<'a> {
    /// Of a fixed size: the first so many bytes.
    Fixed([u8; 32], usize),
    Given(&'a [u8]),
    /// Bytes, filled up with zeros to a length.
    Filled(&'a [u8], usize),
    Uuid(&'a [u8]),
}

const FIRST_YEAR: u16 = 1900;
const INVALID_TEXT: DecodeError = DecodeError::Invalid("text of a column");

impl ReceivedRows {
    /// Images of a shape. `place` says for each position in the event's table what becomes of the
    /// column; a type that differs from the local one's is an error there.
    pub fn new(
        shape: &Shape,
        layout: &RowLayout,
        place: impl Fn(usize) -> Place,
    ) -> DecodeResult<Self> {
        let part = |(at, column): &(usize, super::column::Column)| {
            let to = match place(*at) {
                Place::Nowhere => Target::Nowhere,
                Place::Converted => Target::Value,
                Place::Column(local) => {
                    let ty = &layout.columns().get(local).ok_or(OTHER)?.ty;
                    if !is_same(ty, column.kind) {
                        return Err(OTHER);
                    }
                    Target::Column(local, step_of(ty, column.kind))
                }
            };
            Ok(Part { kind: column.kind, to })
        };
        let parts: DecodeResult<Vec<Part>> = shape.columns().iter().map(part).collect();
        Ok(Self { parts: parts? })
    }

    /// Reads the next image into `draft`, which has begun. The values to be converted are appended
    /// to `values`, a NULL for each column that cannot be NULL to `refused` by its position.
    pub fn read<'a>(
        &self,
        images: &mut Images<'a>,
        layout: &RowLayout,
        draft: &mut RowDraft<'a>,
        values: &mut Vec<Value<'a>>,
        refused: &mut Vec<usize>,
    ) -> DecodeResult<()> {
        let reader = images.reader();
        if self.parts.is_empty() {
            return Err(DecodeError::Invalid("image without columns"));
        }
        let nulls = reader.bytes(self.parts.len().div_ceil(8), "null columns")?;
        for (at, part) in self.parts.iter().enumerate() {
            let is_null = nulls.get(at / 8).is_some_and(|bits| bits & (1 << (at % 8)) != 0);
            match part.to {
                Target::Nowhere if is_null => {}
                Target::Nowhere => Value::read(part.kind, reader).map(drop)?,
                Target::Value if is_null => values.push(Value::Null),
                Target::Value => values.push(Value::read(part.kind, reader)?),
                Target::Column(column, _) if is_null => {
                    if !draft.set_null(layout, column) {
                        refused.push(column);
                    }
                }
                Target::Column(column, step) => {
                    let is_set = match step.read(reader)? {
                        Stored::Fixed(bytes, width) => {
                            let bytes = bytes.get(..width).unwrap_or_default();
                            draft.set_fixed(layout, column, bytes)
                        }
                        Stored::Given(bytes) => draft.set(layout, column, bytes),
                        Stored::Filled(bytes, width) => draft.set_made(layout, column, |out| {
                            let begin = out.len();
                            out.extend_from_slice(bytes);
                            out.resize(begin + width, 0);
                        }),
                        Stored::Uuid(bytes) => {
                            let stored = uuid(bytes)?;
                            draft.set_made(layout, column, |out| out.extend_from_slice(&stored))
                        }
                    };
                    if !is_set {
                        return Err(OTHER);
                    }
                }
            }
        }
        Ok(())
    }
}

const OTHER: DecodeError = DecodeError::Invalid("type of a column");

/// Whether a column's type is the one that an event has, as far as the event tells.
pub fn is_same(ty: &SqlType, kind: ColumnKind) -> bool {
    kind_of(ty) == kind
}

impl Step {
    #[inline]
    fn read<'a>(self, reader: &mut Reader<'a>) -> DecodeResult<Stored<'a>> {
        Ok(match self {
            Self::Copy(bytes) => fixed(reader.bytes(usize::from(bytes), "value")?),
            Self::Float => {
                let bits = reader.u32("float")?;
                finite(f64::from(f32::from_bits(bits)))?;
                fixed(&bits.to_le_bytes())
            }
            Self::Double => {
                let bits = reader.u64("double")?;
                finite(f64::from_bits(bits))?;
                fixed(&bits.to_le_bytes())
            }
            Self::Text(width, rules) => Stored::Given(rules.text(counted(reader, width)?)?),
            Self::Bytes(width, most) => Stored::Given(limited(counted(reader, width)?, most)?),
            Self::Filled(width, most) => {
                Stored::Filled(limited(counted(reader, width)?, most)?, most as usize)
            }
            Self::Uuid => Stored::Uuid(limited(counted(reader, 1)?, 16)?),
            Self::Bits(bits) => {
                let number = reader.be(usize::from(bits.div_ceil(8)), "bits")?;
                below(number, u32::from(bits), "bits")?;
                fixed(&number.to_le_bytes())
            }
            Self::Year => {
                let year = match reader.u8("year")? {
                    0 => 0,
                    year => FIRST_YEAR + u16::from(year),
                };
                fixed(&year.to_le_bytes())
            }
            Self::Decimal(precision, scale, width) => {
                let bytes = reader.bytes(decimal_bytes(precision, scale), "decimal")?;
                let unscaled: I256 = read_decimal(bytes, precision, scale)?.unscaled();
                Stored::Fixed(unscaled.to_le_bytes(), usize::from(width))
            }
            Self::Date => fixed(&date(DateValue::read(reader)?)?.0.to_le_bytes()),
            Self::Time(digits) => {
                fixed(&time(TimeValue::read(reader, digits)?, digits)?.0.to_le_bytes())
            }
            Self::DateTime(digits) => {
                fixed(&datetime(DateTimeValue::read(reader, digits)?, digits)?.0.to_le_bytes())
            }
            Self::Timestamp(digits) => {
                fixed(&timestamp(TimestampValue::read(reader, digits)?, digits)?.0.to_le_bytes())
            }
            Self::Enum(bytes, members) => {
                // Compat: members that the column does not have are lost.
                let member = reader.le(usize::from(bytes), "member of an ENUM")? as u16;
                let member = if member <= members { member } else { 0 };
                fixed(&member.to_le_bytes())
            }
            Self::Set(bytes, members) => {
                let set = reader.le(usize::from(bytes), "members of a SET")?;
                let all = u64::MAX.checked_shr(64 - u32::from(members)).unwrap_or_default();
                fixed(&(set & all).to_le_bytes())
            }
        })
    }
}

#[inline]
fn fixed(bytes: &[u8]) -> Stored<'static> {
    let mut out = [0; 32];
    let width = bytes.len().min(out.len());
    out.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    Stored::Fixed(out, width)
}

fn counted<'a>(reader: &mut Reader<'a>, width: u8) -> DecodeResult<&'a [u8]> {
    let length = reader.le(usize::from(width), "length of a value")?;
    reader.counted(length, "value")
}

fn limited(bytes: &[u8], most: u32) -> DecodeResult<&[u8]> {
    if bytes.len() <= most as usize { Ok(bytes) } else { Err(DecodeError::Invalid("length")) }
}

fn finite(number: f64) -> DecodeResult<()> {
    if number.is_finite() { Ok(()) } else { Err(DecodeError::Invalid("floating-point number")) }
}

/// Fails unless a number has no more than so many bits.
fn below(number: u64, bits: u32, field: &'static str) -> DecodeResult<()> {
    let rest = number.checked_shr(bits).unwrap_or_default();
    if rest == 0 { Ok(()) } else { Err(DecodeError::Invalid(field)) }
}

impl TextRules {
    fn text(self, bytes: &[u8]) -> DecodeResult<&[u8]> {
        let charset = self.charset;
        let bytes = if self.trims { charset.trim_spaces_end(bytes) } else { bytes };
        if !charset.is_well_formed(bytes) {
            return Err(INVALID_TEXT);
        }
        // Counting is needed only if there are more bytes than characters allowed.
        let most = self.most as usize;
        let fits = bytes.len() <= most || charset.char_count(bytes) <= most;
        if fits { Ok(bytes) } else { Err(INVALID_TEXT) }
    }
}

fn uuid(bytes: &[u8]) -> DecodeResult<Box<[u8]>> {
    let mut whole = [0; 16];
    whole.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    FixedBinary::Uuid.of_bytes(&whole).ok_or(DecodeError::Invalid("UUID"))
}

/// Any date that has a place in the calendar of MariaDB, with zeros and days that do not exist.
fn accepts(value: DateValue) -> bool {
    let all = DateOptions { allow_invalid: true, ..DateOptions::default() };
    all.accepts(u32::from(value.year), u32::from(value.month), u32::from(value.day))
}

/// A date of an image.
pub fn date(value: DateValue) -> DecodeResult<Date> {
    if !accepts(value) {
        return Err(DecodeError::Invalid("date"));
    }
    Ok(Date::from_parts(u32::from(value.year), u32::from(value.month), u32::from(value.day)))
}

/// Whether a fraction has no more than so many digits.
fn has_digits(micros: u32, digits: u8) -> bool {
    let unit = 10u32.pow(6 - u32::from(digits.min(6)));
    micros < 1_000_000 && micros.is_multiple_of(unit)
}

/// A time of an image.
pub fn time(value: TimeValue, digits: u8) -> DecodeResult<Time> {
    let TimeValue { is_negative, hours, minutes, seconds, micros } = value;
    if hours > 838 || minutes > 59 || seconds > 59 || !has_digits(micros, digits) {
        return Err(DecodeError::Invalid("time"));
    }
    let [hours, minutes, seconds] = [u32::from(hours), minutes.into(), seconds.into()];
    Ok(Time::from_parts(is_negative, hours, minutes, seconds, micros))
}

/// A date and time of an image.
pub fn datetime(value: DateTimeValue, digits: u8) -> DecodeResult<DateTime> {
    let DateTimeValue { hour, minute, second, micros, .. } = value;
    if hour > 23 || minute > 59 || second > 59 || !has_digits(micros, digits) {
        return Err(DecodeError::Invalid("datetime"));
    }
    let [hour, minute, second] = [hour, minute, second].map(u32::from);
    Ok(DateTime::from_parts(date(value.date)?, hour, minute, second, micros))
}

/// A point in time of an image; the number zero is the zero date.
pub fn timestamp(value: TimestampValue, digits: u8) -> DecodeResult<DateTime> {
    let invalid = DecodeError::Invalid("timestamp");
    if value == TimestampValue::default() {
        return Ok(DateTime::ZERO);
    }
    if !has_digits(value.micros, digits) {
        return Err(invalid);
    }
    let micros = i64::from(value.seconds) * 1_000_000 + i64::from(value.micros);
    DateTime::from_unix_micros(micros).ok_or(invalid)
}

fn step_of(ty: &SqlType, kind: ColumnKind) -> Step {
    let members = ty.members.as_ref().map_or(0, |members| members.len());
    match (kind, ty.kind) {
        (_, TypeKind::Uuid) => Step::Uuid,
        (_, TypeKind::Inet4) => Step::Filled(1, 4),
        (_, TypeKind::Inet6) => Step::Filled(1, 16),
        (ColumnKind::Char(most), _) if ty.collation == CollationId::BINARY => {
            Step::Filled(string_length_bytes(most) as u8, ty.length)
        }
        (ColumnKind::Char(most) | ColumnKind::Varchar(most), _) => {
            text(ty, string_length_bytes(most) as u8, ty.length)
        }
        (ColumnKind::Blob(bytes) | ColumnKind::Geometry(bytes), _) => text(ty, bytes, u32::MAX),
        (ColumnKind::Enum(bytes), _) => Step::Enum(bytes, members as u16),
        (ColumnKind::Set(bytes), _) => Step::Set(bytes, members.min(64) as u8),
        (ColumnKind::Bit(bits), _) => Step::Bits(bits as u8),
        (ColumnKind::Year, _) => Step::Year,
        (ColumnKind::Decimal(precision, scale), _) => {
            Step::Decimal(precision, scale, ty.fixed_width().unwrap_or_default() as u8)
        }
        (ColumnKind::Date, _) => Step::Date,
        (ColumnKind::Time(digits), _) => Step::Time(digits),
        (ColumnKind::DateTime(digits), _) => Step::DateTime(digits),
        (ColumnKind::Timestamp(digits), _) => Step::Timestamp(digits),
        (ColumnKind::Float, _) => Step::Float,
        (ColumnKind::Double, _) => Step::Double,
        _ => Step::Copy(ty.fixed_width().unwrap_or_default() as u8),
    }
}

/// Strings of at most `most` characters, or bytes if they are binary.
fn text(ty: &SqlType, width: u8, most: u32) -> Step {
    if ty.collation == CollationId::BINARY {
        return Step::Bytes(width, most);
    }
    let trims = ty.kind == TypeKind::Char;
    Step::Text(width, TextRules { charset: ty.collation.charset(), most, trims })
}
