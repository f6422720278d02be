//! What is said of values that do not fit.

use selkie_types::error::catalogue::{
    ER_DATA_TOO_LONG, ER_TRUNCATED_WRONG_VALUE, ER_TRUNCATED_WRONG_VALUE_FOR_FIELD,
    ER_WARN_DATA_OUT_OF_RANGE, WARN_DATA_TRUNCATED,
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
}

impl Report<'_> {
    /// Whether what does not fit is an error.
    pub(super) fn is_strict(&self) -> bool {
        self.mode == StoreMode::Strict
    }

    fn number(&self, row: usize) -> u64 {
        self.first_row + row as u64
    }

    fn raise(&self, error: SqlError) -> SqlResult<()> {
        if self.is_strict() {
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
            return Err(SqlError::new(&ER_DATA_TOO_LONG, &args));
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

    /// 1366: no value of this kind at all.
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
        if !self.is_strict() {
            return lenient(self, row);
        }
        let message = self.incorrect_text(row, kind, text).message().to_owned();
        let def = &ER_TRUNCATED_WRONG_VALUE;
        Err(SqlError::raw(def.code, def.sqlstate, message))
    }
}
