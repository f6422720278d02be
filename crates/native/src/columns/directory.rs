//! The regions of a table, in key order. A directory never changes; a new one replaces it.
//!
//! Only the rows-only regions may be cut: a group belongs to the region it was built for.

use super::Group;
use selkie_engine::ColumnState;
use std::sync::Arc;

/// A range of keys, up to the lower key of the next region.
#[derive(Clone)]
pub(crate) struct Region {
    pub(crate) lower: Box<[u8]>,
    /// The group that is read; without one, the region is read by rows.
    pub(crate) group: Option<Arc<Group>>,
    /// A group that is being built.
    pub(crate) building: Option<Arc<Group>>,
}

impl Region {
    fn is_plain(&self) -> bool {
        self.group.is_none() && self.building.is_none()
    }
}

/// All regions; the first one begins at the empty key.
pub(crate) struct Directory {
    regions: Box<[Region]>,
    /// Counts of its groups that were filled when it was made.
    state: ColumnState,
}

impl Default for Directory {
    fn default() -> Directory {
        let all = Region { lower: Box::default(), group: None, building: None };
        Directory { regions: Box::new([all]), state: ColumnState::default() }
    }
}

impl Directory {
    pub(crate) fn regions(&self) -> &[Region] {
        &self.regions
    }

    /// Groups that can be read, and their rows.
    pub(crate) fn state(&self) -> ColumnState {
        self.state
    }

    /// The key behind a region; `None` for the last one.
    pub(crate) fn upper(&self, at: usize) -> Option<&[u8]> {
        self.regions.get(at + 1).map(|next| &next.lower[..])
    }

    /// Number of the region that has a key.
    pub(crate) fn position_of(&self, key: &[u8]) -> usize {
        self.regions.partition_point(|region| region.lower[..] <= *key).saturating_sub(1)
    }

    pub(super) fn region_of(&self, key: &[u8]) -> &Region {
        &self.regions[self.position_of(key)]
    }

    pub(super) fn has_groups(&self) -> bool {
        self.regions.iter().any(|region| !region.is_plain())
    }

    /// The directory with one more region, up to `upper`, cut out of a rows-only one.
    pub(super) fn with(&self, region: Region, upper: &[u8]) -> Directory {
        let at = self.position_of(&region.lower);
        let around = &self.regions[at];
        debug_assert!(around.is_plain() && self.upper(at).is_none_or(|end| upper <= end));
        let mut regions = self.regions[..at].to_vec();
        if around.lower != region.lower {
            regions.push(around.clone());
        }
        let is_cut = self.upper(at) != Some(upper);
        regions.push(region);
        if is_cut {
            regions.push(Region { lower: upper.into(), ..around.clone() });
        }
        regions.extend_from_slice(&self.regions[at + 1..]);
        Directory::checked(regions)
    }

    /// The directory in which a group that was being built is read, or else is gone.
    pub(super) fn with_built(&self, group: &Arc<Group>, is_usable: bool) -> Option<Directory> {
        let builds =
            |region: &Region| region.building.as_ref().is_some_and(|g| Arc::ptr_eq(g, group));
        let at = self.regions.iter().position(builds)?;
        let mut regions = self.regions.to_vec();
        let built = regions[at].building.take();
        if is_usable {
            regions[at].group = built;
        }
        Some(Directory::checked(regions))
    }

    /// The directory without a group that is read.
    pub(super) fn without(&self, group: &Arc<Group>) -> Option<Directory> {
        let has = |region: &Region| region.group.as_ref().is_some_and(|g| Arc::ptr_eq(g, group));
        let at = self.regions.iter().position(has)?;
        let mut regions = self.regions.to_vec();
        regions[at].group = None;
        Some(Directory::checked(regions))
    }

    /// The directory without groups that are being built; `None` if there are none.
    pub(super) fn without_builds(&self) -> Option<Directory> {
        self.regions.iter().find(|region| region.building.is_some())?;
        let mut regions = self.regions.to_vec();
        regions.iter_mut().for_each(|region| region.building = None);
        Some(Directory::checked(regions))
    }

    /// The same regions, after columns of their groups were left out.
    pub(super) fn counted_again(&self) -> Directory {
        Directory::checked(self.regions.to_vec())
    }

    /// Joins rows-only neighbours.
    fn checked(mut regions: Vec<Region>) -> Directory {
        regions.dedup_by(|next, before| next.is_plain() && before.is_plain());
        debug_assert!(regions.first().is_some_and(|region| region.lower.is_empty()));
        debug_assert!(regions.is_sorted_by(|a, b| a.lower < b.lower));
        let built = regions.iter().filter_map(|region| region.group.as_ref()?.built());
        let state = built.fold(ColumnState::default(), |sum, built| ColumnState {
            groups: sum.groups + 1,
            rows: sum.rows + u64::from(built.keys.len()),
            absent: sum.absent | built.segments.absent(),
        });
        Directory { regions: regions.into(), state }
    }
}
