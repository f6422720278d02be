//! The files that say what connections there are and how they are configured, in MariaDB's format:
//! `multi-master.info`, `master-name.info`, `relay-log-name.info`.
//!
//! Positions in them are for people and tools: what is applied is in the engine's log. Only a
//! connection that the log does not know begins at them.
//!
//! Must not trust a file: another program may have written it.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use selkie_replication::replica::Place;
use selkie_types::error::catalogue::{ER_ERROR_ON_WRITE, ErrorDef};
use selkie_types::{SqlError, SqlResult};

use super::change::FIRST_OFFSET;
use super::connection::{Config, Connection, DEFAULT_PORT, UsingGtid};
use super::names::with_suffix;
use crate::server::Server;
use crate::variables::ids;

/// Only the server may read passwords.
const MODE: u32 = 0o600;
/// Lines at the beginning of the file of a connection, whose meaning is their number.
const LINES: usize = 33;
/// The same of the file about relay files.
const RELAY_LINES: usize = 5;
/// The last line that MariaDB reads.
const END: &str = "END_MARKER";
/// Beginning of a line behind it.
const DELAY: &str = "sql_delay=";
/// Longest file that is read.
const LONGEST: u64 = 1 << 20;

/// Contents of a connection's files.
#[derive(Clone, Debug)]
pub(super) struct Saved {
    pub(super) config: Config,
    /// Up to where it was applied.
    pub(super) applied: Place,
}

/// Writes the files of a connection, and the list of all.
pub(super) fn save(server: &Server, connection: &Connection) -> SqlResult<()> {
    let config = connection.config.lock().clone();
    let progress = connection.progress.lock().clone();
    let (master, relay) = paths(server, &connection.name);
    // Without relay files another server begins where this one has applied.
    let has_relay = !progress.relay.file.is_empty();
    let place = if has_relay { &progress.received } else { &progress.applied };
    write(&master, &master_text(&config, place))?;
    match has_relay {
        true => write(&relay, &relay_text(&progress.relay, &progress.applied, config.delay))?,
        false => remove_file(&relay)?,
    }
    save_names(server)
}

/// Writes the list of the connections that have names.
pub(super) fn save_names(server: &Server) -> SqlResult<()> {
    let all = server.replica.list();
    let names: String = all
        .iter()
        .filter(|connection| !connection.name.is_empty())
        .map(|connection| format!("{}\n", connection.name))
        .collect();
    let path = list_path(server);
    match names.is_empty() && !path.exists() {
        true => Ok(()),
        false => write(&path, &names),
    }
}

/// Removes the files of a connection.
pub(super) fn remove(server: &Server, connection: &Connection) -> SqlResult<()> {
    let (master, relay) = paths(server, &connection.name);
    remove_file(&master)?;
    remove_file(&relay)
}

/// Removes a file if it is there.
fn remove_file(path: &Path) -> SqlResult<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(path, &error)),
        _ => Ok(()),
    }
}

/// Names of all connections with a file, the default one first.
pub(super) fn names(server: &Server) -> Vec<String> {
    let list = read(&list_path(server)).unwrap_or_default();
    let named = list.lines().filter(|name| !name.is_empty()).map(str::to_owned);
    std::iter::once(String::new()).chain(named).collect()
}

/// Contents of a connection's files, `fresh` being its configuration without them.
pub(super) fn load(server: &Server, name: &str, fresh: Config) -> Option<Saved> {
    let (master, relay) = paths(server, name);
    let mut saved = parse_master(&read(&master)?, fresh)?;
    if let Some((applied, delay)) = read(&relay).and_then(|text| parse_relay(&text)) {
        saved.applied = applied;
        saved.config.delay = delay.unwrap_or(saved.config.delay);
    }
    Some(saved)
}

fn list_path(server: &Server) -> PathBuf {
    let file = &server.replica.options.info_file;
    let (directory, name) = file.rsplit_once('/').unwrap_or(("", file));
    server.datadir.join(directory).join(format!("multi-{name}"))
}

fn paths(server: &Server, connection: &str) -> (PathBuf, PathBuf) {
    let relay = server.globals.get(ids().relay_log_info_file);
    let path = |file: &str| server.datadir.join(with_suffix(file, connection));
    (path(&server.replica.options.info_file), path(relay.as_str()))
}

/// The text of a file; none if there is no file that can be read.
fn read(path: &Path) -> Option<String> {
    let metadata = fs::metadata(path).ok()?;
    if metadata.len() > LONGEST {
        tracing::warn!("File '{}' is too long; it is ignored", path.display());
        return None;
    }
    match fs::read(path) {
        Ok(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) => {
            tracing::warn!("File '{}' cannot be read: {error}", path.display());
            None
        }
    }
}

/// Writes a whole file, or leaves the old one.
fn write(path: &Path, text: &str) -> SqlResult<()> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".new");
    let done = || -> io::Result<()> {
        // A file that is left from before could have another mode.
        let _ = fs::remove_file(&temporary);
        let mut file =
            OpenOptions::new().write(true).create_new(true).mode(MODE).open(&temporary)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&temporary, path)?;
        File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()
    };
    done().map_err(|error| failed(path, &error))
}

fn failed(path: &Path, error: &io::Error) -> SqlError {
    let def: &ErrorDef = &ER_ERROR_ON_WRITE;
    SqlError::new(def, &[&path.display(), &error.raw_os_error().unwrap_or_default()])
}

