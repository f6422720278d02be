//! Costs of a statement before it is planned: shape, digest, syntax tree.
//! Run: `cargo bench -p selkie-sql`; tests/bench/micro.py compares two builds.

use divan::{Bencher, black_box};
use selkie_sql::{ParseOptions, Shape, digest, parse};
use selkie_types::SqlMode;

const TEXTS: [(&str, &str); 3] = [
    ("point", "SELECT c FROM sbtest1 WHERE id=50123"),
    (
        "insert",
        "INSERT INTO sbtest1 (id, k, c, pad) VALUES (0, 50123, '83868641912-28773972837-6073612', 'x')",
    ),
    (
        "report",
        "SELECT l_returnflag, SUM(l_quantity) AS q, AVG(l_price * (1 - l_discount)) FROM lineitem \
         JOIN orders ON o_orderkey = l_orderkey WHERE l_shipdate <= '1998-09-02' AND o_status IN \
         ('F', 'O') GROUP BY l_returnflag HAVING q > 100 ORDER BY q DESC LIMIT 10",
    ),
];

const NAMES: [&str; 3] = ["point", "insert", "report"];

fn text(name: &str) -> &'static [u8] {
    TEXTS.iter().find(|(n, _)| *n == name).map_or(b"", |(_, text)| text.as_bytes())
}

#[divan::bench(args = NAMES)]
fn shape_of_text(bencher: Bencher, name: &str) {
    let (text, mut shape) = (text(name), Shape::default());
    bencher.bench_local(move || {
        shape.bytes.clear();
        shape.literals.clear();
        shape.read(black_box(text), SqlMode::DEFAULT)
    });
}

#[divan::bench(args = NAMES)]
fn digest_of_text(bencher: Bencher, name: &str) {
    let text = text(name);
    bencher.bench_local(move || digest(black_box(text), SqlMode::DEFAULT));
}

#[divan::bench(args = NAMES)]
fn syntax_tree(bencher: Bencher, name: &str) {
    let (text, options) = (text(name), ParseOptions::default());
    bencher.bench_local(move || parse(black_box(text), &options));
}

fn main() {
    divan::main();
}
