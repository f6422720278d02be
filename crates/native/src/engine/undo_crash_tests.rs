//! Crashes with prepared transactions, with transactions larger than memory, and during rollbacks
//! of losers.

use super::contract::NativeEngine;
use super::options::NativeOptions;
use crate::disk::sim::{Rng, SimDisk};
use crate::ids::PAGE_SIZE;
use crate::storage::testing::{process, quiet_process_ends};
use crate::trx::undo_losers_step;
use selkie_engine::testing::{NoContext, contents, item_row, items, rows_of};
use selkie_engine::{
    Engine, EngineResult, EngineTrx, IndexCodec, Isolation, Table, TableDef, TableId, Xid,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

type Rows = BTreeMap<i64, Vec<u8>>;

/// First id of the rows of prepared transactions.
const HIGH: i64 = 1000;

/// The outcome of a prepared transaction, as far as it is durable for certain.
#[derive(Clone)]
enum Branch {
    None,
    /// The rows it leaves if committed; whether its preparation was acknowledged.
    Prepared(Rows, bool),
    /// As above, but it was ended; whether by a commit; whether that was acknowledged.
    Ended(Rows, bool, bool),
}

struct Model {
    /// States of the low rows after each commit.
    states: Vec<Rows>,
    acked: usize,
    high: Rows,
    branch: Branch,
}

fn options() -> NativeOptions {
    NativeOptions {
        buffer_pool_bytes: 40 * PAGE_SIZE,
        log_capacity_bytes: 1 << 20,
        log_buffer_bytes: 512 << 10,
        log_segment_bytes: 256 << 10,
        undo_memory_bytes: 20 << 10,
        background: false,
        ..NativeOptions::default()
    }
}

fn open(disk: &SimDisk) -> EngineResult<NativeEngine> {
    NativeEngine::open_unfinished(Arc::new(disk.clone()), &options())
}

fn name() -> Xid {
    Xid { gtrid: b"global".as_slice().into(), bqual: b"b".as_slice().into(), format: 1 }
}

struct Session<'e> {
    engine: &'e NativeEngine,
    def: Arc<TableDef>,
    table: Arc<dyn Table>,
    rng: Rng,
}

