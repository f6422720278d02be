//! `selkie bench sweep`: a ladder of numbers of connections, servers in turn, several repetitions.
//!
//! Servers take turns inside of a repetition, so that a slow drift of the machine affects all of
//! them.

use std::path::PathBuf;

use clap::{ArgMatches, Command};

use super::oltp::{lost, prepare, print};
use super::options::{
    method, mixes, number, numbers, option, seconds, server_options, servers, size, size_options,
    switch, text,
};
use crate::error::{Failure, Result};
use crate::oltp::{self, Load, Measured, Mix};
use crate::report::{self, Better, Chart, ChartKind, Line, Point, Report, Run, Section, Table};
use crate::server::Server;
use crate::stop;

pub(super) fn command() -> Command {
    Command::new("sweep")
        .about("Throughput and response time against connections")
        .args(server_options())
        .args(size_options())
        .arg(option(
            "mixes",
            "point-select,read-only,read-write",
            "of point-select, read-only, read-write, write-only, insert, update-index, \
             update-non-index, delete, random-points, random-ranges, million, ninety-ten",
        ))
        .arg(option("connections", "1,4,16,64,256", "the ladder"))
        .arg(option("threads", "1", "threads of the client"))
        .arg(option("warmup", "1", "seconds before a run counts"))
        .arg(option("seconds", "5", "seconds that count"))
        .arg(option("repeat", "3", "repetitions; the servers take turns"))
        .arg(switch("text", "send statements as text instead of preparing them"))
        .arg(option("out", "bench-sweep", "folder of the report"))
}

pub(super) fn run(matches: &ArgMatches) -> Result<()> {
    let sweep = Sweep {
        ladder: numbers(matches, "connections")?,
        repeat: number(matches, "repeat")?,
        mixes: mixes(matches, "mixes")?,
    };
    if sweep.ladder.contains(&0) {
        return Err(Failure::said("--connections: at least one is needed"));
    }
    let load = Load {
        mix: sweep.mixes[0],
        size: size(matches)?,
        connections: 1,
        threads: number(matches, "threads")?,
        warmup: seconds(matches, "warmup")?,
        time: seconds(matches, "seconds")?,
        text: matches.get_flag("text"),
        rate: None,
    };
    let servers = servers(matches)?;
    let mut report = Report::new("Throughput against connections", &servers);
    report.method = method(matches);
    report.method.push(format!(
        "{} tables of {} rows; {} s warm-up, {} s measured, {} repetitions, median with the least \
         and the greatest; statements {}. A difference below 5 % is a draw.",
        load.size.tables,
        load.size.rows,
        load.warmup.as_secs_f64(),
        load.time.as_secs_f64(),
        sweep.repeat,
        if load.text { "as text" } else { "prepared" }
    ));
    let done = sweep.measure(&servers, &load, &mut report);
    if let Err(error) = &done {
        report.incomplete = Some(error.to_string());
    }
    sweep.conclude(&servers, &mut report);
    let folder = PathBuf::from(text(matches, "out"));
    report::write(&report, &folder)?;
    println!("report: {}", folder.join("report.html").display());
    done
}

struct Sweep {
    ladder: Vec<usize>,
    repeat: usize,
    mixes: Vec<&'static Mix>,
}

/// A value of a run that a chart shows.
type Of = fn(&Measured) -> Option<f64>;

