//! A disk that keeps a bounded number of data files open: the one not used for longest is closed
//! for another, and is opened again when it is needed. So the number of tables has nothing to do
//! with the process's limit of descriptors.
//!
//! Must not close a file while it is used, nor before its writes are synced: the kernel reports a
//! failed write-back only to descriptors that were open when it failed (I11).

use super::{Access, Disk, DiskTraffic, File};
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Mutex, RwLock, RwLockWriteGuard, sleep};
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// Names of files that can be closed at any time begin with this. The others are few.
const CLOSABLE: &str = "data.";
/// Pauses between attempts to open a file while the process has no free descriptor.
const PAUSE: Duration = Duration::from_millis(10);
/// Attempts before the error is given.
const ATTEMPTS: usize = 1000;

/// The disk.
pub(crate) struct BoundedDisk {
    disk: Arc<dyn Disk>,
    opened: Arc<Opened>,
}

impl BoundedDisk {
    /// Keeps at most `most` data files open, unless more of them are in use.
    pub(crate) fn new(disk: Arc<dyn Disk>, most: usize) -> BoundedDisk {
        let opened = Opened { disk: disk.clone(), most, clock: Mutex::new(VecDeque::new()) };
        BoundedDisk { disk, opened: Arc::new(opened) }
    }

    /// Registers a data file that was just opened.
    fn bounded(&self, name: &str, access: Access, file: Arc<dyn File>) -> Arc<dyn File> {
        if !name.starts_with(CLOSABLE) {
            return file;
        }
        let bounded = Arc::new_cyclic(|me| ClosableFile {
            name: name.into(),
            access,
            opened: self.opened.clone(),
            me: me.clone(),
            file: RwLock::new(Some(file)),
            used: AtomicBool::new(true),
            unsynced: AtomicBool::new(false),
        });
        self.opened.clock.lock().push_back(bounded.me.clone());
        bounded
    }
}

impl Disk for BoundedDisk {
    fn open(&self, name: &str, access: Access) -> io::Result<Arc<dyn File>> {
        let file = self.opened.open(name, access)?;
        Ok(self.bounded(name, access, file))
    }

    fn create(&self, name: &str, access: Access) -> io::Result<Arc<dyn File>> {
        let file = self.opened.with_room(name, || self.disk.create(name, access))?;
        Ok(self.bounded(name, access, file))
    }

    fn list(&self) -> io::Result<Vec<String>> {
        self.disk.list()
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.disk.remove(name)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        debug_assert!(!from.starts_with(CLOSABLE), "{from} may have to be opened again");
        self.disk.rename(from, to)
    }

    fn sync_dir(&self) -> io::Result<()> {
        self.opened.retried(|| self.disk.sync_dir())
    }

    fn close(&self) {
        self.disk.close();
    }

    fn fatal(&self, what: &str) -> ! {
        self.disk.fatal(what)
    }

    fn abandoned(&self, what: &str) {
        self.disk.abandoned(what);
    }

    fn traffic(&self) -> Option<&DiskTraffic> {
        self.disk.traffic()
    }

    fn open_files(&self) -> usize {
        self.opened.clock.lock().len()
    }
}

/// The data files that are open.
struct Opened {
    disk: Arc<dyn Disk>,
    most: usize,
    /// An entry for each open file, and for files that are gone. A file used since its last turn
    /// gets another one.
    clock: Mutex<VecDeque<Weak<ClosableFile>>>,
}

impl Opened {
    fn open(&self, name: &str, access: Access) -> io::Result<Arc<dyn File>> {
        self.with_room(name, || self.disk.open(name, access))
    }

    /// Opens or creates a file after room was made for it.
    fn with_room<T>(&self, name: &str, open: impl Fn() -> io::Result<T>) -> io::Result<T> {
        if name.starts_with(CLOSABLE) {
            self.make_room();
        }
        self.retried(open)
    }

