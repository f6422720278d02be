//! `selkie inspect pages`: pages as they are in the file, without the log: headers, and entries of
//! one page. Shows damaged pages too, so it must not rely on checksums.

use super::command::{Directory, Failure, Findings, number};
use super::files::kind_word;
use crate::btree::Node;
use crate::disk::{Access, File};
use crate::error::StorageError;
use crate::ids::{FileId, PAGE_SIZE, PageId};
use crate::page;
use crate::space::data_file_name;
use std::io::Write;

pub(super) fn show(directory: &Directory, rest: &[String], out: &mut Vec<u8>) -> Findings {
    let file = FileId(number(rest, 0)?.ok_or(Failure::Usage)? as u32);
    let name = data_file_name(file);
    let opened = directory.disk.open(&name, Access::Direct);
    let handle = opened.map_err(|e| StorageError::io(format!("open of {name}"), e))?;
    if let Some(page) = number(rest, 1)? {
        return show_page(&*handle, PageId::new(file, page as u32), out);
    }
    let len = handle.len().map_err(|e| StorageError::io(format!("length of {name}"), e))?;
    let mut wrong = 0;
    for number in 0..(len / PAGE_SIZE as u64) as u32 {
        let id = PageId::new(file, number);
        let bytes = read(&*handle, id)?;
        if bytes.iter().all(|byte| *byte == 0) {
            continue;
        }
        wrong += usize::from(header(&bytes, id, out)?);
    }
    Ok(wrong)
}

fn read(handle: &dyn File, id: PageId) -> Result<Vec<u8>, StorageError> {
    let mut bytes = vec![0; PAGE_SIZE];
    let read = handle.read_at(&mut bytes, id.byte_offset());
    read.map_err(|e| StorageError::io(format!("read of {id}"), e))?;
    Ok(bytes)
}

/// Writes one line about a page; returns whether something is wrong with it.
fn header(bytes: &[u8], id: PageId, out: &mut Vec<u8>) -> Result<bool, Failure> {
    let node = Node::new(bytes);
    write!(
        out,
        "page {:>8} {:<11} lsn {:>12}",
        id.page.0,
        kind_word(bytes),
        page::page_lsn(bytes).0
    )?;
    if node.is_leaf().is_some() {
        let fill = node.used() * 100 / PAGE_SIZE;
        write!(
            out,
            " level {} entries {:>5} fill {fill:>3}% newest {}",
            node.level(),
            node.count(),
            node.max_ver()
        )?;
    }
    let wrong = page::verify(bytes, id).err();
    match &wrong {
        None => writeln!(out)?,
        Some(error) => writeln!(out, " WRONG: {error}")?,
    }
    Ok(wrong.is_some())
}

fn show_page(handle: &dyn File, id: PageId, out: &mut Vec<u8>) -> Findings {
    let bytes = read(handle, id)?;
    let wrong = header(&bytes, id, out)?;
    let node = Node::new(&bytes);
    let Some(is_leaf) = node.is_leaf() else { return Ok(wrong.into()) };
    writeln!(out, "lower fence {}", hex(node.lower()))?;
    writeln!(out, "upper fence {}", node.upper().map_or("none".to_owned(), hex))?;
    for at in 0..node.count() {
        let key = hex(&node.key(at));
        match is_leaf {
            true => writeln!(out, "{at:>5} {key} -> {}", leaf_value(node.value(at)))?,
            false => writeln!(out, "{at:>5} {key} -> page {}", node.child(at).0)?,
        }
    }
    Ok(wrong.into())
}

fn leaf_value(value: &[u8]) -> String {
    use crate::table::value::{BARE, DELETED, LONG, tag};
    let version = page::get_u64(value, 0);
    let bits = [(DELETED, " deleted"), (LONG, " long"), (BARE, " bare")];
    let tags: String =
        bits.iter().filter(|(bit, _)| tag(value) & bit != 0).map(|(_, w)| *w).collect();
    format!("version {version}{tags} {}", hex(value.get(9..).unwrap_or(&[])))
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
