//! Benchmark: one row by its key, in a table that fits in memory.
//!
//! Run: `cargo bench -p selkie-native`.

use std::sync::Arc;

use divan::{Bencher, black_box};
use selkie_engine::testing::{NoContext, Random, item_row, items, rows_of};
use selkie_engine::{Engine, IndexCodec, Isolation, RowSet, Scan};
use selkie_native::{FlushAtCommit, NativeEngine, NativeOptions};
use selkie_types::{ByteRows, Value};

const ROWS: i64 = 100_000;

#[divan::bench]
fn encode_key(bencher: Bencher) {
    let def = items(1);
    let (codec, mut key, mut number) = (IndexCodec::new(&def, &def.indexes[0]), Vec::new(), 0);
    bencher.bench_local(move || {
        key.clear();
        number = (number + 7919) % ROWS;
        codec.key_of_values(&[Value::Int(black_box(number))], &mut key);
        key.len()
    });
}

#[divan::bench]
fn lookup_by_primary_key(bencher: Bencher) {
    let dir = std::env::temp_dir().join(format!("selkie-lookup-{}", std::process::id()));
    let options =
        NativeOptions { flush_at_commit: FlushAtCommit::EverySecond, ..NativeOptions::default() };
    let engine = NativeEngine::open(&dir, &options).expect("opened");
    let mut def = (*items(1)).clone();
    def.indexes.truncate(1);
    let def = Arc::new(def);
    fill(&engine, &def);
    let table = engine.open_table(&def).expect("opened");
    let trx = engine.begin(Isolation::RepeatableRead, false).expect("begun");
    let context = NoContext::default();
    let keys = keys(&def);
    let (mut out, mut at) = (RowSet::default(), 0);
    bencher.bench_local(|| {
        out.clear();
        at = (at + 1) % keys.len();
        table.lookup(&*trx, &context, &Scan::default(), &keys[at], &mut out).expect("found");
        out.rows.len()
    });
    drop(trx);
    engine.shutdown().expect("shut down");
    let _ = std::fs::remove_dir_all(&dir);
}

fn fill(engine: &NativeEngine, def: &Arc<selkie_engine::TableDef>) {
    let trx = engine.begin(Isolation::RepeatableRead, false).expect("begun");
    engine.create_table(&*trx, def).expect("created");
    let table = engine.open_table(def).expect("opened");
    let name = "n".repeat(110);
    for first in (0..ROWS).step_by(1000) {
        let ids = first..first + 1000;
        let rows = rows_of(ids.map(|id| item_row(def, id, Some(id), id % 1000, &name)));
        table.insert(&*trx, &NoContext::default(), &rows).expect("inserted");
    }
    trx.commit(None).expect("committed");
}

/// Random keys.
fn keys(def: &selkie_engine::TableDef) -> Vec<ByteRows> {
    let codec = IndexCodec::new(def, &def.indexes[0]);
    let mut random = Random::new(1);
    let key = |_| {
        let mut key = Vec::new();
        codec.key_of_values(&[Value::Int(random.below(ROWS as u64) as i64)], &mut key);
        rows_of([key])
    };
    (0..10_000).map(key).collect()
}

fn main() {
    divan::main();
}
