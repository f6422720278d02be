//! Use of kept results (`state/kept_results.rs`): which queries' results are kept, and when a
//! session may get one instead of running its query.
//!
//! Must not know packets: the rows are the sink's bytes. Must not send a result that the session's
//! own snapshot, its own changes or its privileges would not give.
//!
//! # Invariants
//! - RESULT-3 A result is kept if every execution under its key gives the same rows as long as its
//!   tables do not change: see [`is_lasting`].
//! - RESULT-4 The tables' times are read before the statement's snapshots are taken, while nobody
//!   changes a table; so the result is that of every later snapshot up to the next change.
//! - RESULT-5 A session with snapshots of its own gets a result only if its tables have not changed
//!   since before these snapshots.

use std::io::Write;
use std::sync::Arc;

use selkie_catalog::{TableInfo, TableKind};
use selkie_engine::Isolation;
use selkie_plan::physical::Plan;
use selkie_plan::safety::Uses;
use selkie_sql::ast::{Query, QueryBody, Statement};
use selkie_sql::trimmed;
use selkie_types::SqlResult;

use crate::query::execution::{Execution, Scope};
use crate::query::running::Running;
use crate::query::text_plans::may_be_query;
use crate::state::guard::guarded;
use crate::state::kept_results::{KeptResult, KeptResults, KeptTable, Made};
use crate::state::metadata::changes::Watched;
use crate::state::session::{KeepResults, bump};
use crate::{Instance, Outcome, ResultSink, Session};

/// Longest text of a kept result, in bytes.
const LONGEST: usize = 64 << 10;

/// The wish of a query for a kept result, or to have its own one kept.
pub(crate) struct Wish {
    key: Vec<u8>,
    /// Whether the plan has to say that the result is to be kept.
    is_on_demand: bool,
}

/// Whether a session's statements may use kept results at all.
#[inline]
fn may_use(session: &Session) -> bool {
    KeptResults::is_on()
        && session.frame.settings.queries.keep_results != KeepResults::Never
        // Compat: under LOCK TABLES nothing is kept or counted.
        && session.lock_list.is_none()
        && session.frame.acting_as.is_none()
        && session.transaction.branch().is_none()
        && !session.transaction.is_nested()
}

/// Writes the key of a text, for rows of the form `form`.
fn write_key(session: &Session, form: u64, text: &[u8], key: &mut Vec<u8>) {
    let frame = &session.frame;
    key.extend_from_slice(&session.plan_space().to_ne_bytes());
    key.extend_from_slice(&form.to_ne_bytes());
    // Compat: results of statements that commit and of others are kept apart.
    let commits = frame.settings.transactions.autocommit && !session.in_transaction();
    key.push(u8::from(commits));
    key.push(u8::from(frame.literals.is_some()));
    if let Some(literals) = frame.literals {
        key.extend_from_slice(literals.name().as_bytes());
    }
    key.push(0);
    key.extend_from_slice(frame.schema.as_deref().unwrap_or_default().as_bytes());
    key.push(0);
    key.extend_from_slice(text);
}

/// Looks for the result of a text that is a single statement in UTF-8, before it is parsed.
pub fn find_result(
    instance: &Instance,
    session: &mut Session,
    text: &[u8],
    form: u64,
) -> Option<Arc<KeptResult>> {
    if !may_use(session) || text.len() > LONGEST {
        return None;
    }
    let text = trimmed(text);
    // Comments of other kinds, and VALUES, are kept too.
    if !may_be_query(text) && !matches!(text.first(), Some(b'-' | b'#' | b'v' | b'V')) {
        return None;
    }
    let mut key = Vec::with_capacity(text.len() + 64);
    write_key(session, form, text, &mut key);
    find(instance, session, &key)
}

fn find(instance: &Instance, session: &mut Session, key: &[u8]) -> Option<Arc<KeptResult>> {
    let found = instance.results.find(key)?;
    let is_its = found.privileges == session.frame.hooks.privileges_version()
        && found.tables.iter().all(|table| is_usable(session, table));
    if !is_its || take_snapshots(instance, session, &found).is_err() {
        return None;
    }
    // Asked again behind the snapshots.
    let is_seen = |after: u64| found.tables.iter().all(|table| !table.is_younger(after));
    let is_fit = found.is_valid() && session.transaction.snapshots_after().is_none_or(is_seen);
    is_fit.then_some(found)
}

