//! The Gregorian calendar, extended backwards: day numbers, week days, lengths of months.
//! Compat: zero months and days have numbers too, because MariaDB's arithmetic gives them some.

/// Day number of 1970-01-01.
pub(super) const EPOCH_DAY: i64 = 719_528;
/// Day number of 9999-12-31.
pub(super) const MAX_DAY: i64 = 3_652_424;

/// Whether a year has a 29th of February.
pub const fn is_leap_year(year: u32) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || (year.is_multiple_of(400) && year > 0))
}

/// Number of days of a month; month zero has 0.
pub const fn days_in_month(year: u32, month: u32) -> u32 {
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + is_leap_year(year) as u32,
        _ => 0,
    }
}

/// Number of days of a year.
pub(super) const fn days_in_year(year: u32) -> u32 {
    365 + is_leap_year(year) as u32
}

/// The day number as `TO_DAYS` counts; zero parts count as in MariaDB.
///
/// Compat: `0000-00-00` is day 0, and a zero month or day extrapolates backwards.
pub(super) fn day_number(year: u32, month: u32, day: u32) -> i64 {
    if year == 0 && month == 0 {
        return 0;
    }
    let (mut y, month, day) = (i64::from(year), i64::from(month), i64::from(day));
    let mut days = 365 * y + 31 * (month - 1) + day;
    if month <= 2 {
        y -= 1;
    } else {
        days -= (month * 4 + 23) / 10;
    }
    let centuries = (y / 100 + 1) * 3 / 4;
    days + y / 4 - centuries
}

/// Year, month and day of a day number; zeros outside 0000-03-01..9999-12-31, as in `FROM_DAYS`.
pub(super) fn from_day_number(day: i64) -> Option<(u32, u32, u32)> {
    if !(366..=MAX_DAY).contains(&day) {
        return None;
    }
    let mut year = (day * 100 / 36525) as u32;
    let passed = |y: u32| i64::from((y.wrapping_sub(1) / 100 + 1) * 3 / 4);
    let mut in_year = day - i64::from(year) * 365 - i64::from((year - 1) / 4) + passed(year);
    while in_year > i64::from(days_in_year(year)) {
        in_year -= i64::from(days_in_year(year));
        year += 1;
    }
    let mut rest = in_year as u32;
    let mut month = 1;
    while rest > days_in_month(year, month) {
        rest -= days_in_month(year, month);
        month += 1;
    }
    Some((year, month, rest))
}

/// 0 for Monday to 6 for Sunday.
pub(super) fn weekday(day_number: i64) -> u32 {
    (day_number + 5).rem_euclid(7) as u32
}
