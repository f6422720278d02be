//! Numbers to temporal values (`20240131`, `240131101112.5`, `-101112`) and back.
//! The ranges of numbers that are dates with two-digit years, or have a time, are MariaDB's.

use super::{Date, DateOptions, DateTime, MICROS_PER_DAY, ParsedTemporal, Time};
use crate::decimal::Decimal;

/// The smallest number that is a date with a full year and a time.
const FIRST_FULL: i64 = 991_231_235_960;

/// The number with a full year and a time; `None` outside the known ranges.
fn widened(n: i64) -> Option<(i64, bool)> {
    const DAY: i64 = 1_000_000;
    Some(match n {
        0 => (0, false),
        FIRST_FULL.. => (n, false),
        101..=691_231 => ((n + 20_000_000) * DAY, true),
        700_101..=991_231 => ((n + 19_000_000) * DAY, true),
        10_000_101..=99_991_231 => (n * DAY, true),
        101_000_000..=691_231_235_959 => (n + 20_000_000 * DAY, false),
        700_101_000_000..=991_231_235_959 => (n + 19_000_000 * DAY, false),
        _ => return None,
    })
}

impl DateTime {
    /// The instant of a number whose fraction has this many microseconds.
    pub fn from_number(n: i64, micros: u32, options: DateOptions) -> ParsedTemporal<Self> {
        let Some((wide, date_only)) = widened(n) else { return ParsedTemporal::INVALID };
        let (date, clock) = (wide / 1_000_000, (wide % 1_000_000) as u32);
        let Ok(date) = u32::try_from(date) else { return ParsedTemporal::INVALID };
        let [year, month, day] = [date / 10_000, date / 100 % 100, date % 100];
        let [hour, minute, second] = [clock / 10_000, clock / 100 % 100, clock % 100];
        let fraction = if date_only { 0 } else { micros };
        let fields = [year, month, day, hour, minute, second];
        ParsedTemporal {
            value: Self::from_fields(fields, fraction, options),
            truncated: false,
            fraction_cut: date_only && micros != 0,
            date_only: date_only || (n == 0 && micros == 0),
            from_datetime: false,
        }
    }

    /// The instant of a decimal.
    pub fn from_decimal(v: Decimal, options: DateOptions) -> ParsedTemporal<Self> {
        Self::of_parts(Parts::of(v), options)
    }

    /// The instant of a double: of the digits of its exact value, which are more than it shows.
    pub fn from_f64(v: f64, options: DateOptions) -> ParsedTemporal<Self> {
        Self::of_parts(Parts::of_f64(v), options)
    }

    fn of_parts(parts: Option<Parts>, options: DateOptions) -> ParsedTemporal<Self> {
        let Some(parts) = parts.filter(|parts| !parts.negative) else {
            return ParsedTemporal::INVALID;
        };
        let parsed = Self::from_number(parts.whole, parts.micros, options);
        match options.round && parts.rounds_up && !parsed.date_only {
            true => parsed.and_then(Self::next_micro),
            false => parsed,
        }
    }

    /// The number `20240131101112.123456`.
    pub fn to_decimal(self) -> Decimal {
        let whole = i128::from(self.to_number());
        Decimal::from_i128(whole * 1_000_000 + i128::from(self.micros()), 6)
    }

    /// The number as a double.
    pub fn to_f64(self) -> f64 {
        self.to_number() as f64 + f64::from(self.micros()) / 1e6
    }
}

impl Date {
    /// The date of a number; a time is dropped.
    pub fn from_number(n: i64, options: DateOptions) -> ParsedTemporal<Self> {
        DateTime::from_number(n, 0, options).and_then(|v| Some(v.date()))
    }
}

