//! A disk that counts reads, writes and syncs by kind of file, for status variables.
//!
//! Must not change data, nor the moment at which a call counts as done.

use super::{Access, Disk, File};
use crate::sync::atomic::{AtomicU64, Ordering};
use std::io;
use std::sync::Arc;

/// Traffic of a kind of file.
#[derive(Default)]
pub(crate) struct FileTraffic {
    pub(crate) reads: AtomicU64,
    pub(crate) read_bytes: AtomicU64,
    pub(crate) writes: AtomicU64,
    pub(crate) written_bytes: AtomicU64,
    pub(crate) syncs: AtomicU64,
    pub(crate) pending_reads: AtomicU64,
    pub(crate) pending_writes: AtomicU64,
    pub(crate) pending_syncs: AtomicU64,
}

/// Traffic of all files since start.
#[derive(Default)]
pub(crate) struct DiskTraffic {
    /// Data files, and all files of no other kind.
    pub(crate) data: FileTraffic,
    /// Log segments.
    pub(crate) log: FileTraffic,
    /// The doublewrite file.
    pub(crate) doublewrite: FileTraffic,
}

impl DiskTraffic {
    fn of(&self, name: &str) -> &FileTraffic {
        match name {
            _ if name.starts_with("log.") => &self.log,
            _ if name.starts_with("doublewrite") => &self.doublewrite,
            _ => &self.data,
        }
    }
}

/// A disk that counts.
pub(crate) struct CountedDisk {
    disk: Arc<dyn Disk>,
    traffic: Arc<DiskTraffic>,
}

impl CountedDisk {
    pub(crate) fn new(disk: Arc<dyn Disk>) -> CountedDisk {
        CountedDisk { disk, traffic: Arc::default() }
    }

    fn counted(&self, name: &str, file: Arc<dyn File>) -> Arc<dyn File> {
        Arc::new(CountedFile { file, traffic: self.traffic.clone(), name: name.into() })
    }
}

impl Disk for CountedDisk {
    fn open(&self, name: &str, access: Access) -> io::Result<Arc<dyn File>> {
        Ok(self.counted(name, self.disk.open(name, access)?))
    }

    fn create(&self, name: &str, access: Access) -> io::Result<Arc<dyn File>> {
        Ok(self.counted(name, self.disk.create(name, access)?))
    }

    fn list(&self) -> io::Result<Vec<String>> {
        self.disk.list()
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.disk.remove(name)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.disk.rename(from, to)
    }

    fn sync_dir(&self) -> io::Result<()> {
        self.disk.sync_dir()
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

    fn open_files(&self) -> usize {
        self.disk.open_files()
    }

    fn traffic(&self) -> Option<&DiskTraffic> {
        Some(&self.traffic)
    }
}

struct CountedFile {
    file: Arc<dyn File>,
    traffic: Arc<DiskTraffic>,
    name: Box<str>,
}

/// Counts a call as pending until it is dropped.
struct Pending<'a>(&'a AtomicU64);

impl<'a> Pending<'a> {
    fn new(count: &'a AtomicU64) -> Pending<'a> {
        count.fetch_add(1, Ordering::Relaxed);
        Pending(count)
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl CountedFile {
    fn traffic(&self) -> &FileTraffic {
        self.traffic.of(&self.name)
    }

    fn count_write(&self, bytes: usize) {
        self.traffic().writes.fetch_add(1, Ordering::Relaxed);
        self.traffic().written_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

impl File for CountedFile {
    fn read_at(&self, buf: &mut [u8], at: u64) -> io::Result<()> {
        let traffic = self.traffic();
        traffic.reads.fetch_add(1, Ordering::Relaxed);
        traffic.read_bytes.fetch_add(buf.len() as u64, Ordering::Relaxed);
        let _pending = Pending::new(&traffic.pending_reads);
        self.file.read_at(buf, at)
    }

    fn write_at(&self, buf: &[u8], at: u64) -> io::Result<()> {
        self.count_write(buf.len());
        let _pending = Pending::new(&self.traffic().pending_writes);
        self.file.write_at(buf, at)
    }

    fn write_durable_at(&self, buf: &[u8], at: u64) -> io::Result<()> {
        self.count_write(buf.len());
        self.traffic().syncs.fetch_add(1, Ordering::Relaxed);
        let _pending = Pending::new(&self.traffic().pending_writes);
        self.file.write_durable_at(buf, at)
    }

    fn sync(&self) -> io::Result<()> {
        self.traffic().syncs.fetch_add(1, Ordering::Relaxed);
        let _pending = Pending::new(&self.traffic().pending_syncs);
        self.file.sync()
    }

    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn allocate(&self, len: u64) -> io::Result<()> {
        self.file.allocate(len)
    }
}
