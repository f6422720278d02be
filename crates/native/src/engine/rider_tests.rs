//! Tests of riders: places and bytes, refusals, order, checkpoints, and the bytes that a start
//! gives back.

use super::contract::NativeEngine;
use super::options::NativeOptions;
use super::rider_model::{RiderLog, TestRider};
use super::shared::Shared;
use crate::disk::sim::SimDisk;
use crate::ids::PAGE_SIZE;
use crate::storage::testing::{process, quiet_process_ends};
use selkie_engine::testing::{NoContext, contents, item_row, items, rows_of};
use selkie_engine::{
    Engine, EngineError, EngineResult, EngineTrx, IndexCodec, Isolation, Lsn, Refusal, Rider,
    RiderFiles, Table, TableDef, Xid,
};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

fn options(files: Option<Arc<dyn RiderFiles>>) -> NativeOptions {
    NativeOptions {
        buffer_pool_bytes: 64 * PAGE_SIZE,
        log_capacity_bytes: 4 << 20,
        log_buffer_bytes: 512 << 10,
        log_segment_bytes: 256 << 10,
        background: false,
        rider_files: files,
        ..NativeOptions::default()
    }
}

/// An engine with a table, and its riders' owner.
struct World {
    disk: SimDisk,
    engine: NativeEngine,
    log: Arc<RiderLog>,
    def: Arc<TableDef>,
    table: Arc<dyn Table>,
}

impl World {
    fn open(disk: &SimDisk) -> World {
        let log = RiderLog::new(Arc::new(disk.clone()));
        let engine =
            NativeEngine::open_on(Arc::new(disk.clone()), &options(Some(log.clone()))).unwrap();
        let def = items(1);
        if !engine.table_exists(def.id) {
            let trx = engine.begin(Isolation::RepeatableRead, false).unwrap();
            engine.create_table(&*trx, &def).unwrap();
            engine.wait_durable(trx.commit(None).unwrap().unwrap()).unwrap();
        }
        let table = engine.open_table(&def).unwrap();
        World { disk: disk.clone(), engine, log, def, table }
    }

    fn new() -> World {
        quiet_process_ends();
        World::open(&SimDisk::new(7))
    }

    /// A transaction that has inserted the row `id`.
    fn with_row(&self, id: i64) -> Box<dyn EngineTrx> {
        let trx = self.engine.begin(Isolation::RepeatableRead, false).unwrap();
        let row = item_row(&self.def, id, Some(id), 0, "x");
        self.table.insert(&*trx, &NoContext(Duration::ZERO), &rows_of([row])).unwrap();
        trx
    }

    fn commit_row(&self, id: i64) -> Lsn {
        let mut rider = self.log.rider(&id.to_le_bytes());
        self.with_row(id).commit(Some(&mut rider)).unwrap().unwrap()
    }

    fn delete_row(&self, id: i64) -> EngineResult<u64> {
        let mut key = Vec::new();
        let codec = IndexCodec::new(&self.def, &self.def.indexes[0]);
        codec.key_of_values(&[selkie_types::Value::Int(id)], &mut key);
        let trx = self.engine.begin(Isolation::RepeatableRead, false).unwrap();
        self.table.delete(&*trx, &NoContext(Duration::ZERO), &rows_of([key]), None)
    }

    fn rows(&self) -> usize {
        contents(&self.engine, &self.def).len()
    }

    /// Ends the process, and the machine with it.
    fn crash(self) -> SimDisk {
        let disk = self.disk.clone();
        disk.power_off();
        let _ = process(|| drop(self));
        disk.crash();
        disk
    }
}

fn numbers(payloads: &[Vec<u8>]) -> Vec<i64> {
    payloads.iter().map(|bytes| i64::from_le_bytes(bytes[..8].try_into().unwrap())).collect()
}

#[test]
fn committed_riders_come_back_in_order() {
    let mut disk = World::new().crash();
    let mut expected = Vec::new();
    for life in 0..6 {
        let world = World::open(&disk);
        assert_eq!(numbers(&world.log.contents()), expected, "life {life}");
        assert_eq!(world.rows(), expected.iter().filter(|id| **id > 0).count());
        let mut last = Lsn(0);
        for id in life * 100 + 1..life * 100 + 30 {
            if id % 7 == 0 {
                world.with_row(id).rollback().unwrap();
                continue;
            }
            last = world.commit_row(id);
            expected.push(id);
            if id % 5 == 0 {
                last = world.engine.append(&mut world.log.rider(&(-id).to_le_bytes())).unwrap();
                expected.push(-id);
            }
            if id % 11 == life {
                world.engine.wait_durable(last).unwrap();
                world.log.write_upto(last);
                world.engine.checkpoint(life % 2 == 0).unwrap();
            }
        }
        world.engine.wait_durable(last).unwrap();
        if life == 4 {
            world.engine.shutdown().unwrap();
        }
        disk = world.crash();
    }
}