impl Time {
    /// The time of a number `HHMMSS`; a number of eight digits or more is a date with a time.
    pub fn from_number(negative: bool, n: u64, micros: u32) -> ParsedTemporal<Self> {
        if (10_000_000..=99_991_231_235_959).contains(&n) && !negative {
            let lenient = DateOptions { allow_invalid: true, ..DateOptions::LENIENT };
            let parsed = DateTime::from_number(n as i64, micros, lenient);
            return ParsedTemporal { from_datetime: true, ..parsed.and_then(|v| Some(v.time())) };
        }
        let (minute, second) = (n / 100 % 100, n % 100);
        if minute > 59 || second > 59 {
            return ParsedTemporal::INVALID;
        }
        if n > 8_385_959 {
            return Self::out_of_range(negative);
        }
        let hour = (n / 10_000) as u32;
        let value = Self::from_parts(negative, hour, minute as u32, second as u32, micros);
        ParsedTemporal::exact(value)
    }

    fn out_of_range(negative: bool) -> ParsedTemporal<Self> {
        let value = if negative { Self::MIN } else { Self::MAX };
        ParsedTemporal { truncated: true, ..ParsedTemporal::exact(value) }
    }

    /// The time of a decimal; `round` rounds digits after the sixth.
    pub fn from_decimal(v: Decimal, round: bool) -> ParsedTemporal<Self> {
        let Some(parts) = Parts::of(v) else { return Self::out_of_range(v.is_negative()) };
        Self::of_parts(Parts { rounds_up: parts.rounds_up && round, ..parts })
    }

    /// The time of a double: of the digits of its exact value.
    pub fn from_f64(v: f64, round: bool) -> ParsedTemporal<Self> {
        let Some(parts) = Parts::of_f64(v) else { return Self::out_of_range(v < 0.0) };
        Self::of_parts(Parts { rounds_up: parts.rounds_up && round, ..parts })
    }

    fn of_parts(parts: Parts) -> ParsedTemporal<Self> {
        // Compat: a time at the last microsecond of a second is invalid.
        if parts.micros == 999_999 && parts.whole < 10_000_000 {
            return ParsedTemporal::INVALID;
        }
        let parsed = Self::from_number(parts.negative, parts.whole as u64, parts.micros);
        if !parts.rounds_up || parsed.date_only {
            return parsed;
        }
        parsed.and_then(|t| {
            Some(match parsed.from_datetime {
                // The day after the last microsecond of a day has no time left.
                true => Self((t.0 + 1) % MICROS_PER_DAY),
                false if parts.negative => Self::clamped(t.0 - 1).0,
                false => Self::clamped(t.0 + 1).0,
            })
        })
    }

    /// The number `-101112.123456`.
    pub fn to_decimal(self) -> Decimal {
        let micros = i128::from(self.micros());
        let magnitude = i128::from(self.to_number().unsigned_abs()) * 1_000_000 + micros;
        Decimal::from_i128(if self.is_negative() { -magnitude } else { magnitude }, 6)
    }

    /// The number as a double.
    pub fn to_f64(self) -> f64 {
        let magnitude = self.to_number().unsigned_abs() as f64 + f64::from(self.micros()) / 1e6;
        if self.is_negative() { -magnitude } else { magnitude }
    }
}

/// The parts of a number; those behind `negative` are without its sign.
struct Parts {
    negative: bool,
    whole: i64,
    /// The first six digits after the point.
    micros: u32,
    /// The next digit is five or more.
    rounds_up: bool,
}

impl Parts {
    fn of(v: Decimal) -> Option<Self> {
        let (negative, v) = (v.is_negative(), v.abs());
        let six = v.truncate(6);
        let scaled = six.small_unscaled()?;
        let whole = i64::try_from(scaled / 1_000_000).ok()?;
        let rounds_up = v != six && v.truncate(7).small_unscaled()? % 10 >= 5;
        Some(Self { negative, whole, micros: (scaled % 1_000_000) as u32, rounds_up })
    }

    fn of_f64(v: f64) -> Option<Self> {
        let (negative, v) = (v < 0.0, v.abs());
        // Beyond this a double has no digits after the point, and is no instant.
        const MOST: f64 = 1e18;
        let whole = (v < MOST).then(|| v.trunc() as i64)?;
        let nanos = (v.fract() * 1e9) as u32;
        Some(Self { negative, whole, micros: nanos / 1000, rounds_up: nanos % 1000 >= 500 })
    }
}
