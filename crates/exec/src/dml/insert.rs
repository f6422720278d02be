//! INSERT and REPLACE: batches of source rows become rows of the table, a column at a time, or one
//! row at a time where conditions, triggers or numbers can tell the order.
//!
//! Must give the same result both ways: a batch in which something is wrong is undone and taken row
//! by row.

mod columns;
mod outcome;
mod replace;
mod together;
mod triggered;

use std::ops::Range;
use std::sync::Arc;

use selkie_catalog::SequenceDef;
use selkie_engine::{EngineError, LockMode, RowSet, Scan};
use selkie_plan::physical::{Insert as Plan, InsertMode, InsertValue, Operator as Op};
use selkie_types::{
    Batch, ByteRows, Column, Condition, Level, SqlError, SqlMode, SqlResult, Value,
};

use self::outcome::Updates;
use self::replace::Fate;
use super::auto_increment::{Advance, AutoIncrement, is_exhausted};
use super::foreign::ForeignKeys;
use super::keeps::{has_ordered_defaults, keeps_changes, returns_reads};
use super::on_duplicate::{Failed, OnDuplicate};
use super::row::{RowMaker, Strictness, WithoutField};
use super::undo::undone_on_error;
use super::{Returning, duplicate_error};
use crate::Outcome;
use crate::op::{Operator, open_limited};
use crate::run::{Env, OpenTable};
use crate::state::around::Triggers;
use crate::state::bulk::ParameterRows;
use crate::state::error::{from_engine, from_engine_commit};
use crate::state::session::bump;

/// Rows tried at a time after a duplicate was met; grows again while there are none.
const AFTER_DUPLICATE: usize = 8;

/// Inserts batches of source rows.
pub(crate) struct Inserter<'r> {
    env: Env<'r>,
    plan: &'r Plan,
    open: &'r OpenTable<'r>,
    maker: RowMaker<'r>,
    auto: Option<AutoIncrement<'r>>,
    on_duplicate: Option<OnDuplicate<'r>>,
    foreign: Option<ForeignKeys<'r>>,
    triggers: Option<Box<dyn Triggers + 'r>>,
    delete_triggers: Option<Box<dyn Triggers + 'r>>,
    /// REPLACE may write over a row.
    in_place: bool,
    /// Each row is stored, with its triggers, before the values of the next are computed.
    one_by_one: bool,
    /// Columns that BEFORE triggers give values to; they need no default if the statement lists its
    /// rows.
    assigned: Vec<usize>,
    /// The statement lists its rows.
    lists_values: bool,
    /// First generated value of a row that was stored.
    first_stored: Option<u64>,
    /// Source rows taken.
    pub(crate) records: u64,
    /// Of those, rows left out because of a CHECK.
    pub(crate) rejected: u64,
    /// Rows changed as the client counts them.
    pub(crate) affected: u64,
    /// A value that does not fit is an error in the first row only.
    soft_after_first: bool,
    /// The order in which given values are converted, if it is not the table's.
    order: Vec<(usize, usize)>,
    /// The number among the rows being stored of the one that failed, if that is known.
    failing: usize,
    /// Rows in the way of others.
    duplicates: u64,
    /// Rows not stored because of one in their way.
    skipped: u64,
    /// Rows that ON DUPLICATE KEY UPDATE changed, with the counts of them.
    updates: Updates,
    /// Rows deleted by REPLACE.
    pub(crate) deleted: u64,
}

/// The rows of one batch, ready to be stored.
struct NewRows<'b> {
    source: &'b Batch,
    columns: Vec<Arc<Column>>,
    rows: ByteRows,
}

pub(super) fn run(env: Env<'_>, plan: &Plan, returning: Returning<'_>) -> SqlResult<Outcome> {
    if let Some(rows) = env.rt.bulk.and_then(ParameterRows::columns) {
        return together::run(env, plan, rows);
    }
    let mut source = open_limited(env, &plan.source)?;
    let mut inserter = Inserter::new(env, plan)?;
    match inserter.add_all(&mut *source, returning) {
        Ok(()) => Ok(inserter.finish()),
        Err(error) => {
            inserter.keep_first_value();
            Err(error)
        }
    }
}

