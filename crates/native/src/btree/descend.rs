//! The way from the root to a leaf. Inner nodes are read without latches: bytes are copied and may
//! be torn until they are validated. The leaf is latched, and its fences decide whether it is the
//! right one.

use super::node::{Node, OFF_PREFIX, RECORD_OVERHEAD, SLOT, head_decides, head_of};
use super::salvage::refuse_stand_in;
use super::tree::Tree;
use crate::error::{Result, StorageError};
use crate::ids::{PageId, PageNo};
use crate::page::{HEADER_LEN, OFF_COUNT, OFF_LEVEL, OFF_TYPE, PageType};
use crate::pool::{Backoff, ExclusiveGuard, OptimisticGuard, Restart, SharedGuard};
use smallvec::SmallVec;
use std::cmp::Ordering;

/// The leaf to find.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Seek<'k> {
    /// The leaf that `key` belongs to.
    At(&'k [u8]),
    /// The leaf that the greatest key before this one belongs to; without one, the last leaf.
    Before(Option<&'k [u8]>),
}

impl Seek<'_> {
    pub(super) fn fits(self, node: Node<'_>) -> bool {
        node.is_leaf() == Some(true)
            && match self {
                Seek::At(key) => node.contains(key),
                Seek::Before(end) => node.contains_before(end),
            }
    }
}

/// Restarts of one descent after which the tree counts as damaged.
const MAX_RESTARTS: u32 = 10_000_000;

/// Result of an optimistic look at a page.
enum Look {
    Leaf,
    Child(PageNo),
}

impl Tree {
    /// Returns the leaf for `seek`, latched for reading.
    pub(crate) fn leaf_shared(&self, seek: Seek<'_>) -> Result<SharedGuard<'_>> {
        self.find_leaf(seek, |tree, id| {
            let guard = tree.storage.pool().shared(id)?;
            Ok(seek.fits(Node::new(&guard[..])).then_some(guard))
        })
    }

    /// Returns the leaf for `key`, latched for writing.
    pub(crate) fn leaf_exclusive(&self, key: &[u8]) -> Result<ExclusiveGuard<'_>> {
        let seek = Seek::At(key);
        self.find_leaf(seek, |tree, id| {
            let guard = tree.storage.pool().exclusive(id)?;
            refuse_stand_in(&guard[..])?;
            Ok(seek.fits(Node::new(&guard[..])).then_some(guard))
        })
    }

    fn find_leaf<'t, G>(
        &'t self,
        seek: Seek<'_>,
        latch: impl Fn(&'t Tree, PageId) -> Result<Option<G>>,
    ) -> Result<G> {
        let mut backoff = Backoff::new();
        for _ in 0..MAX_RESTARTS {
            let found = match self.walk_down(seek) {
                Ok(Some(id)) => latch(self, id),
                Ok(None) => Ok(None),
                Err(e) => Err(e),
            };
            match found {
                Ok(Some(guard)) => return Ok(guard),
                Ok(None) => {}
                Err(e) => self.pass_over(seek, e)?,
            }
            backoff.wait();
        }
        Err(StorageError::page(self.page_id(self.root), "no leaf of the tree covers the key"))
    }

    /// Follows child pointers to a page that looks like a leaf; `None` asks for a restart.
    fn walk_down(&self, seek: Seek<'_>) -> Result<Option<PageId>> {
        let mut id = self.page_id(self.root);
        loop {
            let Some(guard) = self.storage.pool().optimistic(id)? else {
                // Not in memory, or just being changed, which does not take long.
                self.storage.pool().load(id)?;
                return Ok(None);
            };
            match look(&guard, seek) {
                Ok(Look::Leaf) => return Ok(Some(id)),
                Ok(Look::Child(page)) => id = self.page_id(page),
                Err(Restart) => return Ok(None),
            }
        }
    }

