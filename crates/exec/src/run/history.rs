//! Rows of history: versions of rows of a system-versioned table that changes bring to an end.
//!
//! Must not decide when a row begins: whoever makes a new row gives it its start.
//!
//! # Invariants
//! - HIST-1 A row of history is made of a current row only, and nothing changes it afterwards.
//! - HIST-2 A version that would begin and end at one time is not kept, unless the row is deleted.
//! - HIST-3 No version begins and ends in one transaction, in a table versioned by transaction.

use std::sync::Arc;

use selkie_catalog::{ColumnInfo, SystemTime, TableInfo};
use selkie_engine::{EngineError, EngineResult, IndexKind};
use selkie_expr::EvalContext;
use selkie_types::{ByteRows, Column, RowDraft, RowLayout, SqlError, SqlResult, Value};

use crate::Session;
use crate::run::defaults::{default_of_column, now};
use crate::state::columns::scale_of;
use crate::state::error::corrupt;
use crate::state::registry::Registration;

/// The start or the end of a row that is current from now on, `rows` times.
pub(crate) fn bound(eval: &EvalContext<'_>, column: &ColumnInfo, rows: usize) -> Arc<Column> {
    let value = default_of_column(eval, column).unwrap_or_default();
    Arc::new(Column::constant(&value, column.ty.physical(), scale_of(&column.ty), rows))
}

/// Whether rows that go from one definition to another leave history behind.
pub(crate) fn current_only(old: &TableInfo, new: &TableInfo) -> bool {
    old.system_time().is_some() && new.system_time().is_none()
}

/// Those of the rows of a versioned table that are current.
pub(crate) fn current_rows(table: &TableInfo, rows: &ByteRows) -> SqlResult<ByteRows> {
    let mut out = ByteRows::with_capacity(rows.len());
    for row in rows.iter() {
        if is_current(table, row)? {
            out.push(row);
        }
    }
    Ok(out)
}

/// Whether a row is current; in a table that is not versioned every row is.
pub(crate) fn is_current(table: &TableInfo, row: &[u8]) -> SqlResult<bool> {
    let Some((column, end)) = &table.def.current else { return Ok(true) };
    Ok(table.def.layout.value(row, *column).map_err(corrupt)? == *end)
}

/// Ends versions of rows of one table in one statement.
pub(crate) struct History {
    period: SystemTime,
    /// The end of rows that end now: the time of the statement, or the transaction's number.
    now: Value,
    /// The same as a column of a row stores it.
    stored_now: Vec<u8>,
    /// The end of rows that are current.
    last: Value,
    /// The transaction, if rows have its number; `Some(None)` as long as it has none, for a table
    /// that is only read.
    registration: Option<Option<Arc<Registration>>>,
    /// Whether a row of history is in another place than the row that it was.
    pub(crate) clusters: bool,
}

impl History {
    /// For a table; none if it is not versioned.
    pub(crate) fn of(session: &Session, table: &TableInfo) -> SqlResult<Option<Self>> {
        // Every statement that writes asks.
        if table.def.current.is_none() {
            return Ok(None);
        }
        let Some(period) = table.system_time() else { return Ok(None) };
        let eval =
            EvalContext::new(session.type_context(), session, session.values.statement_start.get());
        let ty = &table.columns[period.end].ty;
        let registration = match table.is_versioned_by_transaction() {
            // A table that is only read may come before the transaction has a number.
            true => Some(session.transaction.registration().cloned()),
            false => None,
        };
        let now = match &registration {
            None => now(&eval, ty),
            Some(own) => Value::UInt(own.as_ref().map_or(0, |own| own.number)),
        };
        let own = RowLayout::new([(ty, false)].into_iter());
        let mut row = Vec::new();
        own.encode_values(std::slice::from_ref(&now), &mut row);
        let stored_now = own.stored(&row, 0).map_err(corrupt)?.to_vec();
        let first = table.def.indexes.first();
        let clusters = first.is_some_and(|index| index.kind == IndexKind::Primary);
        let last = SystemTime::end_value(ty);
        Ok(Some(Self { period, now, stored_now, last, registration, clusters }))
    }

