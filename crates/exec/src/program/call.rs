//! CALL, and compound statements by themselves: parameters in and out, the program's own schema,
//! mode and account while it runs.

use std::sync::Arc;

use selkie_catalog::{Routine, RoutineForm};
use selkie_plan::physical::OutputColumn;
use selkie_sql::ast::{self, Expr, ExprKind, Local, Operation, ParameterMode, Program, SetItem};
use selkie_types::error::catalogue::{
    ER_NO_SUCH_USER, ER_OPERAND_COLUMNS, ER_SP_DOES_NOT_EXIST, ER_SP_NOT_VAR_ARG,
    ER_SP_RECURSION_LIMIT, ER_SP_WRONG_NO_OF_ARGS, ER_STACK_OVERRUN_NEED_MORE,
};
use selkie_types::{CollationId, SqlError, SqlMode, SqlResult, SqlType, Value, stack};

use super::frame::{Frame, Given};
use super::machine::Machine;
use super::{compile, package};
use crate::query::execution::{Execution, Scope};
use crate::query::running::Running;
use crate::state::guard::guarded;
use crate::state::packages;
use crate::state::programs::{Compiled, CompiledPackage, Origin, ProgramSetting, Slot};
use crate::state::session::{NewValue, OuterCharsets, Privilege};
use crate::{Instance, OutParameter, Outcome, Session};

/// Deepest nesting of programs. Compat: MariaDB measures its stack.
const DEEPEST: usize = 128;

/// A value of a parameter, with its position.
pub(super) type OutValue = (usize, Given);

/// `CALL` outside of a program.
pub(crate) fn call_statement(
    execution: &mut Execution<'_>,
    call: &ast::Call,
) -> SqlResult<Outcome> {
    let (program, package) = procedure(execution.scope(), call)?;
    for at in program.outs() {
        let takes = match call.args[at].kind {
            ExprKind::UserVar(_) => true,
            ExprKind::Param(number) => execution.sink.takes_parameter(number as usize),
            _ => false,
        };
        if !takes {
            return Err(not_variable(at, &program));
        }
    }
    execution.session.programs.affected = 0;
    if let Some(package) = &package {
        package::start(execution, package)?;
    }
    let begun = execution.session.diagnostics.mark();
    let args = call.args.iter().zip(&program.modes);
    let given = args
        .map(|(arg, mode)| argument(execution, arg, *mode, &[]))
        .collect::<SqlResult<Vec<_>>>()?;
    let values = invoke(execution, &program, &given, begun)?;
    let mut given_back = Vec::new();
    for (at, value) in values {
        let Given::Scalar((value, ty)) = value else {
            return Err(SqlError::new(&ER_OPERAND_COLUMNS, &[&1]));
        };
        match call.args[at].kind {
            ExprKind::UserVar(ref name) => {
                execution.session.set_variable(name, value, &ty);
            }
            ExprKind::Param(number) => {
                let column = parameter_column(&program, at, ty);
                given_back.push(OutParameter { placeholder: number as usize, column, value });
            }
            _ => {}
        }
    }
    if !given_back.is_empty() {
        execution.sink.out_parameters(given_back)?;
    }
    Ok(Outcome::changed(execution.session.programs.affected))
}

/// Describes an OUT parameter as a column.
fn parameter_column(program: &Compiled, at: usize, ty: SqlType) -> OutputColumn {
    let table = match &program.origin {
        Origin::Routine(routine) | Origin::Package(routine) => (*routine.name).into(),
        _ => Arc::from(""),
    };
    let name = &program.body.variables[at].name.value;
    OutputColumn { table, kept: true, ..OutputColumn::computed(name, ty) }
}

fn not_variable(at: usize, program: &Compiled) -> SqlError {
    SqlError::new(&ER_SP_NOT_VAR_ARG, &[&(at + 1), &program.name])
}

/// `BEGIN NOT ATOMIC` and the like.
pub(crate) fn compound(execution: &mut Execution<'_>, body: &Program) -> SqlResult<Outcome> {
    let session = &mut *execution.session;
    compile::check_body(session, body)?;
    let snapshot = execution.instance.catalog.snapshot();
    let schema = session.frame.schema.as_deref().and_then(|name| snapshot.schema(name));
    let collation =
        schema.map_or(session.frame.settings.expressions.collation_connection, |s| s.collation);
    compile::check_types(execution.scope(), body, collation, execution.running.text)?;
    let session = &mut *execution.session;
    let program = Compiled::block(body, execution.running.text, collation);
    session.programs.affected = 0;
    let frame = Frame::start(execution.scope(), &program, &[], 0)?;
    Machine::new(execution.nested(), &program, frame).run()?;
    Ok(Outcome::changed(execution.session.programs.affected))
}

