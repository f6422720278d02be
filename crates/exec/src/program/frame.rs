//! The variables of one run of a program, and the conversion of values to their types.
//!
//! Must not evaluate expressions.

use std::sync::Arc;

use selkie_expr::EvalContext;
use selkie_expr::store::{StoreMode, StoreTarget, convert_for_column};
use selkie_sql::ast::{TableName, VariableType};
use selkie_types::error::catalogue::{ER_BAD_FIELD_ERROR, ER_OPERAND_COLUMNS};
use selkie_types::{Column, SqlError, SqlResult, SqlType, Value};

use super::compile::variable_type;
use super::cursor::Rows;
use crate::query::execution::Scope;
use crate::state::columns::scale_of;
use crate::state::programs::Compiled;
use crate::{Session, query};

/// A variable with a single value.
#[derive(Clone, Debug)]
pub(super) struct Scalar {
    pub(super) name: Box<str>,
    pub(super) ty: SqlType,
    pub(super) value: Value,
}

/// A variable.
#[derive(Clone, Debug)]
pub(super) enum Slot {
    /// Not declared yet, or a row whose cursor is not open yet.
    Unknown,
    Scalar(Scalar),
    Row(Vec<Scalar>),
}

/// The variables, operands of CASE and cursors of one run.
#[derive(Default)]
pub(super) struct Frame {
    pub(super) slots: Vec<Slot>,
    pub(super) operands: Vec<(Value, SqlType)>,
    pub(super) cursors: Vec<Option<Rows>>,
}

impl Frame {
    pub(super) fn new(program: &Compiled) -> Self {
        Self {
            slots: vec![Slot::Unknown; program.body.variables.len()],
            operands: vec![(Value::Null, SqlType::null()); program.body.operands],
            cursors: program.body.cursors.iter().map(|_| None).collect(),
        }
    }

    /// Declares a variable: NULL, of its type.
    pub(super) fn declare(
        &mut self,
        scope: Scope<'_>,
        program: &Compiled,
        at: usize,
    ) -> SqlResult<()> {
        let variable = &program.body.variables[at];
        self.slots[at] = match &variable.ty {
            VariableType::RowOf(table) => Slot::Row(row_of(scope, table)?),
            VariableType::Row(fields) => {
                let mut row = Vec::with_capacity(fields.len());
                for (name, ty) in fields {
                    let ty = VariableType::Scalar(ty.clone());
                    let ty = variable_type(scope, program, &name.value, &ty)?;
                    row.push(Scalar { name: name.value.clone(), ty, value: Value::Null });
                }
                Slot::Row(row)
            }
            VariableType::RowOfCursor(_) => Slot::Row(Vec::new()),
            ty => {
                let name = variable.name.value.clone();
                let ty = variable_type(scope, program, &name, ty)?;
                Slot::Scalar(Scalar { name, ty, value: Value::Null })
            }
        };
        Ok(())
    }

    /// Value and type of a variable.
    pub(super) fn variable(&self, at: usize) -> SqlResult<(Value, SqlType)> {
        match &self.slots[at] {
            Slot::Scalar(scalar) => Ok((scalar.value.clone(), scalar.ty.clone())),
            Slot::Row(fields) => Err(SqlError::new(&ER_OPERAND_COLUMNS, &[&fields.len()])),
            Slot::Unknown => Ok((Value::Null, SqlType::null())),
        }
    }

    /// A field of a row variable.
    pub(super) fn field(&mut self, at: usize, name: &str) -> SqlResult<&mut Scalar> {
        let row = match &mut self.slots[at] {
            Slot::Row(fields) => fields.as_mut_slice(),
            _ => &mut [],
        };
        row.iter_mut()
            .find(|f| f.name.eq_ignore_ascii_case(name))
            .ok_or_else(|| SqlError::new(&ER_BAD_FIELD_ERROR, &[&name, &"row"]))
    }
}

fn row_of(scope: Scope<'_>, name: &TableName) -> SqlResult<Vec<Scalar>> {
    // Without a current database it is the table that is missed.
    let schema = scope.session.schema_of(name).unwrap_or_default();
    let table = scope.table(schema, &name.name.value)?;
    let field = |c: &selkie_catalog::ColumnInfo| Scalar {
        name: (*c.name).into(),
        ty: c.ty.clone(),
        value: Value::Null,
    };
    Ok(table.columns.iter().map(field).collect())
}

/// A value of type `from` as a variable of type `to` keeps it. `row` is what messages say.
pub(super) fn stored(
    session: &Session,
    (value, from): (&Value, &SqlType),
    (name, to): (&str, &SqlType),
    row: u64,
) -> SqlResult<Value> {
    // A NULL has a type, too, that some variables refuse.
    let is_checked = from.fixed_binary() != to.fixed_binary();
    if value.is_null() && !is_checked {
        return Ok(Value::Null);
    }
    let column = Arc::new(Column::constant(value, from.physical(), scale_of(from), 1));
    let eval = EvalContext::new(session.type_context(), session, query::now_micros(session));
    let target = StoreTarget { ty: to, schema: "", table: "", column: name, copied: false };
    let mode = if session.is_strict() { StoreMode::Strict } else { StoreMode::Lenient };
    let converted = convert_for_column(&column, from, &target, mode, row, &eval);
    query::keep_conditions(session, &eval);
    Ok(converted?.value(0))
}
