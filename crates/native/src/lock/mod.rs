//! Row locks and waiting. A row's exclusive lock is mostly implicit: the newest version's owner has
//! not ended. Explicit locks, keyed by key bytes, are for reads that lock, and for rows whose
//! change was undone. Both last until their transaction ends, but for that of a row whose insert is
//! undone, which is gone with the row; so every wait is for the end of transactions, and the
//! wait-for graph is over transactions alone. Gaps between records are locked as intervals of keys,
//! which only inserts look at.

mod gaps;
mod inspect;
mod table;
mod turn;
mod wait;

pub(crate) use gaps::Covered;
pub(crate) use table::LockTable;
pub(crate) use turn::{Behind, Locked, Wanted};
pub(crate) use wait::CycleObserver;
