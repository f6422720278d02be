//! A file system in memory that fails on demand, and crashes: writes that were not synced are lost,
//! whole or in part, and removed files come back.
//!
//! Must not be kinder than a real one.

use std::collections::BTreeMap;
use std::io;

use parking_lot::Mutex;
use selkie_replication::log::{FileNumber, LogFiles};

/// Numbers that look random.
#[derive(Clone, Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.next() % n.max(1)
    }
}

enum Change {
    Write(u64, Vec<u8>),
    Truncate(u64),
}

#[derive(Default)]
struct File {
    now: Vec<u8>,
    durable: Vec<u8>,
    changes: Vec<Change>,
    has_durable_name: bool,
}

fn apply(bytes: &mut Vec<u8>, change: &Change, part: usize) {
    match change {
        Change::Write(offset, new) => {
            let new = &new[..part.min(new.len())];
            let (offset, end) = (*offset as usize, *offset as usize + new.len());
            bytes.resize(bytes.len().max(end), 0);
            bytes[offset..end].copy_from_slice(new);
        }
        Change::Truncate(len) => bytes.resize(*len as usize, 0),
    }
}

impl File {
    fn change(&mut self, change: Change) {
        apply(&mut self.now, &change, usize::MAX);
        self.changes.push(change);
    }

    fn sync(&mut self) {
        self.durable.clone_from(&self.now);
        self.changes.clear();
        self.has_durable_name = true;
    }

    fn crash(&mut self, random: &mut Random) {
        let mut bytes = std::mem::take(&mut self.durable);
        for change in &self.changes {
            match random.below(4) {
                0 => {}
                1 => apply(&mut bytes, change, random.below(64) as usize),
                _ => apply(&mut bytes, change, usize::MAX),
            }
        }
        (self.now, self.durable) = (bytes.clone(), bytes);
        self.changes.clear();
    }
}

#[derive(Default)]
struct Inner {
    files: BTreeMap<FileNumber, File>,
    groups: BTreeMap<u64, File>,
    removed: Vec<(FileNumber, File)>,
    removed_groups: Vec<(u64, File)>,
    index: Vec<FileNumber>,
    /// Calls until all calls fail.
    fuse: Option<u64>,
    /// Whether space is short.
    is_full: bool,
}

/// The file system.
#[derive(Default)]
pub(crate) struct Sim(Mutex<Inner>);

impl Sim {
    /// Lets all calls but the next `calls` fail.
    pub(crate) fn set_fuse(&self, calls: Option<u64>) {
        self.0.lock().fuse = calls;
    }

    pub(crate) fn set_full(&self, is_full: bool) {
        self.0.lock().is_full = is_full;
    }

    /// The machine loses its power, and comes back.
    pub(crate) fn crash(&self, random: &mut Random) {
        let inner = &mut *self.0.lock();
        (inner.fuse, inner.is_full) = (None, false);
        for (number, file) in inner.removed.drain(..) {
            if random.below(2) == 0 {
                inner.files.entry(number).or_insert(file);
            }
        }
        for (id, file) in inner.removed_groups.drain(..) {
            if random.below(2) == 0 {
                inner.groups.entry(id).or_insert(file);
            }
        }
        inner.groups.retain(|_, file| file.has_durable_name || random.below(2) == 0);
        inner.files.values_mut().for_each(|file| file.crash(random));
        inner.groups.values_mut().for_each(|file| file.crash(random));
    }

    /// All files and their bytes.
    pub(crate) fn all(&self) -> BTreeMap<FileNumber, Vec<u8>> {
        self.0.lock().files.iter().map(|(number, file)| (*number, file.now.clone())).collect()
    }

    /// All group files and their bytes.
    pub(crate) fn groups(&self) -> BTreeMap<u64, Vec<u8>> {
        self.0.lock().groups.iter().map(|(id, file)| (*id, file.now.clone())).collect()
    }

    /// Replaces all group files.
    pub(crate) fn set_groups(&self, groups: &BTreeMap<u64, Vec<u8>>) {
        let file = |bytes: &Vec<u8>| File { now: bytes.clone(), ..File::default() };
        self.0.lock().groups = groups.iter().map(|(id, bytes)| (*id, file(bytes))).collect();
    }

    /// Replaces a file.
    pub(crate) fn put(&self, number: FileNumber, bytes: &[u8]) {
        let file = File { now: bytes.to_vec(), durable: bytes.to_vec(), ..File::default() };
        self.0.lock().files.insert(number, file);
    }

