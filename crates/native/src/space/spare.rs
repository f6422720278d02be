//! Empty files kept ready for a full disk: whoever makes room by a new file, as TRUNCATE does,
//! finds one. Their space is taken, so nobody else can have it meanwhile.
//!
//! A spare file is only zeros, of the length of a new data file; it becomes one by its name.

use super::file::FIRST_PAGES;
use crate::disk::{Access, Disk, File};
use crate::ids::PAGE_SIZE;
use crate::sync::Mutex;
use std::io;
use std::sync::Arc;

const PREFIX: &str = "spare.";
/// The number of spare files: enough for a table with as many indexes, less one.
const FILES: usize = if cfg!(test) { 2 } else { 16 };
/// Bytes of each, which are those of a new data file.
pub(super) const BYTES: u64 = FIRST_PAGES as u64 * PAGE_SIZE as u64;

/// The files that are ready.
pub(super) struct Spares {
    disk: Arc<dyn Disk>,
    ready: Mutex<Vec<String>>,
}

impl Spares {
    /// Finds those of earlier lives. One that a crash left half made is made again.
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

    /// Makes what is missing, as far as there is space.
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
        // Its name need not survive a crash: `take` makes the new one durable.
        file.sync()
    }

    /// Gives one the name of a new data file; `None` if none is left.
    pub(super) fn take(&self, name: &str) -> io::Result<Option<Arc<dyn File>>> {
        let Some(spare) = self.ready.lock().pop() else { return Ok(None) };
        self.disk.rename(&spare, name)?;
        let file = self.disk.open(name, Access::Direct)?;
        // One that an earlier life made and was killed over has its length, but perhaps not
        // durably.
        file.sync()?;
        self.disk.sync_dir()?;
        Ok(Some(file))
    }
}
