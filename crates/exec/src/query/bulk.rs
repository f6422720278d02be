//! Plan of an INSERT for many rows of parameters.
//!
//! Must not depend on the values of the rows, because plans are cached. Does not run the plan.

use selkie_expr::union_type::aggregate_values;
use selkie_expr::{Expr, ExprKind};
use selkie_plan::physical::{BulkValues, Insert, InsertValue, Operator as Op, Plan, PlanNode};
use selkie_types::{CollationId, SqlError, SqlResult, SqlType, TypeKind, Value};

use crate::Session;
use crate::state::bulk::{Argument, BulkShape};

/// Replaces the listed values of a plan by rows of parameters, with one template for each pattern.
pub(super) fn fill(plan: &mut Plan, shape: &BulkShape) -> SqlResult<()> {
    let unplanned = || SqlError::internal("a bulk was not planned as an INSERT of values");
    let Op::Insert(insert) = &mut plan.root.operator else { return Err(unplanned()) };
    // Subqueries on the target table see the rows of earlier batches.
    if let Op::Materialize(input) = &mut insert.source.operator {
        insert.source = PlanNode::clone(input);
    }
    let values = std::mem::replace(&mut insert.source.operator, Op::Empty);
    let Op::Values(mut templates) = values else { return Err(unplanned()) };
    keep_digits(insert, &mut templates, &shape.mixed);
    let by_row = shape.by_row || !insert.own.is_empty();
    let values = BulkValues { templates, height: shape.height, by_row };
    insert.source.operator = Op::BulkValues(values);
    Ok(())
}

/// Compat: decimals with different numbers of digits, stored in a text column, keep their own
/// digits.
fn keep_digits(insert: &mut Insert, templates: &mut [Vec<Expr>], mixed: &[bool]) {
    /// Most characters of a number.
    const MOST: u32 = 70;
    let text = SqlType::varchar(MOST, CollationId::LATIN1_SWEDISH_CI);
    let has_digits = |e: &Expr| match e.kind {
        ExprKind::Parameter(slot) => mixed[slot] && e.ty.kind == TypeKind::Decimal,
        _ => false,
    };
    let is_null = |e: &Expr| matches!(e.kind, ExprKind::Literal(Value::Null));
    let stores_text = |at: usize| insert.table.columns[at].ty.is_string();
    for (at, value) in insert.values.iter().enumerate() {
        let InsertValue::Source(from, _) = *value else { continue };
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

/// Types of a parameter's values in all rows.
pub(crate) fn types_of(rows: &[Vec<Argument>], parameter: usize) -> Vec<SqlType> {
    let mut types = Vec::new();
    for row in rows {
        match row.get(parameter) {
            Some(Argument::Value(value, ty)) if !value.is_null() => add(&mut types, ty),
            _ => {}
        }
    }
    types
}

/// Adds a type to the types found. Strings of one collation share a type, whatever their length.
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

/// A type to which values of all these types convert.
pub(crate) fn common_type(types: &[SqlType], session: &Session) -> SqlType {
    match types {
        [] => SqlType::null(),
        [ty] => ty.clone(),
        _ => {
            let values: Vec<Expr> = types.iter().map(|ty| Expr::parameter(0, ty.clone())).collect();
            aggregate_values(&values.iter().collect::<Vec<_>>(), &session.type_context())
        }
    }
}
