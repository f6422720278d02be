//! Packets (three bytes of length, one of sequence, the payload) and the integers in them.
//!
//! Independent of the server's codec. A reader returns `None` for a short payload; it never panics.

use std::io::{self, Read};

/// A payload of this length continues in the next packet.
pub(super) const LONGEST: usize = 0xFF_FFFF;

/// Leaves room for a header. Returns the position that [`end_packet`] needs.
pub(crate) fn begin_packet(out: &mut Vec<u8>) -> usize {
    out.extend_from_slice(&[0; 4]);
    out.len()
}

/// Fills in the header of a packet whose payload starts at `start` and is shorter than 16 MiB.
pub(crate) fn end_packet(out: &mut [u8], start: usize, sequence: u8) {
    let length = out.len() - start;
    debug_assert!(length < LONGEST);
    out[start - 4..start - 1].copy_from_slice(&(length as u32).to_le_bytes()[..3]);
    out[start - 1] = sequence;
}

/// Reads the payload of one packet; returns its sequence number.
pub(super) fn read_packet(from: &mut impl Read, payload: &mut Vec<u8>) -> io::Result<u8> {
    payload.clear();
    loop {
        let mut header = [0; 4];
        from.read_exact(&mut header)?;
        let length = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
        let start = payload.len();
        payload.resize(start + length, 0);
        from.read_exact(&mut payload[start..])?;
        if length < LONGEST {
            return Ok(header[3]);
        }
    }
}

/// Appends a length-encoded number.
pub(crate) fn put_length_encoded(out: &mut Vec<u8>, number: u64) {
    match number {
        0..=250 => out.push(number as u8),
        251..=0xFFFF => {
            out.push(0xFC);
            out.extend_from_slice(&(number as u16).to_le_bytes());
        }
        0x1_0000..=0xFF_FFFF => {
            out.push(0xFD);
            out.extend_from_slice(&(number as u32).to_le_bytes()[..3]);
        }
        _ => {
            out.push(0xFE);
            out.extend_from_slice(&number.to_le_bytes());
        }
    }
}

/// Reads fields from the front of a payload; `None` if it is too short.
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        self.bytes(1).map(|bytes| bytes[0])
    }

    /// A number of up to eight bytes, little-endian.
    pub(super) fn fixed(&mut self, count: usize) -> Option<u64> {
        let bytes = self.bytes(count)?;
        Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    pub(super) fn length_encoded(&mut self) -> Option<u64> {
        match self.byte()? {
            number @ 0..=250 => Some(u64::from(number)),
            0xFC => self.fixed(2),
            0xFD => self.fixed(3),
            0xFE => self.fixed(8),
            _ => None,
        }
    }

    /// The bytes up to a zero byte, which is dropped; all bytes if there is none.
    pub(super) fn until_zero(&mut self) -> &'a [u8] {
        let end = self.0.iter().position(|byte| *byte == 0);
        let taken = &self.0[..end.unwrap_or(self.0.len())];
        self.0 = end.map_or(&[], |end| &self.0[end + 1..]);
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        for number in [0, 250, 251, 0xFFFF, 0x1_0000, 0xFF_FFFF, 0x100_0000, u64::MAX] {
            let mut bytes = Vec::new();
            put_length_encoded(&mut bytes, number);
            assert_eq!(Reader(&bytes).length_encoded(), Some(number));
            assert_eq!(Reader(&bytes[..bytes.len() - 1]).length_encoded(), None);
        }
    }

    #[test]
    fn packets_come_back() {
        let mut bytes = Vec::new();
        let start = begin_packet(&mut bytes);
        bytes.extend_from_slice(b"abc");
        end_packet(&mut bytes, start, 7);
        let mut payload = Vec::new();
        assert_eq!(read_packet(&mut &bytes[..], &mut payload).unwrap(), 7);
        assert_eq!(payload, b"abc");
    }
}
