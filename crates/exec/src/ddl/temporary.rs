//! Statements about temporary tables, as the binary log has them: texts, by which replicas follow
//! the tables of each session.
//!
//! Must not log a text that uses a table which replicas do not follow.

use std::sync::Arc;

use selkie_catalog::TableInfo;
use selkie_sql::ast::DropTables;
use selkie_types::error::catalogue::ER_CANT_REOPEN_TABLE;
use selkie_types::{SqlError, SqlResult};

use super::binlog::{kind_of, quoted};
use super::change::{drop_storage_now, is_temporary};
use super::{Ddl, Session};
use crate::state::binlog::{ABOUT_TEMPORARY, Form, WITH_TEMPORARY};
use crate::state::session::BinlogFormat;

/// Temporary tables that a statement has dropped.
#[derive(Default)]
pub(super) struct DroppedOwn {
    /// Those whose creation is logged.
    logged: Vec<Arc<TableInfo>>,
    /// Whether statements are logged as rows, so that the session may be another one on replicas.
    is_by_rows: bool,
}

impl Ddl<'_> {
    /// The running statement's text.
    fn own_text(&self) -> &[u8] {
        self.said.text.as_deref().unwrap_or(self.running.own_text())
    }

    /// Whether texts about temporary tables are logged.
    fn logs_texts(&self) -> bool {
        match self.session.frame.settings.binlog.format {
            BinlogFormat::Row => false,
            BinlogFormat::Mixed => !self.session.frame.temporary.has_diverged(),
            BinlogFormat::Statement => true,
        }
    }

    /// Logs the statement unless replicas cannot repeat it; true if they have its changes.
    fn log_own_text(&self) -> SqlResult<bool> {
        let Some(log) = self.session.log() else { return Ok(false) };
        if self.session.transaction.is_nested() {
            // The calling statement's text says it, if that is logged.
            log.changes_temporary();
            return Ok(log.is_by_text());
        }
        if self.said.lacks_text || !self.logs_texts() {
            return Ok(false);
        }
        self.session.log_temporary(self.own_text(), &with_temporary())
    }

    /// Publishes a temporary table whose storage is complete, in place of `old` if there is one.
    pub(super) fn publish_temporary(
        &mut self,
        table: TableInfo,
        old: Option<&Arc<TableInfo>>,
    ) -> SqlResult<()> {
        let is_logged = match self.log_own_text() {
            Ok(is_logged) => is_logged,
            Err(error) => {
                self.instance.close_table(table.def.id);
                drop_storage_now(self.instance, &table)?;
                return Err(error);
            }
        };
        if let Some(old) = old {
            let mut dropped = DroppedOwn::default();
            self.drop_own(old, &mut dropped)?;
            if !is_logged {
                self.log_dropped(("TABLE", " IF EXISTS"), &dropped)?;
            }
        }
        let (schema, name) = (table.def.schema.clone(), table.def.name.clone());
        let temporary = &mut self.session.frame.temporary;
        temporary.put(Arc::new(table));
        match is_logged {
            true => temporary.note_logged(&schema, &name),
            false if self.session.frame.settings.binlog.format == BinlogFormat::Mixed => {
                temporary.diverge();
            }
            false => {}
        }
        Ok(())
    }

    /// Logs CREATE TEMPORARY TABLE IF NOT EXISTS of a table that replicas have too.
    pub(super) fn log_existing(&mut self, table: &TableInfo) -> SqlResult<()> {
        self.said.lacks_text |= !self.session.frame.temporary.is_followed(table);
        self.log_own_text().map(drop)
    }

    /// Logs the statement, which has changed the definition or all rows of a temporary table.
    pub(super) fn log_changed(&mut self, (schema, name): (&str, &str)) -> SqlResult<()> {
        let table = self.session.frame.temporary.get(schema, name).cloned();
        let Some(table) = table else { return Ok(()) };
        self.said.lacks_text |= !self.session.frame.temporary.is_followed(&table);
        if !self.log_own_text()? && self.session.frame.temporary.is_logged(&table) {
            self.session.frame.temporary.diverge();
        }
        Ok(())
    }

    /// Logs RENAME TABLE of temporary tables, in every format: their end is to be logged.
    pub(super) fn log_renamed_own(&self) -> SqlResult<()> {
        self.session.log_temporary(self.own_text(), &Form::default()).map(drop)
    }

    /// Fails if a statement that called a function, which now drops or replaces the table, uses it.
    pub(super) fn check_not_in_use(&self, table: &TableInfo) -> SqlResult<()> {
        match self.session.programs.is_in_use(table) {
            true => Err(SqlError::new(&ER_CANT_REOPEN_TABLE, &[&table.name()])),
            false => Ok(()),
        }
    }

    /// Drops a temporary table, and notes that it has to be logged.
    pub(super) fn drop_own(
        &mut self,
        table: &TableInfo,
        dropped: &mut DroppedOwn,
    ) -> SqlResult<()> {
        self.check_not_in_use(table)?;
        let is_logged = self.session.frame.temporary.is_logged(table);
        dropped.is_by_rows |= !self.logs_texts();
        let (schema, name) = (table.schema(), table.name());
        if let Some(table) = self.session.frame.temporary.get(schema, name).filter(|_| is_logged) {
            dropped.logged.push(Arc::clone(table));
        }
        self.drop_one(schema, name, true)
    }

    /// Logs the end of temporary tables. Compat: those of engines without rollback come first; if
    /// statements are logged as rows, and with IF EXISTS, all names have their schemas.
    pub(super) fn log_dropped(
        &self,
        (kind, condition): (&str, &str),
        dropped: &DroppedOwn,
    ) -> SqlResult<()> {
        let session = &*self.session;
        let Some(log) = session.log().filter(|_| !dropped.logged.is_empty()) else { return Ok(()) };
        if session.transaction.is_nested() && log.is_by_text() {
            log.changes_temporary();
            return Ok(());
        }
        let is_full = !condition.is_empty() || dropped.is_by_rows;
        for transactional in [false, true] {
            let those = dropped.logged.iter().filter(|t| t.engine.transactional == transactional);
            let names: Vec<String> = those
                .map(|table| match is_full {
                    true => format!("{}.{}", quoted(table.schema()), quoted(table.name())),
                    false => self.in_text(table.schema(), table.name()),
                })
                .collect();
            if names.is_empty() {
                continue;
            }
            let (header, condition) = match is_full {
                true => (ABOUT_TEMPORARY, " IF EXISTS"),
                false => (WITH_TEMPORARY, ""),
            };
            let names = names.join(",");
            let text =
                format!("DROP TEMPORARY {kind}{condition} {names} /* generated by server */");
            session.log_temporary(text.as_bytes(), &Form { header, ..Form::default() })?;
        }
        Ok(())
    }

    /// [`Self::log_dropped`] of DROP TABLE or DROP SEQUENCE.
    pub(super) fn log_dropped_by(&self, drop: &DropTables, own: &DroppedOwn) -> SqlResult<()> {
        let condition = if drop.if_exists { " IF EXISTS" } else { "" };
        self.log_dropped((kind_of(drop), condition), own)
    }

    /// Marks the statement, which defines a table and logs its text, as one that uses `source`;
    /// false if replicas do not follow that.
    pub(super) fn may_say_source(&mut self, source: &TableInfo) -> bool {
        if !is_temporary(source) {
            return true;
        }
        let is_said = self.logs_texts() && self.session.frame.temporary.is_followed(source);
        if is_said {
            self.said.header |= WITH_TEMPORARY;
        }
        is_said
    }
}

