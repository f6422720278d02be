//! Parameters of the binary protocol as SQL values.
//!
//! Must not coerce: a parameter has the type that the client declared.

use std::cell::Cell;
use std::ops::{Deref, DerefMut};

use selkie_engine::{Keepable, Kept, KeptSlot};
use selkie_protocol::row::binary::{DateTimeParts, TimeParts};
use selkie_protocol::stmt::{IntWidth, Param};
use selkie_types::{Charset, CollationId, Date, DateTime, Decimal, SqlType, Time, TypeKind, Value};

/// Character sets of a client's strings.
#[derive(Copy, Clone, Debug)]
pub(super) struct Charsets {
    /// Character set the client sends.
    pub(super) client: Charset,
    /// Collation of the converted string.
    pub(super) connection: CollationId,
}

/// Values of parameters with their types.
#[derive(Default)]
pub(super) struct Parameters(Vec<(Value, SqlType)>);

thread_local!(static PARAMETERS: KeptSlot<Parameters> = const { Cell::new(None) });

impl Parameters {
    /// An empty list, in memory that the thread keeps.
    pub(super) fn take() -> Kept<Self> {
        Kept::take(&PARAMETERS)
    }
}

impl Keepable for Parameters {
    fn empty(&mut self) -> bool {
        const MOST: usize = 1000;
        self.0.clear();
        self.0.capacity() <= MOST
    }
}

impl Deref for Parameters {
    type Target = Vec<(Value, SqlType)>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Parameters {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

/// The value and type of a parameter. `charsets` is called only for a string.
pub(super) fn to_value(param: &Param<'_>, charsets: impl Fn() -> Charsets) -> (Value, SqlType) {
    match param {
        Param::Null => (Value::Null, SqlType::null()),
        Param::Int(v, width) => (Value::Int(*v), integer(*width)),
        Param::Uint(v, width) => (Value::UInt(*v), SqlType { unsigned: true, ..integer(*width) }),
        // Compat: as text it has the digits of a DOUBLE.
        Param::Float(v) => (Value::Double(f64::from(*v)), SqlType::double()),
        Param::Double(v) => (Value::Double(*v), SqlType::double()),
        Param::Decimal(text) => {
            let v = Decimal::parse(text).value;
            let (precision, scale) = (v.precision(), v.scale());
            (Value::Decimal(v), SqlType::decimal(precision, scale))
        }
        Param::Date(t) => (Value::Date(date(t)), SqlType::date()),
        Param::DateTime(t) => (Value::DateTime(datetime(t)), SqlType::datetime(fsp(t.micros))),
        Param::Time(t) => (Value::Time(time(t)), SqlType::time(fsp(t.micros))),
        Param::Text(bytes) => string(bytes, charsets()),
        Param::Blob(bytes) => {
            let length = bytes.len().min(u32::MAX as usize) as u32;
            (Value::bytes(bytes), SqlType::varchar(length, CollationId::BINARY))
        }
    }
}

/// The type of an integer of a width. Compat: one without a sign has a place for it.
const fn integer(width: IntWidth) -> SqlType {
    match width {
        IntWidth::Tiny => SqlType::new(TypeKind::TinyInt, 4, 0),
        IntWidth::Short => SqlType::new(TypeKind::SmallInt, 6, 0),
        IntWidth::Long => SqlType::int(),
        IntWidth::LongLong => SqlType::new(TypeKind::BigInt, 21, 0),
    }
}

fn fsp(micros: u32) -> u8 {
    if micros == 0 { 0 } else { 6 }
}

fn date(t: &DateTimeParts) -> Date {
    Date::from_parts(t.year.min(9999).into(), t.month.into(), t.day.into())
}

fn datetime(t: &DateTimeParts) -> DateTime {
    DateTime::from_parts(date(t), t.hour.into(), t.minute.into(), t.second.into(), t.micros)
}

/// Compat: the nearest time of one with too many hours has no fraction.
fn time(t: &TimeParts) -> Time {
    const HOURS: u32 = 838;
    if t.hours > HOURS {
        return Time::from_parts(t.negative, HOURS, 59, 59, 0);
    }
    Time::from_parts(t.negative, t.hours, t.minute.into(), t.second.into(), t.micros)
}

fn string(bytes: &[u8], charsets: Charsets) -> (Value, SqlType) {
    let to = charsets.connection.charset();
    let same = charsets.client == to || charsets.client == Charset::Binary || to == Charset::Binary;
    let text = if same { bytes.into() } else { charsets.client.convert(bytes, to).0 };
    let length = to.char_count(&text).min(u32::MAX as usize) as u32;
    (Value::bytes(&text), SqlType::varchar(length, charsets.connection))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_float_has_the_digits_of_a_double() {
        let (value, ty) = to_value(&Param::Float(16_777_216.0), || unreachable!());
        let mut text = Vec::new();
        selkie_expr::text::write_value(&mut text, &value, &ty);
        assert_eq!(text, b"16777216");
    }
}
