//! Part of a session that a function or trigger inherits: it begins with a copy from the calling
//! statement, and its changes stay its own.
//!
//! Must not hold state of a client's own statements only: locks, cursors, prepared statements.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Instant;

use selkie_catalog::TemporaryTables;
use selkie_types::{Charset, CollationId};

use super::{Account, SessionHooks, Settings};
use crate::state::kill::KillFlag;
use crate::state::live::LivePlans;

/// The account that runs a statement, and the meaning of names and variables.
#[derive(Clone)]
pub struct StatementFrame {
    /// Interface to the server.
    pub hooks: Arc<dyn SessionHooks>,
    /// Kill requests for the session.
    pub kill: KillFlag,
    /// Plans that run, for other sessions.
    pub live: LivePlans,
    /// Account of the client.
    pub account: Account,
    /// Definer of the running program, as `user@host`: its privileges count.
    pub acting_as: Option<Arc<str>>,
    /// Current database.
    pub schema: Option<Arc<str>>,
    /// System variables.
    pub settings: Settings,
    /// Character sets of the running program.
    pub program: Option<ProgramCharsets>,
    /// Collation of the connection when the running statement was prepared, if it is another now.
    pub literals: Option<CollationId>,
    /// Temporary tables.
    pub temporary: TemporaryTables,
}

/// Character set of a client and collation of its connection: the meaning of literals.
pub type TextCharsets = (Charset, CollationId);

/// Character sets while a program runs.
#[derive(Clone, Copy, Debug)]
pub struct ProgramCharsets {
    /// Those of its creation, which stand for the session's.
    creation: TextCharsets,
    /// Those of the session's variables when it began.
    entered: TextCharsets,
    /// Those of the session's variables now.
    actual: TextCharsets,
}

/// The caller's character sets while a program runs.
pub(crate) struct OuterCharsets {
    program: Option<ProgramCharsets>,
    literals: Option<CollationId>,
    own: TextCharsets,
    version: u64,
}

/// Changes of variables that a program has left behind.
pub(crate) struct LeftCharsets {
    /// Whether it has set variables, so that they must be read again.
    pub(crate) has_set: bool,
    /// Values that the session's variables must get again.
    pub(crate) again: Option<TextCharsets>,
}

impl StatementFrame {
    /// Lets the character sets at a program's creation stand for the session's.
    pub(crate) fn begin_program(&mut self, creation: TextCharsets) -> OuterCharsets {
        let settings = &self.settings;
        let own = (settings.charsets.client, settings.expressions.collation_connection);
        let version = settings.version;
        let entered = self.program.map_or(own, |program| program.actual);
        let begun = ProgramCharsets { creation, entered, actual: entered };
        let (program, literals) = (self.program.replace(begun), self.literals.take());
        self.put(creation);
        OuterCharsets { program, literals, own, version }
    }

    /// Takes the caller's character sets again.
    pub(crate) fn end_program(&mut self, outer: OuterCharsets) -> LeftCharsets {
        let ended = std::mem::replace(&mut self.program, outer.program);
        self.literals = outer.literals;
        self.put(outer.own);
        let changed = ended.filter(|program| program.actual != program.entered);
        let again = changed.map(|program| program.entered);
        LeftCharsets { has_set: self.settings.version != outer.version, again }
    }

    /// Puts the character sets of the running program into settings that were read from variables.
    pub fn keep_creation(&mut self) {
        let settings = &self.settings;
        let actual = (settings.charsets.client, settings.expressions.collation_connection);
        if let Some(program) = &mut self.program {
            program.actual = actual;
            let creation = program.creation;
            self.put(creation);
        }
    }

    /// The value of a variable that a program sees as at its creation, until it sets it.
    pub(crate) fn seen_in_program(&self, name: &str) -> Option<&'static str> {
        let program = self.program.filter(|program| program.actual == program.entered)?;
        let (client, connection) = program.creation;
        match &*name.to_ascii_lowercase() {
            "character_set_client" => Some(client.name()),
            "character_set_connection" => Some(connection.charset().name()),
            "collation_connection" => Some(connection.name()),
            _ => None,
        }
    }

    fn put(&mut self, (client, connection): TextCharsets) {
        self.settings.charsets.client = client;
        self.settings.expressions.collation_connection = connection;
    }
}

/// Values that statements leave for the next one, and that functions read. A function or trigger
/// begins with the calling statement's values on each call.
#[derive(Clone, Default)]
pub struct StatementValues {
    /// `LAST_INSERT_ID()`: first value generated by the last statement that generated any.
    pub last_insert_id: Cell<u64>,
    /// The value that `IS NULL` finds, with `sql_auto_is_null`.
    pub auto_is_null: AutoIsNull,
    /// `ROW_COUNT()`.
    pub row_count: Cell<i64>,
    /// `FOUND_ROWS()`.
    pub found_rows: Cell<u64>,
    /// Start of the running statement, in microseconds since 1970.
    pub statement_start: Cell<i64>,
    /// Time at which the running statement is out of time.
    pub deadline: Cell<Option<Instant>>,
}

/// The AUTO_INCREMENT value that `IS NULL` finds once.
#[derive(Clone, Debug, Default)]
pub struct AutoIsNull {
    /// Whether no statement has looked for the last value yet.
    waiting: Cell<bool>,
    /// The value for the running statement.
    taken: Cell<Option<u64>>,
}

impl AutoIsNull {
    /// A statement has generated a value.
    pub fn generated(&self) {
        self.waiting.set(true);
    }

    /// A statement looks for the last value. Later ones will not find it.
    pub(crate) fn take(&self, last: u64) {
        self.taken.set(self.waiting.take().then_some(last));
    }

    /// No value is to be found.
    pub fn forget(&self) {
        self.waiting.set(false);
    }

    /// The value for the running statement.
    pub(crate) fn value(&self) -> Option<u64> {
        self.taken.get()
    }
}
