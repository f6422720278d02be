//! Visibility of transactions of `mysql.transaction_registry` to each other, as far as the running
//! statement asks. The registry is read in the statement's own transaction, whose snapshot has the
//! row of each transaction that it sees rows of.
//!
//! Must not change the registry.

use std::cell::RefCell;
use std::sync::Arc;

use hashbrown::HashMap;
use selkie_catalog::{SystemTime, TableInfo};
use selkie_engine::{EngineTrx, LockMode};
use selkie_types::error::catalogue::ER_VERS_NO_TRX_ID;
use selkie_types::{DateTime, SqlError, SqlResult, Value};

use crate::TableHandle;
use crate::run::Runtime;
use crate::state::own_table::OwnTable;
use crate::state::registry::{self, BY_COMMIT, Registered};

/// Most transactions remembered by a statement.
const REMEMBERED: usize = 4096;

/// The open registry, and the transactions that were looked up.
#[derive(Default)]
pub(super) struct Known {
    table: RefCell<Option<(Arc<TableInfo>, Arc<TableHandle>)>>,
    transactions: RefCell<HashMap<u64, Registered>>,
}

/// The registry as a statement reads it.
pub(crate) struct Registry<'a> {
    rt: &'a Runtime<'a>,
}

impl<'a> Runtime<'a> {
    /// The registry of transactions.
    pub(crate) fn registry(&'a self) -> Registry<'a> {
        Registry { rt: self }
    }
}

impl<'a> Registry<'a> {
    /// The last transaction committed at a time in UTC or before; 0 if there is none.
    pub(crate) fn last_at(&self, time: DateTime) -> SqlResult<u64> {
        let (table, trx) = self.open()?;
        let row = table.last(trx, BY_COMMIT, &[Value::DateTime(time)])?;
        row.map_or(Ok(0), |row| Ok(Registered::of_row(&table, &row)?.number))
    }

    /// Whether one transaction sees what another changed.
    pub(crate) fn sees(&self, watcher: u64, other: u64) -> SqlResult<bool> {
        let watcher = self.find(watcher)?;
        Ok(watcher.sees(&self.find(other)?))
    }

    /// The time in UTC at which a transaction was committed.
    pub(crate) fn committed_at(&self, number: u64) -> SqlResult<DateTime> {
        match number {
            u64::MAX => Ok(SystemTime::END),
            _ => Ok(self.find(number)?.committed),
        }
    }

    fn find(&self, number: u64) -> SqlResult<Registered> {
        let known = &self.rt.lookups.transactions.transactions;
        if let Some(found) = known.borrow().get(&number) {
            return Ok(*found);
        }
        let (table, trx) = self.open()?;
        let rows = table.rows(trx, &[Value::UInt(number)], LockMode::None)?.rows;
        let row = rows.iter().next();
        let row = row.ok_or_else(|| SqlError::new(&ER_VERS_NO_TRX_ID, &[&number]))?;
        let found = Registered::of_row(&table, row)?;
        let mut known = known.borrow_mut();
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(number, found);
        Ok(found)
    }

    fn open(&self) -> SqlResult<(OwnTable<'a>, &'a dyn EngineTrx)> {
        let rt = self.rt;
        let mut known = rt.lookups.transactions.table.borrow_mut();
        let (info, handle) = match &*known {
            Some(known) => known.clone(),
            None => known.insert(registry::open(rt.instance, rt.control)?.into_parts()).clone(),
        };
        let trx = rt.session.transaction.part(&handle.engine);
        let trx = trx.ok_or_else(|| SqlError::internal("the registry's engine did not join"))?;
        Ok((OwnTable::of(rt.control, info, handle), trx))
    }
}
