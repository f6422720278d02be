//! Dispatch of commands by their packet, and the answers to commands that are not SQL.
//!
//! Must not know how statements run.

use std::sync::Arc;

use selkie_engine::Moment;
use selkie_protocol::stmt::{CursorType, Execute};
use selkie_protocol::{Capabilities, ChangeUser, Command, DecodeError, Output, Status};
use selkie_sql::ClientText;
use selkie_types::error::catalogue::*;
use selkie_types::{Charset, CollationId, SqlError, SqlResult};

use super::connection::note_denied;
use super::debt::Answer;
use super::params::{Charsets, Parameters, to_value};
use super::reply::{Reply, RowForm};
use super::rows::to_utf8;
use super::runner::{Asked, Runner};
use super::shared::Shared;
use super::statements::{Prepared, Statements};
use super::timeouts::{self, Patience};
use crate::accounts::{Place, Privileges};
use crate::backend::{BackendSession, SessionStatus};
use crate::dumps::Wishes;
use crate::login::{Claim, Exchange, authenticate, check_expired, check_limits};
use crate::net::{Peer, Wire};
use crate::profiles::Recorder;
use crate::query_log::log_general;
use crate::status::counter;
use crate::user_statistics::Watched;
use crate::variables::{VarValue, ids};
use selkie_exec::{Outcome, ResultSink};

/// Step after a command.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The next command is read.
    Continue,
    /// The session sends the binary log from now on.
    Dump,
    /// The connection ends.
    Close,
}

/// A session with its connection; `S` is the backend's part of it.
pub(super) struct Session<S: BackendSession> {
    pub(super) shared: Arc<Shared>,
    pub(super) wire: Wire,
    pub(super) out: Output,
    pub(super) peer: Peer,
    pub(super) backend: S,
    /// Session state the client was last told. Only commands change it.
    status: SessionStatus,
    pub(super) ended: bool,
    pub(super) patience: Patience,
    pub(super) statements: Statements<S::Prepared>,
    /// The session's place among the connections of its account, if there are limits.
    pub(super) place: Option<Place>,
    /// Number of failed changes of user.
    failed_changes: u8,
    /// Its part in the statistics of users and clients.
    pub(super) watched: Watched,
    /// The dump that the session is to become.
    pub(super) dump: Option<Box<Wishes>>,
    /// Whether the answer has to wait for a replica.
    pub(super) owed: Answer,
}

impl<S: BackendSession> Session<S> {
    pub(super) fn new(
        shared: Arc<Shared>,
        backend: S,
        wire: Wire,
        out: Output,
        peer: Peer,
    ) -> Self {
        let status = backend.status();
        let statements = Statements::new();
        let patience = Patience::of(&shared).unapplied();
        let failed_changes = 0;
        let watched = Watched::default();
        Self {
            shared,
            wire,
            out,
            peer,
            backend,
            status,
            ended: false,
            patience,
            statements,
            place: None,
            failed_changes,
            watched,
            dump: None,
            owed: Answer::Free,
        }
    }

    /// Reports the memory that the session's commands use.
    pub(super) fn memory(&self, note: &mut dyn FnMut(usize, usize)) {
        fn place<T: ?Sized>(value: &T) -> (usize, usize) {
            (std::ptr::from_ref(value).addr(), size_of_val(value))
        }
        /// Bytes of a buffer that a short statement uses.
        const SHORT: usize = 256;
        let mut note = |(address, bytes): (usize, usize)| note(address, bytes);
        note(place(self));
        note(place(&*self.shared));
        note(place(&*self.shared.handle));
        self.shared.handle.counters.memory(&mut |address, bytes| note((address, bytes)));
        let (reader, transport) = self.wire.memory();
        note(place(&reader[..reader.len().min(SHORT)]));
        note(place(transport));
        note((self.out.bytes().as_ptr().addr(), SHORT));
        self.backend.memory(&mut |address, bytes| note((address, bytes)));
        self.statements.memory(&mut |address, bytes| note((address, bytes)));
    }

    /// The parts that run and answer a statement, the prepared statements, and the place that
    /// limits the account's statements.
    pub(super) fn parts(
        &mut self,
    ) -> (Runner<'_, S>, &mut Statements<S::Prepared>, Option<&Place>) {
        let Self { shared, wire, out, backend, status, statements, place, .. } = self;
        (Runner { shared, wire, out, backend, status }, statements, place.as_ref())
    }

