//! ON DUPLICATE KEY UPDATE: updates the row in the way of a new one.
//!
//! Must leave counting the rows to the INSERT around it.

use std::borrow::Cow;
use std::sync::Arc;

use selkie_engine::{EngineError, RowSet, Scan};
use selkie_expr::store::Given;
use selkie_plan::physical::{DuplicateUpdate, Insert as Plan, RowRules};
use selkie_types::error::catalogue::{ER_DUP_ENTRY, ER_KEY_NOT_FOUND, ER_SUBQUERY_NO_1_ROW};
use selkie_types::{Batch, ByteRows, Column, SqlError, SqlResult, TypeKind, Value};

use super::foreign::{ForeignKeys, Rows, is_foreign};
use super::meanwhile::merged;
use super::row::RowMaker;
use super::{CHANGE, duplicate_error};
use crate::run::{Env, OpenTable};
use crate::state::around::{AssignedFrom, Triggers};
use crate::state::columns::scale_of;
use crate::state::error::{corrupt, from_engine};
use crate::state::session::bump;

/// The existing row after ON DUPLICATE KEY UPDATE.
pub(super) struct Updated {
    /// Rows as the client counts them: 2 if it changed, else 0, or 1 if rows found are counted.
    pub(super) affected: u64,
    /// It is other than before.
    pub(super) changed: bool,
    /// The row; none if it is gone, or what was to be written was refused.
    pub(super) row: Option<Vec<Arc<Column>>>,
}

enum Written {
    Changed,
    Same,
    /// By the view or a CHECK.
    Refused,
}

/// Updates the row in the way of a new one.
pub(super) struct OnDuplicate<'r> {
    pub(super) env: Env<'r>,
    pub(super) plan: &'r Plan,
    pub(super) rule: &'r DuplicateUpdate,
    pub(super) open: &'r OpenTable<'r>,
    pub(super) foreign: Option<ForeignKeys<'r>>,
    triggers: Option<Box<dyn Triggers + 'r>>,
    /// Rules for the row that is there, if they are not those of new rows.
    own_rules: Option<Box<RowRules>>,
}

impl<'r> OnDuplicate<'r> {
    pub(super) fn new(
        env: Env<'r>,
        plan: &'r Plan,
        rule: &'r DuplicateUpdate,
        open: &'r OpenTable<'r>,
        foreign: Option<ForeignKeys<'r>>,
    ) -> SqlResult<Self> {
        let triggers = env.triggers(&plan.table, "UPDATE")?;
        let own_rules = own_rules(plan, rule).map(Box::new);
        Ok(Self { env, plan, rule, open, foreign, triggers, own_rules })
    }

    fn rules(&self) -> &RowRules {
        self.own_rules.as_deref().unwrap_or(&self.plan.rules)
    }

    /// Updates the row `existing` for the new row, of columns `new`; `None` if it has gone.
    pub(super) fn update(
        &self,
        maker: &RowMaker<'_>,
        existing: &[u8],
        new: Vec<Arc<Column>>,
        source: &Batch,
    ) -> Result<Option<Updated>, Failed> {
        let Some(mut old) = fetch(self.env, self.open, existing)? else { return Ok(None) };
        maker.compute(&self.plan.rules, &mut old, 1)?;
        let count = old.len();
        let mut input = old.clone();
        input.extend(new);
        input.extend(source.columns().iter().cloned());
        let unchanged = self.rule.simultaneous.then(|| Batch::new(input.clone(), 1));
        for assignment in &self.rule.assignments {
            let at = assignment.column;
            if maker.table.columns[at].generated.is_some() {
                if let Some(e) = &assignment.value {
                    let given = e.eval(self.env.eval, &Batch::new(input.clone(), 1))?;
                    maker.judge_generated(at, &given)?;
                }
                continue;
            }
            let values = match &assignment.value {
                None => maker.assigned_default(at)?,
                Some(e) => {
                    let values = match &unchanged {
                        Some(row) => e.eval(self.env.eval, row)?,
                        None => e.eval(self.env.eval, &Batch::new(input.clone(), 1))?,
                    };
                    let typed = (&e.ty, Given::of_input(e));
                    maker.convert(at, &values, typed, self.env.eval.row())?
                }
            };
            let values = self.without_null(maker, at, values)?;
            input[at] = match self.triggers {
                Some(_) => values,
                None => maker.refuse_nulls(at, values)?,
            };
        }
        let mut row = input[..count].to_vec();
        let assigned = self.prepare(maker, &old, &mut row)?;
        let stored = self.stored(maker, existing, &old, &mut row)?;
        let written = self.write(maker, existing, &stored, (&mut row, &assigned))?;
        if let Some(triggers) = &self.triggers
            && !matches!(written, Written::Refused)
        {
            triggers.after_one(&old, &row)?;
        }
        let table = &self.plan.table;
        let assigned = self.rule.assignments.iter().map(|assignment| assignment.column);
        let makes_version = table.system_time().is_some() && table.makes_version(assigned);
        let found = u64::from(self.env.rt.session.frame.settings.dml.found_rows);
        Ok(Some(match written {
            // Compat: the row of history that a new version leaves counts too.
            Written::Changed => {
                Updated { affected: 2 + u64::from(makes_version), changed: true, row: Some(row) }
            }
            // Compat: every row counts as changed in a table that is versioned by transaction.
            Written::Same if table.is_versioned_by_transaction() => {
                Updated { affected: 2 + u64::from(makes_version), changed: true, row: Some(row) }
            }
            Written::Same => {
                // Compat: a row of a versioned table counts though it is as it was.
                let affected = found + u64::from(self.own_rules.is_some());
                Updated { affected, changed: false, row: Some(row) }
            }
            Written::Refused => Updated { affected: 0, changed: false, row: None },
        }))
    }

