//! How long a session waits for its client, and how much it takes from it.
//!
//! Must not sleep.

use std::time::Duration;

use selkie_protocol::Capabilities;

use super::shared::Shared;
use crate::thread_pool::Priority;
use crate::variables::ids;

/// What variables say of a session's dealings with its client.
#[derive(Copy, Clone, Debug)]
pub(super) struct Patience {
    /// The version of the variables it was read from.
    version: u64,
    /// How long the client may think before its next command.
    pub(super) idle: Duration,
    /// How long reading the rest of a packet may take.
    pub(super) read: Duration,
    /// How long the client may take to read.
    pub(super) write: Duration,
    /// Largest packet taken.
    pub(super) max_packet: usize,
    /// Where it queues; `None` depends on its transaction.
    pub(super) priority: Option<Priority>,
}

impl Patience {
    /// What the variables say now.
    pub(super) fn of(shared: &Shared) -> Self {
        let version = shared.settings_version();
        let seconds = |value: u64| Duration::from_secs(value.max(1));
        let number = |id| shared.var(id).as_u64();
        Self {
            version,
            // An interactive client's wait_timeout was set to interactive_timeout at login.
            idle: seconds(number(ids().wait_timeout)),
            read: seconds(number(ids().net_read_timeout)),
            write: seconds(number(ids().net_write_timeout)),
            max_packet: number(ids().max_allowed_packet).min(1 << 30) as usize,
            priority: match shared.var(ids().thread_pool_priority).as_str() {
                "high" => Some(Priority::High),
                "low" => Some(Priority::Low),
                _ => None,
            },
        }
    }

    /// Whether no variable has changed since.
    pub(super) fn is_current(&self, shared: &Shared) -> bool {
        self.version == shared.settings_version()
    }

    /// Not applied yet.
    pub(super) fn unapplied(self) -> Self {
        Self { version: u64::MAX, ..self }
    }
}

/// Compat: an interactive client starts with `interactive_timeout` as its `wait_timeout`.
pub(super) fn begin_session(shared: &Shared) {
    if shared.capabilities().has(Capabilities::INTERACTIVE) {
        let timeout = shared.var(ids().interactive_timeout);
        shared.vars.lock().set(ids().wait_timeout, timeout);
    }
}