/// Whether the statement gives one row of values.
pub(super) fn is_single_row(env: Env<'_>, plan: &Plan) -> bool {
    match &plan.source.operator {
        Op::Values(rows) => rows.len() == 1,
        Op::BulkValues(bulk) => {
            let rows = env.rt.bulk.and_then(ParameterRows::listed);
            bulk.height == 1 && rows.is_some_and(|bulk| bulk.rows.len() == 1)
        }
        Op::OneRow => true,
        Op::Project { input, .. } => matches!(input.operator, Op::OneRow),
        _ => false,
    }
}

impl<'r> Inserter<'r> {
    /// For the target and rules of `plan`; its source is the caller's to read.
    pub(crate) fn new(env: Env<'r>, plan: &'r Plan) -> SqlResult<Self> {
        let open = env.rt.table(&plan.table)?;
        let ignore = plan.mode == InsertMode::Ignore;
        let single_row = !plan.is_query && is_single_row(env, plan);
        let strictness = Strictness::of(env, ignore, single_row);
        env.eval.set_strict_arithmetic(strictness.is_strict());
        env.eval.set_refuses_zero_dates(strictness.is_strict());
        let maker = RowMaker {
            env,
            table: &plan.table,
            strictness,
            pardons: false,
            view: plan.view.as_deref(),
            told: Default::default(),
            file_columns: None,
            without_field: Default::default(),
        };
        let auto = plan.table.def.auto_increment.map(|at| {
            AutoIncrement::new(env, open, at, known_rows(env, plan), Advance::of(&plan.table))
        });
        let foreign = ForeignKeys::of(env, plan.table.def.id)?;
        let on_duplicate =
            plan.on_duplicate.as_ref().map(|rule| OnDuplicate::new(env, plan, rule, open, foreign));
        let on_duplicate = on_duplicate.transpose()?;
        let triggers = env.triggers(&plan.table, "INSERT")?;
        let delete_triggers = match plan.mode {
            InsertMode::Replace => env.triggers(&plan.table, "DELETE")?,
            _ => None,
        };
        let mut inserter = Self {
            env,
            plan,
            open,
            maker,
            auto,
            on_duplicate,
            foreign,
            assigned: triggers.as_ref().map(|triggers| triggers.assigned()).unwrap_or_default(),
            lists_values: !plan.is_query,
            triggers,
            delete_triggers,
            in_place: false,
            one_by_one: false,
            first_stored: None,
            records: 0,
            rejected: 0,
            affected: 0,
            soft_after_first: softens(env, &plan.table),
            order: columns::order_of(&plan.values),
            failing: usize::MAX,
            duplicates: 0,
            skipped: 0,
            updates: Updates::default(),
            deleted: 0,
        };
        inserter.in_place = inserter.replaces_in_place();
        inserter.one_by_one = inserter.stores_one_by_one();
        Ok(inserter)
    }

    /// For rows of a file, whose fields go to `columns`.
    pub(crate) fn of_file(env: Env<'r>, plan: &'r Plan, columns: Vec<usize>) -> SqlResult<Self> {
        let mut inserter = Self::new(env, plan)?;
        let ignore = plan.mode == InsertMode::Ignore;
        inserter.maker.strictness = Strictness::of(env, ignore, false);
        // Compat: what triggers leave as NULL is an error as in any INSERT.
        let columns = if inserter.has_before_triggers() { Vec::new() } else { columns };
        inserter.maker.file_columns = Some(columns);
        inserter.lists_values = false;
        inserter.one_by_one |= inserter.triggers.is_some();
        inserter.refuse_missing()?;
        Ok(inserter)
    }

