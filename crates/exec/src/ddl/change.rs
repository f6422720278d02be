//! One change of definitions: dictionary rows and storage in one transaction. Storage of other
//! engines than the dictionary's is created before the commit and dropped after it, so that a crash
//! leaves an orphan rather than a definition without storage.

use std::cell::RefCell;
use std::sync::Arc;

use hashbrown::HashSet;
use selkie_catalog::{
    DictionaryError, Routine, Schema, Snapshot, TableInfo, TableKind, Trigger, new_version,
};
use selkie_engine::{Engine, EngineResult, EngineTrx, IndexId, TableDef, TableId};
use selkie_types::{SqlError, SqlResult};

use crate::Instance;
use crate::state::binlog::{Definition, Noted, commit_with_note};
use crate::state::error::{from_engine, from_engine_commit};
use crate::state::own_transaction::{begin, commit_now};

/// A dictionary transaction. It is rolled back if dropped without [`Change::commit`].
pub(super) struct Change<'a> {
    instance: &'a Instance,
    trx: Box<dyn EngineTrx>,
    /// Storage in engines without transactions, to be dropped after the commit.
    drop_later: Vec<(Arc<dyn Engine>, TableId)>,
    /// Tables whose open handles are stale after the commit.
    stale: Vec<TableId>,
    /// Tables that have new storage.
    new: RefCell<Vec<(Arc<dyn Engine>, TableId)>>,
    /// Indexes that were built.
    built: Vec<(Arc<dyn Engine>, TableId, IndexId)>,
    /// The statement's group of the binary log.
    log: Option<Definition>,
    /// The note of a replica that has applied the statement.
    note: Option<Arc<Noted>>,
}

impl<'a> Change<'a> {
    /// A change that commits with `log`.
    pub(super) fn begin(instance: &'a Instance, log: Option<Definition>) -> SqlResult<Self> {
        let trx = begin(&**instance.dictionary.engine())?;
        Ok(Self {
            instance,
            trx,
            drop_later: Vec::new(),
            stale: Vec::new(),
            new: RefCell::default(),
            built: Vec::new(),
            log,
            note: None,
        })
    }

    /// The same change, whose commit has a note too.
    pub(super) fn with_note(self, note: Option<Arc<Noted>>) -> Self {
        Self { note, ..self }
    }

    /// The transaction, for changes of storage in the dictionary's engine.
    pub(super) fn trx(&self) -> &dyn EngineTrx {
        &*self.trx
    }

    /// Whether storage of `engine` changes in the dictionary's transaction.
    pub(super) fn is_own(&self, engine: &dyn Engine) -> bool {
        engine.storage() == self.instance.dictionary.engine().name()
    }

    /// Creates storage for `table`.
    pub(super) fn create_storage(&self, table: &TableInfo) -> SqlResult<()> {
        let engine = self.instance.engine_of(table)?;
        if self.is_own(&**engine) {
            return create_storage_in(&**engine, &*self.trx, table);
        }
        create_storage_now(self.instance, table)
    }

    /// Removes the storage of `table` with the commit.
    pub(super) fn drop_storage(&mut self, table: &TableInfo) -> SqlResult<()> {
        if !table.has_storage() {
            return Ok(());
        }
        let engine = self.instance.engine_of(table)?.clone();
        self.stale.push(table.def.id);
        for id in table.storage_ids() {
            self.drop_one_storage(&engine, id).map_err(|e| from_engine(e, &table.def))?;
        }
        Ok(())
    }

    fn drop_one_storage(&mut self, engine: &Arc<dyn Engine>, id: TableId) -> EngineResult<()> {
        if self.is_own(&**engine) {
            return engine.drop_table(&*self.trx, id);
        }
        self.drop_later.push((engine.clone(), id));
        Ok(())
    }

    /// Marks open handles of `table` stale.
    pub(super) fn redefine(&mut self, table: &TableInfo) {
        self.stale.push(table.def.id);
    }

    /// Notes an index that was built for a table that is in use.
    pub(super) fn index_built(&mut self, engine: &Arc<dyn Engine>, table: TableId, id: IndexId) {
        self.built.push((engine.clone(), table, id));
    }

