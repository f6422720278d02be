//! UNION: gives its inputs one after the other, without duplicates unless ALL is given. INTERSECT
//! and EXCEPT are in [`set_filter`].

use selkie_plan::physical::{PlanNode, SetOperation as Plan, SetOperator};
use selkie_types::{Batch, SqlResult};

use super::distinct::Seen;
use super::{BoxOperator, Operator, open as open_node, set_filter};
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
    Ok(Box::new(set_filter::Filtering::open(env, plan, &node.columns)?))
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
                    let rest = self.seen.as_mut().map_or(Ok(None), Seen::next_rest)?;
                    return Ok(self.env.count_kept(rest));
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
                return Ok(self.env.count_kept(Some(new)));
            }
        }
    }
}
