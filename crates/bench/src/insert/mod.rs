//! The insert benchmark: the growth rate of a table with three secondary indexes, and the speed of
//! queries while it grows.
//!
//! Source: steps and table of the insert benchmark that the field uses to find regressions. Load in
//! key order (`l.i0`), build indexes (`l.x`), insert and delete in large and in small transactions
//! (`l.i1`, `l.i2`), then range (`qr`) and point queries (`qp`) while 100, 500 and 1,000 rows per
//! second are inserted and deleted.

mod steps;
mod table;

pub(crate) use steps::{STEPS, Sizes, run};
