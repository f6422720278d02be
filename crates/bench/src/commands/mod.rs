//! The commands, their options and their exit codes.
//!
//! Exit codes: 0 if everything was measured, 1 if something failed or became worse, 2 for invalid
//! options, 130 after Ctrl-C. Partial results are always written.

mod compare;
mod dbt3;
mod floor;
mod micro;
mod oltp;
mod options;
mod record;
mod replay;
mod stalls;
mod sweep;

use std::process::ExitCode;

use clap::Command;

use crate::error::{Failure, Result};
use crate::stop;

/// Runs `selkie bench`; `arguments` are those after these two words.
pub fn main(arguments: &[String]) -> ExitCode {
    let words = std::iter::once("selkie bench").chain(arguments.iter().map(String::as_str));
    let matches = match command().try_get_matches_from(words) {
        Ok(matches) => matches,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let done = stop::listen().map_err(Failure::from).and_then(|()| match matches.subcommand() {
        Some(("oltp", options)) => oltp::run(options),
        Some(("sweep", options)) => sweep::run(options),
        Some(("stalls", options)) => stalls::run(options),
        Some(("micro", options)) => micro::run(options),
        Some(("dbt3", options)) => dbt3::run(options),
        Some(("record", options)) => record::run(options),
        Some(("replay", options)) => replay::run(options),
        Some(("floor", options)) => floor::run(options),
        Some(("compare", options)) => compare::run(options),
        _ => Ok(()),
    });
    ended(done)
}

fn ended(done: Result<()>) -> ExitCode {
    match done {
        Ok(()) if stop::requested() => ExitCode::from(130),
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Interrupted) => {
            eprintln!("selkie bench: interrupted");
            ExitCode::from(130)
        }
        Err(error) => {
            eprintln!("selkie bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn command() -> Command {
    Command::new("selkie bench")
        .about("Measures servers that speak the MySQL protocol")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(oltp::command())
        .subcommand(sweep::command())
        .subcommand(stalls::command())
        .subcommand(micro::command())
        .subcommand(dbt3::command())
        .subcommand(record::command())
        .subcommand(replay::command())
        .subcommand(floor::command())
        .subcommand(compare::command())
}
