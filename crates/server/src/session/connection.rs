//! A connection from its first byte to its last: greeting, login, commands, end.
//!
//! Must not decode commands; `dispatch` does.

use std::sync::Arc;
use std::time::Duration;

use selkie_exec::Killed;
use selkie_protocol::greeting::SCRAMBLE;
use selkie_protocol::packet::{Ok as OkPacket, put_err, put_ok};
use selkie_protocol::{Capabilities, FrameError, Login, Output, SslRequest};
use selkie_types::error::catalogue::*;
use selkie_types::{SqlError, SqlResult};

use super::dispatch::{Next, Session};
use super::shared::Shared;
use super::timeouts;
use crate::accounts::{AccessControl, Place, Privileges};
use crate::backend::{BackendSession, SessionFactory};
use crate::login::{
    Authenticated, CAPABILITIES, Claim, Exchange, authenticate, check_expired, check_limits, greet,
    handshake_error,
};
use crate::net::{HandshakeError, Offer, Peer, ReadError, Transport, Wire};
use crate::query_log::log_general;
use crate::server::Server;
use crate::sessions::{Door, SessionHandle};
use crate::status::counter;
use crate::variables::{VarValue, ids};

/// Largest packet accepted from a client that has not logged in.
const MAX_LOGIN_PACKET: usize = 1 << 20;

/// Serves one client on the calling thread, until the client leaves or is disconnected.
pub(crate) fn serve<B: SessionFactory>(
    server: &Arc<Server>,
    backend: &B,
    transport: Box<dyn Transport>,
    peer: &Peer,
    door: Door,
) {
    let Some(greeted) = greet_client(server, transport, peer, door) else { return };
    let (mut session, _removed_at_the_end) = match greeted.log_in(backend) {
        Some(logged_in) => logged_in,
        None => return,
    };
    run(&mut session);
}

/// Removes the session from the process list, also if its thread panics.
pub(super) struct Registration {
    server: Arc<Server>,
    id: u64,
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.server.logs.replicas.leave(self.id);
        self.server.sessions.remove(self.id);
    }
}

fn refuse(wire: &mut Wire, error: &SqlError) {
    let mut out = Output::new(0);
    out.packet(|b| put_err(b, error, Capabilities::NONE));
    let _ = wire.flush(&mut out);
}

/// A client that has received its greeting.
pub(super) struct Greeted {
    server: Arc<Server>,
    handle: Arc<SessionHandle>,
    pub(super) wire: Wire,
    peer: Peer,
    scramble: [u8; SCRAMBLE],
    registration: Registration,
}

/// Accepts a client and sends the greeting; `None` if the client was refused or left. Does not wait
/// for the client.
pub(super) fn greet_client(
    server: &Arc<Server>,
    transport: Box<dyn Transport>,
    peer: &Peer,
    door: Door,
) -> Option<Greeted> {
    let id = server.sessions.next_id();
    let counters = &server.sessions.ended;
    counters.bump(counter().connections);
    let mut wire = Wire::new(transport, MAX_LOGIN_PACKET);
    if server.sessions.count_by(door) > server.most_connections(door) {
        counters.bump(counter().connection_errors_max_connections);
        refuse(&mut wire, &SqlError::new(&ER_CON_COUNT_ERROR, &[]));
        return None;
    }
    if !knows_host(server, peer) {
        counters.bump(counter().aborted_connects);
        refuse(&mut wire, &SqlError::new(&ER_HOST_NOT_PRIVILEGED, &[&peer.name()]));
        return None;
    }
    let handle = Arc::new(SessionHandle::new(id, peer.with_port(), wire.closer(), door));
    server.sessions.add(Arc::clone(&handle));
    let registration = Registration { server: Arc::clone(server), id };
    server.note_connections(server.sessions.count());
    let timeout = connect_timeout(server);
    wire.set_timeouts(timeout, timeout);
    let mut exchange = Exchange::new(&mut wire, 0, timeout);
    let scramble = exchange.scramble;
    if greet(&mut exchange, server, id).is_err() {
        note_left(server);
        return None;
    }
    let (server, peer) = (Arc::clone(server), peer.clone());
    Some(Greeted { server, handle, wire, peer, scramble, registration })
}

