//! The variables of one run of a program, and the conversion of values to their types.
//!
//! Must not evaluate expressions.

use std::sync::Arc;

use selkie_catalog::quote_identifier;
use selkie_expr::store::{StoreMode, StoreTarget, convert_for_column};
use selkie_expr::{Argument, EvalContext, parameter_name};
use selkie_sql::ast::{TableName, Variable, VariableType};
use selkie_types::charset::identifier_eq;
use selkie_types::error::catalogue::{
    ER_DUP_FIELDNAME, ER_ILLEGAL_PARAMETER_DATA_TYPES2_FOR_OPERATION, ER_OPERAND_COLUMNS,
    ER_ROW_VARIABLE_DOES_NOT_HAVE_FIELD,
};
use selkie_types::{Column, Privileges, SqlError, SqlResult, SqlType, TypeKind, Value};

use super::compile::variable_type;
use super::cursor::Rows;
use crate::query::execution::Scope;
use crate::state::columns::scale_of;
use crate::state::programs::{Compiled, Scalar, Slot};
use crate::{Session, query};

impl Scalar {
    /// Stores a new value of type `from`. `row` is what messages say. Compat: one that fails makes
    /// the variable NULL, as a handler of the error sees.
    pub(super) fn store(
        &mut self,
        session: &Session,
        (value, from): (&Value, &SqlType),
        row: u64,
    ) -> SqlResult<()> {
        let value = stored(session, (value, from), (&self.name, &self.ty), row);
        self.value = Value::Null;
        self.value = value?;
        Ok(())
    }
}

/// A value for a variable.
#[derive(Clone, Debug)]
pub(super) enum Given {
    Scalar((Value, SqlType)),
    Row(Vec<(Value, SqlType)>),
}

impl From<Argument<(Value, SqlType)>> for Given {
    fn from(argument: Argument<(Value, SqlType)>) -> Self {
        match argument {
            Argument::Value(value) => Self::Scalar(value),
            Argument::Row(fields) => Self::Row(fields),
        }
    }
}

impl Given {
    /// The value for the scalar variable `name` of type `ty`.
    pub(super) fn scalar(self, name: &str, ty: &SqlType) -> SqlResult<(Value, SqlType)> {
        match self {
            Self::Scalar(value) => Ok(value),
            Self::Row(_) => Err(row_refused(&quote_identifier(name), ty)),
        }
    }

    /// The values for a row variable with `count` fields. NULL is a row of NULLs.
    pub(super) fn row(self, count: usize) -> SqlResult<Vec<(Value, SqlType)>> {
        match self {
            Self::Row(values) if values.len() == count => Ok(values),
            Self::Scalar((_, ty)) if ty.kind == TypeKind::Null => {
                Ok(vec![(Value::Null, ty); count])
            }
            _ => Err(SqlError::new(&ER_OPERAND_COLUMNS, &[&count])),
        }
    }
}

/// The error for a row that is assigned to one value, at a place given in quotes.
pub(super) fn row_refused(place: &str, ty: &SqlType) -> SqlError {
    let to = parameter_name(ty);
    let message = format!("Cannot cast 'row' as '{to}' in assignment of {place}");
    SqlError::with_message(&ER_ILLEGAL_PARAMETER_DATA_TYPES2_FOR_OPERATION, message)
}

/// The variables, operands of CASE and cursors of one run.
#[derive(Default)]
pub(super) struct Frame {
    pub(super) slots: Vec<Slot>,
    pub(super) operands: Vec<(Value, SqlType)>,
    pub(super) cursors: Vec<Option<Rows>>,
}

impl Frame {
    fn new(program: &Compiled) -> Self {
        Self {
            slots: vec![Slot::Unknown; program.body.variables.len()],
            operands: vec![(Value::Null, SqlType::null()); program.body.operands],
            cursors: program.body.cursors.iter().map(|_| None).collect(),
        }
    }

    /// The frame at the beginning of a program, with the values of its parameters. Types that are
    /// those of columns are looked up here once. Compat: that is done in the schema of the caller.
    /// `row` is what messages say.
    pub(super) fn start(
        scope: Scope<'_>,
        program: &Compiled,
        given: &[Given],
        row: u64,
    ) -> SqlResult<Self> {
        let mut frame = Self::new(program);
        for (at, variable) in program.body.variables.iter().enumerate() {
            if matches!(variable.ty, VariableType::TypeOf(_) | VariableType::RowOf(_)) {
                frame.declare(scope, program, at)?;
            }
        }
        frame.pass(scope, program, given, row)?;
        Ok(frame)
    }

