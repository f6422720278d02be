//! Parameters of the binary protocol as SQL values.
//!
//! Must not coerce: a parameter has the type that the client declared.

use std::cell::Cell;
use std::ops::{Deref, DerefMut};

use selkie_engine::{Keepable, Kept, KeptSlot};
use selkie_protocol::row::binary::{DateTimeParts, TimeParts};
use selkie_protocol::stmt::{IntWidth, Param};
use selkie_types::error::Condition;
use selkie_types::error::catalogue::{ER_BAD_DATA, ER_DATA_OVERFLOW, ER_TRUNCATED_WRONG_VALUE};
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

/// The value and type of a parameter. `charsets` is called only for a string. What is no value of
/// its type becomes zero or the nearest value, and `told` gets a warning about it.
pub(super) fn to_value(
    param: &Param<'_>,
    charsets: impl Fn() -> Charsets,
    told: &mut Vec<Condition>,
) -> (Value, SqlType) {
    match param {
        Param::Null => (Value::Null, SqlType::null()),
        Param::Int(v, width) => (Value::Int(*v), integer(*width)),
        Param::Uint(v, width) => (Value::UInt(*v), SqlType { unsigned: true, ..integer(*width) }),
        // Compat: as text it has the digits of a DOUBLE.
        Param::Float(v) => (Value::Double(f64::from(*v)), SqlType::double()),
        Param::Double(v) => (Value::Double(*v), SqlType::double()),
        Param::Decimal(text) => decimal(text, told),
        Param::Date(t) => (Value::Date(date(t, told)), SqlType::date()),
        Param::DateTime(t) => {
            (Value::DateTime(datetime(t, told)), SqlType::datetime(fsp(t.micros)))
        }
        Param::Time(t) => (Value::Time(time(t, told)), SqlType::time(fsp(t.micros))),
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

/// Compat: a number that is too large is the largest one of 65 digits.
fn decimal(text: &[u8], told: &mut Vec<Condition>) -> (Value, SqlType) {
    let parsed = Decimal::parse(text);
    if parsed.consumed == 0 {
        told.push(Condition::warning(&ER_BAD_DATA, &[&"", &"DECIMAL"]));
    }
    if parsed.overflow {
        told.push(Condition::warning(&ER_DATA_OVERFLOW, &[&"", &"DECIMAL"]));
        let largest = Decimal::max_value(65, 0);
        let value = if parsed.value.is_negative() { -largest } else { largest };
        return (Value::Decimal(value), SqlType::decimal(65, 0));
    }
    let (precision, scale) = (parsed.value.precision(), parsed.value.scale());
    (Value::Decimal(parsed.value), SqlType::decimal(precision, scale))
}

/// Compat: the time of day does not matter, whatever it is.
fn date(t: &DateTimeParts, told: &mut Vec<Condition>) -> Date {
    if is_date(t) {
        return Date::from_parts(t.year.into(), t.month.into(), t.day.into());
    }
    refuse(told, "date", &date_text(t));
    Date::ZERO
}

fn datetime(t: &DateTimeParts, told: &mut Vec<Condition>) -> DateTime {
    if is_date(t) && t.hour <= 23 && is_clock(t.minute, t.second, t.micros) {
        let date = Date::from_parts(t.year.into(), t.month.into(), t.day.into());
        return DateTime::from_parts(
            date,
            t.hour.into(),
            t.minute.into(),
            t.second.into(),
            t.micros,
        );
    }
    let clock = clock_text(t.minute, t.second, t.micros);
    refuse(told, "datetime", &format!("{} {}{clock}", date_text(t), two(t.hour.into())));
    DateTime::ZERO
}

/// Compat: the nearest time of one with too many hours keeps its fraction.
fn time(t: &TimeParts, told: &mut Vec<Condition>) -> Time {
    const HOURS: u32 = 838;
    let (hours, minute, second) =
        if t.hours > HOURS { (HOURS, 59, 59) } else { (t.hours, t.minute, t.second) };
    if is_clock(minute, second, t.micros) {
        return Time::from_parts(t.negative, hours, minute.into(), second.into(), t.micros);
    }
    let sign = if t.negative { "-" } else { "" };
    let clock = clock_text(minute, second, t.micros);
    refuse(told, "time", &format!("{sign}{hours:02}{clock}"));
    Time::ZERO
}

const fn is_date(t: &DateTimeParts) -> bool {
    t.year <= 9999 && t.month <= 12 && t.day <= 31
}

const fn is_clock(minute: u8, second: u8, micros: u32) -> bool {
    minute <= 59 && second <= 59 && micros <= 999_999
}

fn refuse(told: &mut Vec<Condition>, kind: &str, text: &str) {
    told.push(Condition::warning(&ER_TRUNCATED_WRONG_VALUE, &[&kind, &text]));
}

fn date_text(t: &DateTimeParts) -> String {
    let century = two(u32::from(t.year) / 100);
    let year = two(u32::from(t.year) % 100);
    format!("{century}{year}-{}-{}", two(t.month.into()), two(t.day.into()))
}

/// Minutes, seconds, and the fraction if there is one.
fn clock_text(minute: u8, second: u8, micros: u32) -> String {
    let clock = format!(":{}:{}", two(minute.into()), two(second.into()));
    if micros == 0 {
        return clock;
    }
    format!("{clock}.{}{}{}", two(micros / 10_000), two(micros / 100 % 100), two(micros % 100))
}

/// Two digits. Compat: there are none of a larger number.
fn two(number: u32) -> String {
    if number < 100 { format!("{number:02}") } else { "XX".to_owned() }
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
        let (value, ty) = to_value(&Param::Float(16_777_216.0), || unreachable!(), &mut Vec::new());
        let mut text = Vec::new();
        selkie_expr::text::write_value(&mut text, &value, &ty);
        assert_eq!(text, b"16777216");
    }
}