/// Form of a statement that uses temporary tables.
fn with_temporary() -> Form<'static> {
    Form { header: WITH_TEMPORARY, ..Form::default() }
}

impl Session {
    /// Logs the end of the temporary tables of a session that ends, whatever `sql_log_bin` is.
    pub fn log_end_of_temporary(&mut self) -> SqlResult<()> {
        let mut rest = self.frame.temporary.take_logged();
        let (schema, is_enabled) =
            (self.frame.schema.clone(), self.frame.settings.binlog.is_enabled);
        self.frame.settings.binlog.is_enabled = true;
        let mut result = Ok(());
        while let Some(first) = rest.first() {
            let about: Box<str> = first.schema().into();
            let is_about = |table: &Arc<TableInfo>| table.schema() == &*about;
            let names: Vec<String> =
                rest.iter().filter(|t| is_about(t)).map(|t| quoted(t.name())).collect();
            rest.retain(|table| !is_about(table));
            let names = names.join(",");
            let text = format!("DROP /*!40005 TEMPORARY */ TABLE IF EXISTS {names}");
            self.frame.schema = Some(about.into());
            result = result.and(self.log_temporary(text.as_bytes(), &with_temporary()).map(drop));
        }
        (self.frame.schema, self.frame.settings.binlog.is_enabled) = (schema, is_enabled);
        result
    }
}
