//! CHANGE MASTER: another primary, another place, another configuration.
//!
//! Must not change anything before all is checked.

use std::sync::Arc;
use std::time::Duration;

use selkie_replication::replica::{Note, Place};
use selkie_sql::ast::{
    ChangeMaster, Literal, MasterList, MasterNumber, MasterOption, MasterText, UseGtid,
};
use selkie_types::error::catalogue::*;
use selkie_types::{Condition, Level, SqlError, SqlResult};

use super::connection::{Config, Connection, UsingGtid};
use super::start::check_alive;
use super::{info_files, names, threads};
use crate::accounts::Privileges;
use crate::admin::Notes;
use crate::server::Server;
use crate::session::Shared;
use crate::variables::ids;

/// Longest heartbeat period, in seconds.
const LONGEST_HEARTBEAT: f64 = 4_294_967.0;
/// Longest delay, in seconds.
const LONGEST_DELAY: u64 = 0x7fff_ffff;
/// Offset at which the first group of a file begins.
pub(super) const FIRST_OFFSET: u64 = 4;

/// The options of the statement that are no part of the configuration.
#[derive(Debug, Default)]
struct Said {
    log_file: Option<String>,
    log_pos: Option<u64>,
    relay_file: Option<String>,
    relay_pos: Option<u64>,
    use_gtid: Option<UsingGtid>,
    demote: bool,
    heartbeat: Option<Duration>,
    host: Option<String>,
    port: Option<u64>,
}

/// Runs CHANGE MASTER.
pub(crate) fn change(
    shared: &Shared,
    statement: &ChangeMaster,
    notes: &mut Notes,
) -> SqlResult<()> {
    let mut said = Said::default();
    let mut lists = Lists::default();
    let net_timeout = shared.server.globals.get(ids().slave_net_timeout).as_u64() as f64;
    for option in &statement.options {
        said.read(option, net_timeout, notes)?;
        lists.read(option);
    }
    shared.access.lock().check_global(Privileges::SUPER | Privileges::REPLICATION_SLAVE_ADMIN)?;
    let name = names::said(shared, statement.name.as_ref())?;
    let server = &shared.server;
    let _turn = server.replica.turn(&|| check_alive(shared))?;
    let known = server.replica.find(&name);
    check_conflict(server, known.as_deref(), &name, &said)?;
    let connection = match &known {
        Some(connection) => Arc::clone(connection),
        None => Arc::new(new_connection(server, &name)),
    };
    if connection.is_running() {
        return Err(must_stop(&connection.name));
    }
    if said.host.as_deref() == Some("") {
        return Err(SqlError::new(&ER_WRONG_ARGUMENTS, &[&"MASTER_HOST"]));
    }
    let old = connection.config.lock().clone();
    let mut config = old.clone();
    configure(&mut config, &statement.options)?;
    config.heartbeat = said.heartbeat.unwrap_or_else(|| default_heartbeat(server));
    config.using_gtid = said.using_gtid(old.using_gtid, notes)?;
    lists.configure(&mut config, &connection.name)?;
    let is_moved = old.host != config.host || old.port != config.port;
    let place = place_of(server, &connection, &said, is_moved);
    let relay = relay_place(&connection, &said)?;
    if said.demote {
        demote(server)?;
    }
    let is_placed = relay.is_none() || said.log_file.is_some() || said.log_pos.is_some();
    // A crash in between must not join the old primary with the new place: until the note at the
    // end, the files say what is applied.
    server.applied().note(&Note::Forget(connection.name.clone()))?;
    if relay.is_none() {
        threads::drop_relay_files(server, &connection)?;
    }
    settle(&connection, config, (&place, is_placed), relay);
    if known.is_none() {
        server.replica.add(Arc::clone(&connection));
    }
    info_files::save(server, &connection)?;
    server.applied().note(&Note::Begin { connection: connection.name.clone(), at: place })
}

/// A connection that begins, as options configure it: with the rules for it, and with those for
/// all where it has none. Compat: what was set later for the default connection does not count.
pub(super) fn new_connection(server: &Server, name: &str) -> Connection {
    let replica = &server.replica;
    let mut filter = replica.options.filter(name);
    filter.complete_from(&replica.options.filter(""));
    let mut config = Config::new(default_heartbeat(server));
    config.retry_count = replica.options.retry_count;
    let relay_size = server.globals.at_start(ids().max_relay_log_size).as_u64();
    let mode = replica.options.parallel_mode(name);
    Connection::new(name, config, filter, relay_size).with_mode(mode)
}

