//! Common tables that read themselves or each other.
//!
//! Each has parts that give its first rows (anchors) and parts that read the rows of the previous
//! round (steps). A table without anchors that only reads others is replaced by its definition. The
//! other tables of a group compute their rounds together.

use std::sync::Arc;

use selkie_sql::ast;
use selkie_types::error::catalogue::*;
use selkie_types::{CollationId, SqlError, SqlResult, SqlType, TypeKind};

use super::common::State;
use super::recursion_rules::{Dependencies, check_part, mentions_any};
use super::{Binder, Query};
use crate::logical::{ColumnId, Logical, RecursiveNode, RecursivePart};

/// A table of a group that has anchors.
struct Member<'q> {
    table: &'q ast::CommonTable,
    number: usize,
    anchors: Vec<ast::Query>,
    steps: Vec<ast::Query>,
    all: bool,
}

impl Binder<'_> {
    /// Binds the tables of WITH RECURSIVE; each comes after the tables it reads.
    pub(super) fn recursive_tables(&mut self, tables: &[ast::CommonTable]) -> SqlResult<()> {
        let dependencies = Dependencies::of(tables);
        for group in dependencies.groups() {
            match &group[..] {
                [one] if !dependencies.recursive(*one) => self.plain_table(&tables[*one])?,
                _ => {
                    let group: Vec<&ast::CommonTable> =
                        group.iter().map(|at| &tables[*at]).collect();
                    let (before, around) = (self.common.len(), self.columns.units.open_group());
                    let bound = self.group(&group, &dependencies);
                    let unit = self.columns.units.close(around);
                    self.common[before..].iter_mut().for_each(|common| common.unit = unit);
                    bound?;
                }
            }
        }
        Ok(())
    }

    fn group(&mut self, group: &[&ast::CommonTable], dependencies: &Dependencies) -> SqlResult<()> {
        let names: Vec<&str> = group.iter().map(|table| &*table.name.value).collect();
        let mut members = Vec::new();
        let mut inlined = Vec::new();
        for table in group.iter().copied() {
            match self.member(table, &names)? {
                Some(member) => members.push(member),
                None => inlined.push(table),
            }
        }
        let Some(first) = members.first() else {
            return Err(SqlError::new(&ER_RECURSIVE_WITHOUT_ANCHORS, &[&group[0].name]));
        };
        if dependencies.is_cyclic(&inlined) {
            return Err(SqlError::new(&ER_UNACCEPTABLE_MUTUAL_RECURSION, &[&first.table.name]));
        }
        let mut later = Vec::new();
        for table in inlined {
            let number = self.new_common(table, State::Inline(Arc::new(table.clone())));
            self.visible.push((table.name.value.clone(), number));
            later.push((table, number));
        }
        self.members(members)?;
        later.into_iter().try_for_each(|(table, number)| self.define_common(table, number))
    }

    /// Splits a table of the group `names` into its parts; `None` if it has no anchor.
    fn member<'q>(
        &mut self,
        table: &'q ast::CommonTable,
        names: &[&str],
    ) -> SqlResult<Option<Member<'q>>> {
        let query = &*table.query;
        let parts = match &query.body {
            ast::QueryBody::Combined { first, rest }
                if rest.iter().all(|operand| operand.op == ast::SetOp::Union) =>
            {
                std::iter::once(&**first).chain(rest.iter().map(|o| &o.body)).collect()
            }
            body => vec![body],
        };
        let parts = parts.into_iter().map(as_query);
        let (steps, anchors): (Vec<_>, Vec<_>) = parts.partition(|part| mentions_any(part, names));
        if anchors.is_empty() {
            return Ok(None);
        }
        if !query.order_by.is_empty() || query.limit.is_some() {
            let what = "global ORDER_BY/LIMIT in recursive CTE spec";
            return Err(SqlError::not_supported(what));
        }
        let all = union_all(&query.body)?;
        if self.settings.variables.standard_compliant_cte {
            let is_aggregate = |e: &ast::Expr| self.is_aggregate(e);
            steps
                .iter()
                .try_for_each(|step| check_part(step, names, &table.name, &is_aggregate))?;
        }
        let number = self.new_common(table, State::Anchor);
        self.visible.push((table.name.value.clone(), number));
        Ok(Some(Member { table, number, anchors, steps, all }))
    }

    /// Binds the anchors first, which determine the types, then the steps.
    fn members(&mut self, members: Vec<Member<'_>>) -> SqlResult<()> {
        let mut anchors = Vec::with_capacity(members.len());
        for member in &members {
            let anchor = self.parts(member, &member.anchors)?;
            let names = self.derived_names(&anchor, &member.table.columns)?;
            let common = &mut self.common[member.number];
            common.names = names;
            common.ids = anchor.ids();
            anchors.push(anchor);
        }
        for member in &members {
            self.common[member.number].state = State::Step;
        }
        let mut parts = Vec::with_capacity(members.len());
        for (member, anchor) in members.iter().zip(anchors) {
            parts.push(self.recursive_part(member, anchor)?);
        }
        let first = members[0].number;
        for member in &members {
            let columns: Vec<ColumnId> = parts
                .iter()
                .find(|part| part.table == member.number)
                .map_or(Vec::new(), |part| part.columns.clone());
            let common = &mut self.common[member.number];
            common.ids = columns;
            common.recursive = true;
            common.state = State::Done;
            common.computed_with = (member.number != first).then_some(first);
            common.plan = Logical::Empty(common.ids.clone());
        }
        self.common[first].plan = Logical::Recursive(Box::new(RecursiveNode { parts }));
        Ok(())
    }

    /// Several parts as one query that sees no outer names.
    fn parts(&mut self, member: &Member<'_>, parts: &[ast::Query]) -> SqlResult<Query> {
        let scopes = std::mem::take(&mut self.scopes);
        let visible = self.visible.len();
        let bound = self.parts_of(member, parts);
        self.visible.truncate(visible);
        self.scopes = scopes;
        bound
    }

    fn parts_of(&mut self, member: &Member<'_>, parts: &[ast::Query]) -> SqlResult<Query> {
        if let Some(with) = &member.table.query.with {
            self.with(with)?;
        }
        let mut bound: Vec<Query> =
            parts.iter().map(|part| self.query(part)).collect::<SqlResult<_>>()?;
        match bound.len() {
            1 => Ok(bound.remove(0)),
            _ => {
                let types = self.combined_types(&bound)?;
                Ok(self.set_operation((ast::SetOp::Union, true), bound, (&types, false)))
            }
        }
    }

    /// Compat: the types are those of the anchor, and every column is nullable. A NULL there makes
    /// a column without room, which keeps nothing of the steps' values.
    fn recursive_part(&mut self, member: &Member<'_>, anchor: Query) -> SqlResult<RecursivePart> {
        let columns = 0..anchor.columns.len();
        let ty = |at| match self.branch_column(&anchor, at).ty {
            ty if ty.kind == TypeKind::Null => no_room(),
            ty => ty,
        };
        let tys: Vec<SqlType> = columns.map(ty).collect();
        let step = match member.steps.is_empty() {
            true => None,
            false => {
                let step = self.parts(member, &member.steps)?;
                if step.columns.len() != tys.len() {
                    return Err(SqlError::new(&ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT, &[]));
                }
                Some(self.converted(step, &tys))
            }
        };
        let mut columns = Vec::with_capacity(tys.len());
        for (ty, from) in tys.iter().zip(anchor.ids()) {
            let coercibility = self.columns.get(from).coercibility;
            let column = self.columns.add(ty.clone(), true);
            self.columns.get_mut(column).coercibility = coercibility;
            columns.push(column);
        }
        let cycle = self.cycle_columns(member)?;
        Ok(RecursivePart {
            table: member.number,
            names: self.common[member.number].names.clone(),
            anchor: self.converted(anchor, &tys),
            step,
            key: if cycle.is_empty() { (!member.all).then(Vec::new) } else { Some(cycle) },
            columns,
        })
    }

    /// Positions of the columns after CYCLE: rows equal in them count as duplicates.
    fn cycle_columns(&self, member: &Member<'_>) -> SqlResult<Vec<usize>> {
        let names = &self.common[member.number].names;
        let mut positions = Vec::with_capacity(member.table.cycle.len());
        for column in &member.table.cycle {
            let Some(at) = names.iter().position(|name| column.is(name)) else {
                return Err(SqlError::unknown_column(column, "CYCLE clause"));
            };
            if positions.contains(&at) {
                return Err(SqlError::new(&ER_DUP_FIELDNAME, &[column]));
            }
            positions.push(at);
        }
        Ok(positions)
    }
}

/// BINARY(0).
fn no_room() -> SqlType {
    let mut ty = SqlType::new(TypeKind::Char, 0, 0);
    ty.collation = CollationId::BINARY;
    ty
}

/// Whether UNION ALL combines the parts; mixed operations are an error.
fn union_all(body: &ast::QueryBody) -> SqlResult<bool> {
    let ast::QueryBody::Combined { rest, .. } = body else { return Ok(true) };
    let all = rest.iter().all(|operand| operand.all);
    match rest.iter().any(|operand| operand.all) == all {
        true => Ok(all),
        false => Err(SqlError::not_supported(
            "mix of ALL and DISTINCT UNION operations in recursive CTE spec",
        )),
    }
}

fn as_query(body: &ast::QueryBody) -> ast::Query {
    match body {
        ast::QueryBody::Nested(query) => (**query).clone(),
        body => ast::Query::of(body.clone(), ast::Span::default()),
    }
}
