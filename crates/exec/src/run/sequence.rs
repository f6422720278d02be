//! Numbers of sequences: NEXT VALUE, PREVIOUS VALUE, SETVAL.
//!
//! A sequence's row is changed in a transaction of its own, which must be durable before a number
//! of the reserved block is given out: no rollback and no crash gives a number out again.

use std::sync::Arc;

use selkie_catalog::{
    Namespace, NextValue, SequenceDef, SequenceState, TableInfo, sequence_columns,
};
use selkie_engine::{Engine, EngineTrx, LockMode, RowSet, Scan};
use selkie_expr::{SequenceAsk, SequenceCall, SubqueryRunner};
use selkie_types::error::catalogue::{
    ER_NOT_SEQUENCE, ER_SEQUENCE_ACCESS_ERROR, ER_SEQUENCE_INVALID_DATA, ER_SEQUENCE_RUN_OUT,
};
use selkie_types::{ByteRows, Column, SqlError, SqlResult, Value};

use crate::state::columns::column_of;
use crate::state::control::Control;
use crate::state::error::{corrupt, from_engine, from_engine_commit};
use crate::state::own_transaction::{begin_in, commit_now};
use crate::{Instance, Session};

/// Evaluates sequence functions where no query runs.
pub(crate) struct SequencesOnly<'a> {
    pub(crate) instance: &'a Instance,
    pub(crate) session: &'a Session,
    pub(crate) control: &'a Control,
}

impl SubqueryRunner for SequencesOnly<'_> {
    fn sequence(&self, call: &SequenceCall) -> SqlResult<Value> {
        evaluate(self.instance, self.session, self.control, call)
    }
}

/// Value of a sequence function.
pub(crate) fn evaluate(
    instance: &Instance,
    session: &Session,
    control: &Control,
    call: &SequenceCall,
) -> SqlResult<Value> {
    let table = {
        let snapshot = instance.catalog.snapshot();
        let names = Namespace { snapshot: &snapshot, temporary: &session.frame.temporary };
        names.table(&call.schema, &call.name).cloned()
    };
    let table = table.ok_or_else(|| SqlError::no_such_table(&call.schema, &call.name))?;
    if !table.is_sequence() {
        return Err(SqlError::new(&ER_NOT_SEQUENCE, &[&call.schema, &call.name]));
    }
    let place = Place { instance, session, control, table: &table };
    match call.ask {
        SequenceAsk::Previous => {
            let last = session.core.sequence_values.lock().get(&table.def.id).copied();
            Ok(last.map_or(Value::Null, Value::Int))
        }
        SequenceAsk::Next => place.next_value().map(Value::Int),
        SequenceAsk::Set { value, is_used, round } => {
            let moved = place.set_value(value, is_used, round)?;
            Ok(if moved { Value::Int(value) } else { Value::Null })
        }
    }
}

/// Stores the first row of a new sequence.
pub(crate) fn create_row(
    instance: &Instance,
    session: &Session,
    control: &Control,
    table: &TableInfo,
    def: &SequenceDef,
) -> SqlResult<()> {
    Place { instance, session, control, table }.store(def)
}

/// Changes the row of a sequence for ALTER SEQUENCE; reserved numbers are discarded.
pub(crate) fn alter_row(
    instance: &Instance,
    session: &Session,
    control: &Control,
    table: &TableInfo,
    change: &mut dyn FnMut(SequenceDef) -> Option<SequenceDef>,
) -> SqlResult<()> {
    let place = Place { instance, session, control, table };
    let slot = instance.sequences.slot(table.def.id);
    let mut state = slot.lock();
    let invalid = || SqlError::new(&ER_SEQUENCE_INVALID_DATA, &[&table.schema(), &table.name()]);
    let def = change(place.read()?).filter(SequenceDef::is_valid).ok_or_else(invalid)?;
    *state = None;
    place.store(&def)
}

/// Replaces the row of a sequence for INSERT; reserved numbers are discarded.
pub(crate) fn replace_row(
    instance: &Instance,
    session: &Session,
    control: &Control,
    table: &TableInfo,
    def: Option<SequenceDef>,
) -> SqlResult<()> {
    let place = Place { instance, session, control, table };
    let slot = instance.sequences.slot(table.def.id);
    let mut state = slot.lock();
    let invalid = || SqlError::new(&ER_SEQUENCE_INVALID_DATA, &[&table.schema(), &table.name()]);
    let def = def.filter(SequenceDef::is_valid).ok_or_else(invalid)?;
    *state = None;
    place.reserve(&def)
}

/// Reads the row of a sequence.
pub(crate) fn read_row(
    instance: &Instance,
    session: &Session,
    control: &Control,
    table: &TableInfo,
) -> SqlResult<SequenceDef> {
    Place { instance, session, control, table }.read()
}

/// A transaction of the server's own in an engine, and the row it has stored.
type OwnChange = (Arc<dyn Engine>, Box<dyn EngineTrx>, ByteRows);

/// A sequence, with the session that uses it.
struct Place<'a> {
    instance: &'a Instance,
    session: &'a Session,
    control: &'a Control,
    table: &'a TableInfo,
}