impl Session<'_> {
    fn change(&mut self, trx: &dyn EngineTrx, rows: &mut Rows, first: i64) -> EngineResult<()> {
        let id = first + self.rng.below(60) as i64;
        let length = [60, 60, 60, 2_000, 3_000, 30_000][self.rng.below(6) as usize];
        let text = "x".repeat(self.rng.below(length) as usize);
        let row = item_row(&self.def, id, Some(id), self.rng.below(9) as i64, &text);
        let mut key = Vec::new();
        let codec = IndexCodec::new(&self.def, &self.def.indexes[0]);
        codec.key_of_values(&[selkie_types::Value::Int(id)], &mut key);
        let (context, at) = (NoContext::default(), rows_of([key]));
        let is_new = !rows.contains_key(&id);
        if is_new {
            self.table.insert(trx, &context, &rows_of([&row]))?;
            rows.insert(id, row);
        } else if self.rng.below(4) == 0 {
            self.table.delete(trx, &context, &at, None)?;
            rows.remove(&id);
        } else {
            self.table.update(trx, &context, &at, &rows_of([&row]), None)?;
            rows.insert(id, row);
        }
        Ok(())
    }

    fn changes(
        &mut self,
        trx: &dyn EngineTrx,
        rows: &mut Rows,
        first: i64,
        most: u64,
    ) -> EngineResult<()> {
        for _ in 0..1 + self.rng.below(most) {
            let (savepoint, before) = (trx.savepoint()?, rows.clone());
            self.change(trx, rows, first)?;
            if self.rng.below(8) == 0 {
                trx.rollback_to(savepoint)?;
                *rows = before;
            }
            if self.rng.below(40) == 0 {
                self.engine.checkpoint(false)?;
            }
        }
        Ok(())
    }

    fn transaction(&mut self, model: &mut Model) -> EngineResult<()> {
        let trx = self.engine.begin(Isolation::RepeatableRead, false)?;
        let mut rows = model.states.last().cloned().unwrap_or_default();
        let most = if self.rng.below(4) == 0 { 120 } else { 8 };
        self.changes(&*trx, &mut rows, 0, most)?;
        if self.rng.below(4) == 0 {
            return trx.rollback();
        }
        model.states.push(rows);
        let state = model.states.len();
        if let Some(lsn) = trx.commit(None)? {
            self.engine.wait_durable(lsn)?;
            model.acked = state;
        }
        Ok(())
    }

    /// Prepares a branch, and perhaps ends it.
    fn branch(&mut self, model: &mut Model) -> EngineResult<()> {
        let trx = self.engine.begin(Isolation::RepeatableRead, false)?;
        let mut rows = model.high.clone();
        self.changes(&*trx, &mut rows, HIGH, 40)?;
        model.branch = Branch::Prepared(rows.clone(), false);
        let Some(lsn) = trx.prepare(&name(), None)? else {
            model.branch = Branch::None;
            return trx.rollback();
        };
        if self.rng.below(3) > 0 {
            self.engine.wait_durable(lsn)?;
            model.branch = Branch::Prepared(rows, true);
        }
        for _ in 0..self.rng.below(4) {
            self.transaction(model)?;
        }
        if self.rng.below(3) == 0 {
            drop(trx);
            return Ok(());
        }
        self.end(model, trx)
    }

    fn end(&mut self, model: &mut Model, trx: Box<dyn EngineTrx>) -> EngineResult<()> {
        let Branch::Prepared(after, _) = model.branch.clone() else { unreachable!() };
        let commits = self.rng.below(2) == 0;
        model.branch = Branch::Ended(after.clone(), commits, false);
        if commits {
            let lsn = trx.commit(None)?;
            lsn.map_or(Ok(()), |lsn| self.engine.wait_durable(lsn))?;
            model.high = after;
        } else {
            trx.rollback()?;
        }
        model.branch = Branch::None;
        Ok(())
    }
}

/// Sets the expected content, given whether the branch was found prepared.
fn settle(model: &mut Model, found: bool) {
    match std::mem::replace(&mut model.branch, Branch::None) {
        Branch::None => assert!(!found, "an ended branch is back"),
        Branch::Prepared(after, acked) => {
            assert!(found || !acked, "a prepared branch is lost");
            if found {
                model.branch = Branch::Prepared(after, true);
            }
        }
        Branch::Ended(after, _, acked) if found => {
            assert!(!acked);
            model.branch = Branch::Prepared(after, true);
        }
        Branch::Ended(after, true, _) => model.high = after,
        Branch::Ended(_, false, _) => {}
    }
}

fn check(engine: &NativeEngine, model: &mut Model) {
    let found = contents(engine, &items(1));
    let empty = Rows::new();
    let same = |rows: &Rows| {
        let mut all: Vec<_> = rows.values().chain(model.high.values()).collect();
        all.sort();
        let mut found: Vec<_> = found.iter().collect();
        found.sort();
        all == found
    };
    let state = (model.acked..=model.states.len())
        .rev()
        .find(|&n| same(n.checked_sub(1).map_or(&empty, |n| &model.states[n])));
    let Some(state) = state else { panic!("no commit left what recovery found") };
    model.states.truncate(state);
    model.acked = state;
}

