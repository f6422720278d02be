//! The player: clients that send recorded pages, each page on a connection of its own or all of a
//! client's pages on one, and loops over the statements of one class.
//!
//! A client waits for each answer before it sends the next command, as applications do. Must not
//! decode rows: the client shares the machine with the server.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::digest::Class;
use super::recording::{Command, Page};
use crate::error::{Failure, Result};
use crate::server::Server;
use crate::stop;
use crate::wire::{Connection, Outcome};

/// Result of playing pages or statements.
#[derive(Debug, Default)]
pub(crate) struct Played {
    /// Server CPU for each page or statement in microseconds, if the server is on this machine.
    pub(crate) cpu_us: Option<f64>,
    /// Response times in microseconds.
    pub(crate) median_us: f64,
    pub(crate) p95_us: f64,
    /// Number of answers with each error.
    pub(crate) errors: BTreeMap<u16, u64>,
}

/// Connections of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Connections {
    /// One for each page.
    PerPage,
    /// One for all pages.
    Kept,
}

/// Plays pages in turn with some clients for a time.
pub(crate) fn play_pages(
    server: &Server,
    pages: &[Page],
    clients: usize,
    time: Duration,
    connections: Connections,
) -> Result<Played> {
    let next = AtomicUsize::new(0);
    let client = || {
        let mut tally = Tally::default();
        let mut kept = None;
        let begun = Instant::now();
        while begun.elapsed() < time && !stop::requested() {
            let page = &pages[next.fetch_add(1, Ordering::Relaxed) % pages.len()];
            let start = Instant::now();
            let mut line = match kept.take() {
                Some(line) => line,
                None => Line::open(server, &page.database)?,
            };
            for command in &page.commands {
                line.send(command, &mut tally)?;
            }
            line.close_all()?;
            match connections {
                Connections::Kept => kept = Some(line),
                Connections::PerPage => line.connection.leave()?,
            }
            tally.times.push(start.elapsed());
        }
        Ok(tally)
    };
    measured(server, clients, &client)
}

/// Sends the statements of a class in turn on one connection for a time.
pub(crate) fn play_class(server: &Server, class: &Class, time: Duration) -> Result<Played> {
    let client = || {
        let mut tally = Tally::default();
        let mut line = Line::open(server, &class.database)?;
        if let Some(text) = &class.prepare {
            line.send(&Command::Prepare(text.clone()), &mut tally)?;
        }
        let begun = Instant::now();
        for command in class.commands.iter().cycle() {
            let start = Instant::now();
            if start.duration_since(begun) >= time || stop::requested() {
                break;
            }
            line.send(command, &mut tally)?;
            tally.times.push(start.elapsed());
        }
        line.connection.leave()?;
        Ok(tally)
    };
    measured(server, 1, &client)
}

fn measured(
    server: &Server,
    clients: usize,
    client: &(impl Fn() -> Result<Tally> + Sync),
) -> Result<Played> {
    let before = server.cpu();
    let tallies: Vec<Result<Tally>> = thread::scope(|scope| {
        let running: Vec<_> = (0..clients).map(|_| scope.spawn(client)).collect();
        let failed = |_| Err(Failure::said("a thread of the client failed"));
        running.into_iter().map(|thread| thread.join().unwrap_or_else(failed)).collect()
    });
    let spent = before.zip(server.cpu()).map(|(before, after)| after.saturating_sub(before));
    let mut all = Tally::default();
    for tally in tallies {
        all.add(tally.map_err(|e| e.at(&server.address))?);
    }
    if stop::requested() {
        return Err(Failure::Interrupted);
    }
    Ok(all.played(spent))
}

/// Counts of one client.
#[derive(Debug, Default)]
struct Tally {
    times: Vec<Duration>,
    errors: BTreeMap<u16, u64>,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.times.extend(other.times);
        for (code, count) in other.errors {
            *self.errors.entry(code).or_default() += count;
        }
    }

    fn played(mut self, spent: Option<Duration>) -> Played {
        self.times.sort_unstable();
        let count = self.times.len();
        let at = |share: f64| {
            let time = self.times.get((count as f64 * share) as usize).or(self.times.last());
            time.map_or(0.0, |time| time.as_secs_f64() * 1e6)
        };
        Played {
            cpu_us: spent.map(|spent| spent.as_secs_f64() * 1e6 / count.max(1) as f64),
            median_us: at(0.5),
            p95_us: at(0.95),
            errors: self.errors,
        }
    }
}

/// A connection with the server's numbers of its prepared statements, by their recorded numbers.
struct Line {
    connection: Connection,
    prepared: Vec<Option<u32>>,
}

impl Line {
    fn open(server: &Server, database: &str) -> Result<Self> {
        Ok(Self { connection: server.connect(database)?, prepared: Vec::new() })
    }

    /// Sends a command and waits for its answer, if it has one.
    fn send(&mut self, command: &Command, tally: &mut Tally) -> Result<()> {
        let outcome = match command {
            Command::Query(text) => self.connection.exchange(3, text)?,
            Command::Use(name) => self.connection.exchange(2, name)?,
            Command::Ping => self.connection.exchange(0x0E, &[])?,
            Command::ResetConnection => self.connection.exchange(0x1F, &[])?,
            Command::Prepare(text) => return self.prepare(text, tally),
            Command::Execute(number, rest) => match self.numbered(*number, rest) {
                Some(argument) => self.connection.exchange(0x17, &argument)?,
                None => return Ok(()),
            },
            Command::Reset(number) => match self.numbered(*number, &[]) {
                Some(argument) => self.connection.exchange(0x1A, &argument)?,
                None => return Ok(()),
            },
            Command::LongData(number, rest) => match self.numbered(*number, rest) {
                Some(argument) => return self.connection.tell(0x18, &argument),
                None => return Ok(()),
            },
            Command::Close(number) => return self.close(*number),
        };
        if let Outcome::Failed(error) = outcome {
            *tally.errors.entry(error.code).or_default() += 1;
        }
        Ok(())
    }

    fn prepare(&mut self, text: &[u8], tally: &mut Tally) -> Result<()> {
        match self.connection.prepare(&String::from_utf8_lossy(text)) {
            Ok(prepared) => self.prepared.push(Some(prepared.id)),
            Err(Failure::Server(error)) => {
                *tally.errors.entry(error.code).or_default() += 1;
                self.prepared.push(None);
            }
            Err(other) => return Err(other),
        }
        Ok(())
    }

    /// The server's number of a prepared statement, then the rest of the argument.
    fn numbered(&self, number: u32, rest: &[u8]) -> Option<Vec<u8>> {
        let id = self.prepared.get((number as usize).checked_sub(1)?).copied().flatten()?;
        Some([&id.to_le_bytes(), rest].concat())
    }

    fn close(&mut self, number: u32) -> Result<()> {
        let Some(argument) = self.numbered(number, &[]) else { return Ok(()) };
        self.prepared[number as usize - 1] = None;
        self.connection.tell(0x19, &argument)
    }

    /// Closes what the page has left open, so that the next page's numbers begin at 1 again.
    fn close_all(&mut self) -> Result<()> {
        for number in 1..=self.prepared.len() {
            self.close(number as u32)?;
        }
        self.prepared.clear();
        Ok(())
    }
}
