//! Window functions in expressions: collected by block, read as columns of window operators.

use selkie_expr::aggregate::{Aggregate as AggregateCall, AggregateKind};
use selkie_expr::{Expr, cast};
use selkie_sql::ast;
use selkie_types::error::catalogue::*;
use selkie_types::{SqlError, SqlResult, SqlType};

use super::Binder;
use super::scope::Clause;
use crate::logical::{Logical, SortItem, WindowItem, WindowNode, call_exprs_mut};
use crate::physical::{FrameBound, FrameUnit, WindowFrame, WindowFunction};

/// The window functions of a block.
#[derive(Debug, Default)]
pub(super) struct Windows {
    /// Windows with their functions.
    pub nodes: Vec<WindowNode>,
    /// The WINDOW clause.
    pub named: Vec<(Box<str>, ast::WindowSpec)>,
}

impl Windows {
    /// Calls `f` with every expression, until it fails.
    pub(super) fn for_each_expr(
        &mut self,
        f: &mut dyn FnMut(&mut Expr) -> SqlResult<()>,
    ) -> SqlResult<()> {
        for node in &mut self.nodes {
            node.partition.iter_mut().try_for_each(&mut *f)?;
            node.order.iter_mut().try_for_each(|key| f(&mut key.expr))?;
            for item in &mut node.items {
                item.args.iter_mut().try_for_each(&mut *f)?;
                if let WindowFunction::Aggregate(call) = &mut item.function {
                    call_exprs_mut(call).into_iter().try_for_each(&mut *f)?;
                }
            }
        }
        Ok(())
    }
}

