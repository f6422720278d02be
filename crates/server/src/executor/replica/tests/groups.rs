//! Groups: their ends, and what is left of those that are given up.
//!
//! Must look from another session: only that one sees what is committed.

use selkie_replication::codec::XaPrepare;

use super::*;

const COUNT: &str = "SELECT COUNT(*) FROM d.t";

#[test]
fn a_group_is_seen_when_it_has_ended() {
    let mut life = Life::begin(&[]);
    life.begin_group(GtidEvent::TRANSACTIONAL);
    life.query(&PLAIN, b"INSERT INTO t (v) VALUES (1)").unwrap();
    life.query(&PLAIN, b"SAVEPOINT `a`").unwrap();
    life.query(&PLAIN, b"INSERT INTO t (v) VALUES (2)").unwrap();
    life.query(&PLAIN, b"ROLLBACK TO `a`").unwrap();
    life.query(&PLAIN, b"INSERT INTO t (v) VALUES (3)").unwrap();
    life.event(&Event::Xid(Xid(1))).unwrap();
    assert_eq!(life.ask(COUNT), "0");
    life.end_group().unwrap();
    assert_eq!(life.ask("SELECT GROUP_CONCAT(v ORDER BY id) FROM d.t"), "1,3");
    life.begin_group(GtidEvent::TRANSACTIONAL);
    life.query(&PLAIN, b"INSERT INTO t (v) VALUES (1)").unwrap();
    life.replica.give_up();
    life.begin_group(GtidEvent::TRANSACTIONAL);
    life.query(&PLAIN, b"INSERT INTO t (v) VALUES (1)").unwrap();
    life.query(&PLAIN, b"ROLLBACK").unwrap();
    life.end_group().unwrap();
    assert_eq!(life.ask(COUNT), "2");
    life.begin_group(0);
    life.query(&PLAIN, b"INSERT INTO t (v) VALUES (4)").unwrap();
    life.query(&PLAIN, b"COMMIT").unwrap();
    life.end_group().unwrap();
    assert_eq!(life.ask(COUNT), "3");
}

#[test]
fn a_single_statement_runs_at_the_end_of_its_group() {
    let mut life = Life::begin(&[]);
    let there = "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_NAME = 'n'";
    life.begin_group(GtidEvent::STANDALONE);
    life.query(&PLAIN, b"CREATE TABLE n (a INT)").unwrap();
    assert_eq!(life.ask(there), "0");
    life.end_group().unwrap();
    assert_eq!(life.ask(there), "1");
    life.begin_group(GtidEvent::STANDALONE);
    life.query(&PLAIN, b"DROP TABLE n").unwrap();
    life.replica.give_up();
    assert_eq!(life.ask(there), "1");
}

#[test]
fn groups_without_numbers_begin_as_their_texts_say() {
    let mut life = Life::begin(&[]);
    let begin = |life: &mut Life| {
        life.replica.begin(None, 0, &Life::header(EventKind::QUERY)).unwrap();
    };
    begin(&mut life);
    life.query(&PLAIN, b"CREATE TABLE n (a INT)").unwrap();
    life.end_group().unwrap();
    begin(&mut life);
    life.query(&PLAIN, b"BEGIN").unwrap();
    life.query(&PLAIN, b"INSERT INTO t (v) VALUES (1)").unwrap();
    life.query(&PLAIN, b"INSERT INTO n VALUES (1)").unwrap();
    assert_eq!(life.ask(COUNT), "0");
    life.event(&Event::Xid(Xid(1))).unwrap();
    life.end_group().unwrap();
    assert_eq!(life.ask("SELECT v, a FROM d.t, d.n"), "1,1");
}

#[test]
fn a_definition_inside_of_a_transaction_does_not_end_the_group() {
    let mut life = Life::begin(&[]);
    life.begin_group(GtidEvent::TRANSACTIONAL);
    life.query(&PLAIN, b"CREATE TABLE n (a INT)").unwrap();
    life.query(&PLAIN, b"INSERT INTO n VALUES (1)").unwrap();
    assert_eq!(life.ask("SELECT COUNT(*) FROM d.n"), "0");
    life.event(&Event::Xid(Xid(1))).unwrap();
    life.end_group().unwrap();
    assert_eq!(life.ask("SELECT COUNT(*) FROM d.n"), "1");
}

