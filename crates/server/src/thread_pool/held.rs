//! Answers that must not leave before a commit is durable.
//!
//! A worker with nothing else to do waits for the log on behalf of all of its group, and sends
//! what was held back. While there are statements to run the processor is what commits wait for,
//! and each flush costs some of it, so a flush begins when the queue is empty, or when the first
//! answer has been held for [`PATIENCE`]. A thread of its own for this was measured: waking it and
//! being woken by its clients cost more than the flush.

use std::sync::Arc;
use std::time::{Duration, Instant};

use selkie_exec::Unsettled;

use super::client::Progress;
use super::connection::Connection;
use super::group::Group;
use super::pool::Shared;
use super::worker::{go_on, guarded};

/// About the time of one flush.
const PATIENCE: Duration = Duration::from_micros(200);

/// The answers a group holds back.
#[derive(Default)]
pub(super) struct Held {
    list: Vec<(Arc<Connection>, Unsettled)>,
    since: Option<Instant>,
}

impl Held {
    pub(super) fn push(&mut self, connection: Arc<Connection>, commit: Unsettled) {
        self.list.push((connection, commit));
        self.since.get_or_insert_with(Instant::now);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether the first has been held for long enough.
    pub(super) fn is_due(&self) -> bool {
        self.since.is_some_and(|since| since.elapsed() >= PATIENCE)
    }

    pub(super) fn take(&mut self) -> Self {
        std::mem::take(self)
    }

    /// Waits for the commits and sends the answers.
    pub(super) fn settle(self, shared: &Arc<Shared>, group: &Arc<Group>) {
        let begun = Instant::now();
        // From the last on: what was committed before the last is durable with it.
        for (_, commit) in self.list.iter().rev().filter(|(_, commit)| !commit.is_settled()) {
            if let Err(error) = commit.settle() {
                tracing::error!("a commit could not be made durable: {error}");
            }
        }
        shared.flush_time.note(begun.elapsed());
        for (connection, commit) in self.list {
            let progress = match commit.is_settled() {
                true => guarded(&connection, |client| client.answer()),
                // The client must not hear that it succeeded.
                false => Progress::Ended,
            };
            go_on(shared, group, connection, progress);
        }
    }
}
