//! `selkie bench stalls`: a long load that is shown second by second, then a crash and the
//! recovery.
//!
//! Only servers started here are crashed.

use std::path::PathBuf;

use clap::{ArgMatches, Command};

use super::oltp::{load, lost, per_second, prepare, print, series};
use super::options::{
    method, option, optional, server_options, servers, size_options, switch, text,
};
use crate::error::{Failure, Result};
use crate::oltp;
use crate::report::{self, Better, Report, Run, Section, Table};
use crate::server::Server;
use crate::stop;

pub(super) fn command() -> Command {
    Command::new("stalls")
        .about("The worst second of a long load against the median, and recovery after kill -9")
        .args(server_options())
        .args(size_options())
        .arg(option("mix", "read-write", "the mix"))
        .arg(option("connections", "16", "connections"))
        .arg(option("threads", "1", "threads of the client"))
        .arg(option("warmup", "10", "seconds before it counts"))
        .arg(option("seconds", "60", "seconds that count"))
        .arg(switch("text", "send statements as text instead of preparing them"))
        .arg(optional("rate", "transactions a second, due at even distances (open loop)"))
        .arg(switch(
            "crash",
            "end servers started here with kill -9 after the run and time their recovery",
        ))
        .arg(option("out", "bench-stalls", "folder of the report"))
}

pub(super) fn run(matches: &ArgMatches) -> Result<()> {
    let load = load(matches)?;
    let mut servers = servers(matches)?;
    let mut report = Report::new("Stalls", &servers);
    report.method = method(matches);
    let (mut lines, mut rows, mut failed) = (Vec::new(), Vec::new(), None);
    for server in &mut servers {
        if stop::requested() {
            failed = Some(Failure::Interrupted);
            break;
        }
        let measured = match prepare(server, &load).and_then(|()| oltp::run(server, &load)) {
            Ok(measured) => measured,
            Err(error) => {
                failed = Some(error);
                break;
            }
        };
        print(server, &load, &measured);
        lines.push(series(&server.name, &measured));
        if !measured.lost.is_empty() {
            failed = Some(Failure::said(lost(server, &measured)));
        }
        let recovery = if matches.get_flag("crash") { recover(server)? } else { None };
        let (median, worst) = measured.median_and_worst();
        let share = worst / median.max(1.0);
        report.measure(format!("stalls/{}/worst", server.name), share, Better::Higher);
        rows.push(row(server, &measured, (median, worst), recovery));
        report.runs.push(Run {
            server: server.name.clone(),
            what: load.mix.name.to_owned(),
            connections: load.connections,
            repetition: 1,
            measured,
        });
    }
    report.incomplete = failed.as_ref().map(ToString::to_string);
    report.sections.push(section(load.mix.name, lines, rows));
    let folder = PathBuf::from(text(matches, "out"));
    report::write(&report, &folder)?;
    println!("report: {}", folder.join("report.html").display());
    failed.map_or(Ok(()), Err)
}

fn recover(server: &mut Server) -> Result<Option<f64>> {
    let took = server.crash_and_recover()?.map(|time| time.as_secs_f64());
    if let Some(seconds) = took {
        println!("{:10} answers again {seconds:.1} s after kill -9", server.name);
    }
    Ok(took)
}

fn row(
    server: &Server,
    measured: &oltp::Measured,
    (median, worst): (f64, f64),
    recovery: Option<f64>,
) -> Vec<String> {
    let shown = |value: Option<f64>| value.map_or("-".to_owned(), |v| format!("{v:.1}"));
    vec![
        server.name.clone(),
        format!("{median:.0}"),
        format!("{worst:.0}"),
        format!("{:.2}", worst / median.max(1.0)),
        format!("{:.0}", measured.gap_ms),
        format!("{:.1}", measured.p99_ms),
        shown(measured.resident_mib),
        shown(recovery),
    ]
}

fn section(mix: &str, lines: Vec<report::Line>, rows: Vec<Vec<String>>) -> Section {
    let columns = [
        "server",
        "median t/s",
        "worst second",
        "worst / median",
        "longest gap ms",
        "p99 ms",
        "resident MiB",
        "recovery s",
    ];
    Section {
        title: format!("{mix}, second by second"),
        text: "The longest gap is the longest time in which no transaction ended.".to_owned(),
        charts: vec![per_second(&format!("{mix}, transactions in each second"), lines)],
        tables: vec![Table {
            title: String::new(),
            columns: columns.map(str::to_owned).to_vec(),
            rows,
        }],
    }
}
