//! Incoming frames: assembles packets from a byte stream, checks sequence numbers and the size
//! limit.
//!
//! Must not read from sockets: the caller fills `space` and reports the number of bytes.
//! Invariants: `start <= end <= buf.len()`; bytes before `start` belong to packets that were
//! returned, bytes in `start..end` do not.

use std::fmt;

/// Bytes of a frame header.
pub const HEADER: usize = 4;
/// Largest payload of one frame; a packet of this size or more continues in the next frame.
pub const MAX_FRAME: usize = 0xff_ffff;
/// Size of the buffer that an idle connection keeps.
const RESIDENT: usize = 4096;

/// Reason why the stream cannot be read any further.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum FrameError {
    /// The sequence number is not the expected one.
    OutOfOrder,
    /// The packet is larger than `max_allowed_packet`.
    TooLarge,
    /// A compressed frame does not have its claimed length, or its content is damaged.
    Damaged,
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OutOfOrder => "packets out of order",
            Self::TooLarge => "packet larger than max_allowed_packet",
            Self::Damaged => "compressed frame is damaged",
        })
    }
}

impl std::error::Error for FrameError {}

/// Reassembles packets.
#[derive(Debug)]
pub struct FrameReader {
    buf: Vec<u8>,
    start: usize,
    end: usize,
    max_packet: usize,
    sequence: u8,
    numbered: bool,
}

impl FrameReader {
    /// A reader that refuses packets larger than `max_packet` bytes.
    pub fn new(max_packet: usize) -> Self {
        Self { buf: vec![0; RESIDENT], start: 0, end: 0, max_packet, sequence: 0, numbered: true }
    }

    /// Changes the size limit, from the next packet on.
    pub fn set_max_packet(&mut self, max_packet: usize) {
        self.max_packet = max_packet;
    }

    /// The sequence number that the next frame must have; also the next one to send.
    pub fn sequence(&self) -> u8 {
        self.sequence
    }

    /// Sets the sequence number that the next frame must have.
    pub fn set_sequence(&mut self, sequence: u8) {
        self.sequence = sequence;
    }

    /// Stops checking sequence numbers. Compat: packets inside compressed frames have any numbers;
    /// the numbers of the frames count.
    pub fn ignore_numbers(&mut self) {
        self.numbered = false;
    }

    /// Whether bytes of a packet have arrived that was not returned yet.
    pub fn has_pending(&self) -> bool {
        self.start < self.end
    }

    /// Room for at least `min` bytes. The caller fills it and calls [`Self::filled`].
    pub fn space(&mut self, min: usize) -> &mut [u8] {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
        if self.buf.len() - self.end < min && self.start > 0 {
            self.buf.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.buf.len() - self.end < min {
            self.buf.resize((self.end + min).next_power_of_two(), 0);
        }
        &mut self.buf[self.end..]
    }

    /// Reports that `n` bytes were written to the front of the last [`Self::space`].
    pub fn filled(&mut self, n: usize) {
        self.end = (self.end + n).min(self.buf.len());
    }

    /// Appends bytes that have arrived.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.space(bytes.len())[..bytes.len()].copy_from_slice(bytes);
        self.filled(bytes.len());
    }

    /// The next complete packet, or `None` if more bytes are needed.
    ///
    /// A packet of one frame is borrowed in place. The frames of a longer packet are joined in
    /// place first.
    pub fn next_packet(&mut self) -> Result<Option<&[u8]>, FrameError> {
        let measured = self.measure().map_err(|(error, frames)| {
            // The answer to a refused packet is numbered after the frames of it that have arrived.
            self.sequence = self.sequence.wrapping_add(frames as u8);
            error
        })?;
        let Some((payload, frames)) = measured else { return Ok(None) };
        if frames > 1 {
            self.join(frames);
        }
        let at = self.start + HEADER;
        // Joining moves the payloads together; the space of the later headers is left over behind
        // them.
        self.start += payload + HEADER * frames;
        self.sequence = self.sequence.wrapping_add(frames as u8);
        Ok(Some(&self.buf[at..at + payload]))
    }

    /// The buffer.
    pub fn memory(&self) -> &[u8] {
        &self.buf
    }

    /// Number of bytes to wait for: the rest of the frame, or of its header.
    pub fn wanted(&self) -> usize {
        let mut at = self.start;
        loop {
            match self.header(at) {
                None => return (at + HEADER).saturating_sub(self.end).max(1),
                Some((len, _)) if at + HEADER + len > self.end => {
                    return at + HEADER + len - self.end;
                }
                Some((len, _)) if len < MAX_FRAME => return 1,
                Some((len, _)) => at += HEADER + len,
            }
        }
    }

