//! Joins in the rows of EXPLAIN: lookups, and tables whose rows are kept in memory. An inner join
//! shows the side first that this server keeps; its rows must name a join buffer only once.

use selkie_engine::{IndexKind, IndexPart};
use selkie_expr::Expr;

use super::keys::{key_columns, key_length};
use super::names::{Names, both, lookup_names, names, show, show_all, table_column};
use super::rows::{ExplainRow, Walk, count, is_known, join_remarks, list, say_tested};
use super::units::{Side, shows_right_first};
use super::work::{JoinRun, Run};
use crate::physical::{IndexJoin, JoinKey, JoinKind, Operator, PlanNode, Tested};

/// The columns that a lookup makes equal.
pub(super) fn looked_up(join: &IndexJoin, outer: &Names<'_>) -> Vec<[String; 2]> {
    let lookup = &join.lookup;
    let parts = &lookup.table.def.indexes[lookup.index].parts;
    let pair = |(part, key): (&IndexPart, &Expr)| {
        let own = table_column(&lookup.alias, &lookup.table, part.column);
        Some([outer.get(key.as_column()?)?, own])
    };
    parts.iter().zip(&lookup.keys).filter_map(pair).collect()
}

/// Whether a row is that of a table whose rows are kept.
fn is_kept(row: &ExplainRow) -> bool {
    row.table.as_deref().is_some_and(|name| name.starts_with('<'))
}

/// Numbers of a table in which a row was looked up for each of `first` rows.
fn found_rows(first: u64, found: u64) -> Option<Run> {
    let rows = (first > 0).then(|| found as f64 / first as f64);
    let filtered = (first > 0).then_some(100.0);
    Some(Run { loops: first, rows, filtered, ..Run::default() })
}

