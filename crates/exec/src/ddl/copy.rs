//! Writing all rows of a table anew under another definition. Used by ALTER TABLE with a rebuild.
//! The writer commits every few batches (DDL-2); an error leaves rows in the new storage, which the
//! caller drops.

use std::sync::Arc;

use selkie_catalog::{ColumnInfo, SystemTime, TableInfo};
use selkie_engine::{Cursor, EngineError, RowSet, Scan, Table};
use selkie_expr::store::{Given, StoreMode, StoreTarget, convert_for_column, refuse_assignment};
use selkie_expr::{EvalContext, Expr};
use selkie_plan::define::{AlterPlan, ColumnSource};
use selkie_plan::physical::RowRules;
use selkie_types::error::catalogue::{ER_UNSUPPORTED_EXTENSION, WARN_DATA_TRUNCATED};
use selkie_types::{
    BATCH_ROWS, Batch, ByteRows, Column, Condition, Level, Physical, SqlError, SqlResult, SqlType,
    TypeKind, Value,
};

use crate::dml::{check_error, duplicate_error, is_false};
use crate::op::{put_key, sorted};
use crate::query::execution::Scope;
use crate::query::keep_conditions;
use crate::run::defaults::{default_of_column, empty_value};
use crate::run::history::{self, bound};
use crate::run::sequence::SequencesOnly;
use crate::state::columns::{column_of, scale_of};
use crate::state::control::Control;
use crate::state::error::{corrupt, from_engine};
use crate::state::own_transaction::{begin_in, commit_now};
use crate::{Instance, Outcome, RowCounts, Told};

/// Batches written in one transaction. No definition refers to the new storage until all rows are
/// written.
pub(super) const BATCHES_PER_COMMIT: usize = 64;

/// Counts of a finished copy.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Copied {
    records: u64,
    duplicates: u64,
    /// AUTO_INCREMENT counter of the old table, if the new table continues it.
    pub(super) counter: Option<u64>,
}

impl Copied {
    /// `records` rows were checked, not copied, where MariaDB would copy them.
    pub(super) fn checked(records: u64) -> Self {
        Self { records, ..Self::default() }
    }

    /// Whether there were rows.
    pub(super) fn has_rows(self) -> bool {
        self.records > 0
    }

    /// The statement's outcome after `warnings` conditions.
    ///
    /// Compat: MariaDB counts rows only where the server itself copies them, that is where a
    /// column's type changes. A rebuild inside InnoDB counts none.
    pub(super) fn outcome(self, warnings: u64, counted: bool) -> Outcome {
        let records = if counted { self.records } else { 0 };
        let duplicates = self.duplicates;
        let counts = RowCounts { records, duplicates, warnings, ..RowCounts::default() };
        Outcome { affected: records, counts, told: Told::Inserted, ..Outcome::ok() }
    }
}

struct Copy<'a> {
    eval: &'a EvalContext<'a>,
    old: &'a TableInfo,
    new: &'a TableInfo,
    sources: &'a [ColumnSource],
    rules: &'a RowRules,
    defaults: &'a [(usize, Expr)],
    /// CHECK constraints that rows must satisfy.
    checks: &'a [(Box<str>, Expr)],
    /// Whether rows are converted one by one, because values depend on the order of evaluation.
    one_by_one: bool,
    mode: StoreMode,
    /// Compat: a rebuild inside InnoDB does not look at values whose type stays: dates may be there
    /// that the SQL mode refuses.
    keeps_values: bool,
    ignore: bool,
    /// Old columns to sort rows by, each with whether it is descending.
    order: &'a [(usize, bool)],
    target: Arc<dyn Table>,
    /// Rows converted so far.
    read: u64,
    done: Copied,
}

