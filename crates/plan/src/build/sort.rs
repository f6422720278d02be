//! ORDER BY and LIMIT: a sort, a top-N, or an index that is already sorted. A sort is left out only
//! if the input's [`Order`](super::ordering::Order) gives the keys.

use selkie_expr::Expr;

use super::operators::{holds_group_keys, place_keys};
use super::{Builder, Built, Goal, Order};
use crate::cost;
use crate::estimate::{Assumption, UNKNOWN_LIMIT, limited_rows};
use crate::logical::{ColumnSet, Cut, Logical, SortItem};
use crate::physical::{Limit, Operator, PlanNode, Sort, TopN};

impl Builder<'_> {
    /// Rows that are read until a limit is reached.
    fn rows_until(&self, cut: &Cut) -> Option<f64> {
        let (limit, offset) = (cut.limit.as_ref()?, cut.offset.as_ref());
        let given = self.source.given();
        let rows = limited_rows(limit, offset, given);
        let mut numbers = std::iter::once(limit).chain(offset);
        if !given.is_empty() && numbers.any(|e| e.parameter_within().is_some()) {
            let (limit, offset) = (Box::new(limit.clone()), offset.cloned().map(Box::new));
            self.source.assume(Assumption::Limit { limit, offset, rows });
        }
        Some(rows)
    }

    /// Rows that an OFFSET skips.
    fn skipped(&self, offset: Option<&Expr>) -> f64 {
        offset.map_or(0.0, |offset| limited_rows(offset, None, self.source.given()))
    }

    pub(super) fn limit(&mut self, input: &Logical, cut: &Cut, required: &ColumnSet) -> Built {
        if cut.limit.is_none() && cut.offset.is_none() && !cut.counted {
            return self.build(input, required, Goal::default());
        }
        if let Logical::Sort { input, keys, .. } = input {
            return self.sort(input, keys, Some(cut), required, Goal::default());
        }
        let goal = Goal { order: None, limit: self.rows_until(cut) };
        let built = self.build(input, required, goal);
        self.limited(built, cut, &[])
    }

    /// Sorts, unless the input is already sorted. With a limit only the first rows are kept.
    pub(super) fn sort(
        &mut self,
        input: &Logical,
        keys: &[SortItem],
        cut: Option<&Cut>,
        required: &ColumnSet,
        goal: Goal<'_>,
    ) -> Built {
        let mut below = required.clone();
        keys.iter().for_each(|key| below.add_expr(&key.expr));
        let wanted = cut.map_or(goal.limit, |cut| self.rows_until(cut));
        let mut keys: Vec<SortItem> =
            keys.iter().filter(|key| !key.expr.is_foldable()).cloned().collect();
        keys.truncate(deciding(input, &keys));
        if keys.is_empty() {
            let built = self.build(input, &below, Goal { order: None, limit: wanted });
            return cut.map_or(built.clone(), |cut| self.limited(built, cut, &[]));
        }
        let input = self.build(input, &below, Goal { order: Some(&keys), limit: wanted });
        if input.order.gives(&keys) {
            let input = input.relied_on(&keys);
            return match cut {
                Some(cut) => self.limited(input, cut, &keys),
                None => input,
            };
        }
        let placed = place_keys(&input, &keys);
        let (rows, columns) = (input.node.rows, input.node.columns.clone());
        let node = match cut {
            Some(Cut { limit: Some(limit), offset, ties: false, counted, .. }) => {
                let kept = wanted.unwrap_or(UNKNOWN_LIMIT);
                let out = (kept - self.skipped(offset.as_ref())).clamp(0.0, rows);
                let cost = input.node.cost + cost::top_n(rows, kept);
                let top = TopN {
                    input: input.node,
                    keys: placed,
                    limit: limit.clone(),
                    offset: offset.clone(),
                    counted: *counted,
                };
                PlanNode::new(Operator::TopN(Box::new(top)), columns, out, cost)
            }
            _ => {
                let cost = input.node.cost + cost::sort(rows);
                let sort = Sort { input: Box::new(input.node), keys: placed };
                PlanNode::new(Operator::Sort(sort), columns, rows, cost)
            }
        };
        let built = Built { node, layout: input.layout, order: Order::sorted_by(&keys) };
        match cut {
            Some(cut) if cut.limit.is_none() || cut.ties => self.limited(built, cut, &keys),
            _ => built,
        }
    }

    /// A limit over `input`, which is sorted by `keys`.
    fn limited(&self, input: Built, cut: &Cut, keys: &[SortItem]) -> Built {
        let before = input.node.rows;
        let read = self.rows_until(cut).unwrap_or(before).min(before);
        let share = if before > 0.0 { read / before } else { 1.0 };
        let ties = cut.ties.then(|| place_keys(&input, keys));
        let columns = input.node.columns.clone();
        let rows = (read - self.skipped(cut.offset.as_ref())).max(0.0);
        let cost = input.node.cost * share.clamp(0.0, 1.0);
        let limit = Limit {
            input: input.node,
            limit: cut.limit.clone(),
            offset: cut.offset.clone(),
            ties,
            counted: cut.counted,
        };
        let node = PlanNode::new(Operator::Limit(Box::new(limit)), columns, rows, cost);
        Built { node, ..input }
    }
}

/// Number of sort keys that decide the order: behind all keys of groups no key matters.
fn deciding(input: &Logical, keys: &[SortItem]) -> usize {
    let mut columns = ColumnSet::default();
    for (at, key) in keys.iter().enumerate() {
        let Some(id) = key.expr.as_column() else { continue };
        columns.insert(id);
        if holds_group_keys(input, columns.clone()) {
            return at + 1;
        }
    }
    keys.len()
}
