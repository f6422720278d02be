//! The engine: its tables by id, and their creation and removal.
//!
//! Nothing survives the process: a known table that is missing comes back empty when it is opened.

use hashbrown::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::RwLock;
use selkie_engine::{
    Capabilities, Engine, EngineError, EngineResult, EngineTrx, IndexId, Isolation, Lsn,
    Personality, StatementContext, Table, TableDef, TableId,
};

use crate::data::{Data, Entries, Shape};
use crate::personality::PERSONALITY;
use crate::table::MemoryTable;
use crate::trx::{MemoryTrx, Undo};

/// A table's content.
pub(crate) struct Storage {
    pub(crate) data: RwLock<Data>,
    pub(crate) max_bytes: usize,
}

/// State shared by the engine, its tables and its transactions.
pub(crate) struct Shared {
    pub(crate) tables: RwLock<HashMap<TableId, Arc<Storage>>>,
    pub(crate) transactional: bool,
    max_table_bytes: AtomicUsize,
}

/// The MEMORY engine.
pub struct MemoryEngine {
    personality: &'static Personality,
    shared: Arc<Shared>,
}

impl Default for MemoryEngine {
    fn default() -> Self {
        Self::with(&PERSONALITY, 16 << 20)
    }
}

impl MemoryEngine {
    /// The engine as MariaDB's: row changes take effect at once and stay.
    pub fn new() -> Self {
        Self::default()
    }

    /// A model of another engine: tables have no size limit, and row changes roll back if that
    /// engine is transactional.
    pub fn model_of(personality: &'static Personality) -> Self {
        Self::with(personality, usize::MAX)
    }

    fn with(personality: &'static Personality, max_table_bytes: usize) -> Self {
        let max_table_bytes = AtomicUsize::new(max_table_bytes);
        let transactional = personality.transactional;
        Self {
            personality,
            shared: Arc::new(Shared { tables: RwLock::default(), transactional, max_table_bytes }),
        }
    }

    /// Sets `max_heap_table_size` for tables created from now on.
    pub fn set_max_table_bytes(&self, bytes: usize) {
        self.shared.max_table_bytes.store(bytes, Ordering::Relaxed);
    }

    fn storage(&self, id: TableId) -> EngineResult<Arc<Storage>> {
        self.shared.storage(id).ok_or_else(|| EngineError::Corrupt(format!("no table {id}")))
    }
}

impl Shared {
    pub(crate) fn storage(&self, id: TableId) -> Option<Arc<Storage>> {
        self.tables.read().get(&id).cloned()
    }

    fn new_storage(&self, def: &TableDef) -> Arc<Storage> {
        let max_bytes = self.max_table_bytes.load(Ordering::Relaxed);
        Arc::new(Storage { data: RwLock::new(Data::new(def)), max_bytes })
    }
}

/// The engine's own type of a transaction.
pub(crate) fn own_trx(trx: &dyn EngineTrx) -> EngineResult<&MemoryTrx> {
    trx.as_any().downcast_ref().ok_or(EngineError::Unsupported("a transaction of another engine"))
}

impl Engine for MemoryEngine {
    fn personality(&self) -> &'static Personality {
        self.personality
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { undoes_rows: self.shared.transactional, ..Capabilities::default() }
    }

    fn begin(&self, _: Isolation, _: bool) -> EngineResult<Box<dyn EngineTrx>> {
        Ok(Box::new(MemoryTrx::new(self.shared.clone())))
    }

    fn create_table(&self, trx: &dyn EngineTrx, def: &TableDef) -> EngineResult<()> {
        let storage = self.shared.new_storage(def);
        self.shared.tables.write().insert(def.id, storage);
        own_trx(trx)?.push(Undo::Created(def.id));
        Ok(())
    }

    fn drop_table(&self, trx: &dyn EngineTrx, id: TableId) -> EngineResult<()> {
        if let Some(storage) = self.shared.tables.write().remove(&id) {
            own_trx(trx)?.push(Undo::Dropped(id, storage));
        }
        Ok(())
    }

    fn create_index(
        &self,
        trx: &dyn EngineTrx,
        context: &dyn StatementContext,
        def: &Arc<TableDef>,
        position: usize,
    ) -> EngineResult<()> {
        context.check_killed()?;
        let storage = self.storage(def.id)?;
        let shape = Shape::new(def.clone());
        let index = &def.indexes[position];
        let mut data = storage.data.write();
        let mut entries = Entries::new();
        for (number, (clustered, row)) in data.rows.iter().enumerate() {
            let unique = index.is_unique().then(|| shape.rival(&entries, position, row));
            if let Some(existing) = unique.transpose()?.flatten() {
                return Err(EngineError::DuplicateKey { index: position, row: number, existing });
            }
            entries.extend([shape.entry(position, clustered, row)?]);
        }
        data.put_index(index.id, entries);
        own_trx(trx)?.push(Undo::IndexBuilt(storage.clone(), index.id));
        Ok(())
    }

    fn drop_index(&self, trx: &dyn EngineTrx, table: TableId, index: IndexId) -> EngineResult<()> {
        let storage = self.storage(table)?;
        if let Some(entries) = storage.data.write().take_index(index) {
            own_trx(trx)?.push(Undo::IndexDropped(storage.clone(), index, entries));
        }
        Ok(())
    }

    fn open_table(&self, def: &Arc<TableDef>) -> EngineResult<Arc<dyn Table>> {
        // After a restart the dictionary knows tables whose content is lost: they come back empty.
        let mut tables = self.shared.tables.write();
        tables.entry(def.id).or_insert_with(|| self.shared.new_storage(def));
        drop(tables);
        Ok(Arc::new(MemoryTable::new(self.shared.clone(), def.clone())))
    }

    fn table_exists(&self, id: TableId) -> bool {
        self.shared.tables.read().contains_key(&id)
    }

    fn retain_tables(&self, known: &[TableId]) -> EngineResult<()> {
        self.shared.tables.write().retain(|id, _| known.contains(id));
        Ok(())
    }

    fn wait_durable(&self, _: Lsn) -> EngineResult<()> {
        Ok(())
    }

    fn is_durable(&self, _: Lsn) -> bool {
        true
    }

    fn checkpoint(&self, _: bool) -> EngineResult<()> {
        Ok(())
    }

    fn shutdown(&self) -> EngineResult<()> {
        Ok(())
    }

    fn status(&self, _: &mut dyn FnMut(&str, u64)) {}
}
