//! Tables that ANALYZE or OPTIMIZE has seen and whose rows have not changed since.
//!
//! Compat: engines without transactions do not repeat such work and say so. What was done before the
//! start of the server is not known here; such tables are worked on again.

use hashbrown::HashMap;
use parking_lot::RwLock;
use selkie_catalog::TableInfo;
use selkie_engine::TableId;
use selkie_sql::ast::MaintenanceAction;

use crate::Instance;

/// What has been done to which table since its rows changed; a table that is not listed has not
/// changed.
#[derive(Debug, Default)]
pub(crate) struct Maintained {
    done: RwLock<HashMap<TableId, u8>>,
}

const ANALYZED: u8 = 1;
const OPTIMIZED: u8 = 2;

fn bits(action: MaintenanceAction) -> u8 {
    match action {
        // Compat: a table that was repaired is analyzed, and optimized once more.
        MaintenanceAction::Analyze | MaintenanceAction::Repair => ANALYZED,
        _ => ANALYZED | OPTIMIZED,
    }
}

impl Maintained {
    /// Rows of a table are about to change.
    pub(crate) fn changed(&self, table: &TableInfo) {
        let is_new = || self.done.read().get(&table.def.id).is_none_or(|done| *done != 0);
        if tells(table) && is_new() {
            self.done.write().insert(table.def.id, 0);
        }
    }

    /// A table is gone or defined anew.
    pub(crate) fn forget(&self, table: TableId) {
        self.done.write().remove(&table);
    }

    /// An action that was not done has ended well.
    pub(super) fn done(&self, table: &TableInfo, action: MaintenanceAction) {
        if tells(table) {
            *self.done.write().entry(table.def.id).or_default() |= bits(action);
        }
    }

    /// Whether an action would change nothing.
    pub(super) fn is_done(
        &self,
        instance: &Instance,
        table: &TableInfo,
        action: MaintenanceAction,
    ) -> bool {
        let wanted = if action == MaintenanceAction::Analyze { ANALYZED } else { OPTIMIZED };
        let empty = || {
            let handle = instance.open_table(table);
            handle.is_ok_and(|handle| handle.table.statistics().rows == 0)
        };
        match self.done.read().get(&table.def.id) {
            Some(done) => tells(table) && done & wanted != 0,
            None => tells(table) && empty(),
        }
    }
}

/// Whether the table's engine remembers what was done.
fn tells(table: &TableInfo) -> bool {
    matches!(&*table.engine, "MyISAM" | "Aria")
}
