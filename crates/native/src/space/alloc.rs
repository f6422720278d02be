//! Allocation of pages. `reserve` makes sure that space exists while an error can still be reported
//! (I13). After that, `alloc` and `free` only change bits inside the caller's mini-transaction and
//! cannot run out of space.

use super::file::{DataFile, Space, step};
use super::map::{self, EXTENT, REGION_OVERHEAD, REGION_PAGES, byte_of, map_page, region_of};
use crate::error::{Result, StorageError};
use crate::ids::{FileId, PAGE_SIZE, PageId, PageNo};
use crate::mtr::{Mtr, PageSlot};
use crate::page::PageType;
use crate::storage::Storage;
use std::sync::Arc;

/// Files of this many pages (8 MiB) or more grow ahead of need.
const AHEAD_FROM: u32 = 512;

/// Counters of a file. The bitmaps are authoritative; the counters follow them.
#[derive(Default)]
pub(super) struct FileState {
    /// Pages that have space on disk.
    pages: u32,
    used: u32,
    reserved: u32,
    /// No free page lies below this.
    first_free: u32,
    /// Extent from which the search for a free extent starts.
    extent_hint: u32,
}

impl FileState {
    pub(super) fn new(pages: u32, used: u32) -> FileState {
        FileState { pages, used, reserved: 0, first_free: 0, extent_hint: 0 }
    }

    fn available(&self) -> u32 {
        self.pages.saturating_sub(self.used + self.reserved)
    }
}

/// Size of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SpaceUse {
    /// Pages with space on disk.
    pub(crate) pages: u32,
    /// Pages handed out, maps and header included.
    pub(crate) used: u32,
}

/// Reserved pages; dropping it returns those that were not allocated.
pub(crate) struct Reservation {
    file: Arc<DataFile>,
    left: u32,
}

impl Reservation {
    /// Pages that can still be allocated.
    pub(crate) fn left(&self) -> u32 {
        self.left
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.file.state.lock().reserved -= self.left;
    }
}

impl Space {
    /// Reserves `pages` pages and grows the file if needed. Call before the first page change and
    /// with no latch held; `DiskFull` leaves everything unchanged.
    pub(crate) fn reserve(
        &self,
        storage: &Storage,
        file: FileId,
        pages: u32,
    ) -> Result<Reservation> {
        let file = self.file(file)?;
        file.settle(storage);
        storage.pool().load(PageId { file: file.id, page: map_page(0) })?;
        loop {
            let mut state = file.state.lock();
            if state.available() >= pages {
                state.reserved += pages;
                drop(state);
                return Ok(Reservation { file, left: pages });
            }
            drop(state);
            self.grow(storage, &file, pages)?;
        }
    }

    /// Grows files that will soon be full (I14), so that statements rarely wait for it. Small files
    /// grow quickly enough on demand. A full disk is no error here: a later `reserve` reports it.
    pub(crate) fn grow_ahead(&self, storage: &Storage) -> Result<()> {
        for file in self.all() {
            let (pages, available) = {
                let state = file.state.lock();
                (state.pages, state.available())
            };
            let step = step(pages);
            if pages >= AHEAD_FROM && available < step / 4 {
                match self.grow(storage, &file, available + step / 2) {
                    Ok(()) | Err(StorageError::DiskFull) => {}
                    Err(e) => return Err(e),
                }
            }
        }
        Ok(())
    }

    /// Grows the file until `wanted` pages are available. New pages count once their regions have
    /// maps.
    fn grow(&self, storage: &Storage, file: &DataFile, wanted: u32) -> Result<()> {
        let _one_at_a_time = file.growing.lock();
        let (before, missing) = {
            let state = file.state.lock();
            match wanted.checked_sub(state.available()) {
                None | Some(0) => return Ok(()),
                Some(missing) => (state.pages, missing),
            }
        };
        let after = lengthen(file, before, missing)
            .map_err(|e| StorageError::io("growth of a data file", e))?;
        let regions = before.div_ceil(REGION_PAGES)..after.div_ceil(REGION_PAGES);
        for region in regions.clone() {
            let mut mtr = Mtr::begin(storage)?;
            create_map(&mut mtr, file.id, region)?;
            mtr.commit();
        }
        let mut state = file.state.lock();
        state.pages = after;
        state.used += REGION_OVERHEAD * regions.len() as u32;
        Ok(())
    }

    /// Allocates one page, close after `near` if that is given: in the same extent, else at the
    /// start of a free one, else anywhere. Latches space maps, so the mini-transaction must already
    /// have latched all existing tree pages it needs.
    pub(crate) fn alloc(
        &self,
        mtr: &mut Mtr<'_>,
        from: &mut Reservation,
        near: Option<PageNo>,
    ) -> Result<PageNo> {
        let file = from.file.clone();
        mtr.exclusive(PageId { file: file.id, page: map_page(0) })?;
        let (pages, first_free, extent_hint) = {
            let state = file.state.lock();
            (state.pages, state.first_free, state.extent_hint)
        };
        let found = match near {
            Some(near) => alloc_near(mtr, file.id, near, extent_hint, pages)?,
            None => None,
        };
        let page = match found {
            Some(page) => page,
            None => alloc_first(mtr, file.id, first_free, pages)?,
        };
        take(mtr, file.id, page, 1)?;
        from.consume(1, |state| {
            if found.is_none() {
                state.first_free = page.0 + 1;
            }
            state.extent_hint = state.extent_hint.max(page.0 / EXTENT);
        });
        Ok(page)
    }

