//! Turns literals of a statement into parameters where the value does not change the plan.
//!
//! These places are: one side of a comparison with a column, the bounds of BETWEEN and the items of
//! IN over a column, the numbers of a query's LIMIT, and values to be stored. In all other places
//! (positions of ORDER BY, names of result columns, arguments of functions) the plan depends on the
//! literal, so it stays.

use selkie_types::stack;

use crate::ast::{
    Assignment, BinaryOp, DeleteTarget, Expr, ExprKind, InsertSource, JoinCondition, Literal,
    Mention, Portion, Query, QueryBody, Select, SelectItem, Span, Statement, TableRef,
};

/// Literals that become parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifted {
    /// All that may, in a statement of one table.
    OfOneTable,
    /// Of a query, those that a column equals, and the numbers of LIMIT: their effect on a plan is
    /// known to estimates. The query may join tables and have subqueries.
    OfEqualities,
}

/// Place of a lifted literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LiteralPlace {
    /// It is compared with a column of this name.
    Compared(Box<str>),
    /// It is stored, or a number of rows.
    Other,
}

/// Replaces literals by parameters numbered as in `literals`; returns the places of those that were
/// replaced. `None` if the statement has a variable, or subqueries or tables that `which` does not
/// allow.
pub fn lift_literals(
    statement: &mut Statement,
    literals: &[Span],
    which: Lifted,
) -> Option<Vec<Option<LiteralPlace>>> {
    let mut lift = Lift { which, literals, lifted: vec![None; literals.len()] };
    match statement {
        Statement::Query(query) => lift.query(query)?,
        _ if which == Lifted::OfEqualities => return None,
        Statement::Insert(insert) => {
            if !insert.partitions.is_empty() || !insert.returning.is_empty() {
                return None;
            }
            lift.source(&mut insert.source)?;
            lift.assignments(&mut insert.on_duplicate)?;
        }
        Statement::Update(update) => {
            is_one_table(&update.tables)?;
            is_plain_portion(update.portion.as_deref())?;
            update.order_by.iter().try_for_each(|item| is_plain(&item.expr))?;
            lift.assignments(&mut update.assignments)?;
            lift.condition(update.where_clause.as_mut())?;
        }
        Statement::Delete(delete) => {
            let is_single = matches!(&delete.target, DeleteTarget::Single(table) if table.system_time.is_none());
            if !is_single || !delete.returning.is_empty() {
                return None;
            }
            is_plain_portion(delete.portion.as_deref())?;
            delete.order_by.iter().try_for_each(|item| is_plain(&item.expr))?;
            lift.condition(delete.where_clause.as_mut())?;
        }
        _ => return None,
    }
    Some(lift.lifted)
}

fn is_one_table(tables: &[TableRef]) -> Option<()> {
    match tables {
        [TableRef::Table(table)] if table.system_time.is_none() => Some(()),
        _ => None,
    }
}

fn is_plain_portion(portion: Option<&Portion>) -> Option<()> {
    portion.into_iter().flat_map(|p| [&p.from, &p.to]).try_for_each(is_plain)
}

/// Succeeds for an expression without subqueries and variables.
fn is_plain(expr: &Expr) -> Option<()> {
    let is_variable = |e: &Expr| {
        use ExprKind::{AssignUserVar, Param, SystemVar, UserVar};
        matches!(e.kind, UserVar(_) | AssignUserVar { .. } | SystemVar(_) | Param(_))
    };
    let is_plain =
        !expr.has_subquery() && expr.find(&mut |e| is_variable(e).then_some(())).is_none();
    is_plain.then_some(())
}

