//! Tests of the contract's promises, one by one, on an empty engine.
//!
//! Every engine's test suite calls [`conformance`]. It uses table ids from 9000 on.

use std::sync::Arc;

use selkie_types::{DateTime, Value};

use super::tables::{NoContext, drain, item_row, items, key_of, letters, rows_of, span_row, spans};
use crate::{
    Bound, Engine, EngineError, EngineTrx, IndexKind, Isolation, RowSet, Scan, Table, TableDef,
};

/// One session that works on one table.
struct Desk<'e> {
    engine: &'e dyn Engine,
    def: Arc<TableDef>,
    table: Arc<dyn Table>,
    trx: Box<dyn EngineTrx>,
}

impl<'e> Desk<'e> {
    fn new(engine: &'e dyn Engine, def: Arc<TableDef>) -> Self {
        let trx = engine.begin(Isolation::RepeatableRead, false).unwrap();
        engine.create_table(&*trx, &def).unwrap();
        let table = engine.open_table(&def).unwrap();
        let mut desk = Self { engine, def, table, trx };
        desk.commit();
        desk
    }

    fn commit(&mut self) {
        let next = self.engine.begin(Isolation::RepeatableRead, false).unwrap();
        let lsn = std::mem::replace(&mut self.trx, next).commit(None).unwrap();
        lsn.into_iter().for_each(|lsn| self.engine.wait_durable(lsn).unwrap());
        self.trx.statement_begin(Isolation::RepeatableRead, false).unwrap();
    }

    fn rollback(&mut self) {
        let next = self.engine.begin(Isolation::RepeatableRead, false).unwrap();
        std::mem::replace(&mut self.trx, next).rollback().unwrap();
        self.trx.statement_begin(Isolation::RepeatableRead, false).unwrap();
    }

    fn insert(&self, rows: &[Vec<u8>]) -> Result<u64, EngineError> {
        let done = self.table.insert(&*self.trx, &NoContext::default(), &rows_of(rows));
        done.map(|info| info.rows)
    }

    fn read(&self, scan: &Scan) -> RowSet {
        let context = NoContext::default();
        drain(self.table.scan(&*self.trx, &context, scan).unwrap()).unwrap()
    }

    /// First column of all rows a scan gives.
    fn ids(&self, scan: &Scan) -> Vec<i64> {
        let rows = self.read(scan).rows;
        let id = |row| match self.def.layout.value(row, 0).unwrap() {
            Value::Int(id) => id,
            other => panic!("not an id: {other:?}"),
        };
        rows.iter().map(id).collect()
    }

    fn sound(&self) {
        let wrong = self.table.check(&*self.trx, &NoContext::default()).unwrap();
        assert!(wrong.is_empty(), "{wrong:?}");
    }
}

/// Runs all tests. The engine must have no tables with ids from 9000 on.
pub fn conformance(engine: &dyn Engine) {
    scans(engine);
    unique_keys(engine);
    periods(engine, 9020, IndexKind::Primary);
    periods(engine, 9021, IndexKind::HeapPrimary);
    built_periods(engine);
    changes(engine);
    no_primary_key(engine);
    auto_increment(engine);
    indexes(engine);
    long_values(engine);
    if engine.personality().transactional {
        rolling_back(engine);
    }
    tables_come_and_go(engine);
}

/// Two rows of one key never overlap in an index without overlaps, whichever way they come.
fn periods(engine: &dyn Engine, id: u64, primary: IndexKind) {
    let mut desk = Desk::new(engine, spans(id, primary));
    let def = desk.def.clone();
    let row = |id, name, span| span_row(&def, id, name, span);
    let refused = |result: Result<u64, EngineError>| match result {
        Err(EngineError::DuplicateKey { index, row, .. }) => (index, row),
        other => panic!("{other:?}"),
    };
    let rows = [row(1, Some("a"), 10..20), row(1, Some("a"), 30..40), row(2, None, 0..100)];
    assert_eq!(desk.insert(&rows).unwrap(), 3);
    for span in [0..11, 15..16, 19..31, 10..20, 5..50, 39..41] {
        assert_eq!(refused(desk.insert(&[row(1, None, span)])), (0, 0));
    }
    let several = [row(1, None, 20..30), row(3, Some("A"), 20..30), row(3, None, 29..31)];
    assert_eq!(refused(desk.insert(&several)), (0, 2));
    assert_eq!(refused(desk.insert(&[row(4, Some("a"), 15..25)])), (1, 0));
    assert_eq!(desk.insert(&[row(4, None, 15..25), row(5, None, 15..25)]).unwrap(), 2);
    let keys = desk.read(&Scan { want_keys: true, ..Scan::default() });
    let place = |id: i64, start: i64| {
        let found = keys.rows.iter().position(|row| {
            let value = |at| def.layout.value(row, at).unwrap();
            value(0) == Value::Int(id) && value(2) == Value::DateTime(DateTime(start))
        });
        rows_of([keys.keys.get(found.unwrap())])
    };
    let context = NoContext::default();
    let update = |desk: &Desk<'_>, at, new| {
        desk.table.update(&*desk.trx, &context, &at, &rows_of([new]), None)
    };
    update(&desk, place(2, 0), row(1, None, 99..101)).unwrap();
    assert_eq!(refused(desk.insert(&[row(1, None, 100..102)])), (0, 0));
    assert_eq!(refused(update(&desk, place(4, 15), row(4, Some("a"), 39..41))), (1, 0));
    assert_eq!(update(&desk, place(4, 15), row(4, Some("a"), 40..41)).unwrap(), 1);
    // A row may move within the time that it had.
    assert_eq!(update(&desk, place(1, 10), row(1, Some("a"), 11..19)).unwrap(), 1);
    desk.commit();
    assert_eq!(desk.ids(&Scan::default()).len(), 7);
    desk.sound();
}

