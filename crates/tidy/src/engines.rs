//! Finds names of storage engines as string literals. Below the server, only files that print a
//! name may have one.
//!
//! Only whole literals are checked. Code asks an engine's personality what the engine accepts,
//! refuses or reports.

use crate::sources::Source;

/// Crates that must not know an engine by its name.
const CRATES: &[&str] =
    &["types", "meter", "engine", "memory", "native", "sql", "expr", "catalog", "plan", "exec"];

/// Names as literals, except those that are also words of SQL.
const NAMES: &[&str] = &[
    "\"InnoDB\"",
    "\"innodb\"",
    "\"MyISAM\"",
    "\"myisam\"",
    "\"MRG_MyISAM\"",
    "\"Aria\"",
    "\"aria\"",
    "\"Maria\"",
    "\"MARIA\"",
    "\"MEMORY\"",
    "\"HEAP\"",
    "\"CSV\"",
    "\"ARCHIVE\"",
    "\"BLACKHOLE\"",
    "\"FEDERATED\"",
];

/// Files that print a name, with the reason.
const PRINT: &[(&str, &str)] = &[
    ("crates/engine/src/testing/personality.rs", "its own, for tests"),
    ("crates/memory/src/personality.rs", "its own"),
    ("crates/native/src/engine/personality.rs", "its own"),
    ("crates/catalog/src/system_tables.rs", "computed tables are shown with one"),
    ("crates/exec/src/state/error.rs", "errors of the disk name who reads it"),
];

/// Findings: literals that are names of engines, and listed files that have none.
pub(crate) fn check(files: &[Source]) -> Vec<String> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| is_below(&file.path) && !file.is_test()) {
        let names = names_in(file);
        match PRINT.iter().any(|(path, _)| *path == file.path) {
            true if names.is_empty() => {
                findings
                    .push(format!("{}: names no engine, and is listed as if it did", file.path));
            }
            true => {}
            false => findings.extend(names.iter().map(|(line, name)| {
                format!("{}:{line}: names the engine {name}: ask its personality", file.path)
            })),
        }
    }
    findings
}

fn is_below(path: &str) -> bool {
    let name = path.strip_prefix("crates/").and_then(|rest| rest.split('/').next());
    name.is_some_and(|name| CRATES.contains(&name))
}

/// Names with their line numbers, without comments and the tests at the end.
fn names_in(file: &Source) -> Vec<(usize, &'static str)> {
    let code = file.lines.iter().take_while(|line| line.trim() != "#[cfg(test)]").enumerate();
    let bare = code.map(|(at, line)| (at + 1, line.split("//").next().unwrap_or_default()));
    bare.filter_map(|(number, line)| {
        let name = NAMES.iter().find(|name| line.contains(**name))?;
        Some((number, *name))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.to_owned(), lines: text.lines().map(str::to_owned).collect() }
    }

    #[test]
    fn a_name_below_the_server_is_found() {
        let code = "// \"Aria\" in a comment\nif engine == \"Aria\" {}\n#[cfg(test)]\n\"CSV\"";
        let files = [
            source("crates/exec/src/a.rs", code),
            source("crates/server/src/b.rs", code),
            source("crates/memory/src/personality.rs", "name: \"MEMORY\""),
            source("crates/native/src/engine/personality.rs", "name: other"),
        ];
        let found = check(&files);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("crates/exec/src/a.rs:2: "), "{found:?}");
        assert!(found[1].starts_with("crates/native/"), "{found:?}");
    }
}
