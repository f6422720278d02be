//! Creation and removal of tables and indexes, as part of transactions. Files are created at once
//! and removed by a rollback or a crash. Dropped files must stay until the commit is durable (I34).

use super::shared::Shared;
use crate::btree::Tree;
use crate::table::{FileIdentity, TableFiles, trees_of};
use crate::trx::{DdlStep, NativeTrx};
use selkie_engine::{EngineError, EngineResult, IndexId, TableDef, TableId};
use std::sync::Arc;

impl Shared {
    pub(crate) fn table_files(&self, id: TableId) -> EngineResult<Arc<TableFiles>> {
        let found = self.tables.read().get(&id).cloned();
        found.ok_or_else(|| EngineError::Corrupt(format!("table {id} has no storage")))
    }

    pub(super) fn create_table(&self, trx: &NativeTrx, def: &TableDef) -> EngineResult<()> {
        let identity = FileIdentity { table: def.id, index: None };
        let clustered = identity.create(&self.storage, |file| self.file_created(file))?;
        let files = Arc::new(TableFiles::new(def.id, clustered, 1, 0));
        trx.push_ddl(DdlStep::TableCreated(files.clone()));
        self.remember_table(files.clone());
        let first = usize::from(def.primary().is_some());
        for index in &def.indexes[first..] {
            self.new_index(trx, &files, index.id)?;
        }
        def.texts.iter().try_for_each(|text| self.new_text(trx, &files, text.index.id))
    }

    /// Creates an empty tree for an index of the table.
    pub(super) fn new_index(
        &self,
        trx: &NativeTrx,
        files: &Arc<TableFiles>,
        id: IndexId,
    ) -> EngineResult<Arc<Tree>> {
        self.new_tree(trx, files, id, |_| ())
    }

    /// Creates an empty tree that will be filled while transactions change the table.
    pub(super) fn new_growing_index(
        &self,
        trx: &NativeTrx,
        files: &Arc<TableFiles>,
        id: IndexId,
    ) -> EngineResult<Arc<Tree>> {
        self.new_tree(trx, files, id, |tree| tree.gate.grow())
    }

    fn new_tree(
        &self,
        trx: &NativeTrx,
        files: &Arc<TableFiles>,
        id: IndexId,
        prepare: impl FnOnce(&Tree),
    ) -> EngineResult<Arc<Tree>> {
        let identity = FileIdentity { table: files.id, index: Some(id) };
        let tree = identity.create(&self.storage, |file| self.file_created(file))?;
        prepare(&tree);
        trx.push_ddl(DdlStep::IndexCreated(files.clone(), id, tree.file));
        files.indexes.write().insert(id, tree.clone());
        self.remember_tree(&tree, files);
        Ok(tree)
    }

    /// Creates the empty trees of a full-text index.
    pub(super) fn new_text(
        &self,
        trx: &NativeTrx,
        files: &Arc<TableFiles>,
        id: IndexId,
    ) -> EngineResult<()> {
        files.forget_text(id);
        trees_of(id).into_iter().try_for_each(|tree| self.new_index(trx, files, tree).map(drop))
    }

    pub(super) fn drop_table(&self, trx: &NativeTrx, id: TableId) -> EngineResult<()> {
        trx.push_ddl(DdlStep::TableDropped(self.table_files(id)?));
        Ok(())
    }

    pub(super) fn drop_index(
        &self,
        trx: &NativeTrx,
        table: TableId,
        id: IndexId,
    ) -> EngineResult<()> {
        let files = self.table_files(table)?;
        let tree = |id| files.indexes.read().get(&id).cloned().map(|tree| (id, tree));
        let trees: Vec<_> = trees_of(id).into_iter().filter_map(tree).collect();
        if trees.is_empty() {
            return Err(EngineError::Corrupt(format!("table {table} lacks an index")));
        }
        let step = |(id, tree)| DdlStep::IndexDropped(files.clone(), id, tree);
        trees.into_iter().for_each(|tree| trx.push_ddl(step(tree)));
        Ok(())
    }

    /// Removes storage of tables that the dictionary does not know.
    pub(super) fn retain_tables(&self, known: &[TableId]) -> EngineResult<()> {
        if self.storage.salvages() {
            return Ok(());
        }
        let known: hashbrown::HashSet<TableId> = known.iter().copied().collect();
        let unknown: Vec<_> =
            self.tables.read().values().filter(|t| !known.contains(&t.id)).cloned().collect();
        for files in unknown {
            self.forget_table(&files);
            let indexes: Vec<_> = files.indexes.read().values().map(|tree| tree.file).collect();
            for file in indexes.into_iter().chain([files.clustered.file]) {
                self.delete_file(file)?;
            }
        }
        Ok(())
    }
}
