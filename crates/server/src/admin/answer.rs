//! Answers of administrative statements: a mark of success, or a small result set.
//!
//! Must not be sent from here: the executor's session sends them.

use selkie_types::{CollationId, Condition, SqlType, TypeKind, Value};

/// Notes and warnings of a statement.
pub(crate) type Notes = Vec<Condition>;

/// The answer to a statement.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// An OK packet.
    Done,
    /// A result set.
    Rows {
        /// Names and types of the columns.
        columns: Vec<(String, SqlType)>,
        /// The rows.
        rows: Vec<Vec<Value>>,
    },
}

/// A string type of at most so many characters.
pub(crate) fn text(characters: u32) -> SqlType {
    SqlType::varchar(characters, CollationId::UTF8MB3_GENERAL_CI)
}

/// A string type without a limit.
pub(super) fn long_text() -> SqlType {
    let mut ty = SqlType::new(TypeKind::LongText, u32::MAX, 0);
    ty.collation = CollationId::UTF8MB3_GENERAL_CI;
    ty
}

/// A result set of strings.
pub(super) fn text_rows(columns: &[(&str, u32)], rows: Vec<Vec<String>>) -> Answer {
    let columns = columns.iter().map(|(n, width)| ((*n).to_owned(), text(*width))).collect();
    let rows = rows.into_iter().map(|r| r.into_iter().map(Value::bytes).collect()).collect();
    Answer::Rows { columns, rows }
}

/// A result set without rows.
pub(super) fn no_rows(columns: &[&str]) -> Answer {
    let columns: Vec<(&str, u32)> = columns.iter().map(|n| (*n, 64)).collect();
    text_rows(&columns, Vec::new())
}
