//! Query expressions: WITH, set operations, parentheses, VALUES. A single SELECT is bound by
//! `select.rs`.

use selkie_engine::{LockMode, LockWait};
use selkie_expr::union_type::aggregate_exprs;
use selkie_expr::{Coercibility, Expr, ExprKind, build, cast};
use selkie_sql::ast;
use selkie_types::charset::identifier_eq;
use selkie_types::error::catalogue::*;
use selkie_types::{CollationId, JsonRole, SqlError, SqlResult, SqlType, TypeKind, Value, stack};

use super::recursion_rules::is_window_function;
use super::row_number::RowNumbers;
use super::scope::{Clause, Source, SourceColumns};
use super::select::{Tail, limited, position_of, sorted};
use super::{Binder, Named, Query};
use crate::logical::{ColumnId, Logical, SetNode, SortItem};
use crate::physical::SetOperator;
use crate::safety::Uses;

/// Maximum nesting of set operations.
const MOST_LEVELS: usize = 400;

/// Position in the text at which the first of these rows begins.
fn start_of(rows: &[Vec<ast::Expr>]) -> u32 {
    rows.first().and_then(|row| row.first()).map_or(0, |first| first.span.start)
}

/// Common type of a column of combined queries, and its coercibility.
type CommonType = (SqlType, Coercibility);

