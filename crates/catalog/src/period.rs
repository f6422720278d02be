//! Application-time periods: two columns of a table that together say for what time a row is true.
//!
//! A period implies that its columns are NOT NULL and that each row's start is before its end.

use std::borrow::Cow;

use selkie_types::charset::identifier_eq;
use serde::{Deserialize, Serialize};

use crate::{CheckInfo, TableInfo, quote_identifier};

/// `PERIOD FOR name (start, end)`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Period {
    /// Its name.
    pub name: Box<str>,
    /// Position of the column of the start.
    pub start: usize,
    /// Position of the column of the end, which is not part of the period.
    pub end: usize,
}

impl Period {
    /// Name of the implied CHECK: the period's, unless one of `checks` has it. The number is the
    /// first one that was not tried.
    pub fn check_name(&self, checks: &[CheckInfo]) -> (String, usize) {
        let taken = |name: &str| checks.iter().any(|check| identifier_eq(&check.name, name));
        if !taken(&self.name) {
            return (self.name.to_string(), 1);
        }
        let mut number = 1;
        loop {
            let name = format!("{}_{number}", self.name);
            number += 1;
            if !taken(&name) {
                return (name, number);
            }
        }
    }
}

impl TableInfo {
    /// The CHECK that the period implies. It is not shown by `SHOW CREATE TABLE`.
    pub fn period_check(&self) -> Option<CheckInfo> {
        let period = self.period.as_ref()?;
        let column = |at: usize| quote_identifier(&self.columns[at].name);
        let (name, _) = period.check_name(&self.checks);
        let expression = format!("{} < {}", column(period.start), column(period.end));
        Some(CheckInfo { name, expression })
    }

    /// All table-level CHECKs, that of the period first.
    pub fn all_checks(&self) -> impl Iterator<Item = Cow<'_, CheckInfo>> {
        let own = self.checks.iter().map(Cow::Borrowed);
        self.period_check().map(Cow::Owned).into_iter().chain(own)
    }

    /// Whether a unique key refuses rows whose periods overlap.
    pub fn refuses_overlaps(&self) -> bool {
        self.def.indexes.iter().any(|index| index.without_overlaps)
    }

    /// `PERIOD FOR ...` as shown.
    pub(crate) fn period_clause(&self) -> Option<String> {
        let period = self.period.as_ref()?;
        let [name, start, end] =
            [&period.name, &self.columns[period.start].name, &self.columns[period.end].name]
                .map(|name| quote_identifier(name));
        Some(format!("PERIOD FOR {name} ({start}, {end})"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_has_the_first_free_name() {
        let period = Period { name: "p".into(), start: 0, end: 1 };
        let check = |name: &str| CheckInfo { name: name.into(), expression: "1".into() };
        assert_eq!(period.check_name(&[]), ("p".into(), 1));
        assert_eq!(period.check_name(&[check("P_1")]), ("p".into(), 1));
        assert_eq!(period.check_name(&[check("P"), check("P_1")]), ("p_2".into(), 3));
    }
}