    /// The row as it is stored, if what triggers and functions did may have changed it. Columns of
    /// `row` that the update does not change follow it. Error 1032 if they took it away: the new
    /// row would meet it again and again where only its key has changed.
    fn stored<'o>(
        &self,
        maker: &RowMaker<'_>,
        existing: &[u8],
        old: &'o [Arc<Column>],
        row: &mut [Arc<Column>],
    ) -> SqlResult<Cow<'o, [Arc<Column>]>> {
        if !self.env.rt.is_live() {
            return Ok(Cow::Borrowed(old));
        }
        let gone = || SqlError::new(&ER_KEY_NOT_FOUND, &[&maker.table.name()]);
        let mut now = fetch(self.env, self.open, existing)?.ok_or_else(gone)?;
        let mut stored = old.to_vec();
        merged(maker.table, (&mut stored, &mut *row), &now);
        maker.compute(&self.plan.rules, &mut now, 1)?;
        maker.generate(self.rules(), row, 1, 1)?;
        Ok(Cow::Owned(now))
    }

    /// The NULL that a column is set to, as far as it has a rule of its own.
    ///
    /// Compat: in a column of generated values it is 0, with no value generated. If the new rows
    /// come from a query, it is an error in any SQL mode, or the type's zero without a warning.
    fn without_null(
        &self,
        maker: &RowMaker<'_>,
        at: usize,
        values: Arc<Column>,
    ) -> SqlResult<Arc<Column>> {
        let column = &maker.table.columns[at];
        let is_refused = !column.nullable && column.ty.kind != TypeKind::Timestamp;
        let has_rule = column.auto_increment || self.plan.is_query && is_refused;
        if !has_rule || !values.has_nulls() {
            return Ok(values);
        }
        if !column.auto_increment && !maker.strictness.ignore {
            return Err(SqlError::bad_null(&column.name));
        }
        let zero = Value::zero_of(&column.ty);
        let scale = scale_of(&column.ty);
        Ok(Arc::new(Column::constant(&zero, column.ty.physical(), scale, values.len())))
    }

    /// Runs the BEFORE triggers for a row and computes what is computed of it; the columns that
    /// the triggers assigned.
    fn prepare(
        &self,
        maker: &RowMaker<'_>,
        old: &[Arc<Column>],
        row: &mut [Arc<Column>],
    ) -> SqlResult<AssignedFrom> {
        let mut assigned = Vec::new();
        if let Some(triggers) = &self.triggers {
            if self.plan.rules.seen_by_triggers {
                maker.generate(self.rules(), row, 1, 1)?;
            }
            assigned = triggers.before(old, row, 1)?;
            for (at, column) in row.iter_mut().enumerate() {
                *column = maker.refuse_nulls(at, column.clone())?;
            }
        }
        maker.generate(self.rules(), row, 1, 1)?;
        Ok(assigned)
    }

    fn write(
        &self,
        maker: &RowMaker<'_>,
        existing: &[u8],
        old: &[Arc<Column>],
        (row, assigned): (&mut [Arc<Column>], &AssignedFrom),
    ) -> Result<Written, Failed> {
        let (mut before, mut after) = (ByteRows::default(), ByteRows::default());
        maker.encode(old, 0..1, &mut before);
        maker.encode(row, 0..1, &mut after);
        if before.get(0) == after.get(0) {
            return Ok(Written::Same);
        }
        if !self.plan.on_update_now.is_empty() {
            for &at in &self.plan.on_update_now {
                maker.set_to_now(at, row, assigned);
            }
            maker.generate(self.rules(), row, 1, 1)?;
            after.clear();
            maker.encode(row, 0..1, &mut after);
        }
        let view = maker.check_view(&Batch::new(row.to_vec(), 1));
        let refused = view.map_err(Failed::Row)?.is_some();
        let check = || maker.check(&self.plan.rules, row, 1).map_err(Failed::Row);
        if refused || check()?.is_some() {
            return Ok(Written::Refused);
        }
        let mut at = ByteRows::with_capacity(1);
        at.push(existing);
        if let Some(foreign) = &self.foreign {
            foreign.update(&Rows { keys: &at, columns: old }, row, after).map_err(|error| {
                match is_foreign(&error) || error.is(&ER_DUP_ENTRY) {
                    true => Failed::Row(error),
                    false => Failed::Statement(error),
                }
            })?;
            bump(&self.env.counters().handler_update, 1);
            return Ok(Written::Changed);
        }
        match self.open.update(self.env.rt.control, &at, &after) {
            Ok(_) => {}
            Err(EngineError::DuplicateKey { index, .. }) => {
                let zone = &self.env.eval.types.time_zone;
                let error = duplicate_error(&self.plan.table, index, &after, 0, zone);
                return Err(Failed::Row(error));
            }
            Err(EngineError::Misplaced { error, .. }) => return Err(Failed::Row(*error)),
            Err(error) => return Err(from_engine(error, &self.plan.table.def).into()),
        }
        bump(&self.env.counters().handler_update, 1);
        Ok(Written::Changed)
    }
}

