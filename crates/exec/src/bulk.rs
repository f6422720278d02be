//! A prepared statement run for many rows of parameters at once.
//!
//! An INSERT of values becomes one INSERT of as many rows; UPDATE and DELETE are run once for each row. Compat: nothing
//! else can be run so. In a row DEFAULT and IGNORE may stand where a placeholder is all that is stored.

use std::sync::Arc;

use selkie_sql::ast::{
    DeleteTarget, Expr, ExprKind, Insert, InsertSource, SelectItem, Statement, Update,
};
use selkie_types::error::catalogue::{
    ER_INVALID_DEFAULT_PARAM, ER_UNSUPPORTED_PS, ER_WRONG_ARGUMENTS,
};
use selkie_types::{SqlError, SqlResult, SqlType, Value};

use crate::state::prepared::Prepared;
use crate::{Outcome, Told};

/// What stands for a placeholder.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A value.
    Value(Value, SqlType),
    /// The column's default.
    Default,
    /// What the column has; its default in a new row.
    Ignore,
}

impl Argument {
    pub(crate) fn is_value(&self) -> bool {
        matches!(self, Self::Value(..))
    }

    pub(crate) fn into_value(self) -> (Value, SqlType) {
        match self {
            Self::Value(value, ty) => (value, ty),
            Self::Default | Self::Ignore => (Value::Null, SqlType::null()),
        }
    }
}

/// A statement and its parameters.
#[derive(Debug)]
pub struct Step {
    /// The statement.
    pub statement: Arc<Prepared>,
    /// Its parameters.
    pub values: Vec<(Value, SqlType)>,
    /// Rows of the steps before: warnings count from there.
    pub before: u64,
}

/// What is to be run.
#[derive(Debug)]
pub struct Steps {
    /// In this order.
    pub steps: Vec<Step>,
    /// An error in one undoes those before it.
    pub together: bool,
}

/// What running `prepared` for `rows` comes to.
pub fn steps_of(prepared: &Arc<Prepared>, rows: Vec<Vec<Argument>>) -> SqlResult<Steps> {
    let unsupported = || Err(SqlError::new(&ER_UNSUPPORTED_PS, &[]));
    if prepared.parameters == 0 {
        return unsupported();
    }
    if rows.is_empty() {
        return Err(SqlError::new(&ER_WRONG_ARGUMENTS, &[&"mysqld_stmt_bulk_execute"]));
    }
    match &prepared.statement {
        Statement::Insert(insert) => match &insert.source {
            InsertSource::Query(_) => unsupported(),
            _ if has_own_placeholders(insert) && !insert.returning.is_empty() => unsupported(),
            _ if has_own_placeholders(insert) => {
                Ok(Steps { steps: one_by_one(prepared, rows)?, together: true })
            }
            _ => at_once(prepared, insert, rows),
        },
        Statement::Update(_) => {
            let steps = one_by_one(prepared, rows)?;
            Ok(Steps { steps, together: false })
        }
        Statement::Delete(delete)
            if matches!(delete.target, DeleteTarget::Single(_)) && delete.returning.is_empty() =>
        {
            let steps = one_by_one(prepared, rows)?;
            Ok(Steps { steps, together: false })
        }
        _ => unsupported(),
    }
}

/// `prepared` for a row that has other things than values; `None` if nothing is left to do.
pub(crate) fn stood_in(prepared: &Prepared, row: &[Argument]) -> SqlResult<Option<Prepared>> {
    let statement = match &prepared.statement {
        Statement::Insert(insert) if !matches!(insert.source, InsertSource::Query(_)) => {
            Some(Statement::Insert(Box::new(inserting(insert, [row])?)))
        }
        Statement::Update(update) => updating(update, row)?,
        _ => return Err(misplaced()),
    };
    let count = prepared.parameters;
    Ok(statement.map(|made| Prepared::unplanned(made, prepared.text.clone(), count)))
}

fn misplaced() -> SqlError {
    SqlError::new(&ER_INVALID_DEFAULT_PARAM, &[])
}

/// Whether there are placeholders behind the values of an INSERT, which then cannot be put together with others.
fn has_own_placeholders(insert: &Insert) -> bool {
    let updated = insert.on_duplicate.iter().map(|a| &a.value);
    let returned = insert.returning.iter().filter_map(|item| match item {
        SelectItem::Expr { expr, .. } => Some(expr),
        _ => None,
    });
    let in_query = |e: &Expr| e.has_subquery();
    let values = values_of(insert);
    updated.chain(returned).any(|e| in_query(e) || has_placeholder(e))
        || values.iter().flatten().any(in_query)
}

fn has_placeholder(e: &Expr) -> bool {
    e.find(&mut |e| matches!(e.kind, ExprKind::Param(_)).then_some(())).is_some()
}

fn values_of(insert: &Insert) -> Vec<Vec<Expr>> {
    match &insert.source {
        InsertSource::Values(rows) => rows.clone(),
        InsertSource::Set(assignments) => {
            vec![assignments.iter().map(|a| a.value.clone()).collect()]
        }
        InsertSource::Query(_) => Vec::new(),
    }
}

