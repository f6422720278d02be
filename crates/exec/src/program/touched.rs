//! Tables and routines that the text of a program names, whether it comes to them or not: what a
//! statement that runs the program may use.

use selkie_sql::ast::{
    Block, DeleteTarget, Expr, Ident, Insert, InsertSource, JoinCondition, Loop, LoopKind, Mention,
    Operation, Program, Query, SetItem, Statement, Step, SystemTime, TableRef, Term,
};
use selkie_types::stack;

use crate::state::programs::{Touched, TouchedTable};

/// Receiver of what a walk through a query meets.
type Visit<'v> = &'v mut dyn FnMut(Mention<'_>);

impl Touched {
    /// The names in a body.
    pub(super) fn of_body(body: &Program) -> Self {
        let mut touched = Self::default();
        body.cursors.iter().for_each(|cursor| touched.operation(&cursor.query));
        touched.steps(&body.steps);
        touched
    }

    /// The names in a query.
    pub(super) fn of_query(query: Query) -> Self {
        let mut touched = Self::default();
        touched.query(&query);
        touched
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
            Step::Declare { default, .. } | Step::Share { default, .. } => {
                default.iter().for_each(|term| self.term(term));
            }
            Step::Statement(operation) => self.operation(operation),
            Step::Return(term) => self.term(term),
            Step::Open { arguments, .. } => arguments.iter().for_each(|term| self.term(term)),
            Step::Leave(_)
            | Step::Iterate(_)
            | Step::Goto(_)
            | Step::Label(_)
            | Step::Raise(_)
            | Step::Fetch { .. }
            | Step::FetchGroup
            | Step::Close(_)
            | Step::Nothing
            | Step::End => {}
        }
    }

    fn block(&mut self, block: &Block) {
        block.handlers.iter().for_each(|handler| self.steps(&handler.steps));
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
            LoopKind::Rows { arguments, .. } => arguments.iter().for_each(|term| self.term(term)),
        }
        self.steps(&inner.steps);
    }

    fn term(&mut self, term: &Term) {
        self.expr(&term.expr);
    }

    fn operation(&mut self, operation: &Operation) {
        match &operation.statement {
            Statement::Query(query) => self.query(query),
            Statement::Do(list) => list.exprs.iter().for_each(|e| self.expr(e)),
            Statement::Set(items) => items.iter().for_each(|item| self.set(item)),
            Statement::Insert(insert) => self.insert(insert),
            Statement::Update(update) => {
                update.tables.iter().for_each(|table| self.changed_in(table, &["UPDATE"]));
                update.assignments.iter().for_each(|a| self.expr(&a.value));
                update.where_clause.iter().for_each(|e| self.expr(e));
                update.order_by.iter().for_each(|item| self.expr(&item.expr));
            }
            Statement::Delete(delete) => {
                match &delete.target {
                    DeleteTarget::Single(factor) => {
                        self.tables.push(TouchedTable::new(factor, &["DELETE"]));
                        self.system_time(factor.system_time.as_ref());
                    }
                    DeleteTarget::Multi { from, .. } => {
                        from.iter().for_each(|table| self.changed_in(table, &["DELETE"]));
                    }
                }
                delete.where_clause.iter().for_each(|e| self.expr(e));
                delete.order_by.iter().for_each(|item| self.expr(&item.expr));
            }
            Statement::Call(call) => {
                call.args.iter().for_each(|e| self.expr(e));
                let schema = call.name.schema.as_ref().map(|schema| schema.value.clone());
                self.procedures.push((schema, call.name.name.value.clone()));
            }
            _ => {}
        }
    }

    fn set(&mut self, item: &SetItem) {
        match item {
            SetItem::UserVar { value, .. } => self.expr(value),
            SetItem::SystemVar { value, .. } | SetItem::Local { value, .. } => {
                value.iter().for_each(|e| self.expr(e));
            }
            _ => {}
        }
    }

    fn insert(&mut self, insert: &Insert) {
        let events: &[&str] = match (insert.replace, insert.on_duplicate.is_empty()) {
            (true, _) => &["INSERT", "DELETE"],
            (false, true) => &["INSERT"],
            (false, false) => &["INSERT", "UPDATE"],
        };
        let (name, alias) = (insert.table.clone(), None);
        self.tables.push(TouchedTable { name, alias, events });
        match &insert.source {
            InsertSource::Values(rows) => rows.iter().flatten().for_each(|e| self.expr(e)),
            InsertSource::Set(list) => list.iter().for_each(|a| self.expr(&a.value)),
            InsertSource::Query(query) => self.query(query),
        }
        insert.on_duplicate.iter().for_each(|a| self.expr(&a.value));
    }

    fn system_time(&mut self, time: Option<&SystemTime>) {
        let mut time = time.cloned();
        let points = time.iter_mut().flat_map(SystemTime::points_mut);
        points.for_each(|point| self.expr(&point.expr));
    }

    /// The tables of a join that a statement may change.
    fn changed_in(&mut self, table: &TableRef, events: &'static [&'static str]) {
        stack::ensure();
        match table {
            TableRef::Table(factor) => {
                self.tables.push(TouchedTable::new(factor, events));
                self.system_time(factor.system_time.as_ref());
            }
            TableRef::Derived(derived) => self.query(&derived.query),
            TableRef::JsonTable(json) => self.expr(&json.document),
            TableRef::Join(join) => {
                self.changed_in(&join.left, events);
                self.changed_in(&join.right, events);
                if let JoinCondition::On(condition) = &join.condition {
                    self.expr(condition);
                }
            }
        }
    }

    fn query(&mut self, query: &Query) {
        let mut query = query.clone();
        self.mentions(&mut |visit| query.for_each_mention(visit));
    }

    fn expr(&mut self, e: &Expr) {
        let mut e = e.clone();
        self.mentions(&mut |visit| e.for_each_mention(visit));
    }

    /// Adds what `walk` visits, without the names of WITH, which are no tables.
    fn mentions(&mut self, walk: &mut dyn FnMut(Visit<'_>)) {
        // The names, each with the number of tables that were met before.
        let mut commons: Vec<(Ident, usize)> = Vec::new();
        let before = self.tables.len();
        walk(&mut |mention| match mention {
            Mention::Common(name) => commons.push((name.clone(), self.tables.len())),
            mention => self.mention(mention),
        });
        let is_common = |(at, table): &(usize, TouchedTable)| {
            let is = |(name, from): &(Ident, usize)| at >= from && name.is(&table.name.name.value);
            table.name.schema.is_none() && commons.iter().any(is)
        };
        let tables = self.tables.split_off(before);
        let tables = (before..).zip(tables).filter(|table| !is_common(table));
        self.tables.extend(tables.map(|(_, table)| table));
    }

    fn mention(&mut self, mention: Mention<'_>) {
        match mention {
            Mention::Table(factor) => self.tables.push(TouchedTable::new(factor, &[])),
            Mention::Call(call) if selkie_expr::function_named(&call.name.value).is_none() => {
                let schema = call.schema.as_ref().map(|schema| schema.value.clone());
                self.functions.push((schema, call.name.value.clone()));
            }
            _ => {}
        }
    }
}
