//! Compiles stored texts to programs: parsed once per session, names checked at definition.
//!
//! Must not run anything.

use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use selkie_catalog::{Namespace, Routine, TableInfo, Trigger};
use selkie_expr::EvalContext;
use selkie_plan::define::{
    DefineContext, check_column_parts, variable_type as define_variable_type,
};
use selkie_plan::late_into;
use selkie_sql::ParseOptions;
use selkie_sql::ast::{
    AlterAction, ColumnRef, CreateSource, DataType, Ident, Local, Operation, ParameterMode,
    Program, SetItem, Span, Statement, Step, TableElement, VariableType,
};
use selkie_types::error::catalogue::{ER_NO_DB_ERROR, ER_UNKNOWN_SYSTEM_VARIABLE};
use selkie_types::{CollationId, SqlError, SqlMode, SqlResult, SqlType, Value, stack};

use super::{frame, reach};
use crate::query::execution::Scope;
use crate::query::running::Running;
use crate::required::refuse_computed;
use crate::state::prepared::Prepared;
use crate::state::programs::{Compiled, Origin, ProgramKey, ProgramSetting, Reach};
use crate::state::terms::Terms;
use crate::{Session, query};

impl Compiled {
    /// A statement of the program, to be planned once.
    pub(super) fn prepared(&self, operation: &Operation) -> Arc<Prepared> {
        let mut statements = self.statements.lock();
        let made = || {
            let mut statement = operation.statement.clone();
            if let Statement::Query(query) = &mut statement {
                // Compat: one is warned of it where the program is defined.
                query.late_into = false;
            }
            let variables = operation.locals.iter().map(|local| self.name_of(local)).collect();
            let count = operation.locals.len();
            Prepared { variables, ..Prepared::unplanned(statement, self.text.clone(), count) }
        };
        statements.entry(operation.span).or_insert_with(|| Arc::new(made())).clone()
    }

    fn name_of(&self, local: &Local) -> Box<str> {
        match local {
            Local::Variable(at) => self.body.variables[*at].name.value.clone(),
            Local::Shared(at) => {
                let shared = self.shared.as_ref().map(|shared| &shared.variables[*at]);
                shared.map(|variable| variable.name.value.clone()).unwrap_or_default()
            }
            Local::Field(_, name)
            | Local::SharedField(_, name)
            | Local::New(name)
            | Local::Old(name) => name.value.clone(),
            Local::Operand(_) | Local::CursorState(..) | Local::SqlCode | Local::SqlErrm => {
                Box::default()
            }
        }
    }

    /// The OUT and INOUT parameters.
    pub(super) fn outs(&self) -> impl Iterator<Item = usize> {
        let modes = self.modes.iter().enumerate();
        modes.filter(|(_, mode)| **mode != ParameterMode::In).map(|(at, _)| at)
    }

    /// A statement or expression of the program, with values for the variables it uses.
    pub(super) fn running<'a>(&'a self, values: &'a [(Value, SqlType)]) -> Running<'a> {
        Running { terms: Some(&self.terms), ..Running::new(&self.text, values) }
    }

    /// The line a place of the text is in.
    pub(super) fn line(&self, at: Span) -> usize {
        let end = (at.end as usize).min(self.text.len());
        1 + self.text[..end].iter().filter(|b| **b == b'\n').count()
    }

    /// An anonymous block.
    pub(super) fn block(body: &Program, text: &[u8], collation: CollationId) -> Self {
        Self {
            key: ProgramKey::Block,
            name: "anonymous block".to_owned(),
            origin: Origin::Statement,
            setting: None,
            text: text.into(),
            body: body.clone(),
            modes: Vec::new(),
            shared: None,
            returns: None,
            collation,
            statements: Mutex::default(),
            terms: Terms::default(),
            reach: Reach::Anywhere,
            changes: Vec::new(),
            touched: OnceLock::new(),
        }
    }
}

pub(super) fn collation_named(name: &str) -> CollationId {
    CollationId::from_name(name).unwrap_or(CollationId::UTF8MB4_GENERAL_CI)
}

pub(super) fn parse(text: &str, sql_mode: u64) -> SqlResult<Statement> {
    let sql_mode = SqlMode::from_bits(sql_mode).unwrap_or(SqlMode::DEFAULT);
    selkie_sql::parse(text.as_bytes(), &ParseOptions { sql_mode }).map(|parsed| parsed.statement)
}

