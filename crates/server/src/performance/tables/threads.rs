//! Threads: the main thread, and the session of each connection and each thread of the server that
//! runs statements.

use selkie_types::Value;

use super::{Asked, optional, yes_no};
use crate::performance::{MAIN_THREAD, Recorder};
use crate::sessions::{Door, SessionHandle};
use crate::tables::{Row, text};

pub(super) fn threads(asked: &Asked<'_>) -> Vec<Row> {
    let sessions = asked.recorders().map(|(session, recorder)| row(session, recorder));
    [main_thread(asked)].into_iter().chain(sessions).collect()
}

fn main_thread(asked: &Asked<'_>) -> Row {
    let uptime = asked.shared.server.uptime();
    vec![
        ("THREAD_ID", Value::UInt(MAIN_THREAD)),
        ("NAME", text("thread/sql/main")),
        ("TYPE", text("BACKGROUND")),
        ("PROCESSLIST_TIME", Value::Int(uptime as i64)),
        ("INSTRUMENTED", yes_no(true)),
        ("HISTORY", yes_no(true)),
        ("THREAD_OS_ID", Value::UInt(std::process::id().into())),
    ]
}

/// Name of the thread that a session of the server is.
fn name(session: &SessionHandle, command: &str) -> &'static str {
    match command {
        _ if session.door != Door::System => "thread/sql/one_connection",
        "Slave_IO" => "thread/sql/slave_io",
        "Slave_SQL" => "thread/sql/slave_sql",
        "Slave_worker" => "thread/sql/rpl_parallel_thread",
        "Daemon" => "thread/sql/event_scheduler",
        _ => "thread/sql/event_worker",
    }
}

fn row(session: &SessionHandle, recorder: &Recorder) -> Row {
    let activity = session.activity();
    let state = recorder.state.lock();
    let switch = recorder.switch.get();
    let (user, host) = match &state.owner {
        Some((user, host)) => (Some(user.as_str()), Some(host.as_str())),
        None => (None, None),
    };
    let shown = Some(activity.state).filter(|state| !state.is_empty());
    vec![
        ("THREAD_ID", Value::UInt(recorder.thread)),
        ("NAME", text(name(session, activity.command))),
        ("TYPE", text("FOREGROUND")),
        ("PROCESSLIST_ID", Value::UInt(session.id)),
        ("PROCESSLIST_USER", optional(user)),
        ("PROCESSLIST_HOST", optional(host)),
        ("PROCESSLIST_DB", optional(session.schema())),
        ("PROCESSLIST_COMMAND", text(activity.command)),
        ("PROCESSLIST_TIME", Value::Int(activity.since.elapsed().as_secs() as i64)),
        ("PROCESSLIST_STATE", optional(shown)),
        ("PROCESSLIST_INFO", optional(activity.info.as_deref())),
        ("PARENT_THREAD_ID", Value::UInt(MAIN_THREAD)),
        ("INSTRUMENTED", yes_no(switch.enabled)),
        ("HISTORY", yes_no(switch.second)),
        ("CONNECTION_TYPE", optional(Some(state.connection).filter(|c| !c.is_empty()))),
    ]
}

pub(super) fn attributes(asked: &Asked<'_>) -> Vec<Row> {
    let all = asked.recorders().flat_map(|(session, recorder)| of_session(session, recorder));
    all.collect()
}

/// The attributes of the sessions of the reader's own account.
pub(super) fn account_attributes(asked: &Asked<'_>) -> Vec<Row> {
    let own = asked.shared.handle.recorder();
    let own = own.and_then(|recorder| recorder.state.lock().owner.clone());
    let of_account = asked.recorders().filter(|(_, recorder)| recorder.state.lock().owner == own);
    of_account.flat_map(|(session, recorder)| of_session(session, recorder)).collect()
}

fn of_session(session: &SessionHandle, recorder: &Recorder) -> Vec<Row> {
    let attributes = &recorder.state.lock().attributes;
    let rows = attributes.iter().enumerate().map(|(at, (name, value))| {
        vec![
            ("PROCESSLIST_ID", Value::Int(session.id as i64)),
            ("ATTR_NAME", text(name)),
            ("ATTR_VALUE", text(value)),
            ("ORDINAL_POSITION", Value::Int(at as i64)),
        ]
    });
    rows.collect()
}
