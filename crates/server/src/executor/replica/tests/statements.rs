//! Values for one statement, errors, temporary tables, statements that may have run before.
//!
//! Texts of errors are MariaDB's.

use selkie_replication::codec::{Intvar, Rand, UserValue, UserVar, flags};

use super::*;

#[test]
fn values_are_for_the_next_statement_only() {
    let mut life = Life::begin(&[]);
    life.ask("INSERT INTO d.t VALUES (1, 'a')");
    let one = |life: &mut Life, events: &[Event<'_>], expression: &str| {
        life.begin_group(GtidEvent::TRANSACTIONAL);
        events.iter().for_each(|event| life.event(event).unwrap());
        life.query(&PLAIN, format!("INSERT INTO t (v) VALUES ({expression})").as_bytes()).unwrap();
        life.event(&Event::Xid(Xid(1))).unwrap();
        life.end_group().unwrap();
        life.ask("SELECT id, v FROM d.t ORDER BY id DESC LIMIT 1")
    };
    let number = |which, value| Event::Intvar(Intvar { which, value });
    let numbers = [number(Intvar::INSERT_ID, 40), number(Intvar::LAST_INSERT_ID, 77)];
    assert_eq!(one(&mut life, &numbers, "LAST_INSERT_ID()"), "40,77");
    assert_eq!(one(&mut life, &[], "LAST_INSERT_ID()"), "41,0");
    let seeds = [Event::Rand(Rand { seed1: 123, seed2: 456 })];
    let first = one(&mut life, &seeds, "RAND()");
    let again = one(&mut life, &seeds, "RAND()");
    assert_eq!(first.split_once(',').unwrap().1, again.split_once(',').unwrap().1);
    let other = one(&mut life, &[], "RAND()");
    assert_ne!(again.split_once(',').unwrap().1, other.split_once(',').unwrap().1);
    let variable = |kind, collation, bytes: &'static [u8], flags: &'static [u8]| {
        let value = Some(UserValue { kind, collation, bytes, flags });
        Event::UserVar(UserVar { name: b"U", value, behind_null: &[] })
    };
    let minus: &[u8] = &[255; 8];
    let cases = [
        (variable(UserValue::STRING, 8, b"\xe4", &[]), "HEX(CONVERT(@u USING utf8mb4))", "C3A4"),
        (variable(UserValue::REAL, 63, &[0, 0, 0, 0, 0, 0, 0xf8, 0x3f], &[]), "@u", "1.5"),
        (variable(UserValue::INT, 63, minus, &[0]), "@u", "-1"),
        (variable(UserValue::INT, 63, minus, &[1]), "@u", "18446744073709551615"),
        (variable(UserValue::DECIMAL, 63, &[3, 1, 0x8c, 5], &[]), "@u", "12.5"),
    ];
    for (event, expression, shown) in cases {
        let row = one(&mut life, &[event], expression);
        assert_eq!(row.split_once(',').unwrap().1, shown);
        let row = one(&mut life, &[], "@u");
        assert_eq!(row.split_once(',').unwrap().1, "NULL");
    }
    let null = UserVar { name: b"u", value: None, behind_null: &[] };
    let row = one(&mut life, &[Event::UserVar(null)], "@u IS NULL");
    assert_eq!(row.split_once(',').unwrap().1, "1");
    let broken = variable(UserValue::INT, 63, &[1], &[]);
    life.begin_group(0);
    assert_eq!(life.event(&broken).unwrap_err().error.code(), 1594);
    life.replica.give_up();
}

#[test]
fn errors_are_compared_with_the_primarys() {
    let mut life = Life::begin(&["--slave-skip-errors=1146"]);
    life.ask("INSERT INTO d.t VALUES (1, 'a')");
    let insert = "INSERT INTO t VALUES (1, 'b')";
    let failed = life.one(&PLAIN, insert).unwrap_err();
    let text = "Error 'Duplicate entry '1' for key 'PRIMARY'' on query. Default database: 'd'. \
                Query: 'INSERT INTO t VALUES (1, 'b')'";
    assert_eq!((failed.error.code(), &*failed.text), (1062, text));
    assert!(!failed.is_transient && !failed.shows_place);
    // It failed on the primary too.
    life.one(&Said { error: 1062, ..PLAIN }, insert).unwrap();
    life.one(&Said { error: 1586, ..PLAIN }, insert).unwrap();
    let failed = life.one(&Said { error: 1048, ..PLAIN }, insert).unwrap_err();
    assert_eq!(&*failed.text, "Duplicate entry '1' for key 'PRIMARY'");
    let other = "INSERT INTO t VALUES (2, 'b')";
    let failed = life.one(&Said { error: 1062, ..PLAIN }, other).unwrap_err();
    let text = "Query caused different errors on master and slave.     Error on master: message \
                (format)='Duplicate entry '%-.192T' for key %d' error code=1062 ; Error on slave: \
                actual message='no error', error code=0. Default database: 'd'. Query: 'INSERT \
                INTO t VALUES (2, 'b')'";
    assert_eq!((failed.error.code(), &*failed.text), (0, text));
    assert_eq!(life.ask("SELECT COUNT(*) FROM d.t"), "1");
    // The primary waited too long, which says nothing about here.
    life.one(&Said { error: 1205, ..PLAIN }, other).unwrap();
    let failed = life.one(&Said { error: 1317, ..PLAIN }, "DELETE FROM t").unwrap_err();
    assert!(failed.text.starts_with("Query partially completed on the master (error on master: 1"));
    assert_eq!(life.ask("SELECT COUNT(*) FROM d.t"), "2");
    life.one(&PLAIN, "INSERT INTO missing VALUES (1)").unwrap();
    life.one(&Said { error: 1146, ..PLAIN }, "INSERT INTO t VALUES (3, 'b')").unwrap();
    let skipped = "SHOW GLOBAL STATUS LIKE 'Slave_skipped_errors'";
    assert_eq!(life.ask(skipped), "Slave_skipped_errors,1");
}