/// Whether a result made of a table may be a session's, as far as the table says.
fn is_usable(session: &Session, table: &KeptTable) -> bool {
    let info = &table.info;
    // Changes of other engines are seen before they are timed.
    let is_changed = !is_transactional(info) && table.watched.has_writers();
    let waits = session.frame.settings.queries.results_wait_for_locks;
    session.frame.temporary.get(info.schema(), info.name()).is_none()
        && !is_changed
        && !(waits && table.watched.is_reserved())
}

fn is_transactional(info: &TableInfo) -> bool {
    !info.has_storage() || info.engine.transactional
}

/// Gives a transaction the snapshots that the query itself would give it: later queries must not
/// see less than the result.
fn take_snapshots(
    instance: &Instance,
    session: &mut Session,
    result: &KeptResult,
) -> SqlResult<()> {
    let settings = &session.frame.settings;
    if settings.transactions.autocommit && !session.transaction.is_open() {
        return Ok(());
    }
    let transaction = &mut session.transaction;
    if !transaction.is_open() {
        transaction.begin_statement(settings)?;
    }
    for table in result.tables.iter().filter(|table| table.info.has_storage()) {
        transaction.join(instance.engine_of(&table.info)?)?;
    }
    match transaction.snapshots_after() {
        Some(_) => transaction.take_snapshots(),
        None => Ok(()),
    }
}

impl KeptTable {
    fn is_younger(&self, time: u64) -> bool {
        is_transactional(&self.info) && self.changed > time
    }
}

/// Sends a kept result as the answer to a statement.
pub fn send_result(
    instance: &Instance,
    session: &mut Session,
    result: &KeptResult,
    sink: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    session.diagnostics.clear();
    session.explicit_insert_id.set(None);
    let sent = guarded(|| send(instance, session, result, sink));
    if let Err(error) = &sent {
        session.diagnostics.push_error(error, session.frame.settings.notes.max_error_count);
    }
    session.values.row_count.set(-1);
    sent
}

fn send(
    instance: &Instance,
    session: &Session,
    result: &KeptResult,
    sink: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    instance.results.count_hit(&result.key);
    sink.planned_columns(&result.columns)?;
    sink.send_again(&result.rows, result.count)?;
    bump(&session.core.counters.rows_sent, result.count);
    bump(&session.core.counters.empty_queries, u64::from(result.count == 0));
    session.values.found_rows.set(result.found);
    Ok(Outcome { affected: result.count, ..Outcome::rows() })
}

