//! Parts of kernels: typed views of argument columns and builders of result columns.
//!
//! A kernel relies on the physical kind of its arguments: the binding has converted them.

mod adapt;
mod out;
mod view;

use std::sync::Arc;

use selkie_meter::demand;
use selkie_types::error::ErrorDef;
use selkie_types::error::catalogue::ER_WARN_ALLOWED_PACKET_OVERFLOWED;
use selkie_types::{Column, Condition, Physical, SqlError, SqlType};

pub(crate) use adapt::*;
pub(crate) use out::{BytesOut, ColumnScale, DecimalOut, NativeOut, column_of};
pub(crate) use view::{BytesView, DecimalView, Native, View};

use crate::context::EvalContext;
use crate::expr::{Call, Expr, ExprKind};

/// One evaluation of a call.
pub struct Frame<'a> {
    /// The context.
    pub(crate) ctx: &'a EvalContext<'a>,
    /// The call.
    pub(crate) call: &'a Call,
    /// The type of the result.
    pub(crate) ty: &'a SqlType,
    /// The arguments.
    pub(crate) args: &'a [Arc<Column>],
    /// Rows to compute; fewer than the arguments have, if all of them are constant.
    pub(crate) rows: usize,
}

/// A new column with the first `rows` rows of `column`.
pub(crate) fn first_rows(column: &Column, rows: usize) -> Column {
    let mut column = column.clone();
    column.truncate(rows);
    column.expand()
}

impl<'a> Frame<'a> {
    /// Error 1690 for a result outside its type.
    #[cold]
    pub(crate) fn out_of_range(&self, kind: &str) -> SqlError {
        let kind = if self.ty.unsigned { format!("{kind} UNSIGNED") } else { kind.to_owned() };
        let args: Vec<String> = self.call.args.iter().map(|a| a.to_string()).collect();
        let name = self.call.function.name();
        let text = match &args[..] {
            [a] if !name.bytes().any(|b| b.is_ascii_alphabetic()) => format!("{name}{a}"),
            [a, b] if !name.bytes().any(|b| b.is_ascii_alphabetic()) || name == "DIV" => {
                format!("{a} {name} {b}")
            }
            _ => format!("{}({})", name.to_ascii_lowercase(), args.join(",")),
        };
        SqlError::arithmetic_overflow(kind, text)
    }

    /// A view of argument `at`.
    pub(crate) fn view<T: Native>(&self, at: usize) -> View<'a, T> {
        View::of(&self.args[at])
    }

    /// A view of string argument `at`.
    pub(crate) fn bytes(&self, at: usize) -> BytesView<'a> {
        BytesView::of(&self.args[at])
    }

    /// A view of decimal argument `at`.
    pub(crate) fn decimals(&self, at: usize) -> DecimalView<'a> {
        DecimalView::of(&self.args[at])
    }

    /// The declared type of argument `at`.
    pub(crate) fn arg_type(&self, at: usize) -> &SqlType {
        &self.call.args[at].ty
    }

    /// Adds a warning about an argument. Compat: strict statements refuse the value only if it
    /// comes from a row; constants are read before.
    #[cold]
    pub(crate) fn warn_of(&self, at: usize, def: &ErrorDef, args: &[&dyn std::fmt::Display]) {
        let mut varies = |e: &Expr| {
            let of_row = matches!(e.kind, ExprKind::Parameter(_) | ExprKind::Subquery(_));
            of_row || e.as_column().is_some()
        };
        let soft = !self.call.args[at].any(&mut varies);
        self.ctx.push(Condition { soft, ..Condition::warning(def, args) });
    }

    /// Whether a result would be too long; it is NULL then, with warning 1301. A result that the
    /// statement must not hold ends the statement.
    pub(crate) fn too_long(&self, bytes: usize) -> bool {
        let max = self.ctx.types.max_allowed_packet;
        if bytes as u64 <= max {
            demand(bytes);
            return false;
        }
        let name = self.call.function.name().to_ascii_lowercase();
        self.ctx.warn(&ER_WARN_ALLOWED_PACKET_OVERFLOWED, &[&name, &max]);
        true
    }

    /// Whether a function's result for a row is too long: longer than a packet, and longer than all
    /// its arguments together. So a function that only passes on a long value does not lose it.
    pub(crate) fn has_grown(&self, row: usize, bytes: usize) -> bool {
        let too_long = bytes as u64 > self.ctx.types.max_allowed_packet && self.is_more(row, bytes);
        if !too_long {
            demand(bytes);
        }
        too_long
    }

    #[cold]
    fn is_more(&self, row: usize, bytes: usize) -> bool {
        let given = |at: usize| match self.args[at].physical() {
            Physical::Bytes => self.bytes(at).get(row).map_or(0, <[u8]>::len),
            _ => 0,
        };
        bytes > (0..self.args.len()).map(given).sum() && self.too_long(bytes)
    }

    /// Whether an argument is NULL at `row`.
    pub(crate) fn any_null(&self, row: usize) -> bool {
        self.args.iter().any(|a| a.is_null(row))
    }
}
