//! Compressed blocks in QUERY_COMPRESSED and compressed rows events.
//!
//! Must not trust the size that a block claims: zlib's best ratio bounds it before memory is
//! allocated.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use crate::bytes::{Reader, put_be};
use crate::error::{DecodeError, DecodeResult};

/// Most plain bytes that zlib makes of one compressed byte.
const MOST_RATIO: usize = 1032;
/// Bytes reserved for the compressor's output before each call.
const STEP: usize = 16 * 1024;

/// Plain bytes of a block; an error if they are more than `most`.
pub fn unpack(block: &[u8], most: usize) -> DecodeResult<Vec<u8>> {
    let mut reader = Reader::new(block);
    let head = reader.u8("compressed block")?;
    let width = usize::from(head & 0x07);
    if head & 0x80 == 0 || head & 0x70 != 0 || !(1..=4).contains(&width) {
        return Err(DecodeError::Invalid("head of a compressed block"));
    }
    let size = reader.be(width, "size of a compressed block")? as usize;
    let stream = reader.take_rest();
    if size > most || size > stream.len().saturating_mul(MOST_RATIO) {
        return Err(DecodeError::Invalid("size of a compressed block"));
    }
    let mut out = Vec::with_capacity(size);
    let mut zlib = Decompress::new(true);
    let status = zlib.decompress_vec(stream, &mut out, FlushDecompress::Finish);
    let ended = matches!(status, Ok(Status::StreamEnd));
    if !ended || out.len() != size || zlib.total_in() != stream.len() as u64 {
        return Err(DecodeError::Invalid("compressed block"));
    }
    Ok(out)
}

/// Appends the block that holds `plain`.
pub fn pack(plain: &[u8], out: &mut Vec<u8>) {
    let size = plain.len() as u64;
    let width = (1..4).find(|width| size >> (8 * width) == 0).unwrap_or(4);
    out.push(0x80 | width as u8);
    put_be(out, size, width);
    let mut zlib = Compress::new(Compression::default(), true);
    let begin = out.len();
    loop {
        let taken = zlib.total_in() as usize;
        out.reserve(STEP);
        let rest = plain.get(taken..).unwrap_or_default();
        match zlib.compress_vec(rest, out, FlushCompress::Finish) {
            Ok(Status::StreamEnd) => break,
            Ok(_) => {}
            // Not reached with a new stream. A head without a stream is an invalid block.
            Err(_) => {
                out.truncate(begin);
                break;
            }
        }
    }
}
