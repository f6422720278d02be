//! Ways of statements through the code, as `ARCHITECTURE.md` lists them. Each listed function must
//! exist and name the next one.
//!
//! A way is a section `## The way of ...` with a numbered list. An item is a file in backticks, a
//! colon, and its functions in backticks in the order of their calls. The last function of a file
//! calls the first one of the next item. The text of the section has the maximum number of files:
//! "at most N files".

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::sources::Source;

const MAP: &str = "ARCHITECTURE.md";
const HEADING: &str = "## The way of ";
/// Maximum number of times that a way returns to a file it has left.
const TURNS_MAX: usize = 2;

/// A function of a file.
type Step = (String, String);

/// Findings in all ways of the map.
pub(crate) fn check(root: &Path, files: &[Source]) -> Vec<String> {
    let text = fs::read_to_string(root.join(MAP)).unwrap_or_default();
    let ways: Vec<&str> = text.split(HEADING).skip(1).collect();
    if ways.is_empty() {
        return vec![format!("{MAP}: lists no way of a statement")];
    }
    ways.into_iter().flat_map(|way| check_way(way, files)).collect()
}

fn check_way(text: &str, files: &[Source]) -> Vec<String> {
    let text = text.split("\n## ").next().unwrap_or_default();
    let title = text.lines().next().unwrap_or_default();
    let items = items(text);
    let paths: Vec<&str> = items.iter().map(|(path, _)| path.as_str()).collect();
    let distinct: BTreeSet<&str> = paths.iter().copied().collect();
    let mut findings = Vec::new();
    match most_files(text) {
        Some(most) if distinct.len() > most => {
            findings.push(format!("{title}: {} files, at most {most} allowed", distinct.len()));
        }
        Some(_) => {}
        None => findings.push(format!("{title}: does not say \"at most N files\"")),
    }
    let turns = paths.len() - distinct.len();
    if turns > TURNS_MAX {
        findings.push(format!("{title}: comes back to a file {turns} times"));
    }
    let steps: Vec<Step> = items
        .into_iter()
        .flat_map(|(path, names)| names.into_iter().map(move |name| (path.clone(), name)))
        .collect();
    if steps.len() < 2 {
        findings.push(format!("{title}: lists no functions"));
    }
    let missing = steps.iter().filter(|step| bodies(files, step).is_empty());
    findings.extend(missing.map(|(path, name)| format!("{title}: no function {name} in {path}")));
    for pair in steps.windows(2) {
        let [here, next] = pair else { continue };
        let bodies = bodies(files, here);
        let calls = bodies.iter().any(|body| body.iter().any(|line| names(line, &next.1)));
        if !bodies.is_empty() && !calls {
            findings.push(format!("{title}: {} in {} does not name {}", here.1, here.0, next.1));
        }
    }
    findings
}

/// The files of a way, each with its functions.
fn items(text: &str) -> Vec<(String, Vec<String>)> {
    let is_item = |line: &str| line.starts_with(|c: char| c.is_ascii_digit());
    let mut items: Vec<String> = Vec::new();
    for line in text.lines().skip(1) {
        match items.last_mut() {
            _ if is_item(line) => items.push(line.to_owned()),
            Some(item) if line.starts_with(' ') => item.push_str(line),
            _ => {}
        }
    }
    let split = |item: String| {
        let mut words = item.split('`').skip(1).step_by(2).map(str::to_owned);
        Some((words.next()?, words.collect()))
    };
    items.into_iter().filter_map(split).collect()
}

fn most_files(text: &str) -> Option<usize> {
    let rest = text.split("at most ").nth(1)?;
    rest.split(' ').next()?.parse().ok()
}

/// The lines of each function with a name in a file. The formatter's indentation tells where one
/// ends.
fn bodies<'f>(files: &'f [Source], (path, name): &Step) -> Vec<&'f [String]> {
    let Some(file) = files.iter().find(|file| file.path == *path) else { return Vec::new() };
    let declares = |line: &String| {
        let rest = line.split("fn ").nth(1).unwrap_or_default();
        rest.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with(['(', '<']))
    };
    let body = |start: usize| {
        let lines = &file.lines[start..];
        let indent = lines[0].len() - lines[0].trim_start().len();
        let end = lines.iter().position(|l| l.trim() == "}" && l.len() == indent + 1)?;
        Some(&lines[1..end])
    };
    let starts = file.lines.iter().enumerate().filter(|(_, line)| declares(line));
    starts.filter_map(|(start, _)| body(start)).collect()
}

/// Whether a line contains a name as a whole word.
fn names(line: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(name).any(|(at, _)| {
        !line[..at].ends_with(is_part) && !line[at + name.len()..].starts_with(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.into(), lines: text.lines().map(str::to_owned).collect() }
    }

    const WAY: &str = "a test\n\nat most 2 files\n\n1. `a.rs`: `one`, `two`\n2. `b.rs`: `three`\n";

    fn files(a: &str) -> Vec<Source> {
        vec![source("a.rs", a), source("b.rs", "fn three() {\n}\n")]
    }

    #[test]
    fn a_way_that_is_so_passes() {
        let files = files("fn one() {\n    two()\n}\nfn two() {\n    three()\n}\n");
        assert_eq!(check_way(WAY, &files), [""; 0]);
    }

    #[test]
    fn a_call_that_is_gone_is_found() {
        let files = files("fn one() {\n    two()\n}\nfn two() {\n    threes()\n}\n");
        assert_eq!(check_way(WAY, &files), ["a test: two in a.rs does not name three"]);
    }

    #[test]
    fn a_function_that_is_gone_is_found() {
        let files = files("fn one() {\n    two()\n}\n");
        assert_eq!(check_way(WAY, &files), ["a test: no function two in a.rs"]);
    }

    #[test]
    fn too_many_files_are_found() {
        let files = files("fn one() {\n    two()\n}\nfn two() {\n    three()\n}\n");
        let way = WAY.replace("at most 2", "at most 1");
        assert_eq!(check_way(&way, &files), ["a test: 2 files, at most 1 allowed"]);
    }
}
