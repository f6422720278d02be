//! `selkie bench dbt3`: loads the database, runs the 22 queries cold or hot, and checks their
//! answers.
//!
//! Wrong answers make the command fail; queries that take too long do not.

use std::path::PathBuf;

use clap::{ArgMatches, Command};

use super::options::{
    method, number, numbers, option, optional, seconds, server_options, servers, switch, text,
};
use crate::dbt3::{PowerTest, QUERIES, ServerResult};
use crate::error::{Failure, Result};
use crate::report::{self, Better, Chart, ChartKind, Line, Measure, Point, Report, Section, Table};

pub(super) fn command() -> Command {
    Command::new("dbt3")
        .about("Loads DBT3 (TPC-H) and runs its 22 queries")
        .args(server_options())
        .arg(option("sf", "1", "scale factor; 1 is about a gigabyte"))
        .arg(option("runs", "5", "runs of each query"))
        .arg(option("timeout", "7200", "seconds a query may take"))
        .arg(switch(
            "cold",
            "restart servers started here before each run, and drop the system's caches where permitted",
        ))
        .arg(switch("loaded", "the database is there already"))
        .arg(optional("queries", "numbers of some, with commas"))
        .arg(optional("answers", "folder of reference answers qNN_sfSCALE.csv"))
        .arg(option("out", "bench-dbt3", "folder of the report"))
}

pub(super) fn run(matches: &ArgMatches) -> Result<()> {
    let test = PowerTest {
        scale: number(matches, "sf")?,
        runs: number(matches, "runs")?,
        timeout: seconds(matches, "timeout")?,
        cold: matches.get_flag("cold"),
        queries: queries(matches)?,
        answers: matches.contains_id("answers").then(|| PathBuf::from(text(matches, "answers"))),
    };
    let mut servers = servers(matches)?;
    let mut report = Report::new(&format!("DBT3, scale factor {}", test.scale), &servers);
    report.method = method(matches);
    report.method.push(about(&test));
    let mut results: Vec<_> = servers.iter().map(|s| ServerResult::new(&s.name)).collect();
    let loaded = match matches.get_flag("loaded") {
        true => Ok(()),
        false => test.load(&servers, &mut results),
    };
    let done = loaded.and_then(|()| test.run(&mut servers, &mut results));
    let wrong: Vec<String> = results.iter().flat_map(|r| r.wrong.clone()).collect();
    let failed =
        done.err().or_else(|| (!wrong.is_empty()).then(|| Failure::said(wrong.join("; "))));
    report.incomplete = failed.as_ref().map(ToString::to_string);
    conclude(&test, &results, &mut report);
    let folder = PathBuf::from(text(matches, "out"));
    report::write(&report, &folder)?;
    println!("report: {}", folder.join("report.html").display());
    failed.map_or(Ok(()), Err)
}

fn queries(matches: &ArgMatches) -> Result<Vec<usize>> {
    let all: Vec<usize> = match matches.contains_id("queries") {
        true => numbers(matches, "queries")?,
        false => (1..=QUERIES.len()).collect(),
    };
    match all.iter().find(|n| !(1..=QUERIES.len()).contains(*n)) {
        Some(n) => Err(Failure::said(format!("--queries: there is no query {n}"))),
        None => Ok(all),
    }
}

fn about(test: &PowerTest) -> String {
    let temperature = match test.cold {
        true => {
            "each run after a restart, with the system's caches dropped where that is permitted"
        }
        false => "servers are not restarted between runs",
    };
    let reference = match &test.answers {
        Some(_) => "a reference and each other",
        None => "each other",
    };
    format!(
        "{} runs of each query, median with the least and the greatest; {temperature}; a query \
         may take {} s. Answers are compared with {reference}.",
        test.runs,
        test.timeout.as_secs()
    )
}

