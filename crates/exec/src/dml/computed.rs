//! INSERT, UPDATE and DELETE of computed tables, such as `performance_schema.setup_actors`: the
//! server makes the changes, row by row. A row that it has changed stays changed when a later one
//! fails.
//!
//! Must not know what the tables mean.

use std::sync::Arc;

use selkie_catalog::TableInfo;
use selkie_expr::text::display;
use selkie_plan::physical::{
    Delete, Insert, InsertMode, InsertValue, Operator as Op, Plan, Update,
};
use selkie_types::error::catalogue::{ER_DUP_KEY, ER_NO_REFERENCED_ROW_2};
use selkie_types::{Batch, Column, Condition, Level, SqlError, SqlResult, Value};

use super::insert::{is_single_row, softens};
use super::row::{RowMaker, Strictness};
use super::update::is_sorted;
use super::{Returning, send_returned};
use crate::op::{open as open_node, open_limited};
use crate::run::Env;
use crate::state::columns::column_of;
use crate::state::computed::{Change, Texts};
use crate::{Outcome, RowCounts, Told};

/// Runs a plan that changes the rows of a computed table.
pub(super) fn run(env: Env<'_>, plan: &Plan, returning: Returning<'_>) -> SqlResult<Outcome> {
    match &plan.root.operator {
        Op::Insert(plan) => insert(env, plan, returning),
        Op::Update(plan) => update(env, plan),
        Op::Delete(plan) => delete(env, plan, returning),
        _ => Err(SqlError::internal("the plan changes no rows")),
    }
}

fn maker<'r>(env: Env<'r>, table: &'r TableInfo, strictness: Strictness) -> RowMaker<'r> {
    RowMaker {
        env,
        table,
        strictness,
        pardons: true,
        view: None,
        told: Default::default(),
        file_columns: None,
        without_field: Default::default(),
    }
}

/// The texts of a row.
fn texts(table: &TableInfo, row: &[Arc<Column>]) -> Texts {
    let text = |(column, info): (&Arc<Column>, &selkie_catalog::ColumnInfo)| {
        let value = column.value(0);
        (!value.is_null()).then(|| display(&value, &info.ty))
    };
    row.iter().zip(&table.columns).map(text).collect()
}

/// A table that a statement changes.
struct Changed<'a> {
    env: Env<'a>,
    table: &'a TableInfo,
    /// The statement has IGNORE.
    ignores: bool,
}

impl Changed<'_> {
    /// Makes a change; whether it was made. Under IGNORE a row in the way of another, or with
    /// values that are none, is left as it is.
    fn make(&self, change: Change) -> SqlResult<bool> {
        let session = self.env.rt.session;
        match session.frame.hooks.change_computed(session, self.table.name(), change) {
            Ok(()) => Ok(true),
            Err(error) if self.ignores && error.code() == ER_DUP_KEY.code => {
                self.env.eval.push(Condition::from_error(Level::Warning, &error));
                Ok(false)
            }
            Err(error) if self.ignores && error.code() == ER_NO_REFERENCED_ROW_2.code => Ok(false),
            Err(error) => Err(error),
        }
    }
}

fn insert(env: Env<'_>, plan: &Insert, returning: Returning<'_>) -> SqlResult<Outcome> {
    let ignore = plan.mode == InsertMode::Ignore;
    let single = !plan.is_query && is_single_row(env, plan);
    let strictness = Strictness::of(env, ignore, single);
    env.eval.set_strict_arithmetic(strictness.is_strict());
    let mut maker = maker(env, &plan.table, strictness);
    let mut source = open_limited(env, &plan.source)?;
    let target = Changed { env, table: &plan.table, ignores: ignore };
    let (mut records, mut affected) = (0, 0);
    while let Some(batch) = source.next()? {
        for row in 0..batch.rows() as u32 {
            env.check()?;
            records += 1;
            env.eval.set_row(records);
            if affected > 0 && softens(env, &plan.table) {
                maker.strictness = Strictness::after_rows(maker.strictness);
                env.eval.set_strict_arithmetic(false);
            }
            let columns = new_row(&maker, plan, &batch.gather(&[row]), records)?;
            maker.refuse_warnings(0)?;
            let change = Change::Insert(texts(&plan.table, &columns));
            if target.make(change)? {
                affected += 1;
                send_returned(env, &plan.returning, &Batch::new(columns, 1), returning)?;
            }
        }
    }
    let warnings = env.eval.conditions.borrow().count();
    let duplicates = records - affected;
    let counts = RowCounts { records, duplicates, warnings, ..RowCounts::default() };
    let told = if single { Told::Nothing } else { Told::Inserted };
    Ok(Outcome { affected, counts, told, ..Outcome::default() })
}

