//! A session that applies what a primary sent: statements here, rows through `selkie_exec::apply`.
//!
//! # Words
//! *Context*: the settings that an event says its statement ran with. *Deferred*: a statement that
//! is a group of its own waits for the group's end, because the note is part of its commit.
//!
//! # Invariants
//! - REPLICA-3 A statement runs with the settings of its own event: what one event says is gone, or
//!   replaced, before the next one runs.
//! - REPLICA-4 The note of a group is handed over before its commit, and to that commit alone.
//!
//! Must not read the log or choose groups; the applier does.

mod adapt;
mod context;
mod failures;
mod group;
mod load;
mod once;
mod options;
mod rows;
mod statement;
mod tables;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use selkie_exec::apply::{Applier, Sight, Toucher};
use selkie_exec::{Instance, Unsettled, guarded};
use selkie_protocol::Capabilities;
use selkie_replication::codec::flags;
use selkie_replication::replica::{Entry, Note};
use selkie_replication::{Event, EventKind, Gtid, Header};
use selkie_types::error::catalogue::ER_SLAVE_INCIDENT;
use selkie_types::{SqlError, SqlResult};

use self::context::Held;
use self::failures::SkippedErrors;
use self::group::Group;
use self::load::LoadFiles;
use self::once::Once;
use self::options::Options;
use self::statement::{Deferred, Text};
use self::tables::TemporaryOfThread;
use super::session::ExecutorSession;
use super::system::Registered;
use crate::accounts::{AccessControl, AccountName, Identity};
use crate::backend::{Failed, ReplicaScope, ReplicaSession};
use crate::net::Closer;
use crate::server::Server;
use crate::session::Shared;
use crate::sessions::{Door, SessionHandle};
use crate::variables::{VarValue, ids};

/// Name in the process list.
const SHOWN_USER: &str = "system user";
/// Answer of `USER()`.
const USER: &str = "<replication_slave>";
/// Answer of `CURRENT_USER()`.
const ACCOUNT: &str = "@";

/// A session that applies.
pub(super) struct Replica {
    inner: ExecutorSession,
    server: Arc<Server>,
    /// The connection that it applies for now.
    scope: Arc<ReplicaScope>,
    /// Command in the process list.
    command: &'static str,
    options: Options,
    applier: Applier,
    toucher: Toucher,
    group: Group,
    held: Held,
    once: Once,
    files: LoadFiles,
    temporary: TemporaryOfThread,
    /// Removes the session from the process list at the very end.
    listed: Listed,
}

/// Membership in the process list.
struct Listed {
    server: Arc<Server>,
    handle: Arc<SessionHandle>,
}

impl Drop for Listed {
    fn drop(&mut self) {
        self.server.sessions.remove(self.handle.id);
    }
}

impl Replica {
    pub(super) fn open(
        (instance, registered): (&Arc<Instance>, &Registered),
        server: &Arc<Server>,
        scope: Arc<ReplicaScope>,
        command: &'static str,
    ) -> Self {
        let id = server.sessions.next_id();
        let closer = Closer::default();
        let handle = Arc::new(SessionHandle::new(id, String::new(), closer, Door::System));
        handle.set_user(SHOWN_USER);
        handle.serve(command);
        let account = AccountName::new("", "");
        let identity = Identity {
            user: USER.to_owned(),
            host: String::new(),
            ip: String::new(),
            account,
            role: None,
            used_password: false,
            proxy: None,
        };
        let access = AccessControl::new(Arc::clone(&server.accounts), identity, true);
        let capabilities = Capabilities::NONE;
        let shared = Shared::new(Arc::clone(server), Arc::clone(&handle), access, capabilities);
        let options = Options::new(server);
        own_values(&shared, &options);
        let (instance, registered) = (Arc::clone(instance), Arc::clone(registered));
        let mut inner = ExecutorSession::new(instance, Arc::new(shared), registered);
        inner.session.frame.account.account = ACCOUNT.into();
        inner.session.transaction.hold_answers();
        // Changes in engines without rollback stay open until the group ends, so it is one commit.
        inner.session.transaction.defer_immediate();
        server.sessions.add(Arc::clone(&handle));
        Self {
            inner,
            server: Arc::clone(server),
            scope,
            command,
            options,
            applier: Applier::new(),
            toucher: Toucher::default(),
            group: Group::default(),
            held: Held::default(),
            once: Once::default(),
            files: LoadFiles::new(server),
            temporary: TemporaryOfThread::default(),
            listed: Listed { server: Arc::clone(server), handle },
        }
    }