/// Time a client has for its login.
pub(crate) fn connect_timeout(server: &Server) -> Duration {
    Duration::from_secs(server.globals.get(ids().connect_timeout).as_u64())
}

/// Counts a client that left before it had logged in.
pub(super) fn note_left(server: &Server) {
    server.sessions.ended.bump(counter().aborted_connects);
    server.sessions.ended.bump(counter().aborted_connects_preauth);
}

impl Greeted {
    /// Number of the connection.
    pub(super) fn id(&self) -> u64 {
        self.handle.id
    }

    /// The server.
    pub(super) fn server(&self) -> &Server {
        &self.server
    }

    /// Runs the rest of the login; `None` if the client was refused or left.
    pub(super) fn log_in<B: SessionFactory>(
        self,
        backend: &B,
    ) -> Option<(Session<B::Session>, Registration)> {
        let (mut this, opening) = self.open();
        this.finish(opening).map(|(who, login, agreed)| this.begin(backend, who, login, agreed))
    }

    /// Receives the login packet, after a switch to TLS if the client requests it.
    fn open(mut self) -> (Self, Result<Vec<u8>, Option<SqlError>>) {
        // The greeting had number 0.
        self.wire.set_sequence(1);
        let packet = self.receive();
        // Compat: if TLS is not offered, the flag that requests it is ignored.
        match (&packet, self.server.tls.current()) {
            (Ok(bytes), Some(offer)) if SslRequest::decode(bytes).is_some() => self.encrypt(&offer),
            _ => (self, packet),
        }
    }

    /// The client's next packet. In the pool it has mostly arrived: no other thread has to be woken
    /// for a wait.
    fn receive(&mut self) -> Result<Vec<u8>, Option<SqlError>> {
        let mut packet = Vec::new();
        if self.wire.packet_now(&mut packet).map_err(|e| login_error(&e))? {
            return Ok(packet);
        }
        let timeout = connect_timeout(&self.server);
        self.wire.read_packet(timeout).map_err(|e| login_error(&e))
    }

    /// Switches to TLS and receives the login packet that follows.
    fn encrypt(mut self, offer: &Arc<Offer>) -> (Self, Result<Vec<u8>, Option<SqlError>>) {
        match self.wire.shake_hands(offer, connect_timeout(&self.server)) {
            Ok(secured) => self.wire = self.wire.encrypted(secured),
            Err(HandshakeError::Gone) => return (self, Err(None)),
            Err(HandshakeError::Refused(error)) => {
                self.note_refused(&error.to_string());
                return (self, Err(Some(handshake_error())));
            }
        }
        let packet = self.receive();
        (self, packet)
    }

    fn note_refused(&self, cause: &str) {
        if self.server.globals.get(ids().log_warnings).as_u64() > 1 {
            let (connection, host) = (self.handle.id, self.peer.name());
            tracing::warn!(connection, "No TLS with a client from '{host}': {cause}");
        }
    }

    /// The authenticated client, its login packet, and the agreed parameters.
    fn finish(
        &mut self,
        opening: Result<Vec<u8>, Option<SqlError>>,
    ) -> Option<(LoggedIn, Login, Agreed)> {
        let server = &self.server;
        let timeout = connect_timeout(server);
        let mut exchange = Exchange::greeted(&mut self.wire, timeout, self.scramble);
        let result = opening
            .and_then(|packet| handshake(server, &self.handle, &mut exchange, &self.peer, &packet));
        let agreed = Agreed { caps: exchange.caps, sequence: exchange.out.sequence() };
        match result {
            Ok((who, login)) => Some((who, login, agreed)),
            Err(Some(error)) => {
                count_refused(server, &error);
                exchange.refuse(&error);
                None
            }
            Err(None) => {
                note_left(server);
                None
            }
        }
    }