    /// Session state to tell the client now.
    pub(super) fn status(&mut self) -> SessionStatus {
        self.status = self.backend.status();
        self.status
    }

    /// Answers one command into the output buffer.
    pub(super) fn on_command(&mut self, payload: &[u8]) -> Next {
        let command = match Command::decode(payload) {
            Ok(command) => command,
            Err(error) => {
                self.answer(Err(malformed(error)));
                return Next::Continue;
            }
        };
        let begun = Moment::now();
        self.shared.handle.kill.account().begin_command();
        self.note_begin(&command, begun);
        if let Some(recorder) = self.shared.handle.recorder() {
            recorder.begin(command.name(), begun, &self.shared.handle.counters);
        }
        let next = self.dispatch(command, begun);
        if let Some(recorder) = self.shared.handle.recorder() {
            recorder.end(&self.shared.handle.counters, None);
        }
        next
    }

    fn dispatch(&mut self, command: Command<'_>, begun: Moment) -> Next {
        match command {
            Command::Quit => {
                log_general(&self.shared, "Quit", b"");
                return Next::Close;
            }
            Command::Query(text) => return self.query(selkie_sql::trimmed(text), begun),
            Command::StmtExecute(payload) => return self.run(|s| s.execute(payload, begun)),
            Command::StmtBulkExecute(payload) => {
                return self.run(|s| s.execute_bulk(payload, begun));
            }
            Command::StmtClose(id) => {
                self.shared.handle.counters.bump(counter().com_stmt_close);
                log_general(&self.shared, "Close stmt", b"");
                self.statements.close(id);
            }
            Command::StmtSendLongData(id, parameter, data) => self.long_data(id, parameter, data),
            Command::StmtPrepare(text) => self.prepare(selkie_sql::trimmed(text)),
            Command::StmtFetch(id, count) => self.fetch(id, count),
            Command::FieldList(table, pattern) => self.field_list(table, pattern),
            Command::Statistics => self.statistics(),
            Command::ChangeUser(payload) => return self.change_user(payload),
            Command::ProcessInfo => return self.query(b"SHOW PROCESSLIST", begun),
            Command::Debug => {
                self.answer_eof(|s| s.shared.access.lock().check_global(Privileges::SUPER))
            }
            Command::SetOption(option) => self.answer_eof(|s| s.set_option(option)),
            Command::Shutdown(_) => return self.shutdown(),
            Command::InitDb(name) => {
                log_general(&self.shared, "Init DB", name);
                let result = self.init_db(name);
                self.answer(result);
            }
            Command::StmtReset(id) => {
                let result = self.reset_statement(id);
                self.answer(result);
            }
            Command::ProcessKill(id) => return self.process_kill(id),
            Command::ResetConnection => {
                self.reset_session();
                self.answer(Ok(()));
            }
            Command::Refresh(options) => {
                let result = self.refresh(options);
                self.answer(result);
            }
            Command::Ping => self.answer(Ok(())),
            Command::BinlogDump(payload) => return self.ask_for_dump(payload),
            Command::RegisterSlave(payload) => {
                let result = self.register_replica(payload);
                self.answer(result);
            }
            Command::CreateDb(_) | Command::DropDb(_) | Command::Internal(_) => {
                self.answer(Err(SqlError::new(&ER_UNKNOWN_COM_ERROR, &[])));
            }
        }
        Next::Continue
    }

    /// COM_REFRESH: logs are begun anew, as by FLUSH LOGS; nothing else has to be refreshed.
    fn refresh(&self, options: u8) -> SqlResult<()> {
        /// The bit for all logs.
        const LOGS: u8 = 2;
        self.shared.access.lock().check_global(Privileges::RELOAD)?;
        if options & LOGS == 0 {
            return Ok(());
        }
        self.shared.server.logs.queries.reopen(true, true);
        crate::binlog::flush(&self.shared.server, crate::binlog::now())
    }

