//! Unnesting: subqueries become joins; the others become subplans.
//!
//! EXISTS and IN become semi and anti joins. A scalar aggregate correlated by equalities becomes a
//! join with a grouped query. EXISTS and IN inside other conditions become mark joins. Every other
//! subquery stays an expression: its outer columns become parameter slots that the expression
//! fills.

use selkie_expr::{CompareOp, Expr, ExprKind, Subquery, SubqueryId, SubqueryKind};
use selkie_types::{SqlType, Value, stack};

use super::pull::{Pulled, pull};
use crate::logical::{ColumnId, ColumnSet, Columns, Cut, Join, Logical, SubqueryState};
use crate::physical::JoinKind;
use crate::settings::StatisticsSource;

/// Most subqueries of a list of conditions that become joins. Each join passes the columns of those
/// before it on, and is nested in them: more stay subplans.
const MOST_JOINS: usize = 128;

/// Unnests the subqueries of a plan.
pub(crate) struct Unnest<'a> {
    /// Columns of the statement.
    pub columns: &'a mut Columns,
    /// Knows which indexes the statement's snapshot has.
    pub source: &'a dyn StatisticsSource,
    /// Subqueries of the statement.
    pub subqueries: &'a mut Vec<SubqueryState>,
    /// Number of parameter slots used so far.
    pub slots: &'a mut usize,
    /// If bit n is set, the n-th subquery that could be a join or a subplan stays a subplan.
    pub kept: u32,
    /// Number of such subqueries found so far.
    pub choices: u32,
    /// EXISTS and IN that choose rows stay subplans, which run for each row.
    pub each_row: bool,
    /// Number of joins made for the list of conditions that is worked on.
    pub joined: usize,
}

/// Unnests all subqueries of `plan`.
pub(crate) fn unnest(plan: Logical, state: &mut Unnest<'_>) -> Logical {
    state.plan(plan)
}

