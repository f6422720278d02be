//! `selkie bench replay`: plays a recording on several servers in turn. Measures server CPU and
//! response time per page, and per statement of each class.
//!
//! All servers get the same commands. Must not hide errors: their numbers are in the report.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Arg, ArgMatches, Command};

use super::options::{
    method, number, numbers, option, optional, seconds, server_options, servers, switch, text,
};
use crate::error::{Failure, Result};
use crate::pages::{self, Class, Connections, Page, Played};
use crate::report::{self, Better, Point, Report, Section, Table};
use crate::server::Server;
use crate::stop;

pub(super) fn command() -> Command {
    Command::new("replay")
        .about("Plays a recording of `record` and measures pages and classes of statements")
        .arg(Arg::new("recording").required(true).help("file of the recording"))
        .args(server_options())
        .arg(option(
            "setup",
            "",
            "file of statements, each ended by ; and a line's end, sent first",
        ))
        .arg(option("clients", "1", "numbers of clients"))
        .arg(option("warmup", "0.5", "seconds before it counts"))
        .arg(option("seconds", "2", "seconds of each repetition"))
        .arg(option("repeat", "3", "repetitions, the servers in turn"))
        .arg(option("class-seconds", "0.5", "seconds for each class of statements; 0: only pages"))
        .arg(switch("keep", "each client keeps its connection for all its pages"))
        .arg(optional("out", "folder of a report"))
}

/// Options of a replay.
struct Replay {
    pages: Vec<Page>,
    warmup: Duration,
    time: Duration,
    repeat: usize,
    class_time: Duration,
    connections: Connections,
}

pub(super) fn run(matches: &ArgMatches) -> Result<()> {
    let path = text(matches, "recording");
    let replay = Replay {
        pages: pages::parse(&read(path)?).map_err(|e| Failure::said(format!("{path}: {e}")))?,
        warmup: seconds(matches, "warmup")?,
        time: seconds(matches, "seconds")?,
        repeat: number(matches, "repeat")?,
        class_time: seconds(matches, "class-seconds")?,
        connections: match matches.get_flag("keep") {
            true => Connections::Kept,
            false => Connections::PerPage,
        },
    };
    if replay.pages.is_empty() {
        return Err(Failure::said(format!("{path}: no page is in it")));
    }
    let clients: Vec<usize> = numbers(matches, "clients")?;
    if clients.contains(&0) {
        return Err(Failure::said("--clients: at least one is needed"));
    }
    let setup = match text(matches, "setup") {
        "" => String::new(),
        path => read(path)?,
    };
    let servers = servers(matches)?;
    for server in &servers {
        set_up(server, &setup).map_err(|e| e.at(&server.address))?;
    }
    let mut report = Report::new(&format!("Replay of {path}"), &servers);
    report.method = method(matches);
    let measured = measure(&replay, &clients, &servers, &mut report);
    if let Err(error) = &measured {
        report.incomplete = Some(error.to_string());
    }
    if matches.contains_id("out") {
        report::write(&report, &PathBuf::from(text(matches, "out")))?;
    }
    measured
}

fn read(path: &str) -> Result<String> {
    fs::read_to_string(Path::new(path)).map_err(|e| Failure::said(format!("{path}: {e}")))
}

fn set_up(server: &Server, setup: &str) -> Result<()> {
    let mut connection = server.connect("")?;
    let statements = setup.split(";\n").map(str::trim).filter(|text| !text.is_empty());
    statements.into_iter().try_for_each(|text| connection.query(text).map(drop))
}

fn measure(
    replay: &Replay,
    clients: &[usize],
    servers: &[Server],
    report: &mut Report,
) -> Result<()> {
    let statements: usize = replay.pages.iter().map(|page| page.commands.len()).sum();
    let mut section = Section {
        title: "Pages".to_owned(),
        text: format!(
            "{} pages of {:.1} commands; {}.",
            replay.pages.len(),
            statements as f64 / replay.pages.len() as f64,
            match replay.connections {
                Connections::Kept => "each client keeps its connection",
                Connections::PerPage => "each page on a connection of its own",
            }
        ),
        ..Section::default()
    };
    println!("{}", section.text);
    let mut pages = table("Pages", &["clients"], servers);
    let measured = clients
        .iter()
        .try_for_each(|clients| play_pages(replay, *clients, servers, report, &mut pages));
    section.tables.push(pages);
    let measured = measured.and_then(|()| match replay.class_time.is_zero() {
        true => Ok(()),
        false => {
            let mut classes = table("Classes", &["share"], servers);
            let measured = play_classes(replay, servers, report, &mut classes);
            section.tables.push(classes);
            measured
        }
    });
    report.sections.push(section);
    measured
}

