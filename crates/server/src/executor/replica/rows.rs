//! Rows: which tables are taken, and the errors of rows events.
//!
//! Must not read images; `selkie_exec::apply` does.

use selkie_exec::apply::Failure;
use selkie_exec::guarded;
use selkie_replication::Header;
use selkie_replication::codec::{Change, Rows, TableMap, row_flags};
use selkie_replication::replica::ReplicaFilter;

use super::{Replica, failures};
use crate::backend::Failed;
use crate::status::com_counter;

/// Calls `take` with the schema and name here of the table of a map; none if it is left out.
pub(super) fn with_target<R>(
    filter: &ReplicaFilter,
    map: &TableMap<'_>,
    take: impl FnOnce(Option<(&str, &str)>) -> R,
) -> R {
    let (schema, name) =
        (String::from_utf8_lossy(map.database), String::from_utf8_lossy(map.table));
    let schema = filter.rewritten(&schema);
    take(filter.takes_table(schema, &name).then_some((schema, &*name)))
}

impl Replica {
    /// Keeps the text of the statement that the rows behind it are of.
    pub(super) fn annotate(&mut self, text: &[u8]) {
        if self.options.annotates {
            self.applier.annotate(text);
        }
    }

    pub(super) fn table_map(&mut self, map: &TableMap<'_>) -> Result<(), Failed> {
        let Self { inner, applier, scope, .. } = self;
        inner.refresh();
        let mapped = with_target(&scope.filter, map, |target| {
            applier.table_map(&inner.instance, &mut inner.session, map, target)
        });
        mapped.or_else(|failure| self.rows_failed("Table_map", failure))
    }

    pub(super) fn rows(&mut self, header: &Header, rows: &Rows<'_>) -> Result<(), Failed> {
        let seconds = i64::from(header.timestamp);
        self.inner.session.frame.settings.timestamp_micros = Some(seconds * 1_000_000);
        self.inner.session.values.statement_start.set(seconds * 1_000_000);
        self.group.begin_again(&mut self.inner);
        let Self { inner, applier, options, .. } = self;
        let mut applied = Ok(());
        let ended = guarded(|| {
            applied = applier.rows(&inner.instance, &mut inner.session, &options.rules, rows);
            Ok(())
        });
        let applied =
            ended.map_err(|error| Failure { error, table: None, handler: None }).and(applied);
        if applied.is_ok() && rows.flags & row_flags::STMT_END != 0 {
            self.count_statement(rows.change);
        }
        applied.or_else(|failure| self.rows_failed(header.kind.name(), failure))
    }

    /// Counts the statement whose last rows are applied, as if it had run here.
    fn count_statement(&self, change: Change) {
        let word = match change {
            Change::Write => "insert",
            Change::Update => "update",
            Change::Delete => "delete",
        };
        if let Some(counter) = com_counter(word) {
            self.inner.shared.handle.counters.bump(counter);
        }
    }

    fn rows_failed(&self, event: &str, failure: Failure) -> Result<(), Failed> {
        if self.options.skipped.has(failure.error.code()) {
            self.count_skipped();
            return Ok(());
        }
        Err(failures::of_rows(event, failure, &self.options))
    }
}
