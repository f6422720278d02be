//! Packages: their routines compiled together, their variables, and the block that runs before the
//! first use in a session.
//!
//! Must not choose a routine for a name: [`crate::state::packages`] does.

use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use selkie_catalog::{Routine, RoutineForm, Snapshot};
use selkie_sql::ast::{
    Local, PackageRoutine, ParameterMode, Program, RoutineKind, Statement, Term,
};
use selkie_types::charset::identifier_eq;
use selkie_types::error::catalogue::{ER_OPERAND_COLUMNS, ER_ROW_VARIABLE_DOES_NOT_HAVE_FIELD};
use selkie_types::{SqlError, SqlResult, SqlType, Value};

use super::call::within;
use super::compile::{collation_named, parse};
use super::frame::{Given, slot_of, stored};
use super::machine::Machine;
use crate::Session;
use crate::query::execution::{Execution, Scope};
use crate::state::packages::{body_of, member_of};
use crate::state::programs::{
    Compiled, CompiledPackage, Origin, PackageState, ProgramKey, ProgramSetting, Reach, Scalar,
    Slot,
};
use crate::state::terms::Terms;

/// The member `package.member` of a schema with its package, which is compiled if need be.
pub(super) fn member(
    session: &Session,
    snapshot: &Snapshot,
    form: RoutineForm,
    (schema, name): (&str, &str),
) -> SqlResult<Option<(Arc<Compiled>, Arc<CompiledPackage>)>> {
    let Some(body) = body_of(snapshot, schema, name) else { return Ok(None) };
    let Some((_, member)) = member_of(name) else { return Ok(None) };
    let package = compiled(session, snapshot, body)?;
    let key = key(body, form, member);
    let found = package.members.iter().find(|program| program.key == key).cloned();
    Ok(found.map(|program| (program, package)))
}

fn key(body: &Routine, form: RoutineForm, member: &str) -> ProgramKey {
    let name = format!("{}.{}", body.name, member).to_lowercase().into();
    match form {
        RoutineForm::Function => ProgramKey::Function((*body.schema).into(), name),
        _ => ProgramKey::Procedure((*body.schema).into(), name),
    }
}

fn compiled(
    session: &Session,
    snapshot: &Snapshot,
    body: &Arc<Routine>,
) -> SqlResult<Arc<CompiledPackage>> {
    let version = snapshot.routines_version;
    let active = &session.programs.active;
    if let Some(known) = session.core.programs.lock().package(body, version, active) {
        return Ok(known);
    }
    let text = format!("CREATE {}", body.definition());
    let Statement::CreatePackage(create) = parse(&text, body.context.sql_mode)? else {
        return Err(SqlError::internal("the text of a package is not one"));
    };
    let package = create.package;
    let text: Arc<[u8]> = text.into_bytes().into();
    let slots = vec![Slot::Unknown; package.variables.len()];
    let shared = Arc::new(PackageState { variables: package.variables, slots: Mutex::new(slots) });
    let parts = Parts { body, text: &text, shared: &shared };
    let members = package.routines.into_iter().filter_map(|routine| parts.member(routine));
    let members = members.collect();
    let start = parts.program(key(body, RoutineForm::Procedure, ""), (package.start, Vec::new()));
    let made = Arc::new(CompiledPackage {
        body: body.clone(),
        start: Arc::new(start),
        members,
        is_started: Mutex::new(false),
        routines_version: version,
    });
    session.core.programs.lock().keep_package(made.clone());
    Ok(made)
}

/// The common parts of all programs of a package.
struct Parts<'a> {
    body: &'a Arc<Routine>,
    text: &'a Arc<[u8]>,
    shared: &'a Arc<PackageState>,
}

impl Parts<'_> {
    /// A routine that has a body.
    fn member(&self, routine: PackageRoutine) -> Option<Arc<Compiled>> {
        let form = RoutineForm::of_function(routine.kind == RoutineKind::Function);
        let key = key(self.body, form, &routine.name.value);
        let modes = routine.parameters.iter().map(|p| p.mode).collect();
        let mut program = self.program(key, (routine.body?, modes));
        program.name = format!("{}.{}", self.body.full_name(), routine.name.value);
        program.returns = routine.returns;
        Some(Arc::new(program))
    }

    fn program(&self, key: ProgramKey, parts: (Program, Vec<ParameterMode>)) -> Compiled {
        let Routine { schema, context, invoker, .. } = &**self.body;
        Compiled {
            key,
            name: self.body.full_name(),
            origin: Origin::Package(self.body.clone()),
            setting: Some(ProgramSetting::new(schema, context, *invoker)),
            text: self.text.clone(),
            body: parts.0,
            modes: parts.1,
            shared: Some(self.shared.clone()),
            returns: None,
            collation: collation_named(&context.database_collation),
            statements: Mutex::default(),
            terms: Terms::default(),
            reach: Reach::Anywhere,
            changes: Vec::new(),
            touched: OnceLock::new(),
        }
    }
}

