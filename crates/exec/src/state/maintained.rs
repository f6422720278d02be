//! Tables that ANALYZE, CHECK or OPTIMIZE has processed and whose rows have not changed since.
//!
//! Compat: engines without transactions do not repeat such work, and report that. Work done before
//! the server's start is not known here and is repeated.

use hashbrown::HashMap;
use parking_lot::RwLock;
use selkie_catalog::TableInfo;
use selkie_engine::TableId;
use selkie_sql::ast::MaintenanceAction;

use crate::Instance;

/// Maintenance state by table: the statements that ran since the rows last changed.
#[derive(Debug, Default)]
pub(crate) struct Maintained {
    done: RwLock<HashMap<TableId, u8>>,
}

const ANALYZED: u8 = 1;
const OPTIMIZED: u8 = 2;
const CHECKED: u8 = 4;
/// Rows have changed since the last maintenance or since the start.
const CHANGED: u8 = 8;

fn bits(action: MaintenanceAction) -> u8 {
    match action {
        // Compat: REPAIR counts as ANALYZE but not as OPTIMIZE.
        MaintenanceAction::Analyze | MaintenanceAction::Repair => ANALYZED,
        // Compat: CHECK counts keys while it reads them, so it counts as ANALYZE.
        MaintenanceAction::Check => CHECKED | ANALYZED,
        _ => ANALYZED | OPTIMIZED,
    }
}

impl Maintained {
    /// Called when rows of a table are about to change.
    pub(crate) fn changed(&self, table: &TableInfo) {
        let is_new = || self.done.read().get(&table.def.id).is_none_or(|done| *done != CHANGED);
        if tells(table) && is_new() {
            self.done.write().insert(table.def.id, CHANGED);
        }
    }

    /// Called when rows are about to be put into a table in one go. Compat: an empty table gets
    /// its indexes built from all rows, which counts their keys as ANALYZE does; unique indexes
    /// are kept up to date row by row.
    pub(crate) fn filled(&self, instance: &Instance, table: &TableInfo) {
        self.changed(table);
        let builds = || table.def.indexes.iter().any(|index| !index.is_unique());
        if tells(table) && builds() && is_empty(instance, table) {
            self.done(table, MaintenanceAction::Analyze);
        }
    }

    /// Called when a table is dropped or redefined.
    pub(crate) fn forget(&self, table: TableId) {
        self.done.write().remove(&table);
    }

    /// Records that an action succeeded.
    pub(crate) fn done(&self, table: &TableInfo, action: MaintenanceAction) {
        if tells(table) {
            *self.done.write().entry(table.def.id).or_default() |= bits(action);
        }
    }

    /// Whether CHECK TABLE with `options` has nothing to do. FAST checks tables that were not
    /// closed properly, and none is after a start. CHANGED checks tables whose rows have changed
    /// since a successful check.
    pub(crate) fn is_checked(&self, table: &TableInfo, options: &[&str]) -> bool {
        let known = || self.done.read().get(&table.def.id).is_some_and(|done| done & CHECKED != 0);
        tells(table)
            && (options.contains(&"FAST") || options.contains(&"CHANGED") && known())
            && !options.contains(&"FOR UPGRADE")
    }

    /// Whether an action has nothing to do.
    pub(crate) fn is_done(
        &self,
        instance: &Instance,
        table: &TableInfo,
        action: MaintenanceAction,
    ) -> bool {
        let wanted = if action == MaintenanceAction::Analyze { ANALYZED } else { OPTIMIZED };
        let empty = || is_empty(instance, table);
        let done = self.done.read().get(&table.def.id).copied().unwrap_or(0);
        tells(table) && (done & wanted != 0 || done & CHANGED == 0 && empty())
    }
}

fn is_empty(instance: &Instance, table: &TableInfo) -> bool {
    let handle = instance.open_table(table);
    handle.is_ok_and(|handle| handle.table.statistics().rows == 0)
}

/// Whether the table's engine remembers maintenance.
fn tells(table: &TableInfo) -> bool {
    table.engine.maintenance.remembers
}
