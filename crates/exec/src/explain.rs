//! EXPLAIN and ANALYZE of a statement: the plan as a result set, as rows or JSON. EXPLAIN must not
//! execute the statement; it only reads the row of a table that has a single matching row
//! ([`constant`]).

mod constant;
mod live;
mod table;
mod trace;

use std::sync::Arc;
use std::time::{Duration, Instant};

use selkie_catalog::{TableInfo, TableKind};
use selkie_expr::EvalContext;
use selkie_meter::interruptible;
use selkie_plan::explain::{
    Facts, Known, Never, Times, Work, WorkOf, json, own_blocks, rows, selects,
};
use selkie_plan::physical::{OutputColumn, PartsRead, Plan, PlanNode, TableScan};
use selkie_plan::{Permissions, is_planned};
use selkie_sql::ast;
use selkie_types::error::catalogue::{ER_VIEW_NO_EXPLAIN, ER_YES};
use selkie_types::{Condition, Level, Privileges, SqlError, SqlResult, SqlType, Value};

pub use self::live::{LiveAsked, kept_lines, show_live};
use self::table::Columns;
use crate::query::execution::{Execution, Scope};
use crate::run::scan::leaves;
use crate::state::guard::guarded;
use crate::state::tally::Tally;
use crate::statement::read_only;
use crate::{Instance, NullSink, Outcome, Session, query};

/// Sends the plan of a statement.
pub(crate) fn run(execution: &mut Execution<'_>, what: &ast::Explain) -> SqlResult<Outcome> {
    if !is_planned(&what.statement) {
        let what = if what.analyze { "ANALYZE" } else { "EXPLAIN" };
        return Err(SqlError::not_supported(format_args!("{what} of this statement")));
    }
    let begun = Instant::now();
    let result = planned(execution, what).and_then(|plan| {
        let planning = begun.elapsed();
        show(execution, what, &plan, planning)
    });
    query::end_statement(execution.session, result)
}

/// Columns of the result.
pub(crate) fn columns(what: &ast::Explain) -> Vec<OutputColumn> {
    match (what.json, what.analyze) {
        (true, true) => vec![table::document_column("ANALYZE")],
        (true, false) => vec![table::document_column("EXPLAIN")],
        _ => table::columns(&Columns::of(what)),
    }
}

/// Executes the statement; its result rows are dropped.
fn execute(
    execution: &mut Execution<'_>,
    what: &ast::Explain,
    plan: &Arc<Plan>,
) -> SqlResult<Option<Arc<Tally>>> {
    read_only::check_locking(execution.session, &what.statement, plan)?;
    let tally = Tally::of(plan).map(|tally| Arc::new(tally.timed()));
    execution.with_sink(&mut NullSink).run_counted(plan, tally.clone())?;
    Ok(tally)
}

/// Plans the statement. `note_explain` decides whether conditions about unusable keys are
/// collected.
fn planned(execution: &mut Execution<'_>, what: &ast::Explain) -> SqlResult<Arc<Plan>> {
    let settings = &mut execution.session.frame.settings;
    let told =
        std::mem::replace(&mut settings.planning.note_unusable_keys, settings.notes.note_explain);
    settings.planning.explains = true;
    let running = execution.running;
    let make = |scope: Scope<'_>| scope.plan_running(&what.statement, running).map(Arc::new);
    let result = guarded(|| execution.locked_plan(make));
    let planning = &mut execution.session.frame.settings.planning;
    (planning.note_unusable_keys, planning.explains) = (told, false);
    if let Ok(plan) = &result {
        execution.trace(&what.statement, plan);
    }
    result
}

