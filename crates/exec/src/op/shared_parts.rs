//! Parts that several expressions have in common, such as `price * (1 - discount)` in two sums:
//! they are computed once for a batch, as columns behind those of the batch.
//!
//! Only sums, differences and products are shared, and only where each row needs them: nothing may
//! be computed that a condition keeps from being computed.

use std::sync::Arc;

use selkie_expr::{EvalContext, Expr, ExprKind};
use selkie_types::{Batch, Column, SqlResult, stack};

/// Most parts that are looked at. Long expressions are rare, and comparing them takes time.
const MOST: usize = 64;

/// Shared parts, and the expressions that use them.
pub(super) struct SharedParts {
    /// Each may use those before it.
    parts: Vec<Expr>,
    exprs: Vec<Expr>,
}

impl SharedParts {
    /// The parts that expressions over a batch of `width` columns share; `None` if there are none.
    pub(super) fn of(exprs: &[&Expr], width: usize) -> Option<Self> {
        let (mut once, mut shared) = (Vec::new(), Vec::new());
        exprs.iter().for_each(|e| find(e, &mut once, &mut shared));
        if shared.is_empty() {
            return None;
        }
        let column = |at: usize| {
            let part: &Expr = shared[at];
            Expr::column(width + at, part.ty.clone(), part.nullable)
        };
        let using = |e: &Expr, known: usize| {
            let mut e = e.clone();
            replace(&mut e, &|part| shared[..known].iter().position(|s| *s == part).map(column));
            e
        };
        let parts = shared.iter().enumerate().map(|(at, part)| using(part, at)).collect();
        let exprs = exprs.iter().map(|e| using(e, shared.len())).collect();
        Some(Self { parts, exprs })
    }

    /// The values of all expressions. If it fails, the expressions themselves have to be computed:
    /// an error names operands, which a part hides.
    pub(super) fn values(
        &self,
        eval: &EvalContext<'_>,
        batch: &Batch,
    ) -> SqlResult<Vec<Arc<Column>>> {
        let mut columns = batch.columns().to_vec();
        for part in &self.parts {
            let so_far = Batch::new(columns, batch.rows());
            let value = part.eval(eval, &so_far)?;
            columns = so_far.into_columns();
            columns.push(value);
        }
        let batch = Batch::new(columns, batch.rows());
        self.exprs.iter().map(|e| e.eval(eval, &batch)).collect()
    }
}

/// The operands of a sum, a difference or a product.
fn operands(e: &Expr) -> Option<&[Expr]> {
    match &e.kind {
        ExprKind::Call(call) => {
            let is_shared = matches!(call.function.name(), "+" | "-" | "*");
            is_shared.then_some(&call.args[..])
        }
        _ => None,
    }
}

/// Adds to `shared` the parts that are in `once` already. Smaller parts come first.
fn find<'e>(e: &'e Expr, once: &mut Vec<&'e Expr>, shared: &mut Vec<&'e Expr>) {
    let Some(operands) = operands(e) else { return };
    stack::ensure();
    operands.iter().for_each(|operand| find(operand, once, shared));
    if !once.contains(&e) {
        if once.len() < MOST {
            once.push(e);
        }
    } else if !shared.contains(&e) && has_one_value(e) {
        shared.push(e);
    }
}

/// Whether it makes no difference how often an expression is computed for a row: it has no effect,
/// and raises no warning, as conversions do.
fn has_one_value(e: &Expr) -> bool {
    let is_plain = |part: &Expr| match &part.kind {
        ExprKind::Column(_) | ExprKind::Literal(_) => true,
        _ => operands(part).is_some(),
    };
    !e.any(&mut |part| !is_plain(part))
}

/// Replaces the largest parts for which there is a column.
fn replace(e: &mut Expr, column: &dyn Fn(&Expr) -> Option<Expr>) {
    if operands(e).is_none() {
        return;
    }
    stack::ensure();
    if let Some(column) = column(e) {
        *e = column;
    } else if let ExprKind::Call(call) = &mut e.kind {
        call.args.iter_mut().for_each(|operand| replace(operand, column));
    }
}

#[cfg(test)]
mod tests {
    use selkie_expr::TypeContext;
    use selkie_expr::build::{Arithmetic, arithmetic};
    use selkie_types::{CollationId, ColumnData, SqlType};

    use super::*;

    fn column(at: usize) -> Expr {
        Expr::column(at, SqlType::bigint(), false)
    }

    fn of(op: Arithmetic, a: Expr, b: Expr) -> Expr {
        arithmetic(op, a, b, &TypeContext::default()).expect("numbers")
    }

    #[test]
    fn parts_are_computed_once_and_give_the_same_values() {
        let sum = of(Arithmetic::Add, column(0), column(1));
        let product = of(Arithmetic::Multiply, sum.clone(), column(0));
        let exprs = [
            of(Arithmetic::Subtract, product.clone(), column(1)),
            of(Arithmetic::Multiply, product.clone(), sum.clone()),
            column(1),
        ];
        let shared =
            SharedParts::of(&exprs.iter().collect::<Vec<_>>(), 2).expect("two parts occur twice");
        assert_eq!(shared.parts.len(), 2);
        let numbers =
            |values: &[i64]| Arc::new(Column::from_data(ColumnData::Int(values.to_vec()), None));
        let batch = Batch::new(vec![numbers(&[1, 2, 3]), numbers(&[4, 5, -6])], 3);
        let eval = EvalContext::detached(&TypeContext::default());
        let shown = |column: &Arc<Column>| format!("{:?}", column.data());
        let shared: Vec<_> = shared.values(&eval, &batch).expect("no overflow");
        let alone = exprs.iter().map(|e| e.eval(&eval, &batch).expect("no overflow"));
        assert!(shared.iter().map(shown).eq(alone.map(|column| shown(&column))));
    }

    #[test]
    fn a_part_that_may_warn_is_not_shared() {
        let text = Expr::column(0, SqlType::varchar(9, CollationId::LATIN1_SWEDISH_CI), false);
        let sum = of(Arithmetic::Add, text, column(1));
        assert!(SharedParts::of(&[&sum, &sum], 2).is_none());
        let sum = of(Arithmetic::Add, column(0), column(1));
        assert!(SharedParts::of(&[&sum], 2).is_none());
    }
}
