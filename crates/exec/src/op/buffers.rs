//! Buffers that scans read into, kept by the thread for the next statement. They must be empty
//! between statements, so that no row of an ended statement remains.

use std::cell::Cell;

use selkie_engine::{Keepable, Kept, KeptSlot, RowSet};
use selkie_types::ByteRows;

/// Keys to look up and rows found.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    pub(super) keys: ByteRows,
    pub(super) set: RowSet,
}

impl Keepable for Buffers {
    fn empty(&mut self) -> bool {
        const MOST: usize = 256 << 10;
        self.keys.clear();
        self.set.clear();
        self.keys.memory() + self.set.memory() <= MOST
    }
}

thread_local!(static BUFFERS: KeptSlot<Buffers> = const { Cell::new(None) });

/// Takes empty buffers.
pub(super) fn take() -> Kept<Buffers> {
    Kept::take(&BUFFERS)
}
