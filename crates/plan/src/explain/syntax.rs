//! Walks over the syntax of queries into all their expressions and subqueries. Those who walk say
//! in which order a SELECT's parts come.

use selkie_sql::ast::{Expr, JoinCondition, OrderItem, Query, QueryBody, Select, TableRef};
use selkie_types::stack;

/// A walk.
pub(super) trait SyntaxWalk {
    fn query(&mut self, query: &mut Query);

    /// `order_by`: that of the query, if the SELECT is all of it.
    fn select(&mut self, select: &mut Select, order_by: &mut [OrderItem]);

    fn expr(&mut self, e: &mut Expr);

    /// A body whose ORDER BY, if there is one, is that of the rows combined.
    fn body(&mut self, body: &mut QueryBody) {
        stack::ensure();
        match body {
            QueryBody::Select(select) => self.select(select, &mut []),
            QueryBody::Values(rows) => rows.iter_mut().flatten().for_each(|e| self.expr(e)),
            QueryBody::Nested(query) => self.query(query),
            QueryBody::Combined { first, rest } => {
                self.body(first);
                rest.iter_mut().for_each(|operand| self.body(&mut operand.body));
            }
        }
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

    fn keys(&mut self, keys: &mut [OrderItem]) {
        keys.iter_mut().for_each(|key| self.expr(&mut key.expr));
    }
}