impl Sweep {
    fn measure(&self, servers: &[Server], load: &Load, report: &mut Report) -> Result<()> {
        for mix in &self.mixes {
            for &connections in &self.ladder {
                for repetition in 1..=self.repeat {
                    for server in servers {
                        let load = Load { mix, connections, ..load.clone() };
                        self.one(server, &load, repetition, report)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn one(
        &self,
        server: &Server,
        load: &Load,
        repetition: usize,
        report: &mut Report,
    ) -> Result<()> {
        if load.mix.resizes() {
            oltp::create(&mut server.connect("")?, load.size)?;
        } else {
            prepare(server, load)?;
        }
        let measured = oltp::run(server, load)?;
        print(server, load, &measured);
        let lost = (!measured.lost.is_empty()).then(|| lost(server, &measured));
        report.runs.push(Run {
            server: server.name.clone(),
            what: load.mix.name.to_owned(),
            connections: load.connections,
            repetition,
            measured,
        });
        match lost {
            Some(why) => Err(Failure::said(why)),
            None if stop::requested() => Err(Failure::Interrupted),
            None => Ok(()),
        }
    }

    fn conclude(&self, servers: &[Server], report: &mut Report) {
        for mix in &self.mixes {
            let chart = |title: &str, y: &str, better, of: Of| Chart {
                title: format!("{}: {title}", mix.name),
                kind: ChartKind::Steps,
                x: "connections".to_owned(),
                y: y.to_owned(),
                better,
                lines: servers.iter().map(|s| self.line(report, mix, s, of)).collect(),
            };
            let throughput =
                chart("queries a second", "queries a second", Better::Higher, |m| Some(m.qps));
            let response = chart("response time, 99 of 100", "milliseconds", Better::Lower, |m| {
                Some(m.p99_ms)
            });
            let cost =
                chart("server CPU per query", "microseconds", Better::Lower, |m| m.server_us);
            let tables = vec![table(&throughput, &response, &cost)];
            let measures = [("qps", &throughput), ("cpu", &cost)]
                .map(|(what, chart)| numbers_of(mix, what, chart));
            report.measures.extend(measures.into_iter().flatten());
            report.sections.push(Section {
                title: mix.name.to_owned(),
                text: mix.about.to_owned(),
                charts: vec![throughput, response, cost],
                tables,
            });
        }
    }

    fn line(&self, report: &Report, mix: &Mix, server: &Server, of: Of) -> Line {
        let values = |connections: usize| -> Vec<f64> {
            let runs = report.runs.iter().filter(|run| {
                run.server == server.name && run.what == mix.name && run.connections == connections
            });
            runs.filter_map(|run| of(&run.measured)).collect()
        };
        let point = |n: &usize| Point::of(n.to_string(), *n as f64, &values(*n));
        Line { name: server.name.clone(), points: self.ladder.iter().filter_map(point).collect() }
    }
}

fn numbers_of(mix: &Mix, what: &str, chart: &Chart) -> Vec<report::Measure> {
    let lines = chart.lines.iter();
    lines
        .flat_map(|line| {
            line.points.iter().map(|point| report::Measure {
                name: format!("sweep/{}/{}/{}/{what}", mix.name, point.label, line.name),
                value: point.y,
                better: chart.better,
            })
        })
        .collect()
}

/// All numbers, and the first server's throughput divided by each other server's.
fn table(throughput: &Chart, response: &Chart, cost: &Chart) -> Table {
    let mut columns = vec!["connections".to_owned()];
    for line in &throughput.lines {
        let name = &line.name;
        columns.extend([format!("{name} q/s"), format!("{name} p99 ms"), format!("{name} CPU us")]);
    }
    let first = throughput.lines.first();
    for line in throughput.lines.iter().skip(1) {
        columns.push(format!("{} / {}", first.map_or("", |f| &f.name), line.name));
    }
    let find = |chart: &Chart, line: usize, label: &str| {
        chart.lines.get(line)?.points.iter().find(|p| p.label == label).map(|p| p.y)
    };
    let shown = |value: Option<f64>, digits: usize| {
        value.map_or("-".to_owned(), |v| format!("{v:.digits$}"))
    };
    let row = |label: &String| {
        let mut row = vec![label.clone()];
        for at in 0..throughput.lines.len() {
            row.push(shown(find(throughput, at, label), 0));
            row.push(shown(find(response, at, label), 2));
            row.push(shown(find(cost, at, label), 1));
        }
        let ours = find(throughput, 0, label);
        for at in 1..throughput.lines.len() {
            let ratio = ours.zip(find(throughput, at, label)).map(|(a, b)| a / b);
            row.push(ratio.map_or("-".to_owned(), verdict));
        }
        row
    };
    let labels = first.map(|line| line.points.iter().map(|p| &p.label).collect::<Vec<_>>());
    Table {
        title: "Medians".to_owned(),
        columns,
        rows: labels.unwrap_or_default().into_iter().map(row).collect(),
    }
}

/// The values of all lines, and the first line's divided by each other line's.
pub(super) fn medians(what: &str, lines: &[Line]) -> Table {
    let mut columns = vec![what.to_owned()];
    columns.extend(lines.iter().map(|line| format!("{} q/s", line.name)));
    let first = lines.first();
    let name = first.map_or("", |line| &line.name);
    columns.extend(lines.iter().skip(1).map(|line| format!("{name} / {}", line.name)));
    let row = |point: &Point| {
        let find = |line: &Line| line.points.iter().find(|p| p.label == point.label).map(|p| p.y);
        let values: Vec<Option<f64>> = lines.iter().map(find).collect();
        let mut row = vec![point.label.clone()];
        row.extend(values.iter().map(|v| v.map_or("-".to_owned(), |v| format!("{v:.0}"))));
        let ratios = values.iter().skip(1).map(|v| v.map(|v| verdict(point.y / v)));
        row.extend(ratios.map(|ratio| ratio.unwrap_or("-".to_owned())));
        row
    };
    let rows = first.map(|line| line.points.iter().map(row).collect()).unwrap_or_default();
    Table { title: "Medians".to_owned(), columns, rows }
}

/// A ratio, marked as a draw if the difference is below 5 %.
fn verdict(ratio: f64) -> String {
    if (ratio - 1.0).abs() < 0.05 { format!("{ratio:.2} draw") } else { format!("{ratio:.2}") }
}
