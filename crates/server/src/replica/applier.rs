//! The thread of a connection that applies what was received: it reads groups from the relay files
//! and hands them to a session of the backend.
//!
//! Must not know SQL. Must not apply a part of a group (REPLICA-2): relay files show whole groups
//! only, and a group that fails is rolled back.

mod beside;
mod group;
mod pace;
mod parcel;

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use selkie_exec::Killed;
use selkie_replication::Gtid;
use selkie_replication::codec::{Event, EventKind, Format, Frame, GtidListEvent, flags};
use selkie_replication::gtid::Position;
use selkie_replication::replica::{Note, ParallelMode, Place};
use selkie_types::error::catalogue::{
    ER_BINLOG_READ_EVENT_CHECKSUM_FAILURE, ER_SLAVE_RELAY_LOG_READ_FAILURE, ER_SLAVE_THREAD,
};
use selkie_types::{SqlError, SqlResult};

use super::connection::Connection;
use super::relay::{RelayLog, RelayReader, is_bad_checksum};
use super::workers::{Membership, Workers};
use crate::backend::{Failed, ReplicaScope, ReplicaSession};
use crate::server::Server;
use crate::variables::ids;
pub(super) use group::Group;
pub(super) use pace::retry_pause;
pub(super) use parcel::Parcel;

/// Command in the process list.
const COMMAND: &str = "Slave_SQL";
/// Longest wait between two looks at a stop.
const LOOK: Duration = Duration::from_millis(100);

const READING: &str = "Reading event from the relay log";
const WAITING: &str = "Slave has read all relay log; waiting for more updates";

/// Starts the thread, unless it runs.
pub(super) fn start(
    server: &Arc<Server>,
    connection: &Arc<Connection>,
    relay: RelayLog,
) -> SqlResult<()> {
    if !connection.applier.begin() {
        return Ok(());
    }
    let started = begin(server, connection, relay);
    if started.is_err() {
        connection.applier.end();
    }
    started
}

fn begin(server: &Arc<Server>, connection: &Arc<Connection>, relay: RelayLog) -> SqlResult<()> {
    let scope = Arc::new(ReplicaScope::new(connection.filter(), Arc::clone(&connection.temporary)));
    let session = server.backend.replica_session(server, Arc::clone(&scope), COMMAND)?;
    connection.applier.session.store(session.handle().id, Ordering::Relaxed);
    let place = connection.progress.lock().relay.clone();
    let reader = match place.file.is_empty() {
        true => Ok(relay.reader()),
        false => relay.reader_at(&place),
    };
    let reader = reader.map_err(|error| relay_error(&error))?;
    let threads = server.globals.get(ids().slave_parallel_threads).as_u64();
    let membership = match threads > 0 && connection.parallel_mode() != ParallelMode::None {
        true => Some(Workers::enlist(server, connection, &scope)?),
        false => None,
    };
    let applying = Applying {
        format: Arc::new(reader.course().format().clone()),
        handed: server.applied().state().gtids().clone(),
        membership,
        reader,
        server: Arc::clone(server),
        connection: Arc::clone(connection),
        relay,
        session,
        purged: place.file,
        settled: Instant::now(),
    };
    let mut progress = connection.progress.lock();
    progress.applier_error = None;
    progress.is_applying = true;
    progress.applier_state = READING;
    drop(progress);
    let thread = std::thread::Builder::new().name("slave_sql".to_owned());
    let spawned = thread.spawn(move || applying.run());
    spawned.map(drop).map_err(|error| {
        tracing::error!("The applier's thread could not be created: {error}");
        SqlError::new(&ER_SLAVE_THREAD, &[])
    })
}

/// Reason why an applier ends.
enum End {
    /// It was asked to, or has reached what START SLAVE UNTIL named.
    Stopped,
    /// It cannot go on.
    Failed(SqlError),
}

impl From<SqlError> for End {
    fn from(error: SqlError) -> Self {
        Self::Failed(error)
    }
}

/// Tells that the thread has ended, also if it panics.
struct Ended(Arc<Connection>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.applier.end();
    }
}

