//! What kernels are made of: typed views of argument columns and builders of result columns.
//!
//! A kernel takes the physical kind of its arguments for granted: the binding converted them.

mod adapt;
mod out;
mod view;

use std::sync::Arc;

use selkie_types::error::catalogue::ER_WARN_ALLOWED_PACKET_OVERFLOWED;
use selkie_types::{Column, SqlType};

pub(crate) use adapt::*;
pub(crate) use out::{BytesOut, DecimalOut, NativeOut, column_of};
pub(crate) use view::{BytesView, DecimalView, Native, View};

use crate::context::EvalContext;
use crate::expr::Call;

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
    /// Rows to compute; less than the arguments have if all of them are constant.
    pub(crate) rows: usize,
}

impl<'a> Frame<'a> {
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

    /// Whether a result would be too long; then it is NULL, with warning 1301.
    pub(crate) fn too_long(&self, bytes: usize) -> bool {
        let max = self.ctx.types.max_allowed_packet;
        if bytes as u64 <= max {
            return false;
        }
        let name = self.call.function.name().to_ascii_lowercase();
        self.ctx.warn(&ER_WARN_ALLOWED_PACKET_OVERFLOWED, &[&name, &max]);
        true
    }

    /// Whether `row` of some argument is NULL.
    pub(crate) fn any_null(&self, row: usize) -> bool {
        self.args.iter().any(|a| a.is_null(row))
    }
}
