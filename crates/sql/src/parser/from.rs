//! Table references: tables, derived tables and joins.
//!
//! Compat: `a JOIN b LEFT JOIN c ON x` is a join from left to right, but in `a JOIN b JOIN c ON x
//! ON y` the outer join gets the later ON. So joins wait for their ON on a stack. An inner join
//! without ON is moved below the joins that follow it.

use selkie_types::error::catalogue::ER_TOO_MANY_TABLES;
use selkie_types::stack;

use super::{PResult, Parser};
use crate::ast::{
    DerivedTable, Expr, ExprKind, HintAction, HintPurpose, HistoryPoint, Ident, IndexHint, Join,
    JoinCondition, JoinKind, Literal, Query, SystemTime, TableFactor, TableRef,
};
use crate::lexer::{Kw, T};

/// Most joins of a FROM, at any depth: MariaDB joins 61 tables. The limit bounds the tree's height
/// too.
const MAX_JOINS: usize = 60;

/// A table reference, with the number of unparenthesised joins on its left side.
struct Operand {
    table: TableRef,
    spine: usize,
}

/// A join whose right side is not yet complete.
struct Pending {
    left: Operand,
    kind: JoinKind,
}

/// Content of a parenthesis in FROM.
enum Parenthesized {
    Query(Query),
    Tables(TableRef),
}

/// Names of the current time.
const NOW: [&str; 4] = ["current_timestamp", "now", "localtime", "localtimestamp"];