/// An empty table with the columns of each server.
fn table(title: &str, first: &[&str], servers: &[Server]) -> Table {
    let mut columns = vec![title.to_owned()];
    columns.extend(first.iter().map(|&name| name.to_owned()));
    for server in servers {
        columns.push(format!("{}: CPU us", server.name));
        columns.push(format!("{}: median us", server.name));
        columns.push(format!("{}: p95 us", server.name));
    }
    columns.push("CPU, first to last".to_owned());
    columns.push("errors".to_owned());
    Table { title: title.to_owned(), columns, rows: Vec::new() }
}

fn play_pages(
    replay: &Replay,
    clients: usize,
    servers: &[Server],
    report: &mut Report,
    table: &mut Table,
) -> Result<()> {
    let play =
        |server, time| pages::play_pages(server, &replay.pages, clients, time, replay.connections);
    for server in servers {
        play(server, replay.warmup)?;
    }
    let mut played: Vec<Vec<Played>> = servers.iter().map(|_| Vec::new()).collect();
    for _ in 0..replay.repeat {
        for (server, played) in servers.iter().zip(&mut played) {
            played.push(play(server, replay.time)?);
        }
    }
    let name = format!("pages/{clients}");
    row(&["page".to_owned(), clients.to_string()], &name, servers, &played, report, table);
    Ok(())
}

fn play_classes(
    replay: &Replay,
    servers: &[Server],
    report: &mut Report,
    table: &mut Table,
) -> Result<()> {
    let classes = pages::classes(&replay.pages);
    let all = replay.pages.len() as f64;
    let connect = Page { database: replay.pages[0].database.clone(), commands: Vec::new() };
    let connect = [connect];
    play_one("connect and leave", 1.0, servers, report, table, &|server| {
        pages::play_pages(server, &connect, 1, replay.class_time, Connections::PerPage)
    })?;
    for class in &classes {
        let share = class.count as f64 / all;
        let play = |server: &Server| play_class(server, class, replay.class_time);
        play_one(&class.digest, share, servers, report, table, &play)?;
    }
    Ok(())
}

fn play_class(server: &Server, class: &Class, time: Duration) -> Result<Played> {
    if stop::requested() {
        return Err(Failure::Interrupted);
    }
    // The first statements of a class may be planned, and their plans kept.
    pages::play_class(server, class, time / 10)?;
    pages::play_class(server, class, time)
}

fn play_one(
    digest: &str,
    share: f64,
    servers: &[Server],
    report: &mut Report,
    table: &mut Table,
    play: &dyn Fn(&Server) -> Result<Played>,
) -> Result<()> {
    let played: Vec<Vec<Played>> =
        servers.iter().map(|server| play(server).map(|one| vec![one])).collect::<Result<_>>()?;
    let names = [digest.to_owned(), format!("{share:.2}")];
    row(&names, &format!("class/{digest}"), servers, &played, report, table);
    Ok(())
}

/// Prints a row, and adds it to the table and to the report's measures.
fn row(
    names: &[String],
    measure: &str,
    servers: &[Server],
    played: &[Vec<Played>],
    report: &mut Report,
    table: &mut Table,
) {
    let median = |played: &[Played], of: &dyn Fn(&Played) -> f64| {
        let values: Vec<f64> = played.iter().map(of).collect();
        Point::of("", 0.0, &values).map(|point| point.y)
    };
    let mut cells = names.to_vec();
    let mut line = String::new();
    let mut cpus = Vec::new();
    let mut errors = Vec::new();
    for (server, played) in servers.iter().zip(played) {
        let cpu = median(played, &|one| one.cpu_us.unwrap_or(f64::NAN));
        let time = median(played, &|one| one.median_us).unwrap_or_default();
        let p95 = median(played, &|one| one.p95_us).unwrap_or_default();
        let shown = cpu.map_or("-".to_owned(), |cpu| format!("{cpu:.1}"));
        line.push_str(&format!("{} {shown:>8} ({time:8.1})  ", server.name));
        cells.extend([shown, format!("{time:.1}"), format!("{p95:.1}")]);
        if let Some(cpu) = cpu {
            report.measure(format!("replay/{measure}/{}", server.name), cpu, Better::Lower);
        }
        cpus.push(cpu);
        for (code, count) in played.iter().flat_map(|one| &one.errors) {
            errors.push(format!("{} {code}: {count}", server.name));
        }
    }
    let ratio = match (cpus.first(), cpus.last()) {
        (Some(Some(first)), Some(Some(last))) if cpus.len() > 1 => format!("{:.2}", first / last),
        _ => "-".to_owned(),
    };
    let errors = errors.join(", ");
    println!("{line}{ratio:>6}  {} {errors}", names.join(" | "));
    cells.extend([ratio, errors]);
    table.rows.push(cells);
}