/// The columns of the only new row of `source`.
fn new_row(
    maker: &RowMaker<'_>,
    plan: &Insert,
    source: &Batch,
    number: u64,
) -> SqlResult<Vec<Arc<Column>>> {
    let mut columns = Vec::with_capacity(plan.values.len());
    for (at, value) in plan.values.iter().enumerate() {
        columns.push(match value {
            InsertValue::Source(from, given) => {
                let typed = (&plan.source.columns[*from].ty, *given);
                let values = maker.convert(at, source.column(*from), typed, number)?;
                settled(maker, plan, (at, values), source)?
            }
            InsertValue::Default => maker.default(at, 1)?,
            _ => maker.placeholder(at, 1),
        });
    }
    for own in &plan.own {
        let so_far = (0..columns.len()).map(|at| match own.before.contains(&at) {
            true => columns[at].clone(),
            false => maker.initial(at, 1),
        });
        let row = Batch::new(so_far.collect(), 1);
        let Value::Int(place) = source.column(own.number).value(0) else { continue };
        let e = &own.values[place as usize];
        let values = e.eval(maker.env.eval, &row)?;
        let values = maker.convert(own.column, &values, e, number)?;
        columns[own.column] = settled(maker, plan, (own.column, values), source)?;
    }
    Ok(columns)
}

/// A value of a new row: the default if the statement says so, no NULL if the column has none.
fn settled(
    maker: &RowMaker<'_>,
    plan: &Insert,
    (at, values): (usize, Arc<Column>),
    source: &Batch,
) -> SqlResult<Arc<Column>> {
    let flag = plan.default_flags.get(at).copied().flatten();
    if flag.is_some_and(|flag| source.column(flag).value(0) == Value::Int(1)) {
        let mut column = column_of(&plan.table.columns[at].ty, 1);
        column.push(&maker.explicit_default(at)?);
        return Ok(Arc::new(column));
    }
    maker.refuse_nulls(at, values)
}

fn update(env: Env<'_>, plan: &Update) -> SqlResult<Outcome> {
    let Some(target) = plan.targets.first() else { return Ok(Outcome::ok()) };
    let maker = maker(env, &target.table, Strictness::of(env, plan.ignore, false));
    env.eval.set_strict_arithmetic(maker.strictness.is_strict());
    // Compat: conditions give a row its number among those read, or among those sorted.
    let sorted = is_sorted(&plan.source);
    let mut source = open_node(env, &plan.source)?;
    let table = Changed { env, table: &target.table, ignores: plan.ignore };
    let (mut records, mut changed) = (0, 0);
    while let Some(batch) = source.next()? {
        for row in 0..batch.rows() as u32 {
            env.check()?;
            records += 1;
            let one = batch.gather(&[row]);
            let number = if sorted { records } else { number_of(one.column(target.key)) };
            env.eval.set_row(number);
            let old = texts(&target.table, &one.columns()[target.columns.clone()]);
            let mut columns = one.columns().to_vec();
            for assignment in &target.assignments {
                let at = assignment.column;
                let values = match &assignment.value {
                    None => maker.default(at, 1)?,
                    Some(e) => {
                        let current = if plan.simultaneous { one.columns() } else { &columns[..] };
                        let values = e.eval(env.eval, &Batch::new(current.to_vec(), 1))?;
                        maker.convert(at, &values, e, number)?
                    }
                };
                columns[target.columns.start + at] = maker.refuse_nulls(at, values)?;
            }
            maker.refuse_warnings(0)?;
            let new = texts(&target.table, &columns[target.columns.clone()]);
            if old == new {
                continue;
            }
            let assigned = target.assignments.iter().map(|assigned| assigned.column).collect();
            let change = Change::Update { old, new, assigned };
            changed += u64::from(table.make(change)?);
        }
    }
    let warnings = env.eval.conditions.borrow().count();
    let counts = RowCounts { records, changed, warnings, ..RowCounts::default() };
    let found = env.rt.session.frame.settings.dml.found_rows;
    let affected = if found { records } else { changed };
    Ok(Outcome { affected, counts, told: Told::Updated, ..Outcome::default() })
}

/// The number that a scan gave a row.
fn number_of(keys: &Column) -> u64 {
    match keys.value(0) {
        Value::Bytes(key) => key[..].try_into().map_or(0, u64::from_be_bytes),
        _ => 0,
    }
}

fn delete(env: Env<'_>, plan: &Delete, returning: Returning<'_>) -> SqlResult<Outcome> {
    let Some(target) = plan.targets.first() else { return Ok(Outcome::ok()) };
    let columns = target.columns.clone().unwrap_or_default();
    let mut source = open_node(env, &plan.source)?;
    let table = Changed { env, table: &target.table, ignores: plan.ignore };
    let mut deleted = 0;
    while let Some(batch) = source.next()? {
        for row in 0..batch.rows() as u32 {
            env.check()?;
            let one = batch.gather(&[row]);
            let old = &one.columns()[columns.clone()];
            send_returned(env, &plan.returning, &Batch::new(old.to_vec(), 1), returning)?;
            let change = Change::Delete(texts(&target.table, old));
            deleted += u64::from(table.make(change)?);
        }
    }
    Ok(Outcome::changed(deleted))
}