    /// Sets a declared variable to NULL.
    fn reset(&mut self, at: usize) {
        match &mut self.slots[at] {
            Slot::Scalar(scalar) => scalar.value = Value::Null,
            Slot::Row(fields) => fields.iter_mut().for_each(|field| field.value = Value::Null),
            Slot::Unknown => {}
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
        let looked_up = matches!(variable.ty, VariableType::TypeOf(_) | VariableType::RowOf(_));
        if looked_up && !matches!(self.slots[at], Slot::Unknown) {
            self.reset(at);
            return Ok(());
        }
        self.slots[at] = slot_of(scope, program, variable)?;
        Ok(())
    }

    /// Value and type of a variable.
    pub(super) fn variable(&self, at: usize) -> SqlResult<(Value, SqlType)> {
        match &self.slots[at] {
            Slot::Scalar(scalar) => Ok((scalar.value.clone(), scalar.ty.clone())),
            Slot::Row(_) => Err(SqlError::new(&ER_OPERAND_COLUMNS, &[&1])),
            Slot::Unknown => Ok((Value::Null, SqlType::null())),
        }
    }

    /// The field `name` of the row variable `row`.
    pub(super) fn field(&mut self, (at, row): (usize, &str), name: &str) -> SqlResult<&mut Scalar> {
        let fields = match &mut self.slots[at] {
            Slot::Row(fields) => fields.as_mut_slice(),
            _ => &mut [],
        };
        fields
            .iter_mut()
            .find(|f| identifier_eq(&f.name, name))
            .ok_or_else(|| SqlError::new(&ER_ROW_VARIABLE_DOES_NOT_HAVE_FIELD, &[&row, &name]))
    }
}

/// A declared variable: NULL, of its type.
pub(super) fn slot_of(
    scope: Scope<'_>,
    program: &Compiled,
    variable: &Variable,
) -> SqlResult<Slot> {
    Ok(match &variable.ty {
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
        // The machine knows the cursor's query.
        VariableType::RowOfCursor(_) => Slot::Row(Vec::new()),
        ty => {
            let name = variable.name.value.clone();
            let ty = variable_type(scope, program, &name, ty)?;
            Slot::Scalar(Scalar { name, ty, value: Value::Null })
        }
    })
}

/// A row without values that has the columns of a query (name, type). Fails (1060) if two have the
/// same name.
pub(super) fn empty_row<'c>(
    columns: impl Iterator<Item = (&'c str, &'c SqlType)>,
) -> SqlResult<Vec<Scalar>> {
    let mut row: Vec<Scalar> = Vec::new();
    for (name, ty) in columns {
        if row.iter().any(|known| identifier_eq(&known.name, name)) {
            return Err(SqlError::new(&ER_DUP_FIELDNAME, &[&name]));
        }
        row.push(Scalar { name: name.into(), ty: ty.clone(), value: Value::Null });
    }
    Ok(row)
}

fn row_of(scope: Scope<'_>, name: &TableName) -> SqlResult<Vec<Scalar>> {
    let schema = scope.session.schema_of(name)?;
    let table = scope.table(schema, &name.name.value)?;
    for column in &table.columns {
        check_read(scope.session, (schema, &name.name.value), &column.name)?;
    }
    let field = |c: &selkie_catalog::ColumnInfo| Scalar {
        name: (*c.name).into(),
        ty: c.ty.clone(),
        value: Value::Null,
    };
    Ok(table.columns.iter().map(field).collect())
}

/// Fails unless the account may read a column of a table (schema, name).
pub(super) fn check_read(session: &Session, table: (&str, &str), column: &str) -> SqlResult<()> {
    use selkie_plan::Permissions as _;
    session.check_table(None, table.0, table.1, Privileges::SELECT)?;
    session.check_column(None, table.0, table.1, column, Privileges::SELECT)
}

/// A value of type `from` as a variable of type `to` keeps it. `row` is what messages say.
pub(super) fn stored(
    session: &Session,
    (value, from): (&Value, &SqlType),
    (name, to): (&str, &SqlType),
    row: u64,
) -> SqlResult<Value> {
    let eval = EvalContext::new(session.type_context(), session, query::now_micros(session));
    let mode = if session.is_strict() { StoreMode::Strict } else { StoreMode::Lenient };
    let converted = converted((value, from), (name, to), (mode, row), &eval);
    query::keep_conditions(session, &eval);
    converted
}

/// The nearest value of type `to`, without a word about what is lost.
pub(super) fn nearest(
    session: &Session,
    value: (&Value, &SqlType),
    to: &SqlType,
) -> SqlResult<Value> {
    let eval = EvalContext::new(session.type_context(), session, query::now_micros(session));
    converted(value, ("", to), (StoreMode::Lenient, 0), &eval)
}

fn converted(
    (value, from): (&Value, &SqlType),
    (name, to): (&str, &SqlType),
    (mode, row): (StoreMode, u64),
    eval: &EvalContext<'_>,
) -> SqlResult<Value> {
    // A NULL has a type, too, that some variables refuse.
    let is_checked = from.fixed_binary() != to.fixed_binary();
    if value.is_null() && !is_checked {
        return Ok(Value::Null);
    }
    let column = Arc::new(Column::constant(value, from.physical(), scale_of(from), 1));
    let target = StoreTarget {
        ty: to,
        schema: "",
        table: "",
        column: name,
        given: selkie_expr::store::Given::Computed,
    };
    Ok(convert_for_column(&column, from, &target, mode, row, eval)?.value(0))
}
