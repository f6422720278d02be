//! EXPLAIN: the plan as a result set, as rows or JSON. Must not execute the statement; it only
//! reads the row of a table that has a single matching row ([`constant`]).

mod constant;

use std::sync::Arc;

use selkie_catalog::{TableInfo, TableKind};
use selkie_expr::EvalContext;
use selkie_plan::explain::{ExplainRow, json, rows};
use selkie_plan::physical::{OutputColumn, PartsRead, Plan};
use selkie_plan::{Permissions, is_planned};
use selkie_sql::ast;
use selkie_types::error::catalogue::{ER_VIEW_NO_EXPLAIN, ER_YES};
use selkie_types::{Condition, Level, Privileges, SqlError, SqlResult, SqlType, Value};

use crate::query::execution::{Execution, Scope};
use crate::run::rows_out::{send, text};
use crate::run::scan::leaves;
use crate::state::guard::guarded;
use crate::{Instance, Outcome, ResultSink, Session, query};

/// Sends the plan of a statement.
pub(crate) fn run(execution: &mut Execution<'_>, what: &ast::Explain) -> SqlResult<Outcome> {
    if what.analyze || !is_planned(&what.statement) {
        let what = if what.analyze { "ANALYZE" } else { "EXPLAIN" };
        return Err(SqlError::not_supported(format_args!("{what} of this statement")));
    }
    let result = planned(execution, what).and_then(|plan| show(execution, what, &plan));
    query::end_statement(execution.session, result)
}

/// Plans the statement. `note_explain` decides whether conditions about unusable keys are
/// collected.
fn planned(execution: &mut Execution<'_>, what: &ast::Explain) -> SqlResult<Arc<Plan>> {
    let settings = &mut execution.session.frame.settings;
    let told =
        std::mem::replace(&mut settings.planning.note_unusable_keys, settings.notes.note_explain);
    let running = execution.running;
    let make = |scope: Scope<'_>| scope.plan_running(&what.statement, running).map(Arc::new);
    let result = guarded(|| execution.locked_plan(make));
    execution.session.frame.settings.planning.note_unusable_keys = told;
    result
}

fn show(execution: &mut Execution<'_>, what: &ast::Explain, plan: &Plan) -> SqlResult<Outcome> {
    let session = &*execution.session;
    let max = session.frame.settings.notes.max_error_count;
    check_shown(session, plan)?;
    if session.frame.settings.notes.sql_notes {
        plan.conditions.iter().for_each(|c| session.diagnostics.push(c.clone(), max));
    }
    let instance = execution.instance;
    if what.json {
        let eval = context_of(session, execution.running.values);
        let parts = |table: &TableInfo, read: &PartsRead| part_names(instance, &eval, table, read);
        let column = OutputColumn::computed("EXPLAIN", text(0x00FF_FFFF));
        return send(execution.sink, &[column], &[vec![Value::bytes(json(plan, &parts))]]);
    }
    let exact = |table: &TableInfo| exact_rows(instance, table);
    let (read, known) = match &*what.statement {
        ast::Statement::Query(_) => constant::read(execution, plan, &exact)?,
        _ => Default::default(),
    };
    if let (true, ast::Statement::Query(query)) = (what.extended, &*what.statement) {
        let scope = execution.scope();
        let (text, found) = scope.query_text(query, &known, execution.running.text);
        let note = Condition::raw(Level::Note, ER_YES.code, text);
        let told = found.into_iter().chain([note]);
        told.for_each(|condition| scope.session.diagnostics.push(condition, max));
    }
    let eval = context_of(execution.session, execution.running.values);
    let parts = |table: &TableInfo, read: &PartsRead| part_names(instance, &eval, table, read);
    let mut lines = rows(plan, &exact, &read, &parts);
    let first = lines.first().map(|line| line.id);
    let nothing =
        |line: &ExplainRow| Some(line.id) == first && line.partitions.as_deref() == Some("");
    if known.impossible || lines.iter().any(nothing) {
        say_impossible(&mut lines);
    }
    table(&lines, what, execution.sink)
}

/// Fails (1345) unless the session may read each view's definition in the plan, and the tables
/// under the views.
fn check_shown(session: &Session, plan: &Plan) -> SqlResult<()> {
    let is_view = |table: &TableInfo| matches!(table.kind, TableKind::View(_));
    if !plan.tables.iter().any(|table| is_view(table)) {
        return Ok(());
    }
    let may = |table: &TableInfo, wanted| {
        session.check_table(None, table.schema(), table.name(), wanted).is_ok()
    };
    let shown = plan.tables.iter().all(|table| match table.kind {
        TableKind::System | TableKind::Temporary => true,
        TableKind::View(_) => may(table, Privileges::SELECT) && may(table, Privileges::SHOW_VIEW),
        _ => may(table, Privileges::SELECT),
    });
    if shown { Ok(()) } else { Err(SqlError::new(&ER_VIEW_NO_EXPLAIN, &[])) }
}

