//! Statements about definitions: DDL, SHOW, DESCRIBE. SHOW and DESCRIBE either give rows of their
//! own or become a query over `information_schema`.

use selkie_plan::physical::OutputColumn;
use selkie_sql::ast::{Expr, QueryBody, ShowFilter, Statement};
use selkie_types::SqlResult;

use crate::ddl::Ddl;
use crate::query::execution::Execution;
use crate::query::planning;
use crate::query::running::Running;
use crate::query::text_plans::{TextLookup, TextPlan, find_text_plan, keep_text_plan};
use crate::run::rows_out;
use crate::show::{ShownRows, describe_query, show_query, show_rows};
use crate::{Outcome, ResultSink};

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
            match show_query(scope, show)? {
                Some(query) => shown(execution, &query, show.filter.as_deref()).map(Some),
                None => Ok(None),
            }
        }
        Statement::Describe(describe) => {
            let query = describe_query(scope, describe)?;
            shown(execution, &query, None).map(Some)
        }
        _ => Ddl::new(execution).run(statement),
    }
}

/// Runs the query of a SHOW statement with the statement's WHERE, whose values and variables are
/// those of the statement. Session settings for the client's own queries do not apply to it.
fn shown(
    execution: &mut Execution<'_>,
    query: &str,
    filter: Option<&ShowFilter>,
) -> SqlResult<Outcome> {
    let queries = &mut execution.session.frame.settings.queries;
    let buffered = std::mem::replace(&mut queries.buffer_result, false);
    execution.session.shows = true;
    let result = match filter {
        Some(ShowFilter::Where(condition)) => shown_where(execution, query, condition),
        _ => shown_again(execution, query.as_bytes()),
    };
    execution.session.shows = false;
    execution.session.frame.settings.queries.buffer_result = buffered;
    result
}

fn shown_where(execution: &mut Execution<'_>, query: &str, condition: &Expr) -> SqlResult<Outcome> {
    let mut parsed = planning::parse(execution.session, query.as_bytes(), None)?;
    if let Statement::Query(query) = &mut parsed.statement
        && let QueryBody::Select(select) = &mut query.body
    {
        select.where_clause = Some(condition.clone());
    }
    run_parsed(execution, &parsed.statement)
}

/// Runs a query whose plan is kept like that of a client's text: applications ask for the same
/// definitions again and again.
fn shown_again(execution: &mut Execution<'_>, query: &[u8]) -> SqlResult<Outcome> {
    let (instance, session) = (execution.instance, &*execution.session);
    let repeated = match find_text_plan(instance, session, query) {
        TextLookup::Found(kept) => return run_kept(execution, query, &kept),
        TextLookup::Repeated(repeated) => Some(repeated),
        TextLookup::Unknown => None,
    };
    let parsed = planning::parse(session, query, None)?;
    let kept =
        repeated.and_then(|how| keep_text_plan(instance, session, &parsed.statement, query, how));
    match kept {
        Some(kept) => run_kept(execution, query, &kept),
        None => run_parsed(execution, &parsed.statement),
    }
}

fn run_kept(execution: &mut Execution<'_>, query: &[u8], kept: &TextPlan) -> SqlResult<Outcome> {
    let running = Running { prepared: Some(&kept.statement), ..Running::new(query, &kept.values) };
    execution.with_running(running).execute(&kept.statement.statement)
}

fn run_parsed(execution: &mut Execution<'_>, statement: &Statement) -> SqlResult<Outcome> {
    let running = Running { prepared: None, ..execution.running };
    execution.with_running(running).execute(statement)
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
