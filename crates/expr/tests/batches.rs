//! Tests that evaluation over a batch equals evaluation row by row.
//! Covers expressions, filters and aggregates at several batch sizes.

use std::sync::Arc;

use selkie_expr::aggregate::{Aggregate, AggregateKind, Groups};
use selkie_expr::build::{self, Arithmetic};
use selkie_expr::{CompareOp, EvalContext, Expr, NoSession, TypeContext};
use selkie_types::{
    Batch, CollationId, Column, Date, Decimal, Physical, SqlResult, SqlType, TypeKind, Value,
};

const ROWS: usize = 200;

/// Columns: int, nullable int, decimal, string, date, double.
fn columns() -> (Vec<SqlType>, Batch) {
    let types = vec![
        SqlType::int(),
        SqlType::int(),
        SqlType::decimal(10, 2),
        SqlType::varchar(20, CollationId::UTF8MB4_GENERAL_CI),
        SqlType::date(),
        SqlType::double(),
    ];
    let value = |column: usize, row: usize| {
        let n = (row * 7919 + column * 104_729) % 97;
        if column > 0 && n.is_multiple_of(7) {
            return Value::Null;
        }
        match column {
            0 | 1 => Value::Int(n as i64 - 48),
            2 => Value::Decimal(Decimal::from_i128(n as i128 * 37 - 900, 2)),
            3 => Value::bytes(["a", "B", "abc", "10", "x1", ""][n % 6]),
            4 => Value::Date(Date::from_parts(2020, 1 + n as u32 % 12, 1 + n as u32 % 28)),
            _ => Value::Double(n as f64 / 4.0),
        }
    };
    let columns = types.iter().enumerate().map(|(at, ty)| {
        let scale = if ty.physical() == Physical::Decimal { ty.decimals } else { 0 };
        let mut column = Column::new(ty.physical(), scale, ROWS);
        (0..ROWS).for_each(|row| column.push(&value(at, row)));
        Arc::new(column)
    });
    (types.clone(), Batch::new(columns.collect(), ROWS))
}

fn expressions(types: &[SqlType], t: &TypeContext) -> SqlResult<Vec<Expr>> {
    use Arithmetic::*;
    let c = |at: usize| Expr::column(at, types[at].clone(), at > 0);
    let op = |op, a, b| build::arithmetic(op, a, b, t);
    let cmp = |op, a, b| build::comparison(op, a, b, t);
    let call = |name: &str, args| build::function_call(name, args, t);
    let text = |s: &str| Expr::string(s.as_bytes(), CollationId::UTF8MB4_GENERAL_CI);
    let above = cmp(CompareOp::Gt, c(0), Expr::int(3))?;
    let odd = cmp(CompareOp::Eq, op(Modulo, c(1), Expr::int(2))?, Expr::int(1))?;
    let like = build::like(c(3), text("%b%"), None, false, t)?;
    Ok(vec![
        op(Add, c(0), c(1))?,
        op(Multiply, c(2), op(Subtract, Expr::int(1), c(2))?)?,
        op(Divide, c(2), c(1))?,
        op(IntDivide, c(0), c(1))?,
        op(Add, c(5), c(2))?,
        build::negate(c(2), t)?,
        above.clone(),
        build::and(vec![above.clone(), odd.clone(), like.clone()])?,
        build::or(vec![odd.clone(), like.clone(), above.clone()])?,
        build::not(build::and(vec![odd.clone(), above.clone()])?)?,
        build::case_searched(
            vec![(odd.clone(), c(2)), (above.clone(), c(1))],
            Some(Expr::int(7)),
            t,
        )?,
        build::if_else(like, c(3), text("other"), t)?,
        build::coalesce("coalesce", vec![c(1), c(2), Expr::int(0)], t)?,
        build::between(c(4), text("2020-03-01"), text("2020-09-01"), false, t)?,
        build::in_list(c(3), ["a", "b", "ABC", "zz"].map(text).to_vec(), true, t)?,
        build::in_list(c(0), (0..9).map(|i| Expr::int(i * 5)).collect(), false, t)?,
        cmp(CompareOp::NullSafeEq, c(1), Expr::null())?,
        cmp(CompareOp::Eq, c(3), Expr::int(10))?,
        cmp(CompareOp::Lt, c(2), c(5))?,
        call("CONCAT", vec![c(3), c(0), c(4)])?,
        call("ROUND", vec![c(2), Expr::int(1)])?,
        call("GREATEST", vec![c(0), c(1)])?,
        call("YEAR", vec![c(4)])?,
        call("LEFT", vec![c(3), c(0)])?,
        call("FIELD", vec![c(3), text("abc"), text("x1")])?,
        build::interval_add(c(4), c(0), selkie_expr::IntervalUnit::Day, false, t)?,
        build::cast(c(3), &SqlType::bigint(), t)?,
        build::is_null(c(1))?,
    ])
}

