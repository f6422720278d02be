//! Statements about definitions: DDL, SHOW, DESCRIBE. SHOW and DESCRIBE either give rows of their
//! own or become a query over `information_schema`.

use selkie_plan::physical::OutputColumn;
use selkie_sql::ast::Statement;
use selkie_types::SqlResult;

use crate::ddl::Ddl;
use crate::query::execution::Execution;
use crate::run::rows_out;
use crate::show::{ShownRows, describe_query, show_query, show_rows};
use crate::{Outcome, ResultSink, execute_text};

/// Runs `statement`; `None` if it is not a statement about definitions.
pub(crate) fn extension(
    execution: &mut Execution<'_>,
    statement: &Statement,
) -> SqlResult<Option<Outcome>> {
    if let Some(outcome) = crate::admin::run_on_partitions(execution, statement)? {
        return Ok(Some(outcome));
    }
    let scope = execution.scope();
    match statement {
        Statement::Show(show) => {
            if let Some(shown) = show_rows(scope, execution.control, show)? {
                return send(shown, execution.sink).map(Some);
            }
            match show_query(scope, show, execution.running.text)? {
                Some(query) => shown(execution, &query).map(Some),
                None => Ok(None),
            }
        }
        Statement::Describe(describe) => {
            let query = describe_query(scope, describe)?;
            shown(execution, &query).map(Some)
        }
        _ => Ddl::new(execution).run(statement),
    }
}

/// Runs the query of a SHOW statement. Session settings for the client's own queries do not apply
/// to it.
fn shown(execution: &mut Execution<'_>, query: &str) -> SqlResult<Outcome> {
    let Execution { instance, session, sink, .. } = execution;
    let buffered = std::mem::replace(&mut session.frame.settings.queries.buffer_result, false);
    session.shows = true;
    let result = execute_text(instance, session, query.as_bytes(), *sink);
    session.shows = false;
    session.frame.settings.queries.buffer_result = buffered;
    result
}

fn send(shown: ShownRows, sink: &mut dyn ResultSink) -> SqlResult<Outcome> {
    let output: Vec<OutputColumn> = shown
        .columns
        .iter()
        .map(|(name, ty)| OutputColumn {
            nullable: false,
            ..OutputColumn::computed(name, ty.clone())
        })
        .collect();
    rows_out::send(sink, &output, &shown.rows)?;
    Ok(Outcome::rows())
}
