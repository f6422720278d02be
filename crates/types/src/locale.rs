//! Locales: names of months and days (`lc_time_names`), and how `FORMAT()` groups digits.
//!
//! The data was observed on a MariaDB server (`generate/locales.py`).

use std::sync::LazyLock;

use crate::temporal::TimeNames;

/// Grouping of the digits before the point, counted from the right.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Grouping {
    None,
    Threes,
    /// One group of three, then groups of two.
    Indian,
}

/// A locale.
#[derive(Debug)]
pub struct Locale {
    /// Number of the locale in MariaDB.
    pub number: u32,
    /// The name, `en_US`.
    pub name: &'static str,
    /// Names of months and days.
    pub times: TimeNames,
    /// Text between the digits and the fraction.
    pub decimal_point: &'static str,
    /// Text between groups of digits.
    pub separator: &'static str,
    grouping: Grouping,
}

impl PartialEq for Locale {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

static LOCALES: LazyLock<Vec<Locale>> =
    LazyLock::new(|| include_str!("../data/locales.txt").lines().filter_map(read).collect());

impl Locale {
    /// All locales, by number.
    pub fn all() -> &'static [Self] {
        &LOCALES
    }

    /// `en_US`.
    pub fn english() -> &'static Self {
        &LOCALES[0]
    }

    /// The locale with this name; letter case does not count.
    pub fn from_name(name: &str) -> Option<&'static Self> {
        LOCALES.iter().find(|l| l.name.eq_ignore_ascii_case(name))
    }

    /// The locale with a number.
    pub fn from_number(number: u32) -> Option<&'static Self> {
        LOCALES.get(number as usize)
    }

    /// Appends a number given as text (`-1234.50`) with its digits grouped.
    pub fn group_digits(&self, number: &str, out: &mut Vec<u8>) {
        let (whole, fraction) =
            number.split_once('.').map_or((number, None), |(w, f)| (w, Some(f)));
        let digits = whole.trim_start_matches('-');
        out.extend_from_slice(&whole.as_bytes()[..whole.len() - digits.len()]);
        for (i, digit) in digits.bytes().enumerate() {
            if i > 0 && self.starts_group(digits.len() - i) {
                out.extend_from_slice(self.separator.as_bytes());
            }
            out.push(digit);
        }
        if let Some(fraction) = fraction {
            out.extend_from_slice(self.decimal_point.as_bytes());
            out.extend_from_slice(fraction.as_bytes());
        }
    }

    /// Whether a group starts with `left` digits left.
    fn starts_group(&self, left: usize) -> bool {
        match self.grouping {
            Grouping::None => false,
            Grouping::Threes => left.is_multiple_of(3),
            Grouping::Indian => left == 3 || (left > 3 && (left - 3).is_multiple_of(2)),
        }
    }
}

/// A locale from its line of the data.
fn read(line: &'static str) -> Option<Locale> {
    let mut fields = line.split('\t');
    let number = fields.next()?.parse().ok()?;
    let name = fields.next()?;
    let times = TimeNames {
        months: list(fields.next()?)?,
        months_short: list(fields.next()?)?,
        days: list(fields.next()?)?,
        days_short: list(fields.next()?)?,
    };
    // "123<separator>456...012<point>5"
    let sample = fields.next()?;
    let separator = sample.split(|c: char| c.is_ascii_digit()).find(|s| !s.is_empty())?;
    let decimal_point = sample.strip_suffix('5')?.rsplit(|c: char| c.is_ascii_digit()).next()?;
    let groups = sample.split(separator).count();
    let grouping = match groups {
        ..=2 => Grouping::None,
        3..=5 => Grouping::Threes,
        _ => Grouping::Indian,
    };
    Some(Locale { number, name, times, decimal_point, separator, grouping })
}

fn list<const N: usize>(text: &'static str) -> Option<[&'static str; N]> {
    text.split('|').collect::<Vec<_>>().try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(locale: &str, number: &str) -> String {
        let mut out = Vec::new();
        Locale::from_name(locale).unwrap().group_digits(number, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn all_lines_are_read() {
        assert_eq!(Locale::all().len(), 112);
        for (i, locale) in Locale::all().iter().enumerate() {
            assert_eq!(locale.number as usize, i);
        }
        assert_eq!(Locale::english().times.months, TimeNames::ENGLISH.months);
        assert_eq!(Locale::from_name("de_de").unwrap().times.days[2], "Mittwoch");
    }

    #[test]
    fn digits_are_grouped() {
        assert_eq!(format("en_US", "-1234567.891"), "-1,234,567.891");
        assert_eq!(format("de_DE", "123.5"), "123,5");
        assert_eq!(format("de_DE", "1234"), "1.234");
        assert_eq!(format("ta_IN", "12345678"), "1,23,45,678");
        assert_eq!(format("nl_NL", "12345678.5"), "12345678,5");
        assert_eq!(format("de_CH", "1234.5"), "1'234.5");
    }
}
