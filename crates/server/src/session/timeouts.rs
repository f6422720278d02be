//! Timeouts and the packet limit of a session, from its variables.
//!
//! Must not sleep.

use std::time::Duration;

use selkie_protocol::Capabilities;

use super::shared::Shared;
use crate::thread_pool::Priority;
use crate::variables::ids;

/// Timeouts and limits of a session's connection.
#[derive(Copy, Clone, Debug)]
pub(super) struct Patience {
    /// Version of the variables the values are from.
    version: u64,
    /// Longest wait for the next command.
    pub(super) idle: Duration,
    /// Longest wait for the rest of a packet.
    pub(super) read: Duration,
    /// Longest wait for the client to read.
    pub(super) write: Duration,
    /// Largest accepted packet.
    pub(super) max_packet: usize,
    /// Priority in the thread pool; `None` means it depends on the transaction.
    pub(super) priority: Option<Priority>,
}

impl Patience {
    /// The values by the present variables.
    pub(super) fn of(shared: &Shared) -> Self {
        let version = shared.settings_version();
        let seconds = |value: u64| Duration::from_secs(value.max(1));
        let number = |id| shared.var(id).as_u64();
        Self {
            version,
            // An interactive client got interactive_timeout as its wait_timeout at login.
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

    /// Whether no variable has changed since the values were read.
    pub(super) fn is_current(&self, shared: &Shared) -> bool {
        self.version == shared.settings_version()
    }

    /// The same values, marked as not applied yet.
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