fn conclude(test: &PowerTest, results: &[ServerResult], report: &mut Report) {
    let lines: Vec<Line> = results.iter().map(line).collect();
    for line in &lines {
        report.measures.extend(line.points.iter().map(|point| Measure {
            name: format!("dbt3/{}/{}", point.label, line.name),
            value: point.y,
            better: Better::Lower,
        }));
    }
    report.sections.push(Section {
        title: "Queries".to_owned(),
        text: "The second chart shows the same as a share of the last server's times.".to_owned(),
        charts: vec![chart("seconds", "seconds", lines.clone()), relative(&lines)],
        tables: vec![times(test, results), loads(results)],
    });
    report.sections.extend(results.iter().map(plans));
}

fn line(result: &ServerResult) -> Line {
    let points = result.queries.iter();
    Line {
        name: result.name.clone(),
        points: points
            .filter_map(|q| Point::of(format!("Q{}", q.query), q.query as f64, &q.times))
            .collect(),
    }
}

fn chart(title: &str, y: &str, lines: Vec<Line>) -> Chart {
    Chart {
        title: format!("DBT3: {title}"),
        kind: ChartKind::Bars,
        x: "query".to_owned(),
        y: y.to_owned(),
        better: Better::Lower,
        lines,
    }
}

fn relative(lines: &[Line]) -> Chart {
    let mut shares = lines.to_vec();
    let base = lines.last().map(|line| line.points.clone()).unwrap_or_default();
    for point in shares.iter_mut().flat_map(|line| &mut line.points) {
        let whole = base.iter().find(|p| p.label == point.label).map_or(f64::NAN, |p| p.y) / 100.0;
        (point.y, point.low, point.high) = (point.y / whole, point.low / whole, point.high / whole);
    }
    shares.iter_mut().for_each(|line| line.points.retain(|p| p.y.is_finite()));
    chart("share of the last server's time", "%", shares)
}

fn times(test: &PowerTest, results: &[ServerResult]) -> Table {
    let mut columns = vec!["query".to_owned()];
    columns.extend(results.iter().map(|r| format!("{} s", r.name)));
    columns.extend(results.iter().skip(1).map(|r| format!("{} / {}", results[0].name, r.name)));
    let value = |result: &ServerResult, query| {
        let found = result.queries.iter().find(|q| q.query == query)?;
        Point::of("", 0.0, &found.times).map(|p| p.y)
    };
    let limit = format!(">{}", test.timeout.as_secs());
    let row = |query: &usize| {
        let values: Vec<Option<f64>> = results.iter().map(|r| value(r, *query)).collect();
        let mut row = vec![format!("Q{query}")];
        row.extend(values.iter().map(|v| v.map_or(limit.clone(), |v| format!("{v:.3}"))));
        let ratio = |other: &Option<f64>| values[0].zip(*other).map(|(a, b)| a / b);
        row.extend(
            values.iter().skip(1).map(|o| ratio(o).map_or("-".to_owned(), |r| format!("{r:.2}"))),
        );
        row
    };
    Table { title: "Medians".to_owned(), columns, rows: test.queries.iter().map(row).collect() }
}

fn loads(results: &[ServerResult]) -> Table {
    let loaded = results.iter().filter_map(|r| Some((&r.name, r.loaded?)));
    let seconds = |time: std::time::Duration| format!("{:.1}", time.as_secs_f64());
    Table {
        title: "Loading".to_owned(),
        columns: ["server", "load s", "indexes s", "analyze s"].map(str::to_owned).to_vec(),
        rows: loaded
            .map(|(name, l)| {
                vec![name.clone(), seconds(l.load), seconds(l.indexes), seconds(l.analyze)]
            })
            .collect(),
    }
}

fn plans(result: &ServerResult) -> Section {
    let tables = result.queries.iter().filter_map(|q| {
        let plan = q.plan.as_ref()?;
        let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "NULL".to_owned());
        Some(Table {
            title: format!("Q{}", q.query),
            columns: plan.columns.clone(),
            rows: plan.rows.iter().map(|row| row.iter().map(text).collect()).collect(),
        })
    });
    Section {
        title: format!("Plans of {}", result.name),
        text: String::new(),
        charts: Vec::new(),
        tables: tables.collect(),
    }
}