/// An index without overlaps is not built over rows that overlap.
fn built_periods(engine: &dyn Engine) {
    let whole = spans(9022, IndexKind::HeapPrimary);
    let indexes = whole.indexes[..1].to_vec();
    let mut desk = Desk::new(engine, Arc::new(TableDef { indexes, ..TableDef::clone(&whole) }));
    let row = |id, name, span| span_row(&whole, id, Some(name), span);
    desk.insert(&[row(1, "a", 10..20), row(2, "b", 10..20), row(3, "a", 20..30)]).unwrap();
    desk.commit();
    let context = NoContext::default();
    let build = |desk: &Desk<'_>| engine.create_index(&*desk.trx, &context, &whole, 1);
    build(&desk).unwrap();
    desk.rollback();
    desk.insert(&[row(4, "A", 19..21)]).unwrap();
    desk.commit();
    let built = build(&desk);
    assert!(matches!(built, Err(EngineError::DuplicateKey { index: 1, .. })), "{built:?}");
    desk.rollback();
}

fn filled(engine: &dyn Engine, id: u64, rows: i64) -> Desk<'_> {
    let mut desk = Desk::new(engine, items(id));
    let row = |n| item_row(&desk.def, n, Some(n * 10), n % 3, &format!("name {n}"));
    let rows: Vec<_> = (1..=rows).map(row).collect();
    assert_eq!(desk.insert(&rows).unwrap(), rows.len() as u64);
    desk.commit();
    desk
}

fn scans(engine: &dyn Engine) {
    let desk = filled(engine, 9001, 300);
    assert_eq!(desk.ids(&Scan::default()), (1..=300).collect::<Vec<_>>());
    let key = |at, v| key_of(&desk.def, at, Value::Int(v));
    let middle = Scan {
        lower: Bound::Excluded(key(0, 10)),
        upper: Bound::Included(key(0, 15)),
        ..Scan::default()
    };
    assert_eq!(desk.ids(&middle), [11, 12, 13, 14, 15]);
    let backward = Scan { reverse: true, ..middle.clone() };
    assert_eq!(desk.ids(&backward), [15, 14, 13, 12, 11]);
    let outside = Scan { lower: Bound::Excluded(key(0, 300)), ..Scan::default() };
    assert!(desk.ids(&outside).is_empty());

    let kind = Scan {
        index: Some(2),
        lower: Bound::Included(key(2, 1)),
        upper: Bound::Included(key(2, 1)),
        ..Scan::default()
    };
    let ones: Vec<i64> = (1..=300).filter(|n| n % 3 == 1).collect();
    assert_eq!(desk.ids(&kind), ones);
    let reverse = Scan { reverse: true, ..kind.clone() };
    assert_eq!(desk.ids(&reverse), ones.iter().rev().copied().collect::<Vec<_>>());

    let covering = desk.read(&Scan { covering: true, want_keys: true, ..kind });
    assert_eq!((covering.entries.len(), covering.keys.len(), covering.rows.len()), (100, 100, 0));
    let codec = crate::IndexCodec::new(&desk.def, &desk.def.indexes[2]);
    assert_eq!(codec.entry_layout().value(covering.entries.get(7), 0).unwrap(), Value::Int(1));
    lookups(&desk);

    let all = desk.table.estimate(None, &Bound::Unbounded, &Bound::Unbounded).unwrap();
    assert!(all.rows > 100.0 && all.rows < 900.0, "{all:?}");
    let mut sample = RowSet::default();
    desk.table.sample(&*desk.trx, &NoContext::default(), 20, &mut sample).unwrap();
    assert!((1..=20).contains(&sample.rows.len()), "{}", sample.rows.len());
    desk.sound();
}

