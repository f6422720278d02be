//! Evaluation of expressions over batches.
//!
//! There is one dispatch per node and batch; the loops over rows are in the kernels. Lazy kinds
//! (AND, OR, CASE, COALESCE) evaluate later operands only over the rows that need them: no error or
//! warning may come from a row whose value is already decided.

mod case;
mod compare;
mod filter;
mod held;
mod in_list;
mod logic;
mod subquery;
mod subset;
mod variable;

pub(crate) use variable::fitted;

use std::sync::Arc;

use selkie_meter::{ask, interruptible, spend};
use selkie_types::{
    Batch, Bitmap, Column, ColumnData, JsonRole, Physical, SqlResult, SqlType, Value, stack,
};

pub(crate) use compare::columns as compare_columns;
pub(crate) use logic::of_column as truth_of_column;

use crate::context::EvalContext;
use crate::expr::{Call, Expr, ExprKind};
use crate::kernel::{ColumnScale, Frame};

impl Expr {
    /// The values of the expression over the rows of `batch`.
    pub fn eval(&self, ctx: &EvalContext<'_>, batch: &Batch) -> SqlResult<Arc<Column>> {
        stack::check()?;
        let rows = batch.rows();
        spend(32 + rows)?;
        Ok(match &self.kind {
            ExprKind::Column(at) => return Ok(batch.column(*at).clone()),
            ExprKind::Literal(value) => {
                ask(length_of(value))?;
                constant(value, &self.ty, rows)
            }
            ExprKind::Parameter(slot) => variable::parameter(ctx, *slot, &self.ty, rows),
            ExprKind::Call(call) => return eval_call(self, call, ctx, batch),
            ExprKind::Compare(c) => compare::eval(c, ctx, batch)?.into_column(rows),
            ExprKind::And(parts) => logic::all(parts, ctx, batch)?.into_column(rows),
            ExprKind::Or(parts) => logic::any(parts, ctx, batch)?.into_column(rows),
            ExprKind::Not(e) => logic::eval(e, ctx, batch)?.negate().into_column(rows),
            ExprKind::IsNull(e) => {
                let column = e.eval(ctx, batch)?;
                logic::is_null(&column).into_column(rows)
            }
            ExprKind::InList(list) => in_list::eval(list, ctx, batch)?.into_column(rows),
            ExprKind::Case(c) => case::eval(c, &self.ty, ctx, batch)?,
            ExprKind::Coalesce(parts) => case::coalesce(parts, &self.ty, ctx, batch)?,
            ExprKind::Subquery(s) => subquery::eval(s, &self.ty, ctx, batch)?,
            ExprKind::UserVariable(name, _) => variable::user(ctx, name, &self.ty, rows)?,
            ExprKind::AssignUserVariable(name, e) => variable::assign(ctx, name, e, batch)?,
            ExprKind::SystemVariable(scope, name) => {
                variable::system(ctx, *scope, name, &self.ty, rows)?
            }
            ExprKind::Stored(s) => variable::stored(s, &self.ty, ctx, batch)?,
            ExprKind::Hold(hold) => return held::hold(hold, ctx, batch),
            ExprKind::Held(held) => return held::value(held.number, ctx, batch),
            ExprKind::Sequence(call) => variable::sequence(call, &self.ty, ctx, rows)?,
            ExprKind::Match(m) => {
                let keys = m.key.eval(ctx, batch)?;
                let ranks = ctx.subqueries.ranks(m.search, &keys, ctx)?;
                let ranks = ranks.into_iter().map(f64::from).collect();
                Column::from_data(ColumnData::Double(ranks), None)
            }
            ExprKind::Row(_) => {
                return Err(selkie_types::SqlError::internal("a row operand was evaluated"));
            }
        }
        .into())
    }

    /// The value of an expression without columns.
    pub fn eval_value(&self, ctx: &EvalContext<'_>) -> SqlResult<Value> {
        match &self.kind {
            ExprKind::Literal(value) => Ok(value.clone()),
            // A decimal gets the scale of the type from its column.
            ExprKind::Parameter(slot) if self.ty.physical() != Physical::Decimal => {
                Ok(variable::fitted(ctx, ctx.parameter(*slot), &self.ty))
            }
            _ => Ok(self.eval(ctx, &Batch::one_row())?.value(0)),
        }
    }

    /// The value of an expression without columns as a number of rows. Compat: 0 if it is NULL or
    /// negative.
    pub fn eval_count(&self, ctx: &EvalContext<'_>) -> SqlResult<u64> {
        Ok(match self.eval_value(ctx)? {
            Value::UInt(n) => n,
            Value::Int(n) => n.max(0) as u64,
            _ => 0,
        })
    }

    /// The rows for which the expression is true.
    pub fn eval_filter(&self, ctx: &EvalContext<'_>, batch: &Batch) -> SqlResult<Bitmap> {
        filter::eval(self, ctx, batch)
    }

    /// Replaces subexpressions that depend on nothing by their values.
    ///
    /// With `statement`, also those that are constant for one execution only: parameters, `NOW()`.
    /// An expression whose evaluation fails is kept, so that it fails when it is needed.
    pub fn fold(&mut self, ctx: &EvalContext<'_>, statement: bool) {
        let foldable = |e: &Self| if statement { e.is_constant() } else { e.is_foldable() };
        if matches!(self.kind, ExprKind::Literal(_) | ExprKind::Row(_)) {
            self.children_mut().into_iter().for_each(|c| c.fold(ctx, statement));
            return;
        }
        if !foldable(self) || self.is_extract() {
            self.children_mut().into_iter().for_each(|c| c.fold(ctx, statement));
            self.simplify();
            return;
        }
        if let Ok(value) = self.eval_value(ctx) {
            // Result metadata describes the values an expression may have, not the one it has.
            self.nullable |= value.is_null();
            self.become_literal(value);
        }
    }

