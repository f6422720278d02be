//! Types of variables and parameters: `%TYPE`, `%ROWTYPE`, and types without a length.
//! Names are resolved to variables and cursors here, to tables when the program runs.

use selkie_types::error::catalogue::{ER_SP_UNDECLARED_VAR, ER_UNKNOWN_DATA_TYPE};

use crate::ast::{ColumnRef, DataType, TableName, TypeName, VariableType};
use crate::lexer::{Kw, T};
use crate::parser::{PResult, Parser};

/// Length of a parameter or result of variable length that is declared without one.
const VARYING: u64 = 4000;
/// The same for one of fixed length.
const FIXED: u64 = 2000;

impl Parser<'_> {
    /// Whether `name%` follows, or a name with a dot: no other type begins with one here.
    pub(in crate::parser) fn at_anchor(&mut self) -> bool {
        if !self.is_oracle() || !self.at_ident() {
            return false;
        }
        matches!(self.peek(), T::Percent | T::Dot)
    }

    /// `name%TYPE` of a column or of a variable, `name%ROWTYPE` of a table or of a cursor.
    pub(in crate::parser) fn anchored_type(&mut self) -> PResult<VariableType> {
        let column = self.column_ref()?;
        self.expect(T::Percent)?;
        match self.expect_any(&[Kw::TYPE, Kw::ROWTYPE])? {
            Kw::TYPE => self.type_of_anchor(column),
            _ => self.row_of_anchor(column),
        }
    }

    fn type_of_anchor(&mut self, column: ColumnRef) -> PResult<VariableType> {
        if column.table.is_some() {
            return Ok(VariableType::TypeOf(column));
        }
        let scope = self.program.as_deref();
        let found = scope.and_then(|scope| scope.known(&column.name.value));
        let found = found.map(|(_, variable)| variable.ty.clone());
        match found {
            Some(ty) => Ok(ty),
            None => self.fail(&ER_SP_UNDECLARED_VAR, &[&column.name]),
        }
    }

    fn row_of_anchor(&mut self, name: ColumnRef) -> PResult<VariableType> {
        if name.schema.is_some() {
            return Err(self.error());
        }
        let table = TableName { schema: name.table.map(|schema| *schema), name: name.name };
        let cursor = match (&table.schema, &self.program) {
            (None, Some(scope)) => scope.cursor(&table.name.value),
            _ => None,
        };
        Ok(cursor.map_or(VariableType::RowOf(table), VariableType::RowOfCursor))
    }

    /// The type of a parameter; a string needs no length.
    pub(super) fn parameter_type(&mut self) -> PResult<VariableType> {
        if self.at(Kw::ROW) || self.at_anchor() {
            return self.variable_type();
        }
        self.result_type().map(VariableType::Scalar)
    }

    /// The type of a result; a string needs no length.
    pub(in crate::parser) fn result_type(&mut self) -> PResult<DataType> {
        if self.at_ident() && self.peek() == T::Dot {
            // Compat: no dialect can be named here.
            let name = self.ident()?;
            return self.fail(&ER_UNKNOWN_DATA_TYPE, &[&name]);
        }
        self.place.any_length = true;
        let ty = self.collated_type();
        self.place.any_length = false;
        let mut ty = ty?;
        if ty.length.is_none() {
            ty.length = match ty.name {
                TypeName::Char | TypeName::NChar | TypeName::Binary => Some(FIXED),
                TypeName::VarChar | TypeName::NVarChar | TypeName::VarBinary => Some(VARYING),
                _ => None,
            };
        }
        match ty.name {
            TypeName::Char if ty.length == Some(FIXED) => ty.name = TypeName::VarChar,
            TypeName::NChar if ty.length == Some(FIXED) => ty.name = TypeName::NVarChar,
            TypeName::Binary if ty.length == Some(FIXED) => ty.name = TypeName::VarBinary,
            _ => {}
        }
        Ok(ty)
    }
}
