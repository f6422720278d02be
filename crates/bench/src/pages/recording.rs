//! The file of a recording: a line for each connection, then one for each command on it.
//!
//! A line is a word and its argument. Bytes that are no printable ASCII are escaped, so that a
//! recording is text that can be read, compared and changed by hand. Prepared statements are
//! numbered from 1 in each connection, whatever numbers the server gave them.

use std::fmt::Write as _;

use crate::error::{Failure, Result};

/// First line of a recording.
const TITLE: &str = "selkie recording 1";

/// A command on a connection.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Command {
    /// A statement sent as text.
    Query(Vec<u8>),
    /// Changes the database.
    Use(Vec<u8>),
    /// Asks whether the server is there.
    Ping,
    /// Prepares a statement.
    Prepare(Vec<u8>),
    /// Executes the prepared statement of a number; the bytes after the number in the packet.
    Execute(u32, Vec<u8>),
    /// A piece of a long parameter.
    LongData(u32, Vec<u8>),
    /// Drops long parameters of a prepared statement.
    Reset(u32),
    /// Closes a prepared statement.
    Close(u32),
    /// Resets the connection.
    ResetConnection,
}

impl Command {
    fn words(&self) -> (&'static str, Option<u32>, &[u8]) {
        match self {
            Self::Query(text) => ("query", None, text),
            Self::Use(name) => ("use", None, name),
            Self::Ping => ("ping", None, &[]),
            Self::Prepare(text) => ("prepare", None, text),
            Self::Execute(number, rest) => ("execute", Some(*number), rest),
            Self::LongData(number, rest) => ("long-data", Some(*number), rest),
            Self::Reset(number) => ("reset", Some(*number), &[]),
            Self::Close(number) => ("close", Some(*number), &[]),
            Self::ResetConnection => ("reset-connection", None, &[]),
        }
    }

    fn parse(word: &str, argument: &str) -> Option<Self> {
        let numbered = || {
            let (number, rest) = argument.split_once(' ').unwrap_or((argument, ""));
            Some((number.parse().ok()?, unescaped(rest)?))
        };
        Some(match word {
            "query" => Self::Query(unescaped(argument)?),
            "use" => Self::Use(unescaped(argument)?),
            "ping" => Self::Ping,
            "prepare" => Self::Prepare(unescaped(argument)?),
            "execute" => numbered().map(|(number, rest)| Self::Execute(number, rest))?,
            "long-data" => numbered().map(|(number, rest)| Self::LongData(number, rest))?,
            "reset" => Self::Reset(numbered()?.0),
            "close" => Self::Close(numbered()?.0),
            "reset-connection" => Self::ResetConnection,
            _ => return None,
        })
    }
}

/// All commands of one connection, from login to end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Page {
    /// Database named at login; empty without one.
    pub(crate) database: String,
    pub(crate) commands: Vec<Command>,
}

/// Appends a page to the text of a recording, which begins with a title.
pub(crate) fn print(page: &Page, text: &mut String) {
    if text.is_empty() {
        text.push_str(TITLE);
        text.push('\n');
    }
    line("connect", None, page.database.as_bytes(), text);
    for command in &page.commands {
        let (word, number, argument) = command.words();
        line(word, number, argument, text);
    }
}

fn line(word: &str, number: Option<u32>, argument: &[u8], text: &mut String) {
    text.push_str(word);
    if let Some(number) = number {
        let _ = write!(text, " {number}");
    }
    if !argument.is_empty() {
        text.push(' ');
        escape(argument, text);
    }
    text.push('\n');
}

/// Reads the pages of a recording; the error names the line.
pub(crate) fn parse(text: &str) -> Result<Vec<Page>> {
    let mut lines = text.lines().enumerate();
    if lines.next().map(|(_, title)| title) != Some(TITLE) {
        return Err(Failure::said(format!("the first line of a recording is '{TITLE}'")));
    }
    let mut pages: Vec<Page> = Vec::new();
    for (at, line) in lines {
        let wrong = || Failure::said(format!("line {} is not a command", at + 1));
        let (word, argument) = line.split_once(' ').unwrap_or((line, ""));
        if word == "connect" {
            let name = unescaped(argument).and_then(|name| String::from_utf8(name).ok());
            pages.push(Page { database: name.ok_or_else(wrong)?, commands: Vec::new() });
        } else if !line.is_empty() && !line.starts_with('#') {
            let command = Command::parse(word, argument).ok_or_else(wrong)?;
            pages.last_mut().ok_or_else(wrong)?.commands.push(command);
        }
    }
    Ok(pages)
}

fn escape(bytes: &[u8], text: &mut String) {
    for &b in bytes {
        match b {
            b'\\' => text.push_str("\\\\"),
            b'\n' => text.push_str("\\n"),
            b' '..=b'~' => text.push(char::from(b)),
            _ => {
                let _ = write!(text, "\\x{b:02x}");
            }
        }
    }
}

fn unescaped(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&b, after)) = rest.split_first() {
        rest = after;
        if b != b'\\' {
            out.push(b);
            continue;
        }
        let (&kind, after) = rest.split_first()?;
        rest = after;
        match kind {
            b'\\' => out.push(b'\\'),
            b'n' => out.push(b'\n'),
            b'x' => {
                let (digits, after) = rest.split_at_checked(2)?;
                out.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
                rest = after;
            }
            _ => return None,
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_recorded_is_read() {
        let commands = vec![
            Command::Query(b"SELECT 'a\\b\nc', '\xC3\xA9'".to_vec()),
            Command::Use(b"shop".to_vec()),
            Command::Ping,
            Command::Prepare(b"SELECT ?".to_vec()),
            Command::LongData(1, vec![0, 0, 32]),
            Command::Execute(1, (0..=255).collect()),
            Command::Reset(1),
            Command::Close(1),
            Command::ResetConnection,
        ];
        let pages = [
            Page { database: "shop".to_owned(), commands },
            Page { database: String::new(), commands: Vec::new() },
        ];
        let mut text = String::new();
        pages.iter().for_each(|page| print(page, &mut text));
        assert!(text.is_ascii());
        assert_eq!(parse(&text).unwrap(), pages);
    }

    #[test]
    fn wrong_lines_are_named() {
        let of = |lines: &str| parse(&format!("{TITLE}\n{lines}")).unwrap_err().to_string();
        assert_eq!(of("query SELECT 1"), "line 2 is not a command");
        assert_eq!(of("connect\nquery \\x4"), "line 3 is not a command");
        assert_eq!(of("connect\nexecute one"), "line 3 is not a command");
        assert!(parse("query SELECT 1").is_err());
        assert_eq!(parse(&format!("{TITLE}\n# a remark\n")).unwrap(), []);
    }
}