    /// Runs `open` again as long as the process has no free descriptor: sessions and sorts give
    /// theirs back, while a failed write of a page would end the process.
    fn retried<T>(&self, open: impl Fn() -> io::Result<T>) -> io::Result<T> {
        for _ in 0..ATTEMPTS {
            match open() {
                Err(e) if is_out_of_descriptors(&e) => {
                    if !self.close_one() {
                        sleep(PAUSE);
                    }
                }
                result => return result,
            }
        }
        open()
    }

    fn make_room(&self) {
        while self.clock.lock().len() >= self.most {
            if !self.close_one() {
                return;
            }
        }
    }

    /// Closes a file, or forgets one that is gone. A file with unsynced writes is taken only if all
    /// others are in use.
    fn close_one(&self) -> bool {
        let mut clock = self.clock.lock();
        let files = clock.len();
        for turn in 0..3 * files {
            let Some(entry) = clock.pop_front() else { return false };
            let Some(file) = entry.upgrade() else { return true };
            let spared = turn < files && file.used.swap(false, Ordering::Relaxed);
            let closed = match turn / files {
                0 | 1 => !spared && file.close(),
                _ => file.sync_and_close(),
            };
            if closed {
                return true;
            }
            clock.push_back(entry);
        }
        false
    }
}

/// Whether the process, or the system, has no free descriptor.
fn is_out_of_descriptors(error: &io::Error) -> bool {
    let code = error.raw_os_error().map(rustix::io::Errno::from_raw_os_error);
    matches!(code, Some(rustix::io::Errno::MFILE | rustix::io::Errno::NFILE))
}

/// A data file that is closed from time to time.
struct ClosableFile {
    name: Box<str>,
    access: Access,
    opened: Arc<Opened>,
    me: Weak<ClosableFile>,
    /// Cloned while it is used, so that a file with one owner is not in use.
    file: RwLock<Option<Arc<dyn File>>>,
    /// Used since its last turn.
    used: AtomicBool,
    /// Has writes that no sync has made durable. Set after a write, before the writer's clone of
    /// the file ends; cleared before a sync, so that a write during the sync sets it again.
    unsynced: AtomicBool,
}

impl ClosableFile {
    /// The open file, which stays open as long as the caller has it.
    fn file(&self) -> io::Result<Arc<dyn File>> {
        self.used.store(true, Ordering::Relaxed);
        if let Some(file) = &*self.file.read() {
            return Ok(file.clone());
        }
        let mut slot = self.file.write();
        if let Some(file) = &*slot {
            return Ok(file.clone());
        }
        let file = self.opened.open(&self.name, self.access)?;
        *slot = Some(file.clone());
        self.opened.clock.lock().push_back(self.me.clone());
        Ok(file)
    }

    /// Locks the file against uses, unless it is used now.
    fn unused(&self) -> Option<RwLockWriteGuard<'_, Option<Arc<dyn File>>>> {
        let mut slot = self.file.try_write()?;
        Arc::get_mut(slot.as_mut()?)?;
        Some(slot)
    }

    /// Closes the file unless it is in use or has unsynced writes. Returns whether it did.
    fn close(&self) -> bool {
        match self.unused() {
            Some(mut slot) if !self.unsynced.load(Ordering::Acquire) => {
                *slot = None;
                true
            }
            _ => false,
        }
    }

    /// Syncs and closes the file unless it is in use. Returns whether it did.
    fn sync_and_close(&self) -> bool {
        let Some(mut slot) = self.unused() else { return false };
        if self.unsynced.load(Ordering::Acquire)
            && let Some(Err(e)) = slot.as_ref().map(|file| file.sync())
        {
            self.opened.disk.fatal(&format!("fsync of {} failed: {e}", self.name));
        }
        self.unsynced.store(false, Ordering::Release);
        *slot = None;
        true
    }

    fn write(&self, write: impl Fn(&dyn File) -> io::Result<()>) -> io::Result<()> {
        let file = self.file()?;
        let written = write(&*file);
        self.unsynced.store(true, Ordering::Release);
        written
    }
}

impl File for ClosableFile {
    fn read_at(&self, buf: &mut [u8], at: u64) -> io::Result<()> {
        self.file()?.read_at(buf, at)
    }

