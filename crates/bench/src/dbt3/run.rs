//! The power test: runs each query several times, with the servers in turn, and compares the
//! answers.
//!
//! A query that exceeds the time limit is killed, and the test goes on.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::answers::{Verdict, check, same_rows};
use super::data::{Loaded, load};
use super::queries::{DATABASE, QUERIES};
use crate::error::{Failure, Result};
use crate::server::Server;
use crate::stop;
use crate::wire::{Answer, Connection};

/// Settings of a test.
pub(crate) struct PowerTest {
    pub(crate) scale: f64,
    pub(crate) runs: usize,
    pub(crate) timeout: Duration,
    /// Whether servers are restarted before each run.
    pub(crate) cold: bool,
    pub(crate) queries: Vec<usize>,
    /// Folder of the reference answers.
    pub(crate) answers: Option<PathBuf>,
}

/// Result of a query on one server.
pub(crate) struct QueryResult {
    pub(crate) query: usize,
    /// Seconds of each run; empty if the query exceeded the time limit.
    pub(crate) times: Vec<f64>,
    pub(crate) answer: Option<Answer>,
    pub(crate) plan: Option<Answer>,
}

/// Results of one server.
pub(crate) struct ServerResult {
    pub(crate) name: String,
    pub(crate) loaded: Option<Loaded>,
    pub(crate) queries: Vec<QueryResult>,
    /// Differences from the expected answers.
    pub(crate) wrong: Vec<String>,
}

impl ServerResult {
    pub(crate) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), loaded: None, queries: Vec::new(), wrong: Vec::new() }
    }
}

impl PowerTest {
    /// Loads the database on each server.
    pub(crate) fn load(&self, servers: &[Server], results: &mut [ServerResult]) -> Result<()> {
        for (server, result) in servers.iter().zip(results) {
            let mut connection = server.connect("")?;
            let took = load(&mut connection, self.scale).map_err(|e| e.at(&server.address))?;
            println!(
                "{:10} load {:.1} s, indexes {:.1} s, analyze {:.1} s",
                server.name,
                took.load.as_secs_f64(),
                took.indexes.as_secs_f64(),
                took.analyze.as_secs_f64()
            );
            result.loaded = Some(took);
        }
        Ok(())
    }

    /// Runs the queries.
    pub(crate) fn run(&self, servers: &mut [Server], results: &mut [ServerResult]) -> Result<()> {
        for &query in &self.queries {
            for (server, result) in servers.iter_mut().zip(results.iter_mut()) {
                let done = self.query(query, server)?;
                println!("{:10} Q{query:<3}{}", server.name, shown(&done.times));
                result.queries.push(done);
            }
            self.compare(query, results)?;
        }
        Ok(())
    }

    fn query(&self, query: usize, server: &mut Server) -> Result<QueryResult> {
        let text = QUERIES[query - 1].trim().trim_end_matches(';');
        // A server that cannot explain the query may still answer it.
        let plan = server.connect(DATABASE)?.query(&format!("EXPLAIN {text}")).ok();
        let mut result = QueryResult { query, times: Vec::new(), answer: None, plan };
        for _ in 0..self.runs {
            if stop::requested() {
                return Err(Failure::Interrupted);
            }
            if self.cold && server.restart()? {
                drop_caches();
            }
            let Some((answer, seconds)) = self.once(query, text, server)? else {
                result.times.clear();
                break;
            };
            result.times.push(seconds);
            result.answer = Some(answer);
        }
        Ok(result)
    }

    /// One run; `None` if it exceeded the time limit.
    fn once(&self, query: usize, text: &str, server: &Server) -> Result<Option<(Answer, f64)>> {
        let mut connection = server.connect(DATABASE)?;
        let id = connection.query("SELECT CONNECTION_ID()")?.value().map(str::to_owned);
        connection.set_timeout(Some(self.timeout))?;
        let begun = Instant::now();
        match connection.query(text) {
            Ok(answer) => Ok(Some((answer, begun.elapsed().as_secs_f64()))),
            Err(Failure::Io(error)) if is_timeout(&error) => {
                kill(server, connection, id.as_deref());
                Ok(None)
            }
            Err(error) => Err(Failure::said(format!("{}: Q{query}: {error}", server.name))),
        }
    }

    /// Compares the last query's answers with the reference, or else with the first server's
    /// answer.
    fn compare(&self, query: usize, results: &mut [ServerResult]) -> Result<()> {
        let first = results.iter().find_map(|r| r.queries.last()?.answer.clone());
        for result in results {
            let Some(answer) = result.queries.last().and_then(|q| q.answer.as_ref()) else {
                continue;
            };
            let mut verdict = match &self.answers {
                Some(folder) => check(folder, query, self.scale, answer)?,
                None => Verdict::Unknown,
            };
            if let (Verdict::Unknown, Some(first)) = (&verdict, &first) {
                verdict = same_rows(&first.rows, &answer.rows);
            }
            if let Verdict::Wrong(difference) = verdict {
                let text = format!("{}: Q{query}: {difference}", result.name);
                println!("{text}");
                result.wrong.push(text);
            }
        }
        Ok(())
    }
}

fn shown(times: &[f64]) -> String {
    match times {
        [] => " ran out of time".to_owned(),
        _ => times.iter().map(|seconds| format!(" {seconds:9.3} s")).collect(),
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

/// Kills a query whose answer is not needed any more.
fn kill(server: &Server, connection: Connection, id: Option<&str>) {
    if let (Some(id), Ok(mut other)) = (id, server.connect("")) {
        // It may have ended by itself.
        let _ = other.query(&format!("KILL {id}"));
    }
    drop(connection);
}

/// Drops the system's page cache. Only root may do that; without it, runs are less cold.
fn drop_caches() {
    rustix::fs::sync();
    let _ = fs::write("/proc/sys/vm/drop_caches", "3");
}
