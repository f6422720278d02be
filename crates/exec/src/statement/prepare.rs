//! SQL-level PREPARE and EXECUTE.

use std::sync::Arc;

use selkie_sql::{ClientText, ast, without_end};
use selkie_types::error::catalogue::{
    ER_PS_NO_RECURSION, ER_SUBQUERIES_NOT_SUPPORTED, ER_UNKNOWN_STMT_HANDLER, ER_UNSUPPORTED_PS,
};
use selkie_types::{Charset, SqlError, SqlResult, SqlType, Value};

use super::Running;
use super::set::evaluate;
use crate::prepared::{Named, Prepared, execute_prepared, prepare as prepare_text};
use crate::{Instance, Outcome, ResultSink, Session};

/// Prepares the statement a value says, which is as if the client had sent it.
fn prepare_value(
    instance: &Instance,
    session: &mut Session,
    e: &ast::Expr,
    running: Running<'_>,
) -> SqlResult<Prepared> {
    let source = source(instance, session, e, running)?;
    let source = without_end(&source);
    let origin = ClientText::new(source, session.settings.client_charset);
    let text = origin.as_ref().map_or(source, ClientText::utf8);
    prepare_text(instance, session, text, origin.as_ref())
}

/// The text of a statement to prepare, in the character set of the client.
fn source(
    instance: &Instance,
    session: &mut Session,
    e: &ast::Expr,
    running: Running<'_>,
) -> SqlResult<Vec<u8>> {
    let (value, ty) = evaluate(instance, session, e, running)?;
    let mut source = Vec::new();
    match value {
        // Compat: the text of NULL is the word, which does not parse.
        Value::Null => source.extend_from_slice(b"NULL"),
        value => selkie_types::write_value(&ty, &value, &mut source),
    }
    let (from, to) = (ty.collation.charset(), session.settings.client_charset);
    if from != Charset::Binary && ty.is_string() && from != to {
        source = from.convert(&source, to).0.into_owned();
    }
    Ok(source)
}

fn refuse_nested(statement: &ast::Statement) -> SqlResult<()> {
    use ast::Statement::{Deallocate, Execute, ExecuteImmediate, Prepare};
    match statement {
        Prepare(_) | Execute(_) | ExecuteImmediate(_) | Deallocate(_) => {
            Err(SqlError::new(&ER_UNSUPPORTED_PS, &[]))
        }
        _ => Ok(()),
    }
}

/// Error 1970 for a value that is or has a subquery.
fn refuse_subquery(e: &ast::Expr, place: &str) -> SqlResult<()> {
    match e.has_subquery() {
        true => Err(SqlError::new(&ER_SUBQUERIES_NOT_SUPPORTED, &[&place])),
        false => Ok(()),
    }
}

/// `PREPARE name FROM text`.
pub(super) fn prepare(
    instance: &Instance,
    session: &mut Session,
    statement: &ast::Prepare,
    running: Running<'_>,
) -> SqlResult<Outcome> {
    let name: Box<str> = statement.name.value.to_lowercase().into();
    // Compat: a failed PREPARE removes the statement that had the name.
    session.prepared.remove(&name);
    refuse_subquery(&statement.source, "PREPARE..FROM")?;
    let ticket = session.hooks.count_prepared()?;
    let prepared = prepare_value(instance, session, &statement.source, running)?;
    refuse_nested(&prepared.statement)?;
    session.prepared.insert(name, Named { statement: Arc::new(prepared), ticket });
    Ok(Outcome { info: "Statement prepared".into(), ..Outcome::ok() })
}

fn values(
    instance: &Instance,
    session: &mut Session,
    using: &[ast::Expr],
    running: Running<'_>,
) -> SqlResult<Vec<(Value, SqlType)>> {
    using.iter().map(|e| evaluate(instance, session, e, running)).collect()
}

/// `EXECUTE name USING ...`.
pub(super) fn execute(
    instance: &Instance,
    session: &mut Session,
    statement: &ast::Execute,
    running: Running<'_>,
    sink: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    let name = &*statement.name.value;
    let found = session.prepared.get(&*name.to_lowercase()).map(|n| Arc::clone(&n.statement));
    let unknown = || SqlError::new(&ER_UNKNOWN_STMT_HANDLER, &[&name, &"EXECUTE"]);
    let prepared = found.ok_or_else(unknown)?;
    if session.programs.executing.iter().any(|running| Arc::ptr_eq(running, &prepared)) {
        return Err(SqlError::new(&ER_PS_NO_RECURSION, &[]));
    }
    statement.using.iter().try_for_each(|e| refuse_subquery(e, "EXECUTE..USING"))?;
    let values = values(instance, session, &statement.using, running)?;
    session.programs.executing.push(Arc::clone(&prepared));
    let result = execute_prepared(instance, session, &prepared, &values, sink);
    session.programs.executing.pop();
    result
}

/// `EXECUTE IMMEDIATE text USING ...`.
pub(super) fn immediate(
    instance: &Instance,
    session: &mut Session,
    statement: &ast::ExecuteImmediate,
    running: Running<'_>,
    sink: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    refuse_subquery(&statement.source, "EXECUTE IMMEDIATE")?;
    statement.using.iter().try_for_each(|e| refuse_subquery(e, "EXECUTE..USING"))?;
    let prepared = prepare_value(instance, session, &statement.source, running)?;
    refuse_nested(&prepared.statement)?;
    let values = values(instance, session, &statement.using, running)?;
    let told = session.diagnostics.present();
    session.diagnostics.clear();
    let result = execute_prepared(instance, session, &prepared, &values, sink);
    session.diagnostics.put_first(told, session.settings.max_error_count);
    result
}
