//! Stored programs in the language of `sql_mode=ORACLE`, recognised by their first words.
//!
//! They are not supported. A text of this kind that does not parse gives error 1235 instead of
//! 1064, since it may well be correct in that language.

use selkie_types::error::catalogue::ER_PARSE_ERROR;
use selkie_types::{SqlError, SqlMode};

use crate::lexer::{Kw, Lexer, Modes, T};

/// Most words between CREATE and the object: OR REPLACE, DEFINER = user@host, IF NOT EXISTS.
const MOST_WORDS_BEFORE: usize = 12;

/// The error to report for a statement whose parsing failed with `error`.
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
