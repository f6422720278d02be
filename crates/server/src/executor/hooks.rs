//! The server's side of the executor's hooks: variables, privileges, user locks, server statements.
//!
//! Must not run queries.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use selkie_catalog::{RoutineForm, TableInfo};
use selkie_exec::computed::Change;
use selkie_exec::session::{
    Access, CheckedSet, EventChange, LoggedProgram, NewValue, PreparedTicket, Privilege,
    SavedVariables, Session, SessionHooks,
};
use selkie_exec::{Instance, Outcome, ResultSink};
use selkie_expr::VariableScope;
use selkie_replication::replica::Place;
use selkie_sql::ast;
use selkie_types::error::catalogue::{
    ER_BINLOG_CREATE_ROUTINE_NEED_SUPER, ER_BINLOG_UNSAFE_ROUTINE, ER_NO_BINARY_LOGGING,
    ER_NO_SUCH_USER, ER_OPTION_PREVENTS_STATEMENT,
};
use selkie_types::{SqlError, SqlResult, SqlType, Value};

use super::{administration, com};
use crate::accounts::{AccessControl, Privileges, RoutineKind};
use crate::admin;
use crate::session::Shared;
use crate::variables::{VERSION, VarDef, VarScope, VarValue, ids, lookup, moment};

impl Shared {
    /// Asks `question` about the definer `who`, or about the session's own account if `None`.
    fn ask<T>(
        &self,
        who: Option<&str>,
        question: impl FnOnce(&AccessControl) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let Some(definer) = who else { return question(&self.access.lock()) };
        let mut definers = self.definers.lock();
        let version = self.server.accounts.version();
        if !definers.iter().any(|(name, known, _)| **name == *definer && *known == version) {
            definers.retain(|(name, ..)| **name != *definer);
            let (user, host) = definer.rsplit_once('@').unwrap_or((definer, ""));
            let control = AccessControl::of_definer(&self.server.accounts, user, host);
            let missing = || SqlError::new(&ER_NO_SUCH_USER, &[&user, &host]);
            definers.push((definer.into(), version, control.ok_or_else(missing)?));
        }
        match definers.iter().find(|(name, ..)| **name == *definer) {
            Some((.., control)) => question(control),
            None => Err(SqlError::internal("a definer that was just found")),
        }
    }
}

/// Restores the session's own privileges when it is dropped.
pub(super) struct Acting<'a> {
    shared: &'a Shared,
    own: Option<AccessControl>,
}

impl Drop for Acting<'_> {
    fn drop(&mut self) {
        if let Some(own) = self.own.take() {
            *self.shared.access.lock() = own;
        }
    }
}

impl Shared {
    /// Replaces the session's privileges by those of the definer while a stored program acts as its
    /// definer. The server's own statements check these. They last until the returned guard is
    /// dropped.
    pub(super) fn acting(&self, session: &Session) -> SqlResult<Acting<'_>> {
        let Some(definer) = session.frame.acting_as.as_deref() else {
            return Ok(Acting { shared: self, own: None });
        };
        let (user, host) = definer.rsplit_once('@').unwrap_or((definer, ""));
        let control = AccessControl::of_definer(&self.server.accounts, user, host);
        let control = control.ok_or_else(|| SqlError::new(&ER_NO_SUCH_USER, &[&user, &host]))?;
        let own = std::mem::replace(&mut *self.access.lock(), control);
        Ok(Acting { shared: self, own: Some(own) })
    }

    fn routine_changed(&self, form: RoutineForm, (schema, name): (&str, &str), made: bool) {
        let kind = kind_of(form);
        if let Err(error) = admin::routine_changed(self, kind, (schema, name), made) {
            tracing::warn!("privileges on {schema}.{name} could not be updated: {error}");
        }
    }
}

impl SessionHooks for Shared {
    fn traced(&self, text: &[u8], trace: String) {
        crate::optimizer_trace::keep(self, text, trace);
    }

    fn check_access(&self, session: &Session, access: &Access<'_>) -> SqlResult<()> {
        self.ask(session.frame.acting_as.as_deref(), |control| check_access(control, access))
    }

    fn check_needs(
        &self,
        session: &Session,
        schema: &str,
        table: &str,
        wanted: Privileges,
    ) -> SqlResult<()> {
        self.ask(session.frame.acting_as.as_deref(), |control| match table.is_empty() {
            true => control.check_database(schema, wanted),
            false => control.check_any_column(schema, table, wanted).map(|_| ()),
        })
    }