    /// Inserts all rows of the statement's source.
    fn add_all(&mut self, source: &mut dyn Operator, returning: Returning<'_>) -> SqlResult<()> {
        self.refuse_missing()?;
        while let Some(batch) = source.next()? {
            self.env.check()?;
            self.add(&batch, returning)?;
        }
        self.maker.refuse_warnings(0)
    }

    /// Error or warning 1364 for a column that has no value, before any value is computed.
    ///
    /// Compat: BEFORE triggers may still give values to the rows a statement lists, so those rows
    /// are judged after their triggers have run.
    fn refuse_missing(&self) -> SqlResult<()> {
        if self.has_before_triggers() && self.lists_values {
            return Ok(());
        }
        for (at, value) in self.plan.values.iter().enumerate() {
            let missing = matches!(value, InsertValue::Default)
                && !(self.lists_values && self.assigned.contains(&at))
                && !self.is_set_on_duplicate(at)
                && (!self.has_before_triggers() || self.has_no_default(at));
            if missing {
                self.maker.default_value(at)?;
            }
        }
        Ok(())
    }

    /// Inserts a row of a file that has no field for `columns`.
    pub(crate) fn add_short(&mut self, source: &Batch, short: WithoutField) -> SqlResult<()> {
        self.maker.without_field = short;
        let added = self.add(source, &mut |_| Ok(()));
        self.maker.without_field.columns.clear();
        added
    }

    /// Inserts one row for each of `source`.
    pub(crate) fn add(&mut self, source: &Batch, returning: Returning<'_>) -> SqlResult<()> {
        self.failing = usize::MAX;
        let added = self.add_rows(source, returning);
        if added.is_err()
            && let Some(auto) = &mut self.auto
        {
            auto.take_back_from(self.failing);
        }
        added
    }

    /// Values are converted a column at a time, unless something is wrong with one: conditions
    /// come row by row.
    fn add_rows(&mut self, source: &Batch, returning: Returning<'_>) -> SqlResult<()> {
        if self.affected > 0 && self.soft_after_first {
            self.maker.strictness = Strictness::after_rows(self.maker.strictness);
            self.env.eval.set_strict_arithmetic(false);
        }
        self.maker.refuse_warnings(0)?;
        let attempt = self.env.eval.attempt();
        if source.rows() > 1 && self.one_by_one {
            return self.add_one_by_one(source, returning);
        }
        let first_row = self.records + 1;
        self.env.eval.set_row(first_row);
        let told = self.maker.told.borrow().len();
        let columns = self.columns(source, first_row);
        if source.rows() > 1 && (columns.is_err() || attempt.has_raised(self.env.eval)) {
            self.env.eval.undo(&attempt);
            self.maker.told.borrow_mut().truncate(told);
            return self.add_one_by_one(source, returning);
        }
        self.records += source.rows() as u64;
        let mut columns = columns?;
        self.maker.refuse_warnings(0)?;
        let passing = self
            .run_before(&mut columns, source.rows())
            .and_then(|()| self.passing(&columns, source.rows(), first_row));
        let unsure = || {
            self.has_before_triggers() && attempt.has_raised(self.env.eval)
                || !self.numbers_suffice(&columns)
        };
        if source.rows() > 1 && (passing.is_err() || unsure()) {
            // Rows before the one that fails take automatic values, and may be duplicates.
            self.records -= source.rows() as u64;
            self.env.eval.undo(&attempt);
            self.maker.told.borrow_mut().truncate(told);
            return self.add_one_by_one(source, returning);
        }
        let passing = passing?;
        match passing {
            None => self.add_checked(source, columns, first_row, returning),
            Some(rows) => {
                self.rejected += (source.rows() - rows.len()) as u64;
                let columns = columns.iter().map(|c| Arc::new(c.gather(&rows))).collect();
                self.add_checked(&source.gather(&rows), columns, first_row, returning)
            }
        }
    }

