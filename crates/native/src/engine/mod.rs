//! The engine: opening and recovery, tables by id, DDL as part of transactions, background cleanup,
//! counters. Top of the crate: only this module implements the contract's `Engine`.

mod build;
mod contract;
#[cfg(test)]
mod crash_tests;
mod ddl;
#[cfg(test)]
mod drop_tests;
mod grow;
#[cfg(test)]
mod grow_tests;
mod open;
mod options;
#[cfg(test)]
mod period_tests;
mod personality;
#[cfg(test)]
mod rider_kill_tests;
#[cfg(test)]
mod rider_model;
#[cfg(test)]
mod rider_tests;
mod riders;
mod shared;
#[cfg(test)]
mod sim;
mod sort;
mod status;
#[cfg(test)]
mod stress_tests;

#[cfg(test)]
mod text_tests;
#[cfg(test)]
mod undo_crash_tests;
#[cfg(test)]
mod undo_tests;

pub use contract::NativeEngine;
pub(crate) use open::{open_on, undo_losers};
pub use options::{FlushAtCommit, MakeFile, NativeOptions};
pub(crate) use riders::{IgnoredRiders, Riders};
pub(crate) use shared::Shared;
