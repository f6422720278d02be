//! One client's session of the executor.
//!
//! Must not know packets. Invariant: before each statement the executor's settings are those of the
//! system variables. After it, the process list and the counters are those of the executor.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::LazyLock;

use selkie_catalog::{Namespace, TableInfo, quote_identifier};
use selkie_engine::{IndexKind, count_of, note_waits};
use selkie_exec::bulk::{Argument, Bulk};
use selkie_exec::session::{Access, Account, Counters, Privilege, Session, SessionHooks};
use selkie_exec::{
    Instance, KeptResult, KillFlag, NullSink, Outcome, Prepared, Repeated, ResultSink, TextLookup,
    TextPlan, Unsettled, execute_prepared, execute_statement, execute_text, find_result,
    find_text_plan, guarded, is_update, keep_text_plan, prepare_shared, send_result,
};
use selkie_plan::physical::{OutputColumn, PartOf};
use selkie_protocol::Status;
use selkie_replication::log::Place;
use selkie_sql::ast::{FlushTarget, Ident, Statement};
use selkie_sql::{ClientText, ParseOptions, Parsed};
use selkie_types::error::Condition;
use selkie_types::error::catalogue::*;
use selkie_types::{CollationId, SqlError, SqlMode, SqlResult, SqlType, Value};

use super::system::Registered;
use super::{com, log_tables, settings};
use crate::backend::{BackendSession, Described, SessionStatus, Step};
use crate::innodb;
use crate::panics;
use crate::session::{Shared, text_form};
use crate::status::{StatusId, counter, find_status};
use crate::variables::{SessionVars, VarValue, ids};

/// Result of parsing a text.
pub(super) enum Read {
    /// Only comments.
    Nothing,
    Statement(Statement),
    /// A statement whose plan is in the plan cache.
    Planned(TextPlan),
    /// A query whose result is kept.
    Answered(Arc<KeptResult>),
}

impl Read {
    /// The statement, if there is one.
    pub(super) fn statement(&self) -> Option<&Statement> {
        match self {
            Self::Nothing | Self::Answered(_) => None,
            Self::Statement(statement) => Some(statement),
            Self::Planned(plan) => Some(&plan.statement.statement),
        }
    }
}

/// A session.
pub(super) struct ExecutorSession {
    pub(super) instance: Arc<Instance>,
    pub(super) session: Session,
    pub(super) shared: Arc<Shared>,
    registered: Registered,
}

impl ExecutorSession {
    pub(super) fn new(
        instance: Arc<Instance>,
        shared: Arc<Shared>,
        registered: Registered,
    ) -> Self {
        registered.write().insert(shared.handle.id, Arc::downgrade(&shared));
        let mut session = begin(&instance, &shared);
        settings::refresh(&shared, &mut session);
        Self { instance, session, shared, registered }
    }

    /// Makes the settings those of the variables.
    pub(super) fn refresh(&mut self) {
        if !self.shared.has_settings() {
            settings::refresh(&self.shared, &mut self.session);
        }
    }

    fn parse_first(
        &self,
        text: &[u8],
        multi: bool,
        origin: Option<&ClientText>,
    ) -> SqlResult<Parsed> {
        let options = ParseOptions { sql_mode: self.session.frame.settings.expressions.sql_mode };
        let parsed = selkie_sql::parse_from(text, &options, origin)?;
        if parsed.end < text.len() && !multi {
            return Err(selkie_sql::syntax_error_at(text, parsed.end, &options));
        }
        if parsed.params > 0 {
            let marks = selkie_sql::question_marks(text, options.sql_mode);
            let at = marks.first().map_or(parsed.end, |mark| mark.start as usize);
            return Err(selkie_sql::syntax_error_at(text, at, &options));
        }
        Ok(parsed)
    }