impl Place<'_> {
    fn next_value(&self) -> SqlResult<i64> {
        let slot = self.instance.sequences.slot(self.table.def.id);
        let mut slot = slot.lock();
        let mut state = self.state(&slot)?;
        let next = state.next_value();
        let mut values = self.session.core.sequence_values.lock();
        let value = match next {
            NextValue::Reserved(value) => value,
            NextValue::ToStore(value) => {
                self.reserve(&state.def)?;
                value
            }
            NextValue::RunOut => {
                values.remove(&self.table.def.id);
                let names: [&dyn std::fmt::Display; 2] = [&self.table.schema(), &self.table.name()];
                return Err(SqlError::new(&ER_SEQUENCE_RUN_OUT, &names));
            }
        };
        *slot = Some(state);
        values.insert(self.table.def.id, value);
        Ok(value)
    }

    fn set_value(&self, value: i64, is_used: bool, round: i64) -> SqlResult<bool> {
        let slot = self.instance.sequences.slot(self.table.def.id);
        let mut slot = slot.lock();
        let mut state = self.state(&slot)?;
        let Some(changed) = state.set_value(value, is_used, round) else { return Ok(false) };
        if changed {
            self.reserve(&state.def)?;
        }
        *slot = Some(state);
        Ok(true)
    }

    fn state(&self, known: &Option<SequenceState>) -> SqlResult<SequenceState> {
        let settings = &self.session.frame.settings;
        let series = (
            settings.dml.auto_increment_increment as i64,
            settings.dml.auto_increment_offset as i64,
        );
        match known {
            Some(state) => Ok(*state),
            None => Ok(SequenceState::new(self.read()?, series)),
        }
    }

    fn read(&self) -> SqlResult<SequenceDef> {
        let (_, trx) = begin_in(self.instance, self.table)?;
        let set = self.rows(&*trx, LockMode::None)?;
        let def = self.decode(&set)?;
        trx.rollback().map_err(|e| from_engine(e, &self.table.def))?;
        let names: [&dyn std::fmt::Display; 2] = [&self.table.schema(), &self.table.name()];
        def.ok_or_else(|| SqlError::new(&ER_SEQUENCE_ACCESS_ERROR, &names))
    }

    fn rows(&self, trx: &dyn selkie_engine::EngineTrx, lock: LockMode) -> SqlResult<RowSet> {
        let handle = self.instance.open_table(self.table)?;
        let scan = Scan { want_keys: true, lock, ..Scan::default() };
        let mut set = RowSet::default();
        let error = |e| from_engine(e, &self.table.def);
        let mut cursor = handle.table.scan(trx, self.control, &scan).map_err(error)?;
        cursor.next_batch(&mut set, 1).map_err(error)?;
        drop(cursor);
        Ok(set)
    }

    fn decode(&self, set: &RowSet) -> SqlResult<Option<SequenceDef>> {
        if set.rows.is_empty() {
            return Ok(None);
        }
        let layout = &self.table.def.layout;
        let columns = 0..self.table.columns.len();
        let values: Result<Vec<Value>, _> = columns
            .map(|at| layout.decode_selected(&set.rows, at, &[0]).map(|column| column.value(0)))
            .collect();
        Ok(SequenceDef::from_row(&values.map_err(corrupt)?))
    }

    /// Replaces the row by `def`, durably. Its statement is logged, not the row.
    fn store(&self, def: &SequenceDef) -> SqlResult<()> {
        let (engine, trx, _) = self.replace(def)?;
        commit_now(&*engine, trx)
    }

    /// Replaces the row by `def`, durably. Compat: the row is logged at once, whatever becomes of
    /// the transaction.
    fn reserve(&self, def: &SequenceDef) -> SqlResult<()> {
        let (engine, trx, rows) = self.replace(def)?;
        let handle = self.instance.open_table(self.table)?;
        let change = (&*engine, trx);
        let lsn = self.session.commit_sequence_row(self.table, &handle, change, rows.get(0));
        match lsn.map_err(from_engine_commit)? {
            Some(lsn) => engine.wait_durable(lsn).map_err(from_engine_commit),
            None => Ok(()),
        }
    }

    /// Replaces the row in a transaction, which is not committed yet.
    fn replace(&self, def: &SequenceDef) -> SqlResult<OwnChange> {
        let row = self.encode(def);
        let (engine, trx) = begin_in(self.instance, self.table)?;
        let set = self.rows(&*trx, LockMode::Exclusive)?;
        let handle = self.instance.open_table(self.table)?;
        let done = match set.keys.is_empty() {
            true => handle.table.insert(&*trx, self.control, &row).map(|_| ()),
            false => handle.table.update(&*trx, self.control, &set.keys, &row, None).map(|_| ()),
        };
        done.map_err(|e| from_engine(e, &self.table.def))?;
        Ok((engine, trx, row))
    }

    fn encode(&self, def: &SequenceDef) -> ByteRows {
        let made: Vec<Column> = sequence_columns()
            .iter()
            .zip(def.to_row())
            .map(|(info, value)| {
                let mut column = column_of(&info.ty, 1);
                column.push(&value);
                column
            })
            .collect();
        let views: Vec<&Column> = made.iter().collect();
        let mut out = ByteRows::with_capacity(1);
        self.table.def.layout.encode(&views, 0, out.buffer());
        out.end_row();
        out
    }
}
