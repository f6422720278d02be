//! Aggregate functions that are stored programs, run when all rows of a group are known.
//!
//! The program begins with the arguments of the first row; its first FETCH GROUP NEXT ROW changes
//! nothing, each further one takes a row. Compat: a program that returns while there are rows left
//! begins again with the next one, and the last result counts. One that has returned when there are
//! none left begins once more behind the last row, where its second FETCH ends it.

use selkie_expr::{GroupOfRows, StoredCall};
use selkie_types::error::catalogue::{ER_SP_FETCH_NO_DATA, ER_SP_NORETURNEND};
use selkie_types::{SqlError, SqlResult, Value};

use super::call::within;
use super::frame::Given;
use super::function::{Called, raise, typed};
use super::machine::{Flow, Machine};
use crate::query::execution::Execution;
use crate::state::around::Around;
use crate::state::programs::Compiled;

/// A place among the rows of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// The program has begun with a row that it has not fetched yet.
    Begun,
    /// It has fetched a row.
    Within,
    /// It has begun behind the last row.
    BegunBehind,
    /// It has fetched what is behind the last row.
    Behind,
    /// It waits behind the last row, with no result.
    Waiting,
    /// It was told that there are no more rows.
    Told,
}

/// The rows of a group while its program runs.
pub(super) struct GroupRows {
    rows: std::vec::IntoIter<Vec<Given>>,
    behind: Vec<Given>,
    place: Place,
}

impl GroupRows {
    /// The arguments that the program begins with.
    fn begin(&mut self) -> Vec<Given> {
        match self.rows.next() {
            Some(row) => {
                self.place = Place::Begun;
                row
            }
            None => {
                self.place = Place::BegunBehind;
                self.behind.clone()
            }
        }
    }
}

/// The result of an aggregate function for the rows of a group.
pub(super) fn call_aggregate(
    around: Around<'_>,
    call: &StoredCall,
    group: GroupOfRows,
) -> SqlResult<Value> {
    let called = Called::of(around.session, &around.instance.catalog.snapshot(), call)?;
    let given = |args| typed(call, args).into_iter().map(Given::from).collect();
    let rows: Vec<Vec<Given>> = group.rows.into_iter().map(given).collect();
    let mut rows = Some(GroupRows {
        rows: rows.into_iter(),
        behind: given(group.behind),
        place: Place::Begun,
    });
    around.session.end_random(around.eval);
    called.run(around, call, |execution, program| {
        let mut result = Value::Null;
        while let Some(mut group) = rows.take() {
            let given = group.begin();
            let (value, group) = run_once(execution, program, (&given, group), around)?;
            if let Some(value) = value {
                result = value;
            }
            if matches!(group.place, Place::Begun | Place::Within) {
                rows = Some(group);
            }
        }
        Ok(result)
    })
}

/// Runs the program up to its RETURN, or up to where it waits for ever.
fn run_once(
    execution: &mut Execution<'_>,
    program: &Compiled,
    (given, group): (&[Given], GroupRows),
    around: Around<'_>,
) -> SqlResult<(Option<Value>, GroupRows)> {
    within(execution, program, (given, 1), |execution, frame| {
        raise(execution.session, around.eval);
        let mut machine = Machine::new(execution.nested(), program, frame);
        machine.group = Some(group);
        machine.run()?;
        let value = machine.result.take().map(|(value, _)| value);
        match machine.group.take() {
            Some(group) if value.is_some() || group.place == Place::Waiting => Ok((value, group)),
            _ => Err(SqlError::new(&ER_SP_NORETURNEND, &[&machine.own_name()])),
        }
    })
}

impl Machine<'_> {
    /// `FETCH GROUP NEXT ROW`.
    pub(super) fn fetch_group(&mut self) -> SqlResult<Flow> {
        let Some(group) = &mut self.group else {
            return Err(SqlError::internal("rows of a group outside of an aggregate function"));
        };
        let row = match group.place {
            Place::Begun | Place::BegunBehind => {
                let is_first = group.place == Place::Begun;
                group.place = if is_first { Place::Within } else { Place::Behind };
                return Ok(Flow::Next);
            }
            Place::Behind => {
                group.place = Place::Waiting;
                return Ok(Flow::Return);
            }
            Place::Waiting | Place::Told => return Ok(Flow::Return),
            Place::Within => group.rows.next().unwrap_or_else(|| {
                group.place = Place::Told;
                group.behind.clone()
            }),
        };
        let is_over = group.place == Place::Told;
        for (at, value) in row.into_iter().enumerate() {
            self.frame.give(self.session, at, value, 1)?;
        }
        match is_over {
            true => Err(SqlError::new(&ER_SP_FETCH_NO_DATA, &[])),
            false => Ok(Flow::Next),
        }
    }
}
