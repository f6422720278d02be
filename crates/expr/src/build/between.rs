//! BETWEEN and IN.
//! Compat: the types of comparison are chosen per item or for all items, exactly as MariaDB does.

use selkie_types::{SqlResult, TypeKind};

use super::compare::{
    CompareTypes, compare_types, compared, convert, convert_looked_for, to_common, widest,
};
use super::hold::hold;
use super::{and, comparison, not, or, row};
use crate::context::TypeContext;
use crate::expr::{CallOption, CompareBy, CompareOp, Expr, ExprKind, InList};
use crate::function::Binding;
use crate::refuse::{refuse_beside, refuse_mixed, refuse_row};
use crate::result_type::boolean_type;

/// `value [NOT] BETWEEN low AND high`.
///
/// If `value` is cheap to evaluate twice, the result is two comparisons, which the planner can turn
/// into a range; otherwise it is a call.
pub fn between(
    value: Expr,
    low: Expr,
    high: Expr,
    negated: bool,
    types: &TypeContext,
) -> SqlResult<Expr> {
    let (mut value, mut low, mut high) = (value, low, high);
    [&value, &low, &high].into_iter().try_for_each(refuse_row)?;
    let by = convert("between", &mut [&mut value, &mut low, &mut high], types)?;
    if is_simple(&value) {
        let above = compared(CompareOp::Ge, value.clone(), low, by);
        let below = compared(CompareOp::Le, value, high, by);
        if negated {
            return or(vec![not(above)?, not(below)?]);
        }
        return and(vec![above, below]);
    }
    let function = &crate::functions::logic::BETWEEN;
    let mut binding = Binding::new(function, vec![value, low, high], types);
    binding.option = CallOption::compared_by(by);
    if let CompareBy::Bytes(collation) = by {
        binding.collation = collation;
    }
    let inside = function.bind(binding)?;
    if negated { not(inside) } else { Ok(inside) }
}

fn is_simple(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Column(_) | ExprKind::Literal(_) | ExprKind::Parameter(_) => true,
        // A string may give a warning, which must come only once.
        ExprKind::Call(c) if c.function.is_implicit() => {
            c.args.first().is_some_and(|arg| !arg.ty.is_string() && is_simple(arg))
        }
        _ => false,
    }
}

/// `value [NOT] IN (items)`.
pub fn in_list(
    value: Expr,
    items: Vec<Expr>,
    negated: bool,
    types: &TypeContext,
) -> SqlResult<Expr> {
    let wrap = |e: Expr| if negated { not(e) } else { Ok(e) };
    if items.len() > 1 {
        refuse_mixed("in", &value, &items)?;
        let all: Vec<&Expr> = std::iter::once(&value).chain(&items).collect();
        refuse_beside("in", &all)?;
    }
    if items.len() == 1 {
        return wrap(equalities(value, items, types)?.remove(0));
    }
    hold(value, |value| match value.kind {
        ExprKind::Row(_) => wrap(or(equalities(value, items, types)?)?),
        _ => wrap(list(value, items, types)?),
    })
}

/// `value = item` for each item.
///
/// Compat: a position of rows compares in one type for all items.
fn equalities(value: Expr, items: Vec<Expr>, types: &TypeContext) -> SqlResult<Vec<Expr>> {
    let common = row::common_types(&value, &items);
    let one = items.len() == 1;
    let equal = |item| match one {
        true => comparison(CompareOp::Eq, value.clone(), item, types),
        false => row::equality(value.clone(), item, &common, types),
    };
    items.into_iter().map(equal).collect()
}

/// Compat: each item compares with the value in the type of this pair; items with the same type
/// form one list.
fn list(value: Expr, items: Vec<Expr>, types: &TypeContext) -> SqlResult<Expr> {
    let mut groups: Vec<(CompareTypes, Expr, Vec<Expr>)> = Vec::new();
    for mut item in items {
        let mut v = value.clone();
        convert_looked_for(&mut [&mut v, &mut item], types);
        let by = match item.ty.kind {
            TypeKind::Null => groups.first().map_or_else(|| compare_types(&v, &item), |g| g.0),
            _ => compare_types(&v, &item),
        };
        match groups.iter_mut().find(|g| g.0 == by) {
            Some(group) => group.2.push(item),
            None => groups.push((by, v, vec![item])),
        }
    }
    let lists: Vec<Expr> = groups
        .into_iter()
        .map(|(by, value, items)| one_list(value, items, by, types))
        .collect::<SqlResult<_>>()?;
    if lists.len() == 1 {
        Ok(lists.into_iter().next().unwrap_or_else(Expr::null))
    } else {
        or(lists)
    }
}

fn one_list(
    mut value: Expr,
    mut items: Vec<Expr>,
    by: CompareTypes,
    types: &TypeContext,
) -> SqlResult<Expr> {
    let mut all: Vec<&mut Expr> = std::iter::once(&mut value).chain(&mut items).collect();
    let by = to_common(widest(by, by), "in", &mut all, types)?;
    let nullable = value.nullable || items.iter().any(|i| i.nullable);
    let list = InList { value, items, by, set: Default::default() };
    Ok(Expr::new(ExprKind::InList(Box::new(list)), boolean_type(), nullable))
}
