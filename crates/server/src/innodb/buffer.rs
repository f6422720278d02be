//! INNODB_BUFFER_POOL_STATS, and the tables about page compression, which this engine does not
//! have.
//!
//! Must not read the pool: it shows the engine's counters.

use selkie_types::Value;

use super::Asked;
use super::monitor::Sample;
use crate::tables::Row;

/// Columns of INNODB_BUFFER_POOL_STATS and the engine's counter of each.
const POOL: &[(&str, &str)] = &[
    ("POOL_SIZE", "buffer_pool_pages_total"),
    ("FREE_BUFFERS", "buffer_pool_pages_free"),
    ("DATABASE_PAGES", "buffer_pool_pages_data"),
    ("OLD_DATABASE_PAGES", "buffer_pool_pages_old"),
    ("MODIFIED_DATABASE_PAGES", "buffer_pool_pages_dirty"),
    ("PENDING_READS", "data_pending_reads"),
    ("NUMBER_PAGES_READ", "pages_read"),
    ("NUMBER_PAGES_CREATED", "pages_created"),
    ("NUMBER_PAGES_WRITTEN", "pages_written"),
    ("NUMBER_PAGES_GET", "buffer_pool_read_requests"),
    ("NUMBER_PAGES_READ_AHEAD", "buffer_pool_read_ahead"),
    ("NUMBER_READ_AHEAD_EVICTED", "buffer_pool_read_ahead_evicted"),
];

/// Columns that show the growth of a counter per second.
const RATES: &[(&str, &str)] = &[
    ("PAGES_READ_RATE", "pages_read"),
    ("PAGES_CREATE_RATE", "pages_created"),
    ("PAGES_WRITTEN_RATE", "pages_written"),
    ("READ_AHEAD_RATE", "buffer_pool_read_ahead"),
    ("READ_AHEAD_EVICTED_RATE", "buffer_pool_read_ahead_evicted"),
];

pub(super) fn pool_stats(asked: &Asked<'_>) -> Vec<Row> {
    let server = &asked.shared.server;
    let rates = server.innodb.sample(Sample::of(&server.gauges()));
    let mut row: Row = POOL.iter().map(|(c, name)| (*c, Value::UInt(rates.get(name)))).collect();
    row.extend(RATES.iter().map(|(c, name)| (*c, Value::Double(rates.rate(name)))));
    let reads = rates.grown("buffer_pool_reads");
    row.push(("HIT_RATE", Value::UInt(hit_rate(rates.grown("buffer_pool_read_requests"), reads))));
    vec![row]
}

/// Requests, of a thousand, that found their page in memory.
pub(super) fn hit_rate(requests: u64, reads: u64) -> u64 {
    match requests {
        0 => 0,
        _ => 1000 - (reads.min(requests) * 1000 / requests),
    }
}

const SIZES: [i64; 5] = [1024, 2048, 4096, 8192, 16384];

pub(super) fn compression() -> Vec<Row> {
    SIZES.iter().map(|size| vec![("page_size", Value::Int(*size))]).collect()
}

pub(super) fn compression_memory() -> Vec<Row> {
    compression()
}

#[cfg(test)]
mod tests {
    use super::hit_rate;

    #[test]
    fn hit_rates() {
        assert_eq!(hit_rate(0, 0), 0);
        assert_eq!(hit_rate(1000, 1), 999);
        assert_eq!(hit_rate(10, 20), 0);
    }
}
