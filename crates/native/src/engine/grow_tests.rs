//! An index that grows beside writers, one order of events per test. Each ends with a comparison of
//! the index with its table.

use super::contract::NativeEngine;
use super::grow;
use super::options::NativeOptions;
use crate::btree::Hint;
use crate::disk::sim::SimDisk;
use crate::table::Growing;
use crate::trx::purge_step;
use selkie_engine::testing::{item_row, items, rows_of};
use selkie_engine::{
    Engine, EngineError, EngineResult, EngineTrx, IndexCodec, IndexId, IndexKind, IndexPart,
    Isolation, NoWait, RowSet, Scan, TableDef,
};
use std::sync::Arc;

const NEW: IndexId = IndexId(9);
const KIND: usize = 2;
const NAME: usize = 3;

/// A table and an index that grows.
struct Bed {
    engine: NativeEngine,
    old: Arc<TableDef>,
    new: Arc<TableDef>,
}

/// The index and what belongs to it.
struct Growth {
    trx: Box<dyn EngineTrx>,
    index: Arc<Growing>,
    seen: Vec<(Vec<u8>, Vec<u8>, usize)>,
}

impl Bed {
    /// A table with the rows 1, 2 and 3; the index will be over `column`.
    fn new(kind: IndexKind, column: usize) -> Bed {
        let options = NativeOptions { background: false, ..NativeOptions::default() };
        let engine = NativeEngine::open_on(Arc::new(SimDisk::new(1)), &options).unwrap();
        let old = items(1);
        let mut new = TableDef::clone(&old);
        let parts = vec![IndexPart { column, prefix: None, descending: false }];
        let first = new.indexes[2].clone();
        new.indexes.insert(
            1,
            selkie_engine::IndexDef { id: NEW, name: "new".into(), kind, parts, ..first },
        );
        let bed = Bed { engine, old, new: Arc::new(new) };
        let trx = bed.begin();
        bed.engine.create_table(&*trx, &bed.old).unwrap();
        trx.commit(None).unwrap();
        let trx = bed.begin();
        (1..=3).for_each(|id| bed.insert(&*trx, id, id, "name").unwrap());
        trx.commit(None).unwrap();
        bed
    }

    fn begin(&self) -> Box<dyn EngineTrx> {
        let trx = self.engine.begin(Isolation::RepeatableRead, false).unwrap();
        trx.statement_begin(Isolation::RepeatableRead, false).unwrap();
        trx
    }

    fn key(&self, id: i64) -> Vec<u8> {
        let mut key = Vec::new();
        let codec = IndexCodec::new(&self.old, &self.old.indexes[0]);
        codec.key_of_values(&[selkie_types::Value::Int(id)], &mut key);
        key
    }

    fn insert(&self, trx: &dyn EngineTrx, id: i64, kind: i64, name: &str) -> EngineResult<()> {
        let rows = rows_of([item_row(&self.old, id, None, kind, name)]);
        self.engine.open_table(&self.old)?.insert(trx, &NoWait, &rows).map(drop)
    }

    fn update(&self, trx: &dyn EngineTrx, id: i64, kind: i64, name: &str) -> EngineResult<()> {
        let rows = rows_of([item_row(&self.old, id, None, kind, name)]);
        let table = self.engine.open_table(&self.old)?;
        assert_eq!(table.update(trx, &NoWait, &rows_of([self.key(id)]), &rows, None)?, 1);
        Ok(())
    }

    fn delete(&self, trx: &dyn EngineTrx, id: i64) {
        let table = self.engine.open_table(&self.old).unwrap();
        assert_eq!(table.delete(trx, &NoWait, &rows_of([self.key(id)]), None).unwrap(), 1);
    }

    fn commit(&self, trx: Box<dyn EngineTrx>) {
        trx.commit(None).unwrap();
        while purge_step(self.engine.shared()).unwrap() {}
    }

    fn start(&self) -> Growth {
        let trx = self.begin();
        self.engine.start_index(&*trx, &self.new, 1).unwrap();
        let files = self.engine.shared().table_files(self.new.id).unwrap();
        Growth { trx, index: files.growing(NEW).unwrap(), seen: Vec::new() }
    }

