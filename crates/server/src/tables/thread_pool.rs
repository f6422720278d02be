//! `THREAD_POOL_*`: the groups, queues and counters of the thread pool; empty without a pool.
//!
//! Must not change the pool; it only reads its statistics.

use selkie_types::Value;

use super::{Row, text};
use crate::server::Server;
use crate::thread_pool::REASONS;

fn number(value: usize) -> Value {
    Value::Int(value as i64)
}

pub(super) fn groups(server: &Server) -> Vec<Row> {
    let groups = server.pool().map(|pool| pool.groups()).unwrap_or_default();
    let rows = groups.iter().enumerate().map(|(id, (state, _))| {
        vec![
            ("GROUP_ID", number(id)),
            ("CONNECTIONS", number(state.connections)),
            ("THREADS", number(state.threads)),
            ("ACTIVE_THREADS", number(state.active)),
            ("STANDBY_THREADS", number(state.standby)),
            ("QUEUE_LENGTH", number(state.queued)),
            ("HAS_LISTENER", number(state.has_listener.into())),
            ("IS_STALLED", number(state.is_stalled.into())),
        ]
    });
    rows.collect()
}

pub(super) fn queues(server: &Server) -> Vec<Row> {
    let queues = server.pool().map(|pool| pool.queues()).unwrap_or_default();
    let mut rows = Vec::new();
    for (id, queue) in queues.iter().enumerate() {
        for (position, queued) in queue.iter().enumerate() {
            rows.push(vec![
                ("GROUP_ID", number(id)),
                ("POSITION", number(position)),
                ("PRIORITY", number(usize::from(!queued.high_priority))),
                ("CONNECTION_ID", Value::Int(queued.connection as i64)),
                ("QUEUEING_TIME_MICROSECONDS", Value::Int(queued.waited.as_micros() as i64)),
            ]);
        }
    }
    rows
}

pub(super) fn stats(server: &Server) -> Vec<Row> {
    let groups = server.pool().map(|pool| pool.groups()).unwrap_or_default();
    let count = |value: u64| Value::Int(value as i64);
    let rows = groups.iter().enumerate().map(|(id, (_, counts))| {
        vec![
            ("GROUP_ID", number(id)),
            ("THREAD_CREATIONS", count(counts.thread_creations)),
            ("THREAD_CREATIONS_DUE_TO_STALL", count(counts.thread_creations_due_to_stall)),
            ("WAKES", count(counts.wakes)),
            ("WAKES_DUE_TO_STALL", count(counts.wakes_due_to_stall)),
            ("THROTTLES", count(counts.throttles)),
            ("STALLS", count(counts.stalls)),
            // The thread that waits for the sockets also serves the connections: there are no other
            // workers.
            ("POLLS_BY_LISTENER", count(counts.polls)),
            ("POLLS_BY_WORKER", count(0)),
            ("DEQUEUES_BY_LISTENER", count(0)),
            ("DEQUEUES_BY_WORKER", count(counts.dequeues)),
        ]
    });
    rows.collect()
}

pub(super) fn waits(server: &Server) -> Vec<Row> {
    let counts = server.pool().map(|pool| pool.waits()).unwrap_or_default();
    let rows = REASONS.iter().zip(counts);
    rows.map(|(r, n)| vec![("REASON", text(r)), ("COUNT", Value::Int(n as i64))]).collect()
}
