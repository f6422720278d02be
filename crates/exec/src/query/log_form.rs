//! Whether the changes of a statement are logged as rows or as the statement's text.
//!
//! # Invariants
//! - FORM-1 Unless the format is STATEMENT, a text is logged only if it does the same again in the
//!   order of commits: it reads under locks, it uses nothing that other servers do not know, and it
//!   is unsafe for no other reason.
//! - FORM-2 A text that uses temporary tables is logged only if replicas follow them all.
//!
//! Rows of temporary tables are in no log. Must not write events.

use std::borrow::Cow;
use std::sync::Arc;

use selkie_catalog::{TableInfo, TableKind};
use selkie_expr::{Argument, EvalContext, TypeContext};
use selkie_plan::physical::{Operator, Plan};
use selkie_plan::safety::{Reason, Reasons, Uses, is_doubtful, reasons};
use selkie_types::error::catalogue::{
    ER_BINLOG_STMT_MODE_AND_ROW_ENGINE, ER_BINLOG_UNSAFE_STATEMENT,
};
use selkie_types::{Charset, Condition, SqlError, SqlResult, SqlType, Value};

use crate::query::execution::Execution;
use crate::query::log_text::{call_text, logged_text};
use crate::query::running::{Fill, Running};
use crate::state::binlog::{ByText, Place};
use crate::state::session::{BinlogFormat, Session, Settings};
use crate::{Instance, dml};

/// Changes that a statement may make, by their way through a transaction.
#[derive(Clone, Copy, Debug, Default)]
struct Changed {
    /// Of tables that can be rolled back.
    transactional: bool,
    /// Of tables that cannot.
    immediate: bool,
    /// Of temporary tables that cannot: their place in the transaction must be kept.
    temporary: bool,
}

