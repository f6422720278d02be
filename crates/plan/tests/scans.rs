//! Tests of the flags in a scan that depend on the operators above it: `Reader`. A statement with
//! several scans must have the flags of each.

mod support;

use selkie_plan::physical::{Operator, Plan, PlanNode, TableScan};

fn scans_below<'p>(node: &'p PlanNode, found: &mut Vec<&'p TableScan>) {
    node.visit(&mut |node| {
        if let Operator::TableScan(scan) = &node.operator {
            found.push(scan);
        }
    });
}

/// Aliases, in alphabetical order, of all scans of a statement for which `told` is true.
fn told(sql: &str, told: impl Fn(&TableScan) -> bool) -> String {
    let plan: Plan = support::plan_sql(sql).unwrap();
    let mut found = Vec::new();
    scans_below(&plan.root, &mut found);
    plan.subplans.iter().for_each(|subplan| scans_below(&subplan.root, &mut found));
    plan.common_tables.iter().for_each(|table| scans_below(&table.plan, &mut found));
    let mut names: Vec<&str> = found.iter().filter(|s| told(s)).map(|s| &*s.alias).collect();
    names.sort_unstable();
    names.join(" ")
}

fn with_goal(sql: &str) -> String {
    told(sql, |scan| scan.reader.stops)
}

#[test]
fn a_scan_below_a_limit_has_a_row_goal() {
    assert_eq!(with_goal("SELECT b FROM t LIMIT 3"), "t");
    assert_eq!(with_goal("SELECT b FROM t WHERE b > 1 AND c LIKE '%a' LIMIT 3 OFFSET 2"), "t");
    assert_eq!(with_goal("SELECT DISTINCT b FROM t LIMIT 3"), "t");
    assert_eq!(with_goal("(SELECT b FROM t) UNION ALL (SELECT x FROM u) LIMIT 3"), "t u");
    assert_eq!(with_goal("SELECT u.y FROM t JOIN u ON u.t_id = t.id WHERE t.c = 'a' LIMIT 3"), "t");
    assert_eq!(with_goal("DELETE FROM t LIMIT 3"), "t");
    assert_eq!(with_goal("UPDATE t SET b = 1 LIMIT 3"), "t");
    assert_eq!(with_goal("INSERT INTO t (id) SELECT id FROM u LIMIT 3"), "u");
    assert_eq!(with_goal("SELECT b FROM t"), "");
}

#[test]
fn what_reads_all_rows_takes_the_goal_away() {
    assert_eq!(with_goal("SELECT b FROM t ORDER BY b LIMIT 3"), "");
    assert_eq!(with_goal("SELECT COUNT(*) FROM t LIMIT 3"), "");
    assert_eq!(with_goal("SELECT b, SUM(a) FROM t GROUP BY b LIMIT 3"), "");
    assert_eq!(with_goal("SELECT ROW_NUMBER() OVER (ORDER BY b) FROM t LIMIT 3"), "");
    assert_eq!(with_goal("SELECT SQL_CALC_FOUND_ROWS b FROM t LIMIT 3"), "");
    // One of the tables is read whole, into a hash table or a buffer.
    assert_eq!(with_goal("SELECT t.b FROM t JOIN u ON u.x = t.b LIMIT 3").len(), 1);
    assert_eq!(with_goal("SELECT t.b FROM t JOIN u ON u.x > t.b LIMIT 3").len(), 1);
}

#[test]
fn a_limit_elsewhere_gives_no_goal() {
    let derived = "SELECT t.b FROM t, (SELECT x FROM u LIMIT 3) AS v WHERE t.b > v.x";
    assert_eq!(with_goal(derived), "u");
    assert_eq!(with_goal("(SELECT x FROM u LIMIT 3) UNION ALL (SELECT b FROM t)"), "u");
    assert_eq!(with_goal("SELECT b, (SELECT x FROM u LIMIT 1) FROM t"), "u");
    assert_eq!(with_goal("SELECT b FROM t WHERE a > (SELECT MAX(x) FROM u) LIMIT 3"), "t");
    let common = "WITH v AS (SELECT x FROM u LIMIT 3) SELECT * FROM t, v AS v1, v AS v2";
    assert_eq!(with_goal(common), "u");
}

#[test]
fn only_scans_of_what_an_update_changes_feed_it() {
    let feeds = |sql: &str| told(sql, |scan| scan.reader.updates);
    assert_eq!(feeds("UPDATE t SET b = 1 WHERE c LIKE '%a'"), "t");
    assert_eq!(feeds("UPDATE t SET b = 1 WHERE c > (SELECT MAX(x) FROM u)"), "t");
    assert_eq!(feeds("UPDATE t JOIN u ON u.x = t.b SET t.c = 'a'"), "t");
    assert_eq!(feeds("DELETE FROM t WHERE c LIKE '%a'"), "");
    assert_eq!(feeds("SELECT b FROM t FOR UPDATE"), "");
}

/// Names of the tables whose rows are looked up.
fn looked_up(plan: &Plan) -> String {
    let text = selkie_plan::explain::tree(plan);
    let lines = text.lines().filter_map(|line| line.trim().strip_prefix("Lookup "));
    let mut names: Vec<&str> = lines.filter_map(|line| line.split(' ').next()).collect();
    names.sort_unstable();
    names.join(" ")
}

#[test]
fn rows_beyond_the_cache_are_not_looked_up_one_by_one() {
    let sql = "SELECT SUM(l_quantity) FROM part JOIN lineitem ON l_partkey = p_partkey
        WHERE p_brand = 'Brand#12' AND p_size = 5";
    let plan = support::plan_sql_with_groups(sql).unwrap();
    assert_eq!(looked_up(&plan), "lineitem");
    let plan = support::plan_sql_short_of_memory(sql, None).unwrap();
    assert_eq!(looked_up(&plan), "");
    // Few rows are, and many where the groups lack a column.
    let one = "SELECT l_quantity FROM part JOIN lineitem ON l_partkey = p_partkey WHERE p_size = 5
        AND p_partkey BETWEEN 5 AND 9";
    let plan = support::plan_sql_short_of_memory(one, None).unwrap();
    assert_eq!(looked_up(&plan), "lineitem");
    let plan = support::plan_sql_short_of_memory(sql, Some("l_quantity")).unwrap();
    assert_eq!(looked_up(&plan), "lineitem");
}
