//! State shared by all sessions of a server: definitions, engines, locks, computed tables. Holds no
//! state of a session or transaction.

mod handles;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use hashbrown::HashMap;
use parking_lot::RwLock;
use selkie_catalog::{Catalog, Dictionary, TableInfo};
use selkie_engine::{Engine, EngineResult, IndexCodec, Personality, Table, TableId};
use selkie_types::error::catalogue::ER_UNKNOWN_STORAGE_ENGINE;
use selkie_types::{Bitmap, Column, SqlError, SqlResult, Value};

use super::around::Programs;
use crate::Session;
use crate::state::binlog::{Binlog, TableImages};
use crate::state::branches::Branches;
use crate::state::column_keeper::ColumnKeeper;
use crate::state::error::from_engine;
use crate::state::files::FilePlaces;
use crate::state::gate::Gate;
use crate::state::kept_results::KeptResults;
use crate::state::lanes::Lanes;
use crate::state::maintained::Maintained;
use crate::state::metadata::MetadataLocks;
use crate::state::parts::PartSet;
use crate::state::sequences::Sequences;
use crate::state::temporary::TemporaryFiles;
use crate::state::uses::TableUses;
use handles::Handles;

pub(crate) use handles::OwnHandle;

/// Request for the rows of a computed table.
pub struct SystemRequest<'a> {
    /// The server.
    pub instance: &'a Instance,
    /// The asking session; rows it may not see are left out.
    pub session: &'a Session,
    /// The table's definition.
    pub table: &'a TableInfo,
    /// Positions of the columns that are needed; others may be NULL.
    pub columns: &'a [usize],
    /// The only schema wanted, if given.
    pub schema: Option<&'a str>,
    /// The only table name wanted, if given.
    pub name: Option<&'a str>,
    /// Tells which of the names that the table lists, those of variables or tables, are wanted;
    /// `None` for all. Rows of others need not be computed.
    pub wanted: &'a dyn Fn(&Arc<Column>) -> SqlResult<Option<Bitmap>>,
}

/// Provider of the rows of a computed table, such as those of `information_schema`.
pub trait SystemTable: Send + Sync {
    /// Calls `emit` with every row: one value per column of the table, of its physical kind.
    fn rows(
        &self,
        request: &SystemRequest<'_>,
        emit: &mut dyn FnMut(&[Value]) -> SqlResult<()>,
    ) -> SqlResult<()>;
}

/// Engines by name, in the order they were added.
#[derive(Clone, Default)]
pub struct Engines {
    list: Vec<Arc<dyn Engine>>,
    /// Engines shown to clients, in the order of SHOW ENGINES.
    shown: Vec<&'static Personality>,
}

impl Engines {
    /// Adds an engine under its own names.
    pub fn add(&mut self, engine: Arc<dyn Engine>) {
        self.list.push(engine);
    }

    /// Sets the engines shown to clients: some of those added here, and some of computed tables.
    pub fn show(&mut self, shown: impl Into<Vec<&'static Personality>>) {
        self.shown = shown.into();
    }

    /// Finds an engine by name, in any case.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Engine>> {
        self.list.iter().find(|engine| engine.personality().is_called(name))
    }

    /// Properties of the engine called `name`.
    pub fn personality(&self, name: &str) -> Option<&'static Personality> {
        self.get(name).map(|engine| engine.personality())
    }

    /// The engine of a personality.
    pub(crate) fn of(&self, personality: &'static Personality) -> Option<&Arc<dyn Engine>> {
        self.list.iter().find(|engine| std::ptr::eq(engine.personality(), personality))
    }

    /// All engines.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Engine>> {
        self.list.iter()
    }

    /// Engines shown to clients.
    pub(crate) fn shown(&self) -> &[&'static Personality] {
        &self.shown
    }
}

/// An open table with data derived from its definition.
pub struct TableHandle {
    /// The engine's handle.
    pub table: Arc<dyn Table>,
    /// One codec per index.
    pub codecs: Vec<IndexCodec>,
    /// The engine.
    pub engine: Arc<dyn Engine>,
    /// The same as `table`, if it is in parts.
    pub(crate) parts: Option<Arc<PartSet>>,
    /// Time of the last change of rows in seconds since 1970; 0 if none since the table was opened.
    changed: AtomicU64,
    /// Description of the table for the binary log, made with the first change that is logged.
    images: OnceLock<Arc<TableImages>>,
    /// Whether a statement has used it.
    used: AtomicBool,
}

