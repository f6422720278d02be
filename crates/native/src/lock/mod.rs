//! Row locks and waits. A row's exclusive lock is mostly implicit: it lasts while the owner of the
//! newest version has not ended. Explicit locks, keyed by key bytes, are for locking reads, and for
//! rows whose change was undone. Both last until their transaction ends, except that the lock of a
//! row whose insert is undone ends with the row. So every wait is for the end of transactions, and
//! the wait-for graph consists of transactions alone. Gaps between records are locked as intervals
//! of keys, which only inserts check.

mod gaps;
mod inspect;
mod table;
mod turn;
mod wait;

pub(crate) use gaps::Covered;
pub(crate) use table::LockTable;
pub(crate) use turn::{Behind, Locked, Wanted};
pub(crate) use wait::{CycleObserver, WaitObserver};
