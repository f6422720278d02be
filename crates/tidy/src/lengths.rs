//! Lengths of files and functions, as a ratchet.
//!
//! Over the limits a file or function must be listed in `ratchet.txt` with a length it may not
//! exceed. The list is meant to shrink.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::sources::Source;

const FILE_LINES_MAX: usize = 800;
const FUNCTION_LINES_MAX: usize = 70;
const RATCHET: &str = "crates/tidy/ratchet.txt";

/// Compares lengths with the limits and the ratchet; `update` writes the ratchet anew instead.
pub(crate) fn check(root: &Path, files: &[Source], update: bool) -> Vec<String> {
    let long = measure(files);
    let path = root.join(RATCHET);
    if update {
        let text: String = long.iter().map(|(what, lines)| format!("{lines} {what}\n")).collect();
        return fs::write(&path, text).err().map(|e| e.to_string()).into_iter().collect();
    }
    let allowed = read_ratchet(&fs::read_to_string(&path).unwrap_or_default());
    long.iter()
        .filter(|(what, lines)| allowed.get(*what).is_none_or(|most| *lines > most))
        .map(|(what, lines)| format!("{what}: {lines} lines, over the limit"))
        .collect()
}

fn read_ratchet(text: &str) -> BTreeMap<String, usize> {
    let entry = |line: &str| {
        let (lines, what) = line.split_once(' ')?;
        Some((what.to_owned(), lines.parse().ok()?))
    };
    text.lines().filter_map(entry).collect()
}

/// Everything over its limit.
fn measure(files: &[Source]) -> BTreeMap<String, usize> {
    let mut long = BTreeMap::new();
    for file in files.iter().filter(|file| !file.is_test()) {
        let lines = &file.lines[..production_lines(&file.lines)];
        if lines.len() > FILE_LINES_MAX {
            long.insert(file.path.clone(), lines.len());
        }
        for (name, length) in functions(lines) {
            if length > FUNCTION_LINES_MAX {
                let entry = long.entry(format!("{}:{name}", file.path)).or_insert(0);
                *entry = length.max(*entry);
            }
        }
    }
    long
}

/// Lines before an inline test module.
fn production_lines(lines: &[String]) -> usize {
    lines.iter().position(|line| line == "#[cfg(test)]").unwrap_or(lines.len())
}

/// Name and length of each function, found by the formatter's indentation.
fn functions(lines: &[String]) -> Vec<(String, usize)> {
    let mut out = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let Some(name) = function_name(line) else { continue };
        let indent = line.len() - line.trim_start().len();
        let body = &lines[start + 1..];
        let ends = |l: &String| !l.trim().is_empty() && l.len() - l.trim_start().len() == indent;
        let one_line = line.trim_end().ends_with(['}', ';']);
        if let (false, Some(length)) = (one_line, function_end(body, ends)) {
            out.push((name, length + 2));
        }
    }
    out
}

/// Lines of `body` before the closing brace; none if what began is only a declaration.
fn function_end(body: &[String], at_indent: impl Fn(&String) -> bool) -> Option<usize> {
    let mut borders = body.iter().enumerate().filter(|(_, line)| at_indent(line));
    borders
        .find(|(_, line)| line.trim() == "}" || line.trim_end().ends_with(';'))
        .and_then(|(at, line)| (line.trim() == "}").then_some(at))
}

fn function_name(line: &str) -> Option<String> {
    let rest = line.trim_start();
    let at = rest.find("fn ")?;
    let before = rest[..at].trim_end();
    let qualifiers = ["pub", "const", "unsafe", "extern", "\"C\"", "async"];
    let plain = before.split_whitespace().all(|w| w.starts_with("pub") || qualifiers.contains(&w));
    if !plain {
        return None;
    }
    let name: String =
        rest[at + 3..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!name.is_empty()).then_some(name)
}