    /// Whether rows have numbers of transactions.
    pub(crate) fn is_numbered(&self) -> bool {
        self.registration.is_some()
    }

    /// An error if rows would get the number of a transaction that has none.
    pub(crate) fn check_numbered(&self) -> EngineResult<()> {
        match &self.registration {
            Some(None) => Err(EngineError::Refused(Box::new(unnumbered()))),
            _ => Ok(()),
        }
    }

    /// Notes that rows have the transaction's number.
    pub(crate) fn note_change(&self) {
        if let Some(Some(own)) = &self.registration {
            own.note_use();
        }
    }

    /// The versions that the first `count` of `new` bring to an end: they end when these begin.
    pub(crate) fn replaced(
        &self,
        layout: &RowLayout,
        before: &ByteRows,
        new: &ByteRows,
        count: usize,
    ) -> EngineResult<ByteRows> {
        let mut out = ByteRows::default();
        for row in 0..count {
            let (old, new) = (before.get(row), new.get(row));
            if old.is_empty() || !self.is_current(layout, old)? {
                continue;
            }
            let starts = (self.start(layout, old)?, self.start(layout, new)?);
            // An update of columns that are not versioned gives a row no number.
            if starts.1 == self.now {
                self.note_change();
            }
            if is_before(&starts.0, &starts.1) {
                let end = layout.stored(new, self.period.start)?;
                self.put(layout, old, end, &mut out)?;
            }
        }
        Ok(out)
    }

    /// Rows that are deleted as they are from now on: those that were current end now, and no row
    /// stands for the others, which go.
    ///
    /// Compat: nor does one for a row that has not begun yet, as a clock set back can have it, or
    /// for one of the same transaction.
    pub(crate) fn deleted(&self, layout: &RowLayout, before: &ByteRows) -> EngineResult<ByteRows> {
        let mut out = ByteRows::with_capacity(before.len());
        for row in before.iter() {
            let ends = !row.is_empty()
                && self.is_current(layout, row)?
                && self.outlasts_end(&self.start(layout, row)?);
            match ends {
                true => self.put(layout, row, &self.stored_now, &mut out)?,
                false => out.end_row(),
            }
        }
        Ok(out)
    }

    /// Whether a row that began at `start` and ends now is kept.
    fn outlasts_end(&self, start: &Value) -> bool {
        match self.registration {
            Some(_) => is_before(start, &self.now),
            None => !is_before(&self.now, start),
        }
    }

    fn is_current(&self, layout: &RowLayout, row: &[u8]) -> EngineResult<bool> {
        Ok(layout.value(row, self.period.end)? == self.last)
    }

    fn start(&self, layout: &RowLayout, row: &[u8]) -> EngineResult<Value> {
        Ok(layout.value(row, self.period.start)?)
    }

    /// Appends `row` with an end.
    fn put(
        &self,
        layout: &RowLayout,
        row: &[u8],
        end: &[u8],
        out: &mut ByteRows,
    ) -> EngineResult<()> {
        let mut draft = RowDraft::default();
        draft.begin(layout, row)?;
        if !draft.set(layout, self.period.end, end) {
            let error = SqlError::internal("the end of a period does not fit its column");
            return Err(EngineError::Refused(Box::new(error)));
        }
        draft.finish(layout, out.buffer());
        out.end_row();
        Ok(())
    }
}

fn is_before(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::DateTime(a), Value::DateTime(b)) => a < b,
        (Value::UInt(a), Value::UInt(b)) => a < b,
        _ => false,
    }
}

fn unnumbered() -> SqlError {
    SqlError::internal("a transaction without a number changes rows that have one")
}
