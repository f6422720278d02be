//! Partitions by SYSTEM_TIME: the rule by which rows of history go from one partition to the next.
//! Serialized types here are part of the dictionary's stored format. No row is routed here.

use std::fmt::Write;

use selkie_expr::TimeZone;
use selkie_types::temporal::{Interval, IntervalUnit, MICROS_PER_SECOND};
use selkie_types::{DateTime, Value};
use serde::{Deserialize, Serialize};

use crate::{PartitionLimit, Partitioning, TableInfo, smallest_unit};

/// The rule by which rows of history fill partitions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rotation {
    /// The end of a partition.
    pub by: RotateBy,
    /// `AUTO`: partitions are added when the last one is full.
    #[serde(default)]
    pub auto: bool,
}

/// The end of a history partition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum RotateBy {
    /// None: there is one.
    Nothing,
    /// A number of rows.
    Rows(u64),
    /// A time.
    Interval(HistoryInterval),
}

/// Length of the time that one history partition covers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HistoryInterval {
    /// Number of the smallest units of `unit`.
    pub count: u32,
    /// Name of the unit as it was written.
    pub unit: String,
    /// The first time, in seconds since 1970.
    pub starts: i64,
}

impl HistoryInterval {
    fn unit(&self) -> IntervalUnit {
        IntervalUnit::from_name(&self.unit).unwrap_or(IntervalUnit::Second)
    }

    /// The end of a partition that begins at `from`; `None` if no TIMESTAMP can hold it.
    ///
    /// Compat: months are those of UTC, whatever the session's time zone is.
    pub fn after(&self, from: i64) -> Option<i64> {
        let step = Interval::new(smallest_unit(self.unit()).0, i64::from(self.count));
        let from = DateTime::from_unix_micros(from * MICROS_PER_SECOND)?;
        let end = from.add_interval(step)?.unix_micros().div_euclid(MICROS_PER_SECOND);
        (end <= i64::from(i32::MAX)).then_some(end)
    }

    /// The interval as a clause.
    fn clause(&self) -> String {
        let (count, unit) = (self.count, self.unit());
        let two = |n: u32| format!("{n:02}");
        use IntervalUnit as U;
        let text = match unit {
            U::YearMonth => format!("{}-{}", count / 12, two(count % 12)),
            U::DayHour => format!("{} {}", count / 24, count % 24),
            U::HourMinute => format!("{}:{}", count / 60, two(count % 60)),
            U::MinuteSecond => format!("{}:{}", count / 60, two(count % 60)),
            U::DayMinute => {
                format!("{} {}:{}", count / 1440, count / 60 % 24, two(count % 60))
            }
            U::HourSecond => {
                format!("{}:{}:{}", count / 3600, two(count / 60 % 60), two(count % 60))
            }
            U::DaySecond => format!(
                "{} {}:{}:{}",
                count / 86400,
                count / 3600 % 24,
                two(count / 60 % 60),
                two(count % 60)
            ),
            unit => return format!("{count} {}", smallest_unit(unit).0.name()),
        };
        format!("'{text}' {}", unit.name())
    }
}

impl Rotation {
    /// The clause behind SYSTEM_TIME. Times are shown in `zone`.
    pub(crate) fn clause(&self, zone: &TimeZone) -> String {
        let mut out = match &self.by {
            RotateBy::Nothing => String::new(),
            RotateBy::Rows(rows) => format!("LIMIT {rows}"),
            RotateBy::Interval(interval) => {
                let starts = shown_time(interval.starts, zone);
                format!("INTERVAL {} STARTS TIMESTAMP'{starts}'", interval.clause())
            }
        };
        if self.auto {
            let _ = write!(out, " AUTO");
        }
        out
    }
}

/// A time in seconds since 1970 as text.
pub(crate) fn shown_time(at: i64, zone: &TimeZone) -> String {
    let local = zone.local_from_micros(at * MICROS_PER_SECOND);
    local.map(|local| local.to_string()).unwrap_or_default()
}

/// A time in seconds since 1970 as a value of a TIMESTAMP column.
pub fn timestamp_value(at: i64) -> Value {
    DateTime::from_unix_micros(at * MICROS_PER_SECOND).map_or(Value::Null, Value::DateTime)
}

impl TableInfo {
    /// The rule for history, if the table is partitioned by SYSTEM_TIME.
    pub fn rotation(&self) -> Option<&Rotation> {
        self.partitions.as_ref()?.rotation()
    }
}

impl Partitioning {
    /// The rule for history, if the table is partitioned by SYSTEM_TIME.
    pub fn rotation(&self) -> Option<&Rotation> {
        self.method.rotation.as_ref()
    }

    /// Ends of the history partitions that rotate by time, in seconds since 1970.
    pub fn history_ends(&self) -> impl Iterator<Item = i64> {
        self.parts.iter().filter_map(|part| match part.limit {
            PartitionLimit::History(end) => end,
            _ => None,
        })
    }
}
