//! `selkie inspect tree`: the shape of a tree as recovery leaves it.
//!
//! Opens the database like a start, on an overlay in memory.

use super::command::{Directory, Failure, Findings, number};
use crate::btree::Node;
use crate::engine::open_on;
use crate::error::{Result, StorageError};
use crate::ids::{FileId, PAGE_SIZE, PageId};
use crate::storage::Storage;
use std::collections::BTreeMap;
use std::io::Write;

/// Page number of the root.
const ROOT: u32 = 2;

/// Sums of a level of a tree.
#[derive(Default)]
struct Level {
    pages: u64,
    entries: u64,
    bytes: u64,
}

pub(super) fn show(directory: &Directory, rest: &[String], out: &mut Vec<u8>) -> Findings {
    let file = FileId(number(rest, 0)?.ok_or(Failure::Usage)? as u32);
    let shared = open_on(directory.disk.clone(), &directory.options)?;
    let (tree, table) = shared.tree(file).ok_or_else(|| {
        StorageError::io("look for the tree", std::io::ErrorKind::NotFound.into())
    })?;
    let mut levels = BTreeMap::new();
    walk(&shared.storage, PageId::new(file, ROOT), &mut levels)?;
    writeln!(out, "file {} of table {}, {} levels", file.0, table.id, levels.len())?;
    for (number, level) in levels.iter().rev() {
        let fill = level.bytes * 100 / (level.pages * PAGE_SIZE as u64).max(1);
        writeln!(
            out,
            "level {number}: {} pages, {} entries, {fill}% full",
            level.pages, level.entries
        )?;
    }
    let wrong = tree.check()?.wrong;
    wrong.iter().try_for_each(|what| writeln!(out, "WRONG: {what}"))?;
    Ok(wrong.len())
}

fn walk(storage: &Storage, id: PageId, levels: &mut BTreeMap<u8, Level>) -> Result<()> {
    let children: Vec<PageId> = {
        let guard = storage.pool().shared(id)?;
        let node = Node::new(&guard[..]);
        let level = levels.entry(node.level()).or_default();
        level.pages += 1;
        level.entries += node.count() as u64;
        level.bytes += node.used() as u64;
        match node.is_leaf() {
            Some(false) => {
                (0..node.count()).map(|at| PageId { page: node.child(at), ..id }).collect()
            }
            _ => Vec::new(),
        }
    };
    children.into_iter().try_for_each(|child| walk(storage, child, levels))
}
