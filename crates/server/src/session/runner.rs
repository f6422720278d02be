//! Life cycle of one statement: general log, run, answer, slow log.
//!
//! Texts, prepared statements and bulks all use [`Runner::run_and_reply`]. Must not decode
//! commands.

use std::sync::Arc;

use selkie_engine::Moment;
use selkie_exec::Outcome;
use selkie_protocol::Output;
use selkie_types::SqlResult;

use super::cursor::Cursor;
use super::dispatch::Next;
use super::head::Head;
use super::reply::{Reply, RowForm};
use super::shared::Shared;
use crate::backend::{BackendSession, SessionStatus};
use crate::net::Wire;
use crate::performance::Done;
use crate::query_log::{Ran, Stopwatch, log_general, log_slow};

/// A statement that a command wants to run.
pub(super) struct Asked<'t> {
    /// Name of the command in the general log.
    pub(super) command: &'static str,
    /// The statement. Statements behind it are included until it is parsed.
    pub(super) text: &'t [u8],
    /// Protocol of its rows.
    pub(super) form: RowForm,
    /// Arrival time of the command, or the end of the statement before this one.
    pub(super) begun: Moment,
    /// Head of this statement's last execution.
    pub(super) known: Option<Arc<Head>>,
}

/// Result of a statement.
pub(super) struct Answered {
    /// Whether it failed.
    pub(super) failed: bool,
    /// Step after the command, if this is its last statement.
    pub(super) next: Next,
    /// Head of its result.
    pub(super) head: Option<Arc<Head>>,
    /// Cursor it opened.
    pub(super) cursor: Option<Cursor>,
}

impl Answered {
    const FAILED: Self = Self { failed: true, next: Next::Continue, head: None, cursor: None };
}

/// The parts of a session that run a statement and answer it.
pub(super) struct Runner<'s, S> {
    pub(super) shared: &'s Arc<Shared>,
    pub(super) wire: &'s mut Wire,
    pub(super) out: &'s mut Output,
    pub(super) backend: &'s mut S,
    pub(super) status: &'s mut SessionStatus,
}

impl<S: BackendSession> Runner<'_, S> {
    /// Runs a statement and writes its answer. When `run` has parsed the text, it shortens the text
    /// to the statement.
    pub(super) fn run_and_reply<'t>(
        self,
        asked: Asked<'t>,
        run: impl FnOnce(&mut S, &mut Reply<'_>, &mut &'t [u8]) -> SqlResult<Outcome>,
    ) -> Answered {
        let Self { shared, wire, out, backend, status } = self;
        let mut text = asked.text;
        log_general(shared, asked.command, text);
        let watch = Stopwatch::start(shared, asked.begun);
        let mut reply = Reply::new(shared, wire, out, asked.form, *status);
        reply.known = asked.known;
        let result = run(backend, &mut reply, &mut text);
        *status = backend.status();
        let (answered, ran) = match &result {
            Ok(outcome) => {
                reply.finish(outcome, *status);
                let cursor = reply.open_cursor(*status);
                let next = if outcome.release { Next::Close } else { Next::Continue };
                let head = reply.head.take();
                (Answered { failed: false, next, head, cursor }, Ran::of(outcome))
            }
            Err(error) => {
                reply.fail(error);
                (Answered::FAILED, Ran::default())
            }
        };
        if let Some(recorder) = shared.handle.recorder() {
            let result = result.as_ref();
            let text = (asked.command == "Query").then_some(text);
            let done = Done { result, warnings: status.warnings, text };
            recorder.end(&shared.handle.counters, Some(done));
        }
        let fixed_micros = backend.fixed_micros();
        log_slow(shared, &watch, text, Ran { fixed_micros, ..ran });
        answered
    }
}