/// Copies the rows of `old` into the empty storage of `new`.
pub(super) fn copy_rows(
    Scope { instance, session }: Scope<'_>,
    control: &Control,
    (old, new): (&TableInfo, &TableInfo),
    plan: &AlterPlan,
) -> SqlResult<Copied> {
    let sequences = SequencesOnly { instance, session, control };
    let mut eval =
        EvalContext::new(session.type_context(), session, session.values.statement_start.get());
    eval.subqueries = &sequences;
    let strict = session.is_strict() && !plan.ignore;
    eval.set_strict_arithmetic(strict && !plan.rules.lenient);
    let checked = plan.copies && session.frame.settings.dml.check_constraint_checks;
    let mut copy = Copy {
        eval: &eval,
        old,
        new,
        sources: plan.rebuild.as_deref().unwrap_or_default(),
        rules: &plan.rules,
        defaults: &plan.defaults,
        checks: if checked { &plan.rules.checks } else { &[] },
        one_by_one: plan.defaults.iter().any(|(_, e)| e.has_side_effects()),
        mode: if strict { StoreMode::Strict } else { StoreMode::Lenient },
        keeps_values: !plan.copies,
        ignore: plan.ignore,
        order: &plan.order,
        target: instance.open_storage(new)?,
        read: 0,
        done: Copied::default(),
    };
    let result = copy.run(instance, control);
    keep_conditions(session, &eval);
    result.map(|()| copy.done)
}

