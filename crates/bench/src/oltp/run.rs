//! One run of a load: opens connections, starts workers, adds up their counts.
//!
//! All connections are open and prepared before the warm-up starts.

use std::thread;
use std::time::{Duration, Instant};

use super::mix::Mix;
use super::pace::Pace;
use super::result::{Measured, Tally};
use super::schema::Size;
use super::session::Session;
use super::worker::{Window, Worker};
use crate::error::{Failure, Result};
use crate::machine::process_cpu;
use crate::server::Server;

/// Settings of a run.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    pub(crate) mix: &'static Mix,
    pub(crate) size: Size,
    pub(crate) connections: usize,
    /// Number of the client's threads.
    pub(crate) threads: usize,
    pub(crate) warmup: Duration,
    pub(crate) time: Duration,
    /// Whether statements are sent as text and not prepared.
    pub(crate) text: bool,
    /// Transactions per second; as many as possible without it.
    pub(crate) rate: Option<f64>,
}

/// Runs a load on a server that has the tables already.
pub(crate) fn run(server: &Server, load: &Load) -> Result<Measured> {
    let threads = load.threads.clamp(1, load.connections);
    let mut groups: Vec<Vec<Session>> = (0..threads).map(|_| Vec::new()).collect();
    for at in 0..load.connections {
        let session = Session::open(server, load.mix, load.size, load.text, at as u64 + 1)?;
        groups[at % threads].push(session);
    }
    let from = Instant::now() + load.warmup;
    let window = Window { from, until: from + load.time };
    let rate = load.rate.map(|rate| rate / threads as f64);
    let workers: Vec<Worker> = groups
        .into_iter()
        .map(|sessions| Worker::new(sessions, Pace::new(rate, Instant::now()), window))
        .collect::<Result<_>>()?;
    let running: Vec<_> =
        workers.into_iter().map(|worker| thread::spawn(|| worker.run())).collect();
    thread::sleep(from.saturating_duration_since(Instant::now()));
    let before = Cpu::now(server);
    let mut tally = Tally::new();
    for worker in running {
        tally.add(worker.join().map_err(|_| Failure::said("a thread of the client failed"))?);
    }
    let measured = Instant::now().saturating_duration_since(from).min(load.time).as_secs_f64();
    if measured <= 0.0 {
        return Err(Failure::Interrupted);
    }
    let mut result = Measured::new(&tally, measured);
    before.charge(server, &mut result, tally.queries);
    Ok(result)
}

/// CPU times at the start of a run.
struct Cpu {
    server: Option<Duration>,
    client: Duration,
}

impl Cpu {
    fn now(server: &Server) -> Self {
        Self { server: server.cpu(), client: process_cpu() }
    }

    fn charge(&self, server: &Server, result: &mut Measured, queries: u64) {
        let after = Self::now(server);
        let each = |time: Duration| time.as_secs_f64() * 1e6 / queries.max(1) as f64;
        let spent = self.server.zip(after.server).map(|(a, b)| b.saturating_sub(a));
        result.server_us = spent.map(each);
        result.client_us = each(after.client.saturating_sub(self.client));
        result.resident_mib = server.resident_mib();
    }
}
