//! Crashes at any call of the file system: afterwards the files are what the engine's log says,
//! byte for byte, and what a reader saw before.
//!
//! Must compare with two oracles: a log on a disk that never failed, and the list of groups.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use selkie_replication::codec::Checksum;
use selkie_replication::file::Events;
use selkie_replication::gtid::BinlogState;
use selkie_replication::log::{BinaryLog, FileNumber};
use selkie_replication::{Event, Gtid};

use crate::engine::{Engine, Failed, begun, fill_cache, head, new_log};
use crate::files::{Random, Sim};

#[derive(Clone, Debug)]
enum Step {
    Commit {
        sizes: Vec<usize>,
        spill_at: usize,
        domain: u32,
    },
    Rotate,
    Reset(FileNumber),
    Purge(FileNumber),
    State,
    Checksum(bool),
    /// The engine's log becomes durable up to a record this far from its end.
    Flush(u64),
    /// The log learns what is durable.
    Durable,
    /// Files get what is durable, and so many records more.
    Write(usize),
    RemovePurged,
    Checkpoint,
    /// A checkpoint whose state the engine does not save before it crashes.
    LostCheckpoint,
    /// The file system fails after so many calls.
    Fuse(u64),
    Crash {
        during: Option<u64>,
    },
    Stop,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let sizes = prop::collection::vec(0..400usize, 0..6);
    let commit = (sizes, 50..1500usize, 0..3u32)
        .prop_map(|(sizes, spill_at, domain)| Step::Commit { sizes, spill_at, domain });
    let step = prop_oneof![
        12 => commit,
        4 => Just(Step::Rotate),
        1 => (1..5u32).prop_map(Step::Reset),
        2 => (1..12u32).prop_map(Step::Purge),
        1 => Just(Step::State),
        1 => any::<bool>().prop_map(Step::Checksum),
        4 => (0..3u64).prop_map(Step::Flush),
        3 => Just(Step::Durable),
        4 => prop_oneof![Just(0), 0..5usize].prop_map(Step::Write),
        2 => Just(Step::RemovePurged),
        3 => Just(Step::Checkpoint),
        1 => Just(Step::LostCheckpoint),
        2 => (0..12u64).prop_map(Step::Fuse),
        2 => prop::option::of(0..12u64).prop_map(|during| Step::Crash { during }),
        1 => Just(Step::Stop),
    ];
    prop::collection::vec(step, 0..60)
}

/// A record as the model sees it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Note {
    Group(Gtid),
    Reset,
    /// The state loses domain 2.
    Forget,
}

/// Files as a reader saw them, and how many resets there had been.
#[derive(Default)]
struct Seen {
    resets: usize,
    files: BTreeMap<FileNumber, Vec<u8>>,
}

/// A log, its engine, and what a reader has seen.
struct World {
    files: Arc<Sim>,
    engine: Engine,
    log: BinaryLog,
    random: Random,
    /// Records by their LSN.
    notes: Vec<(u64, Note)>,
    seen: Seen,
}

impl World {
    fn new(seed: u64) -> Self {
        let (files, engine, log) = begun(Checksum::Crc32);
        let random = Random(seed);
        Self { files, engine, log, random, notes: Vec::new(), seen: Seen::default() }
    }

    fn take(&mut self, step: &Step) {
        if self.run(step).is_err() {
            self.crash(None);
        }
    }

