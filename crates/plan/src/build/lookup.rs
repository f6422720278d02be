//! Index joins: lookups of a leaf's rows in one of its indexes. The search asks for costs here, and
//! `construct.rs` builds the lookup that it chose.

use selkie_engine::{IndexKind, IndexPart};
use selkie_expr::{CompareOp, Expr, ExprKind};

use super::Builder;
use super::access::{entry_suffices, may_cover};
use super::bounds::{covers, is_key, same_order};
use super::graph::{Graph, Leaf, Leaves, Source, leaves_of};
use crate::cost;
use crate::estimate::prefix_distinct;
use crate::logical::{ColumnId, ColumnSet, RelationInfo};
use crate::physical::JoinKind;

/// A lookup of a leaf's rows.
#[derive(Clone, Debug)]
pub(super) struct Lookup {
    /// The index.
    pub index: usize,
    /// Values of the first parts, over the outer columns.
    pub keys: Vec<Expr>,
    /// For each key, whether NULL matches NULL.
    pub null_safe: Vec<bool>,
    /// Columns of the leaf that are compared with `keys`.
    pub columns: Vec<ColumnId>,
    /// At most one row per key.
    pub unique: bool,
    /// Index entries hold all columns that are read.
    pub covering: bool,
    /// Only the index entry is locked.
    pub entry_locks: bool,
    /// Expected rows per key.
    pub matches: f64,
    /// Cost per key.
    pub cost: f64,
}

impl Lookup {
    /// The compared columns, with their values and whether NULL matches NULL.
    pub(super) fn parts(&self) -> impl Iterator<Item = (ColumnId, &Expr, bool)> {
        let values = self.keys.iter().zip(&self.null_safe);
        self.columns.iter().zip(values).map(|(column, (key, safe))| (*column, key, *safe))
    }
}

/// An expression that is equal to a column of the leaf.
struct Equal {
    column: ColumnId,
    value: Expr,
    null_safe: bool,
    /// Whether the expression reads outer columns.
    outer: bool,
}

