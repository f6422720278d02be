//! Dates, times and instants as MariaDB knows them, zero dates and dates with zero parts included.
//!
//! Every value is one integer whose order is the order of time. Time zones, the clock and warnings
//! are the caller's; everything here is a pure function.

mod calendar;
mod date;
mod datetime;
mod format;
mod from_number;
mod interval;
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

/// The microseconds of one unit of the last digit kept by `fsp` digits.
pub(crate) fn fsp_unit(fsp: u8) -> i64 {
    10i64.pow(u32::from(MAX_FSP.saturating_sub(fsp)))
}

/// Appends `value` with at least `width` digits.
pub(crate) fn write_padded(out: &mut Vec<u8>, value: u32, width: usize) {
    let start = out.len();
    crate::number::write_u64(out, u64::from(value));
    crate::number::write_zerofill(out, start, width);
}

/// Appends `.` and the first `fsp` digits of the microseconds; nothing without digits.
pub(crate) fn write_fraction(out: &mut Vec<u8>, micros: u32, fsp: u8) {
    if fsp > 0 {
        out.push(b'.');
        let fsp = fsp.min(MAX_FSP);
        write_padded(out, micros / fsp_unit(fsp) as u32, usize::from(fsp));
    }
}
