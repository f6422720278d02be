//! Statements of events: the context is set, the text runs as a client's does, and its end is
//! compared with that on the primary.
//!
//! Must not commit: the group's end does, except where the statement itself commits.

use std::sync::atomic::Ordering;
use std::sync::{Arc, LazyLock};

use selkie_engine::Moment;
use selkie_exec::{NullSink, ResultSink};
use selkie_replication::Header;
use selkie_replication::codec::{GtidExtra, Query, StatusVars, flags};
use selkie_replication::replica::ReplicaFilter;
use selkie_sql::ClientText;
use selkie_sql::ast::{Statement, Transaction, Xa};
use selkie_types::error::catalogue::ER_XAER_NOTA;
use selkie_types::{SqlError, SqlResult};

use super::super::session::Read;
use super::context::Context;
use super::failures::{self, Named, Verdict};
use super::once::Once;
use super::tables::changed_tables;
use super::{ACCOUNT, Replica, adapt};
use crate::backend::{BackendSession, Failed};
use crate::status::{StatusId, find_status};
use crate::variables::{VarValue, ids};

/// A statement's event, with what it borrowed.
#[derive(Clone, Debug)]
pub(super) struct Text {
    header: Header,
    thread_id: u32,
    error_code: u16,
    status: Vec<u8>,
    database: String,
    text: Vec<u8>,
    /// Number of the file that it loads.
    file: Option<u32>,
}

/// A statement that waits for the group's end.
#[derive(Debug)]
pub(super) struct Deferred(pub(super) Text);

/// A statement that the group takes care of.
enum Control {
    Begin,
    /// It ends the group.
    Commit,
    Rollback,
    /// The group's other events say it too.
    Nothing,
}

impl Text {
    pub(super) fn of(header: &Header, query: &Query<'_>, text: Vec<u8>) -> Self {
        Self {
            header: *header,
            thread_id: query.thread_id,
            error_code: query.error_code,
            status: query.status.0.to_vec(),
            database: String::from_utf8_lossy(query.database).into_owned(),
            text,
            file: None,
        }
    }

    /// This statement, which loads a file.
    pub(super) fn with_file(self, file: u32) -> Self {
        Self { file: Some(file), ..self }
    }

    /// Whether it opens a transaction, in a group of a primary without numbers.
    pub(super) fn begins_transaction(&self) -> bool {
        let word = self.text.trim_ascii();
        let is_xa = || word.get(..9).is_some_and(|word| word.eq_ignore_ascii_case(b"XA START "));
        word.eq_ignore_ascii_case(b"BEGIN") || is_xa()
    }
}

impl Replica {
    /// Runs a statement and shows it in the process list.
    pub(super) fn run_statement(&mut self, text: &Text) -> Result<(), Failed> {
        let context = Context::read(StatusVars(&text.status));
        let context = context.map_err(|error| failures::unreadable(&error))?;
        if context.group_flags & (GtidExtra::START_ALTER | GtidExtra::ROLLBACK_ALTER) != 0 {
            // The ALTER runs where it is committed.
            return Ok(());
        }
        let scope = Arc::clone(&self.scope);
        let schema = scope.filter.rewritten(&text.database);
        let named = Named { schema, text: &text.text, expected: text.error_code };
        let handle = Arc::clone(&self.listed.handle);
        let shown = String::from_utf8_lossy(&text.text);
        let id = self.server.sessions.next_query_id();
        handle.begin(self.command, Some(shown.into()), id, Moment::now());
        let ended = self.in_context(text, &context, &named);
        handle.serve(self.command);
        self.take_back(&context);
        let verdict = match ended {
            Ok(Ended::Ran(result)) => {
                let error = result.err();
                named.judge(error.filter(|e| !is_over(e, &text.text, &scope.filter)), &self.options)
            }
            // The error that it had on the primary is left out too.
            Ok(Ended::Filtered) => Verdict::Right,
            Err(failed) => return Err(failed),
        };
        let is_done = match verdict {
            Verdict::Right => Ok(()),
            Verdict::Skipped => {
                self.count_skipped();
                Ok(())
            }
            Verdict::Wrong(failed) => Err(failed),
        };
        if is_done.is_ok() {
            text.file.iter().for_each(|id| self.files.remove(*id));
            self.group.begin_again(&mut self.inner);
        }
        is_done
    }

    /// Runs a statement with the settings of its event.
    fn in_context(
        &mut self,
        text: &Text,
        context: &Context<'_>,
        named: &Named<'_>,
    ) -> Result<Ended, Failed> {
        let inner = &mut self.inner;
        let id = text.thread_id;
        // A thread may have groups in several domains at once, of which only some use its tables.
        // Compat: RENAME TABLE does not tell.
        if text.header.has(flags::THREAD_SPECIFIC) || begins_with(&text.text, b"RENAME") {
            self.temporary.switch(&mut inner.session, &self.scope, id);
        }
        if inner.session.core.shown_id.swap(id.into(), Ordering::Relaxed) != u64::from(id) {
            inner.shared.vars.lock().set(ids().pseudo_thread_id, VarValue::Uint(id.into()));
        }
        let micros = i64::from(text.header.timestamp) * 1_000_000 + i64::from(context.micros);
        inner.session.frame.settings.timestamp_micros = Some(micros);
        if let Err(error) = self.held.set(inner, context, named.schema) {
            return Ok(Ended::Ran(Err(error)));
        }
        inner.refresh();
        if let Some((user, host)) = context.invoker {
            let text = String::from_utf8_lossy;
            inner.session.frame.account.account = format!("{}@{}", text(user), text(host)).into();
            inner.session.frame.account.version += 1;
        }
        let charset = inner.session.frame.settings.charsets.client;
        let origin = ClientText::new(&text.text, charset);
        let utf8 = origin.as_ref().map_or(&*text.text, ClientText::utf8);
        let utf8 = selkie_sql::trimmed(utf8).trim_ascii_end();
        let read = match inner.parse(utf8, false, origin.as_ref()) {
            Ok(step) => step.statement,
            Err(error) => return Ok(Ended::Ran(Err(error))),
        };
        self.run_read(read, utf8, (text, context, named))
    }

