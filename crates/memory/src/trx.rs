//! Transactions: a list of undo steps.
//!
//! A dropped table or index stays in the list until the commit frees it. Dropping a transaction
//! that has not ended undoes it.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use selkie_engine::{
    EngineError, EngineResult, EngineTrx, IndexId, Isolation, Lsn, Rider, TableId,
};

use crate::data::{Entries, Shape};
use crate::engine::{Shared, Storage};

/// One undo step.
pub(crate) enum Undo {
    /// A row gets its old content back.
    Row { storage: Arc<Storage>, shape: Arc<Shape>, key: Vec<u8>, before: Option<Vec<u8>> },
    /// A table was created.
    Created(TableId),
    /// A table was dropped.
    Dropped(TableId, Arc<Storage>),
    /// An index was built.
    IndexBuilt(Arc<Storage>, IndexId),
    /// An index was dropped.
    IndexDropped(Arc<Storage>, IndexId, Entries),
}

/// A transaction.
pub(crate) struct MemoryTrx {
    pub(crate) shared: Arc<Shared>,
    undo: Mutex<Vec<Undo>>,
    /// Rows were changed for which there is no undo.
    changed: AtomicBool,
}

impl MemoryTrx {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, undo: Mutex::new(Vec::new()), changed: AtomicBool::new(false) }
    }

    /// Adds an undo step. An engine that does not roll back rows drops the steps of rows.
    pub(crate) fn push(&self, undo: Undo) {
        if self.shared.transactional || !matches!(undo, Undo::Row { .. }) {
            self.undo.lock().push(undo);
        } else {
            self.changed.store(true, Ordering::Relaxed);
        }
    }

    fn undo_to(&self, length: usize) -> EngineResult<()> {
        let mut undo = self.undo.lock();
        while undo.len() > length {
            if let Some(step) = undo.pop() {
                self.step_back(step)?;
            }
        }
        Ok(())
    }

    fn step_back(&self, step: Undo) -> EngineResult<()> {
        match step {
            Undo::Row { storage, shape, key, before } => {
                storage.data.write().replace(&shape, &key, before.as_deref())?;
            }
            Undo::Created(id) => drop(self.shared.tables.write().remove(&id)),
            Undo::Dropped(id, storage) => {
                self.shared.tables.write().insert(id, storage);
            }
            Undo::IndexBuilt(storage, id) => drop(storage.data.write().take_index(id)),
            Undo::IndexDropped(storage, id, entries) => {
                storage.data.write().put_index(id, entries);
            }
        }
        Ok(())
    }
}

impl EngineTrx for MemoryTrx {
    fn statement_begin(&self, _: Isolation, _: bool) -> EngineResult<()> {
        Ok(())
    }

    fn take_snapshot(&self) -> EngineResult<Option<Lsn>> {
        Ok(None)
    }

    fn savepoint(&self) -> EngineResult<u64> {
        Ok(self.undo.lock().len() as u64)
    }

    fn rollback_to(&self, savepoint: u64) -> EngineResult<()> {
        self.undo_to(savepoint as usize)
    }

    fn has_changes(&self) -> bool {
        self.changed.load(Ordering::Relaxed) || !self.undo.lock().is_empty()
    }

    fn commit(self: Box<Self>, rider: Option<&mut dyn Rider>) -> EngineResult<Option<Lsn>> {
        if rider.is_some() {
            return Err(EngineError::Unsupported("a rider"));
        }
        let changed = self.has_changes();
        self.undo.lock().clear();
        Ok(changed.then_some(Lsn(0)))
    }

    fn rollback(self: Box<Self>) -> EngineResult<()> {
        self.undo_to(0)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for MemoryTrx {
    fn drop(&mut self) {
        let _ = self.undo_to(0);
    }
}
