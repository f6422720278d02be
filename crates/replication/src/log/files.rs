//! Files of a binary log as the log needs them, and places in them.
//!
//! Must not open anything: the server implements the trait on the file system, tests in memory.

use std::io;

/// Number of a file: 1 is `binlog.000001`. No file has the number 0.
pub type FileNumber = u32;

/// A place in the log: the end of one event and the beginning of the next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Place {
    /// The file; 0 if the log has none.
    pub file: FileNumber,
    /// Bytes before the place.
    pub offset: u64,
}

impl Place {
    /// The place so many bytes behind this one.
    pub(super) fn after(self, bytes: u64) -> Place {
        Place { offset: self.offset.saturating_add(bytes), ..self }
    }
}

/// The file system as the log sees it: numbered files, an index, and group files.
///
/// A group file holds the events of one large group until they are in a numbered file. It has a
/// number of its own kind, an id.
pub trait LogFiles: Send + Sync {
    /// Creates an empty file, or empties it; its name is durable when this returns.
    fn create(&self, file: FileNumber) -> io::Result<()>;
    /// Reserves space up to an offset, without changing the length.
    fn reserve(&self, file: FileNumber, upto: u64) -> io::Result<()>;
    /// Writes at an offset; the file grows if it must, with zeros in a gap.
    fn write(&self, file: FileNumber, offset: u64, bytes: &[u8]) -> io::Result<()>;
    /// Reads from an offset on. Fewer bytes than asked for may come; none at the end of the file.
    fn read(&self, file: FileNumber, offset: u64, buf: &mut [u8]) -> io::Result<usize>;
    /// Length of a file.
    fn len(&self, file: FileNumber) -> io::Result<u64>;
    /// Cuts a file, and frees what was reserved behind its new end.
    fn truncate(&self, file: FileNumber, len: u64) -> io::Result<()>;
    /// Makes all that was written durable.
    fn sync(&self, file: FileNumber) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, file: FileNumber) -> io::Result<()>;
    /// Numbers of all files that are there, in any order.
    fn list(&self) -> io::Result<Vec<FileNumber>>;
    /// Replaces the index; the new one is durable when this returns.
    fn write_index(&self, files: &[FileNumber]) -> io::Result<()>;
    /// Name of a file as events and the index have it: without a directory.
    fn name(&self, file: FileNumber) -> String;

    /// Creates an empty group file, or empties it.
    fn group_create(&self, id: u64) -> io::Result<()>;
    /// Appends to a group file.
    fn group_append(&self, id: u64, bytes: &[u8]) -> io::Result<()>;
    /// Cuts a group file.
    fn group_truncate(&self, id: u64, len: u64) -> io::Result<()>;
    /// Makes a group file and its name durable.
    fn group_sync(&self, id: u64) -> io::Result<()>;
    /// Reads from an offset on, as [`LogFiles::read`].
    fn group_read(&self, id: u64, offset: u64, buf: &mut [u8]) -> io::Result<usize>;
    /// Removes a group file.
    fn group_remove(&self, id: u64) -> io::Result<()>;
    /// Ids of all group files that are there, in any order.
    fn group_list(&self) -> io::Result<Vec<u64>>;
}

/// Error for bytes that no correct writer can have written.
pub(super) fn damaged(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Fills `buf` by reads of `read(offset, rest)`; a file that ends before is an error.
pub(super) fn read_exact(
    mut offset: u64,
    mut buf: &mut [u8],
    read: impl Fn(u64, &mut [u8]) -> io::Result<usize>,
) -> io::Result<()> {
    while !buf.is_empty() {
        let n = read(offset, buf)?;
        let rest = buf.split_at_mut_checked(n).filter(|_| n > 0);
        let (_, rest) = rest.ok_or(io::ErrorKind::UnexpectedEof)?;
        buf = rest;
        offset += n as u64;
    }
    Ok(())
}
