//! The recorder of one session: what its statements did.
//!
//! The session's thread writes it; other threads lock it for a moment, to read it, to switch it, or
//! to empty it for TRUNCATE. What sessions share is changed when one of them begins, ends, meets a
//! digest for the first time or has met many, and for each single event that is kept for all.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::{Arc, LazyLock};

use parking_lot::Mutex;
use selkie_engine::Moment;
use selkie_exec::Outcome;
use selkie_sql::Digest;
use selkie_types::{SqlError, SqlMode, SqlResult};

use super::Performance;
use super::digests::Local;
use super::event::{Answer, Event};
use super::names::Name;
use super::people::Account;
use super::setup::{Consumer, SharedSwitch, Switch};
use super::sums::{ByName, Counts};
use crate::status::{Counters, StatusId, find_status};

/// Status variables whose growth during a statement is measured: those of its counts from ROWS_SENT
/// to SORT_SCAN in that order, then those that only say that no index was used.
const MEASURED: [&str; 15] = [
    "Rows_sent",
    "Rows_read",
    "Created_tmp_disk_tables",
    "Created_tmp_tables",
    "Select_full_join",
    "Select_full_range_join",
    "Select_range",
    "Select_range_check",
    "Select_scan",
    "Sort_merge_passes",
    "Sort_range",
    "Sort_rows",
    "Sort_scan",
    "Update_scan",
    "Delete_scan",
];
/// Number of them that are counts of the statement.
const COUNTED: usize = 13;

/// Longest name of a client's attribute in bytes: the columns for it hold no more.
const LONGEST_NAME: usize = 32;

/// Places of counts of an event.
mod place {
    pub(super) const ERRORS: usize = 1;
    pub(super) const WARNINGS: usize = 2;
    pub(super) const ROWS_AFFECTED: usize = 3;
    pub(super) const FIRST_OF_STATUS: usize = 4;
    pub(super) const SELECT_FULL_JOIN: usize = 8;
    pub(super) const SELECT_RANGE_CHECK: usize = 11;
    pub(super) const SELECT_SCAN: usize = 12;
    pub(super) const NO_INDEX_USED: usize = 17;
    pub(super) const NO_GOOD_INDEX_USED: usize = 18;
}

type Status = [u64; MEASURED.len()];

fn status(counters: &Counters) -> Status {
    static IDS: LazyLock<[StatusId; MEASURED.len()]> =
        LazyLock::new(|| MEASURED.map(|name| find_status(name).expect("a status variable")));
    IDS.map(|id| counters.get(id))
}

/// A running statement.
#[derive(Clone, Debug)]
struct Open {
    begun: u64,
    name: Name,
    /// Place of its digest among the session's.
    digest: Option<usize>,
    /// The default database at its start, if it has changed since.
    left: Option<Option<Arc<str>>>,
    answer: Answer,
}

/// The parts that change.
#[derive(Debug, Default)]
pub(super) struct State {
    /// User and host, once the client has logged in.
    pub(super) owner: Option<Account>,
    /// CONNECTION_TYPE.
    pub(super) connection: &'static str,
    /// Names and values that the client told about itself.
    pub(super) attributes: Vec<(String, String)>,
    schema: Option<Arc<str>>,
    open: Option<Open>,
    /// Status variables at the start of the running statement, or at the end of the last one.
    before: Option<Status>,
    last_id: u64,
    pub(super) sums: ByName,
    /// Sums of statements that ran while `thread_instrumentation` was off.
    pub(super) apart: ByName,
    pub(super) digests: Local,
    pub(super) current: Option<Arc<Event>>,
    pub(super) history: VecDeque<Arc<Event>>,
}

/// The recorder of a session.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub(super) performance: Arc<Performance>,
    /// THREAD_ID.
    pub(super) thread: u64,
    /// INSTRUMENTED and HISTORY.
    pub(super) switch: SharedSwitch,
    pub(super) state: Mutex<State>,
}

/// Result of a statement of SQL.
pub(crate) struct Done<'a> {
    /// Its outcome.
    pub(crate) result: Result<&'a Outcome, &'a SqlError>,
    /// Number of conditions it raised.
    pub(crate) warnings: u16,
    /// The statement, if a client sent it as text.
    pub(crate) text: Option<&'a [u8]>,
}

impl Recorder {
    pub(super) fn new(performance: &Arc<Performance>) -> Self {
        let thread = performance.next_thread();
        let switch = SharedSwitch::new(Switch::ON);
        Self { performance: Arc::clone(performance), thread, switch, state: Mutex::default() }
    }

    /// Notes who has logged in.
    pub(crate) fn joined(&self, owner: Account, connection: &'static str) {
        self.switch.set(self.performance.setup.of_session(&owner.0, &owner.1));
        self.performance.people.lock().joined(owner.clone());
        let mut state = self.state.lock();
        state.connection = connection;
        state.owner = Some(owner);
    }

