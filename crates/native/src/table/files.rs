//! A table's trees and counters, and the identity stored in each data file.
//!
//! ```text
//! file metadata, page 0 from 128: "TREE" | table id u64
//!                                 | index id u32 (all ones: the clustered tree)
//! ```

use super::growing::Growing;
use super::text::TextState;
use crate::btree::{Seek, Tree};
use crate::columns::Columns;
use crate::error::{Result, StorageError};
use crate::ids::{FileId, PageId};
use crate::mtr::Mtr;
use crate::page::{get_u32, get_u64};
use crate::space::FILE_META_OFFSET;
use crate::storage::Storage;
use crate::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use crate::sync::{Mutex, RwLock};
use crate::trx::TrxRecord;
use hashbrown::HashMap;
use selkie_engine::{IndexId, TableDef, TableId};
use std::sync::Arc;

const MAGIC: &[u8; 4] = b"TREE";
const CLUSTERED: u32 = u32::MAX;

/// A table's storage.
pub(crate) struct TableFiles {
    pub(crate) id: TableId,
    pub(crate) clustered: Arc<Tree>,
    pub(crate) indexes: RwLock<HashMap<IndexId, Arc<Tree>>>,
    /// Next AUTO_INCREMENT value.
    pub(crate) auto: AtomicU64,
    rows: AtomicI64,
    /// Column groups. Beside `rows`, which every change of a row writes anyway.
    pub(crate) columns: Columns,
    /// Next row number of a table without a primary key; 0: not read yet.
    next_row: AtomicU64,
    /// The last row inserted with a duplicate in another index than the clustered one failed.
    expects_duplicates: AtomicBool,
    /// Log position of the table's publication. Older snapshots must not read it; 0: no limit.
    since: AtomicU64,
    texts: Mutex<HashMap<IndexId, Arc<TextState>>>,
    /// Indexes that writers keep although their definition does not have them yet.
    growing: RwLock<Vec<Arc<Growing>>>,
    /// Number of changes of that list.
    growth: AtomicU64,
}

/// Identity of a data file: its table and index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FileIdentity {
    pub(crate) table: TableId,
    /// `None`: the clustered tree.
    pub(crate) index: Option<IndexId>,
}

impl FileIdentity {
    /// Reads the identity; `None` if the file never got one.
    pub(crate) fn read(storage: &Storage, file: FileId) -> Result<Option<FileIdentity>> {
        let first = PageId::new(file, 0);
        let page = match storage.pool().shared(first) {
            Ok(page) => page,
            // A file whose creation a crash interrupted. A damaged page is another case: the file
            // must not be removed for that.
            Err(StorageError::Corrupt { .. }) if storage.is_blank(first)? => return Ok(None),
            Err(e) => return Err(e),
        };
        let meta = &page[FILE_META_OFFSET..FILE_META_OFFSET + 16];
        if &meta[..4] != MAGIC {
            return Ok(None);
        }
        let (table, index) = (TableId(get_u64(meta, 4)), get_u32(meta, 12));
        Ok(Some(FileIdentity { table, index: (index != CLUSTERED).then_some(IndexId(index)) }))
    }

    /// Creates a file with this identity and an empty tree in it. `note` is told of the file before
    /// its identity is logged; until then, recovery takes the file for the remains of a crash.
    pub(crate) fn create(
        self,
        storage: &Arc<Storage>,
        note: impl FnOnce(FileId),
    ) -> Result<Arc<Tree>> {
        let file = storage.space().create_file(storage)?;
        note(file);
        let mut meta = MAGIC.to_vec();
        meta.extend_from_slice(&self.table.0.to_le_bytes());
        meta.extend_from_slice(&self.index.map_or(CLUSTERED, |id| id.0).to_le_bytes());
        let mut mtr = Mtr::begin(storage)?;
        let slot = mtr.exclusive(PageId::new(file, 0))?;
        mtr.write(slot, FILE_META_OFFSET, &meta);
        mtr.trx(&TrxRecord::Created(file).encode());
        mtr.commit();
        Tree::create(storage.clone(), file).map(Arc::new)
    }
}

impl TableFiles {
    pub(crate) fn new(id: TableId, clustered: Arc<Tree>, auto: u64, rows: u64) -> TableFiles {
        TableFiles {
            id,
            clustered,
            indexes: RwLock::default(),
            auto: AtomicU64::new(auto.max(1)),
            rows: AtomicI64::new(rows as i64),
            columns: Columns::default(),
            next_row: AtomicU64::new(0),
            expects_duplicates: AtomicBool::new(false),
            since: AtomicU64::new(0),
            texts: Mutex::default(),
            growing: RwLock::default(),
            growth: AtomicU64::new(0),
        }
    }

