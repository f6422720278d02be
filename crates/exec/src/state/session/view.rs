//! The session as expressions and the planner see it: implements their traits over [`Session`].
//! Privileges are those of the running program's definer, if there is one.

use std::borrow::Cow;
use std::io::Read;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Wake;
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use selkie_catalog::RoutineForm;
use selkie_engine::{WaitKind, blocking};
use selkie_expr::{TypeContext, VariableScope};
use selkie_plan::{Environment, Listed, Permissions, Settings as PlanSettings};
use selkie_types::error::catalogue::ER_STATEMENT_TIMEOUT;
use selkie_types::{
    CollationId, JsonRole, Privileges, SqlError, SqlResult, SqlType, TypeKind, Value,
};

use super::{Access, Privilege, Session};
use crate::state::kill::Killed;
use crate::state::packages;
use crate::state::patience::{CLIENT_CHECK, Patience};

/// Key of a user variable: names that differ only in case are equal.
fn folded(name: &str) -> Cow<'_, str> {
    match name.chars().any(char::is_uppercase) {
        true => Cow::Owned(name.to_lowercase()),
        false => Cow::Borrowed(name),
    }
}

impl Session {
    /// Sets the user variable `name`, in any case.
    pub(crate) fn set_variable(&self, name: &str, value: Value, ty: &SqlType) {
        selkie_expr::Session::set_user_variable(self, name, value, ty);
    }

    /// A value and its type as a variable keeps them.
    ///
    /// Compat: a variable holds a number or a text. A date becomes a latin1 text, a member of an
    /// ENUM or SET a text. The variable keeps neither the number of digits of a number, nor that it
    /// was a FLOAT, nor that a text is a JSON document or a hexadecimal literal, which may be a
    /// number.
    fn as_variable(&self, value: Value, ty: &SqlType) -> (Value, SqlType) {
        let mut ty = SqlType { zerofill: false, json: JsonRole::Plain, ..ty.clone() };
        ty.unsigned &= !ty.is_string();
        let is_date = ty.is_temporal() || ty.fixed_binary().is_some();
        match ty.kind {
            TypeKind::Float | TypeKind::Double => (value, SqlType::double()),
            TypeKind::Year => (value, SqlType::bigint_unsigned()),
            TypeKind::Enum | TypeKind::Set => text_of(value, &ty, ty.collation),
            _ if is_date => {
                let local = match (ty.kind, &value) {
                    (TypeKind::Timestamp, Value::DateTime(instant)) => {
                        let zone = &self.frame.settings.expressions.time_zone;
                        Value::DateTime(zone.to_local(*instant))
                    }
                    _ => value,
                };
                text_of(local, &ty, CollationId::LATIN1_SWEDISH_CI)
            }
            _ if ty.is_text_or_blob() => {
                ty.kind = TypeKind::VarChar;
                (value, ty)
            }
            _ => (value, ty),
        }
    }
}

/// The text of a value, as a VARCHAR of its length.
fn text_of(value: Value, ty: &SqlType, collation: CollationId) -> (Value, SqlType) {
    if value.is_null() {
        return (value, SqlType::varchar(0, collation));
    }
    let mut text = Vec::new();
    selkie_types::write_value(ty, &value, &mut text);
    let length = collation.charset().char_count(&text);
    (Value::Bytes(text.into()), SqlType::varchar(length as u32, collation))
}

impl selkie_expr::Session for Session {
    fn user_variable(&self, name: &str) -> Option<(Value, SqlType)> {
        let found = self.core.variables.lock().get(&*folded(name)).cloned();
        if self.transaction.is_nested()
            && let Some(log) = self.log()
        {
            log.read(name, found.as_ref());
        }
        found
    }

    fn set_user_variable(&self, name: &str, value: Value, ty: &SqlType) {
        let (value, ty) = self.as_variable(value, ty);
        let mut variables = self.core.variables.lock();
        match variables.get_mut(&*folded(name)) {
            // Compat: a variable that becomes NULL keeps its type.
            Some(known) if ty.kind == TypeKind::Null => known.0 = value,
            Some(known) => *known = (value, ty),
            None => drop(variables.insert((*folded(name)).into(), (value, ty))),
        }
    }

    fn system_variable(&self, scope: VariableScope, name: &str) -> SqlResult<Value> {
        if name == selkie_plan::AUTO_IS_NULL_VALUE {
            let value = self.values.auto_is_null.value();
            return Ok(value.map_or(Value::Null, Value::UInt));
        }
        let seen = self.frame.seen_in_program(name).filter(|_| scope != VariableScope::Global);
        match seen {
            Some(value) => Ok(Value::bytes(value)),
            None => self.frame.hooks.variable(self, scope, name),
        }
    }

