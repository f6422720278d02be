//! Tests of temporal values: results observed on a MariaDB server, and properties.
//! Expected values must come from MariaDB, never from this code.

use proptest::prelude::*;

use super::*;

fn datetime(text: &str) -> Option<String> {
    DateTime::parse(text.as_bytes(), DateOptions::LENIENT).value.map(|v| v.to_string())
}

fn time(text: &str) -> Option<String> {
    Time::parse(text.as_bytes(), DateOptions::LENIENT).value.map(|v| v.to_string())
}

fn dt(text: &str) -> DateTime {
    DateTime::parse(text.as_bytes(), DateOptions::LENIENT).value.unwrap()
}

#[test]
fn dates_from_text() {
    let cases = [
        ("2024-01-31", "2024-01-31 00:00:00"),
        ("24-1-2", "2024-01-02 00:00:00"),
        ("124-1-2", "0124-01-02 00:00:00"),
        ("00-1-1", "2000-01-01 00:00:00"),
        ("00-00-00", "0000-00-00 00:00:00"),
        ("70-1-1", "1970-01-01 00:00:00"),
        ("240131", "2024-01-31 00:00:00"),
        ("24013", "2024-01-03 00:00:00"),
        ("20240131T101112", "2024-01-31 10:11:12"),
        ("20240131101112.5", "2024-01-31 10:11:12.500000"),
        ("2024-01-31T10:11:12", "2024-01-31 10:11:12"),
        ("2024-01-31 10:", "2024-01-31 10:00:00"),
        ("2024^01@31 10*11+12", "2024-01-31 10:11:12"),
        ("2024-01-31 10:11:12.1234567", "2024-01-31 10:11:12.123456"),
        ("2024-01-31.5", "2024-01-31 05:00:00"),
        ("2024-02-00", "2024-02-00 00:00:00"),
        ("2024-01-31 x", "2024-01-31 00:00:00"),
        (" 2024-01-31 ", "2024-01-31 00:00:00"),
    ];
    for (text, expected) in cases {
        assert_eq!(datetime(text).as_deref(), Some(expected), "{text}");
    }
    let bad = [
        "",
        "x",
        "2024--01--31",
        "2024-02-30",
        "2024-13-01",
        "2024-01-31 24:00:00",
        "2024",
        "20240131.5",
        "99999-01-01",
        "-2024-01-31",
        "2024013110",
        "20240131 101112",
    ];
    for text in bad {
        assert_eq!(datetime(text), None, "{text}");
    }
}

#[test]
fn what_reading_reports() {
    let parse = |t: &str| DateTime::parse(t.as_bytes(), DateOptions::LENIENT);
    assert!(parse("2024-01-31x").truncated && parse("2024-01-31x").date_only);
    assert!(parse("2024-01-31 10:11:12,5").truncated);
    assert!(parse("2024-01-31 10:11:12.1234567").fraction_cut);
    assert!(!parse("2024-01-31 10:11:12. ").truncated);
    let strict = DateOptions { no_zero_date: true, no_zero_in_date: true, ..Default::default() };
    assert!(DateTime::parse(b"0000-00-00", strict).value.is_none());
    assert!(DateTime::parse(b"2024-00-01", strict).value.is_none());
    let round = DateOptions { round: true, ..Default::default() };
    let rounded = DateTime::parse(b"2024-12-31 23:59:59.9999995", round).value.unwrap();
    assert_eq!(rounded.to_string(), "2025-01-01 00:00:00");
}

#[test]
fn times_from_text() {
    let cases = [
        ("10:11", "10:11:00"),
        ("10", "00:00:10"),
        ("-101112.5", "-10:11:12.500000"),
        ("1 10", "34:00:00"),
        ("1 10:11:12", "34:11:12"),
        ("35 00:00:00", "838:59:59.999999"),
        ("2024-01-31 10:11:12", "10:11:12"),
        ("10:11:12 1", "01:00:00"),
        ("2024-01-31", "00:20:24"),
        ("1 -10:11:12", "00:00:01"),
        ("10::11", "00:00:10"),
        ("2024-02-30 10:11:12", "10:11:12"),
        ("1e", "00:00:01"),
    ];
    for (text, expected) in cases {
        assert_eq!(time(text).as_deref(), Some(expected), "{text}");
    }
    for text in ["", ":10", "10:60:00", "106000", "1e5", "10:11:12.5e5", "-2024-01-31 10:11:12"] {
        assert_eq!(time(text), None, "{text}");
    }
}

