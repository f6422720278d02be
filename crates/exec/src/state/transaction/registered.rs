//! The number of a transaction that changes tables versioned by transaction.
//!
//! Must not choose the number, nor decide when a transaction gets one.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use selkie_types::{SqlError, SqlResult};

use super::Transaction;
use crate::Session;
use crate::state::control::Control;
use crate::state::registry::Registration;

impl Transaction {
    /// Its number, if a statement may have given it to rows.
    pub(crate) fn registration(&self) -> Option<&Arc<Registration>> {
        self.registration.as_ref()
    }

    /// Gives it a number.
    pub(crate) fn set_registration(&mut self, registration: Registration) {
        self.registration = Some(Arc::new(registration));
    }

    /// Whether rows have its number.
    pub(super) fn is_registered(&self) -> bool {
        self.registration.as_ref().is_some_and(|own| own.is_used())
    }

    /// Notes that no rows have its number any more.
    pub(super) fn forget_number(&self) {
        if let Some(own) = &self.registration {
            own.forget_use();
        }
    }

    /// Notes the time of the statement that begins the transaction, in microseconds since 1970.
    pub(crate) fn note_begin(&mut self, time: i64) {
        if self.view.began == 0 {
            self.view.began = time;
        }
    }

    /// When it began, if that was before the running statement.
    pub(crate) fn began(&self) -> Option<i64> {
        Some(self.view.began).filter(|time| *time != 0)
    }
}

impl Session {
    /// Current time in microseconds since 1970, or the value of `SET timestamp`.
    pub(crate) fn clock(&self) -> i64 {
        self.frame.settings.timestamp_micros.unwrap_or_else(|| {
            SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_micros() as i64)
        })
    }

    /// Puts the transaction into the registry if rows have its number (REG-2): before its commit,
    /// or before it is prepared. A branch that is prepared is registered as if it were committed
    /// then, since whoever commits it may know nothing of its changes.
    pub(crate) fn register_transaction(&self) -> SqlResult<()> {
        let transaction = &self.transaction;
        let Some(own) = transaction.registration.as_ref().filter(|own| own.is_used()) else {
            return Ok(());
        };
        let trx = transaction.part(own.engine()).ok_or_else(|| {
            SqlError::internal("a transaction with a number takes no part in its engine")
        })?;
        own.register(trx, &Control::new(self), (self.clock(), transaction.view.isolation))
    }
}