#[test]
fn batches_and_rows_agree() {
    let types = TypeContext::default();
    let (column_types, batch) = columns();
    let ctx = EvalContext::new(types.clone(), &NoSession, 0);
    for e in expressions(&column_types, &types).unwrap() {
        let whole = e.eval(&ctx, &batch).unwrap();
        let filter = (e.ty.kind == TypeKind::Int).then(|| e.eval_filter(&ctx, &batch).unwrap());
        for row in 0..ROWS {
            let one = e.eval(&ctx, &batch.slice(row, row + 1)).unwrap().value(0);
            assert_eq!(whole.value(row), one, "{e} at row {row}");
            if let Some(filter) = &filter {
                assert_eq!(filter.get(row), matches!(one, Value::Int(v) if v != 0), "{e}");
            }
        }
    }
}

fn aggregates(types: &[SqlType], t: &TypeContext) -> Vec<Aggregate> {
    use AggregateKind::*;
    let c = |at: usize| Expr::column(at, types[at].clone(), at > 0);
    let mut list = Vec::new();
    for kind in [Count, Sum, Avg, Min, Max, Variance, BitOr, BitXor] {
        for at in [0, 1, 2, 5] {
            for distinct in [false, true] {
                list.push(Aggregate::new(kind, distinct, vec![c(at)], t).unwrap());
            }
        }
    }
    list.push(Aggregate::new(Max, false, vec![c(3)], t).unwrap());
    list.push(Aggregate::new(Count, true, vec![c(3), c(1)], t).unwrap());
    let order = vec![(c(0), true), (c(3), false)];
    list.push(Aggregate::group_concat(true, vec![c(3)], order, Some("-"), None, t).unwrap());
    list
}

/// The results of an aggregate over groups `row % 3`, from batches of `size` rows.
fn aggregated(a: &Aggregate, batch: &Batch, size: usize, ctx: &EvalContext<'_>) -> Vec<Value> {
    let mut state = a.state();
    for from in (0..ROWS).step_by(size) {
        let part = batch.slice(from, (from + size).min(ROWS));
        let inputs: Vec<_> = a.inputs().map(|e| e.eval(ctx, &part).unwrap()).collect();
        let groups: Vec<u32> = (from..from + part.rows()).map(|row| row as u32 % 3).collect();
        state.update(Groups::Ids(&groups), 3, part.rows(), &inputs, ctx).unwrap();
    }
    let column = state.finish(ctx).unwrap();
    (0..3).map(|group| column.value(group)).collect()
}

#[test]
fn aggregates_do_not_depend_on_batches() {
    let types = TypeContext::default();
    let (column_types, batch) = columns();
    let ctx = EvalContext::new(types.clone(), &NoSession, 0);
    for a in aggregates(&column_types, &types) {
        let whole = aggregated(&a, &batch, ROWS, &ctx);
        assert_eq!(whole, aggregated(&a, &batch, 17, &ctx), "{:?}", a.kind);
        if !matches!(a.kind, AggregateKind::Avg | AggregateKind::Variance) {
            assert_eq!(whole, aggregated(&a, &batch, 1, &ctx), "{:?}", a.kind);
        }
    }
}

#[test]
fn states_merge() {
    let types = TypeContext::default();
    let (column_types, batch) = columns();
    let ctx = EvalContext::new(types.clone(), &NoSession, 0);
    let halves = [batch.slice(0, 90), batch.slice(90, ROWS)];
    for a in aggregates(&column_types, &types) {
        if a.kind == AggregateKind::Variance || !a.order_by.is_empty() {
            continue;
        }
        let mut states = halves.iter().map(|part| {
            let inputs: Vec<_> = a.inputs().map(|e| e.eval(&ctx, part).unwrap()).collect();
            let mut state = a.state();
            state.update(Groups::One, 1, part.rows(), &inputs, &ctx).unwrap();
            state
        });
        let (mut first, second) = (states.next().unwrap(), states.next().unwrap());
        first.merge(second, &[0], &ctx).unwrap();
        let mut whole = a.state();
        let inputs: Vec<_> = a.inputs().map(|e| e.eval(&ctx, &batch).unwrap()).collect();
        whole.update(Groups::One, 1, ROWS, &inputs, &ctx).unwrap();
        let (merged, whole) = (first.finish(&ctx).unwrap(), whole.finish(&ctx).unwrap());
        assert_eq!(merged.value(0), whole.value(0), "{:?}", a.kind);
    }
}
