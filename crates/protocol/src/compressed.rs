//! The compressed protocol: packets are sent inside frames that zlib compresses.
//!
//! Must not trust the length that a frame claims: memory grows only with decompressed bytes.
//! Borders of frames need not be borders of packets.

use std::cell::RefCell;

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use crate::frame::{FrameError, MAX_FRAME};

/// Bytes of a frame's header: length, number, and length of the content (0 if it is not
/// compressed).
const HEADER: usize = 7;
/// Content shorter than this is not compressed. As in MariaDB.
const SHORT: usize = 50;
/// Maximum content of a frame that is made here.
pub const PIECE: usize = 64 << 10;
/// Bytes by which the room for decompressed content grows.
const STEP: usize = 32 << 10;

thread_local! {
    /// Kept for each thread, because the zlib states are large.
    static COMPRESS: RefCell<Compress> = RefCell::new(Compress::new(Compression::default(), true));
    static DECOMPRESS: RefCell<Decompress> = RefCell::new(Decompress::new(true));
}

/// Decodes frames.
#[derive(Debug, Default)]
pub struct Frames {
    arrived: Vec<u8>,
    /// Bytes at the front that were taken.
    taken: usize,
}

impl Frames {
    /// Appends bytes that have arrived.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.arrived.extend_from_slice(bytes);
    }

    /// Whether bytes of a frame have arrived that were not taken.
    pub fn has_pending(&self) -> bool {
        self.taken < self.arrived.len()
    }

    /// Appends the content of the next frame to `out` and returns its number; `None` if no complete
    /// frame has arrived.
    ///
    /// `is_next` tells whether a frame may have this number.
    pub fn next(
        &mut self,
        out: &mut Vec<u8>,
        is_next: impl FnOnce(u8) -> bool,
    ) -> Result<Option<u8>, FrameError> {
        let pending = &self.arrived[self.taken..];
        let Some((header, rest)) = pending.split_first_chunk::<HEADER>() else {
            self.settle();
            return Ok(None);
        };
        let length = |at: usize| {
            usize::from(header[at])
                | usize::from(header[at + 1]) << 8
                | usize::from(header[at + 2]) << 16
        };
        let number = header[3];
        if !is_next(number) {
            return Err(FrameError::OutOfOrder);
        }
        let Some(content) = rest.get(..length(0)) else {
            self.settle();
            return Ok(None);
        };
        match length(4) {
            0 => out.extend_from_slice(content),
            claimed => decompress(content, claimed, out)?,
        }
        self.taken += HEADER + content.len();
        Ok(Some(number))
    }

    /// Removes the bytes that were taken, and frees the memory if none is left.
    fn settle(&mut self) {
        match self.has_pending() {
            true => drop(self.arrived.drain(..self.taken)),
            false => self.arrived = Vec::new(),
        }
        self.taken = 0;
    }
}

/// Appends the decompressed `content`, which must have `claimed` bytes.
fn decompress(content: &[u8], claimed: usize, out: &mut Vec<u8>) -> Result<(), FrameError> {
    let end = out.len() + claimed;
    DECOMPRESS.with_borrow_mut(|zlib| {
        zlib.reset(true);
        loop {
            let at = zlib.total_in() as usize;
            let before = out.len();
            // One byte more than claimed, so that content which is too long is noticed.
            out.reserve(STEP.min(end + 1 - before));
            let rest = content.get(at..).unwrap_or_default();
            let status = zlib.decompress_vec(rest, out, FlushDecompress::Finish);
            match status {
                Ok(Status::StreamEnd) if out.len() == end => return Ok(()),
                Ok(Status::Ok | Status::BufError) if before < out.len() && out.len() <= end => {}
                _ => return Err(FrameError::Damaged),
            }
        }
    })
}

/// Appends a frame with this number around `content`, which has at most [`PIECE`] bytes.
pub fn put_frame(out: &mut Vec<u8>, content: &[u8], number: u8) {
    debug_assert!(content.len() <= PIECE && PIECE < MAX_FRAME, "it fits a frame");
    let at = out.len();
    out.extend_from_slice(&[0; HEADER]);
    let is_smaller = content.len() >= SHORT && compress(content, out);
    if !is_smaller {
        out.truncate(at + HEADER);
        out.extend_from_slice(content);
    }
    let length = (out.len() - at - HEADER) as u32;
    let claimed = if is_smaller { content.len() as u32 } else { 0 };
    out[at..at + 4].copy_from_slice(&(length | u32::from(number) << 24).to_le_bytes());
    out[at + 4..at + HEADER].copy_from_slice(&claimed.to_le_bytes()[..3]);
}

