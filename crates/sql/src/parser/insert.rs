//! INSERT and REPLACE, and the assignments that UPDATE shares with them.
//! `VALUES (..)` followed by a set operator is a query, not rows.

use super::{PResult, Parser};
use crate::ast::{
    Assignment, ColumnRef, Expr, ExprKind, Insert, InsertOrigin, InsertPriority, InsertSource,
    QueryBody, SelectItem, Statement,
};
use crate::lexer::{Kw, T};

impl Parser<'_> {
    pub(super) fn insert(&mut self) -> PResult<Statement> {
        let replace = self.next().kind == T::Word(Kw::REPLACE);
        let priority = match self.tok.kind {
            T::Word(Kw::LOW_PRIORITY) => Some(InsertPriority::Low),
            T::Word(Kw::DELAYED) => Some(InsertPriority::Delayed),
            T::Word(Kw::HIGH_PRIORITY) if !replace => Some(InsertPriority::High),
            _ => None,
        };
        if priority.is_some() {
            self.next();
        }
        let ignore = !replace && self.eat(Kw::IGNORE);
        self.eat(Kw::INTO);
        let table = self.table_name()?;
        let partitions = self.partitions_opt()?;
        let columns = self.insert_columns()?;
        let source = self.insert_source(columns.is_none())?;
        let on_duplicate = if replace { Vec::new() } else { self.on_duplicate()? };
        let returning = self.returning()?;
        Ok(Statement::Insert(Box::new(Insert {
            replace,
            priority,
            ignore,
            table,
            partitions,
            columns,
            origin: InsertOrigin::Insert,
            source,
            on_duplicate,
            returning,
        })))
    }

    fn insert_columns(&mut self) -> PResult<Option<Vec<ColumnRef>>> {
        if !self.at(T::LParen) || self.at_query_in_parens() {
            return Ok(None);
        }
        self.parens(|p| if p.at(T::RParen) { Ok(Vec::new()) } else { p.list(Self::column_ref) })
            .map(Some)
    }

    fn insert_source(&mut self, set_allowed: bool) -> PResult<InsertSource> {
        let kind = self.tok.kind;
        match kind {
            T::Word(Kw::VALUES | Kw::VALUE) => {
                self.next();
                let rows = self.list(Self::value_row)?;
                match self.at_query_continuation() {
                    true => self.rows_continued(rows),
                    false => Ok(InsertSource::Values(rows)),
                }
            }
            T::Word(Kw::SET) if set_allowed => {
                self.next();
                Ok(InsertSource::Set(self.assignments()?))
            }
            _ if self.at_query_in_parens() => Ok(InsertSource::Query(self.leading_query()?.into())),
            _ => Err(self.error()),
        }
    }

    /// Rows of VALUES; a query if a set operator follows. Compat: ORDER BY and LIMIT alone have no
    /// effect.
    fn rows_continued(&mut self, rows: Vec<Vec<Expr>>) -> PResult<InsertSource> {
        let query = self.query_of_rows(rows)?;
        Ok(match query.body {
            QueryBody::Values(rows) => InsertSource::Values(rows),
            _ => InsertSource::Query(query.into()),
        })
    }

    fn on_duplicate(&mut self) -> PResult<Vec<Assignment>> {
        if !self.eat(Kw::ON) {
            return Ok(Vec::new());
        }
        self.expect_all(&[Kw::DUPLICATE, Kw::KEY, Kw::UPDATE])?;
        self.place.values_function = true;
        let assignments = self.changes()?;
        self.place.values_function = false;
        Ok(assignments)
    }

    /// `RETURNING ...`, if present.
    pub(super) fn returning(&mut self) -> PResult<Vec<SelectItem>> {
        if self.eat(Kw::RETURNING) { self.select_items() } else { Ok(Vec::new()) }
    }

    /// Assignments to existing rows: `column = IGNORE` becomes `column = column`.
    pub(super) fn changes(&mut self) -> PResult<Vec<Assignment>> {
        let mut assignments = self.assignments()?;
        for assignment in &mut assignments {
            if matches!(assignment.value.kind, ExprKind::Ignore) {
                assignment.value.kind = ExprKind::Column(assignment.column.clone());
            }
        }
        Ok(assignments)
    }

    /// `column = value, ...`.
    pub(super) fn assignments(&mut self) -> PResult<Vec<Assignment>> {
        self.list(|p| {
            let column = p.column_ref()?;
            if !p.eat(T::Eq) {
                p.expect(T::Assign)?;
            }
            Ok(Assignment { column, value: p.expr_or_default()? })
        })
    }
}
