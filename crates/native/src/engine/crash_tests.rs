//! Crashes of the whole engine on the simulated disk. After each, the tables must hold exactly the
//! state of some commit, not an earlier one than the last acknowledged, and every index must agree
//! with the rows. Each commit has a rider with its number: the riders' file must end with the
//! commit that the tables show.

use super::contract::NativeEngine;
use super::options::NativeOptions;
use super::rider_model::RiderLog;
use crate::disk::Disk;
use crate::disk::sim::{Rng, SimDisk};
use crate::ids::PAGE_SIZE;
use crate::page::get_u64;
use crate::storage::testing::{process, quiet_process_ends};
use selkie_engine::testing::{NoContext, contents, item_row, items, rows_of};
use selkie_engine::{
    Engine, EngineError, EngineResult, EngineTrx, Isolation, Table, TableDef, TableId,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

type Rows = BTreeMap<i64, Vec<u8>>;

/// The states after all commits so far; the first one is empty.
struct History {
    states: Vec<Rows>,
    acked: usize,
    /// Lower bound of the next AUTO_INCREMENT value after the last acknowledged commit.
    auto: u64,
}

fn options() -> NativeOptions {
    NativeOptions {
        buffer_pool_bytes: 40 * PAGE_SIZE,
        log_capacity_bytes: 1 << 20,
        log_buffer_bytes: 512 << 10,
        log_segment_bytes: 256 << 10,
        background: false,
        ..NativeOptions::default()
    }
}

fn open(disk: &SimDisk) -> EngineResult<(NativeEngine, Arc<RiderLog>)> {
    let log = RiderLog::new(Arc::new(disk.clone()));
    let options = NativeOptions { rider_files: Some(log.clone()), ..options() };
    Ok((NativeEngine::open_on(Arc::new(disk.clone()), &options)?, log))
}

fn key(def: &TableDef, id: i64) -> Vec<u8> {
    let mut key = Vec::new();
    let codec = selkie_engine::IndexCodec::new(def, &def.indexes[0]);
    codec.key_of_values(&[selkie_types::Value::Int(id)], &mut key);
    key
}

/// A session that does random work and records the expected rows.
struct Session<'e> {
    engine: &'e NativeEngine,
    log: &'e RiderLog,
    def: Arc<TableDef>,
    table: Arc<dyn Table>,
    rng: Rng,
}

impl Session<'_> {
    fn row(&mut self, id: i64) -> Vec<u8> {
        let length = match self.rng.below(20) {
            0 => 40_000,
            1..4 => 3_000,
            _ => 60,
        };
        let name = "x".repeat(self.rng.below(length) as usize);
        let code = (self.rng.below(2) == 0).then(|| self.rng.below(1000) as i64);
        item_row(&self.def, id, code, self.rng.below(9) as i64, &name)
    }

    /// Makes one change in `trx` and in `rows`.
    fn step(&mut self, trx: &dyn EngineTrx, rows: &mut Rows) -> EngineResult<()> {
        let (id, context) = (self.rng.below(120) as i64, NoContext::default());
        let (row, at) = (self.row(id), rows_of([key(&self.def, id)]));
        match self.rng.below(10) {
            0..5 => match self.table.insert(trx, &context, &rows_of([&row])) {
                Ok(_) => drop(rows.insert(id, row)),
                Err(EngineError::DuplicateKey { .. }) => {}
                Err(e) => return Err(e),
            },
            5..8 => match self.table.update(trx, &context, &at, &rows_of([&row]), None) {
                Ok(0) => assert!(!rows.contains_key(&id)),
                Ok(_) => drop(rows.insert(id, row)),
                Err(EngineError::DuplicateKey { .. }) => {}
                Err(e) => return Err(e),
            },
            _ => {
                let gone = self.table.delete(trx, &context, &at, None)?;
                assert_eq!(gone == 1, rows.remove(&id).is_some());
            }
        }
        Ok(())
    }

    /// Runs a transaction; its state is recorded before its commit can become durable.
    fn transaction(&mut self, history: &mut History) -> EngineResult<()> {
        let trx = self.engine.begin(Isolation::RepeatableRead, false)?;
        let mut rows = history.states.last().cloned().unwrap_or_default();
        for _ in 0..1 + self.rng.below(12) {
            let (savepoint, before) = (trx.savepoint()?, rows.clone());
            self.step(&*trx, &mut rows)?;
            if self.rng.below(6) == 0 {
                trx.rollback_to(savepoint)?;
                rows = before;
            }
        }
        if self.rng.below(4) == 0 {
            return trx.rollback();
        }
        if self.rng.below(8) == 0 {
            self.engine.checkpoint(false)?;
        }
        history.states.push(rows);
        let state = history.states.len();
        let mut rider = self.log.rider(&(state as u64).to_le_bytes());
        if let Some(lsn) = trx.commit(Some(&mut rider))?
            && self.rng.below(3) > 0
        {
            self.engine.wait_durable(lsn)?;
            history.acked = state;
            history.auto = self.table.statistics().auto_increment.unwrap_or(0);
            self.log.write_upto(lsn);
        }
        if self.rng.below(10) == 0 { self.unfinished_ddl() } else { Ok(()) }
    }

    /// Creates a table and an index and rolls them back.
    fn unfinished_ddl(&mut self) -> EngineResult<()> {
        let trx = self.engine.begin(Isolation::RepeatableRead, false)?;
        self.engine.create_table(&*trx, &items(77))?;
        trx.rollback()
    }
}

