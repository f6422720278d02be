//! Search for the order and the methods of a block's joins.
//!
//! Up to a number of leaves, dynamic programming over subsets compares all connected orders,
//! including bushy ones. Beyond it, the cheapest pair is joined repeatedly. If an order is wanted,
//! a second plan per set is kept whose rows come in that order.

use hashbrown::HashMap;

use super::cardinality::Cardinality;
use super::graph::{Connection, Graph, Leaf, Leaves, Source};
use super::lookup::Lookup;
use super::{Builder, Goal};
use crate::cost;
use crate::estimate::condition_cost;
use crate::physical::JoinKind;

/// Number of leaves up to which all join orders are compared. Beyond it the search is greedy.
const EXHAUSTIVE_JOINS: usize = 10;

/// Method to join two sets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Method {
    /// A single leaf.
    Leaf,
    /// Hash join built from the right set.
    Hash,
    /// Hash join with the same result, but built from the left set.
    HashLeft,
    /// Index lookups in the right leaf.
    Lookup,
    /// Nested loops over the materialized right set.
    Loop,
}

/// The best plan found for a set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// Cost of producing all rows.
    pub cost: f64,
    /// Number of rows.
    pub rows: f64,
    /// Left input.
    pub left: Leaves,
    /// Right input.
    pub right: Leaves,
    /// Join method.
    pub method: Method,
    /// Whether rows come in the wanted order.
    pub ordered: bool,
}

/// Best plans by set: the first without, the second with the wanted order.
pub(super) type Table = HashMap<Leaves, [Option<Entry>; 2], foldhash::fast::FixedState>;

/// A search for the best join order.
pub(super) struct Search<'a, 'b> {
    builder: &'a Builder<'b>,
    graph: &'a Graph,
    cardinality: Cardinality,
    table: Table,
    rows: HashMap<Leaves, f64, foldhash::fast::FixedState>,
    /// For each leaf, the leaves that conditions connect with it.
    neighbours: Vec<Leaves>,
    /// For each dependent leaf, whether a hash join has a key.
    keyed: Vec<bool>,
    /// Lookups by leaf and the joined neighbours.
    lookups: HashMap<(usize, Leaves), Option<Lookup>, foldhash::fast::FixedState>,
}

impl Builder<'_> {
    /// The best plans for all sets that the whole join is built from.
    pub(super) fn join_order(&self, graph: &Graph, goal: Goal<'_>) -> Table {
        let leaves = 0..graph.leaves.len();
        let keyed = |at: usize| {
            let leaf = &graph.leaves[at];
            leaf.dependent.is_some()
                && !super::construct::keys(self, graph, leaf.after, 1 << at).is_empty()
        };
        let mut search = Search {
            neighbours: leaves.clone().map(|at| graph.neighbours(at)).collect(),
            keyed: leaves.map(keyed).collect(),
            lookups: HashMap::default(),
            builder: self,
            graph,
            cardinality: self.cardinality(graph),
            table: Table::default(),
            rows: HashMap::default(),
        };
        search.leaves(goal);
        if graph.leaves.len() <= EXHAUSTIVE_JOINS {
            search.exhaustive();
        } else {
            search.greedy();
        }
        search.table
    }
}

impl Search<'_, '_> {
    fn leaves(&mut self, goal: Goal<'_>) {
        for (at, leaf) in self.graph.leaves.iter().enumerate() {
            if leaf.dependent.is_some() {
                continue;
            }
            let set = 1 << at;
            let entry = Entry {
                cost: leaf.cost,
                rows: leaf.rows,
                left: set,
                right: 0,
                method: Method::Leaf,
                ordered: false,
            };
            self.add(set, entry);
            if let (Source::Table(relation, own), Some(_)) = (&leaf.source, goal.order) {
                let mut read = self.graph.required.clone();
                own.iter().for_each(|c| read.add_expr(c));
                let columns = self.builder.relation(*relation).positions(&leaf.columns);
                let columns: Vec<usize> = columns;
                let only = Goal { order: goal.order, limit: Some(1.0) };
                let path = self.builder.best_path(*relation, own, &columns, only);
                if path.gives(only) {
                    self.add(
                        set,
                        Entry { cost: path.cost, rows: leaf.rows, ordered: true, ..entry },
                    );
                }
            }
        }
    }

    fn add(&mut self, set: Leaves, entry: Entry) {
        let slot = &mut self.table.entry(set).or_default()[usize::from(entry.ordered)];
        if slot.is_none_or(|old| entry.cost < old.cost) {
            *slot = Some(entry);
        }
    }

    fn rows_of(&mut self, set: Leaves) -> f64 {
        if let Some(rows) = self.rows.get(&set) {
            return *rows;
        }
        let rows = self.builder.rows_of(self.graph, &self.cardinality, set);
        self.rows.insert(set, rows);
        rows
    }

    fn all(&self) -> Leaves {
        (1u64 << self.graph.leaves.len()) - 1
    }

