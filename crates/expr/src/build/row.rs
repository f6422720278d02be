//! Row comparisons, rewritten as comparisons of their parts.
//! So the executor knows no rows: an `ExprKind::Row` is never evaluated.

use selkie_types::error::catalogue::ER_OPERAND_COLUMNS;
use selkie_types::{SqlError, SqlResult, SqlType, TypeKind, stack};

use super::compare::{
    CompareTypes, compare_types, compared, comparison_of_scalars, to_common, widest,
};
use super::hold::{hold, hold_each};
use super::{and, not, or};
use crate::cast::{self, wider_scale};
use crate::context::TypeContext;
use crate::expr::{CompareOp, Expr, ExprKind};
use crate::refuse::{illegal_types, is_row, parameter_name, refuse_widths};

/// The parts of two rows of equal width.
fn parts(op: CompareOp, a: Expr, b: Expr) -> SqlResult<(Vec<Expr>, Vec<Expr>)> {
    match (a.kind, b.kind) {
        (ExprKind::Row(a), ExprKind::Row(b)) if a.len() == b.len() => {
            a.iter().zip(&b).try_for_each(|(x, y)| refuse_widths(x, y))?;
            Ok((a, b))
        }
        (ExprKind::Row(a), ExprKind::Row(_)) => {
            Err(SqlError::new(&ER_OPERAND_COLUMNS, &[&a.len()]))
        }
        (ExprKind::Row(_), _) => Err(illegal_types(op.symbol(), "row", parameter_name(&b.ty))),
        _ => Err(illegal_types(op.symbol(), parameter_name(&a.ty), "row")),
    }
}

/// For each position of `value`, the type that compares with all of `items`; none if they are no
/// rows.
pub(super) fn common_types(value: &Expr, items: &[Expr]) -> Vec<Option<CompareTypes>> {
    let ExprKind::Row(places) = &value.kind else { return Vec::new() };
    let scalar = |e: &&Expr| !is_row(e) && e.ty.kind != TypeKind::Null;
    let beside = |at: usize| {
        let rows = items.iter().filter_map(move |item| match &item.kind {
            ExprKind::Row(row) => row.get(at),
            _ => None,
        });
        rows.filter(scalar)
    };
    let places = places.iter().enumerate();
    places.map(|(at, x)| beside(at).map(|y| compare_types(x, y)).reduce(widest)).collect()
}

/// `a = b`; positions of rows compare in the types `common`, where the result may differ from that
/// in their own types.
pub(super) fn equality(
    a: Expr,
    b: Expr,
    common: &[Option<CompareTypes>],
    types: &TypeContext,
) -> SqlResult<Expr> {
    if !is_row(&a) || !is_row(&b) {
        return comparison(CompareOp::Eq, a, b, types);
    }
    let (a, b) = parts(CompareOp::Eq, a, b)?;
    let mut equal = Vec::with_capacity(a.len());
    for ((mut x, mut y), common) in a.into_iter().zip(b).zip(common) {
        let scalars = !is_row(&x) && !is_row(&y);
        let own = compare_types(&x, &y);
        let cut = wider_scale(&x).or(wider_scale(&y)).is_some();
        equal.push(match common {
            Some(common) if scalars && (cut || is_other_equality(own, *common)) => {
                let by = to_common(*common, "in", &mut [&mut x, &mut y], types)?;
                compared(CompareOp::Eq, x, y, by)
            }
            _ if scalars => comparison_of_scalars(CompareOp::Eq, x, y, types)?,
            _ => comparison(CompareOp::Eq, x, y, types)?,
        });
    }
    and(equal)
}

/// Whether values may be equal in one of the two types and different in the other.
fn is_other_equality(own: CompareTypes, wider: CompareTypes) -> bool {
    use CompareTypes::*;
    !matches!((own, wider), (Integer | Decimal, Integer | Decimal) | (Date | DateTime, DateTime))
        && own != wider
}