#[test]
fn room_is_made_and_the_largest_rider_fits() {
    let world = World::new();
    let most = world.engine.most_rider_bytes() - 12;
    for round in 0..40 {
        let payload = vec![round as u8; most];
        let lsn = world.engine.append(&mut world.log.rider(&payload)).unwrap();
        world.engine.wait_durable(lsn).unwrap();
        world.log.write_upto(lsn);
    }
    let found = world.log.contents();
    assert_eq!(found.len(), 40);
    assert!(found.iter().enumerate().all(|(n, bytes)| *bytes == vec![n as u8; most]));
}

#[test]
fn a_transaction_without_changes_carries_a_rider_too() {
    let world = World::new();
    let trx = world.engine.begin(Isolation::RepeatableRead, false).unwrap();
    let lsn = trx.commit(Some(&mut world.log.rider(b"alone"))).unwrap().unwrap();
    world.engine.wait_durable(lsn).unwrap();
    world.log.write_upto(lsn);
    assert_eq!(world.log.contents(), [b"alone"]);
}

#[test]
fn a_refusal_undoes_everything() {
    let world = World::new();
    world.commit_row(1);
    let refused = world.with_row(2).commit(Some(&mut world.log.refusing()));
    assert!(matches!(refused, Err(EngineError::Refused(_))), "{refused:?}");
    let empty = world.engine.begin(Isolation::RepeatableRead, false).unwrap();
    let refused = empty.commit(Some(&mut world.log.refusing()));
    assert!(matches!(refused, Err(EngineError::Refused(_))), "{refused:?}");
    let refused = world.engine.append(&mut world.log.refusing());
    assert!(matches!(refused, Err(EngineError::Refused(_))), "{refused:?}");
    assert_eq!((world.rows(), world.engine.shared().running.all().len()), (1, 0));
    let last = world.commit_row(2);
    world.engine.wait_durable(last).unwrap();
    let world = World::open(&world.crash());
    assert_eq!(numbers(&world.log.contents()), [1, 2]);
}

#[test]
fn files_without_room_refuse_the_commit() {
    let world = World::new();
    world.disk.set_capacity(Some(world.disk.used()));
    let refused = world.with_row(1).commit(Some(&mut world.log.rider(b"x")));
    assert!(matches!(refused, Err(EngineError::DiskFull)), "{refused:?}");
    world.disk.set_capacity(None);
    assert_eq!(world.rows(), 0);
    world.commit_row(1);
}

fn branch() -> Xid {
    Xid { gtrid: b"one".as_slice().into(), ..Xid::default() }
}

#[test]
fn a_prepared_transaction_survives_the_refusal_of_its_commit() {
    let world = World::new();
    let trx = world.with_row(1);
    let refused = trx.prepare(&branch(), Some(&mut world.log.refusing()));
    assert!(matches!(refused, Err(EngineError::Refused(_))), "{refused:?}");
    trx.rollback().unwrap();

    let trx = world.with_row(1);
    let prepared = trx.prepare(&branch(), Some(&mut world.log.rider(b"prepared")));
    world.engine.wait_durable(prepared.unwrap().unwrap()).unwrap();
    let refused = trx.commit(Some(&mut world.log.refusing()));
    assert!(matches!(refused, Err(EngineError::Refused(_))), "{refused:?}");
    assert!(matches!(world.delete_row(1), Err(EngineError::LockWaitTimeout)));

    let mut found = world.engine.take_prepared().unwrap();
    assert_eq!((found.len(), &found[0].xid), (1, &branch()));
    assert!(world.engine.take_prepared().unwrap().is_empty());
    let trx = found.remove(0).trx;
    let lsn = trx.commit(Some(&mut world.log.rider(b"committed"))).unwrap().unwrap();
    world.engine.wait_durable(lsn).unwrap();
    let world = World::open(&world.crash());
    assert!(world.engine.take_prepared().unwrap().is_empty());
    assert_eq!(world.log.contents(), [&b"prepared"[..], b"committed"]);
    assert_eq!(world.delete_row(1).unwrap(), 1);
}

#[test]
fn the_order_of_places_is_that_of_commits() {
    let world = World::new();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let world = &world;
            scope.spawn(move || {
                for n in 0..40 {
                    match n % 4 {
                        0 => drop(world.engine.append(&mut world.log.rider(&[0; 8])).unwrap()),
                        // Commits without a rider come in between.
                        1 => drop(world.with_row(thread * 1000 + n).commit(None).unwrap()),
                        _ => drop(world.commit_row(thread * 1000 + n)),
                    }
                }
            });
        }
    });
    let last = world.engine.append(&mut world.log.rider(&[0; 8])).unwrap();
    world.engine.wait_durable(last).unwrap();
    // Compares LSNs with places.
    world.log.write_upto(last);
    let before = world.log.contents();
    assert_eq!((before.len(), world.rows()), (8 * 30 + 1, 8 * 30));
    let world = World::open(&world.crash());
    assert_eq!(world.log.contents(), before);
}

