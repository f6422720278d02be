//! Values within dynamic columns.
//! The encodings are those of MariaDB's client library; malformed bytes give an error.

use selkie_types::{CollationId, Date, DateTime, Decimal, Time};

use super::format::Malformed;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Item<'a> {
    Int(i64),
    UInt(u64),
    Double(f64),
    /// A string with its collation.
    Text(CollationId, &'a [u8]),
    Decimal(Decimal),
    DateTime(DateTime),
    Date(Date),
    Time(Time),
    /// A string of dynamic columns.
    Nested(&'a [u8]),
}

const MICROS_PER_DAY: i64 = 86_400_000_000;

const DIGITS_PER_WORD: usize = 9;

/// Size in bytes of a group of so many digits.
const GROUP_BYTES: [usize; 10] = [0, 1, 1, 2, 2, 3, 3, 4, 4, 4];

impl<'a> Item<'a> {
    /// The number of its kind.
    pub(crate) fn kind(&self) -> u8 {
        match self {
            Self::Int(_) => 1,
            Self::UInt(_) => 2,
            Self::Double(_) => 3,
            Self::Text(..) => 4,
            Self::Decimal(_) => 5,
            Self::DateTime(_) => 6,
            Self::Date(_) => 7,
            Self::Time(_) => 8,
            Self::Nested(_) => 9,
        }
    }

    /// The bytes of the value. Compat: in columns with numbers, times have microseconds.
    pub(crate) fn encode(&self, named: bool) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Self::Int(v) => put_uint(&mut out, ((*v as u64) << 1) ^ ((*v >> 63) as u64)),
            Self::UInt(v) => put_uint(&mut out, *v),
            Self::Double(v) => out.extend_from_slice(&v.to_le_bytes()),
            Self::Text(collation, text) => {
                put_varint(&mut out, collation.0.into());
                out.extend_from_slice(text);
            }
            Self::Decimal(v) => put_decimal(&mut out, *v),
            Self::Date(v) => put_date(&mut out, *v),
            Self::Time(v) => put_time(&mut out, *v, named),
            Self::DateTime(v) => {
                put_date(&mut out, v.date());
                put_time(&mut out, v.time(), named);
            }
            Self::Nested(columns) => out.extend_from_slice(columns),
        }
        out
    }

    /// The value of this kind in `bytes`.
    pub(crate) fn decode(kind: u8, bytes: &'a [u8]) -> Result<Self, Malformed> {
        Ok(match kind {
            1 => {
                let v = uint(bytes)?;
                Self::Int((v >> 1) as i64 ^ -((v & 1) as i64))
            }
            2 => Self::UInt(uint(bytes)?),
            3 => Self::Double(f64::from_le_bytes(bytes.try_into().map_err(|_| Malformed)?)),
            4 => {
                let (number, rest) = varint(bytes)?;
                let id = u16::try_from(number).map_err(|_| Malformed)?;
                Self::Text(CollationId(id), rest)
            }
            5 => Self::Decimal(decimal(bytes)?),
            6 => {
                let (date, time) = bytes.split_at_checked(3).ok_or(Malformed)?;
                let micros = read_time(time)?.0;
                if !(0..MICROS_PER_DAY).contains(&micros) {
                    return Err(Malformed);
                }
                Self::DateTime(DateTime::from_date_and_micros(read_date(date)?, micros))
            }
            7 => Self::Date(read_date(bytes)?),
            8 => Self::Time(read_time(bytes)?),
            9 => Self::Nested(bytes),
            _ => return Err(Malformed),
        })
    }
}

/// Appends an integer in as few bytes as possible, least significant byte first.
fn put_uint(out: &mut Vec<u8>, mut value: u64) {
    while value > 0 {
        out.push(value as u8);
        value >>= 8;
    }
}

fn uint(bytes: &[u8]) -> Result<u64, Malformed> {
    match bytes.len() {
        ..=8 => Ok(bytes.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b))),
        _ => Err(Malformed),
    }
}

