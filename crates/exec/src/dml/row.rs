//! New versions of rows: conversion to the columns' types, NULLs, generated columns, checks.
//!
//! Must not store rows.

use std::cell::RefCell;
use std::sync::Arc;

use selkie_catalog::{DefaultValue, TableInfo};
use selkie_expr::Expr;
use selkie_expr::store::{Given, StoreMode, StoreTarget, convert_for_column};
use selkie_plan::physical::{RowRules, ViewRules};
use selkie_types::error::catalogue::{
    ER_CONSTRAINT_FAILED, ER_INVALID_DEFAULT_VALUE_FOR_FIELD, ER_NO_DEFAULT_FOR_FIELD,
    ER_NO_DEFAULT_FOR_VIEW_FIELD, ER_VIEW_CHECK_FAILED, ER_WARN_NULL_TO_NOTNULL,
    ER_WARNING_NON_DEFAULT_VALUE_FOR_GENERATED_COLUMN, ER_WRONG_VALUE,
};
use selkie_types::{
    Batch, ByteRows, Column, Condition, Level, SqlError, SqlResult, SqlType, TypeKind, Value, stack,
};

use selkie_types::temporal::DateOptions;

use crate::run::Env;
use crate::run::defaults::{default_of_column, empty_value, now};
use crate::run::history::bound;
use crate::run::scan::{computed, nulls};
use crate::state::around::AssignedFrom;
use crate::state::columns::{column_of, scale_of};

/// Strictness of the rules for values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strictness {
    /// Whether a value that does not fit is an error.
    pub(super) mode: StoreMode,
    /// `IGNORE`: errors of rows are warnings.
    pub(super) ignore: bool,
    /// NULL for a NOT NULL column is an error in any mode: INSERT of a single row.
    pub(super) null_is_error: bool,
    /// INSERT of a single row. Compat: its CHECK constraints fail under IGNORE too.
    single_row: bool,
}

impl Strictness {
    pub(super) fn of(env: Env<'_>, ignore: bool, single_row: bool) -> Self {
        let strict = env.rt.session.is_strict() && !ignore;
        let mode = if strict { StoreMode::Strict } else { StoreMode::Lenient };
        Self { mode, ignore, null_is_error: (single_row || strict) && !ignore, single_row }
    }

    /// A value that does not fit is a warning, not an error.
    fn lenient(self) -> Self {
        Self { mode: StoreMode::Lenient, null_is_error: false, ..self }
    }

    /// The strictness once rows are stored that stay.
    pub(super) fn after_rows(self) -> Self {
        let mode = if self.is_strict() { StoreMode::Softened } else { self.mode };
        Self { mode, null_is_error: false, ..self }
    }

    pub(super) fn is_strict(self) -> bool {
        self.mode == StoreMode::Strict
    }
}

/// Makes rows of one table.
pub(super) struct RowMaker<'r> {
    pub(super) env: Env<'r>,
    pub(super) table: &'r TableInfo,
    pub(super) strictness: Strictness,
    /// Compat: what constants of its conditions warn of does not stop an UPDATE.
    pub(super) pardons: bool,
    /// The view the statement names.
    pub(super) view: Option<&'r ViewRules>,
    /// Columns whose missing default was told.
    pub(super) told: RefCell<Vec<usize>>,
    /// For rows of a file: the columns whose NULL is said to come from it.
    pub(super) file_columns: Option<Vec<usize>>,
    /// Columns whose fields the only row, of a file, does not have.
    pub(super) without_field: WithoutField,
}

/// Columns whose fields a row of a file does not have.
#[derive(Clone, Debug, Default)]
pub(crate) struct WithoutField {
    /// The columns.
    pub(crate) columns: Vec<usize>,
    /// Whether fields have fixed widths. Compat: then no column becomes NULL.
    pub(crate) of_fixed_width: bool,
}

/// Type and origin of values for a column.
pub(super) struct Typed<'t> {
    ty: &'t SqlType,
    given: Given,
}

impl<'t> From<&'t SqlType> for Typed<'t> {
    fn from(ty: &'t SqlType) -> Self {
        Self { ty, given: Given::Computed }
    }
}

impl<'t> From<&'t Expr> for Typed<'t> {
    fn from(e: &'t Expr) -> Self {
        Self { ty: &e.ty, given: Given::of(e) }
    }
}

impl<'t> From<(&'t SqlType, Given)> for Typed<'t> {
    fn from((ty, given): (&'t SqlType, Given)) -> Self {
        Self { ty, given }
    }
}

