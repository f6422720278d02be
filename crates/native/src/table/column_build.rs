//! Builds column groups: cuts the table into key ranges, reads each at one snapshot, and encodes
//! what it found.
//!
//! The snapshot is taken after the group is in the directory, and a key whose newest version it
//! does not see is touched: so every key that changes later, or may still change, is touched.

use super::handle::NativeTable;
use super::leaf_scan::{Step, Walk};
use super::value;
use crate::columns::{Built, Group, Keys, LeftOut, Segments};
use crate::page::get_u64;
use crate::sync::atomic::Ordering;
use crate::trx::{NativeTrx, Snapshot, View};
use selkie_column::{Aim, Encoding, Segment, encode_for};
use selkie_engine::{EngineResult, EngineTrx, GroupShape, IndexKind, KeyRange, StatementContext};
use selkie_types::{ByteRows, Column, ColumnData, RowLayout};
use std::sync::Arc;

/// Most touched keys of a group.
const MOST_TOUCHED: u32 = 8192;
/// Touched keys of a group from which on it is built anew.
const STALE: u32 = MOST_TOUCHED / 8;
/// Most bytes of a key, on average.
const MOST_KEY_BYTES: usize = 64;
/// Most bytes of a value, on average.
const MOST_VALUE_BYTES: usize = 256;
/// Bytes of a value up to which its column is in a group before anybody read it.
const NARROW: usize = 8;
/// Part of the memory that is left which a wider column of a table may take before anybody read it.
const UNREAD: u64 = 16;
/// Part of the memory that is left which a column of byte strings may take uncompressed.
const UNCOMPRESSED: u64 = 8;
/// Rows that are decoded together.
const CHUNK: usize = 4096;

/// Nobody's transaction.
const NOBODY: u64 = 0;

/// Tells whether a column is to be in a group, by its position, its bytes and the group's rows.
type Worth<'w> = dyn Fn(usize, (usize, usize)) -> bool + 'w;

/// Tells how byte strings are encoded, by their bytes and the group's rows.
type Aims<'w> = dyn Fn((usize, usize)) -> Aim + 'w;

/// A range of keys to build a group of.
struct Stretch {
    lower: Vec<u8>,
    upper: Vec<u8>,
}

/// A snapshot of the builder's own, or the one of a transaction.
struct Held<'t> {
    table: &'t NativeTable,
    at: u64,
    own: Option<Snapshot>,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.own.into_iter().for_each(|own| self.table.shared.snapshots.release(own));
    }
}

/// The most keys that may be touched before a group of so many rows is not worth reading.
fn limit_of(rows: u32) -> u32 {
    (rows / 15).clamp(8, MOST_TOUCHED)
}

impl NativeTable {
    pub(super) fn build_groups(
        &self,
        trx: Option<&NativeTrx>,
        context: &dyn StatementContext,
        shape: GroupShape,
    ) -> EngineResult<u64> {
        let Some(building) = self.files.columns.begin_building() else { return Ok(0) };
        // Groups belong to the server and not to the statement that builds them.
        let _server = selkie_meter::detached();
        let (mut from, mut built) = (Some(Vec::new()), 0);
        let (mut left_out, mut has_shed) = (Vec::new(), false);
        while let Some(lower) = from {
            context.check_killed()?;
            if self.room_for_columns() == 0 {
                if self.shed_unread() == 0 {
                    break;
                }
                has_shed = true;
            }
            let (stretch, next) = self.stretch(lower, shape)?;
            from = next;
            let Some(stretch) = stretch else { continue };
            let limit = limit_of(shape.rows) as usize;
            let memory = self.shared.counters.columns.clone();
            let group = Arc::new(Group::new(self.def.layout.version(), limit, memory));
            building.begin((&stretch.lower, &stretch.upper), &group);
            // All groups of a build have the same columns while memory lasts.
            let decided = built > 0 && !has_shed;
            let is_worth = |at, size| decided || self.is_worth_keeping(at, size);
            let filled = self.fill(trx, context, &stretch, (&group, &mut left_out, &is_worth));
            built += u64::from(building.end(&group));
            filled?;
        }
        Ok(built)
    }

    /// Bytes that groups may still take.
    fn room_for_columns(&self) -> u64 {
        let pool = self.shared.storage.pool().capacity() * crate::ids::PAGE_SIZE;
        self.shared.counters.columns.room(pool as u64)
    }

    /// Whether a column of so many bytes in a group of `rows` rows is worth its memory: it is
    /// narrow, all of it is small beside the memory left, or it was read and there is room.
    fn is_worth_keeping(&self, column: usize, (bytes, rows): (usize, usize)) -> bool {
        if bytes <= rows * NARROW {
            return true;
        }
        let (all, room) = (self.in_all_groups((bytes, rows)), self.room_for_columns());
        all <= room / UNREAD || self.files.columns.is_wanted(column) && bytes as u64 <= room
    }

    /// Bytes that a column takes in all groups of the table, if it takes so many in a group of
    /// `rows` rows.
    fn in_all_groups(&self, (bytes, rows): (usize, usize)) -> u64 {
        bytes as u64 * (self.files.rows() / rows.max(1) as u64).max(1)
    }

