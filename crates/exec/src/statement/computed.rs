//! UPDATE, INSERT, DELETE and TRUNCATE of the tables of `performance_schema` that allow it.
//!
//! The rows that a statement means are found by a query over the computed table; the server makes
//! the change. Must not know what the tables mean.

use std::sync::Arc;

use selkie_catalog::TableInfo;
use selkie_expr::text::display;
use selkie_plan::physical::OutputColumn;
use selkie_sql::ast::{
    ColumnRef, Delete, DeleteTarget, Expr, ExprKind, Ident, Insert, InsertSource, Limit, OrderItem,
    Query, QueryBody, Select, SelectItem, SelectOptions, Span, Statement, TableName, TableRef,
    Update,
};
use selkie_types::error::catalogue::{
    ER_BAD_NULL_ERROR, ER_DATA_TOO_LONG, ER_WRONG_VALUE_COUNT_ON_ROW,
};
use selkie_types::{Batch, Privileges, SqlError, SqlResult, SqlType};

use crate::query::execution::Execution;
use crate::state::computed::{Change, Texts};
use crate::{Outcome, ResultSink, RowCounts, Session, Told, query};

const SCHEMA: &str = "performance_schema";

/// Changes other than TRUNCATE that a table allows.
fn allowed(table: &str) -> Privileges {
    match table {
        "setup_actors" | "setup_objects" => {
            Privileges::INSERT | Privileges::UPDATE | Privileges::DELETE
        }
        "setup_consumers" | "setup_instruments" | "setup_timers" | "threads" => Privileges::UPDATE,
        _ => Privileges::NONE,
    }
}

/// Values of columns that an INSERT leaves out.
fn defaults(table: &str) -> [&'static str; 5] {
    match table {
        "setup_objects" => ["TABLE", "%", "%", "YES", "YES"],
        _ => ["%", "%", "%", "YES", "YES"],
    }
}

/// The table that a statement changes, and the privilege it needs.
fn target(statement: &Statement) -> Option<(&TableName, Privileges)> {
    match statement {
        Statement::Update(update) => match &update.tables[..] {
            [TableRef::Table(table)] => Some((&table.name, Privileges::UPDATE)),
            _ => None,
        },
        Statement::Delete(delete) => match &delete.target {
            DeleteTarget::Single(table) => Some((&table.name, Privileges::DELETE)),
            DeleteTarget::Multi { .. } => None,
        },
        Statement::Insert(insert) if !insert.replace && insert.on_duplicate.is_empty() => {
            Some((&insert.table, Privileges::INSERT))
        }
        Statement::Truncate { table, .. } => Some((table, Privileges::DROP)),
        _ => None,
    }
}

/// Whether a statement is a change that this file makes.
pub(super) fn is_change(session: &Session, statement: &Statement) -> bool {
    let Some((name, wanted)) = target(statement) else { return false };
    let schema = name.schema.as_ref().map(|s| &*s.value).or(session.frame.schema.as_deref());
    schema == Some(SCHEMA) && (wanted == Privileges::DROP || allowed(&name.name.value).has(wanted))
}

/// Makes the change of a statement for which [`is_change`] holds.
pub(super) fn run(execution: &mut Execution<'_>, statement: &Statement) -> SqlResult<Outcome> {
    let Some((name, wanted)) = target(statement) else { return Ok(Outcome::ok()) };
    let hooks = execution.session.frame.hooks.clone();
    hooks.check_needs(execution.session, SCHEMA, &name.name.value, wanted)?;
    let table = execution.scope().table(SCHEMA, &name.name.value)?;
    let told = match statement {
        Statement::Update(_) => Told::Updated,
        Statement::Insert(insert) if is_many(insert) => Told::Inserted,
        _ => Told::Nothing,
    };
    let change = match statement {
        Statement::Update(update) => updated(execution, &table, update)?,
        Statement::Delete(delete) => deleted(execution, &table, delete)?,
        Statement::Insert(insert) => inserted(execution, &table, insert)?,
        _ => {
            execution.session.commit()?;
            Change::Truncate
        }
    };
    let records = match &change {
        Change::Update(rows) => rows.len(),
        Change::Insert(rows) | Change::Delete(rows) => rows.len(),
        Change::Truncate => 0,
    };
    let changed = hooks.change_computed(execution.session, table.name(), change)?;
    let counts = RowCounts { records: records as u64, changed, ..RowCounts::default() };
    Ok(Outcome { affected: changed, counts, told, ..Outcome::default() })
}

