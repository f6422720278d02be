//! Lengths of files and functions, without the tests at a file's end.
//!
//! Relies on the formatter: a function ends at a closing brace with the indentation of its start.

use crate::ratchet::Excess;
use crate::sources::Source;

const FILE_LINES_MAX: usize = 800;
const FUNCTION_LINES_MAX: usize = 70;

/// Every file and function over its limit.
pub(crate) fn measure(files: &[Source]) -> Vec<Excess> {
    let mut long = Vec::new();
    for file in files.iter().filter(|file| !file.is_test()) {
        let lines = file.production_lines();
        let mut add = |what: String, size, most| {
            if size > most {
                long.push(Excess { unit: "lines", what, size });
            }
        };
        add(file.path.clone(), lines.len(), FILE_LINES_MAX);
        for (name, length) in functions(lines) {
            add(format!("{}:{name}", file.path), length, FUNCTION_LINES_MAX);
        }
    }
    long
}

/// Name and length of each function, found by the indentation.
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

/// Lines of `body` before the closing brace; `None` for a declaration without a body.
fn function_end(body: &[String], at_indent: impl Fn(&String) -> bool) -> Option<usize> {
    let mut borders = body.iter().enumerate().filter(|(_, line)| at_indent(line));
    borders
        .find(|(_, line)| line.trim() == "}" || line.trim_end().ends_with(';'))
        .and_then(|(at, line)| (line.trim() == "}").then_some(at))
}

/// The name of the function that starts in a line.
pub(crate) fn function_name(line: &str) -> Option<String> {
    let rest = line.trim_start();
    let at = rest.find("fn ")?;
    let before = rest[..at].trim_end();
    let qualifiers = ["const", "unsafe", "extern", "\"C\"", "async"];
    let plain = before.split_whitespace().all(|w| w.starts_with("pub") || qualifiers.contains(&w));
    if !plain {
        return None;
    }
    let name: String =
        rest[at + 3..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_files_and_functions_are_found() {
        let body = "    let a = 1;\n".repeat(FUNCTION_LINES_MAX - 1);
        let long = format!("pub(crate) fn long(\n    a: u8,\n) {{\n{body}}}\n");
        let declared = "trait T {\n    fn declared(\n        a: u8,\n    );\n}\n";
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}", "//\n".repeat(FILE_LINES_MAX));
        let found = measure(&[Source::of("a.rs", &format!("{long}{declared}{tests}"))]);
        let sizes: Vec<_> = found.iter().map(|e| (e.what.as_str(), e.size)).collect();
        assert_eq!(sizes, [("a.rs:long", FUNCTION_LINES_MAX + 3)]);
        let found = measure(&[Source::of("b.rs", &"//\n".repeat(FILE_LINES_MAX + 1))]);
        assert_eq!((found[0].what.as_str(), found[0].size), ("b.rs", FILE_LINES_MAX + 1));
        let test = Source::of("crates/a/tests/b.rs", &"//\n".repeat(FILE_LINES_MAX + 1));
        assert!(test.is_test() && measure(&[test]).is_empty());
    }
}
