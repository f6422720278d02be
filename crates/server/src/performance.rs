//! `performance_schema`: what sessions and their statements did, measured if the server was started
//! with `performance_schema=ON`.
//!
//! A session counts in a [`Recorder`] of its own; tables add the recorders up when they are read.
//! A statement only reads shared state, the switches of [`Setup`], unless it meets a digest for the
//! first time or single events are kept for the history of all sessions. Without the option there
//! is no recorder, and a statement costs nothing but the question for it.

mod change;
mod digests;
mod event;
mod long;
mod names;
mod people;
mod recorder;
mod setup;
mod sizes;
mod sums;
mod tables;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;
use selkie_engine::Moment;

use crate::sessions::SessionHandle;
use crate::status::Gauges;

pub(crate) use change::change;
pub(crate) use recorder::{Done, Recorder};
pub(crate) use setup::{CONSUMERS, Wish};
pub(crate) use sizes::{Sizes, derive_sizes};
pub(crate) use tables::{NAMES, rows};

use self::digests::Digests;
use self::long::LongHistory;
use self::people::{Limits, People};
use self::setup::Setup;

/// THREAD_ID of the server's first thread.
const MAIN_THREAD: u64 = 1;

/// Everything measured that does not belong to one session.
#[derive(Debug)]
pub(crate) struct Performance {
    sizes: Sizes,
    setup: Setup,
    digests: Digests,
    people: Mutex<People>,
    long: LongHistory,
    /// THREAD_ID of the last session.
    threads: AtomicU64,
    begun: Moment,
    begun_at: SystemTime,
    /// Sessions whose attributes were too long.
    lost_attributes: AtomicU64,
}

/// The sessions that have a recorder, with it.
fn recorders(sessions: &[Arc<SessionHandle>]) -> impl Iterator<Item = (&SessionHandle, &Recorder)> {
    sessions.iter().filter_map(|session| Some((&**session, session.recorder()?)))
}

impl Performance {
    /// Begins to measure. `wishes` are the options that switch consumers and instruments.
    pub(crate) fn new(sizes: Sizes, wishes: &[Wish]) -> Self {
        let Sizes { accounts, users, hosts, .. } = sizes;
        Self {
            setup: Setup::new(wishes, &sizes),
            digests: Digests::new(sizes.digests),
            people: Mutex::new(People::new(Limits { accounts, users, hosts })),
            long: LongHistory::new(sizes.long),
            threads: AtomicU64::new(MAIN_THREAD),
            begun: Moment::now(),
            begun_at: SystemTime::now(),
            lost_attributes: AtomicU64::new(0),
            sizes,
        }
    }

    /// A recorder for a new session.
    pub(crate) fn recorder(self: &Arc<Self>) -> Recorder {
        Recorder::new(self)
    }

    fn next_thread(&self) -> u64 {
        self.threads.fetch_add(1, Relaxed) + 1
    }

    /// Nanoseconds from the server's start to a moment.
    fn nanos(&self, moment: Moment) -> u64 {
        let since = moment.since_start().saturating_sub(self.begun.since_start());
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    }

    /// A time in whole units of the timer of statements.
    fn rounded(&self, nanos: u64) -> u64 {
        let unit = self.setup.unit.load(Relaxed).max(1);
        nanos / unit * unit
    }

    /// The time of day at so many nanoseconds after the start.
    fn time_of(&self, nanos: u64) -> SystemTime {
        self.begun_at + Duration::from_nanos(nanos)
    }

    fn lost_attributes(&self) {
        self.lost_attributes.fetch_add(1, Relaxed);
    }

    /// Adds the status variables about what was lost.
    pub(crate) fn status(&self, gauges: &mut Gauges) {
        let people = self.people.lock().lost;
        let lost = [
            ("accounts_lost", people.accounts),
            ("users_lost", people.users),
            ("hosts_lost", people.hosts),
            ("digest_lost", self.digests.lost.load(Relaxed)),
            ("session_connect_attrs_lost", self.lost_attributes.load(Relaxed)),
        ];
        for (name, count) in lost {
            gauges.insert(format!("performance_schema_{name}"), count.to_string());
        }
    }
}
