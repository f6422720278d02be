//! Outgoing frames: a buffer of packets with headers and sequence numbers.
//!
//! Must not write to sockets: the caller sends `bytes` and calls `clear`.

use crate::frame::{HEADER, MAX_FRAME};

/// Packets that wait to be sent to the client.
#[derive(Debug, Default)]
pub struct Output {
    buf: Vec<u8>,
    sequence: u8,
    /// Start of the packet that is being written.
    open: Option<usize>,
}

/// Position of a packet that is being written.
#[derive(Debug)]
#[must_use = "a packet that is begun must be ended or cancelled"]
pub struct Open(usize);

impl Output {
    /// An output whose first packet has the number `sequence`.
    pub fn new(sequence: u8) -> Self {
        Self { buf: Vec::new(), sequence, open: None }
    }

    /// The sequence number of the next packet.
    pub fn sequence(&self) -> u8 {
        self.sequence
    }

    /// Sets the sequence number of the next packet.
    pub fn set_sequence(&mut self, sequence: u8) {
        self.sequence = sequence;
    }

    /// Bytes that wait to be sent.
    pub fn bytes(&self) -> &[u8] {
        &self.buf
    }

    /// Number of bytes that wait to be sent.
    pub fn len(&self) -> usize {
        self.buf.len()
    }

    /// Whether there is nothing to send.
    pub fn is_empty(&self) -> bool {
        self.buf.is_empty()
    }

    /// Removes all bytes. Keeps the sequence number and a buffer of moderate size.
    pub fn clear(&mut self) {
        self.buf.clear();
        if self.buf.capacity() > 1 << 20 {
            self.buf = Vec::with_capacity(1 << 14);
        }
    }

    /// Sets a byte of a packet's payload; `packet` is the number of bytes before the packet.
    pub fn patch(&mut self, packet: usize, at: usize, byte: u8) {
        if let Some(place) = self.buf.get_mut(packet + HEADER + at) {
            *place = byte;
        }
    }

    /// Numbers the packets behind the one that has `packet` bytes before it from `sequence` on, as
    /// if an exchange had begun behind it.
    pub fn renumber_behind(&mut self, packet: usize, sequence: u8) {
        self.sequence = sequence;
        let mut at = packet;
        let mut is_behind = false;
        while let Some(header) = self.buf.get_mut(at..at + HEADER) {
            let length =
                usize::from(header[0]) | usize::from(header[1]) << 8 | usize::from(header[2]) << 16;
            if is_behind {
                header[3] = self.sequence;
                self.sequence = self.sequence.wrapping_add(1);
            }
            // A full frame is continued by the next one.
            is_behind |= length < MAX_FRAME;
            at += HEADER + length;
        }
    }

    /// Removes the first `count` bytes, which were sent.
    pub fn drop_front(&mut self, count: usize) {
        if count == self.buf.len() {
            return self.clear();
        }
        self.buf.drain(..count);
    }

    /// Appends the packets of `other`, whose numbers must follow those here.
    pub fn append(&mut self, other: &Self) {
        self.buf.extend_from_slice(&other.buf);
        self.sequence = other.sequence;
    }

