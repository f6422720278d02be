//! Deletion of rows: delete marks in all trees.
//!
//! An entry is removed only when no snapshot needs it any more; the purge does that.

use super::TableFiles;
use super::entry::{Action, Outcome, Writer};
use super::growing::Before;
use super::handle::NativeTable;
use super::insert::{Tools, undo_row};
use crate::trx::NativeTrx;
use selkie_engine::{EngineResult, StatementContext};
use selkie_types::ByteRows;

impl NativeTable {
    pub(super) fn delete_rows(
        &self,
        trx: &NativeTrx,
        context: &dyn StatementContext,
        at: &ByteRows,
        mut old: Option<&mut ByteRows>,
    ) -> EngineResult<u64> {
        let writer = Writer::new(trx, context);
        let mut tools = Tools::new(self);
        let mut deleted = 0;
        for key in at.iter() {
            let mark = trx.mark();
            let old = old.as_deref_mut();
            let done = self
                .delete_row(&writer, &mut tools, key, old)
                .or_else(|e| undo_row(trx, mark, e))?;
            deleted += u64::from(done);
        }
        self.shared.counters.deleted.add(deleted);
        trx.state().notes.count_rows(deleted);
        // A changed row is locked by its version, so the explicit lock can go.
        (0..at.len()).rev().for_each(|n| trx.drop_lock(self.files.clustered.file, at.get(n)));
        Ok(deleted)
    }

    fn delete_row(
        &self,
        writer: &Writer<'_>,
        tools: &mut Tools,
        key: &[u8],
        old: Option<&mut ByteRows>,
    ) -> EngineResult<bool> {
        let TableFiles { clustered, columns, .. } = &*self.files;
        let outcome =
            writer.change(clustered, &mut tools.row, key, Action::Delete, Some(columns))?;
        let Outcome::Done(before) = outcome else {
            old.into_iter().for_each(|old| old.push(&[]));
            return Ok(false);
        };
        self.files.add_rows(-1);
        self.delete_texts(writer, &mut tools.texts, key)?;
        if self.secondary().is_empty() && tools.growing.is_empty() && old.is_none() {
            return Ok(true);
        }
        tools.old.clear();
        self.whole_row(&before, &mut tools.old)?;
        old.into_iter().for_each(|old| old.push(&tools.old));
        for at in self.secondary() {
            self.index_entry(at, key, &tools.old, &mut tools.entry)?;
            let (tree, hint) = (&self.trees[at], &mut tools.indexes[at]);
            writer.change(tree, hint, &tools.entry.key, Action::Delete, None)?;
        }
        let old = Before { key, value: &before, row: &tools.old };
        self.delete_growing(writer, &mut tools.growing, old)?;
        Ok(true)
    }
}
