//! One statement of a client, as tables of events show it.
//!
//! Must not change after the statement's end: history shares it.

use std::sync::Arc;

use selkie_exec::Outcome;
use selkie_types::{SqlError, Value};

use super::digests::Entry;
use super::names::Name;
use super::sums::{COLUMNS, Counts, PICOS};
use crate::tables::Row;

/// Longest message that an event keeps.
const MESSAGE: usize = 128;

/// The answer to the client.
#[derive(Clone, Debug, Default)]
pub(super) struct Answer {
    /// Number of the error; 0 without one.
    pub(super) error: u16,
    /// The SQLSTATE; none for rows.
    state: Option<[u8; 5]>,
    message: Option<Box<str>>,
}

impl Answer {
    /// An error.
    pub(super) fn failed(error: &SqlError) -> Self {
        let mut message = error.message();
        if let Some((at, _)) = message.char_indices().find(|(at, _)| *at >= MESSAGE) {
            message = &message[..at];
        }
        let state = Some(error.sqlstate_bytes());
        Self { error: error.code(), state, message: Some(message.into()) }
    }

    /// Success without rows.
    pub(super) fn ok(info: &str) -> Self {
        let message = (!info.is_empty()).then(|| info.into());
        Self { error: 0, state: Some(*b"00000"), message }
    }

    /// The outcome of a statement.
    pub(super) fn of(outcome: &Outcome) -> Self {
        if outcome.result_set { Self::default() } else { Self::ok(&outcome.info()) }
    }
}

/// A statement.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) thread: u64,
    pub(super) id: u64,
    pub(super) name: Name,
    /// Nanoseconds from the server's start to the statement's.
    pub(super) begun: u64,
    /// Nanoseconds from the server's start to the statement's end.
    pub(super) ended: Option<u64>,
    /// Whether its time was taken.
    pub(super) timed: bool,
    pub(super) counts: Counts,
    pub(super) text: Option<Box<str>>,
    pub(super) entry: Option<Arc<Entry>>,
    pub(super) schema: Option<Arc<str>>,
    pub(super) answer: Answer,
}

impl Event {
    /// Its row in a table of events; `now` are the nanoseconds since the server's start.
    pub(super) fn row(&self, now: u64) -> Row {
        let picos = |nanos: u64| match self.timed {
            true => Value::UInt(nanos.saturating_mul(PICOS)),
            false => Value::Null,
        };
        let text = |text: Option<&str>| text.map_or(Value::Null, Value::bytes);
        let end = self.ended.unwrap_or(now);
        let digest = self.entry.as_ref().and_then(|entry| entry.digest.as_ref());
        let state = self.answer.state.map_or(Value::Null, Value::bytes);
        let hash = digest.map(|digest| format!("{:032x}", digest.hash));
        let mut row = vec![
            ("THREAD_ID", Value::UInt(self.thread)),
            ("EVENT_ID", Value::UInt(self.id)),
            ("END_EVENT_ID", self.ended.map_or(Value::Null, |_| Value::UInt(self.id))),
            ("EVENT_NAME", Value::bytes(self.name.text())),
            ("SOURCE", Value::bytes("")),
            ("TIMER_START", picos(self.begun)),
            ("TIMER_END", picos(end)),
            ("TIMER_WAIT", picos(end.saturating_sub(self.begun))),
            ("SQL_TEXT", text(self.text.as_deref())),
            ("DIGEST", text(hash.as_deref())),
            ("DIGEST_TEXT", text(digest.map(|d| d.text.as_str()))),
            ("CURRENT_SCHEMA", text(self.schema.as_deref())),
            ("MYSQL_ERRNO", Value::Int(self.answer.error.into())),
            ("RETURNED_SQLSTATE", state),
            ("MESSAGE_TEXT", text(self.answer.message.as_deref())),
            ("NESTING_EVENT_LEVEL", Value::Int(0)),
        ];
        row.extend(COLUMNS.into_iter().zip(self.counts.map(Value::UInt)));
        row
    }
}
