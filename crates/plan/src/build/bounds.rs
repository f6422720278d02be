//! Index ranges from the conditions on a table.
//!
//! A condition is usable when it compares the bare column. A converted column has another order
//! than its index, except for the conversions in [`is_key`].

use std::cmp::Ordering;

use selkie_engine::{IndexDef, IndexKind, IndexPart, LockMode};
use selkie_expr::{CallOption, CompareBy, CompareOp, Expr, ExprKind};
use selkie_types::{Physical, TypeKind, Value, stack};

use crate::logical::{ColumnId, RelationInfo};
use crate::physical::{KeyRange, RangeBound};

/// Maximum number of ranges made by combining IN lists; more are not worth their cost.
const MANY_RANGES: usize = 1_000;

/// Ranges of an index that conditions allow.
#[derive(Clone, Debug, Default)]
pub(super) struct Bounds {
    /// The ranges.
    pub ranges: Vec<KeyRange>,
    /// Number of leading parts with one fixed value in each range.
    pub equal_parts: usize,
    /// Whether the part after them is bounded.
    pub bounded: bool,
    /// Positions of the conditions that all rows in the ranges satisfy.
    pub exact: Vec<usize>,
    /// Positions of the conditions used for the ranges, exact or not.
    pub used: Vec<usize>,
}

impl Bounds {
    /// Whether the ranges are less than the whole index.
    pub(super) fn restricts(&self) -> bool {
        self.equal_parts > 0 || self.bounded
    }
}

