//! What all sessions of a server share: definitions, engines, locks, computed tables.

mod handles;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hashbrown::HashMap;
use parking_lot::RwLock;
use selkie_catalog::{Catalog, Dictionary, TableInfo};
use selkie_engine::{Engine, EngineResult, IndexCodec, Personality, Table, TableId};
use selkie_types::error::catalogue::ER_UNKNOWN_STORAGE_ENGINE;
use selkie_types::{SqlError, SqlResult, Value};

use super::around::Programs;
use crate::Session;
use crate::state::branches::Branches;
use crate::state::error::from_engine;
use crate::state::gate::Gate;
use crate::state::maintained::Maintained;
use crate::state::metadata::MetadataLocks;
use crate::state::sequences::Sequences;
use handles::Handles;

pub(crate) use handles::OwnHandle;

/// What is asked of a computed table.
pub struct SystemRequest<'a> {
    /// The server.
    pub instance: &'a Instance,
    /// Who asks; rows it may not see are left out.
    pub session: &'a Session,
    /// The table's definition.
    pub table: &'a TableInfo,
    /// Positions of the columns that are needed; others may be NULL.
    pub columns: &'a [usize],
    /// The only schema asked for.
    pub schema: Option<&'a str>,
    /// The only table name asked for.
    pub name: Option<&'a str>,
}

/// Computes the rows of a table of `information_schema` and the like.
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
    /// Those that clients are told of, in the order of that list.
    shown: Vec<&'static Personality>,
}

impl Engines {
    /// Adds an engine under its own names.
    pub fn add(&mut self, engine: Arc<dyn Engine>) {
        self.list.push(engine);
    }

    /// Sets those that clients are told of: some added here, and some of computed tables.
    pub fn show(&mut self, shown: impl Into<Vec<&'static Personality>>) {
        self.shown = shown.into();
    }

    /// The engine called `name` in any case.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Engine>> {
        self.list.iter().find(|engine| engine.personality().is_called(name))
    }

    /// What statements see of the engine called `name`.
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

    /// Those that clients are told of.
    pub(crate) fn shown(&self) -> &[&'static Personality] {
        &self.shown
    }
}

/// An open table with what is derived from its definition.
pub struct TableHandle {
    /// The engine's handle.
    pub table: Arc<dyn Table>,
    /// One per index.
    pub codecs: Vec<IndexCodec>,
    /// The engine.
    pub engine: Arc<dyn Engine>,
    /// When rows last changed, in seconds since 1970; 0 if they have not since the table was
    /// opened.
    changed: AtomicU64,
}

impl TableHandle {
    /// Rows have changed at a time in microseconds since 1970.
    pub(crate) fn note_change(&self, micros: i64) {
        let seconds = u64::try_from(micros / 1_000_000).unwrap_or(0);
        // Statements of one second write no memory that others read.
        if self.changed.load(Ordering::Relaxed) != seconds {
            self.changed.store(seconds, Ordering::Relaxed);
        }
    }

    /// Rows changed when they did by the handle of an earlier definition.
    fn take_change_of(&self, earlier: &Self) {
        self.changed.fetch_max(earlier.changed.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// When rows last changed, in seconds since 1970, if they have since the table was opened.
    pub(crate) fn changed(&self) -> Option<u64> {
        Some(self.changed.load(Ordering::Relaxed)).filter(|seconds| *seconds > 0)
    }
}

/// The server as sessions see it.
pub struct Instance {
    /// Definitions.
    pub catalog: Catalog,
    /// Where definitions are kept.
    pub dictionary: Dictionary,
    /// Storage engines.
    pub engines: Engines,
    /// Locks on definitions.
    pub locks: MetadataLocks,
    /// The gate of all changes.
    pub gate: Arc<Gate>,
    /// Sequences in use.
    pub sequences: Sequences,
    /// Branches of distributed transactions.
    pub branches: Branches,
    /// Computed tables by upper-case name.
    pub system_tables: RwLock<HashMap<Box<str>, Arc<dyn SystemTable>>>,
    /// `secure_file_priv`: `None` allows any directory.
    pub secure_file_priv: Option<PathBuf>,
    /// Directory relative file names start from.
    pub data_dir: PathBuf,
    /// What maintenance has left nothing to do for, until rows change.
    pub(crate) maintained: Maintained,
    handles: Handles,
    /// Runs functions and triggers.
    pub(crate) programs: &'static dyn Programs,
}

impl Instance {
    /// An instance over engines and the dictionary kept in one of them; `programs` runs functions
    /// and triggers.
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
            system_tables: RwLock::default(),
            secure_file_priv: None,
            data_dir: PathBuf::from("."),
            maintained: Maintained::default(),
            handles: Handles::default(),
            programs,
        }
    }

    /// Registers who computes a table of `information_schema`.
    pub fn add_system_table(&self, name: &str, table: Arc<dyn SystemTable>) {
        self.system_tables.write().insert(name.to_ascii_uppercase().into(), table);
    }

    /// The engine called `name`, or error 1286.
    pub fn engine(&self, name: &str) -> SqlResult<&Arc<dyn Engine>> {
        self.engines.get(name).ok_or_else(|| unknown_engine(name))
    }

    /// The engine of a table, or error 1286.
    pub(crate) fn engine_of(&self, table: &TableInfo) -> SqlResult<&Arc<dyn Engine>> {
        self.engines.of(table.engine).ok_or_else(|| unknown_engine(table.engine.name))
    }

    /// A handle on a base table's storage, opened once per version of its definition.
    pub fn open_table(&self, info: &TableInfo) -> SqlResult<Arc<TableHandle>> {
        let engine = self.engine_of(info)?;
        self.handles.get(info, || open(engine, info)).map_err(|e| from_engine(e, &info.def))
    }

    /// The same for a statement that has locked the definition, without a trace in memory that
    /// other threads use.
    pub(crate) fn open_own(&self, info: &TableInfo) -> SqlResult<Arc<OwnHandle>> {
        let engine = self.engine_of(info)?;
        self.handles.own(info, || open(engine, info)).map_err(|e| from_engine(e, &info.def))
    }

    /// As [`Self::open_table`], to know what the engine knows of the table, for somebody who has
    /// not locked the definition: another may have taken the table's place meanwhile, which is no
    /// damage.
    pub fn look_into(&self, info: &TableInfo) -> Option<Arc<TableHandle>> {
        let engine = self.engine_of(info).ok()?;
        self.handles.get(info, || open(engine, info)).ok()
    }

    /// Whether a handle of a table is kept.
    pub fn is_open(&self, id: TableId) -> bool {
        self.handles.is_open(id)
    }

    /// Tables of which a handle is kept.
    pub fn open_tables(&self) -> usize {
        self.handles.len()
    }

    /// Forgets the handle of a table that was dropped or changed.
    pub fn close_table(&self, id: TableId) {
        self.handles.close(id);
        self.sequences.forget(id);
        self.maintained.forget(id);
    }
}

fn unknown_engine(name: &str) -> SqlError {
    SqlError::new(&ER_UNKNOWN_STORAGE_ENGINE, &[&name])
}

fn open(engine: &Arc<dyn Engine>, info: &TableInfo) -> EngineResult<TableHandle> {
    let table = engine.open_table(&info.def)?;
    let codecs = info.def.indexes.iter().map(|i| IndexCodec::new(&info.def, i)).collect();
    Ok(TableHandle { table, codecs, engine: engine.clone(), changed: AtomicU64::new(0) })
}