    fn note_begin(&self, command: &Command<'_>, begun: Moment) {
        let handle = &self.shared.handle;
        let counters = &handle.counters;
        let silent = matches!(
            command,
            Command::StmtClose(_) | Command::StmtSendLongData(..) | Command::Statistics
        );
        counters.bump(counter().queries);
        if !silent && !matches!(command, Command::Ping) {
            counters.bump(counter().questions);
        }
        let is_sql = matches!(
            command,
            Command::Query(_)
                | Command::StmtPrepare(_)
                | Command::StmtExecute(_)
                | Command::StmtBulkExecute(_)
                | Command::StmtClose(_)
                | Command::StmtReset(_)
                | Command::StmtFetch(..)
                | Command::StmtSendLongData(..)
                | Command::InitDb(_)
        );
        if !is_sql {
            counters.bump(counter().com_admin_commands);
        }
        let info = match command {
            Command::Query(text) | Command::StmtPrepare(text) => {
                Some(shown(selkie_sql::trimmed(text)))
            }
            _ => None,
        };
        // The statement to execute is not known yet.
        if !matches!(command, Command::StmtExecute(_) | Command::StmtBulkExecute(_)) {
            let id = self.shared.server.sessions.next_query_id();
            handle.begin(command.name(), info, id, begun);
        }
    }

    /// Sends OK or ERR, for commands without a result.
    pub(super) fn answer(&mut self, result: SqlResult<()>) {
        if let Err(error) = &result {
            self.backend.note_error(error);
        }
        if let Some(recorder) = self.shared.handle.recorder() {
            recorder.answered(&result);
        }
        let status = self.status();
        let mut reply =
            Reply::new(&self.shared, &mut self.wire, &mut self.out, RowForm::Text, status);
        match result {
            Ok(()) => reply.plain_ok(SessionStatus { warnings: 0, ..status }),
            Err(error) => reply.fail(&error),
        }
    }

    fn answer_eof(&mut self, command: impl FnOnce(&mut Self) -> SqlResult<()>) {
        match command(self) {
            Ok(()) => {
                let status = self.status();
                Reply::new(&self.shared, &mut self.wire, &mut self.out, RowForm::Text, status)
                    .plain_eof(status);
            }
            Err(error) => self.answer(Err(error)),
        }
    }

    fn client_charset(&self) -> Charset {
        self.shared.habits().client
    }

    /// Runs all statements of a text.
    fn query(&mut self, text: &[u8], mut begun: Moment) -> Next {
        let origin = ClientText::new(text, self.client_charset());
        let text = origin.as_ref().map_or(text, ClientText::utf8);
        let multi = self.shared.capabilities().has(Capabilities::MULTI_STATEMENTS);
        // Compat: the terminator of a statement is not part of it, which shows in errors that quote
        // the rest of the text.
        let mut rest = text.trim_ascii_end();
        loop {
            let (runner, _, place) = self.parts();
            let asked =
                Asked { command: "Query", text: rest, form: RowForm::Text, begun, known: None };
            let mut next = None;
            let answered = runner.run_and_reply(asked, |backend, reply, text| {
                let mut profile = Recorder::start(reply.shared);
                let result = backend.parse(rest, multi, origin.as_ref()).and_then(|step| {
                    next = step.next;
                    *text = one(rest, next);
                    reply.expect_more(next.is_some());
                    profile.iter_mut().for_each(|p| p.mark("Starting"));
                    if let Some(place) = place {
                        place.count(|| backend.is_update(&step.statement))?;
                    }
                    backend.query(step.statement, text, reply)
                });
                if let Some(mut profile) = profile {
                    profile.mark("Executing");
                    // Compat: it is shown with the statements behind it.
                    profile.keep(reply.shared, one(rest, None));
                }
                result
            });
            if answered.failed || answered.next == Next::Close {
                return answered.next;
            }
            match next.and_then(|at| rest.get(at..)) {
                Some(next) => (rest, begun) = (next, Moment::now()),
                None => return Next::Continue,
            }
            // The next statement may fill the output buffer, which would send this answer.
            if let Some(Err(error)) = self.backend.take_unsettled().map(|commit| commit.settle()) {
                self.answer(Err(error));
                return Next::Close;
            }
            if !self.wait_for_replica() {
                return Next::Close;
            }
            self.shared.handle.kill.account().begin_command();
            if let Some(recorder) = self.shared.handle.recorder() {
                recorder.begin("Query", begun, &self.shared.handle.counters);
            }
            self.shared.handle.counters.bump(counter().questions);
        }
    }

