//! Profiles of a session's last statements, for `SET profiling = 1`.
//!
//! Must not cost anything while profiling is off. This server has two stages: a statement is
//! parsed, then it runs.

use std::collections::VecDeque;
use std::time::Instant;

use selkie_types::Value;

use crate::session::Shared;
use crate::tables::{Row, text};
use crate::variables::ids;

/// Longest text that is kept of a statement.
const LONGEST_TEXT: usize = 300;

/// A stage of a statement.
#[derive(Clone, Debug)]
struct Stage {
    name: &'static str,
    micros: u64,
    cpu_micros: u64,
}

/// The profile of a statement.
#[derive(Clone, Debug)]
struct Profile {
    id: u64,
    text: String,
    stages: Vec<Stage>,
}

/// The profiles of a session.
#[derive(Debug, Default)]
pub(crate) struct Profiles {
    kept: VecDeque<Profile>,
    last: u64,
}

/// Measures the stages of one statement.
#[derive(Debug)]
pub(crate) struct Recorder {
    stages: Vec<Stage>,
    since: Instant,
    cpu_since: u64,
}

impl Recorder {
    /// A recorder, if the session has profiling on.
    pub(crate) fn start(shared: &Shared) -> Option<Self> {
        shared.habits().profiles.then(|| Self {
            stages: Vec::new(),
            since: Instant::now(),
            cpu_since: cpu_micros(),
        })
    }

    /// Ends a stage.
    pub(crate) fn mark(&mut self, name: &'static str) {
        let (now, cpu) = (Instant::now(), cpu_micros());
        self.stages.push(Stage {
            name,
            micros: now.duration_since(self.since).as_micros() as u64,
            cpu_micros: cpu.saturating_sub(self.cpu_since),
        });
        (self.since, self.cpu_since) = (now, cpu);
    }

    /// Ends the statement and keeps its profile. Compat: a statement that switched profiling off,
    /// or that showed profiles, is not kept.
    pub(crate) fn keep(self, shared: &Shared, statement: &[u8]) {
        let limit = shared.var(ids().profiling_history_size).as_u64() as usize;
        let shows = statement.get(..12).is_some_and(|s| s.eq_ignore_ascii_case(b"SHOW PROFILE"));
        if shows || !shared.var(ids().profiling).as_bool() {
            return;
        }
        let text: String = String::from_utf8_lossy(statement).chars().take(LONGEST_TEXT).collect();
        let mut profiles = shared.profiles.lock();
        profiles.last += 1;
        let id = profiles.last;
        profiles.kept.push_back(Profile { id, text, stages: self.stages });
        while profiles.kept.len() > limit {
            profiles.kept.pop_front();
        }
    }
}

/// CPU time of this thread.
pub(crate) fn cpu_micros() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000 + time.tv_nsec as u64 / 1_000
}

/// SHOW PROFILES: number, seconds and text.
pub(crate) fn list(shared: &Shared) -> Vec<(u64, f64, String)> {
    let profiles = shared.profiles.lock();
    let total = |p: &Profile| p.stages.iter().map(|s| s.micros).sum::<u64>() as f64 / 1e6;
    profiles.kept.iter().map(|p| (p.id, total(p), p.text.clone())).collect()
}

/// The rows of `information_schema.PROFILING`.
pub(crate) fn rows(shared: &Shared) -> Vec<Row> {
    let profiles = shared.profiles.lock();
    let stages = profiles.kept.iter().flat_map(|p| {
        // Compat: sequence number 1 belongs to the start of the statement.
        p.stages.iter().enumerate().map(|(at, stage)| (p.id, at as i64 + 2, stage))
    });
    stages.map(|(id, seq, stage)| row(id, seq, stage)).collect()
}

fn row(id: u64, seq: i64, stage: &Stage) -> Row {
    let decimal =
        |micros: u64| Value::Decimal(selkie_types::Decimal::from_i128(i128::from(micros), 6));
    vec![
        ("QUERY_ID", Value::Int(id as i64)),
        ("SEQ", Value::Int(seq)),
        ("STATE", text(stage.name)),
        ("DURATION", decimal(stage.micros)),
        ("CPU_USER", decimal(stage.cpu_micros)),
    ]
}
