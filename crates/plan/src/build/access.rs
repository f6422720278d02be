//! Access paths of a single table, each with its rows and cost; the cheapest is used. Paths are
//! costed for the wish of the parent ([`Goal`]), so one that saves a sort may win.

use selkie_engine::{IndexDef, IndexKind, LockMode};
use selkie_expr::Expr;
use selkie_types::Physical;

use super::bounds::{Bounds, bounds, covers, covers_with_key};
use super::{Builder, Goal, Order};
use crate::cost;
use crate::estimate::{Assumption, prefix_distinct, range_rows, table_rows};
use crate::logical::{RelationId, RelationInfo, SortItem};
use crate::physical::{GroupEnds, KeyRange};

/// An access path of a table.
#[derive(Clone, Debug)]
pub(super) struct Path {
    /// The index; `None` is a scan of the clustered index from end to end.
    pub index: Option<usize>,
    /// Ranges of the index.
    pub bounds: Bounds,
    /// Instead of both: ranges of several indexes, whose rows are combined.
    pub union: Vec<(usize, Bounds)>,
    /// Index entries hold all columns that are read.
    pub covering: bool,
    /// Only index entries are locked.
    pub entry_locks: bool,
    /// Reads from the greatest key to the least.
    pub reverse: bool,
    /// Order of its rows.
    pub order: Order,
    /// Rows that pass all conditions.
    pub rows: f64,
    /// Rows read to find them.
    pub examined: f64,
    /// Cost of reading all rows.
    pub cost: f64,
    /// At most one row.
    pub unique: bool,
    /// Reads only the ends of each group of entries.
    pub groups: Option<GroupEnds>,
    /// Instead of an index: the hits of a search.
    pub text: Option<selkie_expr::SearchId>,
}

