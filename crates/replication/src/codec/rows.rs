//! Rows events in their three versions: MariaDB's, MariaDB's compressed, MySQL's.
//!
//! Must not read the rows themselves: that needs the table's TABLE_MAP event.

use std::borrow::Cow;

use crate::bytes::{Reader, put_le, put_lenenc, put_u16};
use crate::codec::compress::unpack;
use crate::codec::kind::EventKind;
use crate::codec::table_map::id_bytes;
use crate::error::{DecodeError, DecodeResult};

/// Flags of a rows event.
pub mod row_flags {
    /// The event is the last of its statement.
    pub const STMT_END: u16 = 1;
    /// Foreign keys are not checked.
    pub const NO_FOREIGN_KEYS: u16 = 2;
    /// Unique keys are not checked.
    pub const RELAXED_UNIQUE: u16 = 4;
    /// Images have all columns.
    pub const COMPLETE: u16 = 8;
}

/// Kind of change that the rows had.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// One image for each row: the after image.
    Write,
    /// Two images for each row: the before image, then the after image.
    Update,
    /// One image for each row: the before image.
    Delete,
}

/// Form of a rows event.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum RowsVersion {
    /// As MariaDB writes it.
    V1,
    /// As MariaDB writes it with `log_bin_compress`.
    V1Compressed,
    /// As MySQL writes it.
    V2,
}

/// The types of rows events.
const KINDS: [(EventKind, Change, RowsVersion); 9] = [
    (EventKind::WRITE_ROWS_V1, Change::Write, RowsVersion::V1),
    (EventKind::UPDATE_ROWS_V1, Change::Update, RowsVersion::V1),
    (EventKind::DELETE_ROWS_V1, Change::Delete, RowsVersion::V1),
    (EventKind::WRITE_ROWS_COMPRESSED_V1, Change::Write, RowsVersion::V1Compressed),
    (EventKind::UPDATE_ROWS_COMPRESSED_V1, Change::Update, RowsVersion::V1Compressed),
    (EventKind::DELETE_ROWS_COMPRESSED_V1, Change::Delete, RowsVersion::V1Compressed),
    (EventKind::WRITE_ROWS, Change::Write, RowsVersion::V2),
    (EventKind::UPDATE_ROWS, Change::Update, RowsVersion::V2),
    (EventKind::DELETE_ROWS, Change::Delete, RowsVersion::V2),
];

/// Rows of one table.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Rows<'a> {
    /// Kind of change.
    pub change: Change,
    /// Form of the event.
    pub version: RowsVersion,
    /// The number of the table.
    pub table_id: u64,
    /// See [`row_flags`].
    pub flags: u16,
    /// MySQL's extra data.
    pub extra: &'a [u8],
    /// Columns of the table.
    pub columns: u64,
    /// Columns in the first image of a row, a bit for each from the lowest on.
    pub present: &'a [u8],
    /// Columns in the after image of an update; otherwise empty.
    pub present_after: &'a [u8],
    /// The images, or the compressed block that holds them.
    pub images: &'a [u8],
}

impl<'a> Rows<'a> {
    /// Whether events of a type are rows events.
    pub fn is(kind: EventKind) -> bool {
        KINDS.iter().any(|(of, _, _)| *of == kind)
    }

    pub(super) fn decode(kind: EventKind, post: &[u8], mut rest: Reader<'a>) -> DecodeResult<Self> {
        let found = KINDS.iter().find(|(of, _, _)| *of == kind);
        let &(_, change, version) = found.ok_or(DecodeError::Invalid("event type"))?;
        let id_bytes = id_bytes(post.len());
        let mut post = Reader::new(post);
        let table_id = post.le(id_bytes, "table id")?;
        let flags = post.u16("flags of rows")?;
        let extra = match version {
            // The length counts itself.
            RowsVersion::V2 => {
                let length = post.u16("length of extra data")?;
                let length = length.checked_sub(2).ok_or(DecodeError::Invalid("extra data"))?;
                rest.bytes(usize::from(length), "extra data")?
            }
            RowsVersion::V1 | RowsVersion::V1Compressed => &[],
        };
        let columns = rest.lenenc("count of columns")?;
        let present = rest.counted(columns.div_ceil(8), "present columns")?;
        let after = if change == Change::Update { present.len() } else { 0 };
        let present_after = rest.bytes(after, "present columns")?;
        let images = rest.take_rest();
        let rows = Self {
            change,
            version,
            table_id,
            flags,
            extra,
            columns,
            present,
            present_after,
            images,
        };
        Ok(rows)
    }

    pub(super) fn kind(&self) -> EventKind {
        let is_it = |(_, change, version): &&(EventKind, Change, RowsVersion)| {
            *change == self.change && *version == self.version
        };
        KINDS.iter().find(is_it).map_or(EventKind::WRITE_ROWS_V1, |(kind, _, _)| *kind)
    }

    pub(super) fn encode(&self, post: usize, out: &mut Vec<u8>) {
        put_le(out, self.table_id, id_bytes(post));
        put_u16(out, self.flags);
        if self.version == RowsVersion::V2 {
            put_u16(out, self.extra.len() as u16 + 2);
            out.extend_from_slice(self.extra);
        }
        put_lenenc(out, self.columns);
        out.extend_from_slice(self.present);
        out.extend_from_slice(self.present_after);
        out.extend_from_slice(self.images);
    }

    /// The images, unpacked if they are compressed; an error if that gives more than `most` bytes.
    pub fn plain_images(&self, most: usize) -> DecodeResult<Cow<'a, [u8]>> {
        match self.version {
            RowsVersion::V1Compressed => unpack(self.images, most).map(Cow::Owned),
            RowsVersion::V1 | RowsVersion::V2 => Ok(Cow::Borrowed(self.images)),
        }
    }
}
