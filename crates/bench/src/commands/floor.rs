//! `selkie bench floor`: runs a server that only answers, to measure the limit of a round trip.
//!
//! The load comes from another process, for example `selkie bench oltp`.

use clap::{ArgMatches, Command};

use super::options::{number, option};
use crate::error::Result;
use crate::floor;

pub(super) fn command() -> Command {
    Command::new("floor")
        .about("Serves canned packets until Ctrl-C; measure it as floor=127.0.0.1:PORT")
        .arg(option("port", "3399", "where it listens"))
}

pub(super) fn run(matches: &ArgMatches) -> Result<()> {
    floor::serve(number(matches, "port")?)
}
