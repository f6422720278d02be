//! Whether the changes of a statement are logged as rows or as the statement's text.
//!
//! # Invariants
//! - FORM-1 Unless the format is STATEMENT, a text is logged only if it does the same again in the
//!   order of commits: it reads under locks, it uses nothing that other servers do not know, and it
//!   is unsafe for no other reason.
//!
//! Temporary tables are in no log, so whatever they take part in is logged as rows. Must not write
//! events.

use std::borrow::Cow;

use selkie_catalog::{TableInfo, TableKind};
use selkie_expr::EvalContext;
use selkie_plan::physical::{Operator, Plan};
use selkie_plan::safety::{Reason, Reasons, Uses, depends_on_order, reasons};
use selkie_types::error::catalogue::{
    ER_BINLOG_STMT_MODE_AND_ROW_ENGINE, ER_BINLOG_UNSAFE_STATEMENT,
};
use selkie_types::{Charset, Condition, SqlError, SqlResult};

use crate::query::execution::Execution;
use crate::query::log_text::logged_text;
use crate::state::binlog::{ByText, Place};
use crate::state::session::{BinlogFormat, Session};
use crate::{Instance, dml};

/// Changes that a statement may make, by their way through a transaction.
#[derive(Clone, Copy, Debug, Default)]
struct Changed {
    /// Of tables that can be rolled back.
    transactional: bool,
    /// Of tables that cannot.
    immediate: bool,
}

/// Everything that decides about a statement.
#[derive(Clone, Copy, Debug)]
struct Facts {
    format: BinlogFormat,
    changed: Changed,
    reasons: Reasons,
    /// The text does not say what the statement does.
    lacks_text: bool,
    /// The text may do something else, for no reason that is told.
    is_doubtful: bool,
    /// It takes numbers from sequences.
    takes_numbers: bool,
    /// Engine of a changed table whose reads lock nothing at the transaction's isolation.
    unlocked: Option<&'static str>,
    /// The transaction has changes that it can roll back.
    is_after_changes: bool,
    /// `binlog_direct_non_transactional_updates`.
    is_direct: bool,
}

/// The form of a statement in the log.
#[derive(Debug, PartialEq)]
enum LogForm {
    Rows,
    Text(Place, Reasons),
}

/// Decides about a statement.
fn decide(facts: &Facts) -> SqlResult<LogForm> {
    let Facts { changed, mut reasons, .. } = *facts;
    let is_none = !changed.transactional && !changed.immediate;
    if facts.format == BinlogFormat::Row || is_none || facts.lacks_text {
        return Ok(LogForm::Rows);
    }
    if changed.transactional && changed.immediate {
        reasons.add(Reason::Mixed);
    }
    if changed.immediate && facts.is_after_changes && !facts.is_direct {
        reasons.add(Reason::ImmediateAfterTransactional);
    }
    if facts.format == BinlogFormat::Mixed {
        let is_safe = reasons.is_empty()
            && !facts.is_doubtful
            && !facts.takes_numbers
            && facts.unlocked.is_none();
        let place = if changed.immediate { Place::Immediate } else { Place::Transaction };
        return Ok(if is_safe { LogForm::Text(place, reasons) } else { LogForm::Rows });
    }
    if facts.takes_numbers {
        return Err(SqlError::new(&ER_BINLOG_STMT_MODE_AND_ROW_ENGINE, &[&""]));
    }
    if let Some(engine) = facts.unlocked {
        let why = format!(
            " {engine} is limited to row-logging when transaction isolation level is READ COMMITTED \
             or READ UNCOMMITTED."
        );
        return Err(SqlError::new(&ER_BINLOG_STMT_MODE_AND_ROW_ENGINE, &[&why]));
    }
    let place = match (changed.transactional, changed.immediate) {
        (true, true) => Place::InOrder,
        (true, false) => Place::Transaction,
        (false, _) if facts.is_after_changes && !facts.is_direct => Place::InOrder,
        (false, _) => Place::Immediate,
    };
    Ok(LogForm::Text(place, reasons))
}

/// Fails if a statement of a function or trigger does what the text of the calling statement cannot
/// repeat.
fn check_inside(facts: &Facts) -> SqlResult<()> {
    decide(&Facts { format: BinlogFormat::Statement, ..*facts }).map(drop)
}

/// The reasons for which a statement of a function or trigger makes the calling statement unsafe.
fn reasons_inside(plan: &Plan) -> Reasons {
    let mut found = reasons(plan);
    if let Operator::Insert(insert) = &plan.root.operator
        && insert.table.def.auto_increment.is_some()
    {
        found.add(Reason::AutoIncrementInside);
    }
    found
}

