//! Estimates of row counts, distinct values and selectivities. They read statistics only through
//! [`crate::StatisticsSource`] and the definitions, never data.

mod assumed;
mod ranges;
mod selectivity;
mod table;
mod values;

pub use assumed::{Assumption, Given};
pub(crate) use assumed::{UNKNOWN_LIMIT, limited_rows};
pub(crate) use ranges::range_rows;
pub(crate) use selectivity::{Estimator, condition_cost};
pub(crate) use table::{column_distinct, engine_rows, has_persistent, prefix_distinct, table_rows};
