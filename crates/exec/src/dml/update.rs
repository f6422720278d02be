//! UPDATE of one or several tables: new values of a batch are computed a column at a time, or row
//! by row where triggers, side effects or conditions can tell.
//!
//! Must not meet a row again that it moved in the index it reads ([`moves_rows`]).

use std::sync::Arc;

use hashbrown::HashSet;
use selkie_catalog::TableInfo;
use selkie_engine::EngineError;
use selkie_expr::Expr;
use selkie_plan::physical::{Access, Operator as Op, PlanNode, Update as Plan, UpdateTarget};
use selkie_types::charset::identifier_eq;
use selkie_types::error::catalogue::{
    ER_BAD_NULL_ERROR, ER_DUP_ENTRY, ER_WARN_DATA_OUT_OF_RANGE, WARN_DATA_TRUNCATED,
};
use selkie_types::{Batch, Bitmap, ByteRows, Column, SqlMode, SqlResult, stack};

use super::duplicate_error;
use super::foreign::{ForeignKeys, Rows, is_foreign};
use super::keeps::{keeps_changes, reads_only_its_row};
use super::meanwhile::merged;
use super::on_duplicate::fetch;
use super::portion::Portion;
use super::row::{RowMaker, Strictness};
use super::undo::{Undo, undone_on_error};
use crate::op::{Operator, open as open_node, store};
use crate::run::scan::unpad;
use crate::run::stored_rows::StoredRows;
use crate::run::{Env, OpenTable};
use crate::state::around::{AssignedFrom, Triggers};
use crate::state::error::from_engine;
use crate::state::session::bump;
use crate::{Outcome, RowCounts, Told};

/// Keys of rows that were seen, where the source may give a row twice.
type Seen = Option<HashSet<Box<[u8]>>>;

struct Target<'r> {
    env: Env<'r>,
    plan: &'r UpdateTarget,
    open: &'r OpenTable<'r>,
    maker: RowMaker<'r>,
    simultaneous: bool,
    foreign: Option<ForeignKeys<'r>>,
    triggers: Option<Box<dyn Triggers + 'r>>,
    portion: Option<Portion<'r>>,
    seen: Seen,
    /// Rows may not be as they were read: another target before it changes the same table, or
    /// something else does.
    again: bool,
    /// Columns that triggers assigned to the batch, or to rows before it.
    assigned: AssignedFrom,
    matched: u64,
    changed: u64,
    /// Rows that IGNORE leaves as they are, because the table refuses them, count as changed.
    counts_refused: bool,
    /// Warnings give a row of a join its number. Compat: they do if a single table is read beside
    /// derived tables of one row; a nested loop begins anew with 1.
    is_numbered: bool,
}