    /// Sets the position of the log from which on snapshots may read the table.
    pub(crate) fn publish(&self, position: u64) {
        self.since.store(position, Ordering::Release);
    }

    /// Position of the log from which on snapshots may read the table.
    pub(crate) fn since(&self) -> u64 {
        self.since.load(Ordering::Acquire)
    }

    /// Lets all changes of rows that begin from now on keep an index.
    pub(crate) fn start_growing(&self, index: Arc<Growing>) {
        self.growing.write().push(index);
        self.growth.fetch_add(1, Ordering::AcqRel);
    }

    /// Ends that, because the index is gone or every handle has it.
    pub(crate) fn stop_growing(&self, id: IndexId) {
        self.growing.write().retain(|index| index.id() != id);
        self.growth.fetch_add(1, Ordering::AcqRel);
    }

    /// The index with this id, if it grows.
    pub(crate) fn growing(&self, id: IndexId) -> Option<Arc<Growing>> {
        self.growing.read().iter().find(|index| index.id() == id).cloned()
    }

    /// Indexes that grow, except those of a definition. `seen` is the number of changes of their
    /// list at which a handle has found that there are none.
    #[inline]
    pub(super) fn growing_beside(&self, def: &TableDef, seen: &AtomicU64) -> Vec<Arc<Growing>> {
        let growth = self.growth.load(Ordering::Acquire);
        if growth == seen.load(Ordering::Relaxed) {
            return Vec::new();
        }
        let growing = self.growing.read();
        let is_beside = |index: &&Arc<Growing>| def.index_position(index.id()).is_none();
        let beside: Vec<_> = growing.iter().filter(is_beside).cloned().collect();
        if beside.is_empty() {
            seen.store(growth, Ordering::Relaxed);
        }
        beside
    }

    /// Forgets complete indexes. The caller has waited for all who may still have a handle without
    /// them.
    pub(crate) fn forget_grown(&self) {
        self.growing.write().retain(|index| index.tree.gate.is_growing());
        self.growth.fetch_add(1, Ordering::AcqRel);
    }

    /// State that the handles of a full-text index share.
    pub(super) fn text(&self, index: IndexId) -> Arc<TextState> {
        self.texts.lock().entry(index).or_default().clone()
    }

    /// Forgets the state of an index with this id, because it is made again.
    pub(crate) fn forget_text(&self, index: IndexId) {
        self.texts.lock().remove(&index);
    }

    /// Number of rows, approximately.
    pub(crate) fn rows(&self) -> u64 {
        self.rows.load(Ordering::Relaxed).max(0) as u64
    }

    pub(crate) fn add_rows(&self, rows: i64) {
        self.rows.fetch_add(rows, Ordering::Relaxed);
    }

    /// Whether the next row is likely to have a duplicate. Only a guess: the rows of one table are
    /// often all of one kind, such as settings that are written again and again.
    pub(crate) fn expects_duplicates(&self) -> bool {
        self.expects_duplicates.load(Ordering::Relaxed)
    }

    /// A row had a duplicate.
    pub(crate) fn expect_duplicates(&self) {
        if !self.expects_duplicates() {
            self.expects_duplicates.store(true, Ordering::Relaxed);
        }
    }

    /// A row had none.
    pub(crate) fn expect_no_duplicates(&self) {
        self.expects_duplicates.store(false, Ordering::Relaxed);
    }

    /// Takes a row number. The first call continues after the highest stored number.
    pub(crate) fn number_row(&self) -> Result<u64> {
        if self.next_row.load(Ordering::Acquire) == 0 {
            let last = self.last_key()?;
            let last = last.first_chunk().map_or(0, |key| u64::from_be_bytes(*key));
            self.next_row.fetch_max(last + 1, Ordering::AcqRel);
        }
        Ok(self.next_row.fetch_add(1, Ordering::AcqRel))
    }

    /// The highest clustered key; empty if there is none. Searches backwards, because the last
    /// leaves may be empty.
    fn last_key(&self) -> Result<Vec<u8>> {
        let mut end: Option<Vec<u8>> = None;
        loop {
            let (key, lower) = self.clustered.read(Seek::Before(end.as_deref()), |node| {
                (node.count().checked_sub(1).map(|at| node.key(at)), node.lower().to_vec())
            })?;
            match key {
                Some(key) => return Ok(key),
                None if lower.is_empty() => return Ok(lower),
                None => end = Some(lower),
            }
        }
    }
}