    /// Effects of a statement on the server's view of the session: default database, foreign key
    /// error, counters.
    fn after(&mut self, statement: &Statement, result: &SqlResult<Outcome>) {
        if result.is_ok() && self.has_entered_schema(statement) {
            self.entered_schema();
        } else if self.session.frame.schema.is_none() && self.shared.handle.schema().is_some() {
            // The default database was dropped.
            self.shared.schema_changed(None);
            self.left_schema();
        }
        if let Err(error) = result
            && (error.is(&ER_ROW_IS_REFERENCED_2) || error.is(&ER_NO_REFERENCED_ROW_2))
        {
            let text = innodb::foreign_key_error(&self.shared.handle, error.message());
            self.shared.server.innodb.set_foreign_key_error(text);
        }
        if let Err(error) = result
            && is_refusal(error)
        {
            self.shared.handle.counters.bump(counter().access_denied_errors);
        }
        if let Err(error) = result
            && error.is(&ER_STATEMENT_TIMEOUT)
        {
            self.shared.handle.counters.bump(counter().max_statement_time_exceeded);
        }
        if let (Statement::Flush(flush), Ok(_)) = (statement, result)
            && flush.targets.iter().any(|target| matches!(target, FlushTarget::Status(_)))
        {
            // The session's counters are already part of the server's counters.
            self.session.core.counters.reset();
        }
        self.report();
        self.logged(statement);
    }

    /// Lets the binary log take notice of what a statement may have logged.
    fn logged(&self, statement: &Statement) {
        let is_reading =
            matches!(statement, Statement::Query(_) | Statement::Show(_) | Statement::Set(_));
        if let Some(binlog) = self.shared.server.binlog().filter(|_| !is_reading) {
            binlog.after_statement();
        }
    }

    /// Whether a statement that succeeded was, or ran, a USE.
    fn has_entered_schema(&self, statement: &Statement) -> bool {
        match statement {
            Statement::Use(_) => true,
            Statement::Execute(_) | Statement::ExecuteImmediate(_) => {
                let now = self.session.frame.schema.as_deref();
                now.is_some() && now != self.shared.handle.schema().as_deref()
            }
            _ => false,
        }
    }

    fn entered_schema(&mut self) {
        let name = self.session.frame.schema.as_deref().map(str::to_owned);
        self.shared.schema_changed(name.as_deref());
        let snapshot = self.instance.catalog.snapshot();
        let collation = name.and_then(|n| snapshot.schema(&n).map(|s| s.collation));
        let Some(collation) = collation else { return };
        let mut vars = self.shared.vars.lock();
        if vars.get(ids().collation_database).as_str() == collation.name()
            && vars.get(ids().character_set_database).as_str() == collation.charset().name()
        {
            return;
        }
        vars.set(ids().character_set_database, VarValue::text(collation.charset().name()));
        vars.set(ids().collation_database, VarValue::text(collation.name()));
        drop(vars);
        self.shared.settings_changed();
    }

    /// Sets the database's character set to the server's, because there is no default database.
    fn left_schema(&self) {
        let mut vars = self.shared.vars.lock();
        let charset = vars.get(ids().character_set_server).clone();
        let collation = vars.get(ids().collation_server).clone();
        vars.set(ids().character_set_database, charset);
        vars.set(ids().collation_database, collation);
    }

    /// Copies counters and transaction state to the place where other sessions see them.
    pub(super) fn report(&self) {
        // Rows sent are counted where they are sent.
        static COUNTERS: LazyLock<Vec<Option<StatusId>>> = LazyLock::new(|| {
            let ids = Counters::NAMES.iter().map(|name| find_status(name));
            ids.map(|id| id.filter(|id| *id != counter().rows_sent)).collect()
        });
        let Session { core, reported, .. } = &self.session;
        core.counters.report_changes(reported, |at, value| {
            if let Some(Some(id)) = COUNTERS.get(at) {
                self.shared.handle.counters.set(*id, value);
            }
        });
        self.shared.handle.set_in_transaction(self.session.in_transaction());
    }

