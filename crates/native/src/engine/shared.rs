//! State shared by the engine, its tables and its transactions.
//!
//! Background threads refer to it weakly, so that they do not keep the database open.

use super::options::MakeFile;
use super::riders::Riders;
use crate::btree::Tree;
use crate::columns::Memory;
use crate::error::Result;
use crate::ids::{FileId, Lsn};
use crate::lock::LockTable;
use crate::mtr::Mtr;
use crate::page::get_u64;
use crate::storage::Storage;
use crate::stripe::Striped;
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::sync::{Condvar, Mutex, RwLock, RwLockReadGuard};
use crate::table::{TableFiles, index_of, value};
use crate::trx::{
    Abandoned, Counters, Losers, PreparedTransactions, PurgeQueue, Snapshots, TrxList, TrxRecord,
    TrxState, Undo, WaitTimes, purge_step, seq_of,
};
use hashbrown::HashMap;
use selkie_engine::{EngineError, EngineResult, IndexId, TableId};
use std::collections::BTreeMap;
use std::hash::BuildHasher;
use std::sync::Arc;

const STRIPES: usize = 64;

/// Numbers of rows processed since start, and the count of column groups.
#[derive(Default)]
pub(crate) struct RowCounters {
    pub(crate) read: Striped,
    pub(crate) inserted: Striped,
    pub(crate) updated: Striped,
    pub(crate) deleted: Striped,
    pub(crate) columns: Arc<Memory>,
}

/// Files whose creation or removal is not final in the log yet.
#[derive(Default)]
struct PendingFiles {
    /// Files created by active transactions.
    created: Vec<FileId>,
    /// Files dropped by commits at these positions; they are deleted once those are durable.
    dropped: Vec<(Lsn, FileId)>,
}

/// Mutexes for unique keys.
struct Stripes {
    locks: Box<[Mutex<()>]>,
    hasher: foldhash::fast::RandomState,
}

impl Stripes {
    fn new() -> Stripes {
        let locks = (0..STRIPES).map(|_| Mutex::default()).collect();
        Stripes { locks, hasher: foldhash::fast::RandomState::default() }
    }
}

/// Changes that are refused.
#[derive(Default)]
pub(super) struct Refusals {
    /// Statements must not change anything.
    pub(super) read_only: AtomicBool,
    /// Compat: if there is a log to read, statements that add versions are refused with another
    /// error than deletes.
    pub(super) rescues: AtomicBool,
}

/// A tree and the table it belongs to.
type OwnedTree = (Arc<Tree>, Arc<TableFiles>);

/// A tree whose file is not deleted while this is held.
pub(crate) struct KeptTree<'s> {
    pub(crate) tree: Arc<Tree>,
    pub(crate) files: Arc<TableFiles>,
    _kept: RwLockReadGuard<'s, ()>,
}

/// The trees of all tables.
#[derive(Default)]
struct Trees {
    by_file: RwLock<HashMap<FileId, OwnedTree>>,
    /// Held for reading while a rollback or a cleanup changes a tree: it may hold no lock on the
    /// table, so a statement may drop the table at the same time. Held for writing for a moment
    /// before a file is deleted, when its tree is not found any more. Innermost: its readers wait
    /// for latches, frames and space in the log only, and take it once.
    kept: RwLock<()>,
}

/// The engine's shared state.
pub(crate) struct Shared {
    pub(crate) storage: Arc<Storage>,
    pub(crate) undo: Undo,
    pub(crate) snapshots: Snapshots,
    pub(crate) running: TrxList,
    pub(crate) locks: LockTable,
    pub(crate) purge: PurgeQueue,
    pub(crate) prepared: PreparedTransactions,
    pub(crate) losers: Losers,
    pub(crate) abandoned: Abandoned,
    pub(crate) counters: RowCounters,
    pub(crate) wait_times: WaitTimes,
    pub(crate) riders: Riders,
    pub(super) temporary: MakeFile,
    pub(super) tables: RwLock<HashMap<TableId, Arc<TableFiles>>>,
    trees: Trees,
    files: Mutex<PendingFiles>,
    stripes: Stripes,
    next_trx: AtomicU64,
    pub(super) purger: Purger,
    pub(super) refuses: Refusals,
}

/// Wakes and stops the purge thread.
#[derive(Default)]
pub(super) struct Purger {
    pub(super) runs: AtomicBool,
    pub(super) stop: AtomicBool,
    lock: Mutex<()>,
    bell: Condvar,
}

