//! `FOR PORTION OF`: a row is cut to a portion of time, and what it had before and after that
//! becomes rows of their own.
//!
//! Must not leave a row cut without its rest: callers undo both if one fails.

use std::sync::Arc;

use selkie_engine::EngineError;
use selkie_expr::Expr;
use selkie_plan::physical::Portion as Plan;
use selkie_types::error::catalogue::{ER_DUP_ENTRY, ER_GET_ERRNO};
use selkie_types::{Batch, ByteRows, Column, SqlError, SqlResult, Value};

use super::auto_increment::{Advance, AutoIncrement, is_exhausted};
use super::foreign::{ForeignKeys, Rows, is_foreign};
use super::insert::Inserter;
use super::keeps::keeps_changes;
use super::row::{RowMaker, Strictness, is_false};
use super::{duplicate_error, undo};
use crate::run::{Env, OpenTable};
use crate::state::around::Triggers;
use crate::state::columns::column_of;
use crate::state::error::from_engine;
use crate::state::session::bump;

/// The parts of one row that a portion cuts off.
pub(super) struct Cut {
    /// The start of the portion, if the row begins before it.
    start: Option<Arc<Column>>,
    /// The end of the portion, if the row ends after it.
    end: Option<Arc<Column>>,
}

impl Cut {
    fn is_nothing(&self) -> bool {
        self.start.is_none() && self.end.is_none()
    }
}

/// Cuts rows of one table, and inserts what is cut off.
pub(super) struct Portion<'r> {
    env: Env<'r>,
    plan: &'r Plan,
    open: &'r OpenTable<'r>,
    maker: RowMaker<'r>,
    inserter: Inserter<'r>,
    auto: Option<AutoIncrement<'r>>,
    triggers: Option<Box<dyn Triggers + 'r>>,
    foreign: Option<ForeignKeys<'r>>,
    /// Rows inserted.
    pub(super) inserted: u64,
}

impl<'r> Portion<'r> {
    pub(super) fn new(env: Env<'r>, plan: &'r Plan) -> SqlResult<Self> {
        let table = &plan.insert.table;
        let open = env.rt.table(table)?;
        let maker = RowMaker {
            env,
            table,
            strictness: Strictness::of(env, false, false),
            pardons: true,
            view: None,
            told: Default::default(),
            file_columns: None,
            without_field: Default::default(),
        };
        let auto = table.def.auto_increment.filter(|_| plan.renumbers);
        Ok(Self {
            env,
            plan,
            open,
            maker,
            inserter: Inserter::new(env, &plan.insert)?,
            auto: auto.map(|at| AutoIncrement::new(env, open, at, None, Advance::None)),
            triggers: env.triggers(table, "INSERT")?,
            foreign: ForeignKeys::of(env, table.def.id)?,
            inserted: 0,
        })
    }

    /// The parts cut off the only row of `source`.
    pub(super) fn cut(&self, source: &Batch) -> SqlResult<Cut> {
        let side = |cuts: &Expr, limit: &Expr, column: usize| {
            let cuts = cuts.eval(self.env.eval, source)?;
            if cuts.is_null(0) || is_false(&cuts, 0) {
                return Ok(None);
            }
            self.limit(limit, column, source).map(Some)
        };
        let Plan { start, end, from, to, cuts_start, cuts_end, .. } = self.plan;
        Ok(Cut { start: side(cuts_start, from, *start)?, end: side(cuts_end, to, *end)? })
    }

    /// A limit of the portion as a column of the period stores it.
    ///
    /// Compat: a limit that loses its time of day is an error.
    fn limit(&self, limit: &Expr, column: usize, source: &Batch) -> SqlResult<Arc<Column>> {
        let value = limit.eval(self.env.eval, source)?;
        let raised = self.maker.raised();
        let stored = self.maker.convert(column, &value, &limit.ty, self.env.eval.row())?;
        let stored = self.maker.refuse_nulls(column, stored)?;
        match self.maker.raised() > raised {
            true => {
                let engine = self.plan.insert.table.engine.name;
                Err(SqlError::new(&ER_GET_ERRNO, &[&3, &engine]))
            }
            false => Ok(stored),
        }
    }

    /// Sets the period in a row's columns to what is left of it in the portion.
    pub(super) fn apply(&self, cut: &Cut, columns: &mut [Arc<Column>]) {
        for (at, value) in [(self.plan.start, &cut.start), (self.plan.end, &cut.end)] {
            if let Some(value) = value {
                columns[at] = value.clone();
            }
        }
    }

    /// Inserts what is cut off the row `old`.
    pub(super) fn insert_rest(&mut self, old: &[Arc<Column>], cut: &Cut) -> SqlResult<()> {
        let Plan { start, end, .. } = *self.plan;
        self.insert_part(old, end, cut.start.as_ref())?;
        self.insert_part(old, start, cut.end.as_ref())
    }

