//! A cache of events with the state of the running statement's rows events.
//!
//! Rows of one table and kind of change share an event up to a size. All tables of a statement are
//! named before its first rows. A table that comes later, as with a trigger, ends the rows before
//! it as if they were a statement: replicas keep tables open between a statement's first and last
//! rows event, and open none in between.
//!
//! Must not know tables' values.

use selkie_replication::codec::{Change, Event, Query, Rows, RowsVersion, flags, row_flags};
use selkie_replication::log::{Cache, CacheError, CacheMark};
use selkie_types::RowCorrupt;
use smallvec::SmallVec;

use super::images::TableImages;
use super::rider::{GroupHeadline, plain};

/// Bytes of an event at which the next row begins another one: `binlog_row_event_max_size`.
const EVENT_BYTES: usize = 8192;

/// Values that the headers of a statement's events have in common.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stamp {
    /// Seconds since 1970.
    pub(super) timestamp: u32,
    pub(super) server_id: u32,
    /// Flags.
    pub(super) header: u16,
}

impl Stamp {
    /// That of a group's events.
    pub(super) fn of(head: &GroupHeadline) -> Self {
        Self { timestamp: head.timestamp, server_id: head.server_id, header: head.header }
    }
}

/// The rows event that the next row may join.
#[derive(Clone, Copy, PartialEq, Eq)]
struct OpenRows {
    table: u64,
    change: Change,
    flags: u16,
}

/// Events of changes that have not been committed.
pub(super) struct Events {
    pub(super) cache: Cache,
    /// The statement's text is in the cache.
    annotated: bool,
    /// Tables named since the last end of a statement.
    mapped: SmallVec<[u64; 4]>,
    /// The last event, if it is a rows event.
    open: Option<OpenRows>,
}

/// A state to go back to.
pub(crate) struct EventsMark {
    cache: CacheMark,
    annotated: bool,
    mapped: SmallVec<[u64; 4]>,
    open: Option<OpenRows>,
}

impl EventsMark {
    /// Whether there were no events.
    pub(super) fn is_begin(&self) -> bool {
        self.cache.is_begin()
    }
}

/// A rows event that takes a row.
pub(super) struct RowSpace<'e> {
    cache: &'e mut Cache,
}

/// Rows to be added.
pub(super) struct NewRows<'n> {
    pub(super) images: &'n TableImages,
    pub(super) change: Change,
    /// Bits of the columns in the before image and in the after image of an update; else in the
    /// image.
    pub(super) present: (&'n [u8], &'n [u8]),
    pub(super) flags: u16,
    /// The statement's text, if it is to be logged.
    pub(super) text: Option<&'n [u8]>,
    pub(super) stamp: Stamp,
    /// Tables that the statement may change too.
    pub(super) expected: &'n [&'n TableImages],
}

impl Events {
    pub(super) fn new(cache: Cache) -> Self {
        Self { cache, annotated: false, mapped: SmallVec::new(), open: None }
    }

    /// Space for the next row.
    pub(super) fn rows(&mut self, new: &NewRows<'_>) -> Result<RowSpace<'_>, CacheError> {
        self.begin(new)?;
        Ok(self.space())
    }

    /// Whether the last event takes rows of this table, kind of change, and flags.
    pub(super) fn takes(&self, (table, change, flags): (u64, Change, u16)) -> bool {
        self.open == Some(OpenRows { table, change, flags })
            && self.cache.last_event_len() < EVENT_BYTES
            && !self.cache.is_full()
    }

    /// Makes the last event one that takes the next row, unless it is one.
    pub(super) fn begin(&mut self, new: &NewRows<'_>) -> Result<(), CacheError> {
        if self.cache.is_full() {
            return Err(CacheError::TooLarge);
        }
        let wanted = OpenRows { table: new.images.id, change: new.change, flags: new.flags };
        if self.takes((wanted.table, wanted.change, wanted.flags)) {
            return Ok(());
        }
        self.begin_rows(new, wanted)
    }

    /// The last event, after [`Events::begin`].
    pub(super) fn space(&mut self) -> RowSpace<'_> {
        RowSpace { cache: &mut self.cache }
    }

