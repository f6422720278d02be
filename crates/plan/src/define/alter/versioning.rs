//! ADD and DROP SYSTEM VERSIONING in ALTER TABLE, and columns of the period that come and go.
//!
//! Compat: whoever drops both columns of a declared period hides them; they keep their type.

use selkie_catalog::{ColumnInfo, SystemRole};
use selkie_sql::ast::AlterAction;
use selkie_types::error::catalogue::{ER_MISSING, ER_VERS_NOT_VERSIONED};
use selkie_types::{SqlError, SqlResult};

use super::super::{create, system_time};
use super::{ColumnSource, Draft};

impl Draft<'_> {
    /// An action on a period, or on versioning as a whole.
    pub(super) fn apply_period(&mut self, action: &AlterAction) -> SqlResult<()> {
        use AlterAction as A;
        match action {
            A::AddSystemVersioning => self.force = true,
            A::DropSystemVersioning => self.drop_system_versioning(),
            A::AddPeriod { name, .. } if system_time::is_period(name) => {}
            A::DropPeriod { name, .. } if system_time::is_period(name) => {}
            _ => return Err(SqlError::not_supported("periods")),
        }
        Ok(())
    }

    /// Takes the hidden columns of the period away, and its end from the keys.
    fn drop_system_versioning(&mut self) {
        self.force = true;
        self.columns.retain(|(column, _)| !column.is_hidden());
        for (column, _) in &mut self.columns {
            if column.system == SystemRole::Unversioned {
                column.system = SystemRole::Plain;
            }
        }
        self.drop_key_parts();
    }

    /// Takes the end of the period from the keys that have it because they are unique.
    fn drop_key_parts(&mut self) {
        let old = self.old;
        for key in &mut self.keys {
            let index = key.def.clone();
            let added = |at: &usize| system_time::is_added_part(old, &index, &index.parts[*at]);
            let Some(at) = (0..index.parts.len()).find(added) else { continue };
            key.def.parts.remove(at);
            key.columns.remove(at);
        }
    }

    /// Completes the columns of the period under the final columns.
    pub(super) fn settle_versioning(
        &mut self,
        columns: &mut Vec<ColumnInfo>,
        sources: &mut Vec<ColumnSource>,
    ) -> SqlResult<()> {
        let was = self.old.system_time();
        let drops = was.is_some() && !columns.iter().any(|c| c.is_hidden());
        let bounds = columns.iter().filter(|c| c.system.is_bound()).count();
        if let Some(was) = was.filter(|was| drops && !self.old.columns[was.end].is_hidden()) {
            let all = [was.start, was.end];
            let left = all.into_iter().find(|at| sources.contains(&ColumnSource::Old(*at)));
            let dropped = all.iter().any(|at| !sources.contains(&ColumnSource::Old(*at)));
            let drops_period = self.versioning.drops_period;
            if let Some(left) = left.filter(|_| dropped || self.versioning.dropped || drops_period)
            {
                let drop = |at: usize| format!("DROP COLUMN `{}`", self.old.columns[at].name);
                let missing = match drops_period && !dropped && !self.versioning.dropped {
                    true => all.map(drop).join(", "),
                    false => drop(left),
                };
                return Err(SqlError::new(&ER_MISSING, &[&self.old.name(), &missing]));
            }
            if left.is_some() {
                return self.check_versioned(columns);
            }
            if !self.versioning.dropped {
                let ty = self.old.columns[was.end].ty.clone();
                columns.extend(system_time::hidden_columns_of(ty));
                sources.extend(all.map(ColumnSource::Old));
                return self.check_versioned(columns);
            }
            self.plain_again(columns);
            return create::check_columns(columns);
        }
        if was.is_some() && !drops {
            return self.check_versioned(columns);
        }
        if was.is_some() {
            self.plain_again(columns);
            return create::check_columns(columns);
        }
        if !self.versioning.versioned {
            if bounds > 0 || self.versioning.period.is_some() {
                return Err(SqlError::new(&ER_VERS_NOT_VERSIONED, &[&self.old.name()]));
            }
            self.plain_again(columns);
            return Ok(());
        }
        if bounds == 0 && self.versioning.period.is_none() {
            columns.extend(system_time::hidden_columns());
            sources.extend([ColumnSource::Default; 2]);
            create::check_columns(columns)?;
        }
        let of = (self.old.schema(), self.old.name(), self.table.engine);
        system_time::check(self.context, &self.versioning, columns, of)
    }

    /// A table that stays versioned keeps its period and its engine.
    fn check_versioned(&self, columns: &[ColumnInfo]) -> SqlResult<()> {
        system_time::check_kept(self.old, self.table.engine, columns)?;
        create::check_columns(columns)
    }

    fn plain_again(&self, columns: &mut [ColumnInfo]) {
        columns.iter_mut().for_each(|column| column.system = SystemRole::Plain);
    }
}
