//! Estimates that follow from the values of parameters. A plan that was made with some values is as
//! good for others for which the estimates are alike.
//!
//! Must never decide about rows: only about the choice between plans.

use std::sync::Arc;

use selkie_catalog::TableInfo;
use selkie_expr::{Expr, ExprKind};
use selkie_types::{SqlType, Value};

use super::ranges::range_rows;
use crate::physical::KeyRange;
use crate::settings::StatisticsSource;

/// Values of the parameters, by number.
pub type Given<'a> = &'a [(Value, SqlType)];

/// Numbers of rows that differ by less than this are equal for planning.
const FEW_ROWS: f64 = 16.0;
/// Factor by which a number of rows may differ before another plan may be better.
const ALIKE: f64 = 2.0;
/// Rows assumed for a limit that is unknown before execution.
pub(crate) const UNKNOWN_LIMIT: f64 = 100.0;

/// An estimate on which a plan rests.
#[derive(Clone, Debug)]
pub enum Assumption {
    /// Rows in ranges of an index.
    Range {
        /// The table.
        table: Arc<TableInfo>,
        /// Position of the index in the table's definition.
        index: usize,
        /// The ranges.
        ranges: Vec<KeyRange>,
        /// Their rows.
        rows: f64,
    },
    /// Rows that are read until a LIMIT is reached.
    Limit {
        /// Maximum number of rows.
        limit: Box<Expr>,
        /// Number of rows skipped first.
        offset: Option<Box<Expr>>,
        /// Both together.
        rows: f64,
    },
}

impl Assumption {
    /// Whether the estimate is about the same for other values.
    pub fn holds(&self, given: Given<'_>, source: &dyn StatisticsSource) -> bool {
        let (rows, now) = match self {
            Self::Range { table, index, ranges, rows } => {
                (rows, range_rows(table, *index, ranges, given, source))
            }
            Self::Limit { limit, offset, rows } => {
                (rows, Some(limited_rows(limit, offset.as_deref(), given)))
            }
        };
        now.is_some_and(|now| are_alike(*rows, now))
    }

    /// Whether both are the same estimate.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Range { table: a, index: i, ranges: x, .. },
                Self::Range { table: b, index: j, ranges: y, .. },
            ) => a.def.id == b.def.id && i == j && x == y,
            (Self::Limit { limit: a, offset: x, .. }, Self::Limit { limit: b, offset: y, .. }) => {
                a == b && x == y
            }
            _ => false,
        }
    }
}

fn are_alike(a: f64, b: f64) -> bool {
    (a.max(b) + FEW_ROWS) / (a.min(b) + FEW_ROWS) <= ALIKE
}

/// The value of a literal, or of a parameter if it is given. A conversion of the parameter is not
/// made: an estimate takes values of the column's own representation only.
pub(super) fn known<'e>(expr: &'e Expr, given: Given<'e>) -> Option<&'e Value> {
    match (&expr.kind, expr.converted_parameter()) {
        (ExprKind::Literal(value), _) => Some(value),
        (_, Some(at)) => given.get(at).map(|(value, _)| value),
        _ => None,
    }
}

/// Rows that are read until a LIMIT is reached.
pub(crate) fn limited_rows(limit: &Expr, offset: Option<&Expr>, given: Given<'_>) -> f64 {
    let number = |expr: &Expr| match known(expr, given) {
        Some(Value::Int(v)) => *v as f64,
        Some(Value::UInt(v)) => *v as f64,
        _ => UNKNOWN_LIMIT,
    };
    number(limit) + offset.map_or(0.0, number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_numbers_of_rows_are_alike() {
        assert!(are_alike(0.0, 16.0) && are_alike(16.0, 0.0) && are_alike(1000.0, 2000.0));
        assert!(!are_alike(0.0, 17.0) && !are_alike(1000.0, 2100.0) && !are_alike(2100.0, 1000.0));
    }

    #[test]
    fn a_limit_is_the_sum_of_its_parts() {
        let given = [(Value::Int(20), SqlType::bigint()), (Value::UInt(5), SqlType::bigint())];
        let parameter = |at| Expr::parameter(at, SqlType::bigint());
        assert_eq!(limited_rows(&parameter(1), Some(&parameter(0)), &given), 25.0);
        assert_eq!(limited_rows(&parameter(1), None, &[]), UNKNOWN_LIMIT);
    }
}
