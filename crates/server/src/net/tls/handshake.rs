//! The TLS handshake. It waits for the client, and takes a millisecond of CPU.
//!
//! Must run on the threads of logins, not on those that accept connections.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::ServerConnection;
use selkie_engine::{WaitKind, blocking};

use super::super::transport::Transport;
use super::negotiated::Negotiated;
use super::offer::Offer;

/// Bytes of one read.
const CHUNK: usize = 4096;
/// Maximum ciphertext of one connection that waits to be sent. The last record may exceed it.
const WAITING: usize = 32 << 10;

/// Reason of a failed handshake.
#[derive(Debug)]
pub(crate) enum HandshakeError {
    /// The client closed the connection, or was too slow.
    Gone,
    /// The client's bytes are not a handshake, or offer nothing the server accepts.
    Refused(rustls::Error),
}

/// Result of a handshake.
pub(crate) struct Secured {
    pub(super) tls: ServerConnection,
    pub(super) facts: Arc<Negotiated>,
    /// Ciphertext that arrived after the handshake.
    pub(super) arrived: Vec<u8>,
}

/// Runs the handshake over `inner` for at most `patience`. `arrived` are bytes read from it before.
pub(in super::super) fn shake_hands(
    inner: &mut dyn Transport,
    offer: &Arc<Offer>,
    mut arrived: Vec<u8>,
    patience: Duration,
) -> Result<Secured, HandshakeError> {
    offer.count_begun();
    let deadline = Instant::now() + patience;
    let config = Arc::clone(&offer.config);
    let mut tls = ServerConnection::new(config).map_err(HandshakeError::Refused)?;
    tls.set_buffer_limit(Some(WAITING));
    loop {
        let mut rest = &arrived[..];
        let taken = take(&mut tls, &mut rest);
        let rest = rest.to_vec();
        if let Err(error) = taken {
            tell(&mut tls, inner, &error);
            return Err(HandshakeError::Refused(error));
        }
        send(&mut tls, inner).map_err(|_| HandshakeError::Gone)?;
        if !tls.is_handshaking() {
            return finish(tls, offer, rest);
        }
        arrived = receive(inner, deadline)?;
    }
}

fn finish(
    tls: ServerConnection,
    offer: &Arc<Offer>,
    arrived: Vec<u8>,
) -> Result<Secured, HandshakeError> {
    let facts = Negotiated::of(&tls, offer)
        .ok_or(HandshakeError::Refused(rustls::CertificateError::BadEncoding.into()))?;
    offer.count_finished(facts.resumed);
    Ok(Secured { tls, facts: Arc::new(facts), arrived })
}

/// Passes the client's bytes to TLS until the handshake is complete.
fn take(tls: &mut ServerConnection, rest: &mut &[u8]) -> Result<(), rustls::Error> {
    while !rest.is_empty() && tls.is_handshaking() {
        // A read from memory fails only if a message is too long for its buffer.
        let read = tls.read_tls(rest);
        tls.process_new_packets()?;
        if !matches!(read, Ok(1..)) {
            return Err(rustls::Error::General("a message too long".to_owned()));
        }
    }
    Ok(())
}

fn receive(inner: &mut dyn Transport, deadline: Instant) -> Result<Vec<u8>, HandshakeError> {
    let mut bytes = vec![0; CHUNK];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || inner.set_read_timeout(left).is_err() {
            return Err(HandshakeError::Gone);
        }
        match blocking(WaitKind::Network, || inner.read(&mut bytes)) {
            Ok(n @ 1..) => {
                bytes.truncate(n);
                return Ok(bytes);
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Ok(0) | Err(_) => return Err(HandshakeError::Gone),
        }
    }
}

fn send(tls: &mut ServerConnection, inner: &mut dyn Transport) -> io::Result<()> {
    while tls.wants_write() {
        tls.write_tls(&mut Patient(inner))?;
    }
    Ok(())
}

/// Sends the alert about an error. If the bytes were not TLS, the client would not understand an
/// alert, so nothing is sent.
fn tell(tls: &mut ServerConnection, inner: &mut dyn Transport, error: &rustls::Error) {
    if !matches!(error, rustls::Error::InvalidMessage(_)) {
        // The client may have gone.
        let _ = send(tls, inner);
    }
}

/// A writer to a transport that waits until all is written.
struct Patient<'a>(&'a mut dyn Transport);

impl Write for Patient<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        blocking(WaitKind::Network, || self.0.write_all(bytes)).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
