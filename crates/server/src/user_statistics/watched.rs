//! A session whose work is added to the entries of its user and its client.
//!
//! Must be used by the session's thread only.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, LazyLock};
use std::time::Instant;

use super::{
    BINLOG, COLUMNS, CONCURRENT, CONNECTED, Counts, Entries, Entry, LOST, OVER_TLS, TOTAL,
    UserStatistics,
};
use crate::profiles::cpu_micros;
use crate::status::{Counters, StatusId, counter, find_status};

/// State of a session's statistics.
#[derive(Debug)]
pub(crate) struct Watched {
    who: Who,
    user: Option<Member>,
    client: Option<Member>,
    /// Counts up to which everything is in the entries; `None` while nothing is counted.
    added: Option<Box<Counts>>,
    /// Begin of the running command, with the thread's processor time.
    begun: Option<(Instant, u64)>,
    connected: Instant,
}

/// A session's place in an entry.
#[derive(Debug)]
struct Member {
    entry: Arc<Entry>,
    /// Times that entries had been forgotten when it was found.
    forgotten: u64,
}

/// Identity of a session.
#[derive(Clone, Debug, Default)]
pub(crate) struct Who {
    /// Name of the user.
    pub(crate) user: String,
    /// Host of the client.
    pub(crate) client: String,
    /// Whether the connection uses TLS.
    pub(crate) over_tls: bool,
}

/// The session's counters, and what else is counted of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work<'s> {
    /// Status counters.
    pub(crate) counters: &'s Counters,
    /// Bytes that it has added to the binary log.
    pub(crate) logged: u64,
}

impl Default for Watched {
    fn default() -> Self {
        Self {
            who: Who::default(),
            user: None,
            client: None,
            added: None,
            begun: None,
            connected: Instant::now(),
        }
    }
}

impl Watched {
    /// Counts a session that has logged in.
    pub(crate) fn log_in(&mut self, all: &UserStatistics, who: Who, work: Work<'_>) {
        self.who = who;
        if !all.is_on() {
            return;
        }
        self.connected = Instant::now();
        self.added = Some(Box::new(self.counts(work)));
        let who = &self.who;
        for (member, entries, name) in
            [(&mut self.user, &all.users, &who.user), (&mut self.client, &all.clients, &who.client)]
        {
            let entry = entries.find_or_make(name).0;
            count_connection(&entry, who);
            entry.add(CONCURRENT, 1);
            *member = Some(Member { entry, forgotten: entries.forgotten.load(Relaxed) });
        }
    }

    /// Begins a command.
    #[inline]
    pub(crate) fn begin(&mut self, all: &UserStatistics, work: Work<'_>) {
        match all.is_on() {
            true => self.begin_counted(work),
            false => (self.added, self.begun) = (None, None),
        }
    }

    fn begin_counted(&mut self, work: Work<'_>) {
        if self.added.is_none() {
            self.added = Some(Box::new(self.counts(work)));
        }
        self.begun = Some((Instant::now(), cpu_micros()));
    }

    /// Ends a command: adds its times to the counters.
    pub(crate) fn end(&mut self, counters: &Counters) {
        if let Some((begun, cpu)) = self.begun.take() {
            counters.add(counter().busy_time, begun.elapsed().as_micros() as u64);
            counters.add(counter().cpu_time, cpu_micros().saturating_sub(cpu));
        }
    }

    /// Whether [`Self::add`] has something to do.
    #[inline]
    pub(crate) fn is_counted(&self) -> bool {
        self.added.is_some()
    }

    /// Adds the session's work since the last call to the entries.
    pub(crate) fn add(&mut self, all: &UserStatistics, work: Work<'_>) {
        let now = self.counts(work);
        let Some(added) = &mut self.added else { return };
        let mut growth = [0; COLUMNS.len()];
        for (growth, (now, added)) in growth.iter_mut().zip(now.iter().zip(&**added)) {
            // FLUSH STATUS begins counters anew.
            *growth = now.checked_sub(*added).unwrap_or(*now);
        }
        **added = now;
        let who = &self.who;
        add_to(&mut self.user, &all.users, (&who.user, who), &growth);
        add_to(&mut self.client, &all.clients, (&who.client, who), &growth);
    }

    /// Counts a client that left without saying so.
    pub(crate) fn note_lost(&self) {
        self.user.iter().chain(&self.client).for_each(|member| member.entry.add(LOST, 1));
    }

    /// Ends the session, or begins the one of another user.
    pub(crate) fn leave(&mut self) {
        for member in [self.user.take(), self.client.take()].into_iter().flatten() {
            if let Some(concurrent) = member.entry.0.get(CONCURRENT) {
                concurrent.fetch_sub(1, Relaxed);
            }
        }
        self.added = None;
    }

    fn counts(&self, work: Work<'_>) -> Counts {
        static COUNTERS: LazyLock<Vec<Vec<StatusId>>> = LazyLock::new(|| {
            let ids = |names: &&[&str]| names.iter().filter_map(|name| find_status(name)).collect();
            COLUMNS.iter().map(|(_, names)| ids(names)).collect()
        });
        let mut counts = [0; COLUMNS.len()];
        for (count, ids) in counts.iter_mut().zip(&**COUNTERS) {
            *count = ids.iter().map(|id| work.counters.get(*id)).sum();
        }
        counts[CONNECTED] = self.connected.elapsed().as_secs();
        counts[BINLOG] = work.logged;
        counts
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.leave();
    }
}

fn count_connection(entry: &Entry, who: &Who) {
    entry.add(TOTAL, 1);
    entry.add(OVER_TLS, who.over_tls.into());
}

/// Adds work to a session's entry. Compat: the command that finds no entry makes one, and is not
/// counted in it.
fn add_to(
    member: &mut Option<Member>,
    entries: &Entries,
    (name, who): (&str, &Who),
    growth: &Counts,
) {
    let forgotten = entries.forgotten.load(Relaxed);
    if let Some(member) = member.as_ref().filter(|member| member.forgotten == forgotten) {
        return member.entry.add_all(growth);
    }
    let (entry, is_new) = entries.find_or_make(name);
    match is_new {
        true => count_connection(&entry, who),
        false => entry.add_all(growth),
    }
    entry.add(CONCURRENT, 1);
    *member = Some(Member { entry, forgotten });
}
