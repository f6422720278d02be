//! Numbers of transactions that change tables versioned by transaction, and their rows in
//! `mysql.transaction_registry`.
//!
//! Must not decide what a transaction sees of another: [`crate::run::visibility`] does.
//!
//! # Invariants
//! - REG-1 A number is greater than all given before it, over restarts too. The first of a process
//!   is above the position of the engine's log, which grows by more bytes than numbers are given,
//!   and above all numbers in the registry, prepared transactions included.
//! - REG-2 A transaction whose rows have its number ends with its row in the registry, which is one
//!   of its own changes, or is rolled back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use selkie_catalog::TableInfo;
use selkie_engine::{Engine, EngineTrx, Isolation};
use selkie_types::{DateTime, SqlError, SqlResult, TypeKind, Value};

use super::control::Control;
use super::error::from_engine_commit;
use super::own_table::{OwnShape, OwnTable};
use crate::{Instance, TableHandle};

/// Schema and name of the table.
pub(crate) const TABLE: (&str, &str) = ("mysql", "transaction_registry");

/// Whether a table is the registry, in any case of letters. Compat: statements neither change nor
/// lock it.
pub fn is_transaction_registry(schema: &str, table: &str) -> bool {
    schema.eq_ignore_ascii_case(TABLE.0) && table.eq_ignore_ascii_case(TABLE.1)
}

const SHAPE: OwnShape = OwnShape {
    name: TABLE.1,
    columns: &COLUMNS,
    kinds: &[
        TypeKind::BigInt,
        TypeKind::BigInt,
        TypeKind::Timestamp,
        TypeKind::Timestamp,
        TypeKind::Enum,
    ],
    key: &[0],
};

const COLUMNS: [&str; 5] =
    ["transaction_id", "commit_id", "begin_timestamp", "commit_timestamp", "isolation_level"];

/// Position of the unique index of `commit_id`.
const BY_COMMIT_NUMBER: usize = 1;
/// Position of the index of `(commit_timestamp, transaction_id)`.
pub(crate) const BY_COMMIT: usize = 3;

/// Gives numbers to transactions and commits.
#[derive(Default)]
pub(crate) struct TransactionNumbers {
    /// The last one; 0 until the first is asked for.
    last: Mutex<u64>,
}

impl TransactionNumbers {
    fn first(&self, table: &OwnTable<'_>, engine: &dyn Engine) -> SqlResult<u64> {
        let mut last = self.last.lock();
        if *last == 0 {
            *last = highest_used(table, engine)?;
        }
        *last += 1;
        Ok(*last)
    }

    fn next(&self) -> u64 {
        let mut last = self.last.lock();
        *last += 1;
        *last
    }
}

/// No number that any row has is above it.
fn highest_used(table: &OwnTable<'_>, engine: &dyn Engine) -> SqlResult<u64> {
    // Rows of prepared transactions count, which no snapshot has.
    let trx = engine.begin(Isolation::ReadUncommitted, true).map_err(from_engine_commit)?;
    trx.statement_begin(Isolation::ReadUncommitted, false).map_err(from_engine_commit)?;
    let last = table.last(&*trx, BY_COMMIT_NUMBER, &[])?;
    let highest = match last {
        Some(row) => unsigned(&table.value(&row, 1)?),
        None => 0,
    };
    trx.rollback().map_err(from_engine_commit)?;
    let trx = engine.begin(Isolation::RepeatableRead, true).map_err(from_engine_commit)?;
    let position = trx.take_snapshot().map_err(from_engine_commit)?;
    trx.rollback().map_err(from_engine_commit)?;
    Ok(highest.max(position.map_or(0, |lsn| lsn.0)))
}

fn unsigned(value: &Value) -> u64 {
    match value {
        Value::UInt(number) => *number,
        _ => 0,
    }
}

/// The number of a running transaction.
pub(crate) struct Registration {
    /// It stands in the rows that the transaction makes and ends.
    pub(crate) number: u64,
    /// When the transaction began, in microseconds since 1970.
    began: i64,
    /// Whether rows have the number.
    used: AtomicBool,
    numbers: Arc<TransactionNumbers>,
    info: Arc<TableInfo>,
    handle: Arc<TableHandle>,
}

