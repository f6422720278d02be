//! Query expressions: WITH, set operations, parentheses, and the clauses at their end.
//! State of an outer query must not leak into an inner one: [`Parser::apart`] saves it.

use selkie_types::error::catalogue::{
    ER_EMPTY_ROW_IN_TVC, ER_TOO_HIGH_LEVEL_OF_NESTING_FOR_SELECT,
    ER_TOO_MANY_DEFINITIONS_IN_WITH_CLAUSE,
};

use super::core::MAX_SELECT_NESTING;
use super::program::Meaning;
use super::{PResult, Parser};
use crate::ast::{
    CommonTable, Limit, LockWait, Locking, OrderItem, Procedure, Query, QueryBody, SetOp,
    SetOperand, With,
};
use crate::lexer::{Kw, T};

/// Most tables of one WITH, as in MariaDB.
const MAX_WITH_TABLES: usize = 64;

/// The clauses after a query body.
struct Tail {
    order_by: Vec<OrderItem>,
    limit: Option<Box<Limit>>,
    procedure: Option<Box<Procedure>>,
    into: Option<Box<crate::ast::IntoTarget>>,
    late_into: bool,
    locking: Option<Locking>,
}

impl Parser<'_> {
    /// Whether a query begins here; parentheses are not looked through.
    pub(super) fn at_query_start(&mut self) -> bool {
        match self.tok.kind {
            T::Word(Kw::SELECT | Kw::WITH) => true,
            T::Word(Kw::VALUES) => self.peek() == T::LParen && !self.values_of_column(),
            _ => false,
        }
    }

    /// Whether `VALUES(column)` is the function, which it is after ON DUPLICATE KEY UPDATE.
    fn values_of_column(&mut self) -> bool {
        if !self.place.values_function {
            return false;
        }
        let mut lexer = self.look_further();
        matches!(lexer.next().kind, T::Word(_) | T::Quoted)
            && matches!(lexer.next().kind, T::RParen | T::Dot)
    }

    /// Whether a query begins here, after any number of parentheses.
    pub(super) fn at_query_in_parens(&mut self) -> bool {
        if !self.at(T::LParen) {
            return self.at_query_start();
        }
        let mut kind = self.peek();
        let mut lexer = self.look_further();
        while kind == T::LParen {
            kind = lexer.next().kind;
        }
        match kind {
            T::Word(Kw::VALUES) if self.place.values_function => false,
            T::Word(Kw::SELECT | Kw::WITH | Kw::VALUES) => true,
            _ => false,
        }
    }

    /// Whether a clause follows that continues a query in parentheses.
    pub(super) fn at_query_continuation(&self) -> bool {
        self.at_any(&[
            Kw::UNION,
            Kw::EXCEPT,
            Kw::INTERSECT,
            Kw::ORDER,
            Kw::LIMIT,
            Kw::OFFSET,
            Kw::FETCH,
            Kw::FOR,
            Kw::LOCK,
            Kw::INTO,
        ])
    }

    /// `(query)`.
    pub(super) fn subquery(&mut self) -> PResult<Query> {
        self.expect(T::LParen)?;
        let query = self.query()?;
        self.expect(T::RParen)?;
        Ok(query)
    }

    /// A query that is a statement of its own: it may have INTO.
    pub(super) fn query_statement(&mut self) -> PResult<crate::ast::Statement> {
        self.into_next = true;
        Ok(crate::ast::Statement::Query(self.leading_query()?.into()))
    }

    /// The outermost query of a statement.
    pub(super) fn leading_query(&mut self) -> PResult<Query> {
        self.leading = true;
        let query = self.query();
        self.leading = false;
        query
    }

    /// A query, at a deeper level of nesting.
    pub(super) fn query(&mut self) -> PResult<Query> {
        self.selects += 1;
        if self.selects > MAX_SELECT_NESTING {
            return self.fail(&ER_TOO_HIGH_LEVEL_OF_NESTING_FOR_SELECT, &[]);
        }
        let query = self.apart(|p| p.nested(Self::query_inner))?;
        self.selects -= 1;
        Ok(query)
    }

    /// Reads a query with the state of the outer query saved and restored.
    fn apart(&mut self, read: impl FnOnce(&mut Self) -> PResult<Query>) -> PResult<Query> {
        let outer_into = self.early_into.take();
        let into_allowed = std::mem::replace(&mut self.into_allowed, self.into_next);
        self.into_next = false;
        let values_function = std::mem::replace(&mut self.place.values_function, false);
        let meaning = self.set_meaning(Meaning::Any);
        let query = read(self)?;
        self.set_meaning(meaning);
        self.place.values_function = values_function;
        self.early_into = outer_into;
        self.into_allowed = into_allowed;
        Ok(query)
    }

    fn query_inner(&mut self) -> PResult<Query> {
        let start = self.tok.start;
        let leading = std::mem::take(&mut self.leading);
        let with = self.with_opt()?;
        self.leading = leading;
        let first = self.body_primary(true)?;
        let body = self.body_after(first, start)?;
        self.finish(with, body, start)
    }

    /// Continues after a query in parentheses that is already read.
    pub(super) fn query_after(&mut self, first: Query) -> PResult<Query> {
        let start = first.span.start;
        self.apart(|p| {
            let body = p.body_after(QueryBody::Nested(first.into()), start)?;
            p.finish(None, body, start)
        })
    }

    /// Continues after rows of VALUES that are already read.
    pub(super) fn query_of_rows(&mut self, rows: Vec<Vec<crate::ast::Expr>>) -> PResult<Query> {
        let start = self.tok.start;
        let empty = rows.iter().any(Vec::is_empty);
        let query = self.apart(|p| {
            let body = p.body_after(QueryBody::Values(rows), start)?;
            p.finish(None, body, start)
        })?;
        match empty && !matches!(query.body, QueryBody::Values(_)) {
            true => self.fail(&ER_EMPTY_ROW_IN_TVC, &[]),
            false => Ok(query),
        }
    }

    fn finish(&mut self, with: Option<Box<With>>, body: QueryBody, start: u32) -> PResult<Query> {
        let Tail { order_by, limit, procedure, into, late_into, locking } = self.tail()?;
        let plain = Query::of(body, self.span_from(start));
        let whole = Query { with, order_by, limit, procedure, into, late_into, locking, ..plain };
        Ok(without_parentheses(whole))
    }

    pub(super) fn with_opt(&mut self) -> PResult<Option<Box<With>>> {
        if !self.eat(Kw::WITH) {
            return Ok(None);
        }
        let recursive = self.eat(Kw::RECURSIVE);
        let mut count = 0;
        let tables = self.list(|p| {
            count += 1;
            match count > MAX_WITH_TABLES {
                true => p.fail(&ER_TOO_MANY_DEFINITIONS_IN_WITH_CLAUSE, &[]),
                false => p.common_table(recursive),
            }
        })?;
        Ok(Some(With { recursive, tables }.into()))
    }

    fn common_table(&mut self, recursive: bool) -> PResult<CommonTable> {
        let name = self.ident()?;
        let columns = self.ident_list_opt()?;
        self.expect(Kw::AS)?;
        let query = self.subquery()?.into();
        let mut cycle = Vec::new();
        if recursive && self.eat(Kw::CYCLE) {
            cycle = self.list(Self::ident)?;
            self.expect(Kw::RESTRICT)?;
        }
        Ok(CommonTable { name, columns, query, cycle })
    }

    /// Set operators from left to right, INTERSECT first but in the mode ORACLE. INTERSECTs at the
    /// start need no combination of their own.
    fn body_after(&mut self, first: QueryBody, start: u32) -> PResult<QueryBody> {
        if self.is_oracle() {
            return self.body_from_left(first, start);
        }
        let mut rest = self.intersections()?;
        while self.early_into.is_none()
            && let Some(word) = self.eat_any(&[Kw::UNION, Kw::EXCEPT])
        {
            let op = if word == Kw::UNION { SetOp::Union } else { SetOp::Except };
            let all = self.all_or_distinct();
            let primary = self.body_primary(false)?;
            let body = combined(primary, self.intersections()?);
            rest.push(SetOperand { op, all, body });
        }
        Ok(combined(first, rest))
    }

    /// Set operators from left to right. Those before an INTERSECT become a query of their own.
    fn body_from_left(&mut self, mut first: QueryBody, start: u32) -> PResult<QueryBody> {
        let mut rest: Vec<SetOperand> = Vec::new();
        while self.early_into.is_none()
            && let Some(word) = self.eat_any(&[Kw::UNION, Kw::EXCEPT, Kw::INTERSECT])
        {
            let op = match word {
                Kw::UNION => SetOp::Union,
                Kw::EXCEPT => SetOp::Except,
                _ => SetOp::Intersect,
            };
            let needs_own = rest.iter().any(|operand| operand.op != SetOp::Intersect);
            if op == SetOp::Intersect && needs_own {
                let body = combined(first, std::mem::take(&mut rest));
                first = QueryBody::Nested(Query::of(body, self.span_from(start)).into());
            }
            let all = self.all_or_distinct();
            rest.push(SetOperand { op, all, body: self.body_primary(false)? });
        }
        Ok(combined(first, rest))
    }

    fn intersections(&mut self) -> PResult<Vec<SetOperand>> {
        let mut rest = Vec::new();
        while self.early_into.is_none() && self.eat(Kw::INTERSECT) {
            let all = self.all_or_distinct();
            rest.push(SetOperand { op: SetOp::Intersect, all, body: self.body_primary(false)? });
        }
        Ok(rest)
    }

    fn all_or_distinct(&mut self) -> bool {
        self.eat_any(&[Kw::ALL, Kw::DISTINCT]) == Some(Kw::ALL)
    }

    /// One body of a query. A SELECT that is not the first of a set operation has no INTO of its
    /// own.
    fn body_primary(&mut self, first: bool) -> PResult<QueryBody> {
        match self.tok.kind {
            T::Word(Kw::SELECT) => Ok(QueryBody::Select(self.select(first)?.into())),
            T::Word(Kw::VALUES) => {
                self.next();
                let rows = self.list(Self::value_row)?;
                match rows.iter().any(Vec::is_empty) {
                    true => self.fail(&ER_EMPTY_ROW_IN_TVC, &[]),
                    false => Ok(QueryBody::Values(rows)),
                }
            }
            T::LParen => Ok(QueryBody::Nested(self.subquery()?.into())),
            _ => Err(self.error()),
        }
    }

    /// `(expr, ...)`, one row of VALUES; each may be DEFAULT or IGNORE where rows are inserted.
    pub(super) fn value_row(&mut self) -> PResult<Vec<crate::ast::Expr>> {
        self.parens(
            |p| {
                if p.at(T::RParen) { Ok(Vec::new()) } else { p.list(Self::expr_or_default) }
            },
        )
    }

    fn tail(&mut self) -> PResult<Tail> {
        let order_by = self.order_by_opt()?;
        let limit = self.limit_opt()?;
        let mut procedure = self.procedure_opt()?;
        let mut into = self.early_into.take();
        let early = into.is_some();
        if into.is_none() {
            into = self.opt_into()?;
        }
        let locking = self.locking_opt()?;
        if procedure.is_none() {
            procedure = self.procedure_opt()?;
        }
        if into.is_none() {
            into = self.opt_into()?;
        }
        let late_into = into.is_some() && !early;
        Ok(Tail { order_by, limit, procedure, into, late_into, locking })
    }

    /// `PROCEDURE name(...)`, which only a statement has.
    fn procedure_opt(&mut self) -> PResult<Option<Box<Procedure>>> {
        if !self.into_allowed || !self.eat(Kw::PROCEDURE) {
            return Ok(None);
        }
        let name = self.ident()?;
        let args =
            self.parens(|p| if p.at(T::RParen) { Ok(vec![]) } else { p.list(Self::expr) })?;
        Ok(Some(Procedure { name, args }.into()))
    }

    fn locking_opt(&mut self) -> PResult<Option<Locking>> {
        let exclusive = if self.eat(Kw::FOR) {
            self.expect(Kw::UPDATE)?;
            true
        } else if self.eat2(Kw::LOCK, Kw::IN) {
            self.expect_all(&[Kw::SHARE, Kw::MODE])?;
            false
        } else {
            return Ok(None);
        };
        let wait = match self.eat2(Kw::SKIP, Kw::LOCKED) {
            true => Some(LockWait::SkipLocked),
            false => self.lock_wait_opt()?,
        };
        Ok(Some(Locking { exclusive, wait }))
    }

    /// `WAIT n` or `NOWAIT`, if present.
    pub(super) fn lock_wait_opt(&mut self) -> PResult<Option<LockWait>> {
        if self.eat(Kw::NOWAIT) {
            return Ok(Some(LockWait::NoWait));
        }
        if self.at2(Kw::WAIT, T::Int) {
            self.next();
            return Ok(Some(LockWait::Wait(self.u64()?)));
        }
        Ok(None)
    }
}

fn combined(first: QueryBody, rest: Vec<SetOperand>) -> QueryBody {
    if rest.is_empty() { first } else { QueryBody::Combined { first: first.into(), rest } }
}

/// A query in parentheses takes over the clauses behind them if it has none of its own.
fn without_parentheses(whole: Query) -> Query {
    let clauses = |query: &Query| {
        let sorted = !query.order_by.is_empty() || query.limit.is_some();
        let others = query.with.is_some()
            || query.procedure.is_some()
            || query.into.is_some()
            || query.locking.is_some();
        (sorted, others)
    };
    let outer = clauses(&whole);
    match whole.body {
        QueryBody::Nested(inner) if outer == (false, false) => {
            let single = matches!(inner.body, QueryBody::Select(_) | QueryBody::Values(_));
            Query { enclosed: single && inner.with.is_none(), ..*inner }
        }
        QueryBody::Nested(inner) if !outer.1 && clauses(&inner) == (false, false) => {
            let enclosed = matches!(inner.body, QueryBody::Select(_) | QueryBody::Values(_));
            let Query { order_by, limit, span, .. } = whole;
            Query { order_by, limit, span, enclosed, ..*inner }
        }
        _ => whole,
    }
}
