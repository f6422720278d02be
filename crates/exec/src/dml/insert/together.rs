//! An INSERT of one row of values that a trigger does for many rows of its table: they are stored
//! together.
//!
//! # Invariants
//! - TOGETHER-1 The rows are stored together only if nobody can tell: each is what the statement by
//!   itself would store, in the same order, and nothing else happens between two of them.
//!   [`is_fit`] says which statements are so. A row that cannot be stored is an error, with nothing
//!   done that the caller cannot undo; the caller then runs the statement row by row, so that it
//!   fails for the right row. Warnings are nobody's: those of a trigger end with it.

use std::sync::Arc;

use selkie_catalog::TableKind;
use selkie_expr::{Expr, ExprKind};
use selkie_plan::physical::{Insert as Plan, InsertMode, InsertValue, Operator as Op};
use selkie_types::{Batch, Column, SqlError, SqlResult, Value};

use super::Inserter;
use crate::Outcome;
use crate::dml::keeps::keeps_changes;
use crate::run::Env;

/// Inserts a row for each of `rows`, which has a column for each parameter of the statement.
pub(super) fn run(env: Env<'_>, plan: &Plan, rows: &Batch) -> SqlResult<Outcome> {
    let unfit = || SqlError::internal("rows that are to be inserted one by one");
    let exprs = single_row(plan).filter(|exprs| is_fit(env, plan, exprs)).ok_or_else(unfit)?;
    env.check()?;
    let mut inserter = Inserter::new(env, plan)?;
    if !inserter.has_room_for(rows.rows()) {
        return Err(unfit());
    }
    let mut add = || {
        env.eval.set_row(1);
        let source = source(env, plan, exprs, rows)?.ok_or_else(unfit)?;
        inserter.refuse_missing()?;
        inserter.add(&source, &mut |_| Ok(()))?;
        inserter.maker.refuse_warnings(0)
    };
    if let Err(error) = add() {
        if let Some(auto) = &mut inserter.auto {
            auto.take_back_all();
        }
        return Err(error);
    }
    Ok(inserter.finish())
}

/// The values of the only row that a statement lists.
fn single_row(plan: &Plan) -> Option<&[Expr]> {
    match &plan.source.operator {
        Op::Values(rows) if !plan.is_query => match &rows[..] {
            [row] => Some(row),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a statement does nothing but to store a row computed of its parameters and of what does
/// not change meanwhile. It fires no trigger and calls no function, no other table takes part, and
/// a row in the way of another one is an error. It can be undone, up to the values of sequences and
/// user variables, of which it must not set any.
fn is_fit(env: Env<'_>, plan: &Plan, exprs: &[Expr]) -> bool {
    let (whole, table) = (env.rt.plan, &plan.table);
    let by_text = || env.rt.session.log().is_some_and(|log| log.is_by_text());
    let is_plain_value = |(at, value): (usize, &InsertValue)| match value {
        // An automatic value must be asked for: one that is given moves the counter, which an error
        // of a later row leaves where it is.
        InsertValue::Source(from, _) if table.columns[at].auto_increment => {
            matches!(exprs.get(*from).map(|e| &e.kind), Some(ExprKind::Literal(Value::Null)))
        }
        InsertValue::Source(..) | InsertValue::Default | InsertValue::Generated(None) => true,
        InsertValue::Expr(e) => reads_nothing_new(e),
        InsertValue::Own | InsertValue::Generated(Some(_)) => false,
    };
    table.kind == TableKind::Base
        && !table.is_sequence()
        && !keeps_changes(table)
        && plan.mode == InsertMode::Insert
        && plan.on_duplicate.is_none()
        && plan.own.is_empty()
        && plan.default_flags.iter().all(Option::is_none)
        && plan.returning.is_empty()
        && plan.view.is_none()
        // A version begins when its row is stored.
        && plan.rules.bounds.is_empty()
        && whole.foreign.touched().next().is_none()
        && whole.changes.triggers.is_empty()
        && !whole.calls_functions()
        && whole.takes_numbers.is_empty()
        && !by_text()
        && exprs.iter().all(reads_nothing_new)
        && plan.values.iter().enumerate().all(is_plain_value)
}

/// Whether a value depends on its row alone and on what stays as it is while the statement is
/// repeated, and its evaluation has no effect.
fn reads_nothing_new(e: &Expr) -> bool {
    let reads_more = |e: &Expr| match &e.kind {
        ExprKind::Call(call) => !call.function.is_deterministic(),
        ExprKind::Subquery(_)
        | ExprKind::AssignUserVariable(..)
        | ExprKind::SystemVariable(..)
        | ExprKind::Stored(_)
        | ExprKind::Match(_)
        | ExprKind::Sequence(_) => true,
        _ => false,
    };
    !e.any(&mut { reads_more })
}

/// The source's columns for all rows of parameters, `None` if a parameter is of another type than
/// its column.
fn source(env: Env<'_>, plan: &Plan, exprs: &[Expr], rows: &Batch) -> SqlResult<Option<Batch>> {
    debug_assert_eq!(exprs.len(), plan.source.columns.len());
    let mut columns = Vec::with_capacity(exprs.len());
    for e in exprs {
        let Some(e) = over_columns(e, rows.columns()) else { return Ok(None) };
        columns.push(e.eval(env.eval, rows)?);
    }
    Ok(Some(Batch::new(columns, rows.rows())))
}

/// `e` with columns in place of its parameters.
fn over_columns(e: &Expr, columns: &[Arc<Column>]) -> Option<Expr> {
    let (mut e, mut fits) = (e.clone(), true);
    e.transform(&mut |e| {
        let ExprKind::Parameter(slot) = e.kind else { return None };
        fits &= columns.get(slot).is_some_and(|c| c.physical() == e.ty.physical());
        Some(Expr { kind: ExprKind::Column(slot), ..e.clone() })
    });
    fits.then_some(e)
}

impl Inserter<'_> {
    /// Whether each of `rows` rows is sure to get an automatic value, and these are as many
    /// statements would take them.
    fn has_room_for(&self, rows: usize) -> bool {
        self.auto.as_ref().is_none_or(|auto| {
            auto.is_plain() && auto.has_room(&self.maker.placeholder(auto.column, rows))
        })
    }
}
