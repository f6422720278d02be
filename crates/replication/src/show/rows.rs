//! Rows as lines of comments: a pseudo-statement, its columns, their types.
//!
//! Must not keep state between events.

use std::io::Write;

use crate::codec::{Change, Rows};
use crate::error::{DecodeError, DecodeResult};
use crate::images::{Column, ColumnKind, Images, Shape, Value};
use crate::show::number::general;
use crate::show::text::{put_name, put_string};

/// A table that rows events refer to.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub(super) database: Vec<u8>,
    pub(super) name: Vec<u8>,
    pub(super) columns: Vec<Column>,
}

/// Most bytes that the images of an event are unpacked to.
const MOST_UNPACKED: usize = 1 << 30;

impl Table {
    /// Appends all rows of an event and returns their count.
    pub(super) fn put_rows(&self, rows: &Rows<'_>, out: &mut Vec<u8>) -> DecodeResult<u64> {
        if rows.columns != self.columns.len() as u64 {
            return Err(DecodeError::Invalid("count of columns"));
        }
        let first = Shape::new(&self.columns, rows.present)?;
        let bytes = rows.plain_images(MOST_UNPACKED)?;
        let mut images = Images::new(&bytes);
        let mut values = Vec::new();
        let (statement, clause): (_, &[u8]) = match rows.change {
            Change::Write => ("INSERT INTO", b"### SET\n"),
            Change::Update => ("UPDATE", b"### WHERE\n"),
            Change::Delete => ("DELETE FROM", b"### WHERE\n"),
        };
        let mut count = 0;
        while !images.is_empty() {
            out.extend_from_slice(format!("### {statement} ").as_bytes());
            put_name(out, &self.database);
            out.push(b'.');
            put_name(out, &self.name);
            out.push(b'\n');
            out.extend_from_slice(clause);
            images.next(&first, &mut values)?;
            put_image(&first, &values, out);
            if rows.change == Change::Update {
                let second = Shape::new(&self.columns, rows.present_after)?;
                images.next(&second, &mut values)?;
                out.extend_from_slice(b"### SET\n");
                put_image(&second, &values, out);
            }
            count += 1;
        }
        Ok(count)
    }
}