/// A restriction of a column by a condition.
enum Restriction<'a> {
    Equal(&'a Expr, bool),
    Null,
    OneOf(&'a [Expr]),
    /// The values that the branches of an OR name, and whether each is null-safe.
    AnyOf(Vec<(Expr, bool)>),
    Lower(&'a Expr, bool),
    Upper(&'a Expr, bool),
    Like(&'a Expr, u32),
    NotNull,
}

/// The ranges of an index of `relation` that `conditions` allow; `None` if they do not restrict its
/// first part.
pub(super) fn bounds(
    relation: &RelationInfo,
    index: &IndexDef,
    conditions: &[Expr],
) -> Option<Bounds> {
    let mut found = conjunction(relation, index, conditions);
    if !found.restricts() {
        found = alternatives(relation, index, conditions)
            .or_else(|| beside(relation, index, conditions))?;
    }
    Some(found)
}

/// The ranges that `conditions` allow of the parts of an index behind the first `from`, as if the
/// index began there; `None` if they do not restrict the first of them.
pub(super) fn bounds_behind(
    relation: &RelationInfo,
    index: &IndexDef,
    from: usize,
    conditions: &[Expr],
) -> Option<Bounds> {
    let parts = index.parts.get(from..).filter(|parts| !parts.is_empty())?;
    // Not what follows the index: its own first parts are not known there.
    let rest = IndexDef { parts: parts.to_vec(), kind: IndexKind::Unique, ..index.clone() };
    bounds(relation, &rest, conditions)
}

/// The ranges of an index that a conjunction of conditions allows, possibly unrestricted.
pub(super) fn conjunction(
    relation: &RelationInfo,
    index: &IndexDef,
    conditions: &[Expr],
) -> Bounds {
    let mut bounds = Bounds { ranges: vec![KeyRange::default()], ..Bounds::default() };
    for part in index.parts.iter().chain(key_behind(relation, index)) {
        let column = relation.first + part.column;
        let whole = part.prefix.is_none();
        if !add_equal(&mut bounds, relation, column, whole, conditions) {
            if !part.descending {
                add_range(&mut bounds, relation, column, whole, conditions);
            }
            break;
        }
        bounds.equal_parts += 1;
    }
    bounds
}

/// The parts of the clustered key that follow the parts of a non-unique index. Empty if the index
/// has a part of the clustered key, because that part would occur twice in the entries, and for a
/// table in partitions, where the number of the leaf comes first behind an index's parts.
fn key_behind<'a>(relation: &'a RelationInfo, index: &IndexDef) -> &'a [IndexPart] {
    let follows =
        |key: &&IndexDef| !index.is_unique() && !key.parts.iter().any(|p| index.holds(p.column));
    let primary = relation.table.def.primary().filter(|_| relation.table.partitions.is_none());
    primary.filter(follows).map_or(&[], |key| &key.parts)
}

/// Extends all ranges by the values that a condition gives the next part.
fn add_equal(
    bounds: &mut Bounds,
    relation: &RelationInfo,
    column: ColumnId,
    whole: bool,
    conditions: &[Expr],
) -> bool {
    for (at, condition) in conditions.iter().enumerate() {
        let Some(restriction) = restriction(condition, relation, column) else { continue };
        let values: Vec<(Expr, bool)> = match restriction {
            Restriction::Equal(value, null_safe) => vec![(value.clone(), null_safe)],
            Restriction::Null => vec![(Expr::null(), true)],
            Restriction::OneOf(items) if bounds.ranges.len() * items.len() <= MANY_RANGES => {
                items.iter().map(|item| (item.clone(), false)).collect()
            }
            Restriction::AnyOf(values) if bounds.ranges.len() * values.len() <= MANY_RANGES => {
                values
            }
            _ => continue,
        };
        let exact = whole && values.iter().all(|(v, _)| is_exact(v, relation, column));
        bounds.ranges = bounds
            .ranges
            .iter()
            .flat_map(|range| {
                values.iter().map(|(value, null_safe)| {
                    let mut range = range.clone();
                    range.equal.push(value.clone());
                    range.null_safe.push(*null_safe);
                    range
                })
            })
            .collect();
        bounds.used.push(at);
        if exact {
            bounds.exact.push(at);
        }
        return true;
    }
    false
}

/// Bounds the next part in all ranges.
fn add_range(
    bounds: &mut Bounds,
    relation: &RelationInfo,
    column: ColumnId,
    whole: bool,
    conditions: &[Expr],
) {
    let (mut lower, mut upper, mut like, mut not_null) = (None, None, None, false);
    for (at, condition) in conditions.iter().enumerate() {
        let Some(restriction) = restriction(condition, relation, column) else { continue };
        match restriction {
            Restriction::Lower(value, included) if is_tighter(value, &lower, Ordering::Greater) => {
                lower = Some((at, value, included));
            }
            Restriction::Upper(value, included) if is_tighter(value, &upper, Ordering::Less) => {
                upper = Some((at, value, included));
            }
            Restriction::Like(pattern, escape) if like.is_none() => {
                like = Some((at, pattern, escape));
            }
            Restriction::NotNull => not_null = true,
            _ => {}
        }
    }
    let ends = [lower.as_ref(), upper.as_ref()];
    for (at, value, _) in ends.into_iter().flatten() {
        bounds.used.push(*at);
        bounds.bounded = true;
        if whole && is_exact(value, relation, column) {
            bounds.exact.push(*at);
        }
    }
    let bound = |end: Option<(usize, &Expr, bool)>| match end {
        None => RangeBound::Unbounded,
        Some((_, value, true)) => RangeBound::Included(value.clone()),
        // No value is above NULL. An excluded NULL as lower bound would allow all other values.
        Some((_, value, false)) if value.as_literal().is_some_and(Value::is_null) => {
            RangeBound::Included(value.clone())
        }
        Some((_, value, false)) => RangeBound::Excluded(value.clone()),
    };
    let (lower, upper) = (bound(lower), bound(upper));
    let unbounded = !bounds.bounded;
    for range in &mut bounds.ranges {
        range.lower = lower.clone();
        range.upper = upper.clone();
        if let Some((_, pattern, escape)) = like.filter(|_| unbounded) {
            range.like = Some((pattern.clone(), escape));
        } else if not_null && unbounded {
            range.lower = RangeBound::Excluded(Expr::null());
        }
    }
    if unbounded && let Some((at, ..)) = like {
        bounds.used.push(at);
        bounds.bounded = true;
    }
    bounds.bounded |= not_null;
}

/// Whether a bound restricts more than the one before it.
fn is_tighter(value: &Expr, before: &Option<(usize, &Expr, bool)>, tighter: Ordering) -> bool {
    let Some((_, before, _)) = before else { return true };
    match (value.as_literal(), before.as_literal()) {
        (Some(Value::Int(value)), Some(Value::Int(before))) => value.cmp(before) == tighter,
        _ => false,
    }
}

/// The ranges of an OR. Each of its branches must restrict the first part. Conditions beside the OR
/// restrict later parts, unless that makes too many ranges.
fn alternatives(relation: &RelationInfo, index: &IndexDef, conditions: &[Expr]) -> Option<Bounds> {
    let columns = || index.parts.iter().chain(key_behind(relation, index)).map(|p| p.column);
    let restricts = |condition: &&Expr| {
        columns().any(|c| restriction(condition, relation, relation.first + c).is_some())
    };
    conditions.iter().enumerate().find_map(|(at, condition)| {
        let ExprKind::Or(branches) = &condition.kind else { return None };
        // Without those beside it first: of thousands of ORs, most restrict nothing.
        let alone = of_branches(relation, index, branches, &[])?;
        let beside: Vec<Expr> = conditions.iter().filter(restricts).cloned().collect();
        let narrowed = of_branches(relation, index, branches, &beside);
        let (mut all, exact) = narrowed.unwrap_or(alone);
        all.used.push(at);
        all.exact.extend(exact.then_some(at));
        Some(all)
    })
}

/// The ranges of all `branches`, each together with the conditions `beside` them, and whether all
/// rows in the ranges satisfy a branch.
fn of_branches(
    relation: &RelationInfo,
    index: &IndexDef,
    branches: &[Expr],
    beside: &[Expr],
) -> Option<(Bounds, bool)> {
    let mut all = Bounds { equal_parts: usize::MAX, ..Bounds::default() };
    let mut exact = true;
    for branch in branches {
        let mut parts = branch.clone().into_conjuncts();
        let own = parts.len();
        parts.extend_from_slice(beside);
        let branch = conjunction(relation, index, &parts);
        if !branch.restricts() {
            return None;
        }
        exact &= (0..own).all(|part| branch.exact.contains(&part));
        all.equal_parts = all.equal_parts.min(branch.equal_parts);
        all.bounded |= branch.bounded;
        all.ranges.extend(branch.ranges);
    }
    (all.ranges.len() <= MANY_RANGES).then_some((all, exact))
}

/// The ranges on both sides of a value that the first part must not have.
fn beside(relation: &RelationInfo, index: &IndexDef, conditions: &[Expr]) -> Option<Bounds> {
    let part = index.parts.first().filter(|part| part.prefix.is_none() && !part.descending)?;
    let column = relation.first + part.column;
    let (at, value) = conditions.iter().enumerate().find_map(|(at, condition)| {
        let ExprKind::Compare(compare) = &condition.kind else { return None };
        let value = match is_key(&compare.left, relation, column) {
            true => &compare.right,
            false if is_key(&compare.right, relation, column) => &compare.left,
            false => return None,
        };
        let usable = compare.op == CompareOp::Ne
            && is_fixed(value)
            && same_order(compare.by, relation, column)
            && is_exact(value, relation, column)
            && !value.as_literal().is_some_and(Value::is_null);
        usable.then_some((at, value))
    })?;
    let excluded = || RangeBound::Excluded(value.clone());
    let ranges = vec![
        KeyRange { upper: excluded(), ..KeyRange::default() },
        KeyRange { lower: excluded(), ..KeyRange::default() },
    ];
    let exact = vec![at];
    Some(Bounds { ranges, equal_parts: 0, bounded: true, used: exact.clone(), exact })
}

/// The restriction of `column` by `condition`, if there is one.
fn restriction<'a>(
    condition: &'a Expr,
    relation: &RelationInfo,
    column: ColumnId,
) -> Option<Restriction<'a>> {
    match &condition.kind {
        ExprKind::Compare(compare) => {
            let (op, value) = if is_key(&compare.left, relation, column) {
                (compare.op, &compare.right)
            } else if is_key(&compare.right, relation, column) {
                (compare.op.swapped(), &compare.left)
            } else {
                return None;
            };
            if !is_fixed(value) || !same_order(compare.by, relation, column) {
                return None;
            }
            let is_null = matches!(&value.kind, ExprKind::Literal(Value::Null));
            if is_null && !matches!(op, CompareOp::Eq | CompareOp::NullSafeEq) {
                return None;
            }
            // `<=>` finds the same rows as `=` if one side is never NULL.
            let finds_null =
                value.nullable && relation.table.columns[column - relation.first].nullable;
            Some(match op {
                CompareOp::Eq => Restriction::Equal(value, false),
                CompareOp::NullSafeEq => Restriction::Equal(value, finds_null),
                CompareOp::Gt => Restriction::Lower(value, false),
                CompareOp::Ge => Restriction::Lower(value, true),
                CompareOp::Lt => Restriction::Upper(value, false),
                CompareOp::Le => Restriction::Upper(value, true),
                CompareOp::Ne => return None,
            })
        }
        ExprKind::InList(list) => {
            let usable = is_key(&list.value, relation, column)
                && list.items.iter().all(is_fixed)
                && same_order(list.by, relation, column);
            usable.then_some(Restriction::OneOf(&list.items))
        }
        ExprKind::Or(branches) => values_of(branches, relation, column).map(Restriction::AnyOf),
        ExprKind::IsNull(inner) => is_column(inner, column).then_some(Restriction::Null),
        ExprKind::Not(inner) => match &inner.kind {
            ExprKind::IsNull(value) if is_column(value, column) => Some(Restriction::NotNull),
            _ => None,
        },
        ExprKind::Call(call) if call.function.name() == "LIKE" => {
            let (value, pattern) = (call.args.first()?, call.args.get(1)?);
            let escape = match call.option {
                CallOption::Number(code) => u32::try_from(code).ok()?,
                _ => return None,
            };
            let usable = is_column(value, column)
                && call.collation == value.ty.collation
                && is_fixed(pattern)
                && !starts_with_wildcard(pattern);
            usable.then_some(Restriction::Like(pattern, escape))
        }
        _ => None,
    }
}