struct Applying {
    server: Arc<Server>,
    connection: Arc<Connection>,
    relay: RelayLog,
    session: Box<dyn ReplicaSession>,
    reader: RelayReader,
    /// Its part in the workers, if they apply the groups.
    membership: Option<Membership>,
    /// The last groups of each domain that the workers were given.
    handed: Position,
    /// Format of the last group for the workers.
    format: Arc<Format>,
    /// The relay file at which files were removed last.
    purged: String,
    /// Last time at which all that is applied was made durable.
    settled: Instant,
}

impl Applying {
    fn run(mut self) {
        let _ended = Ended(Arc::clone(&self.connection));
        let end = selkie_exec::guarded(|| Ok(self.read_groups()));
        self.session.give_up();
        // All that was applied is durable when STOP SLAVE returns.
        let (others, settled) = (self.leave_workers(), self.session.settle());
        let error = match end {
            Ok(End::Failed(error)) | Err(error) => Some(error),
            Ok(End::Stopped) => others.or(settled.err()),
        };
        let mut progress = self.connection.progress.lock();
        if let Some(error) = &error {
            tracing::error!("Slave SQL: {}, Internal MariaDB error code: {}", error, error.code());
        }
        progress.applier_error = error;
        progress.is_applying = false;
        progress.applying_since = None;
        progress.remaining_delay = None;
        drop(progress);
        // The session leaves the process list before a waiting STOP SLAVE returns.
        drop(self);
    }

    /// Applies groups until there is a reason to end.
    fn read_groups(&mut self) -> End {
        loop {
            match self.next_group() {
                Ok(()) => {}
                Err(end) => return end,
            }
        }
    }

    /// Reads up to the end of the next group, or one event outside of groups.
    fn next_group(&mut self) -> Result<(), End> {
        self.check_until()?;
        let begin = self.reader.place();
        let Some(bytes) = self.wait_for_event()? else { return Ok(()) };
        let frame = self.frame(&bytes)?;
        let header = frame.header;
        if is_outside(header.kind) {
            self.drain()?;
            self.pass_outside(&frame)?;
            return Ok(());
        }
        let event = self.event(&frame)?;
        let mut group = Group::begin(&header, &event, begin);
        if group.gtid.is_some_and(|gtid| self.is_done(gtid)) {
            return self.pass(group, &header, &event);
        }
        if self.skips() {
            self.drain()?;
            return self.skip(group, &header, &event);
        }
        self.delay(header.timestamp)?;
        let Some(owned) = self.offer(&group)? else {
            self.drain()?;
            return self.pass(group, &header, &event);
        };
        let mut first = Some(bytes);
        if !owned.is_empty() {
            // The domain is owned until its group is applied.
            self.drain()?;
        } else if self.membership.is_some() {
            let again = group.again();
            if let Some(bytes) = first.take()
                && self.hands_over(again, bytes)?
            {
                return self.settle_sometimes();
            }
        }
        let mut tries = 0;
        loop {
            match self.apply(&mut group, first.take()) {
                Ok(()) => return Ok(()),
                Err(Trouble::End(end)) => return Err(end),
                Err(Trouble::Failed(failed)) => {
                    self.session.give_up();
                    // Compat: a kill is no error.
                    if self.is_killed() {
                        return Err(End::Stopped);
                    }
                    if !failed.is_transient || !self.may_retry(&mut tries)? {
                        return Err(End::Failed(with_text(&failed)));
                    }
                    let reader = self.relay.reader_at(&group.begin);
                    self.reader = reader.map_err(|error| relay_error(&error))?;
                    group.restart();
                }
            }
        }
    }

