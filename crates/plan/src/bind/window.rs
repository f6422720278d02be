//! Window functions in expressions: collected per block, and read as columns of window operators.
//! Named windows and frames are in `window_spec.rs`.

use selkie_expr::aggregate::{Aggregate as AggregateCall, AggregateKind};
use selkie_expr::{Expr, cast};
use selkie_sql::ast;
use selkie_types::charset::identifier_eq;
use selkie_types::error::catalogue::*;
use selkie_types::{Physical, SqlError, SqlResult, SqlType, TypeKind};

use super::Binder;
use super::alias::AliasUse;
use super::scope::Clause;
use super::window_spec::{Form, NamedWindows};
use crate::logical::{Logical, SortItem, WindowItem, WindowNode};
use crate::physical::WindowFunction;

/// Decimals of results that are fractions of a partition.
const SHARE_DECIMALS: u8 = 10;

/// The window functions of a block.
#[derive(Debug, Default)]
pub(super) struct Windows {
    /// Windows with their functions.
    pub nodes: Vec<WindowNode>,
    /// The WINDOW clause.
    pub named: NamedWindows,
    /// Whether a specification is being bound.
    pub inside: bool,
    /// Whether arguments of a window function are being bound.
    pub in_args: bool,
}

impl Windows {
    /// Calls `f` with every expression, until it returns an error.
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
                    call.inputs_mut().try_for_each(&mut *f)?;
                }
            }
        }
        Ok(())
    }

    /// Whether an expression reads a window function of this block.
    pub(super) fn contains(&self, expr: &Expr) -> bool {
        let mut items = self.nodes.iter().flat_map(|node| &node.items);
        let columns = expr.columns();
        items.any(|item| columns.contains(&item.column))
    }
}

