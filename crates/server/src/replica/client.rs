//! A client of a primary: connection, login, queries with small results, and the binary log.
//!
//! Must not write passwords into errors or logs. Every wait ends when the stream is shut down by
//! another thread.

mod connect;

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::time::Duration;

use rustls::{ClientConnection, StreamOwned};
use rustls_pki_types::ServerName;
use selkie_protocol::client::{
    Answer, AuthStep, Channel, Credentials, PluginError, ServerError, column_count, full_answer,
    put_login, put_ssl_request, respond, text_row,
};
use selkie_protocol::replica::{Ack, BinlogDump, Marked, RegisterSlave};
use selkie_protocol::{Capabilities, DecodeError, FrameError, FrameReader, Greeting, Output};
use selkie_types::error::catalogue::{ER_CONNECTION_KILLED, ER_SERVER_SHUTDOWN};

use super::connection::Config;
use crate::net::{Holder, TlsOptions, client_config};

/// Numbers of errors that a client has by itself.
mod cr {
    pub(super) const CONNECT: u16 = 2003;
    pub(super) const UNKNOWN_HOST: u16 = 2005;
    pub(super) const SERVER_LOST: u16 = 2013;
    pub(super) const SSL: u16 = 2026;
    pub(super) const MALFORMED: u16 = 2027;
    pub(super) const PLUGIN: u16 = 2059;
}

/// Number of the error for a packet that is larger than the limit.
pub(super) const TOO_LARGE: u16 = 2020;

/// Most rows of a result.
const ROWS: usize = 1000;
/// Most packets between the login and its end.
const LOGIN_STEPS: usize = 10;
/// Bytes that are read at once.
const CHUNK: usize = 64 << 10;
/// `utf8mb4_general_ci`.
const COLLATION: u8 = 45;

/// Reason why something with a primary failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClientError {
    code: u16,
    message: String,
    /// Whether the primary said so.
    is_told: bool,
}

impl ClientError {
    fn local(code: u16, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), is_told: false }
    }

    /// The number of the error.
    pub(super) fn code(&self) -> u16 {
        self.code
    }

    /// The text.
    pub(super) fn message(&self) -> &str {
        &self.message
    }

    /// Whether the connection itself is gone, and another one may do better: a primary that ends
    /// tells its sessions so.
    pub(super) fn is_network(&self) -> bool {
        let ends = [ER_CONNECTION_KILLED.code, ER_SERVER_SHUTDOWN.code];
        !self.is_told || ends.contains(&self.code)
    }

    fn lost() -> Self {
        Self::local(cr::SERVER_LOST, "Lost connection to server during query")
    }
}

impl From<ServerError> for ClientError {
    fn from(error: ServerError) -> Self {
        Self { code: error.code, message: error.message, is_told: true }
    }
}

impl From<DecodeError> for ClientError {
    fn from(_: DecodeError) -> Self {
        Self::local(cr::MALFORMED, "Malformed packet")
    }
}

impl From<FrameError> for ClientError {
    fn from(error: FrameError) -> Self {
        match error {
            FrameError::TooLarge => {
                Self::local(TOO_LARGE, "Got packet bigger than 'max_allowed_packet' bytes")
            }
            _ => Self::local(cr::MALFORMED, "Malformed packet"),
        }
    }
}

impl From<PluginError> for ClientError {
    fn from(error: PluginError) -> Self {
        Self::local(cr::PLUGIN, error.to_string())
    }
}

impl From<io::Error> for ClientError {
    fn from(_: io::Error) -> Self {
        Self::lost()
    }
}

type ClientResult<T> = Result<T, ClientError>;

/// Limits of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Longest wait for a connection, a read, or a write.
    pub(super) timeout: Duration,
    /// Largest packet.
    pub(super) max_packet: u64,
}

/// A stream to the primary.
enum Link {
    Open(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Link {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Open(stream) => stream.read(buf),
            Self::Tls(stream) => stream.read(buf),
        }
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Open(stream) => stream.write_all(bytes),
            Self::Tls(stream) => stream.write_all(bytes).and_then(|()| stream.flush()),
        }
    }

    fn channel(&self) -> Channel {
        match self {
            Self::Open(_) => Channel::Open,
            Self::Tls(_) => Channel::Secure,
        }
    }
}

