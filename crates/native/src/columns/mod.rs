//! Column groups of a table: which key ranges have one, and which keys were touched since.
//!
//! Writers note the keys they change, under the latch of the changed leaf, and nothing else
//! (decision 18). No latch, no lock of a row and no page is waited for here, so writers never wait
//! for those who build or read.
//!
//! ```text
//! C1  The regions of a directory cover every key once.
//! C2  A group is in the directory before its builder visits the first leaf.
//! C3  Each change of a clustered entry by a statement touches its key under the leaf's latch.
//! C4  A reader fixes its snapshot before it takes the directory.
//! C5  Dead positions and touched keys are taken together.
//! C6  A group serves a snapshot that is not older than the group's own; the choice is per region.
//! C9  Touched keys only grow. A full group stays full, and nobody reads it any more.
//! C12 Under a group's mutex no other lock is taken.
//! ```

mod directory;
mod group;
mod keys;
mod memory;
mod segments;
#[cfg(test)]
mod tests;
mod touched;

pub(crate) use directory::{Directory, Region};
pub(crate) use group::{Built, Group};
pub(crate) use keys::{Finder, Keys};
pub(crate) use memory::Memory;
pub(crate) use segments::{LeftOut, Segments};

use crate::sync::RwLock;
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;

/// The column groups of one table.
#[derive(Default)]
pub(crate) struct Columns {
    /// Whether writers have to note keys. Set after a directory with a group is stored.
    tracks: AtomicBool,
    directory: RwLock<Arc<Directory>>,
    is_building: AtomicBool,
    /// Columns that were read, one bit for each of the first 64.
    wanted: AtomicU64,
}

fn bit(column: usize) -> u64 {
    1_u64.checked_shl(column as u32).unwrap_or(0)
}

/// The right to build groups, which one thread has at a time.
pub(crate) struct Building<'c> {
    columns: &'c Columns,
}

impl Drop for Building<'_> {
    fn drop(&mut self) {
        let mut directory = self.columns.directory.write();
        // A build that ended in a panic has left its group.
        if let Some(next) = directory.without_builds() {
            *directory = Arc::new(next);
        }
        let tracks = directory.has_groups();
        drop(directory);
        if !tracks {
            self.columns.tracks.store(false, Ordering::Release);
        }
        self.columns.is_building.store(false, Ordering::Release);
    }
}

impl Columns {
    /// Notes that the entry of `key` changes. The caller holds its leaf's exclusive latch (C3).
    #[inline]
    pub(crate) fn touch(&self, key: &[u8]) {
        if self.tracks.load(Ordering::Acquire) {
            self.touch_groups(key);
        }
    }

    #[cold]
    fn touch_groups(&self, key: &[u8]) {
        // Held until the groups have the key: whoever replaces the directory waits for that.
        let directory = self.directory.read();
        let region = directory.region_of(key);
        region.group.iter().chain(&region.building).for_each(|group| group.touch(key));
    }

    /// The regions now.
    pub(crate) fn directory(&self) -> Arc<Directory> {
        self.directory.read().clone()
    }

    /// Notes that columns are read.
    pub(crate) fn want_all(&self, columns: &[usize]) {
        self.want(columns.iter().fold(0, |bits, &at| bits | bit(at)));
    }

    /// The columns that were read, one bit for each of the first 64.
    pub(crate) fn wanted(&self) -> u64 {
        self.wanted.load(Ordering::Relaxed)
    }

    /// Notes that columns are read, one bit for each of the first 64.
    pub(crate) fn want(&self, bits: u64) {
        if self.wanted.load(Ordering::Relaxed) & bits != bits {
            self.wanted.fetch_or(bits, Ordering::Relaxed);
        }
    }

    /// Whether a column was ever read. Those behind the 64th always count as read.
    pub(crate) fn is_wanted(&self, column: usize) -> bool {
        bit(column) == 0 || self.wanted.load(Ordering::Relaxed) & bit(column) != 0
    }

    /// Leaves wide columns that nobody reads out of all groups. `is_wide`: by bytes and rows.
    /// Returns the bytes that they took.
    pub(crate) fn shed_unread(&self, is_wide: impl Fn((usize, usize)) -> bool) -> u64 {
        let directory = self.directory();
        let groups = directory.regions().iter().filter_map(|region| region.group.as_ref());
        let is_shed = |at, size| is_wide(size) && !self.is_wanted(at);
        let freed = groups.map(|group| group.shed(is_shed)).sum();
        if freed > 0 {
            let mut directory = self.directory.write();
            *directory = Arc::new(directory.counted_again());
        }
        freed
    }

    /// Takes the right to build, unless another thread has it.
    pub(crate) fn begin_building(&self) -> Option<Building<'_>> {
        let taken = self.is_building.swap(true, Ordering::AcqRel);
        (!taken).then_some(Building { columns: self })
    }

    /// Removes a group from its region, so that the region is read by rows.
    pub(crate) fn remove(&self, group: &Arc<Group>) {
        let mut directory = self.directory.write();
        if let Some(next) = directory.without(group) {
            *directory = Arc::new(next);
        }
    }
}

impl Building<'_> {
    /// Makes a region of the keys from `lower` to `upper`, in which a group is being built (C2).
    pub(crate) fn begin(&self, (lower, upper): (&[u8], &[u8]), group: &Arc<Group>) {
        let mut directory = self.columns.directory.write();
        let region = Region { lower: lower.into(), group: None, building: Some(group.clone()) };
        *directory = Arc::new(directory.with(region, upper));
        drop(directory);
        self.columns.tracks.store(true, Ordering::Release);
    }

    /// Ends the build of a group: from now on it is read, if it is whole and not full.
    pub(crate) fn end(&self, group: &Arc<Group>) -> bool {
        let is_usable = group.built().is_some() && !group.is_full();
        let mut directory = self.columns.directory.write();
        if let Some(next) = directory.with_built(group, is_usable) {
            *directory = Arc::new(next);
        }
        is_usable
    }
}
