//! An engine as far as riders see it: a log, an LSN up to which it is durable, a saved checkpoint.
//!
//! Must not be more orderly than a real one: records beyond the durable LSN may survive a crash.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use selkie_replication::Event;
use selkie_replication::codec::{Change, Xid};
use selkie_replication::codec::{Checksum, GtidEvent, Query, Rows, RowsVersion, StatusVars};
use selkie_replication::log::{BinaryLog, Cache, Control, Group, GroupHead, Refused, Settings};

use crate::files::{Random, Sim};

/// Either kind of rider.
pub(crate) trait Rides {
    fn place(&mut self) -> Result<usize, Refused>;
    fn make_room(&mut self) -> io::Result<()>;
    fn fill(&mut self, lsn: u64, out: &mut Vec<u8>);
}

impl Rides for Group<'_> {
    fn place(&mut self) -> Result<usize, Refused> {
        Group::place(self)
    }
    fn make_room(&mut self) -> io::Result<()> {
        Group::make_room(self)
    }
    fn fill(&mut self, lsn: u64, out: &mut Vec<u8>) {
        Group::fill(self, lsn, out);
    }
}

impl Rides for Control<'_> {
    fn place(&mut self) -> Result<usize, Refused> {
        Control::place(self)
    }
    fn make_room(&mut self) -> io::Result<()> {
        Control::make_room(self)
    }
    fn fill(&mut self, lsn: u64, out: &mut Vec<u8>) {
        Control::fill(self, lsn, out);
    }
}

/// A rider's bytes in the engine's log.
#[derive(Clone)]
pub(crate) struct Logged {
    pub(crate) lsn: u64,
    pub(crate) bytes: Vec<u8>,
    /// All group files that were there.
    pub(crate) groups: BTreeMap<u64, Vec<u8>>,
}

/// Reason why a rider did not get into the log.
#[derive(Debug)]
pub(crate) enum Failed {
    Refused(Refused),
    Io(#[allow(dead_code, reason = "shown when a test fails")] io::Error),
}

#[derive(Default)]
pub(crate) struct Engine {
    pub(crate) log: Vec<Logged>,
    pub(crate) durable: u64,
    /// LSN up to which the binary log knows of durability.
    pub(crate) told: u64,
    /// LSN up to which records may be in files.
    pub(crate) written: u64,
    /// The saved state, and the LSN of its checkpoint.
    saved: (Vec<u8>, u64),
}

pub(crate) fn settings(checksum: Checksum) -> Settings {
    Settings { max_size: 4096, checksum, server_id: 1 }
}

pub(crate) fn new_log(files: &Arc<Sim>, checksum: Checksum) -> BinaryLog {
    let files = Arc::clone(files);
    BinaryLog::new(files, "10.11.19-MariaDB-log", settings(checksum))
}

/// A log in its first life.
pub(crate) fn begun(checksum: Checksum) -> (Arc<Sim>, Engine, BinaryLog) {
    let (files, mut engine) = (Arc::new(Sim::default()), Engine::default());
    let log = new_log(&files, checksum);
    engine.start(&log).unwrap();
    engine.ride(&files, &mut log.begin_life(100)).unwrap();
    (files, engine, log)
}

impl Engine {
    /// Appends a rider. Returns its LSN.
    pub(crate) fn ride(&mut self, files: &Sim, rider: &mut dyn Rides) -> Result<u64, Failed> {
        let length = loop {
            match rider.place() {
                Ok(length) => break length,
                Err(Refused::NoRoom) => rider.make_room().map_err(Failed::Io)?,
                Err(refused) => return Err(Failed::Refused(refused)),
            }
        };
        let lsn = self.end() + 7;
        let groups = files.groups();
        let mut bytes = b"before".to_vec();
        rider.fill(lsn, &mut bytes);
        assert_eq!(&bytes[..6], b"before");
        let bytes = bytes[6..].to_vec();
        assert_eq!(bytes.len(), length, "place says what fill appends");
        self.log.push(Logged { lsn, bytes, groups });
        Ok(lsn)
    }

    pub(crate) fn end(&self) -> u64 {
        self.log.last().map_or(0, |logged| logged.lsn)
    }