fn lookups(desk: &Desk<'_>) {
    let key = |at, v| key_of(&desk.def, at, Value::Int(v));
    let mut found = RowSet::default();
    let keys = rows_of([key(0, 7), key(0, 999), key(0, 8), key(0, 8)]);
    let scan = Scan { want_keys: true, ..Scan::default() };
    let context = NoContext::default();
    desk.table.lookup(&*desk.trx, &context, &scan, &keys, &mut found).unwrap();
    assert_eq!(found.found_by, [0, 2, 3]);
    assert_eq!(found.keys.get(0), &*key(0, 7));

    found.clear();
    let scan = Scan { index: Some(1), ..Scan::default() };
    let keys = rows_of([key(1, 70), key(1, 3000), key(1, 71)]);
    desk.table.lookup(&*desk.trx, &context, &scan, &keys, &mut found).unwrap();
    assert_eq!(found.found_by, [0, 1]);
    assert_eq!(desk.def.layout.value(found.rows.get(1), 0).unwrap(), Value::Int(300));

    found.clear();
    let scan = Scan { index: Some(2), ..Scan::default() };
    let keys = rows_of([key(2, 2), key(2, 5)]);
    desk.table.lookup(&*desk.trx, &context, &scan, &keys, &mut found).unwrap();
    assert_eq!(found.found_by, [0; 100]);
}

