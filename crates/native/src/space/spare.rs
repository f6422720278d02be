//! Empty files kept ready for a full disk: a statement that frees space through a new file, as
//! TRUNCATE does, gets one. Their disk space is allocated, so it cannot be used up meanwhile.
//!
//! A spare file is all zeros and as long as a new data file; a rename makes it one.

use super::file::FIRST_PAGES;
use crate::disk::{Access, Disk, File};
use crate::ids::PAGE_SIZE;
use crate::sync::Mutex;
use std::io;
use std::sync::Arc;

const PREFIX: &str = "spare.";
/// Number of spare files: enough for a table with as many indexes, less one.
const FILES: usize = if cfg!(test) { 2 } else { 16 };
/// Bytes of each, which are those of a new data file.
pub(super) const BYTES: u64 = FIRST_PAGES as u64 * PAGE_SIZE as u64;

/// The spare files.
pub(super) struct Spares {
    disk: Arc<dyn Disk>,
    ready: Mutex<Vec<String>>,
}

impl Spares {
    /// Finds the spare files of earlier runs. One left incomplete by a crash is removed.
    pub(super) fn open(disk: Arc<dyn Disk>) -> io::Result<Spares> {
        let mut ready = Vec::new();
        for name in disk.list()?.into_iter().filter(|name| name.starts_with(PREFIX)) {
            match disk.open(&name, Access::Direct)?.len()? {
                BYTES => ready.push(name),
                _ => disk.remove(&name)?,
            }
        }
        Ok(Spares { disk, ready: Mutex::new(ready) })
    }

    /// Creates missing spare files, as far as there is space.
    pub(super) fn refill(&self) -> io::Result<()> {
        let mut ready = self.ready.lock();
        while ready.len() < FILES {
            let Some(name) = (0..).map(|n| format!("{PREFIX}{n}")).find(|n| !ready.contains(n))
            else {
                return Ok(());
            };
            match self.make(&name) {
                Ok(()) => ready.push(name),
                Err(e) => {
                    let _ = self.disk.remove(&name);
                    return if e.kind() == io::ErrorKind::StorageFull { Ok(()) } else { Err(e) };
                }
            }
        }
        Ok(())
    }

    fn make(&self, name: &str) -> io::Result<()> {
        let file = self.disk.create(name, Access::Direct)?;
        file.allocate(BYTES)?;
        // The name need not survive a crash: `take` makes the new name durable.
        file.sync()
    }

    /// Renames a spare file to that of a new data file; `None` if none is left.
    pub(super) fn take(&self, name: &str) -> io::Result<Option<Arc<dyn File>>> {
        let Some(spare) = self.ready.lock().pop() else { return Ok(None) };
        self.disk.rename(&spare, name)?;
        let file = self.disk.open(name, Access::Direct)?;
        // The length of a spare file made by an earlier, killed process may not be durable.
        file.sync()?;
        self.disk.sync_dir()?;
        Ok(Some(file))
    }
}
