//! Tests of version retention: readers of many ages against one writer, with pruning and spilling
//! in between.

use super::contract::NativeEngine;
use super::options::NativeOptions;
use crate::disk::sim::{Rng, SimDisk};
use crate::ids::PAGE_SIZE;
use crate::sync::atomic::{AtomicU32, Ordering};
use crate::trx::purge_step;
use selkie_engine::testing::{NoContext, item_row, items, rows_of};
use selkie_engine::{
    Engine, EngineError, EngineResult, EngineTrx, IndexCodec, Isolation, NoWait, RowSet, Scan,
    StatementContext, Table, TableDef, WaitKind,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

type Rows = BTreeMap<i64, Vec<u8>>;

fn open(disk: &SimDisk, undo_memory_bytes: usize) -> NativeEngine {
    let options = NativeOptions {
        buffer_pool_bytes: 64 * PAGE_SIZE,
        log_capacity_bytes: 64 << 20,
        log_buffer_bytes: 512 << 10,
        log_segment_bytes: 1 << 20,
        undo_memory_bytes,
        background: false,
        ..NativeOptions::default()
    };
    NativeEngine::open_on(Arc::new(disk.clone()), &options).unwrap()
}

fn key(def: &TableDef, id: i64) -> Vec<u8> {
    let mut key = Vec::new();
    IndexCodec::new(def, &def.indexes[0]).key_of_values(&[selkie_types::Value::Int(id)], &mut key);
    key
}

fn status(engine: &NativeEngine, wanted: &str) -> u64 {
    let mut found = None;
    engine.status(&mut |name, value| {
        if name == wanted {
            found = Some(value);
        }
    });
    found.unwrap()
}

fn read(table: &dyn Table, trx: &dyn EngineTrx, index: Option<usize>) -> Vec<Vec<u8>> {
    let (context, scan) = (NoContext::default(), Scan { index, ..Scan::default() });
    let mut cursor = table.scan(trx, &context, &scan).unwrap();
    let mut out = RowSet::default();
    while cursor.next_batch(&mut out, 1000).unwrap() {}
    let mut rows: Vec<_> = out.rows.iter().map(<[u8]>::to_vec).collect();
    rows.sort();
    rows
}

struct World<'e> {
    engine: &'e NativeEngine,
    def: Arc<TableDef>,
    table: Arc<dyn Table>,
    rng: Rng,
    rows: Rows,
    readers: Vec<(Box<dyn EngineTrx>, Rows)>,
}

