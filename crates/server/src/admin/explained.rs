//! The session that SHOW EXPLAIN, SHOW ANALYZE and EXPLAIN FOR CONNECTION name.
//!
//! Must not touch it.

use std::sync::Arc;

use selkie_exec::{LiveAsked, LivePlans};
use selkie_sql::ast::{Expr, ExprKind, ShowWhat, Statement, UnaryOp};
use selkie_types::error::catalogue::{ER_NO_SUCH_THREAD, ER_SET_CONSTANTS_ONLY};
use selkie_types::{SqlError, SqlResult};

use crate::accounts::Privileges;
use crate::session::Shared;
use crate::sessions::SessionHandle;

/// The plans that such a statement asks about, and its question; `None` for other statements.
pub(crate) fn explained(
    shared: &Shared,
    statement: &Statement,
    number: &mut dyn FnMut(&Expr) -> SqlResult<u64>,
) -> SqlResult<Option<(LivePlans, LiveAsked)>> {
    let Statement::Show(show) = statement else { return Ok(None) };
    let ShowWhat::Explain { json, analyze, connection } = &show.what else { return Ok(None) };
    let session = session(shared, connection, number)?;
    let activity = session.activity();
    let asked = LiveAsked {
        json: *json,
        analyze: *analyze,
        command: activity.info,
        since: activity.since.elapsed(),
    };
    Ok(Some((session.live.clone(), asked)))
}

/// The session with the number that a literal gives; those of other users need PROCESS.
fn session(
    shared: &Shared,
    connection: &Expr,
    number: &mut dyn FnMut(&Expr) -> SqlResult<u64>,
) -> SqlResult<Arc<SessionHandle>> {
    if !is_literal(connection) {
        return Err(SqlError::new(&ER_SET_CONSTANTS_ONLY, &[]));
    }
    let id = number(connection)?;
    let unknown = || SqlError::new(&ER_NO_SUCH_THREAD, &[&id]);
    let session = shared.server.sessions.find(id).ok_or_else(unknown)?;
    if session.user() != shared.handle.user() {
        shared.access.lock().check_global(Privileges::PROCESS)?;
    }
    Ok(session)
}

fn is_literal(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Literal(_) => true,
        ExprKind::Unary { op: UnaryOp::Neg, expr } => matches!(expr.kind, ExprKind::Literal(_)),
        _ => false,
    }
}
