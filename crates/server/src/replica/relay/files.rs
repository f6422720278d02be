//! Relay files on the file system: made, removed, listed in their index.
//!
//! Must not know events.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::PathBuf;
use std::sync::Arc;

use selkie_replication::log::FileNumber;

use crate::binlog::LogNames;

/// Permissions of new files, as those of the binary log.
pub(super) const MODE: u32 = 0o640;

fn path(names: &LogNames, number: FileNumber) -> PathBuf {
    names.directory.join(names.file(number))
}

/// Makes a file that begins with these bytes. Returns it with its length.
pub(super) fn create(
    names: &LogNames,
    number: FileNumber,
    first: &[u8],
) -> io::Result<(Arc<File>, u64)> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(true).mode(MODE);
    let path = path(names, number);
    let file = options.open(&path)?;
    if let Err(error) = file.write_all_at(first, 0) {
        let _ = fs::remove_file(&path);
        return Err(error);
    }
    Ok((Arc::new(file), first.len() as u64))
}

/// Opens a file to read it.
pub(super) fn open(names: &LogNames, number: FileNumber) -> io::Result<File> {
    File::open(path(names, number))
}

/// Removes a file; it may be gone already.
pub(super) fn remove(names: &LogNames, number: FileNumber) -> io::Result<()> {
    gone(fs::remove_file(path(names, number)))
}

/// The numbers of the files of these names, in order.
pub(super) fn numbers(names: &LogNames) -> io::Result<Vec<FileNumber>> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(&names.directory)? {
        let name = entry?.file_name();
        numbers.extend(name.to_str().and_then(|name| names.number(name)));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// Removes all files of these names, and the index.
pub(super) fn remove_all(names: &LogNames) -> io::Result<()> {
    for number in numbers(names)? {
        remove(names, number)?;
    }
    gone(fs::remove_file(&names.index))
}

/// Replaces the index.
pub(super) fn write_index(
    names: &LogNames,
    numbers: impl Iterator<Item = FileNumber>,
) -> io::Result<()> {
    let lines: Vec<String> =
        numbers.map(|number| format!("{}{}\n", names.prefix, names.file(number))).collect();
    let mut new = names.index.clone().into_os_string();
    new.push("_new");
    fs::write(&new, lines.concat())?;
    fs::rename(&new, &names.index)
}

fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