    /// Reads all rows.
    fn scan(&self, growth: &mut Growth) {
        let shared = self.engine.shared();
        let files = shared.table_files(self.new.id).unwrap();
        let sorter = grow::scan(shared, &files, &NoWait, &growth.index).unwrap();
        let seen = &mut growth.seen;
        let keep = |entry: super::sort::Sorted<'_>| {
            seen.push((entry.key.to_vec(), entry.value.to_vec(), entry.unique));
            Ok(())
        };
        sorter.drain(keep).unwrap();
    }

    fn fill(&self, growth: &Growth) -> EngineResult<()> {
        let mut hint = Hint::default();
        growth.seen.iter().try_for_each(|(key, value, unique)| {
            growth.index.fill(self.engine.shared(), &mut hint, (key, value), *unique)
        })
    }

    fn enforce(&self, growth: &Growth) -> EngineResult<bool> {
        growth.index.enforce(self.engine.shared())
    }

    /// Fills, publishes, and compares the index with the table.
    fn finish(&self, growth: Growth) {
        self.fill(&growth).unwrap();
        assert!(self.enforce(&growth).unwrap());
        self.publish(growth);
        self.check();
    }

    fn publish(&self, growth: Growth) {
        growth.trx.commit(None).unwrap();
        self.engine.index_published(self.new.id, NEW);
    }

    fn check(&self) {
        let trx = self.begin();
        let wrong = self.engine.open_table(&self.new).unwrap().check(&*trx, &NoWait).unwrap();
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    fn read(&self, trx: &dyn EngineTrx, index: Option<usize>) -> EngineResult<usize> {
        let table = self.engine.open_table(&self.new)?;
        let mut out = RowSet::default();
        let scan = Scan { index, ..Scan::default() };
        while table.scan(trx, &NoWait, &scan)?.next_batch(&mut out, 1000)? && out.rows.len() < 3 {}
        Ok(out.rows.len())
    }
}

#[test]
fn a_transaction_from_before_the_start_leaves_no_entry_that_it_did_not_make() {
    for commits in [false, true] {
        let bed = Bed::new(IndexKind::Plain, NAME);
        let (first, second) = (bed.begin(), bed.begin());
        bed.update(&*first, 1, 1, "before").unwrap();
        bed.insert(&*second, 4, 4, "before").unwrap();
        let mut growth = bed.start();
        let savepoint = first.savepoint().unwrap();
        bed.update(&*first, 1, 5, "before").unwrap();
        bed.update(&*first, 1, 1, "after").unwrap();
        bed.update(&*first, 2, 2, "after").unwrap();
        bed.delete(&*second, 4);
        match commits {
            true => {
                first.rollback_to(savepoint).unwrap();
                bed.commit(first);
                bed.commit(second);
            }
            false => {
                first.rollback().unwrap();
                second.rollback().unwrap();
            }
        }
        bed.scan(&mut growth);
        bed.finish(growth);
    }
}

#[test]
fn an_entry_that_first_stays_the_same_is_marked_when_it_changes() {
    for commits in [false, true] {
        let bed = Bed::new(IndexKind::Plain, NAME);
        let mut growth = bed.start();
        let trx = bed.begin();
        bed.update(&*trx, 1, 7, "name").unwrap();
        bed.update(&*trx, 1, 7, "other").unwrap();
        bed.update(&*trx, 2, 7, "NAME").unwrap();
        bed.scan(&mut growth);
        if commits {
            bed.commit(trx)
        } else {
            trx.rollback().unwrap()
        }
        bed.finish(growth);
    }
}

#[test]
fn a_row_that_goes_after_it_was_read_does_not_come_back() {
    let bed = Bed::new(IndexKind::Plain, NAME);
    let mut growth = bed.start();
    bed.scan(&mut growth);
    let trx = bed.begin();
    bed.delete(&*trx, 1);
    bed.update(&*trx, 2, 2, "other").unwrap();
    bed.commit(trx);
    let tree = growth.index.tree.clone();
    assert!(tree.gate.has_kept_marks());
    bed.finish(growth);
    let count = tree.read(crate::btree::Seek::At(&[]), |node| node.count()).unwrap();
    assert_eq!(count, 2, "the marks are swept");
}

#[test]
fn a_deletion_that_is_undone_leaves_the_entry_to_be_filled_in() {
    let bed = Bed::new(IndexKind::Plain, NAME);
    let mut growth = bed.start();
    bed.scan(&mut growth);
    let trx = bed.begin();
    bed.delete(&*trx, 1);
    bed.insert(&*trx, 1, 9, "again").unwrap();
    bed.fill(&growth).unwrap();
    trx.rollback().unwrap();
    bed.finish(growth);
}