    fn begin<B: SessionFactory>(
        self,
        backend: &B,
        (who, place): LoggedIn,
        login: Login,
        agreed: Agreed,
    ) -> (Session<B::Session>, Registration) {
        let _charged = selkie_meter::attach(self.handle.kill.account());
        let server = &self.server;
        self.handle.set_user(&who.identity.user);
        if let Some(recorder) = self.handle.recorder() {
            let owner = (who.identity.user.clone(), who.identity.host.clone());
            recorder.joined(owner, connection_type(&self.wire, &self.peer));
            recorder.told(&login.attributes);
        }
        let (expired, limit) = (who.expired, who.account.limits.user_connections);
        let unrestricted = server.globals.get(ids().skip_grant_tables).as_bool();
        let access = AccessControl::new(Arc::clone(&server.accounts), who.identity, unrestricted);
        let shared = Shared::new(Arc::clone(server), self.handle, access, agreed.caps)
            .over(self.wire.tls().cloned());
        shared.set_expired(expired);
        let out = Output::new(agreed.sequence);
        let wire = match agreed.caps.has(Capabilities::COMPRESS) {
            true => self.wire.compressible(),
            false => self.wire,
        };
        let shared = Arc::new(shared);
        let backend = backend.open(&shared);
        let mut session = Session::new(shared, backend, wire, out, self.peer);
        session.place = place;
        if limit != 0 {
            session.shared.set_var(ids().max_user_connections, VarValue::Int(limit));
        }
        session.set_client_collation(login.collation);
        session.begin(login.database.map(|d| String::from_utf8_lossy(&d).into_owned()));
        (session, self.registration)
    }
}

/// CONNECTION_TYPE in `performance_schema`.
fn connection_type(wire: &Wire, peer: &Peer) -> &'static str {
    match () {
        () if wire.tls().is_some() => "SSL/TLS",
        () if peer.port == 0 => "Socket",
        () => "TCP/IP",
    }
}

/// An authenticated client, and its place among the connections of its account.
type LoggedIn = (Authenticated, Option<Place>);

/// Parameters that client and server have agreed on at the end of the login.
struct Agreed {
    caps: Capabilities,
    /// Number of the next packet.
    sequence: u8,
}

/// Counts a refused client. Compat: it counts as one that left if its bytes were not a login.
fn count_refused(server: &Server, error: &SqlError) {
    match error.is(&ER_HANDSHAKE_ERROR) || error.is(&ER_NET_PACKETS_OUT_OF_ORDER) {
        true => note_left(server),
        false => server.sessions.ended.bump(counter().aborted_connects),
    }
}

fn knows_host(server: &Server, peer: &Peer) -> bool {
    server.globals.get(ids().skip_grant_tables).as_bool()
        || server.accounts.current().knows_host(&peer.host, &peer.ip)
}

/// Authenticates the client. The error is for the client; `None` if the client has gone.
fn handshake(
    server: &Arc<Server>,
    handle: &SessionHandle,
    exchange: &mut Exchange<'_>,
    peer: &Peer,
    packet: &[u8],
) -> Result<(LoggedIn, Login), Option<SqlError>> {
    let login = Login::decode(packet).map_err(|_| Some(handshake_error()))?;
    exchange.caps = login.capabilities & CAPABILITIES.with(Capabilities::CLIENT_MYSQL);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let claim = Claim {
        user: text(unquoted(&login.user)),
        answer: login.auth.clone(),
        plugin: login.plugin.as_deref().map(text),
    };
    handle.set_user(&claim.user);
    let user = claim.user.clone();
    let who = authenticate(server, exchange, peer, claim)
        .inspect_err(|e| note_denied(server, handle.id, (&user, peer.name()), e))
        .map_err(Some)?;
    let place = check_limits(server, &who, handle.door).map_err(Some)?;
    check_expired(server, &who, exchange.caps).map_err(Some)?;
    Ok(((who, place), login))
}