    fn stores_one_by_one(&self) -> bool {
        !self.plan.own.is_empty()
            || self.triggers.as_ref().is_some_and(|triggers| !self.takes_batches(&**triggers))
            || self.renumbers()
            || has_ordered_defaults(self.plan)
            || self.keeps_rows_before_a_check()
            || returns_reads(&self.plan.returning)
    }

    /// Whether a row that is not stored leaves its automatic value to the next one.
    fn renumbers(&self) -> bool {
        self.auto.is_some() && (self.plan.mode == InsertMode::Ignore || self.on_duplicate.is_some())
    }

    /// Whether rows before one that fails a CHECK, of the table or a view, or whose computed
    /// columns cannot be computed, are stored and stay.
    fn keeps_rows_before_a_check(&self) -> bool {
        let rules = &self.plan.rules;
        let judged =
            !rules.checks.is_empty() || !rules.generated.is_empty() || self.plan.view.is_some();
        judged && keeps_changes(&self.plan.table)
    }

    fn add_one_by_one(&mut self, source: &Batch, returning: Returning<'_>) -> SqlResult<()> {
        for row in 0..source.rows() as u32 {
            self.add(&source.gather(&[row]), returning)?;
        }
        Ok(())
    }

    /// The rows that pass the view's check and all CHECKs, `None` if all do. No CHECK depends on an
    /// automatic value, and a row that fails takes none.
    fn passing(
        &self,
        columns: &[Arc<Column>],
        rows: usize,
        first_row: u64,
    ) -> SqlResult<Option<Vec<u32>>> {
        let by_view = self.plan.view.as_ref().is_some_and(|view| view.condition.is_some());
        if self.plan.rules.checks.is_empty() && !by_view {
            return Ok(None);
        }
        let mut columns = columns.to_vec();
        self.maker.generate(&self.plan.rules, &mut columns, rows, first_row)?;
        let seen = if by_view { self.passing_view(&columns, rows)? } else { None };
        let Some(seen) = seen else {
            return self.maker.check(&self.plan.rules, &columns, rows);
        };
        let columns: Vec<_> = columns.iter().map(|c| Arc::new(c.gather(&seen))).collect();
        let kept = self.maker.check(&self.plan.rules, &columns, seen.len())?;
        Ok(Some(match kept {
            Some(kept) => kept.iter().map(|&at| seen[at as usize]).collect(),
            None => seen,
        }))
    }

    /// Compat: the view sees 0 in place of a value that is not generated yet.
    fn passing_view(&self, columns: &[Arc<Column>], rows: usize) -> SqlResult<Option<Vec<u32>>> {
        let mut columns = columns.to_vec();
        if let Some(auto) = &self.auto
            && columns[auto.column].has_nulls()
        {
            columns[auto.column] = self.with_zeros(auto.column, &columns[auto.column]);
        }
        self.maker.check_view(&Batch::new(columns, rows))
    }

    /// Inserts rows that pass all CHECKs.
    fn add_checked(
        &mut self,
        source: &Batch,
        columns: Vec<Arc<Column>>,
        first_row: u64,
        returning: Returning<'_>,
    ) -> SqlResult<()> {
        let Some(auto) = &self.auto else {
            let all = 0..source.rows();
            return self.add_part(source, columns, all, first_row, returning);
        };
        let at = auto.column;
        let asked = columns[at].clone();
        for part in auto.parts(&asked) {
            let mut columns = columns.clone();
            let skipped = self.skipped;
            if let Some(auto) = &mut self.auto {
                match auto.fill(&columns, &part) {
                    Ok(filled) => columns[at] = filled,
                    Err(e) if self.plan.mode == InsertMode::Ignore && is_exhausted(&e) => {
                        self.env.eval.push(Condition::from_error(Level::Warning, &e));
                        self.skipped += part.len() as u64;
                        continue;
                    }
                    Err(e) => return Err(e),
                }
            }
            self.add_part(source, columns, part, first_row, returning)?;
            if let Some(auto) = &mut self.auto
                && self.skipped > skipped
                && asked.len() == 1
            {
                auto.give_back(&asked);
            }
            if let Some(auto) = &mut self.auto {
                auto.pass_updated();
            }
        }
        Ok(())
    }

