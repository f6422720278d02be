//! The life of one statement of a command: logged, run, answered, and logged again if it was slow.
//!
//! Texts, prepared statements and bulks all go through [`Runner::run_and_reply`]. Must not decode
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
use crate::query_log::{Ran, Stopwatch, log_general, log_slow};

/// A statement that a command asks for.
pub(super) struct Asked<'t> {
    /// Name of the command in the general log.
    pub(super) command: &'static str,
    /// The statement, with those that follow it until it is read.
    pub(super) text: &'t [u8],
    /// Form of its rows.
    pub(super) form: RowForm,
    /// When the command came, or the statement before this one had ended.
    pub(super) begun: Moment,
    /// How the last result of the same statement was described.
    pub(super) known: Option<Arc<Head>>,
}

/// How a statement ended.
pub(super) struct Answered {
    /// It failed.
    pub(super) failed: bool,
    /// What follows if the command has no other statement.
    pub(super) next: Next,
    /// How its result was described.
    pub(super) head: Option<Arc<Head>>,
    /// The cursor that it opened.
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
    /// Runs a statement and writes its answer. `run` shortens the text to the statement when it
    /// has read it.
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
        let (answered, ran) = match result {
            Ok(outcome) => {
                reply.finish(&outcome, *status);
                let cursor = reply.open_cursor(*status);
                let next = if outcome.release { Next::Close } else { Next::Continue };
                let head = reply.head.take();
                (Answered { failed: false, next, head, cursor }, Ran::of(&outcome))
            }
            Err(error) => {
                reply.fail(&error);
                (Answered::FAILED, Ran::default())
            }
        };
        log_slow(shared, &watch, text, ran);
        answered
    }
}