/// A connection to a primary behind its login.
pub(super) struct Client {
    link: Link,
    frames: FrameReader,
    out: Output,
    packet: Vec<u8>,
    /// Number of the connection, as the primary has it.
    id: u64,
    /// Whether the primary marks the events of which it wants an acknowledgement.
    is_marked: bool,
}

/// The values of a row.
pub(super) type Row = Vec<Option<String>>;

impl Client {
    /// Connects and logs in. `watch` gets the socket as soon as there is one, and `stop` tells
    /// whether to give up before.
    pub(super) fn connect(
        config: &Config,
        limits: Limits,
        stop: &dyn Fn() -> bool,
        watch: &dyn Fn(TcpStream),
    ) -> ClientResult<Self> {
        let stream = connect::connect(&config.host, config.port, limits.timeout, stop)?;
        watch(stream.try_clone()?);
        stream.set_read_timeout(Some(limits.timeout))?;
        stream.set_write_timeout(Some(limits.timeout))?;
        // A packet has bytes before its event.
        let max_packet = usize::try_from(limits.max_packet).unwrap_or(usize::MAX);
        let mut client = Self {
            link: Link::Open(stream),
            frames: FrameReader::new(max_packet.saturating_add(3)),
            out: Output::new(0),
            packet: Vec::new(),
            id: 0,
            is_marked: false,
        };
        client.log_in(config, limits).map(|()| client)
    }

    fn log_in(&mut self, config: &Config, limits: Limits) -> ClientResult<()> {
        self.receive()?;
        if let Answer::Err(error) = Answer::decode(&self.packet)? {
            return Err(error.into());
        }
        let greeting = Greeting::decode(&self.packet)?;
        self.id = greeting.connection_id;
        let password = config.password.as_bytes();
        let mut wanted = Capabilities::CLIENT_MYSQL
            | Capabilities::PROTOCOL_41
            | Capabilities::LONG_FLAG
            | Capabilities::TRANSACTIONS
            | Capabilities::SECURE_CONNECTION
            | Capabilities::PLUGIN_AUTH
            | Capabilities::PLUGIN_AUTH_LENENC;
        if config.ssl {
            wanted = wanted | Capabilities::SSL;
        }
        let offered = greeting.capabilities | Capabilities::CLIENT_MYSQL;
        let capabilities = wanted & offered;
        if !capabilities.has(Capabilities::PROTOCOL_41) {
            return Err(DecodeError::Invalid("protocol before 4.1").into());
        }
        let mut credentials = Credentials {
            capabilities,
            max_packet: limits.max_packet.min(1 << 30) as u32,
            collation: COLLATION,
            user: config.user.as_bytes(),
            auth: &[],
            plugin: &greeting.plugin,
        };
        self.out.set_sequence(self.frames.sequence());
        if config.ssl {
            // Unlike MariaDB, which goes on without TLS then.
            if !capabilities.has(Capabilities::SSL) {
                let text =
                    "SSL connection error: SSL is required, but the server does not support it";
                return Err(ClientError::local(cr::SSL, text));
            }
            self.out.packet(|b| put_ssl_request(b, &credentials));
            self.flush()?;
            self.secure(config)?;
        }
        let plugin = match &*greeting.plugin {
            "" => "mysql_native_password",
            plugin => plugin,
        };
        // A method that this client does not know may be another one for this user.
        let channel = self.link.channel();
        let auth = match respond(plugin.as_bytes(), password, &greeting.scramble, channel) {
            Ok(auth) => auth,
            Err(PluginError::BadChallenge) => return Err(PluginError::BadChallenge.into()),
            Err(_) => Vec::new(),
        };
        (credentials.auth, credentials.plugin) = (&auth, plugin);
        self.out.packet(|b| put_login(b, &credentials));
        self.flush()?;
        self.authenticate(plugin.as_bytes().to_vec(), &greeting.scramble, password)
    }

