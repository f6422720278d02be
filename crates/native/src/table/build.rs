//! Entries of an index build: one per row. Either no other thread changes the table meanwhile, or
//! rows are read through snapshots.
//!
//! Long values are read without a latch, so a leaf's rows are copied first.

use super::leaf_scan::{Step, Walk};
use super::value::{self, BARE, MAX_COVERING};
use super::{Growing, NativeTable, TableFiles};
use crate::btree::{MAX_KEY, read_chain};
use crate::engine::Shared;
use crate::trx::{Resolved, Snapshot, View};
use selkie_engine::{EngineError, EngineResult, IndexCodec, KeyRange, StatementContext, TableDef};
use selkie_types::ByteRows;
use std::time::{Duration, Instant};

/// Longest use of one snapshot by a build beside writers: older ones would keep versions of rows.
const GLANCE: Duration = Duration::from_millis(50);

/// Nobody's transaction.
const NOBODY: u64 = 0;

/// A snapshot of a build.
struct Held<'s> {
    shared: &'s Shared,
    snapshot: Snapshot,
}

impl<'s> Held<'s> {
    fn take(shared: &'s Shared) -> Held<'s> {
        Held { shared, snapshot: shared.snapshots.take(shared.storage.log()) }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.shared.snapshots.release(self.snapshot);
    }
}

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

    /// Calls `each` with the entry of every row in a growing index, in clustered order, each as a
    /// snapshot of this moment sees it.
    pub(crate) fn each_visible_entry(
        shared: &Shared,
        files: &TableFiles,
        context: &dyn StatementContext,
        index: &Growing,
        mut each: impl FnMut(&BuildEntry<'_>) -> EngineResult<()>,
    ) -> EngineResult<()> {
        let (def, codec) = (&*index.def, &index.codec);
        let mut walk = Walk::new(KeyRange::default(), false);
        let mut leaf = Leaf::default();
        let (mut row, mut key, mut body) = (Vec::new(), Vec::new(), Vec::new());
        while !walk.done {
            let held = Held::take(shared);
            let begun = Instant::now();
            let view = View::new(&shared.undo, NOBODY, Some(held.snapshot.lsn), 0);
            while !walk.done && begun.elapsed() < GLANCE {
                context.check_killed()?;
                leaf.read(&mut walk, files, &view)?;
                for (clustered, stored) in leaf.keys.iter().zip(leaf.values.iter()) {
                    whole_row(files, def, stored, &mut row)?;
                    key.clear();
                    let any_null = codec.key_of_row(&def.layout, &row, &mut key)?;
                    let split = key.len();
                    key.extend_from_slice(clustered);
                    if key.len() > MAX_KEY {
                        return Err(EngineError::RowTooBig(MAX_KEY));
                    }
                    body.clear();
                    put_body(codec, def, split, &row, &mut body)?;
                    each(&BuildEntry { key: &key, split, any_null, body: &body })?;
                }
            }
        }
        Ok(())
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
                whole_row(files, def, stored, &mut row)?;
                each(clustered, &row)?;
            }
        }
        Ok(())
    }
}

/// Rows copied from a leaf.
#[derive(Default)]
struct Leaf {
    keys: ByteRows,
    values: ByteRows,
    scratch: Vec<u8>,
}

impl Leaf {
    /// Copies the rows of the next leaf that a view sees.
    fn read(&mut self, walk: &mut Walk, files: &TableFiles, view: &View<'_>) -> EngineResult<()> {
        let Leaf { keys, values, scratch } = self;
        keys.clear();
        values.clear();
        walk.leaf(&files.clustered, |node, at| {
            match view.resolve(node.value(at), scratch) {
                Resolved::Gone => return Step::Next,
                Resolved::Current => values.push(node.value(at)),
                Resolved::Old => values.push(scratch),
            }
            node.put_key(at, keys.buffer());
            keys.end_row();
            Step::Next
        })?;
        Ok(())
    }
}

/// Replaces `row` by the whole row of a clustered entry, in the current version.
fn whole_row(
    files: &TableFiles,
    def: &TableDef,
    stored: &[u8],
    row: &mut Vec<u8>,
) -> EngineResult<()> {
    row.clear();
    row.extend_from_slice(value::row_start(stored));
    if let Some((page, len)) = value::chain_of(stored) {
        read_chain(&files.clustered.storage, files.clustered.file, page, len, row)?;
    }
    super::rows::upgrade_tail(&def.layout, 0, row)
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
