//! Due times for the queue of the server: all events at its start, and the mark of a run.
//!
//! Must not run bodies.

use selkie_catalog::{Event, EventStatus, Timing};
use selkie_engine::LockMode as RowLock;
use selkie_types::SqlResult;

use super::EventTable;
use super::table::TABLE;
use crate::state::binlog::Form;
use crate::state::control::Control;
use crate::state::error::from_engine_commit;
use crate::state::gate::Work;
use crate::state::metadata::{LockMode, LockTicket};
use crate::state::own_transaction::{begin, commit_now};
use crate::{Instance, Session, query};

/// A due time of an event that has come.
#[derive(Debug)]
pub struct Taken {
    /// The event, as it is before the run; `None` if this due time was marked before. The queue can
    /// have a due time twice: from the load of all events, and from the statement that created it
    /// meanwhile.
    pub event: Option<Event>,
    /// The due time after this one.
    pub next: Option<i64>,
}

/// All events.
pub fn load(instance: &Instance, session: &mut Session) -> SqlResult<Vec<Event>> {
    let control = Control::new(session);
    let _lock = lock(instance, session, &control, LockMode::Read)?;
    EventTable::open(instance, &control)?.all(instance, None)
}

/// Marks a due time of an event as run (EVENT-1). `None` if the event is not to run at it: it is
/// gone, disabled, or its times have changed.
pub fn take(
    instance: &Instance,
    session: &mut Session,
    (schema, name): (&str, &str),
    due: i64,
    now: i64,
) -> SqlResult<Option<Taken>> {
    session.join_binlog(instance);
    session.values.statement_start.set(query::now_micros(session));
    session.frame.schema = Some(schema.into());
    let control = Control::new(session);
    let entered = session.enter(&control, Work::Definition)?;
    let locks = lock_event(instance, session, &control, (schema, name));
    let taken =
        locks.and_then(|_locks| mark(instance, session, &control, (schema, name), (due, now)));
    if entered {
        session.leave();
    }
    taken
}

fn mark(
    instance: &Instance,
    session: &Session,
    control: &Control,
    (schema, name): (&str, &str),
    (due, now): (i64, i64),
) -> SqlResult<Option<Taken>> {
    let table = EventTable::open(instance, control)?;
    let engine = &**instance.dictionary.engine();
    let trx = begin(engine)?;
    let found = table.find_in(&*trx, (schema, name), RowLock::Exclusive)?;
    let Some(event) = found.filter(|event| event.status == EventStatus::Enabled) else {
        return Ok(None);
    };
    let zone = event.time_zone()?;
    if event.next_after(&zone, due - 1) != Some(due) {
        return Ok(None);
    }
    let next = match event.timing {
        Timing::Once(_) => None,
        Timing::Every { .. } => event.next_after(&zone, now.max(due)),
    };
    // A time after now is of a clock that was wrong.
    if event.last_executed.is_some_and(|last| (due..=now).contains(&last)) {
        return Ok(Some(Taken { event: None, next }));
    }
    let log = match next {
        None if !event.preserve => {
            table.remove(&*trx, &event.schema, &event.name)?;
            let (schema, name) = (quoted(&event.schema), quoted(&event.name));
            let text = format!("DROP EVENT {schema}.{name}");
            session.definition(text.as_bytes(), &Form::default())?
        }
        _ => {
            let status = if next.is_some() { event.status } else { EventStatus::Disabled };
            let marked = Event { last_executed: Some(now), status, ..event.clone() };
            table.put(&*trx, &marked)?;
            None
        }
    };
    match log {
        None => commit_now(engine, trx)?,
        Some(log) => {
            if let Some(lsn) = log.commit(engine, trx).map_err(from_engine_commit)? {
                engine.wait_durable(lsn).map_err(from_engine_commit)?;
            }
        }
    }
    Ok(Some(Taken { event: Some(event), next }))
}

fn lock(
    instance: &Instance,
    session: &Session,
    control: &Control,
    mode: LockMode,
) -> SqlResult<LockTicket> {
    instance.locks.lock(control, session.core.id, TABLE, mode, session.lock_wait())
}

/// Locks that statements about the event hold too: a mark comes before them or after them.
fn lock_event(
    instance: &Instance,
    session: &Session,
    control: &Control,
    (schema, name): (&str, &str),
) -> SqlResult<[LockTicket; 3]> {
    let lock = |name, mode| {
        instance.locks.lock(control, session.core.id, (schema, name), mode, session.lock_wait())
    };
    let name = lock_name(name);
    Ok([
        lock("", LockMode::Read)?,
        lock(&name, LockMode::Exclusive)?,
        self::lock(instance, session, control, LockMode::Write)?,
    ])
}

/// The name under which an event is locked in its schema.
pub(crate) fn lock_name(name: &str) -> String {
    format!("event {}", name.to_lowercase())
}

fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}
