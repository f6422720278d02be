//! Key bytes: encodings whose byte order is the order of the values.
//!
//! A nullable part begins with 0 for NULL or 1; fixed-width kinds are big-endian with the sign bit
//! flipped; strings are self-delimiting, so no key is a prefix of another with as many parts. A
//! descending part has all its bytes inverted.

use ethnum::I256;

use crate::{Decimal, SqlType, Value};

/// How one part of a key is encoded.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyPart {
    /// Type of the column.
    pub ty: SqlType,
    /// Whether there is a null marker.
    pub nullable: bool,
    /// Only the first so many characters.
    pub prefix: Option<u32>,
    /// Inverted bytes.
    pub descending: bool,
}

impl KeyPart {
    /// Appends the encoding of `value`, which is NULL or of the type's physical kind.
    pub fn encode(&self, value: &Value, out: &mut Vec<u8>) {
        let start = out.len();
        if self.nullable {
            out.push(u8::from(!value.is_null()));
        }
        self.encode_value(value, out);
        if self.descending {
            out[start..].iter_mut().for_each(|byte| *byte = !*byte);
        }
    }

    fn encode_value(&self, value: &Value, out: &mut Vec<u8>) {
        match value {
            Value::Null => {}
            Value::Int(v) => encode_int(*v, self.width(), out),
            Value::UInt(v) => out.extend_from_slice(&v.to_be_bytes()[8 - self.width()..]),
            Value::Double(v) => out.extend_from_slice(&ordered_bits(*v).to_be_bytes()),
            Value::Decimal(v) => self.encode_decimal(*v, out),
            Value::Date(v) => out.extend_from_slice(&v.0.to_be_bytes()),
            Value::Time(v) => encode_int(v.0, 8, out),
            Value::DateTime(v) => encode_int(v.0, 8, out),
            Value::Bytes(v) => encode_bytes(v, out),
        }
    }

    fn width(&self) -> usize {
        self.ty.fixed_width().unwrap_or(8)
    }

    fn encode_decimal(&self, value: Decimal, out: &mut Vec<u8>) {
        let unscaled = value.round(self.ty.decimals.into()).unscaled();
        let flipped = unscaled ^ (I256::ONE << (self.width() as u32 * 8 - 1));
        out.extend_from_slice(&flipped.to_be_bytes()[32 - self.width()..]);
    }
}

fn encode_int(value: i64, width: usize, out: &mut Vec<u8>) {
    let flipped = value ^ (1 << (width * 8 - 1));
    out.extend_from_slice(&flipped.to_be_bytes()[8 - width..]);
}

fn ordered_bits(value: f64) -> u64 {
    let value = if value == 0.0 { 0.0 } else { value };
    let bits = value.to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

/// Escaped bytes: 0 becomes 0 255, and 0 0 ends the string.
fn encode_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    for &byte in bytes {
        out.push(byte);
        if byte == 0 {
            out.push(u8::MAX);
        }
    }
    out.extend_from_slice(&[0, 0]);
}
