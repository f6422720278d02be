//! State of one client, as far as statements need it. The server's connection owns it.
//!
//! Operators share the session while a statement runs, so values that they change are in cells and
//! behind locks; the rest changes only between statements. Must not know sockets or packets.

mod core;
mod counters;
mod diagnostics;
mod frame;
mod hooks;
mod nested;
mod settings;
mod view;
mod work;

use std::any::Any;
use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hashbrown::HashMap;
use selkie_catalog::{TableInfo, TableKind, TemporaryTables};
use selkie_expr::EvalContext;
use selkie_sql::ast::TableName;
use selkie_types::error::catalogue::{ER_NO_DB_ERROR, ER_NO_SUCH_TABLE, ER_TABLE_NOT_LOCKED};
use selkie_types::{Privileges, SqlError, SqlResult};

pub use self::core::{RandomSeeds, SessionCore, UserVariables};
pub use counters::{Counter, Counters, Reported, bump};
pub use diagnostics::Diagnostics;
pub(crate) use frame::OuterCharsets;
pub use frame::{StatementFrame, StatementValues, TextCharsets};
pub use hooks::{
    Access, CheckedSet, EventChange, LoggedProgram, NewValue, NoHooks, PreparedTicket, Privilege,
    SavedVariables, SessionHooks,
};
pub use settings::{
    BinlogFormat, BinlogSettings, Ceilings, Charsets, Completion, DefaultEngines, Dml, Locks,
    Notes, Queries, Settings, Show, Transactions, UseColumns,
};
pub(crate) use work::Backup;

pub use crate::state::files::FilePlaces;
use crate::state::gate::{Closing, Gate, Passage};
use crate::state::handlers::Handlers;
use crate::state::kill::KillFlag;
use crate::state::live::LivePlans;
use crate::state::metadata::{LockTicket, MetadataLocks};
use crate::state::prepared::Named;
use crate::state::transaction::Transaction;

/// Account of the client.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// Name the client gave.
    pub user: String,
    /// Host it connected from.
    pub host: String,
    /// `user@host` of the account that matched.
    pub account: Arc<str>,
    /// `CURRENT_ROLE()`.
    pub role: Option<String>,
    /// Global privileges.
    pub global: Privileges,
    /// Grows when the role or the global privileges change.
    pub version: u64,
}

/// A session.
///
/// A function or trigger runs in a session of its own ([`Session::nested`]) with the same core,
/// copies of the frame and the values, and a view of the transaction. The rest is its own.
pub struct Session {
    /// State shared with functions and triggers.
    pub core: Arc<SessionCore>,
    /// State that functions and triggers inherit.
    pub frame: StatementFrame,
    /// Values that statements leave for the next one.
    pub values: StatementValues,
    /// The open transaction, if any.
    pub transaction: Transaction,
    /// Warnings.
    pub diagnostics: Diagnostics,
    /// Counter values that were reported to the server last.
    pub reported: Cell<Reported>,

    /// Statements of SQL `PREPARE`, by lower-case name.
    pub prepared: HashMap<Box<str>, Named>,
    /// Value of `LAST_INSERT_ID(expr)` in this statement, for the OK packet.
    pub explicit_insert_id: Cell<Option<u64>>,
    /// Metadata locks of LOCK TABLES; `None` outside of it.
    pub locked_tables: Option<Vec<LockTicket>>,
    /// Tables opened by HANDLER.
    pub(crate) handlers: Handlers,
    /// Tables of LOCK TABLES.
    pub lock_list: Vec<LockedTable>,
    /// Number of the list, unique in the server.
    pub(crate) lock_list_number: u64,
    /// Metadata locks: the instance's, or a private set that no other session sees.
    pub locks: MetadataLocks,
    /// The gate of all changes: the instance's, or a private one.
    pub gate: Arc<Gate>,
    /// Passage of the running statement, if it is inside the gate.
    pub(crate) inside: Option<Passage>,
    /// Passage of LOCK TABLES ... WRITE.
    pub(crate) locked_inside: Option<Passage>,
    /// Closed gate of FLUSH TABLES WITH READ LOCK.
    pub(crate) read_lock: Vec<Closing>,
    /// The backup this session runs.
    pub(crate) backup: Backup,
    /// Cached number of its plan space.
    pub(crate) space: Cell<Option<crate::state::plan_space::Numbered>>,
    /// Whether queries lock the rows they read, because they serve a statement that changes data.
    pub(crate) locks_reads: bool,
    /// Whether the running query belongs to a SHOW, which sees temporary tables.
    pub(crate) shows: bool,
    /// State of BINLOG statements: theirs to read.
    pub(crate) replay: Option<Box<dyn Any + Send + Sync>>,
    /// Stored programs being run.
    pub(crate) programs: crate::state::programs::ProgramState,
}

/// A table or view of LOCK TABLES.
#[derive(Clone, Debug)]
pub struct LockedTable {
    /// Schema.
    pub schema: Box<str>,
    /// Table.
    pub table: Box<str>,
    /// The name under which statements may use it.
    pub alias: Box<str>,
    /// Whether it is a view.
    pub is_view: bool,
    /// Whether it is locked with WRITE.
    pub write: bool,
}

