//! A prepared statement run in bulk: for many rows of parameters at once.
//!
//! An INSERT of values is planned once and takes the values of all rows; UPDATE and DELETE run once
//! for each row. Compat: other statements cannot run in bulk. A row may have DEFAULT or IGNORE for
//! a placeholder that is the whole value of a column.

use std::mem::discriminant;
use std::sync::Arc;

use hashbrown::HashMap;
use selkie_sql::ast::{DeleteTarget, Expr, ExprKind, Insert, InsertSource, Statement, Update};
use selkie_types::error::catalogue::{
    ER_INVALID_DEFAULT_PARAM, ER_UNSUPPORTED_PS, ER_WRONG_ARGUMENTS,
};
use selkie_types::{SqlError, SqlResult, SqlType, Value};

pub use crate::state::bulk::Argument;

use crate::query::bulk::{common_type, types_of};
use crate::query::running::Running;
use crate::state::bulk::{BulkRows, BulkShape, ParameterRows, Pattern};
use crate::state::prepared::Prepared;
use crate::statement::prepared::execute_prepared;
use crate::{Instance, Outcome, ResultSink, Session, Told, statement};

/// A prepared statement with many rows of parameters.
#[derive(Debug)]
pub struct Bulk<'p> {
    prepared: &'p Prepared,
    rows: Vec<Vec<Argument>>,
    /// Number of each row's pattern: which parameters are values, DEFAULT or IGNORE.
    patterns: Vec<u32>,
    work: Work,
}

/// Statements to run.
#[derive(Debug)]
enum Work {
    /// One INSERT, with the types of each parameter's values.
    Insert(Arc<Prepared>, Vec<Vec<SqlType>>),
    /// One statement for each pattern; it runs once for each row of that pattern.
    Each(Vec<Step>),
}

/// Statement for the rows of one pattern.
#[derive(Debug)]
enum Step {
    /// All arguments are values: the prepared statement itself runs.
    Prepared,
    /// Some arguments are DEFAULT or IGNORE: a changed statement runs.
    StoodIn(Box<Prepared>),
    /// All assignments are ignored: nothing runs.
    Nothing,
}

impl<'p> Bulk<'p> {
    /// Prepares a run of `prepared` over `rows`.
    pub fn new(prepared: &'p Prepared, rows: Vec<Vec<Argument>>) -> SqlResult<Self> {
        let unsupported = || Err(SqlError::new(&ER_UNSUPPORTED_PS, &[]));
        if prepared.parameters == 0 {
            return unsupported();
        }
        if rows.is_empty() {
            return Err(SqlError::new(&ER_WRONG_ARGUMENTS, &[&"mysqld_stmt_bulk_execute"]));
        }
        let (first, patterns) = patterns_of(&rows);
        let examples: Vec<&[Argument]> = first.iter().map(|row| &rows[*row][..]).collect();
        let work = match &prepared.statement {
            Statement::Insert(insert) if !matches!(insert.source, InsertSource::Query(_)) => {
                let types = (0..prepared.parameters).map(|at| types_of(&rows, at));
                let types: Vec<Vec<SqlType>> = types.collect();
                Work::Insert(insert_of(prepared, insert, &examples, &types)?, types)
            }
            Statement::Update(_) => Work::Each(each(prepared, &examples)?),
            Statement::Delete(delete)
                if matches!(delete.target, DeleteTarget::Single(_))
                    && delete.returning.is_empty() =>
            {
                Work::Each(each(prepared, &examples)?)
            }
            _ => return unsupported(),
        };
        Ok(Self { prepared, rows, patterns, work })
    }

    /// Runs the statements; `again` is called before each one but the first.
    pub fn run(
        self,
        instance: &Instance,
        session: &mut Session,
        sink: &mut dyn ResultSink,
        again: &mut dyn FnMut(),
    ) -> SqlResult<Outcome> {
        let Self { prepared, rows, patterns, work } = self;
        match work {
            Work::Insert(insert, types) => {
                let types = types.iter().map(|types| (Value::Null, common_type(types, session)));
                let types: Vec<(Value, SqlType)> = types.collect();
                let rows = BulkRows { rows: &rows, patterns: &patterns };
                let running = Running {
                    prepared: Some(&insert),
                    bulk: Some(ParameterRows::Listed(rows)),
                    ..Running::new(&prepared.text, &types)
                };
                statement::execute(instance, session, &insert.statement, running, sink)
            }
            Work::Each(statements) => {
                let mut sum = Sum::default();
                for (row, pattern) in rows.into_iter().zip(patterns) {
                    let statement = match &statements[pattern as usize] {
                        Step::Prepared => prepared,
                        Step::StoodIn(statement) => statement,
                        Step::Nothing => continue,
                    };
                    if sum.statements > 0 {
                        again();
                    }
                    session.diagnostics.begin_statement();
                    let values: Vec<_> = row.into_iter().map(Argument::into_value).collect();
                    sum.add(execute_prepared(instance, session, (statement, None), &values, sink)?);
                }
                Ok(sum.outcome(&prepared.statement))
            }
        }
    }
}

/// Position of the first row of each pattern, and the pattern number of each row.
fn patterns_of(rows: &[Vec<Argument>]) -> (Vec<usize>, Vec<u32>) {
    let mut known: HashMap<Pattern, u32> = HashMap::new();
    let (mut first, mut patterns) = (Vec::new(), Vec::with_capacity(rows.len()));
    for (at, row) in rows.iter().enumerate() {
        let pattern = match patterns.last() {
            Some(last) if is_alike(&rows[at - 1], row) => *last,
            _ => *known.entry(pattern_of(row)).or_insert_with(|| {
                first.push(at);
                first.len() as u32 - 1
            }),
        };
        patterns.push(pattern);
    }
    (first, patterns)
}