/// The heartbeat period of a connection that is configured without one.
pub(super) fn default_heartbeat(server: &Server) -> Duration {
    let timeout = server.globals.get(ids().slave_net_timeout).as_u64();
    Duration::from_secs_f64((timeout as f64 / 2.0).min(LONGEST_HEARTBEAT))
}

/// The error of a statement that needs a connection without threads.
pub(crate) fn must_stop(name: &str) -> SqlError {
    SqlError::new(&ER_SLAVE_MUST_STOP, &[&name, &name])
}

/// Fails (1934) if another connection has the same primary. Compat: a new connection for which no
/// port is said is not compared.
fn check_conflict(
    server: &Server,
    known: Option<&Connection>,
    name: &str,
    said: &Said,
) -> SqlResult<()> {
    let own = known.map(|known| known.config.lock().clone());
    let host = said.host.clone().or_else(|| own.as_ref().map(|own| own.host.clone()));
    let port = said.port.or_else(|| own.as_ref().map(|own| own.port.into()));
    let (Some(host), Some(port)) = (host.filter(|host| !host.is_empty()), port) else {
        return Ok(());
    };
    let conflicts = |other: &&Arc<Connection>| {
        let config = other.config.lock();
        !other.name.eq_ignore_ascii_case(name)
            && config.host.to_lowercase() == host.to_lowercase()
            && u64::from(config.port) == port
    };
    match server.replica.list().iter().find(conflicts) {
        Some(other) => Err(SqlError::new(&ER_CONNECTION_ALREADY_EXISTS, &[&name, &other.name])),
        None => Ok(()),
    }
}

impl Said {
    fn read(
        &mut self,
        option: &MasterOption,
        net_timeout: f64,
        notes: &mut Notes,
    ) -> SqlResult<()> {
        match option {
            MasterOption::Text(what, value) => {
                let text = names::text(value);
                match what {
                    MasterText::Host => self.host = Some(text),
                    MasterText::LogFile => self.log_file = Some(text),
                    MasterText::RelayLogFile => self.relay_file = Some(text),
                    _ => {}
                }
            }
            MasterOption::Number(what, number) => match what {
                MasterNumber::Port => self.port = Some(*number),
                MasterNumber::LogPos => self.log_pos = Some(*number),
                MasterNumber::RelayLogPos => self.relay_pos = Some(*number),
                MasterNumber::DemoteToSlave => self.demote = *number != 0,
                MasterNumber::Delay if *number > LONGEST_DELAY => {
                    let values: [&dyn std::fmt::Display; 2] = [number, &LONGEST_DELAY];
                    return Err(SqlError::new(&ER_MASTER_DELAY_VALUE_OUT_OF_RANGE, &values));
                }
                _ => {}
            },
            MasterOption::HeartbeatPeriod(period) => {
                self.heartbeat = Some(heartbeat(period, net_timeout, notes)?);
            }
            MasterOption::UseGtid(using) => {
                self.use_gtid = Some(match using {
                    UseGtid::No => UsingGtid::No,
                    UseGtid::CurrentPos => UsingGtid::CurrentPos,
                    UseGtid::SlavePos => UsingGtid::SlavePos,
                });
            }
            MasterOption::Numbers(..) => {}
        }
        Ok(())
    }

    /// Places that are said, by the names of their options.
    fn places(&self) -> impl Iterator<Item = &'static str> {
        [
            ("MASTER_LOG_FILE", self.log_file.is_some()),
            ("MASTER_LOG_POS", self.log_pos.is_some()),
            ("RELAY_LOG_FILE", self.relay_file.is_some()),
            ("RELAY_LOG_POS", self.relay_pos.is_some()),
        ]
        .into_iter()
        .filter_map(|(name, is_said)| is_said.then_some(name))
    }

    /// Whether the connection asks by groups: as it is said, but a place without that word means
    /// that it does not.
    fn using_gtid(&self, old: UsingGtid, notes: &mut Notes) -> SqlResult<UsingGtid> {
        let has_place = self.places().next().is_some();
        let using = match self.use_gtid {
            Some(UsingGtid::No) => UsingGtid::No,
            Some(using) => {
                notes.extend(self.places().map(|name| note_of(&WARN_OPTION_IGNORED, &[&name])));
                using
            }
            None if has_place => {
                notes.extend(implicit_change("CHANGE MASTER TO", old, UsingGtid::No));
                UsingGtid::No
            }
            None => old,
        };
        if self.demote && using != UsingGtid::SlavePos {
            return Err(SqlError::new(
                &ER_CM_OPTION_MISSING_REQUIREMENT,
                &[&"MASTER_DEMOTE_TO_SLAVE", &"TRUE", &"Using_Gtid=Slave_Pos"],
            ));
        }
        Ok(using)
    }
}

