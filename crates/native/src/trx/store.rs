//! The undo store: a file for undo that does not fit in memory, and for undo of transactions that
//! last longer than a checkpoint. Not logged: a checkpoint syncs it and names the places it needs.
//!
//! # Invariants
//! - A place is written once. It is reused only after the end of its transaction is durable. So
//!   recovery never needs an overwritten place: it reads only places of transactions without an end
//!   in the log.

use crate::disk::{Access, File};
use crate::error::{Result, StorageError};
use crate::storage::Storage;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, OnceLock};

const NAME: &str = crate::disk::UNDO;
/// Unit of reuse. Holds any segment with its index.
const SLOT: u64 = 2 << 20;

/// Location of a segment's bytes in the store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    pub(crate) at: u64,
    pub(crate) len: u32,
    pub(crate) crc: u32,
}

impl Place {
    pub(super) fn len(&self) -> usize {
        self.len as usize
    }

    fn slot(&self) -> u64 {
        self.at / SLOT
    }
}

#[derive(Default)]
struct Slots {
    /// Number of segments in each slot that has any.
    used: BTreeMap<u64, u32>,
    free: Vec<u64>,
    /// Empty slots, each with the position up to which the log must be durable before its reuse.
    emptied: Vec<(u64, u64)>,
    /// The slot being filled, and its number of used bytes.
    current: Option<(u64, u64)>,
    /// First of the slots that have never been used.
    next: u64,
}

impl Slots {
    fn take(&mut self, durable: u64) -> u64 {
        let free = &mut self.free;
        self.emptied.retain(|(slot, lsn)| {
            let due = *lsn <= durable;
            if due {
                free.push(*slot);
            }
            !due
        });
        self.free.pop().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        })
    }

    /// Reserves a place for `len` bytes.
    fn reserve(&mut self, len: u64, durable: u64, tail: u64) -> u64 {
        let (slot, fill) = match self.current {
            Some((slot, fill)) if fill + len <= SLOT => (slot, fill),
            full => {
                if let Some((slot, _)) = full.filter(|(slot, _)| !self.used.contains_key(slot)) {
                    self.emptied.push((slot, tail));
                }
                (self.take(durable), 0)
            }
        };
        self.current = Some((slot, fill + len));
        *self.used.entry(slot).or_insert(0) += 1;
        slot * SLOT + fill
    }

    fn release(&mut self, slot: u64, tail: u64) {
        let Some(count) = self.used.get_mut(&slot) else { return };
        *count -= 1;
        if *count == 0 {
            self.used.remove(&slot);
            if self.current.is_none_or(|(current, _)| current != slot) {
                self.emptied.push((slot, tail));
            }
        }
    }
}

/// The store.
pub(crate) struct UndoStore {
    storage: Arc<Storage>,
    file: OnceLock<Arc<dyn File>>,
    slots: Mutex<Slots>,
    dirty: AtomicBool,
    /// Bytes in use.
    pub(crate) bytes: AtomicU64,
    /// Bytes written since start.
    pub(crate) written: AtomicU64,
    /// Reads since start.
    pub(crate) reads: AtomicU64,
}

impl UndoStore {
    /// Opens the store of a database; `live` are the places that recovery found in use.
    pub(super) fn open(storage: Arc<Storage>, live: &[Place]) -> Result<Arc<UndoStore>> {
        let disk = storage.disk();
        let failed = |e| StorageError::io("open of the undo store", e);
        let exists = disk.list().map_err(failed)?.iter().any(|name| name == NAME);
        let file = OnceLock::new();
        let mut slots = Slots::default();
        if exists && live.is_empty() {
            // Frees the space: none of the content is needed.
            disk.remove(NAME).map_err(failed)?;
        } else if exists {
            let opened = disk.open(NAME, Access::Buffered).map_err(failed)?;
            let _ = file.set(opened);
            live.iter().for_each(|place| *slots.used.entry(place.slot()).or_insert(0) += 1);
            slots.next = slots.used.last_key_value().map_or(0, |(slot, _)| slot + 1);
            slots.free = (0..slots.next).filter(|slot| !slots.used.contains_key(slot)).collect();
        } else if !live.is_empty() {
            let lost = io::ErrorKind::NotFound.into();
            return Err(StorageError::lost(NAME, "undo of unfinished transactions", lost));
        }
        let bytes = live.iter().map(|place| u64::from(place.len)).sum();
        Ok(Arc::new(UndoStore {
            storage,
            file,
            slots: Mutex::new(slots),
            dirty: AtomicBool::new(false),
            bytes: AtomicU64::new(bytes),
            written: AtomicU64::new(0),
            reads: AtomicU64::new(0),
        }))
    }

