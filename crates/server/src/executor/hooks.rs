//! What the executor asks of the server: variables, privileges, locks, statements of its own.
//!
//! Must not run queries.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use selkie_catalog::TableInfo;
use selkie_exec::session::{
    Access, CheckedSet, NewValue, PreparedTicket, Privilege, SavedVariables, Session, SessionHooks,
};
use selkie_exec::{Instance, Outcome, ResultSink};
use selkie_expr::VariableScope;
use selkie_sql::ast;
use selkie_types::error::catalogue::{ER_NO_SUCH_USER, ER_OPTION_PREVENTS_STATEMENT};
use selkie_types::{SqlError, SqlResult, SqlType, Value};

use super::administration;
use crate::accounts::{AccessControl, AccountName, GrantLevel, GrantTarget, Identity, Privileges};
use crate::session::Shared;
use crate::variables::{VERSION, VarDef, VarScope, VarValue, ids, lookup};

impl SessionHooks for Shared {
    fn check_access(&self, session: &Session, access: &Access<'_>) -> SqlResult<()> {
        match &session.acting_as {
            Some(definer) => self.check_access_of(session, definer, access),
            None => check_access(&self.access.lock(), access),
        }
    }

    fn check_routine(
        &self,
        session: &Session,
        privilege: Privilege,
        function: bool,
        schema: &str,
        name: &str,
    ) -> SqlResult<()> {
        let control = self.access.lock();
        let acting = match &session.acting_as {
            Some(definer) => Some(control.of(identity_of(&control, definer)?)),
            None => None,
        };
        let control = acting.as_ref().unwrap_or(&control);
        match privilege {
            Privilege::Any => control.check_sees_routine(schema, name, function),
            Privilege::ShowRoutine => control.check("mysql", "proc", Privileges::SELECT),
            Privilege::AlterRoutine => {
                control.check_routine(schema, name, function, Privileges::ALTER_ROUTINE)
            }
            _ => control.check_routine(schema, name, function, Privileges::EXECUTE),
        }
    }

    fn routine_created(&self, session: &Session, function: bool, schema: &str, name: &str) {
        let control = self.access.lock().clone();
        if session.acting_as.is_some() {
            return;
        }
        let wanted = Privileges::EXECUTE | Privileges::ALTER_ROUTINE;
        if control.check_routine(schema, name, function, wanted).is_ok() {
            return;
        }
        let account = control.identity().account.clone();
        let target = routine_target(function, schema, name);
        let level = GrantLevel::On(target);
        let granted = control.store().change(|acl| acl.grant(&account, &level, wanted, &[]));
        if let Err(error) = granted {
            tracing::warn!("privileges on {schema}.{name} were not granted: {error}");
        }
    }

    fn routine_dropped(&self, _: &Session, function: bool, schema: &str, name: &str) {
        let store = std::sync::Arc::clone(self.access.lock().store());
        let target = routine_target(function, schema, name);
        if !store.current().mentions(&target) {
            return;
        }
        let forgotten = store.change(|acl| {
            acl.forget_target(&target);
            Ok(())
        });
        if let Err(error) = forgotten {
            tracing::warn!("privileges on {schema}.{name} stay: {error}");
        }
    }

    fn check_access_of(&self, _: &Session, account: &str, access: &Access<'_>) -> SqlResult<()> {
        let control = self.access.lock();
        check_access(&control.of(identity_of(&control, account)?), access)
    }

    fn account_exists(&self, account: &str) -> bool {
        find_account(&self.access.lock(), account).is_some()
    }

    fn check_writable(&self) -> SqlResult<()> {
        let read_only = self.server.globals.get(ids().read_only).as_bool();
        match read_only && !self.access.lock().has_global(Privileges::READ_ONLY_ADMIN) {
            true => Err(SqlError::new(&ER_OPTION_PREVENTS_STATEMENT, &[&"--read-only"])),
            false => Ok(()),
        }
    }

