//! Query blocks in the rows of EXPLAIN: their numbers and kinds, unions, and the blocks that are
//! tables of others.

use selkie_types::stack;

use super::lookups::Lookups;
use super::readers::Readers;
use super::rows::{Above, ExplainRow, Facts, Walk, count, is_known, number};
use super::work::{Run, Work};
use crate::physical::{
    CommonTable, Operator, Plan, PlanNode, RecursiveUnion, SetOperation, SetOperator, UnitKind,
};

/// A query block of the rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Block {
    /// Its number.
    pub(super) id: u64,
    /// Work of its topmost operator, in an execution.
    pub(super) work: Option<Work>,
    /// The common table that it computes.
    pub(super) common: Option<usize>,
    /// Whether its rows are those of a table that another block reads.
    pub(super) is_table: bool,
}

/// Name of a common table in the rows, before the number of its block is known.
pub(super) fn common_name(at: usize) -> String {
    format!("<common {at}>")
}

/// The rows with their blocks.
pub(super) fn walked(plan: &Plan, facts: &Facts<'_>) -> (Vec<ExplainRow>, Vec<Block>) {
    let above = Above::default();
    let (rows, blocks) = (Vec::new(), Vec::new());
    let used = plan.told.units.iter().flat_map(|unit| &unit.numbers).copied();
    let mut walk = Walk {
        plan,
        facts,
        rows,
        blocks,
        next: used.max().map_or(2, |most| most + 1).max(2),
        above,
        equal: Vec::new(),
        unit: 0,
        level: 0,
        used: vec![1; plan.told.units.len()],
        kept: Vec::new(),
        lookups: Lookups::default(),
        readers: Readers::of(plan),
        aliases: Vec::new(),
        emptied: None,
    };
    let is_used = |node: &PlanNode| !matches!(node.operator, Operator::Empty);
    let alone = !plan.sizes.asks_tables
        && !plan.subplans.iter().any(|s| is_used(&s.root))
        && !plan.common_tables.iter().any(|c| is_used(&c.plan))
        && !plan.told.units.iter().any(|unit| unit.kind == UnitKind::Kept)
        && !has_block(&plan.root);
    let first = plan.told.units.first().and_then(|unit| unit.numbers.first()).copied().unwrap_or(1);
    walk.block(&plan.root, first, if alone { "SIMPLE" } else { "PRIMARY" });
    for at in 0..plan.subplans.len() {
        if walk.readers.take_one(at) {
            let number = walk.number_of(plan.subplans[at].unit);
            walk.subplan(at, number);
        }
    }
    for (at, common) in plan.common_tables.iter().enumerate() {
        if is_used(&common.plan) && is_recursive(&common.plan) {
            walk.common(at, common);
        }
    }
    walk.name_common();
    walk.say_nothing();
    (walk.rows, walk.blocks)
}

/// Whether a plan has a set operation, and so several query blocks.
fn has_block(node: &PlanNode) -> bool {
    let mut found = false;
    node.visit(&mut |n| found |= matches!(n.operator, Operator::SetOperation(_)));
    found
}

fn is_recursive(node: &PlanNode) -> bool {
    matches!(node.operator, Operator::RecursiveUnion(_))
}

/// The node that gives the rows of a block: that of a change, if it changes rows.
fn source_of(node: &PlanNode) -> &PlanNode {
    match &node.operator {
        Operator::Insert(insert) => &insert.source,
        Operator::Update(update) => &update.source,
        Operator::Delete(delete) => &delete.source,
        _ => node,
    }
}

/// Whether a block gives no rows because of its LIMIT.
fn is_cut(node: &PlanNode) -> bool {
    stack::ensure();
    match &node.operator {
        Operator::Project { input, .. } => !input.is_unit_table() && is_cut(input),
        Operator::Limit(limit) => limit.limit.as_ref().and_then(number) == Some(0),
        Operator::TopN(top) => number(&top.limit) == Some(0),
        _ => false,
    }
}

/// Whether conditions that are never true leave no rows to a block.
fn gives_nothing(node: &PlanNode) -> bool {
    stack::ensure();
    matches!(node.operator, Operator::Empty) || node.inputs().into_iter().any(gives_nothing)
}