/// The program of a routine, parsed when the session first needs it.
pub(super) fn routine(session: &Session, routine: &Arc<Routine>) -> SqlResult<Arc<Compiled>> {
    if let Some(known) = session.core.programs.lock().get(routine) {
        return Ok(known);
    }
    let name = routine.name.to_lowercase().into();
    let key = match routine.function {
        true => ProgramKey::Function((*routine.schema).into(), name),
        false => ProgramKey::Procedure((*routine.schema).into(), name),
    };
    let text = format!("CREATE {}", routine.definition());
    let Statement::CreateRoutine(create) = parse(&text, routine.context.sql_mode)? else {
        return Err(SqlError::internal("the text of a routine is not one"));
    };
    let compiled = Arc::new(Compiled {
        key,
        name: routine.full_name(),
        origin: Origin::Routine(routine.clone()),
        setting: Some(ProgramSetting::new(&routine.schema, &routine.context, routine.invoker)),
        text: text.into_bytes().into(),
        body: create.body,
        modes: create.parameters.iter().map(|p| p.mode).collect(),
        shared: None,
        returns: create.returns.map(|(ty, _)| ty),
        collation: collation_named(&routine.context.database_collation),
        statements: Mutex::default(),
        terms: Terms::default(),
        reach: Reach::Anywhere,
        changes: Vec::new(),
        touched: OnceLock::new(),
    });
    session.core.programs.lock().keep(compiled.clone());
    Ok(compiled)
}

/// The program of a trigger, parsed when the session first needs it.
pub(super) fn trigger(session: &Session, trigger: &Arc<Trigger>) -> SqlResult<Arc<Compiled>> {
    if let Some(known) = session.core.programs.lock().get(trigger) {
        return Ok(known);
    }
    let text = format!("CREATE {}", trigger.definition());
    let Statement::CreateTrigger(create) = parse(&text, trigger.context.sql_mode)? else {
        return Err(SqlError::internal("the text of a trigger is not one"));
    };
    let (reach, changes) = reach::of_body(&create.body);
    let compiled = Arc::new(Compiled {
        key: ProgramKey::Trigger((*trigger.schema).into(), (*trigger.name).into()),
        name: format!("{}.{}", trigger.schema, trigger.name),
        origin: Origin::Trigger(trigger.clone()),
        setting: Some(ProgramSetting::new(&trigger.schema, &trigger.context, false)),
        text: text.into_bytes().into(),
        body: create.body,
        modes: Vec::new(),
        shared: None,
        returns: None,
        collation: collation_named(&trigger.context.database_collation),
        statements: Mutex::default(),
        terms: Terms::default(),
        reach,
        changes,
        touched: OnceLock::new(),
    });
    session.core.programs.lock().keep(compiled.clone());
    Ok(compiled)
}

/// The type of a variable of a program.
pub(super) fn variable_type(
    scope: Scope<'_>,
    program: &Compiled,
    name: &str,
    ty: &VariableType,
) -> SqlResult<SqlType> {
    resolve_type(scope, (name, ty), program.collation, &program.text)
}

/// The type that is written as `ty`.
pub(crate) fn resolve_type(
    scope: Scope<'_>,
    (name, ty): (&str, &VariableType),
    collation: CollationId,
    text: &[u8],
) -> SqlResult<SqlType> {
    match ty {
        VariableType::Scalar(written) => {
            // Compat: notes about a type are raised where the program is made, not where it runs.
            written_type(scope, (name, written), (collation, text), |_, _| {})
        }
        VariableType::TypeOf(column) => type_of_column(scope, column),
        _ => Err(SqlError::not_supported("a row variable in this place")),
    }
}

fn type_of_column(scope: Scope<'_>, column: &ColumnRef) -> SqlResult<SqlType> {
    let Scope { instance, session } = scope;
    let snapshot = instance.catalog.snapshot();
    let names = Namespace { snapshot: &snapshot, temporary: &session.frame.temporary };
    let table = column.table.as_deref().map_or("", |t| &*t.value);
    let schema = column.schema.as_deref().map(|s| &*s.value).or(session.frame.schema.as_deref());
    let schema = schema.ok_or_else(|| SqlError::new(&ER_NO_DB_ERROR, &[]))?;
    let info = names.table(schema, table);
    let info = info.ok_or_else(|| SqlError::no_such_table(schema, table))?;
    frame::check_read(session, (schema, table), &column.name.value)?;
    let found = info.columns.iter().find(|c| column.name.is(&c.name));
    found.map(|c| c.ty.clone()).ok_or_else(|| SqlError::unknown_column(&column.name, table))
}

