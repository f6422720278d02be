//! Transactions that change tables versioned by transaction get a number before the first such
//! change.

use std::sync::Arc;

use selkie_catalog::TableInfo;
use selkie_plan::physical::Plan;
use selkie_types::{SqlError, SqlResult};

use crate::dml;
use crate::query::execution::Execution;
use crate::state::metadata::LockMode;
use crate::state::registry::{Registration, TABLE};

impl Execution<'_> {
    /// Numbers the transaction if a plan changes a table whose rows have its number.
    pub(crate) fn number_transaction(&mut self, plan: &Plan) -> SqlResult<()> {
        let by_number = |table: &Arc<TableInfo>| table.is_versioned_by_transaction();
        let mut related = plan.foreign.touched().filter(|(_, changed)| *changed);
        if dml::targets(plan).any(by_number) || related.any(|(table, _)| by_number(table)) {
            self.give_number()?;
        }
        Ok(())
    }

    /// Numbers the transaction, unless it has a number.
    pub(crate) fn give_number(&mut self) -> SqlResult<()> {
        if self.session.transaction.registration().is_some() {
            return Ok(());
        }
        let registry = self.instance.catalog.snapshot().table(TABLE.0, TABLE.1).cloned();
        let registry = registry.ok_or_else(|| SqlError::no_such_table(TABLE.0, TABLE.1))?;
        self.lock_table(&registry, LockMode::Write)?;
        let session = &mut *self.session;
        let began = session.transaction.began().unwrap_or(session.values.statement_start.get());
        let own = Registration::new(self.instance, self.control, began)?;
        session.transaction.set_registration(own);
        Ok(())
    }
}
