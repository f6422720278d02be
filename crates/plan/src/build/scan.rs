//! The physical scan of one table. Conditions that its ranges satisfy exactly must not be tested
//! again; all others go to the filter.

use selkie_catalog::PartitionMethod;
use selkie_engine::{IndexDef, IndexId, IndexKind, IndexPart, LockMode};
use selkie_expr::{CompareOp, Expr, ExprKind};
use selkie_types::Charset;

use super::access::{Path, may_cover};
use super::bounds::{Bounds, bounds, covers_with_key};
use super::tested::tested_on;
use super::text::is_ranked;
use super::{Builder, Built, Goal, Order, place};
use crate::estimate::condition_cost;
use crate::logical::{ColumnId, ColumnSet, RelationId, RelationInfo};
use crate::physical::{
    Access, ColumnType, IndexRange, Operator, PartsRead, PlanNode, Reader, RowLock, Shown,
    SystemHints, SystemTableScan, TableScan,
};

/// The computed columns among `columns`: position and expression over `columns`.
pub(super) fn computed(relation: &RelationInfo, columns: &[usize]) -> Vec<(usize, Expr)> {
    let place_of = |column: &usize| columns.iter().position(|at| at == column);
    let found = relation.computed.iter().filter_map(|(at, e)| Some((place_of(at)?, e)));
    found.map(|(at, e)| (at, place(e, columns))).collect()
}