/// `(a, b) op (c, d)`.
pub(super) fn comparison_of(
    op: CompareOp,
    a: Vec<Expr>,
    b: Vec<Expr>,
    types: &TypeContext,
) -> SqlResult<Expr> {
    let pairs = a.into_iter().zip(b);
    match op {
        CompareOp::Eq | CompareOp::NullSafeEq => {
            and(pairs.map(|(x, y)| place(op, x, y, types)).collect::<SqlResult<_>>()?)
        }
        CompareOp::Ne => not(and(pairs
            .map(|(x, y)| place(CompareOp::Eq, x, y, types))
            .collect::<SqlResult<_>>()?)?),
        _ => ordered(op, pairs.collect(), types),
    }
}

/// `a op b` at one position of rows; the operands may be rows again.
fn place(op: CompareOp, mut a: Expr, mut b: Expr, types: &TypeContext) -> SqlResult<Expr> {
    if is_row(&a) || is_row(&b) {
        return comparison(op, a, b, types);
    }
    if compare_types(&a, &b) == CompareTypes::String {
        cast::compare_extracted(&mut a, &mut b);
    }
    comparison_of_scalars(op, a, b, types)
}

/// Pairs of a part of a comparison by order, at least.
const WIDE: usize = 64;

/// Comparison by order: the first pair that differs decides. Wide rows are compared in parts, since
/// the expression has a level for each pair of a part and for each part.
fn ordered(op: CompareOp, pairs: Vec<(Expr, Expr)>, types: &TypeContext) -> SqlResult<Expr> {
    if pairs.len() <= WIDE {
        return ordered_part(op, pairs, (op_before(op), types));
    }
    let fields = pairs.into_iter().flat_map(|(x, y)| [x, y]).collect();
    let row = Expr::new(ExprKind::Row(fields), SqlType::null(), true);
    hold(row, |row| {
        let ExprKind::Row(fields) = row.kind else { return Err(SqlError::internal("no row")) };
        let mut fields = fields.into_iter();
        let pairs = std::iter::from_fn(|| Some((fields.next()?, fields.next()?)));
        ordered_in_parts(op, pairs.collect(), types)
    })
}

/// The comparison of the pairs before the last one.
fn op_before(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Le => CompareOp::Lt,
        CompareOp::Ge => CompareOp::Gt,
        other => other,
    }
}

fn ordered_in_parts(
    op: CompareOp,
    mut pairs: Vec<(Expr, Expr)>,
    types: &TypeContext,
) -> SqlResult<Expr> {
    let strict = op_before(op);
    let width = pairs.len().isqrt().max(WIDE);
    // The last part has the remaining pairs, so that each other part can be cut off behind.
    let first_of_last = pairs.len().saturating_sub(1) / width * width;
    let mut result = ordered_part(op, pairs.split_off(first_of_last), (strict, types))?;
    while !pairs.is_empty() {
        let part = pairs.split_off(pairs.len() - width);
        let same = part.iter().map(|(x, y)| place(CompareOp::Eq, x.clone(), y.clone(), types));
        let same = and(same.collect::<SqlResult<Vec<Expr>>>()?)?;
        let before = ordered_part(strict, part, (strict, types))?;
        result = or(vec![before, and(vec![same, result])?])?;
    }
    Ok(result)
}

/// `strict` decides before the last pair, `op` at the last.
fn ordered_part(
    op: CompareOp,
    mut pairs: Vec<(Expr, Expr)>,
    (strict, types): (CompareOp, &TypeContext),
) -> SqlResult<Expr> {
    let Some((x, y)) = pairs.pop() else {
        return Ok(Expr::boolean(true));
    };
    let mut result = place(op, x, y, types)?;
    while let Some((x, y)) = pairs.pop() {
        result = hold_each([x, y], |[x, y]| {
            let before = place(strict, x.clone(), y.clone(), types)?;
            let same = place(CompareOp::Eq, x, y, types)?;
            or(vec![before, and(vec![same, result])?])
        })?;
    }
    Ok(result)
}

/// `a op b`, at least one of which is a row.
pub(super) fn comparison(op: CompareOp, a: Expr, b: Expr, types: &TypeContext) -> SqlResult<Expr> {
    stack::check()?;
    if !matches!((&a.kind, &b.kind), (ExprKind::Row(_), _) | (_, ExprKind::Row(_))) {
        return super::comparison(op, a, b, types);
    }
    let (a, b) = parts(op, a, b)?;
    comparison_of(op, a, b, types)
}