/// Compat: only an INSERT of several rows tells how many they were.
fn is_many(insert: &Insert) -> bool {
    match &insert.source {
        InsertSource::Values(rows) => rows.len() > 1,
        InsertSource::Set(_) => false,
        InsertSource::Query(_) => true,
    }
}

/// The rows of a query as texts.
#[derive(Default)]
struct Collected {
    types: Vec<SqlType>,
    rows: Vec<Texts>,
}

impl ResultSink for Collected {
    fn columns(&mut self, columns: &[OutputColumn]) -> SqlResult<()> {
        self.types = columns.iter().map(|column| column.ty.clone()).collect();
        Ok(())
    }

    fn batch(&mut self, batch: &Batch) -> SqlResult<()> {
        for at in 0..batch.rows() {
            let values = self.types.iter().enumerate().map(|(column, ty)| {
                let value = batch.columns()[column].value(at);
                (!value.is_null()).then(|| display(&value, ty))
            });
            let row = values.collect();
            self.rows.push(row);
        }
        Ok(())
    }
}

fn rows_of(execution: &mut Execution<'_>, query: Query) -> SqlResult<Vec<Texts>> {
    let statement = Statement::Query(Box::new(query));
    let running = execution.running;
    let plan =
        execution.locked_change(|scope| scope.plan_running(&statement, running).map(Arc::new))?;
    let mut sink = Collected::default();
    let result = execution.with_sink(&mut sink).run_plan(&plan);
    query::end_statement(execution.session, result)?;
    Ok(sink.rows)
}

fn item(expr: Expr) -> SelectItem {
    SelectItem::Expr { expr, alias: None, span: Span::default() }
}

fn column(name: &str) -> Expr {
    let name = ColumnRef::bare(Ident::new(name));
    Expr { kind: ExprKind::Column(name), span: Span::default() }
}

/// Clauses of a change that say which rows it means.
struct Meant<'a> {
    from: Vec<TableRef>,
    condition: &'a Option<Expr>,
    order_by: &'a [OrderItem],
    limit: &'a Option<Box<Limit>>,
}

/// The query for all columns of the rows that a change means, and for more values.
fn query_of(table: &TableInfo, meant: Meant<'_>, more: Vec<Expr>) -> Query {
    let columns = table.columns.iter().map(|own| column(&own.name));
    let select = Select {
        options: SelectOptions { for_statement: true, ..SelectOptions::default() },
        items: columns.chain(more).map(item).collect(),
        from: meant.from,
        where_clause: meant.condition.clone(),
        group_by: Vec::new(),
        rollup: false,
        having: None,
        windows: Vec::new(),
        span: Span::default(),
    };
    Query {
        with: None,
        body: QueryBody::Select(Box::new(select)),
        order_by: meant.order_by.to_vec(),
        limit: meant.limit.clone(),
        into: None,
        late_into: false,
        locking: None,
        span: Span::default(),
    }
}

/// Place of a column that a statement assigns to.
fn assigned(table: &TableInfo, name: &ColumnRef) -> SqlResult<usize> {
    let found = table.column_position(&name.name.value);
    found.ok_or_else(|| SqlError::unknown_column(name, "SET"))
}

/// The text for a column.
fn stored(table: &TableInfo, at: usize, value: Option<String>) -> SqlResult<Option<String>> {
    let column = &table.columns[at];
    match value {
        None if !column.nullable => Err(SqlError::new(&ER_BAD_NULL_ERROR, &[&column.name])),
        Some(text) if column.ty.is_string() && text.chars().count() > column.ty.length as usize => {
            Err(SqlError::new(&ER_DATA_TOO_LONG, &[&column.name, &1]))
        }
        value => Ok(value),
    }
}

fn default_of(table: &TableInfo, at: usize) -> Option<String> {
    defaults(table.name()).get(at).map(|text| (*text).to_owned())
}

