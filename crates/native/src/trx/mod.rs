//! Transactions: their states, their undo in memory, the snapshots that read through it, and their
//! ends: commit, rollback, preparation.
//!
//! Every entry of every tree starts with a version word: the sequence of an undo segment and a
//! position in it. The segment's owner has a state, which tells whether and when the version was
//! committed. The undo record at that position holds the version before. A sequence below
//! `Undo::reclaimed` is visible to all readers and never looked up.

mod abandoned;
mod commit;
mod inspect;
mod losers;
mod prepared;
mod prune;
mod purge;
mod record;
mod recover;
mod rollback;
mod segment;
mod snapshots;
mod state;
mod store;
mod transaction;
mod undo;
mod view;
mod weight;

pub(crate) use abandoned::{Abandoned, roll_back_abandoned};
pub(crate) use commit::append_rider;
pub(crate) use inspect::{Request, TrxList, WaitTimes};
pub(crate) use losers::{Losers, undo_losers_step};
pub(crate) use prepared::{PreparedTransactions, take_prepared};
pub(crate) use purge::{PurgeQueue, purge_step, remove_marked};
pub(crate) use record::{Kind, RowRecord, TrxRecord};
pub(crate) use recover::{Counters, Recovered, adopt_unfinished, encode_snapshot};
#[cfg(test)]
pub(crate) use recover::{FORMAT, FORMAT_WITHOUT_RIDERS, FORMAT_WITHOUT_RUNS};
pub(crate) use snapshots::{Snapshot, Snapshots, YOUNG};
pub(crate) use state::{TrxState, Waiter};
pub(crate) use transaction::{DdlStep, NativeTrx};
pub(crate) use undo::{Undo, seq_of};
pub(crate) use view::{Resolved, View, ViewSpec};
pub(crate) use weight::LockKind;
