//! `selkie bench floor`: the limit of a round trip, as a server.

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
