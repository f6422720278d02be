//! Quotes names in shown definitions as the session's settings say, and tells functions apart that
//! the session's mode would read as others.
//!
//! Must not parse: definitions are generated with backticks around every name, and only these are
//! replaced.

use selkie_types::SqlMode;

use crate::Session;

/// Functions whose names mean others in the mode of Oracle. Compat: TRIM and its kin are shown
/// unchanged.
const OTHER_MEANING: &[&str] =
    &["concat", "decode", "lpad", "regexp_replace", "replace", "rpad", "substr"];

/// The definition with names in the session's quotes, or unquoted where no quotes are needed.
pub(super) fn requoted(session: &Session, definition: String) -> String {
    let settings = &session.frame.settings;
    let ansi = settings.expressions.sql_mode.contains(SqlMode::ANSI_QUOTES);
    let is_oracle = settings.expressions.sql_mode.contains(SqlMode::ORACLE);
    if settings.show.quote_show_create && !ansi && !is_oracle {
        return definition;
    }
    let quote = if ansi { '"' } else { '`' };
    let mut out = String::with_capacity(definition.len());
    let mut rest = definition.as_str();
    while let Some(at) = rest.find(['`', '\'']) {
        put_plain(&mut out, &rest[..at], is_oracle);
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
    put_plain(&mut out, rest, is_oracle);
    out
}

/// Adds text without names and strings.
fn put_plain(out: &mut String, text: &str, is_oracle: bool) {
    let mut rest = text;
    while let Some(at) = rest.find('(').filter(|_| is_oracle) {
        let before = &rest[..at];
        let of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
        let start = before.trim_end_matches(of_name).len();
        out.push_str(&before[..start]);
        if OTHER_MEANING.contains(&&before[start..]) {
            out.push_str("mariadb_schema.");
        }
        out.push_str(&before[start..]);
        out.push('(');
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
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
    fn functions_of_another_mode_get_a_schema() {
        let text = "(concat(substr_oracle(trim(x),oracle_schema.substr(a)),replace (b)) lpad(";
        let mut out = String::new();
        put_plain(&mut out, text, false);
        assert_eq!(out, text);
        out.clear();
        put_plain(&mut out, text, true);
        let shown = "(mariadb_schema.concat(substr_oracle(trim(x),oracle_schema.substr(a)),\
                     replace (b)) mariadb_schema.lpad(";
        assert_eq!(out, shown);
    }

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
