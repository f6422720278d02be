//! Builds an index: reads every row, sorts the entries, loads them in order.
//!
//! Sees only the newest versions, so no unfinished change of the table may exist.

use super::shared::Shared;
use super::sort::Sorter;
use crate::btree::{BulkLoad, MAX_KEY};
use crate::table::{NativeTable, TextIndex};
use crate::trx::{NativeTrx, undo_losers_step};
use selkie_engine::{EngineError, EngineResult, IndexCodec, StatementContext, TableDef};
use std::sync::Arc;

/// Memory for sorting; entries beyond it go to a temporary file.
const SORT_BYTES: usize = 64 << 20;

impl Shared {
    /// Undoes the changes of losers: a build reads the newest entries.
    pub(super) fn undo_losers(
        self: &Arc<Self>,
        context: &dyn StatementContext,
    ) -> EngineResult<()> {
        while undo_losers_step(self)? {
            context.check_killed()?;
        }
        Ok(())
    }

    pub(super) fn build_text(
        self: &Arc<Self>,
        trx: &NativeTrx,
        context: &dyn StatementContext,
        def: &Arc<TableDef>,
        position: usize,
    ) -> EngineResult<()> {
        self.undo_losers(context)?;
        let files = self.table_files(def.id)?;
        let text = &def.texts[position];
        self.new_text(trx, &files, text.index.id)?;
        TextIndex::build(&files, context, def, text)
    }

    pub(super) fn build_index(
        self: &Arc<Self>,
        trx: &NativeTrx,
        context: &dyn StatementContext,
        def: &Arc<TableDef>,
        position: usize,
    ) -> EngineResult<()> {
        self.undo_losers(context)?;
        let files = self.table_files(def.id)?;
        let index = &def.indexes[position];
        let mut sorter = Sorter::new(SORT_BYTES, &self.temporary);
        NativeTable::each_entry(&files, context, def, position, |entry| {
            if entry.key.len() > MAX_KEY {
                return Err(EngineError::RowTooBig(MAX_KEY));
            }
            sorter.push(entry)
        })?;
        let codec = IndexCodec::new(def, index);
        // After a duplicate the transaction rolls back, which removes the half-built tree.
        let tree = self.new_index(trx, &files, index.id)?;
        let mut load = BulkLoad::new(&tree, 0)?;
        let (mut last, mut last_unique, mut rows) = (Vec::new(), 0, 0_usize);
        sorter.drain(|entry| {
            let unique = entry.unique;
            let same = unique > 0 && unique == last_unique && entry.key[..unique] == last[..unique];
            let overlaps = unique > 0
                && last_unique > 0
                && excludes(&codec, &last[..last_unique], &entry.key[..unique]);
            if index.is_unique() && (same || overlaps) {
                let existing = last[last_unique..].into();
                return Err(EngineError::DuplicateKey { index: position, row: rows, existing });
            }
            if rows % 4096 == 0 {
                context.check_killed()?;
            }
            rows += 1;
            last.clear();
            last.extend_from_slice(entry.key);
            last_unique = unique;
            Ok(load.push(entry.key, entry.value)?)
        })?;
        load.finish()?;
        Ok(())
    }
}

/// Whether an index without overlaps does not allow both of two keys in order.
fn excludes(codec: &IndexCodec, before: &[u8], key: &[u8]) -> bool {
    let Some(own) = codec.period(key) else { return false };
    own.sibling(before).is_some_and(|other| other.head == own.head && other.excludes(&own))
}