/// Appends seven bits per byte; the highest bit means that another byte follows.
fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value > 0x7F {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn varint(bytes: &[u8]) -> Result<(u64, &[u8]), Malformed> {
    let mut value = 0;
    for (at, b) in bytes.iter().enumerate().take(9) {
        value |= u64::from(b & 0x7F) << (7 * at);
        if b & 0x80 == 0 {
            return Ok((value, &bytes[at + 1..]));
        }
    }
    Err(Malformed)
}

/// Appends the numbers of digits before and after the point, then the number as MariaDB's tables
/// store it. Zero is empty.
fn put_decimal(out: &mut Vec<u8>, value: Decimal) {
    if value.is_zero() {
        return;
    }
    let text = value.to_string();
    let negative = text.starts_with('-');
    let digits = text.trim_start_matches('-');
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    put_varint(out, whole.len() as u64);
    put_varint(out, fraction.len() as u64);
    let start = out.len();
    let (head, groups) = whole.split_at(whole.len() % DIGITS_PER_WORD);
    put_group(out, head);
    groups.as_bytes().chunks(DIGITS_PER_WORD).for_each(|g| put_group(out, as_text(g)));
    fraction.as_bytes().chunks(DIGITS_PER_WORD).for_each(|g| put_group(out, as_text(g)));
    if negative {
        out[start..].iter_mut().for_each(|b| *b = !*b);
    }
    out[start] ^= 0x80;
}

fn as_text(digits: &[u8]) -> &str {
    std::str::from_utf8(digits).unwrap_or_default()
}

fn put_group(out: &mut Vec<u8>, digits: &str) {
    let value: u32 = digits.parse().unwrap_or(0);
    let size = GROUP_BYTES[digits.len()];
    out.extend_from_slice(&value.to_be_bytes()[4 - size..]);
}

fn decimal(bytes: &[u8]) -> Result<Decimal, Malformed> {
    if bytes.is_empty() {
        return Ok(Decimal::default());
    }
    let (whole, rest) = varint(bytes)?;
    let (fraction, rest) = varint(rest)?;
    if whole + fraction > 65 || fraction > 38 {
        return Err(Malformed);
    }
    let (whole, fraction) = (whole as usize, fraction as usize);
    let mut rest = rest.to_vec();
    // Compat: a number without digits is 0, whatever bytes follow.
    let Some(first) = rest.first_mut().filter(|_| whole + fraction > 0) else {
        return Ok(Decimal::default());
    };
    *first ^= 0x80;
    let negative = *first & 0x80 != 0;
    if negative {
        rest.iter_mut().for_each(|b| *b = !*b);
    }
    let mut text = String::from(if negative { "-" } else { "" });
    let mut groups = vec![whole % DIGITS_PER_WORD];
    groups.extend(std::iter::repeat_n(DIGITS_PER_WORD, whole / DIGITS_PER_WORD));
    let mut at = read_groups(&rest, 0, &groups, &mut text)?;
    text.push('.');
    let mut groups = vec![DIGITS_PER_WORD; fraction / DIGITS_PER_WORD];
    groups.push(fraction % DIGITS_PER_WORD);
    at = read_groups(&rest, at, &groups, &mut text)?;
    if at != rest.len() { Err(Malformed) } else { Ok(Decimal::parse(text.as_bytes()).value) }
}

/// Appends the digits of groups; returns the offset after them.
fn read_groups(
    bytes: &[u8],
    mut at: usize,
    groups: &[usize],
    text: &mut String,
) -> Result<usize, Malformed> {
    for &digits in groups.iter().filter(|digits| **digits > 0) {
        let size = GROUP_BYTES[digits];
        let group = bytes.get(at..at + size).ok_or(Malformed)?;
        let value = group.iter().fold(0u64, |n, b| n << 8 | u64::from(*b));
        text.push_str(&format!("{value:0digits$}"));
        at += size;
    }
    Ok(at)
}

fn put_date(out: &mut Vec<u8>, date: Date) {
    let packed = date.day() | date.month() << 5 | date.year() << 9;
    out.extend_from_slice(&packed.to_le_bytes()[..3]);
}

fn read_date(bytes: &[u8]) -> Result<Date, Malformed> {
    if bytes.len() != 3 {
        return Err(Malformed);
    }
    let packed = uint(bytes)? as u32;
    let (year, month, day) = (packed >> 9, packed >> 5 & 15, packed & 31);
    match month <= 12 && year <= 9999 {
        true => Ok(Date::from_parts(year, month, day)),
        false => Err(Malformed),
    }
}

fn put_time(out: &mut Vec<u8>, time: Time, named: bool) {
    let micros = time.0;
    let all = micros.unsigned_abs();
    let (fraction, seconds) = (all % 1_000_000, all / 1_000_000);
    let (second, minute, hour) = (seconds % 60, seconds / 60 % 60, seconds / 3600);
    let negative = u64::from(micros < 0);
    if fraction == 0 && named {
        let packed = second | minute << 6 | hour << 12 | negative << 23;
        out.extend_from_slice(&packed.to_le_bytes()[..3]);
    } else {
        let packed = fraction | second << 20 | minute << 26 | hour << 32 | negative << 42;
        out.extend_from_slice(&packed.to_le_bytes()[..6]);
    }
}

fn read_time(bytes: &[u8]) -> Result<Time, Malformed> {
    let packed = uint(bytes)?;
    let (fraction, rest, negative) = match bytes.len() {
        3 => (0, packed & 0x3F_FFFF, packed >> 23 & 1),
        6 => (packed & 0xF_FFFF, packed >> 20 & 0x3F_FFFF, packed >> 42 & 1),
        _ => return Err(Malformed),
    };
    let (second, minute, hour) = (rest & 63, rest >> 6 & 63, rest >> 12);
    if second > 59 || minute > 59 || hour > 838 || fraction > 999_999 {
        return Err(Malformed);
    }
    let micros = (((hour * 60 + minute) * 60 + second) * 1_000_000 + fraction) as i64;
    Ok(Time(if negative == 1 { -micros } else { micros }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal_of(text: &str) -> Decimal {
        Decimal::parse(text.as_bytes()).value
    }

    #[test]
    fn decimals_are_packed() {
        let packed = |text: &str| Item::Decimal(decimal_of(text)).encode(true);
        assert_eq!(packed("1212"), [4, 0, 0x84, 0xBC]);
        assert_eq!(packed("12.12"), [2, 2, 0x8C, 0x0C]);
        assert_eq!(packed("0.05"), [1, 2, 0x80, 5]);
        assert_eq!(packed("0.0"), []);
        let long = [10, 12, 0x7E, 0xF2, 4, 0xC7, 0x2D, 0xF8, 0xA4, 0x32, 0xEA, 0xFF, 0xF3];
        assert_eq!(packed("-1234567890.123456789012"), long);
    }

    #[test]
    fn what_is_written_is_read() {
        let items = [
            Item::Int(-5),
            Item::Int(i64::MIN),
            Item::UInt(u64::MAX),
            Item::Double(1.5),
            Item::Text(CollationId::BINARY, b"xyz"),
            Item::Decimal(decimal_of("-1234567890.123456789012")),
            Item::Date(Date::from_parts(2011, 4, 5)),
            Item::Time(Time(-2_749_000_001)),
            Item::Time(Time(2_749_000_000)),
            Item::Nested(b"x"),
        ];
        for item in items {
            for named in [false, true] {
                let bytes = item.encode(named);
                assert_eq!(Item::decode(item.kind(), &bytes), Ok(item.clone()));
            }
        }
        assert_eq!(Item::decode(5, &[40, 39, 1]), Err(Malformed));
    }
}
