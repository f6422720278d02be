//! Tests of full-text indexes: a document under the eyes of several transactions, numbers after a
//! crash, damage.

use super::contract::NativeEngine;
use super::options::NativeOptions;
use crate::btree::{Decision, Hint};
use crate::disk::sim::SimDisk;
use crate::table::{NativeTable, trees_of};
use selkie_engine::testing::{NoContext, item_row, items, rows_of};
use selkie_engine::{
    Engine, EngineError, EngineTrx, IndexCodec, IndexDef, IndexId, IndexKind, IndexPart, Isolation,
    Table, TableDef, TextDef, TextDialect, TextRules, TextSize, WantedWords,
};
use selkie_types::{ByteRows, Value};
use std::sync::Arc;

const TEXT: IndexId = IndexId(20);

fn open(disk: &SimDisk) -> NativeEngine {
    let options = NativeOptions { background: false, ..NativeOptions::default() };
    NativeEngine::open_on(Arc::new(disk.clone()), &options).unwrap()
}

fn def() -> Arc<TableDef> {
    let mut def = TableDef::clone(&items(1));
    let parts = vec![IndexPart { column: 3, prefix: None, descending: false }];
    let kind = IndexKind::Fulltext;
    let index = IndexDef {
        id: TEXT,
        name: "text".into(),
        kind,
        parts,
        hashed: false,
        without_overlaps: false,
    };
    def.texts = vec![TextDef { index, rules: TextRules::default() }];
    Arc::new(def)
}

fn lenient_def() -> Arc<TableDef> {
    let mut def = TableDef::clone(&def());
    def.texts[0].rules.dialect = TextDialect::Lenient;
    Arc::new(def)
}

fn begin(engine: &NativeEngine, isolation: Isolation) -> Box<dyn EngineTrx> {
    let trx = engine.begin(isolation, false).unwrap();
    trx.statement_begin(isolation, false).unwrap();
    trx
}

fn key(def: &TableDef, id: i64) -> Vec<u8> {
    let mut key = Vec::new();
    IndexCodec::new(def, &def.indexes[0]).key_of_values(&[Value::Int(id)], &mut key);
    key
}

fn insert(table: &dyn Table, trx: &dyn EngineTrx, id: i64, text: &str) {
    let row = item_row(table.def(), id, None, 0, text);
    table.insert(trx, &NoContext::default(), &rows_of([row])).unwrap();
}

fn update(table: &dyn Table, trx: &dyn EngineTrx, id: i64, text: &str) {
    let (at, row) = (key(table.def(), id), item_row(table.def(), id, None, 0, text));
    let (at, row) = (rows_of([at]), rows_of([row]));
    assert_eq!(table.update(trx, &NoContext::default(), &at, &row, None).unwrap(), 1);
}

/// Documents found, and number of their rows' keys.
fn search(table: &dyn Table, trx: &dyn EngineTrx) -> Result<(Vec<u64>, usize), EngineError> {
    let context = NoContext::default();
    let mut search = table.search_text(trx, &context, 0)?;
    let mut found = Vec::new();
    let words = WantedWords::Begun(&[]);
    search.lists(words, &mut |_, list| found.extend(list.iter().map(|(document, _)| *document)))?;
    let mut keys = ByteRows::default();
    search.keys(&found, &mut keys)?;
    Ok((found, keys.iter().filter(|key| !key.is_empty()).count()))
}

fn found(table: &dyn Table, trx: &dyn EngineTrx) -> Vec<u64> {
    let (found, keys) = search(table, trx).unwrap();
    assert_eq!(found.len(), keys);
    found
}

fn commit(engine: &NativeEngine, trx: Box<dyn EngineTrx>) {
    let lsn = trx.commit(None).unwrap().unwrap();
    engine.wait_durable(lsn).unwrap();
}

fn world(disk: &SimDisk) -> (NativeEngine, Arc<dyn Table>) {
    world_of(disk, &def())
}

fn world_of(disk: &SimDisk, def: &Arc<TableDef>) -> (NativeEngine, Arc<dyn Table>) {
    let engine = open(disk);
    let trx = begin(&engine, Isolation::RepeatableRead);
    engine.create_table(&*trx, def).unwrap();
    commit(&engine, trx);
    let table = engine.open_table(def).unwrap();
    let trx = begin(&engine, Isolation::RepeatableRead);
    insert(&*table, &*trx, 1, "apple");
    commit(&engine, trx);
    (engine, table)
}

