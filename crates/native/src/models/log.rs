//! Model of group commit: a position reported as durable has everything before it on a disk that
//! loses all it may lose. No thread waits for ever. A failed write ends the process before any
//! commit is acknowledged. The places of riders have the order of the log, and a checkpoint that
//! knows a place has its rider in the durable log.

use super::disk::SteppingDisk;
use super::{Body, Explore, run};
use crate::disk::sim::SimDisk;
use crate::ids::Lsn;
use crate::log::{BLOCK, FlushMode, Log, LogReader, Segments};
use crate::sync::atomic::{AtomicU64, Ordering};
use parking_lot::Mutex;
use std::sync::Arc;

const SEGMENT: u64 = 64 << 10;

struct Model {
    disk: SimDisk,
    log: Log,
}

impl Model {
    fn new() -> Arc<Model> {
        let disk = SimDisk::new(1);
        let stepping = Arc::new(SteppingDisk(disk.clone()));
        let segments = Segments::open(stepping, SEGMENT).expect("segments");
        segments.prepare(Lsn(2 * SEGMENT)).expect("room");
        let log = Log::new(segments, Lsn(BLOCK), 1, 0).expect("log");
        Arc::new(Model { disk, log })
    }

    /// End of the log if the machine crashed now.
    fn end_after_crash(&self) -> Lsn {
        let disk = self.disk.survivor();
        let segments = Segments::open(Arc::new(disk), SEGMENT).expect("segments");
        let mut reader = LogReader::new(&segments, Lsn(BLOCK), 1, 1).expect("reader");
        while reader.next_group().expect("no I/O error").is_some() {}
        reader.position()
    }

    /// Commits and waits until the commit is durable.
    fn commit(&self, payload: &[u8]) {
        let lsn = self.log.append(payload);
        self.log.flush_upto(lsn);
        self.check(lsn);
    }

    fn check(&self, lsn: Lsn) {
        assert!(self.log.durable() >= lsn, "told too early");
        let end = self.end_after_crash();
        assert!(end >= lsn, "durable up to {}, but the log ends at {end}", self.log.durable());
    }
}

fn committer(model: &Arc<Model>, len: usize, commits: usize) -> Body<()> {
    let model = model.clone();
    Box::new(move || (0..commits).for_each(|_| model.commit(&vec![7; len])))
}

#[test]
fn a_commit_is_durable_when_its_client_hears_of_it() {
    Explore::schedules(150).run(|| {
        let model = Model::new();
        run((0..3).map(|_| committer(&model, 40, 2)).collect());
        assert_eq!(model.log.completed(), model.log.tail());
    });
}

#[test]
fn commits_that_need_no_sync_do_not_hide_bytes_from_those_that_do() {
    Explore::schedules(150).run(|| {
        let model = Model::new();
        let writer = model.clone();
        let lazy = Box::new(move || {
            for _ in 0..2 {
                let lsn = writer.log.append(&[3; 5000]);
                writer.log.set_mode(FlushMode::WriteAtCommit);
                writer.log.settle_commit(lsn);
                assert!(writer.log.written() >= lsn);
            }
        });
        run(vec![lazy, committer(&model, 40, 2), committer(&model, 5000, 1)]);
    });
}

#[test]
fn a_full_ring_empties() {
    Explore::schedules(60).run(|| {
        let model = Model::new();
        let most = model.log.max_payload();
        let writer = model.clone();
        let filler = Box::new(move || {
            for _ in 0..4 {
                writer.log.append(&vec![3; most]);
            }
        });
        run(vec![filler, committer(&model, most, 2), committer(&model, 40, 2)]);
    });
}

/// The positions between which it counts move meanwhile.
#[test]
fn the_unwritten_bytes_are_counted_at_any_moment() {
    Explore::schedules(500).run(|| {
        let model = Model::new();
        let reader = model.clone();
        let count = Box::new(move || assert!(!reader.log.is_crowded()));
        run(vec![count, committer(&model, 40, 2)]);
    });
}

