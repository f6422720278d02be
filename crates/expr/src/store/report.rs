//! Reports about values that do not fit: errors in strict mode, warnings otherwise.
//! The mode is applied here: a conversion names the condition of a row, not its level.

use selkie_types::error::catalogue::{
    ER_DATA_OVERFLOW, ER_DATA_TOO_LONG, ER_TRUNCATED_WRONG_VALUE,
    ER_TRUNCATED_WRONG_VALUE_FOR_FIELD, ER_WARN_DATA_OUT_OF_RANGE, ER_WARN_INVALID_TIMESTAMP,
    WARN_DATA_TRUNCATED,
};
use selkie_types::{Condition, Level, SqlError, SqlResult};

use super::{StoreMode, StoreTarget};
use crate::context::EvalContext;

/// Raises errors or warnings about rows of a column.
pub(super) struct Report<'a> {
    pub(super) target: &'a StoreTarget<'a>,
    pub(super) mode: StoreMode,
    pub(super) first_row: u64,
    pub(super) ctx: &'a EvalContext<'a>,
    /// The values are from the column before its definition changed.
    pub(super) was_copied: bool,
    /// Faults of dates and times are reported for the old values.
    pub(super) tells_old: bool,
    /// The values are addresses or identifiers, written as texts.
    pub(super) is_written: bool,
}

impl Report<'_> {
    /// Whether a value that does not fit is an error, or would have been one.
    pub(super) fn is_strict(&self) -> bool {
        self.mode != StoreMode::Lenient
    }

    fn number(&self, row: usize) -> u64 {
        self.first_row + row as u64
    }

    fn raise(&self, error: SqlError) -> SqlResult<()> {
        if self.mode == StoreMode::Strict {
            return Err(error);
        }
        self.ctx.push(Condition::from_error(Level::Warning, &error));
        Ok(())
    }

    /// 1264
    #[cold]
    pub(super) fn out_of_range(&self, row: usize) -> SqlResult<()> {
        let args: [&dyn std::fmt::Display; 2] = [&self.target.column, &self.number(row)];
        self.raise(SqlError::new(&ER_WARN_DATA_OUT_OF_RANGE, &args))
    }

    /// 1265
    #[cold]
    pub(super) fn truncated(&self, row: usize) -> SqlResult<()> {
        self.raise(self.truncated_error(row))
    }

    fn truncated_error(&self, row: usize) -> SqlError {
        SqlError::new(&WARN_DATA_TRUNCATED, &[&self.target.column, &self.number(row)])
    }

    /// 1265 as a note, in every mode.
    #[cold]
    pub(super) fn note(&self, row: usize) {
        self.ctx.push(Condition::from_error(Level::Note, &self.truncated_error(row)));
    }

    /// 1406, or 1265 as a warning.
    #[cold]
    pub(super) fn too_long(&self, row: usize) -> SqlResult<()> {
        if self.is_strict() {
            let args: [&dyn std::fmt::Display; 2] = [&self.target.column, &self.number(row)];
            return self.raise(SqlError::new(&ER_DATA_TOO_LONG, &args));
        }
        self.truncated(row)
    }

    fn incorrect_text(&self, row: usize, kind: &str, text: &str) -> SqlError {
        let t = self.target;
        let row = self.number(row);
        let args: [&dyn std::fmt::Display; 6] =
            [&kind, &text, &t.schema, &t.table, &t.column, &row];
        SqlError::new(&ER_TRUNCATED_WRONG_VALUE_FOR_FIELD, &args)
    }

    /// 1292 without the place: a text of a changed column that is an integer only in part, or not
    /// at all. A note if the rest is only spaces.
    #[cold]
    pub(super) fn truncated_integer(&self, text: &str, spaces: bool) -> SqlResult<()> {
        let error = SqlError::new(&ER_TRUNCATED_WRONG_VALUE, &[&"INTEGER", &text]);
        if spaces {
            self.ctx.push(Condition::from_error(Level::Note, &error));
            return Ok(());
        }
        self.raise(error)
    }

    /// 1916: a number of a changed column beyond all integers.
    #[cold]
    pub(super) fn integer_overflow(&self, text: &str) -> SqlResult<()> {
        self.raise(SqlError::new(&ER_DATA_OVERFLOW, &[&text, &"INT"]))
    }

    /// 1366: the text is no value of this kind.
    #[cold]
    pub(super) fn incorrect(&self, row: usize, kind: &str, text: &str) -> SqlResult<()> {
        self.raise(self.incorrect_text(row, kind, text))
    }

    /// 1292 in strict mode, `lenient` otherwise.
    #[cold]
    pub(super) fn bad_temporal(
        &self,
        row: usize,
        kind: &str,
        text: &str,
        lenient: fn(&Self, usize) -> SqlResult<()>,
    ) -> SqlResult<()> {
        if !self.is_strict() && !self.is_copy() {
            return lenient(self, row);
        }
        self.raise(self.incorrect_temporal(row, kind, text))
    }

    /// 1292 in strict mode, `lenient` otherwise; the same for a column that changes its type.
    #[cold]
    pub(super) fn bad_instant(
        &self,
        row: usize,
        text: &str,
        lenient: fn(&Self, usize) -> SqlResult<()>,
    ) -> SqlResult<()> {
        match self.is_strict() {
            true => self.raise(self.incorrect_temporal(row, "datetime", text)),
            false => lenient(self, row),
        }
    }

    /// 1292, in every mode.
    #[cold]
    pub(super) fn incorrect_fixed_binary(
        &self,
        row: usize,
        name: &str,
        text: &str,
    ) -> SqlResult<()> {
        self.raise(self.incorrect_temporal(row, name, text))
    }

    fn incorrect_temporal(&self, row: usize, kind: &str, text: &str) -> SqlError {
        let message = self.incorrect_text(row, kind, text).message().to_owned();
        let def = &ER_TRUNCATED_WRONG_VALUE;
        SqlError::raw(def.code, def.sqlstate, message)
    }

    /// Compat: if a column changes its type, faults of dates and times are reported for the old
    /// column's values; if these are doubles, for the new column.
    pub(super) fn is_copy(&self) -> bool {
        self.tells_old
    }

    /// 1292 as a note: fraction digits were lost.
    #[cold]
    pub(super) fn note_of_copy(&self, row: usize, kind: &str, text: &str) {
        let error = self.incorrect_temporal(row, kind, text);
        self.ctx.push(Condition::from_error(Level::Note, &error));
    }

    /// 1299: a local time that the clocks skip; in strict mode the error is 1292.
    #[cold]
    pub(super) fn skipped_time(&self, row: usize, text: &str) -> SqlResult<()> {
        if self.is_strict() {
            return self.raise(self.incorrect_temporal(row, "datetime", text));
        }
        let args: [&dyn std::fmt::Display; 2] = [&self.target.column, &self.number(row)];
        self.raise(SqlError::new(&ER_WARN_INVALID_TIMESTAMP, &args))
    }
}
