//! Statistics that ANALYZE stores about a table, for the planner's estimates. They describe the
//! table when it was analysed, and nothing updates them before the next ANALYZE.

use selkie_types::Value;
use serde::{Deserialize, Serialize};

/// Statistics of one column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ColumnStatistics {
    /// Distinct values without NULL.
    pub distinct: f64,
    /// Share of rows that are NULL, 0 to 1.
    pub null_fraction: f64,
    /// Mean size of a stored value in bytes.
    pub average_bytes: f64,
    /// Least value.
    pub min: Value,
    /// Greatest value.
    pub max: Value,
    /// Upper ends of buckets that hold equally many rows, ascending; empty if there is no
    /// histogram.
    pub histogram: Vec<Value>,
}

/// Statistics of one index.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IndexStatistics {
    /// Distinct keys of the first part, of the first two parts, and so on.
    pub prefix_distinct: Vec<f64>,
}

/// Statistics of one table at the time of its analysis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    /// Number of rows.
    pub rows: u64,
    /// Statistics by column position.
    pub columns: Vec<Option<ColumnStatistics>>,
    /// Statistics by index position.
    pub indexes: Vec<IndexStatistics>,
}
