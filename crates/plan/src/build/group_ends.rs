//! Reads only the ends of groups of index entries. This is possible when the operator above uses
//! nothing of the rows that agree in the first parts of an index but the least and the greatest
//! value of the next part.
//!
//! MariaDB calls this a loose index scan, and shows "Using index for group-by" in EXPLAIN.

use selkie_engine::{IndexDef, IndexKind, IndexPart, LockMode};
use selkie_expr::aggregate::{Aggregate, AggregateKind};
use selkie_expr::{CompareBy, CompareOp, Expr, ExprKind};
use selkie_types::{Physical, Value, stack};

use super::access::Path;
use super::bounds::{Bounds, bounds, bounds_behind, covers, covers_with_key};
use super::{Builder, Built, Goal, Order};
use crate::cost;
use crate::estimate::{prefix_distinct, table_rows};
use crate::logical::{
    AggregateNode, ColumnId, ColumnSet, Logical, RelationId, RelationInfo, SortItem,
};
use crate::physical::{Access, GroupEnds, KeyRange, Operator};

/// Most ranges that are read of each group.
const MOST_WITHIN: usize = 16;

/// Share of another cost that is much less.
const MUCH_LESS: f64 = 0.8;

/// Values that an operator needs from its input.
#[derive(Clone, Default)]
pub(super) struct Wanted {
    /// Columns of which it needs every combination of values.
    pub(super) every: ColumnSet,
    /// Column of which it needs the least or greatest value for each combination.
    pub(super) end: Option<ColumnId>,
    least: bool,
    greatest: bool,
    /// Arguments of the aggregates with DISTINCT, if all of them have the same.
    pub(super) distinct: Option<Vec<Expr>>,
    /// Columns with one value in all rows, of which any row of a combination will do.
    pub(super) fixed: ColumnSet,
    /// Compat: whether MariaDB takes all this from the ends of groups.
    pub(super) is_known: bool,
    /// Whether all rows are wanted, also those that agree in the columns.
    pub(super) all_rows: bool,
}

impl Wanted {
    /// Every combination of the values of expressions, if these values depend on their columns
    /// alone.
    pub(super) fn every<'e>(exprs: impl IntoIterator<Item = &'e Expr>) -> Option<Self> {
        let mut wanted = Self::default();
        for e in exprs {
            wanted.every.add_expr(e);
            if !is_plain(e) || !is_of_group(e) {
                return None;
            }
        }
        Some(wanted)
    }

    /// The values that a grouping needs, if duplicate rows do not matter to it.
    pub(super) fn of(node: &AggregateNode) -> Option<Self> {
        let mut wanted = Self { is_known: true, ..Self::default() };
        node.groups.iter().for_each(|(_, e)| wanted.every.add_expr(e));
        let fixed = fixed_columns(&node.input);
        for (_, call) in &node.aggregates {
            wanted.add(call, &fixed)?;
        }
        wanted.is_known &= wanted.distinct.is_none() || wanted.end.is_none();
        wanted.is_known &= node.groups.iter().all(|(_, e)| e.as_column().is_some());
        let plain = !node.rollup && node.groups.iter().all(|(_, e)| is_plain(e) && is_of_group(e));
        plain.then_some(wanted)
    }

    fn add(&mut self, call: &Aggregate, fixed: &ColumnSet) -> Option<()> {
        use AggregateKind::{AnyValue, Avg, Count, Max, Min, Sum};
        let arguments = || call.args.iter();
        match call.kind {
            Min | Max => {
                let column = arguments().next()?.as_column()?;
                if *self.end.get_or_insert(column) != column {
                    return None;
                }
                self.least |= call.kind == Min;
                self.greatest |= call.kind == Max;
            }
            AnyValue if arguments().all(|e| e.as_column().is_some_and(|id| fixed.contains(id))) => {
                arguments().for_each(|e| self.fixed.add_expr(e));
            }
            AnyValue => {
                let known = |e: &Expr| e.as_column().is_some_and(|id| self.every.contains(id));
                self.is_known &= arguments().all(known);
                arguments().for_each(|e| self.every.add_expr(e));
            }
            Count | Sum | Avg if call.distinct && arguments().all(is_of_group) => {
                arguments().for_each(|e| self.every.add_expr(e));
                let same = self.distinct.get_or_insert_with(|| call.args.clone()) == &call.args;
                self.is_known &= same && arguments().all(|e| e.as_column().is_some());
            }
            _ => return None,
        }
        arguments().all(is_plain).then_some(())
    }

    /// All columns whose values are wanted.
    fn columns(&self) -> ColumnSet {
        self.every.iter().chain(self.fixed.iter()).chain(self.end).collect()
    }

    /// The same with all combinations of the fixed columns too.
    fn with_fixed(&self) -> Self {
        let every = self.every.iter().chain(self.fixed.iter()).collect();
        Self { every, ..self.clone() }
    }
}

