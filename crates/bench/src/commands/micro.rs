//! `selkie bench micro`: 32 small benchmarks and the steps of the insert benchmark, with the
//! servers in turn.

use std::path::PathBuf;

use clap::{ArgMatches, Command};

use super::oltp::{lost, prepare, print};
use super::options::{
    method, number, option, optional, seconds, server_options, servers, size, size_options, switch,
    text,
};
use crate::error::{Failure, Result};
use crate::insert;
use crate::oltp::{self, GROUPS, Load, MICRO, Mix};
use crate::report::{self, Better, Chart, ChartKind, Line, Point, Report, Run, Section};
use crate::server::Server;
use crate::stop;

pub(super) fn command() -> Command {
    Command::new("micro")
        .about("One statement at a time: 32 small benchmarks in four groups")
        .args(server_options())
        .args(size_options())
        .arg(optional("only", "names of some, with commas"))
        .arg(option("connections", "1", "connections"))
        .arg(option("warmup", "0.5", "seconds before a run counts"))
        .arg(option("seconds", "2", "seconds that count"))
        .arg(option("repeat", "1", "repetitions; the servers take turns"))
        .arg(switch("text", "send statements as text instead of preparing them"))
        .arg(switch("insert-benchmark", "also the steps of the insert benchmark, on --rows rows"))
        .arg(option("out", "bench-micro", "folder of the report"))
}

pub(super) fn run(matches: &ArgMatches) -> Result<()> {
    let chosen = chosen(matches)?;
    let load = Load {
        mix: &MICRO[0],
        size: size(matches)?,
        connections: number(matches, "connections")?,
        threads: 1,
        warmup: seconds(matches, "warmup")?,
        time: seconds(matches, "seconds")?,
        text: matches.get_flag("text"),
        rate: None,
    };
    if load.connections == 0 {
        return Err(Failure::said("--connections: at least one is needed"));
    }
    let repeat = number(matches, "repeat")?;
    let servers = servers(matches)?;
    let mut report = Report::new("Small benchmarks", &servers);
    report.method = method(matches);
    report.method.push("Tables are made anew before whatever changes their size.".to_owned());
    let mut done = measure(&servers, &load, (&chosen, repeat), &mut report);
    conclude(&servers, &mut report);
    if done.is_ok() && matches.get_flag("insert-benchmark") {
        let sizes = insert::Sizes { rows: load.size.rows, time: load.time };
        done = insert_benchmark(&servers, sizes, &mut report);
    }
    report.incomplete = done.as_ref().err().map(ToString::to_string);
    let folder = PathBuf::from(text(matches, "out"));
    report::write(&report, &folder)?;
    println!("report: {}", folder.join("report.html").display());
    done
}

fn chosen(matches: &ArgMatches) -> Result<Vec<&'static Mix>> {
    if !matches.contains_id("only") {
        return Ok(MICRO.iter().collect());
    }
    let find = |name: &str| {
        let found = MICRO.iter().find(|mix| mix.name == name);
        found.ok_or_else(|| {
            let all: Vec<&str> = MICRO.iter().map(|mix| mix.name).collect();
            Failure::said(format!("--only: '{name}' is none of {}", all.join(", ")))
        })
    };
    text(matches, "only").split(',').map(|name| find(name.trim())).collect()
}