    /// The aim of encoding byte strings of so many bytes in a group of `rows` rows. Compressed ones
    /// take longer to read than plain ones, and far less than rows for which there was no memory.
    fn aim_of(&self, size: (usize, usize)) -> Aim {
        match self.in_all_groups(size) > self.room_for_columns() / UNCOMPRESSED {
            true => Aim::Size,
            false => Aim::Speed,
        }
    }

    /// Whether a group lacks a column that was read since and for which there is room.
    fn lacks_wanted(&self, group: &Group) -> bool {
        let room = self.room_for_columns();
        let is_lacked =
            |left: LeftOut| left.bytes <= room && self.files.columns.is_wanted(left.column);
        group.built().is_some_and(|built| built.segments.lacks(is_lacked))
    }

    /// Leaves wide columns that nobody reads out of the groups of all tables. Returns the bytes
    /// that they took.
    fn shed_unread(&self) -> u64 {
        let is_wide = |(bytes, rows): (usize, usize)| bytes > rows * NARROW;
        self.shared.all_tables().iter().map(|files| files.columns.shed_unread(is_wide)).sum()
    }

    /// The next range without a good group from `lower` on, if it has rows enough; and the key at
    /// which to continue, if that is not the end.
    fn stretch(
        &self,
        lower: Vec<u8>,
        shape: GroupShape,
    ) -> EngineResult<(Option<Stretch>, Option<Vec<u8>>)> {
        let directory = self.files.columns.directory();
        let at = directory.position_of(&lower);
        let end = directory.upper(at).map(<[u8]>::to_vec);
        if let Some(group) = &directory.regions()[at].group {
            let stale = STALE.min(limit_of(shape.rows) / 2);
            let is_good = group.version == self.def.layout.version()
                && !group.is_full()
                && group.touched() < stale as usize
                && !self.lacks_wanted(group);
            if is_good {
                return Ok((None, end));
            }
            self.files.columns.remove(group);
            // The region may have become longer: it is looked for again.
            return Ok((None, Some(lower)));
        }
        let (upper, entries) = self.end_of_entries(&lower, end.as_deref(), shape.rows as usize)?;
        let Some(upper) = upper.filter(|_| entries >= shape.least as usize && entries > 0) else {
            return Ok((None, end));
        };
        let next = Some(upper.clone());
        Ok((Some(Stretch { lower, upper }), next))
    }

    /// The key behind the first `most` entries from `lower` on, before `end`, and the number of
    /// entries up to there. Keys that will be added behind the last entry of the table are not
    /// covered, so that nobody has to note them.
    fn end_of_entries(
        &self,
        lower: &[u8],
        end: Option<&[u8]>,
        most: usize,
    ) -> EngineResult<(Option<Vec<u8>>, usize)> {
        let range = KeyRange { start: lower.to_vec(), end: end.map(<[u8]>::to_vec) };
        let mut walk = Walk::new(range, false);
        let (mut entries, mut last) = (0, Vec::new());
        while !walk.done && entries < most {
            walk.leaf(&self.files.clustered, |node, at| {
                entries += 1;
                let is_last = entries == most || at + 1 == node.count();
                if is_last {
                    last.clear();
                    node.put_key(at, &mut last);
                }
                if entries == most { Step::Stop } else { Step::Next }
            })?;
        }
        if entries == 0 {
            return Ok((end.map(<[u8]>::to_vec), 0));
        }
        if entries < most
            && let Some(end) = end
        {
            return Ok((Some(end.to_vec()), entries));
        }
        last.push(0);
        Ok((Some(last), entries))
    }

