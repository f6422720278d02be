//! sysbench's schema and mixes, run by few threads with many connections each.
//!
//! Must not decode rows: the client must use less CPU than any server it measures.

mod mix;
mod pace;
mod random;
mod result;
mod run;
mod schema;
mod session;
mod statement;
mod worker;

pub(crate) use mix::{GROUPS, MICRO, Mix};
pub(crate) use random::Random;
pub(crate) use result::{Measured, Second};
pub(crate) use run::{Load, run};
pub(crate) use schema::{Size, create, is_there};
