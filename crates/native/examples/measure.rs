//! Measures the engine alone, without SQL: rows per second of inserts, scans, lookups, updates and
//! index builds. Usage: `cargo run --release -p selkie-native --example measure [rows] [MB of
//! buffer pool and log]`.

use selkie_engine::testing::{NoContext, Random, item_row, items, rows_of};
use selkie_engine::{Engine, IndexId, Isolation, RowSet, Scan};
use selkie_native::{FlushAtCommit, NativeEngine, NativeOptions};
use selkie_types::{ByteRows, Value};
use std::sync::Arc;
use std::time::Instant;

#[expect(clippy::print_stdout, reason = "a program of the command line")]
fn report(what: &str, count: usize, start: Instant) {
    let seconds = start.elapsed().as_secs_f64();
    let (rate, each) = (count as f64 / seconds / 1e3, seconds * 1e9 / count as f64);
    println!("{what:34} {count:9} in {seconds:6.2} s  {rate:9.0} k/s  {each:8.0} ns each");
}

fn main() {
    let count = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(1_000_000i64);
    let dir = std::env::temp_dir().join(format!("selkie-measure-{}", std::process::id()));
    let pool = std::env::args().nth(2).and_then(|n| n.parse().ok()).unwrap_or(1024);
    let options = NativeOptions {
        buffer_pool_bytes: pool << 20,
        log_capacity_bytes: (pool as u64) << 20,
        flush_at_commit: FlushAtCommit::EverySecond,
        ..NativeOptions::default()
    };
    let engine = NativeEngine::open(&dir, &options).expect("opened");
    measure(&engine, count);
    engine.shutdown().expect("shut down");
    let _ = std::fs::remove_dir_all(&dir);
}

fn measure(engine: &NativeEngine, count: i64) {
    let context = NoContext::default();
    let mut plain = (*items(1)).clone();
    plain.indexes.truncate(1);
    let plain = Arc::new(plain);
    let name = "n".repeat(110);
    let mut trx = engine.begin(Isolation::RepeatableRead, false).expect("trx");
    engine.create_table(&*trx, &plain).expect("created");
    let table = engine.open_table(&plain).expect("opened");
    let batches: Vec<ByteRows> = (0..count / 1000)
        .map(|b| {
            let ids = b * 1000..(b + 1) * 1000;
            rows_of(ids.map(|id| item_row(&plain, id, Some((id * 7919) % count), id % 1000, &name)))
        })
        .collect();
    let start = Instant::now();
    for rows in &batches {
        table.insert(&*trx, &context, rows).expect("inserted");
        if table.statistics().rows.is_multiple_of(100_000) {
            let next = engine.begin(Isolation::RepeatableRead, false).expect("trx");
            std::mem::replace(&mut trx, next).commit(None).expect("committed");
        }
    }
    report("insert in key order", count as usize, start);
    trx.commit(None).expect("committed");

    let trx = engine.begin(Isolation::RepeatableRead, false).expect("trx");
    for fixed_only in [false, true] {
        let start = Instant::now();
        let scan = Scan { fixed_only, ..Scan::default() };
        let mut cursor = table.scan(&*trx, &context, &scan).expect("scan");
        let (mut out, mut rows) = (RowSet::default(), 0);
        while cursor.next_batch(&mut out, 1024).expect("batch") {
            rows += out.rows.len();
            out.clear();
        }
        report(if fixed_only { "scan, fixed part" } else { "scan" }, rows, start);
    }

    let codec = selkie_engine::IndexCodec::new(&plain, &plain.indexes[0]);
    let mut random = Random::new(1);
    let keys: Vec<ByteRows> = (0..500_000)
        .map(|_| {
            let mut key = Vec::new();
            codec.key_of_values(&[Value::Int(random.below(count as u64) as i64)], &mut key);
            rows_of([key])
        })
        .collect();
    let start = Instant::now();
    let mut out = RowSet::default();
    for key in &keys {
        out.clear();
        table.lookup(&*trx, &context, &Scan::default(), key, &mut out).expect("found");
    }
    report("lookup, one random key", keys.len(), start);

    let start = Instant::now();
    for (n, key) in keys.iter().take(200_000).enumerate() {
        let Value::Int(id) = codec
            .part(0)
            .decode(&mut selkie_types::key::KeyReader::new(key.get(0)))
            .unwrap_or_default()
        else {
            continue;
        };
        let row = item_row(&plain, id, Some(n as i64), 5, &name);
        table.update(&*trx, &context, key, &rows_of([row]), None).expect("updated");
    }
    report("update, one random row", 200_000, start);
    trx.commit(None).expect("committed");

    let trx = engine.begin(Isolation::RepeatableRead, false).expect("trx");
    let mut def = (*plain).clone();
    let mut kind = plain.indexes[0].clone();
    (kind.id, kind.kind, kind.parts[0].column) = (IndexId(5), selkie_engine::IndexKind::Plain, 2);
    def.indexes.push(kind);
    let def = Arc::new(def);
    let start = Instant::now();
    engine.create_index(&*trx, &context, &def, 1).expect("built");
    report("index build", count as usize, start);
    trx.commit(None).expect("committed");

    let trx = engine.begin(Isolation::RepeatableRead, false).expect("trx");
    let table = engine.open_table(&def).expect("opened");
    let start = Instant::now();
    let mut random = Random::new(9);
    for n in 0..200_000 {
        let row = item_row(&def, count + n, None, random.below(1000) as i64, &name);
        table.insert(&*trx, &context, &rows_of([row])).expect("inserted");
    }
    report("insert one row, one index", 200_000, start);
    trx.commit(None).expect("committed");
    let trx = engine.begin(Isolation::RepeatableRead, true).expect("trx");
    let start = Instant::now();
    let wrong = table.check(&*trx, &context).expect("checked");
    assert!(wrong.is_empty(), "{wrong:?}");
    report("check", count as usize, start);
}