impl Unnest<'_> {
    fn plan(&mut self, mut plan: Logical) -> Logical {
        stack::ensure();
        if self.subqueries.is_empty() {
            return plan;
        }
        for input in plan.inputs_mut() {
            let taken = std::mem::replace(input, Logical::OneRow);
            *input = self.plan(taken);
        }
        match plan {
            Logical::Filter { input, conditions } => self.filter(*input, conditions),
            mut other => {
                other.for_each_expr_mut(&mut |e| self.finish(e));
                other
            }
        }
    }

    fn filter(&mut self, mut input: Logical, conditions: Vec<Expr>) -> Logical {
        let mut kept = Vec::with_capacity(conditions.len());
        let outside = std::mem::take(&mut self.joined);
        for condition in conditions.into_iter().flat_map(Expr::into_conjuncts) {
            if !condition.has_subquery() {
                kept.push(condition);
                continue;
            }
            let (joined, rest) = self.condition(input, condition);
            input = joined;
            kept.extend(rest);
        }
        self.joined = outside;
        input.filter(kept)
    }

    /// Joins the subqueries of a condition to `input`, and returns the rest of the condition.
    fn condition(&mut self, input: Logical, condition: Expr) -> (Logical, Option<Expr>) {
        stack::ensure();
        let (subquery, negated) = match &condition.kind {
            ExprKind::Subquery(s) => (Some(s), false),
            ExprKind::Not(inner) => match &inner.kind {
                ExprKind::Subquery(s) => (Some(s), true),
                _ => (None, false),
            },
            _ => (None, false),
        };
        if let Some(subquery) = subquery
            && let Some(join) = self.existence(&input, subquery, negated)
        {
            return (with_left(join, input), None);
        }
        if let Some(subquery) = subquery.filter(|_| self.each_row && !negated) {
            let mut condition = self.compared_inside(subquery).unwrap_or(condition);
            self.finish(&mut condition);
            return (input, Some(condition));
        }
        let mut input = input;
        let mut condition = condition;
        self.nested(&mut input, &mut condition);
        self.finish(&mut condition);
        (input, Some(condition))
    }

    /// The join for EXISTS, IN and their negations, without its left input.
    fn existence(&mut self, input: &Logical, subquery: &Subquery, negated: bool) -> Option<Join> {
        let (right, on, nullable) = self.membership(input, subquery, negated)?;
        let kind = match (negated, nullable) {
            (false, _) if self.matches_once(&right, &on) => JoinKind::Inner,
            (false, _) => JoinKind::Semi,
            (true, false) => JoinKind::Anti,
            (true, true) if is_in_comparison(&on[0]) => JoinKind::NullAwareAnti,
            (true, true) => return None,
        };
        Some(Join { kind, left: Logical::OneRow, right, on, mark: None, straight: false })
    }

    /// The rows and conditions of a match, the IN comparison first, and whether that comparison can
    /// be NULL. `told`: NULL must differ from false, so the comparison stays in one piece.
    fn membership(
        &mut self,
        input: &Logical,
        subquery: &Subquery,
        told: bool,
    ) -> Option<(Logical, Vec<Expr>, bool)> {
        let predicate = match &subquery.kind {
            SubqueryKind::Exists => None,
            SubqueryKind::Any(predicate) => Some(predicate),
            _ => return None,
        };
        let state = &self.subqueries[subquery.id.0 as usize];
        if state.finished || state.volatile || self.is_full() || self.each_row && !told {
            return None;
        }
        self.prepare(subquery.id);
        let plan = self.subqueries[subquery.id.0 as usize].plan.clone();
        let plan = if predicate.is_none() { strip_limit(plan) } else { plan };
        let outer = self.outer_columns(input, &plan);
        let mut pulled = Pulled::default();
        let right = pull(plan, &outer, self.columns, &mut pulled)?;
        let nullable = predicate.is_some_and(|p| p.nullable);
        let mut on: Vec<Expr> = Vec::new();
        if let Some(predicate) = predicate {
            let mut predicate = predicate.clone();
            pulled.apply(&mut predicate);
            substitute_operands(&mut predicate, subquery);
            on.extend(predicate.into_conjuncts());
            if nullable && told {
                on = null_aware_first(on);
            }
        }
        let composite = !pulled.conditions.is_empty() && !is_single_table(&right);
        on.append(&mut pulled.conditions);
        if on.is_empty() || (nullable && on[0].has_subquery()) {
            return None;
        }
        // Without an equality every pair of rows would be compared, although a few of them decide.
        let equality = |e: &Expr| matches!(&e.kind, ExprKind::Compare(c) if c.op == CompareOp::Eq);
        if predicate.is_some() && !on.iter().any(equality) {
            return None;
        }
        if composite && self.keep() {
            return None;
        }
        self.joined += 1;
        Some((right, on, nullable))
    }

    /// Whether no more subqueries of the conditions become joins.
    pub(super) fn is_full(&self) -> bool {
        self.joined >= MOST_JOINS
    }

    /// EXISTS over the rows of an IN that are equal to its operand, which an index may find. Only
    /// for a condition that chooses rows: NULL becomes false.
    fn compared_inside(&mut self, subquery: &Subquery) -> Option<Expr> {
        let SubqueryKind::Any(predicate) = &subquery.kind else { return None };
        let state = &self.subqueries[subquery.id.0 as usize];
        let is_plain = !state.finished && !state.volatile && is_in_comparison(predicate);
        let varies = |e: &Expr| e.has_subquery() || !e.is_deterministic() || e.has_side_effects();
        if !is_plain || subquery.operands.iter().any(|(_, operand)| varies(operand)) {
            return None;
        }
        self.prepare(subquery.id);
        let mut predicate = predicate.clone();
        substitute_operands(&mut predicate, subquery);
        // Other expressions may use the rows as they are.
        let mut state = self.subqueries[subquery.id.0 as usize].clone();
        state.plan = state.plan.filter(predicate.into_conjuncts());
        self.subqueries.push(state);
        let id = SubqueryId(self.subqueries.len() as u32 - 1);
        Some(selkie_expr::build::exists(id, Vec::new()))
    }

    /// Columns of `input` that `plan` reads.
    pub(super) fn outer_columns(&self, input: &Logical, plan: &Logical) -> ColumnSet {
        let free = plan.free_columns(self.columns);
        if free.is_empty() {
            // The input of the n-th subquery of a block has n joins.
            return free;
        }
        let mut outside = free.clone();
        outside.subtract(&input.columns(self.columns));
        let mut outer = free;
        outer.subtract(&outside);
        outer
    }

    /// Replaces subqueries inside a condition by columns of joins.
    fn nested(&mut self, input: &mut Logical, condition: &mut Expr) {
        let whole = condition.clone();
        condition.transform(&mut |e| {
            let ExprKind::Subquery(subquery) = &e.kind else { return None };
            let taken = std::mem::replace(input, Logical::OneRow);
            let (joined, column) = match &subquery.kind {
                SubqueryKind::Scalar(0) => self.scalar(taken, e, subquery, &whole),
                _ => self.mark(taken, subquery),
            };
            *input = joined;
            column
        });
    }

    fn mark(&mut self, input: Logical, subquery: &Subquery) -> (Logical, Option<Expr>) {
        let Some((right, on, nullable)) = self.membership(&input, subquery, true) else {
            return (input, None);
        };
        if nullable && !is_in_comparison(&on[0]) {
            return (input, None);
        }
        let kind = if nullable { JoinKind::NullAwareMark } else { JoinKind::Mark };
        let mark = self.columns.add(SqlType::bigint(), nullable);
        let join = Join { kind, left: input, right, on, mark: Some(mark), straight: false };
        (Logical::Join(Box::new(join)), Some(self.columns.expr(mark)))
    }

    /// Whether the next subquery with a choice stays a subplan.
    pub(super) fn keep(&mut self) -> bool {
        let bit = self.choices;
        self.choices += 1;
        bit < 32 && self.kept >> bit & 1 == 1
    }

    /// Unnests the inside of a subquery, once.
    pub(super) fn prepare(&mut self, id: SubqueryId) {
        let state = &mut self.subqueries[id.0 as usize];
        if !std::mem::replace(&mut state.prepared, true) {
            let plan = std::mem::replace(&mut state.plan, Logical::OneRow);
            let plan = self.plan(plan);
            self.subqueries[id.0 as usize].plan = plan;
        }
    }

    /// Turns the subqueries that remain in an expression into subplans.
    pub(crate) fn finish(&mut self, expr: &mut Expr) {
        if !expr.has_subquery() {
            return;
        }
        expr.transform(&mut |e| match &e.kind {
            ExprKind::Subquery(subquery) if !self.subqueries[subquery.id.0 as usize].finished => {
                Some(self.subplan(e, subquery))
            }
            ExprKind::Subquery(subquery) if !subquery.placed => Some(self.placed(e, subquery)),
            _ => None,
        });
    }

    /// Turns a subquery into a subplan: outer columns become parameters.
    fn subplan(&mut self, expr: &Expr, subquery: &Subquery) -> Expr {
        self.prepare(subquery.id);
        let id = subquery.id.0 as usize;
        let mut plan = std::mem::replace(&mut self.subqueries[id].plan, Logical::OneRow);
        let free = plan.free_columns(self.columns);
        let args: Vec<(usize, ColumnId)> = free.iter().map(|id| (self.slot(), id)).collect();
        plan.for_each_expr_deep_mut(&mut |e| {
            e.substitute_columns(&mut |id| {
                args.iter().find(|(_, c)| *c == id).map(|(slot, _)| self.outer_value(*slot, id))
            });
        });
        let state = &mut self.subqueries[id];
        state.plan = plan;
        state.args = args;
        state.finished = true;
        self.placed(expr, subquery)
    }

    /// A subquery expression over a subplan, with slots and positions. Several expressions may use
    /// one subplan: one in ORDER BY too, or one that reads another column of the same rows.
    fn placed(&mut self, expr: &Expr, subquery: &Subquery) -> Expr {
        let mut subquery = Subquery { placed: true, ..subquery.clone() };
        for (placeholder, value) in &mut subquery.operands {
            let slot = self.slot();
            self.operand_slots(&mut subquery.kind, *placeholder, slot, value);
            *placeholder = slot;
        }
        let state = &self.subqueries[subquery.id.0 as usize];
        subquery.args =
            state.args.iter().map(|(slot, id)| (*slot, self.columns.expr(*id))).collect();
        positions(&mut subquery.kind, &state.output);
        Expr { kind: ExprKind::Subquery(Box::new(subquery)), ..expr.clone() }
    }

    fn operand_slots(
        &self,
        kind: &mut SubqueryKind,
        placeholder: usize,
        slot: usize,
        value: &Expr,
    ) {
        if let SubqueryKind::Any(predicate) | SubqueryKind::All(predicate) = kind {
            predicate.substitute_columns(&mut |id| {
                (id == placeholder).then(|| {
                    let mut parameter = Expr::parameter(slot, value.ty.clone());
                    parameter.nullable = value.nullable;
                    parameter.coercibility = value.coercibility;
                    parameter
                })
            });
        }
    }

    fn outer_value(&self, slot: usize, id: ColumnId) -> Expr {
        let column = self.columns.expr(id);
        let mut parameter = Expr::parameter(slot, column.ty);
        parameter.coercibility = column.coercibility;
        parameter
    }

    fn slot(&mut self) -> usize {
        *self.slots += 1;
        *self.slots - 1
    }
}

