//! KILL.
//!
//! Must not wait for the sessions it ends.

use std::sync::Arc;

use selkie_sql::ast::{Expr, Kill, KillTarget, KillWhat};
use selkie_types::error::catalogue::*;
use selkie_types::{SqlError, SqlResult};

use crate::accounts::Privileges;
use crate::session::Shared;
use crate::sessions::SessionHandle;

/// Runs KILL.
pub(super) fn kill(
    shared: &Shared,
    statement: &Kill,
    number: &mut dyn FnMut(&Expr) -> SqlResult<u64>,
) -> SqlResult<()> {
    match &statement.target {
        KillTarget::Connection(expr) => {
            let id = number(expr)?;
            let session = shared.server.sessions.find(id);
            let session = session.ok_or_else(|| SqlError::new(&ER_NO_SUCH_THREAD, &[&id]))?;
            check(shared, &session, || SqlError::new(&ER_KILL_DENIED_ERROR, &[&id]))?;
            end(shared, &session, statement.what)
        }
        KillTarget::QueryId(expr) => {
            let id = number(expr)?;
            let list = shared.server.sessions.list();
            let session = list.into_iter().find(|s| s.activity().query_id == id);
            let session = session.ok_or_else(|| SqlError::new(&ER_NO_SUCH_QUERY, &[&id]))?;
            check(shared, &session, || SqlError::new(&ER_KILL_QUERY_DENIED_ERROR, &[&id]))?;
            end(shared, &session, KillWhat::Query)
        }
        KillTarget::User(name) => {
            let name = super::names::user(shared, name)?;
            let is_meant = |session: &Arc<SessionHandle>| {
                let of_host = name.host.as_ref().is_none_or(|h| h.matches(host_of(session), ""));
                session.user() == name.user && of_host && session.id != shared.handle.id
            };
            let mut sessions = shared.server.sessions.list();
            sessions.retain(is_meant);
            let own = shared.handle.id;
            let denied = || SqlError::new(&ER_KILL_DENIED_ERROR, &[&own]);
            sessions.iter().try_for_each(|session| check(shared, session, denied))?;
            sessions.iter().try_for_each(|session| end(shared, session, statement.what))
        }
    }
}

fn admin() -> Privileges {
    Privileges::CONNECTION_ADMIN | Privileges::SUPER
}

fn host_of(session: &SessionHandle) -> &str {
    session.host.split(':').next().unwrap_or_default()
}

/// Everybody may end sessions of the own user; others need a privilege.
fn check(
    shared: &Shared,
    session: &SessionHandle,
    denied: impl FnOnce() -> SqlError,
) -> SqlResult<()> {
    let own = session.user() == shared.handle.user();
    if own || shared.access.lock().has_global(admin()) { Ok(()) } else { Err(denied()) }
}

fn end(shared: &Shared, session: &SessionHandle, what: KillWhat) -> SqlResult<()> {
    let own = session.id == shared.handle.id;
    match what {
        KillWhat::Query => session.kill_query(),
        KillWhat::Connection => session.kill_connection(),
    }
    match (own, what) {
        (false, _) => Ok(()),
        (true, KillWhat::Query) => Err(SqlError::interrupted()),
        (true, KillWhat::Connection) => Err(SqlError::new(&ER_CONNECTION_KILLED, &[])),
    }
}