impl Builder<'_> {
    /// The cheapest lookup of rows of leaf `at` for rows of `outer`.
    pub(super) fn lookup(&self, graph: &Graph, outer: Leaves, at: usize) -> Option<Lookup> {
        let leaf = &graph.leaves[at];
        let Source::Table(relation, own) = &leaf.source else { return None };
        let info = self.relation(*relation);
        if matches!(info.table.kind, selkie_catalog::TableKind::System) {
            return None;
        }
        let kinds = [JoinKind::Inner, JoinKind::Left, JoinKind::Semi, JoinKind::Anti];
        if leaf.dependent.as_ref().is_some_and(|d| !kinds.contains(&d.kind)) {
            return None;
        }
        let equals = self.equals(graph, outer, at, leaf, info, own);
        // A row that constants determine is read once.
        if leaf.dependent.is_none() && self.has_constant_row(info, &equals) {
            return None;
        }
        let read = self.leaf_columns(graph, leaf, info, own);
        let candidates = (0..info.table.def.indexes.len())
            .filter_map(|index| self.lookup_by(info, index, &equals, own, &read, leaf));
        candidates.min_by(|a, b| a.cost.total_cmp(&b.cost))
    }

    /// Positions of the columns of a leaf that any expression reads.
    fn leaf_columns(
        &self,
        graph: &Graph,
        leaf: &Leaf,
        info: &RelationInfo,
        own: &[Expr],
    ) -> Vec<usize> {
        let mut used = graph.required.clone();
        own.iter().for_each(|c| used.add_expr(c));
        graph.connections.iter().for_each(|c| used.add_expr(&c.condition));
        graph.last.iter().for_each(|c| used.add_expr(c));
        for other in &graph.leaves {
            other.dependent.iter().for_each(|d| d.on.iter().for_each(|c| used.add_expr(c)));
        }
        graph.classes.iter().flatten().for_each(|(_, id)| used.insert(*id));
        let _ = leaf;
        info.positions(&used)
    }

    fn lookup_by(
        &self,
        info: &RelationInfo,
        at: usize,
        equals: &[Equal],
        own: &[Expr],
        read: &[usize],
        leaf: &Leaf,
    ) -> Option<Lookup> {
        let index = &info.table.def.indexes[at];
        if !self.is_allowed(info, at) {
            return None;
        }
        let mut lookup = Lookup {
            index: at,
            keys: Vec::new(),
            null_safe: Vec::new(),
            columns: Vec::new(),
            unique: false,
            covering: false,
            entry_locks: false,
            matches: 1.0,
            cost: 0.0,
        };
        let mut outer = false;
        for part in index.parts.iter().filter(|p| p.prefix.is_none()) {
            let column = info.first + part.column;
            let mut found = equals.iter().filter(|e| e.column == column);
            let Some(equal) =
                found.find(|e| e.outer).or_else(|| equals.iter().find(|e| e.column == column))
            else {
                break;
            };
            outer |= equal.outer;
            lookup.keys.push(equal.value.clone());
            lookup.null_safe.push(equal.null_safe);
            lookup.columns.push(column);
        }
        let parts = lookup.keys.len();
        if !outer || parts == 0 || index.parts[..parts].iter().any(|p| p.prefix.is_some()) {
            return None;
        }
        let clustered = index.kind == IndexKind::Primary;
        lookup.unique =
            index.is_unique() && parts == index.parts.len() && !lookup.null_safe.contains(&true);
        lookup.covering = !clustered && may_cover(info) && covers(info, index, read);
        lookup.entry_locks = entry_suffices(info, index, read);
        let found = match lookup.unique {
            true => 1.0,
            false => {
                leaf.table_rows
                    / prefix_distinct(&info.table, (at, parts), leaf.table_rows, self.source)
            }
        };
        lookup.matches = found;
        let fetch = !clustered && !lookup.covering && !lookup.entry_locks;
        let width = read.len() as f64 * cost::DECODE_COLUMN;
        let share = match lookup.unique {
            true => cost::single_lookup_share(leaf.table_rows),
            false => 1.0,
        };
        let descent = share * cost::lookups(1.0, found, fetch);
        let pages = match (fetch, clustered) {
            (true, _) => found * self.page_cost(info),
            (false, true) => self.page_cost(info),
            (false, false) => 0.0,
        };
        lookup.cost = descent + pages + found * width + self.conditions_cost(own, found);
        Some(lookup)
    }

    /// All expressions that are equal to columns of the leaf: outer expressions and constants.
    fn equals(
        &self,
        graph: &Graph,
        outer: Leaves,
        at: usize,
        leaf: &Leaf,
        info: &RelationInfo,
        own: &[Expr],
    ) -> Vec<Equal> {
        let mut equals = Vec::new();
        if leaf.dependent.is_none() {
            for class in &graph.classes {
                let partner = class.iter().find(|(l, _)| outer >> l & 1 == 1);
                for (_, mine) in class.iter().filter(|(l, _)| *l == at) {
                    if let Some((_, theirs)) = partner {
                        let value = self.columns.expr(*theirs);
                        equals.push(Equal { column: *mine, value, null_safe: false, outer: true });
                    }
                }
            }
            let sets: Vec<ColumnSet> = graph.leaves.iter().map(|l| l.columns.clone()).collect();
            for connection in graph.connections.iter().filter(|c| c.equality) {
                self.add_equal(&mut equals, &connection.condition, info, leaf, outer, &sets);
            }
        } else {
            let sets: Vec<ColumnSet> = graph.leaves.iter().map(|l| l.columns.clone()).collect();
            for condition in leaf.dependent.iter().flat_map(|d| &d.on) {
                self.add_equal(&mut equals, condition, info, leaf, outer, &sets);
            }
        }
        for condition in own {
            self.add_equal(&mut equals, condition, info, leaf, outer, &[]);
        }
        equals
    }

    fn add_equal(
        &self,
        equals: &mut Vec<Equal>,
        condition: &Expr,
        info: &RelationInfo,
        leaf: &Leaf,
        outer: Leaves,
        sets: &[ColumnSet],
    ) {
        let ExprKind::Compare(compare) = &condition.kind else { return };
        if !matches!(compare.op, CompareOp::Eq | CompareOp::NullSafeEq) {
            return;
        }
        for (mine, value) in [(&compare.left, &compare.right), (&compare.right, &compare.left)] {
            let used = mine.columns();
            let Some(column) = used.first().copied().filter(|id| leaf.columns.contains(*id)) else {
                continue;
            };
            let inside_table =
                column >= info.first && column < info.first + info.table.columns.len();
            let used = ColumnSet::of(value);
            let from_outer =
                leaves_of(value, sets) & !outer == 0 && used.is_disjoint(&leaf.columns);
            let constant = used.is_empty() && value.is_constant();
            let reads_outer = !used.is_empty() && from_outer && !sets.is_empty();
            let plain = value.is_deterministic() && !value.has_subquery();
            if inside_table
                && is_key(mine, info, column)
                && plain
                && (constant || reads_outer)
                && same_order(compare.by, info, column)
            {
                equals.push(Equal {
                    column,
                    value: value.clone(),
                    null_safe: compare.op == CompareOp::NullSafeEq,
                    outer: reads_outer,
                });
            }
        }
    }

    /// Whether constants are equal to all parts of a unique key that may be used.
    fn has_constant_row(&self, info: &RelationInfo, equals: &[Equal]) -> bool {
        let is_fixed = |column: ColumnId| {
            equals.iter().any(|equal| equal.column == column && !equal.outer && !equal.null_safe)
        };
        let is_whole =
            |part: &IndexPart| part.prefix.is_none() && is_fixed(info.first + part.column);
        info.table.def.indexes.iter().enumerate().any(|(at, index)| {
            index.is_unique() && self.is_allowed(info, at) && index.parts.iter().all(is_whole)
        })
    }
}
