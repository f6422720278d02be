//! State of one client, as far as statements need it. The server's connection owns it.
//!
//! Operators share the session while a statement runs, so values that they change are in cells and
//! behind locks; the rest changes only between statements. Must not know sockets or packets.

mod core;
mod counters;
mod diagnostics;
mod frame;
mod hooks;
mod lock_list;
mod nested;
mod settings;
mod view;
mod work;

use std::any::Any;
use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hashbrown::{HashMap, HashSet};
use selkie_catalog::TemporaryTables;
use selkie_expr::EvalContext;
use selkie_sql::ast::TableName;
use selkie_types::error::catalogue::{ER_NO_DB_ERROR, ER_NONUNIQ_TABLE};
use selkie_types::{Privileges, SqlError, SqlResult};

pub use self::core::{RandomSeeds, SessionCore, UserVariables};
pub use counters::{Counter, Counters, Reported, bump};
pub use diagnostics::Diagnostics;
pub(crate) use frame::OuterCharsets;
pub use frame::{AutoIsNull, StatementFrame, StatementValues, TextCharsets};
pub use hooks::{
    Access, CheckedSet, EventChange, LoggedProgram, NewValue, NoHooks, PreparedTicket, Privilege,
    SavedVariables, SessionHooks,
};
pub use lock_list::{LockList, LockedTable};
pub use settings::{
    BinlogFormat, BinlogSettings, Ceilings, Charsets, Completion, DefaultEngines, Dml, KeepResults,
    Locks, Notes, Queries, Settings, Show, Transactions, UseColumns,
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
    /// Tables of LOCK TABLES, while it is in effect; sessions of functions and triggers share them.
    pub(crate) lock_list: Option<Arc<LockList>>,
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
    pub shows: bool,
    /// State of BINLOG statements: theirs to read.
    pub(crate) replay: Option<Box<dyn Any + Send + Sync>>,
    /// Stored programs being run.
    pub(crate) programs: crate::state::programs::ProgramState,
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
            lock_list: None,
            locks: MetadataLocks::private(),
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

    /// Error 1066 if a list of tables has one twice.
    pub(crate) fn refuse_twice(&self, names: &[TableName]) -> SqlResult<()> {
        let mut seen = HashSet::with_capacity(names.len());
        for name in names {
            let schema = name.schema.as_ref().map(|s| &*s.value).or(self.frame.schema.as_deref());
            if !seen.insert((schema, &*name.name.value)) {
                return Err(SqlError::new(&ER_NONUNIQ_TABLE, &[&name.name]));
            }
        }
        Ok(())
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
