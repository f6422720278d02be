//! A stream that is encrypted on its way over another.
//!
//! Must not read its socket before all that was read is handed out: pollers are asked about the
//! socket only. Must not say that bytes are written before their ciphertext has left.

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

/// Bytes read from the socket at once: somewhat more than a record.
const CHUNK: usize = 20 << 10;

thread_local!(static ARRIVED: KeptSlot<Vec<u8>> = const { Cell::new(None) });

/// A TLS connection after its handshake.
pub(in super::super) struct TlsStream {
    inner: Box<dyn Transport>,
    tls: ServerConnection,
    facts: Arc<Negotiated>,
    /// Ciphertext that was read and for whose content there was no room.
    arrived: Vec<u8>,
    /// Bytes that were encrypted and not said to be written, since not all of their ciphertext has
    /// left. The caller comes again with them in front.
    owed: usize,
    /// Whether the client has said that nothing more comes from it.
    closed: bool,
    /// Whether nothing can be sent any more: a record may have left in part.
    broken: bool,
}

impl TlsStream {
    /// The stream over `inner` after a handshake.
    pub(in super::super) fn new(inner: Box<dyn Transport>, secured: Secured) -> Self {
        let Secured { tls, facts, arrived } = secured;
        Self { inner, tls, facts, arrived, owed: 0, closed: false, broken: false }
    }

    /// Reads what there is, waiting for the first byte only if `patient`.
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
                // The next read finds the end, or what is wrong, again.
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

    /// Puts the content of `bytes`, behind what was decrypted before, into `buf` and keeps what
    /// finds no room.
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
                // The client has closed its side; what comes behind is nothing.
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

    /// The client broke the rules of TLS: tells it so, as far as that goes at once.
    fn broken_by(&mut self, error: rustls::Error) -> io::Error {
        self.send_own();
        self.broken = true;
        io::Error::new(io::ErrorKind::InvalidData, error)
    }

    /// Sends what TLS itself has to say, as far as that goes at once; the rest leaves with the next
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

    /// Writes `bytes`, waiting for the client if `patient`; how many have left altogether.
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

    fn closer(&self) -> io::Result<Closer> {
        self.inner.closer()
    }
}

impl Drop for TlsStream {
    /// Tells the client that nothing comes any more, if that goes at once.
    fn drop(&mut self) {
        self.tls.send_close_notify();
        self.send_own();
    }
}

/// The transport below, as TLS writes to it.
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
