//! Tables of a block that are units of their own: derived tables, views and common tables. MariaDB
//! keeps their rows before it reads them, and shows a block for each.
//!
//! Compat: here most are parts of the plan around them, and the rows of EXPLAIN use MariaDB's
//! words for that: a join by equal values finds rows by the key `key0`.

use hashbrown::HashSet;
use selkie_expr::Expr;
use selkie_types::{SqlType, stack};

use super::keys::value_length;
use super::names::{Names, names};
use super::rows::{ExplainRow, Walk, count, is_known, join_remarks, number, say_tested};
use crate::physical::{HashJoin, JoinKey, Operator, PlanNode, UnitKind, UnitTables};

/// Most bytes of a key of a table that is kept.
const LONGEST_KEY: usize = 1000;

/// A side of a join.
#[derive(Clone, Copy)]
pub(super) enum Side {
    Left,
    Right,
}

/// Rows of the block of a table that is a unit, and of those inside it.
pub(super) struct KeptRows {
    /// Number of the block that reads the table.
    pub(super) reader: u64,
    /// Number of its own first block.
    id: u64,
    rows: Vec<ExplainRow>,
}

/// A part of the key by which rows of a table that is a unit are found.
pub(super) struct KeptKey {
    column: Box<str>,
    ty: SqlType,
    nullable: bool,
    reference: String,
    /// Whether the value may be NULL.
    may_be_null: bool,
    /// Alias of the table that has the value.
    from: String,
}

/// The table that a node gives the rows of, filtered or not.
pub(super) fn table_of(node: &PlanNode) -> Option<&UnitTables> {
    stack::ensure();
    match (&node.of_units, &node.operator) {
        (Some(of), _) => Some(of),
        (None, Operator::Filter { input, .. }) => table_of(input),
        _ => None,
    }
}