/// The values of `column` that an OR allows, if each of its branches names some.
fn values_of(
    branches: &[Expr],
    relation: &RelationInfo,
    column: ColumnId,
) -> Option<Vec<(Expr, bool)>> {
    stack::ensure();
    let mut values = Vec::new();
    for branch in branches {
        match restriction(branch, relation, column)? {
            Restriction::Equal(value, null_safe) => values.push((value.clone(), null_safe)),
            Restriction::Null => values.push((Expr::null(), true)),
            Restriction::OneOf(items) => {
                values.extend(items.iter().map(|item| (item.clone(), false)));
            }
            Restriction::AnyOf(more) => values.extend(more),
            _ => return None,
        }
    }
    Some(values)
}

/// Whether a condition excludes single values of the first part of an index. Compat: the ranges
/// between them count as a possible access path, although hardly ever a good one.
pub(super) fn leaves_out(relation: &RelationInfo, index: &IndexDef, condition: &Expr) -> bool {
    let column = relation.first + index.parts[0].column;
    let key = |e: &Expr, by| is_key(e, relation, column) && same_order(by, relation, column);
    match &condition.kind {
        ExprKind::Compare(c) if c.op == CompareOp::Ne => {
            key(&c.left, c.by) && is_fixed(&c.right) || key(&c.right, c.by) && is_fixed(&c.left)
        }
        ExprKind::Not(inner) => match &inner.kind {
            ExprKind::InList(list) => key(&list.value, list.by) && list.items.iter().all(is_fixed),
            _ => false,
        },
        _ => false,
    }
}

