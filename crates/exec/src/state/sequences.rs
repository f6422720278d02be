//! Reserved numbers of sequences that were not given out yet. Must not read or write their tables:
//! [`crate::run::sequence`] does.

use std::sync::Arc;

use hashbrown::HashMap;
use parking_lot::Mutex;
use selkie_catalog::SequenceState;
use selkie_engine::TableId;

use super::registry::TransactionNumbers;

/// State of a sequence, read on first use.
type Slot = Arc<Mutex<Option<SequenceState>>>;

/// The sequences in use.
#[derive(Default)]
pub struct Sequences {
    /// The numbers of transactions.
    pub(crate) transactions: Arc<TransactionNumbers>,
    slots: Mutex<HashMap<TableId, Slot>>,
}

impl Sequences {
    pub(crate) fn slot(&self, id: TableId) -> Slot {
        self.slots.lock().entry(id).or_default().clone()
    }

    /// Drops the reserved numbers of a sequence.
    pub fn forget(&self, id: TableId) {
        self.slots.lock().remove(&id);
    }

    /// Drops the reserved numbers of all sequences.
    pub fn forget_all(&self) {
        self.slots.lock().clear();
    }
}
