//! Statements about definitions: DDL, SHOW, DESCRIBE. SHOW and DESCRIBE either give rows of their
//! own or become a query over `information_schema`.

use selkie_plan::physical::OutputColumn;
use selkie_sql::ast::Statement;
use selkie_types::{Batch, Column, SqlResult};
use std::sync::Arc;

use crate::ddl::Ddl;
use crate::query::execution::Execution;
use crate::show::{ShownRows, describe_query, show_query, show_rows};
use crate::state::columns::column_of;
use crate::{Outcome, ResultSink, execute_text};

/// Runs `statement`; `None` if it is not a statement about definitions.
pub(crate) fn extension(
    execution: &mut Execution<'_>,
    statement: &Statement,
) -> SqlResult<Option<Outcome>> {
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
    let empty: Arc<str> = "".into();
    let output: Vec<OutputColumn> = shown
        .columns
        .iter()
        .map(|(name, ty)| OutputColumn {
            name: (*name).into(),
            ty: ty.clone(),
            nullable: false,
            schema: empty.clone(),
            table: empty.clone(),
            org_table: empty.clone(),
            org_name: empty.clone(),
            kept: false,
            whole: false,
            primary_key: false,
            unique_key: false,
            multiple_key: false,
            part_of_key: false,
            auto_increment: false,
            no_default: false,
            on_update_now: false,
            sets_itself: false,
        })
        .collect();
    sink.columns(&output)?;
    if !shown.rows.is_empty() {
        let mut columns: Vec<Column> =
            shown.columns.iter().map(|(_, ty)| column_of(ty, shown.rows.len())).collect();
        for row in &shown.rows {
            columns.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
        }
        let columns = columns.into_iter().map(Arc::new).collect();
        sink.batch(&Batch::new(columns, shown.rows.len()))?;
    }
    Ok(Outcome::rows())
}