    fn prepare(&mut self, text: &[u8]) {
        self.shared.handle.counters.bump(counter().com_stmt_prepare);
        log_general(&self.shared, "Prepare", text);
        let origin = ClientText::new(text, self.client_charset());
        let text = origin.as_ref().map_or(text, ClientText::utf8);
        let ticket = self.shared.server.count_prepared();
        let described =
            ticket.and_then(|ticket| Ok((ticket, self.backend.prepare(text, origin.as_ref())?)));
        let (ticket, described) = match described {
            Ok(described) => described,
            Err(error) => return self.answer(Err(error)),
        };
        let (parameters, columns) = (described.parameters, described.columns);
        let id = self.statements.add(Prepared {
            has_columns: !columns.is_empty(),
            body: described.statement,
            _ticket: ticket,
            parameters,
            text: String::from_utf8_lossy(text).into(),
            types: Vec::new(),
            long_data: Default::default(),
            long_error: None,
            known: None,
            cursor: None,
        });
        let status = self.status();
        let known = super::reply::Definitions::new(&self.shared);
        known.put_prepared(&mut self.out, id, &columns, parameters, status);
    }

    fn long_data(&mut self, id: u32, parameter: u16, data: &[u8]) {
        self.shared.handle.counters.bump(counter().com_stmt_send_long_data);
        let limit = self.shared.var(ids().max_allowed_packet).as_u64() as usize;
        // This command has no answer: the next EXECUTE reports the error.
        let Some(statement) = self.statements.find(id) else { return };
        if usize::from(parameter) >= statement.parameters {
            let error = SqlError::new(&ER_WRONG_ARGUMENTS, &[&"mysqld_stmt_send_long_data"]);
            statement.long_error = Some(error);
            return;
        }
        let held = statement.long_data.entry(usize::from(parameter)).or_default();
        if held.len() + data.len() > limit {
            statement.long_error = Some(SqlError::new(&ER_NET_PACKET_TOO_LARGE, &[]));
            return;
        }
        held.extend_from_slice(data);
    }

    /// Runs a prepared statement. An error of `execute` happened before the statement ran.
    fn run(&mut self, execute: impl FnOnce(&mut Self) -> SqlResult<Next>) -> Next {
        execute(self).unwrap_or_else(|error| {
            self.answer(Err(error));
            Next::Continue
        })
    }

    fn execute(&mut self, payload: &[u8], begun: Moment) -> SqlResult<Next> {
        self.shared.handle.counters.bump(counter().com_stmt_execute);
        let execute = Execute::decode(payload).map_err(malformed)?;
        let (runner, statements, _) = self.parts();
        let statement = statements.get(execute.statement, "mysqld_stmt_execute")?;
        // The result sets of a CALL are not known before it runs, so they are sent as they come.
        let form = match execute.cursor {
            CursorType::ReadOnly if statement.has_columns => RowForm::Cursor,
            _ => RowForm::Binary,
        };
        let long = std::mem::take(&mut statement.long_data);
        // Compat: only a reset ends this state.
        if let Some(error) = &statement.long_error {
            return Err(error.clone());
        }
        statement.cursor = None;
        let mut parameters = Parameters::take();
        let mut told = Vec::new();
        let long_data = |i| long.get(&i).map(Vec::as_slice);
        execute
            .params(statement.parameters, &mut statement.types, long_data, |param| {
                let charsets = || parameter_charsets(runner.shared);
                parameters.push(to_value(&param, charsets, &mut told));
            })
            .map_err(|_| SqlError::new(&ER_WRONG_ARGUMENTS, &[&"mysqld_stmt_execute"]))?;
        let known = statement.known.take();
        let asked = Asked { known, ..statement.asked(runner.shared, form, begun) };
        let body = &statement.body;
        let answered = runner.run_and_reply(asked, |backend, reply, _| {
            let result = backend.execute(body, &parameters, reply);
            backend.tell_first(told);
            result
        });
        (statement.known, statement.cursor) = (answered.head, answered.cursor);
        Ok(answered.next)
    }

    fn fetch(&mut self, id: u32, count: u32) {
        self.shared.handle.counters.bump(counter().com_stmt_fetch);
        let statement = match self.statements.get(id, "mysqld_stmt_fetch") {
            Ok(statement) => statement,
            Err(error) => return self.answer(Err(error)),
        };
        let Some(cursor) = &mut statement.cursor else {
            let error = SqlError::new(&ER_STMT_HAS_NO_OPEN_CURSOR, &[&id]);
            return self.answer(Err(error));
        };
        let sent = cursor.fetch(count, &mut self.out);
        let mut status = self.backend.status();
        if cursor.is_exhausted() && sent < count {
            status.flags |= Status::LAST_ROW_SENT;
            statement.cursor = None;
        } else {
            status.flags |= Status::CURSOR_EXISTS;
        }
        Reply::new(&self.shared, &mut self.wire, &mut self.out, RowForm::Binary, status)
            .finish(&Outcome { result_set: true, ..Outcome::default() }, status);
    }