    /// Applies a group whose first event is `first`, or is still to be read.
    fn apply(&mut self, group: &mut Group, first: Option<Vec<u8>>) -> Result<(), Trouble> {
        self.connection.progress.lock().applying_since = group.timestamp;
        let mut next = first;
        loop {
            let bytes = match next.take() {
                Some(bytes) => bytes,
                None => self.within_group()?,
            };
            let frame = self.frame(&bytes).map_err(Trouble::of)?;
            if frame.header.kind == EventKind::FORMAT_DESCRIPTION
                || frame.header.kind == EventKind::ROTATE
            {
                // A group that is read again begins with the format and the place of its events.
                continue;
            }
            let event = self.event(&frame).map_err(Trouble::of)?;
            if group.is_at_begin() {
                self.session.begin(group.gtid, group.flags, &frame.header)?;
            }
            let ends = group.take(frame.header.kind, &event);
            if self.takes(frame.header.flags) && !matches!(event, Event::Gtid(_)) {
                self.session
                    .apply(&frame.header, &event)
                    .map_err(|failed| self.at_place(failed, frame.header.end_log_pos))?;
            }
            self.connection.progress.lock().executed_entries += 1;
            if ends {
                break;
            }
        }
        let end = self.reader.course().place().clone();
        let entry = self.entry(group, end.clone());
        self.session.end(entry).map_err(|failed| self.at_place(failed, end.offset as u32))?;
        self.applied(group, end);
        // Nobody waits for a group. What a crash takes is asked for again.
        self.settle_sometimes().map_err(Trouble::End)
    }

    fn at_place(&self, failed: Failed, end: u32) -> Failed {
        at_place(failed, &self.reader.course().place().file, end)
    }

    fn note(&self, gtid: Option<Gtid>, end: Place) -> Note {
        Note::Group { connection: self.connection.name.clone(), gtid, end }
    }

    /// Notes that a group is applied.
    fn applied(&mut self, group: &Group, end: Place) {
        group.count(&mut self.connection.progress.lock());
        self.reached(Some(group), &end);
        if let Some(binlog) = self.server.binlog() {
            binlog.after_statement();
        }
    }

    /// Notes the place in the relay files, and removes those that are not needed.
    fn went_on(&mut self) {
        self.connection.progress.lock().relay = self.reader.place();
        self.purge();
    }

    /// Removes the relay files that are not needed any more. After a crash, what is applied must go
    /// on where the files begin.
    fn purge(&mut self) {
        let file = self.connection.progress.lock().relay.file.clone();
        if self.purged == file {
            return;
        }
        let left = std::mem::replace(&mut self.purged, file.clone());
        let (server, ids) = (Arc::clone(&self.server), ids());
        if server.globals.get(ids.relay_log_purge).as_bool() && self.settle().is_ok() {
            // Compat: the last file that was read stays, unless space is short.
            let is_short = server.globals.get(ids.relay_log_space_limit).as_u64() > 0;
            let lowest = if is_short { file } else { left };
            // A file that stays is removed with the next ones.
            let _ = self.relay.purge_below(&lowest);
        }
    }

    /// Goes behind an event that belongs to no group.
    fn pass_outside(&mut self, frame: &Frame<'_>) -> Result<(), End> {
        let end = self.reader.course().place().clone();
        if frame.header.kind == EventKind::GTID_LIST
            && let Event::GtidList(list) = self.event(frame)?
            && list.flags & GtidListEvent::IGNORED != 0
        {
            for gtid in list.gtids {
                if self.is_done(gtid) {
                    continue;
                }
                self.server.applied().note_later(&self.note(Some(gtid), end.clone()).into())?;
                self.handed.set(gtid);
            }
        }
        if frame.header.kind == EventKind::FORMAT_DESCRIPTION {
            let event = self.event(frame)?;
            let applied = self.session.apply(&frame.header, &event);
            applied.map_err(|failed| End::Failed(with_text(&failed)))?;
        }
        match end.file.is_empty() {
            true => self.went_on(),
            false => self.reached(None, &end),
        }
        Ok(())
    }

    /// Whether somebody wants the applier to end.
    fn must_end(&self) -> bool {
        self.connection.applier.should_stop() || self.is_killed()
    }

    fn is_killed(&self) -> bool {
        self.session.handle().kill.get() != Killed::No
    }

