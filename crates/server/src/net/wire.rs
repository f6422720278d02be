//! Packets over a transport.
//!
//! Must not interpret packets beyond their framing.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use selkie_engine::{WaitKind, blocking};
use selkie_protocol::{FrameError, FrameReader, Output};

use super::compressed::CompressedStream;
use super::tls::{HandshakeError, Negotiated, Offer, Secured, TlsStream, shake_hands};
use super::transport::{Closer, Transport};

/// Bytes to read when the size of the next packet is unknown.
const CHUNK: usize = 4096;

/// Reason why no packet could be read.
#[derive(Debug)]
pub enum ReadError {
    /// The client has gone.
    Closed,
    /// Nothing arrived in time. `idle` if not even the start of a packet arrived.
    Timeout {
        /// Whether the client was between packets.
        idle: bool,
    },
    /// The stream is broken.
    Io(io::Error),
    /// The bytes are not packets, or the packet is too large.
    Frame(FrameError),
}

/// Packets from and to one client.
pub struct Wire {
    transport: Box<dyn Transport>,
    reader: FrameReader,
    received: u64,
    sent: u64,
    read_timeout: Duration,
    write_timeout: Duration,
    /// Timeouts last set on the socket. They are set before the first wait that needs them: most
    /// connections never wait.
    told_read: Option<Duration>,
    told_write: Option<Duration>,
    /// The last read filled its buffer: more may have arrived, and pollers do not report that
    /// again.
    full: bool,
    compressed: bool,
}

impl std::fmt::Debug for Wire {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wire").field("reader", &self.reader).finish_non_exhaustive()
    }
}

impl Wire {
    /// Packets of at most `max_packet` bytes over `transport`.
    pub fn new(transport: Box<dyn Transport>, max_packet: usize) -> Self {
        let (read_timeout, write_timeout) = (Duration::from_secs(30), Duration::from_secs(60));
        Self {
            transport,
            reader: FrameReader::new(max_packet),
            received: 0,
            sent: 0,
            read_timeout,
            write_timeout,
            told_read: None,
            told_write: None,
            full: false,
            compressed: false,
        }
    }

    /// Sets the timeouts for the rest of a packet and for writes to the client.
    pub fn set_timeouts(&mut self, read: Duration, write: Duration) {
        (self.read_timeout, self.write_timeout) = (read, write);
    }

    fn tell_write_timeout(&mut self) -> io::Result<()> {
        if self.told_write != Some(self.write_timeout) {
            self.transport.set_write_timeout(self.write_timeout)?;
            self.told_write = Some(self.write_timeout);
        }
        Ok(())
    }

    fn tell_read_timeout(&mut self, timeout: Duration) -> io::Result<()> {
        if self.told_read != Some(timeout) {
            self.transport.set_read_timeout(timeout)?;
            self.told_read = Some(timeout);
        }
        Ok(())
    }

