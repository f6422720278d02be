//! The words of a receiver to its primary between the login and the first event, in MariaDB's
//! order.
//!
//! Must not trust answers: they are texts of another server.

use std::time::{SystemTime, UNIX_EPOCH};

use selkie_protocol::replica::{BinlogDump, RegisterSlave};
use selkie_replication::codec::Checksum;
use selkie_replication::gtid::Position;
use selkie_replication::replica::{Stream, Wants};
use selkie_types::SqlError;
use selkie_types::error::catalogue::{
    ER_SLAVE_FATAL_ERROR, ER_SLAVE_MASTER_COM_FAILURE, ER_SLAVE_RELAY_LOG_WRITE_FAILURE,
};

use super::settings::{number, server_id, text};
use super::start::{StartPosition, start_position};
use super::{End, READ, REGISTRATION, REQUEST, Receiver, state};
use crate::replica::client::{Client, ClientError};
use crate::replica::connection::{Config, Until};

/// The primary has no such variable.
const UNKNOWN_VARIABLE: u16 = 1193;

/// A dialogue under way.
pub(super) struct Dialogue<'r> {
    pub(super) receiver: &'r Receiver,
    pub(super) client: Client,
    pub(super) config: &'r Config,
}

/// A statement that failed.
fn failed(error: &ClientError, what: &str) -> End {
    if error.is_network() {
        return End::Lost(READ, None);
    }
    let text = format!(
        "The slave I/O thread stops because a fatal error is encountered when it tries to {what}. \
         Error: {}",
        error.message()
    );
    End::Fatal(SqlError::new(&ER_SLAVE_FATAL_ERROR, &[&text]))
}

/// A text between apostrophes.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

