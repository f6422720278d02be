//! The files of the log: segments of equal size, preallocated and zero-filled ahead of need,
//! recycled by renaming once a checkpoint has passed them. Maps LSNs to places in files; must not
//! interpret the content.
//!
//! Segment `i` holds the LSNs `[i * capacity, (i + 1) * capacity)` after a header of one block.

use super::group::{BLOCK, pad_header};
use crate::disk::{Access, Disk, File};
use crate::error::{Result, StorageError};
use crate::ids::Lsn;
use crate::pool::Arena;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicU64, Ordering};
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

/// Bytes of a segment's header.
pub(crate) const SEGMENT_HEADER_LEN: u64 = BLOCK;
const MAGIC: &[u8; 8] = b"SLKYLOG1";
const PREFIX: &str = "log.";
/// Size of a step of zero-filling.
const FILL: usize = 1 << 20;

/// All existing segments.
pub(crate) struct Segments {
    disk: Arc<dyn Disk>,
    size: u64,
    /// Held for moments only, because the flush leader looks up its file here.
    files: Mutex<BTreeMap<u64, Arc<dyn File>>>,
    /// Files with the name of a segment but another header, after a crash or from damage.
    foreign: Mutex<BTreeMap<u64, Arc<dyn File>>>,
    /// Held while segments are created, renamed or removed, which takes I/O.
    changing: Mutex<()>,
    /// Every LSN below this has a prepared place.
    prepared: AtomicU64,
}

fn name(index: u64) -> String {
    format!("{PREFIX}{index:010}")
}

fn header(index: u64, size: u64) -> [u8; 36] {
    let mut h = [0; 36];
    h[0..8].copy_from_slice(MAGIC);
    h[8..12].copy_from_slice(&1u32.to_le_bytes());
    h[12..20].copy_from_slice(&size.to_le_bytes());
    h[20..28].copy_from_slice(&index.to_le_bytes());
    let crc = crc32c::crc32c(&h[0..28]);
    h[28..32].copy_from_slice(&crc.to_le_bytes());
    h
}

impl Segments {
    /// Finds the segments in the directory. Files with a foreign or torn header are no segments: a
    /// crash may have interrupted their creation or renaming.
    pub(crate) fn open(disk: Arc<dyn Disk>, size: u64) -> Result<Segments> {
        assert!(size.is_multiple_of(BLOCK) && size >= 4 * BLOCK, "segment size");
        let (mut files, mut foreign) = (BTreeMap::new(), BTreeMap::new());
        for file in disk.list().map_err(|e| StorageError::io("list of log segments", e))? {
            let Some(index) = file.strip_prefix(PREFIX).and_then(|n| n.parse::<u64>().ok()) else {
                continue;
            };
            let (handle, ours) = Segments::open_one(&*disk, &file, index, size)?;
            if ours {
                files.insert(index, handle)
            } else {
                foreign.insert(index, handle)
            };
        }
        Ok(Segments {
            disk,
            size,
            files: Mutex::new(files),
            foreign: Mutex::new(foreign),
            changing: Mutex::new(()),
            prepared: AtomicU64::new(0),
        })
    }

    fn open_one(
        disk: &dyn Disk,
        file: &str,
        index: u64,
        size: u64,
    ) -> Result<(Arc<dyn File>, bool)> {
        let handle = disk
            .open(file, Access::Direct)
            .map_err(|e| StorageError::io(format!("open of {file}"), e))?;
        let mut block = Arena::new(BLOCK as usize).map_err(|e| StorageError::io("memory", e))?;
        match handle.read_at(block.bytes_mut(), 0) {
            Ok(()) => {}
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok((handle, false)),
            Err(e) => return Err(StorageError::io(format!("read of {file}"), e)),
        }
        // A killed process may not have synced it.
        handle.sync().map_err(|e| StorageError::io(format!("fsync of {file}"), e))?;
        let ours = block.bytes_mut().starts_with(&header(index, size));
        Ok((handle, ours))
    }

    /// The segment that holds a position.
    pub(crate) fn index_of(&self, lsn: Lsn) -> u64 {
        self.place(lsn).0
    }

    /// Index of the last existing segment.
    pub(crate) fn last_index(&self) -> Option<u64> {
        self.files.lock().last_key_value().map(|(index, _)| *index)
    }

    /// Describes the fault of a segment that must exist, `None` if it is whole.
    pub(crate) fn lacks(&self, index: u64) -> Result<Option<String>> {
        let file = self.files.lock().get(&index).cloned();
        let Some(file) = file else {
            let damaged = self.foreign.lock().contains_key(&index);
            let fault = if damaged { "has a damaged header" } else { "is missing" };
            return Ok(Some(format!("the log segment {} {fault}", name(index))));
        };
        let name = name(index);
        let len = file.len().map_err(|e| StorageError::io(format!("length of {name}"), e))?;
        Ok((len < self.size).then(|| format!("the log segment {name} is cut short")))
    }