impl Purger {
    pub(super) fn wake(&self) {
        self.bell.notify_one();
    }

    pub(super) fn sleep(&self, time: std::time::Duration) {
        let mut lock = self.lock.lock();
        if !self.stop.load(Ordering::Acquire) {
            self.bell.wait_for(&mut lock, time);
        }
    }
}

impl Shared {
    pub(super) fn new(
        storage: Arc<Storage>,
        undo: Undo,
        riders: Riders,
        temporary: MakeFile,
    ) -> Shared {
        Shared {
            storage,
            undo,
            snapshots: Snapshots::default(),
            running: TrxList::default(),
            locks: LockTable::new(),
            purge: PurgeQueue::default(),
            prepared: PreparedTransactions::default(),
            losers: Losers::default(),
            abandoned: Abandoned::default(),
            counters: RowCounters::default(),
            wait_times: WaitTimes::default(),
            riders,
            temporary,
            tables: RwLock::default(),
            trees: Trees::default(),
            files: Mutex::default(),
            stripes: Stripes::new(),
            next_trx: AtomicU64::new(1),
            purger: Purger::default(),
            refuses: Refusals::default(),
        }
    }

    pub(crate) fn new_state(&self) -> Arc<TrxState> {
        Arc::new(TrxState::new(self.next_trx.fetch_add(1, Ordering::Relaxed)))
    }

    /// Refuses changes while the engine is read only.
    pub(crate) fn check_writable(&self) -> EngineResult<()> {
        match self.refuses.read_only.load(Ordering::Relaxed) {
            true => Err(EngineError::ReadOnly),
            false => Ok(()),
        }
    }

    /// As [`Self::check_writable`], for changes that add versions of rows.
    pub(crate) fn check_grows(&self) -> EngineResult<()> {
        match self.refuses.rescues.load(Ordering::Relaxed) {
            true => Err(EngineError::ReadOnlyMode),
            false => self.check_writable(),
        }
    }

    /// The id of the next transaction.
    pub(super) fn next_trx(&self) -> u64 {
        self.next_trx.load(Ordering::Relaxed)
    }

    /// All tables, in no order.
    pub(crate) fn all_tables(&self) -> Vec<Arc<TableFiles>> {
        self.tables.read().values().cloned().collect()
    }

    /// Whether an entry is a delete mark that all readers see, without a long value.
    pub(crate) fn is_dead(&self, value: &[u8]) -> bool {
        value::is_deleted(value)
            && value::chain_of(value).is_none()
            && seq_of(get_u64(value, 0)) < self.undo.reclaimed()
    }

    /// Returns the mutex under which a unique key is checked and inserted (I26).
    pub(crate) fn stripe(&self, file: FileId, key: &[u8]) -> &Mutex<()> {
        &self.stripes.locks[self.stripes.hasher.hash_one((file, key)) as usize % STRIPES]
    }

    /// The table and index whose tree is in a file.
    pub(super) fn place_of(&self, file: FileId) -> Option<(TableId, Option<IndexId>)> {
        let (_, files) = self.tree(file)?;
        if files.clustered.file == file {
            return Some((files.id, None));
        }
        let indexes = files.indexes.read();
        let id = indexes.iter().find(|(_, tree)| tree.file == file).map(|(id, _)| *id);
        id.map(|id| (files.id, Some(index_of(id))))
    }

    /// The tree in a file, and its table.
    pub(crate) fn tree(&self, file: FileId) -> Option<OwnedTree> {
        self.trees.by_file.read().get(&file).cloned()
    }