/// The procedure a CALL means, with as many parameters as it has arguments, and its package.
fn procedure(
    scope: Scope<'_>,
    call: &ast::Call,
) -> SqlResult<(Arc<Compiled>, Option<Arc<CompiledPackage>>)> {
    let Scope { instance, session } = scope;
    let snapshot = instance.catalog.snapshot();
    let written = call.name.schema.as_ref().map(|schema| &*schema.value);
    let wanted = (written, &*call.name.name.value);
    if let Some((schema, name)) =
        packages::resolve(session, &snapshot, RoutineForm::Procedure, wanted)?
        && let Some((program, package)) =
            package::member(session, &snapshot, RoutineForm::Procedure, (&schema, &name))?
    {
        check_arguments(&format!("{schema}.{name}"), program.modes.len(), call)?;
        package::check_execute(session, &program)?;
        return Ok((program, Some(package)));
    }
    let schema = session.schema_of(&call.name)?;
    let name = &call.name.name.value;
    let Some(routine) = snapshot.routine(schema, false, name) else {
        // Only accounts that may run the routine learn whether it exists.
        let form = RoutineForm::Procedure;
        session.frame.hooks.check_routine(session, Privilege::Execute, form, schema, name)?;
        let full = format!("{schema}.{name}");
        return Err(SqlError::new(&ER_SP_DOES_NOT_EXIST, &[&"PROCEDURE", &full]));
    };
    check_execute(session, routine)?;
    check_arguments(&format!("{schema}.{name}"), routine.parameters.len(), call)?;
    Ok((compile::routine(session, routine)?, None))
}

/// Fails (1318) unless a call has as many arguments as the procedure `full` has parameters.
fn check_arguments(full: &str, wanted: usize, call: &ast::Call) -> SqlResult<()> {
    let given = call.args.len();
    match given == wanted {
        true => Ok(()),
        false => {
            let def = &ER_SP_WRONG_NO_OF_ARGS;
            Err(SqlError::new(def, &[&"PROCEDURE", &full, &wanted, &given]))
        }
    }
}

/// Fails with 1370 unless the account may run a routine.
pub(super) fn check_execute(session: &Session, routine: &Routine) -> SqlResult<()> {
    session.frame.hooks.check_routine(
        session,
        Privilege::Execute,
        routine.form(),
        &routine.schema,
        &routine.name,
    )
}

/// An argument of a call. `rows` has the values of placeholders that are row variables.
fn argument(
    execution: &mut Execution<'_>,
    arg: &Expr,
    mode: ParameterMode,
    rows: &[Option<Vec<(Value, SqlType)>>],
) -> SqlResult<Given> {
    match (mode, &arg.kind) {
        (ParameterMode::Out, _) => Ok(Given::Scalar((Value::Null, SqlType::null()))),
        (_, ExprKind::Param(slot)) if matches!(rows.get(*slot as usize), Some(Some(_))) => {
            Ok(Given::Row(rows[*slot as usize].clone().unwrap_or_default()))
        }
        (_, ExprKind::Row(items)) => {
            let values = items.iter().map(|item| execution.evaluate_to_store(item));
            values.collect::<SqlResult<_>>().map(Given::Row)
        }
        _ => execution.evaluate_to_store(arg).map(Given::Scalar),
    }
}

/// Runs a procedure; gives the values of its OUT and INOUT parameters. What its arguments raised
/// since `begun` outlasts the statements in it.
fn invoke(
    execution: &mut Execution<'_>,
    program: &Compiled,
    given: &[Given],
    begun: u64,
) -> SqlResult<Vec<OutValue>> {
    check_recursion(execution.session, program)?;
    let mut raised = None;
    let result = within(execution, program, (given, 0), |execution, frame| {
        let diagnostics = &execution.session.diagnostics;
        raised = Some((diagnostics.since(begun), begun..diagnostics.mark()));
        let mut machine = Machine::new(execution.nested(), program, frame);
        machine.run()?;
        Ok(machine.frame)
    });
    if let Some((raised, when)) = raised {
        let session = &mut *execution.session;
        session.diagnostics.bring_back(raised, when, session.frame.settings.notes.max_error_count);
    }
    result?.outs(program)
}

impl Frame {
    /// Declares the parameters and gives them their values. `row` is what messages say.
    pub(super) fn pass(
        &mut self,
        scope: Scope<'_>,
        program: &Compiled,
        given: &[Given],
        row: u64,
    ) -> SqlResult<()> {
        for (at, value) in given.iter().enumerate() {
            self.declare(scope, program, at)?;
            self.give(scope.session, at, value.clone(), row)?;
        }
        Ok(())
    }

