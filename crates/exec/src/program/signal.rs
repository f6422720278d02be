//! SIGNAL, RESIGNAL and GET DIAGNOSTICS: conditions that statements raise and read.
//!
//! Must not choose handlers: [`super::handlers`] does.

use selkie_sql::ast::{self, DiagnosticsTarget, GetDiagnostics, SignalItem};
use selkie_types::error::Details;
use selkie_types::error::catalogue::{
    ER_COND_ITEM_TOO_LONG, ER_DA_INVALID_CONDITION_NUMBER, ER_RESIGNAL_WITHOUT_ACTIVE_HANDLER,
    ER_SIGNAL_EXCEPTION, ER_SIGNAL_NOT_FOUND, ER_SIGNAL_WARN, ER_WRONG_VALUE_FOR_VAR,
    WARN_COND_ITEM_TRUNCATED,
};
use selkie_types::{CollationId, Condition, Level, SqlError, SqlResult, SqlType, Value};

use super::frame;
use super::machine::Machine;
use crate::query::execution::Execution;
use crate::query::running::Running;
use crate::{Outcome, Session};

/// SIGNAL outside of a program.
pub(crate) fn signal(execution: &mut Execution<'_>, what: &ast::Signal) -> SqlResult<Outcome> {
    raise(execution, what, None)?;
    Ok(Outcome::ok())
}

/// Raises what SIGNAL or RESIGNAL says; `handled` is the condition whose handler runs.
pub(super) fn raise(
    execution: &mut Execution<'_>,
    what: &ast::Signal,
    handled: Option<Condition>,
) -> SqlResult<()> {
    let max = execution.session.frame.settings.notes.max_error_count;
    if what.again && handled.is_none() {
        // Compat: conditions of the statement before stay with the error.
        execution.session.diagnostics.go_on();
        return Err(SqlError::new(&ER_RESIGNAL_WITHOUT_ACTIVE_HANDLER, &[]));
    }
    let mut raised = match (what.state, &handled) {
        (Some(state), handled) => {
            let mut made = condition_of(state);
            if let Some(handled) = handled.as_ref().filter(|_| what.again) {
                // Compat: RESIGNAL with a SQLSTATE keeps the text of what it replaces, not its
                // number.
                made.message.clone_from(&handled.message);
                made.details.clone_from(&handled.details);
            }
            made
        }
        (None, Some(handled)) => handled.clone(),
        (None, None) => return Err(SqlError::new(&ER_RESIGNAL_WITHOUT_ACTIVE_HANDLER, &[])),
    };
    for (item, e) in &what.items {
        let (value, ty) = execution.evaluate(e)?;
        set_item(execution.session, &mut raised, *item, &value, &ty)?;
    }
    let session = &*execution.session;
    session.diagnostics.keep();
    if what.state.is_some()
        && let Some(handled) = handled.filter(|_| what.again)
    {
        session.diagnostics.push(handled, max);
    }
    match raised.level {
        Level::Error => Err(raised.to_error()),
        _ => {
            session.diagnostics.push(raised, max);
            Ok(())
        }
    }
}

/// Raises what an SQLSTATE raises by itself.
pub(super) fn raised_by(session: &Session, state: [u8; 5]) -> SqlResult<()> {
    let raised = condition_of(state);
    match raised.level {
        Level::Error => Err(raised.to_error()),
        _ => {
            session.diagnostics.push(raised, session.frame.settings.notes.max_error_count);
            Ok(())
        }
    }
}

/// Condition that an SQLSTATE raises by itself.
fn condition_of(state: [u8; 5]) -> Condition {
    let (level, def) = match &state[..2] {
        b"01" => (Level::Warning, &ER_SIGNAL_WARN),
        b"02" => (Level::Error, &ER_SIGNAL_NOT_FOUND),
        _ => (Level::Error, &ER_SIGNAL_EXCEPTION),
    };
    let mut condition = Condition::from_error(level, &SqlError::new(def, &[]));
    condition.state = state;
    condition
}

/// Longest text of an item, in characters.
fn longest(item: SignalItem) -> usize {
    if item == SignalItem::MessageText { 512 } else { 64 }
}

fn set_item(
    session: &Session,
    condition: &mut Condition,
    item: SignalItem,
    value: &Value,
    ty: &SqlType,
) -> SqlResult<()> {
    let mut text = Vec::new();
    if value.is_null() {
        return Err(SqlError::new(&ER_WRONG_VALUE_FOR_VAR, &[&item.name(), &"NULL"]));
    }
    selkie_types::write_value(ty, value, &mut text);
    let text = String::from_utf8_lossy(&text).into_owned();
    match item {
        SignalItem::MysqlErrno => {
            let number = text.parse::<u16>().ok().filter(|n| *n != 0);
            let wrong = || SqlError::new(&ER_WRONG_VALUE_FOR_VAR, &[&item.name(), &text]);
            condition.code = number.ok_or_else(wrong)?;
        }
        SignalItem::MessageText => condition.message = cut(session, text, item)?,
        _ => {
            condition.details.retain(|(name, _)| *name != item.name());
            condition.details.push((item.name(), cut(session, text, item)?.into()));
        }
    }
    Ok(())
}

