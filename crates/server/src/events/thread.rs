//! The scheduler's thread, and the threads of runs.
//!
//! Must not wait for a run, a lock or a disk while it holds the queue.

use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use selkie_catalog::Event;
use selkie_exec::Killed;
use selkie_exec::event::Taken;
use selkie_types::stack;

use super::queue::Name;
use super::{OFF, Scheduler, first_due, now};
use crate::backend::EventSession;
use crate::server::Server;
use crate::variables::{VarValue, ids};

/// Longest wait between two looks at the clock and at a KILL.
const LOOK: Duration = Duration::from_secs(1);

/// A clock that goes back by more than this makes all due times be computed anew.
const SET_BACK: i64 = 60;

const WAITING: &str = "Waiting for next activation";
const EMPTY: &str = "Waiting on empty queue";

/// Starts the thread.
pub(super) fn spawn(server: &Arc<Server>, session: Box<dyn EventSession>) -> io::Result<()> {
    let scheduling = Scheduling { server: Arc::clone(server), session, seen: now() };
    let thread =
        std::thread::Builder::new().name("event_scheduler".to_owned()).stack_size(stack::SIZE);
    thread.spawn(move || scheduling.run()).map(drop)
}

struct Scheduling {
    server: Arc<Server>,
    session: Box<dyn EventSession>,
    /// The latest time that the thread has seen.
    seen: i64,
}

/// Tells that the thread has ended, also if it panics.
struct Ended(Arc<Server>);

impl Drop for Ended {
    fn drop(&mut self) {
        let scheduler = &self.0.events;
        let mut state = scheduler.state.lock();
        // A KILL is like SET GLOBAL event_scheduler = OFF.
        if !state.stops {
            self.0.globals.set(ids().event_scheduler, VarValue::Enum(OFF));
        }
        state.session = None;
        state.queue.clear();
        drop(state);
        scheduler.changed.notify_all();
    }
}

/// The next step of the thread.
enum Step {
    End,
    Load,
    Begin(Name, i64),
    Again,
}

impl Scheduling {
    fn run(mut self) {
        let ended = Ended(Arc::clone(&self.server));
        let connection = self.session.handle().id;
        tracing::info!(
            connection,
            "Event Scheduler: scheduler thread started with id {connection}"
        );
        self.session.handle().set_state("Initialized");
        let result = selkie_exec::guarded(|| {
            self.schedule();
            Ok(())
        });
        if let Err(error) = result {
            tracing::error!(connection, "Event Scheduler: {error}");
        }
        // The session leaves the process list before a waiting SET returns.
        drop(self);
        drop(ended);
    }

    fn schedule(&mut self) {
        self.load();
        loop {
            match self.step() {
                Step::End => return,
                Step::Load => {
                    self.server.events.state.lock().queue.clear();
                    self.load();
                }
                Step::Begin(name, due) => self.begin(&name, due),
                Step::Again => {}
            }
        }
    }

    /// Puts the due times of all events into the queue. Times that have passed are not made up,
    /// except those of events that run once.
    fn load(&mut self) {
        let events = match self.session.load() {
            Ok(events) => events,
            Err(error) => {
                let connection = self.session.handle().id;
                tracing::error!(connection, "Event Scheduler: Failed to load events: {error}");
                return;
            }
        };
        let now = now();
        let mut state = self.server.events.state.lock();
        for event in &events {
            let due = first_due(event, now);
            state.queue.set_if_absent(&event.schema, &event.name, due);
        }
    }

    /// Waits for the next thing to do.
    fn step(&mut self) -> Step {
        let scheduler = &self.server.events;
        let mut state = scheduler.state.lock();
        if state.stops || self.session.handle().kill.get() != Killed::No {
            return Step::End;
        }
        let now = now();
        if now < self.seen - SET_BACK {
            self.seen = now;
            return Step::Load;
        }
        self.seen = self.seen.max(now);
        if state.runs < most_runs(&self.server)
            && let Some((name, due)) = state.queue.take_due(now)
        {
            return Step::Begin(name, due);
        }
        let handle = self.session.handle();
        handle.set_state(if state.queue.len() == 0 { EMPTY } else { WAITING });
        let left = state.queue.first().map_or(LOOK, until);
        scheduler.changed.wait_for(&mut state, left.min(LOOK));
        Step::Again
    }

    /// Begins the run of an event (SCHED-2).
    fn begin(&mut self, (schema, name): &Name, due: i64) {
        let scheduler = &self.server.events;
        match self.session.take((schema, name), due, now()) {
            Ok(Some(Taken { event, next })) => {
                scheduler.state.lock().queue.set_if_absent(schema, name, next);
                if let Some(event) = event {
                    start_run(&self.server, event);
                }
            }
            Ok(None) => {}
            // The thread is to end.
            Err(_) if self.session.handle().kill.get() != Killed::No => {}
            Err(error) => {
                let connection = self.session.handle().id;
                tracing::error!(connection, "Event Scheduler: [{schema}.{name}] {error}");
                let mut state = scheduler.state.lock();
                state.queue.set_if_absent(schema, name, Some(due));
                // The same would fail at once.
                scheduler.changed.wait_for(&mut state, LOOK);
            }
        }
    }
}

/// Time until a second begins.
fn until(due: i64) -> Duration {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let due = Duration::from_secs(u64::try_from(due).unwrap_or_default());
    due.saturating_sub(since).max(Duration::from_millis(1))
}

/// The most runs at a time; others wait in their order.
fn most_runs(server: &Server) -> usize {
    let threads = server.globals.get(ids().thread_pool_max_threads).as_u64();
    usize::try_from(threads / 4).unwrap_or(usize::MAX).max(1)
}

/// Counts a run until it ends, also if it panics.
struct Run(Arc<Server>);

impl Run {
    fn new(server: &Arc<Server>) -> Self {
        server.events.state.lock().runs += 1;
        Self(Arc::clone(server))
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let scheduler: &Scheduler = &self.0.events;
        let mut state = scheduler.state.lock();
        state.runs = state.runs.saturating_sub(1);
        drop(state);
        scheduler.changed.notify_all();
    }
}

fn start_run(server: &Arc<Server>, event: Event) {
    let run = Run::new(server);
    let thread = std::thread::Builder::new().name("event".to_owned()).stack_size(stack::SIZE);
    let spawned = thread.spawn(move || {
        let server = Arc::clone(&run.0);
        server.backend.run_event(&server, &event);
    });
    if let Err(error) = spawned {
        tracing::error!("Event Scheduler: a thread could not be created: {error}");
    }
}
