//! `DATE_FORMAT` and `TIME_FORMAT`.
//! The names of months and days are passed in: they depend on `lc_time_names`.

use super::{Date, DateTime, Time, TimeNames, WeekMode, write_padded};
use crate::number::write_u64;

/// Parts of the value to format; a time has a zero date and may have more than 23 hours.
#[derive(Copy, Clone)]
struct Parts {
    date: Date,
    hour: u32,
    minute: u32,
    second: u32,
    micros: u32,
    is_time: bool,
}

impl DateTime {
    /// Appends the instant in the given format; `None` if the format uses a part that is zero and
    /// has no name.
    pub fn format(self, format: &[u8], names: &TimeNames, out: &mut Vec<u8>) -> Option<()> {
        let parts = Parts {
            date: self.date(),
            hour: self.hour(),
            minute: self.minute(),
            second: self.second(),
            micros: self.micros(),
            is_time: false,
        };
        parts.format(format, names, out)
    }
}

impl Time {
    /// Appends the time in the given format; `None` if the format uses parts of a date that have no
    /// value.
    pub fn format(self, format: &[u8], names: &TimeNames, out: &mut Vec<u8>) -> Option<()> {
        self.format_parts(true, format, names, out)
    }

    /// Appends the time as a time of the zero date.
    pub fn format_dated(self, format: &[u8], names: &TimeNames, out: &mut Vec<u8>) -> Option<()> {
        self.format_parts(false, format, names, out)
    }

    fn format_parts(
        self,
        is_time: bool,
        format: &[u8],
        names: &TimeNames,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let parts = Parts {
            date: Date::ZERO,
            hour: self.hour(),
            minute: self.minute(),
            second: self.second(),
            micros: self.micros(),
            is_time,
        };
        if self.is_negative() {
            out.push(b'-');
        }
        parts.format(format, names, out)
    }
}

impl Parts {
    fn format(self, format: &[u8], names: &TimeNames, out: &mut Vec<u8>) -> Option<()> {
        let mut rest = format;
        while let Some((&b, after)) = rest.split_first() {
            match after.split_first() {
                Some((&directive, after)) if b == b'%' => {
                    self.put(directive, names, out)?;
                    rest = after;
                }
                _ => {
                    out.push(b);
                    rest = after;
                }
            }
        }
        Some(())
    }

    fn put(self, directive: u8, names: &TimeNames, out: &mut Vec<u8>) -> Option<()> {
        match directive {
            b'a' | b'b' | b'M' | b'W' => {
                out.extend_from_slice(self.name(directive, names)?.as_bytes());
            }
            b'j' | b'U' | b'u' | b'V' | b'v' | b'X' | b'x' | b'w' => {
                self.put_in_year(directive, out)?;
            }
            b'D' | b'Y' | b'c' | b'd' | b'e' | b'm' | b'y' if self.is_time => return None,
            b'D' | b'Y' | b'c' | b'd' | b'e' | b'm' | b'y' => self.put_day(directive, out),
            b'p' | b'r' | b'T' => self.put_clock(directive, out),
            b'f' | b'H' | b'h' | b'I' | b'i' | b'k' | b'l' | b'S' | b's' => {
                self.put_time(directive, out);
            }
            other => out.push(other),
        }
        Some(())
    }

    fn name(self, directive: u8, names: &TimeNames) -> Option<&'static str> {
        let month = (self.date.month() as usize).checked_sub(1);
        let known = !self.is_time && (self.date.year() != 0 || self.date.month() != 0);
        let weekday = || known.then(|| self.date.weekday() as usize);
        Some(match directive {
            b'a' => names.days_short[weekday()?],
            b'W' => names.days[weekday()?],
            b'b' => names.months_short[month?],
            _ => names.months[month?],
        })
    }

    fn put_in_year(self, directive: u8, out: &mut Vec<u8>) -> Option<()> {
        let nothing = self.date.year() == 0 && self.date.month() == 0;
        if self.is_time || (nothing && directive == b'w') {
            return None;
        }
        // Compat: the day of the year is not counted without a month, nor in year 0.
        if directive == b'j' && (self.date.year() == 0 || self.date.month() == 0) {
            return None;
        }
        let week = |mode| self.date.week(WeekMode::new(mode));
        match directive {
            b'j' => write_padded(out, self.date.day_of_year(), 3),
            b'U' => write_padded(out, week(0).0, 2),
            b'u' => write_padded(out, week(1).0, 2),
            b'V' => write_padded(out, week(2).0, 2),
            b'v' => write_padded(out, week(3).0, 2),
            b'X' => write_padded(out, week(2).1, 4),
            b'x' => write_padded(out, week(3).1, 4),
            _ => write_u64(out, u64::from((self.date.weekday() + 1) % 7)),
        }
        Some(())
    }

    fn put_day(self, directive: u8, out: &mut Vec<u8>) {
        let (year, month, day) = (self.date.year(), self.date.month(), self.date.day());
        match directive {
            b'Y' => write_padded(out, year, 4),
            b'y' => write_padded(out, year % 100, 2),
            b'c' => write_padded(out, month, 1),
            b'm' => write_padded(out, month, 2),
            b'd' => write_padded(out, day, 2),
            b'e' => write_padded(out, day, 1),
            _ => {
                write_padded(out, day, 1);
                out.extend_from_slice(match (day / 10, day % 10) {
                    (1, _) => b"th",
                    (_, 1) => b"st",
                    (_, 2) => b"nd",
                    (_, 3) => b"rd",
                    _ => b"th",
                });
            }
        }
    }

    fn put_time(self, directive: u8, out: &mut Vec<u8>) {
        match directive {
            b'f' => write_padded(out, self.micros, 6),
            b'H' => write_padded(out, self.hour, 2),
            b'k' => write_padded(out, self.hour, 1),
            b'h' | b'I' => write_padded(out, self.hour_of_twelve(), 2),
            b'l' => write_padded(out, self.hour_of_twelve(), 1),
            b'i' => write_padded(out, self.minute, 2),
            _ => write_padded(out, self.second, 2),
        }
    }

    fn put_clock(self, directive: u8, out: &mut Vec<u8>) {
        let half: &[u8] = if self.hour % 24 < 12 { b"AM" } else { b"PM" };
        if directive == b'p' {
            return out.extend_from_slice(half);
        }
        let hour = if directive == b'r' { self.hour_of_twelve() } else { self.hour };
        write_padded(out, hour, 2);
        out.push(b':');
        write_padded(out, self.minute, 2);
        out.push(b':');
        write_padded(out, self.second, 2);
        if directive == b'r' {
            out.push(b' ');
            out.extend_from_slice(half);
        }
    }

    fn hour_of_twelve(self) -> u32 {
        (self.hour % 24 + 11) % 12 + 1
    }
}
