//! Statements that change definitions.
//!
//! Each statement commits the open transaction, locks the names it changes exclusively, and
//! computes the new definition ([`selkie_plan::define`]). Then it changes storage and dictionary in
//! one transaction of the dictionary's engine (storage of other engines before and after it, see
//! [`change`]) and publishes the result. Temporary tables live in the session: no commit, no lock,
//! no dictionary.
//!
//! # Invariants
//! - DDL-1 A definition is published only after its dictionary transaction is durable.
//! - DDL-2 Storage created for rows to be copied into belongs to no definition until the copy is
//!   complete; a crash before leaves an orphan that the next start removes.

mod alter;
mod binlog;
mod change;
mod copy;
mod create;
mod drop;
mod event;
mod exchange;
mod foreign;
mod history;
mod instant;
mod online;
mod package;
mod partition;
mod rename;
mod replace;
mod routine;
pub(crate) mod schema;
mod sequence;
mod server;
mod statistics;
mod temporary;
mod timing;
mod trigger;
mod unstored;
mod view;

pub(crate) use routine::definer_clause;
pub use unstored::add_unstored;

use std::cell::RefCell;
use std::time::Duration;

use selkie_catalog::{Namespace, Snapshot, TableInfo};
use selkie_engine::{RowFormats, StopwordList, TextDialect, TextRules};
use selkie_expr::{EvalContext, VariableScope};
use selkie_plan::define::{DefineContext, StopwordSettings};
use selkie_sql::ast::{AlterAlgorithm, LockWait, Statement, StoredKind, TableName};
use selkie_types::error::catalogue::{
    ER_DBACCESS_DENIED_ERROR, ER_IDENT_CAUSES_TOO_LONG_PATH, ER_LOCK_OR_ACTIVE_TRANSACTION,
    ER_TABLE_NOT_LOCKED, ER_TABLEACCESS_DENIED_ERROR, ER_WRONG_TABLE_NAME,
};
use selkie_types::{Condition, SqlError, SqlResult, Value, filename};

use self::binlog::Said;
use crate::query::execution::{Execution, Scope};
use crate::query::keep_conditions;
use crate::query::running::Running;
use crate::required;
use crate::run::search_rules::{self, lenient_rules, stopword_list};
use crate::state::control::Control;
use crate::state::metadata::{LockMode, LockTicket};
use crate::state::session::{Access, Privilege, Session};
use crate::{Instance, Outcome};

/// Characters that a name may have.
const NAME_MAX: usize = 64;

/// Bytes that one byte of a name may take in a file name.
const LONGEST_LETTER: usize = 5;

/// A DDL statement in progress.
pub(crate) struct Ddl<'a> {
    instance: &'a Instance,
    session: &'a mut Session,
    control: &'a Control,
    running: Running<'a>,
    /// `WAIT n` or `NOWAIT`, in place of `lock_wait_timeout`.
    wait: Option<LockWait>,
    /// Locks that keep the schemas of changed objects from being dropped.
    schemas: RefCell<Vec<LockTicket>>,
    /// The statement in the binary log.
    said: Said,
}

impl<'a> Ddl<'a> {
    /// The DDL statement that `execution` runs.
    pub(crate) fn new(execution: &'a mut Execution<'_>) -> Self {
        let Execution { instance, session, control, running, .. } = execution;
        let (running, schemas) = (*running, RefCell::default());
        let said = Said::default();
        Self { instance, session, control, running, wait: None, schemas, said }
    }