    /// Creates the storage of some leaves of `table`.
    pub(super) fn create_leaves(&self, table: &TableInfo, ids: &[TableId]) -> SqlResult<()> {
        let engine = self.instance.engine_of(table)?;
        match self.is_own(&**engine) {
            true => create_leaves_in(&**engine, &*self.trx, (table, ids)),
            false => create_leaves_now(self.instance, table, ids),
        }
    }

    /// Removes the storage of some leaves of `table` with the commit.
    pub(super) fn drop_leaves(&mut self, table: &TableInfo, ids: &[TableId]) -> SqlResult<()> {
        let engine = self.instance.engine_of(table)?.clone();
        self.stale.push(table.def.id);
        for id in ids {
            self.drop_one_storage(&engine, *id).map_err(|e| from_engine(e, &table.def))?;
        }
        Ok(())
    }

    pub(super) fn put_table(&self, table: &TableInfo) -> SqlResult<()> {
        if table.has_storage() && !self.is_known(table.def.id) {
            let engine = self.instance.engine_of(table)?.clone();
            let known = match table.partitions {
                Some(_) => self.instance.catalog.snapshot().table_ids(),
                None => Vec::new(),
            };
            let known: HashSet<TableId> = known.into_iter().collect();
            let ids = table.storage_ids().into_iter().filter(|id| !known.contains(id));
            self.new.borrow_mut().extend(ids.map(|id| (engine.clone(), id)));
        }
        self.instance.dictionary.put_table(&*self.trx, table).map_err(dictionary_error)
    }

    fn is_known(&self, id: TableId) -> bool {
        let snapshot = self.instance.catalog.snapshot();
        let mut tables = snapshot.schemas().flat_map(|schema| schema.tables.values());
        tables.any(|table| table.def.id == id)
    }

    pub(super) fn remove_table(&self, id: TableId) -> SqlResult<()> {
        self.instance.dictionary.remove_table(&*self.trx, id).map_err(dictionary_error)
    }

    pub(super) fn put_schema(&self, schema: &Schema) -> SqlResult<()> {
        self.instance.dictionary.put_schema(&*self.trx, schema).map_err(dictionary_error)
    }

    pub(super) fn remove_schema(&self, name: &str) -> SqlResult<()> {
        self.instance.dictionary.remove_schema(&*self.trx, name).map_err(dictionary_error)
    }

    pub(super) fn put_routine(&self, routine: &Routine) -> SqlResult<()> {
        self.instance.dictionary.put_routine(&*self.trx, routine).map_err(dictionary_error)
    }

    pub(super) fn remove_routine(&self, routine: &Routine) -> SqlResult<()> {
        self.instance.dictionary.remove_routine(&*self.trx, routine).map_err(dictionary_error)
    }

    pub(super) fn put_trigger(&self, trigger: &Trigger) -> SqlResult<()> {
        self.instance.dictionary.put_trigger(&*self.trx, trigger).map_err(dictionary_error)
    }

    pub(super) fn remove_trigger(&self, trigger: &Trigger) -> SqlResult<()> {
        self.instance.dictionary.remove_trigger(&*self.trx, trigger).map_err(dictionary_error)
    }

    /// Makes the change durable, then visible (DDL-1).
    pub(super) fn commit(self, publish: impl FnOnce(&mut Snapshot)) -> SqlResult<()> {
        let engine = self.instance.dictionary.engine();
        let committed = match self.log {
            Some(log) => log.commit(&**engine, self.trx),
            None => commit_with_note(self.trx, self.note.as_deref()),
        };
        if let Some(lsn) = committed.map_err(from_engine_commit)? {
            engine.wait_durable(lsn).map_err(from_engine_commit)?;
        }
        // Nobody can read the new tables yet, and all rows copied into them are committed.
        self.new.take().into_iter().for_each(|(engine, id)| engine.table_published(id));
        self.built.iter().for_each(|(engine, table, id)| engine.index_published(*table, *id));
        self.instance.catalog.publish(publish);
        self.stale.into_iter().for_each(|id| self.instance.close_table(id));
        self.drop_later.into_iter().try_for_each(|(engine, id)| drop_now(&*engine, &[id]))
    }
}

