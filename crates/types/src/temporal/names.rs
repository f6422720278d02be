//! Names of months and days.
//! The languages themselves are in `locale.rs`.

/// Names in one language (`lc_time_names`).
#[derive(Debug)]
pub struct TimeNames {
    /// January to December.
    pub months: [&'static str; 12],
    /// Short names of the months.
    pub months_short: [&'static str; 12],
    /// Monday to Sunday.
    pub days: [&'static str; 7],
    /// Short names of the days.
    pub days_short: [&'static str; 7],
}

impl TimeNames {
    /// `en_US`.
    pub const ENGLISH: Self = Self {
        months: [
            "January",
            "February",
            "March",
            "April",
            "May",
            "June",
            "July",
            "August",
            "September",
            "October",
            "November",
            "December",
        ],
        months_short: [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ],
        days: ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"],
        days_short: ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"],
    };
}
