//! The log over a real engine and real files, with groups that no session made.
//!
//! Must not need a server: statements are tested over the wire.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use selkie_engine::{Engine, EngineResult, Lsn, Refusal, Rider};
use selkie_exec::Killed;
use selkie_native::{NativeEngine, NativeOptions};
use selkie_replication::codec::{Checksum, GtidEvent, Xid};
use selkie_replication::gtid::Position;
use selkie_replication::log::{Group, GroupHead, Settings};
use selkie_replication::{DatabaseFilter, Event};
use selkie_types::{SqlError, SqlResult};

use super::files::DiskLogFiles;
use super::life::Binlog;
use super::names::LogNames;
use super::rider::engine_error;
use crate::dumps::Haste;
use crate::net::Closer;
use crate::sessions::{Door, SessionHandle};

/// A group as a session's commit carries it.
struct GroupRider<'a>(Group<'a>);

impl Rider for GroupRider<'_> {
    fn place(&mut self) -> Result<usize, Refusal> {
        self.0.place().map_err(|refused| match refused {
            selkie_replication::log::Refused::NoRoom => Refusal::NoRoom,
            other => Refusal::Error(Box::new(SqlError::internal(other.to_string()))),
        })
    }

    fn make_room(&mut self) -> EngineResult<()> {
        self.0.make_room().map_err(engine_error)
    }

    fn fill(&mut self, lsn: Lsn, out: &mut Vec<u8>) {
        self.0.fill(lsn.0, out);
    }
}

/// A server's log and engine.
struct Life {
    binlog: Arc<Binlog>,
    engine: Arc<dyn Engine>,
}

impl Life {
    fn begin(directory: &Path) -> Self {
        let files = DiskLogFiles::new(LogNames::new("bl", None, "", directory));
        let settings = Settings { max_size: 4096, checksum: Checksum::Crc32, server_id: 1 };
        let binlog = Arc::new(Binlog::new(files, "10.11", settings, DatabaseFilter::default()));
        let rider_files = Some(binlog.rider_files());
        let options = NativeOptions { rider_files, ..NativeOptions::default() };
        let engine: Arc<dyn Engine> = Arc::new(NativeEngine::open(directory, &options).unwrap());
        binlog.begin(&engine).unwrap();
        Self { binlog, engine }
    }

    /// Logs a group of `bytes` bytes of comments.
    fn group(&self, domain: u32, bytes: usize) {
        let log = self.binlog.log();
        let mut cache = log.cache();
        cache.add(&Event::AnnotateRows(&vec![b'x'; bytes]), 1, 1, 0).unwrap();
        cache.add(&Event::Xid(Xid(1)), 1, 1, 0).unwrap();
        let head = GroupHead {
            timestamp: 1,
            server_id: 1,
            domain,
            seq: None,
            header: 0,
            flags: GtidEvent::TRANSACTIONAL,
            xa: None,
            strict: false,
        };
        self.engine.append(&mut GroupRider(log.group(head, &mut cache))).unwrap();
        self.binlog.after_statement();
    }

    fn names(&self) -> Vec<String> {
        let files = self.binlog.told_files().unwrap();
        files.into_iter().map(|(file, _)| self.binlog.files().names().file(file)).collect()
    }

    /// Numbers of the groups of all files, by reading them.
    fn groups(&self) -> Vec<u64> {
        let mut found = Vec::new();
        for (file, _) in self.binlog.told_files().unwrap() {
            let mut scan = self.binlog.log().scan(file).unwrap();
            while let Some(placed) = scan.next_event().unwrap() {
                if let Event::Gtid(gtid) = &placed.event {
                    found.push(gtid.seq);
                }
            }
        }
        found
    }

    fn end(self) {
        self.binlog.end();
        self.engine.shutdown().unwrap();
    }
}

/// A directory of its own, which is removed with the value.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("selkie-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn code<T>(result: SqlResult<T>) -> u16 {
    result.err().map_or(0, |error| error.code())
}

#[test]
fn groups_outlive_restarts_and_full_files() {
    let directory = Directory::new("binlog-lives");
    let life = Life::begin(&directory.0);
    (0..10).for_each(|_| life.group(0, 1000));
    assert_eq!(life.names().len(), 3, "a file is followed by another one at 4 KiB");
    assert_eq!(life.groups(), (1..=10).collect::<Vec<_>>());
    // Larger than any group that rides with its commit.
    life.group(0, 3 << 20);
    life.end();
    let life = Life::begin(&directory.0);
    life.group(0, 10);
    assert_eq!(life.groups(), (1..=12).collect::<Vec<_>>());
    assert_eq!(life.binlog.log().gtid_state().to_string(), "0-1-12");
    life.end();
}

