//! Quotes names in shown definitions as the session's settings say.
//!
//! Must not parse: definitions are generated with backticks around every name, and only these are
//! replaced.

use selkie_types::SqlMode;

use crate::Session;

/// The definition with names in the session's quotes, or unquoted where no quotes are needed.
pub(super) fn requoted(session: &Session, definition: String) -> String {
    let settings = &session.frame.settings;
    let ansi = settings.expressions.sql_mode.contains(SqlMode::ANSI_QUOTES);
    if settings.show.quote_show_create && !ansi {
        return definition;
    }
    let quote = if ansi { '"' } else { '`' };
    let mut out = String::with_capacity(definition.len());
    let mut rest = definition.as_str();
    while let Some(at) = rest.find(['`', '\'']) {
        out.push_str(&rest[..at]);
        let (piece, after) = rest[at..].split_at(quoted_len(&rest[at..]));
        match piece.strip_prefix('`') {
            Some(name) => {
                let name = name.strip_suffix('`').unwrap_or(name).replace("``", "`");
                put_name(&mut out, &name, quote, settings.show.quote_show_create);
            }
            None => out.push_str(piece),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Length of the quoted text at the start. In a string, a backslash hides the next byte; a doubled
/// quote counts as two adjacent strings, which gives the same result.
fn quoted_len(text: &str) -> usize {
    let quote = text.as_bytes().first().copied().unwrap_or(b'`');
    let mut at = 1;
    while let Some(byte) = text.as_bytes().get(at) {
        match byte {
            b'\\' if quote == b'\'' => at += 1,
            b if *b == quote && quote == b'`' && text.as_bytes().get(at + 1) == Some(&quote) => {
                at += 1;
            }
            b if *b == quote => return at + 1,
            _ => {}
        }
        at += 1;
    }
    text.len()
}

fn put_name(out: &mut String, name: &str, quote: char, always: bool) {
    if !always && is_plain(name) {
        return out.push_str(name);
    }
    out.push(quote);
    for c in name.chars() {
        if c == quote {
            out.push(c);
        }
        out.push(c);
    }
    out.push(quote);
}

/// Whether a name needs no quotes.
fn is_plain(name: &str) -> bool {
    let of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$') || !c.is_ascii();
    !name.is_empty()
        && name.chars().all(of_name)
        && !name.bytes().all(|b| b.is_ascii_digit())
        && !selkie_sql::is_keyword(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_stay_as_they_are() {
        assert_eq!(quoted_len("`a``b` x"), 6);
        assert_eq!(quoted_len(r"'a\'b' x"), 6);
        let mut out = String::new();
        put_name(&mut out, "select", '`', false);
        put_name(&mut out, "t1", '`', false);
        put_name(&mut out, "a\"b", '"', true);
        assert_eq!(out, "`select`t1\"a\"\"b\"");
    }
}