#[test]
fn duplicates_of_writers_fail_the_build_and_not_the_writers() {
    let bed = Bed::new(IndexKind::Unique, KIND);
    let mut growth = bed.start();
    bed.scan(&mut growth);
    let trx = bed.begin();
    bed.insert(&*trx, 4, 1, "name").unwrap();
    bed.commit(trx);
    let failed = bed.fill(&growth);
    assert!(matches!(failed, Err(EngineError::DuplicateKey { index: 1, .. })), "{failed:?}");

    let bed = Bed::new(IndexKind::Unique, KIND);
    let mut growth = bed.start();
    bed.scan(&mut growth);
    bed.fill(&growth).unwrap();
    let trx = bed.begin();
    bed.update(&*trx, 3, 1, "name").unwrap();
    assert!(!bed.enforce(&growth).unwrap(), "that depends on the end of the transaction");
    bed.commit(trx);
    assert!(matches!(bed.enforce(&growth), Err(EngineError::DuplicateKey { index: 1, .. })));
}

#[test]
fn duplicates_that_an_undone_deletion_brings_back_are_found() {
    let bed = Bed::new(IndexKind::Unique, KIND);
    let mut growth = bed.start();
    bed.scan(&mut growth);
    let (inserts, deletes) = (bed.begin(), bed.begin());
    bed.insert(&*inserts, 4, 1, "name").unwrap();
    bed.commit(inserts);
    bed.delete(&*deletes, 1);
    bed.fill(&growth).unwrap();
    assert!(!bed.enforce(&growth).unwrap());
    deletes.rollback().unwrap();
    assert!(matches!(bed.enforce(&growth), Err(EngineError::DuplicateKey { index: 1, .. })));
}

#[test]
fn duplicates_that_end_before_the_build_do_not_matter() {
    let bed = Bed::new(IndexKind::Unique, KIND);
    let mut growth = bed.start();
    bed.scan(&mut growth);
    bed.fill(&growth).unwrap();
    let (first, second) = (bed.begin(), bed.begin());
    bed.insert(&*first, 4, 1, "name").unwrap();
    bed.update(&*second, 1, 10, "name").unwrap();
    bed.commit(second);
    bed.commit(first);
    bed.finish(growth);
}

#[test]
fn the_rules_of_a_published_index_hold_for_who_does_not_know_it() {
    let bed = Bed::new(IndexKind::Unique, KIND);
    let mut growth = bed.start();
    bed.scan(&mut growth);
    bed.finish(growth);
    let trx = bed.begin();
    let refused = bed.insert(&*trx, 4, 1, "name");
    assert!(matches!(refused, Err(EngineError::TableChanged)), "{refused:?}");
    bed.insert(&*trx, 4, 4, "name").unwrap();
    bed.update(&*trx, 3, 30, "name").unwrap();
    bed.delete(&*trx, 2);
    bed.commit(trx);
    bed.check();
}

#[test]
fn a_snapshot_from_before_does_not_read_the_index() {
    let bed = Bed::new(IndexKind::Plain, NAME);
    let reader = bed.begin();
    reader.take_snapshot().unwrap();
    let trx = bed.begin();
    bed.update(&*trx, 1, 1, "other").unwrap();
    bed.commit(trx);
    let mut growth = bed.start();
    bed.scan(&mut growth);
    bed.finish(growth);
    assert!(matches!(bed.read(&*reader, Some(1)), Err(EngineError::TableChanged)));
    assert_eq!(bed.read(&*reader, None).unwrap(), 3);
    assert_eq!(bed.read(&*bed.begin(), Some(1)).unwrap(), 3);
}

#[test]
fn writers_go_on_when_a_build_is_given_up() {
    let bed = Bed::new(IndexKind::Plain, NAME);
    let mut growth = bed.start();
    bed.scan(&mut growth);
    let trx = bed.begin();
    bed.update(&*trx, 1, 1, "other").unwrap();
    bed.fill(&growth).unwrap();
    growth.trx.rollback().unwrap();
    bed.update(&*trx, 1, 1, "third").unwrap();
    bed.delete(&*trx, 2);
    trx.rollback().unwrap();
    let mut again = bed.start();
    bed.scan(&mut again);
    bed.finish(again);
}
