//! A TLS stream over another stream.
//!
//! Must not read its socket before all decrypted bytes are taken: pollers watch only the socket.
//! Must not report bytes as written before their ciphertext has been sent.

use std::cell::Cell;
use std::io::{self, Read, Write};
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::Duration;

use rustls::ServerConnection;
use selkie_engine::{Kept, KeptSlot};

use super::super::transport::{Closer, Transport};
use super::handshake::Secured;
use super::negotiated::Negotiated;

/// Bytes of one read from the socket: more than one record.
const CHUNK: usize = 20 << 10;

thread_local!(static ARRIVED: KeptSlot<Vec<u8>> = const { Cell::new(None) });

/// A TLS connection after its handshake.
pub(in super::super) struct TlsStream {
    inner: Box<dyn Transport>,
    tls: ServerConnection,
    facts: Arc<Negotiated>,
    /// Ciphertext that was read but not decrypted, because there was no room for its content.
    arrived: Vec<u8>,
    /// Bytes that are encrypted but not reported as written, because some of their ciphertext is
    /// not sent yet. The caller passes them again, in front of new bytes.
    owed: usize,
    /// Whether the client has announced that it sends nothing more.
    closed: bool,
    /// Whether nothing can be sent any more, because a record may have been sent in part.
    broken: bool,
}

impl TlsStream {
    /// The stream over `inner` after a handshake.
    pub(in super::super) fn new(inner: Box<dyn Transport>, secured: Secured) -> Self {
        let Secured { tls, facts, arrived } = secured;
        Self { inner, tls, facts, arrived, owed: 0, closed: false, broken: false }
    }

    /// Reads the bytes that have arrived; waits for the first byte only if `patient`.
    fn read_some(&mut self, buf: &mut [u8], patient: bool) -> io::Result<usize> {
        let earlier = std::mem::take(&mut self.arrived);
        let mut filled = self.decrypt(&earlier, buf)?;
        let mut chunk = Kept::take(&ARRIVED);
        while filled < buf.len() && !self.closed {
            chunk.resize(CHUNK, 0);
            let received = match patient && filled == 0 {
                true => self.inner.read(&mut chunk),
                false => self.inner.read_now(&mut chunk),
            };
            let length = match received {
                Ok(length @ 1..) => length,
                // The next read returns the end or the error again.
                _ if filled > 0 => break,
                ended => return ended,
            };
            filled += self.decrypt(&chunk[..length], &mut buf[filled..])?;
            if length < CHUNK && !self.closed && !(patient && filled == 0) {
                return if filled > 0 { Ok(filled) } else { Err(io::ErrorKind::WouldBlock.into()) };
            }
        }
        Ok(filled)
    }

    /// Decrypts `bytes`, which follow the ciphertext before, into `buf`. Keeps the ciphertext for
    /// which there is no room.
    fn decrypt(&mut self, mut bytes: &[u8], buf: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        loop {
            filled += self.take_plain(&mut buf[filled..])?;
            if filled == buf.len() || bytes.is_empty() {
                break;
            }
            let read = self.tls.read_tls(&mut bytes)?;
            let state = self.tls.process_new_packets().map_err(|error| self.broken_by(error))?;
            self.closed = state.peer_has_closed();
            if read == 0 {
                // The client has closed its side: later bytes are ignored.
                bytes = &[];
            }
        }
        self.arrived.extend_from_slice(bytes);
        self.send_own();
        Ok(filled)
    }

    fn take_plain(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self.tls.reader().read(buf) {
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => Ok(0),
            result => result,
        }
    }

    /// Handles a violation of TLS by the client: sends the alert, as far as possible without
    /// waiting.
    fn broken_by(&mut self, error: rustls::Error) -> io::Error {
        self.send_own();
        self.broken = true;
        io::Error::new(io::ErrorKind::InvalidData, error)
    }

    /// Sends TLS's own messages as far as possible without waiting. The rest leaves with the next
    /// answer.
    fn send_own(&mut self) {
        while self.tls.wants_write() && !self.broken {
            if self.send_ciphertext(false).is_err() {
                break;
            }
        }
    }

    /// Sends ciphertext once.
    fn send_ciphertext(&mut self, patient: bool) -> io::Result<()> {
        let mut socket = Socket { inner: &mut *self.inner, patient };
        match self.tls.write_tls(&mut socket) {
            Ok(_) => Ok(()),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => Ok(()),
            Err(e) => {
                self.broken |= patient || e.kind() != io::ErrorKind::WouldBlock;
                Err(e)
            }
        }
    }

    /// Writes `bytes`; waits for the client if `patient`. Returns the number of bytes that are
    /// sent.
    fn write_some(&mut self, bytes: &[u8], patient: bool) -> io::Result<usize> {
        if self.broken {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        debug_assert!(self.owed <= bytes.len(), "the same bytes come again");
        let mut written = 0;
        loop {
            while self.tls.wants_write() {
                match self.send_ciphertext(patient) {
                    Err(e) if e.kind() == io::ErrorKind::WouldBlock && written > 0 => {
                        return Ok(written);
                    }
                    sent => sent?,
                }
            }
            written += std::mem::take(&mut self.owed);
            if written >= bytes.len() {
                return Ok(bytes.len());
            }
            self.owed = self.tls.writer().write(&bytes[written..])?;
        }
    }
}

impl Transport for TlsStream {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.read_some(buf, true)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_some(bytes, true).map(drop)
    }

    fn read_now(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.read_some(buf, false)
    }

    fn write_now(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_some(bytes, false)
    }

    fn socket(&self) -> BorrowedFd<'_> {
        self.inner.socket()
    }

    fn set_read_timeout(&mut self, timeout: Duration) -> io::Result<()> {
        self.inner.set_read_timeout(timeout)
    }

    fn set_write_timeout(&mut self, timeout: Duration) -> io::Result<()> {
        self.inner.set_write_timeout(timeout)
    }

    fn is_secure(&self) -> bool {
        true
    }

    fn tls(&self) -> Option<&Arc<Negotiated>> {
        Some(&self.facts)
    }

    fn closer(&self) -> Closer {
        self.inner.closer()
    }
}

impl Drop for TlsStream {
    /// Tells the client that nothing more comes, if that is possible without waiting.
    fn drop(&mut self) {
        self.tls.send_close_notify();
        self.send_own();
    }
}

/// The inner transport, as TLS writes to it.
struct Socket<'a> {
    inner: &'a mut dyn Transport,
    patient: bool,
}

impl Write for Socket<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.patient {
            true => self.inner.write_all(bytes).map(|()| bytes.len()),
            false => self.inner.write_now(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