/// Succeeds if a walk, which enters subqueries, meets no variable.
fn without_variables(walk: impl FnOnce(&mut dyn FnMut(Mention<'_>))) -> Option<()> {
    let mut found = false;
    walk(&mut |mention| found |= matches!(mention, Mention::Variable));
    (!found).then_some(())
}

struct Lift<'a> {
    which: Lifted,
    literals: &'a [Span],
    lifted: Vec<Option<LiteralPlace>>,
}

impl Lift<'_> {
    fn query(&mut self, query: &mut Query) -> Option<()> {
        if query.with.is_some() || query.into.is_some() {
            return None;
        }
        let QueryBody::Select(select) = &mut query.body else { return None };
        query.order_by.iter_mut().try_for_each(|item| self.check(&mut item.expr))?;
        self.select(select)?;
        if let Some(limit) = &mut query.limit {
            let numbers = limit.count.iter_mut().chain(&mut limit.offset);
            numbers.for_each(|number| self.value(number, &LiteralPlace::Other));
        }
        Some(())
    }

    fn select(&mut self, select: &mut Select) -> Option<()> {
        match self.which {
            Lifted::OfOneTable => is_one_table(&select.from)?,
            Lifted::OfEqualities => self.tables(&mut select.from)?,
        }
        if !select.windows.is_empty() {
            return None;
        }
        for item in &mut select.items {
            if let SelectItem::Expr { expr, alias, .. } = item {
                self.check(expr)?;
                // The text of an entry without an alias is the name of its column.
                if alias.is_some() {
                    self.subqueries(expr)?;
                }
            }
        }
        select.group_by.iter_mut().try_for_each(|item| self.check(&mut item.expr))?;
        select.having.iter_mut().try_for_each(|condition| self.check(condition))?;
        self.condition(select.where_clause.as_mut())
    }

    /// Succeeds for an expression without variables, and without subqueries unless they may be.
    fn check(&self, expr: &mut Expr) -> Option<()> {
        if self.which == Lifted::OfOneTable {
            return is_plain(expr);
        }
        without_variables(|visit| expr.for_each_mention(visit))
    }

    /// Lifts literals of the subqueries in an expression.
    fn subqueries(&mut self, expr: &mut Expr) -> Option<()> {
        stack::ensure();
        if let Some(query) = expr.query_mut() {
            self.inner(query)?;
        }
        expr.operands_mut().into_iter().try_for_each(|operand| self.subqueries(operand))
    }

    /// Lifts literals of a subquery or derived table, unless it is a set operation.
    fn inner(&mut self, query: &mut Query) -> Option<()> {
        match query.body {
            QueryBody::Select(_) if query.with.is_none() => self.query(query),
            _ => Some(()),
        }
    }

    /// Lifts literals of the conditions of joins.
    fn tables(&mut self, tables: &mut [TableRef]) -> Option<()> {
        stack::ensure();
        tables.iter_mut().try_for_each(|table| match table {
            TableRef::Table(table) => table.system_time.is_none().then_some(()),
            TableRef::Join(join) => {
                self.tables(std::slice::from_mut(&mut join.left))?;
                self.tables(std::slice::from_mut(&mut join.right))?;
                match &mut join.condition {
                    JoinCondition::On(condition) => self.condition(Some(condition)),
                    _ => Some(()),
                }
            }
            TableRef::Derived(derived) if derived.system_time.is_none() => {
                without_variables(|visit| derived.query.for_each_mention(visit))?;
                self.inner(&mut derived.query)
            }
            TableRef::Derived(_) | TableRef::JsonTable(_) => None,
        })
    }

    fn condition(&mut self, condition: Option<&mut Expr>) -> Option<()> {
        stack::ensure();
        let Some(condition) = condition else { return Some(()) };
        self.check(condition)?;
        self.predicate(condition);
        self.subqueries(condition)
    }

    fn predicate(&mut self, expr: &mut Expr) {
        let place = |e: &Expr| match &e.kind {
            ExprKind::Column(column) => Some(LiteralPlace::Compared(column.name.value.clone())),
            _ => None,
        };
        match &mut expr.kind {
            ExprKind::And(parts) | ExprKind::Or(parts) => {
                parts.iter_mut().for_each(|part| self.predicate(part));
            }
            ExprKind::Binary { op, left, right } if self.may_lift(*op) => {
                if let Some(place) = place(left) {
                    self.value(right, &place);
                } else if let Some(place) = place(right) {
                    self.value(left, &place);
                }
            }
            ExprKind::Between { expr, low, high, .. } if self.which == Lifted::OfOneTable => {
                if let Some(place) = place(expr) {
                    self.value(low, &place);
                    self.value(high, &place);
                }
            }
            ExprKind::InList { expr, list, .. } => {
                if let Some(place) = place(expr) {
                    list.iter_mut().for_each(|item| self.value(item, &place));
                }
            }
            _ => {}
        }
    }

    fn may_lift(&self, op: BinaryOp) -> bool {
        match self.which {
            Lifted::OfOneTable => op.is_comparison(),
            Lifted::OfEqualities => matches!(op, BinaryOp::Eq | BinaryOp::NullSafeEq),
        }
    }

    fn source(&mut self, source: &mut InsertSource) -> Option<()> {
        match source {
            InsertSource::Values(rows) => {
                rows.iter_mut().flatten().try_for_each(|value| self.stored(value))
            }
            InsertSource::Set(assignments) => self.assignments(assignments),
            InsertSource::Query(_) => None,
        }
    }

    fn assignments(&mut self, assignments: &mut [Assignment]) -> Option<()> {
        assignments.iter_mut().try_for_each(|a| self.stored(&mut a.value))
    }

    fn stored(&mut self, value: &mut Expr) -> Option<()> {
        is_plain(value)?;
        self.value(value, &LiteralPlace::Other);
        Some(())
    }

    /// Replaces an expression that is nothing but a literal.
    fn value(&mut self, expr: &mut Expr, place: &LiteralPlace) {
        let is_literal =
            matches!(expr.kind, ExprKind::Literal(Literal::Int(_) | Literal::String(_)));
        let number = self.literals.iter().position(|span| *span == expr.span);
        if let (true, Some(number)) = (is_literal, number) {
            self.lifted[number] = Some(place.clone());
            expr.kind = ExprKind::Param(number as u32);
        }
    }
}
