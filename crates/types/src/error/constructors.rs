//! Short constructors for the errors that many places raise.
//! Rare errors use `SqlError::new` with the catalogue instead.

use std::fmt::Display;

use super::SqlError;
use super::catalogue::*;

impl SqlError {
    /// 1235: a feature that this version does not have.
    #[cold]
    pub fn not_supported(what: impl Display) -> Self {
        Self::new(&ER_NOT_SUPPORTED_YET, &[&what])
    }

    /// 1064: the statement does not parse near `near`, on line `line`.
    #[cold]
    pub fn parse(near: impl Display, line: usize) -> Self {
        Self::new(&ER_PARSE_ERROR, &[&ER_SYNTAX_ERROR.text, &near, &line])
    }

    /// 1054: no column `name` in `place` ("field list", "where clause", ...).
    #[cold]
    pub fn unknown_column(name: impl Display, place: impl Display) -> Self {
        Self::new(&ER_BAD_FIELD_ERROR, &[&name, &place])
    }

    /// 1052: `name` in `place` could be several columns.
    #[cold]
    pub fn ambiguous_column(name: impl Display, place: impl Display) -> Self {
        Self::new(&ER_NON_UNIQ_ERROR, &[&name, &place])
    }

    /// 1146: no such table.
    #[cold]
    pub fn no_such_table(schema: impl Display, table: impl Display) -> Self {
        Self::new(&ER_NO_SUCH_TABLE, &[&schema, &table])
    }

    /// 1049: no such schema.
    #[cold]
    pub fn unknown_database(schema: impl Display) -> Self {
        Self::new(&ER_BAD_DB_ERROR, &[&schema])
    }

    /// 1099: a change of a table locked by LOCK TABLES ... READ.
    #[cold]
    pub fn read_locked(table: impl Display) -> Self {
        Self::new(&ER_TABLE_NOT_LOCKED_FOR_WRITE, &[&table])
    }

    /// 1062: a unique key already has this value.
    #[cold]
    pub fn duplicate_entry(value: impl Display, key: impl Display) -> Self {
        Self::new(&ER_DUP_ENTRY, &[&value, &key])
    }

    /// 1048: NULL for a NOT NULL column.
    #[cold]
    pub fn bad_null(column: impl Display) -> Self {
        Self::new(&ER_BAD_NULL_ERROR, &[&column])
    }

    /// 1264: a number does not fit the column.
    #[cold]
    pub fn out_of_range(column: impl Display, row: u64) -> Self {
        Self::new(&ER_WARN_DATA_OUT_OF_RANGE, &[&column, &row])
    }

    /// 1406: a string does not fit the column.
    #[cold]
    pub fn data_too_long(column: impl Display, row: u64) -> Self {
        Self::new(&ER_DATA_TOO_LONG, &[&column, &row])
    }

    /// 1690: an arithmetic result is out of range of `kind` ("BIGINT", "DOUBLE", ...).
    #[cold]
    pub fn arithmetic_overflow(kind: impl Display, expression: impl Display) -> Self {
        Self::new(&ER_DATA_OUT_OF_RANGE, &[&kind, &expression])
    }

    /// 1213: the transaction is the victim of a deadlock.
    #[cold]
    pub fn deadlock() -> Self {
        Self::new(&ER_LOCK_DEADLOCK, &[])
    }

    /// 1205: a lock was not granted in time.
    #[cold]
    pub fn lock_wait_timeout() -> Self {
        Self::new(&ER_LOCK_WAIT_TIMEOUT, &[])
    }

    /// 1317: `KILL QUERY` or a limit ended the statement.
    #[cold]
    pub fn interrupted() -> Self {
        Self::new(&ER_QUERY_INTERRUPTED, &[])
    }

    /// 1105: an internal fault; the text says which invariant broke.
    #[cold]
    pub fn internal(what: impl Display) -> Self {
        Self::new(&ER_INTERNAL_ERROR, &[&what])
    }
}