/// A thread that makes room in the ring is the leader for a moment and does not wait afterwards.
#[test]
fn who_makes_room_wakes_who_waited_meanwhile() {
    Explore::schedules(1000).run(|| {
        let model = Model::new();
        let most = model.log.max_payload();
        (0..4).for_each(|_| assert!(model.log.append(&vec![3; most]) > Lsn(0)));
        let writer = model.clone();
        let filler = Box::new(move || assert!(writer.log.append(&[3; 100]) > Lsn(0)));
        let waiter = model.clone();
        let flush = Box::new(move || waiter.log.write_upto(Lsn(4 * BLOCK)));
        run::<()>(vec![filler, flush]);
    });
}

#[test]
fn nobody_hears_of_a_commit_whose_write_failed() {
    for at in [1, 2, 3, 4] {
        FAIL_AT.set(at);
        Explore::schedules(40).run(|| {
            let model = Model::new();
            model.disk.fail_after(FAIL_AT.get());
            let lazy = model.clone();
            let write = Box::new(move || lazy.log.write_upto(lazy.log.append(&[3; 40])));
            run(vec![write, committer(&model, 40, 1), committer(&model, 40, 1)]);
        });
    }
}

/// The places of riders.
#[derive(Default)]
struct Places {
    /// Number of places given.
    given: AtomicU64,
    /// Each place with the end of its group. Not a step.
    ends: Mutex<Vec<(u64, Lsn)>>,
}

impl Places {
    /// Takes a place in two steps, which only the order lock keeps together.
    fn take(&self) -> u64 {
        let place = self.given.load(Ordering::SeqCst);
        self.given.store(place + 1, Ordering::SeqCst);
        place
    }

    /// Tries to commit with a rider that refuses.
    fn refuse(&self, log: &Log) {
        let nothing = log.reserve_in_order(|| Err(self.given.load(Ordering::SeqCst)));
        assert!(nothing.is_err(), "a refusal reserves nothing");
    }

    /// Commits with a rider.
    fn commit(&self, log: &Log) {
        let mut place = 0;
        let reserved = log.reserve_in_order(|| {
            place = self.take();
            Ok::<_, ()>(40)
        });
        let reserved = reserved.expect("not refused");
        self.ends.lock().push((place, reserved.end));
        log.wait_for_room(reserved.end);
        log.fill(&reserved, &[9; 40], crc32c::crc32c(&[9; 40]));
    }

    /// Checks that the log has the riders in the order of their places.
    fn check_order(&self) {
        let mut ends = self.ends.lock().clone();
        ends.sort_unstable();
        let places = ends.iter().map(|(place, _)| *place);
        assert!(places.eq(0..ends.len() as u64), "a place was given twice: {ends:?}");
        assert!(ends.is_sorted_by_key(|(_, end)| *end), "another order in the log: {ends:?}");
    }

    /// Checks that the first `known` riders are in a log that ends at `end`.
    fn check_known(&self, known: u64, end: Lsn) {
        let there = self.ends.lock().iter().filter(|(_, lsn)| *lsn <= end).count();
        assert!(there as u64 >= known, "{known} riders are known, {there} are in the log");
    }
}

#[test]
fn riders_have_the_order_of_their_places() {
    Explore::schedules(300).run(|| {
        let (model, places) = (Model::new(), Arc::new(Places::default()));
        let rider = || -> Body<()> {
            let (model, places) = (model.clone(), places.clone());
            Box::new(move || {
                places.commit(&model.log);
                places.refuse(&model.log);
                places.commit(&model.log);
            })
        };
        run(vec![rider(), rider(), committer(&model, 40, 2)]);
        places.check_order();
        assert_eq!(model.log.completed(), model.log.tail());
    });
}

#[test]
fn a_checkpoint_has_the_riders_that_it_knows() {
    Explore::schedules(300).run(|| {
        let (model, places) = (Model::new(), Arc::new(Places::default()));
        let rider = || -> Body<()> {
            let (model, places) = (model.clone(), places.clone());
            Box::new(move || (0..2).for_each(|_| places.commit(&model.log)))
        };
        let (observed, known) = (model.clone(), places.clone());
        let checkpoint: Body<()> = Box::new(move || {
            let known_places = known.given.load(Ordering::SeqCst);

            observed.log.wait_for_order();
            observed.log.flush_all();
            known.check_known(known_places, observed.end_after_crash());
        });
        run(vec![rider(), rider(), checkpoint]);
    });
}

thread_local! { static FAIL_AT: std::cell::Cell<u64> = const { std::cell::Cell::new(0) } }
