//! Status variables as rows of names and values.
//!
//! Must not check privileges.

use hashbrown::HashMap;

use super::counters::{Counters, Totals};
use super::list::{StatusDef, StatusScope, shown_statuses};

/// Measured values by name in lower case. They replace the counters of the same name.
pub type Gauges = HashMap<String, String>;

fn text(def: &StatusDef, count: u64, gauges: &Gauges) -> String {
    if let Some(value) = gauges.get(&def.name.to_ascii_lowercase()) {
        return value.clone();
    }
    match count {
        0 => def.initial.to_owned(),
        micros if def.is_time => format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000),
        count => count.to_string(),
    }
}

/// The rows of SHOW GLOBAL STATUS, without those that `wanted` leaves out by their places in the
/// list.
pub fn global_rows(
    totals: &Totals,
    gauges: &Gauges,
    wanted: &dyn Fn(usize) -> bool,
) -> Vec<(&'static str, String)> {
    rows(wanted, |d| text(d, totals.get(d.id), gauges))
}

/// The rows of SHOW SESSION STATUS; `wanted` as above.
pub fn session_rows(
    session: &Counters,
    totals: &Totals,
    gauges: &Gauges,
    wanted: &dyn Fn(usize) -> bool,
) -> Vec<(&'static str, String)> {
    let count = |d: &StatusDef| match d.scope {
        StatusScope::Session | StatusScope::Hidden => session.get(d.id),
        StatusScope::Global => totals.get(d.id),
    };
    rows(wanted, |d| text(d, count(d), gauges))
}

fn rows(
    wanted: &dyn Fn(usize) -> bool,
    value: impl Fn(&StatusDef) -> String,
) -> Vec<(&'static str, String)> {
    let all = shown_statuses().iter().enumerate().filter(|(at, _)| wanted(*at));
    all.map(|(_, d)| (d.name, value(d))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::counter;

    #[test]
    fn sums_and_gauges() {
        let (a, b) = (Counters::default(), Counters::default());
        a.add(counter().questions, 2);
        b.bump(counter().questions);
        let totals = Totals::of([&a, &b].into_iter());
        let gauges = Gauges::from([("uptime".to_owned(), "5".to_owned())]);
        let value = |rows: &[(&'static str, String)], name: &str| {
            rows.iter().find(|(n, _)| *n == name).map(|(_, v)| v.clone())
        };
        let global = global_rows(&totals, &gauges, &|_| true);
        assert_eq!(value(&global, "Questions").as_deref(), Some("3"));
        assert_eq!(value(&global, "Uptime").as_deref(), Some("5"));
        assert_eq!(value(&global, "Compression").as_deref(), Some("OFF"));
        let session = session_rows(&a, &totals, &gauges, &|_| true);
        assert_eq!(value(&session, "Questions").as_deref(), Some("2"));
    }
}
