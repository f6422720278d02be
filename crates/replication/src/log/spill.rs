//! The group file of a cache: events that no longer fit into memory.
//!
//! Must not look into events. Must not leave the file behind: it goes with its owner, unless the
//! log has taken it over.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::log::files::{LogFiles, read_exact};

/// The files, and the next free id of a group file.
#[derive(Clone)]
pub(super) struct Shelf {
    pub(super) files: Arc<dyn LogFiles>,
    pub(super) ids: Arc<AtomicU64>,
}

/// A complete and durable group file.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct GroupFile {
    pub(super) id: u64,
    /// Bytes of the events.
    pub(super) len: u64,
    /// CRC-32 of these bytes.
    pub(super) crc: u32,
}

/// A group file that is being written.
pub(super) struct Spill {
    shelf: Shelf,
    id: u64,
    /// Bytes that count.
    len: u64,
    /// Bytes in the file. A cut leaves them there until the next append.
    stored: u64,
    /// Checksum of the first `len` bytes; none after a cut.
    hasher: Option<crc32fast::Hasher>,
    /// Whether this owner removes the file.
    is_owned: bool,
}

/// Bytes read at once.
const CHUNK: usize = 64 << 10;

impl Spill {
    /// A new file.
    pub(super) fn create(shelf: &Shelf) -> io::Result<Self> {
        let id = shelf.ids.fetch_add(1, Ordering::Relaxed);
        shelf.files.group_create(id)?;
        let hasher = Some(crc32fast::Hasher::new());
        Ok(Self { shelf: shelf.clone(), id, len: 0, stored: 0, hasher, is_owned: true })
    }

    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Appends behind what counts.
    pub(super) fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.trim()?;
        // An append that fails may have stored a part, which must not be counted as missing.
        self.stored = u64::MAX;
        self.shelf.files.group_append(self.id, bytes)?;
        self.len += bytes.len() as u64;
        self.stored = self.len;
        if let Some(hasher) = &mut self.hasher {
            hasher.update(bytes);
        }
        Ok(())
    }

    /// Forgets the bytes from `len` on.
    pub(super) fn cut(&mut self, len: u64) {
        if len < self.len {
            self.len = len;
            self.hasher = (len == 0).then(crc32fast::Hasher::new);
        }
    }

    /// Reads bytes that count.
    pub(super) fn read(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        let files = &self.shelf.files;
        read_exact(offset, buf, |offset, rest| files.group_read(self.id, offset, rest))
    }

    /// Makes the file durable as it is.
    pub(super) fn finish(&mut self) -> io::Result<GroupFile> {
        self.trim()?;
        let hasher = match self.hasher.take() {
            Some(hasher) => hasher,
            None => self.hash()?,
        };
        let crc = hasher.clone().finalize();
        self.hasher = Some(hasher);
        self.shelf.files.group_sync(self.id)?;
        Ok(GroupFile { id: self.id, len: self.len, crc })
    }

    /// Leaves the file to the log.
    pub(super) fn hand_over(mut self) {
        self.is_owned = false;
    }

    /// Removes the bytes that do not count from the file.
    fn trim(&mut self) -> io::Result<()> {
        if self.stored > self.len {
            self.shelf.files.group_truncate(self.id, self.len)?;
            self.stored = self.len;
        }
        Ok(())
    }

    fn hash(&self) -> io::Result<crc32fast::Hasher> {
        let mut hasher = crc32fast::Hasher::new();
        let mut buf = vec![0; CHUNK];
        let mut offset = 0;
        while offset < self.len {
            let n = (self.len - offset).min(CHUNK as u64);
            let part = buf.get_mut(..n as usize).unwrap_or_default();
            self.read(offset, part)?;
            hasher.update(part);
            offset += n;
        }
        Ok(hasher)
    }
}

impl Drop for Spill {
    /// A file that cannot be removed now is removed at the next start.
    fn drop(&mut self) {
        if self.is_owned {
            let _ = self.shelf.files.group_remove(self.id);
        }
    }
}
