//! Relay files of an earlier life, read from the first to the last: what is used of them.
//!
//! Must not give up for bytes that make no sense: a crash may have torn the last ones, and what is
//! behind them comes again. Only files that cannot be read are an error.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Arc;

use selkie_replication::codec::{HEADER_BYTES, Header};
use selkie_replication::file::MAGIC;
use selkie_replication::log::FileNumber;
use selkie_replication::replica::{Kept, Known, RelayPlace, Walk};

use super::files;
use crate::binlog::LogNames;

/// Bytes read at once.
const CHUNK: usize = 256 << 10;

/// Reads the files of these names. None if nothing of them is used.
pub(super) fn walk(names: &LogNames, known: Known) -> io::Result<Option<Kept>> {
    let mut walk = Walk::new(known);
    let mut next = None;
    for number in files::numbers(names)? {
        // Behind a gap nothing is used.
        if next.is_some_and(|next| next != number) || !read(names, number, &mut walk)? {
            break;
        }
        next = number.checked_add(1);
    }
    Ok(walk.finish())
}

/// Reads a file; whether all of it makes sense.
fn read(names: &LogNames, number: FileNumber, walk: &mut Walk) -> io::Result<bool> {
    let mut file = BufReader::with_capacity(CHUNK, files::open(names, number)?);
    let length = file.get_ref().metadata()?.len();
    let mut magic = [0; MAGIC.len()];
    if length < MAGIC.len() as u64 {
        return Ok(false);
    }
    file.read_exact(&mut magic)?;
    let mut offset = MAGIC.len() as u64;
    let mut event = Vec::new();
    if magic != MAGIC {
        return Ok(false);
    }
    while offset < length {
        let left = length - offset;
        if left < HEADER_BYTES as u64 {
            return Ok(false);
        }
        event.resize(HEADER_BYTES, 0);
        file.read_exact(&mut event)?;
        let Ok(header) = Header::decode(&event) else { return Ok(false) };
        let size = header.event_length as usize;
        if size < HEADER_BYTES || size as u64 > left {
            return Ok(false);
        }
        event.resize(size, 0);
        file.read_exact(&mut event[HEADER_BYTES..])?;
        let end = offset + size as u64;
        if walk.take(&event, ((number, offset), (number, end))).is_err() {
            return Ok(false);
        }
        offset = end;
    }
    Ok(true)
}

/// Removes what is behind the last whole group. Returns the ends of the files that stay, and the
/// last one.
pub(super) fn cut(names: &LogNames, kept: &Kept) -> io::Result<(Vec<RelayPlace>, Arc<File>)> {
    let (last, length) = kept.end;
    let mut stay = Vec::new();
    for number in files::numbers(names)? {
        if number > last {
            files::remove(names, number)?;
            continue;
        }
        let path = names.directory.join(names.file(number));
        stay.push((number, fs::metadata(path)?.len()));
    }
    let path = names.directory.join(names.file(last));
    let file = OpenOptions::new().read(true).write(true).mode(files::MODE).open(path)?;
    file.set_len(length)?;
    if let Some(end) = stay.last_mut() {
        *end = kept.end;
    }
    files::write_index(names, stay.iter().map(|(number, _)| *number))?;
    Ok((stay, Arc::new(file)))
}