fn updated(execution: &mut Execution<'_>, table: &TableInfo, update: &Update) -> SqlResult<Change> {
    let mut values = Vec::new();
    let mut places = Vec::new();
    for assignment in &update.assignments {
        places.push(assigned(table, &assignment.column)?);
        values.push(assignment.value.clone());
    }
    let is_default = |value: &Expr| matches!(value.kind, ExprKind::Default(None));
    let by_default: Vec<bool> = values.iter().map(is_default).collect();
    let names = places.iter().map(|at| column(&table.columns[*at].name));
    for (value, name) in values.iter_mut().zip(names).filter(|(value, _)| is_default(value)) {
        *value = name;
    }
    let meant = Meant {
        from: update.tables.clone(),
        condition: &update.where_clause,
        order_by: &update.order_by,
        limit: &update.limit,
    };
    let count = table.columns.len();
    let mut changes = Vec::new();
    for mut old in rows_of(execution, query_of(table, meant, values))? {
        let given = old.split_off(count);
        let mut new = old.clone();
        for ((at, value), by_default) in places.iter().zip(given).zip(&by_default) {
            let value = if *by_default { default_of(table, *at) } else { value };
            new[*at] = stored(table, *at, value)?;
        }
        changes.push((old, new));
    }
    Ok(Change::Update(changes))
}

fn deleted(execution: &mut Execution<'_>, table: &TableInfo, delete: &Delete) -> SqlResult<Change> {
    let from = match &delete.target {
        DeleteTarget::Single(table) => vec![TableRef::Table(table.clone())],
        DeleteTarget::Multi { .. } => Vec::new(),
    };
    let meant = Meant {
        from,
        condition: &delete.where_clause,
        order_by: &delete.order_by,
        limit: &delete.limit,
    };
    rows_of(execution, query_of(table, meant, Vec::new())).map(Change::Delete)
}

fn inserted(
    execution: &mut Execution<'_>,
    table: &TableInfo,
    insert: &Insert,
) -> SqlResult<Change> {
    let places = match (&insert.columns, &insert.source) {
        (_, InsertSource::Set(assignments)) => {
            assignments.iter().map(|a| assigned(table, &a.column)).collect::<SqlResult<Vec<_>>>()?
        }
        (Some(columns), _) => {
            columns.iter().map(|name| assigned(table, name)).collect::<SqlResult<_>>()?
        }
        (None, _) => (0..table.columns.len()).collect(),
    };
    let given = match &insert.source {
        InsertSource::Query(query) => rows_of(execution, (**query).clone())?,
        InsertSource::Set(assignments) => {
            let values: Vec<&Expr> = assignments.iter().map(|a| &a.value).collect();
            vec![evaluated(execution, table, &places, &values)?]
        }
        InsertSource::Values(rows) => {
            let mut given = Vec::new();
            for row in rows {
                let values: Vec<&Expr> = row.iter().collect();
                given.push(evaluated(execution, table, &places, &values)?);
            }
            given
        }
    };
    let mut rows = Vec::new();
    for (number, values) in given.into_iter().enumerate() {
        let is_empty = values.is_empty() && matches!(insert.source, InsertSource::Values(_));
        if values.len() != places.len() && !is_empty {
            return Err(SqlError::new(&ER_WRONG_VALUE_COUNT_ON_ROW, &[&(number + 1)]));
        }
        let mut row: Texts = (0..table.columns.len()).map(|at| default_of(table, at)).collect();
        for (at, value) in places.iter().zip(values) {
            row[*at] = stored(table, *at, value)?;
        }
        rows.push(row);
    }
    Ok(Change::Insert(rows))
}

/// The values of one row of an INSERT.
fn evaluated(
    execution: &mut Execution<'_>,
    table: &TableInfo,
    places: &[usize],
    values: &[&Expr],
) -> SqlResult<Texts> {
    let mut row = Texts::new();
    for (number, value) in values.iter().enumerate() {
        row.push(match (&value.kind, places.get(number)) {
            (ExprKind::Default(None), Some(at)) => default_of(table, *at),
            _ => {
                let (value, ty) = execution.evaluate(value)?;
                (!value.is_null()).then(|| display(&value, &ty))
            }
        });
    }
    Ok(row)
}