    fn add_part(
        &mut self,
        source: &Batch,
        mut columns: Vec<Arc<Column>>,
        part: Range<usize>,
        first_row: u64,
        returning: Returning<'_>,
    ) -> SqlResult<()> {
        let count = source.rows();
        self.maker.generate(&self.plan.rules, &mut columns, count, first_row)?;
        if part == (0..count) {
            return self.store(source, columns, returning);
        }
        let numbers: Vec<u32> = (part.start as u32..part.end as u32).collect();
        let columns = columns.iter().map(|c| Arc::new(c.gather(&numbers))).collect();
        self.store(&source.gather(&numbers), columns, returning)
    }

    fn store(
        &mut self,
        source: &Batch,
        columns: Vec<Arc<Column>>,
        returning: Returning<'_>,
    ) -> SqlResult<()> {
        if self.plan.table.is_sequence() {
            return self.store_sequence(&columns, source.rows());
        }
        let mut rows = ByteRows::with_capacity(source.rows());
        self.maker.encode(&columns, 0..source.rows(), &mut rows);
        let new = NewRows { source, columns, rows };
        let count = new.rows.len();
        let mut stored = Vec::new();
        let auto = self.auto.as_ref().filter(|_| self.triggers.is_some());
        let counter = auto.and_then(AutoIncrement::counter_before);
        let result = match self.foreign {
            None => self.store_part(&new, 0..count, &mut stored),
            // Whether a row has a parent depends on what became of the rows before it.
            // A row that makes way may take parents with it, by cascades and programs.
            Some(foreign)
                if !self.is_plain() && (foreign.may_lose_parents() || self.runs_programs()) =>
            {
                (0..count).try_for_each(|row| {
                    self.store_children(foreign, &new, row..row + 1, &mut stored)
                })
            }
            Some(foreign) => self.store_children(foreign, &new, 0..count, &mut stored),
        };
        // The triggers of rows before one that fails have run.
        self.run_after(&new, &stored, counter)?;
        result?;
        self.give_back(&new, &stored, returning)
    }

    fn runs_programs(&self) -> bool {
        let plan = self.env.rt.plan;
        !plan.changes.triggers.is_empty() || plan.calls_functions()
    }

    /// A row inserted into a sequence takes the place of the one it has.
    fn store_sequence(&mut self, columns: &[Arc<Column>], rows: usize) -> SqlResult<()> {
        let (rt, table) = (self.env.rt, &self.plan.table);
        for row in 0..rows {
            let values: Vec<Value> = columns.iter().map(|c| c.value(row)).collect();
            let def = SequenceDef::from_row(&values);
            let (instance, session) = (rt.instance, rt.session);
            crate::run::sequence::replace_row(instance, session, rt.control, table, def)?;
            self.affected += 1;
        }
        Ok(())
    }

    /// Whether a duplicate ends the statement.
    fn is_plain(&self) -> bool {
        self.plan.mode == InsertMode::Insert && self.on_duplicate.is_none()
    }

    /// Stores rows with foreign keys: those without a parent by themselves.
    fn store_children(
        &mut self,
        foreign: ForeignKeys<'_>,
        new: &NewRows<'_>,
        part: Range<usize>,
        stored: &mut Vec<u32>,
    ) -> SqlResult<()> {
        let mut at = part.start;
        for (row, link) in foreign.orphans(&new.columns, part.clone())? {
            self.store_part(new, at..row, stored)?;
            self.try_orphan(new, row, &ForeignKeys::orphan_error(link), stored)?;
            at = row + 1;
        }
        self.store_part(new, at..part.end, stored)
    }

