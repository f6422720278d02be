//! Events as SHOW CREATE EVENT and `information_schema.EVENTS` show them. Times are those of the
//! event's own time zone.

use std::fmt::Write;

use selkie_types::temporal::{IntervalUnit, MICROS_PER_SECOND};
use selkie_types::{SqlError, SqlMode, SqlResult, Value, quote_string};

use super::{Event, Timing};

impl Event {
    /// The amount of its interval as it is written with its unit.
    fn amount(&self) -> SqlResult<Option<(String, &'static str)>> {
        let Timing::Every { count, unit, .. } = self.timing else { return Ok(None) };
        if unit.has_micros() {
            return Err(SqlError::not_supported("MICROSECOND"));
        }
        Ok(Some((amount(count, unit), unit.name())))
    }

    /// Its clauses behind its name.
    pub fn clauses(&self) -> SqlResult<String> {
        let zone = self.time_zone()?;
        let time = |seconds: i64| {
            let local = zone.local_from_micros(seconds.saturating_mul(MICROS_PER_SECOND));
            local.map(|time| time.to_string()).unwrap_or_default()
        };
        let mut text = " ON SCHEDULE ".to_owned();
        match (self.timing, self.amount()?) {
            (Timing::Every { starts, ends, .. }, Some((amount, unit))) => {
                let _ = write!(text, "EVERY {amount} {unit} STARTS '{}'", time(starts));
                if let Some(ends) = ends {
                    let _ = write!(text, " ENDS '{}'", time(ends));
                }
            }
            (Timing::Once(at), _) => {
                let _ = write!(text, "AT '{}'", time(at));
            }
            (Timing::Every { .. }, None) => {}
        }
        let kept = if self.preserve { "PRESERVE" } else { "NOT PRESERVE" };
        let _ = write!(text, " ON COMPLETION {kept} {}", self.status.clause());
        if !self.comment.is_empty() {
            let _ = write!(text, " COMMENT {}", quote_string(&self.comment));
        }
        let _ = write!(text, " DO {}", self.body);
        Ok(text)
    }

    /// Its row of `information_schema.EVENTS`.
    pub fn information_row(&self) -> SqlResult<Vec<Value>> {
        let zone = self.time_zone()?;
        let text = |text: &str| Value::bytes(text);
        let local =
            |micros: i64| zone.local_from_micros(micros).map_or(Value::Null, Value::DateTime);
        let time = |seconds: Option<i64>| {
            seconds.map_or(Value::Null, |seconds| local(seconds.saturating_mul(MICROS_PER_SECOND)))
        };
        let (at, starts, ends) = match self.timing {
            Timing::Once(at) => (Some(at), None, None),
            Timing::Every { starts, ends, .. } => (None, Some(starts), ends),
        };
        let (amount, unit) = match self.amount()? {
            Some((amount, unit)) => (Value::bytes(amount), text(unit)),
            None => (Value::Null, Value::Null),
        };
        let mode = SqlMode::from_bits(self.context.sql_mode).unwrap_or_default();
        Ok(vec![
            text("def"),
            text(&self.schema),
            text(&self.name),
            text(&self.context.definer),
            text(&self.zone),
            text("SQL"),
            text(&self.body),
            text(if at.is_some() { "ONE TIME" } else { "RECURRING" }),
            time(at),
            amount,
            unit,
            Value::bytes(mode.to_string()),
            time(starts),
            time(ends),
            text(self.status.name()),
            text(if self.preserve { "PRESERVE" } else { "NOT PRESERVE" }),
            local(self.context.created),
            local(self.context.modified),
            time(self.last_executed),
            text(&self.comment),
            Value::Int(self.originator.into()),
            text(&self.context.client_charset),
            text(&self.context.connection_collation),
            text(&self.context.database_collation),
        ])
    }
}

/// A number of smallest units as an amount of `unit`.
fn amount(count: u32, unit: IntervalUnit) -> String {
    use IntervalUnit as U;
    let (minutes, hours) = (count / 60, count / 3_600);
    match unit {
        U::Quarter => (count / 3).to_string(),
        U::Week => (count / 7).to_string(),
        U::YearMonth => format!("'{}-{}'", count / 12, count % 12),
        U::DayHour => format!("'{} {}'", count / 24, count % 24),
        U::DayMinute => format!("'{} {}:{}'", count / 1_440, minutes % 24, count % 60),
        U::DaySecond => {
            format!("'{} {}:{}:{}'", count / 86_400, hours % 24, minutes % 60, count % 60)
        }
        U::HourMinute => format!("'{minutes}:{}'", count % 60),
        U::HourSecond => format!("'{hours}:{}:{}'", minutes % 60, count % 60),
        U::MinuteSecond => format!("'{minutes}:{}'", count % 60),
        _ => count.to_string(),
    }
}
