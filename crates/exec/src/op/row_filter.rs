//! Conditions over rows, and what is said of the rows on the way.
//!
//! A batch is judged as a whole. If that raises warnings they come in the wrong order and about no
//! row in particular, so the batch is judged again row by row.

use std::cell::OnceCell;
use std::sync::Arc;

use selkie_expr::{EvalContext, Expr, ExprKind};
use selkie_types::{Batch, Bitmap, Column, Physical, SqlResult};

/// Conditions that all rows of a scan or operator must satisfy.
pub(crate) struct RowFilter<'r> {
    conditions: &'r [Expr],
    /// The conditions with their constant parts computed: warnings about these come once.
    computed: OnceCell<Vec<Expr>>,
}

impl<'r> RowFilter<'r> {
    pub(crate) fn new(conditions: &'r [Expr]) -> Self {
        Self { conditions, computed: OnceCell::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.conditions.is_empty()
    }

    /// The rows for which all conditions are true; `None` if that is all of them. The first row of
    /// the batch has the number the context says.
    pub(crate) fn keep(&self, eval: &EvalContext<'_>, batch: &Batch) -> SqlResult<Option<Bitmap>> {
        let conditions = self.computed.get().map_or(self.conditions, Vec::as_slice);
        let mark = eval.conditions.borrow().mark();
        let kept = keep_rows(eval, conditions, batch);
        if !eval.conditions.borrow().is_worth_ordering_since(mark) || self.has_side_effects() {
            return kept;
        }
        kept?;
        eval.conditions.borrow_mut().forget_since(mark);
        let computed = self.computed.get_or_init(|| self.compute(eval));
        by_row(eval, computed, batch)
    }

    /// The rows of `batch` that are kept, `None` if there are none.
    pub(crate) fn filter(&self, eval: &EvalContext<'_>, batch: Batch) -> SqlResult<Option<Batch>> {
        let batch = match self.keep(eval, &batch)? {
            None => batch,
            Some(keep) => batch.filter(&keep),
        };
        Ok((batch.rows() > 0).then_some(batch))
    }

    fn has_side_effects(&self) -> bool {
        self.conditions.iter().any(|e| e.has_side_effects())
    }

    fn compute(&self, eval: &EvalContext<'_>) -> Vec<Expr> {
        let mark = eval.conditions.borrow().mark();
        let mut computed = self.conditions.to_vec();
        // Compat: a condition that depends on no row is no reason to refuse a strict statement.
        computed.iter_mut().filter(|e| e.is_constant()).for_each(|e| e.fold(eval, true));
        eval.conditions.borrow_mut().pardon_since(mark);
        computed.iter_mut().for_each(|e| compute(e, eval));
        // What was computed for a range of keys was said then.
        eval.conditions.borrow_mut().forget_repeated_since(mark);
        computed
    }
}

/// Computes the constant parts. Compat: a literal is converted once where it is compared, anywhere
/// else for every row.
fn compute(e: &mut Expr, eval: &EvalContext<'_>) {
    if e.is_constant() {
        return e.fold(eval, true);
    }
    let compares = !matches!(&e.kind, ExprKind::Call(call) if call.function.name() != "BETWEEN");
    let converts = |e: &Expr| matches!(&e.kind, ExprKind::Call(c) if c.function.is_implicit());
    for child in e.children_mut() {
        if compares || !(child.is_constant() && converts(child)) {
            compute(child, eval);
        }
    }
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

/// The rows for which all conditions are true; `None` if that is all of them. Conditions are
/// evaluated in order, each over the rows that are left, so that no row raises a warning or an
/// error that an earlier condition excludes.
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
        let left: Vec<u32> = so_far.iter_ones().map(|row| row as u32).collect();
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

/// The rows numbered `rows`, with only the columns `e` reads; others are NULL.
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