fn show(
    execution: &mut Execution<'_>,
    what: &ast::Explain,
    plan: &Arc<Plan>,
    planning: Duration,
) -> SqlResult<Outcome> {
    let session = &*execution.session;
    let max = session.frame.settings.notes.max_error_count;
    check_shown(session, plan)?;
    crate::query::constant::check(session, plan, execution.running.values)?;
    if session.frame.settings.notes.sql_notes {
        let resolved = plan.told.resolved.iter().filter(|_| what.extended);
        resolved.for_each(|note| session.diagnostics.push(note.clone(), max));
        plan.warnings.conditions.iter().for_each(|c| session.diagnostics.push(c.clone(), max));
    }
    let instance = execution.instance;
    let (read, known) = match &*what.statement {
        ast::Statement::Query(query) => known_rows(execution, what, plan, query)?,
        _ => Default::default(),
    };
    let notes = what.extended && execution.session.frame.settings.notes.sql_notes;
    if let (true, ast::Statement::Query(query)) = (notes, &*what.statement) {
        let scope = execution.scope();
        let (text, found) = scope.query_text(query, &known, execution.running);
        let note = Condition::raw(Level::Note, ER_YES.code, text);
        let told = found.into_iter().chain([note]);
        told.for_each(|condition| scope.session.diagnostics.push(condition, max));
    }
    let begun = Instant::now();
    let tally = if what.analyze { execute(execution, what, plan)? } else { None };
    let nanos = begun.elapsed().as_nanos() as u64;
    // A plan that is not counted ran once as a whole.
    let whole = Work { loops: 1, nanos, ..Work::default() };
    let work_of = |number: u32| match &tally {
        Some(tally) => tally.work(number),
        None => (number == plan.root.number).then_some(whole),
    };
    let eval = context_of(execution.session, execution.running.values);
    let exact = |scan: &TableScan| exact_rows(instance, Some(&eval), scan);
    let parts = |table: &TableInfo, read: &PartsRead| part_names(instance, &eval, table, read);
    let work: Option<WorkOf<'_>> = if what.analyze { Some(&work_of) } else { None };
    // Compat: ANALYZE names another reason.
    let blocks = own_blocks(plan);
    let reasons = known
        .iter()
        .zip(&blocks)
        .filter_map(|(known, (number, _))| Some((*number, reason(known.never?, what)?)));
    let nothing: Vec<(u64, &str)> = reasons.collect();
    let facts = Facts { exact: &exact, read: &read, parts: &parts, work, nothing: &nothing };
    if what.json {
        let name = if what.analyze { "ANALYZE" } else { "EXPLAIN" };
        let planning = what.analyze.then_some(planning.as_nanos() as u64);
        let times = Times { planning, progress: None };
        let text = interruptible(|| json(plan, &facts, times))?;
        return table::document(name, &text, execution.sink);
    }
    let rows = interruptible(|| rows(plan, &facts))?;
    table::lines(&rows, &Columns::of(what), execution.sink)
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

/// Reads the rows of the constant tables of a query, and tells what is known from them about each
/// of its SELECTs.
fn known_rows<'p>(
    execution: &mut Execution<'_>,
    what: &ast::Explain,
    plan: &'p Plan,
    query: &ast::Query,
) -> SqlResult<(Vec<&'p TableScan>, Vec<Known>)> {
    let (mut read, mut known) = (Vec::new(), Vec::new());
    let (written, blocks) = (selects(query), own_blocks(plan));
    if written.len() != blocks.len() {
        return Ok((read, known));
    }
    let instance = execution.instance;
    for (number, block) in &blocks {
        let eval = context_of(execution.session, execution.running.values);
        let exact = |scan: &TableScan| exact_rows(instance, Some(&eval), scan);
        let found = constant::find(block, &exact);
        let empty = constant::empty_tables(plan, block, &exact);
        let (scans, mut own) = constant::read(execution, plan, found)?;
        own.tables.extend(empty);
        if plan.told.impossible.contains(number) {
            own.never = Some(Never::Alone);
        }
        read.extend(scans);
        known.push(own);
    }
    if what.extended {
        tell_kept(execution, plan, &read, &mut known.iter_mut().zip(&written).zip(&blocks));
    }
    let known = execution.scope().tested(query, known, execution.running);
    Ok((read, known))
}

/// Tells whether rows of blocks are kept before their HAVING is tested: to be grouped, or to be
/// sorted if they are not grouped.
fn tell_kept(
    execution: &Execution<'_>,
    plan: &Plan,
    read: &[&TableScan],
    blocks: &mut dyn Iterator<Item = ((&mut Known, &&ast::Select), &(u64, &PlanNode))>,
) {
    let mut blocks = blocks.filter(|((_, select), _)| select.having.is_some()).peekable();
    if blocks.peek().is_none() {
        return;
    }
    let eval = context_of(execution.session, execution.running.values);
    let exact = |scan: &TableScan| exact_rows(execution.instance, Some(&eval), scan);
    let facts = Facts { exact: &exact, read, parts: &|_, _| None, work: None, nothing: &[] };
    let Ok(lines) = interruptible(|| rows(plan, &facts)) else { return };
    for ((known, select), (number, _)) in blocks {
        let mut own = lines.iter().filter(|line| line.id == Some(*number));
        known.kept = own.any(|line| match line.extra.contains("Using temporary") {
            true => !select.group_by.is_empty(),
            false => select.group_by.is_empty() && line.extra.contains("Using filesort"),
        });
    }
}

/// The words for a block without rows. Compat: ANALYZE names another reason.
fn reason(never: Never, what: &ast::Explain) -> Option<&'static str> {
    match never {
        Never::Where if what.analyze => Some("no matching row in const table"),
        Never::Where => Some("Impossible WHERE noticed after reading const tables"),
        Never::Having => Some("Impossible HAVING noticed after reading const tables"),
        Never::Alone => None,
    }
}

/// Number of rows of a table, or of the partitions that a scan reads, if the engine counts rows
/// exactly.
fn exact_rows(
    instance: &Instance,
    eval: Option<&EvalContext<'_>>,
    scan: &TableScan,
) -> Option<u64> {
    let table = &scan.table;
    let handle = table.engine.rows.counted.then(|| instance.look_into(table))??;
    let Some(read) = &scan.parts else { return Some(handle.table.statistics().rows) };
    let parts = handle.parts.as_ref()?;
    let each = parts.each();
    match leaves(eval?, parts.router(), &table.def, read).ok()? {
        None => Some(each.iter().map(|leaf| leaf.rows).sum()),
        Some(leaves) => leaves.iter().map(|at| Some(each.get(usize::from(*at))?.rows)).sum(),
    }
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
