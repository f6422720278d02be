//! Aggregate functions that are stored programs: all rows of a group are kept for the program,
//! which runs at the group's end.
//!
//! Compat: MariaDB runs the program row by row, in turn with those of other calls. The results are
//! the same; tables that it changes get their rows in another order.

use std::sync::Arc;

use selkie_meter::{ask, spend};
use selkie_types::{Batch, Column, SqlResult, SqlType, Value};

use super::Aggregate;
use super::state::{Groups, State, length_at, same_kind};
use crate::context::{EvalContext, GroupOfRows};
use crate::eval::fitted;
use crate::expr::{Expr, ExprKind, StoredCall};
use crate::kernel::ColumnScale as _;

/// The rows of all groups.
pub(super) struct StoredRows {
    call: Box<StoredCall>,
    args: Vec<Expr>,
    ty: SqlType,
    groups: Vec<Vec<Vec<Value>>>,
}

impl StoredRows {
    pub(super) fn new(a: &Aggregate, call: &StoredCall) -> Self {
        Self {
            call: Box::new(call.clone()),
            args: a.args.clone(),
            ty: a.ty.clone(),
            groups: Vec::new(),
        }
    }

    /// The arguments for a row of NULLs.
    fn arguments_of_none(&self, ctx: &EvalContext<'_>) -> SqlResult<Vec<Value>> {
        let mut columns: Vec<Arc<Column>> = Vec::new();
        let mut put = |at: usize, ty: &SqlType| {
            let nulls = |ty: &SqlType| Column::nulls(ty.physical(), ty.decimals_of_column(), 1);
            while columns.len() <= at {
                columns.push(Arc::new(nulls(&SqlType::int())));
            }
            columns[at] = Arc::new(nulls(ty));
        };
        for arg in &self.args {
            arg.visit(&mut |e| {
                if let ExprKind::Column(at) = e.kind {
                    put(at, &e.ty);
                }
            });
        }
        let batch = Batch::new(columns, 1);
        self.args.iter().map(|arg| Ok(arg.eval(ctx, &batch)?.value(0))).collect()
    }
}

impl State for StoredRows {
    fn resize(&mut self, groups: usize) {
        self.groups.resize_with(groups, Vec::new);
    }

    fn update(
        &mut self,
        groups: Groups<'_>,
        rows: usize,
        args: &[Arc<Column>],
        _: &EvalContext<'_>,
    ) -> SqlResult<()> {
        for row in 0..rows {
            let length = length_at(args, row) + args.len() * size_of::<Value>();
            ask(length)?;
            spend(length)?;
            self.groups[groups.of(row)].push(args.iter().map(|arg| arg.value(row)).collect());
        }
        Ok(())
    }

    fn merge(&mut self, other: Box<dyn State>, map: &[u32], _: &EvalContext<'_>) -> SqlResult<()> {
        let other = same_kind::<Self>(other);
        for (rows, &to) in other.groups.into_iter().zip(map) {
            self.groups[to as usize].extend(rows);
        }
        Ok(())
    }

    fn finish(&mut self, ctx: &EvalContext<'_>) -> SqlResult<Column> {
        let (ty, groups) = (&self.ty, std::mem::take(&mut self.groups));
        let mut out = Column::new(ty.physical(), ty.decimals_of_column(), groups.len());
        for rows in groups {
            let behind = match rows.last() {
                Some(last) => last.clone(),
                None => self.arguments_of_none(ctx)?,
            };
            let value = ctx.subqueries.group(&self.call, GroupOfRows { rows, behind }, ctx)?;
            out.push(&fitted(ctx, value, ty));
        }
        Ok(out)
    }
}
