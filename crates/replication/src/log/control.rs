//! Riders without a group: a new file, the end of a life, a reset, a purge, another state.
//!
//! Must not change a file: the writer does, once the rider is durable.

use std::io;

use crate::codec::{Event, Format, GtidListEvent, Header, Rotate, flags};
use crate::file::MAGIC;
use crate::gtid::BinlogState;
use crate::log::binary_log::{BinaryLog, Refused, State};
use crate::log::files::{FileNumber, Place};
use crate::log::record::{FileHead, Op, Record};
use crate::log::seal::put_event;

/// Kind of a rider without a group.
enum Kind {
    /// The current file is followed by another one.
    Rotation,
    /// A server starts: a new file follows whatever the last one ends with.
    Life,
    /// The server stops.
    Stop,
    /// All files are removed, and the log begins anew.
    Reset(FileNumber, BinlogState),
    /// Files below this one are removed.
    Lowest(FileNumber),
    /// Another state.
    State(BinlogState),
}

/// A change of the log that becomes durable like a group.
pub struct Control<'a> {
    log: &'a BinaryLog,
    kind: Kind,
    now: u32,
    /// The record and its number, once it has a place.
    placed: Option<(u64, Vec<u8>)>,
    end: Place,
}

impl BinaryLog {
    fn control(&self, kind: Kind, now: u32) -> Control<'_> {
        Control { log: self, kind, now, placed: None, end: Place::default() }
    }

    /// A new file; the current one ends with ROTATE.
    pub fn rotation(&self, now: u32) -> Control<'_> {
        self.control(Kind::Rotation, now)
    }

    /// A new file at the start of a server: its FORMAT_DESCRIPTION says when that was. An empty log
    /// gets its first file.
    pub fn begin_life(&self, now: u32) -> Control<'_> {
        self.control(Kind::Life, now)
    }

    /// STOP at the end of the current file. No group gets a place afterwards.
    pub fn stop(&self, now: u32) -> Control<'_> {
        self.control(Kind::Stop, now)
    }

    /// RESET MASTER: the only file is a new one with number `to`, and no group is left.
    pub fn reset(&self, to: FileNumber, now: u32) -> Control<'_> {
        self.reset_with(to, BinlogState::default(), now)
    }

    /// As [`BinaryLog::reset`], with groups that count as logged: SET GLOBAL gtid_binlog_state.
    pub fn reset_with(&self, to: FileNumber, state: BinlogState, now: u32) -> Control<'_> {
        self.control(Kind::Reset(to.max(1), state), now)
    }

    /// Takes the files below `lowest` out of the log, but never the current one. Once this is
    /// written, [`BinaryLog::remove_purged`] removes them.
    pub fn purged(&self, lowest: FileNumber) -> Control<'_> {
        self.control(Kind::Lowest(lowest), 0)
    }

    /// Another state: FLUSH BINARY LOGS DELETE_DOMAIN_ID. A rotation should follow, since readers
    /// find the state at the beginning of a file.
    pub fn set_state(&self, state: BinlogState) -> Control<'_> {
        self.control(Kind::State(state), 0)
    }
}

