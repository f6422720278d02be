//! The share of rows that EXPLAIN shows as `filtered`: by MariaDB's rules, from ranges of indexes
//! that are not used and from engine-independent statistics.
//!
//! Must not influence a plan, whose own estimates know more. Computed for EXPLAIN alone: it asks
//! the engine for ranges.

use selkie_engine::{DistinctKeys, IndexDef, IndexId, IndexKind, IndexPart};
use selkie_expr::{CompareOp, Expr, ExprKind};

use super::Builder;
use super::access::Path;
use super::bounds::bounds;
use super::lookup::Lookup;
use crate::estimate::{has_persistent, table_rows};
use crate::logical::{ColumnId, RelationInfo};

/// Least level of `optimizer_use_condition_selectivity` that combines the ranges of several
/// indexes. Below it, the least range counts for a table that is read whole, and none for others.
const OTHER_RANGES: u8 = 2;
/// Least level that reads statistics of columns.
const STATISTICS: u8 = 3;

impl Builder<'_> {
    /// The share of the rows of `path` that its other conditions leave, in percent.
    pub(super) fn shown_share(&self, info: &RelationInfo, conditions: &[Expr], path: &Path) -> f64 {
        // Compat: an index that is read in its order alone tells of no other one.
        let ordered = path.index.is_some() && !path.bounds.restricts() && path.order.has_keys();
        if path.unique || ordered {
            return 100.0;
        }
        let mut used: Vec<usize> = Vec::new();
        if let Some(index) = path.index {
            let parts = path.bounds.equal_parts.saturating_add(usize::from(path.bounds.bounded));
            let columns = info.table.def.indexes[index].parts.iter().map(|part| part.column);
            used.extend(columns.take(parts));
        }
        for (index, _) in &path.union {
            used.extend(info.table.def.indexes[*index].parts.first().map(|part| part.column));
        }
        self.shown_share_beside(info, conditions, &used)
    }

    /// The share of the rows that conditions on columns other than `used` leave, in percent.
    pub(super) fn shown_share_beside(
        &self,
        info: &RelationInfo,
        conditions: &[Expr],
        used: &[usize],
    ) -> f64 {
        let Some(level) = self.source.shown_level() else { return 100.0 };
        let columns = 0..info.table.columns.len();
        let others = columns.filter(|column| !used.contains(column));
        let known =
            others.filter_map(|column| self.shown_column(info, conditions, (column, used), level));
        let share = match (level >= OTHER_RANGES, used.is_empty()) {
            (true, _) => known.product::<f64>(),
            (false, true) => known.fold(1.0, f64::min),
            (false, false) => 1.0,
        };
        share * 100.0
    }

    /// The share of rows that the ranges of one column leave; `None` if nothing is known of it.
    /// Conditions on the columns `used` elsewhere make ranges of an index over both narrower.
    fn shown_column(
        &self,
        info: &RelationInfo,
        conditions: &[Expr],
        (column, used): (usize, &[usize]),
        level: u8,
    ) -> Option<f64> {
        let id = info.first + column;
        let reads_only = |c: &Expr, wanted: &dyn Fn(ColumnId) -> bool| {
            let columns = c.columns();
            !columns.is_empty() && columns.iter().all(|read| wanted(*read)) && !is_unequal(c)
        };
        let of_column = |c: &&Expr| reads_only(c, &|read| read == id);
        let own: Vec<Expr> = conditions.iter().filter(of_column).cloned().collect();
        if own.is_empty() {
            return None;
        }
        let rows = table_rows(&info.table, self.source);
        let first = |index: &IndexDef| {
            index.parts.first().is_some_and(|part| part.column == column && part.prefix.is_none())
        };
        let index = info.table.def.indexes.iter().position(first);
        if let Some(at) = index.filter(|at| info.table.is_searchable(*at)) {
            let elsewhere = |read: ColumnId| used.iter().any(|column| info.first + column == read);
            let of_used = conditions.iter().filter(|c| reads_only(c, &elsewhere)).cloned();
            let all: Vec<Expr> = own.into_iter().chain(of_used).collect();
            let found = bounds(info, &info.table.def.indexes[at], &all)?;
            return Some((self.range_rows(info, at, &found, &all, rows) / rows).min(1.0));
        }
        let alone = IndexDef {
            id: IndexId(u32::MAX),
            name: "".into(),
            kind: IndexKind::Plain,
            parts: vec![IndexPart { column, prefix: None, descending: false }],
            hashed: false,
            without_overlaps: false,
        };
        bounds(info, &alone, &own).filter(|_| level >= STATISTICS)?;
        let known = has_persistent(&info.table, column, self.source);
        known.then(|| self.shown_by_statistics(&own).clamp(1.0 / rows, 1.0))
    }
}

impl Builder<'_> {
    /// Rows that a lookup of a join is said to find per key.
    pub(super) fn shown_rows_of(&self, info: &RelationInfo, lookup: &Lookup) -> f64 {
        match lookup.unique {
            true => lookup.matches,
            false => self.shown_rows_per_key(info, (lookup.index, lookup.matches)),
        }
    }

    /// Rows that a lookup is said to find per key. Compat: an engine that estimates the number of
    /// different keys tells of half the rows, which are a whole number.
    pub(super) fn shown_rows_per_key(
        &self,
        info: &RelationInfo,
        (index, matches): (usize, f64),
    ) -> f64 {
        let column = info.table.def.indexes[index].parts[0].column;
        let estimated = info.table.engine.rows.distinct == DistinctKeys::Estimated;
        match estimated && !has_persistent(&info.table, column, self.source) {
            true => (matches.floor() / 2.0).floor().max(1.0),
            false => matches,
        }
    }

    /// The share of rows for which conditions on one column are true. Bounds count with their own
    /// rows, of which the planner's estimate knows nothing.
    fn shown_by_statistics(&self, conditions: &[Expr]) -> f64 {
        let estimator = self.estimator();
        let bound = |condition: &Expr| {
            let ExprKind::Compare(compare) = &condition.kind else { return 0.0 };
            let (id, op, value) = match (compare.left.as_column(), compare.right.as_column()) {
                (Some(id), None) => (id, compare.op, &compare.right),
                (None, Some(id)) => (id, compare.op.swapped(), &compare.left),
                _ => return 0.0,
            };
            let equal = estimator.equals(id, value.as_literal());
            match op {
                CompareOp::Le => equal,
                CompareOp::Gt => -equal,
                _ => 0.0,
            }
        };
        estimator.all(conditions) + conditions.iter().map(bound).sum::<f64>()
    }
}

/// Compat: nothing is known of an inequality.
fn is_unequal(condition: &Expr) -> bool {
    match &condition.kind {
        ExprKind::Compare(compare) => compare.op == CompareOp::Ne,
        ExprKind::Not(_) => true,
        _ => false,
    }
}
