//! KEYWORDS and SQL_FUNCTIONS: the words of the language, one a line in the data files.

use super::{InformationRow, text};

pub(super) fn keywords() -> Vec<InformationRow> {
    list(include_str!("../../data/keywords.txt"))
}

pub(super) fn sql_functions() -> Vec<InformationRow> {
    list(include_str!("../../data/sql_functions.txt"))
}

fn list(words: &str) -> Vec<InformationRow> {
    words.lines().map(|word| vec![text(word)]).collect()
}
