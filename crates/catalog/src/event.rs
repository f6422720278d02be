//! Events: what they do, and when. Times are seconds since 1970.
//!
//! *Due time*: a time at which the schedule has a run. Must not read clocks.

mod row;
mod schedule;
mod shown;

pub use row::COLUMNS as EVENT_COLUMNS;

use selkie_expr::TimeZone;
use selkie_types::SqlResult;
use selkie_types::temporal::IntervalUnit;

use crate::ProgramContext;

/// Whether an event runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventStatus {
    /// It runs.
    Enabled,
    /// It does not run.
    Disabled,
    /// It came from a primary and runs there.
    DisabledOnSlave,
}

impl EventStatus {
    const ALL: [Self; 3] = [Self::Enabled, Self::Disabled, Self::DisabledOnSlave];

    /// The status as `information_schema` shows it.
    fn name(self) -> &'static str {
        match self {
            Self::Enabled => "ENABLED",
            Self::Disabled => "DISABLED",
            Self::DisabledOnSlave => "SLAVESIDE_DISABLED",
        }
    }

    /// The status as a clause.
    fn clause(self) -> &'static str {
        match self {
            Self::Enabled => "ENABLE",
            Self::Disabled => "DISABLE",
            Self::DisabledOnSlave => "DISABLE ON SLAVE",
        }
    }
}

/// The times at which an event runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// Once.
    Once(i64),
    /// Again and again.
    Every {
        /// Number of the smallest units of `unit`: months of a quarter, days of a week.
        count: u32,
        /// The unit as it was written.
        unit: IntervalUnit,
        /// The first time.
        starts: i64,
        /// No time is later.
        ends: Option<i64>,
    },
}

impl Timing {
    /// Whether no time comes after `now`.
    pub fn is_over(&self, now: i64) -> bool {
        match self {
            Self::Once(at) => *at < now,
            Self::Every { ends, .. } => ends.is_some_and(|ends| ends < now),
        }
    }
}

/// The smallest unit that makes up `unit`, and how many of it the unit is.
pub fn smallest_unit(unit: IntervalUnit) -> (IntervalUnit, u32) {
    use IntervalUnit as U;
    match unit {
        U::Quarter => (U::Month, 3),
        U::Week => (U::Day, 7),
        U::YearMonth => (U::Month, 1),
        U::DayHour => (U::Hour, 1),
        U::DayMinute | U::HourMinute => (U::Minute, 1),
        U::DaySecond | U::HourSecond | U::MinuteSecond => (U::Second, 1),
        unit => (unit, 1),
    }
}

/// An event.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Its schema.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// Its statement.
    pub body: String,
    /// Definer, and settings at creation.
    pub context: ProgramContext,
    /// Its times.
    pub timing: Timing,
    /// The last time it ran.
    pub last_executed: Option<i64>,
    /// Whether it runs.
    pub status: EventStatus,
    /// `ON COMPLETION PRESERVE`.
    pub preserve: bool,
    /// `COMMENT`.
    pub comment: String,
    /// `server_id` of the server that made it.
    pub originator: u32,
    /// Name of the time zone of its times.
    pub zone: String,
}

impl Event {
    /// Its time zone, or 1298.
    pub fn time_zone(&self) -> SqlResult<TimeZone> {
        TimeZone::named(&self.zone)
    }
}
