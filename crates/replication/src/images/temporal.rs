//! Dates and times in images, in the form of MySQL 5.6 and in the form before it.
//!
//! Must not check calendars: zero dates and dates that do not exist are values of columns.

use crate::bytes::{Reader, put_be, put_le, put_u32};
use crate::error::{DecodeError, DecodeResult};

/// A date.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct DateValue {
    /// 0 to 9999.
    pub year: u16,
    /// 0 to 12.
    pub month: u8,
    /// 0 to 31.
    pub day: u8,
}

/// A time, which may be longer than a day.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TimeValue {
    /// Whether the time is below zero.
    pub is_negative: bool,
    /// 0 to 838.
    pub hours: u16,
    /// 0 to 59.
    pub minutes: u8,
    /// 0 to 59.
    pub seconds: u8,
    /// Millionths of a second.
    pub micros: u32,
}

/// A date and the time of the day.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct DateTimeValue {
    /// The day.
    pub date: DateValue,
    /// 0 to 23.
    pub hour: u8,
    /// 0 to 59.
    pub minute: u8,
    /// 0 to 59.
    pub second: u8,
    /// Millionths of a second.
    pub micros: u32,
}

/// A point in time; zero stands for the zero date.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TimestampValue {
    /// Seconds since 1970.
    pub seconds: u32,
    /// Millionths of a second.
    pub micros: u32,
}

/// Bytes of a fraction.
fn fraction_bytes(digits: u8) -> usize {
    usize::from(digits.div_ceil(2))
}

/// Microseconds of one unit of a stored fraction, which has an even count of digits.
fn unit(digits: u8) -> u32 {
    10u32.pow(6 - 2 * (fraction_bytes(digits) as u32).min(3))
}

fn micros(fraction: u64, digits: u8) -> DecodeResult<u32> {
    let most = u64::from(1_000_000 / unit(digits));
    if fraction >= most {
        return Err(DecodeError::Invalid("fraction of a second"));
    }
    Ok(fraction as u32 * unit(digits))
}

/// A date has three bytes: the year above four bits of month and five bits of day.
impl DateValue {
    pub(super) fn read(reader: &mut Reader<'_>) -> DecodeResult<Self> {
        let bits = reader.le(3, "date")? as u32;
        let (month, day) = ((bits >> 5 & 15) as u8, (bits & 31) as u8);
        Ok(Self { year: (bits >> 9) as u16, month, day })
    }

    pub(super) fn put(self, out: &mut Vec<u8>) {
        let bits = u64::from(self.year) << 9 | u64::from(self.month) << 5 | u64::from(self.day);
        put_le(out, bits, 3);
    }
}

/// The three bytes of the time zero.
const TIME_ZERO: u64 = 0x80_0000;

impl TimeValue {
    /// Integer part and fraction form one number, the fraction in its low bytes. A negative time
    /// is subtracted from zero as such a number.
    pub(super) fn read(reader: &mut Reader<'_>, digits: u8) -> DecodeResult<Self> {
        let low = 8 * fraction_bytes(digits);
        let bits = reader.be(3 + fraction_bytes(digits), "time")?;
        let zero = TIME_ZERO << low;
        let size = bits.abs_diff(zero);
        let whole = size >> low;
        Ok(Self {
            is_negative: bits < zero,
            hours: (whole >> 12) as u16,
            minutes: (whole >> 6 & 63) as u8,
            seconds: (whole & 63) as u8,
            micros: micros(size & ((1 << low) - 1), digits)?,
        })
    }

    pub(super) fn put(self, digits: u8, out: &mut Vec<u8>) {
        let low = 8 * fraction_bytes(digits);
        let whole =
            u64::from(self.hours) << 12 | u64::from(self.minutes) << 6 | u64::from(self.seconds);
        let size = whole << low | u64::from(self.micros / unit(digits));
        let zero = TIME_ZERO << low;
        let bits = if self.is_negative { zero.wrapping_sub(size) } else { zero + size };
        put_be(out, bits, 3 + fraction_bytes(digits));
    }