impl Builder<'_> {
    /// The best path to read `relation` under `conditions`, with the columns `read` (positions in
    /// the table).
    pub(super) fn best_path(
        &self,
        relation: RelationId,
        conditions: &[Expr],
        read: &[usize],
        goal: Goal<'_>,
    ) -> Path {
        let info = self.relation(relation);
        if let Some(text) = self.text_path(info, conditions) {
            return text;
        }
        if let Some(unique) = self.unique_path(info, conditions, read) {
            return unique;
        }
        let rows = table_rows(&info.table, self.source);
        let mut best: Option<(f64, Path)> = None;
        let selectivity = self.estimator().all(conditions);
        for path in self.paths(relation, conditions, read, goal, rows, selectivity) {
            let total = self.total(&path, goal);
            if best.as_ref().is_none_or(|(cost, _)| total < *cost) {
                best = Some((total, path));
            }
        }
        best.map(|(_, path)| path)
            .unwrap_or_else(|| self.full_path(info, conditions, read, (rows, goal)))
    }

    /// Cost of a path, including the parent's work for the order it wants.
    fn total(&self, path: &Path, goal: Goal<'_>) -> f64 {
        let share = goal.limit.map_or(1.0, |limit| (limit / path.rows.max(1.0)).min(1.0));
        match goal.order {
            None => path.cost * share,
            Some(_) if path.gives(goal) => path.cost * share,
            Some(_) => match goal.limit {
                Some(limit) => path.cost + cost::top_n(path.rows, limit),
                None => path.cost + cost::sort(path.rows),
            },
        }
    }

    /// A whole unique key compared with constants. No other path can be better.
    fn unique_path(
        &self,
        info: &RelationInfo,
        conditions: &[Expr],
        read: &[usize],
    ) -> Option<Path> {
        let indexes = info.table.def.indexes.iter().enumerate();
        for (at, index) in indexes.filter(|(_, index)| index.is_unique()) {
            if !self.is_allowed(info, at) {
                continue;
            }
            let Some(bounds) = bounds(info, index, conditions) else { continue };
            let nulls = bounds.ranges.iter().any(|r| r.null_safe.contains(&true));
            let whole = index.parts.iter().all(|p| p.prefix.is_none());
            if bounds.equal_parts < index.parts.len() || bounds.ranges.len() != 1 || nulls || !whole
            {
                continue;
            }
            let covering =
                index.kind != IndexKind::Primary && may_cover(info) && covers(info, index, read);
            let entry_locks = entry_suffices(info, index, read);
            let fetch = index.kind != IndexKind::Primary && !covering && !entry_locks;
            let cost = cost::lookups(1.0, 1.0, fetch);
            return Some(Path {
                index: Some(at),
                bounds,
                covering,
                entry_locks,
                reverse: false,
                order: Order::of_one_row(info),
                rows: 1.0,
                examined: 1.0,
                cost,
                unique: true,
                groups: None,
                text: None,
                union: Vec::new(),
            });
        }
        None
    }

    /// All paths that are worth a comparison.
    fn paths(
        &self,
        relation: RelationId,
        conditions: &[Expr],
        read: &[usize],
        goal: Goal<'_>,
        rows: f64,
        selectivity: f64,
    ) -> Vec<Path> {
        let info = self.relation(relation);
        let mut paths = Vec::new();
        for at in 0..info.table.def.indexes.len() {
            if !self.is_allowed(info, at) {
                continue;
            }
            paths.extend(self.index_path(info, at, conditions, read, goal, rows, selectivity));
        }
        paths.extend(self.union_path(info, conditions, read, goal, rows, selectivity));
        let in_order = |p: &Path| goal.order.is_some_and(|keys| p.order.gives(keys));
        let is_wanted = |p: &Path| {
            p.bounds.restricts() || !p.union.is_empty() || p.index.is_some() && in_order(p)
        };
        if !(info.forced && paths.iter().any(is_wanted)) {
            let mut full = self.full_path(info, conditions, read, (rows, goal));
            full.rows = (rows * selectivity).max(1e-6);
            paths.push(full);
        }
        paths
    }

    pub(super) fn is_allowed(&self, info: &RelationInfo, index: usize) -> bool {
        info.table.is_searchable(index)
            && info.allowed.as_ref().is_none_or(|allowed| allowed.contains(&index))
            && !self.source.is_too_young(&info.table, index)
    }

    fn full_path(
        &self,
        info: &RelationInfo,
        conditions: &[Expr],
        read: &[usize],
        (rows, goal): (f64, Goal<'_>),
    ) -> Path {
        let scanned = rows.max(cost::FEWEST_SCANNED);
        let cost = cost::OPEN_SCAN + self.rows_read(info, conditions, read, (scanned, goal));
        Path {
            index: None,
            bounds: Bounds::default(),
            covering: false,
            entry_locks: false,
            reverse: false,
            order: Order::none(),
            rows,
            examined: rows,
            cost,
            unique: false,
            groups: None,
            text: None,
            union: Vec::new(),
        }
    }

    /// Cost of reading `rows` rows in a scan from end to end, in the order of the clustered key,
    /// and of testing the conditions. A scan that may stop early reads rows, not groups.
    fn rows_read(
        &self,
        info: &RelationInfo,
        conditions: &[Expr],
        read: &[usize],
        (rows, goal): (f64, Goal<'_>),
    ) -> f64 {
        let tested = self.conditions_cost(conditions, rows);
        let row = row_cost(info, None) + read.len() as f64 * cost::DECODE_COLUMN;
        let uncached = self.source.uncached_share(&info.table);
        let by_rows = rows * (row + uncached * cost::ROW_READ) + tested;
        let grouped = self.grouped_share(info, read);
        if grouped == 0.0 || goal.limit.is_some() {
            return by_rows;
        }
        // Values that no condition reads are decoded for the rows that are left.
        let mut first = vec![false; info.table.columns.len()];
        for condition in conditions {
            condition.for_each_column(&mut |id| {
                if let Some(own) = id.checked_sub(info.first).and_then(|at| first.get_mut(at)) {
                    *own = true;
                }
            });
        }
        let left = self.estimator().all(conditions);
        let value = |column: &usize| {
            let cost = match info.table.columns[*column].ty.physical() {
                Physical::Bytes => cost::GROUP_STRING,
                _ => cost::GROUP_NUMBER,
            };
            if first[*column] { cost } else { cost * left }
        };
        let row = cost::GROUP_ROW_PASSED + read.iter().map(value).sum::<f64>();
        let by_groups = rows * row + tested * cost::GROUP_CONDITION;
        grouped * by_groups + (1.0 - grouped) * by_rows
    }

    /// Share of a table's rows that a scan of it reads by column groups. A scan that locks rows
    /// reads them one by one, and long values are in no group.
    pub(super) fn grouped_share(&self, info: &RelationInfo, read: &[usize]) -> f64 {
        const LONGEST: u32 = 1024;
        let is_long = |column: &usize| info.table.columns[*column].ty.length > LONGEST;
        let is_plain = info.lock == LockMode::None
            && info.row_key.is_none()
            && info.table.partitions.is_none()
            && !read.iter().any(|column| info.is_computed(*column) || is_long(column));
        if !is_plain {
            return 0.0;
        }
        self.source.grouped_share(&info.table, read).clamp(0.0, 1.0)
    }

    /// Cost of reading the page of a row that is found by its key.
    pub(super) fn page_cost(&self, info: &RelationInfo) -> f64 {
        self.source.uncached_share(&info.table) * cost::PAGE_READ
    }

    #[allow(clippy::too_many_arguments)]
    pub(super) fn index_path(
        &self,
        info: &RelationInfo,
        at: usize,
        conditions: &[Expr],
        read: &[usize],
        goal: Goal<'_>,
        rows: f64,
        selectivity: f64,
    ) -> Option<Path> {
        let index = &info.table.def.indexes[at];
        let clustered = index.kind == IndexKind::Primary;
        let covering = !clustered && may_cover(info) && covers(info, index, read);
        let entry_locks = entry_suffices(info, index, read);
        let found = bounds(info, index, conditions);
        let order = goal.order.and_then(|keys| self.index_order(info, at, found.as_ref(), keys));
        let useful = found.is_some() || order.is_some() || covering || entry_locks;
        if !useful {
            return None;
        }
        let bounds = found.unwrap_or_default();
        let reads = self.range_rows(info, at, &bounds, conditions, rows);
        let descents = bounds.ranges.len().max(1) as f64;
        let width = read.len() as f64;
        let whole = bounds.ranges.is_empty() || !bounds.restricts();
        // In an index that gives the wanted order often only the first entries are read.
        let scanned = match whole && order.is_none() {
            true => reads.max(cost::FEWEST_SCANNED),
            false => reads,
        };
        let row = width * cost::DECODE_COLUMN
            + match (clustered, covering || entry_locks) {
                (true, _) => row_cost(info, None),
                (false, true) => row_cost(info, Some(at)),
                (false, false) => cost::INDEX_ENTRY + cost::FETCH_ROW + self.page_cost(info),
            };
        let read_rows = match clustered && whole && order != Some(true) {
            true => self.rows_read(info, conditions, read, (scanned, goal)),
            false => scanned * row + self.conditions_cost(conditions, scanned),
        };
        let cost = descents * cost::INDEX_DESCENT + read_rows;
        let ordered = order.is_some();
        Some(Path {
            index: Some(at),
            bounds,
            covering,
            entry_locks,
            reverse: ordered && order == Some(true),
            order: Order::asked_for(goal, ordered),
            rows: (rows * selectivity).min(reads).max(1e-6),
            examined: reads,
            cost,
            unique: false,
            groups: None,
            text: None,
            union: Vec::new(),
        })
    }

    /// Rows in the ranges: estimated by the engine where bounds are known, otherwise by statistics.
    pub(super) fn range_rows(
        &self,
        info: &RelationInfo,
        at: usize,
        bounds: &Bounds,
        conditions: &[Expr],
        rows: f64,
    ) -> f64 {
        if bounds.ranges.is_empty() || !bounds.restricts() {
            return rows;
        }
        if let Some(counted) = self.dive(info, at, bounds) {
            return counted;
        }
        let used: Vec<&Expr> = bounds.used.iter().map(|i| &conditions[*i]).collect();
        let estimator = self.estimator();
        if bounds.equal_parts == 0 || bounds.equal_parts == usize::MAX {
            return (rows * estimator.all(used)).max(1e-6);
        }
        let alternatives = bounds.ranges.len() as f64;
        let distinct = prefix_distinct(&info.table, (at, bounds.equal_parts), rows, self.source);
        let by_key = alternatives * rows / distinct;
        let by_value = rows * estimator.all(used);
        let outside = by_value < by_key * 0.01;
        let estimate = if outside { by_value } else { by_key };
        let range_part = match bounds.bounded {
            true => (by_value / by_key.max(1e-9)).clamp(0.001, 1.0),
            false => 1.0,
        };
        (estimate * range_part).clamp(1e-6, rows)
    }

    /// Asks the engine for the rows of ranges whose values are known.
    fn dive(&self, info: &RelationInfo, index: usize, bounds: &Bounds) -> Option<f64> {
        let (source, ranges) = (self.source, &bounds.ranges);
        let rows = range_rows(&info.table, index, ranges, source.given(), source)?;
        let mut values = ranges.iter().flat_map(KeyRange::values);
        if values.any(|e| e.parameter_within().is_some()) {
            let (table, ranges) = (info.table.clone(), ranges.clone());
            source.assume(Assumption::Range { table, index, ranges, rows });
        }
        Some(rows)
    }

    /// Whether an index gives the order of `keys`: forwards is `Some(false)`, backwards is
    /// `Some(true)`.
    pub(super) fn index_order(
        &self,
        info: &RelationInfo,
        at: usize,
        bounds: Option<&Bounds>,
        keys: &[SortItem],
    ) -> Option<bool> {
        let single = bounds.is_none_or(|b| b.ranges.len() == 1);
        let fixed = bounds.map_or(0, |b| if single { b.equal_parts } else { 0 });
        let def = &info.table.def;
        let index = &def.indexes[at];
        let parts = || index.parts.iter().chain(def.parts_behind(index));
        // A column that is fixed, or that a key named before, does not order rows any more.
        let mut known: Vec<usize> = parts().take(fixed).map(|p| p.column).collect();
        let mut parts = parts().skip(fixed);
        let own = |key: &SortItem| {
            let column = key.expr.as_column()?.checked_sub(info.first)?;
            (column < info.table.columns.len()).then_some(column)
        };
        let mut reverse = None;
        for (done, key) in keys.iter().enumerate() {
            let column = own(key)?;
            if known.contains(&column) {
                continue;
            }
            let Some(part) = parts.next() else {
                // Further keys on this table do not matter if the columns that order the entries
                // identify a row. Keys on other tables do matter.
                let identified = def.primary().is_some() || def.is_identified_by(index);
                let only_own = keys[done..].iter().all(|key| own(key).is_some());
                return (identified && only_own).then_some(reverse.unwrap_or(false));
            };
            if part.column != column || part.prefix.is_some() {
                return None;
            }
            let backwards = part.descending != key.descending;
            if *reverse.get_or_insert(backwards) != backwards {
                return None;
            }
            known.push(column);
        }
        Some(reverse.unwrap_or(false))
    }
}

/// Whether index entries can replace rows. They cannot when rows themselves are locked or changed.
/// Compat: nor in tables whose rows come in insertion order.
pub(super) fn may_cover(info: &RelationInfo) -> bool {
    let ordered = info.table.engine.rows.insertion_order;
    info.row_key.is_none() && info.lock != LockMode::Exclusive && !ordered
}

/// Whether a shared lock on the entry of the index that is read is enough.
///
/// Compat: entries of InnoDB's indexes hold the primary key too. Paths of such reads are costed as
/// if entries did so here, so that the same index is read and the same entries are locked.
pub(super) fn entry_suffices(info: &RelationInfo, index: &IndexDef, read: &[usize]) -> bool {
    let secondary = index.kind != IndexKind::Primary;
    secondary
        && info.lock == LockMode::Shared
        && may_cover(info)
        && covers_with_key(info, index, read)
}

/// Cost of passing one row of a table or one entry of an index in a scan: a fixed part, and a part
/// for memory bandwidth.
fn row_cost(info: &RelationInfo, index: Option<usize>) -> f64 {
    const PER_BYTE: f64 = 0.1;
    let width = |column: usize| -> f64 {
        let ty = &info.table.columns[column].ty;
        ty.fixed_width().map_or_else(|| f64::from(ty.length.min(100)) * 0.5, |w| w as f64)
    };
    let bytes: f64 = match index {
        Some(at) => {
            let index = &info.table.def.indexes[at];
            let parts = index.parts.iter().chain(info.table.def.parts_behind(index));
            parts.map(|p| width(p.column)).sum()
        }
        None => (0..info.table.columns.len()).map(width).sum(),
    };
    cost::SCAN_ROW - 15.0 + bytes * PER_BYTE
}
