//! Error 1064: which text it quotes and which line it names.

use selkie_types::error::catalogue::{ER_PARSE_ERROR, ER_SYNTAX_ERROR};
use selkie_types::{ErrorDef, SqlError, SqlMode};

use crate::lexer::{Lexer, Modes, T, Token};

/// The syntax error at a token.
#[cold]
pub(crate) fn syntax_error(text: &[u8], mode: SqlMode, token: Token) -> SqlError {
    error_at(&ER_SYNTAX_ERROR, text, mode, token)
}

/// Error 1064 with other words for what is wrong at a token.
#[cold]
pub(crate) fn error_at(wrong: &ErrorDef, text: &[u8], mode: SqlMode, token: Token) -> SqlError {
    // Compat: MariaDB's lexer restarts behind a comma, so that a misplaced one is not quoted.
    let at = if token.kind == T::Comma { token.end } else { token.start } as usize;
    let near = text.get(at..).unwrap_or_default();
    // More than the error shows; the catalogue cuts it.
    let near = String::from_utf8_lossy(&near[..near.len().min(400)]);
    let line = line_of(text, mode, token.start as usize);
    SqlError::new(&ER_PARSE_ERROR, &[&wrong.text, &near, &line])
}

/// Compat: line breaks inside of quoted texts do not count.
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