    /// Refuses a file after the last segment that has another header and is not empty. A crash
    /// during the creation of a segment leaves zeros: a segment's header is durable before anything
    /// else is written to it.
    pub(crate) fn refuse_lost_headers(&self) -> Result<()> {
        let Some(last) = self.last_index() else { return Ok(()) };
        for (index, file) in self.foreign.lock().iter().filter(|(index, _)| **index > last) {
            let name = name(*index);
            let blank = self.is_blank(&**file);
            if !blank.map_err(|e| StorageError::io(format!("read of {name}"), e))? {
                let fault = format!("the log segment {name} has a damaged header");
                return Err(StorageError::corrupt(fault));
            }
        }
        Ok(())
    }

    fn is_blank(&self, file: &dyn File) -> io::Result<bool> {
        let mut piece = Arena::new(BLOCK as usize)?;
        for at in (SEGMENT_HEADER_LEN..file.len()? / BLOCK * BLOCK).step_by(BLOCK as usize) {
            file.read_at(piece.bytes_mut(), at)?;
            if piece.bytes_mut().iter().any(|byte| *byte != 0) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Removes files with foreign headers before `first`, the redo start. They are no part of the
    /// log any more.
    pub(crate) fn remove_remains(&self, first: Lsn) -> Result<()> {
        let first = self.index_of(first);
        let foreign = std::mem::take(&mut *self.foreign.lock());
        for name in foreign.into_keys().filter(|index| *index < first).map(name) {
            let gone = self.disk.remove(&name);
            gone.map_err(|e| StorageError::io(format!("removal of {name}"), e))?;
        }
        Ok(())
    }

    /// Number of LSNs per segment.
    pub(crate) fn capacity(&self) -> u64 {
        self.size - SEGMENT_HEADER_LEN
    }

    /// Segment and offset of a position.
    fn place(&self, lsn: Lsn) -> (u64, u64) {
        (lsn.0 / self.capacity(), SEGMENT_HEADER_LEN + lsn.0 % self.capacity())
    }

    /// First LSN without a prepared place.
    pub(crate) fn prepared(&self) -> Lsn {
        Lsn(self.prepared.load(Ordering::Acquire))
    }

    /// Bytes in segment files.
    pub(crate) fn bytes_on_disk(&self) -> u64 {
        self.files.lock().len() as u64 * self.size
    }

    /// Computes the end of the contiguous run of segments from the one that holds `tail`.
    pub(crate) fn settle(&self, tail: Lsn) {
        let files = self.files.lock();
        let mut index = self.place(tail).0;
        while files.contains_key(&index) {
            index += 1;
        }
        self.prepared.store(index * self.capacity(), Ordering::Release);
    }

    /// Makes sure that positions below `upto` have a place, creating segments as needed.
    pub(crate) fn prepare(&self, upto: Lsn) -> Result<()> {
        while self.prepared() < upto {
            let _one_at_a_time = self.changing.lock();
            let index = self.prepared().0 / self.capacity();
            if !self.files.lock().contains_key(&index) {
                let file = self.create(index);
                let file =
                    file.map_err(|e| StorageError::io(format!("creation of {}", name(index)), e))?;
                self.files.lock().insert(index, file);
            }
            self.prepared.store((index + 1) * self.capacity(), Ordering::Release);
        }
        Ok(())
    }

    fn create(&self, index: u64) -> io::Result<Arc<dyn File>> {
        let name = name(index);
        if self.disk.list()?.contains(&name) {
            self.disk.remove(&name)?;
        }
        let file = self.disk.create(&name, Access::Direct)?;
        if let Err(e) = self.fill(&*file, index) {
            let _ = self.disk.remove(&name);
            return Err(e);
        }
        self.disk.sync_dir()?;
        Ok(file)
    }

    /// Fills the file with zeros, so that later writes change no metadata and old bytes cannot be
    /// mistaken for log.
    fn fill(&self, file: &dyn File, index: u64) -> io::Result<()> {
        file.allocate(self.size)?;
        let mut zeros = Arena::new(FILL.min(self.size as usize))?;
        let zeros = zeros.bytes_mut();
        let mut at = 0;
        while at < self.size {
            let len = (self.size - at).min(zeros.len() as u64);
            file.write_at(&zeros[..len as usize], at)?;
            at += len;
        }
        self.write_header(file, index)
    }

    fn write_header(&self, file: &dyn File, index: u64) -> io::Result<()> {
        let mut block = Arena::new(BLOCK as usize)?;
        block.bytes_mut()[..36].copy_from_slice(&header(index, self.size));
        file.write_at(block.bytes_mut(), 0)?;
        file.sync()
    }

    /// Renames segments wholly below `keep_from` to future ones while no more than `total` exist,
    /// and removes the others. Only after the checkpoint record that no longer needs them is
    /// durable (I9).
    pub(crate) fn recycle(&self, keep_from: Lsn, total: u64) -> Result<()> {
        let _one_at_a_time = self.changing.lock();
        let last_dead = self.place(keep_from).0;
        while let Some((index, file)) = self.take_before(last_dead) {
            let next = self.prepared().0 / self.capacity();
            let wanted = {
                let files = self.files.lock();
                (files.len() as u64) < total && !files.contains_key(&next)
            };
            let outcome = if wanted {
                self.reuse(index, next, &*file).map(|()| {
                    self.files.lock().insert(next, file);
                    self.prepared.store((next + 1) * self.capacity(), Ordering::Release);
                })
            } else {
                self.disk.remove(&name(index)).and_then(|()| self.disk.sync_dir())
            };
            outcome.map_err(|e| StorageError::io(format!("recycling of {}", name(index)), e))?;
        }
        Ok(())
    }

    /// Removes the oldest segment from the list, if it lies before segment `before`.
    fn take_before(&self, before: u64) -> Option<(u64, Arc<dyn File>)> {
        let mut files = self.files.lock();
        let entry = files.first_entry().filter(|e| *e.key() < before)?;
        Some(entry.remove_entry())
    }

    fn reuse(&self, old: u64, new: u64, file: &dyn File) -> io::Result<()> {
        self.write_header(file, new)?;
        self.disk.rename(&name(old), &name(new))?;
        self.disk.sync_dir()
    }

    /// Writes whole blocks at `lsn`. Failure ends the process (I11).
    ///
    /// The place of the next block is prepared first. So a group begins in a segment only if the
    /// segments it continues in exist, and the log never ends where its segments end: if it seems
    /// to, segments are lost.
    pub(super) fn write(&self, lsn: Lsn, mut bytes: &[u8], durable: bool) {
        let mut lsn = lsn;
        if let Err(e) = self.prepare(Lsn(lsn.0 + bytes.len() as u64 + BLOCK)) {
            self.disk.fatal(&format!("no log segment for the next write: {e}"));
        }
        while !bytes.is_empty() {
            let (index, at) = self.place(lsn);
            let len = bytes.len().min((self.size - at) as usize);
            let outcome = self.segment(index).and_then(|file| {
                if durable {
                    file.write_durable_at(&bytes[..len], at)
                } else {
                    file.write_at(&bytes[..len], at)
                }
            });
            if let Err(e) = outcome {
                self.disk.fatal(&format!("write of log segment {} failed: {e}", name(index)));
            }
            bytes = &bytes[len..];
            lsn.0 += len as u64;
        }
    }

    fn segment(&self, index: u64) -> io::Result<Arc<dyn File>> {
        if let Some(file) = self.files.lock().get(&index) {
            return Ok(file.clone());
        }
        let outcome = self.prepare(Lsn((index + 1) * self.capacity()));
        outcome.map_err(|e| io::Error::other(e.to_string()))?;
        self.files.lock().get(&index).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Makes the blocks of `[from, upto)` durable that were written without sync.
    pub(super) fn sync(&self, from: Lsn, upto: Lsn) {
        let (first, last) = (self.place(from).0, self.place(Lsn(upto.0.max(from.0 + 1) - 1)).0);
        for index in first..=last {
            let file = self.files.lock().get(&index).cloned();
            if let Some(Err(e)) = file.map(|f| f.sync()) {
                self.disk.fatal(&format!("fsync of log segment {} failed: {e}", name(index)));
            }
        }
    }

    /// Reads whole blocks. Returns the number of bytes before the end of the segments.
    pub(super) fn read(&self, lsn: Lsn, buf: &mut [u8]) -> Result<usize> {
        let mut done = 0;
        while done < buf.len() {
            let (index, at) = self.place(Lsn(lsn.0 + done as u64));
            let Some(file) = self.files.lock().get(&index).cloned() else { break };
            let len = (buf.len() - done).min((self.size - at) as usize);
            match file.read_at(&mut buf[done..done + len], at) {
                Ok(()) => done += len,
                Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => break,
                Err(e) => {
                    return Err(StorageError::io(
                        format!("read of log segment {}", name(index)),
                        e,
                    ));
                }
            }
        }
        Ok(done)
    }
}

impl Segments {
    /// Fills the block that `end` lies in with padding of epoch `epoch`. Returns the block's end.
    pub(crate) fn close(&self, end: Lsn, epoch: u32) -> Result<Lsn> {
        self.settle(end);
        let start = Lsn(end.0 / BLOCK * BLOCK);
        if start == end {
            return Ok(end);
        }
        let mut block = Arena::new(BLOCK as usize).map_err(|e| StorageError::io("memory", e))?;
        self.read(start, block.bytes_mut())?;
        let used = (end.0 - start.0) as usize;
        let bytes = block.bytes_mut();
        bytes[used..].fill(0);
        let pad = pad_header((BLOCK as usize - used) as u32, end, epoch);
        bytes[used..used + pad.len()].copy_from_slice(&pad);
        self.write(start, block.bytes_mut(), true);
        Ok(Lsn(start.0 + BLOCK))
    }

    /// Syncs `[from, upto)`: recovery builds on it, so a second crash must not lose it.
    pub(crate) fn make_durable(&self, from: Lsn, upto: Lsn) {
        self.sync(from, upto);
    }
}
