//! Row variables that are assigned as a whole: from a row constructor, another row variable or a
//! query.

use selkie_sql::ast::{
    Expr, ExprKind, IntoTarget, IntoVariable, Local, QueryBody, SelectItem, SetItem, Statement,
    VariableType,
};
use selkie_types::charset::identifier_eq;
use selkie_types::error::catalogue::ER_OPERAND_COLUMNS;
use selkie_types::{SqlError, SqlResult, SqlType, Value, stack};

use super::frame::{Given, empty_row};
use super::machine::Machine;
use crate::state::programs::{Origin, Slot};

impl Machine<'_> {
    /// Puts the values of OUT parameters of functions into the variables behind placeholders.
    /// Fails (1414) for those that cannot be assigned.
    pub(super) fn take_outs(&mut self, locals: &[Local]) -> SqlResult<()> {
        let is_before = matches!(&self.program.origin, Origin::Trigger(trigger) if trigger.before);
        for out in self.session.programs.outs.take() {
            match locals.get(out.slot) {
                Some(Local::New(_)) if !is_before => return Err(out.refusal),
                Some(
                    local @ (Local::Variable(_)
                    | Local::Field(..)
                    | Local::New(_)
                    | Local::Shared(_)
                    | Local::SharedField(..)),
                ) => self.assign(local, out.value)?,
                Some(_) => return Err(out.refusal),
                None => {}
            }
        }
        Ok(())
    }

    /// Ends an evaluation. Compat: after an error, too, variables have what functions put there.
    pub(super) fn with_outs<R>(&mut self, locals: &[Local], result: SqlResult<R>) -> SqlResult<R> {
        let taken = self.take_outs(locals);
        result.and_then(|value| taken.map(|()| value))
    }

    /// Puts what an EXECUTE of a CALL gave back into the variables it used.
    pub(super) fn take_given_back(&mut self, locals: &[Local]) -> SqlResult<()> {
        for given in self.sink.take_given_back() {
            if let Some(local) = locals.get(given.placeholder) {
                self.assign(local, (given.value, given.column.ty))?;
            }
        }
        Ok(())
    }

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
            [IntoVariable::Local { ref local, .. }] => self.row_in(Some(local)).map(|r| r.len()),
            _ => None,
        }
    }

    /// Target and value of an assignment to a row variable, or of one with the value of a row.
    pub(super) fn row_assignment<'i>(
        &self,
        item: &'i SetItem,
        locals: &[Local],
    ) -> Option<(&'i Local, &'i Expr)> {
        let SetItem::Local { target, value: Some(value) } = item else { return None };
        let is_row = match &value.kind {
            ExprKind::Row(_) => true,
            ExprKind::Param(slot) => self.row_in(locals.get(*slot as usize)).is_some(),
            ExprKind::Subquery(query) => may_be_row(&query.body),
            _ => false,
        };
        let has_fields = match target {
            Local::Variable(at) => self.fields(*at).is_some(),
            Local::Shared(_) => self.row_in(Some(target)).is_some(),
            _ => false,
        };
        (is_row || has_fields).then_some((target, value))
    }

    /// Puts a value, which may be a row, into a variable.
    pub(super) fn give(&mut self, target: &Local, value: Given) -> SqlResult<()> {
        match (target, value) {
            (Local::Variable(at), value) => {
                let row = self.message_row;
                self.frame.give(self.session, *at, value, row)
            }
            (Local::Shared(_) | Local::SharedField(..), value) => self.give_shared(target, value),
            (Local::Field(at, name), value) => {
                let row = &self.program.body.variables[*at].name.value;
                let ty = self.frame.field((*at, row), &name.value)?.ty.clone();
                let value = value.scalar(&name.value, &ty)?;
                self.assign(target, value)
            }
            (_, Given::Scalar(value)) => self.assign(target, value),
            (Local::New(name), Given::Row(_)) => match &self.row {
                Some(row) => Err(row.row_refused(&name.value)),
                None => Err(SqlError::internal("a row outside of a trigger")),
            },
            (_, Given::Row(_)) => Err(SqlError::new(&ER_OPERAND_COLUMNS, &[&1])),
        }
    }

    /// The value of an assignment. Compat: a row without a value makes the first field NULL.
    pub(super) fn given_to(
        &mut self,
        target: &Local,
        value: &Expr,
        locals: &[Local],
    ) -> SqlResult<Given> {
        let fields = match target {
            Local::Variable(at) => self.fields(*at).map(|count| (*at, count)),
            _ => None,
        };
        let (ExprKind::Subquery(query), Some((at, count))) = (&value.kind, fields) else {
            return self.given(value, locals);
        };
        self.at = value.span;
        let values = self.values(locals)?;
        let running = self.program.running(&values);
        let row = self.execution(running).evaluate_row(query, count);
        let row = self.with_outs(locals, row);
        if let (Err(_), Slot::Row(fields)) = (&row, &mut self.frame.slots[at])
            && let Some(first) = fields.first_mut()
        {
            first.value = Value::Null;
        }
        row.map(Given::Row)
    }

    /// The value of an argument or of an assignment, which may be a row.
    pub(super) fn given(&mut self, value: &Expr, locals: &[Local]) -> SqlResult<Given> {
        self.at = value.span;
        match &value.kind {
            ExprKind::Row(items) => return self.row_of(items, locals).map(Given::Row),
            ExprKind::Param(slot) => {
                if let Some(row) = self.row_in(locals.get(*slot as usize)) {
                    return Ok(Given::Row(row));
                }
            }
            _ => {}
        }
        let values = match &value.kind {
            ExprKind::Literal(_) => Vec::new(),
            _ => self.values(locals)?,
        };
        let running = self.program.running(&values);
        let given = self.execution(running).evaluate_to_store(value).map(Given::Scalar);
        let given = match given {
            Err(error) if error.is(&ER_OPERAND_COLUMNS) => self.row_of_query(value, &values, error),
            given => given,
        };
        self.with_outs(locals, given)
    }

    /// The NULLs of a row, if a value that could not be computed is a query of several columns. It
    /// depends on the target whether that is an error.
    fn row_of_query(
        &self,
        value: &Expr,
        values: &[(Value, SqlType)],
        error: SqlError,
    ) -> SqlResult<Given> {
        let ExprKind::Subquery(query) = &value.kind else { return Err(error) };
        let statement = Statement::Query(query.clone());
        match self.scope().plan_running(&statement, self.program.running(values)) {
            Ok(plan) if plan.output.len() > 1 => {
                let null = |_| (Value::Null, SqlType::null());
                Ok(Given::Row(plan.output.iter().map(null).collect()))
            }
            _ => Err(error),
        }
    }

    /// Variables as EXPLAIN shows them: name and number, and the place or name of a field.
    pub(super) fn texts_of(&self, locals: &[Local]) -> Vec<String> {
        let variables = &self.program.body.variables;
        let text = |local: &Local| match local {
            Local::Variable(at) => format!("{}@{at}", variables[*at].name.value),
            Local::Field(at, field) => {
                let row = &variables[*at];
                let (name, field) = (&row.name.value, &field.value);
                let place = match &row.ty {
                    VariableType::Row(fields) => {
                        fields.iter().position(|(name, _)| identifier_eq(&name.value, field))
                    }
                    _ => None,
                };
                match place {
                    Some(place) => format!("{name}.{field}@{at}[{place}]"),
                    None => format!("{name}.{field}@{at}[\"{field}\"]"),
                }
            }
            Local::New(name) => format!("NEW.{}", name.value),
            Local::Old(name) => format!("OLD.{}", name.value),
            _ => "?".to_owned(),
        };
        locals.iter().map(text).collect()
    }

    /// The fields of a variable of type `ROW TYPE OF cursor`: the columns of its query.
    pub(super) fn row_of_cursor(&mut self, cursor: usize) -> SqlResult<Slot> {
        let declared = &self.program.body.cursors[cursor];
        for parameter in &declared.parameters {
            self.declare_one(*parameter)?;
        }
        let values = self.values(&declared.query.locals)?;
        let running = self.program.running(&values);
        let plan = self.scope().plan_running(&declared.query.statement, running)?;
        empty_row(plan.output.iter().map(|c| (&*c.name, &c.ty))).map(Slot::Row)
    }

    fn row_of(&mut self, items: &[Expr], locals: &[Local]) -> SqlResult<Vec<(Value, SqlType)>> {
        let mut values = self.values(locals)?;
        let mut row = Vec::with_capacity(items.len());
        for item in items {
            let running = self.program.running(&values);
            let value = self.execution(running).evaluate_to_store(item);
            let has_outs = self.session.programs.has_outs();
            row.push(self.with_outs(locals, value)?);
            if has_outs {
                values = self.values(locals)?;
            }
        }
        Ok(row)
    }

    pub(super) fn row_in(&self, local: Option<&Local>) -> Option<Vec<(Value, SqlType)>> {
        if let Some(Local::Shared(at)) = local {
            return self.shared_row(*at);
        }
        let Some(Local::Variable(at)) = local else { return None };
        let Slot::Row(fields) = &self.frame.slots[*at] else { return None };
        Some(fields.iter().map(|f| (f.value.clone(), f.ty.clone())).collect())
    }
}

/// Whether a query may have several columns.
fn may_be_row(body: &QueryBody) -> bool {
    stack::ensure();
    match body {
        QueryBody::Select(select) => match &select.items[..] {
            [item] => !matches!(item, SelectItem::Expr { .. }),
            _ => true,
        },
        QueryBody::Values(rows) => rows.first().is_some_and(|row| row.len() > 1),
        QueryBody::Nested(query) => may_be_row(&query.body),
        QueryBody::Combined { first, .. } => may_be_row(first),
    }
}