impl Unnest<'_> {
    /// Whether at most one row of `right` satisfies `on`, because equalities fix a unique key. Then
    /// a semi join is an inner join, and joins around it may be reordered.
    fn matches_once(&self, right: &Logical, on: &[Expr]) -> bool {
        let mine = right.columns(self.columns);
        let mut fixed = ColumnSet::default();
        for condition in on {
            let ExprKind::Compare(compare) = &condition.kind else { continue };
            if compare.op != CompareOp::Eq {
                continue;
            }
            for (a, b) in [(&compare.left, &compare.right), (&compare.right, &compare.left)] {
                if let Some(id) = a.as_column().filter(|id| mine.contains(*id))
                    && ColumnSet::of(b).is_disjoint(&mine)
                {
                    fixed.insert(id);
                }
            }
        }
        self.is_unique(right, &fixed)
    }

    fn is_unique(&self, plan: &Logical, fixed: &ColumnSet) -> bool {
        stack::ensure();
        match plan {
            Logical::Filter { input, .. } => self.is_unique(input, fixed),
            Logical::Scan(relation) => {
                let info = &self.columns.relations[*relation];
                info.table.def.indexes.iter().enumerate().any(|(at, index)| {
                    let fixes = |p: &selkie_engine::IndexPart| {
                        p.prefix.is_none() && fixed.contains(info.first + p.column)
                    };
                    index.is_unique()
                        && index.parts.iter().all(fixes)
                        // Rows that are gone by now may have had equal keys.
                        && !self.source.is_too_young(&info.table, at)
                })
            }
            Logical::Aggregate(node) => {
                !node.rollup && node.groups.iter().all(|(id, _)| fixed.contains(*id))
            }
            Logical::Distinct { columns: ids, .. } => ids.iter().all(|id| fixed.contains(*id)),
            _ => false,
        }
    }
}

