//! Row variables that are assigned as a whole: from a row constructor, another row variable or a
//! query.

use selkie_sql::ast::{
    Expr, ExprKind, IntoTarget, IntoVariable, Literal, Local, SetItem, Statement,
};
use selkie_types::error::catalogue::ER_OPERAND_COLUMNS;
use selkie_types::{SqlError, SqlResult, SqlType, Value};

use super::frame::Slot;
use super::machine::Machine;

impl Machine<'_> {
    /// Number of fields of a row variable; `None` for other variables.
    pub(super) fn fields(&self, at: usize) -> Option<usize> {
        match &self.frame.slots[at] {
            Slot::Row(fields) => Some(fields.len()),
            _ => None,
        }
    }

    /// Number of fields of the row variable that takes a query's row.
    pub(super) fn fields_into(&self, statement: &Statement) -> Option<usize> {
        let Statement::Query(query) = statement else { return None };
        let Some(IntoTarget::Variables(names)) = query.into.as_deref() else { return None };
        match names[..] {
            [IntoVariable::Local { local: Local::Variable(at), .. }] => self.fields(at),
            _ => None,
        }
    }

    /// The row variable that is assigned as a whole, with its value.
    pub(super) fn row_target<'i>(&self, item: &'i SetItem) -> Option<(usize, &'i Expr)> {
        match item {
            SetItem::Local { target: Local::Variable(at), value: Some(value) } => {
                self.fields(*at).map(|_| (*at, value))
            }
            _ => None,
        }
    }

    /// Gives a row variable the values of a row or of another row variable, or NULLs.
    pub(super) fn set_row(&mut self, at: usize, value: &Expr, locals: &[Local]) -> SqlResult<()> {
        let count = self.fields(at).unwrap_or(0);
        let values = match &value.kind {
            ExprKind::Row(items) => self.row_of(items, locals)?,
            ExprKind::Param(slot) => self.row_in(locals.get(*slot as usize)).unwrap_or_default(),
            ExprKind::Literal(Literal::Null) => vec![(Value::Null, SqlType::null()); count],
            _ => Vec::new(),
        };
        match values.len() == count {
            true => self.assign_row(at, values),
            false => Err(SqlError::new(&ER_OPERAND_COLUMNS, &[&count])),
        }
    }

    fn row_of(&mut self, items: &[Expr], locals: &[Local]) -> SqlResult<Vec<(Value, SqlType)>> {
        let values = self.scalars(locals)?;
        let running = self.program.running(&values);
        items.iter().map(|e| self.execution(running).evaluate_to_store(e)).collect()
    }

    fn row_in(&self, local: Option<&Local>) -> Option<Vec<(Value, SqlType)>> {
        let Some(Local::Variable(at)) = local else { return None };
        let Slot::Row(fields) = &self.frame.slots[*at] else { return None };
        Some(fields.iter().map(|f| (f.value.clone(), f.ty.clone())).collect())
    }

    /// The values of variables, with NULL for rows.
    pub(super) fn scalars(&mut self, locals: &[Local]) -> SqlResult<Vec<(Value, SqlType)>> {
        let mut out = Vec::with_capacity(locals.len());
        for local in locals {
            out.push(match self.row_in(Some(local)) {
                Some(_) => (Value::Null, SqlType::null()),
                None => self.value(local)?,
            });
        }
        Ok(out)
    }
}
