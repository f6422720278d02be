//! Reach of a trigger beyond its row, read from its text once: it decides whether the rows of a
//! batch may be stored together.
//!
//! Must err towards [`Reach::Anywhere`]: only what is listed here is known to reach less.

use selkie_expr::function_named;
use selkie_sql::ast::{
    Block, Delete, DeleteTarget, Expr, ExprKind, Insert, InsertSource, Loop, LoopKind, Operation,
    Portion, Program, SetItem, Statement, Step, TableName, TableRef, Term, Update,
};
use selkie_types::stack;

use crate::state::programs::Reach;

/// The reach of a body, and the tables its statements change.
pub(super) fn of_body(body: &Program) -> (Reach, Vec<TableName>) {
    let mut found = Found { reach: Reach::Row, changes: Vec::new() };
    found.steps(&body.steps);
    (found.reach, found.changes)
}

struct Found {
    reach: Reach,
    changes: Vec<TableName>,
}

impl Found {
    fn at_least(&mut self, reach: Reach) {
        self.reach = self.reach.max(reach);
    }

    fn steps(&mut self, steps: &[Step]) {
        stack::ensure();
        steps.iter().for_each(|step| self.step(step));
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Block(block) => self.block(block),
            Step::Loop(inner) => self.looped(inner),
            Step::If { branches, otherwise } => {
                self.branches(branches);
                self.steps(otherwise);
            }
            Step::Case { operand, branches, otherwise } => {
                operand.iter().for_each(|(_, term)| self.term(term));
                self.branches(branches);
                otherwise.iter().for_each(|steps| self.steps(steps));
            }
            Step::Declare { default, .. } => default.iter().for_each(|term| self.term(term)),
            Step::Leave(_)
            | Step::Iterate(_)
            | Step::Goto(_)
            | Step::Label(_)
            | Step::Nothing
            | Step::End => {}
            Step::Statement(operation) => self.operation(operation),
            _ => self.at_least(Reach::Anywhere),
        }
    }

    /// A handler catches errors of rows before it, and a cursor reads tables.
    fn block(&mut self, block: &Block) {
        if !block.handlers.is_empty() || !block.cursors.is_empty() {
            self.at_least(Reach::Anywhere);
        }
        self.steps(&block.steps);
    }

    fn branches(&mut self, branches: &[(Term, Vec<Step>)]) {
        for (condition, steps) in branches {
            self.term(condition);
            self.steps(steps);
        }
    }

    fn looped(&mut self, inner: &Loop) {
        match &inner.kind {
            LoopKind::Forever => {}
            LoopKind::While(condition) | LoopKind::Until(condition) => self.term(condition),
            LoopKind::Range { first, last, .. } => {
                self.term(first);
                self.term(last);
            }
            LoopKind::Rows { .. } => self.at_least(Reach::Anywhere),
        }
        self.steps(&inner.steps);
    }

    fn term(&mut self, term: &Term) {
        self.expr(&term.expr);
    }

    fn operation(&mut self, operation: &Operation) {
        match &operation.statement {
            Statement::Set(items) => items.iter().for_each(|item| self.set(item)),
            Statement::Insert(insert) => self.insert(insert),
            Statement::Update(update) => self.update(update),
            Statement::Delete(delete) => self.delete(delete),
            // It ends the statement, or leaves a warning that ends with the trigger.
            Statement::Signal(_) => {}
            _ => self.at_least(Reach::Anywhere),
        }
    }

    fn set(&mut self, item: &SetItem) {
        match item {
            SetItem::Local { value, .. } => value.iter().for_each(|e| self.expr(e)),
            SetItem::UserVar { value, .. } => {
                self.at_least(Reach::Apart);
                self.expr(value);
            }
            _ => self.at_least(Reach::Anywhere),
        }
    }

    fn insert(&mut self, insert: &Insert) {
        self.changes(&insert.table);
        match &insert.source {
            InsertSource::Values(rows) => rows.iter().flatten().for_each(|e| self.expr(e)),
            InsertSource::Set(list) => list.iter().for_each(|a| self.expr(&a.value)),
            InsertSource::Query(_) => self.at_least(Reach::Anywhere),
        }
        insert.on_duplicate.iter().for_each(|a| self.expr(&a.value));
        if !insert.returning.is_empty() {
            self.at_least(Reach::Anywhere);
        }
    }

    fn update(&mut self, update: &Update) {
        let [TableRef::Table(factor)] = &update.tables[..] else {
            return self.at_least(Reach::Anywhere);
        };
        if factor.system_time.is_some() {
            return self.at_least(Reach::Anywhere);
        }
        self.changes(&factor.name);
        self.portion(update.portion.as_deref());
        update.assignments.iter().for_each(|a| self.expr(&a.value));
        update.where_clause.iter().for_each(|e| self.expr(e));
        update.order_by.iter().for_each(|item| self.expr(&item.expr));
    }

    fn delete(&mut self, delete: &Delete) {
        let DeleteTarget::Single(factor) = &delete.target else {
            return self.at_least(Reach::Anywhere);
        };
        if factor.system_time.is_some() {
            return self.at_least(Reach::Anywhere);
        }
        self.changes(&factor.name);
        self.portion(delete.portion.as_deref());
        delete.where_clause.iter().for_each(|e| self.expr(e));
        delete.order_by.iter().for_each(|item| self.expr(&item.expr));
        if !delete.returning.is_empty() {
            self.at_least(Reach::Anywhere);
        }
    }

    fn portion(&mut self, portion: Option<&Portion>) {
        portion.into_iter().flat_map(|p| [&p.from, &p.to]).for_each(|e| self.expr(e));
    }

    fn changes(&mut self, table: &TableName) {
        self.at_least(Reach::Apart);
        self.changes.push(table.clone());
    }

    fn expr(&mut self, e: &Expr) {
        e.find(&mut |e| {
            self.at_least(reach_of_node(e));
            (self.reach == Reach::Anywhere).then_some(())
        });
    }
}

/// The reach of an expression without its operands.
fn reach_of_node(e: &Expr) -> Reach {
    match &e.kind {
        ExprKind::Literal(_)
        | ExprKind::Param(_)
        | ExprKind::Column(_)
        | ExprKind::Unary { .. }
        | ExprKind::Binary { .. }
        | ExprKind::And(_)
        | ExprKind::Or(_)
        | ExprKind::Is { .. }
        | ExprKind::Between { .. }
        | ExprKind::InList { .. }
        | ExprKind::Like { .. }
        | ExprKind::Regexp { .. }
        | ExprKind::Case { .. }
        | ExprKind::Cast { .. }
        | ExprKind::ConvertUsing { .. }
        | ExprKind::Collate { .. }
        | ExprKind::AddInterval { .. }
        | ExprKind::Extract { .. }
        | ExprKind::Trim { .. }
        | ExprKind::Position { .. }
        | ExprKind::TimestampAdd { .. }
        | ExprKind::TimestampDiff { .. } => Reach::Row,
        // A trigger that runs ahead of others must not read what they assign.
        ExprKind::UserVar(_) | ExprKind::AssignUserVar { .. } => Reach::Apart,
        ExprKind::Call(call) if call.schema.is_none() && !call.stored_only => {
            match function_named(&call.name.value) {
                Some(function) if function.is_deterministic() => Reach::Row,
                Some(function) if !function.has_side_effects() => Reach::Apart,
                _ => Reach::Anywhere,
            }
        }
        _ => Reach::Anywhere,
    }
}
