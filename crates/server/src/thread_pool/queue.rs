//! Connections that wait for a thread.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::client::Priority;
use super::connection::Connection;

/// How far ahead of its turn a connection's memory is fetched: as long as some statements take.
const NEXT: usize = 1;

/// One of them.
pub(super) struct Queued {
    pub(super) connection: Arc<Connection>,
    pub(super) since: Instant,
}

/// Two queues: those of high priority are served first.
#[derive(Default)]
pub(super) struct Queue {
    high: VecDeque<Queued>,
    low: VecDeque<Queued>,
}

impl Queue {
    pub(super) fn push(&mut self, connection: Arc<Connection>, since: Instant) {
        let queue = match connection.priority() {
            Priority::High => &mut self.high,
            Priority::Low => &mut self.low,
        };
        queue.push_back(Queued { connection, since });
    }

    pub(super) fn pop(&mut self) -> Option<Arc<Connection>> {
        self.high.pop_front().or_else(|| self.low.pop_front()).map(|queued| queued.connection)
    }

    /// Has the memory fetched of what is served soon, and where it lies of what is served after that.
    pub(super) fn fetch_ahead(&self) {
        let later = |at| self.list().nth(at).map(|(queued, _)| &queued.connection);
        if let Some(connection) = later(NEXT) {
            connection.footprint.fetch();
        }
        if let Some(connection) = later(NEXT + 2) {
            selkie_engine::fetch_ahead(Arc::as_ptr(connection).addr(), size_of::<Connection>());
        }
    }

    pub(super) fn len(&self) -> usize {
        self.high.len() + self.low.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.high.is_empty() && self.low.is_empty()
    }

    /// What has waited for `time` comes before what arrives later with high priority.
    pub(super) fn promote(&mut self, time: Duration) {
        while self.low.front().is_some_and(|queued| queued.since.elapsed() >= time) {
            self.high.extend(self.low.pop_front());
        }
    }

    /// All of them in order, with their priority.
    pub(super) fn list(&self) -> impl Iterator<Item = (&Queued, Priority)> {
        let high = self.high.iter().map(|queued| (queued, Priority::High));
        high.chain(self.low.iter().map(|queued| (queued, Priority::Low)))
    }
}
