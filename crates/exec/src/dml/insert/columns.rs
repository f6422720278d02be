//! The columns of new rows: values given, defaults and values that read the row itself.
//!
//! Must not store rows, run triggers or take automatic values.

use std::sync::Arc;

use selkie_expr::ExprKind;
use selkie_expr::store::Given;
use selkie_plan::physical::{InsertValue, OwnValue};
use selkie_types::{Batch, Column, SqlResult, Value};

use super::Inserter;
use crate::run::defaults::default_of_column;
use crate::state::columns::column_of;

/// Whether a row says DEFAULT.
fn is_set(flags: &Column, row: usize) -> bool {
    matches!(flags.value(row), Value::Int(1) | Value::UInt(1))
}

impl<'r> Inserter<'r> {
    /// The new rows' columns, generated ones and automatic values left open.
    pub(super) fn columns(&self, source: &Batch, first_row: u64) -> SqlResult<Vec<Arc<Column>>> {
        self.judge_generated(source)?;
        let rows = source.rows();
        let count = self.plan.values.len();
        let mut columns = Vec::with_capacity(count);
        for (at, value) in self.plan.values.iter().enumerate() {
            let values = match value {
                InsertValue::Default => self.default(at, rows)?,
                InsertValue::Source(from, given) if self.order.is_empty() => {
                    self.given(at, (*from, *given), source, first_row)?
                }
                _ => {
                    columns.push(self.maker.placeholder(at, rows));
                    continue;
                }
            };
            columns.push(self.completed(at, values, source)?);
        }
        for &(_, at) in &self.order {
            let InsertValue::Source(from, given) = self.plan.values[at] else { continue };
            let values = self.given(at, (from, given), source, first_row)?;
            columns[at] = self.completed(at, values, source)?;
        }
        for own in &self.plan.own {
            if self.is_without_field(own) {
                continue;
            }
            let values = self.own_value(own, &columns, source, first_row)?;
            columns[own.column] = self.settled(own.column, values, source)?;
        }
        for (at, e) in self.defaults() {
            let values = e.eval(self.env.eval, &Batch::new(columns.clone(), rows))?;
            let values = self.maker.convert(at, &values, e, first_row)?;
            columns[at] = self.completed(at, values, source)?;
        }
        Ok(columns)
    }

    /// The values given for column `at`, as it stores them.
    fn given(
        &self,
        at: usize,
        (from, given): (usize, Given),
        source: &Batch,
        first_row: u64,
    ) -> SqlResult<Arc<Column>> {
        let typed = (&self.plan.source.columns[from].ty, given);
        self.maker.convert(at, source.column(from), typed, first_row)
    }

    /// Defaults that are expressions. They may use columns after their own, and defaults of those
    /// that use none.
    fn defaults(&self) -> impl Iterator<Item = (usize, &'r selkie_expr::Expr)> {
        let values = self.plan.values.iter().enumerate();
        let defaults = values.filter_map(|(at, value)| match value {
            InsertValue::Expr(e) => Some((at, e)),
            _ => None,
        });
        let (last, first): (Vec<_>, Vec<_>) =
            defaults.partition(|(_, e)| e.any(&mut |e| e.as_column().is_some()));
        first.into_iter().chain(last)
    }

    /// Whether a row of a file has no field for a column that takes several.
    fn is_without_field(&self, own: &OwnValue) -> bool {
        let is_field = |e: &selkie_expr::Expr| matches!(e.kind, ExprKind::Parameter(_));
        self.maker.without_field.columns.contains(&own.column) && own.values.iter().all(is_field)
    }

    /// Values of column `at`: `values`, or nothing if a row of a file has no field for it.
    fn completed(&self, at: usize, values: Arc<Column>, source: &Batch) -> SqlResult<Arc<Column>> {
        match self.maker.without_field.columns.contains(&at) {
            true => Ok(self.maker.emptied(at)),
            false => self.settled(at, values, source),
        }
    }

    /// Values of column `at` with constant defaults where they were asked for, without NULLs if it
    /// may not have any.
    fn settled(
        &self,
        at: usize,
        mut values: Arc<Column>,
        source: &Batch,
    ) -> SqlResult<Arc<Column>> {
        if let Some(flag) = self.plan.default_flags.get(at).copied().flatten() {
            values = self.with_defaults(at, &values, source.column(flag))?;
        }
        match self.plan.table.columns[at].auto_increment || self.has_before_triggers() {
            true => Ok(values),
            false => self.maker.refuse_nulls(at, values),
        }
    }

