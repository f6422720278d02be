//! Many threads on one table, then a check: money moves between accounts, and the sum must stay the
//! same in every consistent read.

use super::contract::NativeEngine;
use super::options::NativeOptions;
use crate::disk::sim::{Rng, SimDisk};
use selkie_engine::testing::{NoContext, contents, item_row, items, rows_of};
use selkie_engine::{
    Engine, EngineError, EngineResult, EngineTrx, Isolation, LockMode, LockWait, RowSet, Scan,
    Table, TableDef,
};
use selkie_types::Value;
use std::sync::Arc;
use std::time::Duration;

const ACCOUNTS: i64 = 40;

fn engine(disk: &SimDisk) -> NativeEngine {
    let options = NativeOptions {
        buffer_pool_bytes: 1 << 20,
        log_capacity_bytes: 4 << 20,
        log_buffer_bytes: 1 << 20,
        log_segment_bytes: 1 << 20,
        ..NativeOptions::default()
    };
    NativeEngine::open_on(Arc::new(disk.clone()), &options).unwrap()
}

fn key(def: &TableDef, at: usize, value: i64) -> Box<[u8]> {
    let mut key = Vec::new();
    let codec = selkie_engine::IndexCodec::new(def, &def.indexes[at]);
    codec.key_of_values(&[Value::Int(value)], &mut key);
    key.into()
}

fn number(def: &TableDef, row: &[u8], column: usize) -> i64 {
    match def.layout.value(row, column).unwrap() {
        Value::Int(v) => v,
        other => panic!("not a number: {other:?}"),
    }
}

struct Bank {
    engine: NativeEngine,
    def: Arc<TableDef>,
    table: Arc<dyn Table>,
}

impl Bank {
    fn new(disk: &SimDisk) -> Bank {
        let (engine, def) = (engine(disk), items(1));
        let trx = engine.begin(Isolation::RepeatableRead, false).unwrap();
        engine.create_table(&*trx, &def).unwrap();
        let table = engine.open_table(&def).unwrap();
        let rows = (0..ACCOUNTS).map(|id| item_row(&def, id, None, 100, "account"));
        table.insert(&*trx, &NoContext::default(), &rows_of(rows)).unwrap();
        trx.commit(None).unwrap();
        Bank { engine, def, table }
    }

    fn balance(&self, trx: &dyn EngineTrx, id: i64) -> EngineResult<Option<i64>> {
        let scan = Scan { lock: LockMode::Exclusive, ..Scan::default() };
        let (mut out, keys) = (RowSet::default(), rows_of([key(&self.def, 0, id)]));
        self.table.lookup(trx, &NoContext::default(), &scan, &keys, &mut out)?;
        Ok(out.rows.iter().next().map(|row| number(&self.def, row, 2)))
    }

    fn set(&self, trx: &dyn EngineTrx, id: i64, balance: i64) -> EngineResult<u64> {
        let at = rows_of([key(&self.def, 0, id)]);
        let row = item_row(&self.def, id, Some(id), balance, &"m".repeat(balance as usize));
        self.table.update(trx, &NoContext::default(), &at, &rows_of([row]), None)
    }

    /// Moves money between accounts, or moves an account to another number.
    fn transfer(&self, trx: &dyn EngineTrx, rng: &mut Rng) -> EngineResult<()> {
        let (from, to) = (rng.below(ACCOUNTS as u64) as i64, rng.below(ACCOUNTS as u64) as i64);
        let (Some(a), true) = (self.balance(trx, from)?, from != to) else { return Ok(()) };
        let Some(b) = self.balance(trx, to)? else { return Ok(()) };
        let amount = (rng.below(20) as i64).min(a);
        self.set(trx, from, a - amount)?;
        self.set(trx, to, b + amount)?;
        if rng.below(4) == 0 {
            let at = rows_of([key(&self.def, 0, from)]);
            self.table.delete(trx, &NoContext::default(), &at, None)?;
            let row = item_row(&self.def, from, Some(from), a - amount, "again");
            self.table.insert(trx, &NoContext::default(), &rows_of([row]))?;
        }
        Ok(())
    }

    fn total(&self, trx: &dyn EngineTrx, index: Option<usize>) -> i64 {
        let (context, scan) = (NoContext::default(), Scan { index, ..Scan::default() });
        let mut cursor = self.table.scan(trx, &context, &scan).unwrap();
        let mut out = RowSet::default();
        while cursor.next_batch(&mut out, 7).unwrap() {}
        out.rows.iter().map(|row| number(&self.def, row, 2)).sum()
    }

