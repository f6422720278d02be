//! The lower half of the engine as one object: disk, log, pool, space, checkpoints, and their
//! threads. The upper half (trees, transactions, locks) uses only `Storage` and the parts it
//! returns.

mod background;
mod open;
mod options;

pub(crate) use open::{Storage, WITHOUT_LOG, WITHOUT_UNDO};
pub(crate) use options::StorageOptions;

#[cfg(test)]
mod crash_tests;
#[cfg(test)]
mod kill_tests;
#[cfg(test)]
mod start_tests;
#[cfg(test)]
mod stress_tests;
#[cfg(test)]
pub(crate) mod testing;
