//! QUERY and QUERY_COMPRESSED: a statement and what it was executed with.
//!
//! Must not parse statements, or unpack compressed ones unasked.

use crate::bytes::{Reader, put_short, put_u16, put_u32};
use crate::codec::status::StatusVars;
use crate::error::{DecodeError, DecodeResult};

/// Bytes of the post-header; the length of the status variables, the last two, is new in format 4.
const POST_HEADER_BYTES: usize = 13;

/// A statement.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Query<'a> {
    /// The connection that executed it.
    pub thread_id: u32,
    /// Seconds it took.
    pub exec_time: u32,
    /// The error it ended with, or 0.
    pub error_code: u16,
    /// What it was executed with.
    pub status: StatusVars<'a>,
    /// The default database.
    pub database: &'a [u8],
    /// The text, or the compressed block of it.
    pub text: &'a [u8],
}

impl<'a> Query<'a> {
    /// From a post-header and what follows it.
    pub(crate) fn decode(post: &[u8], rest: Reader<'a>) -> DecodeResult<Self> {
        let mut post = Reader::new(post);
        let (query, fixed) = Self::fixed(&mut post)?;
        query.with_rest(fixed, rest)
    }

    /// The fixed part, and the lengths of database and status variables.
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

    /// With what lies behind the post-header.
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

    /// The database as far as its length fits into a byte, which that of any name does.
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
