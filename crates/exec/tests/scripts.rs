//! Runs the scripts of `tests/sql` end to end over the MEMORY engine with transactions.
//!
//! A script is a list of blocks: `statement ok`, `statement error CODE` or `query`, then SQL until
//! an empty line or, for a query, `----` and the rows expected. `[name]` before a block runs it in
//! another session. With UPDATE_EXPECT=1 the expected rows are written.

mod sql;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use selkie_types::{CollationId, SqlMode, SqlType, Value};

use sql::script::{Block, Kind, parse, write};
use sql::world::World;

fn scripts(dir: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        match path.is_dir() {
            // Scripts that need an engine with files run against a server, by tests/scripts.py.
            true if path.ends_with("server") => {}
            true => scripts(&path, out),
            false if path.extension().is_some_and(|e| e == "test") => out.push(path),
            false => {}
        }
    }
}

fn run_block(world: &mut World, block: &mut Block, update: bool) -> Result<(), String> {
    let result = world.run(&block.session, &block.sql);
    match (&block.kind, result) {
        (Kind::Ok, Ok(_)) => Ok(()),
        (Kind::Ok, Err(e)) => Err(format!("{e}")),
        (Kind::Error(code), Err(e)) if e.code() == *code => Ok(()),
        (Kind::Error(code), Err(e)) => Err(format!("expected error {code}, got {e}")),
        (Kind::Error(code), Ok(_)) => Err(format!("expected error {code}, got none")),
        (Kind::Query, Err(e)) => Err(format!("{e}")),
        (Kind::Query, Ok(rows)) if update => {
            block.expected = rows;
            Ok(())
        }
        (Kind::Query, Ok(rows)) if rows == block.expected => Ok(()),
        (Kind::Query, Ok(rows)) => {
            Err(format!("expected:\n{}\ngot:\n{}", block.expected.join("\n"), rows.join("\n")))
        }
    }
}

fn run_script(path: &Path, update: bool) -> Vec<String> {
    let text = std::fs::read_to_string(path).expect("a script can be read");
    let mut blocks = parse(&text);
    let mut world = World::new();
    let mut failures = Vec::new();
    for block in &mut blocks {
        if let Err(what) = run_block(&mut world, block, update) {
            failures.push(format!("{}:{}: {}\n{what}", path.display(), block.line, block.sql));
        }
    }
    if update {
        std::fs::write(path, write(&blocks)).expect("a script can be written");
    }
    failures
}

#[test]
fn scripts_give_what_they_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/sql");
    let mut paths = Vec::new();
    scripts(&root, &mut paths);
    paths.sort();
    let only = std::env::var("SCRIPT").unwrap_or_default();
    let update = std::env::var("UPDATE_EXPECT").is_ok();
    let chosen = paths.iter().filter(|p| p.to_string_lossy().contains(&only));
    let failures: Vec<String> = chosen.flat_map(|p| run_script(p, update)).collect();
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n\n"));
}

#[test]
fn sessions_share_what_they_prepare() {
    let mut world = World::new();
    let mut run = |session: &str, sql: &str| world.run(session, sql).expect("it runs");
    run("a", "CREATE TABLE t (id INT PRIMARY KEY, c VARCHAR(20))");
    run("a", "INSERT INTO t VALUES (1, 'one'), (2, 'two')");
    let other = &mut world.session("c").frame.settings;
    other.expressions.sql_mode = SqlMode::ANSI_QUOTES;
    other.version += 1;
    let sql = "SELECT c FROM t WHERE id = ?";
    let mut prepare = |session: &str, sql: &str| world.prepare(session, sql).expect("prepared");
    let (a, b, c) = (prepare("a", sql), prepare("b", sql), prepare("c", sql));
    assert!(Arc::ptr_eq(&a, &b), "the same text under the same settings");
    assert!(!Arc::ptr_eq(&a, &c), "another mode");
    let (of_a, of_b) = (prepare("a", "SELECT @v"), prepare("b", "SELECT @v"));
    assert!(!Arc::ptr_eq(&of_a, &of_b), "variables have types of their own");
    let number = (Value::Int(2), SqlType::bigint());
    let text = (Value::bytes(b"1"), SqlType::varchar(1, CollationId::UTF8MB4_GENERAL_CI));
    for _ in 0..2 {
        assert_eq!(world.execute("a", &a, std::slice::from_ref(&number)).unwrap(), ["two"]);
        assert_eq!(world.execute("b", &b, std::slice::from_ref(&text)).unwrap(), ["one"]);
    }
    world.run("b", "DROP TABLE t").unwrap();
    world.run("b", "CREATE TABLE t (id INT PRIMARY KEY, c INT)").unwrap();
    world.run("b", "INSERT INTO t VALUES (2, 22)").unwrap();
    assert_eq!(world.execute("a", &a, &[number]).unwrap(), ["22"]);
    let again = world.prepare("b", sql).expect("prepared");
    assert!(!Arc::ptr_eq(&a, &again), "the table is another one");
}

#[test]
fn a_statement_prepared_again_fits_the_sizes_of_its_tables() {
    let mut world = World::new();
    let mut run = |sql: &str| world.run("a", sql).expect("it runs");
    run("CREATE TABLE many (id INT PRIMARY KEY, k INT, KEY (k))");
    run("CREATE TABLE few (id INT PRIMARY KEY)");
    let fill = "SELECT x.n * 100 + y.n * 10 + z.n, 1 + x.n FROM d x, d y, d z";
    run("CREATE TABLE d (n INT)");
    run("INSERT INTO d VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)");
    run("INSERT INTO few SELECT a FROM (SELECT n a FROM d UNION SELECT n + 1000 FROM d) v");
    let sql = "SELECT COUNT(*) FROM many JOIN few ON few.id = many.k";
    for (rows, change) in [("0", ""), ("100", fill)] {
        if !change.is_empty() {
            world.run("a", &format!("INSERT INTO many {change}")).unwrap();
            world.run("a", "DELETE FROM few WHERE id <> 3").unwrap();
        }
        let prepared = world.prepare("a", sql).expect("prepared");
        let before = world.session("a").core.counters.rows_read.get();
        assert_eq!(world.execute("a", &prepared, &[]).unwrap(), [rows]);
        let read = world.session("a").core.counters.rows_read.get() - before;
        assert!(read < 300, "{read} rows read: the plan is for an empty table");
    }
}