    /// Flushes the log, and brings its records into files.
    pub(crate) fn write_all(&mut self, log: &BinaryLog) -> io::Result<()> {
        self.durable = self.end();
        self.told = self.durable;
        self.written = self.durable;
        log.write_upto(self.durable)
    }

    pub(crate) fn tell(&mut self, log: &BinaryLog) {
        log.durable(self.durable);
        self.told = self.durable;
    }

    /// Brings records into files that a loss of power may take from the log.
    pub(crate) fn write(&mut self, log: &BinaryLog, upto: u64) -> io::Result<()> {
        self.written = self.written.max(upto);
        log.write_ahead(upto)
    }

    pub(crate) fn checkpoint(&mut self, log: &BinaryLog) -> io::Result<()> {
        let upto = self.durable;
        self.told = upto;
        let state = log.checkpoint(upto)?;
        // The checkpoint's own record comes behind all others, and is flushed.
        self.durable = self.end();
        self.saved = (state, upto);
        Ok(())
    }

    /// Recovery.
    pub(crate) fn start(&self, log: &BinaryLog) -> io::Result<()> {
        log.restore(&self.saved.0)?;
        for logged in self.log.iter().filter(|logged| logged.lsn > self.saved.1) {
            log.replay(logged.lsn, &logged.bytes)?;
        }
        log.replayed()
    }

    /// The log loses a random part of what is not durable.
    pub(crate) fn crash(&mut self, random: &mut Random) {
        let durable = self.log.iter().filter(|logged| logged.lsn <= self.durable).count();
        let kept = durable as u64 + random.below((self.log.len() - durable) as u64 + 1);
        self.log.truncate(kept as usize);
        self.durable = self.end();
        (self.written, self.told) = (self.durable, 0);
    }

    /// A log on a disk that never failed, from all records.
    pub(crate) fn perfect(&self) -> Arc<Sim> {
        let files = Arc::new(Sim::default());
        let log = new_log(&files, Checksum::None);
        log.restore(&[]).unwrap();
        for logged in &self.log {
            files.set_groups(&logged.groups);
            log.replay(logged.lsn, &logged.bytes).unwrap();
        }
        files.set_groups(&BTreeMap::new());
        log.replayed().unwrap();
        files
    }
}

pub(crate) fn head(domain: u32, seq: Option<u64>) -> GroupHead {
    GroupHead {
        timestamp: 1234,
        server_id: 1,
        domain,
        seq,
        header: 0,
        flags: GtidEvent::TRANSACTIONAL,
        xa: None,
        strict: true,
    }
}

/// A statement as an event.
pub(crate) fn query(text: &[u8]) -> Event<'_> {
    Event::Query(Query {
        thread_id: 7,
        exec_time: 0,
        error_code: 0,
        status: StatusVars(&[]),
        database: b"d",
        text,
    })
}

/// Rows as an event.
pub(crate) fn rows(images: &[u8]) -> Event<'_> {
    Event::Rows(Rows {
        change: Change::Write,
        version: RowsVersion::V1,
        table_id: 18,
        flags: 0,
        extra: &[],
        columns: 1,
        present: &[1],
        present_after: &[],
        images,
    })
}

/// A group of a statement of so many bytes, and an end.
pub(crate) fn fill_cache(cache: &mut Cache, sizes: &[usize]) {
    for (at, size) in sizes.iter().enumerate() {
        let bytes = vec![at as u8; *size];
        let event = if at % 2 == 0 { rows(&bytes) } else { query(&bytes) };
        cache.add(&event, 1, 1, 0).unwrap();
    }
    cache.add(&Event::Xid(Xid(sizes.len() as u64)), 1, 1, 0).unwrap();
}

/// Commits a group of statements of so many bytes each.
pub(crate) fn commit(
    (files, engine): (&Sim, &mut Engine),
    log: &BinaryLog,
    sizes: &[usize],
) -> Result<u64, Failed> {
    let mut cache = log.cache();
    fill_cache(&mut cache, sizes);
    let mut group = log.group(head(0, None), &mut cache);
    engine.ride(files, &mut group)
}