impl<'r> RowMaker<'r> {
    /// `values` as column `at` keeps them. NULLs stay.
    pub(super) fn convert<'t>(
        &self,
        at: usize,
        values: &Arc<Column>,
        from: impl Into<Typed<'t>>,
        first_row: u64,
    ) -> SqlResult<Arc<Column>> {
        let Typed { ty: from, given } = from.into();
        let column = &self.table.columns[at];
        let target = StoreTarget {
            ty: &column.ty,
            schema: self.table.schema(),
            table: self.table.name(),
            column: &column.name,
            given,
        };
        convert_for_column(values, from, &target, self.strictness.mode, first_row, self.env.eval)
    }

    /// `values` with NULLs replaced or refused if the column may not hold them.
    pub(super) fn refuse_nulls(&self, at: usize, values: Arc<Column>) -> SqlResult<Arc<Column>> {
        let column = &self.table.columns[at];
        if column.nullable || !values.has_nulls() {
            return Ok(values);
        }
        if column.ty.kind == TypeKind::Timestamp {
            return Ok(self.now_for_nulls(at, &values));
        }
        let from_file = self.file_columns.as_ref().is_some_and(|columns| columns.contains(&at));
        let error = match from_file {
            true => SqlError::new(&ER_WARN_NULL_TO_NOTNULL, &[&column.name, &self.env.eval.row()]),
            false => SqlError::bad_null(&column.name),
        };
        if self.strictness.null_is_error {
            return Err(error);
        }
        let zero = Value::zero_of(&column.ty);
        let mut out = column_of(&column.ty, values.len());
        for row in 0..values.len() {
            match values.value(row) {
                Value::Null => {
                    self.env.eval.push(Condition::from_error(Level::Warning, &error));
                    out.push(&zero);
                }
                value => out.push(&value),
            }
        }
        Ok(Arc::new(out))
    }

    /// Compat: a NULL given to a TIMESTAMP that cannot hold it stands for the current time.
    fn now_for_nulls(&self, at: usize, values: &Column) -> Arc<Column> {
        let ty = &self.table.columns[at].ty;
        let now = now(self.env.eval, ty);
        let mut out = column_of(ty, values.len());
        for row in 0..values.len() {
            match values.value(row) {
                Value::Null => out.push(&now),
                value => out.push(&value),
            }
        }
        Arc::new(out)
    }

    /// The default of column `at`, `rows` times.
    pub(super) fn default(&self, at: usize, rows: usize) -> SqlResult<Arc<Column>> {
        let value = self.default_value(at)?;
        let ty = &self.table.columns[at].ty;
        Ok(Arc::new(Column::constant(&value, ty.physical(), scale_of(ty), rows)))
    }

    /// The value that DEFAULT gives column `at` of the only row.
    pub(super) fn assigned_default(&self, at: usize) -> SqlResult<Arc<Column>> {
        let value = self.explicit_default(at)?;
        let ty = &self.table.columns[at].ty;
        Ok(Arc::new(Column::constant(&value, ty.physical(), scale_of(ty), 1)))
    }

    /// The only row's value of column `at`, which neither the statement nor a trigger gave one.
    ///
    /// Compat: the SQL mode does not refuse the default of such a column.
    pub(super) fn missing(&self, at: usize) -> SqlResult<Arc<Column>> {
        self.told.borrow_mut().retain(|told| *told != at);
        match default_of_column(self.env.eval, &self.table.columns[at]) {
            Some(_) => Ok(self.initial(at, 1)),
            None => self.default(at, 1),
        }
    }

    /// The default that UPDATE assigns to column `at` of rows from `first_row` on. Compat: the SQL
    /// mode judges a date like any other value.
    pub(super) fn updated_default(
        &self,
        at: usize,
        rows: usize,
        first_row: u64,
    ) -> SqlResult<Arc<Column>> {
        let column = &self.table.columns[at];
        let is_judged = column.ty.has_date() && matches!(column.default, DefaultValue::Literal(_));
        match is_judged {
            true => self.convert(at, &self.initial(at, rows), &column.ty, first_row),
            false => self.default(at, rows),
        }
    }

    /// The value of column `at` in the only row, read from a file that has no field for it.
    ///
    /// Compat: the type's zero, not the default; NULL where that is the default or the current
    /// time, and the current time in a TIMESTAMP that cannot be NULL.
    pub(super) fn emptied(&self, at: usize) -> Arc<Column> {
        let column = &self.table.columns[at];
        let no_value = match &column.default {
            DefaultValue::Implicit | DefaultValue::CurrentTimestamp => true,
            DefaultValue::Literal(value) | DefaultValue::Written { value, .. } => value.is_null(),
            DefaultValue::Expression(_) => false,
        };
        let value = match column.ty.kind {
            TypeKind::Timestamp if !column.nullable => now(self.env.eval, &column.ty),
            _ if self.without_field.of_fixed_width => empty_value(&column.ty),
            _ if column.auto_increment || (column.nullable && no_value) => Value::Null,
            _ => empty_value(&column.ty),
        };
        Arc::new(Column::constant(&value, column.ty.physical(), scale_of(&column.ty), 1))
    }

    /// The value DEFAULT gives column `at` of a row. Compat: every row whose column has no default
    /// raises the warning, not only the first.
    pub(super) fn explicit_default(&self, at: usize) -> SqlResult<Value> {
        self.told.borrow_mut().retain(|told| *told != at);
        self.default_or(at, || {
            SqlError::new(&ER_NO_DEFAULT_FOR_FIELD, &[&self.table.columns[at].name])
        })
    }

    /// The default of column `at` that a row does not name; without one, error or warning 1364, or
    /// 1423 through a view.
    pub(super) fn default_value(&self, at: usize) -> SqlResult<Value> {
        self.default_or(at, || match self.view {
            Some(view) => SqlError::new(&ER_NO_DEFAULT_FOR_VIEW_FIELD, &[&view.schema, &view.name]),
            None => SqlError::new(&ER_NO_DEFAULT_FOR_FIELD, &[&self.table.columns[at].name]),
        })
    }

    fn default_or(&self, at: usize, error: impl FnOnce() -> SqlError) -> SqlResult<Value> {
        let column = &self.table.columns[at];
        if let Some(value) = default_of_column(self.env.eval, column) {
            self.judge_default(at, &value)?;
            return Ok(value);
        }
        if column.auto_increment {
            return Ok(Value::Null);
        }
        let error = error();
        // Compat: rows of a file do without in any mode.
        let from_file = self.file_columns.is_some();
        if self.strictness.is_strict() && !from_file {
            return Err(error);
        }
        // Compat: once for the statement, not for each row.
        if !self.told.borrow().contains(&at) {
            self.told.borrow_mut().push(at);
            let warning = Condition::from_error(Level::Warning, &error);
            self.env.eval.push(Condition { soft: from_file, ..warning });
        }
        Ok(Value::zero_of(&column.ty))
    }

    /// Error or warning 1978 for a date in DEFAULT that the SQL mode refuses; a definition made in
    /// another mode can have one.
    fn judge_default(&self, at: usize, value: &Value) -> SqlResult<()> {
        let column = &self.table.columns[at];
        let is_written = column.ty.has_date() && matches!(column.default, DefaultValue::Literal(_));
        let mode = self.env.eval.types.sql_mode;
        if !is_written || value.is_acceptable_date(DateOptions::from(mode)) {
            return Ok(());
        }
        let mut text = Vec::new();
        selkie_expr::text::write_value(&mut text, value, &column.ty);
        let text = String::from_utf8_lossy(&text);
        let error = SqlError::new(&ER_INVALID_DEFAULT_VALUE_FOR_FIELD, &[&text, &column.name]);
        if self.strictness.is_strict() {
            return Err(error);
        }
        // Compat: once for the statement, not for each row.
        if !self.told.borrow().contains(&at) {
            self.told.borrow_mut().push(at);
            self.env.eval.push(Condition::from_error(Level::Warning, &error));
        }
        Ok(())
    }

    /// The values of column `at` in `rows` new rows before the statement gives it any.
    pub(super) fn initial(&self, at: usize, rows: usize) -> Arc<Column> {
        let column = &self.table.columns[at];
        let value = default_of_column(self.env.eval, column);
        let value = value.unwrap_or_else(|| match column.nullable {
            true => Value::Null,
            false => Value::zero_of(&column.ty),
        });
        Arc::new(Column::constant(&value, column.ty.physical(), scale_of(&column.ty), rows))
    }

    /// 1906: values but NULL given for generated column `at` are ignored, or refused.
    pub(super) fn judge_generated(&self, at: usize, given: &Column) -> SqlResult<()> {
        for _ in (0..given.len()).filter(|row| !given.is_null(*row)) {
            let arguments: [&dyn std::fmt::Display; 2] =
                [&self.table.columns[at].name, &self.table.name()];
            let error = &ER_WARNING_NON_DEFAULT_VALUE_FOR_GENERATED_COLUMN;
            if self.strictness.is_strict() {
                return Err(SqlError::new(error, &arguments));
            }
            self.env.eval.warn(error, &arguments);
        }
        Ok(())
    }

    /// The current time for column `at`.
    pub(super) fn now(&self, at: usize, rows: usize) -> Arc<Column> {
        let ty = &self.table.columns[at].ty;
        let now = now(self.env.eval, ty);
        Arc::new(Column::constant(&now, ty.physical(), scale_of(ty), rows))
    }

    /// Puts the present time into a column with ON UPDATE. Compat: a row keeps what a trigger
    /// assigned, and so do the rows after it.
    pub(super) fn set_to_now(
        &self,
        at: usize,
        columns: &mut [Arc<Column>],
        assigned: &AssignedFrom,
    ) {
        let rows = columns[at].len();
        let kept = assigned.iter().find(|(column, _)| *column == at).map_or(rows, |kept| kept.1);
        if kept == rows {
            columns[at] = self.now(at, rows);
            return;
        }
        let ty = &self.table.columns[at].ty;
        let now = now(self.env.eval, ty);
        let mut updated = column_of(ty, rows);
        (0..kept).for_each(|_| updated.push(&now));
        (kept..rows).for_each(|row| updated.push(&columns[at].value(row)));
        columns[at] = Arc::new(updated);
    }

    /// A stand-in for a column that is not computed yet.
    pub(super) fn placeholder(&self, at: usize, rows: usize) -> Arc<Column> {
        let ty = &self.table.columns[at].ty;
        Arc::new(Column::nulls(ty.physical(), scale_of(ty), rows))
    }

    /// Computes generated columns in place.
    pub(super) fn generate(
        &self,
        rules: &RowRules,
        columns: &mut [Arc<Column>],
        rows: usize,
        first_row: u64,
    ) -> SqlResult<()> {
        stack::check()?;
        if rules.lenient && self.strictness.is_strict() && !rules.generated.is_empty() {
            let lenient = Self {
                strictness: self.strictness.lenient(),
                told: RefCell::default(),
                file_columns: None,
                without_field: Default::default(),
                ..*self
            };
            let mark = self.env.eval.conditions.borrow().mark();
            self.env.eval.set_strict_arithmetic(false);
            let done = lenient.generate(rules, columns, rows, first_row);
            self.env.eval.set_strict_arithmetic(true);
            self.env.eval.conditions.borrow_mut().pardon_since(mark);
            return done;
        }
        for at in rules.bounds.iter().copied() {
            columns[at] = bound(self.env.eval, &self.table.columns[at], rows);
        }
        self.check_period(rules, columns, rows)?;
        for (at, e) in &rules.generated {
            let batch = Batch::new(columns.to_vec(), rows);
            let raised = self.raised();
            let values = e.eval(self.env.eval, &batch)?;
            self.refuse_warnings(raised)?;
            let values = self.convert(*at, &values, e, first_row)?;
            columns[*at] = self.refuse_nulls(*at, values)?;
        }
        Ok(())
    }

    /// 1525 unless the period that a statement gives a row begins before it ends.
    fn check_period(
        &self,
        rules: &RowRules,
        columns: &[Arc<Column>],
        rows: usize,
    ) -> SqlResult<()> {
        if !rules.is_given_period {
            return Ok(());
        }
        let Some(period) = self.table.system_time() else { return Ok(()) };
        let (starts, ends) = (&columns[period.start], &columns[period.end]);
        for row in 0..rows {
            match (starts.value(row), ends.value(row)) {
                (Value::DateTime(start), Value::DateTime(end)) if start >= end => {
                    let (name, mut text) = (&self.table.columns[period.start].name, Vec::new());
                    self.env.eval.types.time_zone.to_local(start).write_to(&mut text, 6);
                    let text = String::from_utf8_lossy(&text);
                    return Err(SqlError::new(&ER_WRONG_VALUE, &[name, &text]));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Conditions raised so far.
    pub(super) fn raised(&self) -> usize {
        self.env.eval.raised()
    }

    /// In a strict statement, fails with the first warning after `raised` conditions.
    pub(super) fn refuse_warnings(&self, raised: usize) -> SqlResult<()> {
        if !self.strictness.is_strict() {
            return Ok(());
        }
        let pardoned = if self.pardons { self.env.eval.conditions.borrow().pardoned() } else { 0 };
        self.env.eval.refuse_warnings(raised.max(pardoned))
    }

    /// The rows that satisfy all CHECK constraints, `None` if all do. A failure is error 4025, or
    /// under IGNORE a warning.
    pub(super) fn check(
        &self,
        rules: &RowRules,
        columns: &[Arc<Column>],
        rows: usize,
    ) -> SqlResult<Option<Vec<u32>>> {
        if rules.checks.is_empty()
            || !self.env.rt.session.frame.settings.dml.check_constraint_checks
        {
            return Ok(None);
        }
        let batch = Batch::new(columns.to_vec(), rows);
        let raised = self.raised();
        let truths: SqlResult<Vec<_>> =
            rules.checks.iter().map(|(_, e)| e.eval(self.env.eval, &batch)).collect();
        let truths = truths?;
        self.refuse_warnings(raised)?;
        let mut bad = vec![false; rows];
        for (row, bad) in bad.iter_mut().enumerate() {
            let Some(at) = truths.iter().position(|truth| is_false(truth, row)) else { continue };
            let error = check_error(&rules.checks[at].0, self.table);
            if !self.strictness.ignore || self.strictness.single_row {
                return Err(error);
            }
            self.env.eval.push(Condition::from_error(Level::Warning, &error));
            *bad = true;
        }
        let any = bad.contains(&true);
        Ok(any.then(|| (0..rows as u32).filter(|&row| !bad[row as usize]).collect()))
    }

    /// The rows of `batch` that the view's CHECK OPTION lets pass, `None` if it lets all. A failure
    /// is error 1369, or under IGNORE a warning.
    pub(super) fn check_view(&self, batch: &Batch) -> SqlResult<Option<Vec<u32>>> {
        let Some((view, condition)) = self.view.and_then(|v| Some((v, v.condition.as_ref()?)))
        else {
            return Ok(None);
        };
        let truth = condition.eval(self.env.eval, batch)?;
        let mut kept = Vec::with_capacity(batch.rows());
        for row in 0..batch.rows() {
            if !truth.is_null(row) && !is_false(&truth, row) {
                kept.push(row as u32);
                continue;
            }
            let error = SqlError::new(&ER_VIEW_CHECK_FAILED, &[&view.schema, &view.name]);
            if !self.strictness.ignore || self.strictness.single_row {
                return Err(error);
            }
            self.env.eval.push(Condition::from_error(Level::Warning, &error));
        }
        Ok((kept.len() < batch.rows()).then_some(kept))
    }

    /// NULLs that stand in for the columns that are computed when rows are read, with their
    /// positions.
    fn computed_nulls(&self, columns: &[Arc<Column>]) -> Vec<(usize, Column)> {
        let computed = (0..columns.len()).filter(|at| self.table.is_computed(*at));
        let stand_in = |at: usize| (at, nulls(&self.table.columns[at].ty, columns[at].len()));
        computed.map(stand_in).collect()
    }

    /// Fills in the columns of rows as they are stored that are computed when they are read.
    pub(super) fn compute(
        &self,
        rules: &RowRules,
        columns: &mut [Arc<Column>],
        rows: usize,
    ) -> SqlResult<()> {
        let open = rules.generated.iter().filter(|(at, _)| self.table.is_computed(*at));
        for (at, e) in open {
            let input = Batch::new(columns.to_vec(), rows);
            columns[*at] = computed(self.env.eval, self.table, *at, e, &input)?;
        }
        Ok(())
    }

    /// Appends the stored form of rows.
    pub(super) fn encode(
        &self,
        columns: &[Arc<Column>],
        rows: std::ops::Range<usize>,
        out: &mut ByteRows,
    ) {
        let computed = self.computed_nulls(columns);
        let mut views: Vec<&Column> = columns.iter().map(|c| &**c).collect();
        computed.iter().for_each(|(at, nulls)| views[*at] = nulls);
        for row in rows {
            self.table.def.layout.encode(&views, row, out.buffer());
            out.end_row();
        }
    }
}

/// 4025 for the CHECK called `name`.
pub(crate) fn check_error(name: &str, table: &TableInfo) -> SqlError {
    SqlError::new(&ER_CONSTRAINT_FAILED, &[&name, &table.schema(), &table.name()])
}

/// Whether a condition is false: neither true nor NULL.
pub(crate) fn is_false(truth: &Column, row: usize) -> bool {
    is_zero(&truth.value(row))
}

/// Whether a number is zero.
pub(crate) fn is_zero(value: &Value) -> bool {
    match value {
        Value::Int(v) => *v == 0,
        Value::UInt(v) => *v == 0,
        Value::Double(v) => *v == 0.0,
        Value::Decimal(v) => v.is_zero(),
        _ => false,
    }
}