    /// Notes who has logged in on the same connection.
    pub(crate) fn joined_again(&self, owner: Account) {
        let connection = self.state.lock().connection;
        self.joined(owner, connection);
    }

    /// Keeps what the client told about itself, as far as there is room.
    pub(crate) fn told(&self, attributes: &[(Vec<u8>, Vec<u8>)]) {
        let mut room = self.performance.sizes.attributes;
        let mut kept = Vec::new();
        for (name, value) in attributes {
            if name.len() > LONGEST_NAME {
                self.performance.lost_attributes();
                continue;
            }
            let Some(left) = room.checked_sub(name.len() + value.len() + 2) else {
                self.performance.lost_attributes();
                break;
            };
            room = left;
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            kept.push((text(name), text(value)));
        }
        self.state.lock().attributes = kept;
    }

    /// Ends the session of the account that was logged in.
    pub(crate) fn left(&self) {
        let mut state = self.state.lock();
        state.digests.give();
        state.digests.clear();
        let (sums, apart) = (std::mem::take(&mut state.sums), std::mem::take(&mut state.apart));
        let owner = state.owner.take();
        drop(state);
        let mut people = self.performance.people.lock();
        people.server.merge(&apart);
        people.take(owner.as_ref(), &sums);
    }

    /// Forgets the digests that it has counted.
    pub(super) fn forget_digests(&self) {
        let mut state = self.state.lock();
        let running = state.open.as_ref().and_then(|open| open.digest);
        let running = running.and_then(|at| state.digests.entry(at)).cloned();
        state.digests.clear();
        if let Some(open) = &mut state.open {
            open.digest = None;
        }
        // The statement that forgets them counts itself.
        let State { open, digests, .. } = &mut *state;
        if let (Some(open), Some(entry)) = (open, running)
            && let Some(digest) = &entry.digest
        {
            open.digest = Some(self.place(digests, digest, entry.schema.as_ref()));
        }
    }

    /// Notes the default database.
    pub(crate) fn entered(&self, schema: Option<&str>) {
        let state = &mut *self.state.lock();
        let old = std::mem::replace(&mut state.schema, schema.map(Arc::from));
        if let Some(open) = &mut state.open {
            open.left.get_or_insert(old);
        }
    }

    /// A command begins.
    pub(crate) fn begin(&self, command: &str, begun: Moment, counters: &Counters) {
        let consumers = self.performance.setup.consumers();
        let mut state = self.state.lock();
        if !consumers.has(Consumer::Global) || !self.switch.get().enabled {
            state.open = None;
            state.before = None;
            return;
        }
        // Nothing but statements of the session changes its counters.
        state.before.get_or_insert_with(|| status(counters));
        state.open = Some(Open {
            begun: self.performance.nanos(begun),
            name: Name::of_command(command),
            digest: None,
            left: None,
            answer: Answer::default(),
        });
    }