impl TableHandle {
    /// Whether this is the first statement that uses the table.
    pub(crate) fn is_first_use(&self) -> bool {
        !self.used.load(Ordering::Relaxed) && !self.used.swap(true, Ordering::Relaxed)
    }

    /// Description of the table, whose definition is `info`, for the binary log.
    pub(crate) fn images(&self, info: &TableInfo) -> Arc<TableImages> {
        Arc::clone(self.images.get_or_init(|| Arc::new(TableImages::of(info))))
    }

    /// Records a change of rows at a time in microseconds since 1970.
    pub(crate) fn note_change(&self, micros: i64) {
        let seconds = u64::try_from(micros / 1_000_000).unwrap_or(0);
        // Statements within one second do not write memory that others read.
        if self.changed.load(Ordering::Relaxed) != seconds {
            self.changed.store(seconds, Ordering::Relaxed);
        }
    }

    /// Takes over the time of the last change from the handle of an earlier definition.
    fn take_change_of(&self, earlier: &Self) {
        self.changed.fetch_max(earlier.changed.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Time of the last change of rows in seconds since 1970, if any since the table was opened.
    pub(crate) fn changed(&self) -> Option<u64> {
        Some(self.changed.load(Ordering::Relaxed)).filter(|seconds| *seconds > 0)
    }
}

/// Work that threads of the server do.
#[derive(Default)]
pub struct Upkeep {
    /// Tables that are worth column groups.
    pub columns: ColumnKeeper,
    /// Parts of statements' work.
    pub lanes: Lanes,
    /// Tables on which maintenance has nothing to do until rows change.
    pub(crate) maintained: Maintained,
}

/// The server as sessions see it.
pub struct Instance {
    /// Definitions.
    pub catalog: Catalog,
    /// Persistent store of definitions.
    pub dictionary: Dictionary,
    /// Storage engines.
    pub engines: Engines,
    /// Metadata locks.
    pub locks: MetadataLocks,
    /// The gate of all changes.
    pub gate: Arc<Gate>,
    /// Sequences in use.
    pub sequences: Sequences,
    /// Branches of distributed transactions.
    pub branches: Branches,
    /// The binary log, if the server has one.
    pub binlog: Option<Arc<Binlog>>,
    /// Computed tables by upper-case name.
    pub system_tables: RwLock<HashMap<Box<str>, Arc<dyn SystemTable>>>,
    /// Places of files of statements.
    pub places: FilePlaces,
    /// Files for rows that do not fit into memory.
    pub temporary: Arc<TemporaryFiles>,
    /// Work that tables need, or do not need.
    pub upkeep: Upkeep,
    /// Results of queries.
    pub results: KeptResults,
    handles: Handles,
    /// Runs functions and triggers.
    pub(crate) programs: &'static dyn Programs,
}

impl Instance {
    /// An instance over `engines`, one of which stores `dictionary`; `programs` runs functions and
    /// triggers.
    pub(crate) fn with_programs(
        catalog: Catalog,
        dictionary: Dictionary,
        engines: Engines,
        programs: &'static dyn Programs,
    ) -> Self {
        let all: Vec<Arc<dyn Engine>> = engines.iter().cloned().collect();
        let row_waits = move |show: &mut dyn FnMut(u64, u64)| {
            all.iter().for_each(|engine| engine.row_waits(show));
        };
        Self {
            catalog,
            dictionary,
            engines,
            locks: MetadataLocks::with_row_waits(Box::new(row_waits)),
            gate: Arc::default(),
            sequences: Sequences::default(),
            branches: Branches::default(),
            binlog: None,
            system_tables: RwLock::default(),
            places: FilePlaces::new(PathBuf::from("."), None),
            temporary: Arc::default(),
            upkeep: Upkeep::default(),
            results: KeptResults::default(),
            handles: Handles::default(),
            programs,
        }
    }

    /// Registers the provider of a computed table. Names of tables that are neither in
    /// `information_schema` nor in `mysql` begin with the schema and a dot.
    pub fn add_system_table(&self, name: &str, table: Arc<dyn SystemTable>) {
        self.system_tables.write().insert(name.to_ascii_uppercase().into(), table);
    }

    /// Finds an engine by name; error 1286 if there is none.
    pub fn engine(&self, name: &str) -> SqlResult<&Arc<dyn Engine>> {
        self.engines.get(name).ok_or_else(|| unknown_engine(name))
    }

    /// Finds the engine of a table; error 1286 if there is none.
    pub(crate) fn engine_of(&self, table: &TableInfo) -> SqlResult<&Arc<dyn Engine>> {
        self.engines.of(table.engine).ok_or_else(|| unknown_engine(table.engine.name))
    }

    /// Uses of tables and indexes.
    pub fn uses(&self) -> &TableUses {
        &self.handles.uses
    }

    /// A handle of a table's storage, opened once per version of its definition.
    pub fn open_table(&self, info: &TableInfo) -> SqlResult<Arc<TableHandle>> {
        let engine = self.engine_of(info)?;
        self.handles.get(info, || self.open(engine, info)).map_err(|e| from_engine(e, &info.def))
    }

    /// The same for a statement that has locked the definition; it writes no memory that other
    /// threads use.
    pub(crate) fn open_own(&self, info: &TableInfo) -> SqlResult<Arc<OwnHandle>> {
        let engine = self.engine_of(info)?;
        self.handles.own(info, || self.open(engine, info)).map_err(|e| from_engine(e, &info.def))
    }

    /// As [`Self::open_table`], to read the engine's statistics without a metadata lock. The table
    /// may have been replaced meanwhile, which does no harm.
    pub fn look_into(&self, info: &TableInfo) -> Option<Arc<TableHandle>> {
        let engine = self.engine_of(info).ok()?;
        self.handles.get(info, || self.open(engine, info)).ok()
    }

    fn open(&self, engine: &Arc<dyn Engine>, info: &TableInfo) -> EngineResult<TableHandle> {
        let parts = self.open_parts(engine, info)?;
        let table = match &parts {
            Some(parts) => parts.clone(),
            None => engine.open_table(&info.def)?,
        };
        let codecs = info.def.indexes.iter().map(|i| IndexCodec::new(&info.def, i)).collect();
        let (changed, images) = (AtomicU64::new(0), OnceLock::new());
        let (engine, used) = (engine.clone(), AtomicBool::new(false));
        Ok(TableHandle { table, codecs, engine, parts, changed, images, used })
    }

    fn open_parts(
        &self,
        engine: &Arc<dyn Engine>,
        info: &TableInfo,
    ) -> EngineResult<Option<Arc<PartSet>>> {
        let Some(partitions) = &info.partitions else { return Ok(None) };
        let counter = self.handles.counters.of(info.def.id);
        PartSet::new(engine, info, partitions, counter).map(|parts| Some(Arc::new(parts)))
    }

    /// The parts of a partitioned table whose definition may not be published yet.
    pub(crate) fn parts_of(&self, info: &TableInfo) -> SqlResult<Arc<PartSet>> {
        let engine = self.engine_of(info)?;
        let parts = self.open_parts(engine, info).map_err(|e| from_engine(e, &info.def))?;
        parts.ok_or_else(|| SqlError::internal("a table without parts"))
    }

    /// The storage of a table whose definition may not be published yet.
    pub(crate) fn open_storage(&self, info: &TableInfo) -> SqlResult<Arc<dyn Table>> {
        let engine = self.engine_of(info)?;
        let parts = self.open_parts(engine, info).map_err(|e| from_engine(e, &info.def))?;
        match parts {
            Some(parts) => Ok(parts),
            None => engine.open_table(&info.def).map_err(|e| from_engine(e, &info.def)),
        }
    }

    /// Whether a handle of the table is cached.
    pub fn is_open(&self, id: TableId) -> bool {
        self.handles.is_open(id)
    }

    /// Number of tables with a cached handle.
    pub fn open_tables(&self) -> usize {
        self.handles.len()
    }

    /// Drops the handle of a table that was dropped or changed.
    pub fn close_table(&self, id: TableId) {
        self.handles.close(id);
        self.sequences.forget(id);
        self.upkeep.maintained.forget(id);
        self.handles.counters.forget(id);
    }
}

fn unknown_engine(name: &str) -> SqlError {
    SqlError::new(&ER_UNKNOWN_STORAGE_ENGINE, &[&name])
}
