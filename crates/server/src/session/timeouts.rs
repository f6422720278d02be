//! How long a session waits for its client.
//!
//! Must not sleep.

use std::time::Duration;

use selkie_protocol::Capabilities;

use super::shared::Shared;
use crate::variables::ids;

/// How long the client may think before its next command.
pub(super) fn idle(shared: &Shared) -> Duration {
    // An interactive client's wait_timeout was set to interactive_timeout at login.
    Duration::from_secs(shared.var(ids().wait_timeout).as_u64().max(1))
}

/// How long reading and writing a packet may take.
pub(super) fn net(shared: &Shared) -> (Duration, Duration) {
    let read = shared.var(ids().net_read_timeout).as_u64();
    let write = shared.var(ids().net_write_timeout).as_u64();
    (Duration::from_secs(read.max(1)), Duration::from_secs(write.max(1)))
}

/// Compat: an interactive client starts with `interactive_timeout` as its `wait_timeout`.
pub(super) fn begin_session(shared: &Shared) {
    if shared.capabilities().has(Capabilities::INTERACTIVE) {
        let timeout = shared.var(ids().interactive_timeout);
        shared.vars.lock().set(ids().wait_timeout, timeout);
    }
}
