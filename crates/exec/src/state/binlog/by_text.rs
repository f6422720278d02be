//! A statement that the log gets as its text: the values it depends on become events before it.
//!
//! Must not choose the statements that are logged so: `query::log_form` does.

use selkie_catalog::TableKind;
use selkie_plan::safety::{Reasons, Uses};
use selkie_replication::codec::{Event, Intvar, Query, Rand, StatusVars, UserValue, UserVar};
use selkie_replication::images::{decimal_bytes, put_decimal};
use selkie_replication::log::CacheError;
use selkie_types::{SqlError, SqlResult, SqlType, Value};

use super::events::{Events, Stamp};
use super::query::WITH_TEMPORARY;
use super::session_log::{SessionLog, Target, cache_error};
use crate::Session;

/// The place of a statement's text among the changes of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// None so far: nothing was changed.
    Unchanged,
    /// Among changes that the transaction may undo, which are all that the statement makes.
    Transaction,
    /// Among changes that the transaction may undo, though some of its own stand.
    InOrder,
    /// Among changes that stand.
    Immediate,
}

impl Place {
    fn target(self) -> Target {
        match self {
            Self::Unchanged | Self::Transaction | Self::InOrder => Target::Transaction,
            Self::Immediate => Target::Immediate,
        }
    }
}

/// A user variable with its value and its type, if it has them.
type KeptVariable = (Box<str>, Option<(Value, SqlType)>);

/// The running statement, whose text is logged in place of its rows.
#[derive(Debug)]
pub(crate) struct ByText {
    place: Place,
    /// First value that it generated for an AUTO_INCREMENT column.
    insert_id: Option<u64>,
    /// `LAST_INSERT_ID()` before it.
    last_insert_id: u64,
    /// State of `RAND()` before it.
    seeds: Option<(u32, u32)>,
    /// User variables that it has read, with their values before it.
    variables: Vec<KeptVariable>,
    /// Things that it and the statements of its functions and triggers use.
    uses: Uses,
    /// Reasons for which the text is unsafe.
    reasons: Reasons,
    /// Flags of its event.
    header: u16,
}

impl ByText {
    /// A statement that begins. It reads some user variables.
    pub(crate) fn new(
        session: &Session,
        place: Place,
        (uses, reasons): (Uses, Reasons),
        variables: impl Iterator<Item = Box<str>>,
    ) -> Self {
        let value = |name: Box<str>| {
            let value = session.core.variables.lock().get(&*name.to_lowercase()).cloned();
            (name, value)
        };
        Self {
            place,
            insert_id: None,
            last_insert_id: session.values.last_insert_id.get(),
            seeds: session.core.random_seeds.get(),
            variables: variables.map(value).collect(),
            uses,
            reasons,
            header: 0,
        }
    }

    /// This statement, which may use temporary tables.
    pub(crate) fn with_temporary_tables(self) -> Self {
        Self { header: WITH_TEMPORARY, ..self }
    }

    /// Adds a user variable with its value, unless it is known.
    pub(super) fn read(&mut self, name: &str, value: Option<&(Value, SqlType)>) {
        if !self.variables.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
            self.variables.push((name.into(), value.cloned()));
        }
    }

    /// Adds what a statement of a function or trigger uses.
    pub(super) fn add(&mut self, uses: Uses, reasons: Reasons) {
        self.uses.add(uses);
        self.reasons.add_all(reasons);
    }

    /// The first generated value counts.
    pub(super) fn generated(&mut self, id: u64) {
        self.insert_id.get_or_insert(id);
    }

    /// Some of its changes have another fate than the others.
    fn changes(&mut self, target: Target) {
        self.place = match (self.place, target) {
            (Place::Unchanged, Target::Immediate) => Place::Immediate,
            (Place::Unchanged, _) => Place::Transaction,
            (place, target) if place.target() == target => place,
            _ => Place::InOrder,
        };
    }

    /// Its place.
    pub(crate) fn place(&self) -> Place {
        self.place
    }

    /// Reasons for which the text is unsafe.
    pub(crate) fn reasons(&self) -> Reasons {
        self.reasons
    }

    /// Adds the events of the statement, whose own event is `query`. Compat: the order of the
    /// values is MariaDB's.
    fn put(&self, events: &mut Events, query: Query<'_>, stamp: Stamp) -> Result<(), CacheError> {
        let mut intvar = |which, value| events.add(&Event::Intvar(Intvar { which, value }), stamp);
        if self.uses.has(Uses::LAST_INSERT_ID) {
            intvar(Intvar::LAST_INSERT_ID, self.last_insert_id)?;
        }
        if let Some(id) = self.insert_id {
            intvar(Intvar::INSERT_ID, id)?;
        }
        if let Some((seed1, seed2)) = self.seeds.filter(|_| self.uses.has(Uses::RANDOM)) {
            let rand = Rand { seed1: seed1.into(), seed2: seed2.into() };
            events.add(&Event::Rand(rand), stamp)?;
        }
        for (name, value) in &self.variables {
            let mut bytes = Vec::new();
            let value = value.as_ref().and_then(|(value, ty)| user_value(value, ty, &mut bytes));
            let name = name.as_bytes();
            events.add(&Event::UserVar(UserVar { name, value, behind_null: &[] }), stamp)?;
        }
        events.statement(query, stamp, self.header)
    }
}

