//! The outcome of an INSERT: rows for RETURNING, counts, the insert id.
//!
//! Must not change rows.

use std::ops::Range;
use std::sync::Arc;

use selkie_engine::automatic_number;
use selkie_plan::physical::InsertMode;
use selkie_types::{Batch, Column, SqlResult};

use super::{Inserter, NewRows, is_single_row};
use crate::dml::auto_increment::told;
use crate::dml::on_duplicate::Updated;
use crate::dml::{Returning, send_returned};
use crate::{Outcome, RowCounts, Told};

/// Rows that ON DUPLICATE KEY UPDATE changed, with the counts of them.
#[derive(Default)]
pub(super) struct Updates {
    /// Rows that are other than before.
    changed: u64,
    /// Rows that were there and are as the statement wants them now.
    found: u64,
    /// Rows stored.
    stored: u64,
    /// Rows for RETURNING, by the number of the new row in its batch.
    rows: Vec<(u32, Vec<Arc<Column>>)>,
    /// The automatic column of the row stored or updated last.
    last: Option<u64>,
}

impl Inserter<'_> {
    /// Keeps what became of the row in the way of row `at`.
    pub(super) fn note_updated(&mut self, at: usize, updated: Updated) {
        self.affected += updated.affected;
        self.updates.changed += u64::from(updated.changed);
        let Some(row) = updated.row else { return };
        self.updates.found += 1;
        if let Some(auto) = &mut self.auto {
            let value = row[auto.column].value(0);
            self.updates.last = told(&value);
            auto.note_updated(automatic_number(&value));
        }
        if !self.plan.returning.is_empty() {
            self.updates.rows.push((at as u32, row));
        }
    }

    /// Keeps what was stored last, which matters beside rows that are updated.
    pub(super) fn note_last(&mut self, new: &NewRows<'_>, rows: &Range<usize>) {
        if self.on_duplicate.is_none() || rows.is_empty() {
            return;
        }
        self.updates.stored += rows.len() as u64;
        if let Some(auto) = &self.auto {
            self.updates.last = told(&new.columns[auto.column].value(rows.end - 1));
        }
    }

    /// Sends what RETURNING says of the rows stored and of those updated in their place, in the
    /// order of the new rows.
    pub(super) fn give_back(
        &mut self,
        new: &NewRows<'_>,
        stored: &[u32],
        returning: Returning<'_>,
    ) -> SqlResult<()> {
        let exprs = &self.plan.returning[..];
        if exprs.is_empty() {
            return Ok(());
        }
        let all = Batch::new(new.columns.clone(), new.rows.len());
        let mut stored = stored;
        for (at, row) in std::mem::take(&mut self.updates.rows) {
            let (before, rest) = stored.split_at(stored.partition_point(|other| *other < at));
            send_returned(self.env, exprs, &all.gather(before), returning)?;
            send_returned(self.env, exprs, &Batch::new(row, 1), returning)?;
            stored = rest;
        }
        send_returned(self.env, exprs, &all.gather(stored), returning)
    }

    /// The value of the automatic column that is told where none was generated.
    ///
    /// Compat: of rows that may be updated it is that of the last one, if any was stored or
    /// changed, and none if they come from a query.
    fn told_value(&self) -> Option<u64> {
        match self.on_duplicate {
            None if self.affected == 0 => None,
            None => self.auto.as_ref().and_then(|auto| auto.explicit),
            Some(_) if self.plan.is_query || self.updates.stored + self.updates.changed == 0 => {
                None
            }
            Some(_) => self.updates.last,
        }
    }

    /// Rows that were in the way of others, as the client is told.
    fn told_duplicates(&self) -> u64 {
        match (&self.on_duplicate, self.plan.mode) {
            (Some(_), InsertMode::Ignore) => self.skipped - self.updates.changed,
            // Compat: a client that counts rows found is told of those that did not change too.
            (Some(_), _) if self.env.rt.session.frame.settings.dml.found_rows => self.updates.found,
            (Some(_), _) => self.updates.changed,
            _ => self.duplicates + self.skipped,
        }
    }

    /// Sets what LAST_INSERT_ID() gives, also after rows that a later one undid.
    ///
    /// Compat: the client gets a value that the view does not show, LAST_INSERT_ID() does not.
    pub(crate) fn keep_first_value(&self) {
        let shown = self.plan.view.as_ref().is_none_or(|view| view.shows_auto_increment);
        if let Some(first) = self.first_stored.filter(|_| shown) {
            let values = &self.env.rt.session.values;
            values.last_insert_id.set(first);
            values.auto_is_null.generated();
        }
    }

    /// The outcome of the statement.
    pub(crate) fn finish(mut self) -> Outcome {
        if let Some(auto) = &mut self.auto {
            auto.take_back_rest();
        }
        self.keep_first_value();
        let session = self.env.rt.session;
        let told = self.first_stored.or(session.explicit_insert_id.get());
        let insert_id = told.or_else(|| self.told_value());
        let warnings = self.env.eval.conditions.borrow().count();
        // Compat: FOUND_ROWS() is about the query, which finds no row without a table.
        if self.plan.is_query {
            let single = is_single_row(self.env, self.plan);
            session.values.found_rows.set(if single { 0 } else { self.records });
        }
        let told = match self.records {
            0 | 1 if !self.plan.is_query && is_single_row(self.env, self.plan) => Told::Nothing,
            _ => Told::Inserted,
        };
        let (records, duplicates) = (self.records - self.rejected, self.told_duplicates());
        let counts = RowCounts { records, duplicates, warnings, ..RowCounts::default() };
        let insert_id = insert_id.unwrap_or(0);
        Outcome { affected: self.affected, insert_id, counts, told, ..Outcome::default() }
    }
}
