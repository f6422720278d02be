//! Logging as a session does it: which rows are logged, and what a group's header says.
//!
//! Must not change variables: the server resets those that count for one group.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use selkie_catalog::{TableInfo, TableKind};
use selkie_engine::{Engine, EngineResult, EngineTrx, Lsn};

use selkie_replication::Gtid;
use selkie_replication::log::Place;

use super::events::Stamp;
use super::rider::{Binlog, GroupHeadline};
use super::row_log::{RowLog, flags_of, shapes_of};
use super::session_log::{SessionLog, Target};
use selkie_types::SqlResult;

use crate::state::instance::OwnHandle;
use crate::{Instance, Session, TableHandle};

impl Session {
    /// Makes the session log its changes, if the server has a binary log.
    pub(crate) fn join_binlog(&mut self, instance: &Instance) {
        if let Some(binlog) = &instance.binlog {
            self.transaction.join_binlog(binlog);
        }
    }

    /// The session's log, if its changes are logged.
    pub(crate) fn log(&self) -> Option<&Arc<SessionLog>> {
        self.transaction.log().filter(|_| self.frame.settings.binlog.is_enabled)
    }

    /// Receiver of a table's changed rows, if they are logged. `is_assigned` says which columns the
    /// statement gives values. Rows of a temporary table are not: replicas that have it change it
    /// as the text says.
    pub(crate) fn row_log<'a>(
        &'a self,
        info: &TableInfo,
        handle: &Arc<OwnHandle>,
        is_assigned: impl Fn(usize) -> bool,
    ) -> Option<RowLog<'a>> {
        let log = self.log();
        if info.kind == TableKind::Temporary && !log.is_some_and(|log| log.is_filling(info.def.id))
        {
            self.change_temporary(info);
            return None;
        }
        let log = log?;
        let target = target_of(log, info)?;
        if log.is_by_text() {
            log.changes(target, &info.kind);
            return None;
        }
        let images = handle.images(info);
        let settings = &self.frame.settings;
        let shapes = shapes_of(&images, info, settings.binlog.row_image, is_assigned);
        Some(RowLog {
            log,
            handle: Arc::clone(handle),
            images,
            shapes,
            target,
            flags: flags_of(settings),
        })
    }

    /// Whether statements are logged by the default database.
    pub(crate) fn logs_statements(&self) -> bool {
        let schema = self.frame.schema.as_deref().unwrap_or_default();
        self.log().is_some_and(|log| log.binlog.logs_schema(schema))
    }

    /// Notes that a temporary table is changed, by a statement whose text is logged or not.
    fn change_temporary(&self, info: &TableInfo) {
        match self.log().filter(|log| log.is_by_text() && self.logs_statements()) {
            Some(log) => log.changes(target_in(info), &info.kind),
            None if self.frame.temporary.is_logged(info) => self.frame.temporary.diverge(),
            None => {}
        }
    }

    /// Tells the log that the running statement may change a table. A statement that changes one
    /// table only need not tell.
    pub(crate) fn expect_changes(&self, instance: &Instance, info: &TableInfo) -> SqlResult<()> {
        if let Some(log) = self.log().filter(|_| info.has_storage())
            && let Some(target) = target_of(log, info)
        {
            log.expect(target, instance.open_own(info)?.images(info));
        }
        Ok(())
    }

    /// Begins a statement whose changes may be logged. One of a function or trigger belongs to the
    /// statement that calls it: then the result is for [`Self::end_logging`].
    pub(crate) fn begin_logging(&self, text: &[u8]) -> Option<usize> {
        let log = self.log()?;
        if self.transaction.is_nested() {
            return Some(log.enter(text));
        }
        self.begin_in_log(log, self.frame.settings.binlog.annotates.then_some(text));
        None
    }

    /// Begins a statement of the session in the log, with its text if rows are to have it.
    pub(crate) fn begin_in_log(&self, log: &SessionLog, text: Option<&[u8]>) {
        let settings = &self.frame.settings.binlog;
        let timestamp = (self.values.statement_start.get() / 1_000_000) as u32;
        let (server_id, header) = (settings.server_id, settings.header);
        log.begin_statement(text, Stamp { timestamp, server_id, header });
    }

    /// Ends what [`Self::begin_logging`] has begun.
    pub(crate) fn end_logging(&self, outer: Option<usize>) {
        if let (Some(outer), Some(log)) = (outer, self.log()) {
            log.leave(outer);
        }
    }

    /// `last_gtid`: the last group of the session.
    pub fn last_group(&self) -> Option<Gtid> {
        self.transaction.log()?.last_group()
    }

    /// Bytes of the groups that the session has logged.
    pub fn logged_bytes(&self) -> u64 {
        self.transaction.log().map_or(0, |log| log.logged_bytes())
    }

    /// End of the last group that the session has logged since the last call, whatever
    /// `sql_log_bin` is now.
    pub fn take_group_end(&self) -> Option<Place> {
        self.transaction.log()?.take_end()
    }

    /// End of the binary log as the snapshot of START TRANSACTION WITH CONSISTENT SNAPSHOT sees it.
    pub fn snapshot_place(&self) -> Option<Place> {
        self.transaction.log()?.snapshot()
    }

    /// Forgets `gtid_seq_no` if a group has taken the number.
    pub(crate) fn forget_seq_no(&mut self, head: Option<&GroupHeadline>) {
        let Some(seq) = head.and_then(|head| head.seq) else { return };
        if self.last_group().is_some_and(|last| last.seq == seq) {
            self.frame.settings.binlog.seq_no = None;
            self.frame.hooks.seq_no_used();
        }
    }

    /// Commits a transaction of the server's own that has stored `row` in a sequence.
    pub(crate) fn commit_sequence_row(
        &self,
        info: &TableInfo,
        handle: &TableHandle,
        (engine, trx): (&dyn Engine, Box<dyn EngineTrx>),
        row: &[u8],
    ) -> EngineResult<Option<Lsn>> {
        let is_logged = |log: &&Arc<SessionLog>| {
            info.kind == TableKind::Base && log.binlog.logs_schema(info.schema())
        };
        let log = self.log().filter(is_logged);
        let (Some(log), Some(head)) = (log, self.headline()) else { return trx.commit(None) };
        let images = handle.images(info);
        let layout = &info.def.layout;
        log.commit_row((engine, trx), &head, &images, |out| {
            images.full.rows.put(layout, row, out).map(|()| true)
        })
    }

    /// Values for the header of the next group; none if the server has no binary log.
    pub(crate) fn headline(&self) -> Option<GroupHeadline> {
        let log = self.transaction.log()?;
        let settings = &self.frame.settings.binlog;
        Some(GroupHeadline {
            timestamp: (self.values.statement_start.get() / 1_000_000) as u32,
            server_id: settings.server_id,
            domain: settings.domain_id,
            seq: settings.seq_no,
            is_strict: log.binlog.is_strict(),
            is_parallel: settings.is_parallel,
            header: settings.header,
            note: None,
            thread: self.core.shown_id.load(Ordering::Relaxed) as u32,
            schema: self.frame.schema.clone(),
        })
    }
}

/// The cache that gets a table's rows; none if they are not logged.
fn target_of(log: &SessionLog, info: &TableInfo) -> Option<Target> {
    match info.kind {
        TableKind::Temporary if log.is_filling(info.def.id) => Some(Target::NewTable),
        TableKind::Base if !log.binlog.logs_schema(info.schema()) => None,
        TableKind::Base => Some(target_in(info)),
        _ => None,
    }
}

/// The cache that gets the changes of a table's engine.
fn target_in(info: &TableInfo) -> Target {
    match info.engine.transactional {
        true => Target::Transaction,
        false => Target::Immediate,
    }
}

impl Binlog {
    /// Whether changes in a schema are logged.
    pub(crate) fn logs_schema(&self, schema: &str) -> bool {
        // A statement without a default database has an empty name here.
        self.filter.takes(Some(schema).filter(|name| !name.is_empty()))
    }
}