/// Opens after a crash and checks. The state found becomes the current one.
fn recover(disk: &SimDisk, history: &mut History, rng: &mut Rng) -> (NativeEngine, Arc<RiderLog>) {
    for _ in 0..rng.below(3) {
        disk.crash_after(1 + rng.below(40));
        let _ = process(|| open(disk).map(drop));
        disk.crash();
    }
    disk.kill_process();
    let (engine, log) = open(disk).unwrap_or_else(|e| panic!("recovery failed: {e}"));
    let def = items(1);
    let riders: Vec<u64> = log.contents().iter().map(|rider| get_u64(rider, 0)).collect();
    assert!(riders.iter().copied().eq(1..=riders.len() as u64), "{riders:?}");
    if !engine.table_exists(TableId(1)) {
        assert_eq!(history.acked, 0, "an acknowledged table is lost");
        *history = History { states: Vec::new(), acked: 0, auto: 0 };
        return (engine, log);
    }
    assert!(!engine.table_exists(TableId(77)));
    let found = contents(&engine, &def);
    let state = riders.len();
    assert!((history.acked..=history.states.len()).contains(&state), "{state} commits are left");
    let empty = Rows::new();
    let rows = state.checked_sub(1).map_or(&empty, |n| &history.states[n]);
    assert!(rows.values().eq(found.iter()), "the rows are not those after commit {state}");
    let auto = engine.open_table(&def).unwrap().statistics().auto_increment.unwrap_or(0);
    assert!(auto >= history.auto, "the counter went back from {} to {auto}", history.auto);
    history.states.truncate(state);
    history.acked = state;
    (engine, log)
}

fn life(
    disk: &SimDisk,
    (engine, log): (NativeEngine, Arc<RiderLog>),
    history: &mut History,
    rng: &mut Rng,
) {
    disk.crash_after(1 + rng.below(400));
    let seed = rng.next();
    let _ = process(|| -> EngineResult<()> {
        let def = items(1);
        if !engine.table_exists(TableId(1)) {
            let trx = engine.begin(Isolation::RepeatableRead, false)?;
            engine.create_table(&*trx, &def)?;
            let lsn = trx.commit(None)?;
            lsn.map_or(Ok(()), |lsn| engine.wait_durable(lsn))?;
        }
        let table = engine.open_table(&def)?;
        let (engine, log) = (&engine, &*log);
        let mut session = Session { engine, log, def, table, rng: Rng::new(seed) };
        (0..60).try_for_each(|_| session.transaction(history))
    });
    let _ = process(|| drop(engine));
}

