//! Structure changes: splits make room, merges free pages. A tree has one at a time. Each is a
//! mini-transaction of its own, so a crash leaves a consistent tree.

use super::change::{BUILD, Builder, INSERT, REMOVE, RETIRE, TRUNCATE};
use super::node::{Node, RECORD_OVERHEAD, SLOT, common_prefix, separator};
use super::tree::{MAX_KEY, Tree};
use crate::error::{Result, StorageError};
use crate::ids::{PAGE_SIZE, PageId, PageNo};
use crate::mtr::{Mtr, PageSlot};
use crate::page::{HEADER_LEN, PageType};
use crate::space::Reservation;

/// Room that is enough for any new separator in an inner node.
const SEPARATOR_ROOM: usize = SLOT + RECORD_OVERHEAD + MAX_KEY + 4;
/// Two neighbours are merged if they fill at most this much of a page together.
const MERGE_LIMIT: usize = (PAGE_SIZE - HEADER_LEN) / 2;
/// A leaf with less content than this is checked for a merge.
const SPARSE: usize = (PAGE_SIZE - HEADER_LEN) / 8;

/// A split in progress: the latched part of the path, and space for new pages.
struct Split<'t, 'm> {
    tree: &'t Tree,
    mtr: &'m mut Mtr<'t>,
    path: Vec<PageSlot>,
    space: Reservation,
}

impl Tree {
    /// Makes room for an entry with a value of this length in the leaf of `key`: removes dead
    /// entries, or splits the leaf.
    pub(super) fn make_room(
        &self,
        key: &[u8],
        value_len: usize,
        reserved: bool,
        dead: &dyn Fn(&[u8]) -> bool,
    ) -> Result<()> {
        let _structure = self.structure.lock();
        let path = self.path(key)?;
        let pages = path.len() as u32 + 2;
        let space = self.storage.space().reserve(&self.storage, self.file, pages)?;
        for id in &path {
            self.storage.pool().load(*id)?;
        }
        let mut mtr = self.begin(reserved)?;
        let from = self.first_to_latch(&path)?;
        let mut slots = Vec::with_capacity(path.len());
        for id in &path[from..] {
            slots.push(mtr.exclusive(*id)?);
        }
        let leaf = slots[slots.len() - 1];
        if Node::new(mtr.page(leaf)).fits(key, value_len) {
            return Ok(());
        }
        if self.remove_dead(&mut mtr, leaf, dead)? {
            mtr.commit();
            return Ok(());
        }
        let mut split = Split { tree: self, mtr: &mut mtr, path: slots, space };
        let last = split.path.len() - 1;
        split.split(last, key)?;
        crate::failpoint::reached("split before commit");
        mtr.commit();
        crate::failpoint::reached("split committed");
        Ok(())
    }

    /// Removes the dead entries. Returns whether there were any.
    fn remove_dead(
        &self,
        mtr: &mut Mtr<'_>,
        leaf: PageSlot,
        dead: &dyn Fn(&[u8]) -> bool,
    ) -> Result<bool> {
        let node = Node::new(mtr.page(leaf));
        let slots: Vec<usize> =
            (0..node.count()).rev().filter(|at| dead(node.value(*at))).collect();
        for at in &slots {
            mtr.op(leaf, REMOVE, &(*at as u16).to_le_bytes())?;
        }
        Ok(!slots.is_empty())
    }

    /// The lowest inner node of the path that cannot split, or the root.
    fn first_to_latch(&self, path: &[PageId]) -> Result<usize> {
        for at in (0..path.len() - 1).rev() {
            let guard = self.storage.pool().shared(path[at])?;
            if Node::new(&guard[..]).room() >= SEPARATOR_ROOM {
                return Ok(at);
            }
        }
        Ok(0)
    }

    /// Merges the leaf of `key` with a neighbour below the same node, if it is almost empty and one
    /// of them leaves room.
    pub(crate) fn merge_if_sparse(&self, key: &[u8]) -> Result<()> {
        let sparse = self.read(super::Seek::At(key), |node| node.used() < SPARSE)?;
        if !sparse {
            return Ok(());
        }
        let Some(_structure) = self.structure.try_lock() else { return Ok(()) };
        let path = self.path(key)?;
        let Some(&parent_id) = path.len().checked_sub(2).and_then(|at| path.get(at)) else {
            return Ok(());
        };
        let (at, count) = {
            let parent = self.storage.pool().shared(parent_id)?;
            let node = Node::new(&parent[..]);
            (node.child_slot(key), node.count())
        };
        let _ = (at > 0 && self.merge_children(parent_id, at)?)
            || (at + 1 < count && self.merge_children(parent_id, at + 1)?);
        Ok(())
    }