fn starts_with_wildcard(pattern: &Expr) -> bool {
    match pattern.as_literal() {
        Some(Value::Bytes(bytes)) => matches!(bytes.first(), None | Some(b'%' | b'_')),
        _ => false,
    }
}

fn is_column(expr: &Expr, column: ColumnId) -> bool {
    expr.as_column() == Some(column)
}

/// Whether an expression is the column, or the column converted to a type in which its values keep
/// their order. The executor finds the position of a value of that type among the column's values.
pub(super) fn is_key(expr: &Expr, relation: &RelationInfo, column: ColumnId) -> bool {
    if is_column(expr, column) {
        return true;
    }
    let ExprKind::Call(call) = &expr.kind else { return false };
    let wrapped =
        call.function.is_implicit() && call.args.len() == 1 && is_column(&call.args[0], column);
    if !wrapped {
        return false;
    }
    let from = &relation.table.columns[column - relation.first].ty;
    match expr.ty.physical() {
        Physical::Double | Physical::Decimal => from.is_integer() || from.kind == TypeKind::Year,
        Physical::DateTime => matches!(from.kind, TypeKind::Date | TypeKind::Timestamp),
        _ => false,
    }
}

/// Whether an expression has one value during a whole scan.
fn is_fixed(expr: &Expr) -> bool {
    expr.is_deterministic()
        && !expr.has_side_effects()
        && !expr.any(&mut |e| match &e.kind {
            ExprKind::Column(_) | ExprKind::Stored(_) => true,
            ExprKind::Subquery(s) => s.reads_rows(),
            _ => false,
        })
}