#[test]
fn numbers() {
    let of = |n| DateTime::from_number(n, 0, DateOptions::LENIENT).value.map(|v| v.to_string());
    assert_eq!(of(101).as_deref(), Some("2000-01-01 00:00:00"));
    assert_eq!(of(991231235959).as_deref(), Some("1999-12-31 23:59:59"));
    assert_eq!(of(691232), None);
    assert_eq!(of(1), None);
    let time = |n| Time::from_number(false, n, 0);
    assert_eq!(time(8385959).value, Some(Time(Time::MAX.0 - 999_999)));
    assert_eq!(time(8390000).value, Some(Time::MAX));
    assert_eq!(time(60).value, None);
    assert_eq!(time(20240230).value, Some(Time::ZERO));
    assert_eq!(dt("2024-01-31 10:11:12.5").to_decimal().to_string(), "20240131101112.500000");
    assert_eq!(Time::from_parts(true, 1, 2, 3, 0).to_decimal().to_string(), "-10203.000000");
}

#[test]
fn intervals() {
    let add =
        |text: &str, unit, n| dt(text).add_interval(Interval::new(unit, n)).map(|v| v.to_string());
    assert_eq!(add("2024-01-31", IntervalUnit::Month, 1).as_deref(), Some("2024-02-29 00:00:00"));
    assert_eq!(add("2024-02-29", IntervalUnit::Year, -1).as_deref(), Some("2023-02-28 00:00:00"));
    assert_eq!(add("9999-12-31", IntervalUnit::Day, 1), None);
    assert_eq!(add("0000-00-00", IntervalUnit::Day, 1), None);
    let day_second = Interval::parse(IntervalUnit::DaySecond, b"-1 1:1:1").unwrap();
    assert_eq!(day_second.micros, -90_061_000_000);
    let short = Interval::parse(IntervalUnit::DayMicrosecond, b"1:1.5").unwrap();
    assert_eq!(short.micros, 61_500_000);
    assert_eq!(
        IntervalUnit::from_name("second_microsecond"),
        Some(IntervalUnit::SecondMicrosecond)
    );
    let diff = |a: &str, b: &str, unit| dt(a).diff(dt(b), unit);
    assert_eq!(diff("2024-01-31", "2024-02-29", IntervalUnit::Month), Some(0));
    assert_eq!(diff("2024-03-31", "2024-02-29", IntervalUnit::Month), Some(-1));
    assert_eq!(diff("2000-02-29", "2024-02-28", IntervalUnit::Year), Some(23));
}

#[test]
fn formats() {
    let format = |text: &str, f: &str| {
        let mut out = Vec::new();
        dt(text).format(f.as_bytes(), &TimeNames::ENGLISH, &mut out)?;
        String::from_utf8(out).ok()
    };
    let f = "%a %b %c %D %d %e %f %H %h %i %j %k %l %M %m %p %r %S %T %U %u %V %v %W %w %X %x %Y %y %% %q";
    let expected = "Sun Jan 1 3rd 03 3 000007 14 02 05 003 14 2 January 01 PM 02:05:06 PM 06 14:05:06 \
        01 00 01 53 Sunday 0 2010 2009 2010 10 % q";
    assert_eq!(format("2010-01-03 14:05:06.000007", f).as_deref(), Some(expected));
    assert_eq!(format("2010-00-00", "%M"), None);
    let mut out = Vec::new();
    Time(-90_061_000_000).format(b"%H:%i %h %p", &TimeNames::ENGLISH, &mut out);
    assert_eq!(out, b"-25:01 01 AM");
}

