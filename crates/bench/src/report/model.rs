//! The data of a report. The JSON file and the page are both made from it.
//!
//! `compare` reads the JSON files of earlier reports back into it.

use serde::{Deserialize, Serialize};

use crate::machine::Machine;
use crate::oltp::Measured;
use crate::server::Server;

/// A report.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) title: String,
    /// Start of the run, in seconds since 1970.
    pub(crate) began: u64,
    /// The command that made it.
    pub(crate) command: String,
    pub(crate) machine: Machine,
    pub(crate) servers: Vec<ServerNote>,
    /// Remarks about the method, and about what was switched off and why.
    pub(crate) method: Vec<String>,
    pub(crate) sections: Vec<Section>,
    /// Numbers for comparisons with later reports.
    pub(crate) measures: Vec<Measure>,
    /// All measured values, one entry for each run.
    pub(crate) runs: Vec<Run>,
    /// Reason why the report is incomplete.
    pub(crate) incomplete: Option<String>,
}

/// A server of a report.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ServerNote {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) how: String,
}

/// A part of the page.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Section {
    pub(crate) title: String,
    pub(crate) text: String,
    pub(crate) charts: Vec<Chart>,
    pub(crate) tables: Vec<Table>,
}

/// A run of a load.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) server: String,
    pub(crate) what: String,
    pub(crate) connections: usize,
    pub(crate) repetition: usize,
    pub(crate) measured: Measured,
}

/// Kind of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ChartKind {
    /// Over steps with equal distances, such as 1, 2, 4 connections.
    Steps,
    /// Over time.
    Time,
    /// A bar for each label.
    Bars,
}

/// A chart.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Chart {
    pub(crate) title: String,
    pub(crate) kind: ChartKind,
    pub(crate) x: String,
    pub(crate) y: String,
    /// Direction of better values.
    pub(crate) better: Better,
    pub(crate) lines: Vec<Line>,
}

/// The values of one server.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) points: Vec<Point>,
}

/// A value, with the lowest and highest of its repetitions.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Point {
    pub(crate) label: String,
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Point {
    /// The median of some repetitions, with their range.
    pub(crate) fn of(label: impl Into<String>, x: f64, values: &[f64]) -> Option<Self> {
        let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let (low, high) = (*sorted.first()?, *sorted.last()?);
        let middle = sorted.len() / 2;
        let y = match sorted.len() % 2 {
            1 => sorted[middle],
            _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
        };
        Some(Self { label: label.into(), x, y, low, high })
    }
}

/// A table. The first column is the name of the row.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Table {
    pub(crate) title: String,
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

/// The direction that is an improvement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Better {
    Higher,
    Lower,
}

/// A number with a name that is the same in all reports.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Measure {
    pub(crate) name: String,
    pub(crate) value: f64,
    pub(crate) better: Better,
}

impl Report {
    /// An empty report about this machine at this time.
    pub(crate) fn new(title: &str, servers: &[Server]) -> Self {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Self {
            title: title.to_owned(),
            began: now.map_or(0, |time| time.as_secs()),
            command: std::env::args().collect::<Vec<_>>().join(" "),
            machine: Machine::this(),
            servers: servers.iter().map(ServerNote::of).collect(),
            method: Vec::new(),
            sections: Vec::new(),
            measures: Vec::new(),
            runs: Vec::new(),
            incomplete: None,
        }
    }

    /// Adds a number for comparisons with later reports.
    pub(crate) fn measure(&mut self, name: impl Into<String>, value: f64, better: Better) {
        self.measures.push(Measure { name: name.into(), value, better });
    }
}

impl ServerNote {
    pub(crate) fn of(server: &Server) -> Self {
        Self { name: server.name.clone(), version: server.version.clone(), how: server.how() }
    }
}