/// A note of the catalogue.
pub(super) fn note_of(def: &ErrorDef, args: &[&dyn std::fmt::Display]) -> Condition {
    Condition::from_error(Level::Note, &SqlError::new(def, args))
}

/// The note that a statement changes `Using_Gtid`.
pub(super) fn implicit_change(verb: &str, from: UsingGtid, to: UsingGtid) -> Option<Condition> {
    let args: [&dyn std::fmt::Display; 4] = [&verb, &"Using_Gtid", &from.name(), &to.name()];
    (from != to).then(|| note_of(&WARN_OPTION_CHANGING, &args))
}

/// A heartbeat period.
fn heartbeat(period: &Literal, net_timeout: f64, notes: &mut Notes) -> SqlResult<Duration> {
    let seconds = match period {
        Literal::Int(number) => *number as f64,
        Literal::Decimal(text) => text.parse().unwrap_or(f64::INFINITY),
        Literal::Float { value, .. } => *value,
        _ => f64::NAN,
    };
    if !(0.0..=LONGEST_HEARTBEAT).contains(&seconds) {
        let longest = LONGEST_HEARTBEAT as u64;
        return Err(SqlError::new(&ER_SLAVE_HEARTBEAT_VALUE_OUT_OF_RANGE, &[&longest]));
    }
    if seconds > net_timeout {
        notes.push(Condition::warning(&ER_SLAVE_HEARTBEAT_VALUE_OUT_OF_RANGE_MAX, &[]));
    }
    if seconds > 0.0 && seconds < 0.001 {
        notes.push(Condition::warning(&ER_SLAVE_HEARTBEAT_VALUE_OUT_OF_RANGE_MIN, &[]));
        return Ok(Duration::ZERO);
    }
    Ok(Duration::from_millis((seconds * 1000.0) as u64))
}

/// Takes texts and numbers into a configuration.
fn configure(config: &mut Config, options: &[MasterOption]) -> SqlResult<()> {
    for option in options {
        match option {
            MasterOption::Text(what, value) => set_text(config, *what, names::text(value))?,
            MasterOption::Number(what, number) => set_number(config, *what, *number)?,
            _ => {}
        }
    }
    Ok(())
}

fn set_text(config: &mut Config, what: MasterText, text: String) -> SqlResult<()> {
    let (place, name) = match what {
        MasterText::Host => (&mut config.host, "MASTER_HOST"),
        MasterText::User => (&mut config.user, "MASTER_USER"),
        MasterText::Password => (&mut config.password, "MASTER_PASSWORD"),
        MasterText::SslCa => (&mut config.ssl_ca, "MASTER_SSL_CA"),
        MasterText::SslCapath => (&mut config.ssl_capath, "MASTER_SSL_CAPATH"),
        MasterText::SslCert => (&mut config.ssl_cert, "MASTER_SSL_CERT"),
        MasterText::SslCipher => (&mut config.ssl_cipher, "MASTER_SSL_CIPHER"),
        MasterText::SslKey => (&mut config.ssl_key, "MASTER_SSL_KEY"),
        MasterText::SslCrl => (&mut config.ssl_crl, "MASTER_SSL_CRL"),
        MasterText::SslCrlpath => (&mut config.ssl_crlpath, "MASTER_SSL_CRLPATH"),
        MasterText::LogFile | MasterText::RelayLogFile => {
            return one_line(&text, "MASTER_LOG_FILE");
        }
    };
    one_line(&text, name)?;
    *place = text;
    Ok(())
}

/// Fails for a text that would be several lines of the information file.
fn one_line(text: &str, option: &str) -> SqlResult<()> {
    match text.contains(['\n', '\0']) {
        true => Err(SqlError::new(&ER_WRONG_ARGUMENTS, &[&option])),
        false => Ok(()),
    }
}

fn set_number(config: &mut Config, what: MasterNumber, number: u64) -> SqlResult<()> {
    match what {
        MasterNumber::Port => {
            let wrong = |_| SqlError::new(&ER_WRONG_ARGUMENTS, &[&"MASTER_PORT"]);
            config.port = u16::try_from(number).map_err(wrong)?;
        }
        MasterNumber::ConnectRetry => {
            config.connect_retry = Duration::from_secs(number.min(u32::MAX.into()));
        }
        MasterNumber::Delay => config.delay = number as u32,
        MasterNumber::Ssl => config.ssl = number != 0,
        MasterNumber::SslVerifyServerCert => config.ssl_verify = number != 0,
        MasterNumber::LogPos | MasterNumber::RelayLogPos | MasterNumber::DemoteToSlave => {}
    }
    Ok(())
}