    fn scope(&self) -> Scope<'_> {
        Scope { instance: self.instance, session: self.session }
    }

    /// Runs `statement`; `None` if it is not a DDL statement handled here.
    pub(crate) fn run(&mut self, statement: &Statement) -> SqlResult<Option<Outcome>> {
        if event::is_about_event(statement) {
            self.begin_event_statement(statement)?;
        }
        self.check_form(statement)?;
        required::check(self.session, statement)?;
        self.wait = wait_of(statement);
        self.said.header = binlog::header_of(statement);
        self.said.schema = binlog::schema_of(statement);
        let outcome = match statement {
            Statement::CreateDatabase(create) => self.create_database(create)?,
            Statement::AlterDatabase(alter) => self.alter_database(alter)?,
            Statement::DropDatabase { if_exists, name } => self.drop_database(*if_exists, name)?,
            Statement::CreateTable(create) => self.create_table(create)?,
            Statement::AlterTable(alter) => self.alter_table(alter)?,
            Statement::CreateIndex(create) => self.create_index(create)?,
            Statement::DropIndex(drop) => self.drop_index(drop)?,
            Statement::DropTables(drop) => self.drop_tables(drop)?,
            Statement::RenameTables(rename) => self.rename_tables(rename)?,
            Statement::Truncate { table, .. } => self.truncate(table)?,
            Statement::CreateView(create) => self.create_view(create)?,
            Statement::CreateRoutine(create) => self.create_routine(create)?,
            Statement::CreatePackage(create) => self.create_package(create)?,
            Statement::AlterRoutine(alter) => self.alter_routine(alter)?,
            Statement::CreateTrigger(create) => self.create_trigger(create)?,
            Statement::CreateEvent(create) => self.create_event(create)?,
            Statement::AlterEvent(alter) => self.alter_event(alter)?,
            Statement::DropStored(drop) => match drop.kind {
                StoredKind::Procedure | StoredKind::Function => self.drop_routine(drop)?,
                StoredKind::Package | StoredKind::PackageBody => self.drop_package(drop)?,
                StoredKind::Trigger => self.drop_trigger(drop)?,
                StoredKind::Event => self.drop_event(drop)?,
                StoredKind::Server => self.drop_server(drop)?,
            },
            Statement::DefineServer(define) => self.define_server(define)?,
            Statement::CreateSequence(create) => self.create_sequence(create)?,
            Statement::AlterSequence(alter) => self.alter_sequence(alter)?,
            _ => return Ok(None),
        };
        self.log_without_change(statement)?;
        let head = self.session.headline();
        self.session.forget_seq_no(head.as_ref());
        Ok(Some(outcome))
    }

    /// Refuses statements whose form is invalid for every account, before privileges are checked.
    fn check_form(&self, statement: &Statement) -> SqlResult<()> {
        match statement {
            Statement::CreateView(create) => self.check_view_form(create),
            Statement::CreateTrigger(create) => self.check_trigger_form(create),
            Statement::CreateDatabase(create) => schema::check_name(&create.name.value),
            Statement::DropDatabase { name, .. } => schema::check_name(&name.value),
            Statement::CreateRoutine(create) => self.check_routine_form(create),
            Statement::CreatePackage(create) => self.check_package_form(create),
            _ => Ok(()),
        }
    }

    /// Schema and name that `name` refers to; fails if the name is invalid.
    fn resolve<'n>(&self, name: &'n TableName) -> SqlResult<(Box<str>, &'n str)> {
        let schema = self.session.schema_of(name)?.into();
        let table = &*name.name.value;
        if table.is_empty() || table.ends_with(' ') || table.chars().count() > NAME_MAX {
            return Err(SqlError::new(&ER_WRONG_TABLE_NAME, &[&table]));
        }
        Ok((schema, table))
    }

    /// Fails if the paths of a new table's files would exceed MariaDB's limit.
    fn check_path(&self, schema: &str, table: &str) -> SqlResult<()> {
        const LONGEST: usize = 512;
        if (schema.len() + table.len()) * LONGEST_LETTER + 8 <= LONGEST {
            return Ok(());
        }
        let path = format!("./{}/{}", filename(schema), filename(table));
        match path.len() + ".frm".len() > LONGEST {
            true => Err(SqlError::new(&ER_IDENT_CAUSES_TOO_LONG_PATH, &[&LONGEST, &path])),
            false => Ok(()),
        }
    }

    /// Locks a name for a change of its definition.
    fn lock(&self, schema: &str, table: &str) -> SqlResult<LockTicket> {
        self.lock_as(schema, table, LockMode::Exclusive)
    }

    /// The longest wait for a lock of a name.
    fn lock_limit(&self) -> Duration {
        match self.wait {
            Some(LockWait::Wait(seconds)) => Duration::from_secs(seconds),
            Some(_) => Duration::ZERO,
            None => self.session.lock_wait(),
        }
    }

    /// Locks a name in any mode, and its schema against being dropped before the statement ends.
    fn lock_as(&self, schema: &str, table: &str, mode: LockMode) -> SqlResult<LockTicket> {
        self.lock_for((schema, table), mode, self.lock_limit())
    }

    /// As [`Self::lock_as`], with a wait of at most `limit`.
    fn lock_for(
        &self,
        (schema, table): (&str, &str),
        mode: LockMode,
        limit: Duration,
    ) -> SqlResult<LockTicket> {
        selkie_meter::spend(4096)?;
        let lock = |name, mode| {
            self.instance.locks.lock(self.control, self.session.core.id, name, mode, limit)
        };
        let mut schemas = self.schemas.borrow_mut();
        if !table.is_empty() && !schemas.iter().any(|s| s.covers(schema, "", LockMode::Read)) {
            schemas.push(lock((schema, ""), LockMode::Read)?);
        }
        lock((schema, table), mode)
    }

    /// Fails unless the account has `privilege`; nobody may change system schemas.
    fn check(&self, privilege: Privilege, schema: &str, table: &str) -> SqlResult<()> {
        if schema.eq_ignore_ascii_case("information_schema") {
            let account = &self.session.frame.account;
            let arguments: [&dyn std::fmt::Display; 3] = [&account.user, &account.host, &schema];
            return Err(SqlError::new(&ER_DBACCESS_DENIED_ERROR, &arguments));
        }
        if schema == "performance_schema" && !table.is_empty() {
            return Err(self.denied_in_performance_schema(privilege, table));
        }
        let access = Access { privilege, schema, table, columns: &[] };
        self.session.frame.hooks.check_access(self.session, &access)
    }

    fn denied_in_performance_schema(&self, privilege: Privilege, table: &str) -> SqlError {
        let account = &self.session.frame.account;
        let word = match privilege {
            Privilege::Select => "SELECT",
            Privilege::Insert => "INSERT",
            Privilege::Update => "UPDATE",
            Privilege::Delete => "DELETE",
            Privilege::Create => "CREATE",
            Privilege::Drop => "DROP",
            Privilege::Alter => "ALTER",
            Privilege::Index => "INDEX",
            Privilege::References => "REFERENCES",
            Privilege::CreateView => "CREATE VIEW",
            Privilege::ShowView => "SHOW VIEW",
            Privilege::Trigger => "TRIGGER",
            Privilege::LockTables => "LOCK TABLES",
            _ => "ALL",
        };
        let (user, host, schema) = (&account.user, &account.host, "performance_schema");
        if privilege == Privilege::Alter {
            return SqlError::new(&ER_DBACCESS_DENIED_ERROR, &[user, host, &schema]);
        }
        SqlError::new(&ER_TABLEACCESS_DENIED_ERROR, &[&word, user, host, &schema, &table])
    }

    /// Under LOCK TABLES, only tables locked for writing may be redefined.
    fn check_listed(&self, schema: &str, table: &str) -> SqlResult<()> {
        if self.session.locked_tables.is_none() {
            return Ok(());
        }
        match self.session.lock_of(schema, table) {
            Some(lock) if lock.write && !lock.is_implied => Ok(()),
            Some(_) => Err(SqlError::read_locked(table)),
            None => Err(SqlError::new(&ER_TABLE_NOT_LOCKED, &[&table])),
        }
    }

    /// Fails under LOCK TABLES.
    fn check_no_lock_tables(&self) -> SqlResult<()> {
        match self.session.locked_tables.is_some() {
            true => Err(SqlError::new(&ER_LOCK_OR_ACTIVE_TRANSACTION, &[])),
            false => Ok(()),
        }
    }

    /// Calls `define` with the context that definitions depend on, and keeps its warnings.
    fn with_context<T>(
        &self,
        snapshot: &Snapshot,
        define: impl FnOnce(&DefineContext<'_>) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let now = self.session.values.statement_start.get();
        let mut types = self.session.type_context();
        if let Some(literals) = self.session.frame.literals {
            types.collation_connection = literals;
        }
        let eval = EvalContext::new(types, &*self.session, now);
        let engines: Vec<_> = self.instance.engines.iter().map(|e| e.personality()).collect();
        let context = DefineContext {
            names: Namespace { snapshot, temporary: &self.session.frame.temporary },
            eval: &eval,
            enforced_engine: self.session.frame.settings.engines.enforced.as_deref(),
            default_engine: self.default_engine(),
            engines: &engines,
            schema: self.session.frame.schema.as_deref(),
            text: self.running.text,
            now_seconds: u64::try_from(now / 1_000_000).unwrap_or(0),
            foreign_key_checks: self.session.frame.settings.planning.foreign_key_checks,
            after_error: &|condition| self.session.diagnostics.after_error(condition),
            environment: &*self.session,
            alter_algorithm: self.alter_algorithm(),
            keeps_history: self.keeps_history(),
            stopwords: self.stopwords()?,
        };
        let result = define(&context);
        keep_conditions(self.session, &eval);
        result
    }

    fn default_engine(&self) -> &str {
        match &*self.session.frame.settings.engines.default {
            "" => self.instance.dictionary.engine().name(),
            name => name,
        }
    }

    /// Whether ALTER TABLE may change the columns of rows of history.
    fn keeps_history(&self) -> bool {
        let (hooks, scope) = (&self.session.frame.hooks, VariableScope::Session);
        let value = hooks.variable(self.session, scope, "system_versioning_alter_history");
        matches!(value, Ok(Value::Bytes(name)) if &*name == b"KEEP")
    }

    /// A table that gets new storage, with the format of its rows. Compat: a table of an engine
    /// with a default for that keeps what was the default, so that it is shown and compared.
    fn with_row_format(&self, mut table: TableInfo) -> TableInfo {
        let hooks = &self.session.frame.hooks;
        let name = "innodb_default_row_format";
        let given = |name| table.options.get(name).is_some();
        let free = !given("ROW_FORMAT") && !given("KEY_BLOCK_SIZE");
        let of_engine = table.engine.shown.row_formats == RowFormats::Dynamic;
        let value = hooks.variable(self.session, VariableScope::Global, name);
        table.options.default_format = match value {
            Ok(Value::Bytes(value)) if free && of_engine && &*value != b"dynamic" => {
                Some(String::from_utf8_lossy(&value).to_uppercase())
            }
            _ => None,
        };
        table
    }

    /// Value of `alter_algorithm`, for an ALTER TABLE without ALGORITHM.
    fn alter_algorithm(&self) -> AlterAlgorithm {
        let (hooks, scope) = (&self.session.frame.hooks, VariableScope::Session);
        match hooks.variable(self.session, scope, "alter_algorithm") {
            Ok(Value::Bytes(name)) => match &*name {
                b"COPY" => AlterAlgorithm::Copy,
                b"INPLACE" => AlterAlgorithm::Inplace,
                b"NOCOPY" => AlterAlgorithm::Nocopy,
                b"INSTANT" => AlterAlgorithm::Instant,
                _ => AlterAlgorithm::Default,
            },
            _ => AlterAlgorithm::Default,
        }
    }

    /// Stopwords of a FULLTEXT index that the session creates.
    fn stopwords(&self) -> SqlResult<StopwordSettings> {
        let (hooks, scope) = (&self.session.frame.hooks, VariableScope::Session);
        let value = |scope, name| hooks.variable(self.session, scope, name);
        let table = |value: Value| match value {
            Value::Bytes(name) if !name.is_empty() => Some(String::from_utf8_lossy(&name).into()),
            _ => None,
        };
        let own = table(value(scope, "innodb_ft_user_stopword_table")?);
        let of_server = table(value(VariableScope::Global, "innodb_ft_server_stopword_table")?);
        let enabled = value(scope, "innodb_ft_enable_stopword")?;
        let enabled = enabled != Value::Int(0) && enabled != Value::UInt(0);
        let table: Option<Box<str>> = own.or(of_server);
        let length = |name| search_rules::length(self.session, name);
        let stopwords = match (enabled, &table) {
            (false, _) => StopwordList::None,
            (true, None) => StopwordList::Builtin,
            (true, Some(name)) => stopword_list(self.instance, self.control, name)?,
        };
        let (least, most) =
            (length("innodb_ft_min_token_size")?, length("innodb_ft_max_token_size")?);
        let strict = TextRules { dialect: TextDialect::Strict, least, most, stopwords };
        let lenient = lenient_rules(self.session)?;
        Ok(StopwordSettings { enabled, table, strict, lenient })
    }

    /// Adds a note to the warnings list.
    fn note(&self, condition: Condition) {
        if self.session.frame.settings.notes.sql_notes {
            self.session
                .diagnostics
                .push(condition, self.session.frame.settings.notes.max_error_count);
        }
    }

    /// Finds a table by name; error 1146 if there is none.
    fn base_table(
        &self,
        snapshot: &Snapshot,
        schema: &str,
        name: &str,
    ) -> SqlResult<std::sync::Arc<TableInfo>> {
        let names = Namespace { snapshot, temporary: &self.session.frame.temporary };
        match names.table(schema, name) {
            Some(table) => Ok(table.clone()),
            None => Err(SqlError::no_such_table(schema, name)),
        }
    }
}

fn wait_of(statement: &Statement) -> Option<LockWait> {
    match statement {
        Statement::AlterTable(s) => s.wait,
        Statement::CreateIndex(s) => s.wait,
        Statement::DropIndex(s) => s.wait,
        Statement::DropTables(s) => s.wait,
        Statement::RenameTables(s) => s.wait,
        Statement::Truncate { wait, .. } => *wait,
        _ => None,
    }
}
