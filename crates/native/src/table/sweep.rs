//! Frees what a crash left behind: pages of long values without a reference (their row was never
//! inserted, or a crash interrupted the cleanup after a commit), and delete marks that no cleanup
//! will remove.

use super::handle::NativeTable;
use super::leaf_scan::{Step, Walk};
use super::text::TextIndex;
use super::value;
use crate::btree::Tree;
use crate::engine::Shared;
use crate::ids::{FileId, PageId, PageNo};
use crate::mtr::Mtr;
use crate::page::{PageType, get_u64, page_type};
use crate::space::{REGION_OVERHEAD, REGION_PAGES};
use crate::trx::{remove_marked, seq_of};
use hashbrown::HashSet;
use selkie_engine::{EngineResult, KeyRange, StatementContext};

type Chain = (PageNo, u64);

/// A delete mark: version and key.
type Mark = (u64, Vec<u8>);

impl NativeTable {
    /// Frees unreferenced pages and obsolete entries. The caller lets no other thread change the
    /// table.
    pub(super) fn sweep(&self, context: &dyn StatementContext) -> EngineResult<u64> {
        if self.shared.losers.len() > 0 {
            return Ok(0);
        }
        // The purge would free the pages that the sweep finds unused.
        let _quiet = self.shared.purge.pause();
        let clustered = &self.files.clustered;
        let (mut chains, mut freed) = (Vec::new(), 0);
        let texts = self.texts.iter().flat_map(TextIndex::trees_of_rows);
        for tree in std::iter::once(clustered).chain(&self.trees).chain(texts) {
            let is_clustered = tree.file == clustered.file;
            freed += sweep_marks(&self.shared, context, tree, |value| {
                chains.extend(value::chain_of(value).filter(|_| is_clustered));
            })?;
        }
        for index in &self.texts {
            freed += index.merge(context)?;
        }
        let file = clustered.file;
        self.shared.undo.each_value(|of, before| {
            if of == file {
                chains.extend(value::chain_of(before));
            }
        });
        let mut used = HashSet::new();
        for chain in chains {
            self.follow(file, chain, &mut used)?;
        }
        Ok(freed + self.free_unused(context, file, &used)?)
    }

    /// Marks the pages of a chain as used. A page of another kind ends the chain: no page after it
    /// belongs to the chain.
    fn follow(&self, file: FileId, chain: Chain, used: &mut HashSet<u32>) -> EngineResult<()> {
        let (mut page, _) = chain;
        while page.0 != 0 && used.insert(page.0) {
            let guard = self.shared.storage.pool().shared(PageId { file, page })?;
            if page_type(&guard[..]) != PageType::Blob as u8 {
                break;
            }
            page = crate::btree::next_of_chain(&guard[..]);
        }
        Ok(())
    }

    fn free_unused(
        &self,
        context: &dyn StatementContext,
        file: FileId,
        used: &HashSet<u32>,
    ) -> EngineResult<u64> {
        let storage = &self.shared.storage;
        let pages = storage.space().usage(file)?.pages;
        let mut freed = 0;
        for page in (2..pages).filter(|n| n % REGION_PAGES >= REGION_OVERHEAD && !used.contains(n))
        {
            let id = PageId { file, page: PageNo(page) };
            if page % 1024 == 0 {
                context.check_killed()?;
            }
            if !storage.space().is_allocated(storage, id)? {
                continue;
            }
            let is_long = page_type(&storage.pool().shared(id)?[..]) == PageType::Blob as u8;
            if is_long {
                let mut mtr = Mtr::begin(storage)?;
                storage.space().free(&mut mtr, id)?;
                mtr.commit();
                freed += 1;
            }
        }
        Ok(freed)
    }
}

/// Removes delete marks that all readers see, and calls `other` with the values of all other
/// entries.
pub(crate) fn sweep_marks(
    shared: &Shared,
    context: &dyn StatementContext,
    tree: &Tree,
    mut other: impl FnMut(&[u8]),
) -> EngineResult<u64> {
    let mut walk = Walk::new(KeyRange::default(), false);
    let mut removed = 0;
    while !walk.done {
        context.check_killed()?;
        let mut marks: Vec<Mark> = Vec::new();
        walk.leaf(tree, |node, at| {
            let found = node.value(at);
            let ver = get_u64(found, 0);
            // I15: a version without a segment is visible to all readers.
            match value::is_deleted(found) && shared.undo.get(seq_of(ver)).is_none() {
                true => marks.push((ver, node.key(at))),
                false => other(found),
            }
            Step::Next
        })?;
        for (ver, key) in marks {
            removed += u64::from(remove_marked(shared, ver, tree.file, &key)?);
        }
    }
    Ok(removed)
}
