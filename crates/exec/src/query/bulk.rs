//! The plan of an INSERT for many rows of parameters.
//!
//! Must not run it. The plan is for these rows only: their types and patterns are in it.

use selkie_expr::union_type::aggregate_values;
use selkie_expr::{Expr, ExprKind};
use selkie_plan::physical::{BulkValues, Insert, InsertValue, Operator as Op, Plan, PlanNode};
use selkie_sql::ast::Statement;
use selkie_types::{CollationId, SqlError, SqlResult, SqlType, TypeKind, Value};

use super::planning;
use super::prepared::forget_text;
use crate::state::bulk::{Argument, BulkRows};
use crate::{Instance, Session};

/// An INSERT for many rows of parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bulk<'a> {
    /// The rows.
    pub(crate) rows: BulkRows<'a>,
    /// Rows of values that a row of parameters stands for.
    pub(crate) height: usize,
    /// Placeholders are read elsewhere than in the values, or in subqueries.
    pub(crate) by_row: bool,
}

impl Bulk<'_> {
    /// The plan of `statement`, which lists the values of each pattern once.
    pub(crate) fn plan(
        &self,
        instance: &Instance,
        session: &Session,
        statement: &Statement,
        text: &[u8],
    ) -> SqlResult<Plan> {
        let count = self.rows.rows.first().map_or(0, Vec::len);
        let given: Vec<Vec<SqlType>> = (0..count).map(|at| self.types_of(at)).collect();
        let types: Vec<SqlType> = given.iter().map(|types| common(types, session)).collect();
        let mut plan = planning::plan(instance, session, statement, text, (&types, count))?;
        forget_text(&mut plan);
        let unplanned = || SqlError::internal("a bulk was not planned as an INSERT of values");
        let Op::Insert(insert) = &mut plan.root.operator else { return Err(unplanned()) };
        // Subqueries that read the table itself find the rows of the batches before.
        if let Op::Materialize(input) = &mut insert.source.operator {
            insert.source = PlanNode::clone(input);
        }
        let values = std::mem::replace(&mut insert.source.operator, Op::Empty);
        let Op::Values(mut templates) = values else { return Err(unplanned()) };
        keep_digits(insert, &mut templates, &given);
        let by_row = self.by_row || !insert.own.is_empty();
        let values = BulkValues { templates, height: self.height, by_row };
        insert.source.operator = Op::BulkValues(values);
        Ok(plan)
    }

    /// The types of a parameter's values.
    fn types_of(&self, parameter: usize) -> Vec<SqlType> {
        let mut types = Vec::new();
        for row in self.rows.rows {
            match row.get(parameter) {
                Some(Argument::Value(value, ty)) if !value.is_null() => add(&mut types, ty),
                _ => {}
            }
        }
        types
    }
}

/// A type that values of all these types have.
fn common(types: &[SqlType], session: &Session) -> SqlType {
    match types {
        [] => SqlType::null(),
        [ty] => ty.clone(),
        _ => {
            let values: Vec<Expr> = types.iter().map(|ty| Expr::parameter(0, ty.clone())).collect();
            aggregate_values(&values.iter().collect::<Vec<_>>(), &session.type_context())
        }
    }
}

/// Compat: numbers of different digits that a column of texts stores have the digits of each.
fn keep_digits(insert: &mut Insert, templates: &mut [Vec<Expr>], given: &[Vec<SqlType>]) {
    /// Characters of any number.
    const MOST: u32 = 70;
    let text = SqlType::varchar(MOST, CollationId::LATIN1_SWEDISH_CI);
    let has_digits = |e: &Expr| match e.kind {
        ExprKind::Parameter(slot) => given[slot].len() > 1 && e.ty.kind == TypeKind::Decimal,
        _ => false,
    };
    let is_null = |e: &Expr| matches!(e.kind, ExprKind::Literal(Value::Null));
    let stores_text = |at: usize| insert.table.columns[at].ty.is_string();
    for (at, value) in insert.values.iter().enumerate() {
        let InsertValue::Source(from) = *value else { continue };
        let mut cells = templates.iter().map(|row| &row[from]);
        let keeps = cells.clone().any(has_digits) && cells.all(|e| has_digits(e) || is_null(e));
        if keeps && stores_text(at) {
            templates.iter_mut().for_each(|row| row[from].ty = text.clone());
            insert.source.columns[from].ty = text.clone();
        }
    }
    for own in insert.own.iter_mut().filter(|own| stores_text(own.column)) {
        let values = own.values.iter_mut().filter(|e| has_digits(e));
        values.for_each(|e| e.ty = text.clone());
    }
}

/// Adds a type to those found. Strings of any length in one collation have one type.
fn add(types: &mut Vec<SqlType>, ty: &SqlType) {
    let is_text = ty.kind == TypeKind::VarChar;
    let alike = |other: &&mut SqlType| {
        **other == *ty || is_text && other.kind == ty.kind && other.collation == ty.collation
    };
    match types.iter_mut().find(alike) {
        Some(known) => known.length = known.length.max(ty.length),
        None => types.push(ty.clone()),
    }
}