    /// Compat: the result of JSON_EXTRACT is a value where a number is wanted, so the call is kept
    /// until its place is known.
    pub fn is_extract(&self) -> bool {
        matches!(&self.kind, ExprKind::Call(call) if call.function.name() == "JSON_EXTRACT")
    }

    /// Replaces the expression by its value, which stays a JSON document if it was one.
    pub fn become_literal(&mut self, value: Value) {
        if crate::json::is_json(self) {
            self.ty.json = JsonRole::Document;
        }
        self.kind = ExprKind::Literal(value);
    }

    /// Removes operands of AND and OR that cannot change the result.
    fn simplify(&mut self) {
        let (is_and, parts) = match &mut self.kind {
            ExprKind::And(parts) => (true, parts),
            ExprKind::Or(parts) => (false, parts),
            _ => return,
        };
        let truth = |e: &Self| e.as_literal().and_then(logic::truth_of);
        if parts.iter().any(|p| truth(p) == Some(!is_and)) {
            *self = Self::boolean(!is_and);
            return;
        }
        parts.retain(|p| truth(p) != Some(is_and));
        if parts.is_empty() {
            *self = Self::boolean(is_and);
        }
    }
}

/// Length of a string in bytes; 0 for other values.
fn length_of(value: &Value) -> usize {
    if let Value::Bytes(bytes) = value { bytes.len() } else { 0 }
}

/// `value` repeated for all rows, of the physical kind of `ty`.
pub(crate) fn constant(value: &Value, ty: &SqlType, rows: usize) -> Column {
    Column::constant(value, ty.physical(), ty.decimals_of_column(), rows)
}

fn eval_call(
    e: &Expr,
    call: &Call,
    ctx: &EvalContext<'_>,
    batch: &Batch,
) -> SqlResult<Arc<Column>> {
    if std::ptr::eq(call.function, &crate::cast::RETYPE) {
        return call.args[0].eval(ctx, batch);
    }
    let mut args = smallvec::SmallVec::<[Arc<Column>; 4]>::new();
    for arg in &call.args {
        args.push(arg.eval(ctx, batch)?);
    }
    let all_rows = batch.rows();
    let once =
        all_rows > 1 && call.function.is_deterministic() && args.iter().all(|a| a.is_constant());
    let rows = if once { 1 } else { all_rows };
    let frame = Frame { ctx, call, ty: &e.ty, args: &args, rows };
    let column = interruptible(|| (call.kernel)(&frame))??;
    debug_assert_eq!(column.physical(), e.ty.physical(), "kernel of {e}");
    Ok(Arc::new(if once { column.repeat(all_rows) } else { column }))
}

/// Truth values of the rows of a batch: bitmaps of the true rows and of the rows that are not NULL.
#[derive(Clone, Debug)]
pub(crate) struct Truth {
    /// True rows; clear for unknown rows.
    pub(crate) yes: Bitmap,
    /// Rows that are true or false; `None` if no row is unknown.
    pub(crate) known: Option<Bitmap>,
}

impl Truth {
    /// The truth values as integers 0 and 1, or NULL.
    fn into_column(self, rows: usize) -> Column {
        let mut values = vec![0i64; rows];
        self.yes.iter_ones().for_each(|row| values[row] = 1);
        Column::from_data(ColumnData::Int(values), self.known)
    }

    /// The same truth value for all rows.
    fn all(value: Option<bool>, rows: usize) -> Self {
        let yes = if value == Some(true) { Bitmap::ones(rows) } else { Bitmap::zeros(rows) };
        Self { yes, known: value.is_none().then(|| Bitmap::zeros(rows)) }
    }

    /// Truth values collected row by row.
    pub(crate) fn collect(rows: usize, mut f: impl FnMut(usize) -> Option<bool>) -> Self {
        let mut yes = Bitmap::zeros(rows);
        let mut known: Option<Bitmap> = None;
        for row in 0..rows {
            match f(row) {
                Some(true) => yes.set(row, true),
                Some(false) => {}
                None => known.get_or_insert_with(|| Bitmap::ones(rows)).set(row, false),
            }
        }
        Self { yes, known }
    }

    /// Logical negation; unknown stays unknown.
    fn negate(self) -> Self {
        let rows = self.yes.len();
        let known = self.known.clone().unwrap_or_else(|| Bitmap::ones(rows));
        Self { yes: bits::and_not(&known, &self.yes), known: self.known }
    }
}

/// Operations on bitmaps.
pub(crate) mod bits {
    use selkie_types::Bitmap;

    /// `a & !b`
    pub(crate) fn and_not(a: &Bitmap, b: &Bitmap) -> Bitmap {
        Bitmap::from_words(a.words().iter().zip(b.words()).map(|(a, b)| a & !b).collect(), a.len())
    }

    /// `a | b`
    pub(crate) fn or(a: &Bitmap, b: &Bitmap) -> Bitmap {
        Bitmap::from_words(a.words().iter().zip(b.words()).map(|(a, b)| a | b).collect(), a.len())
    }

    /// `a & b` where a missing bitmap is all ones.
    pub(crate) fn and_optional(a: Option<Bitmap>, b: Option<&Bitmap>) -> Option<Bitmap> {
        match (a, b) {
            (None, b) => b.cloned(),
            (a, None) => a,
            (Some(a), Some(b)) => Some(a.and(b)),
        }
    }
}