    /// The socket.
    pub fn socket(&self) -> BorrowedFd<'_> {
        self.transport.socket()
    }

    /// Changes the size limit.
    pub fn set_max_packet(&mut self, max_packet: usize) {
        self.reader.set_max_packet(max_packet);
    }

    /// Whether nobody can read along.
    pub fn is_secure(&self) -> bool {
        self.transport.is_secure()
    }

    /// Parameters of TLS, if the connection uses it.
    pub fn tls(&self) -> Option<&Arc<Negotiated>> {
        self.transport.tls()
    }

    /// Runs the TLS handshake for at most `patience`. It starts with the bytes that have arrived
    /// and were not taken, so that none of them is ever read as a packet.
    pub(crate) fn shake_hands(
        &mut self,
        offer: &Arc<Offer>,
        patience: Duration,
    ) -> Result<Secured, HandshakeError> {
        self.tell_write_timeout().map_err(|_| HandshakeError::Gone)?;
        let arrived = self.reader.take_pending();
        self.told_read = None;
        shake_hands(&mut *self.transport, offer, arrived, patience)
    }

    /// The same connection, encrypted from here on.
    pub(crate) fn encrypted(self, secured: Secured) -> Self {
        let stream = TlsStream::new(self.transport, secured);
        // The stream may hold more bytes than the last read from the socket.
        Self { transport: Box::new(stream), full: true, ..self }
    }

    /// The same connection, for which compression can be switched on later.
    pub fn compressible(self) -> Self {
        Self { transport: Box::new(CompressedStream::new(self.transport)), ..self }
    }

    /// Switches compression on, in both directions.
    pub fn compress(&mut self) {
        let arrived = self.reader.take_pending();
        self.transport.compress(&arrived);
        self.reader.ignore_numbers();
        // The bytes that have arrived are now inside the stream.
        (self.compressed, self.full) = (true, true);
    }

    /// A handle that ends the connection from another thread.
    pub fn closer(&self) -> Closer {
        self.transport.closer()
    }

    /// Begins a new exchange: the next packet must carry number 0.
    pub fn begin_command(&mut self) {
        self.reader.set_sequence(0);
        self.reader.shrink();
        if self.compressed {
            self.transport.begin_command(self.reader.has_pending());
        }
    }

    /// The buffer it reads into, and the transport it reads from.
    pub fn memory(&self) -> (&[u8], &dyn Transport) {
        (self.reader.memory(), &*self.transport)
    }

    /// The sequence number of the answer.
    pub fn sequence(&self) -> u8 {
        self.reader.sequence()
    }

    /// Sets the sequence number after an answer.
    pub fn set_sequence(&mut self, sequence: u8) {
        self.reader.set_sequence(sequence);
    }

    /// Bytes received and sent since the last call.
    pub fn take_counts(&mut self) -> (u64, u64) {
        (std::mem::take(&mut self.received), std::mem::take(&mut self.sent))
    }

    /// Waits up to `idle` for the start of a packet, then up to the read timeout for each of its
    /// pieces.
    pub fn read_packet(&mut self, idle: Duration) -> Result<Vec<u8>, ReadError> {
        let begun = Instant::now();
        loop {
            match self.reader.next_packet() {
                Ok(Some(packet)) => return Ok(packet.to_vec()),
                Ok(None) => {}
                Err(e) => return Err(ReadError::Frame(e)),
            }
            let is_idle = !self.reader.has_pending();
            let patience = if is_idle { idle } else { self.read_timeout };
            self.tell_read_timeout(patience).map_err(ReadError::Io)?;
            let wanted = self.reader.wanted().max(CHUNK);
            let space = self.reader.space(wanted.min(1 << 20));
            let room = space.len();
            match blocking(WaitKind::Network, || self.transport.read(space)) {
                Ok(0) => return Err(ReadError::Closed),
                Ok(n) => {
                    self.reader.filled(n);
                    self.received += n as u64;
                    self.full = n == room;
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted && begun.elapsed() < idle => {}
                Err(e) if is_timeout(&e) => return Err(ReadError::Timeout { idle: is_idle }),
                Err(e) if is_gone(&e) => return Err(ReadError::Closed),
                Err(e) => return Err(what_is_wrong(e)),
            }
        }
    }

    /// Appends the next packet to the empty `out`. Returns false if no complete packet has arrived.
    pub fn packet_now(&mut self, out: &mut Vec<u8>) -> Result<bool, ReadError> {
        let mut drained = false;
        loop {
            match self.reader.next_packet() {
                Ok(Some(packet)) => {
                    out.extend_from_slice(packet);
                    return Ok(true);
                }
                Ok(None) if drained => return Ok(false),
                Ok(None) => {}
                Err(e) => return Err(ReadError::Frame(e)),
            }
            drained = self.receive_now()?;
        }
    }

    /// Whether bytes of a packet have arrived that were not taken.
    pub fn has_pending(&self) -> bool {
        self.reader.has_pending()
    }

    /// Whether there may be a packet to take although the socket has nothing new.
    pub fn may_hold_more(&self) -> bool {
        self.full || self.has_pending()
    }

    /// Reads the bytes that have arrived; returns whether there were no more.
    fn receive_now(&mut self) -> Result<bool, ReadError> {
        let wanted = self.reader.wanted().max(CHUNK);
        let space = self.reader.space(wanted.min(1 << 20));
        let room = space.len();
        let result = self.transport.read_now(space);
        self.full = matches!(result, Ok(n) if n == room);
        match result {
            Ok(0) => Err(ReadError::Closed),
            Ok(n) => {
                self.reader.filled(n);
                self.received += n as u64;
                Ok(n < room)
            }
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => Ok(true),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => Ok(false),
            Err(e) if is_gone(&e) => Err(ReadError::Closed),
            Err(e) => Err(what_is_wrong(e)),
        }
    }

    /// Writes everything in `out`.
    pub fn flush(&mut self, out: &mut Output) -> io::Result<()> {
        let written = self.write_now(out.bytes())?;
        let rest = &out.bytes()[written..];
        let result = match rest.is_empty() {
            true => Ok(()),
            false => self
                .tell_write_timeout()
                .and_then(|()| blocking(WaitKind::Network, || self.transport.write_all(rest))),
        };
        self.sent += out.len() as u64;
        out.clear();
        result
    }

    /// Writes `out` as far as possible without waiting; returns whether it is empty.
    pub fn flush_now(&mut self, out: &mut Output) -> io::Result<bool> {
        let written = self.write_now(out.bytes())?;
        self.sent += written as u64;
        out.drop_front(written);
        Ok(out.is_empty())
    }

    /// Writes as much of `bytes` as possible without waiting; returns how much that was. The caller
    /// passes the rest again before anything else.
    pub fn send_now(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.write_now(bytes)?;
        self.sent += written as u64;
        Ok(written)
    }

    fn write_now(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.is_empty() {
            return Ok(0);
        }
        match self.transport.write_now(bytes) {
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => Ok(0),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => Ok(0),
            result => result,
        }
    }
}

/// The error of a failed read: a compressed stream reports wrong frames as an I/O error.
fn what_is_wrong(e: io::Error) -> ReadError {
    match e.get_ref().and_then(|inner| inner.downcast_ref::<FrameError>()) {
        Some(error) => ReadError::Frame(*error),
        None => ReadError::Io(e),
    }
}

fn is_timeout(e: &io::Error) -> bool {
    matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

fn is_gone(e: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    matches!(e.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof)
}
