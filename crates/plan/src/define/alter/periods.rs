//! The period of a table that ALTER TABLE changes, and its parts of kept keys.
//!
//! Keys refer to the period by its name: it may get other columns.

use selkie_catalog::{ColumnInfo, TableKind};
use selkie_engine::IndexDef;
use selkie_types::error::catalogue::ER_PERIOD_TEMPORARY_NOT_ALLOWED;
use selkie_types::{SqlError, SqlResult};

use super::super::{indexes, period};
use super::{ColumnSource, Draft, Extent};

impl Draft<'_> {
    /// Sets the period of the new table, whose columns become NOT NULL.
    pub(super) fn settle_period(&mut self, columns: &mut [ColumnInfo]) -> SqlResult<()> {
        self.period.refuse_dropped(&self.dropped)?;
        self.table.period = self.period.resolve(columns)?;
        // Compat: CREATE TEMPORARY TABLE .. LIKE may make one, but it cannot be changed.
        let changed = self.extent == Extent::Definition && self.table.kind == TableKind::Temporary;
        match changed && self.table.period.is_some() {
            true => Err(SqlError::new(&ER_PERIOD_TEMPORARY_NOT_ALLOWED, &[])),
            false => Ok(()),
        }
    }

    /// Adds the parts of the period to a kept key without overlaps. It is a new key if they are
    /// other columns than before.
    pub(super) fn add_period_parts(
        &self,
        columns: &[ColumnInfo],
        sources: &[ColumnSource],
        def: &mut IndexDef,
    ) -> SqlResult<()> {
        let (name, period) = (self.period.old_name(), self.table.period.as_ref());
        let parts = period::key_parts(columns, period, name, &def.name, &def.parts)?;
        let before = self.old.period.as_ref().map(|old| [old.end, old.start]);
        let after = parts.each_ref().map(|part| match sources[part.column] {
            ColumnSource::Old(at) => Some(at),
            ColumnSource::Default => None,
        });
        if before.map(|before| before.map(Some)) != Some(after) {
            def.id = indexes::UNNUMBERED;
        }
        def.parts.extend(parts);
        Ok(())
    }
}