impl Builder<'_> {
    /// A scan of `relation` under `conditions`, by the best path.
    pub(super) fn scan(
        &self,
        relation: RelationId,
        conditions: &[Expr],
        required: &ColumnSet,
        goal: Goal<'_>,
    ) -> Built {
        let info = self.relation(relation);
        let mut read = required.clone();
        conditions.iter().for_each(|c| read.add_expr(c));
        let columns = info.positions(&read);
        if matches!(info.table.kind, selkie_catalog::TableKind::System) {
            return self.system_scan(relation, conditions, required);
        }
        let path = self.best_path(relation, conditions, &columns, goal);
        let (ranked, own): (Vec<Expr>, Vec<Expr>) =
            conditions.iter().cloned().partition(|c| is_ranked(info, c));
        if ranked.is_empty() {
            return self.scan_by(relation, conditions, required, path);
        }
        let mut required = required.clone();
        ranked.iter().for_each(|c| required.add_expr(c));
        let path = match path.text {
            Some(_) => path,
            None => self.best_path(relation, &own, &columns, goal),
        };
        let rows = path.text.map(|_| path.rows);
        let mut built = self.filtered(self.scan_by(relation, &own, &required, path), ranked);
        built.node.rows = rows.unwrap_or(built.node.rows);
        built
    }

    /// A scan of `relation` by `path`.
    pub(super) fn scan_by(
        &self,
        relation: RelationId,
        conditions: &[Expr],
        required: &ColumnSet,
        path: Path,
    ) -> Built {
        let info = self.relation(relation);
        let left = conditions.iter().enumerate();
        let left = left.filter(|(at, _)| !path.bounds.exact.contains(at));
        let mut left: Vec<Expr> = left.map(|(_, c)| c.clone()).collect();
        constants_first(info, &mut left);
        let left = self.in_test_order(left);
        let mut needed = required.clone();
        left.iter().for_each(|c| needed.add_expr(c));
        let columns = info.positions(&needed);
        let all: Vec<ColumnId> = columns.iter().map(|at| info.first + at).collect();
        let mut filter_set = ColumnSet::default();
        left.iter().for_each(|c| filter_set.add_expr(c));
        let filtered = info.positions(&filter_set);
        let output: Vec<usize> = (0..all.len()).filter(|at| required.contains(all[*at])).collect();
        let mut layout: Vec<ColumnId> = output.iter().map(|at| all[*at]).collect();
        let mut types: Vec<ColumnType> = layout.iter().map(|id| self.column_type(*id)).collect();
        let key_only = self.reads_key_only(info, &columns);
        // Compat: MariaDB reads rows that are keys by the clustered key, in the key's order over
        // all partitions. A count of rows needs no order.
        let in_key_order = key_only && !columns.is_empty() && info.table.partitions.is_some();
        let whole = in_key_order.then_some(0);
        let columns_read = columns.clone();
        let row_keys = info.row_key.filter(|id| required.contains(*id));
        if let Some(id) = row_keys {
            layout.push(id);
            types.push(self.column_type(id));
        }
        let scan = TableScan {
            table: info.table.clone(),
            alias: info.alias.clone(),
            computed: computed(info, &columns),
            filter_columns: columns.iter().map(|at| filtered.contains(at)).collect(),
            filter: left.iter().map(|c| place(c, &all)).collect(),
            columns,
            output,
            filters: Vec::new(),
            access: access_of(&path, info, whole),
            parts: parts_read(info, conditions),
            lock: RowLock { mode: info.lock, wait: info.wait },
            row_keys: row_keys.is_some(),
            reader: Reader::default(),
            examined: path.examined,
            shown: Shown {
                possible_keys: self.possible_keys(info, conditions, &ColumnSet::default()),
                share: self.shown_share(info, conditions, &path),
                key_only,
                entry_only: path
                    .index
                    .is_some_and(|at| self.reads_entry_only(info, at, &columns_read)),
                tested: tested_on(info, conditions, &path),
                rows_per_key: match path.index {
                    Some(at) => self.shown_rows_per_key(info, (at, path.examined)),
                    None => 0.0,
                },
                answers: info.answers,
                unit: self.columns.get(info.first).unit,
            },
        };
        let node = PlanNode::new(Operator::TableScan(Box::new(scan)), types, path.rows, path.cost);
        self.of_unit(Built { node, layout, order: path.order }, info)
    }

    /// Marks the scan of a table with its unit.
    fn of_unit(&self, mut built: Built, info: &RelationInfo) -> Built {
        if self.columns.units.has_inner() {
            let unit = self.columns.get(info.first).unit;
            built.node.of_units = Some(Box::new(self.columns.units.mark(unit, &built.layout)));
        }
        built
    }

    /// Whether the clustered key, which hints allow, has all columns that are read.
    pub(super) fn reads_key_only(&self, info: &RelationInfo, read: &[usize]) -> bool {
        let mut indexes = info.table.def.indexes.iter().enumerate();
        let primary = indexes.find(|(_, index)| index.kind == IndexKind::Primary);
        info.table.engine.keys.clustered
            && info.row_key.is_none()
            && primary.is_some_and(|(at, index)| {
                self.is_allowed(info, at) && read.iter().all(|&column| index.holds(column))
            })
    }

    /// Whether an index, with the clustered key behind it, has all columns that are read.
    pub(super) fn reads_entry_only(
        &self,
        info: &RelationInfo,
        index: usize,
        read: &[usize],
    ) -> bool {
        let index = &info.table.def.indexes[index];
        let secondary = index.kind != IndexKind::Primary && info.table.engine.keys.clustered;
        let queried = info.lock == LockMode::None && may_cover(info);
        secondary && queried && covers_with_key(info, index, read)
    }

    /// Sorts conditions by cost and selectivity. If one is not deterministic, the order stays. So
    /// it does if one may warn of rows that a condition before it excludes, unless a subquery runs
    /// for each row.
    pub(super) fn in_test_order(&self, mut conditions: Vec<Expr>) -> Vec<Expr> {
        if conditions.len() < 2 || conditions.iter().any(|c| !c.is_deterministic()) {
            return conditions;
        }
        if conditions.iter().any(converts_texts)
            && !conditions.iter().any(Expr::has_correlated_subquery)
        {
            return conditions;
        }
        let estimator = self.estimator();
        let rank = |c: &Expr| {
            let dropped = 1.0 - estimator.one(c);
            (condition_cost(c) + self.subplans_cost(c, 1_000.0)) / dropped.max(0.001)
        };
        conditions.sort_by(|a, b| rank(a).total_cmp(&rank(b)));
        conditions
    }

    fn system_scan(
        &self,
        relation: RelationId,
        conditions: &[Expr],
        required: &ColumnSet,
    ) -> Built {
        const ROWS: f64 = 100.0;
        let info = self.relation(relation);
        let series =
            selkie_catalog::Series::from_name(info.table.name()).filter(|_| info.table.is_series());
        let (all_rows, cost) = match series {
            Some(series) => (series.count as f64, series.count as f64),
            None => (ROWS, 100_000.0),
        };
        let mut read = required.clone();
        conditions.iter().for_each(|c| read.add_expr(c));
        let columns = info.positions(&read);
        let mut layout: Vec<ColumnId> = columns.iter().map(|at| info.first + at).collect();
        let number = info.row_key.filter(|key| required.contains(*key));
        layout.extend(number);
        let scan = SystemTableScan {
            numbered: number.is_some(),
            table: info.table.clone(),
            alias: info.alias.clone(),
            columns,
            filter: conditions.iter().map(|c| place(c, &layout)).collect(),
            hints: hints(info, conditions),
        };
        let node = PlanNode::new(
            Operator::SystemTableScan(Box::new(scan)),
            layout.iter().map(|id| self.column_type(*id)).collect(),
            (all_rows * self.estimator().all(conditions)).max(1.0),
            cost,
        );
        Built { node, layout, order: Order::none() }
    }
}