/// Whether a comparison uses the order of the column's index.
pub(super) fn same_order(by: CompareBy, relation: &RelationInfo, column: ColumnId) -> bool {
    let ty = &relation.table.columns[column - relation.first].ty;
    match by {
        CompareBy::Bytes(collation) => {
            (ty.is_string() || ty.fixed_binary().is_some()) && ty.collation == collation
        }
        _ => !ty.is_string(),
    }
}

/// Whether the key column can certainly hold a value without change.
fn is_exact(value: &Expr, relation: &RelationInfo, column: ColumnId) -> bool {
    let ty = &relation.table.columns[column - relation.first].ty;
    if value.ty.is_integer() && ty.is_integer() {
        // Other signs are included: a number out of the column's range makes an unbounded range or
        // an empty one.
        return true;
    }
    if ty.kind == TypeKind::Timestamp && value.ty.kind != TypeKind::Timestamp {
        // A local time may occur twice when clocks change, and the times around it too.
        return false;
    }
    let same = value.ty.physical() == ty.physical() && value.ty.collation == ty.collation;
    same && value.ty.decimals == ty.decimals && !ty.is_text_or_blob()
}

/// Whether all columns read are whole parts of the index or of the clustered key.
pub(super) fn covers_with_key(info: &RelationInfo, index: &IndexDef, columns: &[usize]) -> bool {
    let clustered = info.table.def.primary();
    let keyed = |c: usize| clustered.is_some_and(|key| key.holds(c));
    columns.iter().all(|&c| info.is_computed(c) || index.holds(c) || keyed(c))
}

/// Whether the entries of an index hold all columns read. They hold the whole (not prefix) parts of
/// the index, and the leading integers of the clustered key, which can be decoded from it. Computed
/// columns follow from the parts.
///
/// A locking read uses the parts only: for the clustered key it reads the row, which it must lock
/// anyway.
pub(super) fn covers(info: &RelationInfo, index: &IndexDef, columns: &[usize]) -> bool {
    let by_parts = columns.iter().all(|&c| info.is_computed(c) || index.holds(c));
    let in_key = |c| !info.is_computed(c) && is_in_key(info, c);
    by_parts || info.lock == LockMode::None && columns.iter().all(|&c| index.holds(c) || in_key(c))
}

fn is_in_key(info: &RelationInfo, column: usize) -> bool {
    let parts = info.table.def.primary().map_or(&[][..], |key| &key.parts);
    let mut numbers = parts.iter().take_while(|p| info.table.columns[p.column].ty.is_integer());
    numbers.any(|part| part.column == column)
}