/// Appends `content` compressed. Returns false if that does not make it smaller.
fn compress(content: &[u8], out: &mut Vec<u8>) -> bool {
    // Room for one byte less than the content: a longer result is of no use.
    out.reserve(content.len() - 1);
    let most = out.len() + content.len() - 1;
    COMPRESS.with_borrow_mut(|zlib| {
        zlib.reset();
        let status = zlib.compress_vec(content, out, FlushCompress::Finish);
        matches!(status, Ok(Status::StreamEnd)) && out.len() <= most
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frame(claimed: u32, content: &[u8]) -> Vec<u8> {
        let mut bytes = (content.len() as u32).to_le_bytes()[..3].to_vec();
        bytes.push(0);
        bytes.extend_from_slice(&claimed.to_le_bytes()[..3]);
        bytes.extend_from_slice(content);
        bytes
    }

    fn taken(bytes: &[u8]) -> (Result<Option<u8>, FrameError>, Vec<u8>) {
        let (mut frames, mut out) = (Frames::default(), Vec::new());
        frames.feed(bytes);
        (frames.next(&mut out, |n| n == 0), out)
    }

    #[test]
    fn short_and_random_content_stays_as_it_is() {
        let mut out = Vec::new();
        put_frame(&mut out, &[b'a'; SHORT - 1], 3);
        assert_eq!(out[..HEADER], [SHORT as u8 - 1, 0, 0, 3, 0, 0, 0]);
        let mut random = 1u32;
        let noise: Vec<u8> = (0..PIECE)
            .map(|_| {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (random >> 24) as u8
            })
            .collect();
        out.clear();
        put_frame(&mut out, &noise, 0);
        assert_eq!(out.len(), HEADER + PIECE);
        out.clear();
        put_frame(&mut out, &[b'a'; SHORT], 0);
        assert!(out.len() < HEADER + SHORT && out[4] == SHORT as u8);
    }

    #[test]
    fn lies_about_the_length_are_refused() {
        let mut honest = Vec::new();
        put_frame(&mut honest, &[b'x'; 60_000], 0);
        let content = &honest[HEADER..];
        assert_eq!(taken(&frame(60_000, content)).0, Ok(Some(0)));
        for claimed in [1, 59_999, 60_001, 0xff_ffff] {
            let (result, out) = taken(&frame(claimed, content));
            assert_eq!(result, Err(FrameError::Damaged), "{claimed}");
            assert!(out.capacity() < 1 << 20, "{claimed}");
        }
        assert_eq!(taken(&frame(60_000, &content[..20])).0, Err(FrameError::Damaged));
        assert_eq!(taken(&frame(0xff_ffff, b"")).0, Err(FrameError::Damaged));
        let mut wrong = frame(60_000, content);
        *wrong.last_mut().unwrap() ^= 1;
        assert_eq!(taken(&wrong).0, Err(FrameError::Damaged));
        let mut number = frame(60_000, content);
        number[3] = 1;
        assert_eq!(taken(&number).0, Err(FrameError::OutOfOrder));
    }

    proptest! {
        #[test]
        fn frames_in_pieces(list in prop::collection::vec(prop::collection::vec(0u8..4, 0..3000), 1..6),
                            piece in 1usize..700) {
            let mut bytes = Vec::new();
            for (number, content) in list.iter().enumerate() {
                put_frame(&mut bytes, content, number as u8);
            }
            let (mut frames, mut out, mut next) = (Frames::default(), Vec::new(), 0);
            for arrived in bytes.chunks(piece) {
                frames.feed(arrived);
                while let Some(number) = frames.next(&mut out, |n| n == next).unwrap() {
                    next = number + 1;
                }
            }
            prop_assert_eq!(out, list.concat());
            prop_assert!(!frames.has_pending());
        }

        #[test]
        fn garbage_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..300), claimed in any::<u32>()) {
            let _ = taken(&bytes);
            let _ = taken(&frame(claimed, &bytes));
        }
    }
}
