//! INNODB_METRICS: the engine's counters under MariaDB's names, if they have the same meaning.
//!
//! Must not list a metric that nothing counts.

use std::time::SystemTime;

use selkie_types::Value;

use super::Asked;
use super::look::local;
use super::monitor::Sample;
use crate::tables::{Row, text};

/// Kind of a metric.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// A current value.
    Value,
    /// A status counter, which only grows.
    Counter,
}
use Kind::{Counter, Value as Gauge};

/// Name, subsystem, kind, status counter without `innodb_`, description.
type Metric = (&'static str, &'static str, Kind, &'static str, &'static str);

const METRICS: &[Metric] = &[
    ("lock_deadlocks", "lock", Gauge, "deadlocks", "Deadlocks found"),
    (
        "lock_timeouts",
        "lock",
        Gauge,
        "row_lock_timeouts",
        "Waits for row locks that ran out of time",
    ),
    ("lock_rec_locks", "lock", Gauge, "current_row_locks", "Explicit row locks held now"),
    (
        "lock_row_lock_current_waits",
        "lock",
        Gauge,
        "row_lock_current_waits",
        "Waits for row locks now",
    ),
    ("lock_row_lock_time", "lock", Counter, "row_lock_time", "Milliseconds waited for row locks"),
    (
        "lock_row_lock_time_max",
        "lock",
        Gauge,
        "row_lock_time_max",
        "Longest wait for a row lock, in milliseconds",
    ),
    ("lock_row_lock_waits", "lock", Counter, "row_lock_waits", "Waits for row locks"),
    (
        "lock_row_lock_time_avg",
        "lock",
        Gauge,
        "row_lock_time_avg",
        "Mean wait for a row lock, in milliseconds",
    ),
    ("buffer_pool_size", "server", Gauge, "buffer_pool_pages_total", "Pages of the buffer pool"),
    (
        "buffer_pool_reads",
        "buffer",
        Counter,
        "buffer_pool_reads",
        "Pages that had to be read when they were asked for",
    ),
    (
        "buffer_pool_read_requests",
        "buffer",
        Counter,
        "buffer_pool_read_requests",
        "Requests for pages",
    ),
    (
        "buffer_pool_write_requests",
        "buffer",
        Counter,
        "buffer_pool_write_requests",
        "Changes of pages",
    ),
    ("buffer_pool_wait_free", "buffer", Counter, "buffer_pool_wait_free", "Waits for a free frame"),
    ("buffer_pool_read_ahead", "buffer", Counter, "buffer_pool_read_ahead", "Pages read ahead"),
    (
        "buffer_pool_pages_total",
        "buffer",
        Gauge,
        "buffer_pool_pages_total",
        "Pages of the buffer pool",
    ),
    ("buffer_pool_pages_data", "buffer", Gauge, "buffer_pool_pages_data", "Pages with data"),
    (
        "buffer_pool_bytes_data",
        "buffer",
        Gauge,
        "buffer_pool_bytes_data",
        "Bytes of pages with data",
    ),
    (
        "buffer_pool_pages_dirty",
        "buffer",
        Gauge,
        "buffer_pool_pages_dirty",
        "Pages changed since they were written",
    ),
    ("buffer_pool_bytes_dirty", "buffer", Gauge, "buffer_pool_bytes_dirty", "Bytes of those"),
    ("buffer_pool_pages_free", "buffer", Gauge, "buffer_pool_pages_free", "Free frames"),
    ("buffer_pages_created", "buffer", Counter, "pages_created", "Pages created"),
    ("buffer_pages_written", "buffer", Counter, "pages_written", "Pages written"),
    ("buffer_pages_read", "buffer", Counter, "pages_read", "Pages read"),
    ("buffer_data_reads", "buffer", Counter, "data_read", "Bytes read"),
    ("buffer_data_written", "buffer", Counter, "data_written", "Bytes written"),
    ("os_data_reads", "os", Counter, "data_reads", "Reads of data files"),
    ("os_data_writes", "os", Counter, "data_writes", "Writes of data files"),
    ("os_data_fsyncs", "os", Counter, "data_fsyncs", "Syncs of files"),
    ("os_log_bytes_written", "os", Counter, "os_log_written", "Bytes of log written"),
    (
        "trx_rseg_history_len",
        "transaction",
        Gauge,
        "history_list_length",
        "Committed transactions not purged yet",
    ),
    ("log_lsn_last_flush", "recovery", Gauge, "lsn_flushed", "Log position that survives a crash"),
    (
        "log_lsn_last_checkpoint",
        "recovery",
        Gauge,
        "lsn_last_checkpoint",
        "Log position of the last checkpoint",
    ),
    ("log_lsn_current", "recovery", Gauge, "lsn_current", "End of the log"),
    (
        "log_lsn_checkpoint_age",
        "recovery",
        Gauge,
        "checkpoint_age",
        "Log since the last checkpoint",
    ),
    ("log_waits", "recovery", Counter, "log_waits", "Waits for room in the log buffer"),
    ("log_write_requests", "recovery", Counter, "log_write_requests", "Log records made"),
    ("log_writes", "recovery", Counter, "log_writes", "Writes of the log"),
    ("file_num_open_files", "file_system", Gauge, "num_open_files", "Open files"),
    (
        "innodb_dblwr_writes",
        "server",
        Counter,
        "dblwr_writes",
        "Writes of page images before pages",
    ),
    (
        "innodb_dblwr_pages_written",
        "server",
        Counter,
        "dblwr_pages_written",
        "Page images written before pages",
    ),
    ("innodb_page_size", "server", Gauge, "page_size", "Bytes in a page"),
    ("dml_reads", "dml", Counter, "rows_read", "Rows read"),
    ("dml_inserts", "dml", Counter, "rows_inserted", "Rows inserted"),
    ("dml_deletes", "dml", Counter, "rows_deleted", "Rows deleted"),
    ("dml_updates", "dml", Counter, "rows_updated", "Rows updated"),
];

pub(super) fn metrics(asked: &Asked<'_>) -> Vec<Row> {
    let server = &asked.shared.server;
    let sample = Sample::of(&server.gauges());
    let started = server.started_at();
    let age = SystemTime::now().duration_since(started).map_or(0, |age| age.as_secs());
    METRICS.iter().map(|metric| row(metric, &sample, started, age)).collect()
}

fn row(metric: &Metric, sample: &Sample, started: SystemTime, age: u64) -> Row {
    let (name, subsystem, kind, counter, meaning) = *metric;
    let count = sample.get(counter);
    let number = || Value::Int(count as i64);
    let mean = || match kind {
        Counter if age > 0 => Value::Double(count as f64 / age as f64),
        _ => Value::Null,
    };
    let least = || if kind == Gauge { number() } else { Value::Null };
    vec![
        ("NAME", text(name)),
        ("SUBSYSTEM", text(subsystem)),
        ("COUNT", number()),
        ("MAX_COUNT", number()),
        ("MIN_COUNT", least()),
        ("AVG_COUNT", mean()),
        ("COUNT_RESET", number()),
        ("MAX_COUNT_RESET", number()),
        ("MIN_COUNT_RESET", least()),
        ("AVG_COUNT_RESET", mean()),
        ("TIME_ENABLED", local(started)),
        ("TIME_DISABLED", Value::Null),
        ("TIME_ELAPSED", Value::Int(age as i64)),
        ("TIME_RESET", Value::Null),
        ("ENABLED", Value::Int(1)),
        ("TYPE", text(if kind == Gauge { "value" } else { "status_counter" })),
        ("COMMENT", text(meaning)),
    ]
}
