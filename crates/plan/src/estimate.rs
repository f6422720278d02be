//! Estimates of row counts, distinct values and selectivities. They read statistics only through
//! [`crate::StatisticsSource`] and the definitions, never data.

mod selectivity;
mod table;
mod values;

pub(crate) use selectivity::{Estimator, condition_cost};
pub(crate) use table::{column_distinct, engine_rows, has_persistent, prefix_distinct, table_rows};
