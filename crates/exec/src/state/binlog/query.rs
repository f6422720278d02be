//! Statements in the log: those that change definitions or accounts are groups of one QUERY event
//! with the settings that they depend on.
//!
//! Must not choose which statements are logged, or in which form: callers do.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use selkie_catalog::TableInfo;
use selkie_engine::{Engine, EngineResult, EngineTrx, Lsn, Personality};
use selkie_replication::codec::{Event, Query, StatusVar, StatusVars, flags, flags2};
use selkie_replication::log::{Cache, CacheError};
use selkie_types::{CollationId, Locale, SqlResult};

use super::events::Stamp;
use super::rider::{GroupEnd, GroupHeadline};
use super::session_log::{SessionLog, Target, cache_error};
use crate::Session;
use crate::state::error::from_engine_commit;

/// A group of one statement, ready to ride with the transaction that makes it true.
pub(crate) struct Definition {
    log: Arc<SessionLog>,
    cache: Cache,
    head: GroupHeadline,
    end: GroupEnd<'static>,
}

/// Form of a statement's event beside its text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Form<'f> {
    /// Flags of the header.
    pub(crate) header: u16,
    /// The schema that decides whether it is logged, if that is not the default one. A statement
    /// about a whole schema has it as its default one.
    pub(crate) schema: Option<&'f str>,
    /// Number of the error that the statement ends with; 0 if it succeeds.
    pub(crate) error: u16,
}

/// The only catalog there is.
const CATALOG: &[u8] = b"std";

impl Session {
    /// The group of a statement, if it is logged.
    pub(crate) fn definition(&self, text: &[u8], form: &Form<'_>) -> SqlResult<Option<Definition>> {
        self.with_query(text, form, |log, head, query| {
            let mut cache = log.binlog.log.cache();
            let (time, server) = (head.timestamp, head.server_id);
            cache.add(&Event::Query(query), time, server, form.header | head.header)?;
            let (log, end) = (Arc::clone(log), GroupEnd::Definition);
            let head = GroupHeadline { note: self.transaction.note(), ..head };
            Ok(Definition { log, cache, head, end })
        })
    }

    /// Logs a definition as part of the transaction's group, whose rows follow.
    pub fn log_in_group(&self, text: &[u8]) -> SqlResult<()> {
        let added = self.with_query(text, &Form::default(), |log, head, query| {
            let stamp = Stamp::of(&head);
            let mut state = log.lock();
            state.has_shared = true;
            state.transaction.statement(query, stamp, 0)
        });
        added.map(drop)
    }

    /// Logs a statement about temporary tables that has succeeded and committed nothing: as part of
    /// an open transaction, which does not undo it. False if it is not logged.
    pub(crate) fn log_temporary(&self, text: &[u8], form: &Form<'_>) -> SqlResult<bool> {
        if !self.in_transaction() && !self.transaction.is_nested() {
            let definition = self.definition(text, form)?;
            let appended = definition.map(|definition| definition.append()).transpose();
            return Ok(appended.map_err(from_engine_commit)?.is_some());
        }
        let added = self.with_query(text, form, |log, head, query| {
            let stamp = Stamp::of(&head);
            let mut state = log.lock();
            // Rows of a statement that has called a function come before.
            state.transaction.end_rows();
            state.transaction.statement(query, stamp, form.header)?;
            state.standing += 1;
            drop(state);
            log.note_text(Target::Transaction);
            Ok(())
        });
        added.map(|added| added.is_some())
    }