    fn reset_statement(&mut self, id: u32) -> SqlResult<()> {
        self.shared.handle.counters.bump(counter().com_stmt_reset);
        let statement = self.statements.get(id, "mysqld_stmt_reset")?;
        statement.long_data.clear();
        statement.long_error = None;
        statement.cursor = None;
        Ok(())
    }

    fn field_list(&mut self, table: &[u8], pattern: &[u8]) {
        let charset = self.client_charset();
        let table = String::from_utf8_lossy(&to_utf8(table, charset)).into_owned();
        let pattern = to_utf8(pattern, charset).into_owned();
        match self.backend.field_list(&table, &pattern) {
            Ok(columns) => {
                let status = self.status();
                let definitions = super::reply::Definitions::new(&self.shared);
                definitions.put_field_list(&mut self.out, &columns, status);
            }
            Err(error) => self.answer(Err(error)),
        }
    }

    fn statistics(&mut self) {
        let server = &self.shared.server;
        let totals = server.sessions.totals();
        let uptime = server.uptime();
        let questions = totals.get(counter().questions);
        let text = format!(
            "Uptime: {uptime}  Threads: {}  Questions: {questions}  Slow queries: {}  Opens: 0  \
             Open tables: 0  Queries per second avg: {:.3}",
            server.sessions.count(),
            totals.get(counter().slow_queries),
            questions as f64 / uptime.max(1) as f64,
        );
        self.out.packet(|b| b.extend_from_slice(text.as_bytes()));
    }

    fn init_db(&mut self, name: &[u8]) -> SqlResult<()> {
        self.shared.handle.counters.bump(counter().com_change_db);
        let charset = self.client_charset();
        let name = String::from_utf8_lossy(&to_utf8(name, charset)).into_owned();
        if name.is_empty() {
            return Err(SqlError::new(&ER_NO_DB_ERROR, &[]));
        }
        self.backend.use_schema(&name)
    }

    fn set_option(&mut self, option: u16) -> SqlResult<()> {
        match option {
            0 | 1 => {
                self.shared.set_capability(Capabilities::MULTI_STATEMENTS, option == 0);
                Ok(())
            }
            _ => Err(SqlError::new(&ER_UNKNOWN_COM_ERROR, &[])),
        }
    }

    fn shutdown(&mut self) -> Next {
        let allowed = self.shared.access.lock().check_global(Privileges::SHUTDOWN);
        let stops = allowed.is_ok();
        if stops {
            self.answer_eof(|_| Ok(()));
            let _ = self.wire.flush(&mut self.out);
            self.shared.server.stop();
            return Next::Close;
        }
        self.answer(allowed);
        Next::Continue
    }

    fn process_kill(&mut self, id: u32) -> Next {
        let text = format!("KILL {id}");
        self.query(text.as_bytes(), Moment::now())
    }

    fn reset_session(&mut self) {
        self.statements.clear();
        self.backend.reset();
        self.shared.drop_changes();
        timeouts::begin_session(&self.shared);
    }

    fn change_user(&mut self, payload: &[u8]) -> Next {
        // Compat: after three wrong attempts the command is unknown.
        if self.failed_changes >= 3 {
            self.answer(Err(SqlError::new(&ER_UNKNOWN_COM_ERROR, &[])));
            return Next::Continue;
        }
        let result = self.log_in_again(payload);
        self.failed_changes += u8::from(result.is_err());
        self.answer(result);
        Next::Continue
    }

    fn log_in_again(&mut self, payload: &[u8]) -> SqlResult<()> {
        let caps = self.shared.capabilities();
        let change = ChangeUser::decode(payload, caps).map_err(malformed)?;
        let server = Arc::clone(&self.shared.server);
        let timeout = server.globals.get(ids().connect_timeout).as_u64();
        let timeout = std::time::Duration::from_secs(timeout);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut exchange = Exchange::new(&mut self.wire, self.out.sequence(), timeout);
        exchange.caps = caps;
        // Compat: MariaDB never accepts an answer to the connection's first challenge.
        let claim = Claim {
            user: text(&change.user),
            answer: change.auth.clone(),
            plugin: Some(String::new()),
        };
        let result = authenticate(&server, &mut exchange, &self.peer, claim);
        let sequence = exchange.out.sequence();
        self.out.set_sequence(sequence);
        let named = (&*text(&change.user), self.peer.name());
        let id = self.shared.handle.id;
        let who = result.inspect_err(|error| note_denied(&server, id, named, error))?;
        let place = check_limits(&server, &who, self.shared.handle.door)?;
        check_expired(&server, &who, caps)?;
        self.place = place;
        self.shared.handle.set_user(&who.identity.user);
        if let Some(recorder) = self.shared.handle.recorder() {
            recorder.left();
            recorder.joined_again((who.identity.user.clone(), who.identity.host.clone()));
        }
        self.shared.set_expired(who.expired);
        self.watch_end();
        self.watched.leave();
        self.shared.access.lock().become_identity(who.identity);
        self.watch_login();
        self.shared.schema_changed(None);
        self.reset_session();
        self.set_client_collation(change.collation.unwrap_or(0));
        match change.database {
            Some(schema) => self.backend.use_schema(&text(&schema)),
            None => Ok(()),
        }
    }