    /// Answers the server until it lets the client in or not.
    fn authenticate(
        &mut self,
        mut plugin: Vec<u8>,
        challenge: &[u8],
        password: &[u8],
    ) -> ClientResult<()> {
        let channel = self.link.channel();
        for _ in 0..LOGIN_STEPS {
            self.receive()?;
            let answer = match AuthStep::decode(&self.packet)? {
                AuthStep::Done => return Ok(()),
                AuthStep::Refused(error) => return Err(error.into()),
                AuthStep::FastSuccess => continue,
                AuthStep::FullAuthentication => full_answer(password, channel)?,
                AuthStep::Switch { plugin: other, challenge } => {
                    plugin = other.to_vec();
                    respond(&plugin, password, challenge, channel)?
                }
                AuthStep::More(data) => {
                    let challenge = if data.is_empty() { challenge } else { data };
                    respond(&plugin, password, challenge, channel)?
                }
            };
            self.out.set_sequence(self.frames.sequence());
            self.out.packet(|b| b.extend_from_slice(&answer));
            self.flush()?;
        }
        Err(DecodeError::Invalid("login without an end").into())
    }

    /// Goes on with TLS.
    fn secure(&mut self, config: &Config) -> ClientResult<()> {
        let failed =
            |text: String| ClientError::local(cr::SSL, format!("SSL connection error: {text}"));
        if self.frames.has_pending() {
            return Err(failed("the server has sent too much before".to_owned()));
        }
        let path = |text: &str| (!text.is_empty()).then(|| PathBuf::from(text));
        let options = TlsOptions {
            ca: path(&config.ssl_ca),
            ca_path: path(&config.ssl_capath),
            certificate: path(&config.ssl_cert),
            key: path(&config.ssl_key),
            cipher: (!config.ssl_cipher.is_empty()).then(|| config.ssl_cipher.clone()),
            revocations: path(&config.ssl_crl),
            revocations_path: path(&config.ssl_crlpath),
            versions: (true, true),
        };
        let holder = if config.ssl_verify { Holder::Host } else { Holder::Any };
        let tls = client_config(&options, holder).map_err(failed)?;
        let name =
            ServerName::try_from(config.host.clone()).map_err(|error| failed(error.to_string()))?;
        let connection =
            ClientConnection::new(tls, name).map_err(|error| failed(error.to_string()))?;
        let Link::Open(stream) = &self.link else { return Ok(()) };
        let mut stream = StreamOwned::new(connection, stream.try_clone()?);
        while stream.conn.is_handshaking() {
            stream.conn.complete_io(&mut stream.sock).map_err(|error| failed(error.to_string()))?;
        }
        self.link = Link::Tls(Box::new(stream));
        Ok(())
    }

    fn flush(&mut self) -> ClientResult<()> {
        let sent = self.link.write_all(self.out.bytes());
        self.frames.set_sequence(self.out.sequence());
        self.out.clear();
        Ok(sent?)
    }

    /// Takes the next packet if it has arrived as a whole.
    pub(super) fn take_arrived(&mut self) -> ClientResult<bool> {
        let Some(packet) = self.frames.next_packet()? else { return Ok(false) };
        self.packet.clear();
        self.packet.extend_from_slice(packet);
        Ok(true)
    }

