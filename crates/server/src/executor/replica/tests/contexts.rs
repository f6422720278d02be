//! Each status variable has its effect on its own statement, and on no other.
//!
//! Must not depend on tables: values show what a statement sees.

use selkie_types::CollationId;

use super::*;

fn with<'a>(vars: &'a [StatusVar<'a>]) -> Said<'a> {
    Said { vars, ..PLAIN }
}

/// The value with these variables, and the value of the next statement, which has none.
fn both(life: &mut Life, vars: &[StatusVar<'_>], expression: &str) -> [String; 2] {
    [life.value(&with(vars), expression), life.value(&PLAIN, expression)]
}

#[test]
fn each_variable_counts_for_its_own_statement() {
    let mut life = Life::begin(&[]);
    let life = &mut life;
    let utf8 = CollationId::UTF8MB4_GENERAL_CI.0;
    let german = CollationId::from_name("latin1_german1_ci").unwrap().0;
    let cases: &[(&[StatusVar<'_>], &str, [&str; 2])] = &[
        (&[StatusVar::SqlMode(2)], "@@sql_mode", ["PIPES_AS_CONCAT", ""]),
        (&[StatusVar::Flags2(flags2::NO_FOREIGN_KEYS)], "@@foreign_key_checks", ["0", "1"]),
        (&[StatusVar::Flags2(flags2::NO_UNIQUE_CHECKS)], "@@unique_checks", ["0", "1"]),
        (&[StatusVar::Flags2(flags2::AUTO_IS_NULL)], "@@sql_auto_is_null", ["1", "0"]),
        (&[StatusVar::Flags2(flags2::IF_EXISTS)], "@@sql_if_exists", ["1", "0"]),
        (
            &[StatusVar::Flags2(flags2::NO_CHECK_CONSTRAINTS)],
            "@@check_constraint_checks",
            ["0", "1"],
        ),
        (
            &[StatusVar::Flags2(flags2::EXPLICIT_DEFAULTS)],
            "@@explicit_defaults_for_timestamp",
            ["1", "0"],
        ),
        (
            &[StatusVar::AutoIncrement(10, 3)],
            "CONCAT(@@auto_increment_increment, '/', @@auto_increment_offset)",
            ["10/3", "1/1"],
        ),
        (&[StatusVar::TimeZone(b"+03:00")], "NOW()", ["2023-11-15 01:13:20", ""]),
        (&[StatusVar::LcTimeNames(4)], "DATE_FORMAT('2020-01-05', '%M')", ["Januar", "January"]),
        (&[StatusVar::HrNow(250_000)], "MICROSECOND(NOW(6))", ["250000", "0"]),
        (&[StatusVar::Invoker(b"joe", b"%")], "CURRENT_USER()", ["joe@%", "@"]),
        (
            &[StatusVar::Charset(utf8, german, 8), StatusVar::CollationDatabase(utf8)],
            "CONCAT_WS(' ', @@character_set_client, @@collation_connection, @@collation_server, \
             @@collation_database)",
            [
                "utf8mb4 latin1_german1_ci latin1_swedish_ci utf8mb4_general_ci",
                "utf8mb4 latin1_german1_ci latin1_swedish_ci utf8mb4_general_ci",
            ],
        ),
    ];
    for (vars, expression, [said, silent]) in cases {
        let [first, second] = both(life, vars, expression);
        assert_eq!(first, *said, "{vars:?}");
        // Silence about these leaves the value that the server chooses.
        let skips = silent.is_empty() || matches!(vars[0], StatusVar::Charset(..));
        assert!(skips || second == *silent, "after {vars:?}: {second}");
    }
}

#[test]
fn settings_without_a_value_are_the_servers() {
    let mut life = Life::begin(&["--sql-mode=ANSI_QUOTES", "--default-time-zone=-01:00"]);
    let vars = [StatusVar::SqlMode(0), StatusVar::TimeZone(b"+05:00")];
    let said = Said { vars: &vars, ..PLAIN };
    assert_eq!(life.value(&said, "CONCAT(@@sql_mode, @@time_zone)"), "+05:00");
    assert_eq!(life.value(&PLAIN, "CONCAT(@@sql_mode, @@time_zone)"), "ANSI_QUOTES-01:00");
}

#[test]
fn statements_run_at_the_primarys_time_and_as_its_thread() {
    let mut life = Life::begin(&["--default-time-zone=+00:00"]);
    assert_eq!(life.value(&PLAIN, "UNIX_TIMESTAMP()"), WHEN.to_string());
    assert_eq!(life.value(&PLAIN, "CONCAT(CONNECTION_ID(), USER())"), "5<replication_slave>@");
    let other = Said { thread: 9, ..PLAIN };
    assert_eq!(life.value(&other, "CONCAT(CONNECTION_ID(), @@pseudo_thread_id)"), "99");
}

#[test]
fn texts_are_in_the_primarys_character_set() {
    let mut life = Life::begin(&[]);
    let vars = [StatusVar::Charset(8, 8, 8)];
    life.bytes(&with(&vars), b"INSERT INTO t (v) VALUES ('\xe4')").unwrap();
    assert_eq!(life.ask("SELECT HEX(CONVERT(v USING utf8mb4)) FROM d.t"), "C3A4");
}

#[test]
fn the_default_database_is_the_events() {
    let mut filter = ReplicaFilter::default();
    filter.set(FilterRule::RewriteDb, "there->d").unwrap();
    let mut life = Life::filtered(&[], filter);
    for (schema, shown) in [("d", "d"), ("", "NULL"), ("there", "d"), ("mysql", "mysql")] {
        let said = Said { schema, ..PLAIN };
        assert_eq!(life.value(&said, "DATABASE()"), shown);
    }
    // It need not exist, as long as the statement does not need it.
    let said = Said { schema: "gone", ..PLAIN };
    assert_eq!(life.value(&said, "1"), "1");
    let failed = life.one(&said, "INSERT INTO t (v) VALUES (1)").unwrap_err();
    assert_eq!(failed.error.code(), 1146);
    life.ask("CREATE DATABASE l1 CHARACTER SET latin1");
    let said = Said { schema: "l1", ..PLAIN };
    assert_eq!(life.value(&said, "@@character_set_database"), "latin1");
    assert_eq!(life.value(&PLAIN, "@@character_set_database"), "utf8mb4");
}

#[test]
fn contexts_that_cannot_be_are_errors_of_their_statement() {
    let mut life = Life::begin(&[]);
    let zone = [StatusVar::TimeZone(b"Nowhere/At_All")];
    let failed = life.one(&with(&zone), "INSERT INTO t (v) VALUES (1)").unwrap_err();
    let text = "Error 'Unknown or incorrect time zone: 'Nowhere/At_All'' on query. Default \
                database: 'd'. Query: 'INSERT INTO t (v) VALUES (1)'";
    assert_eq!((failed.error.code(), &*failed.text), (1298, text));
    let charset = [StatusVar::Charset(9999, 8, 8)];
    let failed = life.one(&with(&charset), "INSERT INTO t (v) VALUES (1)").unwrap_err();
    assert_eq!(failed.error.code(), 1115);
    let mysql = [StatusVar::Charset(255, 255, 255)];
    assert_eq!(life.value(&with(&mysql), "@@character_set_client"), "utf8mb4");
    assert_eq!(life.value(&PLAIN, "@@time_zone"), "SYSTEM");
}