    fn work(&self, seed: u64, rounds: usize) {
        let mut rng = Rng::new(seed);
        for _ in 0..rounds {
            let trx = self.engine.begin(Isolation::RepeatableRead, false).unwrap();
            match self.transfer(&*trx, &mut rng) {
                Ok(()) if rng.below(5) == 0 => trx.rollback().unwrap(),
                Ok(()) => assert!(trx.commit(None).is_ok()),
                Err(EngineError::Deadlock) => trx.rollback().unwrap(),
                Err(e) => panic!("{e}"),
            }
        }
    }

    fn watch(&self, rounds: usize) {
        for _ in 0..rounds {
            let trx = self.engine.begin(Isolation::RepeatableRead, true).unwrap();
            for index in [None, Some(2), None] {
                assert_eq!(self.total(&*trx, index), ACCOUNTS * 100, "by index {index:?}");
            }
        }
    }
}

#[test]
fn no_money_is_made_or_lost() {
    let disk = SimDisk::new(1);
    let bank = Bank::new(&disk);
    std::thread::scope(|scope| {
        let bank = &bank;
        (0..4).for_each(|seed| drop(scope.spawn(move || bank.work(seed_of(seed), 150))));
        scope.spawn(|| bank.watch(100));
    });
    assert_eq!(contents(&bank.engine, &bank.def).len(), ACCOUNTS as usize);
    bank.engine.shutdown().unwrap();
    let engine = engine(&disk);
    assert_eq!(contents(&engine, &bank.def).len(), ACCOUNTS as usize);
}

fn seed_of(seed: u64) -> u64 {
    seed * 31 + 5
}

#[test]
fn threads_fill_a_table_side_by_side() {
    let disk = SimDisk::new(2);
    let (engine, def) = (engine(&disk), items(1));
    let trx = engine.begin(Isolation::RepeatableRead, false).unwrap();
    engine.create_table(&*trx, &def).unwrap();
    trx.commit(None).unwrap();
    let table = engine.open_table(&def).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4i64 {
            let (engine, def, table) = (&engine, &def, &table);
            scope.spawn(move || {
                for batch in 0..30 {
                    let trx = engine.begin(Isolation::ReadCommitted, false).unwrap();
                    let ids = (0..20).map(|n| (batch * 20 + n) * 4 + thread);
                    let rows = ids.map(|id| item_row(def, id, Some(id), id % 5, &"y".repeat(200)));
                    table.insert(&*trx, &NoContext::default(), &rows_of(rows)).unwrap();
                    if batch % 7 == 6 {
                        trx.rollback().unwrap()
                    } else {
                        assert!(trx.commit(None).is_ok())
                    }
                }
            });
        }
    });
    assert_eq!(contents(&engine, &def).len(), 4 * 26 * 20);
}

#[test]
fn waiting_skipping_and_refusing() {
    let disk = SimDisk::new(3);
    let bank = Bank::new(&disk);
    let begin = || bank.engine.begin(Isolation::RepeatableRead, false).unwrap();
    let read = |trx: &dyn EngineTrx, lock, wait| {
        let context = NoContext(Duration::from_millis(30));
        let scan = Scan { lock, wait, ..Scan::default() };
        let mut out = RowSet::default();
        let keys = rows_of([key(&bank.def, 0, 1), key(&bank.def, 0, 2)]);
        bank.table.lookup(trx, &context, &scan, &keys, &mut out).map(|()| out.rows.len())
    };
    let (one, two) = (begin(), begin());
    bank.set(&*one, 1, 5).unwrap();
    assert_eq!(read(&*two, LockMode::None, LockWait::Default).unwrap(), 2);
    assert_eq!(read(&*two, LockMode::Shared, LockWait::SkipLocked).unwrap(), 1);
    let refused = read(&*two, LockMode::Shared, LockWait::NoWait);
    assert!(matches!(refused, Err(EngineError::LockWaitTimeout)));
    let timed_out = read(&*two, LockMode::Shared, LockWait::Default);
    assert!(matches!(timed_out, Err(EngineError::LockWaitTimeout)));
    one.commit(None).unwrap();
    assert_eq!(bank.total(&*two, None), ACCOUNTS * 100, "the snapshot stands");
    assert_eq!(read(&*two, LockMode::Shared, LockWait::NoWait).unwrap(), 2);
    let three = begin();
    assert_eq!(read(&*three, LockMode::Shared, LockWait::NoWait).unwrap(), 2);
    let blocked = bank.table.delete(
        &*three,
        &NoContext(Duration::from_millis(30)),
        &rows_of([key(&bank.def, 0, 2)]),
        None,
    );
    assert!(matches!(blocked, Err(EngineError::LockWaitTimeout)));
    two.rollback().unwrap();
    assert_eq!(bank.total(&*three, Some(2)), ACCOUNTS * 100 - 95);
}

