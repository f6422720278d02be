//! Entries of an index build: one per row. The caller lets no other thread change the table
//! meanwhile.
//!
//! Long values are read without a latch, so a leaf's rows are copied first.

use super::leaf_scan::{Step, Walk};
use super::value::{self, BARE, MAX_COVERING};
use super::{NativeTable, TableFiles};
use crate::btree::read_chain;
use selkie_engine::{EngineResult, IndexCodec, KeyRange, StatementContext, TableDef};
use selkie_types::ByteRows;

/// A row's entry in an index.
pub(crate) struct BuildEntry<'e> {
    pub(crate) key: &'e [u8],
    /// Length of the index key; the clustered key follows it.
    pub(crate) split: usize,
    pub(crate) any_null: bool,
    /// Tag and the bytes after it.
    pub(crate) body: &'e [u8],
}

impl NativeTable {
    /// Calls `each` with the entry of every row, in clustered order.
    pub(crate) fn each_entry(
        files: &TableFiles,
        context: &dyn StatementContext,
        def: &TableDef,
        position: usize,
        mut each: impl FnMut(&BuildEntry<'_>) -> EngineResult<()>,
    ) -> EngineResult<()> {
        let codec = IndexCodec::new(def, &def.indexes[position]);
        let (mut key, mut body) = (Vec::new(), Vec::new());
        Self::each_row(files, context, def, |clustered, row| {
            key.clear();
            let any_null = codec.key_of_row(&def.layout, row, &mut key)?;
            let split = key.len();
            key.extend_from_slice(clustered);
            body.clear();
            put_body(&codec, def, split, row, &mut body)?;
            each(&BuildEntry { key: &key, split, any_null, body: &body })
        })
    }

    /// Calls `each` with the clustered key and the newest version of every row, in clustered order.
    pub(super) fn each_row(
        files: &TableFiles,
        context: &dyn StatementContext,
        def: &TableDef,
        mut each: impl FnMut(&[u8], &[u8]) -> EngineResult<()>,
    ) -> EngineResult<()> {
        let tree = &files.clustered;
        let mut walk = Walk::new(KeyRange::default(), false);
        let (mut keys, mut values) = (ByteRows::default(), ByteRows::default());
        let mut row = Vec::new();
        while !walk.done {
            context.check_killed()?;
            keys.clear();
            values.clear();
            walk.leaf(tree, |node, at| {
                if !value::is_deleted(node.value(at)) {
                    node.put_key(at, keys.buffer());
                    keys.end_row();
                    values.push(node.value(at));
                }
                Step::Next
            })?;
            for (clustered, stored) in keys.iter().zip(values.iter()) {
                row.clear();
                row.extend_from_slice(value::row_start(stored));
                if let Some((page, len)) = value::chain_of(stored) {
                    read_chain(&tree.storage, tree.file, page, len, &mut row)?;
                }
                super::rows::upgrade_tail(&def.layout, 0, &mut row)?;
                each(clustered, &row)?;
            }
        }
        Ok(())
    }
}

/// Appends the tag, the length of the index key and the covering entry.
pub(super) fn put_body(
    codec: &IndexCodec,
    def: &TableDef,
    split: usize,
    row: &[u8],
    out: &mut Vec<u8>,
) -> EngineResult<()> {
    out.push(0);
    out.extend_from_slice(&(split as u16).to_le_bytes());
    codec.entry_of_row(&def.layout, row, out)?;
    if out.len() > MAX_COVERING {
        out.truncate(3);
        out[0] = BARE;
    }
    Ok(())
}
