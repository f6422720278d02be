//! Plans for rows that come as they are to be stored, those of rows events: what their changes
//! bring with them.
//!
//! Must not bind CHECKs: such rows have passed them.

use std::sync::Arc;

use selkie_catalog::TableInfo;
use selkie_types::SqlResult;

use super::PlanContext;
use super::dml::computed_columns;
use super::foreign::{Changes, foreign_tables};
use crate::bind::Binder;
use crate::physical::{Operator, Plan, PlanNode, RowRules, Sizes};

/// Kind of change of whole rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowsChange {
    /// Rows are inserted.
    Insert,
    /// Rows are inserted in the place of those in their way.
    Replace,
    /// Rows get new values in any column.
    Update,
    /// Rows are deleted.
    Delete,
}

/// Plan of a change of whole rows.
#[derive(Clone, Debug)]
pub struct RowsPlan {
    /// A plan that gives no rows. Its table is locked as one whose rows are changed.
    pub plan: Arc<Plan>,
    /// All generated columns.
    pub rules: RowRules,
}

/// The plan for a change of whole rows of a table. No trigger is part of it.
pub fn rows_plan(
    table: &Arc<TableInfo>,
    change: RowsChange,
    context: &PlanContext<'_>,
) -> SqlResult<RowsPlan> {
    let names = context.names();
    let mut binder = Binder::new(names, context.settings, context.types, 0);
    let generated = table.columns.iter().any(|column| column.generated.is_some());
    let rules = match generated {
        true => {
            let rules = binder.row_rules(table, &|_| true)?;
            RowRules { checks: Vec::new(), bounds: Vec::new(), ..rules }
        }
        false => RowRules::default(),
    };
    let all = || (0..table.columns.len()).collect();
    let changes = match change {
        RowsChange::Insert => Changes { inserted: true, ..Changes::default() },
        RowsChange::Replace => Changes { inserted: true, deleted: true, updated: all() },
        // A row of a versioned table that is deleted gets an end.
        RowsChange::Update => {
            Changes { deleted: table.system_time().is_some(), updated: all(), ..Changes::default() }
        }
        RowsChange::Delete => Changes { deleted: true, ..Changes::default() },
    };
    let mut plan = Plan {
        root: PlanNode::new(Operator::Empty, Vec::new(), 0.0, 0.0),
        output: Arc::new([]),
        subplans: Vec::new(),
        searches: Vec::new(),
        common_tables: Vec::new(),
        slots: 0,
        parameters: 0,
        tables: vec![Arc::clone(table)],
        variables: Default::default(),
        takes_numbers: Vec::new(),
        locks_rows: vec![Arc::clone(table)],
        result: Default::default(),
        rows_examined: None,
        foreign: foreign_tables(vec![(Arc::clone(table), changes)], context)?,
        warnings: Default::default(),
        sizes: Sizes::default(),
        uses: Default::default(),
        told: Default::default(),
        changes: Default::default(),
    };
    plan.changes.computed = computed_columns(&[table], context)?;
    Ok(RowsPlan { plan: Arc::new(plan), rules })
}