    /// Applies an event that is no statement by itself, or hands a statement on.
    fn apply_event(&mut self, header: &Header, event: &Event<'_>) -> Result<(), Failed> {
        match event {
            Event::Query(query) => {
                let text = Text::of(header, query, query.text.to_vec());
                self.take_statement(text)
            }
            Event::QueryCompressed(query) => {
                let text = selkie_replication::codec::unpack(query.text, self.options.longest);
                let text = text.map_err(|error| failures::unreadable(&error))?;
                self.take_statement(Text::of(header, query, text))
            }
            Event::Intvar(intvar) => self.once.intvar(*intvar),
            Event::Rand(rand) => self.once.rand(*rand),
            Event::UserVar(variable) => self.once.user_variable(variable),
            Event::BeginLoadQuery(block) => self.files.begin(header.server_id, block),
            Event::AppendBlock(block) => self.files.append(block),
            Event::DeleteFile(id) => {
                self.files.remove(*id);
                Ok(())
            }
            Event::ExecuteLoadQuery(load) => {
                let (text, file) = self.files.statement(load)?;
                let text = Text::of(header, &load.query, text).with_file(file);
                self.take_statement(text)
            }
            Event::AnnotateRows(text) => {
                self.annotate(text);
                Ok(())
            }
            Event::TableMap(map) => self.table_map(map),
            Event::Rows(rows) => self.rows(header, rows),
            Event::Xid(_) => {
                self.group.end_by_commit();
                Ok(())
            }
            Event::XaPrepare(prepare) => {
                self.group.end_by_prepare(prepare);
                Ok(())
            }
            Event::FormatDescription(format)
                if format.created != 0
                    && header.timestamp != 0
                    && !header.has(flags::ARTIFICIAL) =>
            {
                // The primary has started anew: its sessions are gone.
                self.drop_temporary_tables();
                Ok(())
            }
            Event::Incident(incident) => {
                let text = String::from_utf8_lossy(incident.message);
                let error = SqlError::new(&ER_SLAVE_INCIDENT, &[&"LOST_EVENTS", &&*text]);
                Err(failures::of_commit(error, &self.options))
            }
            Event::Unknown(kind, _) if !is_ignorable(header, *kind) => {
                Err(failures::of_text(&format!("Unknown event type {}", kind.0)))
            }
            _ => Ok(()),
        }
    }

    /// Runs a deferred statement, if there is one.
    fn run_deferred(&mut self) -> Result<(), Failed> {
        match self.group.deferred.take() {
            Some(Deferred(text)) => self.run_statement(&text),
            None => Ok(()),
        }
    }

    /// Takes a statement: runs it, or keeps it for the group's end.
    fn take_statement(&mut self, text: Text) -> Result<(), Failed> {
        self.run_deferred()?;
        if self.group.is_alone() && !self.in_transaction() && !text.begins_transaction() {
            self.group.deferred = Some(Deferred(text));
            return Ok(());
        }
        self.run_statement(&text)
    }

    fn in_transaction(&self) -> bool {
        self.inner.session.in_transaction()
    }

    /// Ends the group's changes. The note rides with them.
    fn end_group(&mut self) -> Result<(), Failed> {
        if self.group.deferred.is_some() {
            return self.run_deferred();
        }
        let ended = guarded(|| self.group.end(&mut self.inner));
        ended.map_err(|error| failures::of_commit(error, &self.options))
    }

    /// Own groups get higher numbers than a group that is not logged here.
    fn note_seen(&self, note: &Note) {
        if let (Some(binlog), Note::Group { gtid: Some(gtid), .. }) = (self.server.binlog(), note) {
            binlog.log().note_seen([*gtid]);
        }
    }

    /// Leaves a group, applied or not.
    fn after_group(&mut self) {
        self.group = Group::default();
        self.applier.clear();
        self.temporary.give_back(&mut self.inner.session, &self.scope);
        self.once = Once::default();
        self.inner.session.frame.settings.timestamp_micros = None;
        self.inner.shared.drop_changes();
        if let Some(binlog) = self.server.binlog() {
            binlog.after_statement();
        }
        self.inner.report();
    }
}

impl ReplicaSession for Replica {
    fn serve(&mut self, scope: &Arc<ReplicaScope>) {
        if !Arc::ptr_eq(&self.scope, scope) {
            self.temporary.give_back(&mut self.inner.session, &self.scope);
            self.scope = Arc::clone(scope);
        }
    }