impl Control<'_> {
    /// Takes the place, under the order lock. Returns the bytes that `fill` will append.
    pub fn place(&mut self) -> Result<usize, Refused> {
        let mut state = self.log.state();
        let tail = self.tail(&state);
        if !self.has_room(&mut state, &tail) {
            return Err(Refused::NoRoom);
        }
        let tail = tail.as_deref().map(|events| (state.tip.end, events));
        let head = self.head(&state);
        let head =
            |file: FileNumber| FileHead { file, checksum: state.settings.checksum, bytes: &head };
        let next = state.tip.end.file.saturating_add(1);
        let op = match &self.kind {
            Kind::Rotation => Op::Begin { tail, head: head(next) },
            Kind::Life => {
                // A file whose server crashed ends without an event for it.
                let tail = state.tip.is_open.then_some((state.tip.end, &[][..]));
                Op::Begin { tail, head: head(next) }
            }
            Kind::Stop => {
                let (place, events) = tail.unwrap_or((state.tip.end, &[]));
                Op::Stop { place, events }
            }
            Kind::Reset(to, gtids) => Op::Reset { gtids: gtids.gtids().collect(), head: head(*to) },
            Kind::Lowest(file) => Op::Lowest((*file).clamp(state.tip.lowest, state.tip.end.file)),
            Kind::State(gtids) => Op::State(gtids.gtids().collect()),
        };
        let number = state.tip.next;
        let mut record = Vec::new();
        Record { number, op: op.clone() }.encode(&mut record);
        let is_reset = matches!(op, Op::Reset { .. });
        let begins_file = is_reset || matches!(op, Op::Begin { .. });
        // The rules that are checked here hold: `has_room` has looked at the state.
        state.tip.apply(&op).map_err(|_| Refused::NoRoom)?;
        drop(state.queue_entry());
        if is_reset {
            // The file made for the old numbers goes with all others.
            state.made = None;
            state.seen.clear();
        }
        if begins_file {
            state.began_file();
        }
        self.end = state.tip.end;
        drop(state);
        let length = record.len();
        self.placed = Some((number, record));
        Ok(length)
    }

    /// The last event of the current file, if this ends the file.
    fn tail(&self, state: &State) -> Option<Vec<u8>> {
        let next = state.tip.end.file.checked_add(1)?;
        let name = self.log.files.name(next);
        let event = match self.kind {
            Kind::Rotation => Event::Rotate(Rotate { position: 4, file: name.as_bytes() }),
            Kind::Stop => Event::Stop,
            _ => return None,
        };
        let mut out = Vec::new();
        let place = (state.tip.end.offset, state.tip.checksum);
        put_event(&event, self.header(&event, state), place, &mut out);
        state.tip.is_open.then_some(out)
    }

    /// The first events of a new file, if this begins one.
    fn head(&self, state: &State) -> Vec<u8> {
        let mut gtids = &state.tip.gtids;
        let next = state.tip.end.file.saturating_add(1);
        let (file, created) = match &self.kind {
            Kind::Rotation => (next, 0),
            Kind::Life => (next, self.now),
            Kind::Reset(to, new) => {
                gtids = new;
                (*to, self.now)
            }
            Kind::Stop | Kind::Lowest(_) | Kind::State(_) => return Vec::new(),
        };
        let checksum = state.settings.checksum;
        let format = Format::new(&self.log.server_version, created, checksum);
        let list = GtidListEvent { flags: 0, gtids: gtids.gtids().collect() };
        let name = self.log.files.name(file);
        let events = [
            Event::FormatDescription(format),
            Event::GtidList(list),
            Event::BinlogCheckpoint(name.as_bytes()),
        ];
        let mut out = MAGIC.to_vec();
        for event in &events {
            let place = (out.len() as u64, checksum);
            put_event(event, self.header(event, state), place, &mut out);
        }
        out
    }

    fn header(&self, event: &Event<'_>, state: &State) -> Header {
        let mut header = Header::new(event.kind(), self.now, state.settings.server_id);
        if matches!(event, Event::FormatDescription(_)) {
            header.flags = flags::IN_USE;
        }
        header
    }

    /// Whether all is there that the record needs.
    fn has_room(&self, state: &mut State, tail: &Option<Vec<u8>>) -> bool {
        let length = tail.as_ref().map_or(0, |events| events.len() as u64);
        let fits = tail.is_none() || state.has_tail_room(length);
        match self.kind {
            Kind::Rotation => fits && state.tip.is_open && state.take_next_file(),
            Kind::Life => state.take_next_file(),
            Kind::Stop => fits && state.tip.is_open,
            Kind::Lowest(_) => state.tip.end.file != 0,
            Kind::Reset(..) | Kind::State(_) => true,
        }
    }

    /// Makes room after [`Refused::NoRoom`], without the order lock.
    pub fn make_room(&mut self) -> io::Result<()> {
        match self.kind {
            Kind::Rotation => {
                self.log.make_next_file()?;
                self.log.make_room(0)
            }
            Kind::Life => self.log.make_next_file(),
            Kind::Stop => self.log.make_room(0),
            Kind::Lowest(_) => Err(io::Error::other("the binary log has no file")),
            Kind::Reset(..) | Kind::State(_) => Ok(()),
        }
    }

    /// Appends the record after [`Control::place`], and queues it for the writer. When the engine's
    /// log is durable up to `lsn`, so is the record.
    pub fn fill(&mut self, lsn: u64, out: &mut Vec<u8>) {
        let Some((number, record)) = self.placed.take() else { return };
        out.extend_from_slice(&record);
        self.log.filled(number, lsn, record);
    }

    /// End of the log behind this record; the log's beginning before it has a place.
    pub fn end(&self) -> Place {
        self.end
    }
}