    fn run(&mut self, step: &Step) -> Result<(), Failed> {
        let (files, engine, log) = (&*self.files, &mut self.engine, &self.log);
        match step {
            Step::Commit { sizes, spill_at, domain } => {
                let mut cache = log.cache();
                cache.set_limits(*spill_at, u64::MAX);
                if fill(&mut cache, sizes).is_err() {
                    return Err(Failed::Io(std::io::Error::other("spill")));
                }
                let mut group = log.group(head(*domain, None), &mut cache);
                let lsn = engine.ride(files, &mut group)?;
                self.notes.push((lsn, Note::Group(group.gtid())));
            }
            Step::Rotate => drop(engine.ride(files, &mut log.rotation(9))?),
            Step::Reset(to) => {
                let lsn = engine.ride(files, &mut log.reset(*to, 9))?;
                self.notes.push((lsn, Note::Reset));
            }
            Step::Purge(lowest) => drop(engine.ride(files, &mut log.purged(*lowest))?),
            Step::State => {
                let mut state = log.gtid_state();
                state.forget(2);
                let lsn = engine.ride(files, &mut log.set_state(state))?;
                self.notes.push((lsn, Note::Forget));
                engine.ride(files, &mut log.rotation(9))?;
            }
            Step::Checksum(crc) => {
                let checksum = if *crc { Checksum::Crc32 } else { Checksum::None };
                log.change_settings(|settings| settings.checksum = checksum);
            }
            Step::Flush(back) => {
                let count = engine.log.len().saturating_sub(*back as usize);
                let lsn = engine.log[..count].last().map_or(0, |logged| logged.lsn);
                engine.durable = engine.durable.max(lsn);
            }
            Step::Durable => engine.tell(log),
            Step::Write(more) => {
                let mut behind = engine.log.iter().filter(|logged| logged.lsn > engine.durable);
                let last =
                    more.checked_sub(1).and_then(|more| behind.by_ref().take(more + 1).last());
                let upto = last.map_or(engine.durable, |logged| logged.lsn);
                engine.write(log, upto).map_err(Failed::Io)?;
                self.look();
            }
            Step::RemovePurged => log.remove_purged().map_err(Failed::Io)?,
            Step::Checkpoint => engine.checkpoint(log).map_err(Failed::Io)?,
            Step::LostCheckpoint => {
                engine.told = engine.durable;
                log.checkpoint(engine.durable).map_err(Failed::Io)?;
                self.crash(None);
            }
            Step::Fuse(calls) => files.set_fuse(Some(*calls)),
            Step::Crash { during } => self.crash(*during),
            Step::Stop => self.stop()?,
        }
        Ok(())
    }

    /// A clean stop and start.
    fn stop(&mut self) -> Result<(), Failed> {
        let (files, engine, log) = (&*self.files, &mut self.engine, &self.log);
        engine.ride(files, &mut log.stop(9))?;
        engine.write_all(log).map_err(Failed::Io)?;
        self.look();
        self.engine.checkpoint(&self.log).map_err(Failed::Io)?;
        self.restart();
        Ok(())
    }

    /// Reads all that is written, as a reader does who gets nothing that is not durable.
    fn look(&mut self) {
        let durable = self.engine.durable;
        // A reset that waits is in no file.
        let waits = self.resets(durable) != self.resets(self.engine.told);
        if self.engine.written > durable || waits {
            return;
        }
        let written = self.log.written();
        let mut files = self.files.all();
        files.retain(|file, _| *file <= written.file);
        if let Some(bytes) = files.get_mut(&written.file) {
            bytes.truncate(written.offset as usize);
        }
        self.seen = Seen { resets: self.resets(durable), files };
    }

    /// Resets up to an LSN.
    fn resets(&self, upto: u64) -> usize {
        self.notes.iter().filter(|(lsn, note)| *lsn <= upto && *note == Note::Reset).count()
    }

    fn crash(&mut self, during: Option<u64>) {
        self.engine.crash(&mut self.random);
        let end = self.engine.end();
        self.notes.retain(|(lsn, _)| *lsn <= end);
        self.files.crash(&mut self.random);
        if during.is_some() {
            self.files.set_fuse(during);
            let log = new_log(&self.files, Checksum::None);
            let _ = self.engine.start(&log);
            self.files.crash(&mut self.random);
        }
        self.restart();
    }

    /// A new life, and a look at all that was kept.
    fn restart(&mut self) {
        self.files.set_fuse(None);
        self.log = new_log(&self.files, Checksum::Crc32);
        self.engine.start(&self.log).unwrap();
        let perfect = self.engine.perfect();
        assert_eq!(self.files.index(), perfect.index());
        assert_same(&self.files.all(), &perfect.all());
        self.check_groups();
        self.check_seen();
        self.engine.ride(&self.files, &mut self.log.begin_life(10)).unwrap();
    }