    fn exhaustive(&mut self) {
        let all = self.all();
        for set in 1..=all {
            if set.count_ones() < 2 {
                continue;
            }
            let connected = self.splits(set, true);
            if !connected || !self.table.contains_key(&set) {
                self.splits(set, false);
            }
        }
    }

    /// Tries all splits of a set into two; returns whether any of them could be joined.
    fn splits(&mut self, set: Leaves, connected_only: bool) -> bool {
        let mut any = false;
        let mut left = (set - 1) & set;
        while left != 0 {
            selkie_meter::tick(32);
            let right = set & !left;
            if !connected_only || self.connects(left, right) {
                any |= self.try_join(left, right);
            }
            left = (left - 1) & set;
        }
        any
    }

    /// Whether a condition connects two sets.
    fn connects(&self, left: Leaves, right: Leaves) -> bool {
        let both = |mask: Leaves| mask & left != 0 && mask & right != 0;
        let class = self
            .graph
            .classes
            .iter()
            .any(|class| both(class.iter().fold(0, |mask, (leaf, _)| mask | 1 << leaf)));
        class
            || self
                .graph
                .connections
                .iter()
                .any(|c| both(c.leaves) && c.leaves & !(left | right) == 0)
            || self.is_dependent(right)
    }

    /// Whether a class has members in both sets.
    fn connects_by_class(&self, left: Leaves, right: Leaves) -> bool {
        self.graph.classes.iter().any(|class| {
            let mask = class.iter().fold(0, |mask, (leaf, _)| mask | 1 << leaf);
            mask & left != 0 && mask & right != 0
        })
    }

    fn is_dependent(&self, set: Leaves) -> bool {
        set.count_ones() == 1
            && self.graph.leaves[set.trailing_zeros() as usize].dependent.is_some()
    }

    /// Whether all leaves that must come before the leaves of `right` are joined.
    fn allowed(&self, left: Leaves, right: Leaves) -> bool {
        let leaves = self.graph.leaves.iter().enumerate();
        let ready = |set: Leaves, seen: Leaves| {
            leaves.clone().filter(|(at, _)| set >> at & 1 == 1).all(|(_, l)| l.after & !seen == 0)
        };
        if self.is_dependent(right) {
            return ready(right, left);
        }
        !self.is_dependent(left) && ready(left, left) && ready(right, left | right)
    }

    fn try_join(&mut self, left: Leaves, right: Leaves) -> bool {
        selkie_meter::tick(256);
        if !self.allowed(left, right) {
            return false;
        }
        let Some(plans) = self.table.get(&left).copied() else { return false };
        let rows = self.rows_of(left | right);
        let inner = self.right_input(right);
        let mut any = false;
        for plan in plans.into_iter().flatten() {
            for (method, cost, keeps_order) in self.methods(left, right, plan, inner, rows) {
                let ordered = plan.ordered && keeps_order;
                let entry = Entry { cost, rows, left, right, method, ordered };
                self.add(left | right, entry);
                any = true;
            }
        }
        any
    }

    /// Cost and rows of the right side alone.
    fn right_input(&self, right: Leaves) -> Option<(f64, f64)> {
        if self.is_dependent(right) {
            let leaf = &self.graph.leaves[right.trailing_zeros() as usize];
            return Some((leaf.cost, leaf.rows));
        }
        let plan = self.table.get(&right)?[0].or(self.table.get(&right)?[1])?;
        Some((plan.cost, plan.rows))
    }

    /// Cost of looking up the rows of a leaf for one row of `left`.
    fn lookup_cost(&mut self, left: Leaves, at: usize) -> Option<f64> {
        let key = (at, left & self.neighbours[at]);
        let (builder, graph) = (self.builder, self.graph);
        let found = self.lookups.entry(key).or_insert_with(|| builder.lookup(graph, left, at));
        found.as_ref().map(|lookup| lookup.cost)
    }