    /// The tree in a file, to be changed without a lock on its table.
    pub(crate) fn keep_tree(&self, file: FileId) -> Option<KeptTree<'_>> {
        let kept = self.trees.kept.read();
        let (tree, files) = self.tree(file)?;
        Some(KeptTree { tree, files, _kept: kept })
    }

    /// Deletes a file for good, once nothing changes its tree. The decision to delete it must be
    /// durable.
    pub(super) fn delete_file(&self, file: FileId) -> Result<()> {
        self.trees.by_file.write().remove(&file);
        drop(self.trees.kept.write());
        self.storage.space().delete_file(&self.storage, file)
    }

    pub(crate) fn remember_table(&self, files: Arc<TableFiles>) {
        let mut trees = self.trees.by_file.write();
        trees.insert(files.clustered.file, (files.clustered.clone(), files.clone()));
        for tree in files.indexes.read().values() {
            trees.insert(tree.file, (tree.clone(), files.clone()));
        }
        self.tables.write().insert(files.id, files.clone());
    }

    pub(super) fn remember_tree(&self, tree: &Arc<Tree>, files: &Arc<TableFiles>) {
        self.trees.by_file.write().insert(tree.file, (tree.clone(), files.clone()));
    }

    pub(crate) fn forget_tree(&self, tree: &Tree) {
        self.trees.by_file.write().remove(&tree.file);
    }

    pub(crate) fn forget_table(&self, files: &Arc<TableFiles>) {
        let mut tables = self.tables.write();
        if tables.get(&files.id).is_some_and(|known| Arc::ptr_eq(known, files)) {
            tables.remove(&files.id);
        }
        drop(tables);
        self.forget_tree(&files.clustered);
        files.indexes.read().values().for_each(|tree| self.forget_tree(tree));
    }

    pub(crate) fn forget_index(&self, files: &TableFiles, id: IndexId, tree: &Arc<Tree>) {
        files.stop_growing(id);
        let mut indexes = files.indexes.write();
        if indexes.get(&id).is_some_and(|known| Arc::ptr_eq(known, tree)) {
            indexes.remove(&id);
        }
        self.forget_tree(tree);
    }

    /// Notes a file created by a transaction; a crash removes it unless the transaction commits.
    pub(super) fn file_created(&self, file: FileId) {
        self.files.lock().created.push(file);
    }

    /// Called while the commit is published: keeps created files, and queues dropped ones for
    /// deletion once the commit is durable.
    pub(crate) fn files_committed(&self, created: &[FileId], dropped: &[FileId], lsn: Lsn) {
        if created.is_empty() && dropped.is_empty() {
            return;
        }
        let mut files = self.files.lock();
        files.created.retain(|file| !created.contains(file) && !dropped.contains(file));
        files.dropped.extend(dropped.iter().map(|file| (lsn, *file)));
    }

    /// Deletes a file whose creation was rolled back.
    pub(crate) fn delete_created(&self, file: FileId) -> EngineResult<()> {
        self.delete_file(file)?;
        self.files.lock().created.retain(|other| *other != file);
        Ok(())
    }

    /// Deletes files whose drop is durable (I34).
    pub(crate) fn delete_dropped(&self) -> Result<()> {
        let durable = self.storage.log().durable();
        let due: Vec<FileId> = {
            let files = self.files.lock();
            files.dropped.iter().filter(|(lsn, _)| *lsn <= durable).map(|(_, file)| *file).collect()
        };
        for file in due {
            crate::failpoint::reached("drop durable, file there");
            self.files.lock().dropped.retain(|(_, other)| *other != file);
            self.delete_file(file)?;
        }
        Ok(())
    }

    pub(crate) fn pending_files(&self) -> (Vec<FileId>, Vec<FileId>) {
        let files = self.files.lock();
        (files.created.clone(), files.dropped.iter().map(|(_, file)| *file).collect())
    }

    /// Counters of all tables, by the clustered tree's file.
    pub(crate) fn counters(&self) -> BTreeMap<FileId, Counters> {
        let counters = |files: &Arc<TableFiles>| {
            let (auto, rows) = (files.auto.load(Ordering::Acquire), files.rows());
            (files.clustered.file, Counters { auto, rows })
        };
        self.tables.read().values().map(counters).collect()
    }

    /// Logs a counter that was set, so that it survives a crash.
    pub(crate) fn log_counter(&self, file: FileId, next: u64) -> EngineResult<()> {
        let mut mtr = Mtr::begin(&self.storage)?;
        mtr.trx(&TrxRecord::Counter(file, next).encode());
        mtr.commit();
        Ok(())
    }

    /// Whether a purge thread runs.
    pub(crate) fn is_purging(&self) -> bool {
        self.purger.runs.load(Ordering::Acquire)
    }

    /// Cleans up now, or wakes the purge thread to do it.
    pub(crate) fn after_commit(&self) {
        if self.storage.rests_purge() {
            return;
        }
        if self.purger.runs.load(Ordering::Relaxed) {
            if self.purge.waiting() >= 64 {
                self.purger.wake();
            }
        } else if let Err(e) = purge_step(self) {
            tracing::warn!("purge postponed: {e}");
        }
    }
}
