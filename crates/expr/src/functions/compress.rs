//! Compression by zlib, with the uncompressed length in front.
//! The stored length is a claim of the client: it must not be trusted for allocations.

use std::io::Read;

use flate2::Compression;
use flate2::read::{ZlibDecoder, ZlibEncoder};
use selkie_meter::{demand, tick};
use selkie_types::error::catalogue::{
    ER_TOO_BIG_FOR_UNCOMPRESS, ER_ZLIB_Z_BUF_ERROR, ER_ZLIB_Z_DATA_ERROR,
};
use selkie_types::{Column, SqlResult, SqlType, TypeKind};

use super::crypt::{byte_length, bytes};
use crate::function::Function;
use crate::kernel::{Frame, bytes_to_bytes, from_bytes};

/// Functions called by name.
pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("COMPRESS", 1, 1, |b| {
        let length = byte_length(&b) * 120 / 100 + 12;
        bytes(b, length, compress)
    }),
    Function::new("UNCOMPRESS", 1, 1, |b| bytes(b, u32::MAX.into(), uncompress)),
    Function::new("UNCOMPRESSED_LENGTH", 1, 1, |mut b| {
        b.text(0);
        b.maybe(SqlType::new(TypeKind::Int, 10, 0), uncompressed_length)
    }),
];

/// A reader that works in pieces, so that the statement can end between them.
struct Paced<'a> {
    rest: &'a [u8],
    /// Units of work per byte.
    cost: usize,
}

impl Read for Paced<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.rest.read(buffer)?;
        tick(count * self.cost);
        Ok(count)
    }
}

/// The length has 30 bits.
const LENGTH_MASK: u32 = 0x3FFF_FFFF;

/// Compat: a point is appended to a text that would end with a space, which CHAR columns lose.
fn compress(frame: &Frame<'_>) -> SqlResult<Column> {
    bytes_to_bytes(frame, |plain, out| {
        if plain.is_empty() {
            return true;
        }
        out.extend_from_slice(&(plain.len() as u32 & LENGTH_MASK).to_le_bytes());
        let encoder = ZlibEncoder::new(Paced { rest: plain, cost: 16 }, Compression::default());
        if { encoder }.read_to_end(out).is_err() {
            return false;
        }
        if out.last() == Some(&b' ') {
            out.push(b'.');
        }
        true
    })
}

/// The uncompressed length that a text declares; `None` if the text is too short.
fn length(frame: &Frame<'_>, text: &[u8]) -> Option<usize> {
    let Some(head) = text.first_chunk().filter(|_| text.len() > 4) else {
        frame.ctx.warn(&ER_ZLIB_Z_DATA_ERROR, &[]);
        return None;
    };
    Some((u32::from_le_bytes(*head) & LENGTH_MASK) as usize)
}

fn uncompress(frame: &Frame<'_>) -> SqlResult<Column> {
    bytes_to_bytes(frame, |text, out| {
        if text.is_empty() {
            return true;
        }
        let Some(length) = length(frame, text) else { return false };
        let max = frame.ctx.types.max_allowed_packet;
        if length as u64 > max {
            frame.ctx.warn(&ER_TOO_BIG_FOR_UNCOMPRESS, &[&max]);
            return false;
        }
        demand(length);
        let start = out.len();
        let mut decoder =
            ZlibDecoder::new(Paced { rest: &text[4..], cost: 64 }).take(length as u64 + 1);
        if decoder.read_to_end(out).is_err() {
            frame.ctx.warn(&ER_ZLIB_Z_DATA_ERROR, &[]);
            return false;
        }
        if out.len() - start > length {
            frame.ctx.warn(&ER_ZLIB_Z_BUF_ERROR, &[]);
            return false;
        }
        true
    })
}

fn uncompressed_length(frame: &Frame<'_>) -> SqlResult<Column> {
    from_bytes(frame, |text| match text.is_empty() {
        true => Ok(Some(0i64)),
        false => Ok(length(frame, text).map(|n| n as i64)),
    })
}