#[test]
fn reading_by_format() {
    let read = |t: &str, f: &str| {
        str_to_date(t.as_bytes(), f.as_bytes(), &TimeNames::ENGLISH, DateOptions::LENIENT)
            .map(|v| format!("{} {}", v.date, v.time))
    };
    assert_eq!(read("31.01.2024 10:11", "%d.%m.%Y %H:%i").as_deref(), Some("2024-01-31 10:11:00"));
    assert_eq!(read("Feb 3 24", "%b %e %y").as_deref(), Some("2024-02-03 00:00:00"));
    assert_eq!(read("10:11:12 PM", "%r").as_deref(), Some("0000-00-00 22:11:12"));
    assert_eq!(read("2024 60", "%Y %j").as_deref(), Some("2024-02-29 00:00:00"));
    assert_eq!(read("200442 Monday", "%X%V %W").as_deref(), Some("2004-10-18 00:00:00"));
    assert_eq!(read("x", "%d"), None);
    assert_eq!(FormatKind::of(b"%H:%i:%s.%f"), (FormatKind::Time, true));
}

#[test]
fn weeks() {
    let week = |y, m, d, mode| Date::from_parts(y, m, d).week(WeekMode::new(mode));
    assert_eq!(week(2008, 2, 20, 0), (7, 2008));
    assert_eq!(week(2008, 2, 20, 1), (8, 2008));
    assert_eq!(week(2008, 12, 31, 1), (53, 2008));
    assert_eq!(week(2000, 1, 1, 0), (0, 2000));
    assert_eq!(week(2000, 1, 1, 2), (52, 1999));
    assert_eq!(week(2008, 12, 31, 3), (1, 2009));
}

proptest! {
    #[test]
    fn day_numbers_round_trip(day in 366i64..=3_652_424) {
        let date = Date::from_day_number(day).unwrap();
        prop_assert_eq!(date.day_number(), day);
        prop_assert!(date.is_valid(DateOptions::REAL));
        prop_assert!(Date::from_day_number(day + 1).is_none_or(|next| next > date));
    }

    #[test]
    fn text_round_trips(micros in 366 * MICROS_PER_DAY..3_652_424 * MICROS_PER_DAY) {
        let v = DateTime::from_linear_micros(micros).unwrap();
        prop_assert_eq!(v.linear_micros(), micros);
        prop_assert_eq!(DateTime::parse(v.to_string().as_bytes(), DateOptions::REAL).value, Some(v));
        if v.year() >= 1000 {
            let number = v.to_decimal();
            prop_assert_eq!(DateTime::from_decimal(number, DateOptions::REAL).value, Some(v));
        }
        prop_assert_eq!(DateTime::from_unix_micros(v.unix_micros()), Some(v));
    }

    #[test]
    fn order_is_time_order(a in 366i64..3_652_000, b in 366i64..3_652_000, ma: u32, mb: u32) {
        let at = |day: i64, m: u32| day * MICROS_PER_DAY + i64::from(m) * 20;
        let (a, b) = (at(a, ma), at(b, mb));
        let v = |m| DateTime::from_linear_micros(m).unwrap();
        prop_assert_eq!(v(a).cmp(&v(b)), a.cmp(&b));
        prop_assert_eq!(v(a).diff(v(b), IntervalUnit::Microsecond), Some(b - a));
    }

    #[test]
    fn times_round_trip(micros in Time::MIN.0..=Time::MAX.0) {
        let v = Time(micros);
        prop_assert_eq!(Time::parse(v.to_string().as_bytes(), DateOptions::LENIENT).value, Some(v));
        prop_assert_eq!(Time::from_decimal(v.to_decimal(), false).value, Some(v));
    }

    #[test]
    fn nothing_panics(text in "[0-9:. T/+e-]{0,20}", format in "[%a-zA-Z0-9:. -]{0,12}") {
        let v = DateTime::parse(text.as_bytes(), DateOptions::LENIENT).value;
        let t = Time::parse(text.as_bytes(), DateOptions::LENIENT).value;
        let mut out = Vec::new();
        let _ = v.map(|v| v.format(format.as_bytes(), &TimeNames::ENGLISH, &mut out));
        let _ = t.map(|v| v.format(format.as_bytes(), &TimeNames::ENGLISH, &mut out));
        let names = &TimeNames::ENGLISH;
        let _ = str_to_date(text.as_bytes(), format.as_bytes(), names, DateOptions::LENIENT);
    }
}