impl Binder<'_> {
    /// Binds the WINDOW clause. An unused window must be valid too.
    pub(super) fn named_windows(&mut self, windows: &[ast::NamedWindow]) -> SqlResult<()> {
        self.scope().windows.named = NamedWindows::new(windows)?;
        for window in windows {
            let spec = self.scope().windows.named.extended(&window.spec)?;
            self.window_keys(&spec)?;
        }
        Ok(())
    }

    /// `function(args) OVER ...`; returns its column.
    pub(super) fn window_call(
        &mut self,
        call: &ast::FunctionCall,
        over: &ast::Over,
    ) -> SqlResult<Expr> {
        self.check_window_place()?;
        let form = Form::of(&call.name.value);
        if let ast::Over::Spec(written) = over {
            // Compat: an order inherited from a named window does not count here.
            form.check(&call.name.value, written)?;
        }
        let mut spec = self.scope().windows.named.specification(over)?;
        form.check(&call.name.value, &spec)?;
        if form.orders_itself() {
            spec.order_by = form.order(call);
        }
        let mut args = self.window_args(call)?;
        let (partition, mut order) = self.window_keys(&spec)?;
        let (mut function, mut ty, nullable) = self.window_function(call, &mut args, &mut order)?;
        let mut shown = None;
        if let WindowFunction::Aggregate(call) = &mut function {
            shown = call.hold_quotient();
            ty = call.ty.clone();
        }
        let frame = self.frame(spec.frame.as_ref(), &order)?;
        let column = self.columns.add(ty, nullable);
        let item = WindowItem { column, function, args, frame };
        self.add_window(partition, order, item);
        let mut expr = self.columns.expr(column);
        if let Some(shown) = shown {
            cast::to_shown(&mut expr, &shown);
        }
        Ok(expr)
    }

    /// Window functions are allowed in the select list and in ORDER BY, but not inside aggregates,
    /// arguments of other window functions or window specifications. A window operator computes all
    /// functions of its window from its input, which does not have them yet.
    fn check_window_place(&mut self) -> SqlResult<()> {
        let scope = self.scope();
        let placed =
            scope.allow_aggregates && matches!(scope.clause, Clause::Fields | Clause::Order);
        let def = if scope.in_aggregate || scope.windows.in_args {
            &ER_SUM_FUNC_WITH_WINDOW_FUNC_AS_ARG
        } else if scope.windows.inside || !placed {
            &ER_WRONG_PLACEMENT_OF_WINDOW_FUNCTION
        } else {
            return Ok(());
        };
        Err(SqlError::new(def, &[]))
    }

    /// The arguments. Those of a percentile function do not include the one it orders by.
    fn window_args(&mut self, call: &ast::FunctionCall) -> SqlResult<Vec<Expr>> {
        if call.star || call.name.is("median") {
            return Ok(Vec::new());
        }
        // Calls cannot be nested in arguments, so there is no earlier state to restore.
        self.scope().windows.in_args = true;
        let args = call.args.iter().map(|e| self.scalar(e)).collect();
        self.scope().windows.in_args = false;
        args
    }

    /// Partition and order of a specification.
    fn window_keys(&mut self, spec: &ast::WindowSpec) -> SqlResult<(Vec<Expr>, Vec<SortItem>)> {
        let scope = self.scope();
        let before = (scope.clause, scope.use_aliases, scope.windows.inside);
        scope.windows.inside = true;
        let keys = self.partition_and_order(spec);
        let scope = self.scope();
        (scope.clause, scope.use_aliases, scope.windows.inside) = before;
        keys
    }

    fn partition_and_order(
        &mut self,
        spec: &ast::WindowSpec,
    ) -> SqlResult<(Vec<Expr>, Vec<SortItem>)> {
        self.scope().clause = Clause::Group;
        let mut partition = Vec::with_capacity(spec.partition_by.len());
        for key in &spec.partition_by {
            partition.push(self.window_key(&key.expr, AliasUse::Key)?);
        }
        self.scope().clause = Clause::Order;
        let mut order = Vec::with_capacity(spec.order_by.len());
        for key in &spec.order_by {
            let expr = self.window_key(&key.expr, AliasUse::First)?;
            order.push(SortItem { expr, descending: key.descending });
        }
        Ok((partition, order))
    }

    /// Compat: a name is looked up as in GROUP BY and ORDER BY, where an alias has priority over a
    /// column.
    fn window_key(&mut self, key: &ast::Expr, rule: AliasUse) -> SqlResult<Expr> {
        let ast::ExprKind::Column(name) = &key.kind else {
            self.scope().use_aliases = Some(AliasUse::Last);
            return self.scalar(key);
        };
        let is_name = |other: &str| identifier_eq(other, &name.name.value);
        if name.table.is_none() && self.scope().pending.iter().any(|other| is_name(&other.name)) {
            // Only window functions are unbound at this point.
            return Err(SqlError::new(&ER_WINDOW_FUNCTION_IN_WINDOW_SPEC, &[]));
        }
        self.scope().use_aliases = Some(rule);
        match rule {
            AliasUse::Key => match self.group_name(name)? {
                Some(expr) => Ok(expr),
                None => self.scalar(key),
            },
            _ => self.scalar(key),
        }
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

    fn window_function(
        &mut self,
        call: &ast::FunctionCall,
        args: &mut Vec<Expr>,
        order: &mut [SortItem],
    ) -> SqlResult<(WindowFunction, SqlType, bool)> {
        use WindowFunction::*;
        let plain = |e: &Expr| SqlType { zerofill: false, ..e.ty.clone() };
        let first = |args: &[Expr]| args.first().map_or(SqlType::null(), plain);
        let share = || SqlType::new(TypeKind::Double, 17, SHARE_DECIMALS);
        let between = || SqlType::new(TypeKind::Double, 18, SHARE_DECIMALS);
        let count = || SqlType::new(TypeKind::BigInt, 21, 0);
        let name = call.name.value.to_ascii_lowercase();
        let counted = if name == "ntile" { 0 } else { 1 };
        if matches!(&*name, "ntile" | "lead" | "lag" | "nth_value") {
            // NTILE rejects unsigned numbers beyond the signed range, so they are not converted.
            let is_signed = |e: &&mut Expr| name != "ntile" || e.ty.physical() != Physical::UInt;
            args.iter_mut().skip(counted).filter(is_signed).for_each(cast::to_int);
        }
        if matches!(&*name, "lead" | "lag" | "first_value" | "last_value" | "nth_value") {
            // Compat: a member of an ENUM or SET is a text here.
            args.iter_mut().take(1).for_each(|e| cast::members_to_text(e, self.types));
        }
        Ok(match name.as_str() {
            "row_number" => (RowNumber, count(), false),
            "rank" => (Rank, count(), false),
            "dense_rank" => (DenseRank, count(), false),
            "percent_rank" => (PercentRank, share(), true),
            "cume_dist" => (CumeDist, share(), true),
            "ntile" => (Ntile, count(), false),
            "lead" => (Lead, first(args), true),
            "lag" => (Lag, first(args), true),
            "first_value" => (FirstValue, first(args), true),
            "last_value" => (LastValue, first(args), true),
            "nth_value" => (NthValue, first(args), true),
            "median" => {
                args.push(Expr::double(0.5));
                self.check_percentile("median", args, order)?;
                (PercentileCont, between(), true)
            }
            "percentile_cont" => {
                self.check_percentile("percentile_cont", args, order)?;
                args.iter_mut().for_each(cast::to_double);
                (PercentileCont, between(), true)
            }
            "percentile_disc" => {
                self.check_percentile("percentile_disc", args, order)?;
                args.iter_mut().for_each(cast::to_double);
                let ty = order.first().map_or(SqlType::null(), |key| key.expr.ty.clone());
                (PercentileDisc, ty, true)
            }
            name => self.aggregate_over(name, call, args)?,
        })
    }

    /// Interpolated percentiles need numbers, and the share must be a number.
    ///
    /// Compat: a date or a time is the number it is written as.
    fn check_percentile(&self, name: &str, args: &[Expr], order: &mut [SortItem]) -> SqlResult<()> {
        let between = name != "percentile_disc";
        let written = |key: &&mut SortItem| between && key.expr.ty.is_temporal();
        order.iter_mut().filter(written).for_each(|key| cast::to_double(&mut key.expr));
        if between && !order.iter().all(|key| key.expr.ty.is_numeric()) {
            // Compat: errors of MEDIAN name the function it stands for.
            return Err(SqlError::new(&ER_WRONG_TYPE_FOR_PERCENTILE_FUNC, &[&"percentile_cont"]));
        }
        if !args.iter().all(|share| share.ty.is_numeric()) {
            return Err(SqlError::new(&ER_WRONG_TYPE_OF_ARGUMENT, &[&name]));
        }
        Ok(())
    }

    fn aggregate_over(
        &mut self,
        name: &str,
        call: &ast::FunctionCall,
        args: &mut Vec<Expr>,
    ) -> SqlResult<(WindowFunction, SqlType, bool)> {
        let Some(kind) = AggregateKind::from_name(name) else {
            return Err(SqlError::not_supported(format!("{name} as a window function")));
        };
        if call.distinct {
            let name = name.to_ascii_uppercase();
            let what = format!("{name}(DISTINCT) aggregate as window function");
            return Err(SqlError::not_supported(what));
        }
        // Compat: the rows are kept in a table before the function reads them, but those of a
        // grouping, which keeps the digits of its own values.
        for arg in args.iter_mut() {
            if !self.scope().aggregates.contains(arg) {
                cast::cut_to_shown(arg);
            }
        }
        let call = AggregateCall::new(kind, false, std::mem::take(args), self.types)?;
        let (ty, nullable) = (call.ty.clone(), call.nullable);
        Ok((WindowFunction::Aggregate(call), ty, nullable))
    }

    /// Adds the block's windows above `plan`.
    pub(super) fn windowed(&mut self, mut plan: Logical) -> SqlResult<Logical> {
        let nodes = std::mem::take(&mut self.scope().windows.nodes);
        self.windowed_blocks += u64::from(!nodes.is_empty());
        for mut node in nodes {
            node.input = plan;
            plan = Logical::Window(Box::new(node));
        }
        Ok(plan)
    }
}