    /// A row without a parent fails with `error`, unless a duplicate comes first and it need not be
    /// stored.
    fn try_orphan(
        &mut self,
        new: &NewRows<'_>,
        row: usize,
        error: &SqlError,
        stored: &mut Vec<u32>,
    ) -> SqlResult<()> {
        let mut one = ByteRows::with_capacity(1);
        one.push(new.rows.get(row));
        self.failing = row;
        loop {
            let (table, control) = (&self.open.handle.table, self.env.rt.control);
            let mark = self.open.trx.savepoint().map_err(from_engine_commit)?;
            let counter = self.counter_before();
            let tried = table.insert(self.open.trx, control, &one);
            self.forget_explicit(new, row..row + 1, counter);
            match tried {
                Ok(_) => {
                    self.open.trx.rollback_to(mark).map_err(from_engine_commit)?;
                    if self.plan.mode != InsertMode::Ignore {
                        return Err(error.clone());
                    }
                    self.skipped += 1;
                    self.warn(error);
                    return Ok(());
                }
                Err(EngineError::DuplicateKey { index, existing, .. }) => {
                    let fate = self.conflict(new, row, index, &existing)?;
                    self.env.check()?;
                    match fate {
                        Fate::Again => {}
                        Fate::LeftOut => return Ok(()),
                        Fate::Stored => {
                            stored.push(row as u32);
                            return Ok(());
                        }
                    }
                }
                Err(error) => return Err(from_engine(error, &self.plan.table.def)),
            }
        }
    }

    /// Stores rows one after the other, minding duplicates.
    fn store_part(
        &mut self,
        new: &NewRows<'_>,
        part: Range<usize>,
        stored: &mut Vec<u32>,
    ) -> SqlResult<()> {
        let (mut at, mut step) = (part.start, usize::MAX);
        while at < part.end {
            let to = at.saturating_add(step).min(part.end);
            let (done, fate) = self.try_rows(new, at, to, stored)?;
            let Some(fate) = fate else {
                at = to;
                step = step.saturating_mul(2);
                continue;
            };
            step = AFTER_DUPLICATE;
            self.env.check()?;
            if fate == Fate::Stored {
                stored.push(done as u32);
            }
            at = if fate == Fate::Again { done } else { done + 1 };
        }
        Ok(())
    }

    /// Whether a row in the way is to be changed or deleted.
    fn takes_over(&self) -> bool {
        self.on_duplicate.is_some() || self.plan.mode == InsertMode::Replace
    }

    /// Locks what is in the way of `row`. False if it has gone meanwhile.
    ///
    /// Compat: what made an insert fail stays locked until the transaction ends: a row found by its
    /// primary key, or the entry of another unique key; exclusively if the row is to be replaced or
    /// updated.
    fn holds_duplicate(&self, row: &[u8], index: usize, existing: &[u8]) -> SqlResult<bool> {
        let takes_over = self.takes_over();
        let (table, control) = (&self.open.handle.table, self.env.rt.control);
        // A row that overlaps another one need not have the same key.
        let overlaps = table.def().indexes.get(index).is_some_and(|index| index.without_overlaps);
        let secondary = (index > 0 || table.def().primary().is_none()) && !overlaps;
        if !self.env.rt.session.in_transaction() || (takes_over && !secondary) {
            return Ok(true);
        }
        let lock = if takes_over { LockMode::Exclusive } else { LockMode::Shared };
        let mut keys = ByteRows::with_capacity(1);
        let mut scan = Scan { lock, ..Scan::default() };
        if secondary {
            (scan.index, scan.covering) = (Some(index), true);
            let codec = &self.open.handle.codecs[index];
            codec
                .key_of_row(&table.def().layout, row, keys.buffer())
                .map_err(|e| from_engine(e, table.def()))?;
            keys.end_row();
        } else {
            keys.push(existing);
        }
        let mut set = RowSet::default();
        table
            .lookup(self.open.trx, control, &scan, &keys, &mut set)
            .map_err(|e| from_engine(e, &self.plan.table.def))?;
        Ok(!set.rows.is_empty() || !set.entries.is_empty())
    }