/// Compat: rows that are sorted by columns of later tables are kept before they are sorted.
fn keep_for_sort(rows: &mut [ExplainRow], equal: &[[String; 2]]) {
    let Some(first) = rows.iter().position(|row| !is_known(row)) else { return };
    let Some(sort) = rows.iter().find_map(|row| row.detail.sort.as_ref()) else { return };
    let table_of = |column: &str| column.split_once('.').map(|(table, _)| table.to_owned());
    let is_of_first = |column: &str| table_of(column) == rows[first].table;
    let is_later = |column: &&String| {
        let table = table_of(column);
        rows[first + 1..].iter().any(|row| row.table == table && !is_known(row))
    };
    let is_equal = |column: &String| {
        let pairs = equal.iter().filter(|pair| pair.contains(column));
        pairs.flatten().any(|other| is_of_first(other))
    };
    let mut later = sort.columns.iter().filter(is_later);
    let needed = later.any(|column| !is_equal(column));
    for row in rows.iter_mut().filter(|row| needed && !row.has("Using temporary")) {
        row.extra = row.extra.replace("Using filesort", "Using temporary; Using filesort");
    }
}

/// Compat: behind tables whose row is known, rows are kept for the first table, and rows that are
/// only sorted belong to the first table that is read.
fn place_remarks(rows: &mut [ExplainRow]) {
    const REMARKS: [&str; 2] = ["Using temporary", "Using filesort"];
    if !rows.first().is_some_and(is_known) {
        return;
    }
    let found = REMARKS.map(|remark| rows.iter().any(|row| row.has(remark)));
    let at = match found {
        [false, false] => return,
        [true, _] => 0,
        [false, true] => rows.iter().position(|row| !is_known(row)).unwrap_or(0),
    };
    let sort = rows.iter_mut().find_map(|row| row.detail.sort.take());
    for row in rows.iter_mut().filter(|row| REMARKS.iter().any(|remark| row.has(remark))) {
        let left = row.extra.split("; ").filter(|remark| !REMARKS.contains(remark));
        row.extra = left.collect::<Vec<_>>().join("; ");
    }
    let own = std::mem::take(&mut rows[at].extra);
    let (buffers, others): (Vec<&str>, Vec<&str>) =
        own.split("; ").filter(|own| !own.is_empty()).partition(|own| own.contains("join buffer"));
    let moved =
        REMARKS.into_iter().zip(found).filter(|(_, found)| *found).map(|(remark, _)| remark);
    rows[at].extra = others.into_iter().chain(moved).chain(buffers).collect::<Vec<_>>().join("; ");
    rows[at].detail.sort = sort;
}

/// Whether a union and the unions that begin it give rows as they come.
fn passes_by(set: &SetOperation) -> bool {
    stack::ensure();
    let first = match set.inputs.first().map(|input| &input.operator) {
        Some(Operator::SetOperation(first)) => passes_by(first),
        _ => true,
    };
    set.operator == SetOperator::Union && set.all && first
}

/// The query blocks of a set operation with the operators before them, including those of a set
/// operation that is its first input.
pub(super) fn blocks_of(set: &SetOperation) -> Vec<(SetOperator, &PlanNode)> {
    stack::ensure();
    let (Some(first), rest) = (set.inputs.first(), set.inputs.get(1..).unwrap_or_default()) else {
        return Vec::new();
    };
    let mut blocks = match &first.operator {
        Operator::SetOperation(first) => blocks_of(first),
        _ => vec![(SetOperator::Union, first)],
    };
    blocks.extend(rest.iter().map(|input| (set.operator, input)));
    blocks
}

/// The words for a block behind an operator, in a block of the type `first`.
fn type_behind(operator: SetOperator, first: &str) -> &'static str {
    match (operator, first) {
        (SetOperator::Union, "DEPENDENT SUBQUERY") => "DEPENDENT UNION",
        (SetOperator::Union, "UNCACHEABLE SUBQUERY") => "UNCACHEABLE UNION",
        (SetOperator::Union, _) => "UNION",
        (SetOperator::Intersect, _) => "INTERSECT",
        (SetOperator::Except, _) => "EXCEPT",
    }
}

/// The words for the result of set operations, and its name.
fn result_of(operators: &[SetOperator]) -> (&'static str, &'static str) {
    let all = |wanted| operators.iter().all(|operator| *operator == wanted);
    match () {
        () if all(SetOperator::Union) => ("UNION RESULT", "union"),
        () if all(SetOperator::Intersect) => ("INTERSECT RESULT", "intersect"),
        () if all(SetOperator::Except) => ("EXCEPT RESULT", "except"),
        () => ("UNIT RESULT", "unit"),
    }
}

