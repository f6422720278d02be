//! The triggers of INSERT: rows that are stored together in spite of them, and their runs.
//!
//! Must not store rows. What a program reaches is [`crate::state::around::Triggers`]' to say.

use std::sync::Arc;

use selkie_plan::physical::InsertValue;
use selkie_types::{Column, SqlResult, Value};

use super::{Inserter, NewRows};
use crate::dml::keeps::{keeps_changes, reads_only_its_row};
use crate::run::defaults::default_of_column;
use crate::state::around::Triggers;
use crate::state::columns::column_of;

impl Inserter<'_> {
    pub(super) fn has_before_triggers(&self) -> bool {
        self.triggers.as_ref().is_some_and(|triggers| triggers.has_before())
    }

    /// Whether rows may be stored together in spite of triggers: they cannot tell (TRIGGER-1), a
    /// duplicate ends the statement, what it did is rolled back then, nothing is sent between the
    /// rows, and nothing computed for a row reads what triggers change. Generated columns may raise
    /// conditions between the triggers of two rows. Compat: rows after the first get NULL in place
    /// of a default that is missing.
    ///
    /// Of an error of the engine, such as a lock wait timeout, the row is not known: the AFTER
    /// triggers of the rows before it in the batch do not run, which their user variables show.
    pub(super) fn takes_batches(&self, triggers: &dyn Triggers) -> bool {
        let is_fixed = |(at, value): (usize, &InsertValue)| match value {
            InsertValue::Expr(e) => reads_only_its_row(e),
            InsertValue::Default if triggers.has_before() => {
                let column = &self.plan.table.columns[at];
                column.auto_increment || default_of_column(self.env.eval, column).is_some()
            }
            _ => true,
        };
        triggers.take_batches()
            && self.is_plain()
            && !keeps_changes(&self.plan.table)
            && self.plan.returning.is_empty()
            && self.plan.view.is_none()
            && self.plan.rules.generated.is_empty()
            && self.plan.values.iter().enumerate().all(is_fixed)
    }

    /// Whether all rows of a batch that ask for an automatic value are sure to get one: the row
    /// that gets none would be known too late for the triggers of the rows before it.
    pub(super) fn numbers_suffice(&self, columns: &[Arc<Column>]) -> bool {
        let Some(auto) = self.auto.as_ref().filter(|_| self.triggers.is_some()) else {
            return true;
        };
        auto.has_room(&columns[auto.column])
    }

    /// Runs the BEFORE triggers, then judges the NULLs of the rows. Compat: an automatic value
    /// that the statement does not mention is 0 to them.
    pub(super) fn run_before(&self, columns: &mut [Arc<Column>], rows: usize) -> SqlResult<()> {
        let Some(triggers) = &self.triggers else { return Ok(()) };
        let auto = self.auto.as_ref().map(|auto| auto.column);
        let omitted = |at: &usize| matches!(self.plan.values[*at], InsertValue::Default);
        let open = auto.filter(omitted).map(|at| (at, columns[at].clone()));
        if let Some((at, asked)) = &open {
            columns[*at] = self.with_zeros(*at, asked);
        }
        if self.plan.rules.seen_by_triggers {
            self.maker.generate(&self.plan.rules, columns, rows, self.env.eval.row())?;
        }
        triggers.before(&[], columns, rows)?;
        if let Some((at, asked)) = open {
            columns[at] = self.reopened(at, &asked, &columns[at]);
        }
        for (at, column) in columns.iter_mut().enumerate() {
            let info = &self.plan.table.columns[at];
            if info.auto_increment || info.generated.is_some() {
                continue;
            }
            let omitted = matches!(self.plan.values[at], InsertValue::Default)
                && !self.assigned.contains(&at);
            // A column without a default is omitted by a single row only ([`Self::takes_batches`]).
            *column = match omitted && column.is_null(0) && !info.nullable {
                true => self.maker.missing(at)?,
                false => self.maker.refuse_nulls(at, column.clone())?,
            };
        }
        Ok(())
    }

    /// Automatic values of column `at` with 0 for those still open.
    pub(super) fn with_zeros(&self, at: usize, asked: &Column) -> Arc<Column> {
        let ty = &self.plan.table.columns[at].ty;
        let mut filled = column_of(ty, asked.len());
        for row in 0..asked.len() {
            match asked.value(row) {
                Value::Null => filled.push(&Value::zero_of(ty)),
                value => filled.push(&value),
            }
        }
        Arc::new(filled)
    }

    /// Automatic values of column `at` after the triggers: those that were open, and were left 0,
    /// are open again.
    fn reopened(&self, at: usize, asked: &Column, seen: &Column) -> Arc<Column> {
        let ty = &self.plan.table.columns[at].ty;
        let mut out = column_of(ty, seen.len());
        for row in 0..seen.len() {
            match seen.value(row) {
                value if asked.is_null(row) && value == Value::zero_of(ty) => {
                    out.push(&Value::Null);
                }
                value => out.push(&value),
            }
        }
        Arc::new(out)
    }

    /// Runs the AFTER triggers of the rows stored. An error of theirs takes back what rows behind
    /// did to the counter of automatic values, which was at `counter`: they were not to be tried.
    pub(super) fn run_after(
        &mut self,
        new: &NewRows<'_>,
        stored: &[u32],
        counter: Option<u64>,
    ) -> SqlResult<()> {
        let Some(triggers) = self.triggers.as_ref().filter(|_| !stored.is_empty()) else {
            return Ok(());
        };
        let Err(failed) = triggers.after(&[], &new.columns, stored) else { return Ok(()) };
        if let Some(auto) = &self.auto {
            // The row that is a duplicate has passed the counter only in some statements.
            let tried = self.failing.saturating_add(usize::from(self.passes_explicit()));
            let behind = failed.row as usize + 1..tried.min(new.rows.len());
            auto.forget_explicit(&new.columns[auto.column], 0..behind.start, behind, counter);
        }
        self.failing = failed.row as usize;
        Err(failed.error)
    }
}
