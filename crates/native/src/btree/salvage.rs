//! Reads of a damaged tree, for `innodb_force_recovery`. In memory, an empty leaf replaces a page
//! that cannot be read. It has the fences that its parent knows, so scans and lookups continue
//! behind it. It must not be changed or written.

use super::change::{BUILD, Builder, TreeRedo};
use super::descend::Seek;
use super::node::{Node, OFF_FLAGS};
use super::tree::Tree;
use crate::error::{Result, StorageError};
use crate::ids::{PAGE_SIZE, PageId};
use crate::mtr::PageRedo;
use crate::page::{self, PageType};

/// Flag of a leaf that replaces an unreadable page.
const STAND_IN: u8 = 2;

/// Refuses to change a leaf that replaces an unreadable page.
pub(super) fn refuse_stand_in(page: &[u8]) -> Result<()> {
    match (page[OFF_FLAGS] & STAND_IN != 0, page::claimed_id(page)) {
        (false, _) => Ok(()),
        (true, Some(id)) => Err(StorageError::page(id, "cannot be read, so it cannot be changed")),
        (true, None) => Err(StorageError::corrupt("a page that cannot be read cannot be changed")),
    }
}

impl Tree {
    /// Handles the `error` of a descent: returns it, or makes the next descent pass over the page.
    pub(super) fn pass_over(&self, seek: Seek<'_>, error: StorageError) -> Result<()> {
        let bad = match &error {
            StorageError::Corrupt { page: Some(page), .. } if page.file == self.file => *page,
            _ => return Err(error),
        };
        if !self.storage.salvages() || !self.stand_in(seek, bad)? {
            return Err(error);
        }
        tracing::warn!("unreadable, skipped: {error}");
        Ok(())
    }

    /// Replaces `bad` by an empty leaf, if it lies on the path; `false` if it does not.
    fn stand_in(&self, seek: Seek<'_>, bad: PageId) -> Result<bool> {
        let mut id = self.page_id(self.root);
        let (mut lower, mut upper) = (Vec::new(), None);
        for _ in 0..60 {
            if id == bad {
                self.put_empty(bad, &lower, upper.as_deref())?;
                return Ok(true);
            }
            let guard = self.storage.pool().shared(id)?;
            let node = Node::new(&guard[..]);
            if node.is_leaf() != Some(false) || node.count() == 0 {
                return Ok(false);
            }
            let slot = match seek {
                Seek::At(key) => node.child_slot(key),
                Seek::Before(None) => node.count() - 1,
                Seek::Before(Some(end)) => {
                    let before = |slot: &usize| &node.key(*slot)[..] < end;
                    (0..node.count()).rev().find(before).unwrap_or(0)
                }
            };
            upper = match slot + 1 < node.count() {
                true => Some(node.key(slot + 1)),
                false => node.upper().map(<[u8]>::to_vec),
            };
            lower = node.key(slot);
            id = self.page_id(node.child(slot));
        }
        Ok(false)
    }

    fn put_empty(&self, id: PageId, lower: &[u8], upper: Option<&[u8]>) -> Result<()> {
        let mut guard = self.storage.pool().create(id)?;
        let bytes = &mut guard.bytes_mut()[..PAGE_SIZE];
        page::init(bytes, id, PageType::BtreeLeaf as u8);
        TreeRedo.apply(id, BUILD, bytes, &Builder::new(0, lower, upper, 0).payload)?;
        bytes[OFF_FLAGS] |= STAND_IN;
        Ok(())
    }
}