impl Walk<'_> {
    /// The rows of a block and of those inside it.
    pub(super) fn block(&mut self, node: &PlanNode, id: u64, ty: &'static str) {
        self.own_rows(node, id, ty);
        self.inner_blocks(id);
    }

    /// The blocks of a subquery.
    pub(super) fn subplan(&mut self, at: usize, number: u64) {
        let subplan = &self.plan.subplans[at];
        let ty = match (self.depends_on_rows(subplan), subplan.volatile) {
            (true, _) => "DEPENDENT SUBQUERY",
            (false, true) => "UNCACHEABLE SUBQUERY",
            (false, false) => "SUBQUERY",
        };
        let around = std::mem::replace(&mut self.unit, subplan.unit);
        self.block(&subplan.root, number, ty);
        self.unit = around;
    }

    /// A reference to a common table, whose rows are computed once for all.
    pub(super) fn common_again(&mut self, at: usize, id: u64, ty: &'static str) {
        let Some(common) = self.plan.common_tables.get(at) else { return };
        self.level = common.plan.of_units.as_ref().map_or(0, |of| of.units.len());
        self.node(&common.plan, id, ty);
    }

    fn own_rows(&mut self, node: &PlanNode, id: u64, ty: &'static str) {
        stack::ensure();
        self.above = Above::default();
        let around = self.emptied.take();
        let first = self.rows.len();
        self.own_lines(node, id, ty, first);
        self.say_emptied(first, id, ty);
        self.emptied = around;
    }

    fn own_lines(&mut self, node: &PlanNode, id: u64, ty: &'static str, first: usize) {
        self.blocks.push(Block { id, work: self.work(source_of(node)), ..Block::default() });
        if is_cut(node) {
            let mut row = self.row(id, ty, "");
            (row.table, row.extra) = (None, "Zero limit".into());
            self.rows.push(row);
            return;
        }
        if self.deleting_all(node, id, ty) {
            return;
        }
        self.node(node, id, ty);
        // Tables with one row are read before all others.
        let own = self.rows[first..].iter().take_while(|row| row.id == Some(id)).count();
        self.rows[first..first + own].sort_by_key(|row| match row.access {
            Some("system") => 0,
            Some("const") => 1,
            _ => 2,
        });
        keep_for_sort(&mut self.rows[first..first + own], &self.equal);
        place_remarks(&mut self.rows[first..first + own]);
        if self.rows.len() == first && !self.kept.iter().any(|kept| kept.reader == id) {
            if let Operator::Insert(insert) = &node.operator {
                let table = Some(insert.table.name().to_owned());
                let mut row = self.row(id, "INSERT", "");
                (row.table, row.access) = (table, Some("ALL"));
                row.detail.numbers.run = self.facts.work.map(|_| Run::default());
                self.rows.push(row);
                return;
            }
            self.say_without_tables(node, id, ty);
        }
    }

    /// The row of a block that reads no table.
    fn say_without_tables(&mut self, node: &PlanNode, id: u64, ty: &'static str) {
        let extra = match gives_nothing(node) {
            true if self.plan.told.impossible.contains(&id) => "Impossible HAVING",
            true => "Impossible WHERE",
            false => "No tables used",
        };
        let row = self.row(id, ty, "");
        self.rows.push(ExplainRow { table: None, extra: extra.into(), ..row });
    }

    /// The blocks of a common table.
    fn common(&mut self, at: usize, common: &CommonTable) {
        let first = self.blocks.len();
        if let Operator::RecursiveUnion(union) = &common.plan.operator {
            self.unit = common.unit;
            self.recursive(&common.plan, union);
        }
        if let Some(block) = self.blocks.get_mut(first) {
            block.common = Some(at);
        }
    }

    fn recursive(&mut self, node: &PlanNode, union: &RecursiveUnion) {
        let mut known = match self.plan.told.units.get(self.unit) {
            Some(unit) if self.unit > 0 => unit.numbers.clone().into_iter(),
            _ => Vec::new().into_iter(),
        };
        let mut numbers = Vec::new();
        for part in &union.parts {
            let number = known.next().unwrap_or_else(|| self.fresh());
            numbers.push(number.to_string());
            self.block(&part.anchor, number, "DERIVED");
            if let Some(step) = &part.step {
                let number = known.next().unwrap_or_else(|| self.fresh());
                numbers.push(number.to_string());
                self.block(step, number, "RECURSIVE UNION");
            }
        }
        self.union_result(node, &numbers, &[]);
    }

    /// Gives the tables that are common tables the numbers of their blocks.
    fn name_common(&mut self) {
        for block in self.blocks.iter().filter(|block| block.common.is_some()) {
            let name = common_name(block.common.unwrap_or_default());
            for row in self.rows.iter_mut().filter(|row| row.table.as_deref() == Some(&name)) {
                row.table = Some(format!("<derived{}>", block.id));
            }
        }
    }

    /// Replaces the rows of each block that gives none by one that says why.
    fn say_nothing(&mut self) {
        let of_no_part = |row: &ExplainRow| row.partitions.as_deref() == Some("");
        let first = self.rows.first().and_then(|row| row.id);
        let pruned = self.rows.iter().any(|row| row.id == first && of_no_part(row));
        let pruned = first.filter(|_| pruned);
        let pruned = pruned.map(|id| (id, "Impossible WHERE noticed after reading const tables"));
        for (id, reason) in self.facts.nothing.iter().copied().chain(pruned) {
            let is_own = |row: &ExplainRow| row.id == Some(id);
            let Some(at) = self.rows.iter().position(is_own) else { continue };
            let select_type = self.rows[at].select_type;
            self.rows.retain(|row| !is_own(row));
            let extra = reason.into();
            let row = ExplainRow { id: Some(id), select_type, extra, ..Default::default() };
            self.rows.insert(at, row);
        }
    }

    /// A DELETE of all rows, which drops them at once.
    fn deleting_all(&mut self, node: &PlanNode, id: u64, ty: &'static str) -> bool {
        let Operator::Delete(delete) = &node.operator else { return false };
        let all = delete.all_rows && !delete.multiple && self.facts.work.is_none();
        if all {
            let mut row = self.row(id, ty, "");
            (row.table, row.extra) = (None, "Deleting all rows".into());
            row.rows = Some(count(delete.source.rows));
            self.rows.push(row);
        }
        all
    }

    pub(super) fn set(&mut self, node: &PlanNode, set: &SetOperation, id: u64, ty: &'static str) {
        let unit = self.unit;
        let mut remarks = std::mem::take(&mut self.above.remarks);
        // Compat: rows are sorted even where all keys are constants.
        if self
            .plan
            .told
            .units
            .get(unit)
            .is_some_and(|u| u.sorted && u.numbers.first() == Some(&id))
            && !remarks.contains(&"Using filesort")
        {
            remarks.push("Using filesort");
        }
        let mut numbers = vec![id.to_string()];
        let blocks = blocks_of(set);
        let operators: Vec<SetOperator> = blocks.iter().skip(1).map(|(op, _)| *op).collect();
        for (at, (operator, input)) in blocks.into_iter().enumerate() {
            if at == 0 {
                let before = self.rows.len();
                self.node(input, id, ty);
                if self.rows.len() == before {
                    self.say_without_tables(input, id, ty);
                }
                self.inner_blocks_but(id, Some(unit));
            } else {
                let number = self.next_number();
                numbers.push(number.to_string());
                self.block(input, number, type_behind(operator, ty));
            }
        }
        self.union_result(node, &numbers, &operators);
        // Compat: the rows of UNION ALL are kept nowhere, unless they are sorted.
        if let Some(row) = self.rows.last_mut() {
            row.passes_by = passes_by(set) && remarks.is_empty();
            row.extra = remarks.join("; ");
        }
        self.inner_blocks(id);
    }

    fn union_result(&mut self, node: &PlanNode, numbers: &[String], operators: &[SetOperator]) {
        let (select_type, name) = result_of(operators);
        let mut row = ExplainRow { select_type, ..Default::default() };
        row.table = Some(format!("<{name}{}>", numbers.join(",")));
        row.access = Some("ALL");
        row.detail.numbers.run = self.work(node).map(|work| {
            let rows = (work.loops > 0).then(|| work.given as f64 / work.loops as f64);
            Run { loops: work.loops, rows, ..Run::default() }
        });
        self.rows.push(row);
    }
}

/// The nodes that give the rows of the SELECTs that the statement's own query combines, in order of
/// the text, with the numbers of their blocks.
pub fn own_blocks(plan: &Plan) -> Vec<(u64, &PlanNode)> {
    let numbers = plan.told.units.first().map_or(&[][..], |unit| &unit.numbers);
    let number = |at: usize| numbers.get(at).copied().unwrap_or(at as u64 + 1);
    let nodes = match combining(&plan.root) {
        Some(set) => blocks_of(set).into_iter().map(|(_, node)| node).collect(),
        None => vec![&plan.root],
    };
    nodes.into_iter().enumerate().map(|(at, node)| (number(at), node)).collect()
}

/// The set operation whose rows a node gives, sorted or cut.
fn combining(node: &PlanNode) -> Option<&SetOperation> {
    stack::ensure();
    match &node.operator {
        Operator::SetOperation(set) => Some(set),
        Operator::Project { input, .. } => combining(input),
        Operator::Sort(sort) => combining(&sort.input),
        Operator::TopN(top) => combining(&top.input),
        Operator::Limit(limit) => combining(&limit.input),
        _ => None,
    }
}
