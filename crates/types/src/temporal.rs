//! Dates, times and instants as MariaDB knows them, including zero dates and dates with zero parts.
//!
//! Every value is one integer whose order is the order of time. Must not know time zones, the clock
//! or warnings, which are the caller's: every function here is pure.

mod calendar;
mod date;
mod datetime;
mod format;
mod from_number;
mod interval;
mod literal;
mod moment;
mod names;
mod options;
mod parse_datetime;
mod parse_time;
mod scan;
mod str_to_date;
#[cfg(test)]
mod tests;
mod time;
mod week;

pub use calendar::{days_in_month, is_leap_year};
pub use date::Date;
pub use datetime::DateTime;
pub use interval::{Interval, IntervalUnit};
pub use literal::TemporalLiteral;
pub use moment::Moment;
pub use names::TimeNames;
pub use options::{DateOptions, ParsedTemporal};
pub use str_to_date::{FormatKind, FormattedValue, str_to_date};
pub use time::Time;
pub use week::WeekMode;

/// Microseconds in a second.
pub const MICROS_PER_SECOND: i64 = 1_000_000;
/// Microseconds in a day.
pub const MICROS_PER_DAY: i64 = 86_400 * MICROS_PER_SECOND;
/// Most digits of a fraction of a second.
pub const MAX_FSP: u8 = 6;

/// Microseconds of one unit in the last of `fsp` digits.
pub(crate) fn fsp_unit(fsp: u8) -> i64 {
    10i64.pow(u32::from(MAX_FSP.saturating_sub(fsp)))
}

/// Appends `value` with at least `width` digits.
pub(crate) fn write_padded(out: &mut Vec<u8>, value: u32, width: usize) {
    if width == 2 && value < 100 {
        return out.extend_from_slice(&two_digits(value));
    }
    let start = out.len();
    crate::number::write_u64(out, u64::from(value));
    crate::number::write_zerofill(out, start, width);
}

/// A number below 100 as two digits.
#[inline]
pub(crate) const fn two_digits(value: u32) -> [u8; 2] {
    [b'0' + (value / 10) as u8, b'0' + (value % 10) as u8]
}

/// `hh:mm:ss`; all numbers are below 100.
#[inline]
pub(crate) const fn clock_text(hour: u32, minute: u32, second: u32) -> [u8; 8] {
    let [h, m, s] = [two_digits(hour), two_digits(minute), two_digits(second)];
    [h[0], h[1], b':', m[0], m[1], b':', s[0], s[1]]
}

/// Appends `.` and the first `fsp` digits of the microseconds; nothing if `fsp` is 0.
pub(crate) fn write_fraction(out: &mut Vec<u8>, micros: u32, fsp: u8) {
    if fsp > 0 {
        out.push(b'.');
        let fsp = fsp.min(MAX_FSP);
        write_padded(out, micros / fsp_unit(fsp) as u32, usize::from(fsp));
    }
}
