//! The log as all sessions share it: its end, its groups, the queue of what is not in files yet.
//!
//! Must not hold the state's lock over I/O. Locks are taken in this order: checkpoint, writer,
//! room, state.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::codec::Checksum;
use crate::gtid::{BinlogState, Gtid, OutOfOrder};
use crate::log::cache::Cache;
use crate::log::counts::Counts;
use crate::log::files::{FileNumber, LogFiles, Place};
use crate::log::limits::CacheLimits;
use crate::log::spill::Shelf;
use crate::log::tip::Tip;
use crate::log::writer::Writer;

/// Space that is reserved at once.
const ROOM_STEP: u64 = 4 << 20;
/// Space that is reserved in a new file.
const NEW_FILE_ROOM: u64 = 1 << 20;
/// Space that groups leave for the event at the end of a file.
const TAIL_ROOM: u64 = 1 << 10;
/// Records whose ends are known after the writer has taken them.
const TAKEN: usize = 16 << 10;
/// Buffers that are kept for later groups, and the largest size of one.
const POOL: usize = 64;
const POOLED_BYTES: usize = 64 << 10;

/// Bytes of a record that the engine's log takes, unless it says otherwise.
const MOST_RECORD: usize = 1 << 20;
/// Bytes of a group's record that are not in its cache: header and GTID event with an XA branch.
const FIRST_BYTES: usize = 1 << 10;
/// Records that are queued without an allocation.
const QUEUE: usize = 1024;

/// Settings that may change while the log is in use.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Bytes after which a file should be followed by another one (`max_binlog_size`).
    pub max_size: u64,
    /// Checksum of the next file's events (`binlog_checksum`).
    pub checksum: Checksum,
    /// The server that writes events about files.
    pub server_id: u32,
}

/// Reason why a rider gets no place.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// `make_room` must be called first.
    NoRoom,
    /// The explicit number is too low in strict mode (error 1950).
    OutOfOrder(OutOfOrder),
    /// The domain has no further number.
    SequenceEnd,
    /// The group is too large for any file (error 1197).
    TooLarge,
}

/// A record between its place and its files.
pub(super) struct Entry {
    pub(super) lsn: u64,
    /// The record; none before it is filled.
    pub(super) record: Option<Vec<u8>>,
    /// Whether the file that the record begins was created beforehand.
    pub(super) is_made: bool,
    /// End of the log behind the record.
    pub(super) end: Place,
}

/// Records that the writer has taken.
#[derive(Default)]
pub(super) struct Taken {
    /// LSN of the last one.
    pub(super) lsn: u64,
    /// LSNs and ends of the last ones.
    ends: VecDeque<(u64, Place)>,
}

impl Taken {
    /// Notes a record.
    pub(super) fn note(&mut self, lsn: u64, end: Place) {
        self.lsn = lsn;
        if self.ends.len() == TAKEN {
            self.ends.pop_front();
        }
        self.ends.push_back((lsn, end));
    }
}

/// All that changes with a place.
pub(super) struct State {
    pub(super) settings: Settings,
    /// State behind the last record that has a place.
    pub(super) tip: Tip,
    /// The records that the writer has not taken; the last one has number `tip.next - 1`.
    pub(super) queue: VecDeque<Entry>,
    /// The highest numbers of domains that were seen elsewhere: new groups get higher ones.
    pub(super) seen: BTreeMap<u32, u64>,
    pub(super) taken: Taken,
    /// Bytes that a record may have.
    pub(super) most_record: usize,
    /// LSN up to which the engine's log is known to be durable.
    pub(super) durable: u64,
    /// Counts of groups.
    pub(super) counts: Counts,
    /// Limits of new caches.
    pub(super) cache_limits: CacheLimits,
    /// Bytes of filled records that are not in files.
    pub(super) pending: u64,
    /// End of what is in files.
    pub(super) written: Place,
    /// Number of the first record that is not in files.
    pub(super) unwritten: u64,
    /// Offset up to which space is reserved in the current file.
    pub(super) room: u64,
    /// The next file, if it was created beforehand.
    pub(super) made: Option<FileNumber>,
    /// Until records below this number are in files, the current file may not exist.
    pub(super) blind: u64,
    pool: Vec<Vec<u8>>,
}