pub(super) fn run(env: Env<'_>, plan: &Plan) -> SqlResult<Outcome> {
    let tables: Vec<&TableInfo> = plan.targets.iter().map(|t| &*t.table).collect();
    super::safe::check(env, &plan.source, &tables, (false, false))?;
    let joined = plan.targets.len() > 1 || has_join(&plan.source);
    let mut targets = Vec::new();
    for target in &plan.targets {
        let strictness = Strictness::of(env, plan.ignore, false);
        targets.push(Target {
            env,
            plan: target,
            open: env.rt.table(&target.table)?,
            maker: RowMaker {
                env,
                table: &target.table,
                strictness,
                pardons: true,
                view: target.view.as_deref(),
                told: Default::default(),
                file_columns: None,
                without_field: Default::default(),
            },
            simultaneous: plan.simultaneous,
            foreign: ForeignKeys::of(env, target.table.def.id)?,
            triggers: env.triggers(&target.table, "UPDATE")?,
            portion: { &target.portion }
                .as_ref()
                .map(|portion| Portion::new(env, portion))
                .transpose()?,
            seen: joined.then(HashSet::new),
            again: tables[..targets.len()].iter().any(|t| t.def.id == target.table.def.id),
            assigned: Vec::new(),
            matched: 0,
            changed: 0,
            counts_refused: joined && !is_changed_first(target, &plan.source),
            is_numbered: joined && reads_one_table(&plan.source),
        });
    }
    let strict = env.rt.session.is_strict() && !plan.ignore;
    let first = !joined && plan.finds_first;
    let is_stored = joined || first || plan.targets.iter().any(|t| may_meet_again(env, t, plan));
    let is_old = is_stored || is_materialized(&plan.source);
    targets.iter_mut().for_each(|target| target.again |= is_old && env.rt.is_live());
    env.eval.set_strict_arithmetic(strict && !first);
    env.eval.set_refuses_zero_dates(strict && joined);
    let mut source = open_node(env, &plan.source)?;
    let found = match first {
        true => find(env, plan, &mut *source)?,
        false if is_stored => Found::All(store(env, &mut *source)?),
        false => Found::First(None),
    };
    env.eval.set_strict_arithmetic(strict);
    match found {
        Found::All(rows) => {
            drop(source);
            env.rt.read.borrow_mut().clear();
            rows.each(|batch| update_all(&mut targets, batch))?;
        }
        Found::First(batch) => {
            batch.iter().try_for_each(|batch| update_all(&mut targets, batch))?;
            update_as_read(&mut *source, &mut targets)?;
        }
    }
    targets.iter().try_for_each(|target| target.maker.refuse_warnings(0))?;
    targets.iter_mut().flat_map(|target| &mut target.portion).for_each(Portion::finish);
    let outcome = outcome(env, &targets);
    // Compat: where no row can be, none is said to match.
    let nowhere = matches!(plan.source.operator, Op::Empty);
    Ok(if nowhere { Outcome { told: Told::Nothing, ..outcome } } else { outcome })
}

/// Rows to be changed.
enum Found {
    /// The first, if it was read; the source has the others.
    First(Option<Batch>),
    All(StoredRows),
}

/// Finds all rows; what their conditions warn of does not stop the statement.
fn find(env: Env<'_>, plan: &Plan, source: &mut dyn Operator) -> SqlResult<Found> {
    let mark = env.eval.conditions.borrow().mark();
    let found = match is_materialized(&plan.source) {
        true => Found::First(source.next()?),
        false => Found::All(store(env, source)?),
    };
    env.eval.conditions.borrow_mut().pardon_since(mark);
    Ok(found)
}

