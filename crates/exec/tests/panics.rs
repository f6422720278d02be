//! A panic ends its statement with an error; afterwards the session, its locks and its rows are as
//! after any other error.

#[allow(dead_code)]
mod sql;

use std::sync::Arc;

use selkie_exec::session::SessionHooks;
use selkie_types::error::catalogue::{
    ER_INTERNAL_ERROR, ER_SF_OUT_INOUT_ARG_NOT_ALLOWED, ER_STATEMENT_TIMEOUT,
};

use sql::world::World;

/// Hooks that panic in `UUID_SHORT()`, and so in the middle of a statement.
struct Broken;

impl SessionHooks for Broken {
    fn uuid_short(&self) -> u64 {
        panic!("no number")
    }
}

fn rows(world: &mut World, session: &str, sql: &str) -> Vec<String> {
    world.run(session, sql).expect("a statement that works")
}

fn prepared() -> World {
    let mut world = World::new();
    rows(&mut world, "a", "CREATE TABLE t (a INT PRIMARY KEY, b BIGINT UNSIGNED)");
    rows(&mut world, "a", "INSERT INTO t VALUES (1, 1)");
    world
}

/// A statement whose third row panics.
const THREE_ROWS: &str = "INSERT INTO t SELECT a, IF(a = 4, UUID_SHORT(), a) \
     FROM (SELECT 2 a UNION ALL SELECT 3 UNION ALL SELECT 4) v";

#[test]
fn a_panic_undoes_its_statement() {
    let mut world = prepared();
    world.session("a").frame.hooks = Arc::new(Broken);
    rows(&mut world, "a", "BEGIN");
    rows(&mut world, "a", "INSERT INTO t VALUES (10, 10)");
    let error = world.run("a", THREE_ROWS).expect_err("a panic");
    assert!(error.is(&ER_INTERNAL_ERROR), "{error}");
    assert_eq!(rows(&mut world, "a", "SELECT a FROM t ORDER BY a"), ["1", "10"]);
    rows(&mut world, "a", "COMMIT");
    assert_eq!(rows(&mut world, "b", "SELECT a FROM t ORDER BY a"), ["1", "10"]);
    rows(&mut world, "b", "UPDATE t SET b = 2");
}

#[test]
fn without_a_transaction_nothing_stays_locked() {
    let mut world = prepared();
    world.session("a").frame.hooks = Arc::new(Broken);
    assert!(world.run("a", THREE_ROWS).is_err());
    assert!(world.run("a", "SELECT UUID_SHORT()").is_err());
    assert!(world.run("a", "SET @x = UUID_SHORT()").is_err());
    assert!(world.run("a", "SET STATEMENT max_error_count = 1 FOR SELECT UUID_SHORT()").is_err());
    assert!(!world.session("a").in_transaction());
    assert_eq!(
        rows(&mut world, "b", "UPDATE t SET b = 5"),
        ["affected 1 Rows matched: 1  Changed: 1  Warnings: 0"]
    );
    assert_eq!(rows(&mut world, "a", "SELECT b FROM t"), ["5"]);
}

#[test]
fn a_panic_leaves_all_programs() {
    let mut world = prepared();
    world.session("a").frame.hooks = Arc::new(Broken);
    rows(&mut world, "a", "CREATE PROCEDURE p() SELECT UUID_SHORT() INTO @x");
    rows(&mut world, "a", "CREATE PROCEDURE q() BEGIN CALL p(); END");
    rows(
        &mut world,
        "a",
        "CREATE PROCEDURE r() BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION SELECT 1 INTO @x; CALL q(); END",
    );
    assert!(world.run("a", "CALL q()").is_err());
    rows(&mut world, "a", "CALL r()");
    assert!(world.run("a", "BEGIN NOT ATOMIC CALL q(); END").is_err());
    // Only outside of all programs a statement has a time of its own.
    world.session("a").frame.settings.queries.max_statement_micros = 50_000;
    let error = world.run("a", "SELECT SLEEP(5)").expect_err("too late");
    assert!(error.is(&ER_STATEMENT_TIMEOUT), "{error}");
}

#[test]
fn after_a_panic_in_do_queries_still_have_no_out_parameters() {
    let mut world = prepared();
    world.session("a").frame.hooks = Arc::new(Broken);
    let function = "CREATE FUNCTION f(OUT x INT) RETURNS INT BEGIN SET x = 2; RETURN 1; END";
    rows(&mut world, "a", function);
    assert!(world.run("a", "DO UUID_SHORT()").is_err());
    let error = world.run("a", "SELECT f(@x)").expect_err("no place for an OUT parameter");
    assert!(error.is(&ER_SF_OUT_INOUT_ARG_NOT_ALLOWED), "{error}");
}
