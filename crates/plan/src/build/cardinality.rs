//! Row counts of joined sets of leaves.
//!
//! The estimate of a set must not depend on its join order. So leaves are added from the largest
//! table to the smallest, each with the share of pairs that satisfy its equalities.

use super::Builder;
use super::graph::{Graph, Leaves, Source};
use crate::estimate::prefix_distinct;
use crate::logical::ColumnId;
use crate::physical::JoinKind;

/// Estimates for the sets of leaves of one graph.
pub(super) struct Cardinality {
    /// Leaves in the order they are added.
    order: Vec<usize>,
    /// Distinct values of each member of each class.
    distinct: Vec<Vec<f64>>,
    /// For each dependent leaf, the number of output rows per input row.
    factors: Vec<f64>,
}

impl Builder<'_> {
    pub(super) fn cardinality(&self, graph: &Graph) -> Cardinality {
        let estimator = self.estimator();
        let mut order: Vec<usize> = (0..graph.leaves.len()).collect();
        order.sort_by(|a, b| {
            let (a, b) = (&graph.leaves[*a], &graph.leaves[*b]);
            let dependent = a.dependent.is_some().cmp(&b.dependent.is_some());
            dependent.then(b.table_rows.total_cmp(&a.table_rows))
        });
        let distinct = graph
            .classes
            .iter()
            .map(|class| class.iter().map(|(_, id)| estimator.distinct(*id).max(1.0)).collect())
            .collect();
        let factors = (0..graph.leaves.len()).map(|at| self.dependent_factor(graph, at)).collect();
        Cardinality { order, distinct, factors }
    }

    /// Rows that a dependent join gives for one row of its left side.
    fn dependent_factor(&self, graph: &Graph, at: usize) -> f64 {
        let leaf = &graph.leaves[at];
        let Some(dependent) = &leaf.dependent else { return 1.0 };
        let estimator = self.estimator();
        let mut pairs = leaf.rows;
        let mut matched = 1.0f64;
        for condition in &dependent.on {
            let share = estimator.one(condition);
            pairs *= share;
            let equal = matches!(&condition.kind, selkie_expr::ExprKind::Compare(c)
                if c.op == selkie_expr::CompareOp::Eq);
            if equal {
                let inside: f64 = condition
                    .columns()
                    .into_iter()
                    .filter(|id| leaf.columns.contains(*id))
                    .map(|id| estimator.distinct(id))
                    .product();
                let outside: f64 = condition
                    .columns()
                    .into_iter()
                    .filter(|id| !leaf.columns.contains(*id))
                    .map(|id| estimator.distinct(id))
                    .product();
                let present = inside.min(leaf.rows).max(1.0);
                matched = matched.min((present / outside.max(1.0)).min(1.0));
            } else {
                matched *= 0.8;
            }
        }
        let matched = matched.clamp(0.001, 1.0);
        match dependent.kind {
            JoinKind::Inner | JoinKind::Left => pairs.max(1.0),
            JoinKind::Semi => matched,
            JoinKind::Anti | JoinKind::NullAwareAnti => (1.0 - matched).max(0.1),
            JoinKind::Mark | JoinKind::NullAwareMark => 1.0,
        }
    }

    /// Number of rows of the join of `set`.
    pub(super) fn rows_of(&self, graph: &Graph, cardinality: &Cardinality, set: Leaves) -> f64 {
        let mut rows = 1.0;
        let mut joined: Leaves = 0;
        for &at in cardinality.order.iter().filter(|at| set >> **at & 1 == 1) {
            let leaf = &graph.leaves[at];
            if leaf.dependent.is_some() {
                rows *= cardinality.factors[at];
            } else {
                rows *= leaf.rows * self.equal_share(graph, cardinality, joined, at);
            }
            let before = joined;
            joined |= 1 << at;
            for connection in &graph.connections {
                let complete = connection.leaves & !joined == 0;
                if complete && connection.leaves & !before != 0 && before != 0 {
                    rows *= connection.selectivity;
                }
            }
        }
        rows.max(1e-6)
    }

    /// Share of the pairs of a `joined` row and a row of leaf `at` that are equal in all classes.
    fn equal_share(
        &self,
        graph: &Graph,
        cardinality: &Cardinality,
        joined: Leaves,
        at: usize,
    ) -> f64 {
        let (mut mine, mut theirs): (Vec<ColumnId>, Vec<(usize, ColumnId)>) = Default::default();
        let (mut own, mut other) = (1.0f64, 1.0f64);
        let mut product = 1.0;
        for (class, distinct) in graph.classes.iter().zip(&cardinality.distinct) {
            let Some(me) = class.iter().position(|(leaf, _)| *leaf == at) else { continue };
            let partners = class.iter().enumerate().filter(|(_, (l, _))| joined >> l & 1 == 1);
            let Some((partner, found)) =
                partners.max_by(|a, b| distinct[a.0].total_cmp(&distinct[b.0]))
            else {
                continue;
            };
            mine.push(class[me].1);
            theirs.push(*found);
            own *= distinct[me];
            other *= distinct[partner];
            product /= distinct[me].max(distinct[partner]);
        }
        if mine.len() < 2 {
            return product;
        }
        let known_mine = self.known_distinct(graph, at, &mine);
        let leaf = theirs[0].0;
        let same = theirs.iter().all(|(l, _)| *l == leaf);
        let ids: Vec<ColumnId> = theirs.iter().map(|(_, id)| *id).collect();
        let known_theirs = if same { self.known_distinct(graph, leaf, &ids) } else { None };
        let distinct = match (known_mine, known_theirs) {
            (Some(a), Some(b)) => a.max(b),
            (Some(a), None) | (None, Some(a)) => a,
            (None, None) => {
                own.min(graph.leaves[at].table_rows).max(other.min(graph.leaves[leaf].table_rows))
            }
        };
        (1.0 / distinct.max(1.0)).max(product)
    }

    /// Distinct combinations of some columns of a table, if an index has the number.
    fn known_distinct(&self, graph: &Graph, at: usize, ids: &[ColumnId]) -> Option<f64> {
        let Source::Table(relation, _) = &graph.leaves[at].source else { return None };
        let info = self.relation(*relation);
        let rows = graph.leaves[at].table_rows;
        let columns: Vec<usize> = ids.iter().map(|id| id - info.first).collect();
        let indexes = info.table.def.indexes.iter().enumerate();
        indexes
            .filter(|(_, index)| {
                let whole =
                    index.is_unique() && index.parts.iter().all(|p| columns.contains(&p.column));
                let prefix = index.parts.len() >= columns.len()
                    && index.parts[..columns.len()].iter().all(|p| columns.contains(&p.column));
                whole || prefix
            })
            .map(|(i, index)| {
                let parts = columns.len().min(index.parts.len());
                prefix_distinct(&info.table, (i, parts), rows, self.source)
            })
            .max_by(f64::total_cmp)
    }
}
