//! CHECK TABLE: the structure of every tree, and whether indexes and rows agree. The agreement is
//! checked by counts and sums of hashes, in one pass over each tree, as one snapshot sees them.

use super::handle::NativeTable;
use super::leaf_scan::{Step, Walk};
use super::rows::IndexEntry;
use super::text::TextIndex;
use crate::btree::Tree;
use crate::trx::{NativeTrx, Resolved};
use selkie_engine::{EngineResult, KeyRange, StatementContext};
use std::hash::BuildHasher;

/// Count and sum of hashes of a set of entries.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Digest {
    pub(super) entries: u64,
    sum: u64,
}

impl Digest {
    pub(super) fn add(&mut self, key: &[u8], body: &[u8]) {
        let hasher = foldhash::fast::FixedState::with_seed(7);
        self.entries += 1;
        self.sum = self.sum.wrapping_add(hasher.hash_one((key, body)));
    }
}

impl NativeTable {
    pub(super) fn check_all(
        &self,
        trx: &NativeTrx,
        context: &dyn StatementContext,
    ) -> EngineResult<Vec<String>> {
        let mut wrong = Vec::new();
        let texts = self.texts.iter().flat_map(TextIndex::trees);
        for tree in std::iter::once(&self.files.clustered).chain(&self.trees).chain(texts) {
            wrong.extend(tree.check_until(&|| context.check_killed().is_err())?.wrong);
            context.check_killed()?;
        }
        if !wrong.is_empty() {
            return Ok(wrong);
        }
        let columns = self.check_columns(trx, context)?;
        columns.iter().for_each(|text| tracing::error!("{text}; the group was dropped"));
        debug_assert!(columns.is_empty(), "{columns:?}");
        let mut expected = vec![Digest::default(); self.def.indexes.len()];
        let mut entry = IndexEntry::default();
        self.each_seen(trx, context, &self.files.clustered, |key, value| {
            let mut row = Vec::new();
            self.whole_row(value, &mut row)?;
            if let Some(primary) = self.primary_key(&row)?
                && primary != key
            {
                wrong.push(format!("table {}: a row is stored under another key", self.def.name));
            }
            for at in self.secondary() {
                self.index_entry(at, key, &row, &mut entry)?;
                expected[at].add(&entry.key, &entry.body);
            }
            Ok(())
        })?;
        for at in self.secondary() {
            let mut found = Digest::default();
            self.each_seen(trx, context, &self.trees[at], |key, value| {
                found.add(key, value.get(8..).unwrap_or(&[]));
                Ok(())
            })?;
            if found != expected[at] {
                wrong.push(format!(
                    "index {} of table {} has {} entries for {} rows, or entries that do not match \
                     the rows",
                    self.def.indexes[at].name, self.def.name, found.entries, expected[at].entries
                ));
            }
        }
        if wrong.is_empty() {
            self.check_texts(trx, context, &mut wrong)?;
        }
        Ok(wrong)
    }

    /// Calls `each` with every entry that the transaction sees.
    pub(super) fn each_seen(
        &self,
        trx: &NativeTrx,
        context: &dyn StatementContext,
        tree: &Tree,
        mut each: impl FnMut(&[u8], &[u8]) -> EngineResult<()>,
    ) -> EngineResult<()> {
        let view = trx.view();
        let mut walk = Walk::new(KeyRange::default(), false);
        let mut scratch = Vec::new();
        while !walk.done {
            context.check_killed()?;
            let mut found = Vec::new();
            walk.leaf(tree, |node, at| {
                match view.resolve(node.value(at), &mut scratch) {
                    Resolved::Gone => {}
                    Resolved::Current => found.push((node.key(at), node.value(at).to_vec())),
                    Resolved::Old => found.push((node.key(at), scratch.clone())),
                }
                Step::Next
            })?;
            found.iter().try_for_each(|(key, value)| each(key, &value[..]))?;
        }
        Ok(())
    }
}
