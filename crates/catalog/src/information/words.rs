//! KEYWORDS and SQL_FUNCTIONS: lists of words, one on each line of the data files. The parser does
//! not use these lists.

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