#[test]
fn only_committed_documents_of_the_snapshot_are_found() {
    let (engine, table) = world(&SimDisk::new(1));
    let old = begin(&engine, Isolation::RepeatableRead);
    old.take_snapshot().unwrap();
    let writer = begin(&engine, Isolation::RepeatableRead);
    update(&*table, &*writer, 1, "banana");
    let dirty = begin(&engine, Isolation::ReadUncommitted);
    assert!(found(&*table, &*writer).is_empty(), "own changes are hidden");
    assert!(found(&*table, &*dirty).is_empty(), "changes that are not committed are hidden");
    assert_eq!(found(&*table, &*old), [1]);
    writer.rollback_to(0).unwrap();
    assert_eq!(found(&*table, &*writer), [1]);
    update(&*table, &*writer, 1, "cherry");
    writer.commit(None).unwrap();
    assert_eq!(found(&*table, &*dirty), [3]);
    assert_eq!(found(&*table, &*old), [1], "the snapshot shows the old text");
}

#[test]
fn own_documents_of_a_lenient_index_are_found_with_their_sizes() {
    let (engine, table) = world_of(&SimDisk::new(4), &lenient_def());
    let old = begin(&engine, Isolation::RepeatableRead);
    old.take_snapshot().unwrap();
    let writer = begin(&engine, Isolation::RepeatableRead);
    update(&*table, &*writer, 1, "plum plum pear");
    insert(&*table, &*writer, 2, "");
    assert_eq!(found(&*table, &*writer), [2, 2]);
    assert_eq!(found(&*table, &*old), [1]);
    let size = |trx: &dyn EngineTrx, document: u64| {
        let context = NoContext::default();
        let mut search = table.search_text(trx, &context, 0).unwrap();
        let (mut keys, mut sizes) = (ByteRows::default(), Vec::new());
        search.sizes(&[document], &mut keys, &mut sizes).map(|()| sizes[0])
    };
    let weights = 2.0 + 2f64.ln();
    assert_eq!(size(&*writer, 2).unwrap(), TextSize { words: 2, weights });
    assert_eq!(size(&*old, 1).unwrap(), TextSize { words: 1, weights: 1.0 });
    assert!(table.check(&*writer, &NoContext::default()).unwrap().is_empty());
}

/// An entry without a size is a damaged one, not a document without words.
#[test]
fn documents_without_sizes_are_errors() {
    let (engine, table) = world_of(&SimDisk::new(5), &lenient_def());
    let files = engine.shared().table_files(def().id).unwrap();
    let tree = files.indexes.read()[&trees_of(TEXT)[1]].clone();
    let entry = [&1u64.to_be_bytes()[..], &key(&def(), 1)].concat();
    let damage = |_: Option<&[u8]>, change: &mut crate::btree::Change| {
        change.value.extend_from_slice(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0]);
        Decision::Put
    };
    tree.write(&entry, 11, false, &mut Hint::default(), &|_| false, damage).unwrap();
    let trx = begin(&engine, Isolation::RepeatableRead);
    let context = NoContext::default();
    let mut search = table.search_text(&*trx, &context, 0).unwrap();
    let read = search.sizes(&[1], &mut ByteRows::default(), &mut Vec::new());
    assert!(matches!(read, Err(EngineError::Corrupt(_))));
    drop(search);
    assert_eq!(table.check(&*trx, &context).unwrap().len(), 1);
}

#[test]
fn numbers_are_not_given_again_after_a_crash() {
    let disk = SimDisk::new(2);
    let (engine, table) = world(&disk);
    let trx = begin(&engine, Isolation::RepeatableRead);
    insert(&*table, &*trx, 2, "lost words");
    engine.checkpoint(false).unwrap();
    drop((trx, table, engine));
    let engine = open(&disk);
    let table = engine.open_table(&def()).unwrap();
    let trx = begin(&engine, Isolation::RepeatableRead);
    insert(&*table, &*trx, 3, "other");
    trx.commit(None).unwrap();
    let reader = begin(&engine, Isolation::RepeatableRead);
    let there = found(&*table, &*reader);
    assert!(there.len() == 2 && there[1] > 2, "{there:?}");
    assert!(table.check(&*reader, &NoContext::default()).unwrap().is_empty());
}

#[test]
fn damaged_lists_are_errors() {
    let (engine, table) = world(&SimDisk::new(3));
    let files = engine.shared().table_files(def().id).unwrap();
    let tree = files.indexes.read()[&trees_of(TEXT)[2]].clone();
    let native = NativeTable::new(engine.shared().clone(), files, def()).unwrap();
    let mut entries = Vec::new();
    tree.read(crate::btree::Seek::At(&[1]), |node| {
        entries.extend((0..node.count()).map(|at| node.key(at)));
    })
    .unwrap();
    let block = entries.pop().unwrap();
    let damage = |_: Option<&[u8]>, change: &mut crate::btree::Change| {
        change.value.extend_from_slice(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]);
        Decision::Put
    };
    tree.write(&block, 11, false, &mut Hint::default(), &|_| false, damage).unwrap();
    let trx = begin(&engine, Isolation::RepeatableRead);
    assert!(matches!(search(&*table, &*trx), Err(EngineError::Corrupt(_))));
    assert!(native.check(&*trx, &NoContext::default()).is_err());
}
