//! `selkie bench oltp`: runs one load on one or more servers.
//!
//! Has helpers that `sweep`, `micro` and `stalls` use too: options of a load, preparing tables,
//! lines of a chart.

use std::path::PathBuf;

use clap::{ArgMatches, Command};

use super::options::{
    method, mixes, number, option, optional, seconds, server_options, servers, size, size_options,
    switch, text,
};
use crate::error::{Failure, Result};
use crate::oltp::{self, Load, Measured};
use crate::report::{self, Better, Chart, ChartKind, Line, Point, Report, Run, Section};
use crate::server::Server;

pub(super) fn command() -> Command {
    Command::new("oltp")
        .about("Runs one of sysbench's mixes")
        .args(server_options())
        .args(size_options())
        .arg(option("mix", "read-write", "the mix; see --help of sweep for all"))
        .arg(option("connections", "8", "connections"))
        .arg(option("threads", "1", "threads of the client"))
        .arg(option("warmup", "2", "seconds before it counts"))
        .arg(option("seconds", "10", "seconds that count"))
        .arg(switch("text", "send statements as text instead of preparing them"))
        .arg(optional("rate", "transactions a second, due at even distances (open loop)"))
        .arg(optional("out", "folder of a report"))
}

/// The load from the options; it is the same for all servers.
pub(super) fn load(matches: &ArgMatches) -> Result<Load> {
    let rate: Option<f64> =
        matches.contains_id("rate").then(|| number(matches, "rate")).transpose()?;
    if rate.is_some_and(|rate| rate <= 0.0) {
        return Err(Failure::said("--rate: more than 0 transactions a second are needed"));
    }
    let connections: usize = number(matches, "connections")?;
    if connections == 0 {
        return Err(Failure::said("--connections: at least one is needed"));
    }
    Ok(Load {
        mix: mixes(matches, "mix")?[0],
        size: size(matches)?,
        connections,
        threads: number(matches, "threads")?,
        warmup: seconds(matches, "warmup")?,
        time: seconds(matches, "seconds")?,
        text: matches.get_flag("text"),
        rate,
    })
}

pub(super) fn run(matches: &ArgMatches) -> Result<()> {
    let load = load(matches)?;
    let servers = servers(matches)?;
    let mut report =
        Report::new(&format!("{} on {} connections", load.mix.name, load.connections), &servers);
    report.method = method(matches);
    let mut lines = Vec::new();
    for server in &servers {
        prepare(server, &load)?;
        let measured = oltp::run(server, &load)?;
        print(server, &load, &measured);
        lines.push(series(&server.name, &measured));
        if !measured.lost.is_empty() {
            report.incomplete = Some(lost(server, &measured));
        }
        report.measure(
            format!("oltp/{}/{}/qps", load.mix.name, server.name),
            measured.qps,
            Better::Higher,
        );
        report.runs.push(Run {
            server: server.name.clone(),
            what: load.mix.name.to_owned(),
            connections: load.connections,
            repetition: 1,
            measured,
        });
    }
    report.sections.push(Section {
        title: "Second by second".to_owned(),
        text: load.mix.about.to_owned(),
        charts: vec![per_second(&format!("{} per second", load.mix.name), lines)],
        tables: Vec::new(),
    });
    if matches.contains_id("out") {
        report::write(&report, &PathBuf::from(text(matches, "out")))?;
    }
    report.incomplete.map_or(Ok(()), |why| Err(Failure::said(why)))
}

/// Creates the tables if they do not exist with this size.
pub(super) fn prepare(server: &Server, load: &Load) -> Result<()> {
    let mut connection = server.connect("")?;
    if !oltp::is_there(&mut connection, load.size) {
        eprintln!("{}: {} tables of {} rows", server.name, load.size.tables, load.size.rows);
        oltp::create(&mut connection, load.size).map_err(|e| e.at(&server.address))?;
    }
    Ok(())
}

/// The reason why a run is not valid: lost connections.
pub(super) fn lost(server: &Server, measured: &Measured) -> String {
    format!("{}: {} connections lost: {}", server.name, measured.lost.len(), measured.lost[0])
}

/// Prints a line about a run.
pub(super) fn print(server: &Server, load: &Load, measured: &Measured) {
    let m = measured;
    let micros = m.server_us.map_or("-".to_owned(), |us| format!("{us:.1}"));
    println!(
        "{:10} {:16} {:5} connections {:10.0} q/s {:10.0} t/s  ms: mean {:.2} p95 {:.2} p99 {:.2} max {:.1}  \
         us of CPU a query: server {micros} client {:.1}",
        server.name,
        load.mix.name,
        load.connections,
        m.qps,
        m.tps,
        m.mean_ms,
        m.p95_ms,
        m.p99_ms,
        m.max_ms,
        m.client_us
    );
    if !m.errors.is_empty() {
        let errors: Vec<String> = m.errors.iter().map(|(code, n)| format!("{code}: {n}")).collect();
        println!("{:10} errors {}", server.name, errors.join(", "));
    }
}

/// The transactions of each second, as a line of a chart.
pub(super) fn series(name: &str, measured: &Measured) -> Line {
    let point = |s: &oltp::Second| {
        let y = s.transactions as f64;
        Point { label: String::new(), x: f64::from(s.at), y, low: y, high: y }
    };
    Line { name: name.to_owned(), points: measured.series.iter().map(point).collect() }
}

/// The chart for such lines.
pub(super) fn per_second(title: &str, lines: Vec<Line>) -> Chart {
    Chart {
        title: title.to_owned(),
        kind: ChartKind::Time,
        x: "seconds".to_owned(),
        y: "transactions a second".to_owned(),
        better: Better::Higher,
        lines,
    }
}
