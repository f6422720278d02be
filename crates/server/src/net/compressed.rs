//! A stream of zlib-compressed frames over another stream.
//!
//! Must not read its socket before all decompressed bytes are taken: pollers watch only the socket.
//! Must not report bytes as written before their frames have been sent.

use std::cell::Cell;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::Duration;

use selkie_engine::{Kept, KeptSlot};
use selkie_protocol::compressed::{Frames, PIECE, put_frame};

use super::tls::Negotiated;
use super::transport::{Closer, Transport};

/// Bytes of one read from the socket.
const CHUNK: usize = 16 << 10;

thread_local!(static ARRIVED: KeptSlot<Vec<u8>> = const { Cell::new(None) });

/// A connection that is compressed as soon as the client has logged in.
pub(super) struct CompressedStream {
    inner: Box<dyn Transport>,
    active: bool,
    /// Number of the next frame, in either direction.
    number: u8,
    frames: Frames,
    /// The content of a frame, and the number of its bytes that were taken.
    content: Vec<u8>,
    taken: usize,
    /// Frames to send, and the number of their bytes that were sent.
    outgoing: Vec<u8>,
    left: usize,
    /// Bytes that are in frames but not reported as written, because some of the frames are not
    /// sent yet. The caller passes them again, in front of new bytes.
    owed: usize,
    /// Whether nothing can be sent any more, because a frame may have been sent in part.
    broken: bool,
}

impl CompressedStream {
    /// The stream over `inner`. It passes bytes through until [`Transport::compress`] is called.
    pub(super) fn new(inner: Box<dyn Transport>) -> Self {
        Self {
            inner,
            active: false,
            number: 0,
            frames: Frames::default(),
            content: Vec::new(),
            taken: 0,
            outgoing: Vec::new(),
            left: 0,
            owed: 0,
            broken: false,
        }
    }

    /// Reads the bytes that have arrived; waits for the first byte only if `patient`.
    fn read_some(&mut self, buf: &mut [u8], patient: bool) -> io::Result<usize> {
        let (mut filled, mut drained) = (0, false);
        let mut chunk = Kept::take(&ARRIVED);
        loop {
            filled += self.take(&mut buf[filled..])?;
            if filled == buf.len() || filled > 0 && drained {
                return Ok(filled);
            }
            if drained && !patient {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            chunk.resize(CHUNK, 0);
            let received = match patient && filled == 0 {
                true => self.inner.read(&mut chunk),
                false => self.inner.read_now(&mut chunk),
            };
            match received {
                Ok(length @ 1..) => {
                    self.frames.feed(&chunk[..length]);
                    drained = length < CHUNK;
                }
                // The next read returns the end or the error again.
                _ if filled > 0 => return Ok(filled),
                ended => return ended,
            }
        }
    }

    /// Fills `buf` with the content of complete frames.
    fn take(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buf.len() {
            if self.taken == self.content.len() && !self.open_frame()? {
                break;
            }
            let rest = &self.content[self.taken..];
            let count = rest.len().min(buf.len() - filled);
            buf[filled..filled + count].copy_from_slice(&rest[..count]);
            filled += count;
            self.taken += count;
        }
        Ok(filled)
    }

    /// Opens the next frame; false if no complete frame has arrived.
    fn open_frame(&mut self) -> io::Result<bool> {
        // A large buffer is freed: the next frame may not come for a long time.
        if self.content.capacity() > CHUNK || !self.frames.has_pending() {
            self.content = Vec::new();
        }
        self.content.clear();
        self.taken = 0;
        let expected = self.number;
        // A client that does not wait for an answer starts its next command with number 0.
        let found = self.frames.next(&mut self.content, |n| n == expected || n == 0);
        let found = found.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        if let Some(number) = found {
            self.number = number.wrapping_add(1);
        }
        Ok(found.is_some())
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
            match self.send_frames(patient) {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock && written > 0 => {
                    return Ok(written);
                }
                sent => sent?,
            }
            written += std::mem::take(&mut self.owed);
            if written >= bytes.len() {
                return Ok(bytes.len());
            }
            let rest = &bytes[written..];
            let piece = &rest[..rest.len().min(PIECE)];
            put_frame(&mut self.outgoing, piece, self.number);
            self.number = self.number.wrapping_add(1);
            self.owed = piece.len();
        }
    }

    /// Sends all pending frames.
    fn send_frames(&mut self, patient: bool) -> io::Result<()> {
        while self.left < self.outgoing.len() {
            let rest = &self.outgoing[self.left..];
            let sent = match patient {
                true => self.inner.write_all(rest).map(|()| rest.len()),
                false => self.inner.write_now(rest),
            };
            match sent {
                Ok(count) => self.left += count,
                Err(e) if e.kind() == io::ErrorKind::Interrupted && !patient => {}
                Err(e) => {
                    self.broken |= patient || e.kind() != io::ErrorKind::WouldBlock;
                    return Err(e);
                }
            }
        }
        (self.outgoing, self.left) = (Vec::new(), 0);
        Ok(())
    }
}