/// The type `written` of a variable; its notes go to `keep`.
fn written_type(
    Scope { instance, session }: Scope<'_>,
    (name, written): (&str, &DataType),
    (collation, text): (CollationId, &[u8]),
    keep: fn(&Session, &EvalContext<'_>),
) -> SqlResult<SqlType> {
    let snapshot = instance.catalog.snapshot();
    let names = Namespace { snapshot: &snapshot, temporary: &session.frame.temporary };
    let now = session.values.statement_start.get();
    let eval = EvalContext::new(session.type_context(), session, now);
    let context = DefineContext {
        enforced_engine: None,
        schema: session.frame.schema.as_deref(),
        names,
        eval: &eval,
        default_engine: "",
        engines: &[],
        text,
        now_seconds: 0,
        foreign_key_checks: false,
        after_error: &|condition| session.diagnostics.after_error(condition),
        environment: session,
        alter_algorithm: selkie_sql::ast::AlterAlgorithm::Default,
        keeps_history: false,
        stopwords: Default::default(),
    };
    let ty = define_variable_type(&context, name, written, collation);
    keep(session, &eval);
    ty
}

/// Fails for types of variables that cannot be; raises notes about the others.
pub(crate) fn check_types(
    scope: Scope<'_>,
    body: &Program,
    collation: CollationId,
    text: &[u8],
) -> SqlResult<()> {
    let check = |name: &Ident, ty: &DataType| {
        let written = (&*name.value, ty);
        written_type(scope, written, (collation, text), query::keep_conditions).map(drop)
    };
    for (at, variable) in body.variables.iter().enumerate() {
        match &variable.ty {
            VariableType::Scalar(ty) => {
                // Compat: of several names with one type only the last gets notes.
                let next = body.variables.get(at + 1).map(|next| &next.ty);
                if !matches!(next, Some(VariableType::Scalar(next)) if next.span == ty.span) {
                    check(&variable.name, ty)?;
                }
            }
            VariableType::Row(fields) => {
                fields.iter().try_for_each(|(name, ty)| check(name, ty))?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Fails for names in a body that can be known to be wrong when it is made.
pub(crate) fn check_body(session: &Session, body: &Program) -> SqlResult<()> {
    warn_of_late_into(session, body);
    let mut check = |operation: &Operation| {
        refuse_computed(session, &operation.statement)?;
        check_columns(&operation.statement)?;
        check_set(session, operation)
    };
    each_operation(&body.steps, &mut check)
}

/// Fails for expressions in definitions of columns that are forbidden in any table.
fn check_columns(statement: &Statement) -> SqlResult<()> {
    match statement {
        Statement::CreateTable(create) => match &create.source {
            CreateSource::Elements(elements) => elements.iter().try_for_each(|element| {
                let TableElement::Column(column) = element else { return Ok(()) };
                check_column_parts(column)
            }),
            CreateSource::Like(_) => Ok(()),
        },
        Statement::AlterTable(alter) => alter.actions.iter().try_for_each(|action| match action {
            AlterAction::AddColumn { column, .. }
            | AlterAction::ModifyColumn { column, .. }
            | AlterAction::ChangeColumn { column, .. } => check_column_parts(column),
            _ => Ok(()),
        }),
        _ => Ok(()),
    }
}

/// 1287 for each query that says at its end where its row goes.
fn warn_of_late_into(session: &Session, body: &Program) {
    let mut warn = |operation: &Operation| {
        if matches!(&operation.statement, Statement::Query(query) if query.late_into) {
            session.diagnostics.push(late_into(), session.frame.settings.notes.max_error_count);
        }
        Ok(())
    };
    // Looking at statements cannot fail.
    let _ = each_operation(&body.steps, &mut warn);
}

/// As [`check_body`], for the columns of a trigger's table too.
pub(crate) fn check_trigger(session: &Session, body: &Program, table: &TableInfo) -> SqlResult<()> {
    warn_of_late_into(session, body);
    let mut check = |operation: &Operation| {
        refuse_computed(session, &operation.statement)?;
        check_columns(&operation.statement)?;
        check_set(session, operation)?;
        operation.locals.iter().try_for_each(|local| check_column(local, table))?;
        match &operation.statement {
            Statement::Set(items) => items.iter().try_for_each(|item| match item {
                SetItem::Local { target, .. } => {
                    check_column(target, table)?;
                    refuse_hidden(target, table)
                }
                _ => Ok(()),
            }),
            _ => Ok(()),
        }
    };
    each_operation(&body.steps, &mut check)?;
    each_term(&body.steps, &mut |locals| {
        locals.iter().try_for_each(|local| check_column(local, table))
    })
}

fn check_column(local: &Local, table: &TableInfo) -> SqlResult<()> {
    let (name, row) = match local {
        Local::New(name) => (name, "NEW"),
        Local::Old(name) => (name, "OLD"),
        _ => return Ok(()),
    };
    match table.columns.iter().any(|c| name.is(&c.name)) {
        true => Ok(()),
        false => Err(SqlError::unknown_column(name, row)),
    }
}

/// Fails for a column that nothing lists: none can be assigned to it.
fn refuse_hidden(local: &Local, table: &TableInfo) -> SqlResult<()> {
    let Local::New(name) = local else { return Ok(()) };
    let mut hidden = table.columns.iter().filter(|c| c.is_hidden());
    match hidden.any(|c| name.is(&c.name)) {
        true => Err(SqlError::unknown_column(name, "NEW")),
        false => Ok(()),
    }
}

/// Adds the columns of `table` that a trigger assigns to.
pub(super) fn assigned_columns(body: &Program, table: &TableInfo, out: &mut Vec<usize>) {
    let mut note = |operation: &Operation| {
        if let Statement::Set(items) = &operation.statement {
            for item in items {
                if let SetItem::Local { target: Local::New(name), .. } = item {
                    let is_it = |c: &selkie_catalog::ColumnInfo| name.is(&c.name);
                    out.extend(table.columns.iter().position(is_it));
                }
            }
        }
        Ok(())
    };
    // Noting cannot fail.
    let _ = each_operation(&body.steps, &mut note);
}

fn is_unknown(session: &Session, name: &selkie_sql::ast::Ident) -> bool {
    let scope = selkie_expr::VariableScope::Default;
    let found = session.frame.hooks.variable_type(session, scope, &name.value.to_lowercase());
    found.is_err_and(|error| error.is(&ER_UNKNOWN_SYSTEM_VARIABLE))
}

fn check_set(session: &Session, operation: &Operation) -> SqlResult<()> {
    let Statement::Set(items) = &operation.statement else { return Ok(()) };
    items.iter().try_for_each(|item| match item {
        SetItem::SystemVar { name, instance: None, .. } if is_unknown(session, name) => {
            Err(SqlError::new(&ER_UNKNOWN_SYSTEM_VARIABLE, &[name]))
        }
        _ => Ok(()),
    })
}

fn each_operation(
    steps: &[Step],
    visit: &mut dyn FnMut(&Operation) -> SqlResult<()>,
) -> SqlResult<()> {
    stack::check()?;
    for step in steps {
        if let Step::Statement(operation) = step {
            visit(operation)?;
        }
        for inner in inner_steps(step) {
            each_operation(inner, visit)?;
        }
    }
    Ok(())
}

/// Calls `visit` with the placeholders of every expression that is no statement's.
fn each_term(steps: &[Step], visit: &mut dyn FnMut(&[Local]) -> SqlResult<()>) -> SqlResult<()> {
    stack::check()?;
    for step in steps {
        match step {
            Step::Declare { default: Some(term), .. } | Step::Return(term) => visit(&term.locals)?,
            Step::If { branches, .. } | Step::Case { branches, .. } => {
                branches.iter().try_for_each(|(term, _)| visit(&term.locals))?;
            }
            _ => {}
        }
        for inner in inner_steps(step) {
            each_term(inner, visit)?;
        }
    }
    Ok(())
}

fn inner_steps(step: &Step) -> Vec<&[Step]> {
    match step {
        Step::Block(block) => {
            let handlers = block.handlers.iter().map(|h| &h.steps[..]);
            handlers.chain([&block.steps[..]]).collect()
        }
        Step::If { branches, otherwise } => {
            branches.iter().map(|(_, steps)| &steps[..]).chain([&otherwise[..]]).collect()
        }
        Step::Case { branches, otherwise, .. } => {
            let all = branches.iter().map(|(_, steps)| &steps[..]);
            all.chain(otherwise.as_deref()).collect()
        }
        Step::Loop(inner) => vec![&inner.steps],
        _ => Vec::new(),
    }
}
