//! Numbers of sequences that were reserved and not given out. Must not read or write their tables.

use std::sync::Arc;

use hashbrown::HashMap;
use parking_lot::Mutex;
use selkie_catalog::SequenceState;
use selkie_engine::TableId;

/// A sequence's state, read when it is first asked.
type Slot = Arc<Mutex<Option<SequenceState>>>;

/// The sequences in use.
#[derive(Default)]
pub struct Sequences {
    slots: Mutex<HashMap<TableId, Slot>>,
}

impl Sequences {
    pub(crate) fn slot(&self, id: TableId) -> Slot {
        self.slots.lock().entry(id).or_default().clone()
    }

    /// Forgets the numbers reserved of one.
    pub fn forget(&self, id: TableId) {
        self.slots.lock().remove(&id);
    }

    /// Forgets the numbers reserved of all.
    pub fn forget_all(&self) {
        self.slots.lock().clear();
    }
}
