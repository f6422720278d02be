//! Reading option files: groups, quotes, escapes, `!include` and `!includedir`.
//!
//! Must not interpret options.

use std::path::{Path, PathBuf};

/// Groups whose options the server takes.
pub const GROUPS: &[&str] = &[
    "mysqld",
    "server",
    "mysqld-10.11",
    "mariadb",
    "mariadb-10.11",
    "mariadbd",
    "mariadbd-10.11",
    "selkie",
];

/// Deepest nesting of included files.
const MAX_DEPTH: usize = 10;

/// Appends the options of `path` in the form `--name=value`.
pub(super) fn read(path: &Path, out: &mut Vec<String>) -> Result<(), String> {
    read_nested(path, out, 0)
}

fn read_nested(path: &Path, out: &mut Vec<String>, depth: usize) -> Result<(), String> {
    let bytes = std::fs::read(path)
        .map_err(|e| format!("Could not open required defaults file: {} ({e})", path.display()))?;
    let text = String::from_utf8_lossy(&bytes);
    let mut wanted = false;
    let mut in_group = false;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(directive) = line.strip_prefix('!') {
            include(directive, path, out, depth)?;
        } else if let Some(rest) = line.strip_prefix('[') {
            let end = rest.find(']').ok_or_else(|| {
                format!(
                    "Wrong group definition in config file {} at line {}",
                    path.display(),
                    number + 1
                )
            })?;
            in_group = true;
            wanted = GROUPS.contains(&rest[..end].trim());
        } else if !in_group {
            return Err(format!(
                "Found option without preceding group in config file {} at line {}",
                path.display(),
                number + 1
            ));
        } else if wanted {
            out.push(option_line(line));
        }
    }
    Ok(())
}

fn include(
    directive: &str,
    from: &Path,
    out: &mut Vec<String>,
    depth: usize,
) -> Result<(), String> {
    if depth >= MAX_DEPTH {
        return Ok(());
    }
    if let Some(dir) = argument(directive, "includedir") {
        for path in directory_files(&resolve(dir, from)) {
            read_nested(&path, out, depth + 1)?;
        }
        return Ok(());
    }
    match argument(directive, "include") {
        Some(file) => read_nested(&resolve(file, from), out, depth + 1),
        None => Err(format!("Wrong '!{directive}' directive in config file {}", from.display())),
    }
}

fn argument<'a>(directive: &'a str, word: &str) -> Option<&'a str> {
    let rest = directive.strip_prefix(word)?;
    rest.starts_with([' ', '\t']).then(|| rest.trim())
}

fn resolve(name: &str, from: &Path) -> PathBuf {
    from.parent().unwrap_or(Path::new("")).join(name)
}

fn directory_files(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten().map(|e| e.path());
    let mut files: Vec<PathBuf> =
        entries.filter(|p| p.extension().is_some_and(|e| e == "cnf" || e == "ini")).collect();
    files.sort();
    files
}

fn option_line(line: &str) -> String {
    match line.split_once('=') {
        None => format!("--{}", strip_comment(line).trim_end()),
        Some((name, value)) => format!("--{}={}", name.trim_end(), unquote(value.trim_start())),
    }
}

fn strip_comment(text: &str) -> &str {
    text.split('#').next().unwrap_or_default()
}

/// A value without its quotes, its trailing comment and its escapes.
fn unquote(text: &str) -> String {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'));
    let inner = quote.and_then(|q| {
        let end = closing_quote(text, q)?;
        Some(&text[1..end])
    });
    unescape(inner.unwrap_or_else(|| strip_comment(text).trim_end()))
}

fn closing_quote(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return Some(at),
            _ => {}
        }
    }
    None
}

fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('b') => out.push('\u{8}'),
            Some('s') => out.push(' '),
            Some(c @ ('"' | '\'' | '\\')) => out.push(c),
            Some(c) => out.extend(['\\', c]),
            None => out.push('\\'),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn temp(name: &str, text: &str) -> PathBuf {
        let dir = std::env::temp_dir().join(format!("selkie-options-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let path = dir.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    #[test]
    fn groups_quotes_and_comments() {
        let path = temp(
            "a.cnf",
            "# c\n[client]\nport=1\n[mysqld]\n port = 3307 # x\nskip-name-resolve\n\
             init_connect='SET NAMES \"x\" # no'\n[selkie]\nsocket=/a\\sb\n",
        );
        let mut out = Vec::new();
        read(&path, &mut out).unwrap();
        assert_eq!(
            out,
            [
                "--port=3307",
                "--skip-name-resolve",
                "--init_connect=SET NAMES \"x\" # no",
                "--socket=/a b"
            ]
        );
    }

    #[test]
    fn includes() {
        let inner = temp("inner.cnf", "[server]\nback_log=5\n");
        let path = temp("b.cnf", &format!("!include {}\n[mysqld]\nport=1\n", inner.display()));
        let mut out = Vec::new();
        read(&path, &mut out).unwrap();
        assert_eq!(out, ["--back_log=5", "--port=1"]);
    }

    #[test]
    fn mistakes() {
        assert!(read(&temp("c.cnf", "port=1\n"), &mut Vec::new()).is_err());
        assert!(read(&temp("d.cnf", "[mysqld\n"), &mut Vec::new()).is_err());
        assert!(read(Path::new("/nonexistent/x.cnf"), &mut Vec::new()).is_err());
    }
}
