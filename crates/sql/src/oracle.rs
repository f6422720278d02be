//! Stored programs in the language of `sql_mode=ORACLE`: recognised by how they begin.
//!
//! They are not parsed; what the grammar does not take of them is answered with error 1235 instead
//! of 1064, since it may well be no mistake.

use selkie_types::error::catalogue::ER_PARSE_ERROR;
use selkie_types::{SqlError, SqlMode};

use crate::lexer::{Kw, Lexer, Modes, T};

/// Words between CREATE and what is created: OR REPLACE, DEFINER = user@host, IF NOT EXISTS.
const MOST_WORDS_BEFORE: usize = 12;

/// The error for a statement, given the one that parsing it gave.
pub(crate) fn unsupported(text: &[u8], mode: SqlMode, error: SqlError) -> SqlError {
    if mode.contains(SqlMode::ORACLE)
        && error.code() == ER_PARSE_ERROR.code
        && is_program(text, mode)
    {
        return SqlError::not_supported("stored programs of sql_mode ORACLE");
    }
    error
}

fn is_program(text: &[u8], mode: SqlMode) -> bool {
    let mut lexer = Lexer::new(text, Modes::new(mode));
    match lexer.next().kind {
        T::ShiftLeft | T::Word(Kw::DECLARE | Kw::BEGIN | Kw::RAISE) => true,
        T::Word(Kw::CREATE) => (0..MOST_WORDS_BEFORE).any(|_| {
            matches!(
                lexer.next().kind,
                T::Word(Kw::PROCEDURE | Kw::FUNCTION | Kw::TRIGGER | Kw::PACKAGE)
            )
        }),
        _ => false,
    }
}
