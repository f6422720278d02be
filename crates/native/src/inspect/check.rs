//! `selkie inspect check`: every page's checksum, every tree's structure, and whether indexes have
//! the rows' keys, after recovery has rolled back losers. Writes nothing to the directory.

use super::command::{Directory, Findings};
use super::files::page_count;
use crate::btree::{Node, Seek, Tree};
use crate::engine::{Shared, open_on, undo_losers};
use crate::error::Result;
use crate::ids::{FileId, PageId};
use crate::table::{TableFiles, has_lists, value};
use std::hash::BuildHasher;
use std::io::Write;

/// Count and sum of hashes of a set of clustered keys.
#[derive(Default, PartialEq, Eq)]
struct Keys {
    count: u64,
    sum: u64,
}

impl Keys {
    fn add(&mut self, key: &[u8]) {
        self.count += 1;
        let hash = foldhash::fast::FixedState::with_seed(11).hash_one(key);
        self.sum = self.sum.wrapping_add(hash);
    }
}

pub(super) fn all(directory: &Directory, out: &mut Vec<u8>) -> Findings {
    let shared = open_on(directory.disk.clone(), &directory.options)?;
    let mut wrong = Vec::new();
    let mut pages = 0;
    let mut files = shared.storage.space().files();
    files.sort_unstable();
    for file in &files {
        pages += check_pages(&shared, *file, &mut wrong)?;
    }
    // The rollback of losers needs readable pages.
    let mut tables = 0;
    if wrong.is_empty() {
        // Prepared branches keep their changes, in indexes as in rows.
        undo_losers(&shared)?;
        for table in shared.all_tables() {
            tables += 1;
            check_table(&table, &mut wrong)?;
        }
    }
    wrong.iter().try_for_each(|what| writeln!(out, "WRONG: {what}"))?;
    let (files, found) = (files.len(), wrong.len());
    writeln!(out, "{files} files, {pages} pages, {tables} tables checked; {found} errors")?;
    Ok(found)
}

/// Reads every page in use; returns the number of pages.
fn check_pages(shared: &Shared, file: FileId, wrong: &mut Vec<String>) -> Result<u64> {
    let storage = &shared.storage;
    let mut pages = 0;
    for number in 0..page_count(storage.pool(), file)? {
        let id = PageId::new(file, number);
        match storage.space().is_allocated(storage, id) {
            Ok(true) => {}
            Ok(false) => continue,
            Err(error) => {
                wrong.push(error.to_string());
                return Ok(pages);
            }
        }
        pages += 1;
        if let Err(error) = storage.pool().shared(id) {
            wrong.push(error.to_string());
        }
    }
    Ok(pages)
}

fn check_table(table: &TableFiles, wrong: &mut Vec<String>) -> Result<()> {
    let mut trees = vec![table.clustered.clone()];
    let (lists, indexes): (Vec<_>, Vec<_>) =
        table.indexes.read().clone().into_iter().partition(|(id, _)| has_lists(*id));
    trees.extend(indexes.into_iter().map(|(_, tree)| tree));
    for (_, tree) in &lists {
        wrong.extend(tree.check()?.wrong);
    }
    let before = wrong.len();
    for tree in &trees {
        wrong.extend(tree.check()?.wrong);
    }
    if wrong.len() > before {
        return Ok(());
    }
    let mut rows = Keys::default();
    each_entry(&table.clustered, |key, _| rows.add(key))?;
    for tree in &trees[1..] {
        let mut keys = Keys::default();
        each_entry(tree, |key, value| keys.add(key.get(value::split(value)..).unwrap_or(&[])))?;
        if keys != rows {
            let (file, id, entries) = (tree.file.0, table.id, keys.count);
            let rows = rows.count;
            wrong.push(format!(
                "index in file {file} of table {id} has {entries} entries for {rows} rows, or entries that \
                 do not match the rows"
            ));
        }
    }
    Ok(())
}

/// Calls `show` with every entry that is not a delete mark.
fn each_entry(tree: &Tree, mut show: impl FnMut(&[u8], &[u8])) -> Result<()> {
    let mut from: Vec<u8> = Vec::new();
    loop {
        let next = tree.read(Seek::At(&from), |node: Node<'_>| {
            for at in 0..node.count() {
                let (key, entry) = (node.key(at), node.value(at));
                if !value::is_deleted(entry) {
                    show(&key, entry);
                }
            }
            node.upper().map(<[u8]>::to_vec)
        })?;
        match next {
            Some(upper) => from = upper,
            None => return Ok(()),
        }
    }
}
