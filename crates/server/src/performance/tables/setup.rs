//! Tables about the choice of events.
//!
//! Must list only instruments and timers that exist here. Consumers are all there, as monitoring
//! programs switch them by their names.

use std::sync::atomic::Ordering::Relaxed;

use selkie_engine::Moment;
use selkie_types::Value;

use super::{Performance, optional, yes_no};
use crate::performance::names::{self, Name};
use crate::performance::setup::{CONSUMERS, Rule, TIMERS};
use crate::tables::{Row, text};

pub(super) fn consumers(performance: &Performance) -> Vec<Row> {
    let row = |(at, name): (usize, &&str)| -> Row {
        vec![("NAME", text(name)), ("ENABLED", yes_no(performance.setup.has_consumer(at)))]
    };
    CONSUMERS.iter().enumerate().map(row).collect()
}

pub(super) fn instruments(performance: &Performance) -> Vec<Row> {
    let row = |(at, name): (usize, &str)| -> Row {
        let switch = performance.setup.instrument(Name(at as u16));
        vec![
            ("NAME", text(name)),
            ("ENABLED", yes_no(switch.enabled)),
            ("TIMED", yes_no(switch.second)),
        ]
    };
    names::instruments().enumerate().map(row).collect()
}

pub(super) fn actors(performance: &Performance) -> Vec<Row> {
    let row = |Rule { key: [host, user, role], switch }: &Rule| -> Row {
        vec![
            ("HOST", text(host)),
            ("USER", text(user)),
            ("ROLE", text(role)),
            ("ENABLED", yes_no(switch.enabled)),
            ("HISTORY", yes_no(switch.second)),
        ]
    };
    performance.setup.actors.rows.read().iter().map(row).collect()
}

pub(super) fn objects(performance: &Performance) -> Vec<Row> {
    let row = |Rule { key: [kind, schema, name], switch }: &Rule| -> Row {
        vec![
            ("OBJECT_TYPE", text(kind)),
            ("OBJECT_SCHEMA", optional(Some(schema).filter(|schema| !schema.is_empty()))),
            ("OBJECT_NAME", text(name)),
            ("ENABLED", yes_no(switch.enabled)),
            ("TIMED", yes_no(switch.second)),
        ]
    };
    performance.setup.objects.rows.read().iter().map(row).collect()
}

pub(super) fn timers(performance: &Performance) -> Vec<Row> {
    let unit = performance.setup.unit.load(Relaxed);
    let timer = TIMERS.iter().find(|(_, nanos)| *nanos == unit).map_or("", |(name, _)| name);
    vec![vec![("NAME", text("statement")), ("TIMER_NAME", text(timer))]]
}

/// The timers that there are. All read the same clock.
pub(super) fn performance_timers() -> Vec<Row> {
    let overhead = (0..20).map(|_| Moment::now().elapsed().as_nanos() as i64).min().unwrap_or(0);
    let row = |(name, nanos): &(&str, u64)| -> Row {
        vec![
            ("TIMER_NAME", text(name)),
            ("TIMER_FREQUENCY", Value::Int(1_000_000_000 / *nanos as i64)),
            ("TIMER_RESOLUTION", Value::Int(1)),
            ("TIMER_OVERHEAD", Value::Int(overhead)),
        ]
    };
    TIMERS.iter().map(row).collect()
}
