//! TABLE_MAP: a table and its columns. Rows events behind it name the table by a number.
//!
//! Must not interpret types and their metadata; `images` does.

use crate::bytes::{Reader, put_le, put_lenenc, put_lenenc_bytes, put_u16};
use crate::codec::metadata::OptionalFields;
use crate::codec::query::put_name;
use crate::error::DecodeResult;

/// A table.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TableMap<'a> {
    /// Number of the table in rows events.
    pub table_id: u64,
    /// 1: lengths of BIT columns are exact.
    pub flags: u16,
    /// Database of the table.
    pub database: &'a [u8],
    /// Name of the table.
    pub table: &'a [u8],
    /// Type of each column, a byte each.
    pub types: &'a [u8],
    /// Metadata of the types, of all columns one after the other.
    pub metadata: &'a [u8],
    /// Columns that may be NULL, a bit for each from the lowest on.
    pub nullable: &'a [u8],
    /// Fields that `binlog_row_metadata` adds.
    pub optional: OptionalFields<'a>,
}

/// Bytes of a table's number: 4 if the post-header has 6 bytes, as in MySQL 5.1, otherwise 6.
pub(super) fn id_bytes(post: usize) -> usize {
    if post == 6 { 4 } else { 6 }
}

impl<'a> TableMap<'a> {
    pub(super) fn decode(post: &[u8], mut rest: Reader<'a>) -> DecodeResult<Self> {
        let id_bytes = id_bytes(post.len());
        let mut post = Reader::new(post);
        let table_id = post.le(id_bytes, "table id")?;
        let flags = post.u16("flags of a table")?;
        let database = rest.short_name("database")?;
        let table = rest.short_name("table")?;
        let columns = rest.lenenc("count of columns")?;
        let types = rest.counted(columns, "types")?;
        let metadata = rest.lenenc_bytes("metadata of types")?;
        let nullable = rest.bytes(types.len().div_ceil(8), "nullable columns")?;
        let optional = OptionalFields(rest.take_rest());
        Ok(Self { table_id, flags, database, table, types, metadata, nullable, optional })
    }

    pub(super) fn encode(&self, post: usize, out: &mut Vec<u8>) {
        put_le(out, self.table_id, id_bytes(post));
        put_u16(out, self.flags);
        put_name(out, self.database);
        put_name(out, self.table);
        put_lenenc(out, self.types.len() as u64);
        out.extend_from_slice(self.types);
        put_lenenc_bytes(out, self.metadata);
        out.extend_from_slice(self.nullable);
        out.extend_from_slice(self.optional.0);
    }
}
