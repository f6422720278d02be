//! The blocks that contain subqueries which are plans of their own. Each is shown once, behind the
//! rows of its block.

use hashbrown::{HashMap, HashSet};
use selkie_meter::tick;

use crate::physical::{Operator, Plan, SubPlan, UnitKind};

/// Work of a step here, in units of [`tick`].
const STEP: usize = 100;

/// Subplans that are not yet shown.
pub(super) struct Readers {
    /// Those inside each block, in order.
    of_block: HashMap<u64, Vec<usize>>,
    /// Whether each was shown, or has no rows.
    shown: Vec<bool>,
}

impl Readers {
    pub(super) fn of(plan: &Plan) -> Self {
        let places = Places::of(plan);
        let is_empty = |subplan: &SubPlan| matches!(subplan.root.operator, Operator::Empty);
        let shown: Vec<bool> = plan.subplans.iter().map(is_empty).collect();
        let mut of_block: HashMap<u64, Vec<usize>> = HashMap::new();
        for (at, subplan) in plan.subplans.iter().enumerate().filter(|(at, _)| !shown[*at]) {
            of_block.entry(places.reader_of(subplan)).or_default().push(at);
        }
        Self { of_block, shown }
    }

    /// The subplans inside a block but those that are to come later. They count as shown from now
    /// on.
    pub(super) fn take(&mut self, block: u64, is_later: impl Fn(usize) -> bool) -> Vec<usize> {
        let all = self.of_block.remove(&block).unwrap_or_default();
        tick(STEP * (all.len() + 1));
        let (later, mut own): (Vec<usize>, Vec<usize>) =
            all.into_iter().partition(|at| is_later(*at));
        if !later.is_empty() {
            self.of_block.insert(block, later);
        }
        own.retain(|at| !std::mem::replace(&mut self.shown[*at], true));
        own
    }

    /// Whether the subplan was not yet shown; it counts as shown from now on.
    pub(super) fn take_one(&mut self, at: usize) -> bool {
        !std::mem::replace(&mut self.shown[at], true)
    }
}

/// The units by the numbers of their blocks.
struct Places<'p> {
    plan: &'p Plan,
    unit_of: HashMap<u64, usize>,
    /// Units that subplans compute.
    of_subplans: HashSet<usize>,
}

impl<'p> Places<'p> {
    fn of(plan: &'p Plan) -> Self {
        let mut unit_of = HashMap::new();
        for (at, unit) in plan.told.units.iter().enumerate() {
            unit.numbers.iter().for_each(|number| {
                unit_of.entry(*number).or_insert(at);
            });
        }
        let of_subplans = plan.subplans.iter().map(|subplan| subplan.unit).collect();
        Self { plan, unit_of, of_subplans }
    }

    /// Number of the shown block that contains a subquery.
    fn reader_of(&self, subplan: &SubPlan) -> u64 {
        let units = &self.plan.told.units;
        let orders = units.get(subplan.unit).and_then(|unit| unit.orders);
        if let Some(sorted) = orders {
            return units[sorted].numbers.first().copied().unwrap_or(1);
        }
        let mut within = units.get(subplan.unit).map_or(1, |unit| unit.within);
        for _ in 0..units.len() {
            tick(STEP);
            let Some(at) = self.unit_of.get(&within).copied() else { return within };
            let is_shown = match units[at].kind {
                UnitKind::Statement | UnitKind::Kept => true,
                UnitKind::Merged => false,
                UnitKind::Subquery | UnitKind::Compared => self.of_subplans.contains(&at),
            };
            if is_shown {
                return within;
            }
            within = units[at].within;
        }
        within
    }
}
