//! The steps of the insert benchmark, in their order.
//!
//! Each step works on the table that the steps before it have left; only the load creates it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::table::{
    DATABASE, add_indexes, create, delete_oldest, insert, keys, point_query, range_query,
};
use crate::error::{Failure, Result};
use crate::oltp::Random;
use crate::server::Server;
use crate::stop;
use crate::wire::Connection;

/// Size of the benchmark.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// Rows loaded.
    pub(crate) rows: u64,
    /// Duration of a step with queries.
    pub(crate) time: Duration,
}

/// A step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) name: &'static str,
    /// The things it counts, for reports.
    pub(crate) unit: &'static str,
    work: Work,
}

#[derive(Clone, Copy, Debug)]
enum Work {
    Load,
    Indexes,
    /// Inserts and deletes `rows` rows per transaction, until one `share`-th of the loaded rows is
    /// replaced.
    Turnover {
        rows: u64,
        share: u64,
    },
    /// Runs queries while `rate` rows per second are inserted and deleted.
    Queries {
        range: bool,
        rate: u64,
    },
}

const fn step(name: &'static str, unit: &'static str, work: Work) -> Step {
    Step { name, unit, work }
}

/// All steps, in their order.
pub(crate) const STEPS: [Step; 10] = [
    step("l.i0", "rows", Work::Load),
    step("l.x", "rows", Work::Indexes),
    step("l.i1", "rows", Work::Turnover { rows: 50, share: 2 }),
    step("l.i2", "rows", Work::Turnover { rows: 5, share: 10 }),
    step("qr100", "queries", Work::Queries { range: true, rate: 100 }),
    step("qp100", "queries", Work::Queries { range: false, rate: 100 }),
    step("qr500", "queries", Work::Queries { range: true, rate: 500 }),
    step("qp500", "queries", Work::Queries { range: false, rate: 500 }),
    step("qr1000", "queries", Work::Queries { range: true, rate: 1000 }),
    step("qp1000", "queries", Work::Queries { range: false, rate: 1000 }),
];

/// Rows of an INSERT during the load.
const BATCH: u64 = 1_000;
/// Rows of a transaction of the writer that runs beside the queries.
const PIECE: u64 = 50;

/// Runs one step; returns its units per second.
pub(crate) fn run(server: &Server, step: &Step, sizes: Sizes) -> Result<f64> {
    let mut random = Random::new(sizes.rows);
    if matches!(step.work, Work::Load) {
        create(&mut server.connect("")?)?;
    }
    let mut connection = server.connect(DATABASE)?;
    let begun = Instant::now();
    let done = match step.work {
        Work::Load => {
            (0..sizes.rows.div_ceil(BATCH)).try_for_each(|_| {
                go_on()?;
                insert(&mut connection, BATCH, &mut random)
            })?;
            sizes.rows.next_multiple_of(BATCH)
        }
        Work::Indexes => {
            add_indexes(&mut connection)?;
            sizes.rows
        }
        Work::Turnover { rows, share } => {
            let times = (sizes.rows / share / rows).max(1);
            (0..times).try_for_each(|_| turn_over(&mut connection, rows, &mut random))?;
            times * rows
        }
        Work::Queries { range, rate } => {
            return queries(server, &mut connection, (range, rate), sizes.time);
        }
    };
    Ok(done as f64 / begun.elapsed().as_secs_f64())
}

fn go_on() -> Result<()> {
    if stop::requested() { Err(Failure::Interrupted) } else { Ok(()) }
}

fn turn_over(connection: &mut Connection, rows: u64, random: &mut Random) -> Result<()> {
    go_on()?;
    connection.query("BEGIN")?;
    insert(connection, rows, random)?;
    delete_oldest(connection, rows)?;
    connection.query("COMMIT").map(drop)
}

/// Queries per second while a writer keeps its rate, as far as the server can.
fn queries(
    server: &Server,
    connection: &mut Connection,
    (range, rate): (bool, u64),
    time: Duration,
) -> Result<f64> {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let writer = scope.spawn(|| write_at(server, rate, &over));
        let counted = count_queries(connection, range, time);
        over.store(true, Ordering::Relaxed);
        writer.join().map_err(|_| Failure::said("a thread of the client failed"))??;
        counted
    })
}

fn count_queries(connection: &mut Connection, range: bool, time: Duration) -> Result<f64> {
    let mut random = Random::new(7);
    let (begun, mut done, mut keys_now) = (Instant::now(), 0u64, keys(connection)?);
    while begun.elapsed() < time {
        go_on()?;
        if range {
            range_query(connection, &mut random)?;
        } else {
            point_query(connection, keys_now, &mut random)?;
        }
        done += 1;
        if done % 1_000 == 0 {
            keys_now = keys(connection)?;
        }
    }
    Ok(done as f64 / begun.elapsed().as_secs_f64())
}

fn write_at(server: &Server, rate: u64, over: &AtomicBool) -> Result<()> {
    let mut connection = server.connect(DATABASE)?;
    let mut random = Random::new(rate);
    let every = Duration::from_secs_f64(PIECE as f64 / rate as f64);
    let mut due = Instant::now();
    while !over.load(Ordering::Relaxed) {
        turn_over(&mut connection, PIECE, &mut random)?;
        due += every;
        while Instant::now() < due && !over.load(Ordering::Relaxed) {
            thread::sleep(
                due.saturating_duration_since(Instant::now()).min(Duration::from_millis(20)),
            );
        }
    }
    Ok(())
}