impl Walk<'_> {
    /// Numbers of the table that `node` looks rows of `left` up in.
    pub(super) fn lookup_run(&mut self, node: &PlanNode, left: &PlanNode) -> Option<Run> {
        let mut work = self.work(node)?;
        let before = self.work(left)?.nanos;
        work.nanos = work.nanos.saturating_sub(before);
        work.loops = work.lookups;
        let mut run = self.passed(work);
        run.other_nanos = run.other_nanos.saturating_sub(before);
        Some(run)
    }

    /// Compat: that a value to look up is not NULL is tested on its own table, or on the joined one
    /// if the join is outer; for the latter it is true.
    pub(super) fn rejects_null(&mut self, join: &IndexJoin, outer: &Names<'_>, id: u64) -> bool {
        let mut of_joined = false;
        for (key, null_safe) in join.lookup.keys.iter().zip(&join.lookup.null_safe) {
            let Some(at) = key.as_column().filter(|_| !null_safe) else { continue };
            let Some(name) = outer.get(at) else { continue };
            if !join.left.columns.get(at).is_some_and(|column| column.nullable) {
                continue;
            }
            let alias = name.split('.').next().map(|alias| self.shown_table(alias));
            let is_own = |row: &&mut ExplainRow| row.id == Some(id) && row.table == alias;
            let row = self.rows.iter_mut().rev().find(is_own);
            let Some(row) = row.filter(|row| !is_known(row)) else { continue };
            match join.kind {
                JoinKind::Left => of_joined = true,
                JoinKind::Inner | JoinKind::Semi => {
                    say_tested(row);
                    let test = format!("{name} is not null");
                    row.detail.conditions.own = match row.detail.conditions.own.take() {
                        Some(condition) => Some(format!("{condition} and {test}")),
                        None => Some(test),
                    };
                }
                _ => {}
            }
        }
        of_joined
    }

    pub(super) fn lookup_conditions(&mut self, join: &IndexJoin) -> Option<String> {
        let mut all = Vec::new();
        if !join.lookup.filter.is_empty() {
            all.push(show_all(
                &join.lookup.filter,
                &Names::Listed(lookup_names(&join.lookup)),
                " and ",
            ));
        }
        if !join.residual.is_empty() {
            let row = Names::looked_up(self.plan, &join.left, &join.lookup);
            all.push(show_all(&join.residual, &row, " and "));
        }
        all.extend(self.above.conditions.take());
        (!all.is_empty()).then(|| all.join(" and "))
    }

    /// A join that keeps one side in memory. Compat: MariaDB keeps the first table; an inner join
    /// here keeps its right side, so that side is shown first.
    pub(super) fn buffered_join(
        &mut self,
        node: &PlanNode,
        (left, right): (&PlanNode, &PlanNode),
        (kind, tested): (JoinKind, bool),
        id: u64,
        ty: &'static str,
    ) {
        (self.above.most, self.above.cut) = (None, None);
        if let Some((other, value)) = self.joined_value(left, right) {
            self.above.tested |= tested;
            self.node(other, id, ty);
            return self.node(value, id, ty);
        }
        let found = self.above.passed.or(self.work(node)).map_or(0, |work| work.given);
        let joined = self.join_run(node, left, right, kind);
        let conditions = self.join_conditions(node, left, right);
        let inner = kind == JoinKind::Inner;
        let [in_left, in_right] = match &node.operator {
            Operator::HashJoin(join) => {
                [Side::Left, Side::Right].map(|side| self.kept_keys(join, side))
            }
            _ => Default::default(),
        };
        let swapped = inner && shows_right_first(left, right, in_left.len() + in_right.len());
        let (first, second) = if swapped { (right, left) } else { (left, right) };
        let keys = if swapped { in_left } else { in_right };
        let start = self.rows.len();
        self.node(first, id, ty);
        self.joined_to(start, id);
        self.above.tested = tested;
        self.above.outer = !inner;
        self.above.keys = keys;
        let middle = self.rows.len();
        self.node(second, id, ty);
        let shown_first = if swapped { right } else { left };
        let looked_up = self.work(shown_first).map(|work| work.given).zip(joined);
        if let Some(row) = self.rows.get_mut(middle).filter(|row| !is_known(row)) {
            if let (Some((first, _)), true) = (looked_up, row.key.is_some() && is_kept(row)) {
                row.detail.numbers.run = found_rows(first, found);
                return;
            }
            (row.detail.numbers.joined, row.detail.conditions.join) = (joined, conditions);
        }
        // A condition tested on a known row is in effect tested on the other tables.
        if tested && inner && self.rows[middle..].iter().all(is_known) {
            let others = self.rows[start..middle].iter_mut().rev();
            if let Some(row) = others.into_iter().find(|row| !is_known(row)) {
                say_tested(row);
            }
        }
    }

    /// The sides of a join with the groups of a subquery that is a value, those last.
    fn joined_value<'n>(
        &self,
        left: &'n PlanNode,
        right: &'n PlanNode,
    ) -> Option<(&'n PlanNode, &'n PlanNode)> {
        match (self.is_value(left, 0), self.is_value(right, 0)) {
            (_, true) => Some((left, right)),
            (true, false) => Some((right, left)),
            (false, false) => None,
        }
    }

    /// Conditions of a join that keeps one side in memory, and of the filter above.
    fn join_conditions(
        &mut self,
        node: &PlanNode,
        left: &PlanNode,
        right: &PlanNode,
    ) -> Option<String> {
        let (lefts, rights) = (names(self.plan, left), names(self.plan, right));
        let mut all = Vec::new();
        let rest = match &node.operator {
            Operator::HashJoin(join) => {
                let pair = |key: &JoinKey| {
                    let op = if key.null_safe { "<=>" } else { "=" };
                    format!("{} {op} {}", show(&key.right, &rights), show(&key.left, &lefts))
                };
                all.extend(join.keys.iter().map(pair));
                let column = |key: &Expr, names: &Names<'_>| names.get(key.as_column()?);
                self.equal.extend(join.keys.iter().filter_map(|key| {
                    Some([column(&key.left, &lefts)?, column(&key.right, &rights)?])
                }));
                &join.residual
            }
            Operator::NestedLoopJoin(join) => &join.conditions,
            _ => return None,
        };
        if !rest.is_empty() {
            all.push(show_all(rest, &both(self.plan, left, right), " and "));
        }
        all.extend(self.above.conditions.take());
        (!all.is_empty()).then(|| all.join(" and "))
    }

    /// Numbers of a join that keeps one side in memory.
    fn join_run(
        &mut self,
        node: &PlanNode,
        left: &PlanNode,
        right: &PlanNode,
        kind: JoinKind,
    ) -> Option<JoinRun> {
        let given = self.above.passed.take().or(self.work(node))?.given;
        let (left, right) = (self.work(left)?.given, self.work(right)?.given);
        let (first, second) = if kind == JoinKind::Inner { (right, left) } else { (left, right) };
        Some(JoinRun::of(first, second, given))
    }

    /// Rows known from the start need no join buffer. Compat: the join of an UPDATE or DELETE has
    /// none, because the rows are to be found again.
    fn joined_to(&mut self, first: usize, id: u64) {
        let changes = id == 1 && self.changes_rows();
        self.above.buffered = !changes && !self.rows[first..].iter().all(is_known);
    }

    pub(super) fn lookup(
        &mut self,
        join: &IndexJoin,
        keys: Vec<String>,
        tested: Tested,
        id: u64,
        ty: &'static str,
    ) -> ExplainRow {
        let lookup = &join.lookup;
        let index = &lookup.table.def.indexes[lookup.index];
        let mut row = self.row(id, ty, &lookup.alias);
        row.access = Some(if lookup.unique { "eq_ref" } else { "ref" });
        row.partitions =
            lookup.parts.as_ref().and_then(|parts| (self.facts.parts)(&lookup.table, parts));
        row.possible_keys = list(&lookup.shown.possible_keys);
        row.key = Some(index.name.to_string());
        row.key_len = Some(key_length(&lookup.table, lookup.index, keys.len()).to_string());
        row.key_parts = key_columns(&lookup.table, lookup.index, keys.len());
        row.reference = Some(keys.join(","));
        row.rows = Some(count(lookup.shown.rows_per_key));
        row.detail.share = Some(lookup.shown.share);
        let mut extra = Vec::new();
        let by_key = lookup.shown.key_only && index.kind == IndexKind::Primary;
        if lookup.covering || lookup.entry_locks || lookup.shown.entry_only || by_key {
            extra.push("Using index");
        }
        let changes = id == 1 && self.changes_rows();
        let by_entry = tested.entries && extra.is_empty() && !changes;
        if by_entry {
            extra.push("Using index condition");
        }
        let outer = self.rows.last().and_then(|row| row.table.as_deref()).unwrap_or_default();
        let first_match = format!("FirstMatch({outer})");
        match join.kind {
            JoinKind::Semi => extra.push(&first_match),
            JoinKind::Anti => extra.push("Not exists"),
            _ => {}
        }
        let filtered = tested.rows || tested.entries && !by_entry;
        row.extra = join_remarks(&mut self.above.remarks, filtered, &extra);
        row
    }
}
