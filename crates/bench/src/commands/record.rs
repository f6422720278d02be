//! `selkie bench record`: a proxy that writes down what an application sends.
//!
//! Listens on the loopback interface only.

use std::path::Path;

use clap::{Arg, ArgMatches, Command};

use super::options::{number, option, text};
use crate::error::Result;
use crate::pages;

pub(super) fn command() -> Command {
    Command::new("record")
        .about("Passes an application's connections to a server and records their commands")
        .arg(Arg::new("out").required(true).help("file of the recording"))
        .arg(option("port", "3398", "where it listens"))
        .arg(option("server", "127.0.0.1:3306", "address of the server"))
}

pub(super) fn run(matches: &ArgMatches) -> Result<()> {
    pages::record(
        number(matches, "port")?,
        text(matches, "server"),
        Path::new(text(matches, "out")),
    )
}