impl Walk<'_> {
    /// Adds the row of a table that is a unit, and keeps those of its own blocks for later.
    pub(super) fn kept_table(
        &mut self,
        node: &PlanNode,
        (of, level): (&UnitTables, usize),
        id: u64,
        ty: &'static str,
    ) {
        let Some(unit) = of.units.get(level).copied() else { return };
        let own = self.number_of(unit);
        let above = std::mem::take(&mut self.above);
        let outer = std::mem::take(&mut self.rows);
        let equal = std::mem::take(&mut self.equal);
        let around = std::mem::replace(&mut self.unit, unit);
        self.level = level + 1;
        let first = self.blocks.len();
        let kind = self.plan.told.units.get(unit).map_or(UnitKind::Kept, |unit| unit.kind);
        let is_value = self.is_value(node, level);
        let inner_type = match kind {
            UnitKind::Subquery | UnitKind::Compared if is_value => "DEPENDENT SUBQUERY",
            UnitKind::Compared => "MATERIALIZED",
            _ => "DERIVED",
        };
        self.block(node, own, inner_type);
        if let Some(block) = self.blocks.get_mut(first) {
            block.is_table = true;
        }
        let mut rows = std::mem::replace(&mut self.rows, outer);
        (self.unit, self.above, self.equal) = (around, above, equal);
        if let Some(at) = self.kept.iter().position(|kept| kept.id == own && kept.reader == id) {
            return self.more_of(at, rows, (node, unit));
        }
        if is_value {
            run_for_each(&mut rows, own);
            self.kept.push(KeptRows { reader: id, id: own, rows });
            return;
        }
        let name = match kind {
            UnitKind::Compared => format!("<subquery{own}>"),
            _ => format!("<derived{own}>"),
        };
        let mut row = self.row(id, ty, &name);
        let (access, expected) = self.shape(node, &rows, unit);
        (row.access, row.rows) = (Some(access), Some(expected));
        self.kept.push(KeptRows { reader: id, id: own, rows });
        if level == 0 {
            self.aliases.push((of.alias.clone(), name));
        }
        row.detail.numbers.run = self.run(node);
        row.detail.conditions.own = self.above.conditions.take();
        self.describe_kept(&mut row, node, unit);
        self.push(row);
    }

    /// More rows of the block of a table, between whose tables others are joined.
    fn more_of(&mut self, at: usize, rows: Vec<ExplainRow>, (node, unit): (&PlanNode, usize)) {
        self.kept[at].rows.extend(rows);
        let (access, expected) = self.shape(node, &self.kept[at].rows, unit);
        let name = format!("<derived{}>", self.kept[at].id);
        let found = self.rows.iter_mut().find(|row| row.table.as_deref() == Some(&*name));
        if let Some(row) = found.filter(|row| matches!(row.access, Some("ALL" | "system"))) {
            (row.access, row.rows) = (Some(access), Some(expected));
        }
    }

    /// Key, condition and remarks of a table that is a unit.
    fn describe_kept(&mut self, row: &mut ExplainRow, node: &PlanNode, unit: usize) {
        let mut tested = self.plan.told.units.get(unit).is_some_and(|unit| unit.tested);
        let keys = std::mem::take(&mut self.above.keys);
        let buffered = std::mem::take(&mut self.above.buffered);
        let joined = std::mem::take(&mut self.above.tested);
        let outer = std::mem::take(&mut self.above.outer);
        self.above.most = None;
        let mut extra = Vec::new();
        if is_known(row) {
            let empty = row.rows == Some(0);
            extra.extend(empty.then_some("Const row not found"));
            row.extra = join_remarks(&mut self.above.remarks, false, &extra);
            return;
        }
        match keys.is_empty() {
            false => {
                tested |= outer && keys.iter().any(|key| key.may_be_null);
                find_by_key(row, &keys);
                if self.is_distinct(node, keys.len()) {
                    row.rows = Some(1);
                }
                if self.plan.told.units.get(unit).is_some_and(|u| u.kind == UnitKind::Compared) {
                    row.access = Some("eq_ref");
                    row.possible_keys = Some("distinct_key".into());
                    row.key = Some("distinct_key".into());
                    row.rows = Some(1);
                    let bytes = keys.iter().map(|key| value_length(&key.ty, None)).sum::<usize>();
                    row.key_len = Some(bytes.to_string());
                }
            }
            true => {
                tested |= joined;
                if buffered {
                    let before = self.rows.last().is_some_and(|r| r.extra.contains("join buffer"));
                    extra.push(match before {
                        true => "Using join buffer (incremental, BNL join)",
                        false => "Using join buffer (flat, BNL join)",
                    });
                }
            }
        }
        row.extra = join_remarks(&mut self.above.remarks, tested, &extra);
        if !outer {
            for key in keys.iter().filter(|key| key.may_be_null) {
                self.reject_null_of(&key.from);
            }
        }
    }

    /// Compat: that a value of an inner join is not NULL is tested on its own table.
    fn reject_null_of(&mut self, alias: &str) {
        let table = self.shown_table(alias);
        let found = self.rows.iter_mut().rev().find(|row| row.table.as_deref() == Some(&*table));
        if let Some(row) = found.filter(|row| !is_known(row)) {
            say_tested(row);
        }
    }

    /// The name under which the rows show the table with an alias.
    pub(super) fn shown_table(&self, alias: &str) -> String {
        let mut known = self.aliases.iter().rev();
        let found = known.find(|(own, _)| &**own == alias);
        found.map_or_else(|| alias.to_owned(), |(_, name)| name.clone())
    }

    /// Number of the first block of a unit.
    pub(super) fn number_of(&mut self, unit: usize) -> u64 {
        let numbers = self.plan.told.units.get(unit).and_then(|unit| unit.numbers.first());
        match numbers {
            Some(number) => *number,
            None => self.fresh(),
        }
    }

    /// Number of the next block of the unit whose blocks are walked.
    pub(super) fn next_number(&mut self) -> u64 {
        let used = self.used.get_mut(self.unit);
        let at = used.map_or(usize::MAX, |used| {
            *used += 1;
            *used - 1
        });
        let numbers = self.plan.told.units.get(self.unit).map_or(&[][..], |unit| &unit.numbers);
        numbers.get(at).copied().unwrap_or_else(|| self.fresh())
    }

    /// A number that no SELECT of the statement has.
    pub(super) fn fresh(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    /// Whether no two rows of a node are equal in as many of its columns.
    fn is_distinct(&self, node: &PlanNode, columns: usize) -> bool {
        stack::ensure();
        match &node.operator {
            Operator::Distinct(_) => columns == node.columns.len(),
            Operator::Project { input, .. } | Operator::Filter { input, .. } => {
                self.is_distinct(input, columns)
            }
            Operator::CommonTableScan(at) => {
                let common = self.plan.common_tables.get(*at);
                common.is_some_and(|common| self.is_distinct(&common.plan, columns))
            }
            _ => false,
        }
    }

    /// Whether a node gives the rows of a subquery that MariaDB runs for each row of the block
    /// around it: one that is a value, or the operands of a set operation. `level`: how many of the
    /// tables that the node gives the rows of are shown.
    pub(super) fn is_value(&self, node: &PlanNode, level: usize) -> bool {
        let unit = table_of(node).and_then(|of| self.plan.told.units.get(*of.units.get(level)?));
        match unit.map(|unit| unit.kind) {
            Some(UnitKind::Subquery) => true,
            Some(UnitKind::Compared) => matches!(node.operator, Operator::SetOperation(_)),
            _ => false,
        }
    }

    /// Type of the access to a table that is a unit, and the rows it is said to have.
    fn shape(&self, node: &PlanNode, rows: &[ExplainRow], unit: usize) -> (&'static str, u64) {
        let numbers = self.plan.told.units.get(unit).map_or(&[][..], |unit| &unit.numbers);
        let mut total = 0.0;
        let mut is_single = numbers.len() <= 1;
        for number in numbers {
            let own = || rows.iter().filter(|row| row.id == Some(*number));
            is_single &= own().all(|row| is_known(row) || row.rows.is_none());
            total += own().map(|row| row.rows.unwrap_or(1) as f64).product::<f64>();
        }
        let at_most = cut_of(node).filter(|_| numbers.len() <= 1);
        if is_single && !matches!(node.operator, Operator::Values(_)) {
            let own = |row: &&ExplainRow| row.id == numbers.first().copied();
            let empty = rows.iter().filter(own).any(|row| row.extra.starts_with("Impossible"));
            let rows = u64::from(!empty || is_aggregate(node));
            return ("system", rows.min(at_most.unwrap_or(1)));
        }
        if let Operator::Values(rows) = &node.operator {
            total = rows.len() as f64;
        }
        let total = at_most.map_or(total, |most| total.min(most as f64));
        ("ALL", count(total).max(2))
    }

    /// Keys of a hash join whose second side, in the order shown, is a table that is a unit; none
    /// if they are too long for a key, or texts without a limit.
    pub(super) fn kept_keys(&self, join: &HashJoin, side: Side) -> Vec<KeptKey> {
        let (second, first) = match side {
            Side::Left => (&join.left, &join.right),
            Side::Right => (&join.right, &join.left),
        };
        let unit = table_of(second).and_then(|of| self.plan.told.units.get(*of.units.first()?));
        if !unit.is_some_and(|unit| unit.has_keys) {
            return Vec::new();
        }
        let (own_names, others) = (names(self.plan, second), names(self.plan, first));
        let key = |key: &JoinKey| {
            let (own, other) = match side {
                Side::Left => (&key.left, &key.right),
                Side::Right => (&key.right, &key.left),
            };
            self.kept_key((own, second, &own_names), (other, first, &others), key)
        };
        let keys: Vec<KeptKey> = join.keys.iter().filter_map(key).collect();
        let bytes = keys.iter().map(|key| value_length(&key.ty, None)).sum::<usize>();
        let fits = bytes <= LONGEST_KEY && !keys.iter().any(|key| key.ty.is_text_or_blob());
        if fits { keys } else { Vec::new() }
    }

    fn kept_key(
        &self,
        (own, second, own_names): (&Expr, &PlanNode, &Names<'_>),
        (other, first, others): (&Expr, &PlanNode, &Names<'_>),
        key: &JoinKey,
    ) -> Option<KeptKey> {
        let at = own.as_column()?;
        let column = second.columns.get(at)?;
        let name = own_names.get(at)?;
        let value = other.as_column().and_then(|at| others.get(at));
        let from = value.as_deref().and_then(|name| name.split_once('.'));
        let from = from.map(|(table, _)| table.to_owned()).unwrap_or_default();
        let of_value = other.as_column().and_then(|at| first.columns.get(at));
        Some(KeptKey {
            column: name.rsplit('.').next()?.into(),
            ty: column.ty.clone(),
            nullable: column.nullable,
            reference: value.map_or_else(|| "func".into(), |name| self.reference(&name)),
            may_be_null: !key.null_safe && of_value.is_some_and(|column| column.nullable),
            from,
        })
    }

    /// Rows of the blocks inside a block, the last ones of the text first.
    pub(super) fn inner_blocks(&mut self, id: u64) {
        self.inner_blocks_but(id, None);
    }

    /// The same, without the blocks by which the combined rows of a unit are sorted.
    pub(super) fn inner_blocks_but(&mut self, id: u64, sorted: Option<usize>) {
        let mut inner: Vec<(u64, Inner)> = Vec::new();
        let kept = std::mem::take(&mut self.kept);
        let (own, others): (Vec<KeptRows>, Vec<KeptRows>) =
            kept.into_iter().partition(|kept| kept.reader == id);
        self.kept = others;
        inner.extend(own.into_iter().map(|kept| (kept.id, Inner::Rows(kept.rows))));
        let plan = self.plan;
        let orders = |at: usize| plan.told.units.get(plan.subplans[at].unit)?.orders;
        let is_later = |at: usize| sorted.is_some() && orders(at) == sorted;
        let mut known: HashSet<u64> = inner.iter().map(|(number, _)| *number).collect();
        for at in self.readers.take(id, is_later) {
            let own = self.number_of(plan.subplans[at].unit);
            if known.insert(own) {
                inner.push((own, Inner::Subplan(at)));
            }
        }
        inner.sort_by_key(|(number, _)| std::cmp::Reverse(*number));
        for (number, inner) in inner {
            match inner {
                Inner::Rows(rows) => self.rows.extend(rows),
                Inner::Subplan(at) => self.subplan(at, number),
            }
        }
    }
}

enum Inner {
    Rows(Vec<ExplainRow>),
    Subplan(usize),
}

/// Compat: without statistics a tenth of the rows is expected to have a value, at least two.
fn find_by_key(row: &mut ExplainRow, keys: &[KeptKey]) {
    let length = |key: &KeptKey| value_length(&key.ty, None) + usize::from(key.nullable);
    row.access = Some("ref");
    row.possible_keys = Some("key0".into());
    row.key = Some("key0".into());
    row.key_len = Some(keys.iter().map(length).sum::<usize>().to_string());
    row.key_parts = keys.iter().map(|key| key.column.clone()).collect();
    let values: Vec<&str> = keys.iter().map(|key| &*key.reference).collect();
    row.reference = Some(values.join(","));
    row.rows = row.rows.map(|rows| (rows / 10).max(2));
}

/// Compat: shows the groups of a correlated subquery, which are computed once here, as a block that
/// runs for each row of the block around it.
fn run_for_each(rows: &mut [ExplainRow], id: u64) {
    let mut own: Vec<&mut ExplainRow> = rows.iter_mut().filter(|r| r.id == Some(id)).collect();
    for row in &mut own {
        let grouping = ["Using temporary", "Using filesort"];
        let left = row.extra.split("; ").filter(|remark| !grouping.contains(remark));
        row.extra = left.collect::<Vec<_>>().join("; ");
        row.detail.sort = None;
    }
    own.into_iter().take(1).filter(|row| !is_known(row)).for_each(say_tested);
}

/// The most rows that LIMIT leaves.
fn cut_of(node: &PlanNode) -> Option<u64> {
    stack::ensure();
    match &node.operator {
        Operator::Project { input, .. } | Operator::Filter { input, .. } => cut_of(input),
        Operator::Limit(limit) => limit.limit.as_ref().and_then(number),
        Operator::TopN(top) => number(&top.limit),
        _ => None,
    }
}

/// Whether a node gives one row whatever it reads.
fn is_aggregate(node: &PlanNode) -> bool {
    stack::ensure();
    match &node.operator {
        Operator::Project { input, .. } => is_aggregate(input),
        Operator::Aggregate(aggregate) => aggregate.groups.is_empty(),
        _ => false,
    }
}

/// Whether the right side of an inner join is shown first, as usual: not if it alone is a table
/// that is a unit, in which rows are found by `keys`, or which is not the smaller one.
pub(super) fn shows_right_first(left: &PlanNode, right: &PlanNode, keys: usize) -> bool {
    let has_keys = keys > 0;
    match (table_of(left).is_some(), table_of(right).is_some()) {
        (false, true) => !has_keys && said_rows(right) < said_rows(left),
        (true, false) => has_keys || said_rows(left) >= said_rows(right),
        _ => true,
    }
}

/// Rows that are read for a node, as far as no key or condition leaves some of them out.
fn said_rows(node: &PlanNode) -> f64 {
    stack::ensure();
    match &node.operator {
        Operator::TableScan(scan) => scan.examined,
        Operator::IndexJoin(join) => said_rows(&join.left) * join.lookup.matches.max(1.0),
        Operator::SetOperation(set) => set.inputs.iter().map(said_rows).sum(),
        _ => {
            let inputs = node.inputs();
            let below = || inputs.iter().map(|input| said_rows(input)).product::<f64>();
            let all = if inputs.is_empty() { node.rows } else { below() };
            cut_of(node).map_or(all, |most| all.min(most as f64))
        }
    }
}
