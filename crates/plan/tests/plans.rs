//! Plans and errors of small statements, pinned in `golden/statements.txt`. `UPDATE_GOLDEN=1`
//! rewrites it.

mod support;

use std::path::Path;

use selkie_plan::explain;

#[test]
fn statements() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/statements.txt");
    let old = std::fs::read_to_string(&file).unwrap();
    let mut new = String::new();
    for block in old.split("\n\n").filter(|b| !b.trim().is_empty()) {
        let sql: Vec<&str> = block.lines().take_while(|l| *l != "----").collect();
        let sql = sql.join("\n");
        let plan = match std::panic::catch_unwind(|| support::plan_sql(&sql))
            .unwrap_or_else(|_| Err(selkie_types::SqlError::internal("panic")))
        {
            Ok(plan) => explain::tree(&plan),
            Err(error) => format!("{error}\n"),
        };
        new += &format!("{sql}\n----\n{plan}\n");
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&file, &new).unwrap();
    } else {
        assert!(old == new, "plans changed:\n{new}");
    }
}
