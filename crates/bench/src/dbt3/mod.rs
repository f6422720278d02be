//! DBT3: the database of TPC-H with its 22 queries, on any server.
//!
//! The data comes from `tpchgen`, which makes the same bytes as TPC's own generator. The queries
//! are written from the specification, with its validation parameters.

mod answers;
mod data;
mod queries;
mod run;

pub(crate) use queries::QUERIES;
pub(crate) use run::{PowerTest, ServerResult};