/// A way to read the groups of an index.
pub(super) struct Way {
    /// Ranges of the index.
    pub bounds: Bounds,
    pub ends: GroupEnds,
    /// Whether all entries that are read satisfy all conditions.
    pub answered: bool,
}

/// The rows that are asked for.
pub(super) struct Asked<'a> {
    pub conditions: &'a [Expr],
    /// Positions of the columns that are read.
    pub read: &'a [usize],
    pub order: Option<&'a [SortItem]>,
}

fn is_plain(e: &Expr) -> bool {
    let subquery = e.any(&mut |e| matches!(e.kind, ExprKind::Subquery(_)));
    e.is_deterministic() && !e.has_side_effects() && !subquery
}

/// Whether rows whose columns are equal have equal values of an expression: it is a column, or
/// equal values of all its columns are the same.
fn is_of_group(e: &Expr) -> bool {
    e.as_column().is_some() || is_same_for_equal(e)
}

/// Whether an expression has the same value for all rows whose columns are equal. A collation may
/// take different strings for equal, which most functions do not.
fn is_same_for_equal(e: &Expr) -> bool {
    stack::ensure();
    let is_compared = |side: &Expr, by: CompareBy| {
        let is_own = by == CompareBy::Bytes(side.ty.collation) || !side.ty.is_string();
        side.as_column().is_some() && is_own || is_same_for_equal(side)
    };
    match &e.kind {
        ExprKind::Column(_) => match e.ty.physical() {
            Physical::Bytes => e.ty.collation.is_binary(),
            Physical::Double => false,
            _ => true,
        },
        ExprKind::Compare(c) => is_compared(&c.left, c.by) && is_compared(&c.right, c.by),
        ExprKind::InList(list) => {
            is_compared(&list.value, list.by) && list.items.iter().all(is_same_for_equal)
        }
        ExprKind::IsNull(value) => is_of_group(value),
        ExprKind::Call(call) if call.function.name().eq_ignore_ascii_case("like") => {
            is_prefix_test(&call.args) || call.args.iter().all(is_same_for_equal)
        }
        _ => e.children().into_iter().all(is_same_for_equal),
    }
}

/// Whether the arguments of LIKE are a column and a constant beginning: strings that are equal
/// agree in it, if their collation compares character by character. They may differ in spaces at
/// their ends.
fn is_prefix_test(args: &[Expr]) -> bool {
    let [value, pattern, ..] = args else { return false };
    let Some(Value::Bytes(pattern)) = pattern.as_literal() else { return false };
    let Some(prefix) = pattern.strip_suffix(b"%") else { return false };
    let name = value.ty.collation.name();
    let is_simple = name.ends_with("_general_ci") || name == "latin1_swedish_ci";
    let is_wild = |byte: &u8| matches!(byte, b'%' | b'_' | b'\\');
    value.as_column().is_some()
        && is_simple
        && !prefix.iter().any(is_wild)
        && prefix.last().is_some_and(|last| *last != b' ')
}