/// The leaves of a partitioned table that rows under `conditions` can be in.
pub(super) fn parts_read(info: &RelationInfo, conditions: &[Expr]) -> Option<Box<PartsRead>> {
    let partitions = info.table.partitions.as_ref()?;
    let ranges = |method: &PartitionMethod| {
        let columns = method.columns_of(&info.table).unwrap_or_default();
        let part = |column| IndexPart { column, prefix: None, descending: false };
        // As an index over the columns, of which only the ranges are of interest.
        let index = IndexDef {
            id: IndexId(u32::MAX),
            name: "".into(),
            kind: IndexKind::Unique,
            parts: columns.into_iter().map(part).collect(),
            hashed: false,
            without_overlaps: false,
        };
        bounds(info, &index, conditions).map(|found| found.ranges).unwrap_or_default()
    };
    Some(Box::new(PartsRead {
        listed: info.parts.clone(),
        ranges: ranges(&partitions.method),
        sub_ranges: partitions.sub.as_ref().map(ranges).unwrap_or_default(),
    }))
}

/// The access of a path. A scan of all rows gives them in the order of the index `whole`, if there
/// is one.
fn access_of(path: &Path, info: &RelationInfo, whole: Option<usize>) -> Access {
    let range = |index: usize, bounds: &Bounds| IndexRange {
        index,
        ranges: bounds.ranges.clone(),
        reverse: path.reverse,
        covering: path.covering,
        entry_locks: path.entry_locks,
        ordered: path.unique || path.order.has_keys(),
        unique: path.unique,
        groups: path.groups.clone(),
    };
    match path.index {
        None if let Some(search) = path.text => Access::Text(search),
        Some(index) => Access::Index(range(index, &path.bounds)),
        None if path.union.is_empty() => match whole {
            Some(index) => Access::Index(range(index, &path.bounds)),
            None => Access::Full { reverse: path.reverse },
        },
        None => {
            // A lock must be on the row. Without a lock, the entry with its clustered key is
            // enough.
            let covering = info.lock == LockMode::None;
            let part =
                |(at, bounds): &(usize, Bounds)| IndexRange { covering, ..range(*at, bounds) };
            Access::Union(path.union.iter().map(part).collect())
        }
    }
}