impl Copy<'_> {
    fn run(&mut self, instance: &Instance, control: &Control) -> SqlResult<()> {
        self.refuse_types()?;
        let source = instance.open_table(self.old)?;
        self.done.counter = source.table.statistics().auto_increment.filter(|_| self.goes_on());
        let (reader_engine, reader) = begin_in(instance, self.old)?;
        let old_error = |e| from_engine(e, &self.old.def);
        let mut cursor =
            source.table.scan(&*reader, control, &Scan::default()).map_err(old_error)?;
        if !self.order.is_empty() {
            self.copy_sorted(&mut *cursor, instance, control)?;
            drop(cursor);
            return reader.rollback().map_err(old_error);
        }
        let mut set = RowSet::default();
        let current = history::current_only(self.old, self.new);
        let mut more = true;
        while more {
            let (engine, writer) = begin_in(instance, self.new)?;
            for _ in 0..BATCHES_PER_COMMIT {
                set.clear();
                more = cursor.next_batch(&mut set, BATCH_ROWS).map_err(old_error)?;
                if !more {
                    break;
                }
                control.check()?;
                if current {
                    set.rows = history::current_rows(self.old, &set.rows)?;
                }
                let rows = self.convert(&set.rows)?;
                self.insert(&*writer, control, &rows)?;
            }
            commit_now(&*engine, writer)?;
        }
        drop(cursor);
        drop(reader_engine);
        reader.rollback().map_err(old_error)
    }

    /// As [`Copy::run`], in sorted order; all rows are kept in memory meanwhile.
    fn copy_sorted(
        &mut self,
        cursor: &mut dyn Cursor,
        instance: &Instance,
        control: &Control,
    ) -> SqlResult<()> {
        let (mut set, mut all, mut keys) =
            (RowSet::default(), ByteRows::default(), ByteRows::default());
        let old_error = |e| from_engine(e, &self.old.def);
        while cursor.next_batch(&mut set, BATCH_ROWS).map_err(old_error)? {
            if history::current_only(self.old, self.new) {
                set.rows = history::current_rows(self.old, &set.rows)?;
            }
            self.sort_keys(&set.rows, &mut keys)?;
            set.rows.iter().for_each(|row| all.push(row));
            control.check()?;
            set.clear();
        }
        let order = sorted(&keys)?;
        for part in order.chunks(BATCH_ROWS * BATCHES_PER_COMMIT) {
            let (engine, writer) = begin_in(instance, self.new)?;
            for batch in part.chunks(BATCH_ROWS) {
                let mut rows = ByteRows::with_capacity(batch.len());
                batch.iter().for_each(|row| rows.push(all.get(*row as usize)));
                control.check()?;
                let rows = self.convert(&rows)?;
                self.insert(&*writer, control, &rows)?;
            }
            commit_now(&*engine, writer)?;
        }
        Ok(())
    }

    fn sort_keys(&self, rows: &ByteRows, keys: &mut ByteRows) -> SqlResult<()> {
        let layout = &self.old.def.layout;
        let decode = |(at, _): &(usize, bool)| layout.decode(rows, *at).map_err(corrupt);
        let columns: SqlResult<Vec<Column>> = self.order.iter().map(decode).collect();
        let columns = columns?;
        for row in 0..rows.len() {
            let buffer = keys.buffer();
            for ((at, descending), column) in self.order.iter().zip(&columns) {
                put_key(&self.old.columns[*at].ty, *descending, column, row, buffer);
            }
            keys.end_row();
        }
        Ok(())
    }

    /// The rows in the new layout. Rows are converted a column at a time. If that raises a
    /// condition, the batch is converted again row by row, because conditions are reported in row
    /// order.
    fn convert(&mut self, rows: &ByteRows) -> SqlResult<ByteRows> {
        let mut out = ByteRows::with_capacity(rows.len());
        let attempt = self.eval.attempt();
        let numbers = self.numbers(rows)?;
        if !self.one_by_one || rows.len() == 1 {
            let done = self.convert_some(rows, numbers.as_ref(), &mut out);
            if rows.len() == 1 || (done.is_ok() && !attempt.has_raised(self.eval)) {
                self.read += rows.len() as u64;
                return done.map(|()| out);
            }
            self.eval.undo(&attempt);
            out.clear();
        }
        for (at, row) in rows.iter().enumerate() {
            let mut one = ByteRows::with_capacity(1);
            one.push(row);
            let number = numbers.as_ref().map(|n| Arc::new(n.gather(&[at as u32])));
            self.convert_some(&one, number.as_ref(), &mut out)?;
            self.read += 1;
        }
        Ok(out)
    }

    /// Appends the rows that pass the checks.
    fn convert_some(
        &self,
        rows: &ByteRows,
        numbers: Option<&Arc<Column>>,
        out: &mut ByteRows,
    ) -> SqlResult<()> {
        let columns: SqlResult<Vec<Arc<Column>>> =
            (0..self.sources.len()).map(|at| self.column(at, rows, numbers)).collect();
        let mut columns = columns?;
        self.compute(&mut columns, rows.len())?;
        let bad = self.failing(&columns, rows.len())?;
        let views: Vec<&Column> = columns.iter().map(|c| &**c).collect();
        for row in (0..rows.len()).filter(|row| !bad.contains(row)) {
            self.new.def.layout.encode(&views, row, out.buffer());
            out.end_row();
        }
        Ok(())
    }

    /// Computes new columns whose default is an expression, then generated columns.
    fn compute(&self, columns: &mut [Arc<Column>], rows: usize) -> SqlResult<()> {
        // Bounds of system time are not among these: they come as they are to be stored.
        for (at, e) in self.defaults.iter().chain(&self.rules.generated) {
            let raised = self.eval.raised();
            let values = e.eval(self.eval, &Batch::new(columns.to_vec(), rows))?;
            self.refuse_warnings(raised)?;
            columns[*at] = self.stored(&self.new.columns[*at], &values, &e.ty, Given::Computed)?;
        }
        Ok(())
    }

    /// Fails with what an expression warned of, in strict mode.
    fn refuse_warnings(&self, raised: usize) -> SqlResult<()> {
        match self.eval.is_strict_arithmetic() {
            true => self.eval.refuse_warnings(raised),
            false => Ok(()),
        }
    }

    /// Positions of rows that fail a CHECK: error 4025, under IGNORE a warning.
    fn failing(&self, columns: &[Arc<Column>], rows: usize) -> SqlResult<Vec<usize>> {
        let mut bad = Vec::new();
        if self.checks.is_empty() {
            return Ok(bad);
        }
        let batch = Batch::new(columns.to_vec(), rows);
        let raised = self.eval.raised();
        let truths = self.checks.iter().map(|(_, e)| e.eval(self.eval, &batch));
        let truths = truths.collect::<SqlResult<Vec<_>>>()?;
        self.refuse_warnings(raised)?;
        // Compat: a row of history need not satisfy a CHECK.
        let period = self.new.system_time();
        let last = period.map(|period| SystemTime::end_value(&self.new.columns[period.end].ty));
        let is_current = |row: usize| match (&period, &last) {
            (Some(period), Some(last)) => columns[period.end].value(row) == *last,
            _ => true,
        };
        for row in (0..rows).filter(|row| is_current(*row)) {
            let Some(at) = truths.iter().position(|truth| is_false(truth, row)) else { continue };
            let error = check_error(&self.checks[at].0, self.new);
            if !self.ignore {
                return Err(error);
            }
            self.eval.push(Condition::from_error(Level::Warning, &error));
            bad.push(row);
        }
        Ok(bad)
    }

    /// Error 4078, or a warning, for a column whose values cannot become those of its new type,
    /// even if there are no rows.
    fn refuse_types(&self) -> SqlResult<()> {
        for (column, source) in self.new.columns.iter().zip(self.sources) {
            let ColumnSource::Old(old) = source else { continue };
            let from = &self.old.columns[*old].ty;
            match refuse_assignment(from, &self.store_target(column)) {
                Err(_) if column.generated.is_some() => {}
                Err(error) if self.mode == StoreMode::Strict => return Err(error),
                Err(error) => self.eval.push(Condition::from_error(Level::Warning, &error)),
                Ok(()) => {}
            }
        }
        Ok(())
    }

    /// A column as the target of values of an old one.
    fn store_target<'c>(&'c self, column: &'c ColumnInfo) -> StoreTarget<'c> {
        StoreTarget {
            ty: &column.ty,
            schema: self.new.schema(),
            table: self.new.name(),
            column: &column.name,
            given: Given::Before,
        }
    }

    /// `values` of type `from` converted for `column`.
    fn stored(
        &self,
        column: &ColumnInfo,
        values: &Arc<Column>,
        from: &SqlType,
        given: Given,
    ) -> SqlResult<Arc<Column>> {
        let target = StoreTarget { given, ..self.store_target(column) };
        let first = self.read + 1;
        let stored = convert_for_column(values, from, &target, self.mode, first, self.eval);
        let cut = |kind| from.kind == kind && column.ty.kind == kind;
        let same = from.collation.charset() == column.ty.collation.charset();
        match given != Given::Computed && same && (cut(TypeKind::VarChar) || cut(TypeKind::Char)) {
            true => stored.map_err(truncated),
            false => stored,
        }
    }

    fn column(
        &self,
        at: usize,
        rows: &ByteRows,
        numbers: Option<&Arc<Column>>,
    ) -> SqlResult<Arc<Column>> {
        let column = &self.new.columns[at];
        match self.sources[at] {
            ColumnSource::Old(old) if column.system.is_bound() => self.converted(column, old, rows),
            ColumnSource::Default if column.system.is_bound() => {
                Ok(bound(self.eval, column, rows.len()))
            }
            _ if column.generated.is_some() => {
                let (physical, scale) = (column.ty.physical(), scale_of(&column.ty));
                Ok(Arc::new(Column::nulls(physical, scale, rows.len())))
            }
            ColumnSource::Old(old) => self.converted(column, old, rows),
            ColumnSource::Default
                if let Some(numbers) = numbers.filter(|_| column.auto_increment) =>
            {
                Ok(numbers.clone())
            }
            ColumnSource::Default => {
                let value = default_of_column(self.eval, column);
                let is_judged = value.is_none() && column.refuses_zero(self.eval.types.sql_mode);
                let value = value.unwrap_or_else(|| Value::zero_of(&column.ty));
                let (physical, scale) = (column.ty.physical(), scale_of(&column.ty));
                let values = Arc::new(Column::constant(&value, physical, scale, rows.len()));
                if !is_judged {
                    return Ok(values);
                }
                // Compat: a zero date that NO_ZERO_DATE refuses is an error in any mode.
                let target = StoreTarget { given: Given::Computed, ..self.store_target(column) };
                let (strict, first) = (StoreMode::Strict, self.read + 1);
                convert_for_column(&values, &column.ty, &target, strict, first, self.eval)
            }
        }
    }

    fn converted(
        &self,
        column: &ColumnInfo,
        old: usize,
        rows: &ByteRows,
    ) -> SqlResult<Arc<Column>> {
        let values = Arc::new(self.old.def.layout.decode(rows, old).map_err(corrupt)?);
        let from = &self.old.columns[old].ty;
        let values = match *from == column.ty {
            true if self.keeps_values => values,
            true => self.stored(column, &values, from, Given::Column)?,
            false => self.stored(column, &values, from, Given::Before)?,
        };
        self.without_nulls(column, values)
    }

    /// Whether the AUTO_INCREMENT column comes from the old table, so that its counter goes on and
    /// gives no number out again.
    fn goes_on(&self) -> bool {
        let mut columns = self.new.columns.iter().zip(self.sources);
        columns.any(|(c, source)| c.auto_increment && matches!(source, ColumnSource::Old(_)))
    }

    fn without_nulls(&self, column: &ColumnInfo, values: Arc<Column>) -> SqlResult<Arc<Column>> {
        if column.nullable || !values.has_nulls() {
            return Ok(values);
        }
        let zero = empty_value(&column.ty);
        let mut out = column_of(&column.ty, values.len());
        for row in 0..values.len() {
            match values.value(row) {
                Value::Null => {
                    let number = self.read + row as u64 + 1;
                    let error = SqlError::new(&WARN_DATA_TRUNCATED, &[&column.name, &number]);
                    if self.mode == StoreMode::Strict {
                        return Err(error);
                    }
                    self.eval.push(Condition::from_error(Level::Warning, &error));
                    out.push(&zero);
                }
                value => out.push(&value),
            }
        }
        Ok(Arc::new(out))
    }

    /// Numbers for a new AUTO_INCREMENT column; `None` if there is none. Rows of history have none
    /// if the column can be NULL.
    fn numbers(&self, rows: &ByteRows) -> SqlResult<Option<Arc<Column>>> {
        let is_new = |(column, source): &(&ColumnInfo, &ColumnSource)| {
            column.auto_increment && **source == ColumnSource::Default
        };
        let Some((column, _)) = self.new.columns.iter().zip(self.sources).find(is_new) else {
            return Ok(None);
        };
        let has_number = |row| match history::is_current(self.old, row)? {
            false if !column.nullable && self.new.system_time().is_some() => {
                Err(SqlError::new(&ER_UNSUPPORTED_EXTENSION, &[&self.old.name()]))
            }
            current => Ok(current || !column.nullable),
        };
        let numbered: Vec<bool> = rows.iter().map(has_number).collect::<Result<_, _>>()?;
        let count = numbered.iter().filter(|numbered| **numbered).count() as u64;
        let mut number = match count {
            0 => 0,
            _ => self
                .target
                .reserve_auto_increment(count, 1, 1)
                .map_err(|e| from_engine(e, &self.new.def))?,
        };
        let mut out = column_of(&column.ty, rows.len());
        for numbered in numbered {
            if !numbered {
                out.push(&Value::Null);
                continue;
            }
            out.push(&match column.ty.physical() {
                Physical::Int => Value::Int(number as i64),
                Physical::Double => Value::Double(number as f64),
                _ => Value::UInt(number),
            });
            number += 1;
        }
        Ok(Some(Arc::new(out)))
    }

    fn insert(
        &mut self,
        writer: &dyn selkie_engine::EngineTrx,
        control: &Control,
        rows: &ByteRows,
    ) -> SqlResult<()> {
        let total = rows.len() as u64;
        let mut rest = rows.clone();
        loop {
            match self.target.insert(writer, control, &rest) {
                Ok(_) => break,
                Err(EngineError::DuplicateKey { row, .. }) if self.ignore => {
                    self.done.duplicates += 1;
                    rest = tail(&rest, row + 1);
                }
                Err(EngineError::DuplicateKey { index, row, .. }) => {
                    let zone = &self.eval.types.time_zone;
                    return Err(duplicate_error(self.new, index, &rest, row, zone));
                }
                Err(error) => return Err(from_engine(error, &self.new.def)),
            }
        }
        self.done.records += total;
        Ok(())
    }
}