    fn snapshot(&self, trx: Option<&NativeTrx>) -> EngineResult<Held<'_>> {
        match trx {
            Some(trx) => {
                let at = trx.take_snapshot()?.map_or(0, |lsn| lsn.0);
                self.view_of(trx)?;
                Ok(Held { table: self, at, own: None })
            }
            None => {
                let own = self.shared.snapshots.take(self.shared.storage.log());
                Ok(Held { table: self, at: own.lsn, own: Some(own) })
            }
        }
    }

    /// Fills a group with the rows of its range, unless they cannot be encoded.
    fn fill(
        &self,
        trx: Option<&NativeTrx>,
        context: &dyn StatementContext,
        stretch: &Stretch,
        (group, left_out, is_worth): (&Group, &mut Vec<LeftOut>, &Worth<'_>),
    ) -> EngineResult<()> {
        let held = self.snapshot(trx)?;
        let view = View::new(&self.shared.undo, NOBODY, Some(held.at), 0);
        let range = KeyRange { start: stretch.lower.clone(), end: Some(stretch.upper.clone()) };
        let mut walk = Walk::new(range, false);
        let mut rows = Rows::new(&self.def.layout);
        // A column that was too large for the group before is so for this one, too.
        left_out.retain(|left| !self.files.columns.is_wanted(left.column));
        left_out.iter().for_each(|left| rows.columns[left.column] = None);
        while !walk.done {
            context.check_killed()?;
            let mut failed = false;
            walk.leaf(&self.files.clustered, |node, at| {
                let value = node.value(at);
                if !view.sees(get_u64(value, 0)) {
                    group.touch(&node.key(at));
                    return Step::Next;
                }
                if value::is_deleted(value) {
                    return Step::Next;
                }
                node.put_key(at, rows.keys.buffer());
                rows.keys.end_row();
                failed = !rows.push(value);
                if failed { Step::Stop } else { Step::Next }
            })?;
            if failed || group.is_full() || !rows.decode(CHUNK)? {
                return Ok(());
            }
        }
        if !rows.decode(1)? {
            return Ok(());
        }
        let keys = std::mem::take(&mut rows.keys);
        let kept = rows.encode(left_out, (is_worth, &|size| self.aim_of(size)));
        let is_compressed = |segment: &&Arc<Segment>| segment.encoding() == Encoding::Fsst;
        let compressed = kept.iter().flatten().filter(is_compressed).count() as u64;
        self.shared.counters.columns.compressed.fetch_add(compressed, Ordering::Relaxed);
        let keys = self.keys_of(&keys, &kept);
        let segments = Segments::new(kept, left_out.clone());
        group.fill(Built { at: held.at, keys, segments });
        Ok(())
    }

    /// The keys of a group, made of its columns if it has those of the primary key.
    fn keys_of(&self, keys: &ByteRows, kept: &[Option<Arc<Segment>>]) -> Keys {
        let primary = self.def.indexes.iter().position(|index| index.kind == IndexKind::Primary);
        let Some(at) = primary else { return Keys::new(keys) };
        let parts = self.def.indexes[at].parts.iter();
        let parts: Option<Vec<_>> = parts.map(|part| kept.get(part.column)?.clone()).collect();
        match parts {
            Some(parts) => Keys::of_parts(keys, Arc::new(self.codecs[at].clone()), parts),
            None => Keys::new(keys),
        }
    }
}

/// Rows on their way into a group.
struct Rows<'l> {
    layout: &'l RowLayout,
    keys: ByteRows,
    /// Rows that are not decoded yet.
    chunk: ByteRows,
    /// By position; `None`: the column cannot be in the group.
    columns: Vec<Option<Column>>,
    decoded: usize,
}

impl<'l> Rows<'l> {
    fn new(layout: &'l RowLayout) -> Rows<'l> {
        let column = |at: usize| {
            let ty = &layout.columns()[at].ty;
            Some(Column::new(ty.physical(), ty.decimals, 0))
        };
        Rows {
            layout,
            keys: ByteRows::default(),
            chunk: ByteRows::default(),
            columns: (0..layout.columns().len()).map(column).collect(),
            decoded: 0,
        }
    }

    /// Takes the value of an entry; false if it cannot be in a group. The part of a long row that
    /// is not in the leaf is not read: then the columns of variable length are left out.
    fn push(&mut self, value: &[u8]) -> bool {
        let row = value::row_start(value);
        if value::tag(value) & value::LONG != 0 {
            for (at, column) in self.columns.iter_mut().enumerate() {
                column.take_if(|_| !self.layout.is_fixed(at));
            }
            if row.len() < self.layout.fixed_bytes() || self.layout.is_earlier(row) {
                return false;
            }
        }
        super::rows::push_row(self.layout, row, usize::MAX, &mut self.chunk).is_ok()
    }

    /// Decodes the rows taken, once they are as many as `least`. False if the keys are too long.
    fn decode(&mut self, least: usize) -> EngineResult<bool> {
        if self.chunk.len() < least {
            return Ok(true);
        }
        self.decoded += self.chunk.len();
        for (at, column) in self.columns.iter_mut().enumerate() {
            let Some(column_so_far) = column else { continue };
            column_so_far.append(&self.layout.decode(&self.chunk, at)?);
            column.take_if(|column| column.memory() > self.decoded * MOST_VALUE_BYTES * 2);
        }
        self.chunk.clear();
        Ok(self.keys.data().len() <= self.keys.len() * MOST_KEY_BYTES)
    }

    /// Its columns. Those that are not worth their memory go to `left_out`, which has those that
    /// were not read at all.
    fn encode(
        self,
        left_out: &mut Vec<LeftOut>,
        (is_worth, aim_of): (&Worth<'_>, &Aims<'_>),
    ) -> Vec<Option<Arc<Segment>>> {
        let mut segment = |(at, column): (usize, Option<Column>)| {
            let column = column.filter(|column| !column.is_empty())?;
            let rows = column.len();
            let text = match column.data() {
                ColumnData::Bytes(values) => values.text_size(),
                _ => 0,
            };
            let segment: Segment = encode_for(&column, aim_of((text, rows)));
            let bytes = segment.bytes().len();
            if bytes > rows * MOST_VALUE_BYTES {
                return None;
            }
            if !is_worth(at, (bytes, rows)) {
                left_out.push(LeftOut { column: at, bytes: segment.memory() as u64 });
                return None;
            }
            Some(Arc::new(segment))
        };
        self.columns.into_iter().enumerate().map(&mut segment).collect()
    }
}