    fn write_at(&self, buf: &[u8], at: u64) -> io::Result<()> {
        self.write(|file| file.write_at(buf, at))
    }

    fn write_durable_at(&self, buf: &[u8], at: u64) -> io::Result<()> {
        self.write(|file| file.write_durable_at(buf, at))
    }

    fn sync(&self) -> io::Result<()> {
        let file = match self.file() {
            Ok(file) => file,
            // It was removed after its last user but the flusher, and its writes were synced when
            // it was closed.
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(e) => return Err(e),
        };
        self.unsynced.store(false, Ordering::SeqCst);
        let synced = file.sync();
        if synced.is_err() {
            self.unsynced.store(true, Ordering::Release);
        }
        synced
    }

    fn len(&self) -> io::Result<u64> {
        self.file()?.len()
    }

    fn allocate(&self, len: u64) -> io::Result<()> {
        self.write(|file| file.allocate(len))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::sim::SimDisk;

    fn files(disk: &BoundedDisk, count: u8) -> Vec<Arc<dyn File>> {
        (0..count)
            .map(|n| {
                let file = disk.create(&format!("data.{n}"), Access::Direct).expect("created");
                file.write_at(&[n; 10], 0).and_then(|()| file.sync()).expect("written");
                file
            })
            .collect()
    }

    fn first(file: &Arc<dyn File>) -> u8 {
        let mut buf = [99];
        file.read_at(&mut buf, 0).expect("read");
        buf[0]
    }

    #[test]
    fn many_files_are_read_through_few() {
        let disk = BoundedDisk::new(Arc::new(SimDisk::new(1)), 3);
        let files = files(&disk, 20);
        for _ in 0..2 {
            assert_eq!(files.iter().map(first).collect::<Vec<_>>(), (0..20).collect::<Vec<u8>>());
            assert_eq!(disk.open_files(), 3);
        }
        drop(files);
        disk.create("data.90", Access::Direct).expect("in the place of one that is gone");
        assert!(disk.open_files() <= 3);
    }

    #[test]
    fn a_file_with_unsynced_writes_is_closed_last() {
        let disk = BoundedDisk::new(Arc::new(SimDisk::new(1)), 2);
        let files = files(&disk, 4);
        let is_open = |n: usize| {
            disk.opened
                .clock
                .lock()
                .iter()
                .any(|e| e.upgrade().is_some_and(|file| *file.name == *format!("data.{n}")))
        };
        files[0].write_at(&[50], 0).expect("written");
        for n in [1, 2, 3, 1, 2, 3] {
            assert_eq!(first(&files[n]), n as u8);
            assert!(is_open(0), "an unsynced file was closed for data.{n}");
        }
        files[1].write_at(&[51], 0).expect("written");
        assert_eq!(first(&files[2]), 2);
        let closed: Vec<usize> = (0..2).filter(|n| !is_open(*n)).collect();
        assert_eq!(closed.len(), 1, "one of them was synced and closed");
        assert_eq!((first(&files[0]), first(&files[1])), (50, 51));
    }

    #[test]
    fn a_removed_file_needs_no_sync() {
        let disk = BoundedDisk::new(Arc::new(SimDisk::new(1)), 1);
        let files = files(&disk, 2);
        disk.remove("data.0").expect("removed");
        files[0].sync().expect("nothing to sync");
        assert!(files[0].read_at(&mut [0], 0).is_err());
    }

    #[test]
    fn files_are_closed_while_there_are_no_descriptors() {
        let below = SimDisk::new(1);
        let disk = BoundedDisk::new(Arc::new(below.clone()), 100);
        let files = files(&disk, 10);
        below.refuse_opens(4);
        disk.create("log.1", Access::Direct).expect("after four files were closed");
        assert_eq!(disk.open_files(), 6);
        below.refuse_opens(20);
        disk.create("log.2", Access::Direct).expect("after pauses");
        assert_eq!(disk.open_files(), 0);
        assert_eq!(files.iter().map(first).collect::<Vec<_>>(), (0..10).collect::<Vec<u8>>());
    }
}
