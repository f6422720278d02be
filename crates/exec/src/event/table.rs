//! The table `mysql.event`. Statements and the scheduler read and change its rows in transactions
//! of their own.
//!
//! Must not interpret an event. The table is an ordinary one that anybody may have changed: it is
//! used only if it has the columns it is to have.

use std::sync::Arc;

use selkie_catalog::{EVENT_COLUMNS, Event, TableInfo};
use selkie_engine::{EngineTrx, IndexCodec, LockMode as RowLock, RowSet, Scan, TableDef};
use selkie_types::error::catalogue::ER_EVENT_OPEN_TABLE_FAILED;
use selkie_types::{BATCH_ROWS, ByteRows, SqlError, SqlResult, TypeKind, Value};

use crate::state::control::Control;
use crate::state::error::{corrupt, from_engine};
use crate::state::own_transaction::begin_in;
use crate::{Instance, TableHandle};

/// Schema and name of the table.
pub(crate) const TABLE: (&str, &str) = ("mysql", "event");

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
pub(crate) struct EventTable<'a> {
    control: &'a Control,
    info: Arc<TableInfo>,
    handle: Arc<TableHandle>,
}

impl<'a> EventTable<'a> {
    /// Opens the table; 1146 without it, 1545 if it is another than it is to be.
    pub(crate) fn open(instance: &Instance, control: &'a Control) -> SqlResult<Self> {
        let snapshot = instance.catalog.snapshot();
        let found = snapshot.table(TABLE.0, TABLE.1);
        let info = found.ok_or_else(|| SqlError::no_such_table(TABLE.0, TABLE.1))?;
        if !is_whole(info) || !is_in_dictionary_engine(instance, info)? {
            tracing::error!("mysql.event has another definition than it is to have");
            return Err(SqlError::new(&ER_EVENT_OPEN_TABLE_FAILED, &[]));
        }
        let handle = instance.open_table(info)?;
        Ok(Self { control, info: Arc::clone(info), handle })
    }

    fn def(&self) -> &TableDef {
        &self.info.def
    }

    /// All events, or those of one schema, by schema and name.
    pub(crate) fn all(&self, instance: &Instance, schema: Option<&str>) -> SqlResult<Vec<Event>> {
        let (_, trx) = begin_in(instance, &self.info)?;
        self.all_in(&*trx, schema)
    }

    /// As [`Self::all`], within a transaction.
    pub(crate) fn all_in(
        &self,
        trx: &dyn EngineTrx,
        schema: Option<&str>,
    ) -> SqlResult<Vec<Event>> {
        let error = |e| from_engine(e, self.def());
        let table = &self.handle.table;
        let scan = Scan { index: Some(0), ..Scan::default() };
        let mut cursor = table.scan(trx, self.control, &scan).map_err(error)?;
        let (mut set, mut events) = (RowSet::default(), Vec::new());
        loop {
            set.clear();
            let more = cursor.next_batch(&mut set, BATCH_ROWS).map_err(error)?;
            for row in set.rows.iter() {
                if schema.is_none_or(|schema| self.schema_of(row).is_ok_and(|own| own == *schema)) {
                    events.push(Event::from_row(&self.values(row)?)?);
                }
            }
            if !more {
                return Ok(events);
            }
        }
    }

    /// An event of a name, which may be written in any case.
    pub(crate) fn find(
        &self,
        instance: &Instance,
        schema: &str,
        name: &str,
    ) -> SqlResult<Option<Event>> {
        let (_, trx) = begin_in(instance, &self.info)?;
        self.find_in(&*trx, (schema, name), RowLock::None)
    }

    /// As [`Self::find`], within a transaction.
    pub(crate) fn find_in(
        &self,
        trx: &dyn EngineTrx,
        name: (&str, &str),
        lock: RowLock,
    ) -> SqlResult<Option<Event>> {
        let set = self.rows(trx, name, lock)?;
        let row = set.rows.iter().next().map(|row| Event::from_row(&self.values(row)?));
        row.transpose()
    }

    /// The row of a name, with its place in the table.
    fn rows(
        &self,
        trx: &dyn EngineTrx,
        (schema, name): (&str, &str),
        lock: RowLock,
    ) -> SqlResult<RowSet> {
        let mut set = RowSet::default();
        let scan = Scan { index: Some(0), want_keys: true, lock, ..Scan::default() };
        let key = self.key(schema, name);
        let found = self.handle.table.lookup(trx, self.control, &scan, &key, &mut set);
        found.map_err(|e| from_engine(e, self.def()))?;
        Ok(set)
    }

    /// Stores an event in place of the one of its name.
    pub(crate) fn put(&self, trx: &dyn EngineTrx, event: &Event) -> SqlResult<()> {
        let error = |e| from_engine(e, self.def());
        let mut bytes = Vec::new();
        self.def().layout.encode_values(&event.to_row(), &mut bytes);
        let mut row = ByteRows::default();
        row.push(&bytes);
        let (table, name) = (&self.handle.table, (&*event.schema, &*event.name));
        let old = self.rows(trx, name, RowLock::Exclusive)?.keys;
        if old.is_empty() || table.update(trx, self.control, &old, &row, None).map_err(error)? == 0
        {
            table.insert(trx, self.control, &row).map_err(error)?;
        }
        Ok(())
    }

    /// Removes the event of a name.
    pub(crate) fn remove(&self, trx: &dyn EngineTrx, schema: &str, name: &str) -> SqlResult<()> {
        let old = self.rows(trx, (schema, name), RowLock::Exclusive)?.keys;
        if old.is_empty() {
            return Ok(());
        }
        let removed = self.handle.table.delete(trx, self.control, &old, None);
        removed.map(drop).map_err(|e| from_engine(e, self.def()))
    }

    fn key(&self, schema: &str, name: &str) -> ByteRows {
        let mut bytes = Vec::new();
        let codec = IndexCodec::new(self.def(), &self.def().indexes[0]);
        codec.key_of_values(&[Value::bytes(schema), Value::bytes(name)], &mut bytes);
        let mut keys = ByteRows::default();
        keys.push(&bytes);
        keys
    }

    fn schema_of(&self, row: &[u8]) -> SqlResult<String> {
        match self.def().layout.value(row, 0).map_err(corrupt)? {
            Value::Bytes(name) => Ok(String::from_utf8_lossy(&name).into_owned()),
            _ => Ok(String::new()),
        }
    }

    fn values(&self, row: &[u8]) -> SqlResult<Vec<Value>> {
        let layout = &self.def().layout;
        (0..EVENT_COLUMNS.len()).map(|at| layout.value(row, at).map_err(corrupt)).collect()
    }
}

/// Whether the table has its columns and its key.
fn is_whole(info: &TableInfo) -> bool {
    let columns = &info.columns;
    let key = info.def.indexes.first().filter(|index| index.kind.is_primary());
    columns.len() == EVENT_COLUMNS.len()
        && columns.iter().zip(EVENT_COLUMNS).all(|(column, name)| *column.name == *name)
        && columns.iter().zip(KINDS).all(|(column, kind)| column.ty.kind == kind)
        && key.is_some_and(|key| key.parts.iter().map(|part| part.column).eq([0, 1]))
}

/// Whether rows of the table can be changed together with the dictionary.
fn is_in_dictionary_engine(instance: &Instance, info: &TableInfo) -> SqlResult<bool> {
    Ok(instance.engine_of(info)?.storage() == instance.dictionary.engine().name())
}