/// Opens after a crash, with more crashes during the recovery and the rollback of losers.
fn recover(disk: &SimDisk, model: &mut Model, rng: &mut Rng) -> NativeEngine {
    for _ in 0..rng.below(3) {
        disk.crash_after(1 + rng.below(60));
        let steps = rng.below(6);
        let _ = process(|| {
            let engine = open(disk)?;
            for _ in 0..steps {
                undo_losers_step(engine.shared())?;
                engine.checkpoint(false)?;
            }
            EngineResult::Ok(())
        });
        disk.crash();
    }
    disk.kill_process();
    let engine = open(disk).unwrap_or_else(|e| panic!("recovery failed: {e}"));
    if !engine.table_exists(TableId(1)) {
        assert_eq!(model.acked, 0, "an acknowledged table is lost");
        let branch = Branch::None;
        *model = Model { states: Vec::new(), acked: 0, high: Rows::new(), branch };
        return engine;
    }
    let mut prepared = engine.take_prepared().unwrap();
    assert!(prepared.len() <= 1);
    settle(model, prepared.len() == 1);
    check(&engine, model);
    // Losers are not rolled back yet, but no reader may see their changes.
    while undo_losers_step(engine.shared()).unwrap() {
        if rng.below(4) == 0 {
            engine.checkpoint(false).unwrap();
        }
        check(&engine, model);
    }
    if rng.below(3) == 0 && prepared.is_empty() {
        sweep(&engine, model);
    }
    if let Some(found) = prepared.pop() {
        assert_eq!((&found.xid, &found.tables[..]), (&name(), &[TableId(1)][..]));
        if rng.below(2) == 0 {
            // It stays prepared until the next start.
            drop(found);
            engine.checkpoint(false).unwrap();
        } else {
            let seed = rng.next();
            session(&engine, seed).end(model, found.trx).unwrap();
            check(&engine, model);
        }
    }
    engine
}

/// After a sweep every page belongs to something, and nothing is missing.
fn sweep(engine: &NativeEngine, model: &mut Model) {
    let table = engine.open_table(&items(1)).unwrap();
    let context = NoContext::default();
    table.reclaim(&context).unwrap();
    assert_eq!(table.reclaim(&context).unwrap(), 0);
    check(engine, model);
    let trx = engine.begin(Isolation::RepeatableRead, false).unwrap();
    assert_eq!(table.check(&*trx, &context).unwrap(), Vec::<String>::new());
}

fn session(engine: &NativeEngine, seed: u64) -> Session<'_> {
    let def = items(1);
    let table = engine.open_table(&def).unwrap();
    Session { engine, def, table, rng: Rng::new(seed) }
}

fn life(disk: &SimDisk, engine: NativeEngine, model: &mut Model, rng: &mut Rng) {
    disk.crash_after(1 + rng.below(500));
    let seed = rng.next();
    let _ = process(|| -> EngineResult<()> {
        if !engine.table_exists(TableId(1)) {
            let trx = engine.begin(Isolation::RepeatableRead, false)?;
            engine.create_table(&*trx, &items(1))?;
            let lsn = trx.commit(None)?;
            lsn.map_or(Ok(()), |lsn| engine.wait_durable(lsn))?;
        }
        let mut session = session(&engine, seed);
        for _ in 0..20 {
            match model.branch {
                Branch::None if session.rng.below(3) == 0 => session.branch(model)?,
                _ => session.transaction(model)?,
            }
        }
        Ok(())
    });
    let _ = process(|| drop(engine));
}

#[test]
fn random_crashes_keep_prepared_transactions_and_undo_the_rest() {
    quiet_process_ends();
    let number = |name: &str| std::env::var(name).ok().and_then(|s| s.parse::<u64>().ok());
    let first = number("SELKIE_SEED").unwrap_or(1);
    let time = Duration::from_millis(number("SELKIE_SECONDS").map_or(1500, |s| s * 1000));
    let start = Instant::now();
    let mut seed = first;
    while seed < first + 3 || start.elapsed() < time {
        let (disk, mut rng) = (SimDisk::new(seed), Rng::new(seed ^ 0x7EED));
        let branch = Branch::None;
        let mut model = Model { states: Vec::new(), acked: 0, high: Rows::new(), branch };
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for _ in 0..5 {
                let engine = recover(&disk, &mut model, &mut rng);
                life(&disk, engine, &mut model, &mut rng);
                if rng.below(5) == 0 { disk.kill_process() } else { disk.crash() }
            }
            drop(recover(&disk, &mut model, &mut rng));
        }));
        if let Err(payload) = outcome {
            eprintln!("failing seed: {seed}");
            std::panic::resume_unwind(payload);
        }
        seed += 1;
    }
}
