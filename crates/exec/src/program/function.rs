//! Stored functions called from expressions, each in the sub-session of the statement around.
//!
//! Must not commit: the transaction is the statement's.

use std::sync::Arc;

use selkie_catalog::{RoutineForm, Snapshot};
use selkie_expr::{Argument, EvalContext, NamedVariable, StoredCall};
use selkie_sql::ast::{ParameterMode, Term, VariableType};
use selkie_types::error::catalogue::{
    ER_OPERAND_COLUMNS, ER_SF_OUT_INOUT_ARG_NOT_ALLOWED, ER_SP_DOES_NOT_EXIST, ER_SP_NO_RECURSION,
    ER_SP_NORETURNEND, ER_SP_NOT_VAR_ARG,
};
use selkie_types::{SqlError, SqlResult, SqlType, Value};

use super::call::{check_execute, in_the_name_of, within};
use super::compile::{self, variable_type};
use super::frame::{Given, stored};
use super::machine::{Flow, Machine};
use super::output::NoResults;
use super::{package, sub};
use crate::Session;
use crate::query::execution::Execution;
use crate::query::log_form::{begin_call, end_call};
use crate::state::around::Around;
use crate::state::programs::{Compiled, CompiledPackage, Origin, Out, ProgramKey};

/// The result of a function for some arguments.
///
/// Compat: what its arguments and its RETURN raise is raised in the statement that calls it; what
/// the statements inside of it raise is not.
pub(super) fn call_function(
    around: Around<'_>,
    call: &StoredCall,
    args: Vec<Value>,
) -> SqlResult<Value> {
    let Around { session: outer, eval: ctx, .. } = around;
    let called = Called::of(outer, &around.instance.catalog.snapshot(), call)?;
    let args = typed(call, args);
    outer.end_random(ctx);
    // A text of the call has no variables for OUT parameters: the log gets the rows then.
    let text = match called.program.outs().next() {
        Some(_) => None,
        None => begin_call(outer, around.plan, (&call.schema, &call.name), &args),
    };
    let modes = called.program.modes.iter();
    let given: Vec<Given> = args
        .into_iter()
        .zip(modes)
        .map(|(arg, mode)| match mode {
            ParameterMode::Out => Given::Scalar((Value::Null, SqlType::null())),
            _ => Given::from(arg),
        })
        .collect();
    // Compat: outside of statements with rows, messages name row 0.
    let row = u64::from(!outer.programs.takes_outs.get());
    let mut outs = Vec::new();
    let result = called.run(around, call, |execution, program| {
        within(execution, program, (&given, row), |execution, frame| {
            raise(execution.session, ctx);
            let mut machine = Machine::new(execution.nested(), program, frame);
            let value = machine.run_function()?;
            outs = machine.frame.outs(program)?;
            Ok(value)
        })
    });
    if let Some(text) = text {
        end_call(outer, &text, result.as_ref().err())?;
    }
    let value = result?;
    for (at, out) in outs {
        let refusal = SqlError::new(&ER_SP_NOT_VAR_ARG, &[&(at + 1), &called.program.name]);
        give_out(around, &call.variables[at], (out, refusal))?;
    }
    Ok(value)
}

/// Puts the value of an OUT parameter into the variable that was its argument. Expressions behind
/// the call see it.
fn give_out(
    around: Around<'_>,
    variable: &Option<NamedVariable>,
    (value, refusal): (Given, SqlError),
) -> SqlResult<()> {
    let Given::Scalar((value, ty)) = value else {
        return Err(SqlError::new(&ER_OPERAND_COLUMNS, &[&1]));
    };
    match variable {
        Some(NamedVariable::User(name)) => around.eval.session.set_user_variable(name, value, &ty),
        Some(NamedVariable::Placeholder(slot)) => {
            around.eval.set_parameter(*slot, value.clone());
            let out = Out { slot: *slot, value: (value, ty), refusal };
            around.session.programs.outs.borrow_mut().push(out);
        }
        None => {}
    }
    Ok(())
}

/// The arguments of a call with their types.
pub(super) fn typed(call: &StoredCall, args: Vec<Value>) -> Vec<Argument<(Value, SqlType)>> {
    let typed = args.into_iter().zip(&call.args).map(|(value, e)| (value, e.ty.clone()));
    call.arguments(typed)
}

/// The function that an expression calls.
pub(super) struct Called {
    program: Arc<Compiled>,
    package: Option<Arc<CompiledPackage>>,
}

impl Called {
    /// Finds it. Fails if the account may not run it, or if it runs already.
    pub(super) fn of(outer: &Session, snapshot: &Snapshot, call: &StoredCall) -> SqlResult<Self> {
        let name = (&*call.schema, &*call.name);
        let called = match package::member(outer, snapshot, RoutineForm::Function, name)? {
            Some((program, package)) => Self { program, package: Some(package) },
            None => {
                let Some(routine) = snapshot.routine(name.0, true, name.1) else {
                    let full = format!("{}.{}", name.0, name.1);
                    return Err(SqlError::new(&ER_SP_DOES_NOT_EXIST, &[&"FUNCTION", &full]));
                };
                Self { program: compile::routine(outer, routine)?, package: None }
            }
        };
        if call.who.is_none() {
            called.check_execute(outer)?;
        }
        called.check_outs(outer, call)?;
        match outer.programs.active.contains(&called.program.key) {
            true => Err(SqlError::new(&ER_SP_NO_RECURSION, &[])),
            false => Ok(called),
        }
    }

