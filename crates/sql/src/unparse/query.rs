//! Queries, ORDER BY, LIMIT and windows.
//! Compat: spaces and quotes follow MariaDB's output exactly, because SHOW CREATE VIEW is compared.

use selkie_types::stack;

use super::Writer;
use crate::ast::{
    CommonTable, Frame, FrameBound, FrameExclude, Limit, LockWait, Locking, OrderItem, Over, Query,
    QueryBody, Select, SelectItem, SetOp, WindowSpec, With,
};

impl Writer<'_> {
    /// The query of a statement.
    pub(super) fn whole_query(&mut self, query: &Query) {
        if !query.enclosed {
            return self.query(query);
        }
        self.str("(");
        self.query(query);
        self.str(")");
    }

    pub(super) fn query(&mut self, query: &Query) {
        if let Some(with) = &query.with {
            self.with(with);
        }
        self.body(&query.body);
        self.order_by(&query.order_by);
        self.limit(query.limit.as_deref());
        if let Some(locking) = &query.locking {
            self.locking(*locking);
        }
    }

    fn with(&mut self, with: &With) {
        self.str(if with.recursive { "with recursive " } else { "with " });
        for (at, table) in with.tables.iter().enumerate() {
            self.str(if at > 0 { ", " } else { "" });
            self.common_table(table);
        }
    }

    fn common_table(&mut self, table: &CommonTable) {
        // Compat: the name has no backticks here.
        self.str(&table.name.value);
        if !table.columns.is_empty() {
            self.str("(");
            self.list(&table.columns, Self::ident);
            self.str(")");
        }
        self.str(" as (");
        self.query(&table.query);
        self.str(")");
        if !table.cycle.is_empty() {
            self.str(" CYCLE ");
            self.list(&table.cycle, Self::ident);
            // Compat: a blank follows only here.
            self.str(" RESTRICT ");
        }
    }

    fn body(&mut self, body: &QueryBody) {
        stack::ensure();
        match body {
            QueryBody::Select(select) => self.select(select),
            QueryBody::Values(rows) => {
                self.str("values ");
                self.list(rows, |w, row| {
                    w.str("(");
                    w.exprs(row);
                    w.str(")");
                });
            }
            QueryBody::Nested(query) => {
                self.str("(");
                self.query(query);
                self.str(")");
            }
            QueryBody::Combined { first, rest } => {
                self.body(first);
                for operand in rest {
                    self.str(match operand.op {
                        SetOp::Union => " union ",
                        SetOp::Intersect => " intersect ",
                        SetOp::Except => " except ",
                    });
                    if operand.all {
                        self.str("all ");
                    }
                    self.body(&operand.body);
                }
            }
        }
    }

    fn select(&mut self, select: &Select) {
        stack::ensure();
        if let Some(number) = &mut self.selects {
            *number += 1;
            let known = self.numbers.binary_search_by_key(&select.span.start, |(start, _)| *start);
            let shown = known.map_or(*number, |at| self.numbers[at].1);
            let text = format!("/* select#{shown} */ ");
            self.str(&text);
        }
        self.str("select ");
        let o = &select.options;
        let words = [
            (o.straight_join, "straight_join "),
            (o.high_priority, "high_priority "),
            (o.distinct, "distinct "),
            (o.small_result, "sql_small_result "),
            (o.big_result, "sql_big_result "),
            (o.buffer_result, "sql_buffer_result "),
            (o.calc_found_rows, "sql_calc_found_rows "),
            (o.cache == Some(true), "sql_cache "),
            (o.cache == Some(false), "sql_no_cache "),
        ];
        for (_, word) in words.iter().filter(|w| w.0) {
            self.str(word);
        }
        self.list(&select.items, Self::item);
        if !select.from.is_empty() {
            self.str(" from ");
            self.tables(&select.from);
        }
        if let Some(condition) = &select.where_clause {
            self.str(" where ");
            self.whole_condition(condition);
        }
        if !select.group_by.is_empty() {
            self.str(" group by ");
            self.order_items(&select.group_by);
            self.str(if select.rollup { " with rollup" } else { "" });
        }
        if let Some(condition) = &select.having {
            self.str(" having ");
            self.whole_condition(condition);
        }
        if !select.windows.is_empty() {
            self.str(" window ");
            self.list(&select.windows, |w, window| {
                w.ident(&window.name);
                w.str(" as ");
                w.window(&window.spec);
            });
        }
    }

    fn item(&mut self, item: &SelectItem) {
        match item {
            SelectItem::Wildcard { schema, table, .. } => {
                for part in [schema, table].into_iter().flatten() {
                    self.ident(part);
                    self.str(".");
                }
                self.str("*");
            }
            SelectItem::Expr { expr, alias, .. } => {
                self.expr(expr);
                if let Some(alias) = alias {
                    self.str(" AS ");
                    self.ident(alias);
                }
            }
        }
    }

    pub(super) fn order_by(&mut self, items: &[OrderItem]) {
        if !items.is_empty() {
            self.str(" order by ");
            self.order_items(items);
        }
    }

    /// The order inside an aggregate. Compat: MariaDB prints each direction there.
    pub(super) fn order_of_values(&mut self, items: &[OrderItem]) {
        if !items.is_empty() {
            self.str(" order by ");
            self.list(items, |w, item| {
                w.expr(&item.expr);
                w.str(if item.descending { " DESC" } else { " ASC" });
            });
        }
    }

    fn order_items(&mut self, items: &[OrderItem]) {
        self.list(items, |w, item| {
            w.expr(&item.expr);
            w.str(if item.descending { " desc" } else { "" });
        });
    }

    pub(super) fn limit(&mut self, limit: Option<&Limit>) {
        let Some(limit) = limit else { return };
        if limit.with_ties {
            if let Some(offset) = &limit.offset {
                self.str(" offset ");
                self.expr(offset);
                self.str(" rows");
            }
            self.str(" fetch first ");
            limit.count.iter().for_each(|c| self.expr(c));
            return self.str(" rows with ties");
        }
        match (&limit.offset, &limit.count) {
            (Some(offset), Some(count)) => {
                self.str(" limit ");
                self.list(&[offset, count], |w, e| w.expr(e));
            }
            (None, Some(count)) => {
                self.str(" limit ");
                self.expr(count);
            }
            (Some(offset), None) => {
                self.str(" offset ");
                self.expr(offset);
                self.str(" rows");
            }
            (None, None) => {}
        }
        if let Some(examined) = &limit.rows_examined {
            self.str(if limit.count.is_none() {
                " limit rows examined "
            } else {
                " rows examined "
            });
            self.expr(examined);
        }
    }

    fn locking(&mut self, locking: Locking) {
        self.str(if locking.exclusive { " for update" } else { " lock in share mode" });
        match locking.wait {
            Some(LockWait::NoWait) => self.str(" nowait"),
            Some(LockWait::SkipLocked) => self.str(" skip locked"),
            Some(LockWait::Wait(seconds)) => self.display(format_args!(" wait {seconds}")),
            None => {}
        }
    }

    pub(super) fn over(&mut self, over: &Over) {
        match over {
            Over::Named(name) => self.ident(name),
            Over::Spec(spec) => self.window(spec),
        }
    }

    fn window(&mut self, spec: &WindowSpec) {
        self.str("(");
        if let Some(base) = &spec.base {
            self.ident(base);
        }
        if !spec.partition_by.is_empty() {
            self.str(" partition by ");
            self.order_items(&spec.partition_by);
        }
        self.order_by(&spec.order_by);
        if let Some(frame) = &spec.frame {
            self.frame(frame);
        }
        self.str(")");
    }

    fn frame(&mut self, frame: &Frame) {
        self.str(if frame.rows { " rows between " } else { " range between " });
        self.bound(&frame.start);
        self.str(" and ");
        self.bound(&frame.end);
        self.str(match frame.exclude {
            FrameExclude::NoOthers => "",
            FrameExclude::CurrentRow => " exclude current row",
            FrameExclude::Group => " exclude group",
            FrameExclude::Ties => " exclude ties",
        });
    }

    fn bound(&mut self, bound: &FrameBound) {
        match bound {
            FrameBound::UnboundedPreceding => self.str("unbounded preceding"),
            FrameBound::UnboundedFollowing => self.str("unbounded following"),
            FrameBound::CurrentRow => self.str("current row"),
            FrameBound::Preceding(expr) => {
                self.operand(expr, 8);
                self.str(" preceding");
            }
            FrameBound::Following(expr) => {
                self.operand(expr, 8);
                self.str(" following");
            }
        }
    }
}