/// Replaces the lines of the outermost query by one that says it has no rows.
fn say_impossible(lines: &mut Vec<ExplainRow>) {
    let Some(first) = lines.first() else { return };
    let (id, select_type) = (first.id, first.select_type);
    let extra = "Impossible WHERE noticed after reading const tables".into();
    lines.retain(|line| line.id != id);
    lines.insert(0, ExplainRow { id, select_type, extra, ..Default::default() });
}

/// Row count of a table, if its engine counts rows exactly.
fn exact_rows(instance: &Instance, table: &TableInfo) -> Option<u64> {
    let handle = table.engine.rows.counted.then(|| instance.look_into(table))??;
    Some(handle.table.statistics().rows)
}

/// A context with the values of the statement's parameters.
fn context_of<'s>(session: &'s Session, values: &[(Value, SqlType)]) -> EvalContext<'s> {
    let now = session.values.statement_start.get();
    let eval = EvalContext::new(session.type_context(), session, now);
    eval.set_parameters(values.iter().map(|(value, _)| value.clone()));
    eval
}

/// Names of the partitions that a scan reads; none if the table cannot be opened.
fn part_names(
    instance: &Instance,
    eval: &EvalContext<'_>,
    table: &TableInfo,
    read: &PartsRead,
) -> Option<String> {
    let partitions = table.partitions.as_ref()?;
    let handle = instance.look_into(table)?;
    let router = handle.parts.as_ref()?.router();
    let leaves = leaves(eval, router, &table.def, read).ok()?;
    let is_read =
        |at: usize| leaves.as_ref().is_none_or(|leaves| leaves.binary_search(&(at as u16)).is_ok());
    let names = partitions.leaves().enumerate().filter(|(at, _)| is_read(*at));
    Some(names.map(|(_, leaf)| leaf.shown_name()).collect::<Vec<_>>().join(","))
}

fn table(
    lines: &[ExplainRow],
    what: &ast::Explain,
    sink: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    let extended = what.extended;
    let mut number = SqlType::new(selkie_types::TypeKind::BigInt, 3, 0);
    number.unsigned = true;
    let mut columns = vec![
        OutputColumn::computed("id", number),
        OutputColumn::computed("select_type", text(19)),
        OutputColumn::computed("table", text(64)),
        OutputColumn::computed("type", text(10)),
        OutputColumn::computed("possible_keys", text(4096)),
        OutputColumn::computed("key", text(64)),
        OutputColumn::computed("key_len", text(4096)),
        OutputColumn::computed("ref", text(2048)),
        // Compat: the type is text, because ANALYZE may put two numbers there.
        OutputColumn::computed("rows", text(64)),
        OutputColumn::computed("Extra", text(255)),
    ];
    if extended {
        let share = SqlType::new(selkie_types::TypeKind::Double, 4, 2);
        columns.insert(9, OutputColumn::computed("filtered", share));
        columns[8].nullable = false;
    }
    if what.partitions {
        columns.insert(3, OutputColumn::computed("partitions", text(0x00FF_FFFF)));
    }
    for column in columns.iter_mut().filter(|c| matches!(&*c.name, "select_type" | "Extra")) {
        column.nullable = false;
    }
    let string = |s: &Option<String>| s.as_ref().map_or(Value::Null, Value::bytes);
    let count = |n: Option<u64>| n.map_or(Value::Null, Value::UInt);
    let digits = |n: Option<u64>| n.map_or(Value::Null, |n| Value::bytes(n.to_string()));
    let row = |line: &ExplainRow| {
        let mut row = vec![
            count(line.id),
            Value::bytes(line.select_type),
            string(&line.table),
            line.access.map_or(Value::Null, Value::bytes),
            string(&line.possible_keys),
            string(&line.key),
            string(&line.key_len),
            string(&line.reference),
            digits(line.rows),
            Value::bytes(&line.extra),
        ];
        if extended {
            let of_rows = line.rows.is_some();
            let share = if line.rows == Some(0) { 0.0 } else { 100.0 };
            row.insert(9, if of_rows { Value::Double(share) } else { Value::Null });
        }
        if what.partitions {
            row.insert(3, string(&line.partitions));
        }
        row
    };
    send(sink, &columns, &lines.iter().map(row).collect::<Vec<_>>())
}