/// Error of the update of a row.
pub(super) enum Failed {
    /// The row cannot be as the update would have it. IGNORE leaves it as it was.
    Row(SqlError),
    /// Any other, such as that of a trigger: it ends the statement.
    Statement(SqlError),
}

impl From<SqlError> for Failed {
    fn from(error: SqlError) -> Self {
        // Compat: IGNORE passes over this one too.
        match error.is(&ER_SUBQUERY_NO_1_ROW) {
            true => Self::Row(error),
            false => Self::Statement(error),
        }
    }
}

/// The rules for a row that is updated, if they are not those for new rows: its period begins
/// again with each new version, and only then.
///
/// Compat: in a table that is versioned by transaction every update makes a version.
fn own_rules(plan: &Plan, rule: &DuplicateUpdate) -> Option<RowRules> {
    let period = plan.table.system_time()?;
    let assigned = rule.assignments.iter().map(|assignment| assignment.column);
    let numbered = plan.table.is_versioned_by_transaction();
    let bounds = match numbered || plan.table.makes_version(assigned) {
        true => vec![period.start, period.end],
        false => Vec::new(),
    };
    Some(RowRules { bounds, is_given_period: false, ..plan.rules.clone() })
}

/// The columns of the row with a clustered key, locked to be changed.
pub(super) fn fetch(
    env: Env<'_>,
    open: &OpenTable<'_>,
    key: &[u8],
) -> SqlResult<Option<Vec<Arc<Column>>>> {
    let mut keys = ByteRows::with_capacity(1);
    keys.push(key);
    let scan = Scan { lock: CHANGE, ..Scan::default() };
    let mut set = RowSet::default();
    let table = &open.handle.table;
    let def = table.def();
    table
        .lookup(open.trx, env.rt.control, &scan, &keys, &mut set)
        .map_err(|e| from_engine(e, def))?;
    if set.rows.is_empty() {
        return Ok(None);
    }
    let decode = |at| def.layout.decode_selected(&set.rows, at, &[0]).map(Arc::new);
    let columns: Result<Vec<_>, _> = (0..def.columns.len()).map(decode).collect();
    columns.map(Some).map_err(corrupt)
}
