//! SHOW EXPLAIN and SHOW ANALYZE: the plan of a statement that another session runs. Must not take
//! a lock of that session, nor wait for it.

use std::sync::Arc;
use std::time::Duration;

use selkie_catalog::TableInfo;
use selkie_plan::explain::{Facts, Times, WorkOf, json, rows};
use selkie_plan::physical::{Operator, PartsRead, Plan, TableScan};
use selkie_types::error::catalogue::{ER_TARGET_NOT_EXPLAINABLE, ER_YES};
use selkie_types::{Condition, Level, SqlError, SqlResult};

use super::exact_rows;
use super::table::{self, Columns};
use crate::{Instance, LivePlans, Outcome, ResultSink, Session};

/// A question about another session.
#[derive(Clone, Debug)]
pub struct LiveAsked {
    /// As a document.
    pub json: bool,
    /// With the numbers of the execution.
    pub analyze: bool,
    /// Text of the command that the other session runs.
    pub command: Option<Arc<str>>,
    /// Time since the command began.
    pub since: Duration,
}

/// Sends the plan that another session runs, with a note of its text.
pub fn show_live(
    instance: &Instance,
    session: &Session,
    plans: &LivePlans,
    asked: &LiveAsked,
    sink: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    let unknown = || SqlError::new(&ER_TARGET_NOT_EXPLAINABLE, &[]);
    let live = plans.top().ok_or_else(unknown)?;
    if asked.analyze && live.tally.is_none() && !reads_tables(&live.plan) {
        return Err(unknown());
    }
    let work_of = |number: u32| live.tally.as_ref().and_then(|tally| tally.work(number));
    let work: Option<WorkOf<'_>> = if asked.analyze { Some(&work_of) } else { None };
    // Values of parameters, on which partitions may depend, stay with the other session.
    let exact = |scan: &TableScan| exact_rows(instance, None, scan);
    let parts = |_: &TableInfo, _: &PartsRead| None;
    let facts = Facts { exact: &exact, read: &[], parts: &parts, work, nothing: &[] };
    let text = match (&live.text, &asked.command) {
        (Some(text), _) => String::from_utf8_lossy(text).into_owned(),
        (None, Some(text)) => text.to_string(),
        (None, None) => String::new(),
    };
    let max = session.frame.settings.notes.max_error_count;
    session.diagnostics.push(Condition::raw(Level::Note, ER_YES.code, text), max);
    if asked.json {
        let name = if asked.analyze { "SHOW ANALYZE" } else { "SHOW EXPLAIN" };
        let progress = asked.analyze.then_some(asked.since.as_nanos() as u64);
        let times = Times { planning: None, progress };
        return table::document(name, &json(&live.plan, &facts, times), sink);
    }
    let shown = Columns { analyze: asked.analyze, ..Columns::default() };
    table::lines(&rows(&live.plan, &facts), &shown, sink)
}

/// The plan of the statement that was kept, with its numbers: lines of values, the names of the
/// columns first. Nothing if no plan ran. Compat: NULLs are words.
pub fn kept_lines(plans: &LivePlans) -> Vec<String> {
    let Some(live) = plans.take_kept() else { return Vec::new() };
    let work_of = |number: u32| live.tally.as_ref().and_then(|tally| tally.work(number));
    let parts = |_: &TableInfo, _: &PartsRead| None;
    let exact = |_: &TableScan| None;
    let facts =
        Facts { exact: &exact, read: &[], parts: &parts, work: Some(&work_of), nothing: &[] };
    let shown = Columns { analyze: true, ..Columns::default() };
    table::texts(&rows(&live.plan, &facts), &shown)
}

/// Whether a query reads tables; only that can be analyzed.
fn reads_tables(plan: &Plan) -> bool {
    let mut found = false;
    plan.root.visit(&mut |node| found |= matches!(node.operator, Operator::TableScan(_)));
    found
}
