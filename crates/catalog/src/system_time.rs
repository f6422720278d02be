//! System versioning: the part of a table's columns in it, and the two columns of its period.
//!
//! Must not know of application-time periods.

use std::fmt::Write;

use selkie_types::{Date, DateTime, SqlType, TypeKind, Value};
use serde::{Deserialize, Serialize};

use crate::{ColumnInfo, TableInfo, quote_identifier};

/// Part of a column in system versioning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum SystemRole {
    /// An ordinary column, whose changes make history in a versioned table.
    #[default]
    Plain,
    /// `WITHOUT SYSTEM VERSIONING`: its changes alone make no history.
    Unversioned,
    /// `GENERATED ALWAYS AS ROW START`.
    Start,
    /// `GENERATED ALWAYS AS ROW END`.
    End,
    /// `row_start` of a table that declares no period: nothing lists it.
    HiddenStart,
    /// `row_end` of a table that declares no period: nothing lists it.
    HiddenEnd,
}

impl SystemRole {
    /// Whether it is the start of a row's period.
    pub fn is_start(self) -> bool {
        matches!(self, Self::Start | Self::HiddenStart)
    }

    /// Whether it is the end of a row's period.
    pub fn is_end(self) -> bool {
        matches!(self, Self::End | Self::HiddenEnd)
    }

    /// Whether it is a bound of a row's period.
    pub fn is_bound(self) -> bool {
        self.is_start() || self.is_end()
    }

    /// Whether nothing lists the column.
    pub fn is_hidden(self) -> bool {
        matches!(self, Self::HiddenStart | Self::HiddenEnd)
    }

    /// Whether it is an ordinary column.
    pub fn is_plain(&self) -> bool {
        *self == Self::Plain
    }
}

/// The last day of a TIMESTAMP.
const LAST_DAY: Date = Date::from_parts(2038, 1, 19);

/// The columns of a versioned table's period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemTime {
    /// Position of the row's start.
    pub start: usize,
    /// Position of the row's end.
    pub end: usize,
}

impl SystemTime {
    /// End of rows that are current, in UTC: 2038-01-19 03:14:07.999999.
    pub const END: DateTime = DateTime::from_parts(LAST_DAY, 3, 14, 7, 999_999);

    /// The end of rows that are current, in a column of this type: the last time, or the number
    /// that no transaction has.
    pub fn end_value(end: &SqlType) -> Value {
        match end.kind {
            TypeKind::BigInt => Value::UInt(u64::MAX),
            _ => Value::DateTime(Self::END),
        }
    }

    /// The columns among `columns` that are a period's; `None` if the table is not versioned.
    pub fn of(columns: &[ColumnInfo]) -> Option<Self> {
        let start = columns.iter().position(|c| c.system.is_start())?;
        let end = columns.iter().position(|c| c.system.is_end())?;
        Some(Self { start, end })
    }
}

impl TableInfo {
    /// The columns of the period if the table is system-versioned.
    pub fn system_time(&self) -> Option<SystemTime> {
        SystemTime::of(&self.columns)
    }

    /// Whether it is system-versioned by the numbers of transactions instead of by time.
    pub fn is_versioned_by_transaction(&self) -> bool {
        // Every statement that writes asks.
        let end = self.def.current.as_ref().map(|(end, _)| &self.columns[*end]);
        end.is_some_and(is_transaction_bound)
    }

    /// Whether an assignment to one of `columns` makes a new version of a row.
    pub fn makes_version(&self, mut columns: impl Iterator<Item = usize>) -> bool {
        columns.any(|at| self.columns[at].system != SystemRole::Unversioned)
    }
}

impl ColumnInfo {
    /// Whether nothing lists the column, though expressions may name it.
    pub fn is_hidden(&self) -> bool {
        self.system.is_hidden()
    }
}

/// `PERIOD FOR SYSTEM_TIME` as a line of `SHOW CREATE TABLE`.
pub(crate) fn period_clause(table: &TableInfo) -> Option<String> {
    let period = table.system_time()?;
    let (start, end) = (&table.columns[period.start], &table.columns[period.end]);
    let names = (quote_identifier(&start.name), quote_identifier(&end.name));
    (!end.is_hidden()).then(|| format!("PERIOD FOR SYSTEM_TIME ({}, {})", names.0, names.1))
}

/// Appends the clause of a bound of the period.
pub(crate) fn put_bound(column: &ColumnInfo, out: &mut String) {
    let bound = if column.system.is_start() { "START" } else { "END" };
    let _ = write!(out, " GENERATED ALWAYS AS ROW {bound}");
    out.push_str(if column.invisible { " INVISIBLE" } else { "" });
}

/// Whether a bound of a period is a transaction's number instead of a time.
pub fn is_transaction_bound(column: &ColumnInfo) -> bool {
    column.system.is_bound() && column.ty.kind == TypeKind::BigInt
}