impl Parser<'_> {
    /// The clause after FROM: `DUAL` or table references.
    pub(super) fn tables_clause(&mut self) -> PResult<Vec<TableRef>> {
        if self.eat(Kw::DUAL) {
            return Ok(Vec::new());
        }
        let outer = std::mem::take(&mut self.joins);
        let tables = self.list(Self::table_ref);
        self.joins = outer;
        tables
    }

    /// Counts a join of the current FROM.
    fn count_join(&mut self) -> PResult<()> {
        self.joins += 1;
        if self.joins > MAX_JOINS { self.fail(&ER_TOO_MANY_TABLES, &[&61]) } else { Ok(()) }
    }

    /// One table reference, joins included.
    pub(super) fn table_ref(&mut self) -> PResult<TableRef> {
        let first = self.table_operand()?;
        self.joins_after(first)
    }

    fn joins_after(&mut self, first: TableRef) -> PResult<TableRef> {
        let mut current = Operand { table: first, spine: 0 };
        let mut pending: Vec<Pending> = Vec::new();
        loop {
            if !pending.is_empty() && self.at_any(&[Kw::ON, Kw::USING]) {
                // Compat: USING of an outer join must follow a table, not another join; ON may
                // follow either.
                let outer = pending.last().is_some_and(Pending::is_outer);
                if outer && current.spine > 0 && self.at_any(&[Kw::USING]) {
                    return Err(self.error());
                }
                let condition = self.join_condition()?;
                if let Some(join) = pending.pop() {
                    current = join.complete(current, condition);
                }
                continue;
            }
            let Some((kind, natural)) = self.join_keyword()? else { break };
            self.count_join()?;
            let right = Operand { table: self.table_operand()?, spine: 0 };
            let join = Pending { left: current, kind };
            current = match natural {
                true => join.complete(right, JoinCondition::Natural),
                false => {
                    pending.push(join);
                    right
                }
            };
        }
        while let Some(join) = pending.pop() {
            if join.is_outer() {
                return Err(self.error());
            }
            current = join.move_below(current);
        }
        Ok(current.table)
    }

    fn join_condition(&mut self) -> PResult<JoinCondition> {
        if self.eat(Kw::ON) {
            return self.expr().map(JoinCondition::On);
        }
        self.expect(Kw::USING)?;
        self.ident_list().map(JoinCondition::Using)
    }

    /// The words of a join; the flag is NATURAL.
    fn join_keyword(&mut self) -> PResult<Option<(JoinKind, bool)>> {
        let natural = self.eat(Kw::NATURAL);
        let kind = match self.tok.kind {
            T::Word(Kw::STRAIGHT_JOIN) => {
                self.next();
                return Ok(Some((JoinKind::Straight, natural)));
            }
            T::Word(Kw::JOIN) => JoinKind::Inner,
            T::Word(Kw::INNER | Kw::CROSS) => {
                let cross = self.next().kind == T::Word(Kw::CROSS);
                if cross && natural {
                    return Err(self.error());
                }
                JoinKind::Inner
            }
            T::Word(side @ (Kw::LEFT | Kw::RIGHT)) => {
                self.next();
                self.eat(Kw::OUTER);
                if side == Kw::LEFT { JoinKind::Left } else { JoinKind::Right }
            }
            _ if natural => return Err(self.error()),
            _ => return Ok(None),
        };
        self.expect(Kw::JOIN)?;
        Ok(Some((kind, natural)))
    }

    /// A table, a derived table or a parenthesis.
    fn table_operand(&mut self) -> PResult<TableRef> {
        let kind = self.tok.kind;
        match kind {
            T::LParen => match self.nested(Self::parenthesized_table)? {
                Parenthesized::Query(query) => self.derived(query),
                Parenthesized::Tables(table) => Ok(table),
            },
            T::LBrace => self.nested(Self::odbc_join),
            T::Word(Kw::JSON_TABLE) if self.peek() == T::LParen => self.nested(Self::json_table),
            _ => Ok(TableRef::Table(self.table_factor()?.into())),
        }
    }

    fn odbc_join(&mut self) -> PResult<TableRef> {
        self.next();
        self.ident()?;
        let table = self.table_ref()?;
        self.expect(T::RBrace)?;
        Ok(table)
    }

    fn parenthesized_table(&mut self) -> PResult<Parenthesized> {
        self.expect(T::LParen)?;
        if self.at_query_start() {
            let query = self.query()?;
            self.expect(T::RParen)?;
            return Ok(Parenthesized::Query(query));
        }
        if !self.at(T::LParen) {
            let first = self.table_ref()?;
            return self.rest_of_tables(first);
        }
        match self.nested(Self::parenthesized_table)? {
            Parenthesized::Query(query) => {
                let query =
                    if self.at_query_continuation() { self.query_after(query)? } else { query };
                if self.eat(T::RParen) {
                    return Ok(Parenthesized::Query(query));
                }
                let first = self.derived(query)?;
                let first = self.joins_after(first)?;
                self.rest_of_tables(first)
            }
            Parenthesized::Tables(first) => {
                let first = self.joins_after(first)?;
                self.rest_of_tables(first)
            }
        }
    }

    /// `, table, ... )`: a comma inside parentheses is a join.
    fn rest_of_tables(&mut self, first: TableRef) -> PResult<Parenthesized> {
        let mut table = first;
        while self.eat(T::Comma) {
            self.count_join()?;
            let right = self.table_ref()?;
            let condition = JoinCondition::None;
            table = TableRef::Join(
                Join { left: table, right, kind: JoinKind::Inner, condition }.into(),
            );
        }
        self.expect(T::RParen)?;
        Ok(Parenthesized::Tables(table))
    }

    fn derived(&mut self, query: Query) -> PResult<TableRef> {
        let system_time = self.system_time_opt()?;
        let is_named = self.eat(Kw::AS) || !self.is_oracle() || self.at_ident();
        let alias = match is_named {
            true => self.table_alias()?,
            false => {
                self.place.unnamed += 1;
                Ident::new(format!("__{}", self.place.unnamed + 1))
            }
        };
        Ok(TableRef::Derived(DerivedTable { query, system_time, alias }.into()))
    }

    /// An alias of a table; WINDOW is not allowed.
    pub(super) fn table_alias(&mut self) -> PResult<Ident> {
        if self.at(Kw::WINDOW) { Err(self.error()) } else { self.ident() }
    }

    /// `[AS] alias`, if present.
    pub(super) fn table_alias_opt(&mut self) -> PResult<Option<Ident>> {
        if self.eat(Kw::AS) || self.eat(T::Eq) || self.at_ident() && !self.at(Kw::WINDOW) {
            return self.table_alias().map(Some);
        }
        Ok(None)
    }

    /// `name [PARTITION (..)] [FOR SYSTEM_TIME ..] [[AS] alias] [hints]`.
    pub(super) fn table_factor(&mut self) -> PResult<TableFactor> {
        let name = self.table_name()?;
        let partitions = self.partitions_opt()?;
        let system_time = self.system_time_opt()?;
        let alias = self.table_alias_opt()?;
        let hints = self.index_hints()?;
        Ok(TableFactor { name, partitions, system_time, alias, hints })
    }

    /// `PARTITION (names)`, if present.
    pub(super) fn partitions_opt(&mut self) -> PResult<Vec<Ident>> {
        if self.at2(Kw::PARTITION, T::LParen) {
            self.next();
            return self.ident_list();
        }
        Ok(Vec::new())
    }

    fn system_time_opt(&mut self) -> PResult<Option<SystemTime>> {
        if !self.eat2(Kw::FOR, Kw::SYSTEM_TIME) {
            return Ok(None);
        }
        Ok(Some(match self.tok.kind {
            T::Word(Kw::ALL) => {
                self.next();
                SystemTime::All
            }
            T::Word(Kw::AS) => {
                self.next();
                self.expect(Kw::OF)?;
                SystemTime::AsOf(self.history_point()?)
            }
            T::Word(Kw::BETWEEN) => {
                self.next();
                let from = self.history_point()?;
                self.expect(Kw::AND)?;
                SystemTime::Between(from, self.history_point()?)
            }
            _ => {
                self.expect(Kw::FROM)?;
                let from = self.history_point()?;
                self.expect(Kw::TO)?;
                SystemTime::FromTo(from, self.history_point()?)
            }
        }))
    }

    /// `[TIMESTAMP|TRANSACTION] expr`.
    pub(super) fn history_point(&mut self) -> PResult<HistoryPoint> {
        let is_transaction = self.at(Kw::TRANSACTION);
        let is_literal = self.at(Kw::TIMESTAMP) && matches!(self.peek(), T::Str | T::LParen);
        if is_transaction || self.at(Kw::TIMESTAMP) && !is_literal {
            self.next();
        }
        let mut expr = self.binary(super::expr::prec::BIT_OR)?;
        // Compat: the current time is one with all its digits.
        if let ExprKind::Call(call) = &mut expr.kind
            && call.schema.is_none()
            && call.args.is_empty()
            && NOW.iter().any(|name| call.name.is(name))
        {
            let digits = ExprKind::Literal(Literal::Int(6));
            call.args.push(Expr { kind: digits, span: expr.span });
        }
        Ok(HistoryPoint { is_transaction, expr })
    }

    fn index_hints(&mut self) -> PResult<Vec<IndexHint>> {
        let mut hints = Vec::new();
        while self.at_any(&[Kw::USE, Kw::FORCE, Kw::IGNORE])
            && matches!(self.peek(), T::Word(Kw::INDEX | Kw::KEY))
        {
            let action = match self.next().kind {
                T::Word(Kw::USE) => HintAction::Use,
                T::Word(Kw::FORCE) => HintAction::Force,
                _ => HintAction::Ignore,
            };
            self.next();
            let purpose = self.eat(Kw::FOR).then(|| self.hint_purpose()).transpose()?;
            let indexes = self.parens(|p| {
                if p.at(T::RParen) && action == HintAction::Use {
                    return Ok(Vec::new());
                }
                p.list(Self::index_name)
            })?;
            hints.push(IndexHint { action, purpose, indexes });
        }
        Ok(hints)
    }

    fn hint_purpose(&mut self) -> PResult<HintPurpose> {
        match self.expect_any(&[Kw::JOIN, Kw::ORDER, Kw::GROUP])? {
            Kw::JOIN => Ok(HintPurpose::Join),
            Kw::ORDER => self.expect(Kw::BY).map(|()| HintPurpose::OrderBy),
            _ => self.expect(Kw::BY).map(|()| HintPurpose::GroupBy),
        }
    }

    /// Name of a key; PRIMARY is allowed.
    pub(super) fn index_name(&mut self) -> PResult<Ident> {
        if self.at(Kw::PRIMARY) {
            let token = self.next();
            return self.ident_from(token);
        }
        self.ident()
    }
}

impl Pending {
    fn is_outer(&self) -> bool {
        matches!(self.kind, JoinKind::Left | JoinKind::Right)
    }

    fn complete(self, right: Operand, condition: JoinCondition) -> Operand {
        let spine = self.left.spine + 1;
        let join = Join { left: self.left.table, right: right.table, kind: self.kind, condition };
        Operand { table: TableRef::Join(join.into()), spine }
    }

    /// Joins `self` without a condition to the leftmost table of `right`, below the joins over that
    /// table.
    fn move_below(self, right: Operand) -> Operand {
        let spine = self.left.spine + 1 + right.spine;
        let table = graft(self.left.table, self.kind, right.table, right.spine);
        Operand { table, spine }
    }
}

fn graft(left: TableRef, kind: JoinKind, right: TableRef, spine: usize) -> TableRef {
    stack::ensure();
    match right {
        TableRef::Join(mut join) if spine > 0 => {
            join.left = graft(left, kind, join.left, spine - 1);
            TableRef::Join(join)
        }
        right => TableRef::Join(Join { left, right, kind, condition: JoinCondition::None }.into()),
    }
}