    /// Fails unless each OUT parameter has a variable for its value (1414), in a statement that may
    /// set one (4187).
    fn check_outs(&self, session: &Session, call: &StoredCall) -> SqlResult<()> {
        for at in self.program.outs() {
            if call.variables.get(at).is_none_or(Option::is_none) {
                return Err(SqlError::new(&ER_SP_NOT_VAR_ARG, &[&(at + 1), &self.program.name]));
            }
            if !session.programs.takes_outs.get() {
                let def = &ER_SF_OUT_INOUT_ARG_NOT_ALLOWED;
                return Err(SqlError::new(def, &[&(at + 1), &call.name]));
            }
        }
        Ok(())
    }

    fn check_execute(&self, session: &Session) -> SqlResult<()> {
        match &self.program.origin {
            Origin::Routine(routine) => check_execute(session, routine),
            _ => package::check_execute(session, &self.program),
        }
    }

    /// Runs it, in the session of the statement's programs and for the account of the call.
    pub(super) fn run(
        &self,
        around: Around<'_>,
        call: &StoredCall,
        inner: impl FnOnce(&mut Execution<'_>, &Compiled) -> SqlResult<Value>,
    ) -> SqlResult<Value> {
        let Around { session: outer, eval: ctx, .. } = around;
        // Compat: a function that a trigger calls is part of the trigger.
        let is_trigger = |key: &ProgramKey| matches!(key, ProgramKey::Trigger(..));
        let is_in_trigger = outer.programs.active.iter().any(is_trigger);
        let mut nowhere = NoResults(if is_in_trigger { "trigger" } else { "function" });
        sub::with_sub_session(around, &mut nowhere, |execution| {
            let before = execution.session.diagnostics.mark();
            let run = |execution: &mut Execution<'_>| {
                if let Some(package) = &self.package {
                    package::start(execution, package)?;
                }
                let value = inner(execution, &self.program);
                if execution.session.diagnostics.mark() > before {
                    // Conditions of the statement before the one that calls are forgotten.
                    outer.diagnostics.forget_stale();
                }
                if value.is_ok() {
                    raise(execution.session, ctx);
                }
                value
            };
            match &call.who {
                None => run(execution),
                Some(who) => in_the_name_of(execution, who, |execution| {
                    self.check_execute(execution.session)?;
                    run(execution)
                }),
            }
        })
    }
}

/// Moves the conditions of a function's session to the statement that calls it.
pub(super) fn raise(session: &Session, ctx: &EvalContext<'_>) {
    session.diagnostics.present().into_iter().for_each(|condition| ctx.push(condition));
    session.diagnostics.clear();
}

impl<'p> Machine<'p> {
    fn run_function(&mut self) -> SqlResult<Value> {
        self.run()?;
        match self.result.take() {
            Some((value, _)) => Ok(value),
            None => Err(SqlError::new(&ER_SP_NORETURNEND, &[&self.own_name()])),
        }
    }

    pub(super) fn own_name(&self) -> &'p str {
        self.program.name.rsplit('.').next().unwrap_or_default()
    }

    /// RETURN as a step of its own. Compat: after a handler of what its value raised, the program
    /// goes on behind it; the value is the result unless it comes to another RETURN.
    pub(super) fn settle_return(&mut self, term: &'p Term) -> SqlResult<Flow> {
        let mark = self.begin();
        // RETURN forgets the conditions that earlier statements raised.
        self.session.diagnostics.clear();
        // Compat: a RETURN that fails and is handled returns NULL.
        self.result = Some((Value::Null, SqlType::null()));
        match self.returned(term) {
            Ok(value) => {
                self.result = Some(value);
                match self.session.diagnostics.mark() > mark {
                    true => Ok(self.settle_value(mark)?.unwrap_or(Flow::Return)),
                    false => Ok(Flow::Return),
                }
            }
            Err(error) => self.settle(Err(error), mark),
        }
    }

    /// The value of a RETURN, as the type of the function.
    fn returned(&mut self, term: &Term) -> SqlResult<(Value, SqlType)> {
        let (value, from) = self.evaluate_to_store(term)?;
        let Some(returns) = &self.program.returns else { return Ok((value, from)) };
        let returns = VariableType::Scalar(returns.clone());
        let name = self.own_name();
        let ty = variable_type(self.scope(), self.program, name, &returns)?;
        let column = format!("{name}()");
        let value = stored(self.session, (&value, &from), (&column, &ty), 0)?;
        Ok((value, ty))
    }
}
