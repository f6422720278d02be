//! Tables of numbers: `seq_FROM_to_TO[_step_STEP]` exists in every schema that has no other table
//! of that name.
//!
//! Only names and definitions are here; the executor makes the rows. Compat: storage engine
//! SEQUENCE.

use std::sync::Arc;

use selkie_engine::{Personality, TableId};
use selkie_types::{CollationId, SqlType};

use crate::{ColumnInfo, TableInfo, TableKind, TableOptions};

/// The engine name shown for these tables.
pub static SERIES_ENGINE: Personality = Personality {
    name: "SEQUENCE",
    comment: "Generated tables filled with sequential values",
    transactional: true,
    ..Personality::NONE
};

/// The numbers of one table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Series {
    /// The first number.
    pub first: u64,
    /// Number of rows.
    pub count: u64,
    /// Difference between neighbours.
    pub step: u64,
    /// The numbers descend.
    pub down: bool,
}

impl Series {
    /// The series a table name stands for, if it has the form of one.
    pub fn from_name(name: &str) -> Option<Self> {
        let (from, rest) = name.strip_prefix("seq_")?.split_once("_to_")?;
        let (to, step) = rest.split_once("_step_").unwrap_or((rest, "1"));
        let (from, to, step) = (number(from)?, number(to)?, number(step)?);
        if step == 0 {
            return None;
        }
        let count = (from.abs_diff(to) / step).checked_add(1)?;
        let down = from > to;
        // Compat: a descending series has the numbers of the ascending one from the lower end.
        let first = if down { to + (count - 1) * step } else { from };
        Some(Self { first, count, step, down })
    }

    /// The number at a position.
    pub fn at(&self, position: u64) -> u64 {
        match self.down {
            true => self.first - position * self.step,
            false => self.first + position * self.step,
        }
    }

    /// The definition of the table.
    pub fn table(schema: &str, name: &str) -> Arc<TableInfo> {
        let columns = vec![ColumnInfo::not_null("seq", SqlType::bigint_unsigned())];
        Arc::new(TableInfo {
            def: Arc::new(TableInfo::make_def(TableId(0), schema, name, &columns, Vec::new())),
            kind: TableKind::System,
            engine: &SERIES_ENGINE,
            columns,
            indexes: Vec::new(),
            checks: Vec::new(),
            period: None,
            foreign_keys: Vec::new(),
            partitions: None,
            collation: CollationId::UTF8MB4_GENERAL_CI,
            options: TableOptions::default(),
            created: 0,
            version: 0,
            fulltext: Vec::new(),
            next_index: 0,
            statistics: None,
            persistent: None,
        })
    }
}

fn number(digits: &str) -> Option<u64> {
    digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::Series;

    #[test]
    fn names_say_the_numbers() {
        let up = Series::from_name("seq_1_to_10_step_4").unwrap();
        assert_eq!((0..up.count).map(|at| up.at(at)).collect::<Vec<_>>(), [1, 5, 9]);
        let down = Series::from_name("seq_3_to_1").unwrap();
        assert_eq!((0..down.count).map(|at| down.at(at)).collect::<Vec<_>>(), [3, 2, 1]);
        assert_eq!(Series::from_name("seq_5_to_5").unwrap().count, 1);
        for name in ["seq_1_to_2_step_0", "seq__to_2", "seq_1_to_x", "Seq_1_to_2", "seq_-1_to_2"] {
            assert_eq!(Series::from_name(name), None, "{name}");
        }
    }
}
