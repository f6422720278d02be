//! One SQL value outside a column: literals, parameters, variables, catalog entries.
//!
//! The executor works on [`crate::Column`]s; a `Value` is for places that have a single value.

use crate::temporal::DateOptions;
use crate::{Date, DateTime, Decimal, Physical, SqlType, Time, TypeKind};

/// A SQL value by physical kind. The [`crate::SqlType`] beside it gives the meaning: charset,
/// fraction digits, enum members.
#[derive(Clone, Debug, Default)]
pub enum Value {
    /// SQL NULL.
    #[default]
    Null,
    /// Signed integer.
    Int(i64),
    /// Unsigned integer, BIT, YEAR, ENUM position or SET bits.
    UInt(u64),
    /// FLOAT or DOUBLE.
    Double(f64),
    /// Exact decimal.
    Decimal(Decimal),
    /// Date.
    Date(Date),
    /// Time of day or interval.
    Time(Time),
    /// Date and time.
    DateTime(DateTime),
    /// String in the charset of its type.
    Bytes(Box<[u8]>),
}

impl Value {
    /// A byte string value.
    pub fn bytes(bytes: impl AsRef<[u8]>) -> Self {
        Self::Bytes(bytes.as_ref().into())
    }

    /// Whether it has no date that the rules refuse.
    pub fn is_acceptable_date(&self, options: DateOptions) -> bool {
        match self {
            Self::Date(v) => v.is_valid(options),
            Self::DateTime(v) => v.date().is_valid(options),
            _ => true,
        }
    }

    /// The zero of a type: the value of a NOT NULL column without DEFAULT in non-strict mode.
    pub fn zero_of(ty: &SqlType) -> Self {
        match ty.physical() {
            Physical::Int => Self::Int(0),
            Physical::UInt => Self::UInt(u64::from(ty.kind == TypeKind::Enum)),
            Physical::Double => Self::Double(0.0),
            Physical::Decimal => Self::Decimal(Decimal::from_i128(0, ty.decimals)),
            Physical::Date => Self::Date(Date::ZERO),
            Physical::Time => Self::Time(Time::ZERO),
            Physical::DateTime => Self::DateTime(DateTime::ZERO),
            Physical::Bytes if ty.kind == TypeKind::Char && ty.collation.is_binary() => {
                Self::bytes(vec![0; ty.length as usize])
            }
            Physical::Bytes => {
                Self::bytes(vec![0; ty.fixed_binary().map_or(0, |kind| kind.width())])
            }
        }
    }

    /// Whether this is NULL.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The physical kind, `None` for NULL.
    pub fn physical(&self) -> Option<Physical> {
        Some(match self {
            Self::Null => return None,
            Self::Int(_) => Physical::Int,
            Self::UInt(_) => Physical::UInt,
            Self::Double(_) => Physical::Double,
            Self::Decimal(_) => Physical::Decimal,
            Self::Date(_) => Physical::Date,
            Self::Time(_) => Physical::Time,
            Self::DateTime(_) => Physical::DateTime,
            Self::Bytes(_) => Physical::Bytes,
        })
    }
}

impl PartialEq for Value {
    /// Identity, not SQL equality: same kind and same value; NULL equals NULL.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::UInt(a), Self::UInt(b)) => a == b,
            (Self::Double(a), Self::Double(b)) => a.to_bits() == b.to_bits(),
            (Self::Decimal(a), Self::Decimal(b)) => a == b,
            (Self::Date(a), Self::Date(b)) => a == b,
            (Self::Time(a), Self::Time(b)) => a == b,
            (Self::DateTime(a), Self::DateTime(b)) => a == b,
            (Self::Bytes(a), Self::Bytes(b)) => a == b,
            _ => false,
        }
    }
}

/// Text form for definitions stored as JSON: a letter for the kind, then the exact value.
mod stored {
    use std::fmt::Write;

    use ethnum::I256;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    use super::Value;
    use crate::{Date, DateTime, Decimal, Time};

    impl Serialize for Value {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_str(&to_text(self))
        }
    }

    impl<'de> Deserialize<'de> for Value {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
            from_text(&text).ok_or_else(|| D::Error::custom("not a stored value"))
        }
    }

    fn to_text(value: &Value) -> String {
        match value {
            Value::Null => "N".into(),
            Value::Int(v) => format!("i{v}"),
            Value::UInt(v) => format!("u{v}"),
            Value::Double(v) => format!("f{:016x}", v.to_bits()),
            Value::Decimal(v) => format!("n{}:{}", v.scale(), v.unscaled()),
            Value::Date(v) => format!("d{}", v.0),
            Value::Time(v) => format!("t{}", v.0),
            Value::DateTime(v) => format!("T{}", v.0),
            Value::Bytes(v) => v.iter().fold(String::from("x"), |mut text, byte| {
                let _ = write!(text, "{byte:02x}");
                text
            }),
        }
    }

    fn from_text(text: &str) -> Option<Value> {
        let mut rest = text.chars();
        let kind = rest.next()?;
        let rest = rest.as_str();
        Some(match kind {
            'N' => Value::Null,
            'i' => Value::Int(rest.parse().ok()?),
            'u' => Value::UInt(rest.parse().ok()?),
            'f' => Value::Double(f64::from_bits(u64::from_str_radix(rest, 16).ok()?)),
            'n' => {
                let (scale, unscaled) = rest.split_once(':')?;
                let unscaled: I256 = unscaled.parse().ok()?;
                Value::Decimal(Decimal::new(unscaled, scale.parse().ok()?))
            }
            'd' => Value::Date(Date(rest.parse().ok()?)),
            't' => Value::Time(Time(rest.parse().ok()?)),
            'T' => Value::DateTime(DateTime(rest.parse().ok()?)),
            'x' => Value::Bytes(unhex(rest)?),
            _ => return None,
        })
    }

    fn unhex(text: &str) -> Option<Box<[u8]>> {
        let pairs = text.as_bytes().chunks(2);
        pairs.map(|p| u8::from_str_radix(std::str::from_utf8(p).ok()?, 16).ok()).collect()
    }

    #[cfg(test)]
    mod tests {
        use super::{Value, from_text, to_text};

        #[test]
        fn stored_values_round_trip() {
            let values = [
                Value::Null,
                Value::Int(i64::MIN),
                Value::UInt(u64::MAX),
                Value::Double(-0.5),
                Value::Decimal(crate::Decimal::new((-10i64).into(), 2)),
                Value::bytes([0, 255, 10]),
            ];
            for value in values {
                assert_eq!(from_text(&to_text(&value)), Some(value));
            }
        }
    }
}
