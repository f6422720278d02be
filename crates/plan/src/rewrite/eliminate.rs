//! Outer joins that change nothing are removed: no column of the inner side is read above, and a
//! row of the outer side has at most one match there. Views over many tables are asked for a few
//! of their columns, which then reads only the tables of these.
//!
//! Must not remove a join whose rows are locked or whose conditions have an effect.

use selkie_engine::{IndexDef, IndexPart, LockMode};
use selkie_expr::{Compare, CompareBy, CompareOp, Expr, ExprKind, SubqueryId};
use selkie_types::{Physical, stack};

use super::as_they_are;
use crate::logical::{ColumnId, ColumnSet, Columns, Join, Logical, RelationId, SubqueryState};
use crate::physical::JoinKind;

/// Joins that are removed from the plans of a statement.
pub(crate) struct Eliminator<'a> {
    columns: &'a Columns,
    /// Subqueries of the statement may be left out: none has an effect.
    has_quiet_subqueries: bool,
    /// Their tables.
    pub tables: Vec<RelationId>,
    /// Subqueries that conditions of them have.
    pub subqueries: Vec<SubqueryId>,
}

impl<'a> Eliminator<'a> {
    pub(crate) fn new(columns: &'a Columns, subqueries: &[SubqueryState]) -> Self {
        let is_quiet = |subquery: &SubqueryState| {
            let mut has_effects = subquery.volatile;
            subquery.plan.for_each_expr_deep(&mut |e| has_effects |= e.has_side_effects());
            !has_effects
        };
        let has_quiet_subqueries = subqueries.iter().all(is_quiet);
        Self { columns, has_quiet_subqueries, tables: Vec::new(), subqueries: Vec::new() }
    }

    /// Removes the outer joins of a plan whose inner tables nothing needs.
    pub(crate) fn eliminate(&mut self, plan: &mut Logical) {
        // Most statements have none, and need not have their columns gathered.
        if has_outer_join(plan) {
            self.walk(plan, None);
        }
    }

    /// `needed` are the columns that are read above, if they are known.
    fn walk(&mut self, plan: &mut Logical, needed: Option<&ColumnSet>) {
        stack::ensure();
        if let Some(needed) = needed {
            while let Logical::Join(join) = plan
                && self.changes_nothing(join, needed)
            {
                self.note(join);
                *plan = std::mem::replace(&mut join.left, Logical::OneRow);
            }
        }
        let mut read = ColumnSet::default();
        plan.for_each_expr(&mut |e| read.add_expr(e));
        let above = needed.map(|needed| {
            let mut all = read.clone();
            all.union(needed);
            all
        });
        match plan {
            Logical::Project { input, .. } => self.walk(input, Some(&read)),
            Logical::Aggregate(node) => self.walk(&mut node.input, Some(&read)),
            Logical::Distinct { input, columns } => {
                self.walk(input, Some(&columns.iter().copied().collect()));
            }
            Logical::Set(node) => {
                for (input, columns) in &mut node.inputs {
                    self.walk(input, Some(&columns.iter().copied().collect()));
                }
            }
            Logical::Join(join) => {
                self.walk(&mut join.left, above.as_ref());
                let of_right = if join.kind.keeps_right() { above } else { Some(read) };
                self.walk(&mut join.right, of_right.as_ref());
            }
            Logical::Recursive(_) => {
                plan.inputs_mut().into_iter().for_each(|input| self.walk(input, None));
            }
            _ => {
                let inputs = plan.inputs_mut().into_iter();
                inputs.for_each(|input| self.walk(input, above.as_ref()));
            }
        }
    }

    /// Notes what a join that is removed has.
    fn note(&mut self, join: &Join) {
        let subqueries = &mut self.subqueries;
        let mut find = |e: &Expr| {
            e.visit(&mut |e| {
                if let ExprKind::Subquery(subquery) = &e.kind {
                    subqueries.push(subquery.id);
                }
            });
        };
        join.on.iter().for_each(&mut find);
        join.right.for_each_expr_deep(&mut find);
        add_tables(&join.right, &mut self.tables);
    }

    /// Whether a join gives each row of its left side once, and nothing of its right side is read.
    fn changes_nothing(&self, join: &Join, needed: &ColumnSet) -> bool {
        if join.kind != JoinKind::Left || !join.right.columns(self.columns).is_disjoint(needed) {
            return false;
        }
        let mut known = join.left.columns(self.columns);
        let on: Vec<&Expr> = join.on.iter().collect();
        self.are_silent(&join.on) && self.is_single(&join.right, &on, &mut known)
    }