/// One INSERT of all rows, or several if they are so many that their plan would take much memory.
fn at_once(prepared: &Prepared, insert: &Insert, rows: Vec<Vec<Argument>>) -> SqlResult<Steps> {
    const MANY: usize = 4096;
    // Several would give several results.
    let most = if insert.returning.is_empty() { MANY } else { rows.len() };
    let mut steps: Vec<Step> = Vec::new();
    let mut last: (Vec<bool>, Option<Arc<Prepared>>) = (Vec::new(), None);
    let (together, mut rows, mut before) = (rows.len() > most, rows.into_iter(), 0);
    while rows.len() > 0 {
        let part: Vec<Vec<Argument>> = rows.by_ref().take(most).collect();
        let are_values: Vec<bool> = part.iter().flatten().map(Argument::is_value).collect();
        if last.0 != are_values || last.1.is_none() {
            let statement = inserting(insert, part.iter().map(Vec::as_slice))?;
            let (statement, count) = (Statement::Insert(Box::new(statement)), are_values.len());
            let made = Prepared::unplanned(statement, prepared.text.clone(), count);
            let made = if together { made.with_any_length() } else { made };
            last = (are_values, Some(Arc::new(made)));
        }
        let count = part.len() as u64;
        let values = part.into_iter().flatten().map(Argument::into_value).collect();
        steps.extend(last.1.clone().map(|statement| Step { statement, values, before }));
        before += count;
    }
    Ok(Steps { steps, together })
}

/// The INSERT with its values once for each row; placeholders are numbered on.
fn inserting<'a>(
    insert: &Insert,
    rows: impl IntoIterator<Item = &'a [Argument]>,
) -> SqlResult<Insert> {
    let template = values_of(insert);
    let (mut values, mut first) = (Vec::new(), 0);
    for row in rows {
        let stand_ins = template.iter().flatten().filter(|cell| stands_in(cell, row));
        if stand_ins.count() < row.iter().filter(|a| !a.is_value()).count() {
            return Err(misplaced());
        }
        for cells in &template {
            let fill = |cell: &Expr| filled(cell.clone(), row, first);
            values.push(cells.iter().map(fill).collect());
        }
        first += row.len() as u32;
    }
    let columns = match &insert.source {
        InsertSource::Set(assignments) => {
            Some(assignments.iter().map(|a| a.column.clone()).collect())
        }
        _ => insert.columns.clone(),
    };
    Ok(Insert { columns, source: InsertSource::Values(values), ..insert.clone() })
}

/// Whether an expression is a placeholder of something else than a value.
fn stands_in(e: &Expr, row: &[Argument]) -> bool {
    matches!(e.kind, ExprKind::Param(number) if !row[number as usize].is_value())
}

/// A stored expression for one row, whose parameters begin at `first`.
fn filled(mut cell: Expr, row: &[Argument], first: u32) -> Expr {
    if stands_in(&cell, row) {
        cell.kind = ExprKind::Default(None);
    }
    renumber(&mut cell, first);
    cell
}

fn renumber(e: &mut Expr, first: u32) {
    if let ExprKind::Param(number) = &mut e.kind {
        *number += first;
    }
    e.operands_mut().into_iter().for_each(|e| renumber(e, first));
}

/// A step for each row that leaves anything to do.
fn one_by_one(prepared: &Arc<Prepared>, rows: Vec<Vec<Argument>>) -> SqlResult<Vec<Step>> {
    // Rows often have their defaults in the same places.
    let mut last: Option<(Vec<Argument>, Option<Arc<Prepared>>)> = None;
    let mut steps = Vec::with_capacity(rows.len());
    for row in rows {
        let statement = match row.iter().all(Argument::is_value) {
            true => Some(prepared.clone()),
            false => match &last {
                Some((alike, made)) if is_alike(alike, &row) => made.clone(),
                _ => {
                    let made = stood_in(prepared, &row)?.map(Arc::new);
                    last = Some((row.clone(), made.clone()));
                    made
                }
            },
        };
        let values = row.into_iter().map(Argument::into_value).collect();
        steps.extend(statement.map(|statement| Step { statement, values, before: 0 }));
    }
    Ok(steps)
}

/// Whether two rows have the same things but values in the same places.
fn is_alike(a: &[Argument], b: &[Argument]) -> bool {
    use std::mem::discriminant;
    a.iter().zip(b).all(|(a, b)| discriminant(a) == discriminant(b))
}

/// The UPDATE without what is ignored; `None` if nothing is left.
fn updating(update: &Update, row: &[Argument]) -> SqlResult<Option<Statement>> {
    let mut update = update.clone();
    let is_ignored = |e: &Expr| match e.kind {
        ExprKind::Param(number) => row[number as usize] == Argument::Ignore,
        _ => false,
    };
    let stand_ins = update.assignments.iter().filter(|a| stands_in(&a.value, row)).count();
    if stand_ins < row.iter().filter(|a| !a.is_value()).count() {
        return Err(misplaced());
    }
    update.assignments.retain(|a| !is_ignored(&a.value));
    for assignment in &mut update.assignments {
        if stands_in(&assignment.value, row) {
            assignment.value.kind = ExprKind::Default(None);
        }
    }
    Ok((!update.assignments.is_empty()).then(|| Statement::Update(Box::new(update))))
}

/// What the steps did, as one statement would have said it.
#[derive(Debug, Default)]
pub struct Sum(Outcome);

impl Sum {
    /// Adds what one step did.
    pub fn add(&mut self, step: Outcome) {
        self.0.counts += step.counts;
        self.0.affected += step.affected;
        if self.0.insert_id == 0 {
            self.0.insert_id = step.insert_id;
        }
        if step.told != Told::Nothing {
            self.0.told = step.told;
        }
    }

    /// The whole, of a statement like `statement`.
    pub fn outcome(mut self, statement: &Statement) -> Outcome {
        match statement {
            Statement::Insert(_) => self.0.told = Told::Inserted,
            // Compat: only rows that were changed count as found.
            Statement::Update(_) => self.0.counts.records = self.0.counts.changed,
            _ => {}
        }
        self.0
    }
}
