//! The choice of events to measure: the state behind the tables `setup_...`.
//!
//! Must be readable by every statement without a lock.

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};

use parking_lot::RwLock;

use super::Sizes;
use super::names::{Name, instruments, statements};

/// Receivers of events, in the order of `setup_consumers`.
pub(crate) const CONSUMERS: [&str; 15] = [
    "events_stages_current",
    "events_stages_history",
    "events_stages_history_long",
    "events_statements_current",
    "events_statements_history",
    "events_statements_history_long",
    "events_transactions_current",
    "events_transactions_history",
    "events_transactions_history_long",
    "events_waits_current",
    "events_waits_history",
    "events_waits_history_long",
    "global_instrumentation",
    "thread_instrumentation",
    "statements_digest",
];

/// A consumer, by its place in [`CONSUMERS`].
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Consumer {
    Current = 3,
    History = 4,
    HistoryLong = 5,
    Global = 12,
    Thread = 13,
    Digest = 14,
}

/// The consumers that are on at the start, unless options say otherwise.
const AT_START: u32 =
    1 << Consumer::Global as u32 | 1 << Consumer::Thread as u32 | 1 << Consumer::Digest as u32;

/// The consumers at one moment.
#[derive(Copy, Clone, Debug)]
pub(super) struct Consumers(u32);

impl Consumers {
    /// Whether a consumer is on.
    pub(super) fn has(self, consumer: Consumer) -> bool {
        self.0 & 1 << consumer as u32 != 0
    }

    /// Whether events are to be counted for their thread.
    pub(super) fn counts_threads(self) -> bool {
        self.has(Consumer::Global) && self.has(Consumer::Thread)
    }

    /// Whether single events are kept.
    pub(super) fn keeps_events(self) -> bool {
        self.counts_threads() && self.has(Consumer::Current)
    }

    /// Whether digests are counted.
    pub(super) fn counts_digests(self) -> bool {
        self.has(Consumer::Global) && self.has(Consumer::Digest)
    }
}

/// A switch with two halves.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Switch {
    /// ENABLED.
    pub(super) enabled: bool,
    /// TIMED of an instrument, HISTORY of a thread.
    pub(super) second: bool,
}

impl Switch {
    /// Both halves on.
    pub(super) const ON: Self = Self { enabled: true, second: true };

    /// Both halves off.
    pub(super) const OFF: Self = Self { enabled: false, second: false };

    fn bits(self) -> u8 {
        u8::from(self.enabled) | u8::from(self.second) << 1
    }

    fn of_bits(bits: u8) -> Self {
        Self { enabled: bits & 1 != 0, second: bits & 2 != 0 }
    }
}

/// A switch that any thread reads.
#[derive(Debug)]
pub(super) struct SharedSwitch(AtomicU8);

impl SharedSwitch {
    pub(super) fn new(switch: Switch) -> Self {
        Self(AtomicU8::new(switch.bits()))
    }

    pub(super) fn get(&self) -> Switch {
        Switch::of_bits(self.0.load(Relaxed))
    }

    pub(super) fn set(&self, switch: Switch) {
        self.0.store(switch.bits(), Relaxed);
    }
}

/// A row of `setup_actors` or `setup_objects`: what is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    /// Host, user and role; or the type, schema and name of an object.
    pub(super) key: [String; 3],
    pub(super) switch: Switch,
}

impl Rule {
    fn new(key: [&str; 3], switch: Switch) -> Self {
        Self { key: key.map(str::to_owned), switch }
    }
}

/// A table of rules.
#[derive(Debug)]
pub(super) struct Rules {
    /// Maximum number of rows.
    pub(super) size: usize,
    pub(super) rows: RwLock<Vec<Rule>>,
}

impl Rules {
    fn new(size: usize, mut rows: Vec<Rule>) -> Self {
        rows.truncate(size);
        Self { size, rows: RwLock::new(rows) }
    }
}

/// Compat: objects of these schemas are left out at the start.
const SYSTEM_SCHEMAS: [&str; 3] = ["mysql", "performance_schema", "information_schema"];

/// The rows of `setup_objects` at the start.
fn objects_at_start() -> Vec<Rule> {
    let of_type = |kind: &'static str| {
        let left_out = SYSTEM_SCHEMAS.map(|schema| Rule::new([kind, schema, "%"], Switch::OFF));
        left_out.into_iter().chain([Rule::new([kind, "%", "%"], Switch::ON)])
    };
    let types = ["EVENT", "FUNCTION", "PROCEDURE", "TABLE", "TRIGGER"];
    types.into_iter().flat_map(of_type).collect()
}

/// Timers of statements: the name and the nanoseconds of its unit.
pub(super) const TIMERS: [(&str, u64); 3] =
    [("NANOSECOND", 1), ("MICROSECOND", 1000), ("MILLISECOND", 1_000_000)];

/// The state of all setup tables.
#[derive(Debug)]
pub(super) struct Setup {
    consumers: AtomicU32,
    instruments: Vec<SharedSwitch>,
    /// `setup_actors`: new sessions that are measured.
    pub(super) actors: Rules,
    /// `setup_objects`. Nothing is measured by object, so it only keeps what clients ask for.
    pub(super) objects: Rules,
    /// Nanoseconds of the unit of statements' times.
    pub(super) unit: AtomicU64,
}

/// A switch that an option sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// The consumer of this name.
    Consumer(String, bool),
    /// The instruments whose names fit the pattern, with the value as it was written.
    Instruments(String, String),
}