/// Appends a line for each present column.
fn put_image(shape: &Shape, values: &[Value<'_>], out: &mut Vec<u8>) {
    for ((at, column), value) in shape.columns().iter().zip(values) {
        out.extend_from_slice(format!("###   @{}=", at + 1).as_bytes());
        put_value(column.kind, value, out);
        let (_, meta) = column.kind.code_and_metadata();
        let nullable = u8::from(column.is_nullable);
        let is_null = u8::from(*value == Value::Null);
        let name = type_name(column.kind);
        let line = format!(" /* {name} meta={meta} nullable={nullable} is_null={is_null} */\n");
        out.extend_from_slice(line.as_bytes());
    }
}

/// Name of a type in the lines of columns.
fn type_name(kind: ColumnKind) -> String {
    let name = match kind {
        ColumnKind::Tiny => "TINYINT",
        ColumnKind::Small => "SHORTINT",
        ColumnKind::Medium => "MEDIUMINT",
        ColumnKind::Int => "INT",
        ColumnKind::Big => "LONGINT",
        ColumnKind::Year => "YEAR",
        ColumnKind::Float => "FLOAT",
        ColumnKind::Double => "DOUBLE",
        ColumnKind::Null => "NULL",
        ColumnKind::Date => "DATE",
        ColumnKind::OldTime => "TIME",
        ColumnKind::OldDateTime => "DATETIME",
        ColumnKind::OldTimestamp => "TIMESTAMP",
        ColumnKind::Blob(1) => "TINYBLOB/TINYTEXT",
        ColumnKind::Blob(2) => "BLOB/TEXT",
        ColumnKind::Blob(3) => "MEDIUMBLOB/MEDIUMTEXT",
        ColumnKind::Blob(_) => "LONGBLOB/LONGTEXT",
        ColumnKind::CompressedBlob(_) => "COMPRESSED BLOB",
        ColumnKind::Json(_) => "JSON",
        ColumnKind::Vector(_) => "VECTOR",
        ColumnKind::Geometry(_) => "GEOMETRY",
        ColumnKind::Enum(1) => "ENUM(1 byte)",
        ColumnKind::Enum(_) => "ENUM(2 bytes)",
        ColumnKind::Decimal(precision, scale) => return format!("DECIMAL({precision},{scale})"),
        ColumnKind::Bit(bits) => return format!("BIT({bits})"),
        ColumnKind::Time(digits) => return format!("TIME({digits})"),
        ColumnKind::DateTime(digits) => return format!("DATETIME({digits})"),
        ColumnKind::Timestamp(digits) => return format!("TIMESTAMP({digits})"),
        ColumnKind::Char(most) => return format!("STRING({most})"),
        ColumnKind::Varchar(most) => return format!("VARSTRING({most})"),
        ColumnKind::CompressedVarchar(most) => return format!("COMPRESSED VARSTRING({most})"),
        ColumnKind::Set(bytes) => return format!("SET({bytes} bytes)"),
    };
    name.to_owned()
}

/// Appends a value.
fn put_value(kind: ColumnKind, value: &Value<'_>, out: &mut Vec<u8>) {
    let text = match *value {
        Value::Null => "NULL".to_owned(),
        Value::Int(number) if number >= 0 => number.to_string(),
        Value::Int(number) => format!("{number} ({})", unsigned(kind, number)),
        Value::Year(0) => "1900".to_owned(),
        Value::Year(year) => year.to_string(),
        Value::Float(number) => format!("{:<20}", general(f64::from(number), 6)),
        Value::Double(number) => general(number, 20),
        Value::Decimal(number) => return number.write_to(out),
        Value::Bits(bytes) => bits(bytes, kind),
        Value::Set(members) => match kind {
            ColumnKind::Set(bytes) => set(members, bytes),
            _ => members.to_string(),
        },
        Value::Enum(member) => member.to_string(),
        Value::Bytes(text) => return put_string(out, text),
        Value::Date(_) | Value::Time(_) | Value::DateTime(_) | Value::Timestamp(_) => {
            temporal(kind, value)
        }
    };
    out.extend_from_slice(text.as_bytes());
}

/// The unsigned integer with the bits of a negative one.
fn unsigned(kind: ColumnKind, number: i64) -> u64 {
    let bits = match kind {
        ColumnKind::Tiny => 8,
        ColumnKind::Small => 16,
        ColumnKind::Medium => 24,
        ColumnKind::Int => 32,
        _ => return number as u64,
    };
    number as u64 & ((1 << bits) - 1)
}

fn bits(bytes: &[u8], kind: ColumnKind) -> String {
    let all: String = bytes.iter().map(|byte| format!("{byte:08b}")).collect();
    let count = if let ColumnKind::Bit(count) = kind { usize::from(count) } else { all.len() };
    format!("b'{}'", all.get(all.len().saturating_sub(count)..).unwrap_or_default())
}

/// Members of a SET, its bytes in the order in which an image has them.
fn set(members: u64, bytes: u8) -> String {
    let bytes = members.to_le_bytes().into_iter().take(usize::from(bytes));
    format!("b'{}'", bytes.map(|byte| format!("{byte:08b}")).collect::<String>())
}

/// Digits of the fraction that a type has.
fn digits(kind: ColumnKind) -> usize {
    match kind {
        ColumnKind::Time(digits) | ColumnKind::DateTime(digits) | ColumnKind::Timestamp(digits) => {
            usize::from(digits)
        }
        _ => 0,
    }
}

/// A date or a time.
fn temporal(kind: ColumnKind, value: &Value<'_>) -> String {
    let fraction = |micros: u32| match digits(kind) {
        0 => String::new(),
        digits => format!(".{}", format!("{micros:06}").get(..digits).unwrap_or_default()),
    };
    match *value {
        Value::Date(date) => format!("'{:04}:{:02}:{:02}'", date.year, date.month, date.day),
        Value::Time(time) => {
            let sign = if time.is_negative { "-" } else { "" };
            let (hours, minutes, seconds) = (time.hours, time.minutes, time.seconds);
            let fraction = fraction(time.micros);
            format!("'{sign}{hours:02}:{minutes:02}:{seconds:02}{fraction}'")
        }
        Value::DateTime(at) => {
            let (date, micros) = (at.date, fraction(at.micros));
            let day = format!("{:04}-{:02}-{:02}", date.year, date.month, date.day);
            format!("'{day} {:02}:{:02}:{:02}{micros}'", at.hour, at.minute, at.second)
        }
        Value::Timestamp(at) => format!("{}{}", at.seconds, fraction(at.micros)),
        _ => String::new(),
    }
}

/// Appends a formatted line.
pub(super) fn put_line(out: &mut Vec<u8>, line: std::fmt::Arguments<'_>) {
    // A write to a buffer in memory does not fail.
    let _ = writeln!(out, "{line}");
}