    /// Puts a value into a variable. `row` is what messages say.
    pub(super) fn give(
        &mut self,
        session: &Session,
        at: usize,
        value: Given,
        row: u64,
    ) -> SqlResult<()> {
        match &mut self.slots[at] {
            Slot::Scalar(slot) => {
                let (value, from) = value.scalar(&slot.name, &slot.ty)?;
                slot.store(session, (&value, &from), row)?;
            }
            Slot::Row(fields) => {
                let values = value.row(fields.len())?;
                for (field, (value, from)) in fields.iter_mut().zip(values) {
                    field.store(session, (&value, &from), row)?;
                }
            }
            Slot::Unknown => {}
        }
        Ok(())
    }

    /// The values of the OUT and INOUT parameters.
    pub(super) fn outs(&self, program: &Compiled) -> SqlResult<Vec<OutValue>> {
        program.outs().map(|at| Ok((at, self.given(at)?))).collect()
    }

    /// The value of a variable, whether it has fields or not.
    fn given(&self, at: usize) -> SqlResult<Given> {
        match &self.slots[at] {
            Slot::Row(fields) => {
                Ok(Given::Row(fields.iter().map(|f| (f.value.clone(), f.ty.clone())).collect()))
            }
            _ => self.variable(at).map(Given::Scalar),
        }
    }
}

fn check_recursion(session: &Session, program: &Compiled) -> SqlResult<()> {
    let active = &session.programs.active;
    if active.len() >= DEEPEST {
        let used = active.len() * 2048;
        return Err(SqlError::new(&ER_STACK_OVERRUN_NEED_MORE, &[&used, &299_008, &20_000]));
    }
    let depth = active.iter().filter(|key| **key == program.key).count();
    if depth == 0 {
        return Ok(());
    }
    let scope = selkie_expr::VariableScope::Session;
    let limit = match session.frame.hooks.variable(session, scope, "max_sp_recursion_depth") {
        Ok(Value::Int(limit)) => usize::try_from(limit).unwrap_or(0),
        Ok(Value::UInt(limit)) => limit as usize,
        _ => 0,
    };
    if depth <= limit {
        return Ok(());
    }
    let (Origin::Routine(_) | Origin::Package(_)) = &program.origin else { return Ok(()) };
    let name = program.name.split_once('.').map_or(&*program.name, |(_, name)| name);
    Err(SqlError::new(&ER_SP_RECURSION_LIMIT, &[&limit, &name]))
}

/// Runs something with the default database and SQL mode of a program, and the frame that it
/// begins with.
pub(super) fn within<R>(
    execution: &mut Execution<'_>,
    program: &Compiled,
    (given, row): (&[Given], u64),
    inner: impl FnOnce(&mut Execution<'_>, Frame) -> SqlResult<R>,
) -> SqlResult<R> {
    stack::check()?;
    let Some(ProgramSetting { schema, definer, sql_mode, charsets }) = &program.setting else {
        let frame = Frame::start(execution.scope(), program, given, row)?;
        return inner(execution, frame);
    };
    let inside = |execution: &mut Execution<'_>| {
        package::check_execute(execution.session, program)?;
        let frame = Frame::start(execution.scope(), program, given, row)?;
        let outer_schema = execution.session.frame.schema.replace(Arc::clone(schema));
        let outer_mode = execution.session.frame.settings.expressions.sql_mode;
        let mode = sql_mode.unwrap_or(outer_mode);
        let entered = set_mode(execution.session, mode);
        let outer_charsets = execution.session.frame.begin_program(*charsets);
        execution.session.programs.active.push(program.key.clone());
        let nesting = execution.session.programs.nesting;
        let result = guarded(|| entered.and_then(|()| inner(execution, frame)));
        let session = &mut *execution.session;
        session.programs.nesting = nesting;
        let settled = end_program(session, outer_charsets);
        let restored = set_mode(session, outer_mode);
        session.programs.active.pop();
        session.frame.schema = outer_schema;
        let result = result?;
        restored.and(settled).map(|()| result)
    };
    match definer {
        None => inside(execution),
        Some(definer) => in_the_name_of(execution, definer, inside),
    }
}

