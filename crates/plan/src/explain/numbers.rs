//! Numbers of the SELECTs of a text, as EXPLAIN shows them: in the order in which they begin. A
//! text keeps them where some of its SELECTs are merged into others.

use selkie_sql::ast::{
    Expr, JoinCondition, OrderItem, Query, QueryBody, Select, SelectItem, TableRef,
};
use selkie_types::stack;

/// The numbers by the starts of the SELECTs' texts, sorted.
pub(super) fn numbers(query: &mut Query) -> Vec<(u32, u32)> {
    let mut walk = Walk { found: Vec::new(), begins: None };
    walk.query(query);
    let mut found = walk.found;
    found.sort_unstable();
    let numbered = found.into_iter().zip(1..).map(|((_, start), number)| (start, number));
    let mut numbers: Vec<(u32, u32)> = numbered.collect();
    numbers.sort_unstable();
    numbers
}

struct Walk {
    /// Place at which a SELECT counts as begun, and start of its text.
    found: Vec<(u32, u32)>,
    /// Compat: a SELECT behind WITH comes before those inside it.
    begins: Option<u32>,
}

impl Walk {
    fn query(&mut self, query: &mut Query) {
        stack::ensure();
        if let Some(with) = &mut query.with {
            let begins = self.begins.take();
            with.tables.iter_mut().for_each(|table| self.query(&mut table.query));
            self.begins = Some(begins.unwrap_or(query.span.start));
        }
        self.body(&mut query.body);
        self.keys(&mut query.order_by);
    }

    fn body(&mut self, body: &mut QueryBody) {
        stack::ensure();
        match body {
            QueryBody::Select(select) => self.select(select),
            QueryBody::Values(rows) => rows.iter_mut().flatten().for_each(|e| self.expr(e)),
            QueryBody::Nested(query) => self.query(query),
            QueryBody::Combined { first, rest } => {
                self.body(first);
                rest.iter_mut().for_each(|operand| self.body(&mut operand.body));
            }
        }
    }

    fn select(&mut self, select: &mut Select) {
        let start = select.span.start;
        self.found.push((self.begins.take().unwrap_or(start), start));
        select.from.iter_mut().for_each(|table| self.table(table));
        for item in &mut select.items {
            if let SelectItem::Expr { expr, .. } = item {
                self.expr(expr);
            }
        }
        let conditions = select.where_clause.iter_mut().chain(&mut select.having);
        conditions.for_each(|e| self.expr(e));
        self.keys(&mut select.group_by);
    }

    fn keys(&mut self, keys: &mut [OrderItem]) {
        keys.iter_mut().for_each(|key| self.expr(&mut key.expr));
    }

    fn table(&mut self, table: &mut TableRef) {
        stack::ensure();
        match table {
            TableRef::Table(_) => {}
            TableRef::Derived(derived) => self.query(&mut derived.query),
            TableRef::JsonTable(json) => self.expr(&mut json.document),
            TableRef::Join(join) => {
                self.table(&mut join.left);
                self.table(&mut join.right);
                if let JoinCondition::On(on) = &mut join.condition {
                    self.expr(on);
                }
            }
        }
    }

    fn expr(&mut self, e: &mut Expr) {
        stack::ensure();
        if let Some(query) = e.query_mut() {
            self.query(query);
        }
        e.operands_mut().into_iter().for_each(|e| self.expr(e));
        e.window_exprs_mut().into_iter().for_each(|e| self.expr(e));
    }
}
