//! Date and time in messages and reports.
//!
//! Must not be used for results of SQL functions.

use std::time::SystemTime;

/// Local date and time to the second.
pub(crate) fn local_datetime(at: SystemTime) -> String {
    let stamp = jiff::Timestamp::try_from(at).unwrap_or_default();
    let local = stamp.to_zoned_datetime(jiff::tz::TimeZone::system());
    local.strftime("%Y-%m-%d %H:%M:%S").to_string()
}