impl State {
    /// Whether space for a group is reserved.
    pub(super) fn has_room(&self, length: u64) -> bool {
        self.tip.end.offset.saturating_add(length + TAIL_ROOM) <= self.room
    }

    /// Whether a file's last event fits, for which groups left space.
    pub(super) fn has_tail_room(&self, length: u64) -> bool {
        self.tip.end.offset.saturating_add(length) <= self.room
    }

    /// Whether files are to be created by the writer, so that nothing can be prepared.
    pub(super) fn is_blind(&self) -> bool {
        self.unwritten < self.blind
    }

    /// Queues a record that was placed, unfilled. Returns an empty buffer for it.
    pub(super) fn queue_entry(&mut self) -> Vec<u8> {
        let end = self.tip.end;
        self.queue.push_back(Entry { lsn: 0, record: None, is_made: false, end });
        self.pool.pop().unwrap_or_default()
    }

    /// Keeps a buffer for later records.
    pub(super) fn recycle(&mut self, mut buffer: Vec<u8>) {
        if self.pool.len() < POOL && buffer.capacity() <= POOLED_BYTES {
            buffer.clear();
            self.pool.push(buffer);
        }
    }

    /// Number of the first record in the queue.
    pub(super) fn first(&self) -> u64 {
        self.tip.next - self.queue.len() as u64
    }

    /// The LSN of a record that has a place, once it is filled. For a record that the writer has
    /// taken it may be a later one.
    fn lsn_of(&self, number: u64) -> Option<u64> {
        match number.checked_sub(self.first()) {
            None => Some(self.taken.lsn),
            Some(at) => {
                let entry = self.queue.get(at as usize)?;
                entry.record.as_ref().map(|_| entry.lsn)
            }
        }
    }

    /// Takes another tip for both ends: at start, when nothing is queued.
    /// The number of the next group of a domain.
    pub(super) fn next_seq(&self, domain: u32) -> Option<u64> {
        let next = self.tip.gtids.next_seq(domain)?;
        match self.seen.get(&domain) {
            Some(seen) => seen.checked_add(1).map(|behind| behind.max(next)),
            None => Some(next),
        }
    }

    /// At start: a state without queue.
    pub(super) fn restart(&mut self, tip: &Tip) {
        self.queue.clear();
        (self.pending, self.room, self.made, self.blind) = (0, 0, None, 0);
        (self.taken.lsn, self.written, self.unwritten) = (tip.lsn, tip.end, tip.next);
        self.tip = tip.clone();
    }
}

/// A binary log.
pub struct BinaryLog {
    pub(super) files: Arc<dyn LogFiles>,
    pub(super) server_version: String,
    state: Mutex<State>,
    /// Somebody waits until records are filled.
    is_filled: Condvar,
    pub(super) writer: Mutex<Writer>,
    /// Held over creating, reserving and removing files.
    pub(super) room: Mutex<()>,
    /// Group files whose groups the last checkpoint has.
    pub(super) spent: Mutex<Vec<u64>>,
    pub(super) shelf: Shelf,
}

