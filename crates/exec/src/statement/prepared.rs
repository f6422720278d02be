//! Statements that are prepared once and run often. Preparing plans the statement once for its
//! columns and errors; a plan is kept only if there are no placeholders.

mod announced;
mod shared;

pub use shared::prepare_shared;

use std::sync::Arc;

use parking_lot::Mutex;
use selkie_plan::is_planned;
use selkie_plan::physical::{OutputColumn, Plan};
use selkie_sql::ast::{ExprKind, QueryBody, SelectItem, Statement};
use selkie_sql::{ClientText, of_any_length};
use selkie_types::error::catalogue::{
    ER_UNKNOWN_ERROR, ER_UNSUPPORTED_PS, ER_WARN_ALLOWED_PACKET_OVERFLOWED,
    ER_WARN_VIEW_WITHOUT_KEY, ER_WRONG_ARGUMENTS,
};
use selkie_types::{Level, SqlError, SqlResult, SqlType, Value};

use crate::query::execution::Scope;
use crate::query::log_text::with_values;
use crate::query::planning;
use crate::query::planning::Parameters;
use crate::query::prepared::{forget_text, keys};
use crate::query::running::{Fill, Running};
use crate::required::refuse_computed;
use crate::state::plan_key::PlanKey;
use crate::state::prepared::{CachedPlan, Plans, Prepared};
use crate::{Instance, Outcome, ResultSink, Session, handler};

/// Parses and plans `text`, a single statement; `origin` is the text as the client sent it.
pub fn prepare(
    instance: &Instance,
    session: &mut Session,
    text: &[u8],
    origin: Option<&ClientText>,
) -> SqlResult<Prepared> {
    let parsed = planning::parse(session, text, origin)?;
    super::refuse_nested(&parsed.statement)?;
    refuse_computed(session, &parsed.statement)?;
    prepare_statement(instance, session, parsed.statement, text, parsed.params as usize)
}

/// Plans a parsed statement with `parameters` placeholders.
pub fn prepare_statement(
    instance: &Instance,
    session: &mut Session,
    statement: Statement,
    text: &[u8],
    parameters: usize,
) -> SqlResult<Prepared> {
    let mut output = Vec::new();
    let mut plans = Plans::new();
    if is_planned(&statement) {
        let key = PlanKey::new(instance, session);
        let mut plan = (Scope { instance, session }).plan(
            &statement,
            text,
            Parameters::typed(&[], parameters),
        )?;
        tell_of_preparing(session, &statement, &plan);
        forget_text(&mut plan);
        if plan.result.into.is_none() {
            output = plan.output.to_vec();
            unknown_types(&statement, &mut output);
        }
        if parameters == 0 {
            plans.push(CachedPlan::new(instance, Arc::new(plan), key, Vec::new()));
        }
    }
    if let Statement::Handler(_) = &statement {
        output = handler::prepare(instance, session, &statement, text, parameters)?;
    }
    let plans = Mutex::new(plans);
    let numbers_columns = parameters > 0 && !keys(&mut statement.clone()).is_empty();
    let of_any_length = of_any_length(&statement, parameters);
    Ok(Prepared {
        literals: Some(session.frame.settings.expressions.collation_connection),
        of_any_length,
        numbers_columns,
        output,
        plans,
        ..Prepared::unplanned(statement, text.into(), parameters)
    })
}

/// Sets the types of placeholders in the select list. Compat: they have the type of NULL until they
/// have values.
fn unknown_types(statement: &Statement, output: &mut [OutputColumn]) {
    let Statement::Query(query) = statement else { return };
    let QueryBody::Select(select) = &query.body else { return };
    if select.items.len() != output.len() {
        return;
    }
    for (item, column) in select.items.iter().zip(output) {
        if let SelectItem::Expr { expr, .. } = item
            && matches!(expr.kind, ExprKind::Param(_))
        {
            column.ty = SqlType::null();
        }
    }
}

/// Raises the conditions found when names and types were resolved; each execution raises them
/// again.
fn tell_of_preparing(session: &Session, statement: &Statement, plan: &Plan) {
    let (settings, is_update) =
        (&session.frame.settings, matches!(statement, Statement::Update(_)));
    for condition in &plan.warnings.conditions {
        // Compat: only an execution raises these.
        let later = match condition.code {
            code if code == ER_WARN_VIEW_WITHOUT_KEY.code => is_update,
            code if code == ER_UNKNOWN_ERROR.code => true,
            code => code == ER_WARN_ALLOWED_PACKET_OVERFLOWED.code,
        };
        let hidden = condition.level == Level::Note && !settings.notes.sql_notes;
        if !later && !hidden {
            session.diagnostics.push(condition.clone(), settings.notes.max_error_count);
        }
    }
}

/// Whether placeholders of a statement become literals of its text. Programs and definitions keep
/// their texts, in which a placeholder would mean nothing.
fn runs_as_text(statement: &Statement) -> bool {
    match statement {
        Statement::CreateTable(create) => create.select.is_none(),
        Statement::SetStatement { statement, .. } => runs_as_text(statement),
        Statement::AlterTable(_)
        | Statement::Compound(_)
        | Statement::CreateRoutine(_)
        | Statement::CreatePackage(_)
        | Statement::CreateTrigger(_)
        | Statement::CreateEvent(_)
        | Statement::AlterEvent(_) => true,
        _ => false,
    }
}

/// Runs the text of a prepared statement with these values in it.
fn execute_as_text(
    instance: &Instance,
    session: &mut Session,
    prepared: &Prepared,
    values: &[(Value, SqlType)],
    sink: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    let mode = session.frame.settings.expressions.sql_mode;
    let text = with_values(&prepared.text, values, mode);
    let text = text.ok_or_else(|| SqlError::new(&ER_UNSUPPORTED_PS, &[]))?;
    let parsed = planning::parse(session, &text, None)?;
    let outs = session.programs.outs.take();
    let running = Running::new(&text, &[]);
    let result = super::execute(instance, session, &parsed.statement, running, sink);
    session.programs.outs.replace(outs);
    result
}

/// Runs a prepared statement with values for its placeholders. `said` is the client's text, if it
/// differs from the one that was prepared.
pub fn execute_prepared(
    instance: &Instance,
    session: &mut Session,
    (prepared, said): (&Prepared, Option<&[u8]>),
    values: &[(Value, SqlType)],
    sink: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    if values.len() != prepared.parameters {
        return Err(SqlError::new(&ER_WRONG_ARGUMENTS, &[&"EXECUTE"]));
    }
    if !values.is_empty() && runs_as_text(&prepared.statement) {
        return execute_as_text(instance, session, prepared, values, sink);
    }
    let bare = Running::new(&prepared.text, values);
    let fill = match said {
        None if prepared.parameters > 0 => Fill::Values,
        _ => Fill::Literals,
    };
    let running = Running { prepared: Some(prepared), part: said, fill, ..bare };
    let now = session.frame.settings.expressions.collation_connection;
    let literals = prepared.literals.filter(|literals| *literals != now);
    let outer = std::mem::replace(&mut session.frame.literals, literals);
    // Compat: values of OUT parameters for its placeholders go nowhere. Those of a program around
    // it are for other placeholders.
    let outs = session.programs.outs.take();
    let result = super::execute(instance, session, &prepared.statement, running, sink);
    session.programs.outs.replace(outs);
    session.frame.literals = outer;
    result
}
