//! Layers of crates. The tables below say which crate may use which, and which crates may have
//! unsafe code. Anything else is a finding.
//!
//! `Cargo.toml` files and the attributes of crate roots are read; the code is not.

use std::fs;
use std::path::Path;

/// Crates from bottom to top, each with the crates it may use. Features named `testing` do not
/// count.
const LAYERS: &[(&str, &[&str])] = &[
    ("types", &[]),
    ("meter", &["types"]),
    ("replication", &["types"]),
    ("fulltext", &["types"]),
    ("geometry", &["types", "meter"]),
    ("column", &["types"]),
    ("engine", &["types", "column"]),
    ("memory", &["types", "engine"]),
    ("native", &["types", "meter", "engine", "column", "fulltext"]),
    ("sql", &["types", "meter"]),
    ("expr", &["types", "meter", "geometry"]),
    ("catalog", &["types", "meter", "engine", "sql", "expr"]),
    ("plan", &["types", "meter", "engine", "sql", "expr", "catalog", "replication"]),
    (
        "exec",
        &[
            "types",
            "column",
            "meter",
            "engine",
            "sql",
            "expr",
            "catalog",
            "plan",
            "replication",
            "fulltext",
        ],
    ),
    ("protocol", &["types"]),
    (
        "server",
        &[
            "types",
            "meter",
            "engine",
            "memory",
            "native",
            "sql",
            "expr",
            "catalog",
            "plan",
            "exec",
            "protocol",
            "replication",
            "fulltext",
        ],
    ),
    ("bench", &[]),
    ("selkie", &["meter", "server", "bench"]),
    ("tidy", &[]),
];

/// Crates that may have unsafe code, which their safe types wrap.
const UNSAFE: &[&str] = &["engine", "expr", "meter", "native"];

/// Whether a crate forbids unsafe code.
fn forbids_unsafe(crate_folder: &Path) -> bool {
    ["src/lib.rs", "src/main.rs"].iter().any(|root| {
        let text = fs::read_to_string(crate_folder.join(root)).unwrap_or_default();
        text.lines().any(|line| line == "#![forbid(unsafe_code)]")
    })
}

/// Compares every crate's dependencies with the table.
pub(crate) fn check(root: &Path) -> Vec<String> {
    let mut findings = Vec::new();
    for entry in fs::read_dir(root.join("crates")).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Ok(manifest) = fs::read_to_string(entry.path().join("Cargo.toml")) else { continue };
        let Some((_, allowed)) = LAYERS.iter().find(|(layer, _)| *layer == name) else {
            findings.push(format!("crates/{name}: is not in the table of layers"));
            continue;
        };
        if !UNSAFE.contains(&name.as_str()) && !forbids_unsafe(&entry.path()) {
            findings.push(format!("crates/{name}: does not forbid unsafe code"));
        }
        for used in dependencies(&manifest) {
            if !allowed.contains(&used.as_str()) {
                findings.push(format!("crates/{name}: must not use selkie-{used}"));
            }
        }
    }
    findings
}

/// The project's crates under `[dependencies]`, without dev-dependencies.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut inside = false;
    let mut out = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            inside = line.trim() == "[dependencies]";
        } else if let (true, Some(rest)) = (inside, line.strip_prefix("selkie-")) {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-');
            out.push(rest[..end.unwrap_or(rest.len())].to_owned());
        }
    }
    out
}
