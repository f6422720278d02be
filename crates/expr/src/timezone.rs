//! Time zones: conversions between instants in UTC and local times.
//! The rules for skipped and repeated local times are MariaDB's, not those of the library.

use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone as JiffZone};
use selkie_types::temporal::MICROS_PER_SECOND;
use selkie_types::{DateTime, SqlError, SqlResult};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

/// Names of UTC in the database of zones.
const UTC: [&str; 6] = ["UTC", "UCT", "Zulu", "Etc/UTC", "Etc/UCT", "Etc/Zulu"];

/// A time zone as named in `SET time_zone`.
#[derive(Clone, Debug)]
pub struct TimeZone {
    /// Shared by the statements of the session.
    name: Arc<str>,
    zone: Zone,
    /// A conversion was made since [`TimeZone::begin_statement`]; shared by all clones.
    used: Arc<AtomicBool>,
}

/// Zones of one name are the same zone: comparing their transitions takes longer than planning.
impl PartialEq for TimeZone {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

#[derive(Clone, Debug)]
enum Zone {
    /// A fixed offset from UTC in seconds.
    Fixed(i32),
    Named(JiffZone),
}

impl TimeZone {
    fn new(name: &str, zone: Zone) -> Self {
        Self { name: name.into(), zone, used: Arc::default() }
    }

    /// Forgets what statements before have converted.
    pub fn begin_statement(&self) {
        self.used.store(false, Ordering::Relaxed);
    }

    /// Whether the running statement has converted a time, so that its effect depends on the zone.
    pub fn is_used(&self) -> bool {
        self.used.load(Ordering::Relaxed)
    }

    fn note_use(&self) {
        if !self.is_used() {
            self.used.store(true, Ordering::Relaxed);
        }
    }

    /// The same zone, for the statements of another session.
    pub fn for_another_session(&self) -> Self {
        Self { used: Arc::default(), ..self.clone() }
    }

    /// UTC, whose name is its offset.
    pub fn utc() -> Self {
        Self::new("+00:00", Zone::Fixed(0))
    }

    /// The zone of the machine, named `SYSTEM`. Compat: as it was when the server asked first.
    pub fn system() -> Self {
        static SYSTEM: LazyLock<TimeZone> = LazyLock::new(|| {
            let zone = JiffZone::system();
            let is_utc = zone.iana_name().is_some_and(|name| UTC.contains(&name));
            let zone = match zone.to_fixed_offset() {
                Ok(offset) => Zone::Fixed(offset.seconds()),
                // The database of zones has UTC too, as a zone with transitions.
                Err(_) if is_utc => Zone::Fixed(0),
                Err(_) => Zone::Named(zone),
            };
            TimeZone::new("SYSTEM", zone)
        });
        SYSTEM.for_another_session()
    }

    /// The zone for `SYSTEM`, `[+-]hh:mm` or a name of the time zone database.
    pub fn parse(name: &str) -> Option<Self> {
        if name.eq_ignore_ascii_case("SYSTEM") {
            return Some(Self::system());
        }
        if let Some(seconds) = parse_offset(name) {
            return Some(Self::new(name, Zone::Fixed(seconds)));
        }
        if !name.bytes().next()?.is_ascii_alphabetic() {
            return None;
        }
        let zone = JiffZone::get(name).ok()?;
        Some(Self::new(name, Zone::Named(zone)))
    }

    /// Like [`TimeZone::parse`], with error 1298 for an unknown name.
    pub fn named(name: &str) -> SqlResult<Self> {
        let def = &selkie_types::error::catalogue::ER_UNKNOWN_TIME_ZONE;
        Self::parse(name).ok_or_else(|| SqlError::new(def, &[&name]))
    }

    /// The name as it was given.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Whether local time is UTC.
    pub fn is_utc(&self) -> bool {
        self.note_use();
        matches!(self.zone, Zone::Fixed(0))
    }

    /// The offset from UTC in seconds at an instant.
    pub fn offset_at(&self, unix_micros: i64) -> i64 {
        self.note_use();
        match &self.zone {
            Zone::Fixed(seconds) => i64::from(*seconds),
            Zone::Named(zone) => match Timestamp::from_microsecond(unix_micros) {
                Ok(at) => i64::from(zone.to_offset(at).seconds()),
                Err(_) => 0,
            },
        }
    }

    /// The local time of an instant given in microseconds since 1970.
    pub fn local_from_micros(&self, unix_micros: i64) -> Option<DateTime> {
        let shift = self.offset_at(unix_micros) * MICROS_PER_SECOND;
        DateTime::from_unix_micros(unix_micros.checked_add(shift)?)
    }