impl Builder<'_> {
    /// Reads only the `wanted` values of `input`, if that costs less than `most`.
    pub(super) fn group_ends(
        &self,
        input: &Logical,
        wanted: &Wanted,
        order: Option<&[SortItem]>,
        most: f64,
    ) -> Option<Built> {
        let (relation, conditions) = table_of(input)?;
        let info = self.relation(relation);
        let possible = info.row_key.is_none() && !info.table.engine.rows.insertion_order;
        if !possible || !conditions.iter().all(is_plain) {
            return None;
        }
        let indexes = 0..info.table.def.indexes.len();
        let paths = indexes
            .filter(|at| self.is_allowed(info, *at))
            .flat_map(|at| self.group_ends_paths(info, at, conditions, wanted, order));
        let best = paths.min_by(|a, b| a.cost.total_cmp(&b.cost))?;
        let required = wanted.columns();
        (best.cost < most).then(|| self.scan_by(relation, conditions, &required, best))
    }

    /// Whether all rows of `ends` differ in `columns`.
    pub(super) fn tells_groups_apart(&self, ends: &Built, columns: &ColumnSet) -> bool {
        let Operator::TableScan(scan) = &ends.node.operator else { return false };
        let Access::Index(range) = &scan.access else { return false };
        let Some(groups) = range.ends().filter(|g| g.is_one()) else { return false };
        let fixed = if let [only] = &range.ranges[..] { only.equal.len() } else { 0 };
        let parts = &scan.table.def.indexes[range.index].parts[fixed..groups.parts];
        let is_there = |part: &IndexPart| {
            let origin = |id| self.columns.get(id).origin;
            columns.iter().any(|id| origin(id).is_some_and(|(_, at)| at == part.column))
        };
        parts.iter().all(is_there)
    }

    /// The ways to read the ends of the groups of an index, and those to read all its entries that
    /// seem dearer to MariaDB.
    fn group_ends_paths(
        &self,
        info: &RelationInfo,
        at: usize,
        conditions: &[Expr],
        wanted: &Wanted,
        order: Option<&[SortItem]>,
    ) -> Vec<Path> {
        let index = &info.table.def.indexes[at];
        let all = bounds(info, index, conditions);
        let ways = ways_of(info, index, all.as_ref(), conditions, wanted);
        let mut used = wanted.columns();
        conditions.iter().for_each(|condition| used.add_expr(condition));
        let read = info.positions(&used);
        let computed = read.iter().any(|column| info.is_computed(*column));
        let clustered = index.kind == IndexKind::Primary;
        if computed || !clustered && !covers_with_key(info, index, &read) {
            return Vec::new();
        }
        let asked = Asked { conditions, read: &read, order };
        let by_ends = |way: &Way| self.ends_path(info, at, way, wanted, &asked);
        let mut paths: Vec<Path> = ways.iter().filter_map(by_ends).collect();
        if !wanted.fixed.is_empty() {
            // Compat: a column with one value is none of the group's unless that costs much.
            let least = paths.iter().map(|path| path.cost).fold(f64::INFINITY, f64::min);
            let more = ways_of(info, index, all.as_ref(), conditions, &wanted.with_fixed());
            let is_better = |path: &Path| path.cost < least * MUCH_LESS;
            paths.extend(more.iter().filter_map(by_ends).filter(is_better));
        }
        let passing = |way| self.passing_path(info, at, way, wanted, &asked);
        paths.extend(ways.iter().find_map(passing));
        paths
    }

    /// A read of the ends of groups alone.
    fn ends_path(
        &self,
        info: &RelationInfo,
        at: usize,
        way: &Way,
        wanted: &Wanted,
        asked: &Asked<'_>,
    ) -> Option<Path> {
        let Way { bounds, ends, .. } = way;
        let index = &info.table.def.indexes[at];
        let clustered = index.kind == IndexKind::Primary;
        let locks = info.lock != LockMode::None;
        let is_possible = !wanted.all_rows
            && ends.parts <= index.parts.len()
            && (clustered || covers(info, index, asked.read))
            // Entries that fail a condition would stay locked.
            && (way.answered || !locks);
        if !is_possible {
            return None;
        }
        let found = Some(bounds).filter(|bounds| bounds.restricts());
        let given = asked.order.and_then(|keys| self.index_order(info, at, found, keys));
        let examined = self.groups_between(info, at, bounds, asked.conditions, ends.parts);
        let entries = examined * ends.most_entries() as f64;
        // With ranges, one entry more is read to find the next group.
        let searches = entries + if ends.within.is_empty() { 0.0 } else { examined };
        let width = asked.read.len() as f64 * cost::DECODE_COLUMN;
        let covering = !clustered && info.lock != LockMode::Exclusive;
        let fetch = if clustered || covering { 0.0 } else { cost::FETCH_ROW };
        let lock = if locks { cost::LOCK_ROW } else { 0.0 };
        let cost = cost::OPEN_SCAN
            + searches * (cost::INDEX_DESCENT + cost::INDEX_ENTRY + fetch + lock)
            + entries * width
            + self.conditions_cost(asked.conditions, entries);
        let rows = table_rows(&info.table, self.source);
        if self.is_dear_to_mariadb(info, at, wanted) && cost > rows * cost::SCAN_ROW {
            return None;
        }
        Some(Path {
            index: Some(at),
            bounds: bounds.clone(),
            covering,
            entry_locks: false,
            reverse: false,
            order: Order::asked_for(Goal { order: asked.order, limit: None }, given == Some(false)),
            groups: Some(ends.clone()),
            text: None,
            union: Vec::new(),
            rows: entries,
            examined,
            cost,
            unique: false,
        })
    }

    /// Estimated number of groups of entries that agree in the first `parts` parts of an index,
    /// within `bounds`.
    pub(super) fn groups_between(
        &self,
        info: &RelationInfo,
        at: usize,
        bounds: &Bounds,
        conditions: &[Expr],
        parts: usize,
    ) -> f64 {
        let rows = table_rows(&info.table, self.source);
        let examined = self.range_rows(info, at, bounds, conditions, rows);
        let share = (examined / rows.max(1.0)).min(1.0);
        // Compat: one group more than are known.
        let groups = prefix_distinct(&info.table, (at, parts), rows, self.source) + 1.0;
        (groups * share).max(1.0)
    }
}