impl Binder<'_> {
    /// A query whose rows stay inside the statement.
    pub(crate) fn query(&mut self, query: &ast::Query) -> SqlResult<Query> {
        stack::check()?;
        self.query_as(query, false)
    }

    /// A query; `outermost` if its rows go to the client.
    pub(crate) fn query_as(&mut self, query: &ast::Query, outermost: bool) -> SqlResult<Query> {
        self.query_within(query, Tail { outermost, in_order: outermost, ..Tail::default() })
    }

    /// A query whose rows are those of the query around it.
    fn query_within(&mut self, query: &ast::Query, around: Tail<'_>) -> SqlResult<Query> {
        let visible = self.visible.len();
        let locking = self.reading.locking.take();
        if let Some(with) = &query.with {
            let units = &mut self.columns.units;
            let begins = units.begin_with(query.span.start);
            self.with(with)?;
            self.columns.units.end_with(Some(begins.unwrap_or(query.span.start)));
        }
        // A locking clause applies to the tables in FROM, including those of merged views, but not
        // to other queries.
        if query.locking.is_some() {
            self.uses.add(Uses::PASSING);
        }
        self.reading.locking = query.locking.map(lock_of).or(locking);
        if matches!(self.reading.locking, Some((_, LockWait::SkipLocked))) {
            self.uses.add(Uses::SKIP_LOCKED);
        }
        let tail = Tail { order_by: &query.order_by, limit: query.limit.as_deref(), ..around };
        let bound = self.body(&query.body, tail)?;
        self.reading.locking = None;
        self.visible.truncate(visible);
        Ok(bound)
    }

    fn body(&mut self, body: &ast::QueryBody, tail: Tail<'_>) -> SqlResult<Query> {
        stack::check()?;
        match body {
            ast::QueryBody::Select(select) => self.select(select, tail),
            ast::QueryBody::Values(rows) => {
                let query = self.values(rows)?;
                self.tail(query, tail)
            }
            ast::QueryBody::Nested(nested) if tail.order_by.is_empty() && tail.limit.is_none() => {
                self.query_within(nested, tail)
            }
            ast::QueryBody::Nested(nested) if is_bare(nested) => self.body(&nested.body, tail),
            ast::QueryBody::Nested(nested) => {
                let query = self.query(nested)?;
                self.refuse_tables(tail, false)?;
                self.tail(query, tail)
            }
            ast::QueryBody::Combined { first, rest } => {
                let in_order = tail.in_order && tail.order_by.is_empty();
                let query = self.combined(first, rest, Tail { in_order, ..Tail::default() })?;
                self.refuse_tables(tail, true)?;
                self.refuse_aggregates(tail)?;
                self.columns.units.sort_combined(tail.order_by.len());
                self.tail(query, tail)
            }
        }
    }

    /// ORDER BY and LIMIT over the columns of a finished query.
    fn tail(&mut self, query: Query, tail: Tail<'_>) -> SqlResult<Query> {
        let limit = self.limit(tail)?;
        if tail.order_by.is_empty() {
            return Ok(Query { plan: limited(query.plan, limit), columns: query.columns });
        }
        self.push_scope();
        let listed = query.columns.iter().map(|c| (c.name.as_str().into(), c.id)).collect();
        self.scope().sources.push(Source {
            schema: "".into(),
            name: "".into(),
            columns: SourceColumns::Listed(listed),
            nullable: false,
            merged: Vec::new(),
            view: None,
            guard: None,
        });
        let keys = self.in_clause(Clause::Order, |b| b.tail_keys(tail.order_by, &query.columns));
        self.pop_scope();
        let unit = self.columns.units.current();
        let plan = limited(sorted(query.plan, keys?, unit), limit);
        Ok(Query { plan, columns: query.columns })
    }

    fn tail_keys(
        &mut self,
        keys: &[ast::OrderItem],
        columns: &[Named],
    ) -> SqlResult<Vec<SortItem>> {
        let mut bound = Vec::with_capacity(keys.len());
        for key in keys {
            let expr = match position_of(&key.expr) {
                Some(position) => match position.checked_sub(1).and_then(|at| columns.get(at)) {
                    Some(column) => self.columns.expr(column.id),
                    None => {
                        let text = self.span_text(key.expr.span);
                        return Err(SqlError::unknown_column(text, Clause::Order.name()));
                    }
                },
                None => self.tail_key(&key.expr, columns)?,
            };
            bound.push(SortItem { expr, descending: key.descending });
        }
        Ok(bound)
    }

    /// A key that is a column of the result.
    fn tail_key(&mut self, key: &ast::Expr, columns: &[Named]) -> SqlResult<Expr> {
        if let ast::ExprKind::Column(name) = &key.kind
            && let Some(column) = columns.iter().find(|c| identifier_eq(&c.name, &name.name.value))
        {
            return Ok(self.columns.expr(column.id));
        }
        self.scalar(key)
    }

    /// Keys after parentheses and set operations refer to columns of the result, not of tables.
    fn refuse_tables(&self, tail: Tail<'_>, combined: bool) -> SqlResult<()> {
        for key in tail.order_by {
            let ast::ExprKind::Column(name) = &key.expr.kind else { continue };
            let Some(table) = &name.table else { continue };
            let clause = Clause::Order.name();
            return Err(match combined {
                true => SqlError::new(&ER_TABLENAME_NOT_ALLOWED_HERE, &[table, &clause]),
                false => SqlError::unknown_column(name, clause),
            });
        }
        Ok(())
    }

    /// Keys after set operations have no groups to read.
    fn refuse_aggregates(&self, tail: Tail<'_>) -> SqlResult<()> {
        let is_grouped = |e: &ast::Expr| self.is_aggregate(e) || is_window_function(e);
        let grouped =
            |key: &ast::OrderItem| key.expr.find(&mut |e| is_grouped(e).then_some(())).is_some();
        match tail.order_by.iter().position(grouped) {
            Some(at) => Err(SqlError::new(&ER_AGGREGATE_ORDER_FOR_UNION, &[&(at + 1)])),
            None => Ok(()),
        }
    }

    pub(super) fn values(&mut self, rows: &[Vec<ast::Expr>]) -> SqlResult<Query> {
        self.values_in(rows, Clause::default())
    }

    /// Rows of expressions in a clause.
    pub(super) fn values_in(
        &mut self,
        rows: &[Vec<ast::Expr>],
        clause: Clause,
    ) -> SqlResult<Query> {
        self.push_scope();
        let around = self.columns.units.select(start_of(rows));
        self.columns.units.end_select(around);
        self.scope().clause = clause;
        let mut numbered = rows.iter().zip(1..);
        let bound: SqlResult<Vec<Vec<Expr>>> =
            numbered.try_fold(Vec::with_capacity(rows.len()), |mut all, (row, n)| {
                self.scope().rows.numbers = RowNumbers::Fixed(n);
                all.push(row.iter().map(|e| self.scalar(e)).collect::<SqlResult<_>>()?);
                Ok(all)
            });
        self.pop_scope();
        let mut bound = bound?;
        let width = bound[0].len();
        if bound.iter().any(|row| row.len() != width) {
            return Err(SqlError::new(&ER_WRONG_NUMBER_OF_VALUES_IN_TVC, &[]));
        }
        let mut columns = Vec::with_capacity(width);
        for at in 0..width {
            let tys: Vec<&SqlType> = bound.iter().map(|row| &row[at].ty).collect();
            selkie_expr::build::refuse_types("TABLE VALUE CONSTRUCTOR", &tys)?;
            let values: Vec<&Expr> = bound.iter().map(|row| &row[at]).collect();
            let ty = selkie_expr::union_type::aggregate_values(&values, self.types);
            let nullable = bound.iter().any(|row| row[at].nullable);
            bound.iter_mut().for_each(|row| self.convert(&mut row[at], &ty));
            let id = self.columns.add(ty, nullable);
            let first = &rows[0][at];
            columns.push(Named::plain(id, first.column_name(first.span, self.source_text())));
        }
        let ids = columns.iter().map(|c| c.id).collect();
        Ok(Query { plan: Logical::Values { rows: bound, columns: ids }, columns })
    }

    pub(super) fn convert(&self, expr: &mut Expr, ty: &SqlType) {
        cast::to_type(expr, ty, self.types);
        crate::fold::fold(expr, self.types);
    }

    /// Binds a chain of set operations. Compat: all its queries have common types, whichever of
    /// them an operation combines; a query in parentheses has its own types.
    /// `tail` is that of each query.
    fn combined(
        &mut self,
        first: &ast::QueryBody,
        rest: &[ast::SetOperand],
        tail: Tail<'_>,
    ) -> SqlResult<Query> {
        // Compat: a locking clause after the last SELECT applies to that one only.
        let locking = self.reading.locking.take();
        let mut queries = vec![self.part(first, tail)?];
        for (at, operand) in rest.iter().enumerate() {
            self.reading.locking = locking.filter(|_| at + 1 == rest.len());
            let query = self.part(&operand.body, tail)?;
            check_width(&queries[0], &query)?;
            queries.push(query);
        }
        let types = self.combined_types(&queries)?;
        // Compat: if one operation removes rows, MariaDB puts the whole chain into a temporary
        // table.
        let kept = rest.iter().any(|operand| !is_union_all(operand));
        let mut queries = queries.into_iter();
        let mut left: Vec<Query> = queries.by_ref().take(1).collect();
        let mut rest = rest;
        let mut levels = 0;
        while let Some(operand) = rest.first() {
            levels += 1;
            if levels > MOST_LEVELS {
                let used = levels * 1024;
                return Err(SqlError::new(
                    &ER_STACK_OVERRUN_NEED_MORE,
                    &[&used, &299_008, &32_000],
                ));
            }
            let taken = chained(rest);
            let all = rest[..taken].iter().all(|o| o.all);
            left.extend(queries.by_ref().take(taken));
            left = vec![self.set_operation((operand.op, all), left, (&types, kept))];
            rest = &rest[taken..];
        }
        left.pop().ok_or_else(|| SqlError::internal("a set operation without queries"))
    }

    /// One of the combined queries. Compat: without LIMIT its ORDER BY is only checked.
    fn part(&mut self, body: &ast::QueryBody, tail: Tail<'_>) -> SqlResult<Query> {
        let mut query = self.body(body, tail)?;
        if is_only_sorted(body) {
            query.plan = unsorted(query.plan);
        }
        Ok(query)
    }

    /// Common types of the columns of combined queries.
    pub(super) fn combined_types(&self, queries: &[Query]) -> SqlResult<Vec<CommonType>> {
        queries[1..].iter().try_for_each(|query| check_width(&queries[0], query))?;
        let width = queries[0].columns.len();
        let of_column = |at: usize| {
            let branches = queries.iter().map(|q| self.branch_column(q, at));
            self.set_type(&branches.collect::<Vec<Expr>>())
        };
        (0..width).map(of_column).collect()
    }

    /// Combines queries after their columns are converted to `types`. `kept`: in a temporary table.
    pub(super) fn set_operation(
        &mut self,
        (op, all): (ast::SetOp, bool),
        inputs: Vec<Query>,
        (types, kept): (&[CommonType], bool),
    ) -> Query {
        let mut named = Vec::with_capacity(types.len());
        for (at, (ty, coercibility)) in types.iter().enumerate() {
            let nullable = inputs.iter().any(|q| self.columns.get(q.columns[at].id).nullable);
            let id = self.columns.add(ty.clone(), nullable);
            self.columns.get_mut(id).coercibility = Some(*coercibility);
            let name = inputs[0].columns[at].name.clone();
            self.columns.get_mut(id).kept = kept;
            let column = if kept { name.as_str().into() } else { "".into() };
            named.push(Named { column, ..Named::plain(id, name) });
        }
        let ids: Vec<ColumnId> = named.iter().map(|n| n.id).collect();
        let tys: Vec<SqlType> = types.iter().map(|(ty, _)| ty.clone()).collect();
        let inputs = inputs.into_iter().map(|q| self.converted(q, &tys)).collect();
        let operator = match op {
            ast::SetOp::Union => SetOperator::Union,
            ast::SetOp::Intersect => SetOperator::Intersect,
            ast::SetOp::Except => SetOperator::Except,
        };
        let node = SetNode { operator, all, inputs, columns: ids };
        Query { plan: Logical::Set(Box::new(node)), columns: named }
    }

    /// A column of one combined query, with its coercibility. Literals and computed texts stay
    /// expressions, because their type alone does not determine the common type.
    pub(super) fn branch_column(&self, query: &Query, at: usize) -> Expr {
        let id = query.columns[at].id;
        if let Logical::Project { columns, .. } = &query.plan
            && let Some((_, literal)) = columns.iter().find(|(column, _)| *column == id)
            && (matches!(literal.kind, ExprKind::Literal(_))
                || matches!(literal.kind, ExprKind::Call(_)) && literal.ty.is_string())
        {
            return literal.clone();
        }
        let mut column = self.columns.expr(id);
        // Compat: how many digits a variable's value has is not known here.
        if column.ty.kind == TypeKind::Decimal && is_variable(query, id) {
            column.ty = SqlType::decimal(65, 38);
        }
        column
    }

    /// The type of a column of combined queries.
    fn set_type(&self, branches: &[Expr]) -> SqlResult<CommonType> {
        let views: Vec<&Expr> = branches.iter().collect();
        let (mut ty, coercibility) = aggregate_exprs(&views, "UNION", self.types)?;
        self.as_table_column(&mut ty, branches);
        // Rows are stored in a table, whose columns need a definite collation.
        if coercibility == Coercibility::None {
            return Err(SqlError::new(&ER_CANT_AGGREGATE_NCOLLATIONS, &[&"UNION"]));
        }
        if ty.is_string() {
            ty.unsigned = false;
        }
        // Compat: numbers are filled with zeros only where all are.
        ty.zerofill &= branches.iter().all(|branch| branch.ty.zerofill);
        if ty.json == JsonRole::Truth {
            // Compat: combined truth values are numbers.
            ty.json = JsonRole::Plain;
        }
        Ok((ty, coercibility))
    }

    /// Changes a common type to that of the table in which queries are combined.
    fn as_table_column(&self, ty: &mut SqlType, branches: &[Expr]) {
        let is_bit = |e: &Expr| e.ty.kind == TypeKind::Bit;
        let is_call = |e: &Expr| matches!(e.kind, ExprKind::Call(_));
        let is_char = |e: &Expr| e.ty.kind == TypeKind::Char && !is_call(e);
        let present = || branches.iter().filter(|e| e.ty.kind != TypeKind::Null);
        // Compat: bits beside numbers are text without a charset.
        if present().any(is_bit) && !present().all(is_bit) {
            let length = |e: &Expr| match e.ty.kind {
                TypeKind::Bit => e.ty.length,
                _ => cast::text_length(&e.ty),
            };
            if !ty.is_string() {
                let most = present().map(length).max().unwrap_or_default();
                *ty = SqlType::varchar(most, CollationId::BINARY);
            }
        }
        // Compat: a CHAR stays CHAR beside all but longer kinds of strings and computed ones.
        let is_longer = |e: &Expr| e.ty.is_string() && !is_char(e);
        if matches!(ty.kind, TypeKind::VarChar | TypeKind::Char) {
            ty.kind = match (present().any(is_char), present().any(is_longer)) {
                (true, false) => TypeKind::Char,
                (_, true) => TypeKind::VarChar,
                (false, false) => ty.kind,
            };
        }
    }

    /// An expression as a column of combined queries.
    fn as_combined(&self, mut expr: Expr, ty: &SqlType) -> Expr {
        if ty.is_string() {
            cast::unfill(&mut expr);
            if expr.ty.kind == TypeKind::Bit && !ty.is_text_or_blob() {
                let number = SqlType { unsigned: true, ..SqlType::bigint() };
                cast::to_type(&mut expr, &number, self.types);
            }
        }
        let padded = ty.kind == TypeKind::Char && ty.collation.is_binary() && expr.ty != *ty;
        if padded && ty.length == 0 {
            return self.emptied(expr, ty);
        }
        if padded && let Ok(padded) = cast::cast(expr.clone(), ty, self.types) {
            expr = padded;
        }
        cast::to_type(&mut expr, ty, self.types);
        expr.ty = ty.clone();
        expr
    }

    /// An empty text of type `ty` for every value that is not NULL, without the warnings of a cast.
    fn emptied(&self, mut expr: Expr, ty: &SqlType) -> Expr {
        let empty = Expr::literal(Value::bytes(b""), ty.clone());
        let is_null = build::function_call("ISNULL", vec![expr.clone()], self.types);
        let either = is_null.and_then(|is_null| {
            build::function_call("IF", vec![is_null, Expr::null(), empty], self.types)
        });
        if let Ok(either) = either {
            expr = either;
        }
        expr.ty = ty.clone();
        expr
    }

    /// A query with columns of the given types.
    pub(super) fn converted(&mut self, query: Query, tys: &[SqlType]) -> (Logical, Vec<ColumnId>) {
        let ids = query.ids();
        let same = ids.iter().zip(tys).all(|(id, ty)| self.columns.get(*id).ty == *ty);
        if same {
            return (query.plan, ids);
        }
        let mut columns = Vec::with_capacity(ids.len());
        for (id, ty) in ids.iter().zip(tys) {
            let expr = self.as_combined(self.columns.expr(*id), ty);
            columns.push((self.output_column(&expr), expr));
        }
        let ids = columns.iter().map(|(id, _)| *id).collect();
        (Logical::Project { input: Box::new(query.plan), columns }, ids)
    }
}

