//! Data files: creation, removal, the list of those that exist, and their sizes.
//!
//! A file is created on disk, durably, before the log mentions it, and removed only after the log
//! record of its removal is durable. So every file the log needs exists, and a file that no
//! catalogue knows can be deleted at start (I34).

use super::alloc::FileState;
use super::map::{REGION_OVERHEAD, REGION_PAGES, count_used, map_page};
use super::spare::Spares;
use crate::disk::{Access, Disk, File};
use crate::error::{Result, StorageError};
use crate::ids::{FileId, PAGE_SIZE, PageId};
use crate::mtr::Mtr;
use crate::page::PageType;
use crate::pool::Arena;
use crate::storage::Storage;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Mutex, RwLock};
use hashbrown::HashMap;
use std::sync::Arc;

/// Start of the owner's metadata on page 0 of a file; the area ends with the page.
pub(crate) const FILE_META_OFFSET: usize = 128;
const FILE_MAGIC: &[u8; 8] = b"SLKYDATA";
/// Pages of a new file.
pub(super) const FIRST_PAGES: u32 = 8;
/// Growth doubles the file, but adds at most this many pages (64 MiB) at a time.
const MAX_STEP: u32 = 4096;

/// The name of a data file.
pub(crate) fn data_file_name(file: FileId) -> String {
    format!("data.{:010}", file.0)
}

fn parse_name(name: &str) -> Option<FileId> {
    name.strip_prefix("data.")?.parse().ok().filter(|id| *id != 0).map(FileId)
}

/// A data file that exists.
pub(crate) struct DataFile {
    pub(super) id: FileId,
    pub(super) handle: Arc<dyn File>,
    pub(super) state: Mutex<FileState>,
    /// Held while the file grows.
    pub(super) growing: Mutex<()>,
    /// Its length is durable. That of a file found at start may not be: its process may have been
    /// killed before the sync.
    pub(super) settled: AtomicBool,
}

impl DataFile {
    fn found(id: FileId, handle: Arc<dyn File>) -> Arc<DataFile> {
        DataFile::new(id, handle, FileState::default(), false)
    }

    fn created(id: FileId, handle: Arc<dyn File>) -> Arc<DataFile> {
        DataFile::new(id, handle, FileState::new(FIRST_PAGES, REGION_OVERHEAD), true)
    }

    fn new(id: FileId, handle: Arc<dyn File>, state: FileState, settled: bool) -> Arc<DataFile> {
        let (state, growing) = (Mutex::new(state), Mutex::new(()));
        Arc::new(DataFile { id, handle, state, growing, settled: AtomicBool::new(settled) })
    }

    /// Makes the length durable, before any page of it is reserved.
    pub(super) fn settle(&self, storage: &Storage) {
        if self.settled.load(Ordering::Relaxed) {
            return;
        }
        if let Err(e) = self.handle.sync() {
            storage.disk().fatal(&format!("fsync of data file {} failed: {e}", self.id.0));
        }
        self.settled.store(true, Ordering::Relaxed);
    }
}

/// All data files.
pub(crate) struct Space {
    disk: Arc<dyn Disk>,
    files: RwLock<HashMap<FileId, Arc<DataFile>>>,
    spares: Spares,
}

impl Space {
    /// Opens every data file of the directory.
    pub(crate) fn open(disk: Arc<dyn Disk>) -> Result<Space> {
        let mut files = HashMap::new();
        for name in disk.list().map_err(|e| StorageError::io("list of data files", e))? {
            let Some(id) = parse_name(&name) else { continue };
            let handle = disk
                .open(&name, Access::Direct)
                .map_err(|e| StorageError::io(format!("open of {name}"), e))?;
            files.insert(id, DataFile::found(id, handle));
        }
        let spares = Spares::open(disk.clone());
        let spares = spares.map_err(|e| StorageError::io("list of spare files", e))?;
        Ok(Space { disk, files: RwLock::new(files), spares })
    }

    /// Handles of all files.
    pub(crate) fn handles(&self) -> HashMap<FileId, Arc<dyn File>> {
        self.files.read().values().map(|f| (f.id, f.handle.clone())).collect()
    }

    /// Ids of all files, ascending.
    pub(crate) fn files(&self) -> Vec<FileId> {
        let mut ids: Vec<FileId> = self.files.read().keys().copied().collect();
        ids.sort_unstable();
        ids
    }

    /// All files.
    pub(super) fn all(&self) -> Vec<Arc<DataFile>> {
        self.files.read().values().cloned().collect()
    }

    pub(super) fn file(&self, id: FileId) -> Result<Arc<DataFile>> {
        self.files
            .read()
            .get(&id)
            .cloned()
            .ok_or_else(|| StorageError::page(PageId::new(id, 0), "no such file"))
    }

    /// Creates an empty file: page 0 with `FILE_META_OFFSET..` free for the owner, page 1 the space
    /// map.
    pub(crate) fn create_file(&self, storage: &Storage) -> Result<FileId> {
        let id = storage.next_file_id();
        let name = data_file_name(id);
        let create = || -> std::io::Result<Arc<dyn File>> {
            let handle = self.disk.create(&name, Access::Direct)?;
            handle.allocate(u64::from(FIRST_PAGES) * PAGE_SIZE as u64)?;
            handle.sync()?;
            self.disk.sync_dir()?;
            Ok(handle)
        };
        let failed = |e| StorageError::io(format!("creation of {name}"), e);
        let handle = match create() {
            Ok(handle) => handle,
            Err(e) => {
                let _ = self.disk.remove(&name);
                let full = e.kind() == std::io::ErrorKind::StorageFull;
                let spare = if full { self.spares.take(&name).map_err(failed)? } else { None };
                spare.ok_or_else(|| failed(e))?
            }
        };
        crate::failpoint::reached("file created");
        storage.pool().attach(id, handle.clone());
        self.files.write().insert(id, DataFile::created(id, handle));
        log_new_file(storage, id)?;
        Ok(id)
    }

