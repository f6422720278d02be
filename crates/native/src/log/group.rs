//! Framing of the log stream: group headers and padding.
//!
//! ```text
//! group:    len u32 | crc u32 | lsn u64 | epoch u32 | behind u32 | payload (len) | zeros to 8
//! padding:  len u32, high bit set | crc u32 | zeros up to len
//! ```
//!
//! Both start at a multiple of 8. The checksum covers the other header fields and the payload. So a
//! group copied to another place, or half written, is not taken for a group. The epoch grows by one
//! with every start of the server and never decreases along the stream: groups of an earlier run
//! that lie after a hole are never accepted.

use crate::ids::Lsn;

/// Size of a block, the unit of writes to the log. A durable block is never written again (I8).
pub(crate) const BLOCK: u64 = 4096;
/// Bytes before a group's payload.
pub(crate) const GROUP_HEADER_LEN: usize = 24;
/// Bytes of a padding record before its zeros.
pub(super) const PAD_HEADER_LEN: usize = 8;
/// Alignment of groups.
const ALIGN: usize = 8;
const PAD_FLAG: u32 = 1 << 31;

/// Bytes of a group with this payload in the stream.
pub(super) const fn group_len(payload: usize) -> usize {
    (GROUP_HEADER_LEN + payload).next_multiple_of(ALIGN)
}

/// The header of a group at `lsn`, written when the log was durable up to `durable`. `payload_crc`
/// is computed before the LSN is known.
pub(super) fn group_header(
    payload_crc: u32,
    len: u32,
    lsn: Lsn,
    epoch: u32,
    durable: Lsn,
) -> [u8; GROUP_HEADER_LEN] {
    let behind = (lsn.0 / BLOCK).saturating_sub(durable.0 / BLOCK);
    let behind = u32::try_from(behind).unwrap_or(u32::MAX);
    let mut h = [0; GROUP_HEADER_LEN];
    h[0..4].copy_from_slice(&len.to_le_bytes());
    h[8..16].copy_from_slice(&lsn.0.to_le_bytes());
    h[16..20].copy_from_slice(&epoch.to_le_bytes());
    h[20..24].copy_from_slice(&behind.to_le_bytes());
    let crc = header_crc(payload_crc, &h);
    h[4..8].copy_from_slice(&crc.to_le_bytes());
    h
}

/// Position up to which the log was durable when the (checked) group at `lsn` was written.
pub(super) fn durable_when_written(header: &[u8; GROUP_HEADER_LEN], lsn: Lsn) -> Lsn {
    let behind = u32::from_le_bytes([header[20], header[21], header[22], header[23]]);
    Lsn((lsn.0 / BLOCK).saturating_sub(u64::from(behind)) * BLOCK)
}

/// Continues a payload's checksum over the header fields.
fn header_crc(payload_crc: u32, header: &[u8; GROUP_HEADER_LEN]) -> u32 {
    let crc = crc32c::crc32c_append(payload_crc, &header[0..4]);
    crc32c::crc32c_append(crc, &header[8..])
}

/// The header of `len` bytes of padding at `lsn`.
pub(super) fn pad_header(len: u32, lsn: Lsn, epoch: u32) -> [u8; PAD_HEADER_LEN] {
    let flagged = len | PAD_FLAG;
    let mut h = [0; PAD_HEADER_LEN];
    h[0..4].copy_from_slice(&flagged.to_le_bytes());
    h[4..8].copy_from_slice(&pad_crc(flagged, lsn, epoch).to_le_bytes());
    h
}

fn pad_crc(flagged: u32, lsn: Lsn, epoch: u32) -> u32 {
    let crc = crc32c::crc32c(&flagged.to_le_bytes());
    let crc = crc32c::crc32c_append(crc, &lsn.0.to_le_bytes());
    crc32c::crc32c_append(crc, &epoch.to_le_bytes())
}

