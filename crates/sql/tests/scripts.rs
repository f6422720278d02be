//! Runs the scripts: blocks of `> statement` with the expected tree or error.
//!
//! `UPDATE_GOLDEN=1 cargo test -p selkie-sql` writes the files anew; review the difference. A line
//! `! sql_mode = X` sets the mode for the statements after it; `\n` in a statement is a line break.

mod support;

use selkie_sql::ParseOptions;
use selkie_types::SqlMode;

#[test]
fn scripts() {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/scripts");
    let mut names: Vec<_> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    names.sort();
    for path in names {
        let old = std::fs::read_to_string(&path).unwrap();
        let new = run(&old);
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&path, new).unwrap();
        } else {
            for (old, new) in old.split("\n\n").zip(new.split("\n\n")) {
                assert_eq!(new, old, "{}", path.display());
            }
            assert_eq!(old, new, "{}", path.display());
        }
    }
}

fn run(script: &str) -> String {
    let mut options = ParseOptions::default();
    let mut out = String::new();
    for line in script.lines() {
        if let Some(mode) = line.strip_prefix("! sql_mode = ") {
            options.sql_mode = SqlMode::parse(mode).unwrap();
            out += &format!("{line}\n\n");
        } else if let Some(sql) = line.strip_prefix("> ") {
            let described = support::describe(&sql.replace("\\n", "\n"), &options);
            out += &format!("{line}\n{described}\n\n");
        } else if line.starts_with('#') {
            out += &format!("{line}\n");
        }
    }
    out
}
