//! The greeting, and the exchange of packets before a session exists.
//!
//! Must not check credentials.

use std::io;
use std::time::Duration;

use selkie_protocol::greeting::SCRAMBLE;
use selkie_protocol::packet::put_err;
use selkie_protocol::{Capabilities, Greeting, Output, Status};
use selkie_types::error::catalogue::*;
use selkie_types::{CollationId, SqlError};

use crate::net::{ReadError, Wire};
use crate::server::Server;
use crate::variables::ids;

/// Capabilities of this server: MariaDB 10.11's without TLS, which needs to be set up.
pub(crate) const CAPABILITIES: Capabilities = Capabilities(0x81ff_f7fe | 0x1d << 32);

/// Compat: MariaDB 10.11 sends this before its version, for replicas that check the first digit.
const VERSION_PREFIX: &str = "5.5.5-";

/// Exchange of packets before and during authentication.
#[derive(Debug)]
pub(crate) struct Exchange<'a> {
    pub(crate) wire: &'a mut Wire,
    pub(crate) out: Output,
    pub(crate) caps: Capabilities,
    pub(crate) timeout: Duration,
    pub(crate) scramble: [u8; SCRAMBLE],
}

impl<'a> Exchange<'a> {
    /// An exchange whose next packet has the number `sequence`.
    pub(crate) fn new(wire: &'a mut Wire, sequence: u8, timeout: Duration) -> Self {
        let (out, caps) = (Output::new(sequence), Capabilities::NONE);
        Self { wire, out, caps, timeout, scramble: new_scramble() }
    }

    /// The exchange after the greeting, which carried `scramble`, and the client's first packets.
    pub(crate) fn greeted(wire: &'a mut Wire, timeout: Duration, scramble: [u8; SCRAMBLE]) -> Self {
        let out = Output::new(wire.sequence());
        // From here on errors have an SQLSTATE, although the client's capabilities are not known
        // yet.
        Self { wire, out, caps: Capabilities::PROTOCOL_41, timeout, scramble }
    }

    /// Writes one packet at once.
    pub(crate) fn send(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        self.out.packet(write);
        self.wire.flush(&mut self.out)
    }

    /// The client's next packet.
    pub(crate) fn receive(&mut self) -> Result<Vec<u8>, ReadError> {
        self.wire.set_sequence(self.out.sequence());
        let packet = self.wire.read_packet(self.timeout)?;
        self.out.set_sequence(self.wire.sequence());
        Ok(packet)
    }

    /// Sends the error to the client.
    pub(crate) fn refuse(&mut self, error: &SqlError) {
        let caps = self.caps;
        // The client may have gone; nobody else needs the error.
        let _ = self.send(|b| put_err(b, error, caps));
    }
}

/// A challenge of printable characters: some clients treat it as a string that ends at NUL.
pub(crate) fn new_scramble() -> [u8; SCRAMBLE] {
    let mut bytes = [0u8; SCRAMBLE];
    if getrandom::fill(&mut bytes).is_err() {
        // Without random numbers an old answer could be replayed: refuse to run.
        tracing::error!("the operating system returned no random bytes");
        std::process::abort();
    }
    // 93 printable characters, without '$', which separates parts of stored hashes.
    bytes.map(|b| match 33 + b % 93 {
        b'$' => b'~',
        c => c,
    })
}

/// Sends the greeting.
pub(crate) fn greet(
    exchange: &mut Exchange<'_>,
    server: &Server,
    connection_id: u64,
) -> io::Result<()> {
    let collation = CollationId::from_name(server.globals.get(ids().collation_server).as_str());
    let version = server.globals.get(ids().version);
    let mut status = Status::NONE;
    status.set(Status::AUTOCOMMIT, server.globals.get(ids().autocommit).as_bool());
    let offered = if server.tls.is_on() { Capabilities::SSL } else { Capabilities::NONE };
    let greeting = Greeting {
        version: format!("{VERSION_PREFIX}{}", version.as_str()),
        connection_id,
        scramble: exchange.scramble,
        capabilities: CAPABILITIES | offered,
        collation: collation.map_or(45, |c| c.0 as u8),
        status,
        plugin: selkie_protocol::auth::native::NAME.to_owned(),
    };
    exchange.send(|b| greeting.encode(b))
}

/// The error for a stream whose bytes are not a login.
pub(crate) fn handshake_error() -> SqlError {
    SqlError::new(&ER_HANDSHAKE_ERROR, &[])
}
