//! Long values: chains of pages beside the tree. A chain is written before the entry that points to
//! it, and never changes.
//!
//! ```text
//! type-specific header: len u16 @42 | next page u32 @44 (0: last)
//! body from 64:         up to 16,320 bytes
//! ```

use crate::error::{Result, StorageError};
use crate::ids::{FileId, PAGE_SIZE, PageId, PageNo};
use crate::mtr::Mtr;
use crate::page::{HEADER_LEN, PageType, get_u16, get_u32, page_type};
use crate::storage::Storage;

const OFF_LEN: usize = 42;
const OFF_NEXT: usize = 44;
const BODY: usize = PAGE_SIZE - HEADER_LEN;

/// Stores `bytes` (not empty) and returns the first page. Each page is a mini-transaction of its
/// own: a crash in between leaks pages but damages nothing.
pub(crate) fn write_chain(storage: &Storage, file: FileId, bytes: &[u8]) -> Result<PageNo> {
    let mut next = PageNo(0);
    let mut pages = storage.space().reserve(storage, file, bytes.len().div_ceil(BODY) as u32)?;
    for chunk in bytes.chunks(BODY).rev() {
        let mut mtr = Mtr::begin(storage)?;
        let page = storage.space().alloc(&mut mtr, &mut pages, None)?;
        let slot = mtr.create(PageId { file, page }, PageType::Blob as u8)?;
        let mut head = [0; 6];
        head[..2].copy_from_slice(&(chunk.len() as u16).to_le_bytes());
        head[2..].copy_from_slice(&next.0.to_le_bytes());
        mtr.write(slot, OFF_LEN, &head);
        mtr.write(slot, HEADER_LEN, chunk);
        mtr.commit();
        crate::failpoint::reached("long value partly written");
        next = page;
    }
    Ok(next)
}

/// Appends the `len` bytes of a chain to `out`. Hold no latch.
pub(crate) fn read_chain(
    storage: &Storage,
    file: FileId,
    first: PageNo,
    len: u64,
    out: &mut Vec<u8>,
) -> Result<()> {
    let (mut page, mut left) = (first, len as usize);
    while left > 0 {
        let id = PageId { file, page };
        let guard = storage.pool().shared(id)?;
        let here = usize::from(get_u16(&guard[..], OFF_LEN));
        if page.0 == 0 || page_type(&guard[..]) != PageType::Blob as u8 || here == 0 || here > left
        {
            return Err(StorageError::page(id, "not the expected page of the long value"));
        }
        out.extend_from_slice(guard.get(HEADER_LEN..HEADER_LEN + here).unwrap_or(&[]));
        left -= here;
        page = PageNo(get_u32(&guard[..], OFF_NEXT));
    }
    Ok(())
}

/// The page after this one in a chain; 0 after the last.
pub(crate) fn next_of_chain(page: &[u8]) -> PageNo {
    PageNo(get_u32(page, OFF_NEXT))
}

/// Frees the pages of a chain.
pub(crate) fn free_chain(storage: &Storage, file: FileId, first: PageNo, len: u64) -> Result<()> {
    let mut page = first;
    for _ in 0..(len as usize).div_ceil(BODY) {
        let id = PageId { file, page };
        let next = PageNo(get_u32(&storage.pool().shared(id)?[..], OFF_NEXT));
        let mut mtr = Mtr::begin_reserved(storage);
        storage.space().free(&mut mtr, id)?;
        mtr.commit();
        page = next;
    }
    Ok(())
}
