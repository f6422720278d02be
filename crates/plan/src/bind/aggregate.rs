//! Aggregate functions in expressions: collected per block, and read as columns of its grouping.
//!
//! An aggregate belongs to the innermost block whose columns it reads. This may be an outer block
//! of the one that contains it; there it is an outer value.

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use selkie_expr::aggregate::{Aggregate, AggregateKind, invalid_group_function_use};
use selkie_expr::{Expr, ExprKind, build, cast};
use selkie_sql::ast;
use selkie_types::{SqlMode, SqlResult, SqlType};

use super::Binder;
use super::Clause;
use super::alias::AliasUse;
use crate::logical::{ColumnId, ColumnSet, RelationId};
use crate::physical::TextOf;

/// The aggregates of a block.
#[derive(Debug, Default)]
pub(super) struct Aggregates {
    /// Calls with the numbers of their columns.
    pub calls: Vec<(ColumnId, Aggregate)>,
    /// Aggregates whose argument has more digits than it shows, with the number shown.
    pub widened: Vec<(ColumnId, u8)>,
    /// Positions in `calls` by digest, if there are many.
    by_digest: HashMap<u64, Vec<usize>, FixedState>,
    /// Number of calls in `by_digest`.
    digested: usize,
}

/// So many aggregates are compared one by one.
const FEW: usize = 16;

impl Aggregates {
    /// The column of an equal aggregate. Without digests, a list of n different ones would cost n²
    /// comparisons.
    fn find(&mut self, wanted: &Aggregate) -> Option<ColumnId> {
        if self.calls.len() < FEW {
            return self.calls.iter().find(|(_, call)| call == wanted).map(|(id, _)| *id);
        }
        for at in self.digested..self.calls.len() {
            self.by_digest.entry(self.calls[at].1.digest()).or_default().push(at);
        }
        self.digested = self.calls.len();
        let alike = self.by_digest.get(&wanted.digest())?;
        let found = alike.iter().find(|at| self.calls[**at].1 == *wanted)?;
        Some(self.calls[*found].0)
    }

    /// Takes all calls out.
    pub(super) fn take_calls(&mut self) -> Vec<(ColumnId, Aggregate)> {
        self.by_digest.clear();
        self.digested = 0;
        std::mem::take(&mut self.calls)
    }

    /// Whether one of these columns is an aggregate of the block.
    fn gives_any(&self, columns: &ColumnSet) -> bool {
        self.calls.iter().any(|(id, _)| columns.contains(*id))
    }

    /// Whether an expression reads an aggregate of this block.
    pub(super) fn contains(&self, expr: &Expr) -> bool {
        let mut found = false;
        expr.for_each_column(&mut |id| found |= self.calls.iter().any(|(c, _)| *c == id));
        found
    }
}