/// Constants compared with the columns that name a schema and a table.
fn hints(info: &RelationInfo, conditions: &[Expr]) -> SystemHints {
    let equal_to = |names: &[&str]| -> Option<Expr> {
        conditions.iter().find_map(|condition| {
            let ExprKind::Compare(compare) = &condition.kind else { return None };
            let (column, value) = match (compare.left.as_column(), compare.right.as_column()) {
                (Some(id), None) => (id, &compare.right),
                (None, Some(id)) => (id, &compare.left),
                _ => return None,
            };
            let name = &info.table.columns.get(column.checked_sub(info.first)?)?.name;
            let named = names.iter().any(|n| n.eq_ignore_ascii_case(name));
            (compare.op == CompareOp::Eq && named && value.is_constant()).then(|| value.clone())
        })
    };
    SystemHints {
        schema: equal_to(&[
            "TABLE_SCHEMA",
            "SCHEMA_NAME",
            "CONSTRAINT_SCHEMA",
            "ROUTINE_SCHEMA",
            "SPECIFIC_SCHEMA",
        ]),
        table: equal_to(match info.table.name() {
            "ROUTINES" => &["ROUTINE_NAME"],
            "PARAMETERS" => &["SPECIFIC_NAME"],
            _ => &["TABLE_NAME"],
        }),
        listed: conditions.iter().find_map(|condition| listed_hint(info, condition)),
    }
}

/// A condition that compares names of variables or tables, or matches them, with a constant string.
fn listed_hint(info: &RelationInfo, condition: &Expr) -> Option<Expr> {
    let (left, right) = match &condition.kind {
        ExprKind::Compare(compare) if compare.op == CompareOp::Eq => {
            (&compare.left, &compare.right)
        }
        ExprKind::Call(call) if call.function.name().eq_ignore_ascii_case("like") => {
            match &call.args[..] {
                [text, pattern] => (text, pattern),
                _ => return None,
            }
        }
        _ => return None,
    };
    let constant = matches!(right.kind, ExprKind::Literal(_) | ExprKind::Parameter(_));
    let id = text_of(left).as_column().filter(|_| constant && right.ty.is_string())?;
    let name = &info.table.columns.get(id.checked_sub(info.first)?)?.name;
    let listed = match info.table.name() {
        "TABLES" => "TABLE_NAME",
        _ => "VARIABLE_NAME",
    };
    name.eq_ignore_ascii_case(listed).then(|| place(condition, &[id]))
}

/// The text below changes of its collation and conversions to Unicode, which raise no warnings.
fn text_of(text: &Expr) -> &Expr {
    let mut below = text;
    while let ExprKind::Call(call) = &below.kind
        && call.function.is_implicit()
        && let [inner] = &call.args[..]
        && inner.ty.is_string()
        && matches!(below.ty.collation.charset(), Charset::Utf8mb3 | Charset::Utf8mb4)
    {
        below = inner;
    }
    below
}

/// Moves comparisons with constants before other conditions that may warn.
///
/// Compat: UPDATE and DELETE of one table test conditions as they are written.
pub(super) fn constants_first(info: &RelationInfo, conditions: &mut [Expr]) {
    let may_warn = conditions.len() > 1 && conditions.iter().any(converts_texts);
    if may_warn && !info.changed_alone && conditions.iter().all(Expr::is_deterministic) {
        conditions.sort_by_key(|c| !is_equal_to_constant(c));
    }
}

/// Whether a condition compares a whole number or a date with a constant that is one already.
fn is_equal_to_constant(condition: &Expr) -> bool {
    let ExprKind::Compare(compare) = &condition.kind else { return false };
    let is_plain = |e: &Expr| e.ty.is_integer() || e.ty.has_date();
    let is_pair = |column: &Expr, value: &Expr| {
        column.as_column().is_some() && is_plain(column) && value.is_constant() && is_plain(value)
    };
    let (left, right) = (&compare.left, &compare.right);
    compare.op == CompareOp::Eq && (is_pair(left, right) || is_pair(right, left))
}

/// Whether texts of rows become numbers or dates, which raises warnings or errors.
fn converts_texts(condition: &Expr) -> bool {
    condition.any(&mut |e| match &e.kind {
        ExprKind::Call(call) => {
            let is_text = |arg: &Expr| arg.ty.is_string() && !arg.columns().is_empty();
            call.function.is_implicit() && !e.ty.is_string() && call.args.iter().any(is_text)
        }
        _ => false,
    })
}
