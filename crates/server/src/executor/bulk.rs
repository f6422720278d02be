//! A prepared statement for many rows of parameters.

use std::sync::Arc;

use selkie_exec::bulk::{Argument, Step, Sum, steps_of};
use selkie_exec::{NullSink, Outcome, Prepared, ResultSink, execute_text};
use selkie_types::SqlResult;

use super::session::ExecutorSession;
use crate::backend::BackendSession;

pub(super) fn run(
    session: &mut ExecutorSession,
    prepared: &Arc<Prepared>,
    rows: Vec<Vec<Argument>>,
    sink: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    let steps = steps_of(prepared, rows).inspect_err(|error| session.note_error(error))?;
    match &steps.steps[..] {
        [Step { statement, values, .. }] => session.run_prepared(statement, values, sink),
        all if steps.together => together(session, prepared, all, sink),
        all => one_by_one(session, prepared, all, sink),
    }
}

fn one_by_one(
    session: &mut ExecutorSession,
    prepared: &Prepared,
    steps: &[Step],
    sink: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    let mut sum = Sum::default();
    for Step { statement, values, .. } in steps {
        sum.add(session.run_prepared(statement, values, sink)?);
    }
    Ok(sum.outcome(&prepared.statement))
}

/// As one statement: warnings count on, and an error undoes what was done before it.
fn together(
    session: &mut ExecutorSession,
    prepared: &Prepared,
    steps: &[Step],
    sink: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    let alone = session.session.frame.settings.autocommit && !session.session.in_transaction();
    let [begin, end, undo]: [&[u8]; 3] = match alone {
        true => [b"START TRANSACTION", b"COMMIT", b"ROLLBACK"],
        false => {
            [b"SAVEPOINT `\x01`", b"RELEASE SAVEPOINT `\x01`", b"ROLLBACK TO SAVEPOINT `\x01`"]
        }
    };
    quietly(session, begin)?;
    let (mut sum, mut told) = (Sum::default(), Vec::new());
    for Step { statement, values, before } in steps {
        session.session.rows_before.set(*before);
        let result = session.run_prepared(statement, values, sink);
        session.session.rows_before.set(0);
        match result {
            Ok(outcome) => sum.add(outcome),
            Err(error) => {
                session.session.diagnostics.clear();
                // A deadlock has undone everything already; the client hears of it.
                let _ = quietly(session, undo);
                session.note_error(&error);
                return Err(error);
            }
        }
        told.extend(session.session.diagnostics.present());
    }
    session.session.diagnostics.clear();
    quietly(session, end)?;
    let most = session.session.frame.settings.max_error_count;
    session.session.diagnostics.put_first(told, most);
    Ok(sum.outcome(&prepared.statement))
}

fn quietly(session: &mut ExecutorSession, text: &[u8]) -> SqlResult<()> {
    let ExecutorSession { instance, session, .. } = session;
    execute_text(instance, session, text, &mut NullSink).map(|_| ())
}