impl Binder<'_> {
    /// Binds an aggregate call; returns its column.
    pub(super) fn aggregate(
        &mut self,
        kind: AggregateKind,
        call: &ast::FunctionCall,
    ) -> SqlResult<Expr> {
        self.check_aggregate_place()?;
        let args = if call.star { Vec::new() } else { self.aggregate_args(&call.args)? };
        let order = self.aggregate_order(&call.order_by, &args)?;
        let order = distinct_order(call.distinct, &args, order);
        let shown = self.shown_digits(kind, call.distinct, &args)?;
        let mut args = args;
        if shown.is_some() {
            build::unround(&mut args[0]);
        }
        let mut aggregate = Aggregate::new(kind, call.distinct, args, self.types)?;
        aggregate.order_by = order;
        aggregate.limit = self.limit_of_call(call.limit.as_deref())?;
        let quotient = aggregate.hold_quotient();
        let (widened, scale) = shown.unzip();
        let mut expr = self.add_aggregate(aggregate, scale)?;
        if let Some(ty) = widened.or(quotient) {
            cast::to_shown(&mut expr, &ty);
        }
        Ok(expr)
    }

    /// The type shown for an aggregate whose argument has more digits than it shows, and the number
    /// of digits shown.
    ///
    /// Compat: `MAX(1/3)*3` is 1.0000, like `1/3*3`. DISTINCT values are summed as shown.
    fn shown_digits(
        &self,
        kind: AggregateKind,
        distinct: bool,
        args: &[Expr],
    ) -> SqlResult<Option<(SqlType, u8)>> {
        use AggregateKind::{Avg, Max, Min, Sum};
        match args {
            _ if distinct && matches!(kind, Sum | Avg) => Ok(None),
            [arg] if matches!(kind, Max | Min | Sum | Avg) && build::wider_scale(arg).is_some() => {
                let shown = Aggregate::new(kind, distinct, args.to_vec(), self.types)?;
                Ok(Some((shown.ty, arg.ty.decimals)))
            }
            _ => Ok(None),
        }
    }

    /// Rounds arguments of aggregates to the digits they show, where MariaDB groups by a temporary
    /// table.
    ///
    /// Compat: the temporary table keeps intermediate sums in columns, rounded to their type. It is
    /// not used where groups come in order: with ROLLUP, DISTINCT or concatenation, and by an
    /// index.
    pub(super) fn cut_digits(&mut self, calls: &mut [(ColumnId, Aggregate)]) {
        let widened = std::mem::take(&mut self.scope().aggregates.widened);
        for (id, call) in calls {
            if let Some((_, scale)) = widened.iter().find(|(widened, _)| widened == id) {
                cast::round_to(&mut call.args[0], *scale);
            }
        }
    }

    /// Whether MariaDB groups by a temporary table.
    pub(super) fn groups_in_table(&self, keys: &[Expr], rollup: bool) -> bool {
        use AggregateKind::{GroupConcat, JsonArrayAgg, JsonObjectAgg, Stored};
        let sorts = |(_, call): &(ColumnId, Aggregate)| {
            call.distinct
                || matches!(call.kind, GroupConcat | JsonArrayAgg | JsonObjectAgg | Stored)
        };
        let Some(scope) = self.scopes.last() else { return false };
        let sorted = rollup || scope.aggregates.calls.iter().any(sorts);
        let in_order = sorted || self.follows_key(keys.iter()) || self.is_grouped_by_index(keys);
        !keys.is_empty() && !in_order
    }

    /// Whether the groups of a single table are the leading columns of one of its indexes.
    fn is_grouped_by_index(&self, keys: &[Expr]) -> bool {
        if self.scopes.last().is_none_or(|scope| scope.sources.len() != 1) {
            return false;
        }
        let place = |key: &Expr| self.columns.table_column(key.as_column()?);
        let Some(places) = keys.iter().map(place).collect::<Option<Vec<_>>>() else { return false };
        let Some((relation, _)) = places.first() else { return false };
        relation.table.def.indexes.iter().any(|index| {
            index.parts.len() >= places.len()
                && index.parts.iter().zip(&places).all(|(part, (_, at))| part.column == *at)
        })
    }

    pub(super) fn group_concat(&mut self, call: &ast::GroupConcat) -> SqlResult<Expr> {
        self.check_aggregate_place()?;
        let args = self.aggregate_args(&call.args)?;
        let order = self.aggregate_order(&call.order_by, &args)?;
        let order = distinct_order(call.distinct, &args, order);
        let separator =
            call.separator.as_ref().map(|s| String::from_utf8_lossy(&s.bytes).into_owned());
        let limit = self.limit_of_call(call.limit.as_deref())?;
        let aggregate = Aggregate::group_concat(
            call.distinct,
            args,
            order,
            separator.as_deref(),
            limit,
            self.types,
        )?;
        self.add_aggregate(aggregate, None)
    }

    /// `LIMIT` of a call as offset and count.
    fn limit_of_call(
        &mut self,
        limit: Option<&ast::Limit>,
    ) -> SqlResult<Option<Box<(Expr, Expr)>>> {
        let Some(limit) = limit else { return Ok(None) };
        let mut number = |e: &Option<ast::Expr>, otherwise| match e {
            Some(e) => self.limit_value(e),
            None => Ok(Expr::uint(otherwise)),
        };
        Ok(Some(Box::new((number(&limit.offset, 0)?, number(&limit.count, u64::MAX)?))))
    }

    /// ORDER BY inside a call; a number is the position of an argument.
    fn aggregate_order(
        &mut self,
        keys: &[ast::OrderItem],
        args: &[Expr],
    ) -> SqlResult<Vec<(Expr, bool)>> {
        let mut order = Vec::with_capacity(keys.len());
        for key in keys {
            let expr = match super::select::position_of(&key.expr) {
                None => self.aggregate_args(std::slice::from_ref(&key.expr))?.remove(0),
                Some(position) => match position.checked_sub(1).and_then(|at| args.get(at)) {
                    Some(arg) => arg.clone(),
                    None => return Err(self.no_such_position(&key.expr, super::Clause::Order)),
                },
            };
            order.push((expr, key.descending));
        }
        Ok(order)
    }

    /// Arguments of an aggregate, over the rows below a grouping, without its aggregates.
    pub(super) fn aggregate_args(&mut self, args: &[ast::Expr]) -> SqlResult<Vec<Expr>> {
        self.over_rows(|binder| args.iter().map(|e| binder.scalar(e)).collect())
    }

    /// Binds something over the rows below a grouping.
    fn over_rows<R>(&mut self, bind: impl FnOnce(&mut Self) -> R) -> R {
        let scope = self.scope();
        let inside = std::mem::replace(&mut scope.in_aggregate, true);
        let aliases = scope.use_aliases;
        scope.use_aliases = match aliases {
            // In the select list itself, only subqueries see aliases.
            None | Some(AliasUse::Inner) => aliases,
            Some(_) => Some(AliasUse::Last),
        };
        let bound = bind(self);
        let scope = self.scope();
        scope.in_aggregate = inside;
        scope.use_aliases = aliases;
        bound
    }

    /// Arguments of an aggregate function that is a stored program.
    ///
    /// Compat: MariaDB learns that it is one when it has the arguments already. In HAVING they are
    /// columns that HAVING may read.
    pub(super) fn args_of_rows(&mut self, args: &[ast::Expr]) -> SqlResult<Vec<Expr>> {
        self.check_aggregate_place()?;
        if self.scope().clause == Clause::Having {
            args.iter().try_for_each(|arg| self.expr(arg).map(drop))?;
        }
        self.over_rows(|binder| args.iter().map(|e| binder.expr(e)).collect())
    }

    /// Error 1111 if no enclosing block allows aggregates, whatever the arguments are.
    fn check_aggregate_place(&mut self) -> SqlResult<()> {
        self.scope();
        match self.scopes.iter().any(|scope| scope.allow_aggregates) {
            true => Ok(()),
            false => Err(invalid_group_function_use()),
        }
    }

    /// Records that an aggregate reads an entry of an outer block's select list.
    ///
    /// Compat: unlike a column, such an entry does not move the aggregate to the outer block.
    pub(super) fn read_alias(&mut self, expr: &Expr) {
        if !self.scopes.last().is_some_and(|scope| scope.in_aggregate) {
            return;
        }
        let mut read = ColumnSet::default();
        self.add_columns(expr, &mut read);
        self.scope().aliased.union(&read);
    }

    /// The block that computes an aggregate, or error 1111.
    fn aggregation_block(&mut self, aggregate: &Aggregate) -> SqlResult<usize> {
        let aliased = std::mem::take(&mut self.scope().aliased);
        let current = self.scopes.len() - 1;
        let mut read = ColumnSet::default();
        aggregate.inputs().for_each(|e| self.add_columns(e, &mut read));
        read.subtract(&aliased);
        let named = (0..=current).rev().find(|at| self.owns_any(*at, &aliased));
        let deepest = (0..=current).rev().find(|at| self.owns_any(*at, &read));
        let allowed = |at: usize| self.scopes[at].allow_aggregates;
        let between = deepest.map_or(0, |at| at + 1)..current;
        // Compat: only the mode ANSI refuses aggregates of an outer block where that has none.
        let is_ansi = self.types.sql_mode.contains(SqlMode::ANSI);
        // Only inner blocks can read the aggregates of a block.
        let given = |at: usize| self.scopes[at].aggregates.gives_any(&read);
        let block = match deepest {
            Some(at) if at < current && given(at) => {
                (at + 1..=current).rev().find(|at| allowed(*at))
            }
            Some(at) if at == current => allowed(at).then_some(at),
            None if allowed(current) => Some(current),
            _ => deepest
                .filter(|at| allowed(*at))
                .or_else(|| between.rev().find(|at| allowed(*at)))
                .or_else(|| (allowed(current) && !is_ansi).then_some(current)),
        };
        // A block cannot read entries of blocks inside it. Compat: an aggregate inside another one
        // must belong to an outer block.
        let reads_inner = |at: usize| named.is_some_and(|named| named > at);
        block
            .filter(|at| !reads_inner(*at) && !self.scopes[*at].in_aggregate)
            .ok_or_else(invalid_group_function_use)
    }

    /// Adds the columns that an expression reads, including those its subqueries read.
    pub(super) fn add_columns(&self, expr: &Expr, read: &mut ColumnSet) {
        read.add_expr(expr);
        expr.visit(&mut |e| {
            if let ExprKind::Subquery(subquery) = &e.kind {
                let plan = &self.subqueries[subquery.id.0 as usize].plan;
                plan.for_each_expr_deep(&mut |e| self.add_columns(e, read));
            }
        });
    }

    /// Whether a block's tables or aggregates have one of these columns.
    fn owns_any(&self, block: usize, columns: &ColumnSet) -> bool {
        // Otherwise n aggregates would look n times through all of them.
        if columns.is_empty() {
            return false;
        }
        let scope = &self.scopes[block];
        let from_table =
            |source| self.source_columns(source).iter().any(|(_, id)| columns.contains(*id));
        scope.sources.iter().any(from_table) || scope.aggregates.gives_any(columns)
    }

    /// Adds an aggregate to its block. `shown`: digits its argument shows, if it has more.
    pub(super) fn add_aggregate(
        &mut self,
        aggregate: Aggregate,
        shown: Option<u8>,
    ) -> SqlResult<Expr> {
        let block = self.aggregation_block(&aggregate)?;
        self.note_aggregated(block, &aggregate);
        let id = match self.scopes[block].aggregates.find(&aggregate) {
            Some(id) => id,
            None => {
                let ty = self.aggregate_type(&aggregate);
                let of = self.extreme_of(&aggregate);
                let id = self.columns.add(ty, aggregate.nullable);
                let info = self.columns.get_mut(id);
                info.text = match aggregate.kind {
                    AggregateKind::GroupConcat
                    | AggregateKind::JsonArrayAgg
                    | AggregateKind::JsonObjectAgg => TextOf::Joined,
                    _ => TextOf::Expression,
                };
                info.coercibility = Some(aggregate.coercibility);
                info.announced = of;
                // A subquery may contain the aggregate of a block around it.
                info.unit = self.scopes[block].within.unit;
                let aggregates = &mut self.scopes[block].aggregates;
                aggregates.calls.push((id, aggregate.clone()));
                aggregates.widened.extend(shown.map(|scale| (id, scale)));
                id
            }
        };
        Ok(self.columns.expr(id))
    }
}