/// The ways to read the groups of an index: with all ranges that the conditions allow, or with
/// those of the parts of a group and others behind these.
fn ways_of(
    info: &RelationInfo,
    index: &IndexDef,
    all: Option<&Bounds>,
    conditions: &[Expr],
    wanted: &Wanted,
) -> Vec<Way> {
    let mut found = vec![all.cloned().unwrap_or_default()];
    if let Some(parts) = parts_with(info, index, &wanted.every)
        && parts < bounded_parts(&found[0])
    {
        let parts = index.parts.get(..parts).unwrap_or(&index.parts).to_vec();
        let first = IndexDef { parts, kind: IndexKind::Unique, ..index.clone() };
        found.push(bounds(info, &first, conditions).unwrap_or_default());
    }
    let mut ways = Vec::new();
    for bounds in found {
        let left = conditions.iter().enumerate().filter(|(at, _)| !bounds.exact.contains(at));
        let left: Vec<Expr> = left.map(|(_, condition)| condition.clone()).collect();
        let read = [
            ends(info, index, &left, &bounds, wanted),
            ends_within(info, index, &left, &bounds, wanted),
        ];
        let way = |(ends, answered)| Way { bounds: bounds.clone(), ends, answered };
        ways.extend(read.into_iter().flatten().map(way));
    }
    ways
}

/// Number of leading parts that some of the ranges restrict.
pub(super) fn bounded_parts(bounds: &Bounds) -> usize {
    let bound = |range: &KeyRange| range.equal.len() + usize::from(range.is_bounded());
    bounds.ranges.iter().map(bound).max().unwrap_or(0)
}

/// The groups of index entries, and the ends of them, that contain all `wanted` values. The
/// conditions that `bounds` leave are tested on one entry of each group.
fn ends(
    info: &RelationInfo,
    index: &IndexDef,
    left: &[Expr],
    bounds: &Bounds,
    wanted: &Wanted,
) -> Option<(GroupEnds, bool)> {
    let mut every = wanted.every.clone();
    left.iter().for_each(|condition| every.add_expr(condition));
    let parts = group_parts(info, index, &every, bounds)?;
    if !left.iter().all(is_same_for_equal) {
        return None;
    }
    let (first, last) = match end_behind(info, index, parts, wanted) {
        None => (false, false),
        Some(at) if at? == 0 => (wanted.least, wanted.greatest),
        Some(_) => return None,
    };
    let ends = GroupEnds { parts, within: Vec::new(), gap: 0, first, last, passed: false };
    Some((ends, left.is_empty()))
}

