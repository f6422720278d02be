//! The engine: opening and recovery, tables by id, DDL as part of transactions, background cleaning, counters.

mod build;
mod contract;
mod ddl;
mod open;
mod options;
mod shared;

pub use contract::NativeEngine;
pub use options::{FlushAtCommit, NativeOptions};
pub(crate) use shared::Shared;