/// Kind of the bytes at a position of the stream, judged by the first ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Frame {
    /// A group with a payload of `len` bytes, if its checksum holds.
    Group {
        /// Payload length.
        len: u32,
    },
    /// Padding of `len` bytes in all, checked, written in `epoch`.
    Pad {
        /// Total length.
        len: u32,
        /// The epoch of the log that wrote it.
        epoch: u32,
    },
    /// Neither a group nor padding of this log.
    Nothing,
}

/// Judges the first bytes at `lsn`. Padding holds its epoch only in its checksum, so each possible
/// epoch is tried.
pub(super) fn peek(bytes: &[u8], lsn: Lsn, epochs: std::ops::RangeInclusive<u32>) -> Frame {
    let Some(word) = bytes.get(0..4).and_then(|b| b.try_into().ok()).map(u32::from_le_bytes) else {
        return Frame::Nothing;
    };
    if word & PAD_FLAG == 0 {
        return if word == 0 { Frame::Nothing } else { Frame::Group { len: word } };
    }
    let stored = bytes.get(4..8).and_then(|b| b.try_into().ok()).map(u32::from_le_bytes);
    let len = word & !PAD_FLAG;
    let plausible = len as usize >= PAD_HEADER_LEN
        && u64::from(len) <= BLOCK
        && (lsn.0 + u64::from(len)).is_multiple_of(BLOCK);
    let mut candidates = epochs.filter(|e| plausible && stored == Some(pad_crc(word, lsn, *e)));
    candidates.next().map_or(Frame::Nothing, |epoch| Frame::Pad { len, epoch })
}

/// Whether an unchecked header names the place `lsn` and one of `epochs`.
pub(super) fn names_place(
    header: &[u8; GROUP_HEADER_LEN],
    lsn: Lsn,
    epochs: std::ops::RangeInclusive<u32>,
) -> bool {
    let epoch = u32::from_le_bytes([header[16], header[17], header[18], header[19]]);
    header[8..16] == lsn.0.to_le_bytes() && epochs.contains(&epoch)
}

/// The epoch of the group at `lsn`, if its checksum, LSN and length are right.
pub(super) fn check_group(
    header: &[u8; GROUP_HEADER_LEN],
    payload: &[u8],
    lsn: Lsn,
) -> Option<u32> {
    let field = |at: usize| {
        u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
    };
    let crc = header_crc(crc32c::crc32c(payload), header);
    let its_lsn = u64::from(field(12)) << 32 | u64::from(field(8));
    (field(4) == crc && its_lsn == lsn.0 && field(0) as usize == payload.len()).then_some(field(16))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_bound_to_its_place_and_payload() {
        let payload = b"some records";
        let h = group_header(
            crc32c::crc32c(payload),
            payload.len() as u32,
            Lsn(4096 * 9),
            3,
            Lsn(4096 * 7),
        );
        assert_eq!(check_group(&h, payload, Lsn(4096 * 9)), Some(3));
        assert_eq!(durable_when_written(&h, Lsn(4096 * 9)), Lsn(4096 * 7));
        assert_eq!(check_group(&h, payload, Lsn(8192)), None);
        assert_eq!(check_group(&h, b"some recordz", Lsn(4096 * 9)), None);
        for at in 0..GROUP_HEADER_LEN {
            let mut flipped = h;
            flipped[at] ^= 1;
            assert_eq!(check_group(&flipped, payload, Lsn(4096 * 9)), None, "flip at {at}");
        }
    }

    #[test]
    fn padding_knows_its_epoch() {
        let h = pad_header(96, Lsn(8192 - 96), 7);
        assert_eq!(peek(&h, Lsn(8192 - 96), 5..=9), Frame::Pad { len: 96, epoch: 7 });
        assert_eq!(peek(&h, Lsn(8192 - 96), 8..=9), Frame::Nothing);
        assert_eq!(peek(&h, Lsn(4096 - 96), 5..=9), Frame::Nothing);
    }
}
