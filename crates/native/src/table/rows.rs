//! Conversion of rows to entry bodies and back, with the rest of a long row in a chain of pages.
//!
//! Chains are read and written without a latch held.

use super::handle::NativeTable;
use super::value::{self, LONG, ROW_AT, TRAILER};
use crate::btree::{MAX_ENTRY, MAX_KEY, free_chain, read_chain, write_chain};
use selkie_engine::{EngineError, EngineResult};
use selkie_types::{ByteRows, RowLayout};

/// Bytes of a long row that stay in the leaf, if its fixed part is not longer.
const LONG_START: usize = 256;

/// Converts the row at the end of `out`, from `start` on, to the current version if it has an
/// earlier one (I35).
pub(super) fn upgrade_tail(
    layout: &RowLayout,
    start: usize,
    out: &mut Vec<u8>,
) -> EngineResult<()> {
    if layout.is_earlier(&out[start..]) {
        let row = out.split_off(start);
        layout.upgrade(&row, out)?;
    }
    Ok(())
}

/// Appends a short row, or its first `cut` bytes, in the current version.
#[inline]
pub(super) fn push_row(
    layout: &RowLayout,
    row: &[u8],
    cut: usize,
    out: &mut ByteRows,
) -> EngineResult<()> {
    if layout.is_earlier(row) {
        layout.upgrade(row, out.buffer())?;
        out.end_row();
        return Ok(());
    }
    out.push(&row[..row.len().min(cut)]);
    Ok(())
}

/// An index entry's key and body (the tag and the bytes after it).
#[derive(Default)]
pub(super) struct IndexEntry {
    pub(super) key: Vec<u8>,
    /// Length of the index key; the clustered key follows it.
    pub(super) split: usize,
    pub(super) any_null: bool,
    pub(super) body: Vec<u8>,
}

impl NativeTable {
    /// The clustered key formed by the row's columns; `None` for a table of numbered rows.
    pub(super) fn primary_key(&self, row: &[u8]) -> EngineResult<Option<Vec<u8>>> {
        if self.def.primary().is_none() {
            return Ok(None);
        }
        let mut key = Vec::new();
        self.codecs[0].key_of_row(&self.def.layout, row, &mut key)?;
        if key.len() > MAX_KEY {
            return Err(EngineError::RowTooBig(MAX_KEY));
        }
        Ok(Some(key))
    }

    /// Writes the body of a row's entry to `out`. The rest of a long row is written to pages at
    /// once.
    pub(super) fn row_body(&self, key: &[u8], row: &[u8], out: &mut Vec<u8>) -> EngineResult<()> {
        out.clear();
        if key.len() + ROW_AT + row.len() <= MAX_ENTRY {
            out.push(0);
            out.extend_from_slice(row);
            return Ok(());
        }
        let room = MAX_ENTRY - key.len() - ROW_AT - TRAILER;
        let start = self.def.layout.fixed_bytes().max(LONG_START).min(room).min(row.len() - 1);
        let file = self.files.clustered.file;
        let page = write_chain(&self.shared.storage, file, &row[start..])?;
        out.push(LONG);
        out.extend_from_slice(&row[..start]);
        out.extend_from_slice(&(row.len() as u64).to_le_bytes());
        out.extend_from_slice(&page.0.to_le_bytes());
        Ok(())
    }

    /// Frees the pages of a body that was not used.
    pub(super) fn discard_body(&self, body: &[u8]) -> EngineResult<()> {
        let value = [&[0; 8], body].concat();
        if let Some((page, len)) = value::chain_of(&value) {
            free_chain(&self.shared.storage, self.files.clustered.file, page, len)?;
        }
        Ok(())
    }

    /// Appends the whole row of a clustered entry. Hold no latch.
    pub(super) fn whole_row(&self, value: &[u8], out: &mut Vec<u8>) -> EngineResult<()> {
        let start = out.len();
        out.extend_from_slice(value::row_start(value));
        if let Some((page, len)) = value::chain_of(value) {
            read_chain(&self.shared.storage, self.files.clustered.file, page, len, out)?;
        }
        upgrade_tail(&self.def.layout, start, out)
    }

    /// Whether a whole row can be read, for scans that skip unreadable rows.
    pub(super) fn is_readable(&self, value: &[u8]) -> bool {
        let read = self.whole_row(value, &mut Vec::new());
        read.inspect_err(|e| tracing::warn!("unreadable row skipped: {e}")).is_ok()
    }

    /// The entry of `row` in the index at `at`.
    pub(super) fn index_entry(
        &self,
        at: usize,
        clustered: &[u8],
        row: &[u8],
        out: &mut IndexEntry,
    ) -> EngineResult<()> {
        let (codec, layout) = (&self.codecs[at], &self.def.layout);
        out.key.clear();
        out.any_null = codec.key_of_row(layout, row, &mut out.key)?;
        out.split = out.key.len();
        out.key.extend_from_slice(clustered);
        if out.key.len() > MAX_KEY {
            return Err(EngineError::RowTooBig(MAX_KEY));
        }
        out.body.clear();
        super::build::put_body(codec, &self.def, out.split, row, &mut out.body)?;
        Ok(())
    }
}
