//! Row locks and waiting. A row's exclusive lock is mostly implicit: the newest version's owner has not ended.
//! Explicit locks, keyed by key bytes, are for reads that lock. Both last until their transaction ends, so every wait
//! is for the end of transactions, and the wait-for graph is over transactions alone. There are no gap locks.

mod inspect;
mod table;
mod wait;

pub(crate) use table::LockTable;
pub(crate) use wait::CycleObserver;