impl<'e> World<'e> {
    fn new(engine: &'e NativeEngine, seed: u64) -> World<'e> {
        let def = items(1);
        let trx = engine.begin(Isolation::RepeatableRead, false).unwrap();
        engine.create_table(&*trx, &def).unwrap();
        trx.commit(None).unwrap();
        let table = engine.open_table(&def).unwrap();
        let rng = Rng::new(seed);
        World { engine, def, table, rng, rows: Rows::new(), readers: Vec::new() }
    }

    fn change(&mut self, trx: &dyn EngineTrx, rows: &mut Rows, ids: u64) {
        let id = self.rng.below(ids) as i64;
        let length = match self.rng.below(12) {
            0 => 30_000,
            1..4 => 2_000,
            _ => 40,
        };
        let name = "x".repeat(self.rng.below(length) as usize);
        let kind = self.rng.below(5) as i64;
        let row = item_row(&self.def, id, Some(id), kind, &name);
        let (context, at) = (NoContext::default(), rows_of([key(&self.def, id)]));
        let is_new = !rows.contains_key(&id);
        if is_new {
            self.table.insert(trx, &context, &rows_of([&row])).unwrap();
            rows.insert(id, row);
        } else if self.rng.below(4) == 0 {
            assert_eq!(self.table.delete(trx, &context, &at, None).unwrap(), 1);
            rows.remove(&id);
        } else {
            assert_eq!(self.table.update(trx, &context, &at, &rows_of([&row]), None).unwrap(), 1);
            rows.insert(id, row);
        }
    }

    fn transaction(&mut self, ids: u64, changes: u64) {
        let trx = self.engine.begin(Isolation::RepeatableRead, false).unwrap();
        let mut rows = self.rows.clone();
        for _ in 0..1 + self.rng.below(changes) {
            let (savepoint, before) = (trx.savepoint().unwrap(), rows.clone());
            self.change(&*trx, &mut rows, ids);
            if self.rng.below(8) == 0 {
                trx.rollback_to(savepoint).unwrap();
                rows = before;
            }
        }
        if self.rng.below(6) == 0 {
            trx.rollback().unwrap();
        } else {
            trx.commit(None).unwrap();
            self.rows = rows;
        }
    }

    fn reader(&mut self) {
        let trx = self.engine.begin(Isolation::RepeatableRead, false).unwrap();
        trx.take_snapshot().unwrap();
        self.readers.push((trx, self.rows.clone()));
    }

    fn check(&self) {
        for (trx, rows) in &self.readers {
            let mut expected: Vec<_> = rows.values().cloned().collect();
            expected.sort();
            for index in [None, Some(1), Some(2)] {
                let found = read(&*self.table, &**trx, index);
                assert!(
                    found == expected,
                    "a reader sees {} rows, not {}",
                    found.len(),
                    rows.len()
                );
            }
        }
    }
}

fn readers_and_writers(seed: u64, undo_memory: usize) {
    let disk = SimDisk::new(seed);
    let engine = open(&disk, undo_memory);
    let mut world = World::new(&engine, seed);
    for round in 0..40 {
        for _ in 0..world.rng.below(12) {
            world.transaction(30, 10);
        }
        if world.readers.len() < 5 {
            world.reader();
        }
        if world.rng.below(4) == 0 {
            let gone = world.rng.below(world.readers.len() as u64) as usize;
            world.readers.swap_remove(gone).0.rollback().unwrap();
        }
        if round % 4 == 0 {
            world.check();
        }
    }
    world.check();
    world.readers.drain(..).for_each(|(trx, _)| trx.rollback().unwrap());
    world.transaction(30, 3);
    world.transaction(30, 3);
    assert_eq!(status(&engine, "Selkie_undo_segments"), 0);
    assert_eq!(status(&engine, "Innodb_history_list_length"), 0);
    assert_eq!(status(&engine, "Selkie_undo_stored_bytes"), 0);
    assert!(status(&engine, "Selkie_undo_pruned_versions") > 0);
    world.reader();
    let (reader, context) = (&world.readers[0].0, NoContext::default());
    assert_eq!(world.table.check(&**reader, &context).unwrap(), Vec::<String>::new());
    assert_eq!(world.table.reclaim(&context).unwrap(), 0, "something was left behind");
    world.check();
}

#[test]
fn readers_of_all_ages_see_their_versions() {
    (1..6).for_each(|seed| readers_and_writers(seed, 0));
}

#[test]
fn spilled_versions_are_read_back() {
    (11..16).for_each(|seed| readers_and_writers(seed, 1));
}

#[test]
fn one_long_reader_costs_one_version_a_row() {
    let disk = SimDisk::new(1);
    let engine = open(&disk, 0);
    let mut world = World::new(&engine, 1);
    (0..20).for_each(|_| world.transaction(20, 20));
    world.reader();
    for _ in 0..30 {
        (0..50).for_each(|_| world.transaction(20, 4));
        // Rows of the table and of two indexes: versions for the reader and of the last commits.
        let left = status(&engine, "Selkie_undo_segments");
        assert!(left <= 200, "{left} segments after {} transactions", 50 * 30);
    }
    assert!(status(&engine, "Selkie_undo_pruned_versions") > 1000);
    world.check();
}

#[test]
fn a_large_transaction_leaves_memory_and_comes_back() {
    let disk = SimDisk::new(3);
    let engine = open(&disk, 64 << 10);
    let mut world = World::new(&engine, 3);
    (0..5).for_each(|_| world.transaction(400, 200));
    world.reader();
    let trx = engine.begin(Isolation::RepeatableRead, false).unwrap();
    let mut rows = world.rows.clone();
    for _ in 0..800 {
        world.change(&*trx, &mut rows, 400);
        assert!(status(&engine, "Selkie_undo_memory_bytes") <= 100 << 10);
    }
    assert!(status(&engine, "Selkie_undo_spilled_segments") > 10);
    world.check();
    trx.rollback().unwrap();
    world.check();
    let trx = engine.begin(Isolation::RepeatableRead, false).unwrap();
    let mut rows = world.rows.clone();
    (0..800).for_each(|_| world.change(&*trx, &mut rows, 400));
    trx.commit(None).unwrap();
    world.check();
    world.rows = rows;
    world.reader();
    world.check();
}

/// Inserts `count` rows of half a kilobyte in a transaction.
fn insert_many(world: &World<'_>, count: i64) -> Box<dyn EngineTrx> {
    let trx = world.engine.begin(Isolation::RepeatableRead, false).unwrap();
    let row = |id| item_row(&world.def, id, Some(id), id, &"x".repeat(500));
    let rows = rows_of((0..count).map(row));
    world.table.insert(&*trx, &NoContext::default(), &rows).unwrap();
    trx
}

#[test]
fn a_purge_leaves_few_leaves_in_whatever_order_rows_go() {
    for descending in [false, true] {
        let disk = SimDisk::new(5);
        let engine = open(&disk, 64 << 10);
        let world = World::new(&engine, 5);
        insert_many(&world, 3000).commit(None).unwrap();
        let filled = world.table.statistics().data_bytes;
        let trx = engine.begin(Isolation::RepeatableRead, false).unwrap();
        for at in 0..3000 {
            let id = if descending { 2999 - at } else { at };
            let at = rows_of([key(&world.def, id)]);
            world.table.delete(&*trx, &NoContext::default(), &at, None).unwrap();
        }
        trx.commit(None).unwrap();
        while purge_step(engine.shared()).unwrap() {}
        let left = world.table.statistics().data_bytes;
        assert!(left * 10 < filled, "{left} of {filled} bytes are left, descending: {descending}");
    }
}

/// A context whose statement is killed after some looks.
struct Killed(AtomicU32);

impl StatementContext for Killed {
    fn check_killed(&self) -> EngineResult<()> {
        match self.0.fetch_sub(1, Ordering::Relaxed) {
            0 => Err(EngineError::Killed),
            _ => Ok(()),
        }
    }

    fn wait(
        &self,
        what: WaitKind,
        limit: Option<Duration>,
        waker: Waker,
        look: &mut dyn FnMut(Duration) -> bool,
    ) -> EngineResult<()> {
        NoWait.wait(what, limit, waker, look)
    }

    fn lock_wait_timeout(&self) -> Duration {
        NoWait.lock_wait_timeout()
    }
}

#[test]
fn a_scan_of_leaves_without_a_row_to_see_can_be_killed() {
    let disk = SimDisk::new(6);
    let engine = open(&disk, 64 << 10);
    let world = World::new(&engine, 6);
    let _open = insert_many(&world, 1000);
    let reader = engine.begin(Isolation::RepeatableRead, false).unwrap();
    let context = Killed(AtomicU32::new(5));
    let mut cursor = world.table.scan(&*reader, &context, &Scan::default()).unwrap();
    let ended = cursor.next_batch(&mut RowSet::default(), 1000);
    assert!(matches!(ended, Err(EngineError::Killed)), "{ended:?}");
}
