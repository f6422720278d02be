//! QUERY and QUERY_COMPRESSED: a statement and the settings it was executed with.
//!
//! Must not parse statements. Must not unpack compressed ones: callers do.

use crate::bytes::{Reader, put_short, put_u16, put_u32};
use crate::codec::status::StatusVars;
use crate::error::{DecodeError, DecodeResult};

/// Bytes of the post-header. The last two, the length of the status variables, came with format 4.
const POST_HEADER_BYTES: usize = 13;

/// A statement.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Query<'a> {
    /// Number of the connection that executed the statement.
    pub thread_id: u32,
    /// Seconds that the statement took.
    pub exec_time: u32,
    /// The error that the statement ended with, or 0.
    pub error_code: u16,
    /// The session's settings, as status variables.
    pub status: StatusVars<'a>,
    /// The default database.
    pub database: &'a [u8],
    /// The text, or the compressed block that holds it.
    pub text: &'a [u8],
}

impl<'a> Query<'a> {
    /// Decodes a post-header and the bytes behind it.
    pub(crate) fn decode(post: &[u8], rest: Reader<'a>) -> DecodeResult<Self> {
        let mut post = Reader::new(post);
        let (query, fixed) = Self::fixed(&mut post)?;
        query.with_rest(fixed, rest)
    }

    /// The query with the fixed fields alone, and the lengths of database and status variables.
    pub(super) fn fixed(post: &mut Reader<'_>) -> DecodeResult<(Self, (u8, u16))> {
        let thread_id = post.u32("thread id")?;
        let exec_time = post.u32("execution time")?;
        let database = post.u8("length of the database")?;
        let error_code = post.u16("error code")?;
        let status = if post.is_empty() { 0 } else { post.u16("length of status variables")? };
        let none = StatusVars(&[]);
        let query =
            Self { thread_id, exec_time, error_code, status: none, database: &[], text: &[] };
        Ok((query, (database, status)))
    }

    /// The query with the fields behind the post-header added.
    pub(super) fn with_rest(self, fixed: (u8, u16), mut rest: Reader<'a>) -> DecodeResult<Self> {
        let (database, status) = fixed;
        let status = StatusVars(rest.bytes(usize::from(status), "status variables")?);
        let database = rest.bytes(usize::from(database), "database")?;
        if rest.u8("database")? != 0 {
            return Err(DecodeError::Invalid("database"));
        }
        Ok(Self { status, database, text: rest.take_rest(), ..self })
    }

    pub(super) fn encode_post(&self, out: &mut Vec<u8>) {
        put_u32(out, self.thread_id);
        put_u32(out, self.exec_time);
        out.push(self.short_database().len() as u8);
        put_u16(out, self.error_code);
        put_u16(out, self.status.short().len() as u16);
    }

    pub(super) fn encode_rest(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.status.short());
        out.extend_from_slice(self.short_database());
        out.push(0);
        out.extend_from_slice(self.text);
    }

    /// The database, cut at 255 bytes because its length is one byte; no name is longer.
    fn short_database(&self) -> &'a [u8] {
        self.database.get(..255).unwrap_or(self.database)
    }
}

const _: () = assert!(POST_HEADER_BYTES == 4 + 4 + 1 + 2 + 2);

/// Appends a name with a length of one byte and a zero behind it.
pub(super) fn put_name(out: &mut Vec<u8>, name: &[u8]) {
    put_short(out, name);
    out.push(0);
}