/// Creates storage of a temporary table, or storage that no definition knows yet (DDL-2).
pub(super) fn create_storage_now(instance: &Instance, table: &TableInfo) -> SqlResult<()> {
    let engine = instance.engine_of(table)?;
    let trx = begin(&**engine)?;
    create_storage_in(&**engine, &*trx, table)?;
    commit_now(&**engine, trx)
}

fn create_storage_in(engine: &dyn Engine, trx: &dyn EngineTrx, table: &TableInfo) -> SqlResult<()> {
    for (_, def) in table.storages() {
        engine.create_table(trx, &def).map_err(|e| from_engine(e, &table.def))?;
    }
    Ok(())
}

/// Creates the storage of some leaves of `table` and commits it at once.
pub(super) fn create_leaves_now(
    instance: &Instance,
    table: &TableInfo,
    ids: &[TableId],
) -> SqlResult<()> {
    let engine = instance.engine_of(table)?;
    let trx = begin(&**engine)?;
    create_leaves_in(&**engine, &*trx, (table, ids))?;
    commit_now(&**engine, trx)
}

/// Removes the storage of leaves that no definition knows.
pub(super) fn drop_leaves_now(
    instance: &Instance,
    table: &TableInfo,
    ids: &[TableId],
) -> SqlResult<()> {
    drop_now(&**instance.engine_of(table)?, ids)
}

fn create_leaves_in(
    engine: &dyn Engine,
    trx: &dyn EngineTrx,
    (table, ids): (&TableInfo, &[TableId]),
) -> SqlResult<()> {
    let new = |(_, def): &(usize, Arc<TableDef>)| ids.contains(&def.id);
    for (_, def) in table.storages().into_iter().filter(new) {
        engine.create_table(trx, &def).map_err(|e| from_engine(e, &table.def))?;
    }
    Ok(())
}

/// Removes storage that no definition knows.
pub(super) fn drop_storage_now(instance: &Instance, table: &TableInfo) -> SqlResult<()> {
    drop_now(&**instance.engine_of(table)?, &table.storage_ids())
}

fn drop_now(engine: &dyn Engine, ids: &[TableId]) -> SqlResult<()> {
    let trx = begin(engine)?;
    for id in ids {
        engine.drop_table(&*trx, *id).map_err(from_engine_commit)?;
    }
    commit_now(engine, trx)
}

pub(super) fn dictionary_error(error: DictionaryError) -> SqlError {
    match error {
        DictionaryError::Engine(error) => from_engine_commit(error),
        DictionaryError::Definition(what) => SqlError::internal(what),
    }
}

/// Whether `table` belongs to one session.
pub(super) fn is_temporary(table: &TableInfo) -> bool {
    table.kind == TableKind::Temporary
}

/// `table` with a new id, and new storage for all its parts.
pub(super) fn with_new_storage(instance: &Instance, table: TableInfo) -> SqlResult<TableInfo> {
    let Some(partitions) = &table.partitions else { return with_new_id(instance, table) };
    let mut partitions = (**partitions).clone();
    partitions.renumber(|| instance.dictionary.new_table_id()).map_err(dictionary_error)?;
    with_new_id(instance, TableInfo { partitions: Some(Arc::new(partitions)), ..table })
}

/// `table` with a new id, and storage for the leaves that have none yet; with their ids.
pub(super) fn with_new_leaves(
    instance: &Instance,
    table: TableInfo,
) -> SqlResult<(TableInfo, Vec<TableId>)> {
    let Some(partitions) = &table.partitions else { return Ok((table, Vec::new())) };
    let mut partitions = (**partitions).clone();
    let added = partitions.number_new(|| instance.dictionary.new_table_id());
    let added = added.map_err(dictionary_error)?;
    let table = TableInfo { partitions: Some(Arc::new(partitions)), ..table };
    Ok((with_new_id(instance, table)?, added))
}

/// `table` with a new id. The ids of parts must be given before: the dictionary remembers the
/// highest id of a table, so that none is given twice.
pub(super) fn with_new_id(instance: &Instance, table: TableInfo) -> SqlResult<TableInfo> {
    let id = instance.dictionary.new_table_id().map_err(dictionary_error)?;
    let def = selkie_engine::TableDef { id, ..(*table.def).clone() };
    Ok(TableInfo { def: Arc::new(def), version: new_version(), ..table })
}