    /// Inserts the row `old` with another value of the column at a position, if there is one.
    fn insert_part(
        &mut self,
        old: &[Arc<Column>],
        at: usize,
        value: Option<&Arc<Column>>,
    ) -> SqlResult<()> {
        let Some(value) = value else { return Ok(()) };
        let mut columns = old.to_vec();
        columns[at] = value.clone();
        self.renumber(&mut columns)?;
        let added = self.inserter.add(&Batch::new(columns, 1), &mut |_| Ok(()));
        // Compat: InnoDB keeps a value that was given out in vain.
        if added.is_err()
            && keeps_changes(&self.plan.insert.table)
            && let Some(auto) = &mut self.auto
        {
            auto.take_back_from(0);
        }
        added?;
        self.inserted += 1;
        Ok(())
    }

    /// Compat: the automatic value is there before the BEFORE triggers run.
    fn renumber(&mut self, columns: &mut [Arc<Column>]) -> SqlResult<()> {
        let Some(auto) = &mut self.auto else { return Ok(()) };
        let column = &self.plan.insert.table.columns[auto.column];
        let mut asked = column_of(&column.ty, 1);
        asked.push(&match column.nullable {
            true => Value::zero_of(&column.ty),
            false => Value::Null,
        });
        columns[auto.column] = Arc::new(asked);
        columns[auto.column] = auto.fill(columns, &(0..1))?;
        Ok(())
    }

    /// Whether a row of which a part stays is changed to that part.
    ///
    /// Compat: engines that roll back do so, unless there are BEFORE INSERT triggers or the row
    /// becomes one of history.
    pub(super) fn keeps_row(&self, cut: &Cut) -> bool {
        let table = &self.plan.insert.table;
        let has_before = self.triggers.as_ref().is_some_and(|triggers| triggers.has_before());
        let is_changed = !has_before && !keeps_changes(table) && table.system_time().is_none();
        !cut.is_nothing() && is_changed
    }

    /// Changes the row with a clustered key, `old`, to one part of what is cut off it, and inserts
    /// the other. False if there is no such row any more.
    pub(super) fn keep_part(
        &mut self,
        key: &ByteRows,
        old: &[Arc<Column>],
        cut: &Cut,
    ) -> SqlResult<bool> {
        let Plan { start, end, .. } = *self.plan;
        let rules = &self.plan.insert.rules;
        let mut new = old.to_vec();
        match (&cut.start, &cut.end) {
            (Some(from), _) => new[end] = from.clone(),
            (None, Some(to)) => new[start] = to.clone(),
            (None, None) => {}
        }
        self.renumber(&mut new)?;
        self.maker.generate(rules, &mut new, 1, 1)?;
        self.maker.check(rules, &new, 1)?;
        let mut row = ByteRows::with_capacity(1);
        self.maker.encode(&new, 0..1, &mut row);
        if self.change(key, old, &new, row)? == 0 {
            return Ok(false);
        }
        bump(&self.env.counters().handler_update, 1);
        if let Some(triggers) = &self.triggers {
            triggers.after_one(&[], &new)?;
        }
        if cut.start.is_some() {
            self.insert_part(old, start, cut.end.as_ref())?;
        }
        Ok(true)
    }

    fn change(
        &self,
        key: &ByteRows,
        old: &[Arc<Column>],
        new: &[Arc<Column>],
        row: ByteRows,
    ) -> SqlResult<u64> {
        if let Some(foreign) = &self.foreign {
            return foreign.update(&Rows { keys: key, columns: old }, new, row);
        }
        let table = &self.plan.insert.table;
        match self.open.update(self.env.rt.control, key, &row) {
            Ok(changed) => Ok(changed),
            Err(EngineError::DuplicateKey { index, .. }) => {
                let zone = &self.env.eval.types.time_zone;
                Err(duplicate_error(table, index, &row, 0, zone))
            }
            Err(EngineError::Misplaced { error, .. }) => Err(*error),
            Err(error) => Err(from_engine(error, &table.def)),
        }
    }

    /// Runs `change` of a row and its rest. Under IGNORE a row that cannot be changed with its rest
    /// stays as it is, with a warning: `None`.
    pub(super) fn whole<T>(
        &mut self,
        change: impl FnOnce(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<Option<T>> {
        if !self.plan.ignore {
            return change(self).map(Some);
        }
        let (open, inserted) = (self.open, self.inserted);
        let is_of_row = |error: &SqlError| {
            error.is(&ER_DUP_ENTRY)
                || error.is(&selkie_types::error::catalogue::ER_CONSTRAINT_FAILED)
                || is_foreign(error)
                || is_exhausted(error)
        };
        match undo::undone_on_error(open, || change(self)) {
            Ok(done) => Ok(Some(done)),
            Err(error) if is_of_row(&error) => {
                self.inserted = inserted;
                let warning =
                    selkie_types::Condition::from_error(selkie_types::Level::Warning, &error);
                self.env.eval.push(warning);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// The statement is done.
    pub(super) fn finish(&mut self) {
        if let Some(auto) = &mut self.auto {
            auto.take_back_rest();
        }
    }
}
