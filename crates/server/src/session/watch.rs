//! A session's part in the statistics of users and clients.
//!
//! Must do nothing while `userstat` is off.

use super::dispatch::Session;
use crate::backend::BackendSession;
use crate::user_statistics::{Watched, Who, Work};

impl<S: BackendSession> Session<S> {
    fn watched(&mut self) -> (&mut Watched, Work<'_>) {
        let Self { watched, shared, backend, .. } = self;
        let logged = if watched.is_counted() { backend.logged_bytes() } else { 0 };
        (watched, Work { counters: &shared.handle.counters, logged })
    }

    /// Begins the statistics of the session's user.
    pub(super) fn watch_login(&mut self) {
        self.count_bytes();
        let shared = self.shared.clone();
        let client = shared.access.lock().identity().host.clone();
        let over_tls = self.wire.tls().is_some();
        let who = Who { user: shared.handle.user(), client, over_tls };
        let (watched, work) = self.watched();
        watched.log_in(&shared.server.sessions.users, who, work);
    }

    /// Begins a command.
    pub(super) fn watch_command(&mut self) {
        let Self { watched, shared, backend, .. } = self;
        let all = &shared.server.sessions.users;
        if all.is_on() || watched.is_counted() {
            let work = Work { counters: &shared.handle.counters, logged: backend.logged_bytes() };
            watched.begin(all, work);
        }
    }

    /// Ends a command, before its answer leaves.
    pub(super) fn watch_end(&mut self) {
        if self.watched.is_counted() {
            self.watched.end(&self.shared.handle.counters);
            self.watch_progress();
        }
    }

    /// Adds the session's work so far to the statistics.
    pub(super) fn watch_progress(&mut self) {
        if self.watched.is_counted() {
            let shared = self.shared.clone();
            let (watched, work) = self.watched();
            watched.add(&shared.server.sessions.users, work);
        }
    }
}