    /// Runs a parsed statement.
    fn run_read(
        &mut self,
        mut read: Read,
        utf8: &[u8],
        (text, context, named): (&Text, &Context<'_>, &Named<'_>),
    ) -> Result<Ended, Failed> {
        if let Some(control) = read.statement().and_then(control) {
            self.control(&control);
            return Ok(Ended::Ran(Ok(())));
        }
        if !self.takes(&read, named.schema) {
            return Ok(Ended::Filtered);
        }
        if failures::is_partial(named.expected) && !self.options.skipped.has(named.expected) {
            return Err(named.partial());
        }
        if let Read::Statement(statement) = &mut read {
            let rules = adapt::Rules {
                is_idempotent: self.options.is_idempotent,
                implies_if_exists: context.implies_if_exists(),
            };
            adapt::adapt(statement, &rules, &self.inner);
        }
        self.once.give(&self.inner.session);
        let mut source = text.file.map(|id| self.files.source(id)).transpose()?;
        let sink: &mut dyn ResultSink = match &mut source {
            Some(source) => source,
            None => &mut NullSink,
        };
        // The definition of CREATE ... SELECT: its rows are in the same group.
        let defines = matches!(read.statement(), Some(Statement::CreateTable(_)));
        if !(defines && self.group.is_transaction() && self.options.is_logged) {
            return Ok(Ended::Ran(self.inner.query(read, utf8, sink).map(drop)));
        }
        self.inner.session.frame.settings.binlog.is_enabled = false;
        let ran = self.inner.query(read, utf8, sink);
        let session = &mut self.inner.session;
        session.frame.settings.binlog.is_enabled = true;
        Ok(Ended::Ran(ran.and_then(|_| session.log_in_group(utf8))))
    }

    /// Whether the filter takes a statement.
    fn takes(&self, read: &Read, schema: &str) -> bool {
        // Savepoints belong to their transaction, whatever changes it has left.
        let is_free = |statement: &Statement| {
            matches!(statement, Statement::Transaction(_) | Statement::Xa(_))
        };
        if self.scope.filter.is_empty() || read.statement().is_some_and(is_free) {
            return true;
        }
        let snapshot = self.inner.instance.catalog.snapshot();
        let known = |schema: &str, table: &str, column: &str| {
            let table = snapshot.table(schema, table)?;
            Some(table.column_position(column).is_some())
        };
        let changed = read.statement().map(|read| changed_tables(read, schema, &known));
        match changed {
            Some(changed) => self.scope.filter.takes_statement(changed.schema, &changed.tables),
            None => true,
        }
    }

    fn control(&mut self, control: &Control) {
        match control {
            Control::Begin => self.group.begin_transaction(&mut self.inner),
            Control::Commit => self.group.end_by_commit(),
            Control::Rollback => self.group.end_by_rollback(),
            Control::Nothing => {}
        }
    }

    /// Takes back what the event gave to its statement alone.
    fn take_back(&mut self, context: &Context<'_>) {
        self.once = Once::default();
        let session = &mut self.inner.session;
        Once::take_back(session);
        session.frame.settings.timestamp_micros = None;
        if context.invoker.is_some() {
            session.frame.account.account = ACCOUNT.into();
            session.frame.account.version += 1;
        }
    }

    /// Counts an error that `slave_skip_errors` has skipped.
    pub(super) fn count_skipped(&self) {
        static ID: LazyLock<Option<StatusId>> =
            LazyLock::new(|| find_status("Slave_skipped_errors"));
        ID.iter().for_each(|id| self.server.sessions.ended.bump(*id));
    }
}

/// The end of a statement.
enum Ended {
    Ran(SqlResult<()>),
    Filtered,
}

/// The group's part in a statement, if it has one.
fn control(statement: &Statement) -> Option<Control> {
    Some(match statement {
        Statement::Transaction(Transaction::Begin { .. }) => Control::Begin,
        Statement::Transaction(Transaction::Commit { .. }) => Control::Commit,
        Statement::Transaction(Transaction::Rollback { .. }) => Control::Rollback,
        Statement::Xa(xa) => match &**xa {
            Xa::Start { .. } => Control::Begin,
            Xa::End { .. } | Xa::Prepare(_) => Control::Nothing,
            Xa::Commit { one_phase: true, .. } => Control::Commit,
            _ => return None,
        },
        _ => return None,
    })
}

/// Whether an error says that a branch is not there, and that is no loss. A crash may come between
/// its rollback and the note of that, and of a branch whose tables are all filtered there is
/// nothing.
fn is_over(error: &SqlError, text: &[u8], filter: &ReplicaFilter) -> bool {
    let may_be_gone =
        begins_with(text, b"XA ROLLBACK") || !filter.is_empty() && begins_with(text, b"XA COMMIT");
    may_be_gone && error.is(&ER_XAER_NOTA)
}

fn begins_with(text: &[u8], word: &[u8]) -> bool {
    text.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word))
}
