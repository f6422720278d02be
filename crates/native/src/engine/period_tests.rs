//! Tests of indexes without overlaps with several transactions: what others have changed and not
//! committed is waited for, at every isolation level.

use super::contract::NativeEngine;
use super::options::NativeOptions;
use crate::disk::sim::SimDisk;
use selkie_engine::testing::{NoContext, rows_of, span_row, spans};
use selkie_engine::{
    Engine, EngineError, EngineResult, EngineTrx, IndexKind, Isolation, Scan, Table, TableDef,
};
use selkie_types::{DateTime, Value};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

const LEVELS: [Isolation; 4] = [
    Isolation::ReadUncommitted,
    Isolation::ReadCommitted,
    Isolation::RepeatableRead,
    Isolation::Serializable,
];

struct World {
    engine: NativeEngine,
    table: Arc<dyn Table>,
}

impl World {
    fn new(primary: IndexKind) -> World {
        let options = NativeOptions { background: false, ..NativeOptions::default() };
        let engine = NativeEngine::open_on(Arc::new(SimDisk::new(1)), &options).unwrap();
        let def = spans(1, primary);
        let trx = engine.begin(Isolation::RepeatableRead, false).unwrap();
        engine.create_table(&*trx, &def).unwrap();
        trx.commit(None).unwrap();
        let table = engine.open_table(&def).unwrap();
        World { engine, table }
    }

    fn def(&self) -> &Arc<TableDef> {
        self.table.def()
    }

    fn begin(&self, isolation: Isolation) -> Box<dyn EngineTrx> {
        let trx = self.engine.begin(isolation, false).unwrap();
        trx.statement_begin(isolation, false).unwrap();
        trx
    }

    fn insert(&self, trx: &dyn EngineTrx, id: i64, span: Range<i64>) -> EngineResult<u64> {
        // A wait ends soon if it is for somebody who does not end.
        let context = NoContext(Duration::from_millis(20));
        let rows = rows_of([span_row(self.def(), id, Some("name"), span)]);
        self.table.insert(trx, &context, &rows).map(|info| info.rows)
    }

    /// Deletes the row that begins at `start`.
    fn delete(&self, trx: &dyn EngineTrx, start: i64) {
        let scan = Scan { want_keys: true, ..Scan::default() };
        let context = NoContext::default();
        let mut cursor = self.table.scan(trx, &context, &scan).unwrap();
        let mut set = selkie_engine::RowSet::default();
        while cursor.next_batch(&mut set, 100).unwrap() {}
        let begins = |row: &[u8]| {
            self.def().layout.value(row, 2).unwrap() == Value::DateTime(DateTime(start))
        };
        let at = set.rows.iter().position(begins).unwrap();
        let keys = rows_of([set.keys.get(at)]);
        assert_eq!(self.table.delete(trx, &context, &keys, None).unwrap(), 1);
    }
}

fn waits(result: EngineResult<u64>) {
    assert!(matches!(result, Err(EngineError::LockWaitTimeout)), "{result:?}");
}

fn refused(result: EngineResult<u64>) {
    assert!(matches!(result, Err(EngineError::DuplicateKey { .. })), "{result:?}");
}

fn each(test: impl Fn(&World, Isolation)) {
    for primary in [IndexKind::Primary, IndexKind::HeapPrimary] {
        LEVELS.into_iter().for_each(|level| test(&World::new(primary), level));
    }
}

#[test]
fn a_row_waits_for_a_new_one_that_it_overlaps() {
    each(|world, level| {
        let (one, other) = (world.begin(level), world.begin(level));
        world.insert(&*one, 1, 10..20).unwrap();
        waits(world.insert(&*other, 1, 15..25));
        world.insert(&*other, 1, 20..25).unwrap();
        one.commit(None).unwrap();
        refused(world.insert(&*other, 1, 19..20));
        other.commit(None).unwrap();
    });
}

#[test]
fn a_row_waits_for_a_deleted_one_that_may_come_back() {
    each(|world, level| {
        let one = world.begin(level);
        world.insert(&*one, 1, 10..100).unwrap();
        one.commit(None).unwrap();
        let (one, other) = (world.begin(level), world.begin(level));
        world.delete(&*one, 10);
        world.insert(&*one, 1, 50..60).unwrap();
        // It begins before the new row, which is not the last word.
        waits(world.insert(&*other, 1, 20..30));
        one.rollback().unwrap();
        refused(world.insert(&*other, 1, 20..30));
        other.rollback().unwrap();
    });
}

#[test]
fn a_row_comes_in_where_another_was_undone_or_deleted() {
    each(|world, level| {
        let one = world.begin(level);
        world.insert(&*one, 1, 10..20).unwrap();
        one.rollback().unwrap();
        let one = world.begin(level);
        world.insert(&*one, 1, 0..30).unwrap();
        one.commit(None).unwrap();
        let one = world.begin(level);
        world.delete(&*one, 0);
        one.commit(None).unwrap();
        let one = world.begin(level);
        world.insert(&*one, 1, 5..35).unwrap();
        one.commit(None).unwrap();
    });
}