impl BinaryLog {
    /// A log that has no file yet: [`BinaryLog::restore`] and so on, and then
    /// [`BinaryLog::begin_life`] give it some.
    pub fn new(files: Arc<dyn LogFiles>, server_version: &str, settings: Settings) -> BinaryLog {
        let state = State {
            settings,
            tip: Tip::default(),
            queue: VecDeque::with_capacity(QUEUE),
            seen: BTreeMap::new(),
            taken: Taken::default(),
            most_record: MOST_RECORD,
            durable: 0,
            counts: Counts::default(),
            cache_limits: CacheLimits::default(),
            pending: 0,
            written: Place::default(),
            unwritten: 1,
            room: 0,
            made: None,
            blind: 0,
            pool: Vec::new(),
        };
        let shelf = Shelf { files: Arc::clone(&files), ids: Arc::new(AtomicU64::new(1)) };
        BinaryLog {
            files,
            server_version: server_version.to_owned(),
            state: Mutex::new(state),
            is_filled: Condvar::new(),
            writer: Mutex::new(Writer::default()),
            room: Mutex::new(()),
            spent: Mutex::new(Vec::new()),
            shelf,
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// The files, for those who read them.
    pub fn log_files(&self) -> &Arc<dyn LogFiles> {
        &self.files
    }

    /// An empty cache for a session: it has the current file's checksum, and may use a group file.
    pub fn cache(&self) -> Cache {
        let state = self.state();
        let most_small = state.most_record.saturating_sub(FIRST_BYTES);
        Cache::on(self.shelf.clone(), state.tip.checksum, most_small)
    }

    /// Says how many bytes a rider may bring, before the first cache is made.
    pub fn set_most_record(&self, bytes: usize) {
        self.state().most_record = bytes;
    }

    /// Says that groups were seen elsewhere: new groups of their domains get higher numbers.
    pub fn note_seen(&self, gtids: impl IntoIterator<Item = Gtid>) {
        let mut state = self.state();
        for gtid in gtids {
            let seen = state.seen.entry(gtid.domain).or_default();
            *seen = gtid.seq.max(*seen);
        }
    }

    /// The settings.
    pub fn settings(&self) -> Settings {
        self.state().settings
    }

    /// Changes settings. A new checksum comes with the next file.
    pub fn change_settings(&self, change: impl FnOnce(&mut Settings)) {
        change(&mut self.state().settings);
    }

    /// Checksum of the current file's events.
    pub fn checksum(&self) -> Checksum {
        self.state().tip.checksum
    }

    /// End of the last group that has a place.
    pub fn end(&self) -> Place {
        self.state().tip.end
    }

    /// End of the last record with an LSN up to `lsn`, below which all records are filled. `None`
    /// if so many records came later that it is not known any more.
    pub fn end_at(&self, lsn: u64) -> Option<Place> {
        let state = self.state();
        let queued = state.queue.iter().rev().filter(|entry| entry.record.is_some());
        let queued = queued.map(|entry| (entry.lsn, entry.end));
        let mut known = queued.chain(state.taken.ends.iter().rev().copied());
        known.find(|(known, _)| *known <= lsn).map(|(_, end)| end)
    }

    /// The LSN that must be durable before somebody is told [`BinaryLog::end`].
    pub fn end_lsn(&self) -> u64 {
        let mut state = self.state();
        let last = state.tip.next - 1;
        self.filled_lsn(&mut state, last)
    }

    /// The last groups of all that have a place.
    pub fn gtid_state(&self) -> BinlogState {
        self.state().tip.gtids.clone()
    }

    /// End, groups, and the LSN that must be durable before somebody is told them. Waits for riders
    /// between `place` and `fill`, so that a thread with such a rider must not call this.
    pub fn snapshot(&self) -> (Place, BinlogState, u64) {
        let mut state = self.state();
        let (end, gtids, last) = (state.tip.end, state.tip.gtids.clone(), state.tip.next - 1);
        (end, gtids, self.filled_lsn(&mut state, last))
    }

    fn filled_lsn(&self, state: &mut MutexGuard<'_, State>, number: u64) -> u64 {
        loop {
            if let Some(lsn) = state.lsn_of(number) {
                return lsn;
            }
            self.is_filled.wait(state);
        }
    }

    /// The files and their lengths, with all that has a place. The current one is the last.
    pub fn files(&self) -> Vec<(FileNumber, u64)> {
        self.state().tip.files().collect()
    }

    /// End of what readers find in files.
    pub fn written(&self) -> Place {
        self.state().written
    }

    /// Counts of groups since the start.
    pub fn counts(&self) -> Counts {
        self.state().counts
    }

    /// FLUSH STATUS: counts used caches from here.
    pub fn forget_caches(&self) {
        let counts = &mut self.state().counts;
        (counts.transactions, counts.statements) = Default::default();
    }

    /// Bytes of records that are filled but not in files.
    pub fn pending_bytes(&self) -> u64 {
        self.state().pending
    }

    /// Whether the current file has reached its size, so that [`BinaryLog::rotation`] is due.
    /// Callers ask again under a lock of their own before they rotate, or two rotate at once.
    pub fn wants_rotation(&self) -> bool {
        let state = self.state();
        state.tip.is_open && state.tip.end.offset >= state.settings.max_size
    }

    /// Says that the engine's log is durable up to `lsn`. [`BinaryLog::write_ahead`] lets records
    /// that remove files wait for this.
    pub fn durable(&self, lsn: u64) {
        let mut state = self.state();
        state.durable = state.durable.max(lsn);
    }

    /// Fills a queued record.
    pub(super) fn filled(&self, number: u64, lsn: u64, record: Vec<u8>) {
        let mut state = self.state();
        state.pending += record.len() as u64;
        let first = state.first();
        let at = number.checked_sub(first).map(|at| at as usize);
        if let Some(entry) = at.and_then(|at| state.queue.get_mut(at)) {
            (entry.lsn, entry.record) = (lsn, Some(record));
        }
        drop(state);
        self.is_filled.notify_all();
    }

    /// Reserves space for a group.
    pub(super) fn make_room(&self, length: u64) -> io::Result<()> {
        let _room = self.room.lock();
        let (file, upto) = {
            let mut state = self.state();
            if !state.tip.is_open {
                return Err(io::Error::other("the binary log is closed"));
            }
            let end = state.tip.end;
            let upto = end.after(length + TAIL_ROOM).after(ROOM_STEP).offset;
            if state.is_blind() {
                // The file may not be there yet. A reset has just freed the space of the others.
                state.room = state.room.max(upto);
                return Ok(());
            }
            (end.file, upto)
        };
        self.files.reserve(file, upto)?;
        let mut state = self.state();
        if state.tip.end.file == file && !state.is_blind() {
            state.room = state.room.max(upto);
        }
        Ok(())
    }

    /// Creates the file behind the current one.
    pub(super) fn make_next_file(&self) -> io::Result<()> {
        let _room = self.room.lock();
        let next = {
            let state = self.state();
            let next = state.tip.end.file.checked_add(1);
            let next = next.ok_or_else(|| io::Error::other("the last file number is taken"))?;
            if state.is_blind() || state.made == Some(next) {
                return Ok(());
            }
            next
        };
        self.files.create(next)?;
        let reserved = self.files.reserve(next, NEW_FILE_ROOM);
        let mut state = self.state();
        let is_next = state.tip.end.file.checked_add(1) == Some(next) && !state.is_blind();
        if is_next && reserved.is_ok() {
            state.made = Some(next);
            return Ok(());
        }
        drop(state);
        self.files.remove(next)?;
        reserved
    }
}

impl State {
    /// Takes the next file for a record that begins it. False if it must be created first.
    pub(super) fn take_next_file(&mut self) -> bool {
        let next = self.tip.end.file.checked_add(1);
        if self.is_blind() {
            return next.is_some();
        }
        next.is_some() && self.made == next
    }

    /// Notes that the last placed record began a file: the one created beforehand, or one that the
    /// writer will create.
    pub(super) fn began_file(&mut self) {
        let is_made = self.made.take() == Some(self.tip.end.file) && !self.is_blind();
        self.room = NEW_FILE_ROOM.max(self.tip.end.offset);
        if is_made {
            self.queue.iter_mut().next_back().into_iter().for_each(|entry| entry.is_made = true);
        } else {
            self.blind = self.tip.next;
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRoom => write!(f, "no space is reserved yet"),
            Self::OutOfOrder(order) => order.fmt(f),
            Self::SequenceEnd => write!(f, "the domain has no further number"),
            Self::TooLarge => write!(f, "the group is too large"),
        }
    }
}

impl std::error::Error for Refused {}
