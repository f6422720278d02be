//! Numbers of the SELECTs of a text, as EXPLAIN shows them: in the order in which they begin. A
//! text keeps them where some of its SELECTs are merged into others.

use selkie_sql::ast::{Expr, OrderItem, Query, Select, SelectItem};
use selkie_types::stack;

use super::syntax::SyntaxWalk;

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

impl SyntaxWalk for Walk {
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

    fn select(&mut self, select: &mut Select, _: &mut [OrderItem]) {
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

    fn expr(&mut self, e: &mut Expr) {
        stack::ensure();
        if let Some(query) = e.query_mut() {
            self.query(query);
        }
        e.operands_mut().into_iter().for_each(|e| self.expr(e));
        e.window_exprs_mut().into_iter().for_each(|e| self.expr(e));
    }
}
