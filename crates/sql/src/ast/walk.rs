//! Walks over queries: the tables and columns named anywhere in a query, and the variables it uses.
//! Unlike `visit.rs`, it enters subqueries.

use selkie_types::stack;

use super::{ColumnRef, FrameBound, FunctionCall, Ident, OrderItem};
use super::{
    Expr, ExprKind, JoinCondition, Over, Query, QueryBody, Select, SelectItem, SystemTime,
    TableFactor, TableRef, WindowSpec,
};

/// Something a query mentions.
pub enum Mention<'a> {
    /// A table in FROM.
    Table(&'a mut TableFactor),
    /// A column.
    Column(&'a mut ColumnRef),
    /// A call of a function.
    Call(&'a FunctionCall),
    /// A user variable, a system variable or a placeholder.
    Variable,
    /// The number of a placeholder that is itself an operand of a comparison.
    Compared(u32),
    /// The alias of an entry of a select list.
    Alias(&'a Ident),
    /// The name that WITH gives a query, where it begins to stand for it.
    Common(&'a Ident),
    /// LIMIT ROWS EXAMINED.
    RowsExamined,
}

type Visit<'v> = &'v mut dyn FnMut(Mention<'_>);

impl Query {
    /// Calls `visit` with every mention in the query, subqueries included.
    pub fn for_each_mention(&mut self, visit: Visit<'_>) {
        if let Some(with) = &mut self.with {
            let is_recursive = with.recursive;
            for table in &mut with.tables {
                if is_recursive {
                    visit(Mention::Common(&table.name));
                }
                table.query.for_each_mention(visit);
                visit(Mention::Common(&table.name));
            }
        }
        body(&mut self.body, visit);
        self.order_by.iter_mut().for_each(|item| item.expr.for_each_mention(visit));
        if self.limit.as_ref().is_some_and(|limit| limit.rows_examined.is_some()) {
            visit(Mention::RowsExamined);
        }
    }
}

fn body(target: &mut QueryBody, visit: Visit<'_>) {
    stack::ensure();
    match target {
        QueryBody::Select(query) => select(query, visit),
        QueryBody::Values(rows) => {
            rows.iter_mut().flatten().for_each(|e| e.for_each_mention(visit));
        }
        QueryBody::Nested(query) => query.for_each_mention(visit),
        QueryBody::Combined { first, rest } => {
            body(first, visit);
            rest.iter_mut().for_each(|operand| body(&mut operand.body, visit));
        }
    }
}

fn select(select: &mut Select, visit: Visit<'_>) {
    for item in &mut select.items {
        if let SelectItem::Expr { expr, alias, .. } = item {
            alias.iter().for_each(|alias| visit(Mention::Alias(alias)));
            expr.for_each_mention(visit);
        }
    }
    select.from.iter_mut().for_each(|t| table(t, visit));
    let conditions = [&mut select.where_clause, &mut select.having];
    conditions.into_iter().flatten().for_each(|e| e.for_each_mention(visit));
    select.group_by.iter_mut().for_each(|item| item.expr.for_each_mention(visit));
    for window in &mut select.windows {
        window.spec.exprs_mut().into_iter().for_each(|e| e.for_each_mention(visit));
    }
}

pub(crate) fn table(target: &mut TableRef, visit: Visit<'_>) {
    stack::ensure();
    match target {
        TableRef::Table(factor) => {
            visit(Mention::Table(factor));
            points(&mut factor.system_time, visit);
        }
        TableRef::Derived(derived) => {
            derived.query.for_each_mention(visit);
            points(&mut derived.system_time, visit);
        }
        TableRef::JsonTable(json) => json.document.for_each_mention(visit),
        TableRef::Join(join) => {
            table(&mut join.left, visit);
            table(&mut join.right, visit);
            if let JoinCondition::On(condition) = &mut join.condition {
                condition.for_each_mention(visit);
            }
        }
    }
}

/// Calls `visit` with every mention in the points in history of a table.
pub(crate) fn points(time: &mut Option<SystemTime>, visit: Visit<'_>) {
    let points = time.iter_mut().flat_map(SystemTime::points_mut);
    points.for_each(|point| point.expr.for_each_mention(visit));
}

impl Expr {
    /// Calls `visit` with every mention in the expression, subqueries included.
    pub fn for_each_mention(&mut self, visit: Visit<'_>) {
        match &mut self.kind {
            ExprKind::Column(column) => visit(Mention::Column(column)),
            ExprKind::Default(Some(column)) => visit(Mention::Column(column)),
            ExprKind::UserVar(_)
            | ExprKind::SystemVar(_)
            | ExprKind::Param(_)
            | ExprKind::AssignUserVar { .. } => visit(Mention::Variable),
            ExprKind::Call(call) => visit(Mention::Call(call)),
            ExprKind::Match { columns, .. } => {
                columns.iter_mut().for_each(|c| visit(Mention::Column(c)));
            }
            _ => {}
        }
        for operand in self.compared() {
            if let ExprKind::Param(number) = operand.kind {
                visit(Mention::Compared(number));
            }
        }
        if let Some(query) = self.query_mut() {
            query.for_each_mention(visit);
        }
        self.window_exprs_mut().into_iter().for_each(|e| e.for_each_mention(visit));
        self.operands_mut().into_iter().for_each(|e| e.for_each_mention(visit));
    }

    /// The operands, if the expression is a comparison.
    fn compared(&self) -> Vec<&Self> {
        let is_comparison = match &self.kind {
            ExprKind::Binary { op, .. } => op.is_comparison(),
            ExprKind::Between { .. } | ExprKind::InList { .. } | ExprKind::Like { .. } => true,
            _ => false,
        };
        if is_comparison { self.operands() } else { Vec::new() }
    }

    /// The subquery, if the expression is one or compares with one.
    pub fn query_mut(&mut self) -> Option<&mut Query> {
        match &mut self.kind {
            ExprKind::Subquery(query)
            | ExprKind::Exists(query)
            | ExprKind::InSubquery { query, .. }
            | ExprKind::Quantified { query, .. } => Some(query),
            _ => None,
        }
    }

    /// Expressions in an OVER clause and in the ORDER BY of a GROUP_CONCAT.
    pub fn window_exprs_mut(&mut self) -> Vec<&mut Expr> {
        match &mut self.kind {
            ExprKind::Call(call) => match call.over.as_deref_mut() {
                Some(Over::Spec(spec)) => spec.exprs_mut(),
                _ => Vec::new(),
            },
            ExprKind::GroupConcat(call) => {
                call.order_by.iter_mut().map(|item| &mut item.expr).collect()
            }
            _ => Vec::new(),
        }
    }
}

impl WindowSpec {
    /// All expressions of the window: partition, order and bounds of the frame.
    pub fn exprs_mut(&mut self) -> Vec<&mut Expr> {
        let items = self.partition_by.iter_mut().chain(&mut self.order_by);
        let mut out: Vec<&mut Expr> = items.map(|item: &mut OrderItem| &mut item.expr).collect();
        if let Some(frame) = &mut self.frame {
            for bound in [&mut frame.start, &mut frame.end] {
                if let FrameBound::Preceding(expr) | FrameBound::Following(expr) = bound {
                    out.push(expr);
                }
            }
        }
        out
    }
}