    /// Merges the leaf in slot `right_slot` of a node into the one before it. Returns whether they
    /// fit. The caller holds the structure mutex.
    fn merge_children(&self, parent_id: PageId, right_slot: usize) -> Result<bool> {
        let (left, right) = {
            let parent = self.storage.pool().shared(parent_id)?;
            let node = Node::new(&parent[..]);
            (self.page_id(node.child(right_slot - 1)), self.page_id(node.child(right_slot)))
        };
        for id in [parent_id, left, right] {
            self.storage.pool().load(id)?;
        }
        let mut mtr = self.begin(true)?;
        let parent = mtr.exclusive(parent_id)?;
        let (left_slot, right_page) = (mtr.exclusive(left)?, mtr.exclusive(right)?);
        let merged = merged(Node::new(mtr.page(left_slot)), Node::new(mtr.page(right_page)));
        let Some(merged) = merged else { return Ok(false) };
        // First, since it reads the space map and may fail: nothing has changed yet.
        self.storage.space().free(&mut mtr, right)?;
        mtr.op(left_slot, BUILD, &merged)?;
        mtr.op(right_page, RETIRE, &[])?;
        mtr.op(parent, REMOVE, &(right_slot as u16).to_le_bytes())?;
        crate::failpoint::reached("merge before commit");
        mtr.commit();
        Ok(true)
    }
}

/// The content of both leaves in one, if that leaves enough room. An empty leaf goes in any case:
/// every scan would read it.
fn merged(left: Node<'_>, right: Node<'_>) -> Option<Vec<u8>> {
    if left.is_leaf() != Some(true) || right.is_leaf() != Some(true) {
        return None;
    }
    let limit = match left.count().min(right.count()) {
        0 => PAGE_SIZE - HEADER_LEN,
        _ => MERGE_LIMIT,
    };
    // A merged leaf's keys share no longer prefix, so its records are no shorter.
    if left.used() + right.used() > limit {
        return None;
    }
    let max_ver = left.max_ver().max(right.max_ver());
    let mut builder = Builder::new(0, left.lower(), right.upper(), max_ver);
    for node in [left, right] {
        for at in 0..node.count() {
            builder.push_parts(node.prefix(), node.suffix(at), node.value(at));
        }
    }
    (builder.used() <= limit).then_some(builder.payload)
}

/// Division of a full node.
struct Division {
    /// Number of entries that stay in the left node.
    at: usize,
    /// The dividing key.
    key: Vec<u8>,
    left: Vec<u8>,
    right: Vec<u8>,
}

/// Divides a node for a new `key`: after the last entry if keys arrive in order, else in the
/// middle, or as near to it as both halves fit into pages with their new fence.
fn divide(node: Node<'_>, key: &[u8]) -> Option<Division> {
    let (count, leaf) = (node.count(), node.level() == 0);
    let append = node.lower_bound(key) == count;
    let first = match (append, leaf) {
        (true, true) => count,
        (true, false) => count - 1,
        (false, _) => middle(node),
    };
    if leaf && count < 2 && !append {
        // The only entry leaves too little room for a key before it.
        return try_division(node, 0, separator(key, &node.key(0)));
    }
    let mut places: Vec<usize> = (1..count).collect();
    let centre = middle(node);
    places.sort_by_key(|at| at.abs_diff(centre));
    std::iter::once(first).chain(places).find_map(|at| {
        let dividing = match leaf {
            true if at == count => separator(&node.key(at - 1), key),
            true => separator(&node.key(at - 1), &node.key(at)),
            false => node.key(at),
        };
        try_division(node, at, dividing)
    })
}

/// The entry before which about half of the bytes lie.
fn middle(node: Node<'_>) -> usize {
    let count = node.count();
    let total: usize = (0..count).map(|at| SLOT + node.record_len(at)).sum();
    let mut sum = 0;
    let half = (0..count).position(|at| {
        sum += SLOT + node.record_len(at);
        sum * 2 >= total
    });
    half.map_or(1, |at| at + 1).clamp(1, count.saturating_sub(1).max(1))
}

