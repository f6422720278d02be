//! For EXPLAIN: the indexes that conditions could use, whatever order the tables are joined in.
//!
//! Must not influence a plan.

use selkie_engine::IndexDef;
use selkie_expr::{Expr, ExprKind};
use selkie_types::stack;

use super::Builder;
use super::bounds::{bounds, is_key, leaves_out, same_order};
use super::graph::{Graph, Leaf, Source};
use super::lookup::Lookup;
use super::union::union_keys;
use crate::logical::{ColumnId, ColumnSet, RelationInfo};
use crate::physical::{JoinKind, Operator, PlanNode};

impl Builder<'_> {
    /// Names of the indexes that `conditions` could use, alone or in a union, and of those that
    /// begin with one of the columns `compared`.
    pub(super) fn possible_keys(
        &self,
        info: &RelationInfo,
        conditions: &[Expr],
        compared: &ColumnSet,
    ) -> Vec<Box<str>> {
        if conditions.is_empty() && compared.is_empty() && info.unusable.is_empty() {
            return Vec::new();
        }
        let in_union: Vec<usize> = conditions.iter().flat_map(|c| union_keys(info, c)).collect();
        let begins = |index: &IndexDef| {
            let column = index.parts[0].column;
            compared.contains(info.first + column) || info.unusable.contains(&column)
        };
        let indexes = info.table.def.indexes.iter().enumerate();
        let usable = indexes.filter(|(at, index)| {
            self.is_allowed(info, *at)
                && (in_union.contains(at)
                    || begins(index)
                    || bounds(info, index, conditions).is_some()
                    || conditions.iter().any(|c| leaves_out(info, index, c)))
        });
        usable.map(|(_, index)| index.name.clone()).collect()
    }

    /// The indexes that could be used for a leaf that is looked up.
    pub(super) fn possible_in_join(
        &self,
        graph: &Graph,
        at: usize,
        lookup: &Lookup,
    ) -> Vec<Box<str>> {
        let Source::Table(relation, own) = &graph.leaves[at].source else { return Vec::new() };
        let info = self.relation(*relation);
        let mut compared = compared(info, graph, at);
        lookup.columns.iter().for_each(|id| compared.insert(*id));
        self.possible_keys(info, &with_later(own, graph, at), &compared)
    }

    /// Adds the indexes that a join could use to those of the scan of a leaf.
    pub(super) fn tell_possible(&self, graph: &Graph, at: usize, node: &mut PlanNode) {
        let Source::Table(relation, own) = &graph.leaves[at].source else { return };
        if self.source.shown_level().is_none() {
            return;
        }
        let node = match &mut node.operator {
            Operator::Filter { input, .. } => &mut **input,
            _ => node,
        };
        if let Operator::TableScan(scan) = &mut node.operator {
            let info = self.relation(*relation);
            let own = with_later(own, graph, at);
            scan.shown.possible_keys = self.possible_keys(info, &own, &compared(info, graph, at));
        }
    }
}

/// The conditions of a leaf, with those that are tested after its outer join.
fn with_later(own: &[Expr], graph: &Graph, at: usize) -> Vec<Expr> {
    let later = graph.connections.iter().filter(|connection| connection.leaves == 1 << at);
    own.iter().chain(later.map(|connection| &connection.condition)).cloned().collect()
}

/// Columns of a leaf that conditions compare with columns of others.
fn compared(info: &RelationInfo, graph: &Graph, at: usize) -> ColumnSet {
    let mut found = ColumnSet::default();
    let leaf = &graph.leaves[at];
    // Compat: only the conditions of its own outer join find rows of its inner table.
    let is_outer = |leaf: &Leaf| {
        let kind = leaf.dependent.as_ref().map(|dependent| dependent.kind);
        kind.is_some_and(|kind| kind != JoinKind::Semi)
    };
    if !is_outer(leaf) {
        for class in graph.classes.iter().filter(|class| class.len() > 1) {
            class.iter().filter(|(l, _)| *l == at).for_each(|(_, id)| found.insert(*id));
        }
        let conditions = graph.connections.iter().map(|connection| &connection.condition);
        conditions.for_each(|condition| found.union(&compared_by(condition, info, leaf)));
    }
    for (other, joined) in graph.leaves.iter().enumerate() {
        if other == at || !is_outer(joined) {
            let conditions = joined.dependent.iter().flat_map(|dependent| &dependent.on);
            conditions.for_each(|condition| found.union(&compared_by(condition, info, leaf)));
        }
    }
    found
}

/// Columns of a leaf that a condition compares with columns of others, in each branch of an OR.
fn compared_by(condition: &Expr, info: &RelationInfo, leaf: &Leaf) -> ColumnSet {
    stack::ensure();
    let mut found = ColumnSet::default();
    match &condition.kind {
        ExprKind::Compare(compare) => {
            let sides = [(&compare.left, &compare.right), (&compare.right, &compare.left)];
            for (mine, value) in sides {
                let others = ColumnSet::of(value);
                let apart = !others.is_empty() && others.is_disjoint(&leaf.columns);
                let column = mine.columns().first().copied().filter(|id| is_of(info, *id));
                let usable =
                    |id: &ColumnId| is_key(mine, info, *id) && same_order(compare.by, info, *id);
                if apart && !value.has_subquery() {
                    column.filter(usable).into_iter().for_each(|id| found.insert(id));
                }
            }
        }
        ExprKind::And(parts) => {
            parts.iter().for_each(|part| found.union(&compared_by(part, info, leaf)));
        }
        ExprKind::Or(branches) => {
            let mut branches = branches.iter().map(|branch| compared_by(branch, info, leaf));
            let first = branches.next().unwrap_or_default();
            let rest: Vec<ColumnSet> = branches.collect();
            let in_all = |id: &ColumnId| rest.iter().all(|set| set.contains(*id));
            first.iter().filter(in_all).for_each(|id| found.insert(id));
        }
        _ => {}
    }
    found
}

fn is_of(info: &RelationInfo, id: ColumnId) -> bool {
    id.checked_sub(info.first).is_some_and(|at| at < info.table.columns.len())
}
