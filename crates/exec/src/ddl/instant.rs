//! ALTER TABLE without rewriting rows (I35): the new definition keeps the layouts of earlier rows.
//! Falls back to a rebuild if the engine cannot read several row versions.

use std::sync::Arc;

use selkie_catalog::{ColumnInfo, TableInfo};
use selkie_engine::TableDef;
use selkie_expr::EvalContext;
use selkie_plan::define::{AddedIndexes, AlterPlan, ColumnSource};
use selkie_types::{RowSource, SqlResult, Value};

use super::Ddl;
use crate::run::defaults::default_of_column;

impl Ddl<'_> {
    /// Puts the layout of the stored rows into the new definition, if the change is one that keeps
    /// them. If the engine has no row versions, or they are used up, the plan becomes a rebuild.
    /// Returns whether stored rows now belong to an earlier version.
    pub(super) fn reread(&self, old: &TableInfo, plan: &mut AlterPlan) -> SqlResult<bool> {
        let Some(sources) = plan.reread.take() else { return Ok(false) };
        let mode = self.session.type_context().sql_mode;
        let added = plan.table.columns.iter().zip(&*sources);
        // A rebuild finds out whether there is a row that would have the refused date.
        let refused = |(column, source): (&ColumnInfo, &ColumnSource)| {
            matches!(source, ColumnSource::Default) && column.refuses_zero(mode)
        };
        let able = self.instance.engine_of(old)?.capabilities().row_versions
            && !added.into_iter().any(refused);
        let stored = self.row_sources(&plan.table, &sources);
        let layout = plan.table.def.layout.clone();
        match old.def.layout.followed_by(layout, &stored).filter(|_| able) {
            Some(layout) => {
                let def = TableDef { layout, ..(*plan.table.def).clone() };
                plan.table.def = Arc::new(def);
                plan.table.statistics = None;
                Ok(true)
            }
            None => {
                plan.rebuild = Some(sources);
                plan.added_indexes = AddedIndexes::default();
                plan.dropped_indexes.clear();
                Ok(false)
            }
        }
    }

    fn row_sources(&self, table: &TableInfo, sources: &[ColumnSource]) -> Vec<RowSource> {
        let now = self.session.values.statement_start.get();
        let eval = EvalContext::new(self.session.type_context(), &*self.session, now);
        let source = |(column, source): (&ColumnInfo, &ColumnSource)| match source {
            ColumnSource::Old(at) => RowSource::Stored(*at),
            ColumnSource::Default => {
                let value = default_of_column(&eval, column);
                RowSource::Constant(value.unwrap_or_else(|| Value::zero_of(&column.ty)))
            }
        };
        table.columns.iter().zip(sources).map(source).collect()
    }
}
