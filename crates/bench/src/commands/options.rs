//! Options that several commands have, and their parsers.
//!
//! A wrong value is a failure with the option's name, never a panic.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches};

use crate::error::{Failure, Result};
use crate::oltp::{Mix, Size};
use crate::server::{Server, Settings, Spec};

/// An option with a value and a default.
pub(super) fn option(name: &'static str, default: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name("VALUE").default_value(default).help(help)
}

/// An option with a value that may be absent.
pub(super) fn optional(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name("VALUE").help(help)
}

/// A switch.
pub(super) fn switch(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

/// The value of an option that has a default.
pub(super) fn text<'a>(matches: &'a ArgMatches, name: &str) -> &'a str {
    matches.get_one::<String>(name).map(String::as_str).unwrap_or_default()
}

/// A number.
pub(super) fn number<T: FromStr>(matches: &ArgMatches, name: &str) -> Result<T> {
    parse(name, text(matches, name))
}

/// A list of numbers separated by commas.
pub(super) fn numbers<T: FromStr>(matches: &ArgMatches, name: &str) -> Result<Vec<T>> {
    text(matches, name).split(',').map(|one| parse(name, one.trim())).collect()
}

fn parse<T: FromStr>(name: &str, text: &str) -> Result<T> {
    text.parse().map_err(|_| Failure::said(format!("--{name}: '{text}' is not a number")))
}

/// Seconds, with or without a fraction.
pub(super) fn seconds(matches: &ArgMatches, name: &str) -> Result<Duration> {
    let seconds: f64 = number(matches, name)?;
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| Failure::said(format!("--{name}: {seconds} is not a time")))
}

/// Bytes, with K, M or G.
pub(super) fn bytes(matches: &ArgMatches, name: &str) -> Result<u64> {
    let text = text(matches, name);
    let (digits, shift) = match text.bytes().last() {
        Some(b'k' | b'K') => (&text[..text.len() - 1], 10),
        Some(b'm' | b'M') => (&text[..text.len() - 1], 20),
        Some(b'g' | b'G') => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    Ok(parse::<u64>(name, digits)? << shift)
}

/// The mixes of a list separated by commas.
pub(super) fn mixes(matches: &ArgMatches, name: &str) -> Result<Vec<&'static Mix>> {
    let find = |one: &str| {
        Mix::find(one).ok_or_else(|| Failure::said(format!("--{name}: there is no mix '{one}'")))
    };
    text(matches, name).split(',').map(|one| find(one.trim())).collect()
}

/// Options about servers.
pub(super) fn server_options() -> Vec<Arg> {
    vec![
        option("servers", "selkie", "selkie, mariadb, mysql: started here, or NAME=HOST:PORT, NAME=/socket; several with commas"),
        option("user", "root", "who logs in"),
        option("password", "", "and with what"),
        option("pool", "1G", "buffer pool of servers started here"),
        option("log", "1G", "log of servers started here"),
        option("data", "", "where servers started here keep their data; the system's temporary folder"),
        optional("server-cores", "processors of the servers, such as 0,1"),
        optional("client-cores", "processors of this client"),
        switch("socket", "connect to servers started here over their socket file"),
        Arg::new("option")
            .long("option")
            .value_name("SERVER:OPTION")
            .action(ArgAction::Append)
            .help("one more option for a server started here, such as mariadb:--thread-handling=pool-of-threads"),
    ]
}

/// Options about sysbench's tables.
pub(super) fn size_options() -> Vec<Arg> {
    vec![option("tables", "4", "tables"), option("rows", "100000", "rows in each")]
}

/// Reads the size from these options.
pub(super) fn size(matches: &ArgMatches) -> Result<Size> {
    Ok(Size { tables: number(matches, "tables")?, rows: number(matches, "rows")? })
}

/// Opens the servers. Binds this thread, and the threads it starts, to the client's processors.
pub(super) fn servers(matches: &ArgMatches) -> Result<Vec<Server>> {
    let specs = Spec::parse_list(
        text(matches, "servers"),
        text(matches, "user"),
        text(matches, "password"),
    )?;
    let settings = settings(matches)?;
    let servers = specs.iter().map(|spec| Server::open(spec, &settings)).collect::<Result<_>>()?;
    if let Some(cores) = cores(matches, "client-cores")? {
        crate::server::pin_this_thread(&cores)?;
    }
    Ok(servers)
}

fn settings(matches: &ArgMatches) -> Result<Settings> {
    let folder = match text(matches, "data") {
        "" => std::env::temp_dir(),
        path => PathBuf::from(path),
    };
    let split = |text: &String| {
        let (server, option) = text
            .split_once(':')
            .ok_or_else(|| Failure::said(format!("--option: '{text}' is not SERVER:OPTION")))?;
        Ok((server.to_owned(), option.to_owned()))
    };
    let options = matches.get_many::<String>("option").into_iter().flatten();
    Ok(Settings {
        pool_bytes: bytes(matches, "pool")?,
        log_bytes: bytes(matches, "log")?,
        server_cores: cores(matches, "server-cores")?,
        folder,
        socket: matches.get_flag("socket"),
        options: options.map(split).collect::<Result<_>>()?,
    })
}

fn cores(matches: &ArgMatches, name: &str) -> Result<Option<Vec<usize>>> {
    matches.contains_id(name).then(|| numbers(matches, name)).transpose()
}

/// General remarks of a report about the servers.
pub(super) fn method(matches: &ArgMatches) -> Vec<String> {
    let cores = |name| matches.get_one::<String>(name).map_or("all", String::as_str);
    vec![
        format!(
            "Servers started here: log flushed at every commit, pages protected from torn writes, \
             buffer pool {}, log {}. Switched off, because not all have them: binary log, \
             performance schema, X protocol, TLS.",
            text(matches, "pool"),
            text(matches, "log")
        ),
        format!(
            "Processors of the servers: {}; of the client: {}.",
            cores("server-cores"),
            cores("client-cores")
        ),
    ]
}