    fn database(&self) -> Option<String> {
        self.frame.schema.as_deref().map(str::to_owned)
    }

    fn user(&self) -> String {
        format!("{}@{}", self.frame.account.user, self.frame.account.host)
    }

    fn current_user(&self) -> String {
        match &self.frame.acting_as {
            Some(definer) => definer.to_string(),
            None => self.frame.account.account.to_string(),
        }
    }

    fn current_role(&self) -> Option<String> {
        self.frame.account.role.clone()
    }

    fn connection_id(&self) -> u64 {
        self.core.shown_id.load(Ordering::Relaxed)
    }

    fn version(&self) -> String {
        self.frame.hooks.version()
    }

    fn last_insert_id(&self) -> u64 {
        self.values.last_insert_id.get()
    }

    fn set_last_insert_id(&self, id: u64) {
        self.values.last_insert_id.set(id);
        self.explicit_insert_id.set(Some(id));
    }

    fn transaction_number(&self) -> u64 {
        self.transaction.registration().map_or(0, |own| own.number)
    }

    fn row_count(&self) -> i64 {
        self.values.row_count.get()
    }

    fn found_rows(&self) -> u64 {
        self.values.found_rows.get()
    }

    fn check_interrupted(&self) -> SqlResult<()> {
        match self.frame.kill.get() {
            Killed::No => selkie_meter::check(),
            _ => Err(SqlError::interrupted()),
        }
    }

    fn sleep(&self, time: Duration) -> SqlResult<bool> {
        blocking(WaitKind::Sleep, || self.sleep_for(time))
    }

    fn get_lock(&self, name: &[u8], timeout: f64) -> SqlResult<Option<bool>> {
        let year = 365.0 * 86_400.0;
        let seconds = if timeout < 0.0 { year } else { timeout.min(year) };
        self.frame.hooks.get_lock(self, name, Duration::from_secs_f64(seconds))
    }

    fn binlog_gtid_pos(&self, file: &str, offset: u64) -> SqlResult<Option<String>> {
        self.frame.hooks.binlog_gtid_pos(file, offset)
    }

    fn master_gtid_wait(&self, list: &str, longest: Option<Duration>) -> SqlResult<bool> {
        self.frame.hooks.master_gtid_wait(self, list, longest)
    }

    fn master_pos_wait(
        &self,
        file: &str,
        offset: i64,
        longest: Option<Duration>,
        connection: Option<&str>,
    ) -> SqlResult<Option<i64>> {
        self.frame.hooks.master_pos_wait(self, file, offset, longest, connection)
    }

    fn release_lock(&self, name: &[u8]) -> SqlResult<Option<bool>> {
        self.frame.hooks.release_lock(self, name)
    }

    fn release_all_locks(&self) -> SqlResult<u64> {
        self.frame.hooks.release_all_locks(self)
    }

    fn lock_holder(&self, name: &[u8]) -> SqlResult<Option<u64>> {
        self.frame.hooks.lock_holder(self, name)
    }

    fn load_file(&self, name: &str, max: u64) -> Option<Vec<u8>> {
        let access = Access { privilege: Privilege::File, schema: "", table: "", columns: &[] };
        self.frame.hooks.check_access(self, &access).ok()?;
        let path = self.core.files.get()?.path(name).ok()?;
        let mut content = Vec::new();
        std::fs::File::open(path).ok()?.take(max + 1).read_to_end(&mut content).ok()?;
        Some(content)
    }

    fn uuid_short(&self) -> u64 {
        self.frame.hooks.uuid_short()
    }
}

impl Environment for Session {
    fn user_variable(&self, name: &str) -> Option<SqlType> {
        /// Longer strings are not dates or times.
        const LONGEST: usize = 64;
        let variables = self.core.variables.lock();
        let (value, ty) = variables.get(&*folded(name))?;
        let mut ty = ty.clone();
        if let (true, Value::Bytes(text)) = (ty.is_string(), value) {
            // As a date or time, a string has as many decimals as it shows.
            let shown = text.len() <= LONGEST;
            ty.decimals = if shown { selkie_expr::cast::fraction_digits(text) } else { 0 };
        }
        Some(ty)
    }

    fn system_variable(&self, scope: VariableScope, name: &str) -> SqlResult<SqlType> {
        self.frame.hooks.variable_type(self, scope, name)
    }

