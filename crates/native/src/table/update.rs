//! Updates of rows: in place, or as delete and insert if their clustered key changes. An index
//! whose key and covering entry stay the same is not changed.

use super::TableFiles;
use super::entry::{Action, Outcome, Writer};
use super::growing::Before;
use super::handle::NativeTable;
use super::insert::{Tools, numbered, undo_row};
use crate::trx::NativeTrx;
use selkie_engine::{EngineResult, StatementContext, Table};
use selkie_types::ByteRows;

impl NativeTable {
    pub(super) fn update_rows(
        &self,
        trx: &NativeTrx,
        context: &dyn StatementContext,
        (at, new): (&ByteRows, &ByteRows),
        mut old: Option<&mut ByteRows>,
    ) -> EngineResult<u64> {
        let writer = Writer::new(trx, context);
        let mut tools = Tools::new(self);
        let mut changed = 0;
        let mut rows = at.iter().zip(new.iter()).enumerate();
        let outcome = rows.try_for_each(|(number, (key, row))| {
            let mark = trx.mark();
            let done = self
                .update_row(&writer, &mut tools, key, row)
                .or_else(|e| undo_row(trx, mark, numbered(e, number)))?;
            changed += u64::from(done);
            if let Some(old) = old.as_deref_mut() {
                old.push(if done { &tools.old } else { &[] });
            }
            self.store_many_words(&writer, &mut tools.texts)
        });
        self.end_words(&writer, &mut tools.texts, outcome)?;
        self.shared.counters.updated.add(changed);
        trx.state().notes.count_rows(changed);
        // A changed row is locked by its version, so the explicit lock can go.
        (0..at.len()).rev().for_each(|n| trx.drop_lock(self.files.clustered.file, at.get(n)));
        Ok(changed)
    }

    fn update_row(
        &self,
        writer: &Writer<'_>,
        tools: &mut Tools,
        at: &[u8],
        row: &[u8],
    ) -> EngineResult<bool> {
        let key = self.primary_key(row)?;
        let moves = key.as_deref().is_some_and(|key| key != at);
        // Logged even below the counter, unless it is the old value: REPLACE writes a number over a
        // row that was taken from the counter and that no other record of the log has.
        let is_kept = !moves && self.is_numbered_by_key();
        let auto = if is_kept { None } else { self.auto_value(row)? };
        // Before the row is logged: a checkpoint meanwhile has the counter or the log has the row.
        let raised = auto.map(|auto| (self.pass_auto(auto), auto.saturating_add(1)));
        let done = self.change_row(writer, tools, at, (key.as_deref().unwrap_or(at), row), auto);
        if let (Some((before, after)), Ok(false) | Err(_)) = (raised, &done)
            && before < after
        {
            self.release_auto_increment(after, before);
        }
        done
    }

    /// Puts a row with its key in the place of the one at a key; returns whether that was there.
    /// `auto` is the value to log.
    fn change_row(
        &self,
        writer: &Writer<'_>,
        tools: &mut Tools,
        at: &[u8],
        (key, row): (&[u8], &[u8]),
        auto: Option<u64>,
    ) -> EngineResult<bool> {
        let before = if key != at {
            let TableFiles { clustered, columns, .. } = &*self.files;
            match writer.change(clustered, &mut tools.row, at, Action::Delete, Some(columns))? {
                Outcome::Done(before) => {
                    self.files.add_rows(-1);
                    self.put_row(writer, tools, key, row, auto)?;
                    before
                }
                _ => return Ok(false),
            }
        } else {
            match self.replace_row(writer, tools, at, row, auto)? {
                Some(before) => before,
                None => return Ok(false),
            }
        };
        tools.old.clear();
        self.whole_row(&before, &mut tools.old)?;
        for index in self.secondary() {
            self.update_index_entry(writer, tools, index, at, (key, row))?;
        }
        let old = Before { key: at, value: &before, row: &tools.old };
        self.update_growing(writer, &mut tools.growing, old, (key, row))?;
        self.update_texts(writer, &mut tools.texts, (at, &tools.old), (key, row))?;
        Ok(true)
    }

    /// Whether the clustered key has the AUTO_INCREMENT column.
    fn is_numbered_by_key(&self) -> bool {
        let key = self.def.primary().map_or(&[][..], |index| &index.parts);
        key.iter().any(|part| Some(part.column) == self.def.auto_increment)
    }

    /// Replaces the clustered entry in place; returns the old value.
    fn replace_row(
        &self,
        writer: &Writer<'_>,
        tools: &mut Tools,
        key: &[u8],
        row: &[u8],
        auto: Option<u64>,
    ) -> EngineResult<Option<Vec<u8>>> {
        self.row_body(key, row, &mut tools.body)?;
        let action = Action::Update { body: &tools.body, auto };
        let TableFiles { clustered, columns, .. } = &*self.files;
        let outcome = writer.change(clustered, &mut tools.row, key, action, Some(columns));
        if let Ok(Outcome::Done(before)) = outcome {
            return Ok(Some(before));
        }
        self.discard_body(&tools.body)?;
        outcome.map(|_| None)
    }

    fn update_index_entry(
        &self,
        writer: &Writer<'_>,
        tools: &mut Tools,
        at: usize,
        old_key: &[u8],
        (new_key, new_row): (&[u8], &[u8]),
    ) -> EngineResult<()> {
        self.index_entry(at, old_key, &tools.old, &mut tools.old_entry)?;
        self.index_entry(at, new_key, new_row, &mut tools.entry)?;
        let (tree, hint) = (&self.trees[at], &mut tools.indexes[at]);
        if tools.old_entry.key == tools.entry.key {
            if tools.old_entry.body != tools.entry.body {
                // I25: the same key from other bytes, 'a' and 'A' under a case-insensitive
                // collation.
                let action = Action::Update { body: &tools.entry.body, auto: None };
                writer.change(tree, hint, &tools.entry.key, action, None)?;
            }
            return Ok(());
        }
        writer.change(tree, hint, &tools.old_entry.key, Action::Delete, None)?;
        self.insert_index_entry(writer, tools, at)
    }
}