#[test]
fn a_branch_is_prepared_and_ended_by_another_group() {
    let mut life = Life::begin(&[]);
    let prepare = XaPrepare { one_phase: 0, format: 1, gtrid: b"a", bqual: b"b" };
    for (end, count) in [("XA ROLLBACK X'61',X'62',1", "0"), ("XA COMMIT X'61',X'62',1", "1")] {
        life.begin_group(GtidEvent::PREPARED_XA | GtidEvent::TRANSACTIONAL);
        life.query(&PLAIN, b"INSERT INTO t (v) VALUES (1)").unwrap();
        life.query(&PLAIN, b"XA END X'61',X'62',1").unwrap();
        life.event(&Event::XaPrepare(prepare)).unwrap();
        assert_eq!(life.ask("XA RECOVER"), "");
        life.end_group().unwrap();
        assert_eq!(life.ask("XA RECOVER"), "1,1,1,ab");
        // Other groups come between.
        life.begin_group(GtidEvent::TRANSACTIONAL);
        life.event(&Event::Xid(Xid(1))).unwrap();
        life.end_group().unwrap();
        life.begin_group(GtidEvent::STANDALONE | GtidEvent::COMPLETED_XA);
        life.query(&PLAIN, end.as_bytes()).unwrap();
        life.end_group().unwrap();
        assert_eq!(life.ask(COUNT), count);
        assert_eq!(life.ask("XA RECOVER"), "");
    }
}

#[test]
fn groups_are_logged_again_under_their_numbers() {
    let mut life = Life::begin(&["--log-bin=bl", "--log-slave-updates", "--server-id=3"]);
    assert_eq!(life.value(&PLAIN, "1"), "1");
    life.alone(&PLAIN, "CREATE TABLE n (a INT)").unwrap();
    life.seq = 9;
    assert_eq!(life.value(&PLAIN, "2"), "2");
    assert_eq!(life.ask("SELECT @@gtid_binlog_pos"), "0-7-10");
    let mut silent = Life::begin(&["--log-bin=bl", "--server-id=3"]);
    assert_eq!(silent.value(&PLAIN, "1"), "1");
    assert_eq!(silent.ask("SELECT @@gtid_binlog_pos"), "");
}

#[test]
fn the_session_is_in_the_process_list_and_no_connection() {
    let mut life = Life::begin(&[]);
    let row = "SELECT USER, HOST, DB, COMMAND, INFO FROM information_schema.PROCESSLIST WHERE \
               USER = 'system user'";
    assert_eq!(life.ask(row), "system user,,NULL,Slave_SQL,NULL");
    assert_eq!(life.server.sessions.count_by(Door::Main), 0);
    let id = life.replica.handle().id;
    life.replica =
        life.server.backend.replica_session(&life.server, Arc::default(), "Slave_SQL").unwrap();
    assert!(life.server.sessions.find(id).is_none());
}

#[test]
fn what_the_filter_does_not_take_is_passed_over() {
    let mut filter = ReplicaFilter::default();
    filter.set(FilterRule::IgnoreDb, "i").unwrap();
    let mut life = Life::filtered(&[], filter);
    life.ask("CREATE DATABASE i");
    let done = life.one(&Said { schema: "i", ..PLAIN }, "INSERT INTO d.t (v) VALUES (1)");
    assert!(done.is_ok());
    assert_eq!(life.ask(COUNT), "0");
}

#[test]
fn statements_about_accounts_are_filtered_as_changes_of_their_tables() {
    let mut filter = ReplicaFilter::default();
    filter.set(FilterRule::WildIgnoreTable, "mysql.%").unwrap();
    let mut life = Life::filtered(&[], filter);
    for text in
        ["CREATE USER nobody", "CREATE ROLE nobody", "GRANT SELECT ON d.* TO root@localhost"]
    {
        assert!(life.one(&PLAIN, text).is_ok());
    }
    assert_eq!(life.ask("SELECT COUNT(*) FROM mysql.global_priv WHERE User='nobody'"), "0");
    assert_eq!(life.ask("SELECT COUNT(*) FROM mysql.db WHERE Db='d'"), "0");
}