    /// Frees a page. It may be allocated again as soon as the mini-transaction has committed.
    /// Latches space maps.
    pub(crate) fn free(&self, mtr: &mut Mtr<'_>, id: PageId) -> Result<()> {
        let file = self.file(id.file)?;
        mtr.exclusive(PageId { file: id.file, page: map_page(0) })?;
        let slot = map_slot(mtr, id.file, region_of(id.page))?;
        let index = id.page.0 % REGION_PAGES;
        let byte = byte_of(index);
        if index < REGION_OVERHEAD || !map::is_used(mtr.page(slot), index) {
            return Err(StorageError::page(id, "freed although it is not allocated"));
        }
        let new = mtr.page(slot)[byte] & !(1 << (index % 8));
        mtr.write(slot, byte, &[new]);
        let mut state = file.state.lock();
        state.used -= 1;
        state.first_free = state.first_free.min(id.page.0);
        state.extent_hint = state.extent_hint.min(id.page.0 / EXTENT);
        Ok(())
    }

    /// Whether the page is allocated.
    pub(crate) fn is_allocated(&self, storage: &Storage, id: PageId) -> Result<bool> {
        let map =
            storage.pool().shared(PageId { file: id.file, page: map_page(region_of(id.page)) })?;
        Ok(map::is_used(&map, id.page.0 % REGION_PAGES))
    }

    /// The file's size.
    pub(crate) fn usage(&self, file: FileId) -> Result<SpaceUse> {
        let file = self.file(file)?;
        let state = file.state.lock();
        Ok(SpaceUse { pages: state.pages, used: state.used })
    }
}

impl Reservation {
    fn consume(&mut self, pages: u32, more: impl FnOnce(&mut FileState)) {
        let mut state = self.file.state.lock();
        state.used += pages;
        state.reserved -= pages;
        more(&mut state);
        drop(state);
        self.left -= pages;
    }
}

/// Grows a file by a whole step, or only by the missing pages when the disk is nearly full.
fn lengthen(file: &DataFile, pages: u32, missing: u32) -> std::io::Result<u32> {
    // A step may enter a new region, whose overhead is added.
    let missing = missing + REGION_OVERHEAD;
    let try_length = |pages: u32| -> std::io::Result<u32> {
        file.handle.allocate(u64::from(pages) * PAGE_SIZE as u64)?;
        file.handle.sync()?;
        Ok(pages)
    };
    match try_length(pages.saturating_add(step(pages).max(missing))) {
        Err(e) if e.kind() == std::io::ErrorKind::StorageFull => try_length(pages + missing),
        outcome => outcome,
    }
}

/// Initialises the map of a region and marks the region's own two pages as used.
pub(super) fn create_map(mtr: &mut Mtr<'_>, file: FileId, region: u32) -> Result<()> {
    let slot = mtr.create(PageId { file, page: map_page(region) }, PageType::SpaceMap as u8)?;
    mtr.write(slot, byte_of(0), &[0b11]);
    Ok(())
}

fn map_slot(mtr: &mut Mtr<'_>, file: FileId, region: u32) -> Result<PageSlot> {
    mtr.exclusive(PageId { file, page: map_page(region) })
}

/// Number of pages of `region` in a file of `pages` pages.
fn pages_in(region: u32, pages: u32) -> u32 {
    pages.saturating_sub(region * REGION_PAGES).min(REGION_PAGES)
}

fn alloc_near(
    mtr: &mut Mtr<'_>,
    file: FileId,
    near: PageNo,
    hint: u32,
    pages: u32,
) -> Result<Option<PageNo>> {
    let region = region_of(near);
    let slot = map_slot(mtr, file, region)?;
    let index = near.0 % REGION_PAGES;
    let extent_end = ((index / EXTENT + 1) * EXTENT).min(pages_in(region, pages));
    if let Some(found) = map::find_free(mtr.page(slot), index, extent_end) {
        return Ok(Some(PageNo(region * REGION_PAGES + found)));
    }
    free_extent(mtr, file, hint, pages)
}

/// The first wholly free extent of the file, from extent `hint` on.
fn free_extent(mtr: &mut Mtr<'_>, file: FileId, hint: u32, pages: u32) -> Result<Option<PageNo>> {
    let per_region = REGION_PAGES / EXTENT;
    for region in hint / per_region..pages.div_ceil(REGION_PAGES) {
        let slot = map_slot(mtr, file, region)?;
        let from = if region == hint / per_region { hint % per_region } else { 0 };
        if let Some(found) = map::find_free_extent(mtr.page(slot), from, pages_in(region, pages)) {
            return Ok(Some(PageNo(region * REGION_PAGES + found)));
        }
    }
    Ok(None)
}

fn alloc_first(mtr: &mut Mtr<'_>, file: FileId, first_free: u32, pages: u32) -> Result<PageNo> {
    for region in first_free / REGION_PAGES..pages.div_ceil(REGION_PAGES) {
        let slot = map_slot(mtr, file, region)?;
        let from = if region == first_free / REGION_PAGES { first_free % REGION_PAGES } else { 0 };
        if let Some(found) = map::find_free(mtr.page(slot), from, pages_in(region, pages)) {
            return Ok(PageNo(region * REGION_PAGES + found));
        }
    }
    Err(StorageError::page(
        PageId { file, page: map_page(0) },
        "the space maps hold fewer free pages than reserved",
    ))
}

/// Sets the bits of `count` pages, from `first` on.
fn take(mtr: &mut Mtr<'_>, file: FileId, first: PageNo, count: u32) -> Result<()> {
    let slot = map_slot(mtr, file, region_of(first))?;
    let index = first.0 % REGION_PAGES;
    if count == EXTENT {
        mtr.write(slot, byte_of(index), &[0xFF; EXTENT as usize / 8]);
        return Ok(());
    }
    let byte = mtr.page(slot)[byte_of(index)] | 1 << (index % 8);
    mtr.write(slot, byte_of(index), &[byte]);
    Ok(())
}
