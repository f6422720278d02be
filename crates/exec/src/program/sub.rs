//! Runs something in the session of a statement's functions and triggers.
//!
//! The statement around is in the middle of its work and sees its session shared. What runs inside
//! has a session of its own, made once per statement ([`Session::nested`]); what it locked and
//! changed is taken over when the statement around ends ([`Session::absorb_nested`]).

use selkie_types::{Level, SqlResult, stack};

use crate::query::execution::Execution;
use crate::query::running::Running;
use crate::state::around::Around;
use crate::state::guard::guarded;
use crate::{ResultSink, Session};

/// Executes something in the sub-session of a statement's session. Its errors' notes go to the
/// statement's list behind the error.
pub(super) fn with_sub_session<R>(
    around: Around<'_>,
    sink: &mut dyn ResultSink,
    inner: impl FnOnce(&mut Execution<'_>) -> SqlResult<R>,
) -> SqlResult<R> {
    stack::check()?;
    let Around { instance, session: outer, control, plan, eval } = around;
    let kept = outer.programs.sub.take();
    let mut sub = kept.unwrap_or_else(|| Box::new(outer.nested()));
    // A text in the binary log does the same again only if it reads under locks.
    let by_text = outer.log().is_some_and(|log| log.is_by_text());
    sub.locks_reads = outer.locks_reads || by_text || plan.changes_rows();
    sub.programs.use_within(&outer.programs, &plan.tables);
    renew(around, &mut sub);
    outer.end_random(eval);
    let (session, running) = (&mut *sub, Running::new(b"", &[]));
    let mut execution = Execution { instance, session, control, running, sink };
    let result = guarded(|| inner(&mut execution));
    outer.begin_random(eval);
    if result.is_err() {
        let conditions = sub.diagnostics.list();
        let notes = conditions.into_iter().filter(|c| c.level == Level::Note);
        notes.for_each(|note| outer.diagnostics.after_error(note));
    }
    outer.programs.sub.replace(Some(sub));
    result
}

/// Prepares the sub-session for another run: the one before leaves no values and no conditions.
pub(super) fn renew(around: Around<'_>, sub: &mut Session) {
    sub.values.clone_from(&around.session.values);
    sub.diagnostics.clear();
}