impl Binder<'_> {
    pub(super) fn named_windows(&mut self, windows: &[ast::NamedWindow]) {
        let named = windows.iter().map(|w| (w.name.value.clone(), w.spec.clone())).collect();
        self.scope().windows.named = named;
    }

    /// `function(args) OVER ...`: the column it becomes.
    pub(super) fn window_call(
        &mut self,
        call: &ast::FunctionCall,
        over: &ast::Over,
    ) -> SqlResult<Expr> {
        if !self.scope().allow_aggregates {
            return Err(SqlError::new(&ER_WRONG_PLACEMENT_OF_WINDOW_FUNCTION, &[]));
        }
        let spec = self.window_spec(over)?;
        let mut args: Vec<Expr> = if call.star {
            Vec::new()
        } else {
            call.args.iter().map(|e| self.scalar(e)).collect::<SqlResult<_>>()?
        };
        let before = std::mem::replace(&mut self.scope().clause, Clause::Group);
        let partition: Vec<Expr> =
            spec.partition_by.iter().map(|k| self.scalar(&k.expr)).collect::<SqlResult<_>>()?;
        self.scope().clause = Clause::Order;
        let mut order = Vec::with_capacity(spec.order_by.len());
        for key in &spec.order_by {
            order.push(SortItem { expr: self.scalar(&key.expr)?, descending: key.descending });
        }
        self.scope().clause = before;
        let (function, ty, nullable) = self.window_function(call, &mut args)?;
        let frame = self.frame(spec.frame.as_ref(), !order.is_empty())?;
        let column = self.columns.add(ty, nullable);
        let item = WindowItem { column, function, args, frame };
        self.add_window(partition, order, item);
        Ok(self.columns.expr(column))
    }

    fn add_window(&mut self, partition: Vec<Expr>, order: Vec<SortItem>, item: WindowItem) {
        let same = |node: &WindowNode| {
            node.partition == partition
                && node.order.len() == order.len()
                && node
                    .order
                    .iter()
                    .zip(&order)
                    .all(|(a, b)| a.expr == b.expr && a.descending == b.descending)
        };
        let nodes = &mut self.scope().windows.nodes;
        match nodes.iter_mut().find(|n| same(n)) {
            Some(node) => node.items.push(item),
            None => nodes.push(WindowNode {
                input: Logical::OneRow,
                partition,
                order,
                items: vec![item],
            }),
        }
    }

    /// The specification after OVER with what it inherits.
    fn window_spec(&mut self, over: &ast::Over) -> SqlResult<ast::WindowSpec> {
        let mut spec = match over {
            ast::Over::Named(name) => {
                ast::WindowSpec { base: Some(name.clone()), ..Default::default() }
            }
            ast::Over::Spec(spec) => spec.clone(),
        };
        let mut depth = 0;
        while let Some(base) = spec.base.take() {
            let named = self.scope().windows.named.clone();
            let Some((_, found)) = named.into_iter().find(|(n, _)| base.is(n)) else {
                return Err(SqlError::new(&ER_WRONG_WINDOW_SPEC_NAME, &[&base]));
            };
            if spec.partition_by.is_empty() {
                spec.partition_by = found.partition_by;
            }
            if spec.order_by.is_empty() {
                spec.order_by = found.order_by;
            }
            spec.frame = spec.frame.or(found.frame);
            spec.base = found.base;
            depth += 1;
            if depth > 64 {
                return Err(SqlError::new(&ER_WRONG_WINDOW_SPEC_NAME, &[&base]));
            }
        }
        Ok(spec)
    }

    fn window_function(
        &mut self,
        call: &ast::FunctionCall,
        args: &mut Vec<Expr>,
    ) -> SqlResult<(WindowFunction, SqlType, bool)> {
        use WindowFunction::*;
        let first = |args: &[Expr]| args.first().map_or(SqlType::null(), |e| e.ty.clone());
        let double = SqlType::double();
        Ok(match call.name.value.to_ascii_lowercase().as_str() {
            "row_number" => (RowNumber, SqlType::bigint(), false),
            "rank" => (Rank, SqlType::bigint(), false),
            "dense_rank" => (DenseRank, SqlType::bigint(), false),
            "percent_rank" => (PercentRank, double, false),
            "cume_dist" => (CumeDist, double, false),
            "ntile" => (Ntile, SqlType::bigint(), true),
            "lead" => (Lead, first(args), true),
            "lag" => (Lag, first(args), true),
            "first_value" => (FirstValue, first(args), true),
            "last_value" => (LastValue, first(args), true),
            "nth_value" => (NthValue, first(args), true),
            name => {
                let Some(kind) = AggregateKind::from_name(name) else {
                    return Err(SqlError::not_supported(format!("{name} as a window function")));
                };
                if call.distinct {
                    return Err(SqlError::not_supported(
                        "COUNT(DISTINCT) aggregate as window function",
                    ));
                }
                let call = AggregateCall::new(kind, false, std::mem::take(args), self.types)?;
                let (ty, nullable) = (call.ty.clone(), call.nullable);
                (Aggregate(call), ty, nullable)
            }
        })
    }

    /// The frame: as written, or up to the current row if there is an order, or everything.
    fn frame(&mut self, frame: Option<&ast::Frame>, ordered: bool) -> SqlResult<WindowFrame> {
        let Some(frame) = frame else {
            let end = if ordered { FrameBound::CurrentRow } else { FrameBound::UnboundedFollowing };
            return Ok(WindowFrame {
                unit: FrameUnit::Range,
                start: FrameBound::UnboundedPreceding,
                end,
            });
        };
        if frame.exclude != ast::FrameExclude::NoOthers {
            return Err(SqlError::new(&ER_FRAME_EXCLUSION_NOT_SUPPORTED, &[]));
        }
        let unit = if frame.rows { FrameUnit::Rows } else { FrameUnit::Range };
        let start = self.frame_bound(&frame.start, frame.rows)?;
        Ok(WindowFrame { unit, start, end: self.frame_bound(&frame.end, frame.rows)? })
    }

    fn frame_bound(&mut self, bound: &ast::FrameBound, rows: bool) -> SqlResult<FrameBound> {
        let mut value = |e: &ast::Expr| -> SqlResult<Expr> {
            let mut expr = self.scalar(e)?;
            if rows {
                cast::to_uint(&mut expr);
                crate::fold::fold(&mut expr, self.types);
            }
            Ok(expr)
        };
        Ok(match bound {
            ast::FrameBound::UnboundedPreceding => FrameBound::UnboundedPreceding,
            ast::FrameBound::Preceding(e) => FrameBound::Preceding(value(e)?),
            ast::FrameBound::CurrentRow => FrameBound::CurrentRow,
            ast::FrameBound::Following(e) => FrameBound::Following(value(e)?),
            ast::FrameBound::UnboundedFollowing => FrameBound::UnboundedFollowing,
        })
    }

    /// Puts the block's windows on top of `plan`.
    pub(super) fn windowed(&mut self, mut plan: Logical) -> SqlResult<Logical> {
        for mut node in std::mem::take(&mut self.scope().windows.nodes) {
            node.input = plan;
            plan = Logical::Window(Box::new(node));
        }
        Ok(plan)
    }
}