impl Execution<'_> {
    /// The wish of a statement, if its result may be kept as far as the session says.
    pub(crate) fn wish_for_result(&self, statement: &Statement) -> Option<Wish> {
        let Statement::Query(query) = statement else { return None };
        let session = &*self.session;
        // Statements of programs may depend on variables that no key has.
        let has_variables = self.running.terms.is_some() && !self.running.values.is_empty();
        if !may_use(session) || session.shows || has_variables {
            return None;
        }
        if said(query) == Some(false) {
            return None;
        }
        let form = self.sink.form()?;
        let text = trimmed(self.running.own_text());
        if text.len() > LONGEST || query.procedure.is_some() {
            self.instance.results.count_not_kept();
            return None;
        }
        let mut key = Vec::with_capacity(text.len() + 64);
        write_key(session, form, text, &mut key);
        if let Some(prepared) = self.running.prepared
            && prepared.parameters > 0
            && self.running.part.is_none()
        {
            key.push(0);
            // Writing to memory does not fail.
            let _ = write!(key, "{:?}", self.running.values);
            if key.len() > 2 * LONGEST {
                return None;
            }
        }
        let is_on_demand = session.frame.settings.queries.keep_results == KeepResults::OnDemand;
        Some(Wish { key, is_on_demand })
    }

    /// Answers a statement that is prepared or part of a program by a kept result, if there is one.
    /// A client's text was looked for before it was parsed.
    pub(crate) fn grant(&mut self, wish: &Wish) -> Option<SqlResult<Outcome>> {
        let Running { prepared, part, terms, .. } = self.running;
        if terms.is_none() && (part.is_some() || prepared.is_none()) {
            return None;
        }
        let found = find(self.instance, self.session, &wish.key)?;
        Some(send(self.instance, self.session, &found, self.sink))
    }

    /// Runs the plan of a query, and keeps its result if it may be kept.
    pub(crate) fn run_and_keep(&mut self, plan: &Arc<Plan>, wish: &Wish) -> SqlResult<Outcome> {
        let epoch = self.instance.results.epoch();
        let is_wanted = !wish.is_on_demand || plan.uses.has(Uses::KEPT);
        let is_wanted = is_wanted && self.instance.results.admits(&wish.key);
        let tables = is_wanted.then(|| lasting_tables(self.scope(), plan)).flatten();
        let Some(tables) = tables else {
            self.instance.results.count_not_kept();
            return self.run_live(plan);
        };
        self.sink.keep_rows(self.instance.results.limit());
        let outcome = self.run_live(plan);
        let rows = self.sink.kept_rows();
        let (outcome, session) = (outcome?, &*self.session);
        let is_seen = |after: u64| tables.iter().all(|table| !table.is_younger(after));
        let is_fit = session.diagnostics.raised() == 0
            && session.transaction.snapshots_after().is_none_or(is_seen);
        let Some(rows) = rows.filter(|_| is_fit) else {
            self.instance.results.count_not_kept();
            return Ok(outcome);
        };
        let privileges = session.frame.hooks.privileges_version();
        let made = Made { columns: &plan.output, rows: &rows, count: outcome.affected };
        let found = session.values.found_rows.get();
        self.instance
            .results
            .keep(epoch, || KeptResult::new(&wish.key, &tables, privileges, made, found));
        Ok(outcome)
    }
}

/// The word of the first SELECT: SQL_CACHE is true, SQL_NO_CACHE false.
fn said(query: &Query) -> Option<bool> {
    let mut body = &query.body;
    loop {
        match body {
            QueryBody::Select(select) => return select.options.cache,
            QueryBody::Nested(query) => body = &query.body,
            QueryBody::Combined { first, .. } => body = first,
            QueryBody::Values(_) => return None,
        }
    }
}

/// The tables of a plan whose result may be kept, with their times; `None` if it may not.
fn lasting_tables(scope: Scope<'_>, plan: &Plan) -> Option<Vec<KeptTable>> {
    let session = scope.session;
    // Reads see uncommitted rows, or lock rows.
    let is_plain = !session.transaction.reads_uncommitted()
        && session.frame.settings.transactions.isolation != Isolation::Serializable
        && !session.reads_lock().0;
    if !is_plain || !is_lasting(plan) {
        return None;
    }
    let timed = plan.tables.iter().map(|info| {
        let watched = Watched::of(info.schema(), info.name());
        let changed = watched.settled()?;
        Some(KeptTable { info: info.clone(), watched, changed })
    });
    timed.collect()
}

/// Whether later executions of a plan give the same result as long as its tables do not change.
fn is_lasting(plan: &Plan) -> bool {
    let once = [
        Uses::PASSING,
        Uses::ASSIGNMENT,
        Uses::ROW_NUMBER,
        Uses::AUTO_IS_NULL,
        Uses::LAST_INSERT_ID,
    ];
    plan.result.into.is_none()
        && !once.iter().any(|uses| plan.uses.has(*uses))
        && !plan.calls_functions()
        && plan.variables.user.is_empty()
        && plan.takes_numbers.is_empty()
        // A search may read a table of stopwords.
        && plan.searches.is_empty()
        && plan.locks_rows.is_empty()
        && plan.rows_examined.is_none()
        && plan.warnings.conditions.is_empty()
        && plan.tables.iter().any(|table| table.has_storage())
        && plan.tables.iter().all(|table| is_lasting_table(table))
}

fn is_lasting_table(table: &TableInfo) -> bool {
    let is_shared = matches!(table.kind, TableKind::Base | TableKind::View(_));
    let is_own = ["mysql", "information_schema", "performance_schema", "sys"]
        .iter()
        .any(|schema| table.schema().eq_ignore_ascii_case(schema));
    is_shared && !is_own && !table.is_sequence()
}