/// The same, if conditions restrict the parts behind those of a group: of the entries of a group
/// only those within ranges count.
fn ends_within(
    info: &RelationInfo,
    index: &IndexDef,
    left: &[Expr],
    bounds: &Bounds,
    wanted: &Wanted,
) -> Option<(GroupEnds, bool)> {
    let parts = group_parts(info, index, &wanted.every, bounds)?;
    let behind = bounds_behind(info, index, parts, left)?;
    let is_left = |at: &usize| !behind.exact.contains(at);
    let tested = || (0..left.len()).filter(is_left).map(|at| &left[at]);
    let mut columns = ColumnSet::default();
    tested().for_each(|condition| columns.add_expr(condition));
    // Conditions that the ranges do not answer must be the same for all entries of a group.
    if !tested().all(is_same_for_equal) || parts_with(info, index, &columns)? > parts {
        return None;
    }
    let fixed = behind.ranges.iter().map(|range| range.equal.len()).min()?;
    let (gap, first, last) = match end_behind(info, index, parts, wanted) {
        None => (0, false, false),
        // All parts before it have one value in each range.
        Some(Some(at)) if at <= fixed => (at, wanted.least, wanted.greatest),
        Some(_) => return None,
    };
    let answered = tested().next().is_none();
    let within = behind.ranges;
    let ends = GroupEnds { parts, within, gap, first, last, passed: false };
    (ends.within.len() <= MOST_WITHIN).then_some((ends, answered))
}

/// Number of leading parts that contain the columns of a group and all ranges.
fn group_parts(
    info: &RelationInfo,
    index: &IndexDef,
    every: &ColumnSet,
    bounds: &Bounds,
) -> Option<usize> {
    let parts = parts_with(info, index, every)?.max(bounded_parts(bounds));
    (parts > 0).then_some(parts)
}

/// Position behind the first `parts` of the part whose ends are wanted. `None` if there is none, or
/// a part of the group is it; `Some(None)` if no part behind has its order.
fn end_behind(
    info: &RelationInfo,
    index: &IndexDef,
    parts: usize,
    wanted: &Wanted,
) -> Option<Option<usize>> {
    // A prefix part does not tell which value is the least.
    let within = |end| parts_with(info, index, &std::iter::once(end).collect());
    let end = wanted.end.filter(|end| within(*end).is_none_or(|least| least > parts))?;
    let mut behind = index.parts.iter().chain(info.table.def.parts_behind(index)).skip(parts);
    let is_end = |part: &IndexPart| {
        info.first + part.column == end && part.prefix.is_none() && !part.descending
    };
    Some(behind.position(is_end))
}

/// Columns of the table that is read which conditions give one value.
fn fixed_columns(input: &Logical) -> ColumnSet {
    let (_, conditions) = table_of(input).unwrap_or((0, &[]));
    let one = |condition: &Expr| match &condition.kind {
        ExprKind::Compare(c) if c.op == CompareOp::Eq && c.right.is_constant() => {
            c.left.as_column()
        }
        ExprKind::Compare(c) if c.op == CompareOp::Eq && c.left.is_constant() => {
            c.right.as_column()
        }
        ExprKind::IsNull(value) => value.as_column(),
        _ => None,
    };
    conditions.iter().filter_map(one).collect()
}

/// The table that is read, and its conditions.
pub(super) fn table_of(input: &Logical) -> Option<(RelationId, &[Expr])> {
    match input {
        Logical::Scan(relation) => Some((*relation, &[])),
        Logical::Filter { input, conditions } => match &**input {
            Logical::Scan(relation) => Some((*relation, conditions)),
            _ => None,
        },
        _ => None,
    }
}

/// Number of leading parts of an index that contain all `columns`.
pub(super) fn parts_with(
    info: &RelationInfo,
    index: &IndexDef,
    columns: &ColumnSet,
) -> Option<usize> {
    let place = |id: ColumnId| {
        let is_it = |part: &IndexPart| info.first + part.column == id && part.prefix.is_none();
        let mut parts = index.parts.iter().chain(info.table.def.parts_behind(index));
        parts.position(is_it).map(|at| at + 1)
    };
    columns.iter().try_fold(0, |most, id| Some(place(id)?.max(most)))
}
