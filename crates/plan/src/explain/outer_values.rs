//! Values of outer blocks on which a subquery's block depends, and tables of one row or none inside
//! it.
//!
//! Compat: MariaDB reads the only row of a table before it plans the subqueries, and those that
//! depend on this row alone are then as good as subqueries that depend on nothing.

use selkie_expr::{Expr, ExprKind};
use selkie_meter::tick;

use super::names::table_column;
use super::rows::{ExplainRow, Walk, count, is_known};
use crate::physical::{Access, IndexRange, OuterColumn, SubPlan, TableScan, UnitKind};

impl Walk<'_> {
    /// Whether the key of a scan depends on the rows of an outer block.
    pub(super) fn follows_outer(&self, scan: &TableScan) -> bool {
        let Access::Index(range) = &scan.access else { return false };
        range.ranges.iter().flat_map(|range| &range.equal).any(|key| self.reads_outer(key))
    }

    /// Names the values of a key that depends on the rows of an outer block.
    pub(super) fn name_outer(&mut self, row: &mut ExplainRow, scan: &TableScan) {
        if row.reference.is_none() || !self.follows_outer(scan) {
            return;
        }
        let Access::Index(range) = &scan.access else { return };
        let keys = range.ranges.iter().take(1).flat_map(|range| &range.equal);
        let values: Vec<String> = keys.map(|key| self.outer_value(key)).collect();
        let computed = values.iter().any(|value| value == "func");
        if row.access == Some("ref") {
            let unknown = computed.then(|| assumed_rows(scan, range)).flatten();
            row.rows = Some(count(unknown.unwrap_or(scan.shown.rows_per_key)));
        }
        if row.access == Some("const") && values.iter().any(|value| value != "const") {
            row.access = Some("eq_ref");
        }
        self.above.tested |= computed && !scan.shown.tested.entries;
        row.reference = Some(values.join(","));
    }

    /// A value in the `ref` column that no table of its own block gives.
    fn outer_value(&self, key: &Expr) -> String {
        if let ExprKind::Parameter(slot) = key.kind
            && slot >= self.plan.parameters
        {
            if self.is_known_slot(slot) {
                return "const".into();
            }
            let column = self.filled_by(slot).map(|outer| {
                let column = table_column(&outer.alias, &outer.table, outer.column);
                format!("{}.{column}", outer.table.schema())
            });
            return column.unwrap_or_else(|| "func".into());
        }
        let computed = key.any(&mut |e| match &e.kind {
            ExprKind::Parameter(slot) => {
                *slot >= self.plan.parameters && !self.is_known_slot(*slot)
            }
            ExprKind::Subquery(subquery) => self.has_slots(subquery.id.0 as usize),
            _ => false,
        });
        if computed { "func".into() } else { "const".into() }
    }

    /// Whether an expression depends on values of outer blocks.
    fn reads_outer(&self, e: &Expr) -> bool {
        e.any(&mut |e| match &e.kind {
            ExprKind::Parameter(slot) => *slot >= self.plan.parameters,
            ExprKind::Subquery(subquery) => self.has_slots(subquery.id.0 as usize),
            _ => false,
        })
    }

    fn has_slots(&self, subplan: usize) -> bool {
        self.plan.subplans.get(subplan).is_some_and(|subplan| !subplan.slots.is_empty())
    }

    /// The column of an outer block that fills a slot.
    fn filled_by(&self, slot: usize) -> Option<&OuterColumn> {
        self.lookups.outer(self.plan, slot)
    }

    /// Whether a slot has the value of a row that is known before others are read.
    fn is_known_slot(&self, slot: usize) -> bool {
        let Some(outer) = self.filled_by(slot) else { return false };
        tick(self.rows.len());
        let is_it = |row: &&ExplainRow| row.table.as_deref() == Some(&*outer.alias);
        let mut rows = self.rows.iter().filter(is_it).peekable();
        rows.peek().is_some() && rows.all(is_known)
    }

    /// Whether the rows of a subquery depend on rows that are not known before others are read.
    /// Compat: those that are compared also depend on known ones.
    pub(super) fn depends_on_rows(&self, subplan: &SubPlan) -> bool {
        let kind = self.plan.told.units.get(subplan.unit).map(|unit| unit.kind);
        let compares = kind == Some(UnitKind::Compared);
        subplan.slots.iter().any(|slot| compares || !self.is_known_slot(*slot))
    }

    /// Whether the block that is walked is that of a subquery.
    fn is_in_subquery(&self) -> bool {
        let kind = self.plan.told.units.get(self.unit).map(|unit| unit.kind);
        matches!(kind, Some(UnitKind::Subquery | UnitKind::Compared))
    }

    /// Whether values of outer blocks choose the rows of a scan.
    fn is_chosen_outside(&self, scan: &TableScan) -> bool {
        self.above.tested
            || self.follows_outer(scan)
            || scan.filter.iter().any(|condition| self.reads_outer(condition))
    }

    /// Compat: the only row of a table is read whatever chooses it.
    pub(super) fn is_single_anyway(&self, scan: &TableScan) -> bool {
        let by_key = matches!(scan.access, Access::Index(_) | Access::Full { .. });
        by_key
            && (self.is_read(scan) || self.is_in_subquery() && self.is_chosen_outside(scan))
            && (self.facts.exact)(scan) == Some(1)
    }

    /// Notes that a table without rows leaves none to the block of a subquery.
    pub(super) fn note_empty(&mut self, scan: &TableScan, id: u64) {
        let plain = self.is_in_subquery() && !self.above.outer && self.emptied.is_none();
        if plain && (self.facts.exact)(scan) == Some(0) {
            let reason = match self.is_chosen_outside(scan) {
                true => "Impossible WHERE noticed after reading const tables",
                false => "no matching row in const table",
            };
            self.emptied = Some((id, reason));
        }
    }

    /// Replaces the rows of a block from `first` on by one that says why it has none.
    pub(super) fn say_emptied(&mut self, first: usize, id: u64, select_type: &'static str) {
        let Some((_, reason)) = self.emptied.take_if(|(of, _)| *of == id) else { return };
        let is_own = |row: &ExplainRow| row.id == Some(id);
        let Some(at) = self.rows[first..].iter().position(is_own) else { return };
        let mut rest = self.rows.split_off(first);
        rest.retain(|row| !is_own(row));
        let select_type = match select_type {
            "DEPENDENT SUBQUERY" => "SUBQUERY",
            "DEPENDENT UNION" => "UNION",
            other => other,
        };
        let extra = reason.into();
        rest.insert(at, ExplainRow { id: Some(id), select_type, extra, ..Default::default() });
        self.rows.append(&mut rest);
    }
}

/// Compat: rows that a computed value is assumed to find by the first parts of a unique key of a
/// table that was never analysed: a hundredth for the first part, one for all.
fn assumed_rows(scan: &TableScan, range: &IndexRange) -> Option<f64> {
    let index = &scan.table.def.indexes[range.index];
    let (used, all) = (range.ranges.first()?.equal.len() as f64, index.parts.len() as f64);
    let unknown = scan.table.engine.rows.counted && scan.table.statistics.is_none();
    if !unknown || !index.is_unique() || used >= all {
        return None;
    }
    let first = scan.examined.max(1.0) * 0.01;
    let rows = (used * (1.0 - first) + first * all - 1.0) / (all - 1.0);
    Some(if first <= 1.0 { 1.0 } else { rows.max(1.0) })
}
