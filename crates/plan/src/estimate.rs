//! Estimates: how many rows, how many distinct values, how selective a condition.

mod selectivity;
mod table;
mod values;

pub(crate) use selectivity::{Estimator, condition_cost};
pub(crate) use table::{column_distinct, prefix_distinct, table_rows};
