//! Cursors: OPEN reads all rows, FETCH hands them out.
//!
//! Rows are a copy: later changes of the tables are not seen, as in MariaDB.

use selkie_plan::physical::OutputColumn;
use selkie_sql::ast::{AtEnd, CursorState, Local, Step, Term};
use selkie_types::error::catalogue::{
    ER_SP_CURSOR_ALREADY_OPEN, ER_SP_CURSOR_NOT_OPEN, ER_SP_FETCH_NO_DATA,
    ER_SP_WRONG_NO_OF_FETCH_ARGS,
};
use selkie_types::{Batch, SqlError, SqlResult, SqlType, Value};

use super::frame::{Given, empty_row};
use super::machine::{Flow, Machine};
use crate::ResultSink;
use crate::query::running::Running;
use crate::state::programs::{Scalar, Slot};

/// The rows of an open cursor.
#[derive(Default)]
pub(super) struct Rows {
    columns: Vec<(Box<str>, SqlType)>,
    batches: Vec<Batch>,
    /// Batch and row to be fetched next.
    next: (usize, usize),
    /// Number of rows fetched.
    fetched: i64,
    /// Whether the last FETCH had a row; `None` before the first.
    found: Option<bool>,
}

impl ResultSink for Rows {
    fn columns(&mut self, columns: &[OutputColumn]) -> SqlResult<()> {
        self.columns = columns.iter().map(|c| ((&*c.name).into(), c.ty.clone())).collect();
        Ok(())
    }

    fn batch(&mut self, batch: &Batch) -> SqlResult<()> {
        self.batches.push(batch.clone());
        Ok(())
    }

    fn counts_empty(&self) -> bool {
        false
    }
}

impl Rows {
    /// The next row.
    fn fetch(&mut self) -> Option<Vec<(Value, SqlType)>> {
        let row = self.next_row();
        self.found = Some(row.is_some());
        self.fetched += i64::from(row.is_some());
        row
    }

    fn next_row(&mut self) -> Option<Vec<(Value, SqlType)>> {
        while self.batches.get(self.next.0)?.rows() <= self.next.1 {
            self.next = (self.next.0 + 1, 0);
        }
        let (batch, row) = (&self.batches[self.next.0], self.next.1);
        self.next.1 += 1;
        let values = self.columns.iter().enumerate();
        Some(values.map(|(at, (_, ty))| (batch.value(at, row), ty.clone())).collect())
    }

    /// A row without values.
    pub(super) fn empty_row(&self) -> SqlResult<Vec<Scalar>> {
        empty_row(self.columns.iter().map(|(name, ty)| (&**name, ty)))
    }
}

impl<'p> Machine<'p> {
    /// Gives the parameters of a cursor their values. Compat: each is a step of its own; the next
    /// one follows one that was handled. Where another handler leads to.
    pub(super) fn pass_to_cursor(
        &mut self,
        cursor: usize,
        arguments: &[Term],
    ) -> SqlResult<Option<Flow>> {
        let parameters = &self.program.body.cursors[cursor].parameters;
        for (parameter, argument) in parameters.iter().zip(arguments) {
            let passed = self.guarded(|machine| {
                let value = machine.given(&argument.expr, &argument.locals)?;
                machine.declare_one(*parameter)?;
                machine.give(&Local::Variable(*parameter), value)
            })?;
            if let Err(flow) = passed
                && flow != Flow::Next
            {
                return Ok(Some(flow));
            }
        }
        Ok(None)
    }

    /// OPEN with its parameters.
    pub(super) fn open_step(
        &mut self,
        cursor: usize,
        arguments: &[Term],
        step: &'p Step,
    ) -> SqlResult<Flow> {
        match self.pass_to_cursor(cursor, arguments)? {
            Some(flow) => Ok(flow),
            None => self.plain_step(step),
        }
    }