/// A rider that brings more than it said.
struct Liar<'l>(TestRider<'l>);

impl Rider for Liar<'_> {
    fn place(&mut self) -> Result<usize, Refusal> {
        self.0.place()
    }

    fn make_room(&mut self) -> EngineResult<()> {
        self.0.make_room()
    }

    fn fill(&mut self, lsn: Lsn, out: &mut Vec<u8>) {
        self.0.fill(lsn, out);
        out.push(0);
    }
}

#[test]
fn a_rider_that_brings_more_than_it_said_ends_the_process() {
    let world = World::new();
    world.engine.wait_durable(world.commit_row(1)).unwrap();
    let trx = world.with_row(2);
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        trx.commit(Some(&mut Liar(world.log.rider(b"more"))))
    }));
    assert!(outcome.is_err());
    let world = World::open(&world.crash());
    assert_eq!((numbers(&world.log.contents()), world.rows()), (vec![1], 1));
}

#[test]
fn a_life_without_the_owner_keeps_its_state() {
    let world = World::new();
    world.engine.wait_durable(world.commit_row(1)).unwrap();
    let disk = world.crash();
    let open = || NativeEngine::open_on(Arc::new(disk.clone()), &options(None));
    match open() {
        Err(EngineError::Corrupt(why)) => assert!(why.contains("binary log"), "{why}"),
        other => panic!("{:?}", other.map(drop)),
    }
    // A start that only rescues data ignores riders.
    let rescue = NativeOptions { force_recovery: 5, ..options(None) };
    let engine = NativeEngine::open_on(Arc::new(disk.fork(1)), &rescue).unwrap();
    assert!(!engine.carries_riders());
    assert_eq!(contents(&engine, &items(1)).len(), 1);
    drop(engine);
    World::open(&disk).engine.shutdown().unwrap();
    let engine = open().unwrap();
    assert!(!engine.carries_riders());
    let owner = RiderLog::new(Arc::new(disk.clone()));
    let refused = engine.append(&mut owner.rider(b"x"));
    assert!(matches!(refused, Err(EngineError::Unsupported(_))), "{refused:?}");
    let trx = engine.begin(Isolation::RepeatableRead, false).unwrap();
    let table = engine.open_table(&items(1)).unwrap();
    let row = item_row(&items(1), 2, None, 0, "x");
    table.insert(&*trx, &NoContext::default(), &rows_of([row])).unwrap();
    trx.commit(None).unwrap();
    engine.shutdown().unwrap();
    drop(engine);
    let world = World::open(&disk);
    assert_eq!((numbers(&world.log.contents()), world.rows()), (vec![1], 2));
    world.commit_row(3);
}

/// An owner whose files may have no room for a checkpoint.
struct Full {
    log: Arc<RiderLog>,
    full: AtomicBool,
    engine: OnceLock<Weak<Shared>>,
}

impl RiderFiles for Full {
    fn checkpoint(&self, upto: Lsn) -> EngineResult<Vec<u8>> {
        let shared = self.engine.get().and_then(Weak::upgrade);
        let durable = shared.map(|shared| shared.storage.log().durable().0);
        assert!(durable >= Some(upto.0), "riders are written that a crash may take");
        match self.full.load(Ordering::Relaxed) {
            true => Err(EngineError::DiskFull),
            false => self.log.checkpoint(upto),
        }
    }

    fn restore(&self, state: &[u8]) -> EngineResult<()> {
        self.log.restore(state)
    }

    fn replay(&self, lsn: Lsn, bytes: &[u8]) -> EngineResult<()> {
        self.log.replay(lsn, bytes)
    }

    fn replayed(&self) -> EngineResult<()> {
        self.log.replayed()
    }
}

#[test]
fn the_log_stays_until_the_riders_are_in_their_files() {
    let disk = SimDisk::new(3);
    let log = RiderLog::new(Arc::new(disk.clone()));
    let (full, engine) = (AtomicBool::new(true), OnceLock::new());
    let full = Arc::new(Full { log: log.clone(), full, engine });
    let engine =
        NativeEngine::open_on(Arc::new(disk.clone()), &options(Some(full.clone()))).unwrap();
    assert!(full.engine.set(Arc::downgrade(engine.shared())).is_ok());
    let storage = &engine.shared().storage;
    let before = storage.checkpoint_lsn();
    let last = engine.append(&mut log.rider(b"kept")).unwrap();
    assert!(matches!(engine.checkpoint(true), Err(EngineError::DiskFull)));
    assert_eq!(storage.checkpoint_lsn(), before);
    full.full.store(false, Ordering::Relaxed);
    engine.checkpoint(true).unwrap();
    assert!(storage.checkpoint_lsn().0 >= last.0);
    assert_eq!(log.contents(), [b"kept"]);
}