/// The lists of numbers that a statement says.
#[derive(Debug, Default)]
struct Lists {
    servers: Option<Vec<u32>>,
    domains: Option<Vec<u32>>,
    ignored: Option<Vec<u32>>,
}

impl Lists {
    fn read(&mut self, option: &MasterOption) {
        let MasterOption::Numbers(what, numbers) = option else { return };
        let list = match what {
            MasterList::IgnoreServerIds => &mut self.servers,
            MasterList::DoDomainIds => &mut self.domains,
            MasterList::IgnoreDomainIds => &mut self.ignored,
        };
        let list = list.get_or_insert_default();
        // Compat: only the low 32 bits of a number count.
        list.extend(numbers.iter().map(|number| *number as u32));
        list.sort_unstable();
        list.dedup();
    }

    /// Takes the lists into a configuration. Domains may be chosen in one way only, and only if the
    /// connection asks by groups.
    fn configure(self, config: &mut Config, name: &str) -> SqlResult<()> {
        config.ignore_server_ids = self.servers.unwrap_or_else(|| config.ignore_server_ids.clone());
        config.do_domains = self.domains.unwrap_or_else(|| config.do_domains.clone());
        config.ignore_domains = self.ignored.unwrap_or_else(|| config.ignore_domains.clone());
        let chosen = [&config.do_domains, &config.ignore_domains];
        let most = if config.using_gtid == UsingGtid::No { 0 } else { 1 };
        match chosen.into_iter().filter(|list| !list.is_empty()).count() > most {
            true => Err(SqlError::new(&ER_MASTER_INFO, &[&name])),
            false => Ok(()),
        }
    }
}

/// Place at which the connection goes on: where it is said, at the first file of another primary,
/// or behind what is applied.
fn place_of(server: &Server, connection: &Connection, said: &Said, is_moved: bool) -> Place {
    let mut place = match is_moved {
        true => Place::default(),
        false => {
            let noted = server.applied().state().place(&connection.name).cloned();
            noted.unwrap_or_else(|| connection.progress.lock().applied.clone())
        }
    };
    if let Some(file) = &said.log_file {
        place.file.clone_from(file);
    }
    place.offset = said.log_pos.unwrap_or(place.offset).max(FIRST_OFFSET);
    place
}

/// The place in the relay files that is said. Fails (1380) if there is no such file.
fn relay_place(connection: &Connection, said: &Said) -> SqlResult<Option<Place>> {
    let is_ignored = said.use_gtid.is_some_and(|using| using != UsingGtid::No);
    if is_ignored || said.relay_file.is_none() && said.relay_pos.is_none() {
        return Ok(None);
    }
    let files = threads::relay_files(connection);
    let Some(file) = said.relay_file.clone().or_else(|| current_file(connection, &files)) else {
        return Ok(None);
    };
    let place = Place { file, offset: said.relay_pos.unwrap_or(FIRST_OFFSET) };
    match files.iter().any(|(file, _)| *file == place.file) {
        true => Ok(Some(place)),
        false => {
            let reason = "Could not find target log during relay log initialization";
            Err(SqlError::new(&ER_RELAY_LOG_INIT, &[&reason]))
        }
    }
}

/// The relay file that is being applied, of those that are there.
fn current_file(connection: &Connection, files: &[(String, u64)]) -> Option<String> {
    let current = connection.progress.lock().relay.file.clone();
    match files.iter().any(|(file, _)| *file == current) {
        true => Some(current),
        false => files.first().map(|(file, _)| file.clone()),
    }
}

/// MASTER_DEMOTE_TO_SLAVE: what this server logged counts as applied.
fn demote(server: &Server) -> SqlResult<()> {
    let Some(binlog) = server.binlog() else { return Ok(()) };
    let mut position = server.applied().state().gtids().clone();
    binlog.log().gtid_state().position().gtids().for_each(|gtid| position.raise(gtid));
    server.applied().note(&Note::Position(position.gtids().collect()))
}

/// Makes a checked change.
fn settle(
    connection: &Connection,
    config: Config,
    (place, is_placed): (&Place, bool),
    relay: Option<Place>,
) {
    *connection.config.lock() = config;
    let mut progress = connection.progress.lock();
    progress.applied.clone_from(place);
    // Relay files that stay need not come again.
    if is_placed {
        progress.received.clone_from(place);
        progress.received_gtids = Default::default();
    }
    progress.received_heartbeats = 0;
    progress.receiver_error = None;
    progress.applier_error = None;
    progress.until = Default::default();
    progress.skip_counter = 0;
    if let Some(relay) = relay {
        progress.relay = relay;
    }
}
