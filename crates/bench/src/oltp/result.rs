//! Results of a run: the counts of workers, and the figures made from them.
//!
//! Only transactions that end after the warm-up count.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// Counts of a worker, after the warm-up.
pub(super) struct Tally {
    /// Response times of transactions in microseconds, up to an hour.
    pub(super) latency: Histogram<u64>,
    /// Transactions that ended in each second.
    pub(super) seconds: Vec<u64>,
    pub(super) queries: u64,
    pub(super) errors: BTreeMap<u16, u64>,
    /// The longest time in which no transaction ended.
    pub(super) gap: Duration,
    /// Reasons of lost connections.
    pub(super) lost: Vec<String>,
}

/// Longer response times count as this one: an hour.
const LONGEST_MICROS: u64 = 3_600_000_000;

impl Tally {
    pub(super) fn new() -> Self {
        Self {
            latency: Histogram::new_with_bounds(1, LONGEST_MICROS, 3)
                .expect("bounds that the histogram documents as valid"),
            seconds: Vec::new(),
            queries: 0,
            errors: BTreeMap::new(),
            gap: Duration::ZERO,
            lost: Vec::new(),
        }
    }

    pub(super) fn transaction(&mut self, second: usize, time: Duration) {
        self.latency.saturating_record(time.as_micros() as u64);
        if self.seconds.len() <= second {
            self.seconds.resize(second + 1, 0);
        }
        self.seconds[second] += 1;
    }

    pub(super) fn add(&mut self, other: Self) {
        // Both histograms have the same bounds.
        let _ = self.latency.add(&other.latency);
        if self.seconds.len() < other.seconds.len() {
            self.seconds.resize(other.seconds.len(), 0);
        }
        self.seconds.iter_mut().zip(&other.seconds).for_each(|(all, more)| *all += more);
        self.queries += other.queries;
        for (code, count) in other.errors {
            *self.errors.entry(code).or_default() += count;
        }
        self.gap = self.gap.max(other.gap);
        self.lost.extend(other.lost);
    }
}

/// One second of a run.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Second {
    /// Seconds since the end of the warm-up.
    pub(crate) at: u32,
    /// Transactions that ended in it.
    pub(crate) transactions: u64,
}

/// The result of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Measured {
    /// Seconds measured.
    pub(crate) seconds: f64,
    /// Transactions per second.
    pub(crate) tps: f64,
    /// Statements per second.
    pub(crate) qps: f64,
    /// Mean response time of a transaction, in milliseconds.
    pub(crate) mean_ms: f64,
    /// Median of the response times.
    pub(crate) p50_ms: f64,
    /// 95th percentile of the response times.
    pub(crate) p95_ms: f64,
    /// 99th percentile of the response times.
    pub(crate) p99_ms: f64,
    /// Longest response time.
    pub(crate) max_ms: f64,
    /// The longest time in which no transaction ended, in milliseconds.
    pub(crate) gap_ms: f64,
    /// Transactions of each second.
    pub(crate) series: Vec<Second>,
    /// Number of times each error occurred.
    pub(crate) errors: BTreeMap<u16, u64>,
    /// Reasons of lost connections; empty in a valid run.
    pub(crate) lost: Vec<String>,
    /// The server's CPU time in microseconds per statement, if its process is known.
    pub(crate) server_us: Option<f64>,
    /// The client's CPU time in microseconds per statement.
    pub(crate) client_us: f64,
    /// The server's resident memory in MiB at the end.
    pub(crate) resident_mib: Option<f64>,
}

impl Measured {
    pub(super) fn new(tally: &Tally, seconds: f64) -> Self {
        let ms = |micros: u64| micros as f64 / 1000.0;
        let at = |quantile| ms(tally.latency.value_at_quantile(quantile));
        let transactions = tally.latency.len();
        let series = tally.seconds.iter().enumerate();
        Self {
            seconds,
            tps: transactions as f64 / seconds,
            qps: tally.queries as f64 / seconds,
            mean_ms: tally.latency.mean() / 1000.0,
            p50_ms: at(0.5),
            p95_ms: at(0.95),
            p99_ms: at(0.99),
            max_ms: ms(tally.latency.max()),
            gap_ms: tally.gap.as_secs_f64() * 1000.0,
            series: series.map(|(at, n)| Second { at: at as u32, transactions: *n }).collect(),
            errors: tally.errors.clone(),
            lost: tally.lost.clone(),
            server_us: None,
            client_us: 0.0,
            resident_mib: None,
        }
    }

    /// The median and the minimum of the whole seconds, in transactions.
    pub(crate) fn median_and_worst(&self) -> (f64, f64) {
        let whole = (self.seconds.floor() as usize).min(self.series.len());
        let mut counts: Vec<u64> = self.series[..whole].iter().map(|s| s.transactions).collect();
        counts.resize((self.seconds.floor() as usize).max(1), 0);
        counts.sort_unstable();
        (counts[counts.len() / 2] as f64, counts[0] as f64)
    }
}
