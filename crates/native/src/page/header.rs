//! The page header: fixed offsets, typed accessors, seal and verify. Accessors work on any byte
//! slice of a page's length, so they serve pool frames, doublewrite copies and recovery alike.
//! Fields marked as the tree's have no meaning for the layers below it.

use crate::error::{Result, StorageError};
use crate::ids::{Lsn, PAGE_SIZE, PageId};

/// The bytes of one page.
pub(crate) type PageBytes = [u8; PAGE_SIZE];

/// Position of the checksum: crc32c of all bytes after it.
pub(crate) const OFF_CRC: usize = 0;
/// Format version of the page, u16.
pub(crate) const OFF_VERSION: usize = 4;
/// `PageType`, u8.
pub(crate) const OFF_TYPE: usize = 6;
/// Level in the tree (0 = leaf), u8; a field of the tree.
pub(crate) const OFF_LEVEL: usize = 7;
/// End of the log group that last changed the page, u64.
pub(crate) const OFF_LSN: usize = 8;
/// The page's own file, u32; detects misdirected writes.
pub(crate) const OFF_FILE: usize = 16;
/// The page's own number, u32.
pub(crate) const OFF_PAGE: usize = 20;
/// Index id, u64; a field of the tree.
#[cfg(test)]
pub(crate) const OFF_INDEX: usize = 24;
/// Newest version sequence on the page, u64; a field of the tree.
pub(crate) const OFF_MAX_VER: usize = 32;
/// Number of entries, u16; a field of the tree.
pub(crate) const OFF_COUNT: usize = 40;
/// First of the 22 header bytes whose meaning the page type defines.
#[cfg(test)]
pub(crate) const OFF_TYPE_SPECIFIC: usize = 42;
/// Length of the header; the body starts here.
pub(crate) const HEADER_LEN: usize = 64;
/// The only page format so far.
pub(crate) const FORMAT_VERSION: u16 = 1;

/// Kind of a page's content. Zero is a page that was never initialised.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum PageType {
    /// Page 0 of a file: identity, and an area for the owner's metadata.
    FileHeader = 1,
    /// Allocation bits of a region of the file.
    SpaceMap = 2,
    /// Inner node of a B+tree.
    BtreeInner = 3,
    /// Leaf of a B+tree.
    BtreeLeaf = 4,
    /// Part of a long column value.
    Blob = 5,
}

/// Reads a little-endian u16; the caller's offsets are constants inside the page.
pub(crate) fn get_u16(page: &[u8], at: usize) -> u16 {
    page.get(at..at + 2).map_or(0, |b| u16::from_le_bytes([b[0], b[1]]))
}

/// Reads a little-endian u32.
pub(crate) fn get_u32(page: &[u8], at: usize) -> u32 {
    page.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_le_bytes)
}

/// Reads a little-endian u64.
pub(crate) fn get_u64(page: &[u8], at: usize) -> u64 {
    page.get(at..at + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_le_bytes)
}

/// Writes bytes at a constant offset.
pub(crate) fn put(page: &mut [u8], at: usize, bytes: &[u8]) {
    page[at..at + bytes.len()].copy_from_slice(bytes);
}

/// The LSN of the page.
pub(crate) fn page_lsn(page: &[u8]) -> Lsn {
    Lsn(get_u64(page, OFF_LSN))
}

/// Stamps the LSN.
pub(crate) fn set_page_lsn(page: &mut [u8], lsn: Lsn) {
    put(page, OFF_LSN, &lsn.0.to_le_bytes());
}

/// The page's type byte.
pub(crate) fn page_type(page: &[u8]) -> u8 {
    page.get(OFF_TYPE).copied().unwrap_or(0)
}

/// Zeroes the page and writes a fresh header. An INIT record redoes this.
pub(crate) fn init(page: &mut [u8], id: PageId, kind: u8) {
    page.fill(0);
    put(page, OFF_VERSION, &FORMAT_VERSION.to_le_bytes());
    page[OFF_TYPE] = kind;
    put(page, OFF_FILE, &id.file.0.to_le_bytes());
    put(page, OFF_PAGE, &id.page.0.to_le_bytes());
}

/// Computes and stores the checksum of a copy about to be written.
pub(crate) fn seal(page: &mut [u8]) {
    let crc = crc32c::crc32c(&page[OFF_VERSION..]);
    put(page, OFF_CRC, &crc.to_le_bytes());
}

/// Whether the checksum matches. It does not on a page of zeros: their checksum is not zero.
pub(crate) fn checksum_ok(page: &[u8]) -> bool {
    page.len() == PAGE_SIZE && get_u32(page, OFF_CRC) == crc32c::crc32c(&page[OFF_VERSION..])
}

/// The page id stored in a page; `None` on a page never initialised.
pub(crate) fn claimed_id(page: &[u8]) -> Option<PageId> {
    let file = get_u32(page, OFF_FILE);
    PageId::unpack(u64::from(file) << 32 | u64::from(get_u32(page, OFF_PAGE))).filter(|_| file != 0)
}

/// Checks a page read from disk: checksum, format version, and that it is the requested page.
pub(crate) fn verify(page: &[u8], id: PageId) -> Result<()> {
    if !checksum_ok(page) {
        let what = if page.iter().all(|b| *b == 0) {
            "page was never written"
        } else {
            "checksum mismatch"
        };
        return Err(StorageError::page(id, what));
    }
    if claimed_id(page) != Some(id) {
        return Err(StorageError::page(
            id,
            "the page found there belongs elsewhere (misdirected write)",
        ));
    }
    if get_u16(page, OFF_VERSION) != FORMAT_VERSION {
        return Err(StorageError::page(
            id,
            format!("unknown page format {}", get_u16(page, OFF_VERSION)),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::FileId;

    #[test]
    fn sealed_page_verifies_and_any_flip_does_not() {
        let id = PageId::new(FileId(3), 9);
        let mut page = vec![0u8; PAGE_SIZE];
        init(&mut page, id, PageType::BtreeLeaf as u8);
        page[5000] = 7;
        seal(&mut page);
        assert!(verify(&page, id).is_ok());
        assert!(verify(&page, PageId::new(FileId(3), 8)).is_err());
        for at in (0..PAGE_SIZE).step_by(997) {
            page[at] ^= 0x10;
            assert!(verify(&page, id).is_err(), "flip at {at} went unnoticed");
            page[at] ^= 0x10;
        }
    }

    #[test]
    fn zero_page_is_refused() {
        assert!(verify(&vec![0u8; PAGE_SIZE], PageId::new(FileId(1), 0)).is_err());
    }
}