    fn granted(&self, _: &Session, who: Option<&str>, schema: &str, table: &str) -> Privileges {
        let all = self.ask(who, |control| Ok(control.on_table(schema, table)));
        all.unwrap_or_default()
    }

    fn check_table(
        &self,
        _: &Session,
        who: Option<&str>,
        schema: &str,
        table: &str,
        wanted: Privileges,
    ) -> SqlResult<()> {
        self.ask(who, |control| control.check_any_column(schema, table, wanted).map(|_| ()))
    }

    fn check_column(
        &self,
        _: &Session,
        who: Option<&str>,
        (schema, table, column): (&str, &str, &str),
        wanted: Privileges,
    ) -> SqlResult<()> {
        self.ask(who, |control| control.check_column(schema, table, column, wanted))
    }

    fn has_key_cache(&self, name: &str) -> bool {
        self.server.key_caches.has(name)
    }

    fn table_denied(
        &self,
        _: &Session,
        who: Option<&str>,
        (schema, table): (&str, &str),
        command: &str,
    ) -> SqlError {
        let denied = self.ask(who, |control| Ok(control.table_denied(schema, table, command)));
        denied.unwrap_or_else(|error| error)
    }

    fn schema_denied(&self, _: &Session, who: Option<&str>, schema: &str) -> SqlError {
        self.ask(who, |control| Ok(control.database_denied(schema))).unwrap_or_else(|error| error)
    }

    fn check_routine(
        &self,
        session: &Session,
        privilege: Privilege,
        form: RoutineForm,
        schema: &str,
        name: &str,
    ) -> SqlResult<()> {
        let kind = kind_of(form);
        self.ask(session.frame.acting_as.as_deref(), |control| match privilege {
            // Compat: the text of a routine is visible to accounts that may read the table it was
            // stored in.
            Privilege::ShowRoutine => control.check("mysql", "proc", Privileges::SELECT),
            Privilege::Any => control.check_some_routine(kind, schema, name),
            other => {
                let wanted = privileges(other).unwrap_or_default();
                control.check_routine(kind, schema, name, wanted)
            }
        })
    }

    fn account_exists(&self, account: &str) -> bool {
        self.ask(Some(account), |_| Ok(())).is_ok()
    }

    fn check_definer(&self, _: &Session, definer: &str) -> SqlResult<()> {
        let known = self.ask(Some(definer), |_| Ok(()));
        // Compat: the error names the missing definer only for sessions that may set any definer.
        let told = Privileges::SUPER | Privileges::SET_USER;
        let access = self.access.lock();
        known.map_err(|error| match access.has_global(told) {
            true => error,
            false => access.denied_login(),
        })
    }

    fn routine_created(&self, session: &Session, form: RoutineForm, schema: &str, name: &str) {
        if session.frame.acting_as.is_none() {
            self.routine_changed(form, (schema, name), true);
        }
    }

    fn routine_dropped(&self, _: &Session, form: RoutineForm, schema: &str, name: &str) {
        self.routine_changed(form, (schema, name), false);
    }

    fn event_changed(&self, _: &Session, change: EventChange<'_>) {
        self.server.events.follow(change);
    }

    fn privileges_version(&self) -> u64 {
        self.server.accounts.version()
    }

    fn sees_schema(&self, session: &Session, schema: &str) -> bool {
        let seen = |control: &AccessControl| Ok(control.sees_database(schema));
        self.ask(session.frame.acting_as.as_deref(), seen).unwrap_or(false)
    }

    fn on_column(
        &self,
        session: &Session,
        (schema, table, column): (&str, &str, &str),
    ) -> Privileges {
        let all = self.ask(session.frame.acting_as.as_deref(), |control| {
            Ok(control.on_column(schema, table, column))
        });
        all.unwrap_or_default()
    }

    fn check_writable(&self, acting_as: Option<&str>) -> SqlResult<()> {
        if !self.server.globals.get(ids().read_only).as_bool() {
            return Ok(());
        }
        let may = |control: &AccessControl| Ok(control.has_global(Privileges::READ_ONLY_ADMIN));
        match self.ask(acting_as, may)? {
            true => Ok(()),
            false => Err(SqlError::new(&ER_OPTION_PREVENTS_STATEMENT, &[&"--read-only"])),
        }
    }