fn pattern_of(row: &[Argument]) -> Pattern {
    row.iter().map(discriminant).collect()
}

/// Whether two rows have the same pattern.
fn is_alike(a: &[Argument], b: &[Argument]) -> bool {
    a.iter().zip(b).all(|(a, b)| discriminant(a) == discriminant(b))
}

/// The INSERT for rows with the patterns of `examples` and values of `types`. The INSERT made last
/// is reused if its shape is the same.
fn insert_of(
    prepared: &Prepared,
    insert: &Insert,
    examples: &[&[Argument]],
    types: &[Vec<SqlType>],
) -> SqlResult<Arc<Prepared>> {
    let shape = BulkShape {
        patterns: examples.iter().map(|row| pattern_of(row)).collect(),
        height: values_of(insert).len(),
        by_row: has_own_placeholders(insert, prepared.parameters),
        mixed: types.iter().map(|types| types.len() > 1).collect(),
    };
    let mut kept = prepared.bulk.lock();
    if let Some(made) = kept.as_ref().filter(|made| made.shape.as_ref() == Some(&shape)) {
        return Ok(Arc::clone(made));
    }
    let statement = Statement::Insert(Box::new(inserting(insert, examples.iter().copied())?));
    let (text, count) = (prepared.text.clone(), prepared.parameters);
    let made = Arc::new(Prepared::of_shape(statement, text, count, shape));
    *kept = Some(Arc::clone(&made));
    Ok(made)
}

/// The step for the pattern of each of `rows`.
fn each(prepared: &Prepared, rows: &[&[Argument]]) -> SqlResult<Vec<Step>> {
    let step = |row: &&[Argument]| match row.iter().all(Argument::is_value) {
        true => Ok(Step::Prepared),
        false => stood_in(prepared, row).map(|made| match made {
            Some(made) => Step::StoodIn(Box::new(made)),
            None => Step::Nothing,
        }),
    };
    rows.iter().map(step).collect()
}

/// `prepared` changed for a row with DEFAULT or IGNORE; `None` if nothing is left to do.
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

/// Whether placeholders occur outside the values, or inside subqueries of the values.
fn has_own_placeholders(insert: &Insert, parameters: usize) -> bool {
    let cells = values_of(insert);
    let mut count = 0;
    let asks = cells.iter().flatten().any(|cell| {
        let before = count;
        // `find` does not enter subqueries.
        cell.find(&mut |e| {
            count += usize::from(matches!(e.kind, ExprKind::Param(_)));
            None::<()>
        });
        count > before && cell.has_subquery()
    });
    asks || count < parameters
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

/// The INSERT with its list of values repeated for each of `rows`.
fn inserting<'a>(
    insert: &Insert,
    rows: impl IntoIterator<Item = &'a [Argument]>,
) -> SqlResult<Insert> {
    let template = values_of(insert);
    let mut values = Vec::new();
    for row in rows {
        let stand_ins = template.iter().flatten().filter(|cell| stands_in(cell, row));
        if stand_ins.count() < row.iter().filter(|a| !a.is_value()).count() {
            return Err(misplaced());
        }
        let lines = template.iter().map(|cells| cells.iter().map(|cell| filled(cell, row)));
        values.extend(lines.map(Iterator::collect));
    }
    let columns = match &insert.source {
        InsertSource::Set(assignments) => {
            Some(assignments.iter().map(|a| a.column.clone()).collect())
        }
        _ => insert.columns.clone(),
    };
    Ok(Insert { columns, source: InsertSource::Values(values), ..insert.clone() })
}

/// Whether an expression is a placeholder whose argument is DEFAULT or IGNORE.
fn stands_in(e: &Expr, row: &[Argument]) -> bool {
    matches!(e.kind, ExprKind::Param(number) if !row[number as usize].is_value())
}

/// `cell` for rows with the pattern of `row`: DEFAULT in place of such a placeholder.
fn filled(cell: &Expr, row: &[Argument]) -> Expr {
    let mut cell = cell.clone();
    if stands_in(&cell, row) {
        cell.kind = ExprKind::Default(None);
    }
    cell
}

/// The UPDATE without ignored assignments; `None` if none is left.
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

/// Sum of the outcomes of several statements, reported as one outcome.
#[derive(Debug, Default)]
struct Sum {
    statements: usize,
    outcome: Outcome,
}

impl Sum {
    fn add(&mut self, next: Outcome) {
        self.statements += 1;
        if self.statements == 1 {
            self.outcome = next;
            return;
        }
        let all = &mut self.outcome;
        all.affected += next.affected;
        all.counts += next.counts;
        if all.insert_id == 0 {
            all.insert_id = next.insert_id;
        }
        if next.told != Told::Nothing {
            all.told = next.told;
        }
    }

    fn outcome(self, statement: &Statement) -> Outcome {
        let Self { statements, mut outcome } = self;
        match statements {
            0 if matches!(statement, Statement::Update(_)) => outcome.told = Told::Updated,
            0 | 1 => {}
            // Compat: after several statements, only changed rows count as found.
            _ => outcome.counts.records = outcome.counts.changed,
        }
        outcome
    }
}
