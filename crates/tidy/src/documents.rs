//! Documents name crates and files that exist.

use std::fs;
use std::path::Path;

const DOCUMENTS: [&str; 5] =
    ["README.md", "ARCHITECTURE.md", "docs/format.md", "docs/compatibility.md", "tests/README.md"];

/// Every document is there, every crate is in the map, every path in backticks exists.
pub(crate) fn check(root: &Path) -> Vec<String> {
    let mut findings = Vec::new();
    for document in DOCUMENTS {
        match fs::read_to_string(root.join(document)) {
            Ok(text) => findings.extend(missing_paths(root, document, &text)),
            Err(_) => findings.push(format!("{document}: is missing")),
        }
    }
    let map = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap_or_default();
    for entry in fs::read_dir(root.join("crates")).into_iter().flatten().flatten() {
        let name = format!("`crates/{}`", entry.file_name().to_string_lossy());
        if !map.contains(&name) {
            findings.push(format!("ARCHITECTURE.md: does not mention {name}"));
        }
    }
    findings
}

/// Paths in backticks: a word with a slash that begins with one of the project's folders.
fn missing_paths(root: &Path, document: &str, text: &str) -> Vec<String> {
    let folders = ["crates/", "docs/", "tests/", "fuzz/", ".ci/", "lab/"];
    text.split('`')
        .skip(1)
        .step_by(2)
        .filter(|word| folders.iter().any(|folder| word.starts_with(folder)))
        .filter(|word| !word.contains(char::is_whitespace) && !word.contains('*'))
        .filter(|word| !root.join(word).exists())
        .map(|word| format!("{document}: names {word}, which does not exist"))
        .collect()
}
