//! `selkie inspect files`: data files, their owners and their sizes.
//!
//! Opens the database like a start, on an overlay in memory.

use super::command::{Directory, Findings};
use crate::engine::open_on;
use crate::error::Result;
use crate::ids::{FileId, PAGE_SIZE};
use crate::page::{PageType, page_type};
use crate::pool::Pool;
use crate::table::FileIdentity;
use std::io::Write;

pub(super) fn list(directory: &Directory, out: &mut Vec<u8>) -> Findings {
    let shared = open_on(directory.disk.clone(), &directory.options)?;
    let storage = &shared.storage;
    let mut files = storage.space().files();
    files.sort_unstable();
    writeln!(out, "      file      table  index      pages       used  bytes")?;
    for file in &files {
        let owner = FileIdentity::read(storage, *file)?;
        let (table, index) = match owner {
            None => ("-".to_owned(), "-".to_owned()),
            Some(owner) => {
                let index = owner.index.map_or("rows".to_owned(), |index| index.0.to_string());
                (owner.table.to_string(), index)
            }
        };
        let bytes = storage.pool().handle(*file)?.len().map_err(io_error)?;
        let used = storage.space().usage(*file)?.used;
        let pages = bytes / PAGE_SIZE as u64;
        writeln!(out, "{:>10} {table:>10} {index:>6} {pages:>10} {used:>10}  {bytes}", file.0)?;
    }
    writeln!(
        out,
        "{} files; log from {} to {}",
        files.len(),
        storage.checkpoint_lsn(),
        storage.log().tail()
    )?;
    Ok(0)
}

fn io_error(error: std::io::Error) -> crate::error::StorageError {
    crate::error::StorageError::io("length of a data file", error)
}

/// Number of pages of a file, by its length.
pub(super) fn page_count(pool: &Pool, file: FileId) -> Result<u32> {
    let bytes = pool.handle(file)?.len().map_err(io_error)?;
    Ok((bytes / PAGE_SIZE as u64) as u32)
}

/// A page's type in words.
pub(super) fn kind_word(page: &[u8]) -> &'static str {
    let kind = page_type(page);
    let known = [
        (PageType::FileHeader, "file header"),
        (PageType::SpaceMap, "space map"),
        (PageType::BtreeInner, "inner node"),
        (PageType::BtreeLeaf, "leaf"),
        (PageType::Blob, "long value"),
    ];
    known.iter().find(|(k, _)| *k as u8 == kind).map_or("unknown", |(_, word)| word)
}