    /// Stores rows `from..to` and adds those that were to `stored`; the first that was not because
    /// of a duplicate and what is to become of it, or `to`.
    fn try_rows(
        &mut self,
        new: &NewRows<'_>,
        from: usize,
        to: usize,
        stored: &mut Vec<u32>,
    ) -> SqlResult<(usize, Option<Fate>)> {
        let part;
        let rows = if from == 0 && to == new.rows.len() {
            &new.rows
        } else {
            let mut some = ByteRows::with_capacity(to - from);
            (from..to).for_each(|row| some.push(new.rows.get(row)));
            part = some;
            &part
        };
        let counter = self.counter_before();
        let (done, failed) = match self.open.insert(self.env.rt.control, rows) {
            Ok(_) => (to, None),
            Err(EngineError::DuplicateKey { index, row, existing }) => {
                self.forget_explicit(new, from..from + row + 1, counter);
                if !self.holds_duplicate(rows.get(row), index, &existing)? {
                    self.count_stored(new, from..from + row);
                    stored.extend(from as u32..(from + row) as u32);
                    return self.try_rows(new, from + row, to, stored);
                }
                (from + row, Some((index, existing)))
            }
            Err(EngineError::Misplaced { row, error }) => {
                self.count_stored(new, from..from + row);
                stored.extend(from as u32..(from + row) as u32);
                self.failing = from + row;
                return self.leave_out(*error).map(|fate| (from + row, Some(fate)));
            }
            Err(error) => return Err(from_engine(error, &self.plan.table.def)),
        };
        self.count_stored(new, from..done);
        stored.extend(from as u32..done as u32);
        self.failing = done;
        let fate = match failed {
            Some((index, existing)) => Some(self.conflict(new, done, index, &existing)?),
            None => None,
        };
        Ok((done, fate))
    }

    /// A row that cannot be stored is left out by IGNORE.
    fn leave_out(&mut self, error: SqlError) -> SqlResult<Fate> {
        if !self.maker.strictness.ignore {
            return Err(error);
        }
        self.skipped += 1;
        self.warn(&error);
        Ok(Fate::LeftOut)
    }

    /// The automatic values' counter, if explicit values of rows that are not stored leave it as it
    /// was.
    ///
    /// Compat: InnoDB passes those of a query's rows whatever becomes of them.
    fn counter_before(&self) -> Option<u64> {
        self.auto.as_ref().filter(|_| !self.passes_explicit())?.counter_before()
    }

    fn passes_explicit(&self) -> bool {
        self.plan.is_query && !keeps_changes(&self.plan.table)
    }

    /// The last of `rows` was not stored; the counter was at `counter` before them.
    fn forget_explicit(&self, new: &NewRows<'_>, rows: Range<usize>, counter: Option<u64>) {
        if let Some(auto) = &self.auto {
            let failed = rows.end - 1;
            let column = &new.columns[auto.column];
            auto.forget_explicit(column, rows.start..failed, failed..rows.end, counter);
        }
    }

    fn count_stored(&mut self, new: &NewRows<'_>, rows: Range<usize>) {
        let count = rows.len() as u64;
        self.note_last(new, &rows);
        self.note_stored(new, rows);
        self.affected += count;
        bump(&self.env.counters().handler_write, count);
    }

    /// Keeps the first generated value among rows that were stored.
    fn note_stored(&mut self, new: &NewRows<'_>, rows: Range<usize>) {
        let Some(auto) = self.auto.as_ref().filter(|_| self.first_stored.is_none()) else { return };
        let mut generated = rows.filter(|row| auto.is_generated(*row));
        self.first_stored = generated.find_map(|row| match new.columns[auto.column].value(row) {
            // A value was used up for it.
            Value::Null => auto.first,
            Value::Int(v) => u64::try_from(v).ok(),
            Value::UInt(v) => Some(v),
            Value::Double(v) => Some(v as u64),
            _ => None,
        });
    }