fn check_width(first: &Query, query: &Query) -> SqlResult<()> {
    match query.columns.len() == first.columns.len() {
        true => Ok(()),
        false => Err(SqlError::new(&ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT, &[])),
    }
}

fn is_union_all(operand: &ast::SetOperand) -> bool {
    operand.op == ast::SetOp::Union && operand.all
}

/// Number of the operands that form one operation with what precedes them. UNIONs up to the last
/// one that removes duplicates form one UNION; the UNION ALLs after it form another.
fn chained(rest: &[ast::SetOperand]) -> usize {
    let unions = rest.iter().take_while(|operand| operand.op == ast::SetOp::Union).count();
    let distinct = rest[..unions].iter().rposition(|operand| !operand.all);
    match (unions, distinct) {
        (0, _) => 1,
        (_, Some(last)) => last + 1,
        (unions, None) => unions,
    }
}

fn lock_of(locking: ast::Locking) -> (LockMode, LockWait) {
    let mode = if locking.exclusive { LockMode::Exclusive } else { LockMode::Shared };
    let wait = match locking.wait {
        None => LockWait::Default,
        Some(ast::LockWait::NoWait) => LockWait::NoWait,
        Some(ast::LockWait::SkipLocked) => LockWait::SkipLocked,
        Some(ast::LockWait::Wait(seconds)) => {
            LockWait::Upto(std::time::Duration::from_secs(seconds))
        }
    };
    (mode, wait)
}