fn update_as_read(source: &mut dyn Operator, targets: &mut [Target<'_>]) -> SqlResult<()> {
    while let Some(batch) = source.next()? {
        update_all(targets, &batch)?;
    }
    Ok(())
}

fn update_all(targets: &mut [Target<'_>], batch: &Batch) -> SqlResult<()> {
    targets.iter_mut().try_for_each(|target| target.update(batch))
}

/// Compat: of several tables, only warnings about values that a column cannot hold are counted.
fn cut_values(env: Env<'_>) -> u64 {
    let conditions = env.eval.conditions.borrow();
    let is_cut = |code| {
        let cuts = [&ER_WARN_DATA_OUT_OF_RANGE, &WARN_DATA_TRUNCATED, &ER_BAD_NULL_ERROR];
        cuts.iter().any(|def| def.code == code)
    };
    let others = conditions.list().iter().filter(|condition| !is_cut(condition.code));
    conditions.count() - others.count() as u64
}

fn outcome(env: Env<'_>, targets: &[Target<'_>]) -> Outcome {
    let records: u64 = targets.iter().map(|t| t.matched).sum();
    let changed: u64 = targets.iter().map(|t| t.changed).sum();
    let warnings = match targets.iter().any(|target| target.seen.is_some()) {
        true => cut_values(env),
        false => env.eval.conditions.borrow().count(),
    };
    // Compat: a version counts as kept even if it had no duration, and none does of a table that
    // is versioned by transaction.
    let is_counted =
        |table: &TableInfo| table.system_time().is_some() && !table.is_versioned_by_transaction();
    let versions = targets.iter().filter(|t| !t.plan.rules.bounds.is_empty());
    let versions = versions.filter(|t| is_counted(&t.plan.table));
    let kept: u64 = versions.map(|t| t.changed).sum();
    let inserted: u64 =
        targets.iter().flat_map(|t| &t.portion).map(|portion| portion.inserted).sum();
    let counts = RowCounts { records, changed, kept, inserted, warnings, ..RowCounts::default() };
    // Compat: of several tables the rows of history are not told.
    let told = match targets {
        _ if targets.iter().any(|target| target.portion.is_some()) => Told::UpdatedAndInserted,
        [target] if is_counted(&target.plan.table) && target.seen.is_none() => {
            Told::UpdatedVersions
        }
        _ => Told::Updated,
    };
    let affected = if env.rt.session.frame.settings.dml.found_rows { records } else { changed };
    let insert_id = env.rt.session.explicit_insert_id.get().unwrap_or(0);
    Outcome { affected, counts, told, insert_id, ..Outcome::default() }
}

/// Whether a single table is read, beside derived tables of one row.
fn reads_one_table(source: &PlanNode) -> bool {
    let mut tables = 0;
    source.visit(&mut |node| {
        tables += u32::from(matches!(node.operator, Op::TableScan(_) | Op::IndexJoin(_)));
    });
    tables == 1
}

/// Whether a target is read first, alone, and by an index that the changes leave alone.
///
/// Compat: rows of such a table are changed as they are read. Those of others are changed at the
/// end, and count whether the table takes them or not.
fn is_changed_first(target: &UpdateTarget, source: &PlanNode) -> bool {
    let id = target.table.def.id;
    let mut times = 0;
    source.visit(&mut |node| {
        let read = match &node.operator {
            Op::TableScan(scan) => scan.table.def.id,
            Op::IndexJoin(join) => join.lookup.table.def.id,
            _ => return,
        };
        times += u32::from(read == id);
    });
    let first = read_first(source);
    let Op::TableScan(scan) = &first.operator else { return false };
    let changed = |column| is_changed(target, column);
    times == 1 && scan.table.def.id == id && !moves_rows(target, first, &changed)
}

/// The operator that gives the rows to which a join adds the others.
fn read_first(node: &PlanNode) -> &PlanNode {
    stack::ensure();
    match &node.operator {
        Op::Filter { input, .. } | Op::Project { input, .. } | Op::Materialize(input) => {
            read_first(input)
        }
        Op::Sort(sort) => read_first(&sort.input),
        Op::TopN(top) => read_first(&top.input),
        Op::Limit(limit) => read_first(&limit.input),
        Op::HashJoin(join) => read_first(&join.left),
        Op::IndexJoin(join) => read_first(&join.left),
        Op::NestedLoopJoin(join) => read_first(&join.left),
        _ => node,
    }
}

/// Whether rows of a target may come twice.
pub(super) fn has_join(node: &PlanNode) -> bool {
    stack::ensure();
    match &node.operator {
        Op::TableScan(_) | Op::OneRow | Op::Empty => false,
        Op::Filter { input, .. } | Op::Project { input, .. } | Op::Materialize(input) => {
            has_join(input)
        }
        Op::Sort(sort) => has_join(&sort.input),
        Op::TopN(top) => has_join(&top.input),
        Op::Limit(limit) => has_join(&limit.input),
        _ => true,
    }
}

/// Whether rows are all read before the first is changed.
fn is_materialized(node: &PlanNode) -> bool {
    stack::ensure();
    match &node.operator {
        Op::Materialize(_) => true,
        Op::Project { input, .. } | Op::Filter { input, .. } => is_materialized(input),
        Op::Limit(limit) => is_materialized(&limit.input),
        _ => false,
    }
}

/// Whether rows are sorted before they are changed.
pub(super) fn is_sorted(node: &PlanNode) -> bool {
    stack::ensure();
    match &node.operator {
        Op::Sort(_) | Op::TopN(_) => true,
        Op::Project { input, .. } | Op::Filter { input, .. } => is_sorted(input),
        Op::Limit(limit) => is_sorted(&limit.input),
        _ => false,
    }
}

/// Whether the rows of a target must be read before the first is changed.
fn may_meet_again(env: Env<'_>, target: &UpdateTarget, plan: &Plan) -> bool {
    let changed = |column| {
        let cascaded = || env.rt.is_live() && is_cascaded(&target.table, column);
        is_changed(target, column) || cascaded()
    };
    target.portion.is_some() || moves_rows(target, &plan.source, &changed)
}

/// Whether changes of some columns move rows in the index they are read by, so that the scan could
/// meet them again.
fn moves_rows(target: &UpdateTarget, source: &PlanNode, changed: &dyn Fn(usize) -> bool) -> bool {
    stack::ensure();
    let indexes = &target.table.def.indexes;
    let index = match &source.operator {
        Op::TableScan(scan) => match &scan.access {
            // The keys of a union are all known before the first row is given.
            Access::Full { .. } | Access::Union(_) | Access::Text(_) => target.table.def.primary(),
            Access::Index(access) => indexes.get(access.index),
        },
        Op::Filter { input, .. } | Op::Project { input, .. } => {
            return moves_rows(target, input, changed);
        }
        Op::Limit(limit) => return moves_rows(target, &limit.input, changed),
        // Sorts and materialisations read everything before they give rows.
        _ => return false,
    };
    let clustered = target.table.def.primary();
    let parts = index.into_iter().chain(clustered).flat_map(|i| &i.parts);
    parts.into_iter().any(|part| changed(part.column))
}

/// Whether the update itself changes a column.
fn is_changed(target: &UpdateTarget, column: usize) -> bool {
    let generated = || target.rules.generated.iter().any(|(at, _)| *at == column);
    let starts = target.table.columns[column].system.is_start();
    starts && target.rules.bounds.contains(&column)
        || target.assignments.iter().any(|a| a.column == column)
        || target.on_update_now.contains(&column)
        || generated()
}

/// Whether changes of other tables may change a column.
fn is_cascaded(table: &TableInfo, column: usize) -> bool {
    let name = &table.columns[column].name;
    let mut keys = table.foreign_keys.iter().filter(|key| !key.on_update.refuses());
    keys.any(|key| key.columns.iter().any(|own| identifier_eq(own, name)))
}

/// Whether a value assigned changes what later rows are given, as `@n := @n + 1` does.
fn has_side_effects(target: &UpdateTarget) -> bool {
    target.assignments.iter().filter_map(|a| a.value.as_ref()).any(Expr::has_side_effects)
}

impl Target<'_> {
    /// The rows of a batch to be updated: those with a key, each once.
    fn rows(&mut self, keys: &Column) -> Vec<u32> {
        let seen = &mut self.seen;
        let is_first = |row: &u32| {
            let row = *row as usize;
            !keys.is_null(row) && seen.as_mut().is_none_or(|s| s.insert(keys.bytes(row).into()))
        };
        (0..keys.len() as u32).filter(is_first).collect()
    }

    fn update(&mut self, batch: &Batch) -> SqlResult<()> {
        self.env.check()?;
        let rows = self.rows(batch.column(self.plan.key));
        if rows.is_empty() {
            return Ok(());
        }
        let gathered;
        let batch = if rows.len() == batch.rows() {
            batch
        } else {
            gathered = batch.gather(&rows);
            &gathered
        };
        if self.again {
            return self.change_again(batch);
        }
        let together = || {
            self.portion.is_none()
                && !self.env.rt.is_live()
                && self.takes_batches()
                && !has_side_effects(self.plan)
                && !self.keeps_rows()
        };
        if batch.rows() > 1 && together() {
            return self.change(batch, batch, None);
        }
        (0..batch.rows()).try_for_each(|row| self.change_one(batch, row))
    }

    /// Whether triggers cannot tell if rows are changed together (TRIGGER-1): an error ends the
    /// statement, which is rolled back, no rows of other tables change with them, nothing computed
    /// for a row reads what triggers change, and no row moves the counter of automatic values,
    /// which is not rolled back.
    fn takes_batches(&self) -> bool {
        let columns = &self.plan.table.columns;
        let is_fixed = |a: &selkie_plan::physical::Assignment| {
            !columns[a.column].auto_increment && a.value.as_ref().is_none_or(reads_only_its_row)
        };
        self.triggers.as_ref().is_none_or(|triggers| {
            triggers.take_batches()
                && !self.maker.strictness.ignore
                && !keeps_changes(&self.plan.table)
                && self.foreign.is_none()
                && self.plan.view.is_none()
                && self.plan.assignments.iter().all(is_fixed)
                && !triggers.assigned().iter().any(|at| columns[*at].auto_increment)
        })
    }

    /// Whether rows before one that fails a CHECK stay changed.
    fn keeps_rows(&self) -> bool {
        let judged = !self.plan.rules.checks.is_empty() || self.plan.view.is_some();
        judged && keeps_changes(&self.plan.table)
    }

    /// Updates rows that may have been changed meanwhile. Values are computed of what was read;
    /// what is not assigned, and what they are compared with, is as it is now.
    fn change_again(&mut self, batch: &Batch) -> SqlResult<()> {
        for row in 0..batch.rows() as u32 {
            let one = batch.gather(&[row]);
            let key = one.column(self.plan.key).clone();
            let Some(now) = fetch(self.env, self.open, key.bytes(0))? else { continue };
            let (mut read, mut current) = (one.columns().to_vec(), one.columns().to_vec());
            for (at, column) in now.into_iter().enumerate() {
                if self.plan.table.is_computed(at) {
                    continue;
                }
                // Compat: rows of a single table are read again before values are computed.
                let is_read_again = self.seen.is_none();
                if is_read_again || self.plan.assignments.iter().all(|a| a.column != at) {
                    read[self.plan.columns.start + at] = column.clone();
                }
                current[self.plan.columns.start + at] = column;
            }
            self.change(&Batch::new(read, 1), &Batch::new(current, 1), None)?;
        }
        Ok(())
    }

    /// Updates a row of a batch. Compat: warnings give it the number it has among the rows read.
    fn change_one(&mut self, batch: &Batch, row: usize) -> SqlResult<()> {
        let read = self.env.rt.read.borrow();
        let number = (read.len() == batch.rows()).then(|| read[row]);
        drop(read);
        match batch.rows() {
            1 => self.change(batch, batch, number),
            _ => {
                let one = batch.gather(&[row as u32]);
                self.change(&one, &one, number)
            }
        }
    }

    /// Updates rows from what they are now; one, if triggers or values with side effects can tell.
    /// They are computed a column at a time, unless something is wrong with one: conditions come
    /// row by row, and so do triggers then.
    fn change(&mut self, batch: &Batch, current: &Batch, number: Option<u64>) -> SqlResult<()> {
        self.maker.refuse_warnings(0)?;
        let attempt = self.env.eval.attempt();
        let first_row = match self.seen {
            Some(_) if self.is_numbered => self.matched + 1,
            Some(_) => 1,
            None => number.unwrap_or(self.matched + 1),
        };
        self.env.eval.set_row(first_row);
        if self.portion.is_some() {
            return self.change_portion(batch, current, first_row);
        }
        let new = self.assign(batch, first_row);
        if batch.rows() > 1 && (new.is_err() || attempt.has_raised(self.env.eval)) {
            self.env.eval.undo(&attempt);
            return (0..batch.rows()).try_for_each(|row| self.change_one(batch, row));
        }
        let before = (self.matched, self.changed);
        let assigned = self.assigned.clone();
        self.matched += batch.rows() as u64;
        let mut new = new?;
        self.maker.refuse_warnings(0)?;
        let stored = self.unpadded(current, &mut new);
        let current = stored.as_ref().unwrap_or(current);
        let undo = match &self.triggers {
            Some(_) if batch.rows() > 1 => Undo::begin(self.open)?,
            _ => Undo::none(),
        };
        let result = self.change_to(current, &mut new, first_row);
        if undo.applies(&result) || undo.is_possible() && attempt.has_raised(self.env.eval) {
            undo.run(self.open)?;
            (self.matched, self.changed) = before;
            self.assigned = assigned;
            self.env.eval.undo(&attempt);
            return (0..batch.rows()).try_for_each(|row| self.change_one(batch, row));
        }
        let passed = result?;
        let old = &current.columns()[self.plan.columns.clone()];
        match &self.triggers {
            // Compat: a row that is a duplicate, or has no parent, is changed to them all the same.
            Some(triggers) if passed => {
                let rows: Vec<u32> = (0..batch.rows() as u32).collect();
                triggers.after(old, &new, &rows).map_err(|failed| failed.error)
            }
            _ => Ok(()),
        }
    }

    /// Updates a row within a portion, of what it is there, and inserts the rest of it.
    fn change_portion(&mut self, row: &Batch, current: &Batch, number: u64) -> SqlResult<()> {
        let Some(mut portion) = self.portion.take() else { return Ok(()) };
        let before = (self.matched, self.changed);
        let changed = portion.whole(|portion| {
            let cut = portion.cut(row)?;
            let mut columns = row.columns().to_vec();
            portion.apply(&cut, &mut columns[self.plan.columns.clone()]);
            let mut new = self.assign(&Batch::new(columns, 1), number)?;
            self.matched += 1;
            self.maker.refuse_warnings(0)?;
            let stored = self.unpadded(current, &mut new);
            let current = stored.as_ref().unwrap_or(current);
            let changed = self.changed;
            let passed = self.change_to(current, &mut new, number)?;
            let old = &current.columns()[self.plan.columns.clone()];
            if self.changed > changed {
                portion.insert_rest(old, &cut)?;
            }
            match &self.triggers {
                Some(triggers) if passed => triggers.after_one(old, &new),
                _ => Ok(()),
            }
        });
        self.portion = Some(portion);
        if changed?.is_none() {
            (self.matched, self.changed) = (before.0 + 1, before.1);
        }
        Ok(())
    }

    /// Runs the BEFORE triggers and stores the rows; whether all of them passed the checks.
    fn change_to(
        &mut self,
        current: &Batch,
        new: &mut [Arc<Column>],
        first_row: u64,
    ) -> SqlResult<bool> {
        if let Some(triggers) = &self.triggers {
            if self.plan.rules.seen_by_triggers {
                self.maker.generate(&self.plan.rules, new, current.rows(), first_row)?;
            }
            let old = &current.columns()[self.plan.columns.clone()];
            let assigned = triggers.before(old, new, current.rows())?;
            self.assigned.iter_mut().for_each(|(_, row)| *row = 0);
            // The first one found of a column counts.
            self.assigned.extend(assigned);
            for (at, column) in new.iter_mut().enumerate() {
                *column = self.maker.refuse_nulls(at, column.clone())?;
            }
        }
        match self.env.rt.is_live() {
            true => self.write_live(current, new, first_row),
            false => self.write(current, new, first_row),
        }
    }

    /// Stores a row that its triggers and functions may have changed or deleted.
    fn write_live(
        &mut self,
        current: &Batch,
        new: &mut [Arc<Column>],
        first_row: u64,
    ) -> SqlResult<bool> {
        let key = current.column(self.plan.key).clone();
        let Some(now) = fetch(self.env, self.open, key.bytes(0))? else { return Ok(false) };
        let mut columns = current.columns().to_vec();
        let old = &mut columns[self.plan.columns.clone()];
        merged(&self.plan.table, (old, &mut *new), &now);
        self.write(&Batch::new(columns, 1), new, first_row)
    }

    /// The rows as they are stored, if they were read with the spaces of CHAR; new values are made
    /// so too.
    fn unpadded(&self, current: &Batch, new: &mut [Arc<Column>]) -> Option<Batch> {
        let mode = self.env.eval.types.sql_mode;
        if !mode.contains(SqlMode::PAD_CHAR_TO_FULL_LENGTH) {
            return None;
        }
        unpad(&self.plan.table, new);
        let mut columns = current.columns().to_vec();
        unpad(&self.plan.table, &mut columns[self.plan.columns.clone()]);
        Some(Batch::new(columns, current.rows()))
    }

    /// The new values of the table's columns, before automatic ones.
    fn assign(&self, batch: &Batch, first_row: u64) -> SqlResult<Vec<Arc<Column>>> {
        let mut columns = batch.columns().to_vec();
        let start = self.plan.columns.start;
        for (position, assignment) in self.plan.assignments.iter().enumerate() {
            let at = assignment.column;
            if self.plan.table.columns[at].generated.is_some() {
                // The column is computed anew anyway; DEFAULT says so itself.
                if let Some(e) = &assignment.value {
                    let given = e.eval(self.env.eval, batch)?;
                    self.maker.judge_generated(at, &given)?;
                }
                continue;
            }
            let values = match &assignment.value {
                // Compat: an automatic column gets 0.
                None if self.plan.table.columns[at].auto_increment => {
                    self.maker.initial(at, batch.rows())
                }
                None => self.maker.updated_default(at, batch.rows(), first_row)?,
                // A column set to itself keeps what the SQL mode would refuse.
                Some(e) if e.as_column() == Some(start + at) => columns[start + at].clone(),
                Some(e) => {
                    let current;
                    // The first assignment reads no assigned value.
                    let input = if self.simultaneous || position == 0 {
                        batch
                    } else {
                        current = Batch::new(columns.clone(), batch.rows());
                        &current
                    };
                    let values = e.eval(self.env.eval, input)?;
                    self.maker.convert(at, &values, e, first_row)?
                }
            };
            columns[start + at] = match self.triggers {
                Some(_) => values,
                None => self.maker.refuse_nulls(at, values)?,
            };
        }
        Ok(columns[self.plan.columns.clone()].to_vec())
    }

    /// Stores new versions; whether all of them pass what the table and the view check.
    fn write(&mut self, batch: &Batch, new: &mut [Arc<Column>], first_row: u64) -> SqlResult<bool> {
        let old = &batch.columns()[self.plan.columns.clone()];
        let keys = batch.column(self.plan.key);
        let rows = keys.len();
        self.maker.generate(&self.plan.rules, new, rows, first_row)?;
        let mut changed = self.changed_rows(old, new, rows);
        if changed.count_ones() == 0 {
            return Ok(true);
        }
        let mut passed = true;
        if !self.plan.on_update_now.is_empty() {
            for &at in &self.plan.on_update_now {
                self.maker.set_to_now(at, new, &self.assigned);
            }
            self.maker.generate(&self.plan.rules, new, rows, first_row)?;
        }
        for kept in
            [self.check_view(batch, new, &changed)?, self.maker.check(&self.plan.rules, new, rows)?]
        {
            let Some(kept) = kept else { continue };
            let kept: Bitmap = (0..rows as u32).map(|row| kept.contains(&row)).collect();
            passed &= kept.count_ones() == rows;
            // Compat: rows that fail a CHECK do not count as matched, but those of a join.
            if self.seen.is_none() {
                self.matched -= (rows - kept.count_ones()) as u64;
            }
            changed = changed.and(&kept);
        }
        let (mut at, mut bytes) = (ByteRows::default(), ByteRows::default());
        for row in changed.iter_ones() {
            at.push(keys.bytes(row));
            self.maker.encode(new, row..row + 1, &mut bytes);
        }
        match self.foreign {
            Some(foreign) => {
                let rows = changed.positions();
                let gather = |columns: &[Arc<Column>]| {
                    columns.iter().map(|c| Arc::new(c.gather(&rows))).collect::<Vec<_>>()
                };
                self.store_related(foreign, &at, (gather(old), gather(new)), bytes)?;
            }
            None => self.store(at, bytes)?,
        }
        Ok(passed)
    }

    /// The rows the view lets pass with their new values, those that do not change included.
    fn check_view(
        &self,
        batch: &Batch,
        new: &[Arc<Column>],
        changed: &Bitmap,
    ) -> SqlResult<Option<Vec<u32>>> {
        if self.plan.view.is_none() {
            return Ok(None);
        }
        let mut columns = batch.columns().to_vec();
        columns.splice(self.plan.columns.clone(), new.iter().cloned());
        let numbers = changed.positions();
        let rows = Batch::new(columns, batch.rows()).gather(&numbers);
        let Some(kept) = self.maker.check_view(&rows)? else { return Ok(None) };
        let kept: Vec<u32> = kept.iter().map(|&at| numbers[at as usize]).collect();
        let stays = |row: &u32| kept.contains(row) || !numbers.contains(row);
        Ok(Some((0..batch.rows() as u32).filter(stays).collect()))
    }

    /// Stores rows with foreign keys. Compat: UPDATE IGNORE says nothing of rows that cannot be
    /// updated.
    fn store_related(
        &mut self,
        foreign: ForeignKeys<'_>,
        at: &ByteRows,
        (old, new): (Vec<Arc<Column>>, Vec<Arc<Column>>),
        bytes: ByteRows,
    ) -> SqlResult<()> {
        if !self.maker.strictness.ignore {
            let changed = foreign.update(&Rows { keys: at, columns: &old }, &new, bytes)?;
            self.note(changed);
            return Ok(());
        }
        for row in 0..at.len() {
            let one = |rows: &ByteRows| {
                let mut out = ByteRows::with_capacity(1);
                out.push(rows.get(row));
                out
            };
            let gather = |columns: &[Arc<Column>]| {
                columns.iter().map(|c| Arc::new(c.gather(&[row as u32]))).collect::<Vec<_>>()
            };
            let (key, old, new, bytes) = (one(at), gather(&old), gather(&new), one(&bytes));
            let before = Rows { keys: &key, columns: &old };
            match undone_on_error(self.open, || foreign.update(&before, &new, bytes)) {
                Ok(changed) => self.note(changed),
                Err(error) if is_foreign(&error) || error.code() == ER_DUP_ENTRY.code => {
                    self.note_refused();
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn changed_rows(&self, old: &[Arc<Column>], new: &[Arc<Column>], rows: usize) -> Bitmap {
        let (mut before, mut after) = (ByteRows::default(), ByteRows::default());
        self.maker.encode(old, 0..rows, &mut before);
        self.maker.encode(new, 0..rows, &mut after);
        (0..rows).map(|row| before.get(row) != after.get(row)).collect()
    }

    fn store(&mut self, mut at: ByteRows, mut rows: ByteRows) -> SqlResult<()> {
        while !at.is_empty() {
            let done = match self.open.update(self.env.rt.control, &at, &rows) {
                Ok(changed) => {
                    self.note(changed);
                    return Ok(());
                }
                Err(EngineError::DuplicateKey { index, row, .. }) => {
                    let zone = &self.env.eval.types.time_zone;
                    let error = duplicate_error(&self.plan.table, index, &rows, row, zone);
                    if !self.maker.strictness.ignore {
                        return Err(error);
                    }
                    // Compat: UPDATE IGNORE says nothing of duplicates.
                    row
                }
                Err(EngineError::Misplaced { row, error }) => {
                    if !self.maker.strictness.ignore {
                        return Err(*error);
                    }
                    // Compat: nor of rows that no partition holds.
                    row
                }
                Err(error) => return Err(from_engine(error, &self.plan.table.def)),
            };
            self.note(done as u64);
            self.note_refused();
            at = tail(&at, done + 1);
            rows = tail(&rows, done + 1);
        }
        Ok(())
    }

    /// A row stays as it is, because the table refuses the new one.
    fn note_refused(&mut self) {
        self.changed += u64::from(self.counts_refused);
    }

    fn note(&mut self, changed: u64) {
        self.changed += changed;
        bump(&self.env.counters().handler_update, changed);
    }
}

fn tail(rows: &ByteRows, from: usize) -> ByteRows {
    let mut out = ByteRows::with_capacity(rows.len().saturating_sub(from));
    (from..rows.len()).for_each(|row| out.push(rows.get(row)));
    out
}