fn measure(
    servers: &[Server],
    load: &Load,
    (chosen, repeat): (&[&'static Mix], usize),
    report: &mut Report,
) -> Result<()> {
    for &mix in chosen {
        for repetition in 1..=repeat {
            for server in servers {
                let load = Load { mix, ..load.clone() };
                if mix.resizes() {
                    oltp::create(&mut server.connect("")?, load.size)?;
                }
                prepare(server, &load)?;
                let measured = oltp::run(server, &load)?;
                print(server, &load, &measured);
                let lost = (!measured.lost.is_empty()).then(|| lost(server, &measured));
                report.runs.push(Run {
                    server: server.name.clone(),
                    what: mix.name.to_owned(),
                    connections: load.connections,
                    repetition,
                    measured,
                });
                if let Some(why) = lost {
                    return Err(Failure::said(why));
                }
                if stop::requested() {
                    return Err(Failure::Interrupted);
                }
            }
        }
    }
    Ok(())
}

fn insert_benchmark(servers: &[Server], sizes: insert::Sizes, report: &mut Report) -> Result<()> {
    let mut lines: Vec<Line> =
        servers.iter().map(|s| Line { name: s.name.clone(), points: Vec::new() }).collect();
    let mut done = Ok(());
    'steps: for (at, step) in insert::STEPS.iter().enumerate() {
        for (server, line) in servers.iter().zip(&mut lines) {
            match insert::run(server, step, sizes) {
                Ok(rate) => {
                    println!(
                        "{:10} {:16} {rate:10.0} {} a second",
                        server.name, step.name, step.unit
                    );
                    line.points.extend(Point::of(step.name, at as f64, &[rate]));
                    report.measure(
                        format!("insert/{}/{}", step.name, server.name),
                        rate,
                        Better::Higher,
                    );
                }
                Err(error) => {
                    done = Err(error);
                    break 'steps;
                }
            }
        }
    }
    report.sections.push(Section {
        title: "insert benchmark".to_owned(),
        text: "Rows a second while loading, building indexes, and inserting and deleting 50 and 5 \
               rows a transaction; then queries a second while rows come and go."
            .to_owned(),
        charts: vec![shares("insert benchmark", lines.clone())],
        tables: vec![super::sweep::medians("step", &lines)],
    });
    done
}

fn conclude(servers: &[Server], report: &mut Report) {
    let mut rest = MICRO;
    for (title, count) in GROUPS {
        let (group, others) = rest.split_at(count);
        rest = others;
        let lines: Vec<Line> = servers.iter().map(|server| line(report, group, server)).collect();
        for (line, mix) in lines.iter().flat_map(|l| group.iter().map(move |mix| (l, mix))) {
            if let Some(point) = line.points.iter().find(|p| p.label == mix.name) {
                let name = format!("micro/{}/{}", mix.name, line.name);
                report.measures.push(report::Measure {
                    name,
                    value: point.y,
                    better: Better::Higher,
                });
            }
        }
        let tables = vec![super::sweep::medians("benchmark", &lines)];
        report.sections.push(Section {
            title: title.to_owned(),
            text: String::new(),
            charts: vec![shares(title, lines)],
            tables,
        });
    }
}

fn line(report: &Report, group: &[Mix], server: &Server) -> Line {
    let point = |(at, mix): (usize, &Mix)| {
        let runs = report.runs.iter().filter(|r| r.server == server.name && r.what == mix.name);
        let values: Vec<f64> = runs.map(|run| run.measured.qps).collect();
        Point::of(mix.name, at as f64, &values)
    };
    Line { name: server.name.clone(), points: group.iter().enumerate().filter_map(point).collect() }
}

/// The queries per second of each server as a share of the last server's.
fn shares(title: &str, mut lines: Vec<Line>) -> Chart {
    let last: Vec<(String, f64)> = lines
        .last()
        .map(|line| line.points.iter().map(|p| (p.label.clone(), p.y)).collect())
        .unwrap_or_default();
    for point in lines.iter_mut().flat_map(|line| &mut line.points) {
        let base = last.iter().find(|(label, _)| *label == point.label).map_or(1.0, |(_, y)| *y);
        (point.y, point.low, point.high) =
            (point.y / base * 100.0, point.low / base * 100.0, point.high / base * 100.0);
    }
    Chart {
        title: title.to_owned(),
        kind: ChartKind::Bars,
        x: String::new(),
        y: "% of the last server's".to_owned(),
        better: Better::Higher,
        lines,
    }
}