/// Name of a user. Compat: apostrophes around it are no part of it.
fn unquoted(name: &[u8]) -> &[u8] {
    name.strip_prefix(b"'").and_then(|name| name.strip_suffix(b"'")).unwrap_or(name)
}

/// Counts and logs a refused login.
pub(super) fn note_denied(
    server: &Server,
    connection: u64,
    (user, client): (&str, &str),
    error: &SqlError,
) {
    if error.is(&ER_ACCESS_DENIED_ERROR) || error.is(&ER_ACCESS_DENIED_NO_PASSWORD_ERROR) {
        server.sessions.ended.bump(counter().access_denied_errors);
        server.sessions.users.note_denied(user, client);
        if server.globals.get(ids().log_warnings).as_u64() > 1 {
            tracing::warn!(connection, "{}", error.message());
        }
    }
}

fn login_error(e: &ReadError) -> Option<SqlError> {
    match e {
        ReadError::Frame(FrameError::OutOfOrder) => {
            Some(SqlError::new(&ER_NET_PACKETS_OUT_OF_ORDER, &[]))
        }
        ReadError::Frame(FrameError::TooLarge) => {
            Some(SqlError::new(&ER_NET_PACKET_TOO_LARGE, &[]))
        }
        _ => None,
    }
}

impl<S: BackendSession> Session<S> {
    /// Starts the session after authentication: default database, `init_connect`, then OK or the
    /// error that ends it.
    fn begin(&mut self, schema: Option<String>) {
        timeouts::begin_session(&self.shared);
        self.log_connect(schema.as_deref());
        let entered = schema.map_or(Ok(()), |s| self.backend.use_schema(&s));
        let result: SqlResult<()> = entered.and_then(|()| self.init_connect());
        let changes = self.shared.take_changes();
        match result {
            Ok(()) => {
                let caps = self.shared.capabilities();
                let status = self.status().flags;
                let ok = OkPacket { status, changes: changes.bytes(), ..OkPacket::default() };
                self.out.packet(|b| put_ok(b, &ok, caps, false));
                self.watch_login();
            }
            Err(error) => {
                self.shared.server.sessions.ended.bump(counter().aborted_connects);
                if error.is(&ER_DBACCESS_DENIED_ERROR) {
                    let user = self.shared.handle.user();
                    self.shared.server.sessions.users.note_denied(&user, self.peer.name());
                }
                let caps = self.shared.capabilities();
                self.out.packet(|b| put_err(b, &error, caps));
                self.ended = true;
            }
        }
        let _ = self.wire.flush(&mut self.out);
        if self.shared.capabilities().has(Capabilities::COMPRESS) {
            self.wire.compress();
        }
    }

    fn log_connect(&self, schema: Option<&str>) {
        let who = self.shared.access.lock().identity().clone();
        let socket = self.shared.handle.host == who.host;
        let way = match self.wire.tls() {
            Some(_) => "SSL/TLS",
            None if socket => "Socket",
            None => "TCP/IP",
        };
        let schema = schema.unwrap_or_default();
        let text = format!("{}@{} on {schema} using {way}", who.user, who.host);
        log_general(&self.shared, "Connect", text.as_bytes());
    }

    /// Runs `init_connect`, except for accounts that may administer connections.
    fn init_connect(&mut self) -> SqlResult<()> {
        let text = self.shared.server.globals.get(ids().init_connect);
        let exempt = Privileges::CONNECTION_ADMIN | Privileges::SUPER;
        if text.as_str().is_empty() || self.shared.access.lock().has_global(exempt) {
            return Ok(());
        }
        self.run_silently(text.as_str())
    }
}

/// Serves commands until the session ends.
fn run<S: BackendSession>(session: &mut Session<S>) {
    while !session.ended && !session.shared.server.is_stopping() {
        session.rest();
        match session.wire.read_packet(session.patience.idle) {
            Ok(packet) => session.command(&packet),
            Err(error) => return session.lost(&error),
        }
        if session.wants_dump() {
            return session.run_dump();
        }
        if !session.wait_for_replica() {
            return;
        }
        session.send();
    }
}