    /// Waits for the next packet.
    fn receive(&mut self) -> ClientResult<()> {
        while !self.take_arrived()? {
            // The announced length is not trusted: memory grows with what has come.
            let space = self.frames.space(self.frames.wanted().clamp(CHUNK, 1 << 20));
            match self.link.read(space) {
                Ok(0) => return Err(ClientError::lost()),
                Ok(length) => self.frames.filled(length),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Sends a command.
    fn command(&mut self, number: u8, payload: impl FnOnce(&mut Vec<u8>)) -> ClientResult<()> {
        self.out.set_sequence(0);
        self.out.packet(|b| {
            b.push(number);
            payload(b);
        });
        self.flush()
    }

    /// Ends the connection, so that the primary does not take it for lost.
    pub(super) fn quit(&mut self) -> ClientResult<()> {
        const COM_QUIT: u8 = 1;
        self.command(COM_QUIT, |_| ())
    }

    /// Runs a statement, and returns its rows.
    pub(super) fn query(&mut self, text: &str) -> ClientResult<Vec<Row>> {
        const COM_QUERY: u8 = 3;
        self.command(COM_QUERY, |b| b.extend_from_slice(text.as_bytes()))?;
        self.receive()?;
        let columns = match Answer::decode(&self.packet)? {
            Answer::Ok => return Ok(Vec::new()),
            Answer::Err(error) => return Err(error.into()),
            Answer::Eof => return Err(DecodeError::Invalid("result").into()),
            Answer::Other(head) => column_count(head)?,
        };
        for _ in 0..columns {
            self.receive()?;
        }
        self.receive()?;
        let mut rows = Vec::new();
        loop {
            self.receive()?;
            match self.packet.first() {
                Some(0xfe) if self.packet.len() < 9 => return Ok(rows),
                Some(0xff) => {
                    if let Answer::Err(error) = Answer::decode(&self.packet)? {
                        return Err(error.into());
                    }
                }
                _ => {}
            }
            if rows.len() == ROWS {
                return Err(DecodeError::Invalid("result").into());
            }
            let row = text_row(&self.packet, columns)?;
            let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
            rows.push(row.into_iter().map(|value| value.map(text)).collect());
        }
    }

    /// The first value of a statement's result; none if there is none, or it is NULL.
    pub(super) fn value(&mut self, text: &str) -> ClientResult<Option<String>> {
        let rows = self.query(text)?;
        Ok(rows.into_iter().next().and_then(|row| row.into_iter().next_back()).flatten())
    }

    /// Tells the primary who this is.
    pub(super) fn register(&mut self, register: &RegisterSlave<'_>) -> ClientResult<()> {
        const COM_REGISTER_SLAVE: u8 = 0x15;
        self.command(COM_REGISTER_SLAVE, |b| register.encode(b))?;
        self.receive()?;
        match Answer::decode(&self.packet)? {
            Answer::Ok => Ok(()),
            Answer::Err(error) => Err(error.into()),
            _ => Err(DecodeError::Invalid("answer").into()),
        }
    }

    /// Asks for the binary log: from now on there are events.
    pub(super) fn dump(&mut self, dump: &BinlogDump<'_>) -> ClientResult<()> {
        const COM_BINLOG_DUMP: u8 = 0x12;
        self.command(COM_BINLOG_DUMP, |b| dump.encode(b))
    }

    /// Waits for the next event.
    pub(super) fn wait_event(&mut self) -> ClientResult<()> {
        self.receive()
    }

    /// Number of the connection, as the primary has it.
    pub(super) fn id(&self) -> u64 {
        self.id
    }

    /// The primary marks the events of which it wants an acknowledgement, from now on.
    pub(super) fn expect_marks(&mut self) {
        self.is_marked = true;
        // Primaries of different makes number what is behind such an event differently.
        self.frames.ignore_numbers();
    }

    /// Whether the primary marks such events.
    pub(super) fn is_marked(&self) -> bool {
        self.is_marked
    }

    /// Says that everything before a place of the primary's log is kept.
    pub(super) fn acknowledge(&mut self, ack: &Ack<'_>) -> ClientResult<()> {
        self.out.set_sequence(0);
        self.out.packet(|b| ack.encode(b));
        let sent = self.link.write_all(self.out.bytes());
        self.out.clear();
        Ok(sent?)
    }

    /// The event of the packet that was taken last; none at the end of the log.
    pub(super) fn event(&self) -> ClientResult<Option<Marked<'_>>> {
        match self.packet.split_first() {
            Some((0, event)) if self.is_marked => Ok(Some(Marked::decode(event)?)),
            Some((0, event)) => Ok(Some(Marked { is_asked: false, event })),
            Some((0xfe, rest)) if rest.len() < 8 => Ok(None),
            _ => match Answer::decode(&self.packet)? {
                Answer::Err(error) => Err(error.into()),
                _ => Err(DecodeError::Invalid("event").into()),
            },
        }
    }
}