/// A user variable's value in an event; `bytes` takes what is not there yet. None for NULL.
fn user_value<'b>(value: &'b Value, ty: &SqlType, bytes: &'b mut Vec<u8>) -> Option<UserValue<'b>> {
    const UNSIGNED: &[u8] = &[1];
    const SIGNED: &[u8] = &[0];
    let collation = u32::from(ty.collation.0);
    let (kind, flags) = match value {
        Value::Null => return None,
        Value::Bytes(text) => {
            return Some(UserValue { kind: UserValue::STRING, collation, bytes: text, flags: &[] });
        }
        Value::Int(number) => {
            bytes.extend_from_slice(&number.to_le_bytes());
            (UserValue::INT, if ty.unsigned { UNSIGNED } else { SIGNED })
        }
        Value::UInt(number) => {
            bytes.extend_from_slice(&number.to_le_bytes());
            (UserValue::INT, UNSIGNED)
        }
        Value::Double(number) => {
            bytes.extend_from_slice(&number.to_le_bytes());
            (UserValue::REAL, &[][..])
        }
        Value::Decimal(number) => {
            let scale = number.scale();
            let precision = (number.precision() as u8).max(scale).max(1);
            bytes.reserve(2 + decimal_bytes(precision, scale));
            bytes.extend_from_slice(&[precision, scale]);
            put_decimal(*number, precision, scale, bytes);
            (UserValue::DECIMAL, &[][..])
        }
        // A variable holds none of these: they become texts when they are assigned.
        Value::Date(_) | Value::Time(_) | Value::DateTime(_) => return None,
    };
    Some(UserValue { kind, collation, bytes, flags })
}

impl SessionLog {
    /// Begins a statement whose text is logged in place of its rows.
    pub(crate) fn begin_text(&self, statement: ByText) {
        self.lock().by_text = Some(Box::new(statement));
        self.set_by_text(true);
    }

    /// Ends it.
    pub(crate) fn end_text(&self) -> Option<Box<ByText>> {
        self.set_by_text(false);
        self.lock().by_text.take()
    }

    /// Calls `note` with the running statement if its text is logged.
    fn with_text(&self, note: impl FnOnce(&mut ByText)) {
        if self.is_by_text()
            && let Some(statement) = self.lock().by_text.as_deref_mut()
        {
            note(statement);
        }
    }

    /// The statement has generated a value for an AUTO_INCREMENT column.
    pub(crate) fn generated(&self, id: u64) {
        self.with_text(|statement| statement.generated(id));
    }

    /// The statement may change rows of a table, which would go to a cache.
    pub(super) fn changes(&self, target: Target, kind: &TableKind) {
        let mut state = self.lock();
        state.has_shared |= *kind == TableKind::Base;
        if let Some(statement) = state.by_text.as_deref_mut() {
            statement.changes(target);
        }
    }

    /// The statement makes or changes a temporary table, which no rollback undoes.
    pub(crate) fn changes_temporary(&self) {
        self.changes(Target::Transaction, &TableKind::Temporary);
    }

    /// A function or trigger of the statement has read a user variable.
    pub(crate) fn read(&self, name: &str, value: Option<&(Value, SqlType)>) {
        self.with_text(|statement| statement.read(name, value));
    }

    /// A function or trigger of the statement runs one of its own.
    pub(crate) fn runs(&self, uses: Uses, reasons: Reasons) {
        self.with_text(|statement| statement.add(uses, reasons));
    }
}

impl Session {
    /// Adds a statement to the changes of the session as its text, which ended with `error`.
    pub(crate) fn log_text(&self, text: &[u8], statement: &ByText, error: u16) -> SqlResult<()> {
        let (Some(log), Some(head)) = (self.log(), self.headline()) else { return Ok(()) };
        let schema = self.frame.schema.as_deref().unwrap_or_default();
        if !log.binlog.logs_schema(schema) {
            return Ok(());
        }
        let mut status = Vec::new();
        self.status(None, text).iter().for_each(|var| var.encode(&mut status));
        let query = Query {
            thread_id: head.thread,
            exec_time: self.exec_time(),
            error_code: error,
            status: StatusVars(&status),
            database: schema.as_bytes(),
            text,
        };
        let target = statement.place.target();
        let mut state = log.lock();
        let stamp = state.stamp;
        let events = state.events(target);
        let mark = events.mark();
        if let Err(error) = statement.put(events, query, stamp) {
            events.cut(&mark).map_err(SqlError::internal)?;
            return Err(cache_error(error, target));
        }
        if statement.place == Place::InOrder {
            state.standing += 1;
        }
        drop(state);
        log.note_text(target);
        Ok(())
    }
}