fn facts(instance: &Instance, session: &Session, plan: &Plan, lacks_text: bool) -> Facts {
    let settings = &session.frame.settings;
    let mut changed = Changed::default();
    let mut unlocked = None;
    let locks = session.transaction.locks_sources(settings);
    for table in dml::targets(plan).filter(|table| table.kind == TableKind::Base) {
        match table.engine.transactional {
            true => changed.transactional = true,
            false => changed.immediate = true,
        }
        if table.engine.transactional && !locks {
            unlocked = Some(table.engine.name);
        }
    }
    let is_temporary = |kind: &TableKind| *kind == TableKind::Temporary;
    let calls = plan.calls_functions() || !plan.changes.triggers.is_empty();
    Facts {
        format: settings.binlog.format,
        changed,
        reasons: reasons(plan),
        lacks_text: lacks_text
            || plan.tables.iter().any(|table| is_temporary(&table.kind))
            || calls && session.frame.temporary.iter().next().is_some(),
        is_doubtful: calls
            || depends_on_order(plan)
            || !matches!(settings.charsets.client, Charset::Utf8mb4 | Charset::Utf8mb3)
            || changed.immediate && stops_anywhere(plan)
            || reads_unlocked(instance, plan, locks),
        takes_numbers: !plan.takes_numbers.is_empty(),
        unlocked,
        is_after_changes: session.log().is_some_and(|log| log.has_transaction()),
        is_direct: settings.binlog.is_direct,
    }
}

/// Whether a statement that fails may have changed any of its rows before: which ones follows from
/// the order in which an engine gives them.
fn stops_anywhere(plan: &Plan) -> bool {
    match &plan.root.operator {
        Operator::Insert(insert) => insert.is_query,
        Operator::Update(_) => true,
        _ => false,
    }
}

/// Whether a statement reads rows that others may change while it runs: of an engine without row
/// locks, or below REPEATABLE READ.
fn reads_unlocked(instance: &Instance, plan: &Plan, locks: bool) -> bool {
    let is_plain = match &plan.root.operator {
        Operator::Insert(insert) => !insert.is_query && insert.on_duplicate.is_none(),
        _ => false,
    };
    let has_locks = |table: &TableInfo| {
        let engine = instance.engine_of(table);
        table.kind != TableKind::Base || locks && engine.is_ok_and(|e| e.carries_riders())
    };
    !is_plain && !plan.tables.iter().all(|table| has_locks(table))
}

/// Makes the seeds of `RAND()` known, unless the session has set them.
fn begin_random(session: &Session) {
    if session.core.random_seeds.get().is_none() {
        let eval = EvalContext::new(session.type_context(), session, 0);
        session.core.random_seeds.set(eval.random_seeds());
    }
}

impl Execution<'_> {
    /// Chooses how the changes of a statement are logged. True if [`Self::end_log_form`] must
    /// follow.
    pub(crate) fn begin_log_form(&self, plan: &Plan) -> SqlResult<bool> {
        let session = &*self.session;
        let Some(log) = session.log() else { return Ok(false) };
        if session.transaction.is_nested() {
            if log.is_by_text() {
                check_inside(&facts(self.instance, session, plan, false))?;
                log.runs(plan.uses, reasons_inside(plan));
            }
            return Ok(false);
        }
        if session.frame.settings.binlog.format == BinlogFormat::Row {
            return Ok(false);
        }
        let lacks_text = self.logged_text().is_none();
        match decide(&facts(self.instance, session, plan, lacks_text))? {
            LogForm::Rows => Ok(false),
            LogForm::Text(place, reasons) => {
                let calls = plan.calls_functions() || !plan.changes.triggers.is_empty();
                if calls || plan.uses.has(Uses::RANDOM) {
                    begin_random(session);
                }
                let names = plan.user_variables.iter().map(|(name, _)| name.clone());
                log.begin_text(ByText::new(session, place, (plan.uses, reasons), names));
                Ok(true)
            }
        }
    }

    /// Fails if numbers are taken from sequences where only texts are logged.
    pub(crate) fn check_numbers_logged(&self) -> SqlResult<()> {
        let session = &*self.session;
        let format = session.frame.settings.binlog.format;
        match session.log().is_some() && format == BinlogFormat::Statement {
            true => Err(SqlError::new(&ER_BINLOG_STMT_MODE_AND_ROW_ENGINE, &[&""])),
            false => Ok(()),
        }
    }

    /// Logs the text of a statement that ends, unless it has changed nothing that stands.
    pub(crate) fn end_log_form(&self, error: Option<&SqlError>) -> SqlResult<()> {
        let session = &*self.session;
        let Some(statement) = session.log().and_then(|log| log.end_text()) else { return Ok(()) };
        if error.is_some() && !session.transaction.has_immediate_changes() {
            return Ok(());
        }
        let Some(text) = self.logged_text() else { return Ok(()) };
        session.log_text(&text, &statement, error.map_or(0, SqlError::code))?;
        let notes = &session.frame.settings.notes;
        for reason in statement.reasons().iter().filter(|_| notes.sql_notes && error.is_none()) {
            let why = SqlError::new(reason.message(), &[]);
            let note = Condition::note(&ER_BINLOG_UNSAFE_STATEMENT, &[&why.message()]);
            session.diagnostics.push(note, notes.max_error_count);
        }
        Ok(())
    }

    /// The statement's text with its values in it, if there is one.
    fn logged_text(&self) -> Option<Cow<'_, [u8]>> {
        let mode = self.session.frame.settings.expressions.sql_mode;
        let statement = self.running.prepared.map(|prepared| &prepared.statement);
        logged_text(statement, &self.running, mode)
    }
}