impl<S: BackendSession> Session<S> {
    /// Prepares for the next command: updates the process list and takes over changed timeouts.
    pub(super) fn rest(&mut self) {
        self.shared.handle.sleep();
        self.apply_timeouts();
        self.wire.begin_command();
    }

    /// Runs a command. Its answer stays in the output buffer.
    pub(super) fn command(&mut self, packet: &[u8]) {
        let _charged = selkie_meter::attach(self.shared.handle.kill.account());
        self.out.set_sequence(self.wire.sequence());
        self.watch_command();
        let next = self.on_command(packet);
        self.watch_end();
        let is_killed = self.is_killed();
        if is_killed {
            self.count_abort();
        }
        self.ended = next == Next::Close || is_killed;
    }

    /// Sends the answer; waits as long as the client needs to read it.
    pub(super) fn send(&mut self) {
        let written = self.wire.flush(&mut self.out);
        self.sent(written.is_ok());
    }

    /// Follows an answer: `written` is whether it could be sent.
    pub(super) fn sent(&mut self, written: bool) {
        self.count_bytes();
        self.watch_progress();
        if !written {
            if !self.is_killed() {
                self.abort("Got an error writing communication packets");
            }
            self.ended = true;
        }
        self.shared.handle.kill.statement_is_over();
    }
}

impl<S: BackendSession> Session<S> {
    /// Ends the session after a failed read; tells the client why.
    pub(super) fn lost(&mut self, error: &ReadError) {
        if self.shared.server.is_stopping() {
            return;
        }
        if self.is_killed() {
            self.count_abort();
            return self.tell(&SqlError::new(&ER_CONNECTION_KILLED, &[]), 1);
        }
        match error {
            ReadError::Closed => self.abort_quietly(),
            ReadError::Timeout { .. } => {
                self.abort("Got timeout reading communication packets");
            }
            ReadError::Io(_) => self.abort("Got an error reading communication packets"),
            ReadError::Frame(FrameError::OutOfOrder) => {
                // Compat: the answer to a packet with a wrong number has number 0.
                self.tell(&SqlError::new(&ER_NET_PACKETS_OUT_OF_ORDER, &[]), 0);
                self.abort("Got packets out of order");
            }
            ReadError::Frame(FrameError::Damaged) => {
                let sequence = self.wire.sequence();
                self.tell(&SqlError::new(&ER_NET_UNCOMPRESS_ERROR, &[]), sequence);
                self.abort("Got an error reading communication packets");
            }
            ReadError::Frame(FrameError::TooLarge) => {
                let sequence = self.wire.sequence();
                self.tell(&SqlError::new(&ER_NET_PACKET_TOO_LARGE, &[]), sequence);
                self.abort("Got a packet bigger than 'max_allowed_packet' bytes");
            }
        }
    }

    fn tell(&mut self, error: &SqlError, sequence: u8) {
        let caps = self.shared.capabilities();
        self.out.set_sequence(sequence);
        self.out.packet(|b| put_err(b, error, caps));
        let _ = self.wire.flush(&mut self.out);
    }

    fn abort_quietly(&mut self) {
        self.abort("This connection closed normally without QUIT");
    }

    fn is_killed(&self) -> bool {
        self.shared.handle.kill.get() == Killed::Connection
    }

    fn count_abort(&self) {
        self.shared.server.sessions.ended.bump(counter().aborted_clients);
        self.watched.note_lost();
    }

    /// Counts and logs a client that left without COM_QUIT.
    fn abort(&mut self, reason: &str) {
        self.count_abort();
        if self.shared.server.globals.get(ids().log_warnings).as_u64() < 2 {
            return;
        }
        let handle = &self.shared.handle;
        let schema = handle.schema().unwrap_or_else(|| "unconnected".to_owned());
        let host = self.peer.name();
        tracing::warn!(
            connection = handle.id,
            "Aborted connection {} to db: '{schema}' user: '{}' host: '{host}' ({reason})",
            handle.id,
            handle.user(),
        );
    }
}
