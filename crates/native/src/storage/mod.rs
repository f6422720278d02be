//! The lower half of the engine as one object: disk, log, pool, space, checkpoints, and the threads
//! that keep them going. The upper half (trees, transactions, locks) sees `Storage` and what it
//! hands out, and nothing else.

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