impl Transport for CompressedStream {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.active { self.read_some(buf, true) } else { self.inner.read(buf) }
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self.active {
            true => self.write_some(bytes, true).map(drop),
            false => self.inner.write_all(bytes),
        }
    }

    fn read_now(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.active { self.read_some(buf, false) } else { self.inner.read_now(buf) }
    }

    fn write_now(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.active { self.write_some(bytes, false) } else { self.inner.write_now(bytes) }
    }

    fn compress(&mut self, arrived: &[u8]) {
        self.active = true;
        self.frames.feed(arrived);
    }

    fn begin_command(&mut self, begun: bool) {
        self.number = begun.into();
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
        self.inner.is_secure()
    }

    fn tls(&self) -> Option<&Arc<Negotiated>> {
        self.inner.tls()
    }

    fn closer(&self) -> Closer {
        self.inner.closer()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;

    use rustix::event::PollFlags;

    use super::super::testing::{noise, read_as_polled, sockets, wait};
    use super::*;

    fn compressing(socket: TcpStream) -> CompressedStream {
        let mut stream = CompressedStream::new(Box::new(std::sync::Arc::new(socket)));
        stream.compress(b"");
        stream
    }

    /// Bytes of which half compress well.
    fn content(size: usize) -> Vec<u8> {
        let mut bytes = noise(size);
        bytes.chunks_mut(3000).step_by(2).for_each(|chunk| chunk.fill(b'z'));
        bytes
    }

    #[test]
    fn all_that_was_read_is_handed_out_before_the_socket_is_waited_for() {
        const BATCHES: [usize; 7] = [1, 49, 4096, 4097, 16384, 60_000, 300_000];
        let (near, mut far) = sockets();
        let thread = std::thread::spawn(move || {
            for (size, cut) in BATCHES.iter().zip([1, 7, 4096, 100, 16384, 60_000, 9000]) {
                let mut frames = Vec::new();
                for (number, piece) in content(*size).chunks(cut).enumerate() {
                    put_frame(&mut frames, piece, number as u8);
                }
                Write::write_all(&mut far, &frames).unwrap();
                far.read_exact(&mut [0; 8]).unwrap();
            }
        });
        let mut stream = compressing(near);
        for (size, room) in BATCHES.iter().zip([4096, 10, 4096, 4096, 512, 100, 4096]) {
            let mut got = Vec::new();
            stream.begin_command(false);
            std::thread::sleep(Duration::from_millis(20));
            while got.len() < *size {
                read_as_polled(&mut stream, &mut got, room);
                if got.len() < *size {
                    wait(&stream, PollFlags::IN);
                }
            }
            assert!(got == content(*size), "{size}");
            stream.write_all(b"!").unwrap();
        }
        thread.join().unwrap();
    }

    #[test]
    fn what_was_not_written_comes_again() {
        let size = 2_000_000;
        let (near, mut far) = sockets();
        let thread = std::thread::spawn(move || {
            let (mut frames, mut got, mut next) = (Frames::default(), Vec::new(), 0u8);
            let mut buf = vec![0; 10_000];
            while got.len() < size {
                let n = Read::read(&mut far, &mut buf).unwrap();
                assert_ne!(n, 0);
                frames.feed(&buf[..n]);
                while let Some(number) = frames.next(&mut got, |n| n == next).unwrap() {
                    next = number.wrapping_add(1);
                }
                std::thread::sleep(Duration::from_micros(300));
            }
            assert!(got == content(size));
        });
        let (all, mut stream) = (content(size), compressing(near));
        let (mut written, mut blocked) = (0, 0);
        while written < size {
            let end = size.min(written + 70_000 + blocked * 100);
            match stream.write_now(&all[written..end]) {
                Ok(n) => {
                    written += n;
                    let waits = stream.left < stream.outgoing.len();
                    assert_eq!(waits, stream.owed > 0, "what waits is not said to be written");
                }
                Err(e) => {
                    assert_eq!(e.kind(), io::ErrorKind::WouldBlock);
                    blocked += 1;
                    if blocked % 3 == 0 {
                        stream.write_all(&all[written..end]).unwrap();
                        written = end;
                    } else {
                        wait(&stream, PollFlags::OUT);
                    }
                }
            }
        }
        assert!(blocked > 3, "{blocked}");
        thread.join().unwrap();
    }
}
