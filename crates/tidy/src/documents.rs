//! Checks that documents name only crates and files that exist, and that every crate is in the map.
//!
//! Paths are found in backticks only; words with `*` or spaces are not paths.

use std::fs;
use std::path::Path;

/// Documents outside of `docs`.
const DOCUMENTS: [&str; 3] = ["README.md", "ARCHITECTURE.md", "tests/README.md"];

/// Findings: missing documents, crates that are not in the map, paths in backticks that do not
/// exist.
pub(crate) fn check(root: &Path) -> Vec<String> {
    let mut findings = Vec::new();
    let mut documents = DOCUMENTS.map(str::to_owned).to_vec();
    documents.extend(pages(root, "docs"));
    for document in documents {
        match fs::read_to_string(root.join(&document)) {
            Ok(text) => findings.extend(missing_paths(root, &document, &text)),
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

/// All pages below a folder, as paths from the root.
fn pages(root: &Path, folder: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root.join(folder)).into_iter().flatten().flatten() {
        let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            found.extend(pages(root, &path));
        } else if path.ends_with(".md") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Missing paths in backticks. A path is a word that starts with one of the project's folders.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_paths_of_any_page_are_found() {
        let root = std::env::temp_dir().join(format!("selkie-tidy-{}", std::process::id()));
        fs::create_dir_all(root.join("docs/decisions")).unwrap();
        fs::create_dir_all(root.join("crates/a")).unwrap();
        fs::write(root.join("README.md"), "`crates/a`, `docs/*`, `docs/x y`").unwrap();
        fs::write(root.join("docs/decisions/0001.md"), "`crates/b/src/lib.rs`").unwrap();
        let found = check(&root);
        fs::remove_dir_all(&root).unwrap();
        let expected = [
            "ARCHITECTURE.md: is missing",
            "tests/README.md: is missing",
            "docs/decisions/0001.md: names crates/b/src/lib.rs, which does not exist",
            "ARCHITECTURE.md: does not mention `crates/a`",
        ];
        assert_eq!(found, expected);
    }
}
