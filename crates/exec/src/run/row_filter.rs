//! Conditions over rows, and the warnings they raise.
//!
//! A batch is evaluated as a whole. If this raises warnings, their order and row numbers are wrong,
//! so they are undone and the batch is evaluated again row by row.

use std::cell::{Cell, OnceCell};
use std::sync::Arc;

use selkie_expr::{CompareOp, EvalContext, Expr, ExprKind};
use selkie_plan::physical::Converted;
use selkie_types::{Batch, Bitmap, Column, Physical, SqlResult, stack};

/// Conditions that the rows of a scan or operator must satisfy.
pub(crate) struct RowFilter<'r> {
    conditions: &'r [Expr],
    /// The conditions with constant parts computed, so that their warnings come once.
    computed: OnceCell<Vec<Expr>>,
    /// Whether constants in `column = constant` were computed.
    begun: Cell<bool>,
}

impl<'r> RowFilter<'r> {
    pub(crate) fn new(conditions: &'r [Expr]) -> Self {
        Self { conditions, computed: OnceCell::new(), begun: Cell::new(false) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.conditions.is_empty()
    }

    /// The conditions, for whoever evaluates them in this order over blocks of rows; `None` if that
    /// must be left to [`Self::keep`].
    pub(crate) fn conditions(&self, eval: &EvalContext<'_>) -> Option<&[Expr]> {
        if self.has_side_effects() {
            return None;
        }
        self.begin(eval);
        Some(self.computed.get().map_or(self.conditions, Vec::as_slice))
    }

    /// Rows for which all conditions are true; `None` if these are all rows. The context has the
    /// number of the batch's first row.
    pub(crate) fn keep(&self, eval: &EvalContext<'_>, batch: &Batch) -> SqlResult<Option<Bitmap>> {
        self.begin(eval);
        let conditions = self.computed.get().map_or(self.conditions, Vec::as_slice);
        let attempt = eval.attempt();
        let kept = keep_rows(eval, conditions, batch);
        if !attempt.is_worth_ordering(eval) || self.has_side_effects() {
            return kept;
        }
        kept?;
        eval.undo(&attempt);
        let computed = self.computed.get_or_init(|| self.compute(eval));
        by_row(eval, computed, batch)
    }

    /// The rows of `batch` that pass; `None` if none does.
    pub(crate) fn filter(&self, eval: &EvalContext<'_>, batch: Batch) -> SqlResult<Option<Batch>> {
        let batch = match self.keep(eval, &batch)? {
            None => batch,
            Some(keep) => {
                selkie_meter::ask(batch.memory())?;
                batch.filter(&keep)
            }
        };
        Ok((batch.rows() > 0).then_some(batch))
    }

    /// Compat: a constant in `column = constant` is computed before any row is read, whatever the
    /// other conditions say about the rows.
    fn begin(&self, eval: &EvalContext<'_>) {
        if self.begun.replace(true) || self.computed.get().is_some() {
            return;
        }
        let mark = eval.conditions.borrow().mark();
        for constant in self.conditions.iter().filter_map(equal_constant) {
            // An error occurs again where the value is needed.
            let _ = constant.eval_value(eval);
        }
        if eval.conditions.borrow_mut().forget_since(mark) {
            self.computed.get_or_init(|| self.compute(eval));
        }
    }

    fn has_side_effects(&self) -> bool {
        self.conditions.iter().any(|e| e.has_side_effects())
    }

    fn compute(&self, eval: &EvalContext<'_>) -> Vec<Expr> {
        stack::ensure();
        let mark = eval.conditions.borrow().mark();
        let mut computed = self.conditions.to_vec();
        // Compat: a constant condition must not make a strict statement fail.
        computed.iter_mut().filter(|e| e.is_constant()).for_each(|e| e.fold(eval, true));
        // Compat: constants of IN lists are converted before any row is read.
        computed.iter_mut().for_each(|e| fold_lists(e, eval));
        eval.conditions.borrow_mut().pardon_since(mark);
        computed.iter_mut().for_each(|e| compute(e, eval));
        // Warnings that computing key ranges raised already are not repeated.
        eval.conditions.borrow_mut().forget_repeated_since(mark);
        computed
    }
}

/// Converts the constants of a plan's conditions for their warnings.
pub(crate) fn convert_constants(eval: &EvalContext<'_>, converted: &Converted) {
    // An error occurs again where the value is needed.
    let convert = |constant: &Expr| drop(constant.eval_value(eval));
    let mark = eval.conditions.borrow().mark();
    converted.listed.iter().for_each(convert);
    eval.conditions.borrow_mut().pardon_since(mark);
    converted.equal.iter().chain(&converted.moved).for_each(convert);
}

/// Computes the constants in IN lists.
fn fold_lists(e: &mut Expr, eval: &EvalContext<'_>) {
    stack::ensure();
    if let ExprKind::InList(list) = &mut e.kind {
        let items = list.items.iter_mut().filter(|item| item.is_constant());
        items.for_each(|item| item.fold(eval, true));
    }
    e.children_mut().into_iter().for_each(|child| fold_lists(child, eval));
}

/// The constant in `column = constant`, if it is a function call.
fn equal_constant(condition: &Expr) -> Option<&Expr> {
    let ExprKind::Compare(compare) = &condition.kind else { return None };
    let constant = match (compare.left.as_column(), compare.right.as_column()) {
        (Some(_), None) => &compare.right,
        (None, Some(_)) => &compare.left,
        _ => return None,
    };
    let is_call = matches!(constant.kind, ExprKind::Call(_));
    (compare.op == CompareOp::Eq && is_call && constant.is_constant()).then_some(constant)
}

/// Computes the constant parts. Compat: a literal is converted once in a comparison, but for every
/// row elsewhere.
fn compute(e: &mut Expr, eval: &EvalContext<'_>) {
    stack::ensure();
    if e.is_constant() {
        return e.fold(eval, true);
    }
    if is_computed_once(e) {
        if let Ok(value) = e.eval_value(eval) {
            e.nullable |= value.is_null();
            e.become_literal(value);
        }
        return;
    }
    let compares = !matches!(&e.kind, ExprKind::Call(call) if call.function.name() != "BETWEEN");
    let converts = |e: &Expr| matches!(&e.kind, ExprKind::Call(c) if c.function.is_implicit());
    for child in e.children_mut() {
        if compares || !(child.is_constant() && converts(child)) {
            compute(child, eval);
        }
    }
}

/// Whether an expression has only subqueries that depend on no row, and no columns.
fn is_computed_once(e: &Expr) -> bool {
    let depends = |e: &Expr| match &e.kind {
        ExprKind::Column(_) | ExprKind::Row(_) | ExprKind::Held(_) => true,
        ExprKind::Subquery(subquery) => !subquery.args.is_empty(),
        _ => false,
    };
    e.has_subquery() && e.is_deterministic() && !e.has_side_effects() && !e.any(&mut |e| depends(e))
}

fn by_row(eval: &EvalContext<'_>, conditions: &[Expr], batch: &Batch) -> SqlResult<Option<Bitmap>> {
    let first = eval.row();
    let mut keep = Bitmap::zeros(batch.rows());
    for row in 0..batch.rows() {
        eval.set_row(first + row as u64);
        let kept = keep_rows(eval, conditions, &batch.slice(row, row + 1))?;
        keep.set(row, kept.is_none());
    }
    eval.set_row(first);
    Ok((keep.count_ones() < batch.rows()).then_some(keep))
}

/// Rows for which all conditions are true; `None` if these are all rows. Conditions are evaluated
/// in order, each over the remaining rows, so that no row raises a warning or an error that an
/// earlier condition excludes.
pub(crate) fn keep_rows(
    eval: &EvalContext<'_>,
    conditions: &[Expr],
    batch: &Batch,
) -> SqlResult<Option<Bitmap>> {
    let mut keep: Option<Bitmap> = None;
    for condition in conditions {
        let Some(so_far) = &mut keep else {
            let first = condition.eval_filter(eval, batch)?;
            keep = (first.count_ones() < batch.rows()).then_some(first);
            continue;
        };
        let left = so_far.positions();
        if left.is_empty() {
            break;
        }
        let truth = condition.eval_filter(eval, &subset(condition, batch, &left))?;
        for (at, &row) in left.iter().enumerate() {
            so_far.set(row as usize, truth.get(at));
        }
    }
    Ok(keep)
}

/// The rows at positions `rows` with only the columns that `e` reads; others are NULL.
fn subset(e: &Expr, batch: &Batch, rows: &[u32]) -> Batch {
    let mut used = vec![false; batch.columns().len()];
    e.for_each_column(&mut |at| used[at] = true);
    let nothing = Arc::new(Column::nulls(Physical::Int, 0, rows.len()));
    let columns = batch.columns().iter().zip(used);
    let pick = |(column, used): (&Arc<Column>, bool)| match used {
        true => Arc::new(column.gather(rows)),
        false => nothing.clone(),
    };
    Batch::new(columns.map(pick).collect(), rows.len())
}
