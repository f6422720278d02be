//! Aggregate functions in expressions: collected by block, read as columns of its grouping.

use selkie_expr::Expr;
use selkie_expr::aggregate::{Aggregate, AggregateKind, invalid_group_function_use};
use selkie_sql::ast;
use selkie_types::SqlResult;

use super::Binder;
use crate::logical::ColumnId;

/// The aggregates of a block.
#[derive(Debug, Default)]
pub(super) struct Aggregates {
    /// Calls and the columns they become.
    pub calls: Vec<(ColumnId, Aggregate)>,
}

impl Aggregates {
    /// Whether an expression reads an aggregate of this block.
    pub(super) fn contains(&self, expr: &Expr) -> bool {
        let mut found = false;
        expr.for_each_column(&mut |id| found |= self.calls.iter().any(|(c, _)| *c == id));
        found
    }
}

impl Binder<'_> {
    /// Binds an aggregate call; the column it becomes.
    pub(super) fn aggregate(
        &mut self,
        kind: AggregateKind,
        call: &ast::FunctionCall,
    ) -> SqlResult<Expr> {
        let args = match call.star {
            true if !self.scope().allow_aggregates => return Err(invalid_group_function_use()),
            true => Vec::new(),
            false => self.aggregate_args(&call.args)?,
        };
        let aggregate = Aggregate::new(kind, call.distinct, args, self.types)?;
        Ok(self.add_aggregate(aggregate))
    }

    pub(super) fn group_concat(&mut self, call: &ast::GroupConcat) -> SqlResult<Expr> {
        let args = self.aggregate_args(&call.args)?;
        let mut order = Vec::with_capacity(call.order_by.len());
        for key in &call.order_by {
            let expr = match super::select::position_of(&key.expr)
                .and_then(|p| args.get(p.wrapping_sub(1)))
            {
                Some(arg) => arg.clone(),
                None => self.aggregate_args(std::slice::from_ref(&key.expr))?.remove(0),
            };
            order.push((expr, key.descending));
        }
        let separator =
            call.separator.as_ref().map(|s| String::from_utf8_lossy(&s.bytes).into_owned());
        let number = |e: &Option<ast::Expr>| match e.as_ref().map(|e| &e.kind) {
            Some(ast::ExprKind::Literal(ast::Literal::Int(n))) => Some(*n),
            _ => None,
        };
        let limit = call.limit.as_ref().map(|limit| {
            (number(&limit.offset).unwrap_or(0), number(&limit.count).unwrap_or(u64::MAX))
        });
        let aggregate = Aggregate::group_concat(
            call.distinct,
            args,
            order,
            separator.as_deref(),
            limit,
            self.types,
        )?;
        Ok(self.add_aggregate(aggregate))
    }

    /// Arguments of an aggregate: over the rows below the grouping, without aggregates.
    pub(super) fn aggregate_args(&mut self, args: &[ast::Expr]) -> SqlResult<Vec<Expr>> {
        let scope = self.scope();
        if !scope.allow_aggregates {
            return Err(invalid_group_function_use());
        }
        scope.allow_aggregates = false;
        let aliases = scope.use_aliases.take();
        let bound = args.iter().map(|e| self.scalar(e)).collect();
        let scope = self.scope();
        scope.allow_aggregates = true;
        scope.use_aliases = aliases;
        bound
    }

    fn add_aggregate(&mut self, aggregate: Aggregate) -> Expr {
        let found = self.scope().aggregates.calls.iter().find(|(_, c)| *c == aggregate);
        let id = match found {
            Some((id, _)) => *id,
            None => {
                let id = self.columns.add(aggregate.ty.clone(), aggregate.nullable);
                self.scope().aggregates.calls.push((id, aggregate.clone()));
                id
            }
        };
        let mut expr = self.columns.expr(id);
        expr.coercibility = aggregate.coercibility;
        expr
    }
}