    /// Compares the groups in files, and the state, with the records.
    fn check_groups(&self) {
        let reset = self.notes.iter().rposition(|(_, note)| *note == Note::Reset);
        let since = self.notes.split_at(reset.map_or(0, |at| at + 1)).1;
        let (mut committed, mut state) = (Vec::new(), BinlogState::default());
        for (_, note) in since {
            match note {
                Note::Group(gtid) => {
                    committed.push(*gtid);
                    state.add(*gtid);
                }
                Note::Forget => drop(state.forget(2)),
                Note::Reset => {}
            }
        }
        let found = groups(&self.files.all());
        // Purged files had the first ones.
        assert!(committed.ends_with(&found), "{committed:?} {found:?}");
        if self.log.files().first().is_some_and(|(file, _)| *file == 1) && reset.is_none() {
            assert_eq!(committed, found);
        }
        assert_eq!(self.log.gtid_state(), state);
        // A rotation may not have followed.
        if !since.iter().any(|(_, note)| *note == Note::Forget) && self.log.end().file != 0 {
            assert_eq!(self.log.binlog_gtid_pos(self.log.end()).unwrap(), Some(state));
        }
        assert_eq!(self.log.written(), self.log.end());
    }

    /// Compares the files with what a reader saw of them.
    fn check_seen(&mut self) {
        let (all, seen) = (self.files.all(), std::mem::take(&mut self.seen));
        if seen.resets != self.resets(u64::MAX) {
            return;
        }
        for (file, mut seen) in seen.files {
            let Some(mut bytes) = all.get(&file).cloned() else { continue };
            // That the file is in use is no longer so.
            [&mut bytes, &mut seen].into_iter().for_each(|bytes| bytes[21] = 0);
            assert!(bytes.starts_with(&seen), "file {file}");
        }
    }
}

/// The groups of files, all of whose events must be readable.
fn groups(files: &BTreeMap<FileNumber, Vec<u8>>) -> Vec<Gtid> {
    let mut found = Vec::new();
    for event in files.values().flat_map(|bytes| Events::new(bytes)).map(Result::unwrap) {
        let server = event.frame.header.server_id;
        if let Event::Gtid(gtid) = event.event {
            found.push(Gtid { domain: gtid.domain, server, seq: gtid.seq });
        }
    }
    found
}

/// Compares files; the message shows no bytes.
fn assert_same(all: &BTreeMap<FileNumber, Vec<u8>>, perfect: &BTreeMap<FileNumber, Vec<u8>>) {
    let numbers = |files: &BTreeMap<_, Vec<u8>>| -> Vec<_> {
        files.iter().map(|(file, bytes)| (*file, bytes.len())).collect()
    };
    assert_eq!(numbers(all), numbers(perfect));
    for (file, bytes) in all {
        let differs = bytes.iter().zip(&perfect[file]).position(|(a, b)| a != b);
        assert_eq!(differs, None, "file {file}");
    }
}

fn fill(cache: &mut selkie_replication::log::Cache, sizes: &[usize]) -> Result<(), ()> {
    let bytes = vec![b'x'; 400];
    for size in sizes {
        let event = crate::engine::query(&bytes[..*size]);
        cache.add(&event, 1, 1, 0).map_err(drop)?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]
    #[test]
    fn a_crash_changes_no_byte_that_is_durable(steps in steps(), seed: u64) {
        let mut world = World::new(seed);
        for step in &steps {
            world.take(step);
        }
        world.crash(None);
    }
}

#[test]
fn a_cache_that_is_dropped_leaves_no_group_file() {
    let (files, _, log) = begun(Checksum::Crc32);
    let mut cache = log.cache();
    cache.set_limits(100, u64::MAX);
    fill_cache(&mut cache, &[90, 90, 90]);
    assert!(cache.used_disk());
    assert_eq!(files.groups().len(), 1);
    drop(cache);
    assert!(files.groups().is_empty());
}
