//! The contract's tests on the MEMORY engine.
//!
//! They run on the engine as MariaDB has it and on its transactional model.

use selkie_engine::testing::{TRANSACTIONAL, Twin, compare, conformance, item_row, items, rows_of};
use selkie_engine::{Engine, EngineError, Isolation};
use selkie_memory::MemoryEngine;

#[test]
fn keeps_the_contract() {
    conformance(&MemoryEngine::new());
    conformance(&MemoryEngine::model_of(&TRANSACTIONAL));
}

#[test]
fn equals_itself() {
    let (left, right) =
        (MemoryEngine::model_of(&TRANSACTIONAL), MemoryEngine::model_of(&TRANSACTIONAL));
    let def = items(1);
    compare(&mut Twin::new(&left, &def), &mut Twin::new(&right, &def), 1, 500, 50);
}

#[test]
fn tables_fill_up() {
    let engine = MemoryEngine::new();
    engine.set_max_table_bytes(1000);
    let (def, context) = (items(1), Default::default());
    let trx = engine.begin(Isolation::default(), false).unwrap();
    engine.create_table(&*trx, &def).unwrap();
    let table = engine.open_table(&def).unwrap();
    let rows = rows_of((0..100).map(|n| item_row(&def, n, None, 0, "some text")));
    let context: &selkie_engine::testing::NoContext = &context;
    assert!(matches!(table.insert(&*trx, context, &rows), Err(EngineError::TableFull)));
    assert!(table.statistics().rows > 0);
}
