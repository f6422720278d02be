//! Plans of the 22 TPC-H queries at scale factor 1, pinned in `golden/`, and those for tables with
//! column groups in `golden/groups/`. `UPDATE_GOLDEN=1` rewrites the files.

mod support;

use std::path::Path;

use selkie_plan::explain;
use selkie_plan::physical::Plan;

/// Compares the plans with the files of a directory.
fn check(directory: &str, plan_sql: fn(&str) -> selkie_types::SqlResult<Plan>) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut wrong = Vec::new();
    for number in 1..=22 {
        let name = format!("q{number:02}");
        let sql =
            std::fs::read_to_string(root.join(format!("../bench/queries/{name}.sql"))).unwrap();
        let sql = sql.replace("{fraction}", "0.0001").trim().trim_end_matches(';').to_owned();
        let plan = match std::panic::catch_unwind(|| plan_sql(&sql))
            .unwrap_or_else(|_| Err(selkie_types::SqlError::internal("panic")))
        {
            Ok(plan) => explain::tree(&plan),
            Err(error) => format!("{error}\n"),
        };
        let golden = root.join(format!("tests/{directory}/{name}.txt"));
        if update {
            std::fs::write(&golden, &plan).unwrap();
        } else if std::fs::read_to_string(&golden).unwrap_or_default() != plan {
            wrong.push(format!("{name}:\n{plan}"));
        }
    }
    assert!(wrong.is_empty(), "plans changed:\n{}", wrong.join("\n"));
}

#[test]
fn tpch_plans() {
    check("golden", support::plan_sql);
}

#[test]
fn tpch_plans_with_column_groups() {
    check("golden/groups", support::plan_sql_with_groups);
}
