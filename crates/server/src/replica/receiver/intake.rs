//! Events on their way from the primary into relay files.
//!
//! Must not show an event of a group to readers before the group is whole. Bounded: a group that
//! does not end goes into the file unseen.

use std::convert::Infallible;
use std::io;
use std::time::Duration;

use rustix::io::Errno;
use selkie_protocol::replica::{Ack, Marked};
use selkie_replication::codec::{GtidListEvent, flags};
use selkie_replication::replica::{Place, Stream, StreamError, Taken};
use selkie_replication::{Event, EventKind, Header};
use selkie_types::SqlError;
use selkie_types::error::catalogue::{
    ER_MASTER_FATAL_ERROR_READING_BINLOG, ER_NET_PACKET_TOO_LARGE,
    ER_NETWORK_READ_EVENT_CHECKSUM_FAILURE, ER_OUT_OF_RESOURCES, ER_SLAVE_RELAY_LOG_WRITE_FAILURE,
};

use super::settings::{number, traces};
use super::{End, READ, Receiver, relay_settings, state};
use crate::replica::client::{Client, ClientError, TOO_LARGE};

/// Bytes that are written together.
const BATCH: usize = 256 << 10;
/// Time between two attempts to write to a full disk, and two looks at the relay files' space.
const LOOK: Duration = Duration::from_secs(1);
/// Part of `rpl_semi_sync_slave_trace_level`: every acknowledgement.
const TRACE_DETAIL: u64 = 16;
/// Attempts between two complaints in the log about a full disk.
const COMPLAINT: u32 = 600;

/// Events under way.
pub(super) struct Intake<'r> {
    receiver: &'r Receiver,
    client: Client,
    stream: Stream,
    /// Events that are not in the relay files.
    batch: Vec<u8>,
    /// Bytes of them that are whole groups.
    whole: usize,
    /// Whether a part of the running group is in the relay files.
    is_split: bool,
    /// Whether the stream has got on since the last flush.
    is_ahead: bool,
    /// Events that came since the last flush.
    events: u64,
    /// Events in the relay files that are not known to be durable.
    unsynced: u64,
    /// Bytes at which the batch is written: files do not become much larger than they should.
    most: usize,
    /// Acknowledgements that the primary wants.
    acks: Acks,
}

/// Acknowledgements that the primary wants.
#[derive(Debug, Default)]
struct Acks {
    /// Whether it wants one about the running group.
    is_asked: bool,
    /// End of the last complete group about which it wants one.
    place: Option<Place>,
}

impl Acks {
    /// All is complete up to a place.
    fn complete(&mut self, place: &Place) {
        if std::mem::take(&mut self.is_asked) {
            self.place = Some(place.clone());
        }
    }

    fn take(&mut self) -> Option<Place> {
        self.place.take()
    }
}

fn relay_failure() -> End {
    let what = "could not queue event from master";
    End::Fatal(SqlError::new(&ER_SLAVE_RELAY_LOG_WRITE_FAILURE, &[&what]))
}

impl<'r> Intake<'r> {
    pub(super) fn new(receiver: &'r Receiver, client: Client, stream: Stream) -> Self {
        Self {
            receiver,
            client,
            stream,
            batch: Vec::new(),
            whole: 0,
            is_split: false,
            is_ahead: false,
            events: 0,
            unsynced: 0,
            most: 0,
            acks: Acks::default(),
        }
    }

    /// Takes events until something ends that; an event resets `attempts`.
    pub(super) fn run(mut self, attempts: &mut u64) -> Result<Infallible, End> {
        loop {
            if let Err(end) = self.step(attempts) {
                // The groups that came whole need not come again.
                self.flush()?;
                return Err(end);
            }
        }
    }

    /// Takes the next event.
    fn step(&mut self, attempts: &mut u64) -> Result<(), End> {
        let has_arrived = self.client.take_arrived().map_err(|error| self.ended(&error))?;
        if !has_arrived {
            self.flush()?;
            self.receiver.set_state(state::WAITING);
            self.client.wait_event().map_err(|error| self.ended(&error))?;
            self.receiver.set_state(state::QUEUEING);
        }
        if self.take()? {
            *attempts = 0;
        }
        if self.receiver.should_stop() {
            return Err(End::Stopped);
        }
        if self.batch.len() >= self.most {
            self.flush()?;
            self.spill()?;
        }
        Ok(())
    }