    fn look(&mut self, event: &Event<'_>) {
        match event {
            Event::TableMap(map) => {
                let scope = Arc::clone(&self.scope);
                rows::with_target(&scope.filter, map, |target| self.toucher.table_map(map, target));
            }
            Event::Rows(rows) => self.toucher.rows(&self.inner.instance, rows),
            Event::Query(query) if group::is_bracket(query.text) => {}
            Event::Gtid(_) | Event::AnnotateRows(_) | Event::Xid(_) => {}
            _ => self.toucher.statement(),
        }
    }

    fn drop_temporary_tables(&mut self) {
        self.inner.drop_temporary_tables();
        while let Some(thread) = self.temporary.next(&mut self.inner.session, &self.scope) {
            // The own log has the statements of the thread.
            self.inner.session.core.shown_id.store(thread.into(), Ordering::Relaxed);
            self.inner.drop_temporary_tables();
        }
    }

    fn seen(&mut self) -> Sight {
        self.toucher.end()
    }

    fn hides_errors(&self) -> bool {
        self.options.rules.is_idempotent || self.options.skipped != SkippedErrors::None
    }

    fn wait_behind(&self, session: u64, wait: &mut dyn FnMut()) {
        self.inner.instance.locks.waiting_for(self.listed.handle.id, session, wait);
    }

    fn begin(&mut self, gtid: Option<Gtid>, flags: u8, header: &Header) -> Result<(), Failed> {
        self.listed.handle.kill.statement_is_over();
        self.listed.handle.kill.account().begin_command();
        self.options.refresh(&self.server);
        self.group = Group::new(gtid, flags, header);
        self.group.number(&mut self.inner, &self.options);
        if self.group.is_transaction() {
            self.group.begin_transaction(&mut self.inner);
        }
        Ok(())
    }

    fn apply(&mut self, header: &Header, event: &Event<'_>) -> Result<(), Failed> {
        self.apply_event(header, event)
    }

    fn end(&mut self, entry: Entry) -> Result<(), Failed> {
        let tracker = Arc::clone(self.server.applied().tracker());
        self.inner.session.ride_note(tracker, entry.clone());
        self.end_group()?;
        if !self.inner.session.end_note() {
            // Nothing was committed by the session itself.
            let noted = self.server.applied().note_later(&entry);
            noted.map_err(|error| failures::of_commit(error, &self.options))?;
        }
        self.note_seen(entry.note());
        self.after_group();
        Ok(())
    }

    fn give_up(&mut self) {
        self.inner.session.end_note();
        self.group.deferred = None;
        // After a failed rollback there is nothing to try again.
        let _ = guarded(|| self.inner.session.end_transaction(&self.inner.instance));
        self.files.clear();
        self.held.forget();
        self.after_group();
    }

    fn take_unsettled(&mut self) -> Option<Unsettled> {
        self.inner.session.transaction.take_unsettled()
    }

    fn settle(&mut self) -> SqlResult<()> {
        match self.take_unsettled() {
            Some(commit) => commit.settle(),
            None => Ok(()),
        }
    }

    fn handle(&self) -> &Arc<SessionHandle> {
        &self.listed.handle
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        if self.group.is_begun() {
            self.give_up();
        }
        self.temporary.give_back(&mut self.inner.session, &self.scope);
        if let Err(error) = self.settle() {
            tracing::error!("The log of what is applied: {error}");
        }
    }
}

/// Whether an event may be passed over: it says so, or it is a number that MySQL gives.
fn is_ignorable(header: &Header, kind: EventKind) -> bool {
    const KINDS: [EventKind; 5] = [
        EventKind::MYSQL_GTID,
        EventKind::ANONYMOUS_GTID,
        EventKind::GTID_TAGGED,
        EventKind::PREVIOUS_GTIDS,
        EventKind::ROWS_QUERY,
    ];
    header.has(flags::IGNORABLE) || KINDS.contains(&kind)
}

/// Values of variables that are not those of clients.
fn own_values(shared: &Shared, options: &Options) {
    let ids = ids();
    let mut vars = shared.vars.lock();
    vars.set(ids.autocommit, VarValue::Bool(true));
    vars.set(ids.tx_read_only, VarValue::Bool(false));
    vars.set(ids.completion_type, VarValue::Enum(0));
    vars.set(ids.sql_safe_updates, VarValue::Bool(false));
    vars.set(ids.max_statement_time, VarValue::Double(options.longest_statement));
    vars.set(ids.max_allowed_packet, VarValue::Uint(options.longest as u64));
    vars.set(ids.sql_log_bin, VarValue::Bool(options.is_logged));
    vars.set(ids.binlog_annotate_row_events, VarValue::Bool(options.annotates));
    // The change is one that the primary has made already, whatever it was asked for.
    vars.set(ids.system_versioning_alter_history, VarValue::Enum(1));
    drop(vars);
    shared.settings_changed();
}