/// The file of a connection.
fn master_text(config: &Config, received: &Place) -> String {
    let numbers = |list: &[u32]| {
        let numbers = std::iter::once(list.len() as u32).chain(list.iter().copied());
        numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(" ")
    };
    let mut lines = vec![
        LINES.to_string(),
        received.file.clone(),
        received.offset.max(FIRST_OFFSET).to_string(),
        config.host.clone(),
        config.user.clone(),
        config.password.clone(),
        config.port.to_string(),
        config.connect_retry.as_secs().to_string(),
        u8::from(config.ssl).to_string(),
        config.ssl_ca.clone(),
        config.ssl_capath.clone(),
        config.ssl_cert.clone(),
        config.ssl_cipher.clone(),
        config.ssl_key.clone(),
        u8::from(config.ssl_verify).to_string(),
        format!("{:.3}", config.heartbeat.as_secs_f64()),
        String::new(),
        numbers(&config.ignore_server_ids),
        String::new(),
        "0".to_owned(),
        config.ssl_crl.clone(),
        config.ssl_crlpath.clone(),
    ];
    // Lines of other servers, and one more that ends them.
    lines.resize(LINES, String::new());
    let using = match config.using_gtid {
        UsingGtid::No => 0,
        UsingGtid::CurrentPos => 1,
        UsingGtid::SlavePos => 2,
    };
    lines.push(format!("using_gtid={using}"));
    lines.push(format!("do_domain_ids={}", numbers(&config.do_domains)));
    lines.push(format!("ignore_domain_ids={}", numbers(&config.ignore_domains)));
    lines.push(END.to_owned());
    // Behind the end nobody else reads. Without relay files the delay has no other place.
    if config.delay != 0 {
        lines.push(format!("{DELAY}{}", config.delay));
    }
    lines.join("\n") + "\n"
}

/// Reads the file of a connection. Compat: files of old servers have fewer lines, or none of the
/// pairs behind them.
fn parse_master(text: &str, fresh: Config) -> Option<Saved> {
    let mut lines: Vec<&str> = text.lines().collect();
    let count = lines.first()?.trim().parse::<usize>().ok().filter(|count| *count > 7);
    // Without a count the first line is the name of the log.
    let count = count.unwrap_or_else(|| {
        lines.insert(0, "");
        lines.len()
    });
    let line = |number: usize| {
        if number < count { lines.get(number).copied().unwrap_or_default() } else { "" }
    };
    let text = |number: usize| line(number).to_owned();
    let seconds = |number: usize| line(number).trim().parse::<f64>().ok();
    let period = seconds(15).and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let mut config = Config {
        host: text(3),
        user: text(4),
        password: text(5),
        port: line(6).trim().parse().unwrap_or(DEFAULT_PORT),
        connect_retry: line(7).trim().parse().map_or(fresh.connect_retry, Duration::from_secs),
        ssl: line(8).trim() == "1",
        ssl_ca: text(9),
        ssl_capath: text(10),
        ssl_cert: text(11),
        ssl_cipher: text(12),
        ssl_key: text(13),
        ssl_verify: line(14).trim() == "1",
        heartbeat: period.unwrap_or(fresh.heartbeat),
        ignore_server_ids: numbers(line(17)),
        ssl_crl: text(20),
        ssl_crlpath: text(21),
        ..fresh
    };
    take_pairs(&mut config, lines.get(count..).unwrap_or_default());
    let behind = lines.iter().skip_while(|line| **line != END);
    let delay = behind.filter_map(|line| line.strip_prefix(DELAY)).find_map(|d| d.parse().ok());
    config.delay = delay.unwrap_or(0);
    let offset = line(2).trim().parse().unwrap_or(FIRST_OFFSET);
    Some(Saved { config, applied: Place { file: text(1), offset } })
}

/// Takes the pairs of names and values at the end of the file.
fn take_pairs(config: &mut Config, lines: &[&str]) {
    let lines = lines.iter().take_while(|line| **line != END);
    let pairs: BTreeMap<&str, &str> = lines.filter_map(|line| line.split_once('=')).collect();
    // Compat: servers that knew no groups have no pair.
    config.using_gtid = match pairs.get("using_gtid").map(|value| value.trim()) {
        Some("2") => UsingGtid::SlavePos,
        Some("1") => UsingGtid::CurrentPos,
        _ => UsingGtid::No,
    };
    let list = |name: &str| pairs.get(name).map(|value| numbers(value)).unwrap_or_default();
    config.do_domains = list("do_domain_ids");
    config.ignore_domains = list("ignore_domain_ids");
}

/// A list of numbers behind their count.
fn numbers(text: &str) -> Vec<u32> {
    let mut words = text.split_whitespace();
    let count = words.next().and_then(|count| count.parse().ok()).unwrap_or(0);
    let mut list: Vec<u32> = words.filter_map(|word| word.parse().ok()).take(count).collect();
    list.sort_unstable();
    list.dedup();
    list
}

/// The file about relay files.
fn relay_text(relay: &Place, applied: &Place, delay: u32) -> String {
    let name = match relay.file.is_empty() || relay.file.starts_with('/') {
        true => relay.file.clone(),
        false => format!("./{}", relay.file),
    };
    let lines = [
        RELAY_LINES.to_string(),
        name,
        relay.offset.max(FIRST_OFFSET).to_string(),
        applied.file.clone(),
        applied.offset.to_string(),
        delay.to_string(),
    ];
    lines.join("\n") + "\n"
}

/// Up to where the primary's log was applied, and the delay. Compat: the first line and the last
/// one are missing in old files.
fn parse_relay(text: &str) -> Option<(Place, Option<u32>)> {
    let lines: Vec<&str> = text.lines().collect();
    let has_count = lines.first()?.trim().parse::<usize>().is_ok();
    let first = usize::from(has_count);
    let file = (*lines.get(first + 2)?).to_owned();
    let place = Place { file, offset: lines.get(first + 3)?.trim().parse().ok()? };
    let delay = lines.get(first + 4).and_then(|delay| delay.trim().parse().ok());
    Some((place, delay))
}

#[cfg(test)]
mod tests;
