//! Classes of statements: those that differ only in their literals.
//!
//! Only for reports. Must not decide what is sent.

use std::collections::BTreeMap;

use super::recording::{Command, Page};

/// Statements of one form, in the order of the recording.
#[derive(Debug)]
pub(crate) struct Class {
    /// Their text with `?` in the place of literals.
    pub(crate) digest: String,
    pub(crate) database: String,
    /// The text to prepare; none for statements sent as text.
    pub(crate) prepare: Option<Vec<u8>>,
    /// Number of these statements in the recording.
    pub(crate) count: usize,
    /// Different statements to send; executions have the number 1.
    pub(crate) commands: Vec<Command>,
}

/// The classes of a recording, in the order of their first statements.
pub(crate) fn classes(pages: &[Page]) -> Vec<Class> {
    let mut classes: Vec<Class> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for page in pages {
        let mut prepared: Vec<&Vec<u8>> = Vec::new();
        for command in &page.commands {
            let (text, prepare, command) = match command {
                Command::Query(text) => (text, None, command.clone()),
                Command::Prepare(text) => {
                    prepared.push(text);
                    continue;
                }
                Command::Execute(number, rest) => {
                    let Some(text) = prepared.get(*number as usize - 1) else { continue };
                    (*text, Some((*text).clone()), Command::Execute(1, rest.clone()))
                }
                _ => continue,
            };
            let kind = if prepare.is_some() { "execute: " } else { "" };
            let digest = format!("{kind}{}", digest(&String::from_utf8_lossy(text)));
            let place = *places.entry(digest.clone()).or_insert_with(|| {
                let database = page.database.clone();
                classes.push(Class { digest, database, prepare, count: 0, commands: Vec::new() });
                classes.len() - 1
            });
            let class = &mut classes[place];
            class.count += 1;
            if !class.commands.contains(&command) {
                class.commands.push(command);
            }
        }
    }
    classes
}

/// A text with `?` in the place of numbers and strings, and lists of them as one.
fn digest(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut in_word = false;
    while let Some(c) = chars.next() {
        match c {
            '\'' | '"' => {
                while let Some(inner) = chars.next() {
                    match inner {
                        '\\' => drop(chars.next()),
                        _ if inner == c && chars.peek() == Some(&c) => drop(chars.next()),
                        _ if inner == c => break,
                        _ => {}
                    }
                }
                out.push('?');
            }
            '0'..='9' if !in_word => {
                while chars.peek().is_some_and(|d| d.is_ascii_alphanumeric() || *d == '.') {
                    chars.next();
                }
                out.push('?');
            }
            c if c.is_whitespace() => {
                if !out.ends_with(' ') {
                    out.push(' ');
                }
            }
            c => out.push(c),
        }
        in_word = c.is_alphanumeric() || matches!(c, '_' | '$' | '@' | '`');
    }
    for (list, one) in [("?, ?", "?"), ("?,?", "?"), ("(?), (?)", "(?)"), ("(?),(?)", "(?)")] {
        while out.contains(list) {
            out = out.replace(list, one);
        }
    }
    out.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_left_out() {
        let of = |text: &str| digest(text);
        assert_eq!(
            of("SELECT a1 FROM t2\n WHERE k='it''s' AND n = 5.5"),
            "SELECT a1 FROM t2 WHERE k=? AND n = ?"
        );
        assert_eq!(
            of("INSERT INTO t VALUES (1,'a'), (2,'b\\''),(3, \"c\")"),
            "INSERT INTO t VALUES (?)"
        );
        assert_eq!(of("SELECT x FROM t WHERE id IN (1,2, 3)"), "SELECT x FROM t WHERE id IN (?)");
    }

    #[test]
    fn classes_count_their_statements() {
        let query = |text: &str| Command::Query(text.as_bytes().to_vec());
        let commands = vec![
            query("SELECT 1"),
            Command::Prepare(b"SELECT ?".to_vec()),
            query("SELECT 2"),
            query("SELECT 1"),
            Command::Execute(1, vec![0; 5]),
            Command::Execute(7, vec![0; 5]),
        ];
        let found = classes(&[Page { database: String::new(), commands }]);
        let counts: Vec<_> =
            found.iter().map(|c| (c.digest.as_str(), c.count, c.commands.len())).collect();
        assert_eq!(counts, [("SELECT ?", 3, 2), ("execute: SELECT ?", 1, 1)]);
    }
}