    /// The value of a single row that reads the row itself: columns given values before, defaults
    /// of the others.
    ///
    /// Compat: a value that will be generated is 0 here.
    fn own_value(
        &self,
        own: &OwnValue,
        columns: &[Arc<Column>],
        source: &Batch,
        first_row: u64,
    ) -> SqlResult<Arc<Column>> {
        let is_generated =
            |at: usize| self.plan.table.columns[at].auto_increment && columns[at].is_null(0);
        let so_far = (0..columns.len()).map(|at| match own.before.contains(&at) {
            true if !is_generated(at) => columns[at].clone(),
            _ => self.maker.initial(at, 1),
        });
        let row = Batch::new(so_far.collect(), 1);
        let number = match source.column(own.number).value(0) {
            Value::Int(n) => n as usize,
            _ => 0,
        };
        let e = &own.values[number];
        self.maker.convert(own.column, &e.eval(self.env.eval, &row)?, e, first_row)
    }

    /// Replaces the values of rows that say DEFAULT.
    fn with_defaults(&self, at: usize, values: &Column, flags: &Column) -> SqlResult<Arc<Column>> {
        let column = &self.plan.table.columns[at];
        let mut out = column_of(&column.ty, values.len());
        for row in 0..values.len() {
            match is_set(flags, row) {
                // Compat: the automatic value is 0 to triggers, and stays 0 under
                // NO_AUTO_VALUE_ON_ZERO.
                true if self.has_before_triggers() && column.auto_increment => {
                    out.push(&Value::zero_of(&column.ty));
                }
                // Compat: triggers see NULL in place of a default that is missing.
                true if self.has_before_triggers() && self.has_no_default(at) => {
                    self.maker.explicit_default(at)?;
                    out.push(&Value::Null);
                }
                true => out.push(&self.maker.explicit_default(at)?),
                false => out.push(&values.value(row)),
            }
        }
        Ok(Arc::new(out))
    }

    pub(super) fn has_no_default(&self, at: usize) -> bool {
        default_of_column(self.env.eval, &self.plan.table.columns[at]).is_none()
    }

    /// The default of a column. Compat: one that is missing is NULL to triggers, but its type's
    /// zero in the first row of a query or file.
    fn default(&self, at: usize, rows: usize) -> SqlResult<Arc<Column>> {
        let column = &self.plan.table.columns[at];
        let first = self.records == 0 && !self.lists_values;
        if self.has_before_triggers() && !first && self.has_no_default(at) {
            return Ok(self.maker.placeholder(at, rows));
        }
        if !column.auto_increment && self.is_set_on_duplicate(at) {
            return Ok(self.maker.initial(at, rows));
        }
        // Compat: with triggers, the SQL mode does not judge it.
        match self.has_before_triggers() && !self.has_no_default(at) {
            true => Ok(self.maker.initial(at, rows)),
            false => self.maker.default(at, rows),
        }
    }

    /// Whether `ON DUPLICATE KEY UPDATE` sets a column.
    ///
    /// Compat: the column then needs no default, though new rows are not updated; unless the rows
    /// come from a query.
    pub(super) fn is_set_on_duplicate(&self, at: usize) -> bool {
        let Some(update) = &self.plan.on_duplicate else { return false };
        !self.plan.is_query && update.assignments.iter().any(|a| a.column == at)
    }

    /// 1906 for every value but NULL given for a generated column.
    fn judge_generated(&self, source: &Batch) -> SqlResult<()> {
        for (at, value) in self.plan.values.iter().enumerate() {
            let InsertValue::Generated(Some(from)) = value else { continue };
            self.maker.judge_generated(at, source.column(*from))?;
        }
        Ok(())
    }
}

/// Columns in the order in which the statement gives their values, the source's column first; empty
/// if that is the table's order.
///
/// Compat: values are converted in that order, which conditions show.
pub(super) fn order_of(values: &[InsertValue]) -> Vec<(usize, usize)> {
    let given = || {
        values.iter().enumerate().filter_map(|(at, value)| match value {
            InsertValue::Source(from, _) => Some((*from, at)),
            _ => None,
        })
    };
    if given().is_sorted() {
        return Vec::new();
    }
    let mut order: Vec<_> = given().collect();
    order.sort_unstable();
    order
}
