//! The event scheduler: a thread that waits for due times and starts runs.
//!
//! The queue has one due time of each enabled event. When it comes, the scheduler's session marks
//! it as run, and a thread of its own runs the body in a session of the definer. Must not know SQL.
//!
//! # Invariants
//! - SCHED-1 Nobody waits for a lock, a disk or a run while holding the queue's mutex.
//! - SCHED-2 A due time is marked before its run begins; what cannot be marked does not run.
//! - SCHED-3 A definition that changes puts its own next due time into the queue; the scheduler
//!   adds one only for an event that has none.

mod queue;
mod thread;

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use parking_lot::{Condvar, Mutex};
use selkie_catalog::{Event, EventStatus, Timing};
use selkie_exec::session::EventChange;
use selkie_types::error::catalogue::{ER_EVENT_SET_VAR_ERROR, ER_OPTION_PREVENTS_STATEMENT};
use selkie_types::{SqlError, SqlResult};

use self::queue::Queue;
use crate::server::Server;
use crate::session::Shared;
use crate::sessions::SessionHandle;
use crate::variables::{VarDef, VarValue, ids};

/// Values of `event_scheduler`.
const OFF: u16 = 0;
const ON: u16 = 1;
pub(crate) const DISABLED: u16 = 2;

/// The scheduler of a server.
#[derive(Default)]
pub(crate) struct Scheduler {
    /// Held by whoever starts or stops it.
    admin: Mutex<()>,
    state: Mutex<State>,
    /// Signals changes of the state.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The scheduler's session, if its thread runs.
    session: Option<Arc<SessionHandle>>,
    /// Whether the thread is to end.
    stops: bool,
    queue: Queue,
    /// Number of runs that have not ended.
    runs: usize,
}

/// Seconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

/// The first due time of an event that comes into the queue. Compat: a start that is now counts,
/// any other time that is now does not.
fn first_due(event: &Event, now: i64) -> Option<i64> {
    let starts_now = matches!(event.timing, Timing::Every { starts, .. } if starts == now);
    // It may have run before a crash in this second. A clock that was wrong may have left a time
    // that is not over.
    let last = event.last_executed.filter(|last| *last <= now).unwrap_or(i64::MIN);
    due_after(event, last.max(now - i64::from(starts_now)))
}

/// The next due time of an enabled event after `after`.
fn due_after(event: &Event, after: i64) -> Option<i64> {
    if event.status != EventStatus::Enabled {
        return None;
    }
    match event.time_zone() {
        Ok(zone) => event.next_after(&zone, after),
        Err(error) => {
            tracing::error!("Event Scheduler: [{}.{}] {error}", event.schema, event.name);
            None
        }
    }
}

impl Scheduler {
    /// Follows a change of events.
    pub(crate) fn follow(&self, change: EventChange<'_>) {
        let due = match change {
            EventChange::Created(event) => {
                Some((event, first_due(event, event.context.created / 1_000_000)))
            }
            EventChange::Altered { new, .. } => {
                // A time that has come was marked before the change.
                Some((new, due_after(new, now())))
            }
            EventChange::Dropped(..) | EventChange::SchemaDropped(_) => None,
        };
        let mut state = self.state.lock();
        if state.session.is_none() {
            return;
        }
        match change {
            EventChange::Altered { old: (schema, name), .. }
            | EventChange::Dropped(schema, name) => state.queue.remove(schema, name),
            EventChange::SchemaDropped(schema) => state.queue.remove_schema(schema),
            EventChange::Created(_) => {}
        }
        if let Some((event, due)) = due {
            state.queue.set(&event.schema, &event.name, due);
        }
        drop(state);
        self.changed.notify_all();
    }
}

/// Starts the scheduler of a new server if it is to run.
pub(crate) fn begin(server: &Arc<Server>) {
    if matches!(server.globals.get(ids().event_scheduler), VarValue::Enum(ON))
        && let Err(error) = start(server)
    {
        tracing::error!("Event Scheduler: {error}");
    }
}

/// Ends the scheduler of a server that stops. Runs end with their sessions.
pub(crate) fn end(server: &Server) {
    stop(server, 0);
}

/// Follows an assignment to `event_scheduler`; fails (1290) if the scheduler is disabled.
pub(crate) fn assign_variable(shared: &Shared, def: &VarDef, value: &VarValue) -> SqlResult<()> {
    if def.id != ids().event_scheduler {
        return Ok(());
    }
    if matches!(shared.server.globals.get(def.id), VarValue::Enum(DISABLED)) {
        let option = "--event-scheduler=DISABLED or --skip-grant-tables";
        return Err(SqlError::new(&ER_OPTION_PREVENTS_STATEMENT, &[&option]));
    }
    match value {
        VarValue::Enum(ON) => start(&shared.server),
        _ => {
            stop(&shared.server, shared.handle.id);
            Ok(())
        }
    }
}

fn start(server: &Arc<Server>) -> SqlResult<()> {
    let scheduler = &server.events;
    let _admin = scheduler.admin.lock();
    if scheduler.state.lock().session.is_some() {
        return Ok(());
    }
    let session = server.backend.event_session(server)?;
    let handle = Arc::clone(session.handle());
    *scheduler.state.lock() = State { session: Some(handle), ..State::default() };
    thread::spawn(server, session).map_err(|error| {
        tracing::error!("Event Scheduler: the thread could not be created: {error}");
        scheduler.state.lock().session = None;
        SqlError::new(&ER_EVENT_SET_VAR_ERROR, &[&error.raw_os_error().unwrap_or(0)])
    })
}

/// Stops the scheduler and waits until its thread has ended. Runs go on.
fn stop(server: &Server, connection: u64) {
    let scheduler = &server.events;
    let _admin = scheduler.admin.lock();
    let mut state = scheduler.state.lock();
    let Some(session) = state.session.clone() else { return };
    let id = session.id;
    tracing::info!(connection, "Event Scheduler: Killing the scheduler thread, thread id {id}");
    state.stops = true;
    // It may wait for a lock.
    session.kill_connection();
    scheduler.changed.notify_all();
    tracing::info!(connection, "Event Scheduler: Waiting for the scheduler thread to reply");
    while state.session.is_some() {
        scheduler.changed.wait(&mut state);
    }
    tracing::info!(connection, "Event Scheduler: Stopped");
}
