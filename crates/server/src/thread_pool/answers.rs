//! Answers that a worker sends together.
//!
//! Sending wakes the client, and waking a processor that sleeps costs about as much as a short
//! statement. So while other connections wait for the worker, it keeps short answers and sends them
//! one after the other: the first wakes the clients' processor, the rest find it awake. 256
//! connections on one core: a point select takes 13.7 us if each answer is sent at once, 10.7 us
//! this way.
//!
//! Invariant: a kept answer waits only for short statements. It is sent when nothing is queued,
//! before the worker waits, after [`PATIENCE`], and when the running statement takes longer.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::connection::Connection;
use super::group::Group;
use super::pool::Shared;
use super::worker::{go_on, guarded};

/// Longest time that the first answer is kept.
const PATIENCE: Duration = Duration::from_micros(100);
/// Maximum number of kept answers.
const MOST: usize = 32;
/// Kill checks of a statement between two checks of the time.
const ASKS: u32 = 8;

#[derive(Default)]
struct Answers {
    list: Vec<Arc<Connection>>,
    since: Option<Instant>,
    /// Kill checks of statements since the last answer was kept.
    asked: u32,
}

impl Answers {
    fn is_old(&mut self) -> bool {
        self.since.get_or_insert_with(Instant::now).elapsed() >= PATIENCE
    }
}

thread_local! {
    static KEPT: RefCell<Answers> = RefCell::default();
}

/// Keeps the answer of a connection.
pub(super) fn keep(connection: Arc<Connection>) {
    KEPT.with_borrow_mut(|kept| {
        kept.asked = 0;
        kept.list.push(connection);
    });
}

/// Whether the kept answers must be sent before the next statement; `alone` if none is queued.
pub(super) fn are_due(alone: bool) -> bool {
    KEPT.with_borrow_mut(|kept| match kept.list.len() {
        0 => false,
        MOST.. => true,
        _ if alone => true,
        _ => kept.is_old(),
    })
}

/// Whether the kept answers must be sent because the running statement is not short.
pub(super) fn are_late() -> bool {
    KEPT.with_borrow_mut(|kept| {
        kept.asked += 1;
        kept.asked.is_multiple_of(ASKS) && !kept.list.is_empty() && kept.is_old()
    })
}

/// Sends the kept answers.
pub(super) fn send(shared: &Arc<Shared>, group: &Arc<Group>) {
    let mut kept = KEPT.take();
    for connection in kept.list.drain(..) {
        let progress = guarded(&connection, |client| client.answer());
        go_on(shared, group, connection, progress);
    }
    KEPT.set(Answers { list: kept.list, ..Answers::default() });
}
