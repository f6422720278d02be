//! The next due time of an event: a function of its times, its time zone, and a time.
//!
//! Must not read clocks. No loop is longer than a few rounds, however far the times are apart.

use selkie_expr::TimeZone;
use selkie_types::DateTime;
use selkie_types::temporal::{Interval, IntervalUnit, MICROS_PER_SECOND};

use super::{Event, Timing, smallest_unit};

impl Event {
    /// The first due time after `after`; `None` if there is none any more. An event that runs once
    /// is due at its time even if that is over: it runs late rather than never.
    pub fn next_after(&self, zone: &TimeZone, after: i64) -> Option<i64> {
        match self.timing {
            Timing::Once(at) => Some(at),
            Timing::Every { count, unit, starts, ends } => {
                let every =
                    Every { unit: smallest_unit(unit).0, count: count.max(1).into(), starts };
                let next = if after < starts { Some(starts) } else { every.after(zone, after) };
                next.filter(|next| ends.is_none_or(|ends| *next <= ends))
            }
        }
    }
}

/// A recurring time.
struct Every {
    unit: IntervalUnit,
    count: i64,
    starts: i64,
}

impl Every {
    /// The first time after `after`, which is not before the start.
    fn after(&self, zone: &TimeZone, after: i64) -> Option<i64> {
        let seconds = match self.unit {
            IntervalUnit::Second => self.count,
            IntervalUnit::Minute => self.count * 60,
            IntervalUnit::Hour => self.count * 3_600,
            _ => return self.by_calendar(zone, after),
        };
        let rounds = (after - self.starts) / seconds + 1;
        self.starts.checked_add(rounds.checked_mul(seconds)?)
    }

    /// As [`Self::after`], for units of which the clock of the time zone keeps the time of day.
    fn by_calendar(&self, zone: &TimeZone, after: i64) -> Option<i64> {
        let start = local(zone, self.starts)?;
        // A clock that is put back or forward moves the time by less than one round.
        let passed = start.diff(local(zone, after)?, self.unit)?.max(0) / self.count;
        (passed.saturating_sub(1).max(0)..=passed + 2)
            .filter_map(|round| {
                let interval = Interval::new(self.unit, round.checked_mul(self.count)?);
                let time = start.add_interval(interval)?;
                Some(zone.micros_from_local(time).div_euclid(MICROS_PER_SECOND))
            })
            .find(|time| *time > after)
    }
}

fn local(zone: &TimeZone, seconds: i64) -> Option<DateTime> {
    zone.local_from_micros(seconds.checked_mul(MICROS_PER_SECOND)?)
}

#[cfg(test)]
mod tests;