    /// Refills the stock of spare files for a full disk.
    pub(crate) fn refill_spares(&self) -> Result<()> {
        self.spares.refill().map_err(|e| StorageError::io("creation of spare files", e))
    }

    /// Removes a file for good. No thread may use it, and the decision to remove it must be
    /// durable.
    pub(crate) fn delete_file(&self, storage: &Storage, id: FileId) -> Result<()> {
        self.file(id)?;
        let mut mtr = Mtr::begin_reserved(storage);
        mtr.file_dropped(id);
        let lsn = mtr.commit();
        storage.log().flush_upto(lsn);
        crate::failpoint::reached("file drop logged");
        storage.pool().drop_file(id);
        self.files.write().remove(&id);
        let gone = self.disk.remove(&data_file_name(id)).and_then(|()| self.disk.sync_dir());
        gone.map_err(|e| StorageError::io(format!("removal of {}", data_file_name(id)), e))
    }

    /// Removes what is left of a file whose removal the log records.
    pub(crate) fn finish_drop(&self, id: FileId) -> Result<()> {
        if self.files.write().remove(&id).is_some() {
            let gone = self.disk.remove(&data_file_name(id)).and_then(|()| self.disk.sync_dir());
            gone.map_err(|e| StorageError::io(format!("removal of {}", data_file_name(id)), e))?;
        }
        Ok(())
    }

    /// Reads sizes and free counts, after redo. A file without its first pages (a crash came before
    /// its creation was logged) is listed with no free page, to be deleted.
    pub(crate) fn load_states(&self, storage: &Storage) -> Result<()> {
        for file in self.files.read().values() {
            let len =
                file.handle.len().map_err(|e| StorageError::io("length of a data file", e))?;
            let pages = u32::try_from(len / PAGE_SIZE as u64).unwrap_or(u32::MAX);
            *file.state.lock() = read_state(storage, file.id, pages)?;
        }
        Ok(())
    }
}

/// Counts used pages. A file whose first map was never written comes from a statement that the
/// crash cut short: none of its pages can be allocated. A later region without a map belongs to an
/// unfinished growth: the file ends before it.
fn read_state(storage: &Storage, id: FileId, pages: u32) -> Result<FileState> {
    let mut used = 0;
    for region in 0..pages.div_ceil(REGION_PAGES) {
        let here = (pages - region * REGION_PAGES).min(REGION_PAGES);
        let at = PageId { file: id, page: map_page(region) };
        match storage.pool().shared(at) {
            Ok(map) => used += count_used(&map, here),
            Err(StorageError::Corrupt { .. }) if storage.is_blank(at)? => {
                let pages = if region == 0 { pages } else { region * REGION_PAGES };
                return Ok(FileState::new(pages, if region == 0 { pages } else { used }));
            }
            Err(e @ StorageError::Corrupt { .. }) if storage.salvages() => {
                tracing::warn!("no new pages are allocated in the file: {e}");
                return Ok(FileState::new(pages, pages));
            }
            Err(e) => return Err(e),
        }
    }
    Ok(FileState::new(pages, used))
}

impl Storage {
    /// Whether a file without an owner's name can only be left over from a statement that a crash
    /// cut short: no page behind its header and map was ever written.
    pub(crate) fn is_remains(&self, file: FileId) -> Result<bool> {
        let len = self.pool().handle(file)?.len();
        let len = len.map_err(|e| StorageError::io("length of a data file", e))?;
        for page in REGION_OVERHEAD..(len / PAGE_SIZE as u64) as u32 {
            if !self.is_blank(PageId::new(file, page))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the page was never written: all zeros on disk, or beyond the end of its file.
    pub(crate) fn is_blank(&self, id: PageId) -> Result<bool> {
        let mut buf = Arena::new(PAGE_SIZE).map_err(|e| StorageError::io("memory", e))?;
        match self.pool().handle(id.file)?.read_at(buf.bytes_mut(), id.byte_offset()) {
            Ok(()) => Ok(buf.bytes_mut().iter().all(|b| *b == 0)),
            Err(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => Ok(true),
            Err(e) => Err(StorageError::io(format!("read of {id}"), e)),
        }
    }
}

fn log_new_file(storage: &Storage, id: FileId) -> Result<()> {
    let mut mtr = Mtr::begin(storage)?;
    mtr.file_created(id);
    let header = mtr.create(PageId::new(id, 0), PageType::FileHeader as u8)?;
    let mut identity = [0; 16];
    identity[..8].copy_from_slice(FILE_MAGIC);
    identity[8..12].copy_from_slice(&1u32.to_le_bytes());
    identity[12..16].copy_from_slice(&(PAGE_SIZE as u32).to_le_bytes());
    mtr.write(header, crate::page::HEADER_LEN, &identity);
    super::alloc::create_map(&mut mtr, id, 0)?;
    mtr.commit();
    Ok(())
}

/// Pages by which a file of `pages` pages grows.
pub(super) fn step(pages: u32) -> u32 {
    pages.clamp(FIRST_PAGES, MAX_STEP)
}