impl Registration {
    /// Gives a transaction a number. The caller must have locked the registry's definition.
    pub(crate) fn new(instance: &Instance, control: &Control, began: i64) -> SqlResult<Self> {
        let table = open(instance, control)?;
        let numbers = Arc::clone(&instance.sequences.transactions);
        let number = numbers.first(&table, &**instance.engine_of(&table.info)?)?;
        let (info, handle) = table.into_parts();
        Ok(Self { number, began, used: AtomicBool::new(false), numbers, info, handle })
    }

    /// The engine of the registry, which takes part in the transaction.
    pub(crate) fn engine(&self) -> &Arc<dyn Engine> {
        &self.handle.engine
    }

    /// Notes that rows are about to have the number.
    pub(crate) fn note_use(&self) {
        self.used.store(true, Ordering::Relaxed);
    }

    /// Whether rows have the number.
    pub(crate) fn is_used(&self) -> bool {
        self.used.load(Ordering::Relaxed)
    }

    /// Notes that no rows have the number any more, or that the registry has it.
    pub(crate) fn forget_use(&self) {
        self.used.store(false, Ordering::Relaxed);
    }

    /// Stores the row of the transaction, as one of its changes, at a time in microseconds since
    /// 1970.
    pub(crate) fn register(
        &self,
        trx: &dyn EngineTrx,
        control: &Control,
        (now, isolation): (i64, Isolation),
    ) -> SqlResult<()> {
        let time = |micros| Value::DateTime(DateTime::from_unix_micros(micros).unwrap_or_default());
        let level = match isolation {
            Isolation::ReadUncommitted => 1,
            Isolation::ReadCommitted => 2,
            Isolation::RepeatableRead => 3,
            Isolation::Serializable => 4,
        };
        let numbers = [self.number, self.numbers.next()].map(Value::UInt);
        let [number, commit] = numbers;
        let row = [number, commit, time(self.began), time(now), Value::UInt(level)];
        let table = OwnTable::of(control, Arc::clone(&self.info), Arc::clone(&self.handle));
        table.add(trx, &row)?;
        self.forget_use();
        Ok(())
    }
}

/// Opens the registry; 1146 without it, or if it is another table than it is to be.
pub(crate) fn open<'a>(instance: &Instance, control: &'a Control) -> SqlResult<OwnTable<'a>> {
    let table = OwnTable::open(instance, control, &SHAPE)?;
    let has_keys = |table: &OwnTable<'_>| {
        let has = |at: usize, columns: &[usize]| {
            let index = table.info.def.indexes.get(at);
            index.is_some_and(|index| index.parts.iter().map(|p| &p.column).eq(columns))
        };
        has(BY_COMMIT_NUMBER, &[1]) && has(BY_COMMIT, &[3, 0])
    };
    table.filter(has_keys).ok_or_else(|| SqlError::no_such_table(TABLE.0, TABLE.1))
}

/// A transaction in the registry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Registered {
    /// Its number.
    pub(crate) number: u64,
    /// The number of its commit.
    pub(crate) commit: u64,
    /// When it was committed, in UTC.
    pub(crate) committed: DateTime,
    /// Whether it saw what others committed meanwhile.
    pub(crate) sees_commits: bool,
}

impl Registered {
    /// The transaction of a row of the registry.
    pub(crate) fn of_row(table: &OwnTable<'_>, row: &[u8]) -> SqlResult<Self> {
        let committed = match table.value(row, 3)? {
            Value::DateTime(time) => time,
            _ => DateTime::ZERO,
        };
        Ok(Self {
            number: unsigned(&table.value(row, 0)?),
            commit: unsigned(&table.value(row, 1)?),
            committed,
            sees_commits: unsigned(&table.value(row, 4)?) < 3,
        })
    }

    /// Whether what another transaction changed is part of what this one leaves behind: that one
    /// had ended when this one began, or could be seen by it while it ran.
    pub(crate) fn sees(&self, other: &Self) -> bool {
        self.number > other.commit || (self.commit > other.commit && self.sees_commits)
    }
}