    /// Reads the old form: a decimal number `hhmmss`.
    pub(super) fn read_old(reader: &mut Reader<'_>) -> DecodeResult<Self> {
        let bits = reader.le(3, "time")? as u32;
        let number = ((bits << 8) as i32) >> 8;
        let size = number.unsigned_abs();
        Ok(Self {
            is_negative: number < 0,
            hours: (size / 10_000) as u16,
            minutes: (size / 100 % 100) as u8,
            seconds: (size % 100) as u8,
            micros: 0,
        })
    }

    pub(super) fn put_old(self, out: &mut Vec<u8>) {
        let size = i64::from(self.hours) * 10_000
            + i64::from(self.minutes) * 100
            + i64::from(self.seconds);
        put_le(out, (if self.is_negative { -size } else { size }) as u64, 3);
    }
}

/// The highest bit of the five bytes. It is the sign, and set for all valid dates.
const DATETIME_ZERO: u64 = 0x80_0000_0000;

impl DateTimeValue {
    pub(super) fn read(reader: &mut Reader<'_>, digits: u8) -> DecodeResult<Self> {
        let bits = reader.be(5, "datetime")?;
        let bits = bits.checked_sub(DATETIME_ZERO).ok_or(DecodeError::Invalid("datetime"))?;
        let months = bits >> 22;
        let date = DateValue {
            year: (months / 13) as u16,
            month: (months % 13) as u8,
            day: (bits >> 17 & 31) as u8,
        };
        Ok(Self {
            date,
            hour: (bits >> 12 & 31) as u8,
            minute: (bits >> 6 & 63) as u8,
            second: (bits & 63) as u8,
            micros: micros(reader.be(fraction_bytes(digits), "fraction")?, digits)?,
        })
    }

    pub(super) fn put(self, digits: u8, out: &mut Vec<u8>) {
        let months = u64::from(self.date.year) * 13 + u64::from(self.date.month);
        let bits = months << 22
            | u64::from(self.date.day) << 17
            | u64::from(self.hour) << 12
            | u64::from(self.minute) << 6
            | u64::from(self.second);
        put_be(out, DATETIME_ZERO + bits, 5);
        put_be(out, u64::from(self.micros / unit(digits)), fraction_bytes(digits));
    }

    /// Reads the old form: a decimal number `yyyymmddhhmmss`.
    pub(super) fn read_old(reader: &mut Reader<'_>) -> DecodeResult<Self> {
        let number = reader.u64("datetime")?;
        let part = |at: u64| (number / at % 100) as u8;
        let year = u16::try_from(number / 10_000_000_000);
        let year = year.map_err(|_| DecodeError::Invalid("datetime"))?;
        let date = DateValue { year, month: part(100_000_000), day: part(1_000_000) };
        Ok(Self { date, hour: part(10_000), minute: part(100), second: part(1), micros: 0 })
    }

    pub(super) fn put_old(self, out: &mut Vec<u8>) {
        let parts = [self.date.month, self.date.day, self.hour, self.minute, self.second];
        let year = u64::from(self.date.year);
        let number = parts.iter().fold(year, |number, part| number * 100 + u64::from(*part));
        out.extend_from_slice(&number.to_le_bytes());
    }
}

impl TimestampValue {
    pub(super) fn read(reader: &mut Reader<'_>, digits: u8) -> DecodeResult<Self> {
        let seconds = reader.be(4, "timestamp")? as u32;
        let fraction = reader.be(fraction_bytes(digits), "fraction")?;
        Ok(Self { seconds, micros: micros(fraction, digits)? })
    }

    pub(super) fn put(self, digits: u8, out: &mut Vec<u8>) {
        put_be(out, u64::from(self.seconds), 4);
        put_be(out, u64::from(self.micros / unit(digits)), fraction_bytes(digits));
    }

    pub(super) fn read_old(reader: &mut Reader<'_>) -> DecodeResult<Self> {
        Ok(Self { seconds: reader.u32("timestamp")?, micros: 0 })
    }

    pub(super) fn put_old(self, out: &mut Vec<u8>) {
        put_u32(out, self.seconds);
    }
}