    pub(crate) fn index(&self) -> Vec<FileNumber> {
        self.0.lock().index.clone()
    }

    fn call<T>(&self, f: impl FnOnce(&mut Inner) -> io::Result<T>) -> io::Result<T> {
        let inner = &mut *self.0.lock();
        match &mut inner.fuse {
            Some(0) => return Err(io::Error::other("the disk is gone")),
            Some(calls) => *calls -= 1,
            None => {}
        }
        f(inner)
    }

    fn file<T>(&self, file: FileNumber, f: impl FnOnce(&mut File) -> T) -> io::Result<T> {
        self.call(|inner| inner.files.get_mut(&file).map(f).ok_or(io::ErrorKind::NotFound.into()))
    }

    fn group<T>(&self, id: u64, f: impl FnOnce(&mut File) -> T) -> io::Result<T> {
        self.call(|inner| inner.groups.get_mut(&id).map(f).ok_or(io::ErrorKind::NotFound.into()))
    }
}

fn read(file: &File, offset: u64, buf: &mut [u8]) -> usize {
    let rest = file.now.get(offset as usize..).unwrap_or_default();
    // Short reads happen.
    let n = rest.len().min(buf.len()).min(1000);
    buf[..n].copy_from_slice(&rest[..n]);
    n
}

impl LogFiles for Sim {
    fn create(&self, file: FileNumber) -> io::Result<()> {
        self.call(|inner| {
            inner.removed.retain(|(number, _)| *number != file);
            inner.files.insert(file, File::default());
            Ok(())
        })
    }

    fn reserve(&self, file: FileNumber, _upto: u64) -> io::Result<()> {
        self.call(|inner| match inner.files.contains_key(&file) {
            true if inner.is_full => Err(io::ErrorKind::StorageFull.into()),
            true => Ok(()),
            false => Err(io::ErrorKind::NotFound.into()),
        })
    }

    fn write(&self, file: FileNumber, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.file(file, |file| file.change(Change::Write(offset, bytes.to_vec())))
    }

    fn read(&self, file: FileNumber, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.file(file, |file| read(file, offset, buf))
    }

    fn len(&self, file: FileNumber) -> io::Result<u64> {
        self.file(file, |file| file.now.len() as u64)
    }

    fn truncate(&self, file: FileNumber, len: u64) -> io::Result<()> {
        self.file(file, |file| file.change(Change::Truncate(len)))
    }

    fn sync(&self, file: FileNumber) -> io::Result<()> {
        self.file(file, File::sync)
    }

    fn remove(&self, file: FileNumber) -> io::Result<()> {
        self.call(|inner| {
            let gone = inner.files.remove(&file).ok_or(io::ErrorKind::NotFound)?;
            inner.removed.push((file, gone));
            Ok(())
        })
    }

    fn list(&self) -> io::Result<Vec<FileNumber>> {
        self.call(|inner| Ok(inner.files.keys().rev().copied().collect()))
    }

    fn write_index(&self, files: &[FileNumber]) -> io::Result<()> {
        self.call(|inner| {
            inner.index = files.to_vec();
            Ok(())
        })
    }

    fn name(&self, file: FileNumber) -> String {
        format!("binlog.{file:06}")
    }

    fn group_create(&self, id: u64) -> io::Result<()> {
        self.call(|inner| {
            inner.removed_groups.retain(|(removed, _)| *removed != id);
            inner.groups.insert(id, File::default());
            Ok(())
        })
    }

    fn group_append(&self, id: u64, bytes: &[u8]) -> io::Result<()> {
        self.group(id, |file| {
            let end = file.now.len() as u64;
            file.change(Change::Write(end, bytes.to_vec()));
        })
    }

    fn group_truncate(&self, id: u64, len: u64) -> io::Result<()> {
        self.group(id, |file| file.change(Change::Truncate(len)))
    }

    fn group_sync(&self, id: u64) -> io::Result<()> {
        self.group(id, File::sync)
    }

    fn group_read(&self, id: u64, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.group(id, |file| read(file, offset, buf))
    }

    fn group_remove(&self, id: u64) -> io::Result<()> {
        self.call(|inner| {
            let gone = inner.groups.remove(&id).ok_or(io::ErrorKind::NotFound)?;
            inner.removed_groups.push((id, gone));
            Ok(())
        })
    }

    fn group_list(&self) -> io::Result<Vec<u64>> {
        self.call(|inner| Ok(inner.groups.keys().copied().collect()))
    }
}
