//! Next due times: examples at changes of the clock, and all units over 20 zones and 30 years.
//! A time must be a function of definition, zone and clock alone.

use selkie_expr::TimeZone;
use selkie_types::DateTime;
use selkie_types::temporal::{IntervalUnit, MICROS_PER_SECOND};

use crate::{Event, EventStatus, ProgramContext, Timing};

fn event(timing: Timing) -> Event {
    Event {
        schema: "s".to_owned(),
        name: "e".to_owned(),
        body: "DO 1".to_owned(),
        context: ProgramContext {
            definer: "root@localhost".to_owned(),
            sql_mode: 0,
            client_charset: "utf8mb4".to_owned(),
            connection_collation: "utf8mb4_general_ci".to_owned(),
            database_collation: "utf8mb4_general_ci".to_owned(),
            created: 0,
            modified: 0,
        },
        timing,
        last_executed: None,
        status: EventStatus::Enabled,
        preserve: false,
        comment: String::new(),
        originator: 1,
        zone: "SYSTEM".to_owned(),
    }
}

fn every(count: u32, unit: IntervalUnit, starts: i64) -> Event {
    event(Timing::Every { count, unit, starts, ends: None })
}

fn seconds(zone: &TimeZone, local: &str) -> i64 {
    let (date, time) = local.split_once(' ').unwrap();
    let number = |text: &str| text.parse::<u32>().unwrap();
    let date: Vec<u32> = date.split('-').map(number).collect();
    let time: Vec<u32> = time.split(':').map(number).collect();
    let date = selkie_types::Date::from_parts(date[0], date[1], date[2]);
    let of_day = i64::from(time[0] * 3_600 + time[1] * 60 + time[2]) * MICROS_PER_SECOND;
    zone.micros_from_local(DateTime::from_date_and_micros(date, of_day)) / MICROS_PER_SECOND
}

fn local(zone: &TimeZone, at: i64) -> String {
    zone.local_from_micros(at * MICROS_PER_SECOND).unwrap().to_string()
}

/// The local times of the first runs after `after`.
fn runs(event: &Event, zone: &TimeZone, after: &str, count: usize) -> Vec<String> {
    let mut at = seconds(zone, after);
    let mut all = Vec::new();
    for _ in 0..count {
        at = event.next_after(zone, at).unwrap();
        all.push(local(zone, at));
    }
    all
}

#[test]
fn an_event_that_runs_once_is_never_too_late() {
    let zone = TimeZone::utc();
    let once = event(Timing::Once(100));
    assert_eq!(once.next_after(&zone, 5), Some(100));
    assert_eq!(once.next_after(&zone, 500), Some(100));
}

#[test]
fn the_first_time_is_the_start_and_the_last_not_after_the_end() {
    let zone = TimeZone::utc();
    let timing =
        Timing::Every { count: 10, unit: IntervalUnit::Second, starts: 100, ends: Some(120) };
    let event = event(timing);
    let next = |after| event.next_after(&zone, after);
    assert_eq!((next(0), next(99)), (Some(100), Some(100)));
    assert_eq!((next(100), next(105), next(110)), (Some(110), Some(110), Some(120)));
    assert_eq!((next(119), next(120)), (Some(120), None));
    assert!(timing.is_over(121) && !timing.is_over(120));
}

#[test]
fn missed_times_cost_nothing() {
    let zone = TimeZone::utc();
    let event = every(1, IntervalUnit::Second, 0);
    assert_eq!(event.next_after(&zone, 2_000_000_000), Some(2_000_000_001));
}

#[test]
fn days_keep_the_time_of_day_when_clocks_change() {
    let zone = TimeZone::named("Europe/Berlin").unwrap();
    let daily = every(1, IntervalUnit::Day, seconds(&zone, "2030-03-28 02:30:00"));
    assert_eq!(
        runs(&daily, &zone, "2030-03-29 12:00:00", 3),
        ["2030-03-30 02:30:00", "2030-03-31 03:00:00", "2030-04-01 02:30:00"]
    );
    let daily = every(1, IntervalUnit::Day, seconds(&zone, "2030-10-25 02:30:00"));
    assert_eq!(
        runs(&daily, &zone, "2030-10-26 01:00:00", 3),
        ["2030-10-26 02:30:00", "2030-10-27 02:30:00", "2030-10-28 02:30:00"]
    );
    let hourly = every(1, IntervalUnit::Hour, seconds(&zone, "2030-10-25 00:30:00"));
    assert_eq!(
        runs(&hourly, &zone, "2030-10-27 01:00:00", 4),
        [
            "2030-10-27 01:30:00",
            "2030-10-27 02:30:00",
            "2030-10-27 02:30:00",
            "2030-10-27 03:30:00"
        ]
    );
}

