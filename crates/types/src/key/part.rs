//! One part of a key: the column type and options that choose the encoding of its values.
//! The same value must always give the same bytes: indexes on disk are searched with them.

use super::{
    KeyReader, NOT_NULL, NULL, invert, put_date, put_datetime, put_decimal, put_f64, put_int,
    put_text, put_text_prefix, put_time, put_uint,
};
use crate::{Physical, SqlType, TypeKind, Value};

/// Encoding of one part of a key.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyPart {
    /// Type of the column.
    pub ty: SqlType,
    /// The part has a null marker.
    pub nullable: bool,
    /// Only this many characters are part of the key.
    pub prefix: Option<u32>,
    /// The bytes are inverted.
    pub descending: bool,
}

impl KeyPart {
    /// Appends the encoding of `value`, which must be NULL or of the type's physical kind.
    pub fn encode(&self, value: &Value, out: &mut Vec<u8>) {
        let start = out.len();
        if self.nullable {
            out.push(if value.is_null() { NULL } else { NOT_NULL });
        }
        self.encode_value(value, out);
        self.finish(start, out);
    }

    /// Appends the common start of the encodings of all strings that start with `prefix`.
    pub fn encode_prefix(&self, prefix: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        if self.nullable {
            out.push(NOT_NULL);
        }
        put_text_prefix(out, self.ty.collation, self.indexed(prefix));
        self.finish(start, out);
    }

    fn finish(&self, start: usize, out: &mut [u8]) {
        if self.descending {
            invert(&mut out[start..]);
        }
    }

    fn encode_value(&self, value: &Value, out: &mut Vec<u8>) {
        match value {
            Value::Null => {}
            Value::Int(v) => put_int(out, *v, self.width()),
            Value::UInt(v) => put_uint(out, *v, self.width()),
            Value::Double(v) => put_f64(out, *v),
            Value::Decimal(v) => put_decimal(out, *v, self.ty.length as u8, self.ty.decimals),
            Value::Date(v) => put_date(out, *v),
            Value::Time(v) => put_time(out, *v),
            Value::DateTime(v) => put_datetime(out, *v),
            Value::Bytes(v) => put_text(out, self.ty.collation, self.indexed(v)),
        }
    }

    /// The start of a string that is part of the key.
    fn indexed<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        match self.prefix {
            Some(n) => self.ty.collation.charset().prefix(bytes, n as usize),
            None => bytes,
        }
    }

    fn width(&self) -> usize {
        self.ty.fixed_width().unwrap_or(8)
    }

    /// Whether [`KeyPart::decode`] returns the value that was encoded.
    pub fn is_invertible(&self) -> bool {
        self.ty.physical() != Physical::Bytes
            || (self.ty.collation.is_binary() && self.prefix.is_none())
    }

    /// Reads a value; `None` if the bytes end early or the encoding cannot be inverted.
    pub fn decode(&self, key: &mut KeyReader<'_>) -> Option<Value> {
        let descending = self.descending;
        if self.nullable && key.is_null(descending)? {
            return Some(Value::Null);
        }
        Some(match self.ty.physical() {
            Physical::Int => Value::Int(key.int(self.width(), descending)?),
            Physical::UInt => Value::UInt(key.uint(self.width(), descending)?),
            Physical::Double => Value::Double(key.f64(descending)?),
            Physical::Decimal => {
                let precision = self.ty.length as u8;
                Value::Decimal(key.decimal(precision, self.ty.decimals, descending)?)
            }
            Physical::Date => Value::Date(key.date(descending)?),
            Physical::Time => Value::Time(key.time(descending)?),
            Physical::DateTime => Value::DateTime(key.datetime(descending)?),
            Physical::Bytes if self.is_invertible() => Value::bytes(key.binary(descending)?),
            Physical::Bytes => return None,
        })
    }

    /// Skips a value; `None` if the bytes end early.
    pub fn skip(&self, key: &mut KeyReader<'_>) -> Option<()> {
        if self.nullable && key.is_null(self.descending)? {
            return Some(());
        }
        let width = match self.ty.physical() {
            Physical::Bytes => return key.skip_text(self.ty.collation, self.descending),
            Physical::Double => 8,
            _ if self.ty.kind == TypeKind::Decimal => super::decimal_width(self.ty.length as u8),
            _ => self.width(),
        };
        key.skip_bytes(width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CollationId, Date, Decimal, Time};

    fn part(ty: SqlType) -> KeyPart {
        KeyPart { ty, nullable: true, prefix: None, descending: false }
    }

    #[test]
    fn parts_are_read_back() {
        let cases = [
            (SqlType::int(), Value::Int(-5)),
            (SqlType::bigint_unsigned(), Value::UInt(7)),
            (SqlType::double(), Value::Double(-1.5)),
            (SqlType::decimal(20, 2), Value::Decimal(Decimal::from_i128(-123, 2))),
            (SqlType::date(), Value::Date(Date::from_parts(2024, 2, 29))),
            (SqlType::time(0), Value::Time(Time(-5))),
            (SqlType::varchar(9, CollationId::BINARY), Value::bytes(b"a\0b")),
            (SqlType::int(), Value::Null),
        ];
        for descending in [false, true] {
            let mut key = Vec::new();
            let parts = cases.clone().map(|(ty, v)| (KeyPart { descending, ..part(ty) }, v));
            for (part, value) in &parts {
                part.encode(value, &mut key);
            }
            let (mut reader, mut skipper) = (KeyReader::new(&key), KeyReader::new(&key));
            for (part, value) in &parts {
                assert_eq!(part.decode(&mut reader).as_ref(), Some(value));
                assert_eq!(part.skip(&mut skipper), Some(()));
                assert_eq!(reader.rest(), skipper.rest());
            }
            assert!(reader.rest().is_empty());
        }
    }

    #[test]
    fn prefixes_count_characters() {
        let mut part = part(SqlType::varchar(9, CollationId::UTF8MB4_GENERAL_CI));
        part.prefix = Some(2);
        let encode = |text: &str| {
            let mut key = Vec::new();
            part.encode(&Value::bytes(text), &mut key);
            key
        };
        assert_eq!(encode("éab"), encode("Ea"));
        assert_ne!(encode("éab"), encode("E"));
    }
}
