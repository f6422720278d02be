//! Queues of connections that wait for a thread.
//!
//! Must not decide how many may be served: the group does. Order: high priority, connections with a
//! turn, the others.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::client::Priority;
use super::connection::Connection;

/// Distance, in connections, at which memory is prefetched: some statements ahead of its use.
const NEXT: usize = 1;

/// A queued connection.
pub(super) struct Queued {
    pub(super) connection: Arc<Connection>,
    pub(super) since: Instant,
}

/// Three queues. Each is served when the queues before it are empty.
#[derive(Default)]
pub(super) struct Queue {
    /// Connections of high priority.
    high: VecDeque<Queued>,
    /// Connections that have a turn.
    turn: VecDeque<Queued>,
    /// Connections that wait for a turn.
    low: VecDeque<Queued>,
}

impl Queue {
    /// Queues a connection. `crowd`: there are so many connections that they must take turns.
    pub(super) fn push(&mut self, connection: Arc<Connection>, since: Instant, crowd: bool) {
        let queue = match connection.priority() {
            Priority::High => &mut self.high,
            Priority::Low if crowd && connection.turn.is_over() => &mut self.low,
            Priority::Low => &mut self.turn,
        };
        queue.push_back(Queued { connection, since });
    }

    pub(super) fn pop_high(&mut self) -> Option<Arc<Connection>> {
        self.high.pop_front().map(|queued| queued.connection)
    }

    pub(super) fn pop_turn(&mut self) -> Option<Arc<Connection>> {
        self.turn.pop_front().map(|queued| queued.connection)
    }

    pub(super) fn pop_low(&mut self) -> Option<Arc<Connection>> {
        let connection = self.low.pop_front()?.connection;
        connection.turn.begin();
        self.fetch_ahead();
        Some(connection)
    }

    /// Prefetches the memory of the connection that is next, and the `Connection` of a later one,
    /// which has the addresses of its memory.
    fn fetch_ahead(&self) {
        let later = |at| self.low.get(at).map(|queued| &queued.connection);
        if let Some(connection) = later(NEXT) {
            connection.footprint.fetch();
        }
        if let Some(connection) = later(NEXT + 2) {
            selkie_engine::fetch_ahead(Arc::as_ptr(connection).addr(), size_of::<Connection>());
        }
    }

    pub(super) fn len(&self) -> usize {
        self.high.len() + self.turn.len() + self.low.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn has_high(&self) -> bool {
        !self.high.is_empty()
    }

    pub(super) fn has_turn(&self) -> bool {
        !self.turn.is_empty()
    }

    /// Moves connections that have waited for `time` to high priority, `most` of each queue at
    /// most.
    pub(super) fn promote(&mut self, time: Duration, most: usize) {
        for queue in [&mut self.turn, &mut self.low] {
            let overdue =
                queue.iter().take(most).take_while(|queued| queued.since.elapsed() >= time);
            let overdue = overdue.count();
            self.high.extend(queue.drain(..overdue));
        }
    }

    /// All connections in order, with their priority.
    pub(super) fn list(&self) -> impl Iterator<Item = (&Queued, Priority)> {
        let high = self.high.iter().map(|queued| (queued, Priority::High));
        high.chain(self.turn.iter().chain(&self.low).map(|queued| (queued, Priority::Low)))
    }
}
