//! Finds the placeholders of a statement in its text: with their numbers those of one that changes
//! rows, else as they stand there.
//!
//! Must not find a part of them: a statement of another kind has no places with numbers.

use selkie_types::{SqlMode, stack};

use crate::ast::{
    Assignment, DeleteTarget, Expr, ExprKind, InsertSource, JoinCondition, Limit, OrderItem, Query,
    QueryBody, Select, SelectItem, Span, Statement, SystemTime, TableRef,
};
use crate::lexer::{Lexer, Modes, T};

/// A placeholder in a statement's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParameterPlace {
    /// Its number.
    pub number: u32,
    /// Its text.
    pub span: Span,
    /// It is a number of rows, for which only a plain number can stand.
    pub is_limit: bool,
}

/// The placeholders of INSERT, UPDATE or DELETE in the order of the text.
pub fn parameter_places(statement: &Statement) -> Vec<ParameterPlace> {
    let mut found = Places(Vec::new());
    match statement.clone() {
        Statement::Insert(mut insert) => {
            match &mut insert.source {
                InsertSource::Values(rows) => found.exprs(rows.iter_mut().flatten()),
                InsertSource::Set(list) => found.assignments(list),
                InsertSource::Query(query) => found.query(query),
            }
            found.assignments(&mut insert.on_duplicate);
            found.items(&mut insert.returning);
        }
        Statement::Update(mut update) => {
            update.tables.iter_mut().for_each(|table| found.table(table));
            update.portion.iter_mut().for_each(|p| found.exprs([&mut p.from, &mut p.to]));
            found.assignments(&mut update.assignments);
            found.exprs(&mut update.where_clause);
            found.order(&mut update.order_by);
            found.limit(update.limit.as_deref_mut());
        }
        Statement::Delete(mut delete) => {
            match &mut delete.target {
                DeleteTarget::Multi { from, .. } => {
                    from.iter_mut().for_each(|table| found.table(table));
                }
                DeleteTarget::Single(factor) => found.points(&mut factor.system_time),
            }
            delete.portion.iter_mut().for_each(|p| found.exprs([&mut p.from, &mut p.to]));
            found.exprs(&mut delete.where_clause);
            found.order(&mut delete.order_by);
            found.limit(delete.limit.as_deref_mut());
            found.items(&mut delete.returning);
        }
        _ => {}
    }
    found.0.sort_by_key(|place| place.span.start);
    found.0
}

struct Places(Vec<ParameterPlace>);

impl Places {
    fn expr(&mut self, e: &mut Expr) {
        stack::ensure();
        if let ExprKind::Param(number) = e.kind {
            self.0.push(ParameterPlace { number, span: e.span, is_limit: false });
        }
        if let Some(query) = e.query_mut() {
            self.query(query);
        }
        self.exprs(e.window_exprs_mut());
        self.exprs(e.operands_mut());
    }

    fn exprs<'e>(&mut self, list: impl IntoIterator<Item = &'e mut Expr>) {
        list.into_iter().for_each(|e| self.expr(e));
    }

    fn assignments(&mut self, list: &mut [Assignment]) {
        self.exprs(list.iter_mut().map(|assignment| &mut assignment.value));
    }

    fn order(&mut self, items: &mut [OrderItem]) {
        self.exprs(items.iter_mut().map(|item| &mut item.expr));
    }

    fn items(&mut self, items: &mut [SelectItem]) {
        for item in items {
            if let SelectItem::Expr { expr, .. } = item {
                self.expr(expr);
            }
        }
    }

    fn limit(&mut self, limit: Option<&mut Limit>) {
        let Some(limit) = limit else { return };
        let first = self.0.len();
        for e in [&mut limit.count, &mut limit.offset, &mut limit.rows_examined] {
            self.exprs(e);
        }
        self.0.iter_mut().skip(first).for_each(|place| place.is_limit = true);
    }

    fn query(&mut self, query: &mut Query) {
        if let Some(with) = &mut query.with {
            with.tables.iter_mut().for_each(|table| self.query(&mut table.query));
        }
        self.body(&mut query.body);
        self.order(&mut query.order_by);
        self.limit(query.limit.as_deref_mut());
    }

    fn body(&mut self, body: &mut QueryBody) {
        stack::ensure();
        match body {
            QueryBody::Select(select) => self.select(select),
            QueryBody::Values(rows) => self.exprs(rows.iter_mut().flatten()),
            QueryBody::Nested(query) => self.query(query),
            QueryBody::Combined { first, rest } => {
                self.body(first);
                rest.iter_mut().for_each(|operand| self.body(&mut operand.body));
            }
        }
    }

    fn select(&mut self, select: &mut Select) {
        self.items(&mut select.items);
        select.from.iter_mut().for_each(|table| self.table(table));
        self.exprs(&mut select.where_clause);
        self.exprs(&mut select.having);
        self.order(&mut select.group_by);
        for window in &mut select.windows {
            self.exprs(window.spec.exprs_mut());
        }
    }

    fn points(&mut self, time: &mut Option<SystemTime>) {
        let points = time.iter_mut().flat_map(SystemTime::points_mut);
        points.for_each(|point| self.expr(&mut point.expr));
    }

    fn table(&mut self, table: &mut TableRef) {
        stack::ensure();
        match table {
            TableRef::Table(factor) => self.points(&mut factor.system_time),
            TableRef::Derived(derived) => {
                self.query(&mut derived.query);
                self.points(&mut derived.system_time);
            }
            TableRef::JsonTable(json) => self.expr(&mut json.document),
            TableRef::Join(join) => {
                self.table(&mut join.left);
                self.table(&mut join.right);
                if let JoinCondition::On(condition) = &mut join.condition {
                    self.expr(condition);
                }
            }
        }
    }
}

/// The question marks of a text that are placeholders, in order.
pub fn question_marks(text: &[u8], mode: SqlMode) -> Vec<Span> {
    let mut lexer = Lexer::new(text, Modes::new(mode));
    let mut found = Vec::new();
    loop {
        let token = lexer.next();
        match token.kind {
            T::Param => found.push(Span::new(token.start, token.end)),
            T::Eof | T::Bad => return found,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ParseOptions, parse};

    fn places(text: &str) -> Vec<(u32, usize, bool)> {
        let parsed = parse(text.as_bytes(), &ParseOptions::default()).unwrap();
        let found = parameter_places(&parsed.statement);
        found.iter().map(|p| (p.number, p.span.start as usize, p.is_limit)).collect()
    }

    #[test]
    fn all_placeholders_are_found() {
        assert_eq!(
            places("INSERT INTO t VALUES (?, '?', 1 + ?)"),
            [(0, 22, false), (1, 34, false)]
        );
        let text = "DELETE FROM t WHERE a IN (SELECT b FROM u WHERE c = ? LIMIT ?) LIMIT ?";
        assert_eq!(places(text), [(0, 52, false), (1, 60, true), (2, 69, true)]);
        assert_eq!(places("UPDATE t JOIN (SELECT ? x) d ON x = ? SET a = ?").len(), 3);
        assert_eq!(places("SELECT ?"), []);
    }
}