    /// Calls `add` with the event of a statement, if it is logged.
    fn with_query<T>(
        &self,
        text: &[u8],
        form: &Form<'_>,
        add: impl FnOnce(&Arc<SessionLog>, GroupHeadline, Query<'_>) -> Result<T, CacheError>,
    ) -> SqlResult<Option<T>> {
        let (Some(log), Some(head)) = (self.log(), self.headline()) else { return Ok(None) };
        let usual = self.frame.schema.as_deref().unwrap_or_default();
        let about = form.schema.unwrap_or(usual);
        if !log.binlog.logs_schema(about) {
            return Ok(None);
        }
        let schema = if form.header == ABOUT_SCHEMA { about } else { usual };
        let mut status = Vec::new();
        let xid = log.binlog.next_xid();
        self.status(Some(xid), text).iter().for_each(|var| var.encode(&mut status));
        let query = Query {
            thread_id: head.thread,
            exec_time: self.exec_time(),
            error_code: form.error,
            status: StatusVars(&status),
            database: schema.as_bytes(),
            text,
        };
        let added = add(log, head, query);
        added.map(Some).map_err(|error| cache_error(error, Target::Transaction))
    }

    /// Begins to log the rows of a new table behind its definition.
    pub(crate) fn begin_filling(&self, table: &TableInfo, text: &[u8]) -> SqlResult<()> {
        let form = Form { schema: Some(table.schema()), ..Form::default() };
        if let Some(mut definition) = self.definition(text, &form)? {
            definition.log.binlog.log.limit(&mut definition.cache);
            definition.log.begin_filling(table.def.id, definition.cache);
        }
        Ok(())
    }

    /// The group of a new table and its rows.
    pub(crate) fn filled(&self, engine: &Personality) -> Option<Definition> {
        let (log, head) = (self.log()?, self.headline()?);
        let cache = log.take_filling()?;
        let end = GroupEnd::Filled { is_transactional: engine.transactional };
        let head = GroupHeadline { note: self.transaction.note(), ..head };
        Some(Definition { log: Arc::clone(log), cache, head, end })
    }

    /// Seconds since the statement began. Compat: `SET timestamp` moves the begin.
    pub(super) fn exec_time(&self) -> u32 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs() as i64);
        now.wrapping_sub(self.values.statement_start.get() / 1_000_000) as u32
    }

    /// The settings that a statement depends on, in MariaDB's order. A definition has the number
    /// of its transaction, other statements the microseconds of their time.
    pub(super) fn status(&self, xid: Option<u64>, text: &[u8]) -> Vec<StatusVar<'_>> {
        let settings = &self.frame.settings;
        let dml = &settings.dml;
        let mut vars = vec![
            StatusVar::Flags2(self.flags2()),
            StatusVar::SqlMode(settings.expressions.sql_mode.bits()),
            StatusVar::Catalog(CATALOG),
        ];
        if (dml.auto_increment_increment, dml.auto_increment_offset) != (1, 1) {
            let (increment, offset) = (dml.auto_increment_increment, dml.auto_increment_offset);
            vars.push(StatusVar::AutoIncrement(increment as u16, offset as u16));
        }
        // Texts are UTF-8 here. One of ASCII letters is the same in the client's character set.
        let client = match text.is_ascii() {
            true => settings.charsets.client.default_collation(),
            false => CollationId::UTF8MB4_GENERAL_CI,
        };
        let (connection, server) =
            (settings.expressions.collation_connection, settings.binlog.collation_server);
        vars.push(StatusVar::Charset(client.0, connection.0, server.0));
        let zone = &settings.expressions.time_zone;
        // A kept plan has converted its constants before.
        if zone.is_used() || xid.is_none() {
            vars.push(StatusVar::TimeZone(zone.name().as_bytes()));
        }
        let locale = settings.expressions.time_locale;
        if locale != Locale::english() {
            vars.push(StatusVar::LcTimeNames(locale.number as u16));
        }
        if settings.binlog.collation_database != server {
            vars.push(StatusVar::CollationDatabase(settings.binlog.collation_database.0));
        }
        match xid {
            Some(xid) => vars.push(StatusVar::Xid(xid)),
            None => {
                let micros = self.values.statement_start.get() % 1_000_000;
                vars.extend((micros > 0).then_some(StatusVar::HrNow(micros as u32)));
            }
        }
        vars
    }

    fn flags2(&self) -> u32 {
        let settings = &self.frame.settings;
        let bit = |set: bool, flag: u32| if set { flag } else { 0 };
        bit(settings.expressions.explicit_timestamps, flags2::EXPLICIT_DEFAULTS)
            | bit(!settings.dml.check_constraint_checks, flags2::NO_CHECK_CONSTRAINTS)
            | bit(!settings.planning.foreign_key_checks, flags2::NO_FOREIGN_KEYS)
            | bit(!settings.binlog.unique_checks, flags2::NO_UNIQUE_CHECKS)
            | bit(settings.planning.insert_history, flags2::INSERT_HISTORY)
            | bit(settings.planning.auto_is_null, flags2::AUTO_IS_NULL)
    }

    /// Logs a statement whose change has been committed already, or that changed nothing.
    pub(crate) fn log_definition(&self, text: &[u8], form: &Form<'_>) -> SqlResult<()> {
        match self.definition(text, form)? {
            Some(definition) => definition.append().map_err(from_engine_commit),
            None => Ok(()),
        }
    }
}

impl Definition {
    /// Commits the transaction that makes the statement true, with the group (LOG-1).
    pub(crate) fn commit(
        mut self,
        engine: &dyn Engine,
        trx: Box<dyn EngineTrx>,
    ) -> EngineResult<Option<Lsn>> {
        let group = (&mut self.cache, &self.head, self.end);
        let (lsn, logged) = self.log.binlog.commit(engine, trx, group)?;
        self.log.note_group(logged);
        Ok(lsn)
    }

    /// Appends the group, durably.
    fn append(mut self) -> EngineResult<()> {
        let binlog = &self.log.binlog;
        let (lsn, logged) = binlog.append(&mut self.cache, &self.head, self.end)?;
        self.log.note_group(logged);
        binlog.engine.wait_durable(lsn)
    }
}

/// Header flags of a statement about a whole schema: its default database need not exist.
pub(crate) const ABOUT_SCHEMA: u16 = flags::SUPPRESS_USE;
/// Header flags of a statement that uses temporary tables, which are its thread's.
pub(crate) const WITH_TEMPORARY: u16 = flags::THREAD_SPECIFIC;
/// Header flags of one whose names have their schemas.
pub(crate) const ABOUT_TEMPORARY: u16 = flags::THREAD_SPECIFIC | flags::SUPPRESS_USE;
