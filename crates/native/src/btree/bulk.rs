//! Loads an empty tree from sorted entries, page by page and level by level.
//!
//! Index builds use it. Each page is a mini-transaction of its own; the root is written last, so a
//! crash leaves an empty tree and leaked pages.

use super::change::{BUILD, Builder};
use super::node::{RECORD_OVERHEAD, SLOT, separator};
use super::tree::Tree;
use crate::error::Result;
use crate::ids::{PAGE_SIZE, PageNo};
use crate::mtr::Mtr;
use crate::page::{HEADER_LEN, PageType};
use crate::space::Reservation;

/// Bytes of a page to fill before the next one begins, separator included.
const FILL: usize = (PAGE_SIZE - HEADER_LEN) * 15 / 16;
/// Pages reserved at a time.
const RESERVE: u32 = 64;

/// The page of a level that is being filled. It is written when its upper fence is known.
#[derive(Default)]
struct Open {
    lower: Vec<u8>,
    keys: Vec<u8>,
    values: Vec<u8>,
    ends: Vec<(u32, u32)>,
    used: usize,
}

impl Open {
    fn push(&mut self, key: &[u8], value: &[u8]) {
        self.keys.extend_from_slice(key);
        self.values.extend_from_slice(value);
        self.ends.push((self.keys.len() as u32, self.values.len() as u32));
        self.used += SLOT + RECORD_OVERHEAD + key.len() + value.len();
    }

    fn is_full(&self, key: &[u8], value: &[u8]) -> bool {
        let fences = self.lower.len() + key.len();
        let more = SLOT + RECORD_OVERHEAD + key.len() + value.len();
        self.ends.len() > 1 && self.used + more + fences > FILL
    }

    fn content(&self, level: u8, upper: Option<&[u8]>, max_ver: u64) -> Vec<u8> {
        let mut builder = Builder::new(level, &self.lower, upper, max_ver);
        let mut from = (0, 0);
        for &(key_end, value_end) in &self.ends {
            let key = &self.keys[from.0 as usize..key_end as usize];
            builder.push(key, &self.values[from.1 as usize..value_end as usize]);
            from = (key_end, value_end);
        }
        builder.payload
    }

    fn restart(&mut self, lower: &[u8]) {
        self.lower.clear();
        self.lower.extend_from_slice(lower);
        self.keys.clear();
        self.values.clear();
        self.ends.clear();
        self.used = 0;
    }

    fn last_key(&self) -> &[u8] {
        let from = self.ends.len().checked_sub(2).map_or(0, |at| self.ends[at].0 as usize);
        &self.keys[from..]
    }
}

/// A load in progress.
pub(crate) struct BulkLoad<'t> {
    tree: &'t Tree,
    levels: Vec<Open>,
    max_ver: u64,
    space: Reservation,
    last: PageNo,
}

impl<'t> BulkLoad<'t> {
    /// Begins to fill `tree`, which is empty and not used by others. No version in it is newer than
    /// `max_ver`.
    pub(crate) fn new(tree: &'t Tree, max_ver: u64) -> Result<BulkLoad<'t>> {
        let space = tree.storage.space().reserve(&tree.storage, tree.file, 1)?;
        Ok(BulkLoad { tree, levels: vec![Open::default()], max_ver, space, last: tree.root })
    }

    /// Appends an entry. Its key must be greater than all before.
    pub(crate) fn push(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        if self.levels[0].is_full(key, value) {
            let upper = separator(self.levels[0].last_key(), key);
            self.close(0, &upper)?;
        }
        self.levels[0].push(key, value);
        Ok(())
    }

    /// Writes the open page of a level with upper fence `upper`, and adds it to the level above.
    fn close(&mut self, level: usize, upper: &[u8]) -> Result<()> {
        let content = self.levels[level].content(level as u8, Some(upper), self.max_ver);
        let page = self.write(&content)?;
        let lower = std::mem::take(&mut self.levels[level].lower);
        self.levels[level].restart(upper);
        self.add_child(level + 1, &lower, page)
    }

    fn add_child(&mut self, level: usize, key: &[u8], page: PageNo) -> Result<()> {
        if self.levels.len() == level {
            self.levels.push(Open::default());
        }
        let value = page.0.to_le_bytes();
        if self.levels[level].is_full(key, &value) {
            self.close(level, key)?;
        }
        self.levels[level].push(key, &value);
        Ok(())
    }

    fn write(&mut self, content: &[u8]) -> Result<PageNo> {
        let tree = self.tree;
        if self.space.left() == 0 {
            self.space = tree.storage.space().reserve(&tree.storage, tree.file, RESERVE)?;
        }
        let mut mtr = Mtr::begin(&tree.storage)?;
        let page = tree.storage.space().alloc(&mut mtr, &mut self.space, Some(self.last))?;
        let slot = mtr.create(tree.page_id(page), PageType::BtreeLeaf as u8)?;
        mtr.op(slot, BUILD, content)?;
        mtr.commit();
        self.last = page;
        Ok(page)
    }

    /// Writes the open pages; the topmost becomes the root.
    pub(crate) fn finish(mut self) -> Result<()> {
        let mut level = 0;
        while level + 1 < self.levels.len() {
            let content = self.levels[level].content(level as u8, None, self.max_ver);
            let page = self.write(&content)?;
            let lower = std::mem::take(&mut self.levels[level].lower);
            self.add_child(level + 1, &lower, page)?;
            level += 1;
        }
        let content = self.levels[level].content(level as u8, None, self.max_ver);
        let mut mtr = Mtr::begin(&self.tree.storage)?;
        let root = mtr.exclusive(self.tree.page_id(self.tree.root))?;
        mtr.op(root, BUILD, &content)?;
        mtr.commit();
        Ok(())
    }
}