impl Dialogue<'_> {
    /// Says everything; the client has events then, which the stream takes.
    pub(super) fn run(mut self) -> Result<(Client, Stream), End> {
        self.receiver.set_state(state::CHECKING);
        self.compare_clocks()?;
        self.compare_numbers()?;
        self.set_heartbeat()?;
        let checksum = self.agree_on_checksums()?;
        self.set("SET @mariadb_slave_capability=4", "set @mariadb_slave_capability")?;
        if leaves_marked(self.receiver) {
            self.set("SET skip_replication=1", "set skip_replication")?;
        }
        let Receiver { server, connection, relay, .. } = self.receiver;
        let from = start_position(server, connection, relay);
        let gtids = self.say_position(&from)?;
        self.receiver.update(|progress| {
            progress.received_gtids = gtids.clone();
            if from.gtids.is_none() {
                progress.received = from.place.clone();
            }
        });
        self.register()?;
        self.offer_acknowledgements()?;
        self.ask(&from)?;
        self.begin_relay(checksum)?;
        self.log_begin(&from, &gtids);
        let wants = Wants {
            own_server: (!takes_own(self.receiver)).then(|| server_id(&self.receiver.server)),
            ignored_servers: self.config.ignore_server_ids.clone(),
            do_domains: self.config.do_domains.clone(),
            ignored_domains: self.config.ignore_domains.clone(),
        };
        Ok((self.client, Stream::new(wants, checksum, gtids)))
    }

    /// Runs a statement without a result.
    fn set(&mut self, statement: &str, what: &str) -> Result<(), End> {
        self.client.query(statement).map(drop).map_err(|error| failed(&error, what))
    }

    fn compare_clocks(&mut self) -> Result<(), End> {
        let answer = match self.client.value("SELECT UNIX_TIMESTAMP()") {
            Ok(answer) => answer,
            Err(error) if error.is_network() => return Err(End::Lost(READ, None)),
            // The difference is for show.
            Err(_) => None,
        };
        let theirs = answer.and_then(|text| text.parse::<i64>().ok());
        let own = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let difference = theirs.map_or(0, |theirs| theirs.saturating_sub(own as i64));
        self.receiver.update(|progress| progress.clock_difference = difference);
        Ok(())
    }

    /// Two servers of one number would take each other's changes for their own.
    fn compare_numbers(&mut self) -> Result<(), End> {
        const WHAT: &str = "get the value of SERVER_ID variable from master";
        let answer = self.client.value("SHOW VARIABLES LIKE 'SERVER_ID'");
        let answer = answer.map_err(|error| failed(&error, WHAT))?;
        let theirs = answer.and_then(|text| text.parse::<u32>().ok()).unwrap_or_default();
        self.receiver.update(|progress| progress.primary_id = theirs);
        if theirs != server_id(&self.receiver.server) || takes_own(self.receiver) {
            return Ok(());
        }
        let text = "The slave I/O thread stops because master and slave have equal MariaDB server \
                    ids; these ids must be different for replication to work (or the \
                    --replicate-same-server-id option must be used on slave but this does not \
                    always make sense; please check the manual before using it).";
        Err(End::Fatal(SqlError::new(&ER_SLAVE_FATAL_ERROR, &[&text])))
    }

    fn set_heartbeat(&mut self) -> Result<(), End> {
        let period = self.config.heartbeat.as_nanos();
        if period == 0 {
            return Ok(());
        }
        let statement = format!("SET @master_heartbeat_period= {period}");
        self.set(&statement, "SET @master_heartbeat_period on master")
    }

    /// Says that this server knows checksums, and learns which ones the events have.
    fn agree_on_checksums(&mut self) -> Result<Checksum, End> {
        const WHAT: &str = "SET @master_binlog_checksum";
        let said = self.client.query("SET @master_binlog_checksum= @@global.binlog_checksum");
        match said {
            Ok(_) => {}
            // An old primary has none.
            Err(error) if error.code() == UNKNOWN_VARIABLE && !error.is_network() => {
                return Ok(Checksum::None);
            }
            Err(error) => return Err(failed(&error, WHAT)),
        }
        let answer = self.client.value("SELECT @master_binlog_checksum");
        let answer = answer.map_err(|error| failed(&error, WHAT))?;
        match answer.as_deref() {
            Some(name) if name.eq_ignore_ascii_case("CRC32") => Ok(Checksum::Crc32),
            _ => Ok(Checksum::None),
        }
    }

    /// Tells what this server has, if it asks by groups. Returns the groups it has at the place
    /// that it asks for.
    fn say_position(&mut self, from: &StartPosition) -> Result<Position, End> {
        let server = &self.receiver.server;
        let Some(gtids) = &from.gtids else {
            let (file, offset) = (quoted(&from.place.file), from.place.offset);
            let answer = self.client.value(&format!("SELECT binlog_gtid_pos({file},{offset})"));
            return match answer {
                Ok(answer) => Ok(answer.and_then(|text| text.parse().ok()).unwrap_or_default()),
                Err(error) if error.is_network() => Err(End::Lost(READ, None)),
                // The primary has no such function: the position is for show.
                Err(_) => Ok(Position::default()),
            };
        };
        let flag = |name: &str| number(server, name).min(1);
        let is_strict = flag("gtid_strict_mode");
        let ignores_duplicates = flag("gtid_ignore_duplicates");
        self.set("SELECT @@GLOBAL.gtid_domain_id", "get gtid_domain_id")?;
        for (name, value) in [
            ("slave_connect_state", quoted(&gtids.to_string())),
            ("slave_gtid_strict_mode", is_strict.to_string()),
            ("slave_gtid_ignore_duplicates", ignores_duplicates.to_string()),
        ] {
            self.set(&format!("SET @{name}={value}"), &format!("set @{name}"))?;
        }
        let until = match &self.receiver.connection.progress.lock().until {
            Until::Gtid(until) => Some(until.to_string()),
            _ => None,
        };
        if let Some(until) = until {
            let statement = format!("SET @slave_until_gtid={}", quoted(&until));
            self.set(&statement, "set @slave_until_gtid")?;
        }
        Ok(gtids.clone())
    }

    fn register(&mut self) -> Result<(), End> {
        self.receiver.set_state(state::REGISTERING);
        let server = &self.receiver.server;
        let (host, user) = (text(server, "report_host"), text(server, "report_user"));
        let password = text(server, "report_password");
        let register = RegisterSlave {
            server_id: server_id(server),
            host: host.as_bytes(),
            user: user.as_bytes(),
            password: password.as_bytes(),
            port: number(server, "report_port") as u16,
            master_id: 0,
        };
        self.client.register(&register).map_err(|error| {
            if error.is_network() {
                return End::Lost(REGISTRATION, None);
            }
            let reason = format!("{} (Errno: {})", error.message(), error.code());
            let arguments: &[&dyn std::fmt::Display] = &[&"COM_REGISTER_SLAVE", &reason];
            End::Lost(REGISTRATION, Some(SqlError::new(&ER_SLAVE_MASTER_COM_FAILURE, arguments)))
        })
    }

    /// Says that this server acknowledges what it keeps, if it should and the primary knows that.
    /// Compat: the variable counts when the thread begins, not when it connects again.
    fn offer_acknowledgements(&mut self) -> Result<(), End> {
        const WHAT: &str = "set @rpl_semi_sync_slave";
        if !self.receiver.acknowledges {
            return Ok(());
        }
        let answer = self.client.value("SHOW VARIABLES LIKE 'rpl_semi_sync_master_enabled'");
        let id = self.receiver.handle.id;
        match answer.map_err(|error| failed(&error, WHAT))?.as_deref() {
            None => {
                tracing::warn!(
                    connection = id,
                    "Master server does not support semi-sync, fallback to asynchronous replication"
                );
                self.receiver.update(|progress| progress.acks.is_on = false);
                return Ok(());
            }
            Some("ON") => {}
            Some(_) => tracing::info!(
                connection = id,
                "Slave has semi-sync enabled but master server does not. Semi-sync will be \
                 activated when master enables it"
            ),
        }
        self.set("SET @rpl_semi_sync_slave= 1", WHAT)?;
        self.client.expect_marks();
        self.receiver.update(|progress| progress.acks.is_on = true);
        Ok(())
    }

    fn ask(&mut self, from: &StartPosition) -> Result<(), End> {
        self.receiver.set_state(state::REQUESTING);
        let server = &self.receiver.server;
        let annotate = number(server, "replicate_annotate_row_events") != 0;
        let (file, offset) = match from.gtids {
            Some(_) => ("", 4),
            None => (from.place.file.as_str(), from.place.offset),
        };
        let Ok(offset) = u32::try_from(offset) else {
            let text = format!("The protocol has no request for position {offset} of '{file}'");
            return Err(End::Fatal(SqlError::new(&ER_SLAVE_FATAL_ERROR, &[&text])));
        };
        let dump = BinlogDump {
            offset,
            flags: if annotate { BinlogDump::ANNOTATE } else { 0 },
            server_id: server_id(server),
            file: file.as_bytes(),
        };
        self.client.dump(&dump).map_err(|_| End::Lost(REQUEST, None))
    }

    /// The relay files go on with the new stream.
    fn begin_relay(&mut self, checksum: Checksum) -> Result<(), End> {
        let relay = &self.receiver.relay;
        relay.set(super::relay_settings(&self.receiver.server, &self.receiver.connection));
        relay.begin_stream(checksum).map_err(|error| {
            tracing::error!("Relay log: {error}");
            let what = "could not queue event from master";
            End::Fatal(SqlError::new(&ER_SLAVE_RELAY_LOG_WRITE_FAILURE, &[&what]))
        })
    }

    fn log_begin(&self, from: &StartPosition, gtids: &Position) {
        let Config { user, host, port, .. } = self.config;
        let at = match from.gtids {
            Some(_) => format!("replication starts at GTID position '{gtids}'"),
            None => format!(
                "replication started in log '{}' at position {}",
                from.place.file, from.place.offset
            ),
        };
        let id = self.receiver.handle.id;
        let kind = if self.client.is_marked() { "semi-sync" } else { "asynchronous" };
        tracing::info!(
            connection = id,
            "Slave I/O thread: connected to master '{user}@{host}:{port}', {kind} {at}"
        );
    }
}

/// Whether groups with this server's number are applied too.
fn takes_own(receiver: &Receiver) -> bool {
    receiver.server.replica.options.takes_own_groups
}

/// Whether the primary should not send events that its sessions marked:
/// `replicate_events_marked_for_skip`.
fn leaves_marked(receiver: &Receiver) -> bool {
    const FILTER_ON_MASTER: u64 = 2;
    number(&receiver.server, "replicate_events_marked_for_skip") == FILTER_ON_MASTER
}
