//! The timer of a pool: it finds stalled groups and clients that are idle for too long.
//!
//! Must not serve clients: it queues connections and wakes or creates threads. It also refreshes
//! the limits.

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::pool::Shared;

/// Time between two checks of idle clients.
const IDLE_LOOK: Duration = Duration::from_secs(1);
/// Checks per `thread_pool_stall_limit`, each of which can find a stall. A short statement behind a
/// report in the same group should not wait for half a second, MariaDB's default.
const LOOKS_PER_LIMIT: u32 = 25;

/// Starts the thread.
pub(super) fn spawn(shared: &Arc<Shared>) -> io::Result<JoinHandle<()>> {
    let shared = Arc::clone(shared);
    std::thread::Builder::new().name("pool-timer".to_owned()).spawn(move || run(&shared))
}

fn run(shared: &Arc<Shared>) {
    let mut looked = Instant::now();
    while !shared.sleep(pause(shared.limits().stall_limit)) {
        shared.refresh_limits();
        let groups = shared.groups();
        groups.iter().for_each(|group| group.look(shared));
        if looked.elapsed() >= IDLE_LOOK {
            looked = Instant::now();
            groups.iter().for_each(|group| group.time_out(shared));
        }
    }
}

fn pause(stall_limit: Duration) -> Duration {
    (stall_limit / LOOKS_PER_LIMIT).clamp(Duration::from_millis(1), IDLE_LOOK)
}
