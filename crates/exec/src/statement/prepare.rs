//! SQL-level PREPARE and EXECUTE. The binary protocol uses [`prepared`](super::prepared) directly.
//! A prepared statement must not run itself, nor prepare others.

use std::io::Read;
use std::sync::Arc;

use selkie_plan::physical::OutputColumn;
use selkie_sql::ast::ExprKind;
use selkie_sql::{ClientText, ast, trimmed};
use selkie_types::error::catalogue::{
    ER_PS_NO_RECURSION, ER_SUBQUERIES_NOT_SUPPORTED, ER_UNKNOWN_STMT_HANDLER, ER_UNSUPPORTED_PS,
};
use selkie_types::{Batch, Charset, SqlError, SqlResult, SqlType, Value};

use super::names_tables::names_tables;
use crate::bulk::{self, Argument};
use crate::query::execution::Execution;
use crate::state::prepared::{Named, Prepared};
use crate::statement::prepared::execute_prepared;
use crate::statement::prepared::prepare as prepare_text;
use crate::{OutParameter, Outcome, ResultSink, Session, Told};

/// Prepares the statement in a string value, as if the client had sent it.
fn prepare_value(execution: &mut Execution<'_>, e: &ast::Expr) -> SqlResult<Prepared> {
    let source = source(execution, e)?;
    let source = trimmed(&source);
    let origin = ClientText::new(source, execution.session.frame.settings.charsets.client);
    let text = origin.as_ref().map_or(source, ClientText::utf8);
    let session = &mut *execution.session;
    let variables = std::mem::replace(&mut session.programs.nesting.has_variables, false);
    let prepared = prepare_text(execution.instance, session, text, origin.as_ref());
    session.programs.nesting.has_variables = variables;
    prepared
}

/// Text of a statement to prepare, in the client's character set.
fn source(execution: &mut Execution<'_>, e: &ast::Expr) -> SqlResult<Vec<u8>> {
    let (value, ty) = execution.evaluate(e)?;
    let mut source = Vec::new();
    match value {
        // Compat: NULL becomes the text "NULL", which does not parse.
        Value::Null => source.extend_from_slice(b"NULL"),
        value => selkie_types::write_value(&ty, &value, &mut source),
    }
    let (from, to) = (ty.collation.charset(), execution.session.frame.settings.charsets.client);
    if from != Charset::Binary && ty.is_string() && from != to {
        source = from.convert(&source, to).0.into_owned();
    }
    Ok(source)
}

/// Error 1295 for statements about prepared statements.
pub(crate) fn refuse_nested(statement: &ast::Statement) -> SqlResult<()> {
    use ast::Statement::{Deallocate, Execute, ExecuteImmediate, Prepare};
    match statement {
        Prepare(_) | Execute(_) | ExecuteImmediate(_) | Deallocate(_) => {
            Err(SqlError::new(&ER_UNSUPPORTED_PS, &[]))
        }
        _ => Ok(()),
    }
}

/// Error 1970 for a value that contains a subquery.
fn refuse_subquery(e: &ast::Expr, place: &str) -> SqlResult<()> {
    match e.has_subquery() {
        true => Err(SqlError::new(&ER_SUBQUERIES_NOT_SUPPORTED, &[&place])),
        false => Ok(()),
    }
}

/// Fails (1444) if the statement with this name, in lower case, runs.
pub(super) fn check_not_executing(session: &Session, name: &str) -> SqlResult<()> {
    let Some(named) = session.prepared.get(name) else { return Ok(()) };
    match session.programs.executing.iter().any(|running| Arc::ptr_eq(running, &named.statement)) {
        true => Err(SqlError::new(&ER_PS_NO_RECURSION, &[])),
        false => Ok(()),
    }
}

/// `PREPARE name FROM text`.
pub(super) fn prepare(
    execution: &mut Execution<'_>,
    statement: &ast::Prepare,
) -> SqlResult<Outcome> {
    let name: Box<str> = statement.name.value.to_lowercase().into();
    check_not_executing(execution.session, &name)?;
    // Compat: a failed PREPARE removes the statement that had the name.
    execution.session.prepared.remove(&name);
    refuse_subquery(&statement.source, "PREPARE..FROM")?;
    let ticket = execution.session.frame.hooks.count_prepared()?;
    let prepared = prepare_value(execution, &statement.source)?;
    refuse_nested(&prepared.statement)?;
    let session = &mut *execution.session;
    if names_tables(&prepared.statement) {
        session.diagnostics.forget_stale();
    }
    session.prepared.insert(name, Named { statement: Arc::new(prepared), ticket });
    Ok(Outcome { told: Told::Prepared, ..Outcome::ok() })
}

fn arguments(execution: &mut Execution<'_>, using: &[ast::Expr]) -> SqlResult<Vec<Argument>> {
    let argument = |e: &ast::Expr| match e.kind {
        ExprKind::Default(None) => Ok(Argument::Default),
        ExprKind::Ignore => Ok(Argument::Ignore),
        // Compat: NULL has no type, whatever its variable was before.
        _ => execution.evaluate(e).map(|(v, ty)| match v.is_null() {
            true => Argument::Value(v, SqlType::null()),
            false => Argument::Value(v, ty),
        }),
    };
    using.iter().map(argument).collect()
}