    fn permissions(&self) -> &dyn Permissions {
        self
    }
}

impl Permissions for Session {
    fn granted(&self, who: Option<&str>, schema: &str, table: &str) -> Privileges {
        match self.freely(who) {
            all if all.has(Privileges::TABLE) => all,
            _ => self.frame.hooks.granted(self, self.acting(who), schema, table),
        }
    }

    fn check_function(&self, schema: &str, name: &str) -> SqlResult<()> {
        let (form, name) = match packages::member_of(name) {
            Some((package, _)) => (RoutineForm::PackageBody, package),
            None => (RoutineForm::Function, name),
        };
        self.frame.hooks.check_routine(self, Privilege::Execute, form, schema, name)
    }

    fn check_table(
        &self,
        who: Option<&str>,
        schema: &str,
        table: &str,
        wanted: Privileges,
    ) -> SqlResult<()> {
        match self.freely(who).has(wanted) {
            true => Ok(()),
            false => self.frame.hooks.check_table(self, self.acting(who), schema, table, wanted),
        }
    }

    fn check_column(
        &self,
        who: Option<&str>,
        schema: &str,
        table: &str,
        column: &str,
        wanted: Privileges,
    ) -> SqlResult<()> {
        self.frame.hooks.check_column(self, self.acting(who), (schema, table, column), wanted)
    }

    fn table_denied(
        &self,
        who: Option<&str>,
        schema: &str,
        table: &str,
        wanted: Privileges,
    ) -> SqlError {
        self.frame.hooks.table_denied(self, self.acting(who), (schema, table), &wanted.refused())
    }

    fn schema_denied(&self, who: Option<&str>, schema: &str) -> SqlError {
        self.frame.hooks.schema_denied(self, self.acting(who), schema)
    }

    fn check_definer(&self, definer: &str) -> SqlResult<()> {
        self.frame.hooks.check_definer(self, definer)
    }
}

impl Session {
    /// Settings that expressions depend on.
    pub fn type_context(&self) -> TypeContext {
        self.frame.settings.expressions.clone()
    }

    /// Whether plain reads lock rows, and whether reads that feed INSERT and the like do.
    pub(crate) fn reads_lock(&self) -> (bool, bool) {
        let (transaction, settings) = (&self.transaction, &self.frame.settings);
        let all = self.locks_reads || transaction.locks_reads(settings);
        (all, transaction.locks_sources(settings))
    }

    /// Settings that plans depend on.
    pub fn plan_settings<'a>(&'a self, parameters: &'a [SqlType]) -> PlanSettings<'a> {
        let (lock_reads, lock_sources) = self.reads_lock();
        PlanSettings {
            variables: &self.frame.settings.planning,
            schema: self.frame.schema.as_deref(),
            parameters,
            variables_of_program: self.programs.nesting.has_variables,
            literals: self.frame.literals,
            lock_reads,
            lock_sources,
            listed: match (&self.lock_list, &self.locked_tables) {
                (None, _) => Listed::Any,
                (Some(_), None) => Listed::Often,
                (Some(_), Some(_)) => Listed::Once,
            },
        }
    }
}

impl Session {
    /// Account whose privileges count: `who` if given, else the running program's definer, else
    /// (`None`) the client's account.
    fn acting<'w>(&'w self, who: Option<&'w str>) -> Option<&'w str> {
        who.or(self.frame.acting_as.as_deref())
    }

    /// Privileges known without asking the server.
    fn freely(&self, who: Option<&str>) -> Privileges {
        match self.acting(who) {
            None => self.frame.account.global,
            Some(_) => Privileges::NONE,
        }
    }

    /// Sleeps; false if a kill ended it.
    fn sleep_for(&self, time: Duration) -> SqlResult<bool> {
        let patience = Patience::new(Some(time), self.values.deadline.get());
        let _woken = self.frame.kill.wakes(Arc::new(Sleeper(thread::current())).into());
        while let Some(left) = patience.left() {
            if self.frame.kill.get() != Killed::No {
                return Ok(false);
            }
            if self.values.deadline.get().is_some_and(|deadline| Instant::now() >= deadline) {
                return Err(SqlError::new(&ER_STATEMENT_TIMEOUT, &[]));
            }
            thread::park_timeout(left.min(CLIENT_CHECK));
            if left > CLIENT_CHECK {
                self.frame.hooks.end_if_gone();
            }
        }
        Ok(true)
    }
}

/// A thread in `SLEEP()`.
struct Sleeper(Thread);

impl Wake for Sleeper {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
