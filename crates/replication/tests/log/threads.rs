//! Threads that commit, rotate, purge, reset, write and ask at once.
//!
//! Must not rely on any order but that of the engine's log.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use selkie_replication::codec::Checksum;
use selkie_replication::log::{BinaryLog, Refused};

use crate::engine::{Engine, Logged, Rides, begun, fill_cache, head};
use crate::files::{Random, Sim};

const THREADS: u64 = 4;
const COMMITS: u64 = 300;

/// An engine whose order lock covers the place and the LSN alone.
struct Shared {
    files: Arc<Sim>,
    log: BinaryLog,
    /// LSN of the last record.
    order: Mutex<u64>,
    engine: Mutex<Engine>,
    is_over: AtomicBool,
    mix: Mix,
}

/// Riders beside groups and rotations.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Mix {
    Purges,
    Resets,
}

impl Shared {
    fn ride(&self, rider: &mut dyn Rides) -> u64 {
        let (length, lsn) = loop {
            let mut order = self.order.lock();
            match rider.place() {
                Ok(length) => {
                    *order += 1;
                    break (length, *order);
                }
                Err(Refused::NoRoom) => {
                    drop(order);
                    rider.make_room().unwrap();
                }
                Err(refused) => panic!("{refused}"),
            }
        };
        let groups = self.files.groups();
        std::thread::yield_now();
        let mut bytes = Vec::new();
        rider.fill(lsn, &mut bytes);
        assert_eq!(bytes.len(), length);
        self.engine.lock().log.push(Logged { lsn, bytes, groups });
        lsn
    }

    /// Commits as a session does.
    fn commits(&self, seed: u64) {
        let mut random = Random(seed);
        let mut cache = self.log.cache();
        cache.set_limits(900, u64::MAX);
        for _ in 0..COMMITS {
            let sizes: Vec<_> = (0..random.below(4)).map(|_| random.below(500) as usize).collect();
            cache.clear();
            fill_cache(&mut cache, &sizes);
            let mut group = self.log.group(head(seed as u32, None), &mut cache);
            let lsn = self.ride(&mut group);
            let (end, state, told) = self.log.snapshot();
            assert!(told >= lsn);
            assert!(self.mix == Mix::Resets || state.has(group.gtid()));
            assert!(self.log.end_lsn() >= told && end.offset > 0);
        }
    }

    /// Changes files, as other sessions do.
    fn controls(&self) {
        let mut random = Random(99);
        while !self.is_over.load(Ordering::Relaxed) {
            let lsn = match random.below(12) {
                0 if self.mix == Mix::Purges => {
                    self.ride(&mut self.log.purged(self.log.end().file))
                }
                0 => self.ride(&mut self.log.reset(1 + random.below(3) as u32, 1)),
                1..=8 => self.ride(&mut self.log.rotation(1)),
                _ => 0,
            };
            if lsn != 0 && random.below(2) == 0 {
                self.log.remove_purged().unwrap();
            }
            std::thread::yield_now();
        }
    }

    /// Writes what is durable: everything before the first record that is not in the log.
    fn writes(&self) {
        let mut random = Random(98);
        while !self.is_over.load(Ordering::Relaxed) {
            let durable = self.durable();
            self.log.write_upto(durable).unwrap();
            if random.below(20) == 0 {
                self.log.checkpoint(durable).unwrap();
            }
            std::thread::yield_now();
        }
    }

    fn durable(&self) -> u64 {
        let log = &mut self.engine.lock().log;
        log.sort_by_key(|logged| logged.lsn);
        // The first life's beginning has a larger LSN than the lock started with.
        let in_order = log.iter().zip(log[0].lsn..).take_while(|(logged, lsn)| logged.lsn == *lsn);
        in_order.last().map_or(0, |(logged, _)| logged.lsn)
    }
}

fn run(mix: Mix) {
    let (files, engine, log) = begun(Checksum::Crc32);
    let order = Mutex::new(engine.end());
    let shared =
        Shared { files, log, order, engine: Mutex::new(engine), is_over: false.into(), mix };
    std::thread::scope(|scope| {
        let shared = &shared;
        let begin = |seed| scope.spawn(move || shared.commits(seed));
        let sessions: Vec<_> = (0..THREADS).map(begin).collect();
        scope.spawn(|| shared.controls());
        scope.spawn(|| shared.writes());
        let ends: Vec<_> = sessions.into_iter().map(|session| session.join()).collect();
        shared.is_over.store(true, Ordering::Relaxed);
        ends.into_iter().for_each(Result::unwrap);
    });
    let durable = shared.durable();
    shared.log.write_upto(durable).unwrap();
    shared.log.remove_purged().unwrap();
    let (mut all, perfect) = (shared.files.all(), shared.engine.lock().perfect());
    // A file may have been made beforehand.
    all.retain(|file, _| *file <= shared.log.end().file);
    assert!(all == perfect.all());
    assert_eq!(shared.files.index(), perfect.index());
    let last: Vec<_> = shared.log.gtid_state().gtids().map(|gtid| gtid.seq).collect();
    assert!(mix == Mix::Resets || last == [COMMITS; THREADS as usize]);
}

#[test]
fn threads_leave_the_files_that_the_log_says() {
    run(Mix::Purges);
    run(Mix::Resets);
}