    /// Possible methods for a join with their costs.
    fn methods(
        &mut self,
        left: Leaves,
        right: Leaves,
        plan: Entry,
        inner: Option<(f64, f64)>,
        rows: f64,
    ) -> Vec<(Method, f64, bool)> {
        let mut methods = Vec::with_capacity(4);
        let output = rows * cost::JOIN_OUTPUT;
        let dependent = self.is_dependent(right).then(|| right.trailing_zeros() as usize);
        let kind = dependent
            .and_then(|at| self.graph.leaves[at].dependent.as_ref())
            .map_or(JoinKind::Inner, |d| d.kind);
        if right.count_ones() == 1
            && let Some(each) = self.lookup_cost(left, right.trailing_zeros() as usize)
        {
            let own = plan.cost + plan.rows * each + output;
            methods.push((Method::Lookup, own, kind != JoinKind::Left));
        }
        let Some((inner_cost, inner_rows)) = inner else { return methods };
        let both = plan.cost + inner_cost + output;
        if self.has_key(left, right) {
            let drops = matches!(kind, JoinKind::Inner | JoinKind::Semi);
            let probe = match drops {
                true => self.filtered_probe((left, plan.rows), (right, inner_rows), rows),
                false => cost::hash_probe(plan.rows, inner_rows),
            };
            let build = cost::hash_build(inner_rows) + probe;
            methods.push((Method::Hash, both + build, false));
            let swappable = matches!(kind, JoinKind::Left | JoinKind::Semi | JoinKind::Anti);
            if swappable {
                let probe = self.filtered_probe((right, inner_rows), (left, plan.rows), rows);
                // Few rows on the left stay in their order, which costs next to nothing.
                let built = plan.rows.max(cost::FEWEST_PAIRED);
                let build = cost::hash_build(built) + probe;
                methods.push((Method::HashLeft, both + build, false));
            }
        }
        let pair = self.pair_cost(left, right);
        // An estimate of few rows may be wrong, and a hash join costs little more for few.
        let outer = match self.has_key(left, right) {
            true => plan.rows.max(cost::FEWEST_PAIRED),
            false => plan.rows,
        };
        let pairs = outer * inner_rows * pair + inner_rows * cost::HASH_BUILD;
        methods.push((Method::Loop, both + pairs, kind != JoinKind::Left));
        methods
    }

    /// Cost of looking up the rows of one set in the hash table of another, if rows without a match
    /// are not given: a scan of column groups may drop them, and what is done with them is saved.
    fn filtered_probe(
        &self,
        (probe, probes): (Leaves, f64),
        (build, built): (Leaves, f64),
        rows: f64,
    ) -> f64 {
        let is_filtered = |(at, leaf): (usize, &Leaf)| {
            leaf.grouped && probe >> at & 1 == 1 && self.neighbours[at] & build != 0
        };
        if !self.graph.leaves.iter().enumerate().any(is_filtered) {
            let (share, saved) = self.builder.saved_below(self.graph, probe, (build, built));
            return cost::hash_probe(probes * share, built) - saved;
        }
        probes * cost::FILTER_PROBE + cost::hash_probe(probes.min(rows), built)
    }

    /// Cost of comparing one pair of rows of two sets: higher if conditions compute something.
    fn pair_cost(&self, left: Leaves, right: Leaves) -> f64 {
        let both = |c: &&Connection| {
            let leaves = c.leaves;
            leaves & !(left | right) == 0 && leaves & left != 0 && leaves & right != 0
        };
        let more = |c: &Connection| (condition_cost(&c.condition) - cost::CONDITION).max(0.0);
        cost::LOOP_PAIR + self.graph.connections.iter().filter(both).map(more).sum::<f64>()
    }

    /// Whether an equality connects two sets.
    fn has_key(&self, left: Leaves, right: Leaves) -> bool {
        if self.is_dependent(right) {
            return self.keyed[right.trailing_zeros() as usize];
        }
        let within = |a: Leaves, b: Leaves| a & !left == 0 && b & !right == 0;
        self.connects_by_class(left, right)
            || self
                .graph
                .connections
                .iter()
                .any(|c| c.sides.is_some_and(|(a, b)| within(a, b) || within(b, a)))
    }

    /// Joins the cheapest pair until one set is left.
    fn greedy(&mut self) {
        let mut sets: Vec<Leaves> = (0..self.graph.leaves.len())
            .map(|at| 1 << at)
            .filter(|s| !self.is_dependent(*s))
            .collect();
        let mut waiting: Vec<Leaves> = (0..self.graph.leaves.len())
            .map(|at| 1 << at)
            .filter(|s| self.is_dependent(*s))
            .collect();
        while sets.len() > 1 || !waiting.is_empty() {
            let Some((left, right)) = self.cheapest(&sets, &waiting) else { return };
            sets.retain(|s| *s != left && *s != right);
            waiting.retain(|s| *s != right);
            sets.push(left | right);
        }
    }

    fn cheapest(&mut self, sets: &[Leaves], waiting: &[Leaves]) -> Option<(Leaves, Leaves)> {
        let mut best: Option<(f64, Leaves, Leaves)> = None;
        for connected in [true, false] {
            for &left in sets {
                for &right in sets.iter().chain(waiting).filter(|r| **r != left) {
                    if connected && !self.connects(left, right) {
                        continue;
                    }
                    if !self.try_join(left, right) {
                        continue;
                    }
                    let whole = self.table[&(left | right)][0].or(self.table[&(left | right)][1]);
                    let Some(entry) = whole else { continue };
                    let before = self.table[&left][0].map_or(0.0, |e| e.cost);
                    let rank = (entry.cost - before).max(0.0) + entry.rows * cost::HASH_PROBE;
                    if best.is_none_or(|(rank_before, ..)| rank < rank_before) {
                        best = Some((rank, left, right));
                    }
                }
            }
            if best.is_some() {
                break;
            }
        }
        best.map(|(_, left, right)| (left, right))
    }
}
