//! BINLOG: applies the events that a text holds, each as base64, to the session's transaction.
//!
//! The session keeps the format that a FORMAT_DESCRIPTION event gave. Must not keep maps: a
//! statement names its tables.

use selkie_expr::VariableScope;
use selkie_replication::codec::Checksum;
use selkie_replication::{Event, EventKind, Format, Frame};
use selkie_sql::ast::BinlogText;
use selkie_types::error::catalogue::{
    ER_BASE64_DECODE_ERROR, ER_NO_FORMAT_DESCRIPTION_EVENT_BEFORE_BINLOG_STATEMENT,
    ER_ONLY_FD_AND_RBR_EVENTS_ALLOWED_IN_BINLOG_STATEMENT, ER_SYNTAX_ERROR, ER_WRONG_TYPE_FOR_VAR,
};
use selkie_types::{SqlError, SqlResult, Value};

use super::{Applier, Rules};
use crate::query::execution::Execution;
use crate::state::session::{Access, Privilege};
use crate::{Outcome, Session};

/// State that BINLOG statements of a session leave for the next one.
#[derive(Default)]
struct Replay {
    format: Option<Format>,
    applier: Applier,
}

/// Bytes of an event up to its length, included.
const LENGTH_END: usize = 13;
const LENGTH_AT: usize = 9;
const KIND_AT: usize = 4;

/// Runs BINLOG. The caller ends the statement.
pub(crate) fn run(execution: &mut Execution<'_>, text: &BinlogText) -> SqlResult<Outcome> {
    let session = &mut *execution.session;
    let access = Access { privilege: Privilege::Replay, schema: "", table: "", columns: &[] };
    session.frame.hooks.check_access(session, &access)?;
    let events = match text {
        BinlogText::Text(text) => decoded(text.as_bytes())?,
        BinlogText::Variables(first, second) => decoded(&gathered(session, first, second)?)?,
    };
    let kept = session.replay.take().and_then(|kept| kept.downcast::<Replay>().ok());
    let mut replay = kept.unwrap_or_default();
    // Compat: the log has the text of this statement, whatever the events are of.
    if execution.session.frame.settings.binlog.annotates {
        replay.applier.annotate(execution.running.own_text());
    }
    let result = replay.apply(execution, &events);
    replay.applier.clear();
    execution.session.replay = Some(replay);
    result.map(|()| Outcome::ok())
}

/// The texts of two variables, one behind the other. Compat: they are NULL afterwards.
fn gathered(session: &Session, first: &str, second: &str) -> SqlResult<Vec<u8>> {
    let mut all = Vec::new();
    let mut variables = session.core.variables.lock();
    for name in [first, second] {
        match variables.get(&*name.to_lowercase()) {
            Some((Value::Bytes(part), _)) => all.extend_from_slice(part),
            _ => return Err(SqlError::new(&ER_WRONG_TYPE_FOR_VAR, &[&name])),
        }
    }
    for name in [first, second] {
        if let Some((value, _)) = variables.get_mut(&*name.to_lowercase()) {
            *value = Value::Null;
        }
    }
    Ok(all)
}

fn decoded(text: &[u8]) -> SqlResult<Vec<u8>> {
    if text.is_empty() {
        return Err(syntax());
    }
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let decoded = selkie_expr::decode_base64(text, true, &mut out);
    decoded.map(|()| out).map_err(|_| SqlError::new(&ER_BASE64_DECODE_ERROR, &[]))
}

/// Compat: bytes that are no event are a syntax error.
fn syntax() -> SqlError {
    SqlError::new(&ER_SYNTAX_ERROR, &[])
}

/// The server's rules for rows.
fn rules(session: &Session) -> Rules {
    let text = |name| match session.frame.hooks.variable(session, VariableScope::Global, name) {
        Ok(Value::Bytes(text)) => String::from_utf8_lossy(&text).into_owned(),
        _ => String::new(),
    };
    let mode = text("slave_exec_mode");
    Rules::of(&text("slave_type_conversions"), &mode, &text("slave_run_triggers_for_rbr"))
}

fn is_rows(kind: EventKind) -> bool {
    matches!(kind.0, 23..=25 | 30..=32 | 166..=168)
}

impl Replay {
    fn apply(&mut self, execution: &mut Execution<'_>, events: &[u8]) -> SqlResult<()> {
        let rules = rules(execution.session);
        let mut rest = events;
        while !rest.is_empty() {
            execution.control.check()?;
            let length = rest.get(LENGTH_AT..LENGTH_END).ok_or_else(syntax)?;
            let length = length.iter().rev().fold(0, |all, byte| all << 8 | usize::from(*byte));
            let event = rest.get(..length).ok_or_else(syntax)?;
            let kind = EventKind(rest.get(KIND_AT).copied().unwrap_or_default());
            self.check(kind)?;
            self.apply_one(execution, &rules, event)?;
            rest = rest.get(length..).unwrap_or_default();
        }
        Ok(())
    }

    /// Fails unless events of a type may be applied now.
    fn check(&self, kind: EventKind) -> SqlResult<()> {
        if kind == EventKind::FORMAT_DESCRIPTION {
            return Ok(());
        }
        if kind != EventKind::TABLE_MAP && !is_rows(kind) {
            let error = &ER_ONLY_FD_AND_RBR_EVENTS_ALLOWED_IN_BINLOG_STATEMENT;
            return Err(SqlError::new(error, &[&kind.name()]));
        }
        match &self.format {
            Some(_) => Ok(()),
            None => {
                let error = &ER_NO_FORMAT_DESCRIPTION_EVENT_BEFORE_BINLOG_STATEMENT;
                Err(SqlError::new(error, &[&kind.name()]))
            }
        }
    }

    fn apply_one(
        &mut self,
        execution: &mut Execution<'_>,
        rules: &Rules,
        event: &[u8],
    ) -> SqlResult<()> {
        let none = Format::new("", 0, Checksum::None);
        let format = self.format.as_ref().unwrap_or(&none);
        let frame = Frame::split(event, format).map_err(|_| syntax())?;
        frame.verify().map_err(|_| syntax())?;
        let event = Event::decode(&frame, format).map_err(|_| syntax())?;
        let (instance, session) = (execution.instance, &mut *execution.session);
        let applied = match event {
            Event::FormatDescription(format) => {
                self.format = Some(format);
                Ok(())
            }
            Event::TableMap(map) => {
                let name = |bytes| std::str::from_utf8(bytes).map_err(|_| syntax());
                let target = (name(map.database)?, name(map.table)?);
                self.applier.table_map(instance, session, &map, Some(target))
            }
            Event::Rows(rows) => {
                // Changes that come with the rows, such as versions of children, have their time.
                let micros = i64::from(frame.header.timestamp) * 1_000_000;
                let own = session.frame.settings.timestamp_micros;
                session.frame.settings.timestamp_micros = own.or(Some(micros));
                let applied = self.applier.rows(instance, session, rules, &rows);
                session.frame.settings.timestamp_micros = own;
                applied
            }
            _ => Err(super::Failure { error: syntax(), table: None, handler: None }),
        };
        applied.map_err(|failure| failure.error)
    }
}