    /// The instant of a local time in microseconds since 1970.
    ///
    /// Compat: a local time that the change to summer time skips is the instant of the change; for
    /// a local time that occurs twice, it is the first instant.
    pub fn micros_from_local(&self, local: DateTime) -> i64 {
        match self.instants(local) {
            Instants::One(at) | Instants::None(at) | Instants::Two(at, _) => at,
        }
    }

    /// The instants of a local time in microseconds since 1970.
    pub fn instants(&self, local: DateTime) -> Instants {
        self.note_use();
        let linear = local.unix_micros();
        let Zone::Named(zone) = &self.zone else {
            return Instants::One(linear - self.offset_at(linear) * MICROS_PER_SECOND);
        };
        let civil = Offset::UTC
            .to_datetime(Timestamp::from_microsecond(linear).unwrap_or(Timestamp::UNIX_EPOCH));
        use jiff::tz::AmbiguousOffset::{Fold, Gap, Unambiguous};
        let seconds = |o: Offset| i64::from(o.seconds()) * MICROS_PER_SECOND;
        match zone.to_ambiguous_timestamp(civil).offset() {
            Unambiguous { offset } => Instants::One(linear - seconds(offset)),
            Fold { before, after } => {
                Instants::Two(linear - seconds(before), linear - seconds(after))
            }
            Gap { before, .. } => {
                Instants::None(self.next_transition(zone, linear - seconds(before)))
            }
        }
    }

    /// Whether a local time never occurs, because the clocks are put forward over it.
    pub fn is_skipped(&self, local: DateTime) -> bool {
        matches!(self.instants(local), Instants::None(_))
    }

    /// The last change of the offset at or before an instant just after it.
    fn next_transition(&self, zone: &JiffZone, unix_micros: i64) -> i64 {
        let Ok(after) = Timestamp::from_microsecond(unix_micros + 1) else {
            return unix_micros;
        };
        zone.preceding(after).next().map_or(unix_micros, |t| t.timestamp().as_microsecond())
    }

    /// A TIMESTAMP value, which is in UTC, as local time. The zero date is unchanged.
    pub fn to_local(&self, utc: DateTime) -> DateTime {
        if utc.date().has_zero_part() || self.is_utc() {
            return utc;
        }
        self.local_from_micros(utc.unix_micros()).unwrap_or(utc)
    }

    /// A local time as a TIMESTAMP value; `None` outside its range of years.
    pub fn to_utc(&self, local: DateTime) -> Option<DateTime> {
        match local {
            DateTime::ZERO => Some(local),
            _ => timestamp(self.micros_from_local(local)),
        }
    }
}

/// The TIMESTAMP value of an instant in microseconds since 1970; `None` outside its range of years.
pub fn timestamp(unix_micros: i64) -> Option<DateTime> {
    const LAST: i64 = (i32::MAX as i64 + 1) * MICROS_PER_SECOND;
    let in_range = (MICROS_PER_SECOND..LAST).contains(&unix_micros);
    in_range.then(|| DateTime::from_unix_micros(unix_micros)).flatten()
}

/// The instants of a local time, in microseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instants {
    /// One instant.
    One(i64),
    /// No instant, since the clocks are put forward over it: the instant of that change.
    None(i64),
    /// Two instants, since the clocks are put back over it: the first and the last.
    Two(i64, i64),
}

/// `[+-]h[h]:mm` between -12:59 and +14:00, in seconds.
fn parse_offset(text: &str) -> Option<i32> {
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (hours, minutes) = text[1..].split_once(':')?;
    let digits = |t: &str| t.bytes().all(|b| b.is_ascii_digit()).then(|| t.parse::<i32>().ok())?;
    let (hours, minutes) = (digits(hours)?, digits(minutes)?);
    let seconds = sign * (hours * 3600 + minutes * 60);
    (minutes < 60 && (-12 * 3600 - 3599..=13 * 3600).contains(&seconds)).then_some(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use selkie_types::Date;

    #[test]
    fn offsets() {
        assert_eq!(parse_offset("+02:00"), Some(7200));
        assert_eq!(parse_offset("-5:30"), Some(-19_800));
        assert_eq!(parse_offset("+14:01"), None);
        assert_eq!(parse_offset("0200"), None);
    }

    #[test]
    fn summer_time() {
        let zone = TimeZone::parse("Europe/Berlin").unwrap();
        let local = |h| DateTime::from_parts(Date::from_parts(2020, 3, 29), h, 30, 0, 0);
        let change = DateTime::from_parts(Date::from_parts(2020, 3, 29), 1, 0, 0, 0);
        assert_eq!(zone.to_utc(local(2)), Some(change));
        assert_eq!(zone.to_local(zone.to_utc(local(4)).unwrap()), local(4));
    }
}
