//! Numbers of a plan for status counters: how its tables are read, and how many tables it keeps
//! for itself. Decided once for each plan, so that they cost nothing per row; only plans that read
//! a table whole which may be a constant are looked at again when they run.
//!
//! Compat: MariaDB counts once for each query block of the statement, however often the block runs.

use selkie_types::stack;

use crate::physical::{
    Access, AggregateStrategy, IndexRange, JoinKind, KeyRange, Operator, Plan, PlanNode, Reads,
    SetOperation, SetOperator, TableScan,
};

/// Number of rows of a table whose engine counts them.
type Rows<'a> = &'a dyn Fn(&TableScan) -> Option<u64>;

/// Reading of one table of a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Read {
    Single,
    Key,
    Range,
    Whole,
}

/// Kinds of access to the tables of `plan`, whose rows may be any number.
pub(super) fn reads(plan: &Plan) -> Reads {
    reads_of(plan, &|_| None)
}

/// Kinds of access to the tables of `plan` that are not constant: as in EXPLAIN, a table that is
/// read whole and has at most one row is a constant of a query.
pub fn reads_of(plan: &Plan, rows: Rows<'_>) -> Reads {
    let is_query = !matches!(
        plan.root.operator,
        Operator::Insert(_) | Operator::Update(_) | Operator::Delete(_)
    );
    let mut counted = Counted { reads: Reads::default(), tables: Vec::new(), rows, is_query };
    let is_used = |node: &&PlanNode| !matches!(node.operator, Operator::Empty);
    let subplans = plan.subplans.iter();
    let correlated = subplans.clone().filter(|s| !s.slots.is_empty() && !s.volatile);
    // Compat: the results of a correlated subquery are kept in a table.
    counted.reads.tables += correlated.filter(|s| is_used(&&s.root)).count() as u32;
    let roots = subplans.map(|s| &s.root).chain(plan.common_tables.iter().map(|c| &c.plan));
    match &plan.root.operator {
        Operator::Update(update) if is_alone(&update.source) => {
            counted.reads.changed_whole = is_whole(&update.source);
        }
        Operator::Delete(delete) if is_alone(&delete.source) => {
            counted.reads.changed_whole = is_whole(&delete.source);
        }
        Operator::Update(update) => {
            counted.reads.tables += 1;
            counted.block(&update.source);
        }
        _ => counted.block(&plan.root),
    }
    roots.filter(is_used).for_each(|root| counted.block(root));
    counted.reads
}

/// Whether the rows of a change come from one table.
fn is_alone(node: &PlanNode) -> bool {
    let mut tables = 0;
    node.visit(&mut |node| {
        tables += match node.operator {
            Operator::TableScan(_) => 1,
            Operator::IndexJoin(_) | Operator::CommonTableScan(_) => 2,
            _ => 0,
        };
    });
    tables == 1
}

fn is_whole(node: &PlanNode) -> bool {
    let mut found = false;
    node.visit(&mut |node| {
        if let Operator::TableScan(scan) = &node.operator {
            found |= read_by(&scan.access) == Read::Whole;
        }
    });
    found
}

fn read_by(access: &Access) -> Read {
    match access {
        Access::Full { .. } => Read::Whole,
        Access::Union(_) => Read::Range,
        Access::Text(_) => Read::Key,
        Access::Index(IndexRange { unique: true, .. }) => Read::Single,
        Access::Index(IndexRange { groups: Some(_), .. }) => Read::Range,
        Access::Index(range) if range.ranges.is_empty() => Read::Whole,
        Access::Index(range) => match &range.ranges[..] {
            [one] if !KeyRange::is_bounded(one) => Read::Key,
            _ => Read::Range,
        },
    }
}

struct Counted<'a> {
    reads: Reads,
    tables: Vec<Read>,
    rows: Rows<'a>,
    is_query: bool,
}

impl Counted<'_> {
    fn block(&mut self, node: &PlanNode) {
        let outer = std::mem::take(&mut self.tables);
        self.node(node);
        let tables = std::mem::replace(&mut self.tables, outer);
        let mut tables = tables.into_iter().filter(|read| *read != Read::Single);
        match tables.next() {
            Some(Read::Whole) => self.reads.scan += 1,
            Some(Read::Range) => self.reads.range += 1,
            _ => {}
        }
        for read in tables {
            match read {
                Read::Whole => self.reads.full_join += 1,
                Read::Range => self.reads.full_range_join += 1,
                _ => {}
            }
        }
    }

    fn node(&mut self, node: &PlanNode) {
        stack::ensure();
        match &node.operator {
            Operator::TableScan(scan) => {
                let read = self.scan(scan);
                self.tables.push(read);
            }
            Operator::SystemTableScan(_) => {
                self.reads.tables += 1;
                self.tables.push(Read::Whole);
            }
            Operator::CommonTableScan(_) | Operator::WorkTableScan(_) => {
                self.tables.push(Read::Whole);
            }
            Operator::JsonTable(join) => {
                self.node(&join.input);
                self.tables.push(Read::Whole);
            }
            Operator::IndexJoin(join) => {
                self.node(&join.left);
                self.tables.push(Read::Key);
            }
            Operator::HashJoin(join) => self.both(join.kind, &join.left, &join.right),
            Operator::NestedLoopJoin(join) => self.both(join.kind, &join.left, &join.right),
            Operator::SetOperation(set) => self.set(set),
            _ => {
                self.reads.tables += u32::from(keeps_rows(node));
                node.inputs().into_iter().for_each(|input| self.node(input));
            }
        }
    }

    fn scan(&mut self, scan: &TableScan) -> Read {
        let read = read_by(&scan.access);
        if read != Read::Whole || !self.is_query || !scan.table.engine.rows.counted {
            return read;
        }
        self.reads.may_be_constant = true;
        if (self.rows)(scan).is_some_and(|rows| rows <= 1) { Read::Single } else { read }
    }

    /// The tables of a join in the order that EXPLAIN shows.
    fn both(&mut self, kind: JoinKind, left: &PlanNode, right: &PlanNode) {
        let (first, second) = if kind == JoinKind::Inner { (right, left) } else { (left, right) };
        self.node(first);
        self.node(second);
    }

    fn set(&mut self, set: &SetOperation) {
        for input in &set.inputs {
            match &input.operator {
                Operator::SetOperation(inner) => self.set(inner),
                _ => self.block(input),
            }
        }
        if !(set.all && set.operator == SetOperator::Union) {
            self.reads.tables += 1;
            self.reads.scan += 1;
        }
    }
}

/// Whether an operator is an internal table in MariaDB.
fn keeps_rows(node: &PlanNode) -> bool {
    match &node.operator {
        Operator::Aggregate(aggregate) => {
            !aggregate.groups.is_empty() && aggregate.strategy == AggregateStrategy::Hash
        }
        Operator::Distinct(_) | Operator::Window(_) => true,
        _ => false,
    }
}
