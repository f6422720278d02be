//! Times of headers, names and strings as text.
//!
//! Must not know events.

/// Days from the first of March of the year 0 to the first day of 1970.
const DAYS_BEFORE_1970: u64 = 719_468;
/// Days of 400 years, of 100 and of four that have no leap day at their end.
const DAYS_400: u64 = 146_097;
const DAYS_100: u64 = 36_524;
const DAYS_4: u64 = 1460;

/// A time as `yymmdd hh:mm:ss` in UTC, the hour with a space for a leading zero.
pub(super) fn time(seconds: u32) -> String {
    let (year, month, day) = civil(u64::from(seconds / 86_400));
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{:02}{month:02}{day:02} {hour:2}:{minute:02}:{second:02}", year % 100)
}

/// Year, month and day of a day since 1970. Years begin in March, so that leap days are last.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + DAYS_BEFORE_1970;
    let (era, of_era) = (days / DAYS_400, days % DAYS_400);
    let leaps = of_era / DAYS_4 + of_era / (DAYS_400 - 1) - of_era / DAYS_100;
    let year_of_era = (of_era - leaps.min(of_era)) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

/// Appends a name in backticks.
pub(super) fn put_name(out: &mut Vec<u8>, name: &[u8]) {
    out.push(b'`');
    for byte in name {
        out.push(*byte);
        if *byte == b'`' {
            out.push(b'`');
        }
    }
    out.push(b'`');
}

/// Appends a string in quotes; bytes below the space are written as `\xNN`, no others.
pub(super) fn put_string(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'\'');
    for byte in text {
        match byte {
            0..0x20 => out.extend_from_slice(format!("\\x{byte:02x}").as_bytes()),
            byte => out.push(*byte),
        }
    }
    out.push(b'\'');
}

/// Bytes as hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        assert_eq!(time(0), "700101  0:00:00");
        assert_eq!(time(951_782_400), "000229  0:00:00");
        assert_eq!(time(1_700_000_000), "231114 22:13:20");
        assert_eq!(time(1_709_164_800), "240229  0:00:00");
        assert_eq!(time(1_735_603_199), "241230 23:59:59");
        assert_eq!(time(u32::MAX), "060207  6:28:15");
    }
}