#[test]
fn what_a_panic_leaves_open_is_taken_back() {
    let disk = SimDisk::new(6);
    let bank = Bank::new(&disk);
    let begin = || bank.engine.begin(Isolation::RepeatableRead, false).unwrap();
    let other = items(2);
    let panicked = std::thread::scope(|scope| {
        let change = scope.spawn(|| {
            let trx = begin();
            bank.set(&*trx, 1, 5).unwrap();
            bank.engine.create_table(&*trx, &other).unwrap();
            panic!("in the middle of a change");
        });
        change.join().is_err()
    });
    assert!(panicked);
    let (scan, keys) =
        (Scan { lock: LockMode::Exclusive, ..Scan::default() }, rows_of([key(&bank.def, 0, 1)]));
    let (trx, mut out) = (begin(), RowSet::default());
    let context = NoContext(Duration::from_secs(20));
    bank.table.lookup(&*trx, &context, &scan, &keys, &mut out).unwrap();
    assert_eq!(number(&bank.def, out.rows.iter().next().unwrap(), 2), 100);
    for _ in 0..2000 {
        if !bank.engine.table_exists(other.id) {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    bank.engine.create_table(&*trx, &other).unwrap();
    trx.commit(None).unwrap();
    bank.engine.shutdown().unwrap();
}

#[test]
fn a_deadlock_has_one_victim() {
    let disk = SimDisk::new(4);
    let bank = Bank::new(&disk);
    let barrier = std::sync::Barrier::new(2);
    let outcomes: Vec<_> = std::thread::scope(|scope| {
        let threads = [(1, 2), (2, 1)].map(|(first, second)| {
            let (bank, barrier) = (&bank, &barrier);
            scope.spawn(move || {
                let trx = bank.engine.begin(Isolation::RepeatableRead, false).unwrap();
                bank.set(&*trx, first, 1).unwrap();
                barrier.wait();
                let outcome = bank.set(&*trx, second, 1);
                match outcome {
                    Ok(_) => assert!(trx.commit(None).is_ok()),
                    Err(_) => trx.rollback().unwrap(),
                }
                matches!(outcome, Err(EngineError::Deadlock))
            })
        });
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(outcomes.iter().filter(|victim| **victim).count(), 1, "{outcomes:?}");
}

#[test]
fn a_scan_does_not_meet_what_its_statement_does() {
    let disk = SimDisk::new(5);
    let bank = Bank::new(&disk);
    let (table, def, context) = (&bank.table, &bank.def, NoContext::default());
    let trx = bank.engine.begin(Isolation::RepeatableRead, false).unwrap();
    for lock in [LockMode::None, LockMode::Exclusive] {
        for index in [None, Some(2)] {
            let scan = Scan { index, lock, want_keys: true, ..Scan::default() };
            let before = bank.total(&*trx, None);
            let mut cursor = table.scan(&*trx, &context, &scan).unwrap();
            let (mut out, mut rows, mut next) = (RowSet::default(), 0, 1000 * before);
            while cursor.next_batch(&mut out, 3).unwrap() {
                for (key, row) in out.keys.iter().zip(out.rows.iter()) {
                    // Every row moves ahead of the scan, in both orders.
                    let (id, kind) = (number(def, row, 0), number(def, row, 2));
                    let moved = item_row(def, next + id, None, kind + 1, "moved");
                    table
                        .update(&*trx, &context, &rows_of([key]), &rows_of([moved]), None)
                        .unwrap();
                    rows += 1;
                    next += 1;
                }
                out.clear();
            }
            assert_eq!(rows, ACCOUNTS, "{lock:?} by {index:?}");
            assert_eq!(bank.total(&*trx, Some(2)), before + ACCOUNTS);
        }
    }
}
