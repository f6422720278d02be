//! Checks answers of queries against reference answers, or else against another server's.
//!
//! Numbers are compared with a tolerance, because averages have more digits on some servers.

use std::fs;
use std::path::Path;

use crate::error::{Failure, Result};
use crate::wire::Answer;

/// Result of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Right,
    /// There is no reference to compare with.
    Unknown,
    /// The first difference.
    Wrong(String),
}

/// Compares with `qNN_sfSCALE.csv` in a folder. Fields are separated by `|`; the first line has
/// names.
pub(crate) fn check(folder: &Path, query: usize, scale: f64, answer: &Answer) -> Result<Verdict> {
    let path = folder.join(format!("q{query:02}_sf{scale}.csv"));
    let Ok(text) = fs::read_to_string(&path) else { return Ok(Verdict::Unknown) };
    let rows: Vec<Vec<Option<String>>> = text
        .lines()
        .skip(1)
        .map(|line| line.split('|').map(|field| Some(field.to_owned())).collect())
        .collect();
    if rows.is_empty() && answer.rows.is_empty() {
        return Err(Failure::said(format!("{}: no rows", path.display())));
    }
    Ok(same_rows(&rows, &answer.rows))
}

/// Compares row by row: numbers by value, texts without trailing spaces.
pub(crate) fn same_rows(
    expected: &[Vec<Option<String>>],
    found: &[Vec<Option<String>>],
) -> Verdict {
    if expected.len() != found.len() {
        return Verdict::Wrong(format!("{} rows instead of {}", found.len(), expected.len()));
    }
    for (at, (want, got)) in expected.iter().zip(found).enumerate() {
        let equal = want.len() == got.len() && want.iter().zip(got).all(|(a, b)| same(a, b));
        if !equal {
            return Verdict::Wrong(format!("row {}: {got:?} instead of {want:?}", at + 1));
        }
    }
    Verdict::Right
}

fn same(expected: &Option<String>, found: &Option<String>) -> bool {
    let text = |value: &Option<String>| value.as_deref().unwrap_or("").trim_end().to_owned();
    let (expected, found) = (text(expected), text(found));
    match (expected.parse::<f64>(), found.parse::<f64>()) {
        _ if expected == found => true,
        (Ok(a), Ok(b)) => {
            // Some servers give more digits in averages.
            let slack = if a.fract() == 0.0 { 0.0 } else { 0.01 };
            (a - b).abs() <= a.abs().max(b.abs()) * 1e-6 + slack
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Vec<Vec<Option<String>>> {
        vec![text.split('|').map(|field| Some(field.to_owned())).collect()]
    }

    #[test]
    fn numbers_are_compared_as_numbers() {
        assert_eq!(same_rows(&rows("A|1.50|x  "), &rows("A|1.5|x")), Verdict::Right);
        assert!(matches!(same_rows(&rows("12"), &rows("13")), Verdict::Wrong(_)));
        assert!(matches!(same_rows(&rows("a"), &[]), Verdict::Wrong(_)));
    }
}