impl Session {
    /// A new session.
    pub fn new(id: u64, account: Account, hooks: Arc<dyn SessionHooks>) -> Self {
        let frame = StatementFrame {
            hooks,
            kill: KillFlag::default(),
            live: LivePlans::default(),
            account,
            acting_as: None,
            schema: None,
            settings: Settings::default(),
            program: None,
            literals: None,
            temporary: TemporaryTables::default(),
        };
        let core = Arc::new(SessionCore::new(id));
        Self::of(core, frame, StatementValues::default(), Transaction::of_session(id))
    }

    /// A session with these parts; the rest is empty.
    fn of(
        core: Arc<SessionCore>,
        frame: StatementFrame,
        values: StatementValues,
        transaction: Transaction,
    ) -> Self {
        Self {
            core,
            frame,
            values,
            transaction,
            diagnostics: Diagnostics::default(),
            reported: Cell::new([0; Counters::NAMES.len()]),
            prepared: HashMap::new(),
            explicit_insert_id: Cell::new(None),
            locked_tables: None,
            handlers: Handlers::default(),
            lock_list: Vec::new(),
            lock_list_number: 0,
            locks: MetadataLocks::default(),
            gate: Arc::default(),
            inside: None,
            locked_inside: None,
            read_lock: Vec::new(),
            backup: Backup::default(),
            space: Cell::new(None),
            locks_reads: false,
            shows: false,
            replay: None,
            programs: Default::default(),
        }
    }

    /// Continues the session's `RAND()` sequence in an evaluation, if seeds were set.
    pub(crate) fn begin_random(&self, eval: &EvalContext<'_>) {
        if let Some((first, second)) = self.core.random_seeds.get() {
            eval.seed_random(first, second);
        }
    }

    /// Stores the state of `RAND()` after an evaluation.
    pub(crate) fn end_random(&self, eval: &EvalContext<'_>) {
        if self.core.random_seeds.get().is_some() {
            self.core.random_seeds.set(eval.random_seeds());
        }
    }

    /// Starts the time limit `max_statement_time` of the running statement.
    pub fn start_clock(&self) {
        // A program runs within the time of the calling statement, whatever it sets.
        if self.transaction.is_nested() || self.programs.nesting.depth > 0 {
            return;
        }
        let micros = self.frame.settings.queries.max_statement_micros;
        let limit = Duration::from_micros(micros);
        let deadline = (micros > 0).then(|| Instant::now() + limit);
        self.values.deadline.set(deadline);
        self.frame.kill.account().set_deadline(deadline);
    }

    /// Ends the time limit of the running statement.
    pub(crate) fn stop_clock(&self) {
        self.values.deadline.set(None);
        self.frame.kill.account().set_deadline(None);
    }

    /// Schema of a table name: its own or the current one.
    pub(crate) fn schema_of<'a>(&'a self, name: &'a TableName) -> SqlResult<&'a str> {
        let schema = name.schema.as_ref().map(|s| &*s.value).or(self.frame.schema.as_deref());
        schema.ok_or_else(|| SqlError::new(&ER_NO_DB_ERROR, &[]))
    }

    /// The strongest lock that LOCK TABLES took on a table.
    pub(crate) fn lock_of(&self, schema: &str, table: &str) -> Option<&LockedTable> {
        let same = |l: &&LockedTable| *l.schema == *schema && *l.table == *table;
        self.lock_list.iter().filter(same).max_by_key(|l| l.write)
    }

    /// Number of this session's active LOCK TABLES, unique among sessions.
    #[inline]
    pub(crate) fn lock_list_number(&self) -> Option<u64> {
        self.locked_tables.as_ref().map(|_| self.lock_list_number)
    }

    /// The error for a table that was not found: under LOCK TABLES it was not locked.
    pub(crate) fn not_found(&self, error: SqlError, name: &str) -> SqlError {
        match self.locked_tables.is_some() && error.is(&ER_NO_SUCH_TABLE) {
            true => SqlError::new(&ER_TABLE_NOT_LOCKED, &[&name]),
            false => error,
        }
    }

    /// Fails unless LOCK TABLES locked the table under the name that the statement uses.
    pub(crate) fn check_lock_named(
        &self,
        table: &TableInfo,
        name: &str,
        written: bool,
    ) -> SqlResult<()> {
        let is_view = match table.kind {
            TableKind::Base => false,
            // Compat: a view must only be locked, under any name.
            TableKind::View(_) => true,
            _ => return Ok(()),
        };
        if self.locked_tables.is_none() {
            return Ok(());
        }
        let same_name = |alias: &str| match self.frame.settings.planning.lower_case_names {
            true => alias.eq_ignore_ascii_case(name),
            false => alias == name,
        };
        let is_of = |l: &&LockedTable| {
            let named = is_view || same_name(&l.alias);
            *l.schema == *table.schema() && *l.table == *table.name() && named
        };
        let strongest = self.lock_list.iter().filter(is_of).map(|lock| lock.write).max();
        match strongest {
            None => Err(SqlError::new(&ER_TABLE_NOT_LOCKED, &[&name])),
            Some(false) if written => Err(SqlError::read_locked(name)),
            Some(_) => Ok(()),
        }
    }

    /// Whether a transaction is open: `SERVER_STATUS_IN_TRANS`.
    pub fn in_transaction(&self) -> bool {
        self.transaction.is_open()
    }

    /// Whether the session keeps others from changing tables until it says otherwise.
    pub fn has_locked_tables(&self) -> bool {
        self.locked_tables.is_some() || !self.read_lock.is_empty()
    }

    /// Whether strict mode is on.
    pub fn is_strict(&self) -> bool {
        self.frame.settings.expressions.sql_mode.is_strict()
    }
}
