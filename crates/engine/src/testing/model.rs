//! Random work on two engines at once; every step must have equal outcomes.
//!
//! One of the engines is usually the memory engine's model. A seed repeats a run.

use std::sync::Arc;

use selkie_types::Value;

use super::random::Random;
use super::tables::{NoContext, drain, item_row, key_of, rows_of};
use crate::{Bound, Engine, EngineError, EngineTrx, Isolation, RowSet, Scan, Table, TableDef};

/// An engine under comparison with its table and transaction.
pub struct Twin<'e> {
    engine: &'e dyn Engine,
    table: Arc<dyn Table>,
    trx: Box<dyn EngineTrx>,
}

impl<'e> Twin<'e> {
    /// Opens the table of `def`, creating it if it is missing.
    pub fn new(engine: &'e dyn Engine, def: &Arc<TableDef>) -> Self {
        let trx = engine.begin(Isolation::RepeatableRead, false).unwrap();
        if !engine.table_exists(def.id) {
            engine.create_table(&*trx, def).unwrap();
        }
        trx.commit(None).unwrap();
        let table = engine.open_table(def).unwrap();
        Self { engine, table, trx: engine.begin(Isolation::RepeatableRead, false).unwrap() }
    }

    fn end(&mut self, commit: bool) {
        let next = self.engine.begin(Isolation::RepeatableRead, false).unwrap();
        let trx = std::mem::replace(&mut self.trx, next);
        match commit {
            true => assert!(trx.commit(None).is_ok()),
            false => trx.rollback().unwrap(),
        }
    }

    fn apply(&self, work: &Work) -> String {
        let (table, trx, context) = (&self.table, &*self.trx, NoContext::default());
        match work {
            Work::Insert(rows) => {
                outcome(table.insert(trx, &context, &rows_of(rows)).map(|info| info.rows))
            }
            Work::Update(at, new) => {
                outcome(table.update(trx, &context, &rows_of(at), &rows_of(new), None))
            }
            Work::Delete(at) => outcome(table.delete(trx, &context, &rows_of(at), None)),
            Work::Read(scan) => {
                let found = table.scan(trx, &context, scan).and_then(drain);
                outcome(found.map(|set| listing(&set)))
            }
        }
    }
}

fn listing(set: &RowSet) -> Vec<Vec<u8>> {
    [&set.rows, &set.entries, &set.keys].iter().flat_map(|r| r.iter()).map(<[u8]>::to_vec).collect()
}

fn outcome<T: std::fmt::Debug>(result: Result<T, EngineError>) -> String {
    format!("{result:?}")
}

enum Work {
    Insert(Vec<Vec<u8>>),
    Update(Vec<Box<[u8]>>, Vec<Vec<u8>>),
    Delete(Vec<Box<[u8]>>),
    Read(Scan),
}

/// Generates random work on a table of [`super::items`] with ids below `ids`.
struct Dice<'d> {
    random: Random,
    def: &'d TableDef,
    ids: u64,
}

impl Dice<'_> {
    fn id(&mut self) -> i64 {
        self.random.below(self.ids) as i64
    }

    fn row(&mut self, id: i64) -> Vec<u8> {
        let code = (!self.random.one_in(3)).then(|| self.id());
        let kind = self.random.below(7) as i64;
        let length = if self.random.one_in(5) { 2000 } else { 30 };
        let name = "n".repeat(self.random.below(length) as usize);
        item_row(self.def, id, code, kind, &name)
    }

    fn key(&mut self) -> Box<[u8]> {
        let id = self.id();
        key_of(self.def, 0, Value::Int(id))
    }

    fn bound(&mut self, index: Option<usize>) -> Bound {
        let value = self.id() % if index == Some(2) { 7 } else { i64::MAX };
        let key = key_of(self.def, index.unwrap_or(0), Value::Int(value));
        match self.random.below(4) {
            0 => Bound::Unbounded,
            1 => Bound::Excluded(key),
            _ => Bound::Included(key),
        }
    }

    fn scan(&mut self) -> Scan {
        let index = [None, Some(1), Some(2)][self.random.below(3) as usize];
        Scan {
            index,
            lower: self.bound(index),
            upper: self.bound(index),
            reverse: self.random.one_in(2),
            covering: index.is_some() && self.random.one_in(2),
            fixed_only: self.random.one_in(4),
            want_keys: self.random.one_in(2),
            ..Scan::default()
        }
    }

    fn work(&mut self) -> Work {
        let count = 1 + self.random.below(6);
        match self.random.below(10) {
            0..4 => Work::Insert(
                (0..count)
                    .map(|_| {
                        let id = self.id();
                        self.row(id)
                    })
                    .collect(),
            ),
            4..6 => {
                let pair = |dice: &mut Self| {
                    let from = dice.id();
                    let to = if dice.random.one_in(4) { dice.id() } else { from };
                    (key_of(dice.def, 0, Value::Int(from)), dice.row(to))
                };
                let (at, new) = (0..count).map(|_| pair(self)).unzip();
                Work::Update(at, new)
            }
            6..8 => Work::Delete((0..count).map(|_| self.key()).collect()),
            _ => Work::Read(self.scan()),
        }
    }
}

/// Does `steps` pieces of random work on `a` and `b` and compares. Both must be transactional, with
/// a table of [`super::items`] of equal content.
pub fn compare(a: &mut Twin<'_>, b: &mut Twin<'_>, seed: u64, steps: usize, ids: u64) {
    let def = a.table.def().clone();
    let mut dice = Dice { random: Random::new(seed), def: &def, ids };
    for step in 0..steps {
        let work = dice.work();
        let savepoints = [a.trx.savepoint().unwrap(), b.trx.savepoint().unwrap()];
        let (left, right) = (a.apply(&work), b.apply(&work));
        assert!(left == right, "seed {seed} step {step}: {left:.300} but {right:.300}");
        if dice.random.one_in(6) {
            a.trx.rollback_to(savepoints[0]).unwrap();
            b.trx.rollback_to(savepoints[1]).unwrap();
        }
        if dice.random.one_in(12) {
            let commit = !dice.random.one_in(3);
            a.end(commit);
            b.end(commit);
        }
    }
    a.end(true);
    b.end(true);
    assert!(contents(a.engine, &def) == contents(b.engine, &def), "seed {seed}: contents differ");
}

/// All rows of a table, after a check that finds nothing wrong.
pub fn contents(engine: &dyn Engine, def: &Arc<TableDef>) -> Vec<Vec<u8>> {
    let trx = engine.begin(Isolation::RepeatableRead, true).unwrap();
    let (table, context) = (engine.open_table(def).unwrap(), NoContext::default());
    let wrong = table.check(&*trx, &context).unwrap();
    assert!(wrong.is_empty(), "{wrong:?}");
    let rows = drain(table.scan(&*trx, &context, &Scan::default()).unwrap()).unwrap().rows;
    rows.iter().map(<[u8]>::to_vec).collect()
}