/// Compat: a string copied without conversion is reported as truncated, a converted one as too
/// long.
fn truncated(error: SqlError) -> SqlError {
    let place = error.message().strip_prefix("Data too long ");
    match place.map(|place| format!("Data truncated {place}")) {
        Some(text) => SqlError::with_message(&WARN_DATA_TRUNCATED, text),
        None => error,
    }
}

/// The rows from position `first` on.
fn tail(rows: &ByteRows, first: usize) -> ByteRows {
    let mut out = ByteRows::default();
    rows.iter().skip(first).for_each(|row| out.push(row));
    out
}

/// Error 1062 of an index build that found a duplicate; `existing` is the clustered key of one such
/// row.
pub(super) fn duplicate_in_table(
    instance: &Instance,
    control: &Control,
    (old, new): (&TableInfo, &TableInfo),
    index: usize,
    existing: &[u8],
) -> SqlResult<SqlError> {
    let source = instance.open_table(old)?;
    let (_engine, reader) = begin_in(instance, old)?;
    let mut keys = ByteRows::default();
    keys.push(existing);
    let mut set = RowSet::default();
    source
        .table
        .lookup(&*reader, control, &Scan::default(), &keys, &mut set)
        .map_err(|e| from_engine(e, &old.def))?;
    let zone = selkie_expr::TimeZone::utc();
    Ok(duplicate_error(new, index, &set.rows, 0, &zone))
}
