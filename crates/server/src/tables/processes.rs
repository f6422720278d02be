//! The process list: all sessions with their present activity.
//!
//! Must not show sessions of other users without the PROCESS privilege.

use selkie_exec::Killed;
use selkie_types::{Decimal, Value};

use super::{Row, text};
use crate::accounts::Privileges;
use crate::session::Shared;
use crate::sessions::SessionHandle;

pub(super) fn processlist(shared: &Shared) -> Vec<Row> {
    let sees_all = shared.access.lock().has_global(Privileges::PROCESS);
    let own = shared.handle.user();
    let list = shared.server.sessions.list();
    // Compat: the newest comes first.
    list.iter().rev().filter(|s| sees_all || s.user() == own).map(|s| row(s)).collect()
}

fn row(session: &SessionHandle) -> Row {
    let activity = session.activity();
    let spent = activity.since.elapsed();
    let command = match session.kill.get() {
        Killed::Connection => "Killed",
        _ => activity.command,
    };
    let reached = session.kill.progress().now();
    let progress = Decimal::new(i64::from(reached.thousandths).into(), 3);
    let info = || activity.info.as_deref().map_or(Value::Null, text);
    vec![
        ("ID", Value::Int(session.id as i64)),
        ("USER", text(session.user())),
        ("HOST", text(&session.host)),
        ("DB", session.schema().map_or(Value::Null, text)),
        ("COMMAND", text(command)),
        ("TIME", Value::Int(spent.as_secs() as i64)),
        ("STATE", text(activity.state)),
        ("INFO", info()),
        ("TIME_MS", Value::Decimal(Decimal::new((spent.as_micros() as i64).into(), 3))),
        ("STAGE", Value::Int(i64::from(reached.stage))),
        ("MAX_STAGE", Value::Int(i64::from(reached.stages))),
        ("PROGRESS", Value::Decimal(progress)),
        ("MEMORY_USED", Value::Int(session.kill.account().used())),
        ("MAX_MEMORY_USED", Value::Int(session.kill.account().most())),
        ("EXAMINED_ROWS", Value::Int(0)),
        ("QUERY_ID", Value::Int(activity.query_id as i64)),
        ("INFO_BINARY", info()),
        ("TID", Value::Int(0)),
    ]
}