fn with_left(mut join: Join, left: Logical) -> Logical {
    join.left = left;
    Logical::Join(Box::new(join))
}

/// Whether a condition is the comparison of an IN, either of a value or of a row.
fn is_in_comparison(condition: &Expr) -> bool {
    match &condition.kind {
        ExprKind::Compare(c) => c.op == CompareOp::Eq,
        ExprKind::And(parts) => parts.iter().all(is_in_comparison),
        _ => false,
    }
}

/// The comparisons of a row in an IN. Those that can be NULL are combined into one, which comes
/// first. The others are true or false, so rows for which they are false need no further check.
fn null_aware_first(comparisons: Vec<Expr>) -> Vec<Expr> {
    let (mut nullable, rest): (Vec<Expr>, Vec<Expr>) =
        comparisons.into_iter().partition(|c| c.nullable);
    let first = match nullable.len() {
        0 => return rest,
        1 => nullable.remove(0),
        _ => Expr::new(ExprKind::And(nullable), Expr::boolean(true).ty, true),
    };
    std::iter::once(first).chain(rest).collect()
}

fn is_single_table(plan: &Logical) -> bool {
    stack::ensure();
    match plan {
        Logical::Scan(_) => true,
        Logical::Filter { input, .. } => is_single_table(input),
        _ => false,
    }
}

fn leaves_one(cut: &Cut) -> bool {
    let limit = cut.limit.as_ref().and_then(Expr::as_literal);
    cut.offset.is_none() && matches!(limit, Some(Value::Int(1..) | Value::UInt(1..)))
}

/// Removes a limit that leaves at least one row: EXISTS does not depend on more rows.
fn strip_limit(plan: Logical) -> Logical {
    stack::ensure();
    match plan {
        Logical::Limit { input, cut } if leaves_one(&cut) => *input,
        Logical::Sort { input, .. } => strip_limit(*input),
        Logical::Project { input, columns } => {
            Logical::Project { input: Box::new(strip_limit(*input)), columns }
        }
        other => other,
    }
}

fn substitute_operands(predicate: &mut Expr, subquery: &Subquery) {
    predicate.substitute_columns(&mut |id| {
        let operand = subquery.operands.iter().find(|(placeholder, _)| *placeholder == id);
        operand.map(|(_, value)| value.clone())
    });
}

/// Rewrites a predicate's column numbers to positions in the subquery's rows.
fn positions(kind: &mut SubqueryKind, output: &[ColumnId]) {
    if let SubqueryKind::Any(predicate) | SubqueryKind::All(predicate) = kind {
        predicate.map_columns(&mut |id| output.iter().position(|o| *o == id).unwrap_or(0));
    }
}