    fn is_visible(&self, _: &Session, table: &TableInfo) -> bool {
        let schema = table.schema();
        schema.eq_ignore_ascii_case("information_schema")
            || self.access.lock().sees_table(schema, table.name())
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

    fn check_set(
        &self,
        session: &mut Session,
        item: &ast::SetItem,
        value: Option<NewValue>,
    ) -> SqlResult<CheckedSet> {
        administration::check_set(self, session, item, value)
    }

    fn set(
        &self,
        session: &mut Session,
        item: &ast::SetItem,
        checked: CheckedSet,
    ) -> SqlResult<()> {
        administration::set(self, session, item, checked)
    }

    fn count_prepared(&self) -> SqlResult<PreparedTicket> {
        Ok(Box::new(self.server.count_prepared()?))
    }

    fn save_variables(&self, session: &Session, names: &[&str]) -> SqlResult<SavedVariables> {
        administration::save(self, session, names)
    }

    fn restore_variables(&self, session: &mut Session, saved: SavedVariables) {
        administration::restore(self, session, saved);
    }

    fn statement(
        &self,
        instance: &Instance,
        session: &mut Session,
        statement: &ast::Statement,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Option<Outcome>> {
        administration::statement(self, instance, session, statement, sink)
    }

    fn get_lock(
        &self,
        session: &Session,
        name: &[u8],
        timeout: Duration,
    ) -> SqlResult<Option<bool>> {
        self.handle.set_state("User lock");
        let got = self.server.user_locks.get(session.id, name, timeout, &self.handle.kill);
        self.handle.set_state("");
        got
    }

    fn release_lock(&self, session: &Session, name: &[u8]) -> SqlResult<Option<bool>> {
        Ok(self.server.user_locks.release(session.id, name))
    }

    fn release_all_locks(&self, session: &Session) -> SqlResult<u64> {
        Ok(self.server.user_locks.release_all(session.id))
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

fn routine_target(function: bool, schema: &str, name: &str) -> GrantTarget {
    let (schema, name) = (schema.to_owned(), name.to_owned());
    GrantTarget::Routine { schema, name, is_function: function }
}

/// Somebody who is the account `user@host`, or error 1449.
fn identity_of(control: &AccessControl, account: &str) -> SqlResult<Identity> {
    let Some(account) = find_account(control, account) else {
        let (user, host) = account.rsplit_once('@').unwrap_or((account, ""));
        return Err(SqlError::new(&ER_NO_SUCH_USER, &[&user, &host]));
    };
    Ok(Identity {
        user: account.user.clone(),
        host: account.host_text().to_owned(),
        account,
        role: None,
    })
}

fn check_access(control: &AccessControl, access: &Access<'_>) -> SqlResult<()> {
    let Some(wanted) = privileges(access.privilege) else {
        if access.table.is_empty() {
            return match control.sees_database(access.schema) {
                true => Ok(()),
                false => Err(control.database_denied(access.schema)),
            };
        }
        return match control.sees_table(access.schema, access.table) {
            true => Ok(()),
            false => control.check(access.schema, access.table, Privileges::SELECT),
        };
    };
    if access.schema.is_empty() {
        return control.check_global(wanted);
    }
    if access.table.is_empty() {
        return control.check_database(access.schema, wanted);
    }
    if access.columns.is_empty() {
        // Which columns a statement uses is not said, so privileges on some are not enough.
        return control.check(access.schema, access.table, wanted);
    }
    for column in access.columns {
        control.check_column(access.schema, access.table, column, wanted)?;
    }
    Ok(())
}

/// The account `user@host`, or the role `user@`.
fn find_account(control: &AccessControl, account: &str) -> Option<AccountName> {
    let (user, host) = account.rsplit_once('@').unwrap_or((account, ""));
    let name = match host {
        "" => AccountName::role(user),
        host => AccountName::new(user, host),
    };
    let known = control.store().current().account(&name).is_some();
    known.then_some(name)
}

/// The privileges of the executor's words; `None` is "anything at all".
fn privileges(wanted: Privilege) -> Option<Privileges> {
    Some(match wanted {
        Privilege::Select => Privileges::SELECT,
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
        Privilege::File => Privileges::FILE,
        Privilege::Process => Privileges::PROCESS,
        Privilege::Reload => Privileges::RELOAD,
        Privilege::Super => Privileges::SUPER,
        Privilege::ShowRoutine => Privileges::SELECT,
        Privilege::Any => return None,
    })
}

/// The value of a variable, those included that the executor's session holds. A component's name
/// has that of its key cache before a dot.
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
    if let Some(cache) = cache {
        return Ok((def, shared.server.key_caches.read(&shared.server.globals, cache, def)?));
    }
    let is_global = scope == VarScope::Global && def.has_global_value();
    if let Some(value) = pseudo_value(session, def.name).filter(|_| !is_global) {
        // Whether there is one in this scope is for the variables to say.
        return shared.vars.lock().read(&shared.server.globals, scope, def).map(|_| (def, value));
    }
    Ok((def, shared.vars.lock().read(&shared.server.globals, scope, def)?))
}

/// Variables that are the running session itself.
pub(super) fn pseudo_value(session: &Session, name: &str) -> Option<VarValue> {
    Some(match name {
        "last_insert_id" | "identity" => VarValue::Uint(session.last_insert_id.get()),
        "insert_id" => VarValue::Uint(session.next_insert_id.get().unwrap_or(0)),
        "warning_count" => VarValue::Uint(session.diagnostics.warning_count()),
        "error_count" => VarValue::Uint(session.diagnostics.error_count()),
        "in_transaction" => VarValue::Uint(session.in_transaction().into()),
        "timestamp" => {
            let micros = session.settings.timestamp_micros;
            let micros = micros.unwrap_or_else(|| session.statement_start.get());
            VarValue::Double(micros as f64 / 1e6)
        }
        _ => return None,
    })
}