    /// The end for an error of the connection.
    fn ended(&self, error: &ClientError) -> End {
        if self.receiver.should_stop() {
            return End::Stopped;
        }
        let is_too_large = error.is_network() && error.code() == TOO_LARGE;
        if is_too_large || error.code() == ER_NET_PACKET_TOO_LARGE.code {
            let most = number(&self.receiver.server, "slave_max_allowed_packet");
            let text = format!(
                "Log entry on master is longer than slave_max_allowed_packet ({most}) on slave. If \
                 the entry is correct, restart the server with a higher value of \
                 slave_max_allowed_packet"
            );
            return End::Fatal(SqlError::raw(ER_NET_PACKET_TOO_LARGE.code, *b"HY000", text));
        }
        if error.is_network() {
            return End::Lost(READ, None);
        }
        match error.code() {
            code if code == ER_MASTER_FATAL_ERROR_READING_BINLOG.code => {
                let arguments: &[&dyn std::fmt::Display] = &[&code, &error.message()];
                End::Fatal(SqlError::new(&ER_MASTER_FATAL_ERROR_READING_BINLOG, arguments))
            }
            code if code == ER_OUT_OF_RESOURCES.code => {
                End::Fatal(SqlError::raw(code, *b"HY000", error.message().to_owned()))
            }
            code => {
                tracing::warn!(
                    connection = self.receiver.handle.id,
                    "Slave I/O: error reading events from master: {} (server_errno={code})",
                    error.message()
                );
                End::Lost(READ, None)
            }
        }
    }

    /// Takes the event that has arrived. Returns whether it is more than the beginning that every
    /// new connection has.
    fn take(&mut self) -> Result<bool, End> {
        let (event, is_asked) = match self.client.event() {
            Ok(Some(Marked { event, is_asked })) => (event, is_asked),
            // The primary ends.
            Ok(None) => return Err(End::Lost(READ, None)),
            Err(error) => return Err(self.ended(&error)),
        };
        let taken = self.stream.take(event).map_err(|error| match error {
            StreamError::Checksum => {
                End::Fatal(SqlError::new(&ER_NETWORK_READ_EVENT_CHECKSUM_FAILURE, &[]))
            }
            StreamError::Malformed(error) => {
                tracing::error!("Slave I/O: malformed event from master: {error}");
                relay_failure()
            }
        })?;
        let header = Header::decode(event).map_err(|_| relay_failure())?;
        let is_last = header.kind == EventKind::GTID_LIST && self.reaches_until(event);
        let (is_kept, breaks, ends) = match taken {
            Taken::Heartbeat => {
                self.receiver.update(|progress| progress.received_heartbeats += 1);
                return Ok(true);
            }
            Taken::Passed { breaks } => (false, breaks, true),
            Taken::Kept { breaks, ends } => (true, breaks, ends),
        };
        if breaks {
            // The running group has no end.
            self.batch.truncate(self.whole);
            if std::mem::take(&mut self.is_split) {
                self.receiver.relay.cut();
            }
        }
        self.is_ahead |= ends;
        self.acks.is_asked |= is_asked;
        if ends {
            self.acks.complete(self.stream.complete());
        }
        let begins_file = header.kind == EventKind::ROTATE && header.has(flags::ARTIFICIAL);
        if begins_file && !self.stream.course().format_event().is_empty() {
            let event = event.to_vec();
            self.begin_file()?;
            self.batch.extend(event);
            self.whole = self.batch.len();
            self.is_ahead = true;
            return Ok(false);
        }
        if is_kept {
            let is_between = self.batch.len() == self.whole && !self.is_split;
            if is_between && let Some(told) = self.stream.take_passed(&self.receiver.writer()) {
                self.batch.extend(told);
                self.whole = self.batch.len();
            }
            self.batch.extend_from_slice(event);
            self.events += 1;
            if ends {
                self.whole = self.batch.len();
            }
        }
        // The primary sends nothing behind what START SLAVE UNTIL names.
        if is_last { Err(End::Stopped) } else { Ok(!is_of_beginning(header.kind)) }
    }

    /// Whether a list of groups says that what START SLAVE UNTIL names has been sent.
    fn reaches_until(&self, event: &[u8]) -> bool {
        let course = self.stream.course();
        let frame = course.split(event).ok();
        let event = frame.and_then(|frame| Event::decode(&frame, course.format()).ok());
        matches!(event, Some(Event::GtidList(list)) if list.flags & GtidListEvent::UNTIL_REACHED != 0)
    }

    /// Begins a relay file, as a file of the primary begins: so the lists of groups that files of
    /// the primary begin with are never in the middle of one.
    fn begin_file(&mut self) -> Result<(), End> {
        self.flush()?;
        let checksum = self.stream.course().format().checksum;
        self.receiver.relay.begin_stream(checksum).map_err(|error| {
            tracing::error!("Relay log: {error}");
            relay_failure()
        })
    }