/// A text that is too long is an error in strict mode, else it is cut with a warning.
fn cut(session: &Session, text: String, item: SignalItem) -> SqlResult<String> {
    let longest = longest(item);
    if text.chars().count() <= longest {
        return Ok(text);
    }
    if session.is_strict() {
        return Err(SqlError::new(&ER_COND_ITEM_TOO_LONG, &[&item.name()]));
    }
    let warning = Condition::warning(&WARN_COND_ITEM_TRUNCATED, &[&item.name()]);
    session.diagnostics.push(warning, session.frame.settings.notes.max_error_count);
    Ok(text.chars().take(longest).collect())
}

/// GET DIAGNOSTICS outside of a program.
pub(crate) fn get_diagnostics(
    execution: &mut Execution<'_>,
    what: &GetDiagnostics,
) -> SqlResult<Outcome> {
    for (target, (value, ty)) in found(execution, what)? {
        if let DiagnosticsTarget::User(name) = target {
            execution.session.set_variable(name, value, &ty);
        }
    }
    Ok(Outcome::ok())
}

impl Machine<'_> {
    pub(super) fn get_diagnostics(
        &mut self,
        what: &GetDiagnostics,
        running: Running<'_>,
    ) -> SqlResult<()> {
        self.session.diagnostics.go_on();
        for (target, (value, ty)) in found(&mut self.execution(running), what)? {
            match target {
                DiagnosticsTarget::Local(local) => {
                    if let Err(error) = self.assign(local, (value, ty)) {
                        // Compat: the statement ends well, and no handler sees the error.
                        let max = self.session.frame.settings.notes.max_error_count;
                        self.session.diagnostics.push_error(&error, max);
                        return Ok(());
                    }
                }
                DiagnosticsTarget::User(name) => {
                    self.session.set_variable(name, value, &ty);
                }
            }
        }
        Ok(())
    }
}

type Found<'a> = Vec<(&'a DiagnosticsTarget, (Value, SqlType))>;

fn found<'a>(execution: &mut Execution<'_>, what: &'a GetDiagnostics) -> SqlResult<Found<'a>> {
    let session = &*execution.session;
    let conditions = session.diagnostics.list();
    let rows = session.values.row_count.get();
    match what {
        GetDiagnostics::Statement(items) => {
            let value = |count: bool| match count {
                true => Value::Int(rows),
                false => Value::Int(conditions.len() as i64),
            };
            Ok(items.iter().map(|(t, count)| (t, (value(*count), SqlType::bigint()))).collect())
        }
        GetDiagnostics::Condition { number, items } => {
            let number = execution.evaluate(number)?;
            let at = match frame::nearest(
                execution.session,
                (&number.0, &number.1),
                &SqlType::bigint(),
            )? {
                Value::Int(v) => usize::try_from(v).unwrap_or(0),
                _ => 0,
            };
            let condition = at.checked_sub(1).and_then(|at| conditions.get(at));
            let Some(condition) = condition else {
                // Compat: the statement ends well, and its error stands behind what it looked at.
                let error = SqlError::new(&ER_DA_INVALID_CONDITION_NUMBER, &[]);
                let session = &*execution.session;
                session
                    .diagnostics
                    .push_error(&error, session.frame.settings.notes.max_error_count);
                return Ok(Vec::new());
            };
            Ok(items.iter().map(|(target, item)| (target, item_of(condition, *item))).collect())
        }
    }
}

fn item_of(condition: &Condition, item: SignalItem) -> (Value, SqlType) {
    let text = |text: &str| {
        let ty = SqlType::varchar(text.chars().count() as u32, CollationId::UTF8MB3_GENERAL_CI);
        (Value::bytes(text), ty)
    };
    match item {
        SignalItem::MysqlErrno => (Value::Int(condition.code.into()), SqlType::bigint()),
        SignalItem::RowNumber => (Value::Int(0), SqlType::bigint()),
        SignalItem::MessageText => text(&condition.message),
        SignalItem::ReturnedSqlstate => text(&String::from_utf8_lossy(&condition.sqlstate())),
        // Compat: what SIGNAL did not say is not known, where a condition comes from either.
        _ => text(detail(&condition.details, item).unwrap_or_default()),
    }
}

fn detail(details: &Details, item: SignalItem) -> Option<&str> {
    details.iter().find(|(name, _)| *name == item.name()).map(|(_, text)| &**text)
}