    /// Makes way for a row, replaces it by an update, or leaves it out.
    fn conflict(
        &mut self,
        new: &NewRows<'_>,
        row: usize,
        index: usize,
        existing: &[u8],
    ) -> SqlResult<Fate> {
        if self.takes_over() && !self.is_in_the_way(new.rows.get(row), index, existing)? {
            return Ok(Fate::Again);
        }
        if self.plan.mode == InsertMode::Replace {
            let fate = self.replace(new, row, index, existing)?;
            self.check_parents_left(new, row, fate)?;
            return Ok(fate);
        }
        let zone = &self.env.eval.types.time_zone;
        let error = || duplicate_error(&self.plan.table, index, &new.rows, row, zone);
        if let Some(rule) = &self.on_duplicate {
            let source = new.source.slice(row, row + 1);
            let columns: Vec<_> =
                new.columns.iter().map(|c| Arc::new(c.gather(&[row as u32]))).collect();
            let update = || rule.update(&self.maker, existing, columns, &source);
            // A refused update must not stay in part: of it, and of what its triggers and cascades
            // did.
            let updated = match self.maker.strictness.ignore {
                true => undone_on_error(self.open, update),
                false => update(),
            };
            match updated {
                Ok(Some(updated)) => self.note_updated(row, updated),
                Ok(None) => return Ok(Fate::Again),
                Err(Failed::Row(error)) if self.maker.strictness.ignore => self.warn(&error),
                Err(Failed::Row(error) | Failed::Statement(error)) => return Err(error),
            }
            self.skipped += 1;
            return Ok(Fate::LeftOut);
        }
        self.skipped += 1;
        if self.plan.mode == InsertMode::Insert {
            return Err(error());
        }
        self.warn(&error());
        Ok(Fate::LeftOut)
    }

    /// Fails if a parent of the new row went with the row in the way, by cascades or triggers.
    fn check_parents_left(&self, new: &NewRows<'_>, row: usize, fate: Fate) -> SqlResult<()> {
        let may_go = |foreign: &ForeignKeys<'_>| {
            fate == Fate::Again && (foreign.has_children() || self.delete_triggers.is_some())
        };
        let Some(foreign) = self.foreign.filter(may_go) else { return Ok(()) };
        match foreign.orphans(&new.columns, row..row + 1)?.first() {
            Some((_, link)) => Err(ForeignKeys::orphan_error(link)),
            None => Ok(()),
        }
    }

    fn warn(&self, error: &SqlError) {
        self.env.eval.push(Condition::from_error(Level::Warning, error));
    }

    /// Rows left out because of duplicates.
    pub(crate) fn skipped(&self) -> u64 {
        self.skipped
    }
}

/// Compat: STRICT_TRANS_TABLES lets a statement go on that has changed a table it cannot roll back.
pub(super) fn softens(env: Env<'_>, table: &selkie_catalog::TableInfo) -> bool {
    let all =
        env.rt.session.frame.settings.expressions.sql_mode.contains(SqlMode::STRICT_ALL_TABLES);
    !all && keeps_changes(table)
}

/// Rows that the statement lists. Compat: of a bulk only those of a row of parameters are known.
fn known_rows(env: Env<'_>, plan: &Plan) -> Option<u64> {
    if let Some(rows) = env.rt.bulk.and_then(ParameterRows::columns) {
        return Some(rows.rows() as u64);
    }
    match &plan.source.operator {
        Op::Values(rows) if !plan.is_query => Some(rows.len() as u64),
        Op::BulkValues(bulk) => Some(bulk.height as u64),
        _ if is_single_row(env, plan) => Some(1),
        _ => None,
    }
}
