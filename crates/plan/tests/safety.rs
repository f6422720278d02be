//! Tests of the reasons for which the text of a statement is unsafe to repeat elsewhere.
//! A statement that MariaDB calls unsafe must have a reason here too.

mod support;

use selkie_plan::safety::{Uses, is_doubtful, reasons};

/// The reasons in the order in which they are told.
fn told(sql: &str) -> String {
    let plan = support::plan_sql(sql).unwrap();
    let names: Vec<String> = reasons(&plan).iter().map(|reason| format!("{reason:?}")).collect();
    names.join(" ")
}

#[test]
fn plain_changes_are_safe() {
    for sql in [
        "INSERT INTO t (id, b) VALUES (1, NOW()), (2, UNIX_TIMESTAMP())",
        "INSERT INTO t (id, c) VALUES (1, CONCAT(DATABASE(), CONNECTION_ID()))",
        "INSERT INTO t (id, b) SELECT x, y FROM u",
        "INSERT INTO t (id, b) SELECT 1, 2",
        "INSERT IGNORE INTO t (id, b) VALUES (1, 2)",
        "REPLACE INTO t (id, b) VALUES (1, 2)",
        "INSERT INTO t (id, b) VALUES (1, 2) ON DUPLICATE KEY UPDATE b = 3",
        "UPDATE t SET b = @v + 1 WHERE id IN (SELECT x FROM u)",
        "UPDATE t JOIN u ON u.t_id = t.id SET t.b = 1",
        "DELETE FROM t WHERE b = LAST_INSERT_ID()",
        "DELETE IGNORE FROM t",
        "UPDATE t SET b = (SELECT COUNT(*) FROM seq_1_to_5)",
    ] {
        assert_eq!(told(sql), "", "{sql}");
    }
}

#[test]
fn reasons_come_from_all_parts() {
    for (sql, reason) in [
        ("DELETE FROM t ORDER BY id LIMIT 1", "Limit"),
        ("INSERT INTO t (id) SELECT x FROM u LIMIT 2", "Limit"),
        ("UPDATE t SET b = 1 WHERE id = (SELECT MAX(x) FROM u LIMIT 1)", "Limit"),
        ("INSERT INTO t (id, b) VALUES (1, RAND() * 5)", "SystemFunction"),
        ("UPDATE t SET c = UUID()", "SystemFunction"),
        ("UPDATE t SET b = 1 WHERE c = USER()", "SystemFunction"),
        ("DELETE FROM t WHERE b = SLEEP(0) LIMIT 1", "Limit SystemFunction"),
        ("INSERT IGNORE INTO t (id) SELECT x FROM u", "InsertIgnoreSelect"),
        ("REPLACE INTO t (id) SELECT x FROM u", "ReplaceSelect"),
        ("INSERT INTO t (id) SELECT x FROM u ON DUPLICATE KEY UPDATE b = 1", "InsertSelectUpdate"),
        ("UPDATE IGNORE t SET b = 1", "UpdateIgnore"),
        ("INSERT INTO t (id) SELECT x FROM u FOR UPDATE SKIP LOCKED", "SkipLocked"),
    ] {
        assert_eq!(told(sql), reason, "{sql}");
    }
}

#[test]
fn variables_are_known_elsewhere_only_if_the_log_has_them() {
    let is_unknown = |name, is_global| {
        let uses = Uses::of_variable(name, is_global);
        assert!(uses.has(Uses::PASSING), "{name}: a result that depends on it is not kept");
        uses.has(Uses::SYSTEM_VARIABLE)
    };
    assert!(!is_unknown("time_zone", false));
    assert!(is_unknown("time_zone", true));
    assert!(is_unknown("server_id", false));
    assert!(!is_unknown("identity", false));
    assert!(Uses::of_variable("identity", false).has(Uses::LAST_INSERT_ID));
}

#[test]
fn functions_use_what_goes_before_the_text() {
    let uses = |sql: &str| support::plan_sql(sql).unwrap().uses.things;
    assert!(uses("UPDATE t SET b = RAND()").has(Uses::RANDOM));
    assert!(!uses("UPDATE t SET b = RAND(1)").has(Uses::RANDOM));
    assert!(uses("UPDATE t SET b = last_insert_id()").has(Uses::LAST_INSERT_ID));
    assert!(!uses("UPDATE t SET b = LAST_INSERT_ID(5)").has(Uses::LAST_INSERT_ID));
}

#[test]
fn an_assignment_in_several_rows_depends_on_their_order() {
    let depends = |sql: &str| is_doubtful(&support::plan_sql(sql).unwrap());
    assert!(depends("UPDATE t SET b = (@n := 5)"));
    assert!(depends("INSERT INTO t (id) SELECT @n := x FROM u"));
    assert!(!depends("INSERT INTO t (id) VALUES (@n := 5)"));
    assert!(!depends("UPDATE t SET b = @n"));
}

#[test]
fn results_that_pass_with_the_statement_are_not_kept() {
    for (sql, passes) in [
        ("SELECT NOW(), id FROM t", true),
        ("SELECT id FROM t WHERE b < UNIX_TIMESTAMP()", true),
        ("SELECT UNIX_TIMESTAMP('2020-01-01') FROM t", false),
        ("SELECT id FROM t ORDER BY RAND()", true),
        ("SELECT id FROM t WHERE id IN (SELECT CONNECTION_ID() FROM u)", true),
        ("SELECT id FROM t FOR UPDATE", true),
        ("SELECT id FROM t LOCK IN SHARE MODE", true),
        ("SELECT TIME '10:00:00' < '2020-01-01', id FROM t", true),
        ("SELECT CAST(id AS TIME) FROM t", true),
        ("SELECT SQL_NO_CACHE id FROM t", true),
        ("SELECT SQL_CACHE id, VERSION() FROM t", false),
        ("SELECT id, COUNT(*) FROM t GROUP BY id HAVING MAX(b) > 1", false),
    ] {
        let plan = support::plan_sql(sql).unwrap();
        assert_eq!(plan.uses.has(Uses::PASSING), passes, "{sql}");
    }
}
