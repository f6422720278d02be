//! What ANALYZE learns about a table, for the planner's estimates.

use selkie_types::Value;
use serde::{Deserialize, Serialize};

/// Statistics of one column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ColumnStatistics {
    /// Distinct values, NULL not counted.
    pub distinct: f64,
    /// Share of rows that are NULL, 0 to 1.
    pub null_fraction: f64,
    /// Mean stored bytes.
    pub average_bytes: f64,
    /// Least value.
    pub min: Value,
    /// Greatest value.
    pub max: Value,
    /// Upper ends of buckets holding equally many rows, ascending; empty if there is no histogram.
    pub histogram: Vec<Value>,
}

/// Statistics of one index.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IndexStatistics {
    /// Distinct keys of the first part, the first two parts, and so on.
    pub prefix_distinct: Vec<f64>,
}

/// Statistics of one table at the time of its analysis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    /// Rows.
    pub rows: u64,
    /// By column position.
    pub columns: Vec<Option<ColumnStatistics>>,
    /// By index position.
    pub indexes: Vec<IndexStatistics>,
}