/// Whether a query in parentheses ends with ORDER BY.
fn is_only_sorted(body: &ast::QueryBody) -> bool {
    stack::ensure();
    match body {
        ast::QueryBody::Nested(query) => match query.order_by.is_empty() && query.limit.is_none() {
            true => is_only_sorted(&query.body),
            false => query.limit.is_none(),
        },
        _ => false,
    }
}

/// A plan whose rows come in any order.
fn unsorted(plan: Logical) -> Logical {
    stack::ensure();
    match plan {
        Logical::Sort { input, .. } => unsorted(*input),
        Logical::Project { input, columns } => {
            Logical::Project { input: Box::new(unsorted(*input)), columns }
        }
        plan => plan,
    }
}

/// Whether parentheses contain a single SELECT only, so that they have no effect.
fn is_bare(query: &ast::Query) -> bool {
    let alone = query.with.is_none() && query.into.is_none() && query.locking.is_none();
    let whole = query.order_by.is_empty() && query.limit.is_none();
    alone && whole && matches!(query.body, ast::QueryBody::Select(_))
}

/// Whether a column of a query is a user variable.
fn is_variable(query: &Query, id: ColumnId) -> bool {
    let Logical::Project { columns, .. } = &query.plan else { return false };
    let is_it = |e: &Expr| matches!(e.kind, ExprKind::UserVariable(..));
    columns.iter().any(|(column, e)| *column == id && is_it(e))
}