    /// Whether conditions may be left out.
    fn are_silent(&self, conditions: &[Expr]) -> bool {
        conditions.iter().all(|condition| {
            !condition.has_side_effects()
                && (self.has_quiet_subqueries || !condition.has_subquery())
        })
    }

    /// Whether a part of a plan has at most one row for which `conditions` are true, where the
    /// columns `known` have one value each. Adds columns that have one value then.
    fn is_single(&self, plan: &Logical, conditions: &[&Expr], known: &mut ColumnSet) -> bool {
        stack::ensure();
        match plan {
            Logical::Scan(relation) => self.has_key(*relation, conditions, known),
            Logical::Filter { input, conditions: own } => {
                let all: Vec<&Expr> = conditions.iter().copied().chain(own).collect();
                self.are_silent(own) && self.is_single(input, &all, known)
            }
            Logical::Join(join) if join.kind.keeps_right() && self.are_silent(&join.on) => {
                let all: Vec<&Expr> = conditions.iter().copied().chain(&join.on).collect();
                if join.kind == JoinKind::Left {
                    // The conditions of an outer join leave out no row of its left side.
                    return self.is_single(&join.left, conditions, known)
                        && self.is_single(&join.right, &all, known);
                }
                let (mut first, mut second) = (&join.left, &join.right);
                if !self.is_single(first, &all, known) {
                    std::mem::swap(&mut first, &mut second);
                    if !self.is_single(first, &all, known) {
                        return false;
                    }
                }
                self.is_single(second, &all, known)
            }
            _ => false,
        }
    }

    /// Whether equalities with known values fill a unique key of a table.
    fn has_key(&self, relation: RelationId, conditions: &[&Expr], known: &mut ColumnSet) -> bool {
        let info = &self.columns.relations[relation];
        let def = &info.table.def;
        // Keys promise nothing about rows of history.
        if !info.table.has_storage() || info.lock != LockMode::None || def.current.is_some() {
            return false;
        }
        let own = info.first..info.first + info.table.columns.len();
        // A column that is known makes others known, through equalities or subqueries.
        loop {
            let given = conditions.iter().filter_map(|condition| match &condition.kind {
                ExprKind::Compare(compare) => self.given(compare, own.clone(), known),
                _ => None,
            });
            let given: Vec<ColumnId> = given.filter(|id| !known.contains(*id)).collect();
            if given.is_empty() {
                break;
            }
            given.into_iter().for_each(|id| known.insert(id));
        }
        let is_filled = |index: &IndexDef| {
            let is_known = |part: &IndexPart| {
                part.prefix.is_none() && known.contains(info.first + part.column)
            };
            index.is_unique() && index.parts.iter().all(is_known)
        };
        let single = def.indexes.iter().any(is_filled);
        if single {
            own.for_each(|id| known.insert(id));
        }
        single
    }

    /// The column among `own` of which a comparison with a known value leaves at most one value.
    fn given(
        &self,
        compare: &Compare,
        own: std::ops::Range<ColumnId>,
        known: &ColumnSet,
    ) -> Option<ColumnId> {
        // NULLs are equal for `<=>`, and a unique key may have many.
        if compare.op != CompareOp::Eq {
            return None;
        }
        let sides = [(&compare.left, &compare.right), (&compare.right, &compare.left)];
        sides.into_iter().find_map(|(column, value)| {
            let id = column.as_column().filter(|id| own.contains(id))?;
            let ty = &self.columns.get(id).ty;
            let is_integer = matches!(ty.physical(), Physical::Int | Physical::UInt);
            let is_whole =
                matches!(compare.by, CompareBy::Int | CompareBy::UInt | CompareBy::Decimal);
            let keeps_apart = compare.by == as_they_are(ty) || is_integer && is_whole;
            let is_known = ColumnSet::of(value).is_subset(known) && value.is_deterministic();
            (keeps_apart && is_known).then_some(id)
        })
    }
}

fn has_outer_join(plan: &Logical) -> bool {
    stack::ensure();
    matches!(plan, Logical::Join(join) if join.kind == JoinKind::Left)
        || plan.inputs().into_iter().any(has_outer_join)
}

fn add_tables(plan: &Logical, tables: &mut Vec<RelationId>) {
    stack::ensure();
    match plan {
        Logical::Scan(relation) => tables.push(*relation),
        other => other.inputs().into_iter().for_each(|input| add_tables(input, tables)),
    }
}