    /// Sets the collation that the client's login names; an unknown one leaves the server's
    /// default.
    pub(super) fn set_client_collation(&self, number: u16) {
        let Some(collation) = CollationId::from_number(number).filter(|_| number != 0) else {
            return;
        };
        let charset = VarValue::text(collation.charset().name());
        self.shared.announce(collation);
        let mut vars = self.shared.vars.lock();
        vars.set(ids().character_set_client, charset.clone());
        vars.set(ids().character_set_results, charset.clone());
        vars.set(ids().character_set_connection, charset);
        vars.set(ids().collation_connection, VarValue::text(collation.name()));
        drop(vars);
        self.shared.settings_changed();
    }

    /// Runs a statement and discards its results.
    pub(super) fn run_silently(&mut self, text: &str) -> SqlResult<()> {
        struct Nobody;
        impl ResultSink for Nobody {
            fn columns(&mut self, _: &[selkie_plan::physical::OutputColumn]) -> SqlResult<()> {
                Ok(())
            }
            fn batch(&mut self, _: &selkie_types::Batch) -> SqlResult<()> {
                Ok(())
            }
        }
        let mut rest = text.as_bytes();
        loop {
            let mut profile = Recorder::start(&self.shared);
            let step = self.backend.parse(rest, true, None)?;
            profile.iter_mut().for_each(|p| p.mark("Starting"));
            let result = self.backend.query(step.statement, rest, &mut Nobody);
            if let Some(mut profile) = profile {
                profile.mark("Executing");
                profile.keep(&self.shared, one(rest, None));
            }
            result?;
            match step.next.and_then(|at| rest.get(at..)) {
                Some(next) => rest = next,
                None => return Ok(()),
            }
        }
    }

    /// Takes over timeouts and limits if variables have changed.
    pub(super) fn apply_timeouts(&mut self) {
        if self.patience.is_current(&self.shared) {
            return;
        }
        self.patience = Patience::of(&self.shared);
        // A socket that refuses a timeout is closed; the next read reports that.
        self.wire.set_timeouts(self.patience.read, self.patience.write);
        self.wire.set_max_packet(self.patience.max_packet);
    }

    pub(super) fn count_bytes(&mut self) {
        let (received, sent) = self.wire.take_counts();
        let counters = &self.shared.handle.counters;
        counters.add(counter().bytes_received, received);
        counters.add(counter().bytes_sent, sent);
    }
}

/// The error about a malformed packet: 1047 for an unknown command, 1835 for wrong arguments.
pub(super) fn malformed(error: DecodeError) -> SqlError {
    match error {
        DecodeError::UnknownCommand(_) | DecodeError::Truncated("command") => {
            SqlError::new(&ER_UNKNOWN_COM_ERROR, &[])
        }
        _ => SqlError::new(&ER_MALFORMED_PACKET, &[]),
    }
}

/// A text for the process list. Most texts are valid UTF-8; only the others need the slower lossy
/// conversion.
fn shown(text: &[u8]) -> Arc<str> {
    match std::str::from_utf8(text) {
        Ok(text) => Arc::from(text),
        Err(_) => Arc::from(String::from_utf8_lossy(text)),
    }
}

/// The first statement of a text; `next` is the position of the second one.
fn one(text: &[u8], next: Option<usize>) -> &[u8] {
    let first = next.and_then(|at| text.get(..at)).unwrap_or(text);
    first.trim_ascii_end().strip_suffix(b";").unwrap_or(first)
}

pub(super) fn parameter_charsets(shared: &Shared) -> Charsets {
    let habits = shared.habits();
    Charsets { client: habits.client, connection: habits.connection }
}