    /// The command runs a text with this statement; `None` if it has only comments.
    pub(crate) fn statement<'d>(
        &self,
        counter: Option<StatusId>,
        digest: impl FnOnce() -> Cow<'d, Digest>,
    ) {
        let State { open, digests, schema, .. } = &mut *self.state.lock();
        let Some(open) = open else { return };
        open.name = counter.map_or(Name::of_nothing(), Name::of_counter);
        if counter.is_some() && self.counts_digests(open.name) {
            open.digest = Some(self.place(digests, &digest(), schema.as_ref()));
        }
    }

    /// The digest of a text.
    pub(crate) fn digest(&self, text: &[u8], mode: SqlMode) -> Digest {
        selkie_sql::digest_within(text, mode, self.performance.sizes.digest_length)
    }

    fn counts_digests(&self, name: Name) -> bool {
        let setup = &self.performance.setup;
        self.performance.digests.is_on()
            && setup.consumers().counts_digests()
            && setup.instrument(name).enabled
    }

    fn place(&self, own: &mut Local, digest: &Digest, schema: Option<&Arc<str>>) -> usize {
        own.place(&self.performance.digests, digest, schema)
    }

    /// The command was answered without rows.
    pub(crate) fn answered(&self, result: &SqlResult<()>) {
        if let Some(open) = &mut self.state.lock().open {
            open.answer = match result {
                Ok(()) => Answer::ok(""),
                Err(error) => Answer::failed(error),
            }
        }
    }

    /// The command is over, or one statement of its text.
    pub(crate) fn end(&self, counters: &Counters, done: Option<Done<'_>>) {
        let mut state = self.state.lock();
        let Some(open) = state.open.take() else { return };
        let performance = &*self.performance;
        let (setup, consumers) = (&performance.setup, performance.setup.consumers());
        let switch = setup.instrument(open.name);
        if !switch.enabled {
            state.before = None;
            return;
        }
        let now = performance.nanos(Moment::now());
        let status = status(counters);
        let before = state.before.replace(status).unwrap_or(status);
        let counts = counts((&before, &status), &open.answer, done.as_ref());
        let wait = switch.second.then(|| performance.rounded(now.saturating_sub(open.begun)));
        let sums = match consumers.has(Consumer::Thread) {
            true => &mut state.sums,
            false => &mut state.apart,
        };
        sums.of(open.name.0).add(wait, &counts);
        if let Some(at) = open.digest {
            state.digests.add(at, wait, &counts, now);
        }
        if consumers.keeps_events() {
            self.keep_done(&mut state, open, done.as_ref(), (now, counts));
        }
    }

    fn keep_done(
        &self,
        state: &mut State,
        mut open: Open,
        done: Option<&Done<'_>>,
        (now, counts): (u64, Counts),
    ) {
        let text = done.and_then(|done| done.text);
        if let Some(done) = done {
            open.answer = done.result.map_or_else(Answer::failed, Answer::of);
        }
        let switch = self.performance.setup.instrument(open.name);
        let event = self.event(state, open, text, switch);
        self.keep(state, Event { ended: Some(now), counts, ..event });
    }

    fn event(&self, state: &State, open: Open, text: Option<&[u8]>, switch: Switch) -> Event {
        let longest = self.performance.sizes.text;
        Event {
            thread: self.thread,
            id: state.last_id + 1,
            name: open.name,
            begun: open.begun,
            ended: None,
            timed: switch.second,
            counts: Counts::default(),
            text: text.filter(|text| !text.is_empty()).map(|text| shortened(text, longest)),
            entry: open.digest.and_then(|at| state.digests.entry(at)).cloned(),
            schema: open.left.unwrap_or_else(|| state.schema.clone()),
            answer: open.answer,
        }
    }

    fn keep(&self, state: &mut State, event: Event) {
        let performance = &*self.performance;
        let consumers = performance.setup.consumers();
        state.last_id = event.id;
        let event = Arc::new(event);
        state.current = Some(Arc::clone(&event));
        if !self.switch.get().second {
            return;
        }
        if consumers.has(Consumer::History) && performance.sizes.history > 0 {
            while state.history.len() >= performance.sizes.history {
                state.history.pop_front();
            }
            state.history.push_back(Arc::clone(&event));
        }
        if consumers.has(Consumer::HistoryLong) {
            performance.long.push(event);
        }
    }

    /// The statement that runs, or the last one that ran. `text` is the text that runs.
    pub(super) fn now(&self, counters: &Counters, text: Option<&str>) -> Option<Event> {
        if !self.performance.setup.consumers().keeps_events() {
            return None;
        }
        let state = self.state.lock();
        let Some(open) = state.open.clone() else { return state.current.as_deref().cloned() };
        let status = status(counters);
        let before = state.before.unwrap_or(status);
        let counts = counts((&before, &status), &open.answer, None);
        let is_text = open.name.text().starts_with("statement/sql/");
        let text = text.filter(|_| is_text).map(str::as_bytes);
        let switch = self.performance.setup.instrument(open.name);
        Some(Event { counts, ..self.event(&state, open, text, switch) })
    }
}

/// The counts of a statement, from the status variables before and after it.
fn counts((before, after): (&Status, &Status), answer: &Answer, done: Option<&Done<'_>>) -> Counts {
    use place::*;
    let grown = |at: usize| after[at].checked_sub(before[at]).unwrap_or(after[at]);
    let mut counts = Counts::default();
    for at in 0..COUNTED {
        counts[FIRST_OF_STATUS + at] = grown(at);
    }
    let scans = counts[SELECT_FULL_JOIN] + counts[SELECT_SCAN];
    let changes: u64 = (COUNTED..MEASURED.len()).map(grown).sum();
    counts[NO_INDEX_USED] = u64::from(scans + changes > 0);
    counts[NO_GOOD_INDEX_USED] = u64::from(counts[SELECT_RANGE_CHECK] > 0);
    match done.map(|done| (done.result, done.warnings)) {
        Some((Ok(outcome), warnings)) => {
            counts[WARNINGS] = warnings.into();
            counts[ROWS_AFFECTED] = if outcome.result_set { 0 } else { outcome.affected };
        }
        Some((Err(_), _)) => counts[ERRORS] = 1,
        None => counts[ERRORS] = u64::from(answer.error != 0),
    }
    counts
}

/// The beginning of a text.
fn shortened(text: &[u8], longest: usize) -> Box<str> {
    let part = text.get(..longest).unwrap_or(text);
    match std::str::from_utf8(part) {
        Ok(part) => part.into(),
        Err(error) if error.error_len().is_none() => {
            String::from_utf8_lossy(&part[..error.valid_up_to()]).into()
        }
        Err(_) => String::from_utf8_lossy(part).into(),
    }
}