fn unique_keys(engine: &dyn Engine) {
    let mut desk = filled(engine, 9002, 5);
    let row = |id, code| item_row(&desk.def, id, code, 0, "x");
    let outcome = desk.insert(&[row(6, None), row(7, None), row(3, None), row(8, None)]);
    match outcome {
        Err(EngineError::DuplicateKey { index: 0, row: 2, existing }) => {
            assert_eq!(existing, key_of(&desk.def, 0, Value::Int(3)));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(desk.ids(&Scan::default()), [1, 2, 3, 4, 5, 6, 7]);
    match desk.insert(&[row(9, Some(20))]) {
        Err(EngineError::DuplicateKey { index: 1, row: 0, existing }) => {
            assert_eq!(existing, key_of(&desk.def, 0, Value::Int(2)));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(desk.ids(&Scan::default()).len(), 7);
    let at = rows_of([key_of(&desk.def, 0, Value::Int(1))]);
    let context = NoContext::default();
    let outcome = desk.table.update(&*desk.trx, &context, &at, &rows_of([row(1, Some(50))]), None);
    assert!(matches!(outcome, Err(EngineError::DuplicateKey { index: 1, row: 0, .. })));
    desk.commit();
    desk.sound();
}

fn changes(engine: &dyn Engine) {
    let mut desk = filled(engine, 9003, 10);
    let context = NoContext::default();
    let key = |id| key_of(&desk.def, 0, Value::Int(id));
    let at = rows_of([key(2), key(77), key(4)]);
    let new = rows_of([
        item_row(&desk.def, 2, Some(20), 9, &"long".repeat(300)),
        item_row(&desk.def, 77, None, 9, "nobody"),
        item_row(&desk.def, 44, None, 9, "moved"),
    ]);
    let old = |id| item_row(&desk.def, id, Some(id * 10), id % 3, &format!("name {id}"));
    let mut before = rows_of(["kept"]);
    let changed = desk.table.update(&*desk.trx, &context, &at, &new, Some(&mut before));
    assert_eq!(changed.unwrap(), 2);
    assert!(before.iter().eq([&b"kept"[..], &old(2), &[], &old(4)]), "{before:?}");
    assert_eq!(desk.ids(&Scan::default()), [1, 2, 3, 5, 6, 7, 8, 9, 10, 44]);
    let at = rows_of([key(1), key(99), key(10)]);
    before.clear();
    let deleted = desk.table.delete(&*desk.trx, &context, &at, Some(&mut before));
    assert_eq!(deleted.unwrap(), 2);
    assert!(before.iter().eq([&old(1)[..], &[], &old(10)]), "{before:?}");
    let nine = key_of(&desk.def, 2, Value::Int(9));
    let scan = Scan { index: Some(2), lower: Bound::Included(nine), ..Scan::default() };
    assert_eq!(desk.ids(&scan), [2, 44]);
    desk.insert(&[item_row(&desk.def, 1, Some(10), 0, "back")]).unwrap();
    desk.commit();
    assert_eq!(desk.ids(&Scan::default()), [1, 2, 3, 5, 6, 7, 8, 9, 44]);
    desk.sound();
}

fn letter(def: &TableDef, name: &str, body: Value) -> Vec<u8> {
    let mut row = Vec::new();
    def.layout.encode_values(&[Value::bytes(name), body], &mut row);
    row
}

fn no_primary_key(engine: &dyn Engine) {
    let mut desk = Desk::new(engine, letters(9004));
    let def = desk.def.clone();
    let row = |name| letter(&def, name, Value::Null);
    desk.insert(&[row("b"), row("a"), row("b")]).unwrap();
    desk.commit();
    let by_name = desk.read(&Scan { index: Some(0), want_keys: true, ..Scan::default() });
    let names: Vec<_> =
        by_name.rows.iter().map(|r| desk.def.layout.string(r, 0).unwrap()).collect();
    assert_eq!(names, [b"a", b"b", b"b"]);
    let context = NoContext::default();
    let at = rows_of([by_name.keys.get(1)]);
    assert_eq!(
        desk.table.update(&*desk.trx, &context, &at, &rows_of([row("c")]), None).unwrap(),
        1
    );
    let at = rows_of([by_name.keys.get(2)]);
    assert_eq!(desk.table.delete(&*desk.trx, &context, &at, None).unwrap(), 1);
    assert_eq!(desk.read(&Scan::default()).rows.len(), 2);
    desk.sound();
    desk.commit();
}

fn auto_increment(engine: &dyn Engine) {
    let mut desk = Desk::new(engine, items(9005));
    assert_eq!(desk.table.reserve_auto_increment(3, 1, 1).unwrap(), 1);
    assert_eq!(desk.table.reserve_auto_increment(2, 10, 5).unwrap(), 5);
    assert_eq!(desk.table.reserve_auto_increment(1, 1, 1).unwrap(), 16);
    desk.insert(&[item_row(&desk.def, 100, None, 0, "x")]).unwrap();
    assert_eq!(desk.table.reserve_auto_increment(1, 1, 1).unwrap(), 101);
    desk.commit();
    desk.table.set_auto_increment(&*desk.trx, 500).unwrap();
    assert_eq!(desk.table.reserve_auto_increment(1, 1, 1).unwrap(), 500);
    desk.table.set_auto_increment(&*desk.trx, 7).unwrap();
    assert_eq!(desk.table.statistics().auto_increment, Some(101));
    desk.commit();
}

fn indexes(engine: &dyn Engine) {
    let mut desk = filled(engine, 9006, 400);
    let mut wider = (*desk.def).clone();
    let mut index = wider.indexes[2].clone();
    (index.id, index.name) = (crate::IndexId(9), "by_name".into());
    index.parts[0].column = 3;
    wider.indexes.push(index);
    let wider = Arc::new(wider);
    let context = NoContext::default();
    engine.create_index(&*desk.trx, &context, &wider, 3).unwrap();
    desk.def = wider.clone();
    desk.table = engine.open_table(&wider).unwrap();
    desk.commit();
    let by_name = Scan { index: Some(3), ..Scan::default() };
    let mut expected: Vec<i64> = (1..=400).collect();
    expected.sort_by_key(|n| format!("name {n}"));
    assert_eq!(desk.ids(&by_name), expected);
    desk.insert(&[item_row(&wider, 401, None, 0, "aaa")]).unwrap();
    assert_eq!(desk.ids(&by_name)[0], 401);
    desk.sound();

    let mut unique = (*wider).clone();
    let mut index = unique.indexes[2].clone();
    (index.id, index.kind) = (crate::IndexId(10), crate::IndexKind::Unique);
    unique.indexes.push(index);
    let outcome = engine.create_index(&*desk.trx, &context, &Arc::new(unique), 4);
    assert!(matches!(outcome, Err(EngineError::DuplicateKey { index: 4, .. })), "{outcome:?}");

    engine.drop_index(&*desk.trx, wider.id, crate::IndexId(9)).unwrap();
    desk.def = items(9006);
    desk.table = engine.open_table(&desk.def).unwrap();
    desk.commit();
    desk.insert(&[item_row(&desk.def, 402, None, 0, "bbb")]).unwrap();
    desk.commit();
    desk.sound();
}

fn long_values(engine: &dyn Engine) {
    let mut desk = Desk::new(engine, letters(9007));
    let sizes = [0, 3_000, 5_000, 20_000, 70_000, 1_000_000];
    let body = |size| Value::Bytes((0..size).map(|n| (n % 251) as u8).collect());
    let rows: Vec<_> =
        sizes.iter().map(|&size| letter(&desk.def, &format!("l{size:09}"), body(size))).collect();
    desk.insert(&rows).unwrap();
    desk.commit();
    let found = desk.read(&Scan { want_keys: true, ..Scan::default() });
    for (row, size) in found.rows.iter().zip(sizes) {
        assert!(Value::bytes(desk.def.layout.string(row, 1).unwrap()) == body(size), "{size}");
    }
    let context = NoContext::default();
    let shrunk = rows_of([letter(&desk.def, "short", Value::Null)]);
    let at = rows_of([found.keys.get(5)]);
    let mut before = rows_of([""; 0]);
    let shrinks = desk.table.update(&*desk.trx, &context, &at, &shrunk, Some(&mut before));
    assert_eq!(shrinks.unwrap(), 1);
    let at = rows_of([found.keys.get(4)]);
    let deletes = desk.table.delete(&*desk.trx, &context, &at, Some(&mut before));
    assert_eq!(deletes.unwrap(), 1);
    assert!(before.iter().eq([found.rows.get(5), found.rows.get(4)]));
    let grown = rows_of([letter(&desk.def, "grown", body(300_000))]);
    let at = rows_of([found.keys.get(0)]);
    assert_eq!(desk.table.update(&*desk.trx, &context, &at, &grown, None).unwrap(), 1);
    desk.commit();
    let found = desk.read(&Scan { index: Some(0), ..Scan::default() });
    assert!(Value::bytes(desk.def.layout.string(found.rows.get(0), 1).unwrap()) == body(300_000));
    assert_eq!(found.rows.len(), 5);
    desk.sound();
}

fn rolling_back(engine: &dyn Engine) {
    let mut desk = filled(engine, 9008, 5);
    let context = NoContext::default();
    let key = |def: &TableDef, id| key_of(def, 0, Value::Int(id));
    let savepoint = desk.trx.savepoint().unwrap();
    desk.insert(&[item_row(&desk.def, 6, None, 0, "x")]).unwrap();
    assert!(desk.trx.has_changes());
    let inner = desk.trx.savepoint().unwrap();
    let at = rows_of([key(&desk.def, 6), key(&desk.def, 1)]);
    desk.table.delete(&*desk.trx, &context, &at, None).unwrap();
    desk.trx.rollback_to(inner).unwrap();
    assert_eq!(desk.ids(&Scan::default()), [1, 2, 3, 4, 5, 6]);
    let new =
        rows_of([item_row(&desk.def, 60, Some(1), 1, "y"), item_row(&desk.def, 1, None, 1, "z")]);
    desk.table.update(&*desk.trx, &context, &at, &new, None).unwrap();
    desk.trx.rollback_to(savepoint).unwrap();
    assert_eq!(desk.ids(&Scan::default()), [1, 2, 3, 4, 5]);
    desk.insert(&[item_row(&desk.def, 7, None, 0, "x")]).unwrap();
    let at = rows_of([key(&desk.def, 1)]);
    desk.table.delete(&*desk.trx, &context, &at, None).unwrap();
    desk.insert(&[item_row(&desk.def, 1, Some(4), 2, "again")]).unwrap();
    desk.rollback();
    assert_eq!(desk.ids(&Scan::default()), [1, 2, 3, 4, 5]);
    assert_eq!(desk.read(&Scan { index: Some(1), ..Scan::default() }).rows.len(), 5);
    desk.sound();
}

fn tables_come_and_go(engine: &dyn Engine) {
    let desk = filled(engine, 9009, 3);
    let trx = engine.begin(Isolation::RepeatableRead, false).unwrap();
    engine.create_table(&*trx, &items(9010)).unwrap();
    trx.rollback().unwrap();
    assert!(!engine.table_exists(crate::TableId(9010)));
    let trx = engine.begin(Isolation::RepeatableRead, false).unwrap();
    engine.drop_table(&*trx, desk.def.id).unwrap();
    trx.rollback().unwrap();
    assert!(engine.table_exists(desk.def.id));
    assert_eq!(desk.ids(&Scan::default()), [1, 2, 3]);
    let trx = engine.begin(Isolation::RepeatableRead, false).unwrap();
    engine.drop_table(&*trx, desk.def.id).unwrap();
    if let Some(lsn) = trx.commit(None).unwrap() {
        engine.wait_durable(lsn).unwrap();
    }
    assert!(!engine.table_exists(desk.def.id));
}
