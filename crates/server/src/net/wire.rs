//! Packets over a transport.
//!
//! Must not interpret packets beyond their framing.

use std::io;
use std::time::{Duration, Instant};

use selkie_protocol::{FrameError, FrameReader, Output};

use super::transport::{Closer, Transport};

/// Bytes asked for when nothing is known about what arrives.
const CHUNK: usize = 4096;

/// Why no packet could be read.
#[derive(Debug)]
pub enum ReadError {
    /// The client has gone.
    Closed,
    /// Nothing arrived in time; `idle` when not even the beginning of a packet.
    Timeout {
        /// Whether the client was between packets.
        idle: bool,
    },
    /// The stream is broken.
    Io(io::Error),
    /// The bytes are not packets, or too large a one.
    Frame(FrameError),
}

/// Packets from and to one client.
pub struct Wire {
    transport: Box<dyn Transport>,
    reader: FrameReader,
    received: u64,
    sent: u64,
    read_timeout: Duration,
}

impl std::fmt::Debug for Wire {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wire").field("reader", &self.reader).finish_non_exhaustive()
    }
}

impl Wire {
    /// Packets of at most `max_packet` bytes over `transport`.
    pub fn new(transport: Box<dyn Transport>, max_packet: usize) -> Self {
        let read_timeout = Duration::from_secs(30);
        Self { transport, reader: FrameReader::new(max_packet), received: 0, sent: 0, read_timeout }
    }

    /// How long the rest of a packet, and the client's reading, may take.
    pub fn set_timeouts(&mut self, read: Duration, write: Duration) -> io::Result<()> {
        self.read_timeout = read;
        self.transport.set_write_timeout(write)
    }

    /// Changes the size limit.
    pub fn set_max_packet(&mut self, max_packet: usize) {
        self.reader.set_max_packet(max_packet);
    }

    /// Whether nobody can listen in.
    pub fn is_secure(&self) -> bool {
        self.transport.is_secure()
    }

    /// A way to end the connection from another thread.
    pub fn closer(&self) -> io::Result<Closer> {
        self.transport.closer()
    }

    /// Begins a new exchange: the next packet must carry number 0.
    pub fn begin_command(&mut self) {
        self.reader.set_sequence(0);
        self.reader.shrink();
    }

    /// The sequence number of the answer.
    pub fn sequence(&self) -> u8 {
        self.reader.sequence()
    }

    /// Says that the answer went on to this sequence number.
    pub fn set_sequence(&mut self, sequence: u8) {
        self.reader.set_sequence(sequence);
    }

    /// Bytes received and sent since the last call.
    pub fn take_counts(&mut self) -> (u64, u64) {
        (std::mem::take(&mut self.received), std::mem::take(&mut self.sent))
    }

    /// Waits up to `idle` for a packet to begin, then the net timeout for each of its pieces.
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
            self.transport.set_read_timeout(patience).map_err(ReadError::Io)?;
            let wanted = self.reader.wanted().max(CHUNK);
            match self.transport.read(self.reader.space(wanted.min(1 << 20))) {
                Ok(0) => return Err(ReadError::Closed),
                Ok(n) => {
                    self.reader.filled(n);
                    self.received += n as u64;
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted && begun.elapsed() < idle => {}
                Err(e) if is_timeout(&e) => return Err(ReadError::Timeout { idle: is_idle }),
                Err(e) if is_gone(&e) => return Err(ReadError::Closed),
                Err(e) => return Err(ReadError::Io(e)),
            }
        }
    }

    /// Writes everything that waits in `out`.
    pub fn flush(&mut self, out: &mut Output) -> io::Result<()> {
        if out.is_empty() {
            return Ok(());
        }
        let result = self.transport.write_all(out.bytes());
        self.sent += out.len() as u64;
        out.clear();
        result
    }
}

fn is_timeout(e: &io::Error) -> bool {
    matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

fn is_gone(e: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    matches!(e.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof)
}
