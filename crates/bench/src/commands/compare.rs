//! `selkie bench compare`: a regression gate. It compares two reports and fails if a number became
//! worse.
//!
//! Must not measure: it only reads the JSON files of the reports.

use std::path::Path;

use clap::{Arg, ArgMatches, Command};

use super::options::{number, option, text};
use crate::error::{Failure, Result};
use crate::report;

pub(super) fn command() -> Command {
    Command::new("compare")
        .about("Compares a report with an earlier one; fails if a number became worse")
        .arg(Arg::new("before").required(true).help("the earlier report's folder or report.json"))
        .arg(Arg::new("after").required(true).help("the later one's"))
        .arg(option("tolerance", "3", "percent that do not count"))
}

pub(super) fn run(matches: &ArgMatches) -> Result<()> {
    let tolerance: f64 = number(matches, "tolerance")?;
    let (before, after) = (text(matches, "before"), text(matches, "after"));
    match report::compare(Path::new(before), Path::new(after), tolerance / 100.0)? {
        0 => Ok(()),
        worse => Err(Failure::said(format!("{worse} numbers became worse"))),
    }
}
