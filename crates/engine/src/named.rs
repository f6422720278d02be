//! An engine under another name: one engine stores the tables, and they behave as another's.
//!
//! Changes of rows take effect at once and stay, even if the surrounding transaction rolls back:
//! the executor commits such parts at the end of each statement. Must not name an engine.

use std::sync::Arc;

use crate::{
    Capabilities, Engine, EngineResult, EngineTrx, IndexId, Isolation, Lsn, Personality, Rider,
    StatementContext, Table, TableDef, TableId,
};

/// Tables of a personality without transactions in the storage of another engine.
pub struct NamedEngine {
    personality: &'static Personality,
    storage: Arc<dyn Engine>,
}

impl NamedEngine {
    /// An engine of that personality over `storage`.
    pub fn new(personality: &'static Personality, storage: Arc<dyn Engine>) -> Self {
        Self { personality, storage }
    }
}

impl Engine for NamedEngine {
    fn personality(&self) -> &'static Personality {
        self.personality
    }

    fn storage(&self) -> &'static str {
        self.storage.storage()
    }

    fn capabilities(&self) -> Capabilities {
        // Its tables are locked for changes, so there are none beside a build.
        Capabilities { grows_indexes: false, ..self.storage.capabilities() }
    }

    fn begin(&self, isolation: Isolation, read_only: bool) -> EngineResult<Box<dyn EngineTrx>> {
        self.storage.begin(isolation, read_only)
    }

    fn create_table(&self, trx: &dyn EngineTrx, def: &TableDef) -> EngineResult<()> {
        self.storage.create_table(trx, def)
    }

    fn drop_table(&self, trx: &dyn EngineTrx, id: TableId) -> EngineResult<()> {
        self.storage.drop_table(trx, id)
    }

    fn create_index(
        &self,
        trx: &dyn EngineTrx,
        context: &dyn StatementContext,
        def: &Arc<TableDef>,
        position: usize,
    ) -> EngineResult<()> {
        self.storage.create_index(trx, context, def, position)
    }

    fn create_text_index(
        &self,
        trx: &dyn EngineTrx,
        context: &dyn StatementContext,
        def: &Arc<TableDef>,
        position: usize,
    ) -> EngineResult<()> {
        self.storage.create_text_index(trx, context, def, position)
    }

    fn drop_index(&self, trx: &dyn EngineTrx, table: TableId, index: IndexId) -> EngineResult<()> {
        self.storage.drop_index(trx, table, index)
    }

    fn index_published(&self, table: TableId, index: IndexId) {
        self.storage.index_published(table, index);
    }

    fn open_table(&self, def: &Arc<TableDef>) -> EngineResult<Arc<dyn Table>> {
        self.storage.open_table(def)
    }

    fn table_exists(&self, id: TableId) -> bool {
        self.storage.table_exists(id)
    }

    /// Does nothing: the storage engine is asked under its own name, about all tables.
    fn retain_tables(&self, _: &[TableId]) -> EngineResult<()> {
        Ok(())
    }

    /// Compat: an acknowledged change survives the end of the server, not that of the machine.
    fn wait_durable(&self, lsn: Lsn) -> EngineResult<()> {
        self.storage.wait_written(lsn)
    }

    fn is_durable(&self, lsn: Lsn) -> bool {
        self.storage.is_written(lsn)
    }

    fn wait_synced(&self, lsn: Lsn) -> EngineResult<()> {
        self.storage.wait_synced(lsn)
    }

    fn is_synced(&self, lsn: Lsn) -> bool {
        self.storage.is_synced(lsn)
    }

    fn carries_riders(&self) -> bool {
        self.storage.carries_riders()
    }

    fn most_rider_bytes(&self) -> usize {
        self.storage.most_rider_bytes()
    }

    fn append(&self, rider: &mut dyn Rider) -> EngineResult<Lsn> {
        self.storage.append(rider)
    }

    fn checkpoint(&self, _: bool) -> EngineResult<()> {
        Ok(())
    }

    fn shutdown(&self) -> EngineResult<()> {
        Ok(())
    }

    fn status(&self, _: &mut dyn FnMut(&str, u64)) {}
}