    fn begin_rows(&mut self, new: &NewRows<'_>, wanted: OpenRows) -> Result<(), CacheError> {
        if !self.annotated {
            self.annotated = true;
            if let Some(text) = new.text {
                self.put(&Event::AnnotateRows(text), new.stamp, 0)?;
            }
        }
        if !self.mapped.contains(&wanted.table) {
            if self.open.is_some() {
                self.end_rows();
            }
            self.name_tables(new)?;
        }
        let rows = Rows {
            change: new.change,
            version: RowsVersion::V1,
            table_id: wanted.table,
            flags: new.flags,
            extra: &[],
            columns: new.images.columns(),
            present: new.present.0,
            present_after: new.present.1,
            images: &[],
        };
        self.put(&Event::Rows(rows), new.stamp, 0)?;
        self.open = Some(wanted);
        Ok(())
    }

    /// Names the table of `new`, and the others that are expected.
    fn name_tables(&mut self, new: &NewRows<'_>) -> Result<(), CacheError> {
        for images in new.expected.iter().copied().chain([new.images]) {
            if !self.mapped.contains(&images.id) {
                self.put(&Event::TableMap(images.map()), new.stamp, 0)?;
                self.mapped.push(images.id);
            }
        }
        Ok(())
    }

    /// Marks the last rows event as the last of its statement.
    pub(super) fn end_rows(&mut self) {
        if self.open.take().is_some() {
            self.cache.flag_last_rows(row_flags::STMT_END);
            self.mapped.clear();
        }
    }

    /// Ends the running statement.
    pub(super) fn end_statement(&mut self) {
        self.end_rows();
        self.mapped.clear();
        self.annotated = false;
    }

    /// Forgets all events.
    pub(super) fn clear(&mut self) {
        self.cache.clear();
        self.end_statement();
    }

    /// Adds a savepoint, or the way back to one, unless there is nothing to go back from.
    pub(super) fn savepoint(
        &mut self,
        verb: &str,
        name: &str,
        head: &GroupHeadline,
    ) -> Result<(), CacheError> {
        if self.cache.is_empty() {
            return Ok(());
        }
        let text = format!("{verb} `{}`", name.replace('`', "``"));
        self.open = None;
        self.put(&Event::Query(plain(head, &text)), Stamp::of(head), flags::SUPPRESS_USE)
    }

    /// Adds an event whose header has some flags beside those of all events.
    fn put(&mut self, event: &Event<'_>, stamp: Stamp, header: u16) -> Result<(), CacheError> {
        self.cache.add(event, stamp.timestamp, stamp.server_id, stamp.header | header)
    }

    /// Adds an event that belongs to the next statement.
    pub(super) fn add(&mut self, event: &Event<'_>, stamp: Stamp) -> Result<(), CacheError> {
        self.open = None;
        self.put(event, stamp, 0)
    }

    /// Adds a statement, whose header has some flags.
    pub(super) fn statement(
        &mut self,
        query: Query<'_>,
        stamp: Stamp,
        header: u16,
    ) -> Result<(), CacheError> {
        self.open = None;
        self.put(&Event::Query(query), stamp, header)
    }

    pub(super) fn mark(&self) -> EventsMark {
        let Self { cache, annotated, mapped, open } = self;
        EventsMark {
            cache: cache.mark(),
            annotated: *annotated,
            mapped: mapped.clone(),
            open: *open,
        }
    }

    /// Goes back to a state in the same statement, or at the end of an earlier one.
    pub(super) fn cut(&mut self, mark: &EventsMark) -> std::io::Result<()> {
        self.annotated = mark.annotated;
        self.mapped.clone_from(&mark.mapped);
        self.open = mark.open;
        self.cache.cut(&mark.cache)?;
        if self.open.is_some() {
            self.cache.unflag_last_rows(row_flags::STMT_END);
        }
        Ok(())
    }
}

impl RowSpace<'_> {
    /// Adds the row that `image` writes, unless it returns false: then nothing is added.
    pub(super) fn row(
        &mut self,
        image: impl FnOnce(&mut Vec<u8>) -> Result<bool, RowCorrupt>,
    ) -> Result<(), RowCorrupt> {
        self.cache.extend_last_event(image)
    }
}
