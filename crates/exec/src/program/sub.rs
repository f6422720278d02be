//! The session of functions and triggers: theirs while they run, part of the one around.
//!
//! The statement around is in the middle of its work and sees its session unchangeable. What runs
//! inside gets a session of its own: the same transaction, user variables, last numbers of sequences,
//! state of `RAND()` and account; its own diagnostics, counts and default database. What it locked
//! and changed is taken over when the statement around ends ([`Session::absorb_nested`]).

use std::sync::Arc;

use selkie_types::{Level, SqlResult, stack};

use crate::Session;
use crate::dml;
use crate::state::around::Around;
use crate::state::guard::guarded;

/// Runs something in the sub-session of a statement's session. Its errors' notes go to the
/// statement's list behind the error.
pub(super) fn with_sub_session<R>(
    around: Around<'_>,
    inner: impl FnOnce(&mut Session) -> SqlResult<R>,
) -> SqlResult<R> {
    stack::check()?;
    let Around { session: outer, plan, eval, .. } = around;
    let kept = outer.programs.sub.take();
    let mut sub = kept.unwrap_or_else(|| Box::new(new_session(outer)));
    sub.locks_reads = outer.locks_reads || dml::changes_rows(plan);
    sub.programs.in_use = outer.programs.in_use.clone();
    let used = plan.tables.iter().map(|t| (t.schema().into(), t.name().into()));
    sub.programs.in_use.extend(used);
    sub.variables.swap(&outer.variables);
    sub.sequence_values.swap(&outer.sequence_values);
    outer.end_random(eval);
    sub.random_seeds.set(outer.random_seeds.get());
    sub.counters.copy_from(&outer.counters);
    sub.statement_start.set(outer.statement_start.get());
    sub.last_insert_id.set(outer.last_insert_id.get());
    sub.found_rows.set(outer.found_rows.get());
    sub.row_count.set(outer.row_count.get());
    sub.diagnostics.clear();
    let result = guarded(|| inner(&mut sub));
    sub.variables.swap(&outer.variables);
    sub.sequence_values.swap(&outer.sequence_values);
    outer.random_seeds.set(sub.random_seeds.get());
    outer.begin_random(eval);
    outer.counters.copy_from(&sub.counters);
    if result.is_err() {
        let conditions = sub.diagnostics.list();
        let notes = conditions.into_iter().filter(|c| c.level == Level::Note);
        notes.for_each(|note| outer.diagnostics.after_error(note));
    }
    outer.programs.sub.replace(Some(sub));
    result
}

fn new_session(outer: &Session) -> Session {
    let mut sub = Session::new(outer.id, outer.account.clone(), outer.hooks.clone());
    sub.schema = outer.schema.clone();
    sub.acting_as = outer.acting_as.clone();
    sub.settings = outer.settings.clone();
    sub.transaction = outer.transaction.for_sub_statement();
    sub.temporary = outer.temporary.clone();
    sub.kill = outer.kill.clone();
    sub.deadline.set(outer.deadline.get());
    if outer.inside.is_none() && outer.locked_inside.is_none() {
        // What the statement around is inside of it need not enter again.
        sub.gate = Arc::clone(&outer.gate);
        sub.locks = outer.locks.clone();
    }
    sub.next_insert_id.set(outer.next_insert_id.get());
    sub.programs.cache = Arc::clone(&outer.programs.cache);
    sub.programs.active = outer.programs.active.clone();
    sub
}
