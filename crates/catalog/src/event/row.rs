//! Events as rows of `mysql.event`, which any statement may have written.
//!
//! Must not know where rows come from.

use selkie_types::error::catalogue::{ER_EVENT_INVALID_CREATION_CTX, ER_EVENT_OPEN_TABLE_FAILED};
use selkie_types::temporal::{IntervalUnit, MICROS_PER_SECOND};
use selkie_types::{DateTime, SqlError, SqlResult, Value};

use super::{Event, EventStatus, Timing};
use crate::ProgramContext;

/// The columns of `mysql.event` in their order.
pub const COLUMNS: [&str; 22] = [
    "db",
    "name",
    "body",
    "definer",
    "execute_at",
    "interval_value",
    "interval_field",
    "created",
    "modified",
    "last_executed",
    "starts",
    "ends",
    "status",
    "on_completion",
    "sql_mode",
    "comment",
    "originator",
    "time_zone",
    "character_set_client",
    "collation_connection",
    "db_collation",
    "body_utf8",
];

/// Members of the column `interval_field`.
const UNITS: [IntervalUnit; 20] = [
    IntervalUnit::Year,
    IntervalUnit::Quarter,
    IntervalUnit::Month,
    IntervalUnit::Day,
    IntervalUnit::Hour,
    IntervalUnit::Minute,
    IntervalUnit::Week,
    IntervalUnit::Second,
    IntervalUnit::Microsecond,
    IntervalUnit::YearMonth,
    IntervalUnit::DayHour,
    IntervalUnit::DayMinute,
    IntervalUnit::DaySecond,
    IntervalUnit::HourMinute,
    IntervalUnit::HourSecond,
    IntervalUnit::MinuteSecond,
    IntervalUnit::DayMicrosecond,
    IntervalUnit::HourMicrosecond,
    IntervalUnit::MinuteMicrosecond,
    IntervalUnit::SecondMicrosecond,
];

/// The time of a number of seconds since 1970 in UTC.
fn time_of(seconds: i64) -> Value {
    let time = seconds.checked_mul(MICROS_PER_SECOND).and_then(DateTime::from_unix_micros);
    time.map_or(Value::Null, Value::DateTime)
}

impl Event {
    /// Its row.
    pub fn to_row(&self) -> Vec<Value> {
        let text = |text: &str| Value::bytes(text);
        let stamp = |micros: i64| time_of(micros.div_euclid(MICROS_PER_SECOND));
        let time = |seconds: Option<i64>| seconds.map_or(Value::Null, time_of);
        let member = |at: Option<usize>| at.map_or(Value::Null, |at| Value::UInt(at as u64 + 1));
        let (at, every, starts, ends) = match self.timing {
            Timing::Once(at) => (Some(at), None, None, None),
            Timing::Every { count, unit, starts, ends } => {
                (None, Some((count, unit)), Some(starts), ends)
            }
        };
        let unit = every.and_then(|(_, unit)| UNITS.iter().position(|known| *known == unit));
        let status = EventStatus::ALL.iter().position(|known| *known == self.status);
        vec![
            text(&self.schema),
            text(&self.name),
            text(&self.body),
            text(&self.context.definer),
            time(at),
            every.map_or(Value::Null, |(count, _)| Value::Int(count.into())),
            member(unit),
            stamp(self.context.created),
            stamp(self.context.modified),
            time(self.last_executed),
            time(starts),
            time(ends),
            member(status),
            member(Some(self.preserve.into())),
            Value::UInt(self.context.sql_mode),
            text(&self.comment),
            Value::UInt(self.originator.into()),
            text(&self.zone),
            text(&self.context.client_charset),
            text(&self.context.connection_collation),
            text(&self.context.database_collation),
            text(&self.body),
        ]
    }

    /// The event of a row. The row may have been written by any statement.
    pub fn from_row(row: &[Value]) -> SqlResult<Self> {
        let row = Row(row);
        let (schema, name) = (row.text(0), row.text(1));
        let invalid = || SqlError::new(&ER_EVENT_INVALID_CREATION_CTX, &[&schema, &name]);
        let timing = match (row.seconds(4), row.number(5), row.number(6)) {
            (Some(at), _, _) => Timing::Once(at),
            (None, Some(count), Some(unit)) => Timing::Every {
                count: u32::try_from(count).map_err(|_| invalid())?,
                unit: member(&UNITS, unit).ok_or_else(invalid)?,
                starts: row.seconds(10).or(row.seconds(7)).unwrap_or_default(),
                ends: row.seconds(11),
            },
            _ => return Err(SqlError::new(&ER_EVENT_OPEN_TABLE_FAILED, &[])),
        };
        let micros = |at| row.seconds(at).unwrap_or_default() * MICROS_PER_SECOND;
        let body = if row.is_null(21) { row.text(2) } else { row.text(21) };
        Ok(Self {
            body,
            context: ProgramContext {
                definer: row.text(3),
                sql_mode: row.number(14).unwrap_or_default() as u64,
                client_charset: row.text(18),
                connection_collation: row.text(19),
                database_collation: row.text(20),
                created: micros(7),
                modified: micros(8),
            },
            timing,
            last_executed: row.seconds(9),
            status: row
                .number(12)
                .and_then(|status| member(&EventStatus::ALL, status))
                .unwrap_or(EventStatus::Disabled),
            preserve: row.number(13) == Some(2),
            comment: row.text(15),
            originator: u32::try_from(row.number(16).unwrap_or_default()).unwrap_or_default(),
            zone: row.text(17),
            schema,
            name,
        })
    }
}

/// The member of an ENUM with this number.
fn member<T: Copy>(members: &[T], number: i64) -> Option<T> {
    members.get(usize::try_from(number).ok()?.checked_sub(1)?).copied()
}

/// Values of a row by column.
struct Row<'a>(&'a [Value]);

impl Row<'_> {
    fn is_null(&self, at: usize) -> bool {
        self.0.get(at).is_none_or(Value::is_null)
    }

    fn text(&self, at: usize) -> String {
        match self.0.get(at) {
            Some(Value::Bytes(bytes)) => String::from_utf8_lossy(bytes).into_owned(),
            _ => String::new(),
        }
    }

    fn number(&self, at: usize) -> Option<i64> {
        match self.0.get(at)? {
            Value::Int(n) => Some(*n),
            Value::UInt(n) => i64::try_from(*n).ok(),
            _ => None,
        }
    }

    fn seconds(&self, at: usize) -> Option<i64> {
        match self.0.get(at)? {
            Value::DateTime(time) if !time.date().has_zero_part() => {
                Some(time.unix_micros().div_euclid(MICROS_PER_SECOND))
            }
            _ => None,
        }
    }
}