    /// Frees the memory of a large packet if nothing is pending.
    pub fn shrink(&mut self) {
        if self.start == self.end && self.buf.len() > 16 * RESIDENT {
            (self.start, self.end) = (0, 0);
            self.buf = vec![0; RESIDENT];
        }
    }

    /// Returns the bytes that have arrived and removes them from the reader.
    pub fn take_pending(&mut self) -> Vec<u8> {
        let pending = self.buf[self.start..self.end].to_vec();
        self.clear();
        pending
    }

    /// Drops the bytes that have arrived.
    pub fn clear(&mut self) {
        (self.start, self.end) = (0, 0);
    }

    fn header(&self, at: usize) -> Option<(usize, u8)> {
        let h = self.buf.get(at..at + HEADER).filter(|_| at + HEADER <= self.end)?;
        Some((usize::from(h[0]) | usize::from(h[1]) << 8 | usize::from(h[2]) << 16, h[3]))
    }

    /// Payload size and number of frames of the packet at `start`; `None` if it is not complete.
    fn measure(&self) -> Result<Option<(usize, usize)>, (FrameError, usize)> {
        let (mut at, mut payload, mut frames) = (self.start, 0, 0usize);
        loop {
            let Some((len, sequence)) = self.header(at) else { return Ok(None) };
            if self.numbered && sequence != self.sequence.wrapping_add(frames as u8) {
                return Err((FrameError::OutOfOrder, frames));
            }
            payload += len;
            frames += 1;
            if payload > self.max_packet {
                return Err((FrameError::TooLarge, frames));
            }
            at += HEADER + len;
            if at > self.end {
                return Ok(None);
            }
            if len < MAX_FRAME {
                return Ok(Some((payload, frames)));
            }
        }
    }

    fn join(&mut self, frames: usize) {
        let mut from = self.start;
        let mut to = self.start + HEADER;
        for _ in 0..frames {
            let len = self.header(from).map_or(0, |h| h.0);
            from += HEADER;
            self.buf.copy_within(from..from + len, to);
            from += len;
            to += len;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Output;
    use proptest::prelude::*;

    fn packets(reader: &mut FrameReader) -> Vec<Vec<u8>> {
        let mut all = Vec::new();
        while let Ok(Some(p)) = reader.next_packet() {
            all.push(p.to_vec());
        }
        all
    }

    #[test]
    fn empty_packet_is_a_packet() {
        let mut r = FrameReader::new(100);
        r.feed(&[0, 0, 0, 0]);
        assert_eq!(r.next_packet(), Ok(Some(&[][..])));
        assert_eq!(r.next_packet(), Ok(None));
        assert_eq!(r.sequence(), 1);
    }

    #[test]
    fn order_and_size_are_checked() {
        let mut r = FrameReader::new(3);
        r.feed(&[1, 0, 0, 5, 9]);
        assert_eq!(r.next_packet(), Err(FrameError::OutOfOrder));
        let mut r = FrameReader::new(3);
        r.ignore_numbers();
        r.feed(&[1, 0, 0, 5, 9]);
        assert_eq!(r.next_packet(), Ok(Some(&[9][..])));
        let mut r = FrameReader::new(3);
        r.feed(&[4, 0, 0, 0]);
        assert_eq!(r.next_packet(), Err(FrameError::TooLarge));
    }

    #[test]
    fn long_packets_are_split_and_joined() {
        for size in [MAX_FRAME - 1, MAX_FRAME, MAX_FRAME + 1, 2 * MAX_FRAME, 2 * MAX_FRAME + 7] {
            let payload: Vec<u8> = (0..size).map(|i| (i % 251) as u8).collect();
            let mut out = Output::default();
            out.packet(|b| b.extend_from_slice(&payload));
            out.packet(|b| b.extend_from_slice(b"tail"));
            let mut r = FrameReader::new(usize::MAX);
            r.feed(out.bytes());
            assert!(r.next_packet().unwrap().unwrap() == payload, "size {size}");
            assert_eq!(r.next_packet().unwrap(), Some(&b"tail"[..]));
        }
    }

    proptest! {
        #[test]
        fn arrival_in_pieces(list in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 1..9),
                             piece in 1usize..50) {
            let mut out = Output::default();
            for p in &list {
                out.packet(|b| b.extend_from_slice(p));
            }
            let mut r = FrameReader::new(1 << 20);
            let mut got = Vec::new();
            for chunk in out.bytes().chunks(piece) {
                r.feed(chunk);
                got.extend(packets(&mut r));
            }
            prop_assert_eq!(got, list);
        }

        #[test]
        fn garbage_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
            let mut r = FrameReader::new(1000);
            r.feed(&bytes);
            let _ = r.wanted();
            packets(&mut r);
        }
    }
}
