//! The allocation bitmap of a region: one bit per page, set when used, in the body of one map page.
//!
//! A region has as many pages as a map page has bits: 16,320 bytes, 130,560 pages, 2,040 extents of
//! 64. Region `r` starts at page `r * REGION_PAGES`. Its page 0 is the file header (region 0) or
//! unused, its page 1 is the map.

use crate::ids::{PAGE_SIZE, PageNo};
use crate::page::{HEADER_LEN, PageBytes, get_u64};

/// Pages per region.
pub(crate) const REGION_PAGES: u32 = ((PAGE_SIZE - HEADER_LEN) * 8) as u32;
/// Pages per extent: the unit in which neighbouring pages are kept together.
pub(crate) const EXTENT: u32 = 64;
/// Pages of every region that are never allocated.
pub(crate) const REGION_OVERHEAD: u32 = 2;

/// The region of a page.
pub(super) fn region_of(page: PageNo) -> u32 {
    page.0 / REGION_PAGES
}

/// The map page of a region.
pub(super) fn map_page(region: u32) -> PageNo {
    PageNo(region * REGION_PAGES + 1)
}

/// The 64 bits of extent `extent` of the region.
pub(super) fn extent_bits(map: &PageBytes, extent: u32) -> u64 {
    get_u64(map, HEADER_LEN + extent as usize * 8)
}

/// Position in the map page of the byte with the bit of `index`.
pub(super) fn byte_of(index: u32) -> usize {
    HEADER_LEN + index as usize / 8
}

/// Whether page `index` of the region is used.
pub(super) fn is_used(map: &PageBytes, index: u32) -> bool {
    map[byte_of(index)] & 1 << (index % 8) != 0
}

/// Used pages among the first `pages` of the region.
pub(super) fn count_used(map: &PageBytes, pages: u32) -> u32 {
    let whole: u32 = (0..pages / EXTENT).map(|e| extent_bits(map, e).count_ones()).sum();
    let rest = pages % EXTENT;
    let mask = (1u64 << rest) - 1;
    whole + if rest == 0 { 0 } else { (extent_bits(map, pages / EXTENT) & mask).count_ones() }
}

/// The first free page at or after `from`, below `pages`.
pub(super) fn find_free(map: &PageBytes, from: u32, pages: u32) -> Option<u32> {
    let mut extent = from / EXTENT;
    let mut mask = !0u64 << (from % EXTENT);
    while extent * EXTENT < pages {
        let free = !extent_bits(map, extent) & mask;
        if free != 0 {
            return Some(extent * EXTENT + free.trailing_zeros()).filter(|n| *n < pages);
        }
        (extent, mask) = (extent + 1, !0);
    }
    None
}

/// The first wholly free extent at or after extent `from`, as its first page.
pub(super) fn find_free_extent(map: &PageBytes, from: u32, pages: u32) -> Option<u32> {
    (from..pages / EXTENT).find(|e| extent_bits(map, *e) == 0).map(|e| e * EXTENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map_with(used: &[u32]) -> Box<PageBytes> {
        let mut map = Box::new([0; PAGE_SIZE]);
        used.iter().for_each(|n| map[byte_of(*n)] |= 1 << (n % 8));
        map
    }

    #[test]
    fn search_respects_start_and_end() {
        let map = map_with(&[0, 1, 2, 64, 130]);
        assert_eq!(find_free(&map, 0, 200), Some(3));
        assert_eq!(find_free(&map, 64, 200), Some(65));
        assert_eq!(find_free(&map, 2, 3), None);
        assert_eq!(find_free_extent(&map, 0, 256), Some(192));
        assert_eq!(find_free_extent(&map, 0, 255), None);
        assert_eq!(count_used(&map, 200), 5);
        assert_eq!(count_used(&map, 65), 4);
        assert!(is_used(&map, 130) && !is_used(&map, 131));
    }
}
