//! Window specifications: inheritance from named windows, the requirements of each function, and
//! frames.

use hashbrown::HashMap;

use selkie_expr::{Expr, cast};
use selkie_sql::ast;
use selkie_types::charset::in_one_case;
use selkie_types::error::catalogue::*;
use selkie_types::{SqlError, SqlResult, Value};

use super::Binder;
use crate::logical::SortItem;
use crate::physical::{FrameBound, FrameUnit, WindowFrame};

/// The windows of a WINDOW clause, each with the parts it inherits from earlier ones.
#[derive(Debug, Default)]
pub(super) struct NamedWindows(HashMap<String, ast::WindowSpec>);

impl NamedWindows {
    pub(super) fn new(windows: &[ast::NamedWindow]) -> SqlResult<Self> {
        let mut named = Self::default();
        for window in windows {
            if named.find(&window.name).is_some() {
                return Err(SqlError::new(&ER_DUP_WINDOW_NAME, &[&window.name]));
            }
            let spec = named.extended(&window.spec)?;
            named.0.insert(in_one_case(&window.name.value), spec);
        }
        Ok(named)
    }

    fn find(&self, name: &ast::Ident) -> Option<&ast::WindowSpec> {
        self.0.get(&in_one_case(&name.value))
    }

    fn must_find(&self, name: &ast::Ident) -> SqlResult<&ast::WindowSpec> {
        self.find(name).ok_or_else(|| SqlError::new(&ER_WRONG_WINDOW_SPEC_NAME, &[name]))
    }

    /// The specification after OVER.
    pub(super) fn specification(&self, over: &ast::Over) -> SqlResult<ast::WindowSpec> {
        match over {
            ast::Over::Named(name) => self.must_find(name).cloned(),
            ast::Over::Spec(spec) => self.extended(spec),
        }
    }

    /// A specification with the parts it inherits from the window it names.
    pub(super) fn extended(&self, spec: &ast::WindowSpec) -> SqlResult<ast::WindowSpec> {
        let Some(base) = &spec.base else { return Ok(spec.clone()) };
        let found = self.must_find(base)?;
        let refused = if !spec.partition_by.is_empty() {
            Some(&ER_PARTITION_LIST_IN_REFERENCING_WINDOW_SPEC)
        } else if !spec.order_by.is_empty() && !found.order_by.is_empty() {
            Some(&ER_ORDER_LIST_IN_REFERENCING_WINDOW_SPEC)
        } else if found.frame.is_some() {
            Some(&ER_WINDOW_FRAME_IN_REFERENCED_WINDOW_SPEC)
        } else {
            None
        };
        if let Some(def) = refused {
            return Err(SqlError::new(def, &[base]));
        }
        let order = if spec.order_by.is_empty() { &found.order_by } else { &spec.order_by };
        Ok(ast::WindowSpec {
            base: None,
            partition_by: found.partition_by.clone(),
            order_by: order.clone(),
            frame: spec.frame.clone(),
        })
    }
}

/// Requirements of a function on its window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Reads a frame.
    Framed,
    /// Reads the partition; an order is not needed.
    Partition,
    /// Reads the partition in an order.
    Ordered,
    /// Reads the partition in an order of its own.
    OwnOrder,
}

impl Form {
    pub(super) fn of(function: &str) -> Self {
        match function.to_ascii_lowercase().as_str() {
            "row_number" | "ntile" => Self::Partition,
            "rank" | "dense_rank" | "percent_rank" | "cume_dist" | "lag" | "lead" => Self::Ordered,
            "median" | "percentile_cont" | "percentile_disc" => Self::OwnOrder,
            _ => Self::Framed,
        }
    }

    pub(super) fn orders_itself(self) -> bool {
        self == Self::OwnOrder
    }

    /// The order of such a function: WITHIN GROUP, or the argument of MEDIAN.
    pub(super) fn order(self, call: &ast::FunctionCall) -> Vec<ast::OrderItem> {
        match (&call.order_by[..], call.args.first()) {
            ([], Some(argument)) => {
                vec![ast::OrderItem { expr: argument.clone(), descending: false }]
            }
            (order, _) => order.to_vec(),
        }
    }

