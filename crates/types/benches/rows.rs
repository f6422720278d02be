//! Costs of rows: stored form to columns and back.
//! Run: `cargo bench -p selkie-types`.

use divan::{Bencher, black_box};
use selkie_types::{ByteRows, CollationId, RowLayout, SqlType, Value};

/// Like sysbench's table: two numbers and two texts.
fn layout() -> RowLayout {
    let text = |length| SqlType::varchar(length, CollationId::UTF8MB4_GENERAL_CI);
    let types = [SqlType::int(), SqlType::int(), text(120), text(60)];
    RowLayout::new(types.iter().map(|ty| (ty, false)))
}

fn values() -> [Value; 4] {
    [Value::Int(1), Value::Int(50_123), Value::bytes("c".repeat(119)), Value::bytes("p".repeat(59))]
}

#[divan::bench]
fn encode_row(bencher: Bencher) {
    let (layout, values, mut out) = (layout(), values(), Vec::new());
    bencher.bench_local(move || {
        out.clear();
        layout.encode_values(black_box(&values), &mut out);
        out.len()
    });
}

#[divan::bench(args = [1, 100, 1000])]
fn decode_column(bencher: Bencher, rows: usize) {
    let (layout, values) = (layout(), values());
    let mut row = Vec::new();
    layout.encode_values(&values, &mut row);
    let mut stored = ByteRows::default();
    (0..rows).for_each(|_| stored.push(&row));
    bencher.bench_local(move || layout.decode(black_box(&stored), 2));
}

fn main() {
    divan::main();
}