/// Declares the variables of a package and runs its block, if that has not been done.
pub(super) fn start(execution: &mut Execution<'_>, package: &CompiledPackage) -> SqlResult<()> {
    let was_started = std::mem::replace(&mut *package.is_started.lock(), true);
    if was_started {
        return Ok(());
    }
    let result = within(execution, &package.start, (&[], 0), |execution, frame| {
        Machine::new(execution.nested(), &package.start, frame).run()
    });
    if result.is_err() {
        *package.is_started.lock() = false;
    }
    result
}

/// Fails (1370) unless the account may run the routines of the package that a program is of.
pub(super) fn check_execute(session: &Session, program: &Compiled) -> SqlResult<()> {
    use crate::state::session::Privilege;
    let Origin::Package(body) = &program.origin else { return Ok(()) };
    let (form, hooks) = (RoutineForm::PackageBody, &session.frame.hooks);
    hooks.check_routine(session, Privilege::Execute, form, &body.schema, &body.name)
}

impl Machine<'_> {
    fn state(&self) -> SqlResult<&Arc<PackageState>> {
        let shared = self.program.shared.as_ref();
        shared.ok_or_else(|| SqlError::internal("a variable of no package"))
    }

    /// Declares variables of the package.
    pub(super) fn share(&mut self, variables: &[usize], default: Option<&Term>) -> SqlResult<()> {
        let state = self.state()?.clone();
        for &at in variables {
            let scope = Scope { instance: self.instance, session: self.session };
            let slot = slot_of(scope, self.program, &state.variables[at])?;
            state.slots.lock()[at] = slot;
        }
        let Some(term) = default else { return Ok(()) };
        let value = self.given(&term.expr, &term.locals)?;
        variables.iter().try_for_each(|at| self.give_shared(&Local::Shared(*at), value.clone()))
    }

    /// Value and type of a variable of the package.
    pub(super) fn shared(&self, at: usize) -> SqlResult<(Value, SqlType)> {
        match &self.state()?.slots.lock()[at] {
            Slot::Scalar(scalar) => Ok((scalar.value.clone(), scalar.ty.clone())),
            Slot::Row(_) => Err(SqlError::new(&ER_OPERAND_COLUMNS, &[&1])),
            Slot::Unknown => Ok((Value::Null, SqlType::null())),
        }
    }

    /// Value and type of a field of a row of the package.
    pub(super) fn shared_field(&self, at: usize, name: &str) -> SqlResult<(Value, SqlType)> {
        let state = self.state()?;
        let slots = state.slots.lock();
        let fields = if let Slot::Row(fields) = &slots[at] { fields.as_slice() } else { &[] };
        let found = fields.iter().find(|field| identifier_eq(&field.name, name));
        let missing = || no_field(&state.variables[at].name.value, name);
        found.map(|field| (field.value.clone(), field.ty.clone())).ok_or_else(missing)
    }

    /// Values and types of a row of the package; `None` for other variables.
    pub(super) fn shared_row(&self, at: usize) -> Option<Vec<(Value, SqlType)>> {
        match &self.program.shared.as_ref()?.slots.lock()[at] {
            Slot::Row(fields) => {
                Some(fields.iter().map(|f| (f.value.clone(), f.ty.clone())).collect())
            }
            _ => None,
        }
    }

    /// Puts a value into a variable of the package.
    pub(super) fn give_shared(&mut self, target: &Local, value: Given) -> SqlResult<()> {
        let state = self.state()?.clone();
        let (session, row) = (&*self.session, self.message_row);
        let mut slots = state.slots.lock();
        let keep = |scalar: &mut Scalar, (value, from): (Value, SqlType)| {
            let stored = stored(session, (&value, &from), (&scalar.name, &scalar.ty), row);
            scalar.keep(stored)
        };
        match target {
            Local::Shared(at) => match &mut slots[*at] {
                Slot::Scalar(scalar) => {
                    let value = value.scalar(&scalar.name, &scalar.ty)?;
                    keep(scalar, value)
                }
                Slot::Row(fields) => {
                    let values = value.row(fields.len())?;
                    fields.iter_mut().zip(values).try_for_each(|(field, value)| keep(field, value))
                }
                Slot::Unknown => Ok(()),
            },
            Local::SharedField(at, name) => {
                let of = &state.variables[*at].name.value;
                let Slot::Row(fields) = &mut slots[*at] else {
                    return Err(no_field(of, &name.value));
                };
                let mut fields = fields.iter_mut();
                let field = fields.find(|field| identifier_eq(&field.name, &name.value));
                let field = field.ok_or_else(|| no_field(of, &name.value))?;
                let value = value.scalar(&field.name, &field.ty)?;
                keep(field, value)
            }
            _ => Ok(()),
        }
    }
}

fn no_field(row: &str, field: &str) -> SqlError {
    SqlError::new(&ER_ROW_VARIABLE_DOES_NOT_HAVE_FIELD, &[&row, &field])
}
