//! UNION, INTERSECT and EXCEPT. UNION streams its inputs one after the other. INTERSECT and EXCEPT
//! read the right input first and then stream the left one.

use selkie_plan::physical::{PlanNode, SetOperation as Plan, SetOperator};
use selkie_types::{Batch, SqlResult};

use super::distinct::Seen;
use super::hash_table::{KeyKind, KeyTable, NOT_FOUND};
use super::{BoxOperator, Operator, open as open_node};
use crate::run::Env;

pub(super) fn open<'r>(
    env: Env<'r>,
    plan: &'r Plan,
    node: &'r PlanNode,
) -> SqlResult<BoxOperator<'r>> {
    if plan.operator == SetOperator::Union {
        let seen = (!plan.all).then(|| Seen::new(env, &node.columns));
        let inputs = plan.inputs.iter();
        return Ok(Box::new(Union { env, inputs, current: None, seen }));
    }
    let kinds = node.columns.iter().map(|c| KeyKind::of(&c.ty)).collect();
    let table = KeyTable::new(kinds);
    let left = open_node(env, &plan.inputs[0])?;
    Ok(Box::new(Filtering { env, plan, left, table, right: None, given: Vec::new() }))
}

/// Gives one input after the other, without duplicates unless ALL is given.
struct Union<'r> {
    env: Env<'r>,
    inputs: std::slice::Iter<'r, PlanNode>,
    current: Option<BoxOperator<'r>>,
    seen: Option<Seen<'r>>,
}

impl Operator for Union<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        loop {
            self.env.check()?;
            let Some(current) = &mut self.current else {
                let Some(input) = self.inputs.next() else {
                    return self.seen.as_mut().map_or(Ok(None), Seen::next_rest);
                };
                self.current = Some(open_node(self.env, input)?);
                continue;
            };
            let Some(batch) = current.next()? else {
                self.current = None;
                continue;
            };
            let Some(seen) = &mut self.seen else { return Ok(Some(batch)) };
            if let Some(new) = seen.keep_new(batch)? {
                return Ok(Some(new));
            }
        }
    }
}

/// INTERSECT and EXCEPT: selects left rows by how often they occur in the right input.
struct Filtering<'r> {
    env: Env<'r>,
    plan: &'r Plan,
    left: BoxOperator<'r>,
    table: KeyTable,
    /// Occurrences of each key in the right input.
    right: Option<Vec<u64>>,
    /// Keys given already, for distinct results.
    given: Vec<bool>,
}

impl Filtering<'_> {
    fn read_right(&mut self) -> SqlResult<Vec<u64>> {
        let mut counts: Vec<u64> = Vec::new();
        let mut right = open_node(self.env, &self.plan.inputs[1])?;
        let (mut ids, mut new) = (Vec::new(), Vec::new());
        while let Some(batch) = right.next()? {
            ids.clear();
            self.table.assign(batch.columns(), batch.rows(), &mut ids, &mut new)?;
            counts.resize(self.table.len(), 0);
            ids.iter().for_each(|&id| counts[id as usize] += 1);
            self.env.check()?;
        }
        Ok(counts)
    }

    /// Whether a left row with this key is given; with ALL, it uses up one right row.
    fn takes(&mut self, counts: &mut [u64], id: u32) -> bool {
        let intersect = self.plan.operator == SetOperator::Intersect;
        let count = counts.get_mut(id as usize);
        let present = count.as_ref().is_some_and(|c| **c > 0);
        if self.plan.all {
            if let Some(count) = count {
                *count = count.saturating_sub(1);
            }
            return present == intersect;
        }
        if self.given.len() <= id as usize {
            self.given.resize(id as usize + 1, false);
        }
        present == intersect && !std::mem::replace(&mut self.given[id as usize], true)
    }
}

impl Operator for Filtering<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        let mut counts = match self.right.take() {
            Some(counts) => counts,
            None => self.read_right()?,
        };
        let (mut ids, mut new) = (Vec::new(), Vec::new());
        let mut output = None;
        while output.is_none() {
            self.env.check()?;
            let Some(batch) = self.left.next()? else { break };
            ids.clear();
            self.table.assign(batch.columns(), batch.rows(), &mut ids, &mut new)?;
            debug_assert!(!ids.contains(&NOT_FOUND));
            let rows: Vec<u32> = (0..batch.rows() as u32)
                .filter(|&r| self.takes(&mut counts, ids[r as usize]))
                .collect();
            output = (!rows.is_empty()).then(|| batch.gather(&rows));
        }
        self.right = Some(counts);
        Ok(output)
    }
}
