//! The project's Rust files, and rules about the text of each.
//!
//! Must not parse Rust: the rules look at lines and words.

use std::fs;
use std::path::{Path, PathBuf};

/// A source file.
pub(crate) struct Source {
    /// Path from the root, with `/` on every system.
    pub(crate) path: String,
    /// Its lines.
    pub(crate) lines: Vec<String>,
}

impl Source {
    /// Whether the file contains only tests.
    pub(crate) fn is_test(&self) -> bool {
        self.path.contains("/tests/") || self.path.ends_with("/tests.rs")
    }

    /// The lines before the module of tests at the end.
    pub(crate) fn production_lines(&self) -> &[String] {
        let begins_tests = |pair: &[String]| {
            pair[0] == "#[cfg(test)]" && pair[1].starts_with("mod ") && pair[1].ends_with('{')
        };
        let end = self.lines.windows(2).position(begins_tests).unwrap_or(self.lines.len());
        &self.lines[..end]
    }

    /// The production lines without comments.
    pub(crate) fn code(&self) -> String {
        let bare = |line: &String| line.split("//").next().unwrap_or_default().to_owned();
        self.production_lines().iter().map(bare).collect::<Vec<_>>().join("\n")
    }

    #[cfg(test)]
    pub(crate) fn of(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), lines: text.lines().map(str::to_owned).collect() }
    }
}

/// All Rust files below `crates` and `fuzz`.
pub(crate) fn read(root: &Path) -> Vec<Source> {
    let mut paths = Vec::new();
    ["crates", "fuzz"].iter().for_each(|folder| collect(&root.join(folder), &mut paths));
    paths.sort();
    let source = |path: PathBuf| {
        let text = fs::read_to_string(&path).ok()?;
        let path = path.strip_prefix(root).ok()?.to_string_lossy().replace('\\', "/");
        Some(Source { path, lines: text.lines().map(str::to_owned).collect() })
    };
    paths.into_iter().filter_map(source).collect()
}

fn collect(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            if !path.ends_with("target") {
                collect(&path, out);
            }
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

/// Words that must not stay in the code, written so that this file is not a finding.
const UNFINISHED: [&str; 4] = [
    concat!("todo", "!("),
    concat!("unimple", "mented!("),
    concat!("FIX", "ME"),
    concat!("#[ig", "nore"),
];

/// Maximum width of a comment, which the formatter does not wrap.
const COMMENT_COLUMNS_MAX: usize = 100;

/// Words that begin a relative clause without its noun: "How long a waiter sleeps" is "Time a
/// waiter sleeps".
const HEADLESS: [&str; 8] = ["What", "Where", "Which", "Why", "How", "Who", "Whose", "Whom"];

/// Findings: files without a purpose or with one line about it, unfinished code, comments that
/// begin without their subject, and comments wider than the code.
pub(crate) fn check(files: &[Source]) -> Vec<String> {
    let mut findings = Vec::new();
    for file in files {
        let first = file.lines.first().map_or("", String::as_str);
        if !first.starts_with("//!") && !first.starts_with("#![no_main]") {
            findings.push(format!("{}: does not begin with //! and what it is", file.path));
        }
        if first.starts_with("//!") && !file.lines.get(1).is_some_and(|l| l.starts_with("//!")) {
            findings.push(format!("{}: says in one line what it is: say its rules too", file.path));
        }
        // A format or a table in a comment is not prose and is not wrapped.
        let mut is_format = false;
        for (number, line) in file.lines.iter().enumerate() {
            is_format ^= is_fence(line);
            if let Some(word) = UNFINISHED.iter().find(|word| line.contains(**word)) {
                findings.push(format!("{}:{}: {word} is left over", file.path, number + 1));
            }
            let above = number.checked_sub(1).and_then(|above| file.lines.get(above));
            if let Some(word) = headless(line, above) {
                let place = format!("{}:{}", file.path, number + 1);
                findings.push(format!("{place}: a comment begins with '{word}', not its subject"));
            }
            if !is_format && has_comment(line) && line.chars().count() > COMMENT_COLUMNS_MAX {
                let most = COMMENT_COLUMNS_MAX;
                let place = format!("{}:{}", file.path, number + 1);
                findings.push(format!("{place}: a comment goes beyond {most} columns"));
            }
        }
    }
    findings
}

/// Whether a line is a comment whose sentence goes on in the next line.
fn goes_on(line: &str) -> bool {
    let text = comment(line).unwrap_or_default();
    !text.is_empty() && !text.ends_with('.')
}

/// The text of a line that is a comment and nothing else.
fn comment(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix("//").map(|text| text.trim_start_matches(['/', '!']).trim())
}

/// The word a sentence of a comment begins with in place of its subject.
fn headless(line: &str, above: Option<&String>) -> Option<&'static str> {
    let goes_on = above.is_some_and(|above| goes_on(above));
    let text = comment(line).filter(|_| !goes_on)?;
    let first = text.split(' ').next()?;
    HEADLESS.into_iter().find(|word| *word == first)
}

/// Whether a line starts or ends a preformatted block in a comment.
fn is_fence(line: &str) -> bool {
    let text = line.trim_start();
    text.starts_with("//") && text.trim_start_matches(['/', '!']).trim_start().starts_with("```")
}

/// Whether a line has a comment, alone or after code. A row of a table does not count: it cannot be
/// wrapped.
fn has_comment(line: &str) -> bool {
    let text = line.trim_start();
    let is_row = text.trim_start_matches(['/', '!']).trim_start().starts_with('|');
    text.starts_with("//") && !is_row || line.contains("; // ") || line.contains(", // ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(line: &str) -> usize {
        check(&[Source::of("a.rs", &format!("//! A file.\n//! No rules.\n\n{line}"))]).len()
    }

    #[test]
    fn comments_beyond_their_columns_are_found() {
        let wide = "\u{e4}".repeat(COMMENT_COLUMNS_MAX - 3);
        assert_eq!(findings(&format!("// {wide}")), 0);
        assert_eq!(findings(&format!("// {wide}.")), 1);
        assert_eq!(findings(&format!("f(); // {wide}")), 1);
        assert_eq!(findings(&format!("/// ```text\n/// {wide}\n/// ```\n/// {wide}")), 1);
        assert_eq!(findings(&format!("    \"{wide}\"")), 0);
    }

    #[test]
    fn comments_without_their_subject_are_found() {
        assert_eq!(findings("    /// How long a waiter sleeps."), 1);
        assert_eq!(findings("//! What it is."), 1);
        assert_eq!(findings("/// A time.\n/// Which of them sleeps."), 1);
        assert_eq!(findings("    /// Time that tells\n    /// How it is."), 0);
        assert_eq!(findings("let how = \"How\";"), 0);
    }

    #[test]
    fn files_without_a_purpose_and_unfinished_code_are_found() {
        assert_eq!(check(&[Source::of("a.rs", "fn f() {}")]).len(), 1);
        assert_eq!(check(&[Source::of("a.rs", "//! A file.\n\nfn f() {}")]).len(), 1);
        assert_eq!(findings(UNFINISHED[0]), 1);
    }
}