    fn is_visible(&self, session: &Session, table: &TableInfo) -> bool {
        let schema = table.schema();
        let seen = |control: &AccessControl| Ok(control.sees_table(schema, table.name()));
        schema.eq_ignore_ascii_case("information_schema")
            || self.ask(session.frame.acting_as.as_deref(), seen).unwrap_or(false)
    }

    fn variable_type(
        &self,
        session: &Session,
        scope: VariableScope,
        name: &str,
    ) -> SqlResult<SqlType> {
        let (def, value) = value_of(self, session, scope, name)?;
        Ok(value.select(def).1)
    }

    fn variable(&self, session: &Session, scope: VariableScope, name: &str) -> SqlResult<Value> {
        let (def, value) = value_of(self, session, scope, name)?;
        Ok(value.select(def).0)
    }

    fn check_variable(&self, name: &str) -> SqlResult<()> {
        lookup(name).map(drop)
    }

    fn check_set<'a>(
        &'a self,
        session: &mut Session,
        item: &'a ast::SetItem,
        value: Option<NewValue>,
    ) -> SqlResult<CheckedSet<'a>> {
        let _acting = self.acting(session)?;
        let ready = administration::check_set(self, session, item, value)?;
        Ok(Box::new(move |session| {
            let _acting = self.acting(session)?;
            administration::set(self, session, item, ready)
        }))
    }

    fn count_prepared(&self) -> SqlResult<PreparedTicket> {
        self.server.count_prepared()
    }

    fn save_variables(&self, session: &Session, names: &[&str]) -> SqlResult<SavedVariables<'_>> {
        let saved = administration::save(self, session, names)?;
        Ok(Box::new(move |session| administration::restore(self, session, saved)))
    }

    fn statement(
        &self,
        instance: &Instance,
        session: &mut Session,
        statement: (&ast::Statement, &[(Value, SqlType)]),
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Option<Outcome>> {
        let _acting = self.acting(session)?;
        administration::statement(self, instance, session, statement, sink)
    }

    fn change_computed(&self, _: &Session, table: &str, change: Change) -> SqlResult<()> {
        crate::performance::change(&self.server, table, change)
    }

    fn seq_no_used(&self) {
        self.set_var(ids().gtid_seq_no, VarValue::Uint(0));
    }

    fn check_logged(&self, _: &Session, program: LoggedProgram) -> SqlResult<()> {
        let trusts = ids().log_bin_trust_function_creators;
        if self.server.binlog().is_none() || self.server.globals.get(trusts).as_bool() {
            return Ok(());
        }
        if program == LoggedProgram::UnsafeFunction {
            return Err(SqlError::new(&ER_BINLOG_UNSAFE_ROUTINE, &[]));
        }
        match self.access.lock().has_global(Privileges::SUPER) {
            true => Ok(()),
            false => Err(SqlError::new(&ER_BINLOG_CREATE_ROUTINE_NEED_SUPER, &[])),
        }
    }

    fn binlog_gtid_pos(&self, file: &str, offset: u64) -> SqlResult<Option<String>> {
        let binlog = self.server.binlog();
        let binlog = binlog.ok_or_else(|| SqlError::new(&ER_NO_BINARY_LOGGING, &[]))?;
        binlog.position_at(file, offset)
    }

    fn master_gtid_wait(
        &self,
        _: &Session,
        list: &str,
        longest: Option<Duration>,
    ) -> SqlResult<bool> {
        crate::replica::wait_for_groups(self, list, longest)
    }

    fn master_pos_wait(
        &self,
        session: &Session,
        file: &str,
        offset: i64,
        longest: Option<Duration>,
        connection: Option<&str>,
    ) -> SqlResult<Option<i64>> {
        let mut notes = Vec::new();
        let place = Place { file: file.to_owned(), offset: u64::try_from(offset).unwrap_or(0) };
        let waited = crate::replica::wait_for_place(self, &place, longest, connection, &mut notes);
        for note in notes {
            session.diagnostics.push(note, session.frame.settings.notes.max_error_count);
        }
        waited
    }

    fn count(&self, statement: &ast::Statement) {
        com::count(&self.handle.counters, statement);
    }

    fn show_text(&self, text: Option<Arc<str>>) -> Option<Arc<str>> {
        self.handle.show_text(text)
    }

    fn end_if_gone(&self) {
        self.handle.end_if_gone();
    }

    fn get_lock(
        &self,
        session: &Session,
        name: &[u8],
        timeout: Duration,
    ) -> SqlResult<Option<bool>> {
        self.handle.set_state("User lock");
        let (waiter, end_if_gone) =
            ((session.core.id, &session.locks), || self.handle.end_if_gone());
        let kill = (&self.handle.kill, &end_if_gone as &dyn Fn());
        let got = self.server.user_locks.get(waiter, name, timeout, kill);
        self.handle.set_state("");
        got
    }

    fn release_lock(&self, session: &Session, name: &[u8]) -> SqlResult<Option<bool>> {
        Ok(self.server.user_locks.release(session.core.id, name))
    }

    fn release_all_locks(&self, session: &Session) -> SqlResult<u64> {
        Ok(self.server.user_locks.release_all(session.core.id))
    }

    fn lock_holder(&self, _: &Session, name: &[u8]) -> SqlResult<Option<u64>> {
        Ok(self.server.user_locks.holder(name))
    }

    fn version(&self) -> String {
        VERSION.to_owned()
    }

    fn uuid_short(&self) -> u64 {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let server = self.server.globals.get(ids().server_id).as_u64() & 0xff;
        let started = self.server.started_at().duration_since(UNIX_EPOCH);
        let seconds = started.map_or(0, |d| d.as_secs()) & 0xffff_ffff;
        (server << 56 | seconds << 24).wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

fn check_access(control: &AccessControl, access: &Access<'_>) -> SqlResult<()> {
    let (schema, table) = (access.schema, access.table);
    if access.privilege == Privilege::LoadFile {
        // Compat: a missing FILE privilege is reported like a failed login.
        return control.check_global(Privileges::FILE).map_err(|_| control.denied_login());
    }
    if access.privilege == Privilege::ShowTable && control.shows_table(schema, table) {
        return Ok(());
    }
    let Some(wanted) = privileges(access.privilege) else {
        return match () {
            () if table.is_empty() && control.may_use(schema) => Ok(()),
            () if table.is_empty() => Err(control.database_denied(schema)),
            () if control.sees_table(schema, table) => Ok(()),
            () => control.check(schema, table, Privileges::SELECT),
        };
    };
    if schema.is_empty() {
        return control.check_global(wanted);
    }
    if table.is_empty() {
        return control.check_database(schema, wanted);
    }
    if access.columns.is_empty() {
        return control.check(schema, table, wanted);
    }
    let mut columns = access.columns.iter();
    columns.try_for_each(|column| control.check_column(schema, table, column, wanted))
}

/// A stored routine's kind in the terms of the privileges.
fn kind_of(form: RoutineForm) -> RoutineKind {
    match form {
        RoutineForm::Function => RoutineKind::Function,
        RoutineForm::Procedure => RoutineKind::Procedure,
        RoutineForm::Package => RoutineKind::Package,
        RoutineForm::PackageBody => RoutineKind::PackageBody,
    }
}

/// A kind of routine in the terms of the privileges.
pub(crate) fn routine_kind(kind: ast::RoutineKind) -> RoutineKind {
    match kind {
        ast::RoutineKind::Procedure => RoutineKind::Procedure,
        ast::RoutineKind::Function => RoutineKind::Function,
        ast::RoutineKind::Package => RoutineKind::Package,
        ast::RoutineKind::PackageBody => RoutineKind::PackageBody,
    }
}

/// The server's privileges for one of the executor's; `None` means any privilege.
fn privileges(wanted: Privilege) -> Option<Privileges> {
    Some(match wanted {
        Privilege::Select | Privilege::ShowTable => Privileges::SELECT,
        Privilege::Insert => Privileges::INSERT,
        Privilege::Update => Privileges::UPDATE,
        Privilege::Delete => Privileges::DELETE,
        Privilege::Create => Privileges::CREATE,
        Privilege::Drop => Privileges::DROP,
        Privilege::Alter => Privileges::ALTER,
        Privilege::Index => Privileges::INDEX,
        Privilege::References => Privileges::REFERENCES,
        Privilege::CreateView => Privileges::CREATE_VIEW,
        Privilege::ShowView => Privileges::SHOW_VIEW,
        Privilege::Trigger => Privileges::TRIGGER,
        Privilege::CreateRoutine => Privileges::CREATE_ROUTINE,
        Privilege::AlterRoutine => Privileges::ALTER_ROUTINE,
        Privilege::CreateTemporary => Privileges::CREATE_TEMPORARY_TABLES,
        Privilege::LockTables => Privileges::LOCK_TABLES,
        Privilege::Execute => Privileges::EXECUTE,
        Privilege::File | Privilege::LoadFile => Privileges::FILE,
        Privilege::Process => Privileges::PROCESS,
        Privilege::Reload => Privileges::RELOAD,
        Privilege::Super => Privileges::SUPER,
        Privilege::LockBackup => Privileges::RELOAD | Privileges::LOCK_TABLES,
        Privilege::Federated => Privileges::SUPER | Privileges::FEDERATED_ADMIN,
        Privilege::ShowRoutine => Privileges::SELECT,
        Privilege::Event => Privileges::EVENT,
        Privilege::Replay => Privileges::SUPER | Privileges::BINLOG_REPLAY,
        Privilege::SetUser => Privileges::SUPER | Privileges::SET_USER,
        Privilege::TakeNumbers => Privileges::SELECT | Privileges::INSERT,
        Privilege::Any => return None,
    })
}

/// The value of a variable, also of one that is kept in the executor's session. The name of a key
/// cache's variable has the cache's name and a dot in front.
fn value_of(
    shared: &Shared,
    session: &Session,
    scope: VariableScope,
    name: &str,
) -> SqlResult<(&'static VarDef, VarValue)> {
    let scope = match scope {
        VariableScope::Default => VarScope::Default,
        VariableScope::Session => VarScope::Session,
        VariableScope::Global => VarScope::Global,
    };
    let (cache, name) = match name.rsplit_once('.') {
        Some((cache, name)) => (Some(cache), name),
        None => (None, name),
    };
    let def = lookup(name)?;
    let mut notes = Vec::new();
    let found = match cache {
        Some(connection) if crate::replica::is_of_connection(def.name) => {
            Some(crate::replica::of_connection(shared, connection, def.name, &mut notes))
        }
        Some(_) => None,
        None => crate::binlog::value(&shared.server, def.name)
            .or_else(|| crate::replica::variable(shared, def.name, &mut notes)),
    };
    for note in notes {
        session.diagnostics.push(note, session.frame.settings.notes.max_error_count);
    }
    if let Some(cache) = cache.filter(|_| found.is_none()) {
        return Ok((def, shared.server.key_caches.read(&shared.server.globals, cache, def)?));
    }
    let is_global = scope == VarScope::Global && def.has_global_value();
    if let Some(value) = found {
        return shared.vars.lock().read(&shared.server.globals, scope, def).map(|_| (def, value));
    }
    if let Some(value) = pseudo_value(session, def.name).filter(|_| !is_global) {
        // The variables decide whether this one exists in the scope.
        return shared.vars.lock().read(&shared.server.globals, scope, def).map(|_| (def, value));
    }
    let vars = shared.vars.lock();
    let value = vars.read(&shared.server.globals, scope, def)?;
    let zone = vars.get(ids().time_zone).as_str();
    Ok((def, moment::shown(def, value, zone)))
}

/// Variables whose value is kept in the executor's session.
pub(super) fn pseudo_value(session: &Session, name: &str) -> Option<VarValue> {
    Some(match name {
        "last_insert_id" | "identity" => VarValue::Uint(session.values.last_insert_id.get()),
        "insert_id" => VarValue::Uint(session.core.next_insert_id.lock().unwrap_or(0)),
        "last_gtid" => {
            VarValue::text(session.last_group().map_or(String::new(), |gtid| gtid.to_string()))
        }
        "warning_count" => VarValue::Uint(session.diagnostics.warning_count()),
        "error_count" => VarValue::Uint(session.diagnostics.error_count()),
        "in_transaction" => VarValue::Uint(session.in_transaction().into()),
        "rand_seed1" => VarValue::Uint(session.core.random_seeds.get()?.0.into()),
        "rand_seed2" => VarValue::Uint(session.core.random_seeds.get()?.1.into()),
        "timestamp" => {
            let micros = session.frame.settings.timestamp_micros;
            let micros = micros.unwrap_or_else(|| session.values.statement_start.get());
            VarValue::Double(micros as f64 / 1e6)
        }
        _ => return None,
    })
}