fn try_division(node: Node<'_>, at: usize, key: Vec<u8>) -> Option<Division> {
    let left = part(node, 0, at, node.lower(), Some(&key))?;
    let right = part(node, at, node.count(), &key, node.upper())?;
    Some(Division { at, key, left, right })
}

/// The payload for a page of the entries `from..to`, if they fit.
fn part(
    node: Node<'_>,
    from: usize,
    to: usize,
    lower: &[u8],
    upper: Option<&[u8]>,
) -> Option<Vec<u8>> {
    let mut builder = Builder::new(node.level(), lower, upper, node.max_ver());
    for at in from..to {
        builder.push_parts(node.prefix(), node.suffix(at), node.value(at));
    }
    (builder.used() <= PAGE_SIZE - HEADER_LEN).then_some(builder.payload)
}

impl Split<'_, '_> {
    fn node(&self, slot: PageSlot) -> Node<'_> {
        Node::new(self.mtr.page(slot))
    }

    fn new_page(&mut self, near: PageNo) -> Result<PageNo> {
        self.tree.storage.space().alloc(self.mtr, &mut self.space, Some(near))
    }

    fn create(&mut self, page: PageNo, content: &[u8]) -> Result<PageSlot> {
        let slot = self.mtr.create(self.tree.page_id(page), PageType::BtreeLeaf as u8)?;
        self.mtr.op(slot, BUILD, content)?;
        Ok(slot)
    }

    /// Splits the node at `depth` of the path for a new `key`. Returns the two halves and the key
    /// that divides them.
    fn split(&mut self, depth: usize, key: &[u8]) -> Result<(PageSlot, PageSlot, Vec<u8>)> {
        let slot = self.path[depth];
        let page = self.mtr.id(slot).page;
        let Some(division) = divide(self.node(slot), key) else {
            let fault = "a full page that cannot be divided";
            return Err(StorageError::page(self.mtr.id(slot), fault));
        };
        let Division { at, key: dividing, left, right } = division;
        if page == self.tree.root {
            return self.grow(slot, left, right, dividing);
        }
        let right_page = self.new_page(page)?;
        let right_slot = self.create(right_page, &right)?;
        let mut payload = (at as u16).to_le_bytes().to_vec();
        payload.extend_from_slice(&dividing);
        self.mtr.op(slot, TRUNCATE, &payload)?;
        self.insert_child(depth - 1, &dividing, right_page)?;
        Ok((slot, right_slot, dividing))
    }

    /// Moves the root's content to two new pages below it, so that the root keeps its page.
    fn grow(
        &mut self,
        root: PageSlot,
        left: Vec<u8>,
        right: Vec<u8>,
        dividing: Vec<u8>,
    ) -> Result<(PageSlot, PageSlot, Vec<u8>)> {
        let level = self.node(root).level() + 1;
        let left_page = self.new_page(self.tree.root)?;
        let right_page = self.new_page(left_page)?;
        let left_slot = self.create(left_page, &left)?;
        let right_slot = self.create(right_page, &right)?;
        let mut builder = Builder::new(level, &[], None, 0);
        builder.push(&[], &left_page.0.to_le_bytes());
        builder.push(&dividing, &right_page.0.to_le_bytes());
        self.mtr.op(root, BUILD, &builder.payload)?;
        Ok((left_slot, right_slot, dividing))
    }

    /// Adds a child to the node at `depth`; splits that node first if it is full.
    fn insert_child(&mut self, depth: usize, key: &[u8], child: PageNo) -> Result<()> {
        let mut slot = self.path[depth];
        if !self.node(slot).fits(key, 4) {
            let (left, right, dividing) = self.split(depth, key)?;
            slot = if key < &dividing[..] { left } else { right };
        }
        let node = self.node(slot);
        let at = node.lower_bound(key);
        let suffix = key.get(common_prefix(key, node.prefix())..).unwrap_or(&[]);
        let mut payload = (at as u16).to_le_bytes().to_vec();
        payload.extend_from_slice(&(suffix.len() as u16).to_le_bytes());
        payload.extend_from_slice(suffix);
        payload.extend_from_slice(&child.0.to_le_bytes());
        self.mtr.op(slot, INSERT, &payload)
    }
}