    fn run(
        &mut self,
        parsed: &Statement,
        text: &[u8],
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Outcome> {
        self.noted(parsed, text, |this| match log_tables::check(&this.shared, parsed) {
            Ok(()) => execute_statement(&this.instance, &mut this.session, parsed, text, &[], sink),
            Err(error) => {
                this.note_error(&error);
                Err(error)
            }
        })
    }

    fn run_prepared(
        &mut self,
        (prepared, said): (&Prepared, Option<&[u8]>),
        values: &[(Value, SqlType)],
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Outcome> {
        self.noted(&prepared.statement, &prepared.text, |this| {
            execute_prepared(&this.instance, &mut this.session, (prepared, said), values, sink)
        })
    }

    /// Runs a statement and shows it in the process list.
    #[inline]
    fn noted(
        &mut self,
        statement: &Statement,
        text: &[u8],
        run: impl FnOnce(&mut Self) -> SqlResult<Outcome>,
    ) -> SqlResult<Outcome> {
        self.check_expired(statement)?;
        com::count(&self.shared.handle.counters, statement);
        self.session.diagnostics.begin_statement();
        self.shared.handle.set_state(com::state(statement));
        let before = note_waits(Some(Arc::clone(&self.shared.handle.waits)));
        let result = guarded(|| run(self));
        note_waits(before);
        self.tell_panic(text, &result);
        self.after(statement, &result);
        result
    }

    /// Answers a query by its kept result.
    fn send_again(
        &mut self,
        kept: &KeptResult,
        text: &[u8],
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Outcome> {
        self.shared.handle.counters.bump(counter().com_select);
        self.session.diagnostics.begin_statement();
        let result = send_result(&self.instance, &mut self.session, kept, sink);
        self.tell_panic(text, &result);
        self.report();
        result
    }

    /// Tells `performance_schema` which statement a text has, if that is on.
    #[inline]
    fn record(&self, read: &Read, text: &[u8]) {
        let Some(recorder) = self.shared.handle.recorder() else { return };
        let mode = self.session.frame.settings.expressions.sql_mode;
        let make = |text: &[u8]| recorder.digest(text, mode);
        let select = matches!(read, Read::Answered(_)).then_some(counter().com_select);
        recorder.statement(read.statement().map(com::counter).or(select), || match read {
            Read::Planned(plan) => Cow::Borrowed(plan.statement.digest(make)),
            _ => Cow::Owned(make(text)),
        });
    }

    /// Runs a step before the statement is known, and catches panics.
    fn guarded<R>(
        &mut self,
        text: &[u8],
        run: impl FnOnce(&mut Self) -> SqlResult<R>,
    ) -> SqlResult<R> {
        let result = guarded(|| run(self));
        self.tell_panic(text, &result);
        result
    }

    #[inline]
    fn tell_panic<R>(&self, text: &[u8], result: &SqlResult<R>) {
        if let Err(error) = result
            && error.is(&ER_INTERNAL_ERROR)
        {
            panics::tell(
                self.shared.handle.id,
                text,
                self.session.frame.settings.expressions.sql_mode,
            );
        }
    }

    fn keep(&self, statement: &Statement, text: &[u8], repeated: Repeated) -> Option<TextPlan> {
        keep_text_plan(&self.instance, &self.session, statement, text, repeated)
    }

    /// Fails (1820) if the password has expired and the statement is not a SET.
    fn check_expired(&self, statement: &Statement) -> SqlResult<()> {
        match self.shared.is_expired() && !matches!(statement, Statement::Set(_)) {
            true => Err(SqlError::new(&ER_MUST_CHANGE_PASSWORD, &[])),
            false => Ok(()),
        }
    }

    /// Releases everything that ends with the session.
    fn end(&mut self) {
        // After a failed rollback there is nothing to try again.
        let _ = self.session.end_transaction(&self.instance);
        if self.session.has_locked_tables() {
            let _ = self.quietly(b"UNLOCK TABLES");
        }
        self.drop_temporary_tables();
        self.shared.server.user_locks.release_all(self.shared.handle.id);
        if let Some(binlog) = self.shared.server.binlog() {
            binlog.after_statement();
        }
    }

    /// Drops all temporary tables.
    pub(super) fn drop_temporary_tables(&mut self) {
        if let Err(error) = self.session.log_end_of_temporary() {
            tracing::error!(
                connection = self.shared.handle.id,
                "The end of temporary tables is not in the binary log: {error}"
            );
        }
        let tables: Vec<Arc<TableInfo>> = self.session.frame.temporary.iter().cloned().collect();
        for table in tables {
            let (schema, name) = (quote_identifier(table.schema()), quote_identifier(table.name()));
            let text = format!("DROP TEMPORARY TABLE IF EXISTS {schema}.{name}");
            if let Err(error) = self.quietly(text.as_bytes()) {
                tracing::error!(connection = self.shared.handle.id, "{}: {error}", text);
            }
        }
    }

    fn quietly(&mut self, text: &[u8]) -> SqlResult<Outcome> {
        // A kill of the session must not stop its cleanup.
        self.session.frame.kill = KillFlag::default();
        execute_text(&self.instance, &mut self.session, text, &mut NullSink)
    }
}

/// A new executor session for the account that is logged in.
fn begin(instance: &Instance, shared: &Arc<Shared>) -> Session {
    let (identity, global) = {
        let access = shared.access.lock();
        (access.identity().clone(), access.global())
    };
    let account = Account {
        user: identity.user,
        host: identity.host,
        account: identity.account.to_string().into(),
        role: identity.role,
        global,
        version: 0,
    };
    let hooks: Arc<dyn SessionHooks> = Arc::clone(shared) as Arc<dyn SessionHooks>;
    let mut session = Session::new(shared.handle.id, account, hooks);
    session.frame.kill = shared.handle.kill.clone();
    session.frame.live = shared.handle.live.clone();
    session.gate = Arc::clone(&instance.gate);
    session.locks = instance.locks.clone();
    session
}

impl Drop for ExecutorSession {
    fn drop(&mut self) {
        self.end();
        self.registered.write().remove(&self.shared.handle.id);
    }
}

impl BackendSession for ExecutorSession {
    type Statement = Read;
    type Prepared = Arc<Prepared>;

    fn parse(
        &mut self,
        text: &[u8],
        multi: bool,
        origin: Option<&ClientText>,
    ) -> SqlResult<Step<Read>> {
        self.refresh();
        if !self.shared.is_expired()
            && let Some(kept) =
                find_result(&self.instance, &mut self.session, text, text_form(&self.shared))
        {
            return Ok(Step { statement: Read::Answered(kept), next: None });
        }
        let lookup = match origin {
            None => find_text_plan(&self.instance, &self.session, text),
            Some(_) => TextLookup::Unknown,
        };
        let again = match lookup {
            TextLookup::Found(found) => {
                return Ok(Step { statement: Read::Planned(found), next: None });
            }
            TextLookup::Repeated(repeated) => Some(repeated),
            TextLookup::Unknown => None,
        };
        match self.guarded(text, |this| this.parse_first(text, multi, origin)) {
            Ok(parsed) => {
                let next = Some(parsed.end).filter(|end| *end < text.len());
                let kept = match again.filter(|_| next.is_none()) {
                    Some(repeated) => {
                        self.guarded(text, |this| Ok(this.keep(&parsed.statement, text, repeated)))?
                    }
                    None => None,
                };
                let statement =
                    kept.map_or_else(|| Read::Statement(parsed.statement), Read::Planned);
                Ok(Step { statement, next })
            }
            Err(error) if error.is(&ER_EMPTY_QUERY) && is_comment(text) => {
                Ok(Step { statement: Read::Nothing, next: None })
            }
            Err(error) => {
                self.note_error(&error);
                Err(error)
            }
        }
    }

    fn is_update(&self, statement: &Read) -> bool {
        match statement {
            Read::Statement(statement) => is_update(statement),
            Read::Planned(plan) => is_update(&plan.statement.statement),
            Read::Nothing | Read::Answered(_) => false,
        }
    }

    fn query(
        &mut self,
        statement: Read,
        text: &[u8],
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Outcome> {
        self.record(&statement, text);
        match statement {
            Read::Statement(statement) => self.run(&statement, text, sink),
            Read::Planned(plan) => {
                self.run_prepared((&plan.statement, Some(text)), &plan.values, sink)
            }
            Read::Answered(kept) => self.send_again(&kept, text, sink),
            // Compat: a text with only comments is a statement without effect.
            Read::Nothing => {
                self.session.diagnostics.clear();
                Ok(Outcome::ok())
            }
        }
    }

    fn prepare(
        &mut self,
        text: &[u8],
        origin: Option<&ClientText>,
    ) -> SqlResult<Described<Arc<Prepared>>> {
        self.refresh();
        self.session.diagnostics.clear();
        let prepared = self.guarded(text, |this| {
            prepare_shared(&this.instance, &mut this.session, text, origin)
        })?;
        Ok(Described {
            parameters: prepared.parameters,
            columns: prepared.output.clone(),
            statement: prepared,
        })
    }

    fn execute(
        &mut self,
        prepared: &Arc<Prepared>,
        parameters: &[(Value, SqlType)],
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Outcome> {
        self.refresh();
        self.run_prepared((prepared, None), parameters, sink)
    }

    fn tell_first(&mut self, conditions: Vec<Condition>) {
        if conditions.is_empty() {
            return;
        }
        let limit = self.session.frame.settings.notes.max_error_count;
        self.session.diagnostics.forget_stale();
        self.session.diagnostics.put_first(conditions, limit);
    }

    fn execute_bulk(
        &mut self,
        prepared: &Arc<Prepared>,
        rows: Vec<Vec<Argument>>,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Outcome> {
        self.refresh();
        let bulk = Bulk::new(prepared, rows).inspect_err(|error| self.note_error(error))?;
        self.noted(&prepared.statement, &prepared.text, |this| {
            let ExecutorSession { instance, session, shared, .. } = this;
            let counters = &shared.handle.counters;
            let com = com::counter(&prepared.statement);
            bulk.run(instance, session, sink, &mut || {
                [com, counter().com_stmt_execute].into_iter().for_each(|id| counters.bump(id));
            })
        })
    }

    fn user_variable(&self, name: &str) -> Option<String> {
        let (value, ty) = selkie_expr::Session::user_variable(&self.session, name)?;
        (!value.is_null()).then(|| selkie_expr::text::display(&value, &ty))
    }

    fn memory(&self, note: &mut dyn FnMut(usize, usize)) {
        let (address, bytes) = count_of(self.session.frame.settings.expressions.time_zone.name());
        note(address, bytes);
        self.session.transaction.memory(note);
    }

    fn hold_answers(&mut self) {
        self.session.transaction.hold_answers();
    }

    fn take_unsettled(&mut self) -> Option<Unsettled> {
        self.session.transaction.take_unsettled().filter(|commit| !commit.is_settled())
    }

    fn logged_bytes(&self) -> u64 {
        self.session.logged_bytes()
    }

    fn take_group_end(&mut self) -> Option<Place> {
        self.session.take_group_end()
    }

    fn field_list(&mut self, table: &str, pattern: &[u8]) -> SqlResult<Vec<OutputColumn>> {
        let schema = self.session.frame.schema.clone();
        let schema = schema.ok_or_else(|| SqlError::new(&ER_NO_DB_ERROR, &[]))?;
        let snapshot = self.instance.catalog.snapshot();
        let names = Namespace { snapshot: &snapshot, temporary: &self.session.frame.temporary };
        let info = names.table(&schema, table).cloned();
        let info = info.ok_or_else(|| SqlError::no_such_table(&schema, table))?;
        let access = Access { privilege: Privilege::Any, schema: &schema, table, columns: &[] };
        self.shared.check_access(&self.session, &access)?;
        let all = pattern.is_empty();
        let matches = |name: &str| {
            all || CollationId::UTF8MB3_GENERAL_CI.like(name.as_bytes(), pattern, None)
        };
        let columns = (0..info.columns.len()).filter(|at| matches(&info.columns[*at].name));
        Ok(columns.map(|at| describe(&info, at)).collect())
    }

    fn use_schema(&mut self, schema: &str) -> SqlResult<()> {
        self.refresh();
        let statement = Statement::Use(Ident::new(schema));
        let session = &mut self.session;
        let result =
            execute_statement(&self.instance, session, &statement, b"", &[], &mut NullSink);
        self.after(&statement, &result);
        result.map(|_| ())
    }

    fn fixed_micros(&self) -> Option<i64> {
        self.session.frame.settings.timestamp_micros
    }

    fn status(&self) -> SessionStatus {
        let settings = &self.session.frame.settings;
        let mut flags = Status::NONE;
        let in_transaction = self.session.in_transaction();
        let read_only = in_transaction && self.session.transaction.is_read_only(settings);
        flags.set(Status::AUTOCOMMIT, settings.transactions.autocommit);
        flags.set(Status::IN_TRANS, in_transaction);
        flags.set(Status::IN_TRANS_READONLY, read_only);
        let mode = settings.expressions.sql_mode;
        flags.set(Status::NO_BACKSLASH_ESCAPES, mode.contains(SqlMode::NO_BACKSLASH_ESCAPES));
        flags.set(Status::ANSI_QUOTES, mode.contains(SqlMode::ANSI_QUOTES));
        let warnings = self.session.diagnostics.raised().min(u16::MAX.into()) as u16;
        SessionStatus { flags, warnings }
    }

    fn note_error(&mut self, error: &SqlError) {
        self.session.diagnostics.clear();
        self.session
            .diagnostics
            .push_error(error, self.session.frame.settings.notes.max_error_count);
    }

    fn reset(&mut self) {
        self.end();
        // A change of the user has left the default database before.
        let entered = self.shared.handle.schema().is_some();
        let schema = self.session.frame.schema.take().filter(|_| entered);
        let mut vars = SessionVars::new(&self.shared.server.globals);
        vars.set(ids().pseudo_thread_id, VarValue::Uint(self.shared.handle.id));
        *self.shared.vars.lock() = vars;
        self.shared.settings_changed();
        self.session = begin(&self.instance, &self.shared);
        self.session.frame.schema = schema;
        settings::refresh(&self.shared, &mut self.session);
        let counters = &self.shared.handle.counters;
        self.shared.server.sessions.ended.absorb_session(counters);
        counters.reset_session();
        self.report();
    }
}

/// Whether a text without a statement has anything but spaces, semicolons and NULs.
fn is_comment(text: &[u8]) -> bool {
    text.iter().any(|b| !b.is_ascii_whitespace() && !matches!(b, b';' | 0))
}

/// Description of a column for COM_FIELD_LIST.
fn describe(info: &TableInfo, at: usize) -> OutputColumn {
    let column = &info.columns[at];
    let first_of = |is: fn(IndexKind) -> bool| {
        let mut indexes = info.all_indexes().map(|(index, _)| index);
        indexes.any(|i| is(i.kind) && i.parts.iter().any(|p| p.column == at))
    };
    let table: Arc<str> = Arc::from(info.name());
    OutputColumn {
        nullable: column.nullable,
        schema: Arc::from(info.schema()),
        table: table.clone(),
        org_table: table,
        org_name: Arc::from(&*column.name),
        kept: true,
        primary_key: first_of(IndexKind::is_primary),
        unique_key: first_of(|kind| kind == IndexKind::Unique),
        multiple_key: first_of(|kind| matches!(kind, IndexKind::Plain | IndexKind::Fulltext)),
        part: if first_of(|_| true) { PartOf::Index } else { PartOf::Nothing },
        auto_increment: column.auto_increment,
        no_default: !column.nullable
            && matches!(column.default, selkie_catalog::DefaultValue::Implicit),
        on_update_now: column.on_update_now,
        ..OutputColumn::computed(&column.name, column.ty.clone())
    }
}

/// Whether an error says that the account lacks a privilege.
fn is_refusal(error: &SqlError) -> bool {
    let refusals = [
        &ER_TABLEACCESS_DENIED_ERROR,
        &ER_COLUMNACCESS_DENIED_ERROR,
        &ER_DBACCESS_DENIED_ERROR,
        &ER_SPECIFIC_ACCESS_DENIED_ERROR,
        &ER_PROCACCESS_DENIED_ERROR,
        &ER_ACCESS_DENIED_ERROR,
    ];
    refusals.iter().any(|refusal| error.is(refusal))
}