    /// Appends whole frames from the front of `frames`, about `enough` bytes, with the numbers that
    /// follow those here. Returns the rest; bytes that are no whole frame are dropped.
    pub fn append_frames<'f>(&mut self, frames: &'f [u8], enough: usize) -> &'f [u8] {
        let mut at = 0;
        let begin = self.buf.len();
        while let Some([a, b, c, _]) = frames.get(at..at + HEADER)
            && at < enough
        {
            let length = usize::from(*a) | usize::from(*b) << 8 | usize::from(*c) << 16;
            let Some(frame) = frames.get(at..at + HEADER + length) else { break };
            let place = self.buf.len();
            self.buf.extend_from_slice(frame);
            self.buf[place + HEADER - 1] = self.sequence;
            self.sequence = self.sequence.wrapping_add(1);
            at += frame.len();
        }
        if self.buf.len() == begin { &[] } else { &frames[at..] }
    }

    /// Drops packets that were written after the output had `len` bytes, and restores `sequence`.
    pub fn rewind(&mut self, len: usize, sequence: u8) {
        self.buf.truncate(len);
        self.sequence = sequence;
    }

    /// Writes one packet.
    pub fn packet(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let open = self.begin();
        write(&mut self.buf);
        self.end(open);
    }

    /// Begins a packet; its payload is appended to [`Self::payload`].
    #[inline]
    pub fn begin(&mut self) -> Open {
        let at = self.buf.len();
        self.buf.extend_from_slice(&[0; HEADER]);
        self.open = Some(at);
        Open(at)
    }

    /// The buffer to which the payload of the open packet is appended.
    #[inline]
    pub fn payload(&mut self) -> &mut Vec<u8> {
        &mut self.buf
    }

    /// Ends the packet: fills in its header, and splits it if it is too long for one frame.
    #[inline]
    pub fn end(&mut self, open: Open) {
        self.open = None;
        let len = self.buf.len() - open.0 - HEADER;
        if len >= MAX_FRAME {
            return self.split(open.0, len);
        }
        self.put_header(open.0, len);
    }

    /// Drops the open packet.
    pub fn cancel(&mut self, open: Open) {
        self.open = None;
        self.buf.truncate(open.0);
    }

    /// Drops a packet that was left open because an error interrupted its writer.
    pub fn abandon(&mut self) {
        if let Some(at) = self.open.take() {
            self.buf.truncate(at);
        }
    }

    #[inline]
    fn put_header(&mut self, at: usize, len: usize) {
        let header = (len as u32 | u32::from(self.sequence) << 24).to_le_bytes();
        self.buf[at..at + HEADER].copy_from_slice(&header);
        self.sequence = self.sequence.wrapping_add(1);
    }

    #[cold]
    fn split(&mut self, at: usize, len: usize) {
        let payload = self.buf.split_off(at + HEADER);
        self.buf.truncate(at);
        // A packet whose length is a multiple of the frame size ends with an empty frame.
        for i in 0..=len / MAX_FRAME {
            let chunk = &payload[i * MAX_FRAME..len.min((i + 1) * MAX_FRAME)];
            let at = self.buf.len();
            self.buf.extend_from_slice(&[0; HEADER]);
            self.put_header(at, chunk.len());
            self.buf.extend_from_slice(chunk);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_appended_with_numbers_that_follow() {
        let mut kept = Output::new(200);
        for length in [3, 0, 5] {
            kept.packet(|b| b.resize(b.len() + length, 7));
        }
        let mut out = Output::new(254);
        let rest = out.append_frames(kept.bytes(), 1);
        assert_eq!((out.len(), rest.len()), (HEADER + 3, 2 * HEADER + 5));
        assert_eq!(out.append_frames(rest, usize::MAX), b"");
        assert_eq!((out.len(), out.sequence()), (kept.len(), 1));
        let numbers = [0, HEADER + 3, 2 * HEADER + 3].map(|at| out.bytes()[at + 3]);
        assert_eq!(numbers, [254, 255, 0]);
        assert_eq!(out.append_frames(&[9, 0, 0, 0, 1], usize::MAX), b"", "no whole frame");
        assert_eq!(out.len(), kept.len());
    }

    #[test]
    fn packets_behind_one_get_new_numbers() {
        let mut out = Output::new(7);
        out.packet(|b| b.extend_from_slice(b"first"));
        let at = out.len();
        out.packet(|b| b.resize(b.len() + MAX_FRAME + 2, 0));
        out.packet(|b| b.extend_from_slice(b"x"));
        out.packet(|b| b.extend_from_slice(b"y"));
        out.patch(at, 1, 9);
        out.renumber_behind(at, 1);
        let bytes = out.bytes();
        let (first, second) = (at, at + HEADER + MAX_FRAME);
        let third = second + HEADER + 2;
        let numbers = [0, first, second, third, third + HEADER + 1].map(|at| bytes[at + 3]);
        assert_eq!(numbers, [7, 8, 9, 1, 2]);
        assert_eq!((bytes[at + HEADER + 1], out.sequence()), (9, 3));
        let mut last = Output::new(200);
        last.packet(|b| b.push(1));
        last.renumber_behind(0, 1);
        assert_eq!((last.bytes()[3], last.sequence()), (200, 1));
    }
}
