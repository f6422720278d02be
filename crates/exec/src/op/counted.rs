//! Counts the work of an operator from outside: openings, rows given, time. Scans and lookups count
//! by themselves the rows that they read.
//!
//! Only operators of a counted statement are wrapped; each batch costs it one more call.

use std::sync::Arc;
use std::time::Instant;

use selkie_plan::physical::PlanNode;
use selkie_types::{Batch, SqlResult};

use super::{BoxOperator, Operator, Rows, tree};
use crate::run::Env;
use crate::run::scan::Fold;
use crate::state::tally::{Tally, WorkCell};

/// Opens an operator and counts its work.
pub(super) fn open<'r>(
    env: Env<'r>,
    tally: &'r Tally,
    node: &'r PlanNode,
) -> SqlResult<BoxOperator<'r>> {
    let cell = tally.cell(node.number);
    let env = Env { cell, ..env };
    let Some(cell) = cell else { return tree::open_uncounted(env, node) };
    cell.opened();
    if !tally.timed {
        let input = tree::open_uncounted(env, node)?;
        return Ok(Box::new(Counted { input, cell }));
    }
    let begun = Instant::now();
    let input = tree::open_uncounted(env, node);
    cell.spent(begun.elapsed());
    Ok(Box::new(Timed(Counted { input: input?, cell })))
}

struct Counted<'r> {
    input: BoxOperator<'r>,
    cell: &'r WorkCell,
}

impl Operator for Counted<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        let batch = self.input.next()?;
        if let Some(batch) = &batch {
            self.cell.given(batch.rows());
        }
        Ok(batch)
    }

    fn takes_folds(&self) -> bool {
        self.input.takes_folds()
    }

    fn next_for(&mut self, fold: &Arc<dyn Fold>) -> SqlResult<Option<Rows>> {
        let given = self.input.next_for(fold)?;
        match &given {
            Some(Rows::Given(batch)) => self.cell.given(batch.rows()),
            Some(Rows::Folded { rows, .. }) => self.cell.given(*rows),
            None => {}
        }
        Ok(given)
    }
}

struct Timed<'r>(Counted<'r>);

impl Operator for Timed<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        let begun = Instant::now();
        let batch = self.0.next();
        self.0.cell.spent(begun.elapsed());
        batch
    }

    fn takes_folds(&self) -> bool {
        self.0.takes_folds()
    }

    fn next_for(&mut self, fold: &Arc<dyn Fold>) -> SqlResult<Option<Rows>> {
        let begun = Instant::now();
        let given = self.0.next_for(fold);
        self.0.cell.spent(begun.elapsed());
        given
    }
}