    /// The next event, outside of a group. None if it is time to look around.
    fn wait_for_event(&mut self) -> Result<Option<Vec<u8>>, End> {
        if self.must_end() {
            return Err(End::Stopped);
        }
        if let Some(error) = self.membership.as_ref().and_then(Membership::failure) {
            return Err(End::Failed(error));
        }
        let is_idle = self.reader.is_at_end();
        if is_idle {
            self.settle()?;
            self.purge();
        }
        self.set_state(if is_idle { WAITING } else { READING });
        match self.membership.as_ref().is_none_or(Membership::is_idle) {
            true if is_idle => self.connection.progress.lock().applying_since = None,
            true => {}
            false => self.resolve(),
        }
        let next = self.reader.next(LOOK).map_err(|error| relay_error(&error))?;
        if next.is_none()
            && self.connection.progress.lock().relay.file != self.reader.place().file
            && self.membership.as_ref().is_none_or(Membership::is_idle)
        {
            // The receiver may wait for the space of the files before.
            self.went_on();
        }
        if next.is_some() && is_idle {
            self.set_state(READING);
        }
        Ok(next)
    }

    /// The next event of a group. All of the group is there.
    fn within_group(&mut self) -> Result<Vec<u8>, Trouble> {
        loop {
            if self.must_end() {
                return Err(Trouble::End(End::Stopped));
            }
            let next = self.reader.next(LOOK);
            if let Some(bytes) = next.map_err(|error| Trouble::of(relay_error(&error)))? {
                return Ok(bytes);
            }
        }
    }

    fn set_state(&self, state: &'static str) {
        let mut progress = self.connection.progress.lock();
        if progress.applier_state != state {
            progress.applier_state = state;
            drop(progress);
            self.session.handle().set_state(state);
        }
    }

    fn frame<'b>(&self, bytes: &'b [u8]) -> SqlResult<Frame<'b>> {
        let frame = self.reader.course().split(bytes);
        frame.map_err(|error| relay_error(&io::Error::other(error)))
    }

    fn event<'b>(&self, frame: &Frame<'b>) -> SqlResult<Event<'b>> {
        let event = Event::decode(frame, self.reader.course().format());
        event.map_err(|error| relay_error(&io::Error::other(error)))
    }

    /// Whether an event is not one that its primary marked and this server leaves out.
    fn takes(&self, header: u16) -> bool {
        let marked = self.server.globals.get(ids().replicate_events_marked_for_skip);
        header & flags::SKIP_REPLICATION == 0 || marked.as_u64() == 0
    }
}

/// Reason why a group is not applied.
enum Trouble {
    End(End),
    Failed(Failed),
}

impl Trouble {
    fn of(error: SqlError) -> Self {
        Self::End(End::Failed(error))
    }
}

impl From<Failed> for Trouble {
    fn from(failed: Failed) -> Self {
        Self::Failed(failed)
    }
}

/// Tells the place of an event of rows that failed.
fn at_place(failed: Failed, file: &str, end: u32) -> Failed {
    if !failed.shows_place {
        return failed;
    }
    let text = format!("{}; the event's master log {file}, end_log_pos {end}", failed.text);
    Failed { text, ..failed }
}

/// Whether events of a type belong to no group.
fn is_outside(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::FORMAT_DESCRIPTION
            | EventKind::ROTATE
            | EventKind::STOP
            | EventKind::GTID_LIST
            | EventKind::BINLOG_CHECKPOINT
            | EventKind::HEARTBEAT
            | EventKind::START_ENCRYPTION
    )
}

/// The error of a group that failed, in the words of Last_SQL_Error.
pub(super) fn with_text(failed: &Failed) -> SqlError {
    let sqlstate = failed.error.sqlstate_bytes();
    SqlError::raw(failed.error.code(), sqlstate, failed.text.clone())
}

/// The error of an applier that cannot read its relay files.
pub(super) fn relay_error(error: &io::Error) -> SqlError {
    if is_bad_checksum(error) {
        return SqlError::new(&ER_BINLOG_READ_EVENT_CHECKSUM_FAILURE, &[]);
    }
    SqlError::new(&ER_SLAVE_RELAY_LOG_READ_FAILURE, &[&error])
}