/// The switch that the instrument of a number has at the start: only statements are measured.
fn at_start(number: usize) -> SharedSwitch {
    SharedSwitch::new(if number < statements().len() { Switch::ON } else { Switch::OFF })
}

impl Setup {
    /// The state at the start: MariaDB's defaults, changed by options.
    pub(super) fn new(wishes: &[Wish], sizes: &Sizes) -> Self {
        let this = Self {
            consumers: AtomicU32::new(AT_START),
            instruments: instruments().enumerate().map(|(at, _)| at_start(at)).collect(),
            actors: Rules::new(sizes.actors, vec![Rule::new(["%"; 3], Switch::ON)]),
            objects: Rules::new(sizes.objects, objects_at_start()),
            unit: AtomicU64::new(1),
        };
        wishes.iter().for_each(|wish| this.wish(wish));
        this
    }

    /// Applies one option. Compat: a value that means nothing is passed over.
    fn wish(&self, wish: &Wish) {
        let (pattern, value) = match wish {
            Wish::Instruments(pattern, value) => (pattern, value),
            Wish::Consumer(wanted, on) => {
                let at = CONSUMERS.iter().position(|name| name == wanted);
                at.into_iter().for_each(|at| self.set_consumer(at, *on));
                return;
            }
        };
        let switch = match value.to_ascii_lowercase().as_str() {
            "1" | "on" | "true" | "yes" => Switch::ON,
            "0" | "off" | "false" | "no" => Switch::OFF,
            "counted" => Switch { enabled: true, second: false },
            _ => return,
        };
        let is_meant = |name: &str| {
            use selkie_types::CollationId;
            CollationId::UTF8MB3_GENERAL_CI.like(name.as_bytes(), pattern.as_bytes(), None)
        };
        for (name, own) in instruments().zip(&self.instruments) {
            if is_meant(name) {
                own.set(switch);
            }
        }
    }

    /// The consumers now.
    pub(super) fn consumers(&self) -> Consumers {
        Consumers(self.consumers.load(Relaxed))
    }

    /// Whether the consumer at a place is on.
    pub(super) fn has_consumer(&self, at: usize) -> bool {
        self.consumers.load(Relaxed) & 1 << at != 0
    }

    /// Switches the consumer at a place.
    pub(super) fn set_consumer(&self, at: usize, on: bool) {
        match on {
            true => self.consumers.fetch_or(1 << at, Relaxed),
            false => self.consumers.fetch_and(!(1 << at), Relaxed),
        };
    }

    /// The switch of a kind of event.
    pub(super) fn instrument(&self, name: Name) -> Switch {
        self.instruments.get(usize::from(name.0)).map_or(Switch::ON, SharedSwitch::get)
    }

    /// Sets the switch of a kind of event.
    pub(super) fn set_instrument(&self, name: Name, switch: Switch) {
        if let Some(own) = self.instruments.get(usize::from(name.0)) {
            own.set(switch);
        }
    }

    /// The switch for a new session. Compat: the row that names user and host counts, then the one
    /// that names the user, then the one that names the host.
    pub(super) fn of_session(&self, user: &str, host: &str) -> Switch {
        let actors = self.actors.rows.read();
        let find = |user: &str, host: &str| {
            actors.iter().find(|actor| actor.key[0] == host && actor.key[1] == user)
        };
        let found = find(user, host).or_else(|| find(user, "%"));
        let found = found.or_else(|| find("%", host)).or_else(|| find("%", "%"));
        found.map_or(Switch::OFF, |actor| actor.switch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setup(wishes: &[Wish]) -> Setup {
        Setup::new(wishes, &Sizes { actors: 100, objects: 100, ..Sizes::default() })
    }

    #[test]
    fn options_switch() {
        let consumer = |name: &str, on| Wish::Consumer(name.to_owned(), on);
        let instruments =
            |pattern: &str, value: &str| Wish::Instruments(pattern.to_owned(), value.to_owned());
        let setup = setup(&[
            consumer("events_statements_current", true),
            consumer("statements_digest", false),
            instruments("statement/sql/s%", "counted"),
            instruments("nothing", "ON"),
            // Names of consumers are no instruments.
            instruments("events_statements_history", "ON"),
            instruments("global_instrumentation", "OFF"),
        ]);
        let now = setup.consumers();
        assert!(now.keeps_events() && !now.counts_digests() && !now.has(Consumer::History));
        let at = |end: &str| statements().iter().position(|name| name.ends_with(end)).unwrap();
        let of = |end: &str| setup.instrument(Name(at(end) as u16));
        assert_eq!(of("/select"), Switch { enabled: true, second: false });
        assert_eq!(of("/update"), Switch::ON);
    }

    #[test]
    fn the_best_actor_counts() {
        let setup = setup(&[]);
        let off = Switch::OFF;
        let row = |user, host, switch| Rule::new([host, user, "%"], switch);
        let rows = || setup.actors.rows.write();
        assert_eq!(setup.of_session("u", "h"), Switch::ON);
        rows().push(row("%", "h", off));
        assert_eq!(setup.of_session("u", "h"), off);
        rows().insert(0, row("u", "%", Switch::ON));
        assert_eq!(setup.of_session("u", "h"), Switch::ON);
        rows().clear();
        assert_eq!(setup.of_session("u", "h"), off);
    }
}
