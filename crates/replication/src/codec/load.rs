//! BEGIN_LOAD_QUERY, APPEND_BLOCK, EXECUTE_LOAD_QUERY: a file and the statement that loads it.
//!
//! Must not keep files; callers put the blocks together.

use crate::bytes::{Reader, put_u32};
use crate::codec::query::Query;
use crate::error::DecodeResult;

/// A part of a file.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct LoadBlock<'a> {
    /// Number of the file.
    pub file_id: u32,
    /// The part.
    pub block: &'a [u8],
}

impl<'a> LoadBlock<'a> {
    pub(super) fn decode(post: &[u8], mut rest: Reader<'a>) -> DecodeResult<Self> {
        let file_id = Reader::new(post).u32("file id")?;
        Ok(Self { file_id, block: rest.take_rest() })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        put_u32(out, self.file_id);
        out.extend_from_slice(self.block);
    }
}

/// A LOAD DATA statement.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ExecuteLoad<'a> {
    /// The statement with the primary's name of the file in it.
    pub query: Query<'a>,
    /// Number of the file.
    pub file_id: u32,
    /// Offset in the text, behind `LOAD DATA`, of the part like `LOCAL INFILE 'name' IGNORE INTO`.
    pub name_start: u32,
    /// Offset at which that part ends.
    pub name_end: u32,
    /// Handling of duplicates: 0 error, 1 ignore, 2 replace.
    pub duplicates: u8,
}

impl<'a> ExecuteLoad<'a> {
    pub(super) fn decode(post: &[u8], rest: Reader<'a>) -> DecodeResult<Self> {
        let mut post = Reader::new(post);
        let (query, fixed) = Query::fixed(&mut post)?;
        let file_id = post.u32("file id")?;
        let (name_start, name_end) = (post.u32("place of the name")?, post.u32("end of the name")?);
        let duplicates = post.u8("handling of duplicates")?;
        let query = query.with_rest(fixed, rest)?;
        Ok(Self { query, file_id, name_start, name_end, duplicates })
    }

    pub(super) fn encode_post(&self, out: &mut Vec<u8>) {
        self.query.encode_post(out);
        put_u32(out, self.file_id);
        put_u32(out, self.name_start);
        put_u32(out, self.name_end);
        out.push(self.duplicates);
    }
}