#[test]
fn months_end_with_their_last_day() {
    let zone = TimeZone::utc();
    let monthly = every(1, IntervalUnit::Month, seconds(&zone, "2023-12-31 10:00:00"));
    assert_eq!(
        runs(&monthly, &zone, "2023-12-31 10:00:00", 4),
        [
            "2024-01-31 10:00:00",
            "2024-02-29 10:00:00",
            "2024-03-31 10:00:00",
            "2024-04-30 10:00:00"
        ]
    );
    let quarterly = every(3, IntervalUnit::Quarter, seconds(&zone, "2023-12-31 10:00:00"));
    assert_eq!(
        runs(&quarterly, &zone, "2024-03-01 00:00:00", 2),
        ["2024-03-31 10:00:00", "2024-06-30 10:00:00"]
    );
    let weekly = every(14, IntervalUnit::Week, seconds(&zone, "2024-01-01 10:00:00"));
    assert_eq!(
        runs(&weekly, &zone, "2024-01-01 10:00:00", 2),
        ["2024-01-15 10:00:00", "2024-01-29 10:00:00"]
    );
    let yearly = every(1, IntervalUnit::Year, seconds(&zone, "2024-02-29 10:00:00"));
    assert_eq!(
        runs(&yearly, &zone, "2024-02-29 10:00:00", 4),
        [
            "2025-02-28 10:00:00",
            "2026-02-28 10:00:00",
            "2027-02-28 10:00:00",
            "2028-02-29 10:00:00"
        ]
    );
}

const ZONES: [&str; 20] = [
    "UTC",
    "Europe/Berlin",
    "Europe/London",
    "Europe/Moscow",
    "America/New_York",
    "America/St_Johns",
    "America/Sao_Paulo",
    "America/Caracas",
    "America/Los_Angeles",
    "Asia/Kolkata",
    "Asia/Kathmandu",
    "Asia/Tehran",
    "Asia/Tokyo",
    "Asia/Gaza",
    "Australia/Lord_Howe",
    "Australia/Adelaide",
    "Pacific/Apia",
    "Pacific/Chatham",
    "Africa/Casablanca",
    "Antarctica/Troll",
];

/// The next time is after the given one; between them there is none; and it is reached from every
/// second before it.
#[test]
fn a_next_time_is_the_first_one() {
    let units = [
        (IntervalUnit::Year, 1),
        (IntervalUnit::Quarter, 3),
        (IntervalUnit::Month, 1),
        (IntervalUnit::Month, 5),
        (IntervalUnit::Week, 7),
        (IntervalUnit::Day, 1),
        (IntervalUnit::Day, 3),
        (IntervalUnit::YearMonth, 14),
        (IntervalUnit::DayHour, 25),
        (IntervalUnit::Hour, 1),
        (IntervalUnit::HourMinute, 90),
        (IntervalUnit::Minute, 7),
        (IntervalUnit::MinuteSecond, 100),
        (IntervalUnit::Second, 1),
    ];
    for name in ZONES {
        let zone = TimeZone::named(name).unwrap();
        let starts = seconds(&zone, "2005-01-31 02:30:00");
        for (unit, count) in units {
            let event = every(count, unit, starts);
            // Steps of about 40 days, which meet every month and every hour of the day.
            let mut after = starts - 10;
            while after < starts + 30 * 365 * 86_400 {
                let next = event.next_after(&zone, after).unwrap();
                assert!(next > after, "{name} {unit:?} {after}");
                let before = event.next_after(&zone, next - 1).unwrap();
                assert_eq!(before, next, "{name} {unit:?} {after}");
                let middle = after + (next - after) / 2;
                let from_middle = event.next_after(&zone, middle).unwrap();
                assert_eq!(from_middle, if middle < next { next } else { from_middle });
                after += 40 * 86_400 + 3_457;
            }
        }
    }
}
