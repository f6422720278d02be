//! A tree and its two primitives: read a leaf, and decide on one entry under the leaf's exclusive
//! latch. Must not block under a latch.

use super::change::{INSERT, PATCH, REMOVE, REPLACE};
use super::descend::Seek;
use super::gate::Gate;
use super::node::Node;
use super::salvage::refuse_stand_in;
use crate::error::Result;
use crate::ids::{FileId, Lsn, PageId, PageNo};
use crate::mtr::{Mtr, PageSlot};
use crate::page::PageType;
use crate::pool::ExclusiveGuard;
use crate::storage::Storage;
use crate::sync::Mutex;
use std::sync::Arc;

/// The longest key of a tree: a page has room for its fences and three entries with such keys.
pub(crate) const MAX_KEY: usize = 3200;
/// The longest sum of key and value in a leaf.
pub(crate) const MAX_ENTRY: usize = 4400;
/// Page number of the root in every file.
const ROOT: PageNo = PageNo(2);

/// A leaf to try before descending: keys in order mostly stay in it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hint(Option<PageNo>);

/// Decision about an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Decision {
    /// It stays unchanged.
    Leave,
    /// It gets the value in `Change::value`.
    Put,
    /// It is removed.
    Remove,
}

/// Output of a decision.
#[derive(Default)]
pub(crate) struct Change {
    /// The new value for `Decision::Put`; at most as long as announced.
    pub(crate) value: Vec<u8>,
    /// The logical record for the same log group; none if empty.
    pub(crate) row: Vec<u8>,
}

/// A tree in a data file.
pub(crate) struct Tree {
    pub(crate) storage: Arc<Storage>,
    pub(crate) file: FileId,
    pub(super) root: PageNo,
    /// Held while the structure changes.
    pub(super) structure: Mutex<()>,
    pub(crate) gate: Gate,
}

impl Tree {
    /// Opens the tree that `create` made in `file`.
    pub(crate) fn open(storage: Arc<Storage>, file: FileId) -> Tree {
        Tree { storage, file, root: ROOT, structure: Mutex::new(()), gate: Gate::default() }
    }

    /// Makes an empty tree in a new file.
    pub(crate) fn create(storage: Arc<Storage>, file: FileId) -> Result<Tree> {
        let tree = Tree::open(storage, file);
        let mut pages = tree.storage.space().reserve(&tree.storage, file, 1)?;
        let mut mtr = Mtr::begin(&tree.storage)?;
        let page = tree.storage.space().alloc(&mut mtr, &mut pages, None)?;
        assert_eq!(page, ROOT, "the first page of a file is its tree's root");
        let slot = mtr.create(tree.page_id(page), PageType::BtreeLeaf as u8)?;
        let empty = super::change::Builder::new(0, &[], None, 0);
        mtr.op(slot, super::change::BUILD, &empty.payload)?;
        mtr.commit();
        drop(pages);
        Ok(tree)
    }

    pub(crate) fn page_id(&self, page: PageNo) -> PageId {
        PageId { file: self.file, page }
    }