    /// Puts the whole groups into the relay files, where readers see them.
    fn flush(&mut self) -> Result<(), End> {
        if !std::mem::take(&mut self.is_ahead) {
            return Ok(());
        }
        let server = &self.receiver.server;
        let relay = &self.receiver.relay;
        let settings = relay_settings(server, &self.receiver.connection);
        self.most = BATCH.min(settings.max_size as usize);
        relay.set(settings);
        self.wait_for_space()?;
        let mut events: Vec<u8> = self.batch.drain(..self.whole).collect();
        self.whole = 0;
        // Between groups, the applier is told of those passed over.
        if !self.stream.is_within_group() {
            events.extend(self.stream.take_passed(&self.receiver.writer()).unwrap_or_default());
        }
        if !events.is_empty() {
            self.write(&events)?;
            relay.publish();
            self.is_split = false;
            self.unsynced += std::mem::take(&mut self.events);
        }
        let (place, gtids) = (self.stream.complete().clone(), self.stream.gtids().clone());
        self.receiver.update(|progress| {
            progress.received = place;
            progress.received_gtids = gtids;
        });
        self.sync()?;
        self.acknowledge()
    }

    /// Makes the relay files durable as often as `sync_relay_log` says.
    fn sync(&mut self) -> Result<(), End> {
        let every = number(&self.receiver.server, "sync_relay_log");
        let is_due = every > 0 && self.unsynced >= every;
        if !is_due {
            return Ok(());
        }
        self.unsynced = 0;
        self.receiver.relay.sync().map_err(|error| {
            tracing::error!("Relay log: {error}");
            relay_failure()
        })
    }

    /// Tells the primary what it has asked for. All of that is in the relay files.
    fn acknowledge(&mut self) -> Result<(), End> {
        let Some(place) = self.acks.take() else { return Ok(()) };
        let ack = Ack { offset: place.offset, file: place.file.as_bytes() };
        self.client.acknowledge(&ack).map_err(|error| self.ended(&error))?;
        self.receiver.update(|progress| progress.acks.sent += 1);
        if traces(&self.receiver.server, TRACE_DETAIL) {
            let Place { file, offset } = &place;
            let id = self.receiver.handle.id;
            tracing::info!(connection = id, "Semi-sync: acknowledged '{file}', position {offset}");
        }
        Ok(())
    }

    /// Puts a part of a large group into the relay files, where no reader sees it.
    fn spill(&mut self) -> Result<(), End> {
        if self.batch.len() < BATCH {
            return Ok(());
        }
        let part = std::mem::take(&mut self.batch);
        self.is_split = true;
        self.write(&part)
    }

    /// Writes events; waits while the disk is full.
    fn write(&self, events: &[u8]) -> Result<(), End> {
        let mut attempts = 0;
        while let Err(error) = self.receiver.relay.push(events) {
            if !is_full(&error) {
                tracing::error!("Relay log: {error}");
                return Err(relay_failure());
            }
            if attempts % COMPLAINT == 0 {
                let base = &self.receiver.relay.names().base;
                tracing::error!(
                    "Disk is full writing '{base}' ({error}). Waiting for someone to free space..."
                );
            }
            attempts += 1;
            if self.receiver.pause(LOOK) {
                return Err(End::Stopped);
            }
        }
        Ok(())
    }

    /// Waits until the relay files are smaller than `relay_log_space_limit`. With one file there is
    /// nothing that the applier could let go.
    fn wait_for_space(&self) -> Result<(), End> {
        let limit = number(&self.receiver.server, "relay_log_space_limit");
        let relay = &self.receiver.relay;
        let is_full = || limit > 0 && relay.space() >= limit && relay.files().len() > 1;
        if !is_full() {
            return Ok(());
        }
        self.receiver.set_state(state::SPACE);
        while is_full() {
            if self.receiver.pause(LOOK) {
                return Err(End::Stopped);
            }
        }
        self.receiver.set_state(state::QUEUEING);
        Ok(())
    }
}

/// Whether an event of this type comes at the beginning of every connection.
fn is_of_beginning(kind: EventKind) -> bool {
    matches!(kind, EventKind::ROTATE | EventKind::FORMAT_DESCRIPTION | EventKind::GTID_LIST)
}

/// Whether a disk is full.
fn is_full(error: &io::Error) -> bool {
    let full = [Errno::NOSPC, Errno::DQUOT].map(Errno::raw_os_error);
    error.raw_os_error().is_some_and(|number| full.contains(&number))
}