#[test]
fn positions_are_those_of_the_events() {
    let directory = Directory::new("binlog-positions");
    let life = Life::begin(&directory.0);
    life.group(0, 10);
    life.binlog.rotate(1).unwrap();
    life.group(0, 10);
    life.group(1, 10);
    let at = |offset| life.binlog.position_at("bl.000002", offset).unwrap();
    let before = Some("0-1-1".to_owned());
    // The list of one group ends at 299, the checkpoint at its own name's length behind that.
    let begin = 299 + 19 + 4 + 9 + 4;
    assert_eq!(
        [at(0), at(4), at(256), at(299)],
        [before.clone(), before.clone(), before.clone(), before.clone()]
    );
    assert_eq!((at(begin), at(begin - 1), at(257)), (before, None, None));
    let group = 42 + (19 + 10 + 4) + 31;
    assert_eq!(at(begin + group).as_deref(), Some("0-1-2"));
    assert_eq!(at(begin + 2 * group).as_deref(), Some("0-1-2,1-1-1"));
    assert_eq!(at(begin + 2 * group + 1), None);
    assert_eq!(life.binlog.position_at("bl.000003", 4).unwrap(), None);
    life.end();
}

#[test]
fn files_go_from_the_front() {
    let directory = Directory::new("binlog-purge");
    let life = Life::begin(&directory.0);
    for domain in [0, 1, 0] {
        life.group(domain, 10);
        life.binlog.rotate(1).unwrap();
    }
    let log = Arc::clone(life.binlog.log());
    let mut notes = Vec::new();
    assert_eq!(code(life.binlog.purge_to("bl.000009", &mut notes)), 1373);
    life.binlog.purge_to("bl.000002", &mut notes).unwrap();
    assert_eq!(life.names(), ["bl.000002", "bl.000003", "bl.000004"]);
    assert_eq!(code(life.binlog.begin_with("5-5-5".parse().unwrap())), 1956);
    life.binlog.purge_before(u64::MAX, &mut notes).unwrap();
    assert_eq!(life.names(), ["bl.000004"], "the current file stays");
    assert_eq!(log.gtid_state().to_string(), "0-1-2,1-1-1");
    life.binlog.reset(Some(7), 1).unwrap();
    assert_eq!(
        (life.names(), log.gtid_state().to_string()),
        (vec!["bl.000007".to_owned()], String::new())
    );
    assert_eq!(code(life.binlog.reset(Some(1 << 32), 1)), 1098);
    life.group(0, 10);
    assert_eq!(life.groups(), [1]);
    life.end();
    let life = Life::begin(&directory.0);
    assert_eq!(life.names(), ["bl.000007", "bl.000008"]);
    life.end();
}

#[test]
fn readers_get_what_is_durable_and_no_more() {
    let directory = Directory::new("served");
    let life = Life::begin(&directory.0);
    for mode in [1, 2, 0] {
        life.engine.set_variable("innodb_flush_log_at_trx_commit", mode);
        life.group(0, 10);
        let is_durable = || life.engine.is_synced(Lsn(life.binlog.log().end_lsn()));
        let (found, upto) = life.binlog.found(1, Position::default()).unwrap();
        assert_eq!((found.upto, upto), (upto, life.binlog.log().end()), "mode {mode}");
        assert!(is_durable() && life.binlog.log().written() >= upto, "mode {mode}");
        life.group(0, 10);
        let later = life.binlog.served(upto, Haste::None).unwrap();
        assert_eq!(later, life.binlog.log().end());
        assert!(later > upto && is_durable(), "mode {mode}");
    }
    life.end();
}

#[test]
fn a_file_that_is_read_is_not_purged() {
    let directory = Directory::new("readers");
    let life = Life::begin(&directory.0);
    life.binlog.rotate(1).unwrap();
    life.binlog.rotate(1).unwrap();
    let session =
        |id| Arc::new(SessionHandle::new(id, String::new(), Closer::default(), Door::Main));
    let handles = [session(1), session(2)];
    let first = life.binlog.readers.enter(5, &handles[0]).unwrap();
    let purge = || {
        let mut notes = Vec::new();
        life.binlog.purge_to("bl.000003", &mut notes).unwrap();
        (life.names().len(), notes.first().map(|note| note.message.clone()))
    };
    // Nobody knows yet which file it will read.
    assert_eq!(purge().0, 3);
    first.reader.at(2);
    let note = "file bl.000002 was not purged because it was being read by 1 thread(s), purged only \
                1 out of 2 files";
    assert_eq!(purge(), (2, Some(note.to_owned())));
    let second = life.binlog.readers.enter(5, &handles[1]).unwrap();
    assert!(first.reader.is_replaced() && !second.reader.is_replaced());
    assert_eq!(
        handles.each_ref().map(|handle| handle.kill.get()),
        [Killed::Connection, Killed::No]
    );
    drop(first);
    second.reader.at(3);
    assert_eq!(purge(), (1, None));
    drop(second);
    let age = life.binlog.readers.age();
    life.binlog.reset(None, 1).unwrap();
    assert!(life.binlog.readers.age() > age);
    life.end();
}