    fn file(&self) -> io::Result<&Arc<dyn File>> {
        if let Some(file) = self.file.get() {
            return Ok(file);
        }
        let disk = self.storage.disk();
        let file = disk.create(NAME, Access::Buffered)?;
        disk.sync_dir()?;
        Ok(self.file.get_or_init(|| file))
    }

    /// Writes the parts one behind the other to a new place, not yet durably. `None` if there is no
    /// room.
    pub(super) fn write(&self, parts: &[&[u8]]) -> Option<Place> {
        let len = parts.iter().map(|part| part.len() as u64).sum();
        if len > SLOT {
            return None;
        }
        let (durable, tail) = (self.storage.log().durable().0, self.storage.log().tail().0);
        let mut slots = self.slots.lock();
        let opened = self.file().cloned();
        let at = slots.reserve(len, durable, tail);
        drop(slots);
        self.dirty.store(true, Ordering::Release);
        match opened.and_then(|file| write_parts(file.as_ref(), parts, at)) {
            Ok(crc) => {
                self.bytes.fetch_add(len, Ordering::Relaxed);
                self.written.fetch_add(len, Ordering::Relaxed);
                Some(Place { at, len: len as u32, crc })
            }
            Err(e) if e.kind() == io::ErrorKind::StorageFull => {
                self.slots.lock().release(at / SLOT, tail);
                None
            }
            Err(e) => self.storage.disk().fatal(&format!("write of the undo store failed: {e}")),
        }
    }

    /// Makes all writes durable.
    pub(super) fn sync(&self) {
        if !self.dirty.swap(false, Ordering::AcqRel) {
            return;
        }
        if let Some(Err(e)) = self.file.get().map(|file| file.sync()) {
            self.storage.disk().fatal(&format!("sync of the undo store failed: {e}"));
        }
    }

    /// Reads from byte `from` of a place. A failure ends the process: the reader holds a latch and
    /// cannot get the version in any other way.
    pub(super) fn read(&self, place: &Place, from: usize, out: &mut [u8]) {
        self.reads.fetch_add(1, Ordering::Relaxed);
        let read = self.file().and_then(|file| file.read_at(out, place.at + from as u64));
        if let Err(e) = read {
            self.storage.disk().fatal(&format!("read of the undo store failed: {e}"));
        }
    }

    /// Reads a whole place at start.
    pub(super) fn read_all(&self, place: &Place) -> Result<Vec<u8>> {
        let mut bytes = vec![0; place.len()];
        let read = self.file().and_then(|file| file.read_at(&mut bytes, place.at));
        let what = "undo of unfinished transactions";
        read.map_err(|e| StorageError::lost(NAME, what, e))?;
        if crc32c::crc32c(&bytes) != place.crc {
            let fault = format!("checksum mismatch in the file {NAME} at {}", place.at);
            return Err(StorageError::corrupt(fault));
        }
        Ok(bytes)
    }

    /// Frees a place.
    pub(super) fn free(&self, place: Place) {
        self.bytes.fetch_sub(u64::from(place.len), Ordering::Relaxed);
        let tail = self.storage.log().tail().0;
        self.slots.lock().release(place.slot(), tail);
    }
}

/// Writes the parts from `at` on and returns their checksum.
fn write_parts(file: &dyn File, parts: &[&[u8]], mut at: u64) -> io::Result<u32> {
    let mut crc = 0;
    for part in parts {
        file.write_at(part, at)?;
        at += part.len() as u64;
        crc = crc32c::crc32c_append(crc, part);
    }
    Ok(crc)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_used_again_only_behind_the_end_of_what_was_there() {
        let mut slots = Slots::default();
        assert_eq!(slots.reserve(SLOT - 10, 0, 5), 0);
        assert_eq!(slots.reserve(10, 0, 5), SLOT - 10);
        assert_eq!(slots.reserve(SLOT, 0, 5), SLOT);
        slots.release(0, 100);
        slots.release(0, 120);
        assert_eq!(slots.reserve(SLOT, 110, 130), 2 * SLOT, "120 is not durable");
        assert_eq!(slots.reserve(SLOT, 120, 130), 0);
    }
}
