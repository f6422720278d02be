//! For EXPLAIN: whether conditions on a table that is read by an index need the index's entries
//! alone, or also the rows.
//!
//! Must not influence a plan.

use selkie_engine::IndexKind;
use selkie_expr::{Expr, ExprKind};

use super::access::Path;
use super::bounds::Bounds;
use super::lookup::Lookup;
use crate::logical::RelationInfo;
use crate::physical::Tested;

/// The conditions on a scan by `path`.
pub(super) fn tested_on(info: &RelationInfo, conditions: &[Expr], path: &Path) -> Tested {
    let Some(index) = path.index.filter(|_| path.bounds.restricts()) else {
        return Tested::default();
    };
    let answered = answered_by_key(info, index, conditions, &path.bounds);
    let left = conditions.iter().enumerate().filter(|(at, _)| !answered.contains(at));
    let tested = sorted_out(info, index, left.map(|(_, condition)| condition));
    // Compat: entries that are read backwards are not tested before their rows.
    if path.reverse || path.unique { tested.with_rows_only() } else { tested }
}

/// The conditions on a lookup: those of the table, and those of the join.
pub(super) fn tested_beside<'e>(
    info: &RelationInfo,
    lookup: &Lookup,
    conditions: impl Iterator<Item = &'e Expr>,
) -> Tested {
    let mut tested = sorted_out(info, lookup.index, conditions);
    let kept = keeps_comparison(info, lookup.index, &lookup.keys, &lookup.null_safe);
    if kept {
        let entries = has_entries_to_test(info, lookup.index);
        (tested.entries, tested.rows) = (tested.entries | entries, tested.rows | !entries);
    }
    tested
}

fn sorted_out<'e>(
    info: &RelationInfo,
    index: usize,
    conditions: impl Iterator<Item = &'e Expr>,
) -> Tested {
    let possible = has_entries_to_test(info, index);
    let mut tested = Tested::default();
    for condition in conditions {
        match possible && is_in_entry(info, index, condition) {
            true => tested.entries = true,
            false => tested.rows = true,
        }
    }
    tested
}

/// Whether there are entries beside the rows. Compat: some engines and partitioned tables are not
/// asked to test them.
fn has_entries_to_test(info: &RelationInfo, index: usize) -> bool {
    let keys = &info.table.engine.keys;
    let of_rows = keys.clustered && info.table.def.indexes[index].kind == IndexKind::Primary;
    !of_rows && !keys.unordered && info.table.partitions.is_none()
}

/// Whether all columns of the table that a condition reads are in the entries of an index.
fn is_in_entry(info: &RelationInfo, index: usize, condition: &Expr) -> bool {
    let clustered = info.table.def.primary().filter(|_| info.table.engine.keys.clustered);
    let index = &info.table.def.indexes[index];
    let held = |column: usize| {
        let in_key = index.holds(column) || clustered.is_some_and(|key| key.holds(column));
        in_key && !info.table.columns[column].ty.is_text_or_blob()
    };
    let own = |id: &usize| id.checked_sub(info.first).filter(|at| *at < info.table.columns.len());
    !condition.has_subquery() && condition.columns().iter().filter_map(own).all(held)
}

/// Positions of the conditions that the key of a lookup by constants answers.
fn answered_by_key(
    info: &RelationInfo,
    index: usize,
    conditions: &[Expr],
    bounds: &Bounds,
) -> Vec<usize> {
    let [range] = &bounds.ranges[..] else { return Vec::new() };
    if bounds.bounded || bounds.used.len() != range.equal.len() {
        return Vec::new();
    }
    let parts = range.equal.iter().zip(&range.null_safe).enumerate();
    let answered = parts.filter(|(at, (value, null_safe))| {
        let parts = &info.table.def.indexes[index].parts;
        parts.get(*at).is_some_and(|part| {
            part.prefix.is_none() && !**null_safe && !keeps_part(info, part.column, value)
        })
    });
    let used = answered.map(|(at, _)| bounds.used[at]);
    used.filter(|at| *at < conditions.len()).collect()
}

fn keeps_comparison(info: &RelationInfo, index: usize, keys: &[Expr], null_safe: &[bool]) -> bool {
    let values = keys.iter().zip(null_safe);
    let mut parts = info.table.def.indexes[index].parts.iter().zip(values);
    parts.any(|(part, (key, null_safe))| *null_safe || keeps_part(info, part.column, key))
}

/// Compat: whether a column found by `=` is compared again. It is, unless the value is a column of
/// the same type or a constant that is not a string.
fn keeps_part(info: &RelationInfo, column: usize, value: &Expr) -> bool {
    let ty = &info.table.columns[column].ty;
    match value.kind {
        // A column of this block, or one of an outer block.
        ExprKind::Column(_) | ExprKind::Parameter(_) => value.ty != ty.of_operand(),
        ExprKind::Literal(_) => ty.is_string(),
        _ => true,
    }
}
