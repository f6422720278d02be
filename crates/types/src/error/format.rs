//! Replaces the directives of a catalogue text by arguments, by position.
//!
//! Must only know the directives of the catalogue; it is no general printf.

use std::fmt::{Display, Write};

/// A parsed directive: `%`, flags, precision, conversion.
struct Directive {
    backquote: bool,
    precision: Option<usize>,
    conversion: u8,
    len: usize,
}

/// `text` with every directive replaced by the next argument; missing arguments are empty.
pub(super) fn expand(text: &str, args: &[&dyn Display]) -> String {
    let mut out = String::with_capacity(text.len() + 32);
    let mut args = args.iter();
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'%', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let d = parse(rest.as_bytes());
        if d.conversion == b'%' {
            out.push('%');
        } else if let Some(arg) = args.next() {
            write_arg(&mut out, &d, *arg);
        }
        rest = &rest[d.len..];
    }
    out.push_str(rest);
    out
}

fn parse(text: &[u8]) -> Directive {
    let mut d = Directive { backquote: false, precision: None, conversion: b'%', len: 1 };
    let mut in_precision = false;
    for &b in &text[1..] {
        d.len += 1;
        match b {
            b'`' => d.backquote = true,
            b'.' => {
                in_precision = true;
                d.precision = Some(0);
            }
            b'0'..=b'9' if in_precision => {
                d.precision = d.precision.map(|p| p * 10 + usize::from(b - b'0'));
            }
            b'-' | b'l' | b'0'..=b'9' => {}
            _ => {
                d.conversion = b;
                break;
            }
        }
    }
    d
}

fn write_arg(out: &mut String, d: &Directive, arg: &dyn Display) {
    match d.conversion {
        b's' if d.backquote => {
            let name = cut(arg.to_string(), d.precision);
            let _ = write!(out, "`{}`", name.replace('`', "``"));
        }
        b's' => out.push_str(&cut(arg.to_string(), d.precision)),
        b'T' => out.push_str(&cut_with_dots(arg.to_string(), d.precision)),
        b'M' => write_system_error(out, &arg.to_string()),
        _ => {
            let _ = write!(out, "{arg}");
        }
    }
}

/// Cuts to the precision. Compat: a precision counts bytes, and characters stay whole.
fn cut(mut s: String, precision: Option<usize>) -> String {
    if let Some(p) = precision.filter(|&p| s.len() > p) {
        s.truncate(s.floor_char_boundary(p));
    }
    s
}

/// `%T`: three dots, which count, mark a text that was cut.
fn cut_with_dots(s: String, precision: Option<usize>) -> String {
    match precision {
        Some(p) if p >= 3 && s.len() > p => cut(s, Some(p - 3)) + "...",
        _ => s,
    }
}

/// `%M`: an errno with its quoted text; an argument that is no number is printed unchanged.
fn write_system_error(out: &mut String, arg: &str) {
    let Ok(errno) = arg.parse::<i32>() else {
        out.push_str(arg);
        return;
    };
    let text = handler_error(errno).map_or_else(|| system_text(errno), str::to_owned);
    let _ = write!(out, "{errno} \"{text}\"");
}

fn system_text(errno: i32) -> String {
    let text = std::io::Error::from_raw_os_error(errno).to_string();
    let end = text.rfind(" (os error").unwrap_or(text.len());
    text[..end].to_owned()
}

/// Texts of the engine error numbers that reach clients.
fn handler_error(errno: i32) -> Option<&'static str> {
    Some(match errno {
        0 => "Internal error/check (Not system error)",
        120 => "Didn't find the key on read or update",
        121 => "Duplicate key on write or update",
        122 => "Internal (unspecified) error in handler",
        124 => "Wrong index given to a function",
        126 => "Index is corrupted",
        127 => "Record file is crashed",
        128 => "Out of memory in engine",
        130 => "Incorrect file format",
        131 => "Command not supported by the engine",
        135 => "No more room in record file",
        136 => "No more room in index file",
        139 => "Too big row",
        140 => "Wrong create options",
        141 => "Duplicate unique key or constraint on write or update",
        144 => "Table is crashed and last repair failed",
        145 => "Table was marked as crashed and should be repaired",
        146 => "Lock timed out; Retry transaction",
        149 => "Lock deadlock; Retry transaction",
        150 => "Foreign key constraint is incorrectly formed",
        151 => "Cannot add a child row",
        152 => "Cannot delete a parent row",
        155 => "The table does not exist in the storage engine",
        165 => "Table is read only",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::expand;

    #[test]
    fn positional_arguments() {
        assert_eq!(expand("a %s b %d c %lu", &[&"x", &1, &2u64]), "a x b 1 c 2");
        assert_eq!(expand("100%% of %s", &[&"it"]), "100% of it");
        assert_eq!(expand("%`s.%`s", &[&"a`b", &"c"]), "`a``b`.`c`");
    }

    #[test]
    fn truncation_counts_bytes() {
        assert_eq!(expand("'%-.5s'", &[&"äöüß"]), "'äö'");
        assert_eq!(expand("'%-.6T'", &[&"1234567"]), "'123...'");
        assert_eq!(expand("'%-.6T'", &[&"123456"]), "'123456'");
    }

    #[test]
    fn system_errors() {
        assert_eq!(expand("(errno: %M)", &[&13]), "(errno: 13 \"Permission denied\")");
        assert_eq!(expand("%M", &[&150]), "150 \"Foreign key constraint is incorrectly formed\"");
    }
}
