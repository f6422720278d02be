//! A signed amount of time, up to 838 hours.
//! The limit is MariaDB's: callers must clamp results and warn.

use std::fmt;

use super::{MICROS_PER_SECOND, clock_text, fsp_unit, write_fraction};

/// A time in signed microseconds, -838:59:59.999999 to 838:59:59.999999.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(pub i64);

impl Time {
    /// `00:00:00`.
    pub const ZERO: Self = Self(0);
    /// `838:59:59.999999`.
    pub const MAX: Self = Self((838 * 3600 + 59 * 60 + 59) * MICROS_PER_SECOND + 999_999);
    /// `-838:59:59.999999`.
    pub const MIN: Self = Self(-Self::MAX.0);

    /// The time of these parts: not negative, minutes and seconds below 60, the result in range.
    pub const fn from_parts(
        negative: bool,
        hour: u32,
        minute: u32,
        second: u32,
        micros: u32,
    ) -> Self {
        let seconds = hour as i64 * 3600 + minute as i64 * 60 + second as i64;
        let v = seconds * MICROS_PER_SECOND + micros as i64;
        Self(if negative { -v } else { v })
    }

    /// The nearest time in range, and whether the amount was out of range.
    pub fn clamped(micros: i64) -> (Self, bool) {
        let inside = Self(micros.clamp(Self::MIN.0, Self::MAX.0));
        (inside, inside.0 != micros)
    }

    /// Whether the time is below zero.
    pub const fn is_negative(self) -> bool {
        self.0 < 0
    }

    const fn seconds(self) -> u64 {
        self.0.unsigned_abs() / MICROS_PER_SECOND as u64
    }

    /// Hours of the absolute value, 0 to 838.
    pub const fn hour(self) -> u32 {
        (self.seconds() / 3600) as u32
    }

    /// Minutes of the absolute value.
    pub const fn minute(self) -> u32 {
        (self.seconds() / 60 % 60) as u32
    }

    /// Seconds of the absolute value.
    pub const fn second(self) -> u32 {
        (self.seconds() % 60) as u32
    }

    /// Microseconds of the absolute value.
    pub const fn micros(self) -> u32 {
        (self.0.unsigned_abs() % MICROS_PER_SECOND as u64) as u32
    }

    /// The time with the fraction cut off after `fsp` digits.
    pub fn truncate_to(self, fsp: u8) -> Self {
        Self(self.0 - self.0 % fsp_unit(fsp))
    }

    /// The time with the fraction rounded to `fsp` digits, and whether that left the range.
    pub fn round_to(self, fsp: u8) -> (Self, bool) {
        let unit = fsp_unit(fsp);
        let rest = self.0 % unit;
        let cut = self.0 - rest;
        let rounded = if rest.abs() * 2 >= unit { cut + rest.signum() * unit } else { cut };
        let limit = Self(Self::MAX.0).truncate_to(fsp).0;
        (Self(rounded.clamp(-limit, limit)), rounded.abs() > limit)
    }

    /// The number `-1011112`, without the fraction.
    pub const fn to_number(self) -> i64 {
        let v = self.hour() as i64 * 10_000 + self.minute() as i64 * 100 + self.second() as i64;
        if self.is_negative() { -v } else { v }
    }

    /// Appends `[-]hh:mm:ss` and `fsp` digits of the fraction.
    pub fn write_to(self, out: &mut Vec<u8>, fsp: u8) {
        if self.is_negative() {
            out.push(b'-');
        }
        let hour = self.hour();
        if hour >= 100 {
            out.push(b'0' + (hour / 100) as u8);
        }
        out.extend_from_slice(&clock_text(hour % 100, self.minute(), self.second()));
        write_fraction(out, self.micros(), fsp);
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = Vec::with_capacity(17);
        self.write_to(&mut out, if self.micros() == 0 { 0 } else { 6 });
        f.write_str(std::str::from_utf8(&out).unwrap_or(""))
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