impl Changed {
    fn any(self) -> bool {
        self.transactional || self.immediate || self.temporary
    }
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
    if facts.format == BinlogFormat::Row || !changed.any() || facts.lacks_text {
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
        return Ok(if is_safe { LogForm::Text(place(facts), reasons) } else { LogForm::Rows });
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
    Ok(LogForm::Text(place(facts), reasons))
}

/// The place of a statement's text.
fn place(facts: &Facts) -> Place {
    let Changed { transactional, immediate, temporary } = facts.changed;
    match (transactional, immediate || temporary) {
        (true, true) => Place::InOrder,
        (true, false) => Place::Transaction,
        (false, _) if facts.is_after_changes && (temporary || !facts.is_direct) => Place::InOrder,
        (false, _) => Place::Immediate,
    }
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

/// The format of a plan's changes.
///
/// Compat: MariaDB logs the text of a change of rows that have numbers of transactions, whatever
/// `binlog_format` is. Here a text that may do something else is logged as rows, to which a replica
/// gives numbers of its own.
fn log_format(session: &Session, plan: &Plan) -> BinlogFormat {
    match session.frame.settings.binlog.format {
        BinlogFormat::Row if dml::targets(plan).any(|t| t.is_versioned_by_transaction()) => {
            BinlogFormat::Mixed
        }
        format => format,
    }
}

fn facts(instance: &Instance, session: &Session, plan: &Plan, lacks_text: bool) -> Facts {
    let settings = &session.frame.settings;
    let mut changed = Changed::default();
    let mut unlocked = None;
    let locks = session.transaction.locks_sources(settings);
    let temporary = &session.frame.temporary;
    let is_temporary = |table: &TableInfo| table.kind == TableKind::Temporary;
    let is_logged = |table: &&Arc<TableInfo>| match table.kind {
        TableKind::Base => true,
        TableKind::Temporary => temporary.is_followed(table),
        _ => false,
    };
    for table in dml::targets(plan).filter(is_logged) {
        match table.engine.transactional {
            true => changed.transactional = true,
            false if is_temporary(table) => changed.temporary = true,
            false => changed.immediate = true,
        }
        if table.engine.transactional && !locks {
            unlocked = Some(table.engine.name);
        }
    }
    let calls = plan.calls_functions() || !plan.changes.triggers.is_empty();
    Facts {
        format: log_format(session, plan),
        changed,
        reasons: reasons(plan),
        lacks_text: lacks_text
            || plan.tables.iter().any(|t| is_temporary(t) && !temporary.is_followed(t))
            || calls && !temporary.are_followed(),
        is_doubtful: calls
            || temporary.has_diverged()
            || is_doubtful(plan)
            || !is_usual(settings)
            || changed.immediate && stops_anywhere(plan)
            || reads_unlocked(instance, plan, locks),
        takes_numbers: !plan.takes_numbers.is_empty(),
        unlocked,
        is_after_changes: session.log().is_some_and(|log| log.has_transaction()),
        is_direct: settings.binlog.is_direct,
    }
}

/// Whether a text is logged with its client's character set.
fn keeps_charset(session: &Session, text: &[u8]) -> bool {
    let client = session.frame.settings.charsets.client;
    text.is_ascii() || matches!(client, Charset::Utf8mb4 | Charset::Utf8mb3)
}

/// Whether the settings that expressions depend on and that the log has not are as on any server.
fn is_usual(settings: &Settings) -> bool {
    let (own, usual) = (&settings.expressions, TypeContext::default());
    own.div_precision_increment == usual.div_precision_increment
        && own.default_week_format == usual.default_week_format
        && own.group_concat_max_len == usual.group_concat_max_len
        && own.regex_flags == usual.regex_flags
        && settings.planning.sql_select_limit == u64::MAX
}

/// Whether a statement that fails may have changed any of its rows before: which ones follows from
/// the order in which an engine gives them.
fn stops_anywhere(plan: &Plan) -> bool {
    match &plan.root.operator {
        Operator::Insert(insert) => {
            // Values of an AUTO_INCREMENT column are reserved batch by batch here.
            let is_long =
                matches!(&insert.source.operator, Operator::Values(rows) if rows.len() > 1000);
            insert.is_query || is_long
        }
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

impl<'e> Execution<'e> {
    /// Chooses how the changes of a statement are logged. [`Self::end_log_form`] must follow if
    /// there is a text.
    pub(crate) fn begin_log_form(&self, plan: &Plan) -> SqlResult<Option<Cow<'e, [u8]>>> {
        let session = &*self.session;
        let Some(log) = session.log() else { return Ok(None) };
        if session.transaction.is_nested() {
            if log.is_by_text() {
                check_inside(&facts(self.instance, session, plan, false))?;
                log.runs(plan.uses.things, reasons_inside(plan));
            }
            return Ok(None);
        }
        let format = log_format(session, plan);
        if format == BinlogFormat::Row {
            return Ok(None);
        }
        let text = logged_text(self.running, session.frame.settings.expressions.sql_mode);
        let mut facts = facts(self.instance, session, plan, text.is_none());
        facts.is_doubtful |= text.as_ref().is_some_and(|text| !keeps_charset(session, text));
        let form = match format {
            // Compat: what the log leaves out by the default database is never refused.
            BinlogFormat::Statement
                if text.is_some() && facts.changed.any() && !session.logs_statements() =>
            {
                LogForm::Text(place(&facts), Reasons::default())
            }
            _ => decide(&facts)?,
        };
        let is_mixed = session.frame.settings.binlog.format == BinlogFormat::Mixed;
        if form == LogForm::Rows && is_mixed {
            follow_no_more(session, &facts);
        }
        let calls = plan.calls_functions() || !plan.changes.triggers.is_empty();
        if format == BinlogFormat::Statement && (calls || plan.uses.has(Uses::RANDOM)) {
            begin_random(session);
        }
        let LogForm::Text(place, reasons) = form else { return Ok(None) };
        let names = plan.variables.user.iter().map(|(name, _)| name.clone());
        let mut statement = ByText::new(session, place, (plan.uses.things, reasons), names);
        if uses_temporary(session, plan) {
            statement = statement.with_temporary_tables();
        }
        log.begin_text(statement);
        Ok(text)
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

    /// Logs the text of a statement that ends.
    pub(crate) fn end_log_form(&self, text: &[u8], error: Option<&SqlError>) -> SqlResult<()> {
        let statement = self.session.log().and_then(|log| log.end_text());
        statement.map_or(Ok(()), |ended| end_text(self.session, &ended, text, error))
    }
}

/// Compat: after a statement that MIXED logs as rows by MariaDB's rules, all are until the last
/// temporary table is gone.
fn follow_no_more(session: &Session, facts: &Facts) {
    if !facts.reasons.is_empty() || facts.takes_numbers || facts.unlocked.is_some() {
        session.frame.temporary.diverge();
    }
}

/// Whether a statement uses temporary tables, as far as that is known.
fn uses_temporary(session: &Session, plan: &Plan) -> bool {
    let calls = plan.calls_functions() || !plan.changes.triggers.is_empty();
    plan.tables.iter().any(|table| table.kind == TableKind::Temporary)
        || calls && !session.frame.temporary.is_empty()
}

/// Begins the call of a stored function by a statement that changes no rows by itself. Compat: the
/// log gets the call alone. None if the function's rows are logged.
pub(crate) fn begin_call(
    session: &Session,
    plan: &Plan,
    name: (&str, &str),
    args: &[Argument<(Value, SqlType)>],
) -> Option<Vec<u8>> {
    let settings = &session.frame.settings;
    let log = session.log().filter(|_| settings.binlog.format == BinlogFormat::Statement)?;
    let is_inside = session.transaction.is_nested() || plan.changes_rows();
    if is_inside || !session.frame.temporary.are_followed() {
        return None;
    }
    let text = call_text(name, args, settings.expressions.sql_mode)?;
    let nothing = (Uses::default(), Reasons::default());
    let mut statement = ByText::new(session, Place::Unchanged, nothing, std::iter::empty());
    if !session.frame.temporary.is_empty() {
        statement = statement.with_temporary_tables();
    }
    log.begin_text(statement);
    Some(text)
}

/// Logs the call of a stored function that ends, if it has changed anything.
pub(crate) fn end_call(session: &Session, text: &[u8], error: Option<&SqlError>) -> SqlResult<()> {
    let ended = session.log().and_then(|log| log.end_text());
    ended.map_or(Ok(()), |ended| end_text(session, &ended, text, error))
}

/// Logs a text, unless it has changed nothing that stands.
fn end_text(
    session: &Session,
    statement: &ByText,
    text: &[u8],
    error: Option<&SqlError>,
) -> SqlResult<()> {
    let stands = error.is_none() || session.transaction.has_immediate_changes();
    if !stands || statement.place() == Place::Unchanged {
        return Ok(());
    }
    session.log_text(text, statement, error.map_or(0, SqlError::code))?;
    if error.is_none() {
        tell(session, statement.reasons());
    }
    Ok(())
}

/// Notes why a logged text is unsafe.
fn tell(session: &Session, reasons: Reasons) {
    let notes = &session.frame.settings.notes;
    for reason in reasons.iter().filter(|_| notes.sql_notes) {
        let why = SqlError::new(reason.message(), &[]);
        let note = Condition::note(&ER_BINLOG_UNSAFE_STATEMENT, &[&why.message()]);
        session.diagnostics.push(note, notes.max_error_count);
    }
}

/// Whether CREATE TABLE ... SELECT is logged as its text, `plan` being the query's. It must depend
/// on nothing that would have to come before the text.
pub(crate) fn creates_by_text(
    instance: &Instance,
    session: &Session,
    (plan, running): (&Plan, Running<'_>),
    is_plain: bool,
) -> bool {
    let settings = &session.frame.settings;
    let format = settings.binlog.format;
    if session.log().is_none() || format == BinlogFormat::Row {
        return false;
    }
    let values = [Uses::STORED_FUNCTION, Uses::RANDOM, Uses::LAST_INSERT_ID];
    let has_values = !plan.variables.user.is_empty() || values.iter().any(|v| plan.uses.has(*v));
    let lacks_text = running.fill != Fill::Literals || running.bulk.is_some();
    let mut facts = facts(instance, session, plan, lacks_text);
    facts.changed.transactional = true;
    facts.is_doubtful |= !is_plain || !keeps_charset(session, running.own_text());
    let locks = session.transaction.locks_sources(settings);
    let is_text = locks && !has_values && matches!(decide(&facts), Ok(LogForm::Text(..)));
    if is_text {
        tell(session, facts.reasons);
    }
    is_text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(format: BinlogFormat, transactional: bool, immediate: bool) -> Facts {
        Facts {
            format,
            changed: Changed { transactional, immediate, temporary: false },
            reasons: Reasons::default(),
            lacks_text: false,
            is_doubtful: false,
            takes_numbers: false,
            unlocked: None,
            is_after_changes: false,
            is_direct: false,
        }
    }

    fn unsafe_facts(format: BinlogFormat) -> Facts {
        let mut facts = facts(format, true, false);
        facts.reasons.add(Reason::Limit);
        facts
    }

    fn is_rows(facts: &Facts) -> bool {
        decide(facts).unwrap() == LogForm::Rows
    }

    fn place(facts: &Facts) -> Place {
        match decide(facts).unwrap() {
            LogForm::Text(place, _) => place,
            LogForm::Rows => panic!("rows"),
        }
    }

    #[test]
    fn mixed_logs_texts_that_are_safe() {
        use BinlogFormat::{Mixed, Row, Statement};
        assert_eq!(place(&facts(Mixed, true, false)), Place::Transaction);
        assert_eq!(place(&facts(Mixed, false, true)), Place::Immediate);
        assert!(is_rows(&unsafe_facts(Mixed)));
        assert!(!is_rows(&unsafe_facts(Statement)));
        assert!(is_rows(&facts(Row, true, false)));
        assert!(is_rows(&facts(Mixed, true, true)), "both kinds of tables");
        for format in [Mixed, Statement] {
            assert!(is_rows(&facts(format, false, false)), "nothing that is logged");
            assert!(is_rows(&Facts { lacks_text: true, ..facts(format, true, false) }));
        }
        assert!(is_rows(&Facts { is_doubtful: true, ..facts(Mixed, true, false) }));
        assert!(!is_rows(&Facts { is_doubtful: true, ..facts(Statement, true, false) }));
        assert!(is_rows(&Facts { takes_numbers: true, ..facts(Mixed, true, false) }));
        assert!(is_rows(&Facts { unlocked: Some("E"), ..facts(Mixed, true, false) }));
        assert!(is_rows(&Facts { is_after_changes: true, ..facts(Mixed, false, true) }));
    }

    #[test]
    fn statement_refuses_what_no_text_repeats() {
        let facts = facts(BinlogFormat::Statement, true, false);
        let refused = |facts: &Facts| decide(facts).unwrap_err().code();
        assert_eq!(refused(&Facts { takes_numbers: true, ..facts }), 1665);
        assert_eq!(refused(&Facts { unlocked: Some("E"), ..facts }), 1665);
    }

    #[test]
    fn a_text_of_what_stands_keeps_its_order_in_the_transaction() {
        let alone = facts(BinlogFormat::Statement, false, true);
        assert_eq!(place(&alone), Place::Immediate);
        let behind = Facts { is_after_changes: true, ..alone };
        assert_eq!(place(&behind), Place::InOrder);
        assert_eq!(place(&Facts { is_direct: true, ..behind }), Place::Immediate);
        assert_eq!(place(&facts(BinlogFormat::Statement, true, true)), Place::InOrder);
    }
}
