//! The table `mysql.event`. Statements and the scheduler read and change its rows in transactions
//! of their own.
//!
//! Must not interpret an event. The table is an ordinary one that anybody may have changed: it is
//! used only if it has the columns it is to have.

use selkie_catalog::{EVENT_COLUMNS, Event};
use selkie_engine::{EngineTrx, LockMode as RowLock};
use selkie_types::error::catalogue::ER_EVENT_OPEN_TABLE_FAILED;
use selkie_types::{SqlError, SqlResult, TypeKind, Value};

use crate::Instance;
use crate::state::control::Control;
use crate::state::own_table::{OwnShape, OwnTable};
use crate::state::own_transaction::begin_in;

/// Schema and name of the table.
pub(crate) const TABLE: (&str, &str) = ("mysql", "event");

const SHAPE: OwnShape =
    OwnShape { name: TABLE.1, columns: &EVENT_COLUMNS, kinds: &KINDS, key: &[0, 1] };

/// Types of the columns.
const KINDS: [TypeKind; 22] = [
    TypeKind::Char,
    TypeKind::Char,
    TypeKind::LongText,
    TypeKind::VarChar,
    TypeKind::DateTime,
    TypeKind::Int,
    TypeKind::Enum,
    TypeKind::Timestamp,
    TypeKind::Timestamp,
    TypeKind::DateTime,
    TypeKind::DateTime,
    TypeKind::DateTime,
    TypeKind::Enum,
    TypeKind::Enum,
    TypeKind::Set,
    TypeKind::Char,
    TypeKind::Int,
    TypeKind::Char,
    TypeKind::Char,
    TypeKind::Char,
    TypeKind::Char,
    TypeKind::LongText,
];

/// The open table.
pub(crate) struct EventTable<'a>(OwnTable<'a>);

impl<'a> EventTable<'a> {
    /// Opens the table; 1146 without it, 1545 if it is another than it is to be.
    pub(crate) fn open(instance: &Instance, control: &'a Control) -> SqlResult<Self> {
        if let Some(table) = OwnTable::open(instance, control, &SHAPE)? {
            return Ok(Self(table));
        }
        if instance.catalog.snapshot().table(TABLE.0, TABLE.1).is_none() {
            return Err(SqlError::no_such_table(TABLE.0, TABLE.1));
        }
        tracing::error!("mysql.event has another definition than it is to have");
        Err(SqlError::new(&ER_EVENT_OPEN_TABLE_FAILED, &[]))
    }

    /// All events, or those of one schema, by schema and name.
    pub(crate) fn all(&self, instance: &Instance, schema: Option<&str>) -> SqlResult<Vec<Event>> {
        let (_, trx) = begin_in(instance, &self.0.info)?;
        self.all_in(&*trx, schema)
    }

    /// As [`Self::all`], within a transaction.
    pub(crate) fn all_in(
        &self,
        trx: &dyn EngineTrx,
        schema: Option<&str>,
    ) -> SqlResult<Vec<Event>> {
        let mut events = Vec::new();
        self.0.each(trx, |row| {
            if schema.is_none_or(|schema| self.schema_of(row).is_ok_and(|own| own == *schema)) {
                events.push(Event::from_row(&self.0.values(row)?)?);
            }
            Ok(())
        })?;
        Ok(events)
    }

    /// An event of a name, which may be written in any case.
    pub(crate) fn find(
        &self,
        instance: &Instance,
        schema: &str,
        name: &str,
    ) -> SqlResult<Option<Event>> {
        let (_, trx) = begin_in(instance, &self.0.info)?;
        self.find_in(&*trx, (schema, name), RowLock::None)
    }

    /// As [`Self::find`], within a transaction.
    pub(crate) fn find_in(
        &self,
        trx: &dyn EngineTrx,
        (schema, name): (&str, &str),
        lock: RowLock,
    ) -> SqlResult<Option<Event>> {
        let set = self.0.rows(trx, &key(schema, name), lock)?;
        let row = set.rows.iter().next().map(|row| Event::from_row(&self.0.values(row)?));
        row.transpose()
    }

    /// Stores an event in place of the one of its name.
    pub(crate) fn put(&self, trx: &dyn EngineTrx, event: &Event) -> SqlResult<()> {
        self.0.put(trx, &event.to_row(), SHAPE.key.len())
    }

    /// Removes the event of a name.
    pub(crate) fn remove(&self, trx: &dyn EngineTrx, schema: &str, name: &str) -> SqlResult<()> {
        self.0.remove(trx, &key(schema, name))
    }

    fn schema_of(&self, row: &[u8]) -> SqlResult<String> {
        match self.0.value(row, 0)? {
            Value::Bytes(name) => Ok(String::from_utf8_lossy(&name).into_owned()),
            _ => Ok(String::new()),
        }
    }
}

fn key(schema: &str, name: &str) -> [Value; 2] {
    [Value::bytes(schema), Value::bytes(name)]
}