    pub(super) fn check(self, function: &str, spec: &ast::WindowSpec) -> SqlResult<()> {
        if self != Self::Framed && spec.frame.is_some() {
            return Err(SqlError::new(&ER_NOT_ALLOWED_WINDOW_FRAME, &[&function]));
        }
        if self == Self::Ordered && spec.order_by.is_empty() {
            return Err(SqlError::new(&ER_NO_ORDER_LIST_IN_WINDOW_SPEC, &[&function]));
        }
        Ok(())
    }
}

impl Binder<'_> {
    /// The frame: as written, or up to the current row if there is an order, or everything.
    pub(super) fn frame(
        &mut self,
        frame: Option<&ast::Frame>,
        order: &[SortItem],
    ) -> SqlResult<WindowFrame> {
        let Some(frame) = frame else {
            let ordered = !order.is_empty();
            let end = if ordered { FrameBound::CurrentRow } else { FrameBound::UnboundedFollowing };
            return Ok(WindowFrame {
                unit: FrameUnit::Range,
                start: FrameBound::UnboundedPreceding,
                end,
            });
        };
        if !is_possible(frame) {
            return Err(SqlError::new(&ER_BAD_COMBINATION_OF_WINDOW_FRAME_BOUND_SPECS, &[]));
        }
        if frame.exclude != ast::FrameExclude::NoOthers {
            return Err(SqlError::new(&ER_FRAME_EXCLUSION_NOT_SUPPORTED, &[]));
        }
        let unit = if frame.rows { FrameUnit::Rows } else { FrameUnit::Range };
        if !frame.rows && [&frame.start, &frame.end].into_iter().any(|b| distance(b).is_some()) {
            check_range_order(order)?;
        }
        let start = self.frame_bound(&frame.start, frame.rows)?;
        Ok(WindowFrame { unit, start, end: self.frame_bound(&frame.end, frame.rows)? })
    }

    fn frame_bound(&mut self, bound: &ast::FrameBound, rows: bool) -> SqlResult<FrameBound> {
        Ok(match bound {
            ast::FrameBound::UnboundedPreceding => FrameBound::UnboundedPreceding,
            ast::FrameBound::Preceding(e) => FrameBound::Preceding(self.distance(e, rows)?),
            ast::FrameBound::CurrentRow => FrameBound::CurrentRow,
            ast::FrameBound::Following(e) => FrameBound::Following(self.distance(e, rows)?),
            ast::FrameBound::UnboundedFollowing => FrameBound::UnboundedFollowing,
        })
    }

    /// Distance of a frame bound: a constant that is not negative.
    fn distance(&mut self, e: &ast::Expr, rows: bool) -> SqlResult<Expr> {
        let mut expr = self.scalar(e)?;
        crate::fold::fold(&mut expr, self.types);
        let negative = match expr.as_literal() {
            Some(Value::Int(v)) => *v < 0,
            Some(Value::Double(v)) => *v < 0.0,
            Some(Value::Decimal(v)) => v.to_f64() < 0.0,
            _ => false,
        };
        let fits = if rows { expr.ty.is_integer() } else { expr.ty.is_numeric() };
        if !fits || negative || !expr.is_constant() {
            let def =
                if rows { &ER_WRONG_TYPE_FOR_ROWS_FRAME } else { &ER_WRONG_TYPE_FOR_RANGE_FRAME };
            return Err(SqlError::new(def, &[]));
        }
        if rows {
            cast::to_uint(&mut expr);
            crate::fold::fold(&mut expr, self.types);
        }
        Ok(expr)
    }
}

/// Differences of values need one key, a number.
fn check_range_order(order: &[SortItem]) -> SqlResult<()> {
    match order {
        [key] if key.expr.ty.is_numeric() => Ok(()),
        [_] => Err(SqlError::new(&ER_WRONG_TYPE_FOR_RANGE_FRAME, &[])),
        _ => Err(SqlError::new(&ER_RANGE_FRAME_NEEDS_SIMPLE_ORDERBY, &[])),
    }
}

fn distance(bound: &ast::FrameBound) -> Option<&ast::Expr> {
    match bound {
        ast::FrameBound::Preceding(e) | ast::FrameBound::Following(e) => Some(e),
        _ => None,
    }
}

/// Whether the bounds are in an order that some row could satisfy.
fn is_possible(frame: &ast::Frame) -> bool {
    use ast::FrameBound::*;
    !matches!(
        (&frame.start, &frame.end),
        (UnboundedFollowing, _)
            | (_, UnboundedPreceding)
            | (CurrentRow, Preceding(_))
            | (Following(_), CurrentRow)
    )
}
