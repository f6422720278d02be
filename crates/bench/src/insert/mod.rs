//! The insert benchmark: how fast a table with three secondary indexes grows, and how queries do
//! while it grows.
//!
//! Source: the steps and the table of the insert benchmark that the field uses to find
//! regressions: load in key order (`l.i0`), build indexes (`l.x`), insert and delete in large and
//! in small transactions (`l.i1`, `l.i2`), then range (`qr`) and point queries (`qp`) while rows
//! are inserted and deleted at 100, 500 and 1,000 a second.

mod steps;
mod table;

pub(crate) use steps::{STEPS, Sizes, run};
