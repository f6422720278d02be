//! The log of one table's rows in a statement: it hands the changed rows to the session's caches.
//!
//! Must not decide whether rows are logged: it exists only if they are.

use std::sync::Arc;

use selkie_catalog::TableInfo;
use selkie_engine::{EngineError, EngineResult};
use selkie_replication::codec::Change;
use selkie_replication::images::RowImage;
use selkie_types::{ByteRows, RowCorrupt, RowLayout};

use super::events::EventsMark;
use super::images::{Shape, TableImages};
use super::session_log::{SessionLog, Target};
use crate::state::instance::OwnHandle;
use crate::state::session::Settings;

/// Receiver of a table's changed rows.
pub(crate) struct RowLog<'a> {
    pub(super) log: &'a SessionLog,
    pub(super) handle: Arc<OwnHandle>,
    pub(super) images: Arc<TableImages>,
    /// Shapes that differ from the full one: before, after.
    pub(super) shapes: Option<Box<(Shape, Shape)>>,
    pub(super) target: Target,
    pub(super) flags: u16,
}

impl RowLog<'_> {
    fn layout(&self) -> &RowLayout {
        &self.handle.table.def().layout
    }

    fn before(&self) -> &Shape {
        self.shapes.as_ref().map_or(&self.images.full, |both| &both.0)
    }

    fn after(&self) -> &Shape {
        self.shapes.as_ref().map_or(&self.images.full, |both| &both.1)
    }

    /// Logs the first `count` of `rows` as inserted.
    pub(crate) fn inserted(&self, rows: &ByteRows, count: usize) -> EngineResult<()> {
        self.put(Change::Write, count, |row, out| self.one(self.after(), rows.get(row), out))
    }

    /// Logs the first `count` rows as deleted; those without a before image were not there.
    pub(crate) fn deleted(&self, before: &ByteRows, count: usize) -> EngineResult<()> {
        self.put(Change::Delete, count, |row, out| self.one(self.before(), before.get(row), out))
    }

    /// Logs the first `count` rows as updated; those without a before image were not there.
    pub(crate) fn updated(
        &self,
        before: &ByteRows,
        after: &ByteRows,
        count: usize,
    ) -> EngineResult<()> {
        self.put(Change::Update, count, |row, out| {
            if !self.one(self.before(), before.get(row), out)? {
                return Ok(false);
            }
            self.one(self.after(), after.get(row), out)
        })
    }

    /// Appends the image of a row, unless the row is empty.
    fn one(&self, shape: &Shape, row: &[u8], out: &mut Vec<u8>) -> Result<bool, RowCorrupt> {
        if row.is_empty() {
            return Ok(false);
        }
        shape.rows.put(self.layout(), row, out).map(|()| true)
    }

    fn put(
        &self,
        change: Change,
        count: usize,
        image: impl Fn(usize, &mut Vec<u8>) -> Result<bool, RowCorrupt>,
    ) -> EngineResult<()> {
        if count == 0 {
            return Ok(());
        }
        let (before, after) = match change {
            Change::Write => (self.after(), None),
            Change::Delete => (self.before(), None),
            Change::Update => (self.before(), Some(self.after())),
        };
        let present = (&before.present[..], after.map_or(&[][..], |after| &after.present));
        let mut state = self.log.lock();
        let refused = |error| EngineError::Refused(Box::new(error));
        for row in 0..count {
            let mut open = state.rows(self, change, present).map_err(refused)?;
            open.row(|out| image(row, out)).map_err(EngineError::from)?;
        }
        Ok(())
    }

    /// Marks the state of the cache that gets the table's rows.
    pub(crate) fn mark(&self) -> EventsMark {
        self.log.lock().events(self.target).mark()
    }

    /// Cuts the events since `mark` off (LOG-2).
    pub(crate) fn cut(&self, mark: &EventsMark) -> EngineResult<()> {
        self.log.lock().events(self.target).cut(mark).map_err(EngineError::from)
    }
}

/// Flags of rows events: the session's checks that a replica leaves out too.
pub(super) fn flags_of(settings: &Settings) -> u16 {
    use selkie_replication::codec::row_flags::{NO_FOREIGN_KEYS, RELAXED_UNIQUE};
    let off = |on: bool, flag: u16| if on { 0 } else { flag };
    off(settings.planning.foreign_key_checks, NO_FOREIGN_KEYS)
        | off(settings.binlog.unique_checks, RELAXED_UNIQUE)
}

/// The shapes of a table's images for a setting; none if they have all columns.
pub(super) fn shapes_of(
    images: &TableImages,
    info: &TableInfo,
    image: RowImage,
    assigned: impl Fn(usize) -> bool,
) -> Option<Box<(Shape, Shape)>> {
    (image != RowImage::Full).then(|| Box::new(images.shapes(info, image, assigned)))
}