/// Does something with the privileges of `definer`. Fails (1449) without such an account.
pub(super) fn in_the_name_of<R>(
    execution: &mut Execution<'_>,
    definer: &Arc<str>,
    inner: impl FnOnce(&mut Execution<'_>) -> SqlResult<R>,
) -> SqlResult<R> {
    let frame = &mut execution.session.frame;
    if frame.account.account == *definer {
        return inner(execution);
    }
    if !frame.hooks.account_exists(definer) {
        let (user, host) = definer.rsplit_once('@').unwrap_or((definer, ""));
        return Err(SqlError::new(&ER_NO_SUCH_USER, &[&user, &host]));
    }
    let account = std::mem::replace(&mut frame.account.account, Arc::clone(definer));
    let acting_as = frame.acting_as.replace(Arc::clone(definer));
    let result = guarded(|| inner(execution));
    let frame = &mut execution.session.frame;
    frame.account.account = account;
    frame.acting_as = acting_as;
    result
}

/// Gives the session back the character sets that it had before a program, and its variables of
/// them.
fn end_program(session: &mut Session, outer: OuterCharsets) -> SqlResult<()> {
    let mode = session.frame.settings.expressions.sql_mode;
    let left = session.frame.end_program(outer);
    if let Some((client, connection)) = left.again {
        put_name(session, "character_set_client", client.name())?;
        put_name(session, "collation_connection", connection.name())?;
    }
    match left.has_set {
        // The program has set variables, perhaps those of character sets, too: to set one reads all
        // of them again.
        true => put_mode(session, mode),
        false => Ok(()),
    }
}

/// Sets `sql_mode` if it is another.
fn set_mode(session: &mut Session, mode: SqlMode) -> SqlResult<()> {
    match session.frame.settings.expressions.sql_mode == mode {
        true => Ok(()),
        false => put_mode(session, mode),
    }
}

fn put_mode(session: &mut Session, mode: SqlMode) -> SqlResult<()> {
    put(session, "sql_mode", (Value::UInt(mode.bits()), SqlType::bigint_unsigned()))
}

fn put_name(session: &mut Session, variable: &str, name: &str) -> SqlResult<()> {
    let ty = SqlType::varchar(64, CollationId::UTF8MB3_GENERAL_CI);
    put(session, variable, (Value::bytes(name), ty))
}

fn put(session: &mut Session, variable: &str, (value, ty): (Value, SqlType)) -> SqlResult<()> {
    let name = ast::Ident::new(variable);
    let item = SetItem::SystemVar { scope: None, instance: None, name, value: None };
    let hooks = session.frame.hooks.clone();
    hooks.check_set(session, &item, Some(NewValue::Value(value, ty)))?(session)
}

impl<'p> Machine<'p> {
    /// CALL inside of a program.
    pub(super) fn call(
        &mut self,
        call: &'p ast::Call,
        operation: &'p Operation,
        running: Running<'_>,
    ) -> SqlResult<()> {
        let (program, package) = procedure(self.scope(), call)?;
        let target = |arg: &Expr| match arg.kind {
            ExprKind::Param(number) => operation.locals.get(number as usize),
            _ => None,
        };
        for at in program.outs() {
            let arg = &call.args[at];
            let is_variable = matches!(arg.kind, ExprKind::UserVar(_))
                || target(arg).is_some_and(|local| !matches!(local, Local::Old(_)));
            if !is_variable {
                return Err(not_variable(at, &program));
            }
        }
        if let Some(package) = &package {
            package::start(&mut self.execution(running), package)?;
        }
        let begun = self.session.diagnostics.mark();
        let args = call.args.iter().zip(program.modes.iter().copied());
        let given = self.arguments(args, &operation.locals, running)?;
        let values = invoke(&mut self.execution(running), &program, &given, begun)?;
        for (at, value) in values {
            match (&call.args[at].kind, target(&call.args[at])) {
                (_, Some(local)) => self.give(local, value)?,
                (ExprKind::UserVar(name), _) => {
                    let Given::Scalar(value) = value else {
                        return Err(SqlError::new(&ER_OPERAND_COLUMNS, &[&1]));
                    };
                    self.session.set_variable(name, value.0, &value.1);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The arguments of a CALL, one after the other: those behind a function see what it put into
    /// variables.
    fn arguments<'a>(
        &mut self,
        args: impl Iterator<Item = (&'a Expr, ParameterMode)>,
        locals: &[Local],
        running: Running<'_>,
    ) -> SqlResult<Vec<Given>> {
        let rows_of = |machine: &Self| -> Vec<_> {
            locals.iter().map(|local| machine.row_in(Some(local))).collect()
        };
        let mut rows = rows_of(self);
        let mut values = None;
        let mut given = Vec::with_capacity(args.size_hint().0);
        for (arg, mode) in args {
            let now = values.as_deref().map_or(running, |values| self.program.running(values));
            let value = argument(&mut self.execution(now), arg, mode, &rows);
            let has_outs = self.session.programs.has_outs();
            given.push(self.with_outs(locals, value)?);
            if has_outs {
                values = Some(self.values(locals)?);
                rows = rows_of(self);
            }
        }
        Ok(given)
    }
}

/// The collation of a schema, the connection's without it.
pub(crate) fn schema_collation(instance: &Instance, schema: &str) -> CollationId {
    let snapshot = instance.catalog.snapshot();
    snapshot.schema(schema).map_or(CollationId::UTF8MB4_GENERAL_CI, |s| s.collation)
}