    pub(super) fn open_cursor(&mut self, cursor: usize) -> SqlResult<()> {
        if self.frame.cursors[cursor].is_some() {
            return Err(SqlError::new(&ER_SP_CURSOR_ALREADY_OPEN, &[]));
        }
        let program = self.program;
        let declared = &program.body.cursors[cursor];
        let values = self.values(&declared.query.locals)?;
        let prepared = program.prepared(&declared.query);
        let running = Running { prepared: Some(&prepared), ..program.running(&values) };
        let mut rows = Rows::default();
        self.at = declared.query.span;
        // Compat: OPEN leaves ROW_COUNT() as it is.
        let row_count = self.session.values.row_count.get();
        self.execution(running).with_sink(&mut rows).execute(&declared.query.statement)?;
        self.session.values.row_count.set(row_count);
        self.frame.cursors[cursor] = Some(rows);
        Ok(())
    }

    pub(super) fn fetch(&mut self, cursor: usize, into: &[Local]) -> SqlResult<()> {
        let Some(rows) = &mut self.frame.cursors[cursor] else {
            return Err(SqlError::new(&ER_SP_CURSOR_NOT_OPEN, &[]));
        };
        let width = rows.columns.len();
        if let [Local::Variable(at)] = into
            && let Slot::Row(fields) = &self.frame.slots[*at]
        {
            if fields.len() != width {
                return Err(SqlError::new(&ER_SP_WRONG_NO_OF_FETCH_ARGS, &[]));
            }
        } else if into.len() != width {
            return Err(SqlError::new(&ER_SP_WRONG_NO_OF_FETCH_ARGS, &[]));
        }
        let Some(values) = rows.fetch() else {
            return Err(SqlError::new(&ER_SP_FETCH_NO_DATA, &[]));
        };
        if let [Local::Variable(at)] = into
            && matches!(self.frame.slots[*at], Slot::Row(_))
        {
            self.message_row = 1;
            let assigned = self.assign_row(*at, values);
            self.message_row = 0;
            return assigned;
        }
        self.message_row = 1;
        let mut pairs = into.iter().zip(values);
        let assigned =
            pairs.try_for_each(|(target, value)| self.give(target, Given::Scalar(value)));
        self.message_row = 0;
        assigned
    }

    /// FETCH, which may pass over the end without a condition.
    pub(super) fn fetch_or_note(
        &mut self,
        cursor: usize,
        into: &[Local],
        at_end: AtEnd,
    ) -> SqlResult<()> {
        match self.fetch(cursor, into) {
            Err(error) if at_end == AtEnd::Note && error.is(&ER_SP_FETCH_NO_DATA) => Ok(()),
            result => result,
        }
    }

    /// The state of a cursor. Fails (1326) for all but `%ISOPEN` if it is not open.
    pub(super) fn cursor_state(
        &self,
        cursor: usize,
        state: CursorState,
    ) -> SqlResult<(Value, SqlType)> {
        let rows = self.frame.cursors[cursor].as_ref();
        if state == CursorState::IsOpen {
            return Ok((Value::Int(rows.is_some().into()), SqlType::int()));
        }
        let rows = rows.ok_or_else(|| SqlError::new(&ER_SP_CURSOR_NOT_OPEN, &[]))?;
        let truth = |found: Option<bool>| found.map_or(Value::Null, |is| Value::Int(is.into()));
        Ok(match state {
            CursorState::RowCount => (Value::Int(rows.fetched), SqlType::bigint()),
            CursorState::NotFound => (truth(rows.found.map(|is| !is)), SqlType::int()),
            _ => (truth(rows.found), SqlType::int()),
        })
    }

    pub(super) fn close_cursor(&mut self, cursor: usize) -> SqlResult<()> {
        match self.frame.cursors[cursor].take() {
            Some(_) => Ok(()),
            None => Err(SqlError::new(&ER_SP_CURSOR_NOT_OPEN, &[])),
        }
    }
}