/// `EXECUTE name USING ...`.
pub(super) fn execute(
    execution: &mut Execution<'_>,
    statement: &ast::Execute,
) -> SqlResult<Outcome> {
    let (name, session) = (&*statement.name.value, &*execution.session);
    let found = session.prepared.get(&*name.to_lowercase()).map(|n| Arc::clone(&n.statement));
    let unknown = || SqlError::new(&ER_UNKNOWN_STMT_HANDLER, &[&name, &"EXECUTE"]);
    let prepared = found.ok_or_else(unknown)?;
    check_not_executing(session, &name.to_lowercase())?;
    statement.using.iter().try_for_each(|e| refuse_subquery(e, "EXECUTE..USING"))?;
    let values = arguments(execution, &statement.using)?;
    execute_using(execution, &prepared, &statement.using, values)
}

/// Runs a statement; while it runs, it cannot run itself.
fn execute_using(
    execution: &mut Execution<'_>,
    prepared: &Arc<Prepared>,
    using: &[ast::Expr],
    arguments: Vec<Argument>,
) -> SqlResult<Outcome> {
    let text = String::from_utf8_lossy(&prepared.text);
    let hooks = execution.session.frame.hooks.clone();
    hooks.count(&prepared.statement);
    let outer = hooks.show_text(Some(text.into()));
    execution.session.programs.executing.push(Arc::clone(prepared));
    let variables = std::mem::replace(&mut execution.session.programs.nesting.has_variables, false);
    let result = execute_with(execution, prepared, using, arguments);
    execution.session.programs.nesting.has_variables = variables;
    execution.session.programs.executing.pop();
    hooks.show_text(outer);
    result
}

/// Runs a statement and assigns the OUT values of a procedure to the variables of USING.
fn execute_with(
    execution: &mut Execution<'_>,
    prepared: &Prepared,
    using: &[ast::Expr],
    arguments: Vec<Argument>,
) -> SqlResult<Outcome> {
    let made;
    let prepared = match arguments.iter().all(Argument::is_value) {
        // A wrong number of arguments is reported below.
        _ if arguments.len() != prepared.parameters => prepared,
        true => prepared,
        false => match bulk::stood_in(prepared, &arguments)? {
            Some(statement) => {
                made = statement;
                &made
            }
            None => return Ok(Outcome::ok()),
        },
    };
    let values: Vec<_> = arguments.into_iter().map(Argument::into_value).collect();
    let (values, Execution { instance, session, sink, .. }) = (&values, execution);
    let mut sink = UsingSink { inner: *sink, using, given_back: Vec::new() };
    let outcome = execute_prepared(instance, session, (prepared, None), values, &mut sink)?;
    let UsingSink { inner, given_back, .. } = sink;
    for given in given_back {
        match using[given.placeholder].kind {
            ExprKind::UserVar(ref name) => {
                session.set_variable(name, given.value, &given.column.ty);
            }
            ExprKind::Param(number) => {
                inner
                    .out_parameters(vec![OutParameter { placeholder: number as usize, ..given }])?;
            }
            _ => return Err(SqlError::internal("an OUT argument that takes no value")),
        }
    }
    Ok(outcome)
}

/// Sink of an EXECUTE; its placeholders are the expressions of USING.
struct UsingSink<'a> {
    inner: &'a mut dyn ResultSink,
    using: &'a [ast::Expr],
    given_back: Vec<OutParameter>,
}

impl ResultSink for UsingSink<'_> {
    fn columns(&mut self, columns: &[OutputColumn]) -> SqlResult<()> {
        self.inner.columns(columns)
    }

    fn planned_columns(&mut self, columns: &Arc<[OutputColumn]>) -> SqlResult<()> {
        self.inner.planned_columns(columns)
    }

    fn batch(&mut self, batch: &Batch) -> SqlResult<()> {
        self.inner.batch(batch)
    }

    fn end(&mut self) -> SqlResult<()> {
        self.inner.end()
    }

    fn form(&self) -> Option<u64> {
        self.inner.form()
    }

    fn keep_rows(&mut self, limit: usize) {
        self.inner.keep_rows(limit);
    }

    fn kept_rows(&mut self) -> Option<Vec<u8>> {
        self.inner.kept_rows()
    }

    fn send_again(&mut self, rows: &[u8], count: u64) -> SqlResult<()> {
        self.inner.send_again(rows, count)
    }

    fn takes_parameter(&self, number: usize) -> bool {
        match self.using.get(number).map(|e| &e.kind) {
            Some(ExprKind::UserVar(_)) => true,
            Some(ExprKind::Param(number)) => self.inner.takes_parameter(*number as usize),
            _ => false,
        }
    }

    fn out_parameters(&mut self, parameters: Vec<OutParameter>) -> SqlResult<()> {
        self.given_back = parameters;
        Ok(())
    }

    fn local_infile(&mut self, file: &str) -> SqlResult<Box<dyn Read + '_>> {
        self.inner.local_infile(file)
    }
}

/// `EXECUTE IMMEDIATE text USING ...`.
pub(super) fn immediate(
    execution: &mut Execution<'_>,
    statement: &ast::ExecuteImmediate,
) -> SqlResult<Outcome> {
    refuse_subquery(&statement.source, "EXECUTE IMMEDIATE")?;
    statement.using.iter().try_for_each(|e| refuse_subquery(e, "EXECUTE..USING"))?;
    let prepared = Arc::new(prepare_value(execution, &statement.source)?);
    refuse_nested(&prepared.statement)?;
    let values = arguments(execution, &statement.using)?;
    let told = execution.session.diagnostics.present();
    if !told.is_empty() {
        execution.session.diagnostics.clear();
    }
    let result = execute_using(execution, &prepared, &statement.using, values);
    let session = &*execution.session;
    session.diagnostics.put_first(told, session.frame.settings.notes.max_error_count);
    result
}
