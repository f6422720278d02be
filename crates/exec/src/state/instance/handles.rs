//! Handles of open tables, by id and version of the definition. A statement uses its thread's part,
//! so that even its reference counts write no memory of other threads. Only [`Handles::get`] may be
//! called for a table whose definition is not locked.

use std::ops::Deref;
use std::sync::Arc;

use hashbrown::HashMap;
use parking_lot::{Mutex, RwLock};
use selkie_catalog::TableInfo;
use selkie_engine::{EngineResult, Parts, TableId};

use super::TableHandle;
use crate::state::parts::PartCounters;
use crate::state::uses::TableUses;

type ByTable<T> = HashMap<TableId, (u64, T)>;

/// The cached handle for this version of a definition.
fn current<T: Clone>(handles: &ByTable<T>, info: &TableInfo) -> Option<T> {
    let (version, handle) = handles.get(&info.def.id)?;
    (*version == info.version).then(|| handle.clone())
}

/// A handle with the reference count of one part.
pub(crate) struct OwnHandle(Arc<TableHandle>);

impl Deref for OwnHandle {
    type Target = TableHandle;

    fn deref(&self) -> &TableHandle {
        &self.0
    }
}

/// All handles of an instance.
#[derive(Default)]
pub(super) struct Handles {
    all: RwLock<ByTable<Arc<TableHandle>>>,
    parts: Parts<Mutex<ByTable<Arc<OwnHandle>>>>,
    /// Numbers of partitioned tables, whose handles share them.
    pub(super) counters: PartCounters,
    /// Uses of tables and indexes.
    pub(super) uses: TableUses,
}

impl Handles {
    /// The handle for this version of a definition; `open` makes it the first time.
    pub(super) fn get(
        &self,
        info: &TableInfo,
        open: impl FnOnce() -> EngineResult<TableHandle>,
    ) -> EngineResult<Arc<TableHandle>> {
        if let Some(handle) = current(&self.all.read(), info) {
            return Ok(handle);
        }
        let handle = Arc::new(open()?);
        let earlier = self.all.write().insert(info.def.id, (info.version, handle.clone()));
        if let Some((_, earlier)) = earlier {
            handle.take_change_of(&earlier);
        }
        Ok(handle)
    }

    /// The same for a statement that has locked the definition.
    pub(super) fn own(
        &self,
        info: &TableInfo,
        open: impl FnOnce() -> EngineResult<TableHandle>,
    ) -> EngineResult<Arc<OwnHandle>> {
        let mut part = self.parts.own().lock();
        if let Some(handle) = current(&part, info) {
            return Ok(handle);
        }
        let handle = Arc::new(OwnHandle(self.get(info, open)?));
        part.insert(info.def.id, (info.version, handle.clone()));
        Ok(handle)
    }

    pub(super) fn is_open(&self, id: TableId) -> bool {
        self.all.read().contains_key(&id)
    }

    pub(super) fn len(&self) -> usize {
        self.all.read().len()
    }

    pub(super) fn close(&self, id: TableId) {
        self.all.write().remove(&id);
        self.parts.iter().for_each(|part| drop(part.lock().remove(&id)));
    }
}