impl Binder<'_> {
    /// The table column whose greatest or least value an aggregate is.
    fn extreme_of(&self, aggregate: &Aggregate) -> Option<(RelationId, usize)> {
        let is_extreme = matches!(aggregate.kind, AggregateKind::Min | AggregateKind::Max);
        let column = aggregate.args.first().filter(|_| is_extreme)?.as_column()?;
        let info = self.columns.get(column);
        info.origin.or(info.announced)
    }

    /// The type of an aggregate's values. Compat: the greatest of a column's integers has the width
    /// that the column was defined with.
    pub(super) fn aggregate_type(&self, aggregate: &Aggregate) -> SqlType {
        let ty = aggregate.ty.clone();
        let column = aggregate.args.first().and_then(Expr::as_column);
        let declared = column.map(|id| &self.columns.get(id).ty);
        match declared.filter(|declared| declared.is_integer() && declared.of_operand() == ty) {
            Some(declared) => declared.clone(),
            None => ty,
        }
    }
}

/// Compat: DISTINCT values without ORDER BY are ordered by value.
fn distinct_order(distinct: bool, args: &[Expr], order: Vec<(Expr, bool)>) -> Vec<(Expr, bool)> {
    match distinct && order.is_empty() {
        true => args.iter().map(|arg| (arg.clone(), false)).collect(),
        false => order,
    }
}
