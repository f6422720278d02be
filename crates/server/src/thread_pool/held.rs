//! Answers that must not be sent before their commit is durable.
//!
//! A worker without other work waits for the log for its whole group, and sends the held answers.
//! While there are statements to run, the processor is the bottleneck, and each flush needs some of
//! it. So a flush begins only when the queue is empty, or when the first answer has been held for
//! [`PATIENCE`]. A separate thread for this was measured: the wake-ups between it and its clients
//! cost more than the flush.

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

    /// Whether the first answer has been held long enough.
    pub(super) fn is_due(&self) -> bool {
        self.since.is_some_and(|since| since.elapsed() >= PATIENCE)
    }

    pub(super) fn take(&mut self) -> Self {
        std::mem::take(self)
    }

    /// Waits for the commits and sends the answers.
    pub(super) fn settle(self, shared: &Arc<Shared>, group: &Arc<Group>) {
        let begun = Instant::now();
        // Start with the last one: all earlier commits are durable together with it.
        for (_, commit) in self.list.iter().rev().filter(|(_, commit)| !commit.is_settled()) {
            if let Err(error) = commit.settle() {
                tracing::error!("a commit could not be made durable: {error}");
            }
        }
        shared.flush_time.note(begun.elapsed());
        for (connection, commit) in self.list {
            let progress = match commit.is_settled() {
                true => guarded(&connection, |client| client.answer()),
                // The client must not get the OK.
                false => Progress::Ended,
            };
            go_on(shared, group, connection, progress);
        }
    }
}