#[test]
fn temporary_tables_belong_to_threads() {
    let mut life = Life::begin(&[]);
    let of = |thread| Said { thread, flags: flags::THREAD_SPECIFIC, ..PLAIN };
    life.alone(&of(1), "CREATE TEMPORARY TABLE tmp SELECT 'one' v").unwrap();
    life.alone(&of(2), "CREATE TEMPORARY TABLE tmp SELECT 'two' v").unwrap();
    let insert = "INSERT INTO t (v) SELECT v FROM tmp";
    for thread in [1, 2, 1, 2] {
        life.one(&of(thread), insert).unwrap();
    }
    assert_eq!(life.one(&of(3), insert).unwrap_err().error.code(), 1146);
    // Another domain's group of the thread leaves them to those that use them.
    assert_eq!(life.one(&Said { thread: 2, ..PLAIN }, insert).unwrap_err().error.code(), 1146);
    assert_eq!(life.ask("SELECT GROUP_CONCAT(v ORDER BY id) FROM d.t"), "one,two,one,two");
    life.alone(&of(1), "DROP TEMPORARY TABLE tmp /* generated by server */").unwrap();
    assert_eq!(life.one(&of(1), insert).unwrap_err().error.code(), 1146);
    life.one(&of(2), insert).unwrap();
}

#[test]
fn definitions_may_be_there_already() {
    let mut life = Life::begin(&[]);
    let setup = "CREATE TABLE d.a (z INT);CREATE TABLE d.b (z INT);CREATE SEQUENCE d.s;CREATE \
                 DATABASE e;CREATE VIEW d.v AS SELECT 1 z";
    setup.split(';').for_each(|text| drop(life.ask(text)));
    life.alone(&PLAIN, "CREATE TABLE a (x INT)").unwrap();
    life.alone(&PLAIN, "CREATE TABLE IF NOT EXISTS b (x INT)").unwrap();
    let columns = "SELECT GROUP_CONCAT(COLUMN_NAME ORDER BY TABLE_NAME) FROM \
                   information_schema.COLUMNS WHERE TABLE_NAME IN ('a', 'b')";
    assert_eq!(life.ask(columns), "x,z");
    life.alone(&PLAIN, "CREATE SEQUENCE s").unwrap();
    life.alone(&PLAIN, "CREATE DATABASE e").unwrap();
    for gone in ["DROP TABLE no", "DROP SEQUENCE no", "DROP DATABASE no", "DROP TRIGGER no"] {
        life.alone(&PLAIN, gone).unwrap();
    }
    let code = |life: &mut Life, text: &str| life.alone(&PLAIN, text).unwrap_err().error.code();
    assert_eq!(code(&mut life, "CREATE VIEW v AS SELECT 2 z"), 1050);
    assert_eq!(code(&mut life, "DROP VIEW no"), 4092);
    life.set_global("slave_ddl_exec_mode", VarValue::Enum(0));
    assert_eq!(code(&mut life, "CREATE TABLE a (x INT)"), 1050);
    assert_eq!(code(&mut life, "DROP TABLE no"), 1051);
    assert_eq!(code(&mut life, "CREATE DATABASE e"), 1007);
    assert_eq!(code(&mut life, "DROP DATABASE no"), 1008);
    life.alone(&PLAIN, "DROP TRIGGER no").unwrap();
    let vars = [StatusVar::Flags2(flags2::IF_EXISTS)];
    life.alone(&Said { vars: &vars, ..PLAIN }, "DROP TABLE no").unwrap();
}

#[test]
fn an_alter_in_two_phases_runs_where_it_is_committed() {
    let mut life = Life::begin(&["--log-bin=bl", "--log-slave-updates"]);
    let columns = "SELECT COUNT(*) FROM information_schema.COLUMNS WHERE TABLE_NAME = 't'";
    let alter = "SET STATEMENT binlog_alter_two_phase = 1 FOR ALTER TABLE t ADD x INT";
    for (flags, start, count) in [(2, None, "2"), (8, Some(1), "2"), (4, Some(1), "3")] {
        let vars = [StatusVar::GtidFlags3(flags, start)];
        life.alone(&Said { vars: &vars, ..PLAIN }, alter).unwrap();
        assert_eq!(life.ask(columns), count, "{flags}");
    }
}

#[test]
fn a_read_only_server_applies_all_the_same() {
    let mut life = Life::begin(&[]);
    life.set_global("read_only", VarValue::Bool(true));
    assert_eq!(life.value(&PLAIN, "1"), "1");
    life.alone(&PLAIN, "CREATE TABLE n (a INT)").unwrap();
}

#[test]
fn definers_are_the_primarys() {
    let mut life = Life::begin(&[]);
    let vars = [StatusVar::Invoker(b"joe", b"localhost")];
    let said = Said { vars: &vars, ..PLAIN };
    life.alone(&said, "CREATE VIEW v AS SELECT 1").unwrap();
    life.alone(&PLAIN, "CREATE DEFINER=`ann`@`%` PROCEDURE p() SELECT 1").unwrap();
    let view = "SELECT DEFINER FROM information_schema.VIEWS WHERE TABLE_SCHEMA = 'd'";
    assert_eq!(life.ask(view), "joe@localhost");
    let routine = "SELECT DEFINER FROM information_schema.ROUTINES WHERE ROUTINE_NAME = 'p'";
    assert_eq!(life.ask(routine), "ann@%");
}
