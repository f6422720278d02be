//! A thread of a group: it asks the group for its next work until there is none.
//!
//! Must not let a panic out: a panic costs its client the connection, not the thread.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use selkie_types::stack;

use super::answers;
use super::background;
use super::client::Progress;
use super::connection::Connection;
use super::group::{Group, Thread, Work};
use super::parked;
use super::pool::Shared;
use super::waits::GroupObserver;

/// Starts a thread for a group.
pub(super) fn spawn(shared: &Arc<Shared>, group: &Arc<Group>) -> io::Result<()> {
    let (shared, group) = (Arc::clone(shared), Arc::clone(group));
    let thread = std::thread::Builder::new().name("worker".to_owned()).stack_size(stack::SIZE);
    thread.spawn(move || run(&shared, &group)).map(drop)
}

fn run(shared: &Arc<Shared>, group: &Arc<Group>) {
    shared.thread_started();
    let observer = GroupObserver { shared: Arc::downgrade(shared), group: Arc::clone(group) };
    selkie_engine::observe_waits(Some(Arc::new(observer)));
    let mut thread = Thread::default();
    while let Some(work) = group.next(shared, &mut thread) {
        match work {
            Work::Serve(connection) => serve(shared, group, connection),
            Work::Answer => answers::send(shared, group),
            Work::Settle(held) => held.settle(shared, group),
        }
        if background::is_entered() {
            answers::send(shared, group);
            group.release();
            break;
        }
    }
    shared.thread_ended();
}

fn serve(shared: &Arc<Shared>, group: &Arc<Group>, connection: Arc<Connection>) {
    background::begin();
    let timed_out = connection.take_timed_out();
    let progress = guarded(&connection, |client| client.serve(timed_out));
    go_on(shared, group, connection, progress);
}

/// Runs `work` on the client. A panic is a bug; it ends this client's connection only.
pub(super) fn guarded(
    connection: &Connection,
    work: impl FnOnce(&mut dyn super::Client) -> Progress,
) -> Progress {
    let mut client = connection.client.lock();
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let progress = work(&mut **client);
        connection.footprint.note(&**client);
        (progress, client.priority())
    }));
    match outcome {
        Ok((progress, priority)) => {
            connection.set_priority(priority);
            progress
        }
        Err(_) => Progress::Ended,
    }
}

/// Follows the service of a connection: queues it, holds its answer, makes it idle or removes it.
pub(super) fn go_on(
    shared: &Arc<Shared>,
    group: &Arc<Group>,
    connection: Arc<Connection>,
    progress: Progress,
) {
    match progress {
        Progress::Idle(at_most) => {
            if !connection.rest(at_most) {
                group.enqueue(shared, connection);
            }
        }
        Progress::Answered => answers::keep(connection),
        Progress::Ready => group.enqueue(shared, connection),
        Progress::Unsettled(commit) => group.hold(connection, commit),
        Progress::Parked(park) => park(parked::waker(shared, group, connection)),
        Progress::Leaving => {
            group.remove(&connection);
            connection.client.lock().leave();
        }
        Progress::Ended => group.remove(&connection),
    }
}