    /// Calls `look` with the leaf for `seek`, under its shared latch.
    pub(crate) fn read<R>(&self, seek: Seek<'_>, look: impl FnOnce(Node<'_>) -> R) -> Result<R> {
        let guard = self.leaf_shared(seek)?;
        Ok(look(Node::new(&guard[..])))
    }

    /// As `read`, but tries the leaf of `hint` first.
    pub(crate) fn read_near<R>(
        &self,
        hint: &mut Hint,
        seek: Seek<'_>,
        look: impl FnOnce(Node<'_>) -> R,
    ) -> Result<R> {
        if let Some(page) = hint.0
            && let Some(guard) = self.storage.pool().shared_resident(self.page_id(page))?
            && seek.fits(Node::new(&guard[..]))
        {
            return Ok(look(Node::new(&guard[..])));
        }
        let guard = self.leaf_shared(seek)?;
        hint.0 = Some(guard.id().page);
        Ok(look(Node::new(&guard[..])))
    }

    fn latch_near(&self, hint: &Hint, key: &[u8]) -> Result<ExclusiveGuard<'_>> {
        if let Some(page) = hint.0
            && let Some(guard) = self.storage.pool().exclusive_resident(self.page_id(page))?
            && Seek::At(key).fits(Node::new(&guard[..]))
            && refuse_stand_in(&guard[..]).is_ok()
        {
            return Ok(guard);
        }
        self.leaf_exclusive(key)
    }

    /// Calls `decide` with the value of `key` under the leaf's exclusive latch and applies its
    /// decision, in one mini-transaction. `value_len` is the longest value it may put. `reserved`
    /// is for rollback, which must not be refused space. `dead` tells whether an entry's value is
    /// obsolete; such entries are removed when room is short, unless the tree is being filled.
    /// `decide` is called once and must not block. Returns the end of the log group.
    pub(crate) fn write(
        &self,
        key: &[u8],
        value_len: usize,
        reserved: bool,
        hint: &mut Hint,
        dead: &dyn Fn(&[u8]) -> bool,
        decide: impl FnOnce(Option<&[u8]>, &mut Change) -> Decision,
    ) -> Result<Lsn> {
        debug_assert!(key.len() <= MAX_KEY && key.len() + value_len <= MAX_ENTRY + 64);
        loop {
            let mut mtr = self.begin(reserved)?;
            let slot = mtr.adopt(self.latch_near(hint, key)?);
            let page = mtr.id(slot).page;
            if !Node::new(mtr.page(slot)).fits(key, value_len) {
                mtr.release(slot);
                drop(mtr);
                *hint = Hint::default();
                let dead = |value: &[u8]| !self.gate.is_growing() && dead(value);
                self.make_room(key, value_len, reserved, &dead)?;
                continue;
            }
            *hint = Hint(Some(page));
            let at = Node::new(mtr.page(slot)).search(key);
            let mut change = take_scratch();
            let found = at.ok().map(|at| Node::new(mtr.page(slot)).value(at));
            let decision = decide(found, &mut change);
            self.apply(&mut mtr, slot, key, at, decision, &mut change)?;
            if !change.row.is_empty() {
                mtr.row(&change.row);
            }
            let end = mtr.commit();
            SCRATCH.set(change);
            return Ok(end);
        }
    }

    pub(super) fn begin(&self, reserved: bool) -> Result<Mtr<'_>> {
        if reserved { Ok(Mtr::begin_reserved(&self.storage)) } else { Mtr::begin(&self.storage) }
    }

    fn apply(
        &self,
        mtr: &mut Mtr<'_>,
        slot: PageSlot,
        key: &[u8],
        at: std::result::Result<usize, usize>,
        decision: Decision,
        change: &mut Change,
    ) -> Result<()> {
        let mut payload = std::mem::take(&mut change.value);
        let outcome = match (decision, at) {
            (Decision::Leave, _) | (Decision::Remove, Err(_)) => Ok(()),
            (Decision::Remove, Ok(at)) => mtr.op(slot, REMOVE, &(at as u16).to_le_bytes()),
            (Decision::Put, Err(at)) => {
                let suffix = key.get(Node::new(mtr.page(slot)).prefix_len()..).unwrap_or(&[]);
                let head = [(at as u16).to_le_bytes(), (suffix.len() as u16).to_le_bytes()];
                payload.splice(0..0, head.into_iter().flatten().chain(suffix.iter().copied()));
                mtr.op(slot, INSERT, &payload)
            }
            (Decision::Put, Ok(at)) => {
                let old = Node::new(mtr.page(slot)).value(at);
                match difference(old, &payload) {
                    Some((from, to)) if old.len() > 64 => {
                        let mut patch = Vec::with_capacity(4 + to - from);
                        patch.extend_from_slice(&(at as u16).to_le_bytes());
                        patch.extend_from_slice(&(from as u16).to_le_bytes());
                        patch.extend_from_slice(&payload[from..to]);
                        mtr.op(slot, PATCH, &patch)
                    }
                    _ => {
                        payload.splice(0..0, (at as u16).to_le_bytes());
                        mtr.op(slot, REPLACE, &payload)
                    }
                }
            }
        };
        payload.clear();
        change.value = payload;
        outcome
    }
}

thread_local! {
    static SCRATCH: std::cell::Cell<Change> = const { std::cell::Cell::new(Change { value: Vec::new(), row: Vec::new() }) };
}

fn take_scratch() -> Change {
    let mut change = SCRATCH.take();
    change.value.clear();
    change.row.clear();
    change
}

/// The range of bytes in which two values of equal length differ. It starts at 0, so that it
/// includes the version word.
fn difference(old: &[u8], new: &[u8]) -> Option<(usize, usize)> {
    if old.len() != new.len() {
        return None;
    }
    let end = old.iter().zip(new).rposition(|(a, b)| a != b).map_or(0, |last| last + 1);
    Some((0, end))
}
