//! Error 1064: the text it quotes and the line it names.
//! Compat: both follow MariaDB's lexer, oddities included, because clients show and compare them.

use selkie_types::error::catalogue::{ER_PARSE_ERROR, ER_SYNTAX_ERROR};
use selkie_types::{ErrorDef, SqlError, SqlMode};

use crate::lexer::{Kw, Lexer, Modes, T, Token};

/// The syntax error at a token.
#[cold]
pub(crate) fn syntax_error(text: &[u8], mode: SqlMode, token: Token) -> SqlError {
    error_at(&ER_SYNTAX_ERROR, text, mode, token)
}

/// The syntax error at the first token, with the line of the second.
#[cold]
pub(crate) fn error_before(text: &[u8], mode: SqlMode, (token, next): (Token, Token)) -> SqlError {
    let line = line_of(text, mode, next.start as usize);
    error_in_line(&ER_SYNTAX_ERROR, (text, quoted_from(text, mode, token)), line)
}

/// An error of the form of 1064, with definition `wrong` for the message, at a token.
#[cold]
pub(crate) fn error_at(wrong: &ErrorDef, text: &[u8], mode: SqlMode, token: Token) -> SqlError {
    let line = line_of(text, mode, token.start as usize);
    error_in_line(wrong, (text, quoted_from(text, mode, token)), line)
}

/// The error that quotes the text from an offset.
fn error_in_line(wrong: &ErrorDef, (text, from): (&[u8], u32), line: usize) -> SqlError {
    let at = from as usize;
    let near = text.get(at..).unwrap_or_default();
    // 400 bytes are more than the message shows; the catalogue cuts the rest.
    let near = String::from_utf8_lossy(&near[..near.len().min(400)]);
    SqlError::new(&ER_PARSE_ERROR, &[&wrong.text, &near, &line])
}

/// Begin of the quoted text. Compat: MariaDB's lexer restarts after a comma, so the message does
/// not quote a misplaced one; nor does it quote a WITH that it reads as one word with the next.
fn quoted_from(text: &[u8], mode: SqlMode, token: Token) -> u32 {
    match token.kind {
        T::Comma => token.end,
        T::Word(Kw::WITH) => {
            let rest = text.get(token.end as usize..).unwrap_or_default();
            let next = Lexer::new(rest, Modes::new(mode)).next();
            match next.kind {
                T::Word(Kw::CUBE | Kw::ROLLUP | Kw::SYSTEM) => token.end + next.start,
                _ => token.start,
            }
        }
        _ => token.start,
    }
}

/// Line number of offset `at`. Compat: line breaks inside quoted texts do not count.
fn line_of(text: &[u8], mode: SqlMode, at: usize) -> usize {
    let mut lexer = Lexer::new(text, Modes::new(mode));
    let mut line = 1;
    let mut gap = 0;
    loop {
        let token = lexer.next();
        let start = (token.start as usize).min(at);
        line += text[gap..start.max(gap)].iter().filter(|&&b| b == b'\n').count();
        if token.kind == T::Eof || token.start as usize >= at {
            return line;
        }
        gap = token.end as usize;
    }
}
