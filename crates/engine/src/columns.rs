//! The contract of columns: encoded copies of key ranges that an engine keeps beside its rows.
//!
//! A table is cut into *parts* by key. A part has a *group*, an immutable copy of what the part
//! held at some moment, or only rows. *Touched* keys are those that may have changed since: they
//! are looked up as rows. What a reader gets from groups, patches and rows together is what a scan
//! of the rows in the same transaction gives, in the same order; it must not depend on which parts
//! have groups.

use std::sync::Arc;

use selkie_column::Segment;
use selkie_types::Bitmap;

use crate::{Cursor, EngineResult, EngineTrx, RowSet, StatementContext};

/// Size of the groups to build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupShape {
    /// Rows of a group.
    pub rows: u32,
    /// A range with fewer rows gets no group.
    pub least: u32,
}

impl GroupShape {
    /// The shape of groups of large tables. Smaller tables are read as fast by rows.
    pub const USUAL: Self = Self { rows: 120 * 1024, least: 8 * 1024 };
}

/// Columns to read.
#[derive(Clone, Debug, Default)]
pub struct ColumnSpec {
    /// Their positions in the definition.
    pub columns: Vec<usize>,
    /// All have a fixed length: parts without groups may give rows cut after the fixed part.
    pub fixed_only: bool,
}

/// State of a table's columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ColumnState {
    /// Groups that can be read.
    pub groups: u64,
    /// Rows in them.
    pub rows: u64,
    /// Columns that some of them lack for their size, a bit for each of the first 64.
    pub absent: u64,
}

impl ColumnState {
    /// Whether some of the groups lack a column; false for one behind the 64th, which is not known.
    pub fn lacks(&self, column: usize) -> bool {
        1_u64.checked_shl(column as u32).is_some_and(|bit| self.absent & bit != 0)
    }
}

/// A table's columns.
pub trait ColumnSource: Send + Sync {
    /// The state now.
    fn state(&self) -> ColumnState;

    /// The columns that were ever read, a bit for each of the first 64.
    fn wanted(&self) -> u64;

    /// Notes that columns are read, a bit for each of the first 64.
    fn want(&self, columns: u64);

    /// Begins to read columns, as `trx` sees the table now.
    fn open_columns<'a>(
        &'a self,
        trx: &'a dyn EngineTrx,
        context: &'a dyn StatementContext,
        spec: ColumnSpec,
    ) -> EngineResult<Box<dyn ColumnReader<'a> + 'a>>;

    /// Builds groups where there are none that are worth keeping, of what `trx` sees, or else of
    /// what is committed. Returns how many. Does nothing while another thread builds.
    fn build_columns(
        &self,
        trx: Option<&dyn EngineTrx>,
        context: &dyn StatementContext,
        shape: GroupShape,
    ) -> EngineResult<u64>;
}

/// A key that may have changed since its group was built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TouchedKey {
    /// The position before which it belongs: its own if the group has it.
    pub at: u32,
    /// The clustered key.
    pub key: Arc<[u8]>,
}

/// Touched keys of a group, and the positions that they make invalid. A key is in both or has no
/// position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TouchedKeys {
    /// One bit per position; a set one must not be read.
    pub dead: Bitmap,
    /// In key order.
    pub keys: Vec<TouchedKey>,
}

impl TouchedKeys {
    /// Whether a position must not be read.
    pub fn is_dead(&self, at: u32) -> bool {
        (at as usize) < self.dead.len() && self.dead.get(at as usize)
    }
}

/// A group as a reader uses it.
#[derive(Clone, Debug)]
pub struct GroupView {
    /// Number of positions.
    pub rows: u32,
    /// Changes since it was built.
    pub touched: Arc<TouchedKeys>,
    /// The reader's columns.
    pub segments: Vec<Arc<Segment>>,
}

impl GroupView {
    /// The touched keys that belong to positions from `from` up to, not including, `to`. Those
    /// behind the last position belong to it.
    pub fn touched(&self, from: u32, to: u32) -> &[TouchedKey] {
        let keys = &self.touched.keys;
        let first = keys.partition_point(|key| key.at < from);
        let end = match to >= self.rows {
            true => keys.len(),
            false => keys.partition_point(|key| key.at < to),
        };
        keys.get(first..end).unwrap_or(&[])
    }
}

/// A read of a table's columns.
pub trait ColumnReader<'a> {
    /// Number of parts, which follow each other in key order.
    fn parts(&self) -> usize;

    /// The group of a part; `None` if the part must be read by [`Self::rows`].
    fn group(&self, part: usize) -> Option<GroupView>;

    /// Reads positions from the first up to, not including, the second number: appends the rows of
    /// the touched keys there as the reader sees them, in key order, and to `at` the position
    /// before which each belongs. Every position is to be read once.
    fn patches(
        &self,
        view: &GroupView,
        positions: (u32, u32),
        out: &mut RowSet,
        at: &mut Vec<u32>,
    ) -> EngineResult<()>;

    /// The rows of a part.
    fn rows(&self, part: usize) -> EngineResult<Box<dyn Cursor + 'a>>;

    /// Number of rows that a part had when its group was built; `None` if it has no group. The
    /// group may lack what the reader needs.
    fn rows_when_built(&self, part: usize) -> Option<u32>;

    /// The rows of parts as this reader sees them, for other threads. They must not be read after
    /// the reader's statement has ended: its transaction keeps their versions.
    fn part_rows(&self) -> EngineResult<Arc<dyn PartRows>>;
}

/// The rows of the parts of a table, for any thread.
pub trait PartRows: Send + Sync {
    /// The rows of a part.
    fn rows<'a>(
        &'a self,
        part: usize,
        context: &'a dyn StatementContext,
    ) -> EngineResult<Box<dyn Cursor + 'a>>;
}
