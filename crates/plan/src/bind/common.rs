//! Common table expressions.
//!
//! One that is read once is put in place of its reference after binding; others are computed once
//! and read many times.

use selkie_sql::ast;
use selkie_types::charset::identifier_eq;
use selkie_types::error::catalogue::*;
use selkie_types::{SqlError, SqlResult, SqlType};

use super::{Binder, Query};
use crate::logical::{ColumnId, Logical, RecursiveNode};

/// A common table of the statement.
#[derive(Clone, Debug)]
pub(crate) struct Common {
    /// Its name.
    pub name: Box<str>,
    /// Names of its columns.
    pub names: Vec<Box<str>>,
    /// Its rows, once bound.
    pub plan: Logical,
    /// Its columns.
    pub ids: Vec<ColumnId>,
    /// How often it is read.
    pub references: usize,
    /// It reads itself.
    pub recursive: bool,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// Its first part is being bound: no reference to itself yet.
    Anchor,
    /// Its other parts are: a reference reads the round before.
    Step,
    Done,
}

impl Binder<'_> {
    pub(super) fn with(&mut self, with: &ast::With) -> SqlResult<()> {
        for (at, table) in with.tables.iter().enumerate() {
            let same = |other: &ast::CommonTable| other.name.is(&table.name.value);
            if with.tables[..at].iter().any(same) {
                return Err(SqlError::new(&ER_DUP_QUERY_NAME, &[&table.name]));
            }
            self.common_definition(table, with.recursive)?;
        }
        Ok(())
    }

    fn common_definition(&mut self, table: &ast::CommonTable, recursive: bool) -> SqlResult<()> {
        let number = self.common.len();
        self.common.push(Common {
            name: table.name.value.clone(),
            names: Vec::new(),
            plan: Logical::OneRow,
            ids: Vec::new(),
            references: 0,
            recursive: false,
            state: State::Anchor,
        });
        let query = match recursive {
            true => {
                self.visible.push((table.name.value.clone(), number));
                self.recursive_query(table, number)?
            }
            false => self.closed_query(&table.query)?,
        };
        let names = self.derived_names(&query, &table.columns)?;
        let common = &mut self.common[number];
        common.names = names;
        common.ids = query.columns.iter().map(|c| c.id).collect();
        common.plan = query.plan;
        common.state = State::Done;
        if !recursive {
            self.visible.push((table.name.value.clone(), number));
        }
        Ok(())
    }

    fn recursive_query(&mut self, table: &ast::CommonTable, number: usize) -> SqlResult<Query> {
        let query = &table.query;
        let simple = query.order_by.is_empty() && query.limit.is_none() && query.with.is_none();
        let ast::QueryBody::Combined { first, rest } = &query.body else {
            return self.closed_query(query);
        };
        if !simple || rest.iter().any(|o| o.op != ast::SetOp::Union) {
            return self.closed_query(query);
        }
        let scopes = std::mem::take(&mut self.scopes);
        let bound = self.recursive_parts(table, first, rest, number);
        self.scopes = scopes;
        bound
    }

    fn recursive_parts(
        &mut self,
        table: &ast::CommonTable,
        first: &ast::QueryBody,
        rest: &[ast::SetOperand],
        number: usize,
    ) -> SqlResult<Query> {
        let mut anchor = self.query(&as_query(first))?;
        let names = self.derived_names(&anchor, &table.columns)?;
        self.common[number].names = names;
        self.common[number].ids = anchor.ids();
        self.common[number].state = State::Step;
        let all = rest.iter().all(|operand| operand.all);
        let mut steps = Vec::new();
        for operand in rest {
            self.common[number].recursive = false;
            let part = self.query(&as_query(&operand.body))?;
            match self.common[number].recursive {
                true => steps.push(part),
                false => {
                    anchor =
                        self.set_operation(ast::SetOp::Union, operand.all, vec![anchor, part])?
                }
            }
        }
        if steps.is_empty() {
            return Ok(anchor);
        }
        self.common[number].recursive = true;
        let step = match steps.len() {
            1 => steps.remove(0),
            _ => self.set_operation(ast::SetOp::Union, true, steps)?,
        };
        if step.columns.len() != anchor.columns.len() {
            return Err(SqlError::new(&ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT, &[]));
        }
        Ok(self.recursive_node(anchor, step, number, !all))
    }

    /// Compat: the types are those of the anchor; every column can be NULL.
    fn recursive_node(
        &mut self,
        anchor: Query,
        step: Query,
        table: usize,
        distinct: bool,
    ) -> Query {
        let tys: Vec<SqlType> =
            anchor.ids().iter().map(|id| self.columns.get(*id).ty.clone()).collect();
        let mut named = anchor.columns.clone();
        for column in &mut named {
            let ty = self.columns.get(column.id).ty.clone();
            column.id = self.columns.add(ty, true);
        }
        let anchor = self.converted(anchor, &tys);
        let step = self.converted(step, &tys);
        let columns = named.iter().map(|n| n.id).collect();
        let node = RecursiveNode { table, anchor, step, distinct, columns };
        Query { plan: Logical::Recursive(Box::new(node)), columns: named }
    }

    /// The common table called `name`, read under `alias`.
    pub(super) fn common_table(
        &mut self,
        name: &ast::Ident,
        alias: &str,
    ) -> SqlResult<Option<Logical>> {
        let found = self.visible.iter().rev().find(|(n, _)| identifier_eq(n, &name.value));
        let Some(&(_, table)) = found else { return Ok(None) };
        if self.common[table].state == State::Anchor {
            return Err(SqlError::new(&ER_RECURSIVE_WITHOUT_ANCHORS, &[&name]));
        }
        let (names, ids) = (self.common[table].names.clone(), self.common[table].ids.clone());
        let mut columns = Vec::with_capacity(ids.len());
        for id in ids {
            let (ty, nullable) = (self.columns.get(id).ty.clone(), self.columns.get(id).nullable);
            columns.push(self.columns.add(ty, nullable || self.common[table].state == State::Step));
        }
        self.add_listed(alias, names, columns.clone());
        let common = &mut self.common[table];
        if common.state == State::Step {
            common.recursive = true;
            return Ok(Some(Logical::WorkScan { table, columns }));
        }
        common.references += 1;
        Ok(Some(Logical::CommonScan { table, columns }))
    }
}

fn as_query(body: &ast::QueryBody) -> ast::Query {
    match body {
        ast::QueryBody::Nested(query) => (**query).clone(),
        body => ast::Query {
            with: None,
            body: body.clone(),
            order_by: Vec::new(),
            limit: None,
            into: None,
            locking: None,
            span: ast::Span::default(),
        },
    }
}