    /// Pages from the root to the leaf for `key`. The caller holds the structure mutex, so inner
    /// nodes do not change.
    pub(super) fn path(&self, key: &[u8]) -> Result<Vec<PageId>> {
        let mut id = self.page_id(self.root);
        let mut path = vec![id];
        loop {
            let guard = self.storage.pool().shared(id)?;
            let node = Node::new(&guard[..]);
            match node.is_leaf() {
                Some(true) => return Ok(path),
                Some(false) if node.count() > 0 && path.len() < 60 => {
                    id = self.page_id(node.child(node.child_slot(key)));
                    path.push(id);
                }
                _ => return Err(StorageError::page(id, "not a tree page")),
            }
        }
    }
}

fn look(guard: &OptimisticGuard<'_>, seek: Seek<'_>) -> std::result::Result<Look, Restart> {
    let kind = guard.u8_at(OFF_TYPE)?;
    if guard.u8_at(OFF_LEVEL)? == 0 {
        // The content of a leaf is read under its latch only.
        return if kind == PageType::BtreeLeaf as u8 { Ok(Look::Leaf) } else { Err(Restart) };
    }
    let count = usize::from(guard.u16_at(OFF_COUNT)?);
    let slot = match seek {
        _ if kind != PageType::BtreeInner as u8 || count == 0 => return Err(Restart),
        Seek::Before(None) => count - 1,
        Seek::At(key) => search(guard, count, key, true)?,
        Seek::Before(Some(end)) => search(guard, count, end, false)?,
    };
    let slot_at = HEADER_LEN + slot * SLOT;
    let record = usize::from(guard.u16_at(slot_at)?);
    let suffix_len = usize::from(guard.u16_at(slot_at + 2)?);
    let child = guard.u32_at(record + RECORD_OVERHEAD + suffix_len)?;
    guard.validate()?;
    Ok(Look::Child(PageNo(child)))
}

/// The last entry whose key is at most `key` (below it, unless `inclusive`); the first if there is
/// none.
fn search(
    guard: &OptimisticGuard<'_>,
    count: usize,
    key: &[u8],
    inclusive: bool,
) -> std::result::Result<usize, Restart> {
    let prefix = usize::from(guard.u16_at(OFF_PREFIX)?);
    let suffix = key.get(prefix..).ok_or(Restart)?;
    let head = head_of(suffix);
    let mut tail: SmallVec<[u8; 128]> = SmallVec::new();
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = (low + high) / 2;
        let slot = HEADER_LEN + middle * SLOT;
        let order = match guard.u32_at(slot + 4)?.cmp(&head) {
            Ordering::Equal => match usize::from(guard.u16_at(slot + 2)?) {
                len if head_decides(len, suffix) => len.cmp(&suffix.len()),
                len => {
                    tail.resize(len, 0);
                    guard.copy(usize::from(guard.u16_at(slot)?) + RECORD_OVERHEAD, &mut tail)?;
                    tail[..].cmp(suffix)
                }
            },
            order => order,
        };
        match order {
            Ordering::Greater => high = middle,
            Ordering::Equal if !inclusive => high = middle,
            _ => low = middle + 1,
        }
    }
    Ok(low.saturating_sub(1))
}

impl Tree {
    /// Shows the nodes from the root to the leaf for `key`, each under its own latch. For estimates
    /// only, because the tree may change in between.
    pub(crate) fn nodes_to(&self, key: &[u8], mut show: impl FnMut(Node<'_>)) -> Result<()> {
        let mut id = self.page_id(self.root);
        for _ in 0..60 {
            let guard = self.storage.pool().shared(id)?;
            let node = Node::new(&guard[..]);
            show(node);
            if node.is_leaf() != Some(false) || node.count() == 0 {
                break;
            }
            id = self.page_id(node.child(node.child_slot(key)));
        }
        Ok(())
    }

    /// Descends by the child numbers that `choose` returns. Returns the lower fence of the leaf.
    pub(crate) fn key_down(&self, mut choose: impl FnMut(Node<'_>) -> usize) -> Result<Vec<u8>> {
        let mut id = self.page_id(self.root);
        let mut lower = Vec::new();
        for _ in 0..60 {
            let guard = self.storage.pool().shared(id)?;
            let node = Node::new(&guard[..]);
            lower = node.lower().to_vec();
            if node.is_leaf() != Some(false) || node.count() == 0 {
                break;
            }
            id = self.page_id(node.child(choose(node).min(node.count() - 1)));
        }
        Ok(lower)
    }
}