#[test]
fn a_damaged_file_is_refused_and_kept() {
    let disk = SimDisk::new(5);
    let (engine, _) = open(&disk).unwrap();
    let trx = engine.begin(Isolation::RepeatableRead, false).unwrap();
    engine.create_table(&*trx, &items(1)).unwrap();
    trx.commit(None).unwrap();
    engine.shutdown().unwrap();
    drop(engine);
    let files = |disk: &SimDisk| {
        disk.list().unwrap().into_iter().filter(|n| n.starts_with("data.")).collect::<Vec<_>>()
    };
    let before = files(&disk);
    assert!(!before.is_empty());
    for file in &before {
        for page in 0..3 {
            let fork = disk.fork(page);
            fork.flip(file, page * PAGE_SIZE as u64 + 5000, 2);
            let outcome =
                open(&fork).and_then(|(engine, _)| engine.open_table(&items(1)).map(drop));
            assert!(page == 2 || matches!(outcome, Err(EngineError::Corrupt(_))), "{file} {page}");
            assert_eq!(files(&fork), before, "a damaged file was deleted");
        }
    }
}

#[test]
fn random_crashes_lose_no_acknowledged_commit() {
    quiet_process_ends();
    let number = |name: &str| std::env::var(name).ok().and_then(|s| s.parse::<u64>().ok());
    let first = number("SELKIE_SEED").unwrap_or(1);
    let time = Duration::from_millis(number("SELKIE_SECONDS").map_or(1500, |s| s * 1000));
    let start = Instant::now();
    let mut seed = first;
    while seed < first + 3 || start.elapsed() < time {
        let (disk, mut rng) = (SimDisk::new(seed), Rng::new(seed ^ 0x5EED));
        let mut history = History { states: Vec::new(), acked: 0, auto: 0 };
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for _ in 0..5 {
                let engine = recover(&disk, &mut history, &mut rng);
                life(&disk, engine, &mut history, &mut rng);
                if rng.below(5) == 0 { disk.kill_process() } else { disk.crash() }
            }
            drop(recover(&disk, &mut history, &mut rng));
        }));
        if let Err(payload) = outcome {
            eprintln!("failing seed: {seed}");
            std::panic::resume_unwind(payload);
        }
        seed += 1;
    }
}

/// REPLACE gives the old row a number of the counter, by an update that moves its key.
#[test]
fn a_number_that_an_update_takes_from_the_counter_is_not_given_again() {
    let disk = SimDisk::new(9);
    let (engine, _) = open(&disk).unwrap();
    let def = items(1);
    let trx = engine.begin(Isolation::RepeatableRead, false).unwrap();
    engine.create_table(&*trx, &def).unwrap();
    let table = engine.open_table(&def).unwrap();
    let context = NoContext::default();
    let first = table.reserve_auto_increment(1, 1, 1).unwrap() as i64;
    let row = |id| rows_of([item_row(&def, id, None, 0, "")]);
    table.insert(&*trx, &context, &row(first)).unwrap();
    trx.commit(None).unwrap();
    let trx = engine.begin(Isolation::RepeatableRead, false).unwrap();
    let second = table.reserve_auto_increment(1, 1, 1).unwrap() as i64;
    let at = rows_of([key(&def, first)]);
    assert_eq!(table.update(&*trx, &context, &at, &row(second), None).unwrap(), 1);
    engine.wait_durable(trx.commit(None).unwrap().unwrap()).unwrap();
    drop(table);
    disk.kill_process();
    let _ = process(|| drop(engine));
    let (engine, _) = open(&disk).unwrap();
    let next = engine.open_table(&def).unwrap().reserve_auto_increment(1, 1, 1).unwrap() as i64;
    assert!(next > second, "{next} after {second}");
}
