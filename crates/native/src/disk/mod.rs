//! The only access to files. Everything below the B+tree reads and writes through `Disk` and
//! `File`, so that tests can replace the operating system by one that crashes, tears, fails and
//! fills up at every step. No policy here: the callers decide which write must be durable at which
//! moment.

mod bounded;
mod counted;
mod real;
#[cfg(test)]
pub(crate) mod sim;

pub(crate) use bounded::BoundedDisk;
pub(crate) use counted::{CountedDisk, DiskTraffic};
pub(crate) use real::RealDisk;

use std::io;
use std::sync::Arc;

/// The newest checkpoints.
pub(crate) const CONTROL: &str = "control";
/// Copies of pages that are being written.
pub(crate) const DOUBLEWRITE: &str = "doublewrite";
/// Undo that has no room in memory.
pub(crate) const UNDO: &str = "undo";
/// Locked by the process that has the directory open.
const LOCK: &str = "lock";

/// Files whose names a schema may have. Each of them may be made later than the schema.
pub(crate) const OWN_FILES: [&str; 4] = [CONTROL, DOUBLEWRITE, UNDO, LOCK];

/// Kind of access to a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Access {
    /// Large aligned transfers (4 KiB in memory, offset and length): bypass the page cache where
    /// possible.
    Direct,
    /// Small or unaligned transfers through the page cache.
    Buffered,
}

/// One directory of files.
pub(crate) trait Disk: Send + Sync {
    /// Opens a file that exists.
    fn open(&self, name: &str, access: Access) -> io::Result<Arc<dyn File>>;
    /// Creates a file; an existing one of that name is an error. Durable only after `sync_dir`
    /// (I12).
    fn create(&self, name: &str, access: Access) -> io::Result<Arc<dyn File>>;
    /// Names of all files, in no order.
    fn list(&self) -> io::Result<Vec<String>>;
    /// Removes a file. Durable only after `sync_dir`.
    fn remove(&self, name: &str) -> io::Result<()>;
    /// Renames a file, replacing `to`. Durable only after `sync_dir`.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    /// Makes creations, removals and renames durable.
    fn sync_dir(&self) -> io::Result<()>;
    /// Unlocks the directory for other openers. The database is closed, and no write through this
    /// disk may follow.
    fn close(&self) {}
    /// Ends the process after a failed write that recovery depends on (I11). There is no other way:
    /// the kernel may have dropped the data and would report success to a second fsync.
    fn fatal(&self, what: &str) -> !;

    /// Traffic of the files, if it is counted.
    fn traffic(&self) -> Option<&DiskTraffic> {
        None
    }
    /// Number of data files that are open, if they are bounded.
    fn open_files(&self) -> usize {
        0
    }

    /// As `fatal`, called while a panic unwinds: memory and log differ.
    fn abandoned(&self, what: &str) {
        self.fatal(what)
    }
}

/// One open file; positions are explicit, so that threads can share it.
pub(crate) trait File: Send + Sync {
    /// Fills `buf`, or fails with `UnexpectedEof`.
    fn read_at(&self, buf: &mut [u8], at: u64) -> io::Result<()>;
    /// Writes all of `buf`. Durable only after `sync`.
    fn write_at(&self, buf: &[u8], at: u64) -> io::Result<()>;
    /// Writes all of `buf` and makes these bytes durable (not bytes written before without sync).
    fn write_durable_at(&self, buf: &[u8], at: u64) -> io::Result<()>;
    /// Makes everything written so far durable, the length included.
    fn sync(&self) -> io::Result<()>;
    /// Current length in bytes.
    fn len(&self) -> io::Result<u64>;
    /// Reserves space so that the file is at least `len` bytes long; new bytes read as zero.
    fn allocate(&self, len: u64) -> io::Result<()>;
}
